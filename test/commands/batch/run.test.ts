import { describe, expect, it, vi } from 'vitest';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { readLine, readLines } from '../../../src/flows/batch/known-lines.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { endOf, NOW } from '../payer-here.ts';
import {
  BULK,
  beginLine,
  failing,
  IBAN,
  LINKED,
  paid,
  RUN,
  refused,
  storeOf,
  told,
  useBatches,
} from './with-batch.ts';

// The run of a batch, at a bank in the memory of the test: what is paid, what is said, and what a second run does.

const { payees, withFile, withPayees } = useBatches();
const checkThatSays = (answer: object) => `sh -c 'cat > /dev/null; echo "$0"' '${JSON.stringify(answer)}'`;

it('a run pays line by line, says how far it is, and a second run sends nothing', async () => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea');
  const no = await payer.run(RUN, { answers: [false] });
  expect([no.asked, endOf(no), bank.calls]).toMatchInlineSnapshot(`
    [["Pay 2 payments of 21.00 EUR of the batch short batch-1?"],
     ["exit 2, cancelled: psd2 has paid nothing"], []]
  `);
  expect(endOf(await payer.run(RUN, { yes: false }))).toMatchInlineSnapshot(`
    ["exit 2, confirmation_needed: Paying 2 payments of 21.00 EUR needs a confirmation, and psd2 cannot ask without a terminal",
     "Add --yes to confirm in advance. psd2 has sent nothing."]
  `);
  // Payments that are made do not count for --stop-after.
  const ran = await payer.run([...RUN, '--stop-after', '1'], { answers: [true] });
  expect(ran.data).toEqual((await payer.run(['batch', 'report', 'batch-1'])).data);
  expect(ran.said.match(/^Open this address in the customer's browser:\n {2}\S+$/gm)).toHaveLength(2);
  expect(told(ran)).toEqual(paid(2));
  expect(bank.sent).toMatchInlineSnapshot(
    `["verify transfer", "sca pay-1", "execute pay-1", "verify transfer", "sca pay-2", "execute pay-2"]`,
  );
  const again = await payer.run(RUN, { answers: [] });
  expect([again.failure, bank.payments.length]).toEqual([null, 2]);
});

it.each([
  ['true', 'table', false],
  ['true', 'json', true],
  ['none', 'table', true],
  ['none', 'json', true],
] as const)(
  'where PSD2_BROWSER is %s and the output is %s, a run says each address: %s',
  async (browser, format, says) => {
    for (const terms of [{}, LINKED]) {
      const { payer } = await payees(terms, 'Ada', 'Bea');
      const { said, failure } = await payer.run(RUN, { format, env: { PSD2_BROWSER: browser } });
      expect(failure).toBeNull();
      expect(said.match(/https:\/\/customers\.bank\.example\/pay-\d/g) ?? []).toHaveLength(says ? 2 : 0);
    }
  },
);

it('a run pays only the chosen lines, in the order of their days', async () => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea', 'Cleo');
  const wrong = [
    await payer.run([...RUN, '--only', '0']),
    await payer.run([...RUN, '--only', '4']),
    await payer.run([...RUN, '--only', '']),
    await payer.run([...RUN, '--stop-after', '0']),
    await payer.run([...RUN, '--as', 'basket']),
    await payer.run([...RUN, '--as', 'bulk']),
    await payer.run(RUN, { globals: { grant: 'client_credentials' } }),
    await payer.run(['batch', 'run', 'ffff']),
  ].map(endOf);
  expect(wrong).toMatchInlineSnapshot(`
    [["exit 2, usage: --only "0" is not a whole number from 1 to 3"],
     ["exit 2, usage: --only "4" is not a whole number from 1 to 3"],
     ["exit 2, usage: --only "" is not a whole number from 1 to 3"],
     ["exit 2, usage: --stop-after "0" is not a whole number from 1"],
     ["exit 2, usage: This bank's interface has no signing baskets",
      "psd2 has sent nothing. Leave out --as."],
     ["exit 2, usage: This bank has no bulk payments", "psd2 has sent nothing. Leave out --as."],
     ["exit 2, usage: This needs the customer, so it needs the grant authorization_code",
      "Leave out --grant client_credentials."],
     ["exit 2, usage: There is no batch "ffff"", "See all of them with:", "$ batch list"]]
  `);
  const one = await payer.run([...RUN, '--only', '3', '--only', '2'], { answers: [true] });
  expect([one.asked, told(one)]).toMatchInlineSnapshot(`
    [["Pay 2 payments of 23.00 EUR of the batch short batch-1?"],
     ["2 executed tr-1 ", "3 executed tr-2 ", "2 of 2 paid (23.00 EUR).", "done"]]
  `);
  const alone = await payer.run([...RUN, '--only', '1', '2'], { answers: [true] });
  expect(alone.asked).toEqual(['Pay 1 payment of 10.00 EUR of the batch short batch-1?']);
  expect(bank.payments).toHaveLength(3);
});

