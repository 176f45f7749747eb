import { expect, it, vi } from 'vitest';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { readLine, readLines } from '../../../src/flows/batch/known-lines.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { endOf } from '../payer-here.ts';
import { beginLine, payeeCheck, payeesIn, RUN, refused, storeOf, told, withPayees } from './with-batch.ts';

// How a run ends that meets several things at once, and what a line has come to.

const temporary = temporaryFolder();
const payees = payeesIn(temporary);
const failing = (hint?: string) =>
  new Psd2Error('bank_failing', 'The bank is failing', hint === undefined ? {} : { hint });
const withBatch = (...names: string[]) => payees({}, ...names);

it('if the bank fails after a payment whose end is unknown, the unknown one counts, and the failure is a warning', async () => {
  const { bank, payer, pay } = await withBatch('Ada', 'Bea', 'Cleo', 'Dora');
  bank.meets('execute', 'lost');
  bank.next = { becomes: null };
  await payer.run([...RUN, '--only', '1']);
  bank.meets('verify', failing(), failing(), failing());
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 unknown tr-1 The bank does not say yet whether the transfer was executed",
     "2 created tr-2 The bank is failing", "3 created tr-3 The bank is failing",
     "4 created tr-4 The bank is failing", "Payment 2: The bank is failing.",
     "Payment 3: The bank is failing.", "Payment 4: The bank is failing.", "0 of 4 paid, 1 unknown.",
     "The bank is failing", "exit 9, unknown 1 of 4: run batch-1"]
  `);
});

it('what the bank says to do counts more than how to go on', async () => {
  const { bank, payer } = await withBatch('Ada', 'Bea', 'Cleo');
  bank.meets('verify', failing('Try at noon.'), failing('Try at noon.'), failing('Try at noon.'));
  expect(endOf(await payer.run(RUN))).toEqual(['exit 11, bank_failing: The bank is failing', 'Try at noon.']);
});

it('a fault of psd2 stops the run, and stays what it is', async () => {
  const { payer } = await withBatch('Ada', 'Bea');
  const { flows } = await storeOf(payer);
  const fault = new TypeError('a fault of psd2');
  vi.spyOn(Object.getPrototypeOf(flows), 'begin').mockRejectedValueOnce(fault);
  await expect(payer.run(RUN)).rejects.toBe(fault);
});

it('a refusal by one answer alone counts for --stop-after, and is told apart from what was surely not paid', async () => {
  const { bank, payer, pay } = await withBatch('Ada', 'Bea', 'Cleo');
  bank.meets('execute', refused());
  bank.next = { becomes: null };
  expect(await pay([...RUN, '--stop-after', '1'])).toMatchInlineSnapshot(`
    ["1 failed tr-1 Not this one", "2 waiting  ", "3 waiting  ", "0 of 3 paid, 1 not paid.",
     "exit 8, unpaid 3 of 3: run batch-1"]
  `);
  bank.next = {};
  bank.meets('verify', refused());
  expect(await pay([...RUN, '--only', '1', '2'])).toMatchInlineSnapshot(`
    ["1 failed tr-1 Not this one", "2 failed tr-2 Not this one", "0 of 2 paid, 2 not paid.",
     "exit 8, payment_failed: 2 of 2 payments were not made",
     "The bank refused 1 without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve. Make a new batch of those that are known not to be paid with:",
     "$ batch retry batch-1"]
  `);
  await payer.run(['batch', 'cancel', 'batch-1']);
  expect((await payer.run(['batch', 'show', 'batch-1'])).data).toMatchObject({
    state: 'done',
    counts: { failed: 2, cancelled: 1 },
  });
});

it('what psd2 has refused before there was a transfer is not tried again', async () => {
  const { bank, pay } = await withBatch('Ada', 'Bea');
  const env = { PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: 'none' }) };
  const first = await pay(RUN, { env });
  expect(first).toMatchInlineSnapshot(`
    ["1 failed  The payee check says: no match, the account is held by Other", "2 executed tr-1 ",
     "1 of 2 paid (11.00 EUR), 1 not paid.", "exit 8, refused 1 of 2: report batch-1"]
  `);
  const calls = bank.calls.length;
  expect(await pay()).toEqual(first.filter((line) => !/address|https/.test(line)));
  expect(bank.calls.length).toBe(calls);
});

it('a fault of the store is no end of a line, but a journal that is gone is an unknown one', async () => {
  const { payer } = await withBatch('Ada');
  const store = await storeOf(payer);
  await beginLine(store, 1);
  const batch = await store.read();
  const [line] = await store.batches.lines(batch);
  if (line === undefined) throw new TypeError('The batch has a line');
  const find = vi.spyOn(store.flows, 'find');
  for (const error of [new TypeError('a fault'), new Psd2Error('interrupted', 'Ctrl-C')]) {
    find.mockRejectedValueOnce(error);
    await expect(readLine(store.flows, batch, line)).rejects.toBe(error);
  }
  find.mockRejectedValueOnce(new Psd2Error('config', 'It is damaged'));
  expect(await readLine(store.flows, batch, line)).toMatchObject({
    outcome: 'unknown',
    row: { state: 'unknown', reason: 'It is damaged', flow: batch.flows.get(1) },
  });
});

it('a report knows which refusal was one answer alone', async () => {
  const { bank, payer } = await withBatch('Ada', 'Bea', 'Cleo');
  bank.meets('execute', refused());
  bank.next = { becomes: null };
  await payer.run([...RUN, '--only', '1']);
  bank.meets('verify', refused());
  await payer.run([...RUN, '--only', '2']);
  const { batches, flows, read } = await storeOf(payer);
  const batch = await read();
  const rows = await readLines(flows, batch, await batches.lines(batch));
  expect(rows.map(({ outcome, row: { isRefusalAlone } }) => [outcome, isRefusalAlone])).toEqual([
    ['refused', true],
    ['not paid', false],
    ['unfinished', false],
  ]);
});

const VERIFIED: TransferEvent[] = [
  { type: 'verify-sent', requestId: 'r', digest: null },
  {
    ...{ resourceId: 'p', totalAmount: null, commissions: null, bankName: null, nextStep: 'execute' },
    type: 'verified',
  },
];
const checkedAs = (result: 'close' | 'match') =>
  ({ type: 'payee-checked', result, name: 'Other', problem: null }) as const;

it.each<[string, TransferEvent[], string, string | null]>([
  [
    'was cancelled after a payee check without a match',
    [...VERIFIED, checkedAs('close'), { type: 'cancelled' }],
    'cancelled',
    'close match, the account is held by Other',
  ],
  [
    'was cancelled after a match',
    [...VERIFIED, checkedAs('match'), { type: 'cancelled' }],
    'cancelled',
    null,
  ],
  ['was cancelled without a payee check', [...VERIFIED, { type: 'cancelled' }], 'cancelled', null],
  ['goes on after a payee check without a match', [...VERIFIED, checkedAs('close')], 'verified', null],
  [
    'waits for its customer',
    [
      ...VERIFIED,
      { type: 'sca-started' },
      { type: 'authorization', status: 'PENDING', bankStatus: 'PATIENT' },
    ],
    'authorizing',
    null,
  ],
  [
    'was not authorised',
    [
      ...VERIFIED,
      { type: 'sca-started' },
      { type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'The customer refused' },
    ],
    'rejected',
    'The customer refused',
  ],
])('a line whose transfer %s has the reason for that', async (_, events, state, reason) => {
  const { payer } = await withBatch('Ada');
  await beginLine(await storeOf(payer), 1, { commits: 'on execute', events });
  const { data } = await payer.run(['batch', 'report', 'batch-1']);
  expect(data).toMatchObject([{ state, reason }]);
});

it('payments that are made do not count for --stop-after', async () => {
  const { payer } = await withBatch('Ada', 'Bea', 'Cleo');
  expect(endOf(await payer.run([...RUN, '--stop-after', '1']))).toEqual(['done']);
});

it('a line that nobody wants any more is not begun again, whether it has had a transfer or not', async () => {
  const { bank, payer } = await withBatch('Ada', 'Bea', 'Cleo');
  const store = await storeOf(payer);
  await beginLine(store, 1, { commits: 'on execute', events: [{ type: 'cancelled' }] });
  const person = { by: 'ada', user: 'ada', machine: 'machine' };
  await store.change({ type: 'lines-cancelled', lines: [1, 2], ...person });
  await store.change({ type: 'line-refused', line: 3, reason: 'No' });
  const before = payer.flows();
  expect(endOf(await payer.run(RUN))[0]).toBe('exit 8, payment_failed: 3 of 3 payments were not made');
  expect([payer.flows(), bank.calls]).toEqual([before, []]);
});

it('a payment that the bank does not take is refused before a transfer begins', async () => {
  const bank = new BankHere({ commits: 'by the customer' });
  const { open } = bank.interface;
  const initiation = () => {
    throw new Psd2Error('usage', 'This bank has no such product');
  };
  Object.assign(bank.interface, {
    open: (...settings: Parameters<typeof open>) => {
      const opened = open(...settings);
      const connect = (...how: Parameters<typeof opened.connect>) => {
        const connected = opened.connect(...how);
        return { ...connected, payments: { ...connected.payments, initiation } };
      };
      return { ...opened, connect };
    },
  });
  const { payer, pay } = await withPayees(temporary, bank, ['Ada']);
  expect((await pay()).slice(0, 2)).toEqual([
    '1 failed  This bank has no such product',
    '0 of 1 paid, 1 not paid.',
  ]);
  expect(payer.flows()).toBe(0);
});

it('what is wrong with the store while a bulk payment is prepared stops it, and is no taken reference', async () => {
  const bank = new BankHere({ commits: 'by the customer', bulk: { maxEntries: null } });
  const { payer } = await withPayees(temporary, bank, ['Ada', 'Bea']);
  const { flows } = await storeOf(payer);
  for (const error of [new Psd2Error('config', 'The disk is full'), new TypeError('a fault')]) {
    vi.spyOn(Object.getPrototypeOf(flows), 'begin').mockRejectedValueOnce(error);
    const ran = payer.run(RUN);
    if (error instanceof Psd2Error) expect(told(await ran)).toContain('Payment 1: The disk is full.');
    else await expect(ran).rejects.toBe(error);
  }
  expect((await payer.run(['batch', 'report', 'batch-1'])).data).toMatchObject([
    { state: 'waiting' },
    { state: 'waiting' },
  ]);
});
