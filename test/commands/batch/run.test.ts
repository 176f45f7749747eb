import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/bank/ports/bank.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type Decimal, isDecimal } from '../../../src/domain/decimal.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, type PaymentHere } from '../bank-here.ts';
import { endOf, TODAY } from '../payer-here.ts';
import { BASKET, failing, paid, payeesIn, RUN, refused, told, withPayees } from './with-batch.ts';

// The run of a batch, at a bank in the memory of the test: what is paid, what is said, and what a second run does.

const temporary = temporaryFolder();
const payees = payeesIn(temporary);
const checkThatSays = (answer: object) => `sh -c 'cat > /dev/null; echo "$0"' '${JSON.stringify(answer)}'`;

/** An amount with a sign, as an account books it. */
function decimal(text: string): Decimal {
  if (isDecimal(text)) return text;
  throw new TypeError(`${text} is not a decimal`);
}

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
  const ran = await payer.run(RUN, { answers: [true] });
  expect(ran.data[0]).toMatchInlineSnapshot(`
    { amount: "10.00", bankReasons: [], batch: "batch-1", currency: "EUR", description: "",
      endToEndId: "R-1", executionDate: "TODAY", flow: "tr-1", from: "0000012345",
      iban: "DE89370400440532013000", line: 1, name: "Ada", paidAt: "NOW", payeeCheck: null,
      reason: null, reference: "R-1", remittanceStructured: null, state: "executed" }
  `);
  expect(ran.said.match(/^Open this address in the customer's browser:\n {2}\S+$/gm)).toHaveLength(2);
  expect(told(ran)).toEqual(paid(2));
  expect(bank.sent).toMatchInlineSnapshot(
    `["verify transfer", "sca pay-1", "execute pay-1", "verify transfer", "sca pay-2", "execute pay-2"]`,
  );
  const again = await payer.run(RUN, { answers: [] });
  expect([again.failure, bank.payments.length]).toEqual([null, 2]);
});

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
  expect(alone.asked).toMatchInlineSnapshot(`["Pay 1 payment of 10.00 EUR of the batch short batch-1?"]`);
  expect(bank.payments).toHaveLength(3);
});

it('a refused line stops no other one, and only those that are known not to be paid go into a retry', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada', 'Bea', 'Cleo');
  bank.meets('verify', refused());
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 failed tr-1 Not this one", "2 executed tr-2 ", "3 executed tr-3 ",
     "2 of 3 paid (23.00 EUR), 1 not paid.", "exit 8, unpaid 1 of 3: retry batch-1"]
  `);
  expect(bank.payments).toHaveLength(2);
  const retried = await payer.run(['batch', 'retry', 'batch-1']);
  expect([retried.failure, retried.data.lines, retried.data.retryOf]).toEqual([null, 1, 'batch-1']);
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toMatchInlineSnapshot(`
    ["exit 2, usage: The batch batch-2 has these payments already",
     "psd2 has stored nothing. Run that batch. Once it has ended, retry that one. See it with:",
     "$ batch show batch-2"]
  `);
  expect(await pay(['batch', 'run', 'batch-2'])).toMatchInlineSnapshot(
    `["1 executed tr-4 ", "1 of 1 paid (10.00 EUR).", "done"]`,
  );
  expect(endOf(await payer.run(['batch', 'retry', 'batch-2']))).toMatchInlineSnapshot(`
    ["exit 2, usage: There is nothing to retry: no payment is known to have failed",
     "psd2 has stored nothing. See its payments with:", "$ batch report batch-2"]
  `);
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
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toMatchInlineSnapshot(`["done"]`);
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

it('what the bank refuses by one answer alone keeps its reference', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  bank.meets('execute', refused());
  bank.next = { becomes: null };
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 failed tr-1 Not this one", "0 of 1 paid, 1 not paid.",
     "exit 8, payment_failed: 1 of 1 payments was not made",
     "The bank refused 1 without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve. psd2 asks the bank again with:",
     "$ batch run batch-1"]
  `);
  expect(endOf(await payer.run(['batch', 'retry', 'batch-1']))).toMatchInlineSnapshot(`
    ["exit 2, usage: There is nothing to retry: no payment is known to have failed",
     "psd2 has stored nothing. The bank refused payment 1 without confirming that no money moved. Once you know that none did, run psd2 transfer resolve --not-executed. See its payments with:",
     "$ batch report batch-1"]
  `);
  expect(bank.calls.filter((call) => call.startsWith('execute'))).toEqual(['execute pay-1']);
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