it('an unknown line counts more than a refused one, and --stop-after ends the run', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada', 'Bea', 'Cleo', 'Dora');
  bank.next = { becomes: null };
  bank.meets('execute', 'lost');
  bank.meets('verify', refused());
  expect(await pay([...RUN, '--stop-after', '2'])).toMatchInlineSnapshot(`
    ["1 failed tr-1 Not this one",
     "2 unknown tr-2 The bank does not say yet whether the transfer was executed", "3 waiting  ",
     "4 waiting  ", "0 of 4 paid, 1 not paid, 1 unknown.", "exit 9, unknown 1 of 4: run batch-1"]
  `);
  bank.next = {};
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toEqual(['done']);
  const rest = await payer.run(RUN);
  expect(told(rest)).toMatchInlineSnapshot(`
    ["1 failed tr-1 Not this one",
     "2 unknown tr-2 The bank does not say yet whether the transfer was executed", "3 executed tr-3 ",
     "4 executed tr-4 ", "2 of 4 paid (25.00 EUR), 1 not paid, 1 unknown.",
     "exit 9, unknown 1 of 4: run batch-1"]
  `);
  bank.payment('pay-1').became = 'executed';
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 failed tr-1 Not this one", "2 executed tr-2 ", "3 executed tr-3 ", "4 executed tr-4 ",
     "3 of 4 paid (36.00 EUR), 1 not paid.", "exit 8, unpaid 1 of 4: retry batch-1"]
  `);
});

it('a customer who could not be sent to SCA is awaited: the next run sends them', async () => {
  const { bank, pay } = await payees({}, 'Ada', 'Bea');
  bank.meets('sca', refused());
  expect(await pay()).toEqual([
    ...['1 verified tr-1 Not this one', '2 executed tr-2 '],
    ...['1 of 2 paid (11.00 EUR), 1 awaits its customer.', 'exit 6, awaited 1 of 2: run batch-1'],
  ]);
  expect(await pay()).toContain('2 of 2 paid (21.00 EUR).');
});

it('after three failures of the bank in a row the run stops, and the next one goes on', async () => {
  const { bank, pay } = await payees({}, 'Ada', 'Bea', 'Cleo', 'Dora');
  bank.meets('verify', failing(), failing(), failing());
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 created tr-1 The bank is failing", "2 created tr-2 The bank is failing",
     "3 created tr-3 The bank is failing", "4 waiting  ", "Payment 1: The bank is failing.",
     "Payment 2: The bank is failing.", "Payment 3: The bank is failing.", "0 of 4 paid.",
     "exit 11, bank_failing: The bank is failing",
     "Do not pay these payments in another way. psd2 goes on, and pays nothing twice, with:",
     "$ batch run batch-1"]
  `);
  expect(await pay()).toEqual(paid(4));
});

it('in a pipe, each line is printed as soon as it has ended; JSON has all at the end', async () => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  const bytes: string[] = [];
  const changes = () => ({ printBytes: (text: Uint8Array) => void bytes.push(Buffer.from(text).toString()) });
  await payer.run([...RUN, '--only', '1'], { format: 'table', changes });
  expect(bytes.map((line) => [line.at(-1), JSON.parse(line).state])).toEqual([['\n', 'executed']]);
  const ran = await payer.run(RUN, { format: 'ndjson' });
  const lines = ran.printed.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).line)).toEqual([2, 1]);
  expect((await payer.run(RUN, { format: 'json', changes })).data).toHaveLength(2);
  expect(bytes).toHaveLength(1);
});

