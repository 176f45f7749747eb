import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Transaction } from '../../../src/bank/ports/bank.ts';
import type { EntryState } from '../../../src/bank/ports/bulk.ts';
import { addDays, parseDate } from '../../../src/domain/calendar.ts';
import { isDecimal } from '../../../src/domain/decimal.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { transactionOf } from '../../bank/transaction.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { account, BankHere, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { ANNA, TODAY } from '../payer-here.ts';
import { BULK, failing, IBAN, LINKED, paid, RUN, takingIbans, told, useBatches } from './with-batch.ts';

// A bulk payment of which the bank has rejected some: what became of each payment, by its word or by the bookings.

const { payees, temporary, withFile, withPayees } = useBatches();
const today = parseDate('--date', TODAY);

/** The booking of a payment. */
function booking(reference: string, amount: string, more: Partial<Transaction> = {}): Transaction {
  const signed = `-${amount}`;
  if (!isDecimal(signed)) throw new TypeError(`${signed} is not a decimal`);
  return transactionOf({
    ...{ bookingDate: today, amount: signed, endToEndId: reference, counterpartyIban: IBAN, ...more },
  });
}

/** A partial bulk payment of three lines. */
async function partial() {
  const bank = new BankHere(BULK);
  bank.next = { word: 'PART' };
  bank.accounts = [account('0000099999', 'DE75512108001245126199'), ...bank.accounts];
  const { payer, pay } = await payees(bank, 'Ada', 'Bea', 'Cleo');
  const calls = () => bank.calls.splice(0).map((call) => call.replace(TODAY, 'TODAY'));
  return { bank, payer, pay, calls };
}

it('what the bank says of a payment counts more than a booking, and nobody reads bookings for what it has said', async () => {
  const { bank, payer, calls, pay } = await partial();
  bank.entries = new Map([
    ['R-1', { transactionStatus: 'ACCC', means: 'paid', isFinal: true }],
    ['R-2', { transactionStatus: 'RJCT', means: 'refused' }],
  ]);
  bank.booked = [booking('R-1', '10.00'), booking('R-2', '11.00'), booking('R-3', '12.00')];
  expect([await pay(), calls()]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed tr-2 RJCT", "3 executed tr-3 ",
      "2 of 3 paid (22.00 EUR), 1 not paid.", "exit 8, unpaid 1 of 3: retry batch-1"],
     ["accounts 1048262", "verify bulk payment", "sca pay-1", "status pay-1", "entries pay-1",
      "bookings 0000012345 from TODAY, booked"]]
  `);
  expect(payer.journal('tr-3').at(-1)).toMatchInlineSnapshot(`
    { bank: { scaStatus: null, transactionStatus: "ACSC" }, cro: null, isFinal: true,
      machine: "machine", operator: "ada", type: "executed", user: "user", version: "0.0.0" }
  `);
  const all = await partial();
  for (const id of ['R-1', 'R-2', 'R-3'])
    all.bank.entries.set(id, { transactionStatus: 'ACCC', means: 'paid', isFinal: true });
  expect([told(await all.payer.run(RUN)).at(-1), all.calls().slice(-2)]).toEqual([
    'done',
    ['status pay-1', 'entries pay-1'],
  ]);
});

it('if the bank rejects some of a bulk payment, its word or the bookings say which', async () => {
  const { bank, pay, calls } = await partial();
  bank.entries = new Map([
    ['R-1', { transactionStatus: 'ACSC', means: 'paid', isFinal: true }],
    ['R-2', { transactionStatus: 'RJCT', means: 'refused' }],
    ['R-3', { transactionStatus: 'PDNG', means: 'open' }],
  ]);
  const row = booking('R-3', '12.00', { counterpartyIban: 'de89 3704 0044 0532 0130 00' });
  const others: Partial<Transaction>[] = [
    { bookingDate: null },
    { bookingDate: addDays(today, 1) },
    { currency: 'USD' },
    { amount: decimalOf(1200) },
    { counterpartyIban: 'IT60X0542811101000000123456' },
    { endToEndId: null },
    { endToEndId: 'R-2' },
  ];
  bank.booked = others.map((other) => ({ ...row, ...other }));
  expect([await pay(), calls()]).toMatchInlineSnapshot(`
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

it('if the bank says nothing of the payments, the bookings do, and what was booked before is no proof', async () => {
  const { bank, calls, pay } = await partial();
  bank.meets('entries', new Psd2Error('bank_failing', 'The bank is failing'));
  bank.booked = [booking('R-1', '10.00'), booking('R-2', '11.00', { bookingDate: addDays(today, -1) })];
  expect([await pay(), calls()]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ",
      "2 unknown tr-2 The bank has not said what became of this payment of a bulk payment",
      "3 unknown tr-3 The bank has not said what became of this payment of a bulk payment",
      "1 of 3 paid (10.00 EUR), 2 unknown.", "exit 9, unknown 2 of 3: run batch-1"],
     ["accounts 1048262", "verify bulk payment", "sca pay-1", "status pay-1", "entries pay-1",
      "bookings 0000012345 from TODAY, booked"]]
  `);
  bank.meets('bookings', new Psd2Error('forbidden', 'No consent'));
  expect([await pay(), calls()]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ",
      "2 unknown tr-2 The bank has not said what became of this payment of a bulk payment",
      "3 unknown tr-3 The bank has not said what became of this payment of a bulk payment",
      "1 of 3 paid (10.00 EUR), 2 unknown.", "exit 9, unknown 2 of 3: run batch-1"],
     ["entries pay-1", "accounts 1048262", "bookings 0000012345 from TODAY, booked"]]
  `);
  bank.booked = [booking('R-2', '11.00', { counterpartyIban: null }), booking('R-3', '12.00')];
  expect([await pay(), calls()]).toEqual([
    paid(3),
    ['entries pay-1', 'accounts 1048262', 'bookings 0000012345 from TODAY, booked'],
  ]);
});