it('in a pipe, each line is printed as soon as it has ended', async () => {
  const { payer } = await payees({}, 'Ada', 'Bea');
  const bytes: string[] = [];
  const changes = () => ({ printBytes: (text: Uint8Array) => void bytes.push(Buffer.from(text).toString()) });
  await payer.run([...RUN, '--only', '1'], { format: 'table', changes });
  expect(bytes.map((line) => [line.at(-1), JSON.parse(line).state])).toEqual([['\n', 'executed']]);
  const ran = await payer.run(RUN, { format: 'ndjson' });
  expect(
    ran.printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).line),
  ).toEqual([2, 1]);
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
    const { bank, payer } = await withPayees(temporary, new BankHere(), ['Ada'], adds);
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

it('a batch above the limit needs a second person, before anything is sent', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  const env = { PSD2_MAX_AMOUNT: '9' };
  expect(endOf(await payer.run(RUN, { env }))).toMatchInlineSnapshot(`
    ["exit 2, usage: The batch needs 1 approval, and has 0",
     "psd2 has sent nothing. A person other than ada approves it with:", "$ batch approve batch-1"]
  `);
  await payer.run(['batch', 'approve', 'batch-1', '--by', 'bea'], { env });
  expect(await pay(RUN, { env })).toMatchInlineSnapshot(`
    ["1 failed  The amount 10.00 EUR is more than the 9 EUR that the profile env allows",
     "0 of 1 paid, 1 not paid.", "exit 8, refused 1 of 1: report batch-1"]
  `);
  expect(bank.calls).toEqual([]);
});

const BULK = { commits: 'by the customer', bulk: { maxEntries: 3 } } as const;

it('lines of one account and day go as one bulk payment, which the customer authorises once', async () => {
  const { bank, payer } = await payees(BULK, 'Ada', 'Bea', 'Cleo', 'Dora');
  const ran = await payer.run(RUN);
  expect(ran.said.match(/(?<=\/)pay-\d/g)).toEqual(['pay-1', 'pay-2']);
  expect([told(ran), bank.sent]).toEqual([
    paid(4),
    ['verify bulk payment', 'sca pay-1', 'verify transfer', 'sca pay-2'],
  ]);
  const [bulk] = bank.payments;
  const orders: { reference: string; amount: string }[] = JSON.parse(String(bulk?.asked));
  expect(orders.map(({ reference, amount }) => `${reference} ${amount}`)).toMatchInlineSnapshot(
    `["R-1 10.00", "R-2 11.00", "R-3 12.00"]`,
  );
  expect((await payer.run(RUN)).failure).toBeNull();
  expect(bank.payments).toHaveLength(2);
  await payer.run(['operation', 'list']);
  expect(payer.journal('op-1').map(({ type }) => type)).toMatchInlineSnapshot(
    `["created", "accepted", "verify-sent", "verified", "approach-sent", "sca-started", "executed"]`,
  );
  expect(endOf(await payer.run(['transfer', 'resume', 'tr-1']))).toMatchInlineSnapshot(`
    ["exit 2, usage of tr-1: The transfer tr-1 is one of the bulk payment op-1",
     "The customer authorises all of them together. psd2 goes on with all, and asks what became of each, with:",
     "$ batch run batch-1"]
  `);
});