it('a close name waits for a person, no match is refused, and a match is paid', async () => {
  const ends: unknown[] = [];
  const cases: [string, string[], string[]][] = [
    ['match', [], []],
    ['none', [], []],
    ['close', [], []],
    ['close', [], ['--accept-close']],
    ['unavailable', [], []],
    ['unavailable', ['--instant'], []],
    ['none', ['--payee-verified', '--instant'], []],
    ['close', ['--instant'], ['--accept-close']],
  ];
  for (const [result, adds, runs] of cases) {
    const { bank, payer } = await withPayees({}, ['Ada'], adds);
    const env = { PSD2_PAYEE_CHECK: checkThatSays({ result, name: 'Adele' }) };
    const ran = await payer.run([...RUN, ...runs], { env });
    ends.push([result, ...adds, ...runs, ...bank.sent, ...told(ran)]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["match", "verify transfer", "sca pay-1", "execute pay-1", "1 executed tr-1 ",
      "1 of 1 paid (10.00 EUR).", "done"],
     ["none", "1 failed  The payee check says: no match, the account is held by Adele",
      "0 of 1 paid, 1 not paid.", "exit 8, refused 1 of 1: report batch-1"],
     ["close",
      "1 waiting  The payee check of payment 1 says: close match, the account is held by Adele",
      "Payment 1: The payee check of payment 1 says: close match, the account is held by Adele. If the payee is right after all, add --accept-close.",
      "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1"],
     ["close", "--accept-close", "verify transfer", "sca pay-1", "execute pay-1", "1 executed tr-1 ",
      "1 of 1 paid (10.00 EUR).", "done"],
     ["unavailable", "verify transfer", "sca pay-1", "execute pay-1", "1 executed tr-1 ",
      "1 of 1 paid (10.00 EUR).", "done"],
     ["unavailable", "--instant", "1 waiting  Payment 1 is instant, and nobody has verified its payee",
      "Payment 1: Payment 1 is instant, and nobody has verified its payee. Set PSD2_PAYEE_CHECK, or add the payments again with --payee-verified.",
      "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1"],
     ["none", "--payee-verified", "--instant", "verify transfer", "sca pay-1", "execute pay-1",
      "1 settled tr-1 ", "1 of 1 paid (10.00 EUR).", "done"],
     ["close", "--instant", "--accept-close", "verify transfer", "sca pay-1", "execute pay-1",
      "1 settled tr-1 ", "1 of 1 paid (10.00 EUR).", "done"]]
  `);
});

it('a payment above the limit is refused, though a second person has approved the batch', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  const env = { PSD2_MAX_AMOUNT: '9' };
  await payer.run(['batch', 'approve', 'batch-1', '--by', 'bea'], { env });
  expect(await pay(RUN, { env })).toMatchInlineSnapshot(`
    ["1 failed  The amount 10.00 EUR is more than the 9 EUR that the profile env allows",
     "0 of 1 paid, 1 not paid.", "exit 8, refused 1 of 1: report batch-1"]
  `);
  expect(bank.calls).toEqual([]);
});

it.each<[string, string, string]>(
  // Wherever it is in the file, and however many digits the others have.
  ['10 11', '11 10', '9 11', '11 9', '9.50 11 2.00', '11.00 2'].flatMap(
    (amounts): [string, string, string][] => {
      const count = amounts.split(' ').length;
      return [
        [amounts, '11.49', `exit 8, unpaid ${count} of ${count}: retry batch-1`],
        [amounts, '11.50', 'done'],
      ];
    },
  ),
)(
  'of a bulk payment of %s EUR, the largest payment with the fees of all is held against the limit of %s',
  async (amounts, limit, end) => {
    const rows = amounts.split(' ').map((amount, index) => `Ada,${IBAN},${amount},R-${index + 1}\n`);
    const text = `name,iban,amount,reference\n${rows.join('')}`;
    const { bank, payer, pay } = await withFile(BULK, text, ['--from', OWN_ACCOUNT]);
    bank.verified = { commissions: { amount: parsePaymentAmount('0.50'), currency: 'EUR' } };
    const env = { PSD2_MAX_AMOUNT: limit };
    await payer.run(['batch', 'approve', 'batch-1', '--by', 'bea'], { env });
    expect((await pay(RUN, { env })).at(-1)).toBe(end);
  },
);

it('a bulk payment whose answer was lost ends when the last of its payments is resolved', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea');
  bank.meets('verify', 'lost');
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 unknown tr-1 The bank may have the bulk payment, but gave no usable answer to it: The connection was lost",
     "2 unknown tr-2 The bank may have the bulk payment, but gave no usable answer to it: The connection was lost",
     "0 of 2 paid, 2 unknown.", "exit 9, unknown 2 of 2: run batch-1"]
  `);
  for (const flow of ['tr-1', 'tr-2'])
    expect((await payer.run(['transfer', 'resolve', flow, '--not-executed'])).failure).toBeNull();
  await payer.run(['operation', 'list']);
  expect((await payer.run(['operation', 'show', 'op-1'])).data.resolution).toMatchInlineSnapshot(
    `{ at: "NOW", by: "ada@machine", note: "Each of its payments has ended.", outcome: "not-executed" }`,
  );
});

