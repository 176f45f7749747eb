import { expect, it } from 'vitest';
import type { Balance, Transaction } from '../../../src/bank/ports/bank.ts';
import { addDays, type IsoDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { decimalOf } from '../../domain/bookings.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { account, BankHere, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { differing } from '../named-bank.ts';
import { payerAt, TODAY } from '../payer-here.ts';
import { smokeAt } from './smoke-here.ts';

const temporary = temporaryFolder();
const EUR = { amount: decimalOf(1250), currency: 'EUR' };
const READ = ['pass accounts: 1', 'pass balance', 'pass transactions: 0 on the first page'];
const REST = ['skip shapes: no answer was read', 'pass clean-up: nothing to end'];
const BEGIN = ['pass login', 'skip consent: psd2 has no record of a consent that is in force'];
const after = (step: string, ...steps: string[]) => steps.map((each) => `skip ${each}: after ${step}`);
const row = (bookingDate: IsoDate | null, status: Transaction['status'] = 'booked'): Transaction => ({
  ...{ index: '1', status, bookingDate, valueDate: bookingDate, ...EUR },
  ...{ description: 'Row', details: '', code: null, transferReference: null, feeCharge: null },
});
const balanced = (balances: Partial<Balance>) => (bank: BankHere) => {
  bank.balances = { accountBalance: null, ...balances };
};
const of =
  (...accounts: BankHere['accounts']) =>
  (bank: BankHere) => {
    bank.accounts = accounts;
  };
const refused = (call: Parameters<BankHere['meets']>[0], error: Psd2Error) => (bank: BankHere) =>
  bank.meets(call, error);
const uncovered = (context: object = {}) =>
  new Psd2Error('not_logged_in', 'The consent does not cover it', { refusal: 'other', ...context });

/** A bank that answers so. @param options of the smoke test */
async function smokeWhere(arrange: (bank: BankHere) => void, options: string[] = []) {
  const bank = new BankHere();
  bank.balances = { accountBalance: EUR };
  arrange(bank);
  const payer = await payerAt(bank, temporary);
  return { bank, ...(await smokeAt(payer, options)) };
}

it('reads the list of accounts, a balance and a page of rows, and sends nothing else', async () => {
  const { bank, lines, exitCode, ran } = await smokeWhere(() => {});
  expect([exitCode, lines]).toEqual([0, [...BEGIN, ...READ, ...REST]]);
  expect(bank.calls).toEqual([
    'accounts 1048262',
    'balance 0000012345',
    `bookings 0000012345 from ${addDays(TODAY, -7)}, undefined`,
  ]);
  expect(ran.data).toMatchObject({
    ...{ profile: 'env', interface: 'here', bank: 'bank.example', result: 'pass', exitCode: 0, next: [] },
    ...{ environment: null, version: '0.0.0', startedAt: 'NOW', lastSuccessAt: 'NOW', drift: [] },
    ends: { qwac: null, qsealc: null, bank: null, consent: null },
  });
});

const WRONG =
  'fail accounts: The bank lists an account whose IBAN has wrong check digits (bank_answer, exit 11)';
const NO_READ = after('accounts', 'balance', 'transactions', 'shapes');
it.each<[what: string, (bank: BankHere) => void, exitCode: number, lines: string[]]>([
  ['two accounts', of(account('1', OWN_IBAN), account('2', null)), 0, ['pass accounts: 2', ...READ.slice(1)]],
  ['no IBAN', of(account('1', null)), 0, READ],
  ['a number that is no IBAN', of(account('1', '0012345')), 0, READ],
  ['a wrong IBAN', of(account('1', null), account('2', 'DE02100100109307118604')), 11, [WRONG, ...NO_READ]],
  [
    'no account',
    of(),
    11,
    ["fail accounts: The bank's list of accounts is empty (bank_answer, exit 11)", ...NO_READ],
  ],
  [
    'an account without an id',
    of(account('1', OWN_IBAN), account('', OWN_IBAN)),
    11,
    ['fail accounts: The bank lists an account without an id (bank_answer, exit 11)', ...NO_READ],
  ],
  [
    'a refusal',
    refused('accounts', new Psd2Error('forbidden', 'No')),
    5,
    ['fail accounts: No (forbidden, exit 5)', ...NO_READ],
  ],
])('the list of accounts with %s', async (_, arrange, exitCode, lines) => {
  const smoked = await smokeWhere(arrange);
  const rest = exitCode === 0 ? REST : REST.slice(1);
  expect([smoked.exitCode, smoked.lines]).toEqual([exitCode, [...BEGIN, ...lines, ...rest]]);
});

const answer = (sentence: string) => `: ${sentence} (bank_answer, exit 11)`;
it.each<[what: string, (bank: BankHere) => void, says: string]>([
  ['no amount', balanced({}), answer("The bank's answer has no balance")],
  ['an available one', balanced({ availableBalance: EUR }), ''],
  ['others', balanced({ balances: [{ type: 'expected', at: null, date: null, ...EUR }] }), ''],
  [
    'a currency too long',
    balanced({ accountBalance: { ...EUR, currency: 'EURO' } }),
    answer("A balance of the bank's answer has no currency"),
  ],
  [
    'a long currency at its end',
    balanced({ accountBalance: { ...EUR, currency: 'XEUR' } }),
    answer("A balance of the bank's answer has no currency"),
  ],
  [
    'no currency beside one',
    balanced({
      accountBalance: EUR,
      balances: [{ type: 'expected', at: null, date: null, ...EUR, currency: '' }],
    }),
    answer("A balance of the bank's answer has no currency"),
  ],
  [
    'another one from the future',
    balanced({
      accountBalance: EUR,
      balances: [{ type: 'expected', at: addDays(TODAY, 2), date: null, ...EUR }],
    }),
    answer('The balance is from the future'),
  ],
  ['a refusal', refused('balance', new Psd2Error('bank_answer', 'No')), answer('No')],
])('a balance with %s', async (_, arrange, says) => {
  const { lines, exitCode } = await smokeWhere(arrange);
  // The rows are read whatever the balance is, and nothing was read of which the form could be compared.
  expect(lines.slice(3)).toEqual([
    says === '' ? 'pass balance' : `fail balance${says}`,
    READ[2],
    ...(says === '' ? REST : [...after('balance', 'shapes'), REST[1]]),
  ]);
  expect(exitCode).toBe(says === '' ? 0 : 11);
});

it.each<[what: string, Transaction[], note: string]>([
  ['two rows', [row(TODAY), row(addDays(TODAY, -7))], 'pass transactions: 2 on the first page'],
  ['a row without a day', [row(null)], 'pass transactions: 1 on the first page'],
  [
    'a row too old',
    [row(TODAY), row(addDays(TODAY, -8))],
    `fail transactions: The bank lists transactions outside ${addDays(TODAY, -7)} to TODAY (bank_answer, exit 11)`,
  ],
])('a page with %s', async (_, booked, note) => {
  const { lines } = await smokeWhere((bank) => {
    bank.booked = booked;
  });
  expect(lines[4]).toBe(note);
});

const PAGES = {
  booked: [row(TODAY), row(addDays(TODAY, -1))],
  pending: [row(TODAY, 'pending')],
  old: [row(addDays(TODAY, -8), 'pending')],
};
const OUTSIDE = `fail transactions: The bank lists transactions outside ${addDays(TODAY, -7)} to TODAY (bank_answer, exit 11)`;
it.each<[what: string, pages: Partial<Record<'booked' | 'pending', Transaction[]>>[], note: string]>([
  ['no rows', [{}], 'pass transactions: 0 on the first page'],
  ['booked rows alone', [{ booked: PAGES.booked }], 'pass transactions: 2 on the first page'],
  ['pending rows alone', [{ pending: PAGES.pending }], 'pass transactions: 1 on the first page'],
  ['both', [{ booked: PAGES.booked, pending: PAGES.pending }], 'pass transactions: 3 on the first page'],
  ['both, and an old pending one', [{ booked: PAGES.booked, pending: PAGES.old }], OUTSIDE],
  [
    'another page after it',
    [{ booked: PAGES.booked }, { booked: PAGES.booked, pending: PAGES.old }],
    'pass transactions: 2 on the first page',
  ],
])('a first page with %s', async (_, pages, note) => {
  const bank = new BankHere();
  bank.balances = { accountBalance: EUR };
  const known = differing(bank.interface, ({ accounts }) => ({
    accounts: {
      ...accounts,
      async *pages() {
        for (const { booked, pending } of pages)
          yield {
            ...(booked && { booked: { rows: booked, total: null, hasMore: false } }),
            ...(pending && { pending: { rows: pending, total: null, hasMore: false } }),
          };
      },
    },
  }));
  const { lines } = await smokeAt(await payerAt({ interface: known }, temporary), []);
  expect(lines[4]).toBe(note);
});

it('a history that begins later is read from its first day', async () => {
  const { bank, lines } = await smokeWhere((each) => {
    each.earliestDay = addDays(TODAY, -3);
  });
  expect(bank.calls.at(-1)).toBe(`bookings 0000012345 from ${addDays(TODAY, -3)}, undefined`);
  expect(lines[4]).toBe(READ[2]);
});

it.each<[what: string, Psd2Error, options: string[], line: string]>([
  ['knows itself', uncovered(), [], 'skip transactions [skipped]: the consent does not cover it'],
  [
    'knows itself, of an account that the operator names',
    uncovered(),
    ['--account', OWN_ACCOUNT],
    'fail transactions: The consent does not cover it (not_logged_in, exit 4)',
  ],
  [
    'has learnt from the bank',
    uncovered({ httpStatus: 401 }),
    [],
    'fail transactions: The consent does not cover it (not_logged_in, exit 4)',
  ],
  [
    'has another reason for',
    new Psd2Error('not_logged_in', 'The login has ended'),
    [],
    'fail transactions: The login has ended (not_logged_in, exit 4)',
  ],
  [
    'was refused',
    new Psd2Error('forbidden', 'No', { refusal: 'other' }),
    [],
    'fail transactions: No (forbidden, exit 5)',
  ],
])('a reading of which psd2 %s that the consent does not cover it', async (_, error, options, line) => {
  const { lines } = await smokeWhere(refused('bookings', error), options);
  expect(lines[4]).toBe(line);
  const balance = await smokeWhere(refused('balance', error), options);
  expect(balance.lines[3]).toBe(line.replace('transactions', 'balance'));
});

const TWO = of(account('1', OWN_IBAN), account('2', 'DE89370400440532013000'));
it.each<[what: string, options: string[], read: string[], last?: string]>([
  ['the first one', [], ['accounts 1048262', 'balance 1', 'bookings 1']],
  ['the one that is named', ['--account', '2'], ['accounts 1048262', 'balance 2', 'bookings 2']],
  ['its IBAN', ['--account', 'DE89370400440532013000'], ['accounts 1048262', 'balance 2', 'bookings 2']],
  [
    'the one that is named, without a list',
    ['--account', '0000000002', '--steps', 'balance..transactions'],
    ['balance 0000000002', 'bookings 0000000002'],
  ],
  [
    'no account without a list',
    ['--steps', 'balance..shapes'],
    [],
    'fail balance: Asked for with --steps, and did not run: no account is known: name one with --account (skipped, exit 12)',
  ],
  [
    'one that is not there',
    ['--account', '3'],
    ['accounts 1048262'],
    'fail accounts: The customer has no account 3 (usage, exit 2)',
  ],
])('of two accounts, it reads %s', async (_, options, read, last) => {
  const { bank, lines } = await smokeWhere((each) => {
    TWO(each);
    Object.assign(each.interface, { readAccountId: (text: string) => text });
  }, options);
  expect(bank.calls.map((call) => call.replace(/ from .*/, ''))).toEqual(read);
  expect(lines.find((line) => line.startsWith('fail'))).toBe(last);
});
