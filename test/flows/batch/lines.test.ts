import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BatchEvent } from '../../../src/domain/batch/batch.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';
import { Initiations } from '../../../src/flows/batch/initiations.ts';
import { orRefused, refuseDuplicate, refuseLine } from '../../../src/flows/batch/lines.ts';
import { PinsOfRun } from '../../../src/flows/batch/pins.ts';
import type { BatchRun } from '../../../src/flows/batch/ports.ts';
import { document, information, transaction } from '../../batch-file/reading.ts';
import { BankHere, OWN_ACCOUNT, OWN_IBAN } from '../../commands/bank-here.ts';
import {
  IBAN,
  payeeCheck,
  RUN,
  storeOf,
  takingIbans,
  told,
  withFile,
  withPayees,
} from '../../commands/batch/with-batch.ts';
import { payerAt, TODAY } from '../../commands/payer-here.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';

// What must hold before a line is paid: its order, its payee, and why psd2 does not pay it.

const temporary = temporaryFolder();
const LINKED = { commits: 'by the customer' } as const;

/** The payment of a pain.001 whose payee has this address. */
function payee(name: string, address: string): string {
  const account = `<CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`;
  return transaction({
    ...{ id: `<EndToEndId>${name}</EndToEndId>`, amount: '<InstdAmt Ccy="EUR">10</InstdAmt>' },
    payee: `<Cdtr><Nm>${name}</Nm>${address}</Cdtr>${account}`,
  });
}

/** What the transfers of a run say of the addresses of their payees. */
async function addressesAt(bank: BankHere): Promise<unknown[]> {
  const town = '<TwnNm>Berlin</TwnNm><Ctry>DE</Ctry>';
  const payments = [
    payee('Whole', `<PstlAdr><StrtNm>Allee</StrtNm><BldgNb>7</BldgNb><PstCd>10115</PstCd>${town}</PstlAdr>`),
    payee('Empty', `<PstlAdr><StrtNm/><BldgNb/><PstCd/>${town}</PstlAdr>`),
    payee('None', ''),
  ];
  const text = document([
    information(payments, {
      ReqdExctnDt: `<ReqdExctnDt><Dt>${TODAY}</Dt></ReqdExctnDt>`,
      DbtrAcct: `<DbtrAcct><Id><IBAN>${OWN_IBAN}</IBAN></Id></DbtrAcct>`,
    }),
  ]);
  const { payer } = await withFile(temporary, bank, text);
  await payer.run(RUN);
  const { flows, read } = await storeOf(payer);
  const found: unknown[] = [];
  for (const flow of (await read()).flows.values())
    found.push((await flows.find('transfer', flow)).order.payeeAddress ?? null);
  return found;
}

it("a bank that takes the payee's address gets what the file says of it, without empty elements", async () => {
  expect(await addressesAt(takingIbans(new BankHere(LINKED)))).toMatchInlineSnapshot(`
    [{ building: "7", country: "DE", postcode: "10115", street: "Allee", town: "Berlin" },
     { country: "DE", town: "Berlin" }, null]
  `);
  expect(await addressesAt(new BankHere())).toEqual([null, null, null]);
});

it.each([
  ['match', 'settled', null, 1],
  ['close', 'waiting', 'The payee check of payment 1 says: close match, the account is held by Other', 0],
  [undefined, 'waiting', 'Payment 1 is instant, and nobody has verified its payee', 0],
])('an instant payment whose payee check says %s is %s', async (result, state, reason, payments) => {
  const { bank, payer } = await withPayees(temporary, new BankHere(), ['Ada'], ['--instant']);
  const env = result === undefined ? {} : { PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: result }) };
  const { data } = await payer.run(RUN, { env });
  expect(data).toMatchObject([{ state, reason }]);
  expect(bank.payments).toHaveLength(payments);
});

it('what a payee check said when the batch was added counts, whatever another one says now', async () => {
  const bank = new BankHere();
  const check = (result: string) => ({ PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: result }) });
  const payer = await payerAt(bank, temporary, check('close'));
  const path = join(temporary, 'payees.csv');
  writeFileSync(path, `name,iban,amount\nAda,${IBAN},10\n`);
  await payer.run(['batch', 'add', path, '--from', OWN_ACCOUNT]);
  const run = await payer.run(RUN, { env: check('match') });
  expect(told(run).at(0)).toBe(
    '1 waiting  The payee check of payment 1 says: close match, the account is held by Other',
  );
  expect(bank.payments).toEqual([]);
});

/** A stored batch of one payment, and what refusing its line needs. */
async function oneLine() {
  const { bank, payer } = await withPayees(temporary, new BankHere(), ['Ada']);
  const store = await storeOf(payer);
  const payment: BatchRun = {
    ...{ batches: store.batches, flows: store.flows, batch: store.batch },
    ...{ links: null, acceptsClose: false, person: undefined },
    initiations: new Initiations(),
    pins: new PinsOfRun(),
    payerOf: () => Promise.reject(new TypeError('Nobody pays here')),
    whileWaiting: (_, work) => work,
    tidy: async () => {},
    tidyGroup: async () => {},
  };
  const [line] = await store.batches.lines(await store.read());
  if (!line) throw new TypeError('The batch has one line');
  return { bank, payer, store, payment, line };
}

it.each<ErrorCode>([
  ...(['usage', 'invalid_iban', 'invalid_amount', 'invalid_date'] as const),
  ...(['invalid_product_id', 'invalid_text'] as const),
])('an order that is wrong refuses its line for good (%s)', async (code) => {
  const { payer, payment, line } = await oneLine();
  const work = () => Promise.reject(new Psd2Error(code, 'This is wrong'));
  expect(await orRefused(payment, line, work)).toBeNull();
  expect(told(await payer.run(RUN)).at(0)).toBe('1 failed  This is wrong');
});

it.each([new Psd2Error('bank_failing', 'The bank is failing'), new TypeError('A bug')])(
  'what is not about the order refuses no line: %s',
  async (error) => {
    const { store, payment, line } = await oneLine();
    await expect(orRefused(payment, line, () => Promise.reject(error))).rejects.toBe(error);
    expect((await store.read()).refused.size).toBe(0);
  },
);

it.each<[string, BatchEvent]>([
  ['another run has refused', { type: 'line-refused', line: 1, reason: 'First' }],
  ['somebody has cancelled', { type: 'lines-cancelled', lines: [1], by: 'bob', user: 'bob', machine: 'm' }],
])('a line that %s is not refused again', async (_, event) => {
  const { store, payment, line } = await oneLine();
  await store.change(event);
  const before = await store.read();
  await refuseLine(payment, line, 'Second');
  expect(await store.read()).toEqual(before);
});

it('a reference that a payment took which is in no batch is named without one', async () => {
  const { store, payment, line } = await oneLine();
  await refuseDuplicate(payment, line, new Psd2Error('usage', 'The reference was used'), undefined);
  expect((await store.read()).refused.get(1)).toBe(
    'The reference was used. psd2 pays a reference once. To pay this too, add it with another reference',
  );
});