// How a run ends that meets several things at once, and what a line has come to.

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
  const { batches, flows, read } = await storeOf(payer);
  const batch = await read();
  const rows = await readLines(flows, batch, await batches.lines(batch));
  expect(rows.map(({ outcome, row: { isUncertain } }) => [outcome, isUncertain])).toEqual([
    ['refused', true],
    ['not paid', false],
    ['unfinished', false],
  ]);
  const { data } = await payer.run(['batch', 'cancel', 'batch-1']);
  expect(data).toMatchObject({ state: 'done', counts: { failed: 2, cancelled: 1 } });
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

const SENT: TransferEvent[] = [{ type: 'verify-sent', requestId: 'r', digest: null }, VERIFIED];
const CANCELLED = { type: 'cancelled' } as const;
const checkedAs = (result: 'close' | 'match') =>
  ({ type: 'payee-checked', result, name: 'Other', problem: null }) as const;
const decided = (status: 'PENDING' | 'NOT_AUTHORIZED' | 'EXPIRED', bankStatus: string): TransferEvent[] => [
  { type: 'sca-started' },
  { type: 'authorization', status, bankStatus },
];
const CLOSE = 'close match, the account is held by Other';

it.each<[string, TransferEvent[], string, string | null]>([
  ['ended after a payee check without a match', [checkedAs('close'), CANCELLED], 'cancelled', CLOSE],
  ['was cancelled after a match', [checkedAs('match'), CANCELLED], 'cancelled', null],
  ['was cancelled without a payee check', [CANCELLED], 'cancelled', null],
  ['goes on after a payee check without a match', [checkedAs('close')], 'verified', null],
  ['waits for its customer', decided('PENDING', 'PATIENT'), 'authorizing', null],
  ['was not authorised', decided('NOT_AUTHORIZED', 'They refused'), 'rejected', 'They refused'],
  ['was not authorised in time', decided('EXPIRED', 'Too late'), 'expired', 'Too late'],
])('a line whose transfer %s has the reason for that', async (_, events, state, reason) => {
  const { payer } = await withBatch('Ada');
  await beginLine(await storeOf(payer), 1, { commits: 'on execute', events: [...SENT, ...events] });
  const { data } = await payer.run(['batch', 'report', 'batch-1']);
  expect(data).toMatchObject([{ state, reason }]);
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

const TABLE = { format: 'table', stdout: 200 } as const;
it('at a terminal, what became of several payments alike is said once for all', async () => {
  const { bank, payer } = await payees(LINKED, 'Ada', 'Bea');
  bank.next = { decision: 'NOT_AUTHORIZED', word: 'They refused' };
  expect((await payer.run(RUN, TABLE)).said).toContain(
    '\n2 payments were rejected: The customer did not authorise it.\n',
  );
  const late = await payees(LINKED, 'Ada', 'Bea');
  late.bank.next = { decision: 'EXPIRED', word: 'Too late' };
  expect((await late.payer.run(RUN, TABLE)).said).toContain(
    '\n2 payments expired: The customer did not authorise it in time.\n',
  );
  const lost = await payees(LINKED, 'Ada', 'Bea');
  lost.bank.meets('verify', 'lost', 'lost');
  expect((await lost.payer.run(RUN, TABLE)).said).toMatch(/^2 payments are unknown: The bank may have /m);
});

it('payments that are cancelled alike because of their payees are said once for all', async () => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  const store = await storeOf(payer);
  const verified = (line: number): TransferEvent[] => [
    { type: 'verify-sent', requestId: 'r', digest: null },
    { ...VERIFIED, resourceId: `r${line}` },
  ];
  for (const line of [1, 2]) await beginLine(store, line, { commits: 'on execute', events: verified(line) });
  const env = { PSD2_PAYEE_CHECK: checkThatSays({ result: 'none', name: 'Adele' }) };
  expect((await payer.run(RUN, { env, ...TABLE })).said).toContain(
    '2 payments were cancelled: The payee check says: no match, the account is held by Adele.\n',
  );
});

it('a payment that the bank does not take is refused before a transfer begins', async () => {
  const { bank, payer, pay } = await payees(LINKED, 'Ada');
  bank.meanwhile = async (call) => {
    if (call === 'write an order') throw new Psd2Error('usage', 'This bank has no such product');
  };
  expect((await pay()).slice(0, 2)).toEqual([
    '1 failed  This bank has no such product',
    '0 of 1 paid, 1 not paid.',
  ]);
  expect(payer.flows()).toBe(0);
});

it('what is wrong with the store while a bulk payment is prepared stops it, and is no taken reference', async () => {
  const { payer } = await payees(BULK, 'Ada', 'Bea');
  const { flows } = await storeOf(payer);
  for (const error of [new Psd2Error('config', 'The disk is full'), new TypeError('a fault')]) {
    vi.spyOn(Object.getPrototypeOf(flows), 'begin').mockRejectedValueOnce(error);
    const ran = payer.run(RUN);
    if (error instanceof Psd2Error) expect(told(await ran)).toContain('Payment 1: The disk is full.');
    else await expect(ran).rejects.toBe(error);
  }
  const { data } = await payer.run(['batch', 'report', 'batch-1']);
  expect(data).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }]);
});