it.each(['entries', 'bookings'] as const)('an interruption at the %s records nothing', async (call) => {
  const { bank, payer, pay } = await partial();
  bank.meets(call, new Psd2Error('interrupted', 'Interrupted'));
  const ran = await payer.run(RUN);
  expect(told(ran).slice(0, 3)).toEqual(['1 created tr-1 ', '2 created tr-2 ', '3 created tr-3 ']);
  expect(ran.failure?.code).toBe('interrupted');
  expect((await pay()).slice(0, 3)).toEqual(
    [1, 2, 3].map((line) => expect.stringMatching(new RegExp(`^${line} unknown tr-${line} `))),
  );
});

it.each([
  ['its id', account(OWN_ACCOUNT, null)],
  ['its IBAN', account('0000054321', OWN_IBAN)],
])('if the bank names the account by %s alone by now, its bookings are still found', async (_, own) => {
  const { bank, payer, calls, pay } = await partial();
  bank.meets('bookings', new Psd2Error('interrupted', 'Interrupted'));
  await payer.run(RUN);
  calls();
  bank.accounts = [account('0000099999', 'DE75512108001245126199'), own];
  bank.booked = [booking('R-1', '10.00'), booking('R-3', '12.00')];
  expect((await pay()).slice(0, 3)).toEqual([
    '1 executed tr-1 ',
    expect.stringMatching(/^2 unknown tr-2 /),
    '3 executed tr-3 ',
  ]);
  expect(calls().slice(-2)).toEqual(['accounts 1048262', `bookings ${own.productId} from TODAY, booked`]);
});

