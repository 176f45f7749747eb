import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { payerAt } from '../payer-here.ts';

// What psd2 says of payments without being asked: to the operator's command, and to a person at a terminal.

const temporary = temporaryFolder();
const CREATE = [
  ...['transfer', 'create', '--from', '0000012345', '--to', 'IT60X0542811101000000123456'],
  ...['--name', 'Mario Rossi', '--amount', '12.50'],
];

it("the operator's command gets a payment whose outcome is not known, once", async () => {
  const bank = new BankHere();
  bank.next = { becomes: null };
  bank.meets('execute', 'lost');
  const file = join(temporary, 'notified.ndjson');
  writeFileSync(file, '');
  const payer = await payerAt(bank, temporary, { PSD2_NOTIFY: `sh -c 'cat >> "$0"' ${file}` });
  const notified = () => readFileSync(file, 'utf8').trim().split('\n').filter(Boolean);
  await payer.run(CREATE);
  const [first] = notified();
  const { id, since, next, ...content } = JSON.parse(first ?? '');
  expect(next).toEqual(['psd2', '--profile', 'env', 'transfer', 'resume', id]);
  expect(content).toMatchInlineSnapshot(`
    { amount: "12.50", currency: "EUR", customerId: "1048262", kind: "transfer",
      message: "It is not known whether the bank has executed the payment", profile: "env",
      state: "unknown" }
  `);
  expect((await payer.run(['transfer', 'resume', 'tr-1'])).failure?.code).toBe('outcome_unknown');
  expect(notified()).toHaveLength(1);
  bank.last.became = 'executed';
  expect((await payer.run(['transfer', 'resume', 'tr-1'])).failure).toBeNull();
  expect(notified()).toHaveLength(1);
  await payer.run(CREATE);
  expect(notified()).toHaveLength(1);
});

it('a person reads which payments were interrupted, and how to continue them', async () => {
  const bank = new BankHere();
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  const list = async (isForPerson: boolean) => {
    payer.leaveBehind();
    const { said } = await payer.run(['transfer', 'list'], { changes: () => ({ isForPerson }) });
    return said;
  };
  const said: string[] = [];
  for (const count of [1, 2, 3, 4]) {
    await payer.run([...CREATE, '--amount', String(count)], { globals: { scaTimeout: '1' } });
    said.push(await list(true));
  }
  expect(said).toMatchInlineSnapshot(`
    ["Interrupted: transfer tr-1 (authorizing). Continue with: psd2 transfer resume tr-1
    ",
     "Interrupted: 2 flows. Continue with:
      psd2 transfer resume tr-2
      psd2 transfer resume tr-1
    ",
     "Interrupted: 3 flows. Continue with:
      psd2 transfer resume tr-3
      psd2 transfer resume tr-2
      psd2 transfer resume tr-1
    ",
     "Interrupted: 4 flows. Continue with:
      psd2 transfer resume tr-4
      psd2 transfer resume tr-3
      psd2 transfer resume tr-2
      And 1 more: see psd2 transfer, consent and operation list.
    "]
  `);
  expect(await list(false)).toBe('');
});