// What a bank has accepted and may still reject: who asks again, what they say, and how a person ends it at a bank that never does.

const STATUS = ['batch', 'status', 'batch-1'];
const ALL = ['transfer', 'resume', '--all'];
const LATER = new Date(Date.parse(NOW) + 5 * 24 * 60 * 60_000).toISOString();

/** An operator whose bank has accepted two payments of a batch, alone or as one, and has not called them final. */
async function accepted(way: 'single' | 'bulk') {
  const bank = new BankHere(BULK);
  bank.isFinal = false;
  const here = await withPayees(bank, ['Ada', 'Bea']);
  const ran = await here.payer.run([...RUN, '--as', way]);
  expect([ran.failure, ran.said]).toEqual([null, expect.stringContaining('0 of 2 paid, 2 accepted.')]);
  const { payer } = here;
  const stateOfBatch = async () => (await payer.run(['batch', 'show', 'batch-1'])).data.state;
  const asked = async (words: string[]) => {
    bank.calls.length = 0;
    const { failure, data } = await payer.run(words);
    return { failure, data, calls: bank.calls.length };
  };
  return { bank, payer, stateOfBatch, asked };
}

const ALL_REJECTED = {
  single: /^2 of 2 transfers could not be continued\. First failure: The payment failed$/,
  bulk: /^2 of 2 transfers could not be continued\. First failure: The bank has rejected the transfer tr-\d, which it had accepted$/,
};