it('the bookings are those of the account that was debited, by its id or its IBAN', async () => {
  const ends: unknown[] = [];
  for (const from of [OWN_IBAN, OWN_ACCOUNT, 'DE91100000000123456789']) {
    const bank = takingIbans(new BankHere(BULK));
    bank.accounts = [account('0000099999', 'DE75512108001245126199'), ...bank.accounts];
    bank.next = { word: 'PART' };
    const rows = ['Ada', 'Bea'].map((name, index) => `${name},${IBAN},1${index},R-${index + 1},${from}\n`);
    const { pay } = await withFile(bank, `name,iban,amount,reference,from\n${rows.join('')}`);
    bank.booked = [booking('R-1', '10.00'), booking('R-2', '11.00')];
    const calls = () => bank.calls.map((call) => call.replace(TODAY, 'TODAY'));
    ends.push([from, ...(await pay()).slice(0, 3), ...calls()]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["DE02100100109307118603", "1 executed tr-1 ", "2 executed tr-2 ", "2 of 2 paid (21.00 EUR).",
      "verify bulk payment", "sca pay-1", "status pay-1", "entries pay-1", "accounts 1048262",
      "bookings 0000012345 from TODAY, booked"],
     ["0000012345", "1 executed tr-1 ", "2 executed tr-2 ", "2 of 2 paid (21.00 EUR).",
      "accounts 1048262", "verify bulk payment", "sca pay-1", "status pay-1", "entries pay-1",
      "bookings 0000012345 from TODAY, booked"],
     ["DE91100000000123456789",
      "1 unknown tr-1 The bank has not said what became of this payment of a bulk payment",
      "2 unknown tr-2 The bank has not said what became of this payment of a bulk payment",
      "0 of 2 paid, 2 unknown.", "verify bulk payment", "sca pay-1", "status pay-1", "entries pay-1",
      "accounts 1048262"]]
  `);
});

const said = (transactionStatus: string, means: EntryState['means']): EntryState => ({
  ...{ transactionStatus, means },
});
const [NO, YES] = [said('RJCT', 'refused'), said('ACSC', 'paid')];
it.each<[string, (EntryState | null)[] | Psd2Error, string]>([
  ['says nothing of its payments', [null, null], 'failed failed'],
  ['has rejected both', [NO, NO], 'failed failed'],
  ['has rejected one, and says nothing of the other', [NO, null], 'failed failed'],
  ['has paid one, and says nothing of the other', [YES, null], 'unknown unknown'],
  ['has paid one, and rejected the other', [YES, NO], 'unknown failed'],
  ['has not decided one, and rejected the other', [said('PDNG', 'open'), NO], 'unknown failed'],
  [
    'calls one a duplicate, and says nothing of the other',
    [said('RJCT', 'duplicate'), null],
    'unknown unknown',
  ],
  ['contradicts itself', new Psd2Error('bank_answer', 'Both', { contradicts: true }), 'unknown unknown'],
  ['fails when it is asked about its payments', failing(), 'failed failed'],
])('of a bulk payment that the bank has rejected, it %s', async (_, words, states) => {
  const bank = new BankHere(BULK);
  bank.next = { becomes: 'failed' };
  const { payer } = await payees(bank, 'Ada', 'Bea');
  if (words instanceof Psd2Error) bank.meets('entries', words);
  else for (const [index, word] of words.entries()) if (word) bank.entries.set(`R-${index + 1}`, word);
  const { data } = await payer.run(RUN);
  expect(
    Object.values(data)
      .map(({ state }) => state)
      .join(' '),
  ).toBe(states);
});

const NOTHING = { level: 'payment', code: null, proprietary: null, text: null } as const;

it('the reason of the whole file, or of a payment, is in the report and in pain.002, its code apart from its words', async () => {
  const bank = new BankHere(BULK);
  bank.next = { becomes: 'failed', reasons: [{ ...NOTHING, level: 'file', code: 'AM04', text: 'No funds' }] };
  const { payer, pay } = await withPayees(bank, ['Ada', 'Bea', 'Cleo']);
  const refused: EntryState = { transactionStatus: 'RJCT', means: 'refused' };
  bank.entries = new Map([
    ['R-1', refused],
    ['R-2', { ...refused, reasons: [{ ...NOTHING, proprietary: 'X9', text: 'Ours' }] }],
    ['R-3', { ...refused, reasons: [{ ...NOTHING, text: 'NOTE: see below' }] }],
  ]);
  const ran = await pay();
  expect(ran.slice(0, 3)).toEqual([
    '1 failed tr-1 AM04: No funds',
    '2 failed tr-2 X9: Ours; AM04: No funds',
    '3 failed tr-3 NOTE: see below; AM04: No funds',
  ]);
  const file = async (format: string) => {
    const path = join(temporary, format);
    await payer.run(['batch', 'report', 'batch-1', '--format', format, '--file', path]);
    return readFileSync(path, 'utf8');
  };
  const words = (text: string) => `<AddtlInf>failed</AddtlInf><AddtlInf>${text}</AddtlInf>`;
  const ofFile = '<StsRsnInf><Rsn><Cd>AM04</Cd></Rsn><AddtlInf>No funds</AddtlInf></StsRsnInf>';
  expect((await file('pain002')).match(/<StsRsnInf>.*/g)).toEqual([
    `<StsRsnInf><Rsn><Cd>AM04</Cd></Rsn>${words('AM04: No funds')}</StsRsnInf>`,
    `<StsRsnInf><Rsn><Prtry>X9</Prtry></Rsn>${words('X9: Ours; AM04: No funds')}</StsRsnInf>${ofFile}`,
    `<StsRsnInf>${words('NOTE: see below; AM04: No funds')}</StsRsnInf>${ofFile}`,
  ]);
  expect((await file('csv')).match(/,(AM04|X9|)(?=,,\r$)/gm)).toEqual([',AM04', ',X9', ',']);
  expect(JSON.parse(await file('json'))[1]).toMatchObject({
    bankReasons: [
      { level: 'payment', code: null, proprietary: 'X9', text: 'Ours' },
      { level: 'file', code: 'AM04', proprietary: null, text: 'No funds' },
    ],
  });
  const shown = await payer.run(['transfer', 'show', 'tr-2', '--json']);
  expect(shown.data).toMatchObject({ bankReasons: [{ proprietary: 'X9' }, { code: 'AM04' }] });
});

// A batch with more than one payer, and with accounts that are named by their IBANs.

const BRUNO = '2073915';

it('the lines of a customer who has no login stop no line of another one', async () => {
  const text = `name,iban,amount,customer,from\nAda,${IBAN},1,${BRUNO},${OWN_ACCOUNT}\nBea,${IBAN},2,${ANNA},${OWN_ACCOUNT}\nCleo,${IBAN},3,,${OWN_ACCOUNT}\nDora,${IBAN},4,${BRUNO},${OWN_ACCOUNT}\n`;
  const { bank, payer, pay, payAnew } = await withFile({}, text);
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 waiting  The customer 2073915 is not logged in with the profile "env"", "2 executed tr-1 ",
      "3 executed tr-2 ", "4 waiting  The customer 2073915 is not logged in with the profile "env"",
      "Payment 1: The customer 2073915 is not logged in with the profile "env". Logged in: 1048262. Or run: psd2 --profile env auth login",
      "Payment 4: The customer 2073915 is not logged in with the profile "env". Logged in: 1048262. Or run: psd2 --profile env auth login",
      "2 of 4 paid (5.00 EUR).", "exit 8, unpaid 2 of 4: run batch-1"],
     ["verify transfer", "sca pay-1", "status pay-1", "execute pay-1", "verify transfer", "sca pay-2",
      "status pay-2", "execute pay-2"]]
  `);
  await payer.logIn(BRUNO);
  expect(await payAnew()).toMatchInlineSnapshot(`
    [["1 executed tr-3 ", "2 executed tr-1 ", "3 executed tr-2 ", "4 executed tr-4 ",
      "4 of 4 paid (10.00 EUR).", "done"],
     ["verify transfer", "sca pay-3", "status pay-3", "execute pay-3", "verify transfer", "sca pay-4",
      "status pay-4", "execute pay-4"]]
  `);
  const orders = bank.payments.map(({ asked }) => asked);
  expect(orders).toMatchObject([ANNA, ANNA, BRUNO, BRUNO].map((customerId) => ({ customerId })));
});