it('if the bank rejects some of a bulk payment, its word or the bookings say which', async () => {
  const { bank, payer, pay } = await payees(BULK, 'Ada', 'Bea', 'Cleo');
  bank.next = { word: 'PART' };
  bank.entries = new Map([
    ['R-1', { transactionStatus: 'ACSC', means: 'paid', isFinal: true }],
    ['R-2', { transactionStatus: 'RJCT', means: 'refused' }],
    ['R-3', { transactionStatus: 'PDNG', means: 'open' }],
  ]);
  const row = {
    ...{
      index: '1',
      status: 'booked',
      bookingDate: parseDate('--date', TODAY),
      valueDate: null,
      description: '',
    },
    ...{ amount: decimal('-12.00'), currency: 'EUR', details: '', code: null },
    ...{
      transferReference: null,
      feeCharge: null,
      endToEndId: 'R-3',
      counterpartyIban: 'de89 3704 0044 0532 0130 00',
    },
  } satisfies Transaction;
  const others: Partial<Transaction>[] = [
    { bookingDate: null },
    { currency: 'USD' },
    { amount: decimal('12.00') },
    { counterpartyIban: 'IT60X0542811101000000123456' },
    { endToEndId: null },
    { endToEndId: 'R-2' },
  ];
  bank.booked = others.map((other) => ({ ...row, ...other }));
  const ran = await payer.run(RUN);
  expect([told(ran), bank.calls.map((call) => call.replace(TODAY, 'TODAY'))]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed tr-2 RJCT",
      "3 unknown tr-3 The bank has not said what became of this payment of a bulk payment",
      "1 of 3 paid (10.00 EUR), 1 not paid, 1 unknown.", "exit 9, unknown 1 of 3: run batch-1"],
     ["accounts 1048262", "verify bulk payment", "sca pay-1", "status pay-1", "entries pay-1",
      "bookings 0000012345 from TODAY, booked"]]
  `);
  bank.booked = [row];
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 executed tr-1 ", "2 failed tr-2 RJCT", "3 executed tr-3 ",
     "2 of 3 paid (22.00 EUR), 1 not paid.", "exit 8, unpaid 1 of 3: retry batch-1"]
  `);
});

it('what becomes of a bulk payment becomes of each of its payments', async () => {
  const ends: unknown[] = [];
  const cases: [string, Partial<PaymentHere>][] = [
    ['the customer refuses', { decision: 'NOT_AUTHORIZED' }],
    ['the customer is late', { decision: 'EXPIRED' }],
    ['the customer does not decide', {}],
    ['the bank rejects all', { becomes: 'failed', word: 'RJCT' }],
    ['the bank has not said', { becomes: null }],
  ];
  for (const [what, next] of cases) {
    const { bank, pay } = await payees(BULK, 'Ada', 'Bea');
    bank.next = next;
    bank.customersAgree = what !== 'the customer does not decide';
    ends.push([what, ...(await pay(RUN, { globals: { scaTimeout: '1' } }))]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["the customer refuses", "1 rejected tr-1 NOT_AUTHORIZED", "2 rejected tr-2 NOT_AUTHORIZED",
      "0 of 2 paid, 2 not paid.", "exit 8, unpaid 2 of 2: retry batch-1"],
     ["the customer is late", "1 expired tr-1 EXPIRED", "2 expired tr-2 EXPIRED",
      "0 of 2 paid, 2 not paid.", "exit 8, unpaid 2 of 2: retry batch-1"],
     ["the customer does not decide",
      "1 authorizing tr-1 The customer did not authorise the bulk payment within 1 s",
      "2 authorizing tr-2 The customer did not authorise the bulk payment within 1 s",
      "0 of 2 paid, 2 await their customer.", "exit 6, awaited 2 of 2: run batch-1"],
     ["the bank rejects all", "1 failed tr-1 RJCT", "2 failed tr-2 RJCT", "0 of 2 paid, 2 not paid.",
      "exit 8, unpaid 2 of 2: retry batch-1"],
     ["the bank has not said",
      "1 unknown tr-1 The bank does not say yet whether the bulk payment was executed",
      "2 unknown tr-2 The bank does not say yet whether the bulk payment was executed",
      "0 of 2 paid, 2 unknown.", "exit 9, unknown 2 of 2: run batch-1"]]
  `);
});

it('a bulk payment whose answer was lost is unknown until each of its payments was resolved', async () => {
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
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 failed tr-1 ", "2 failed tr-2 ", "0 of 2 paid, 2 not paid.",
     "exit 8, unpaid 2 of 2: retry batch-1"]
  `);
  expect(bank.payments).toHaveLength(1);
});

it('in a signing basket, what one payment lacks stops no other one', async () => {
  const { bank, payer } = await payees(BASKET, 'Ada', 'Bea', 'Cleo');
  bank.meets('verify', refused());
  const ran = await payer.run([...RUN, '--as', 'basket']);
  expect([told(ran), bank.last.asked]).toMatchInlineSnapshot(`
    [["1 failed tr-1 Not this one", "2 executed tr-2 ", "3 executed tr-3 ",
      "2 of 3 paid (23.00 EUR), 1 not paid.", "exit 8, unpaid 1 of 3: retry batch-1"],
     "["pay-1","pay-2"]"]
  `);
});