describe.each(['single', 'bulk'] as const)('payments that the bank has accepted (--as %s)', (way) => {
  it('are asked about, although the bank cannot be asked about one of them', async () => {
    const { bank, payer, stateOfBatch } = await accepted(way);
    bank.meets('prepare', new Psd2Error('bank_failing', 'The bank is failing'));
    bank.isFinal = true;
    const { data, said } = await payer.run(STATUS);
    expect([data.length, await stateOfBatch()]).toEqual([way === 'single' ? 1 : 2, 'running']);
    expect(said).toMatch(/^psd2 could not ask the bank about tr-\d: The bank is failing$/m);
  });

  it('stay as they are at a bank whose file no longer has bulk payments', async () => {
    const { payer, stateOfBatch } = await accepted(way);
    const without = new BankHere(LINKED);
    const { failure, data } = await payer.run(STATUS, { at: without });
    expect([failure, data.length, await stateOfBatch()]).toEqual([null, 2, 'running']);
  });

  it.each([
    ['batch status', STATUS],
    ['transfer resume --all', ALL],
    ['batch run', [...RUN, '--as', way]],
  ])('%s asks the bank again, and stays as it is until the bank says more', async (_, words) => {
    const { bank, stateOfBatch, asked } = await accepted(way);
    for (const round of [1, 2]) {
      const { failure, data, calls } = await asked(words);
      expect([round, failure, data.length, calls > 0]).toEqual([round, null, 2, true]);
    }
    expect(await stateOfBatch()).toBe('running');
    bank.isFinal = true;
    for (const reference of ['R-1', 'R-2'])
      bank.entries.set(reference, { transactionStatus: 'ACSC', means: 'paid', isFinal: true });
    expect((await asked(words)).failure).toBeNull();
    expect(await stateOfBatch()).toBe('done');
    expect((await asked(words)).calls).toBe(0);
  });

  it.each([
    [
      'batch status',
      STATUS,
      /^The bank has rejected 2 of 2 payments that it had accepted$/,
      'batch retry batch-1',
    ],
    ['transfer resume --all', ALL, ALL_REJECTED[way], 'transfer list --attention'],
    ['batch run', [...RUN, '--as', way], /^2 of 2 payments were not made$/, 'batch retry batch-1'],
  ])('%s exits 8 if the bank rejects them then', async (_, words, message, next) => {
    const { bank, payer, stateOfBatch, asked } = await accepted(way);
    for (const payment of bank.payments) payment.became = 'failed';
    const { failure } = await asked(words);
    expect([failure?.exitCode, failure?.message, failure?.next]).toEqual([
      ...[8, expect.stringMatching(message), [next.split(' ')]],
    ]);
    expect(await stateOfBatch()).toBe('done');
    expect((await payer.run(['batch', 'retry', 'batch-1'])).data.lines).toBe(2);
  });

  it('at a bank that never calls them final a person ends them, and status no longer names them', async () => {
    const { payer, bank, stateOfBatch, asked } = await accepted(way);
    const { data } = await payer.run(STATUS);
    expect((await payer.run(['status'])).data.attention).toEqual([]);
    const overdue = await payer.run(['status'], { now: LATER });
    const items = JSON.parse(overdue.printed).attention;
    expect([overdue.failure?.exitCode, items.map(({ id }: { id: string }) => id)]).toEqual([
      ...[12, expect.arrayContaining(['tr-1', 'tr-2'])],
    ]);
    expect(endOf(await payer.run(['transfer', 'resolve', 'tr-1', '--not-executed']))).toEqual([
      'exit 2, usage of tr-1: The bank has accepted the transfer tr-1, and may still execute it',
      'Only the bank can end it unpaid. Ask for that with:',
      '$ transfer cancel tr-1',
      expect.any(String),
    ]);
    for (const { flow } of Object.values(data)) {
      const words = ['transfer', 'resolve', `${flow}`, '--executed', '--note', 'Statement'];
      const resolved = await payer.run(words);
      expect([resolved.failure, resolved.data.state]).toEqual([null, 'executed']);
    }
    expect(await stateOfBatch()).toBe('done');
    const left = await payer.run(['status'], { now: LATER });
    expect(left.data.attention).toEqual([]);
    bank.calls.length = 0;
    for (const words of [STATUS, ALL, [...RUN, '--as', way]])
      expect(await asked(words)).toMatchObject({ calls: 0 });
    const { data: rows } = await payer.run(['batch', 'report', 'batch-1', '--format', 'json']);
    for (const { paidAt } of Object.values(rows)) expect(paidAt).not.toBeNull();
  });
});