it('an account that is named by its IBAN is found among those of the customer, who are asked once', async () => {
  const other = 'DE75512108001245126199';
  const text = `name,iban,amount,from\nAda,${IBAN},1,${OWN_IBAN}\nBea,${IBAN},2,${other}\nCleo,${IBAN},3,${OWN_IBAN}\n`;
  const { bank, payer, pay } = await withFile({}, text);
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 failed  The account DE75512108001245126199 is not one of customer 1048262",
      "3 executed tr-2 ", "2 of 3 paid (4.00 EUR), 1 not paid.",
      "exit 8, refused 1 of 3: report batch-1"],
     ["accounts 1048262", "verify transfer", "sca pay-1", "status pay-1", "execute pay-1",
      "verify transfer", "sca pay-2", "status pay-2", "execute pay-2"]]
  `);
  expect(bank.payments.map(({ asked }) => asked)).toMatchObject([
    { from: OWN_ACCOUNT, fromIban: OWN_IBAN },
    { from: OWN_ACCOUNT, fromIban: OWN_IBAN },
  ]);
  expect((await payer.run(RUN)).data[0]).toMatchObject({ from: OWN_IBAN, state: 'executed' });
});

it('where the bank takes IBANs, a payment names the IBAN of the file, also that of another account', async () => {
  const other = 'DE75512108001245126199';
  const text = `name,iban,amount,from\nAda,${IBAN},1,${OWN_IBAN}\nBea,${IBAN},2,${other}\n`;
  const bank = takingIbans(new BankHere(LINKED));
  const { pay } = await withFile(bank, text);
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ", "2 executed tr-2 ", "2 of 2 paid (3.00 EUR).", "done"],
     ["verify transfer", "sca pay-1", "status pay-1", "verify transfer", "sca pay-2", "status pay-2"]]
  `);
  expect(bank.payments.map(({ asked }) => JSON.parse(String(asked)))).toMatchObject([
    { from: OWN_IBAN, fromIban: OWN_IBAN, customerId: ANNA },
    { from: other, fromIban: other, customerId: ANNA },
  ]);
});
