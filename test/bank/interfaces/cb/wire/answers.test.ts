import { describe, expect, it } from 'vitest';
import { balanceAnswer, transactionsAnswer } from '../../../../../src/bank/interfaces/cb/accounts.ts';
import { operationStatusAnswer } from '../../../../../src/bank/interfaces/cb/consents.ts';
import {
  executeAnswer,
  executionStatusAnswer,
  verifyAnswer,
} from '../../../../../src/bank/interfaces/cb/payments.ts';
import {
  customerIdAnswer,
  findGrant,
  tokenAnswer,
} from '../../../../../src/bank/interfaces/cb/wire/oauth.ts';

describe('a token answer', () => {
  it.each([
    ['no access token', { expires_in: 600 }],
    ['an empty access token', { access_token: '', expires_in: 600 }],
    ['an access token that no header can carry', { access_token: 'a\r\nb', expires_in: 600 }],
    ['an access token that is a list', { access_token: ['t'], expires_in: 600 }],
    ['an access token that is null', { access_token: null, expires_in: 600 }],
  ])('a token answer with %s is refused', (_, answer) => {
    expect(tokenAnswer.safeParse(answer).success).toBe(false);
  });
});

describe('a field of a token answer that cannot be used counts as absent', () => {
  const ABSENT = {
    ...{ access_token: 't', expires_in: null, refresh_token: null, rt_expires_in: null, scope: null },
  };
  const LIFETIMES = [-1, '', ' ', 'abc', null, {}, [], true, 9_007_199_254_740_991, '9223372036854775807'];

  it.each(LIFETIMES)('the lifetime %j', (lifetime) => {
    const answer = { access_token: 't', expires_in: lifetime, rt_expires_in: lifetime };
    expect(tokenAnswer.parse(answer)).toEqual(ABSENT);
  });

  it.each([null, '', ' ', {}, ['r'], true])('the refresh token %j', (refreshToken) => {
    expect(tokenAnswer.parse({ access_token: 't', refresh_token: refreshToken })).toEqual(ABSENT);
  });

  it.each([null, '', {}, ['oob'], true, 'o\u0000b'])('the scope %j', (scope) => {
    expect(tokenAnswer.parse({ access_token: 't', scope, token_type: [] })).toEqual(ABSENT);
  });

  it('a scope that fills pages', () => {
    expect(tokenAnswer.parse({ access_token: 't', scope: 'x'.repeat(1001) })).toEqual(ABSENT);
  });

  it.each([
    [3500, 3500],
    ['600', 600],
    [1.5, 1],
    ['3500.0', 3500],
    [' 600 ', 600],
    [0, 0],
  ])('a token answer has its lifetimes as numbers or as strings: %j is %i s', (lifetime, seconds) => {
    const answer = { access_token: 't', expires_in: lifetime, rt_expires_in: lifetime };
    expect(tokenAnswer.parse(answer)).toEqual({ ...ABSENT, expires_in: seconds, rt_expires_in: seconds });
  });
});

describe('a customer id', () => {
  it.each(['1234567', '0012345', 1234567])('a customer id may be %j', (customerid) => {
    expect(customerIdAnswer.parse({ customerid })).toEqual({ customerid: String(customerid) });
  });

  it.each(['', '../../env/customer-1', '12a', null])(
    'the customer id %j is refused, because it would name another file',
    (customerid) => {
      expect(customerIdAnswer.safeParse({ customerid }).success).toBe(false);
    },
  );
});

describe('the cursors of a transactions page', () => {
  it.each(['next', '-1', {}])('the cursor %j of a transactions page is refused', (wire) => {
    const page = transactionsAnswer.safeParse({ transactionsAccounting: [], nextAccounting: wire });
    expect(page.success).toBe(false);
  });
});

describe('a transactions page', () => {
  it.each([
    { transactionsAccounting: [] },
    { transactionsNotAccounting: [], transactionsAccounting: null },
    { numberTransactionsAccounting: 0 },
    { numberTransactionsNotAccounting: '0' },
  ])('a transactions page may be %j', (page) => {
    expect(transactionsAnswer.safeParse(page).success).toBe(true);
  });

  it('a total that is not a number counts as none', () => {
    const page = transactionsAnswer.parse({ transactionsAccounting: [], numberTransactionsAccounting: 'x' });
    const none = { numberTransactionsAccounting: null, numberTransactionsNotAccounting: null };
    expect(page).toMatchObject(none);
  });

  it.each([
    {},
    { transactionsAccounting: null, transactionsNotAccounting: null },
    { numberTransactionsAccounting: 'x' },
    { nextAccounting: 11 },
  ])('the transactions page %j is refused, because it does not say that there are none', (page) => {
    expect(transactionsAnswer.safeParse(page).success).toBe(false);
  });
});

it('the amount of a transaction may be an object or a bare decimal', () => {
  const row = (amountTransaction: unknown) =>
    transactionsAnswer.parse({ transactionsAccounting: [{ amountTransaction }] }).transactionsAccounting?.[0];
  const euros = { amount: '-12.300', currency: 'EUR' };
  expect(row(euros)?.amountTransaction).toEqual(euros);
  expect(row('-12.300')?.amountTransaction).toEqual({ amount: '-12.300', currency: '' });
});

it('a balance may lack the credit, and every amount keeps its three decimals', () => {
  const amount = (text: string) => ({ amount: text, currency: 'EUR' });
  const balance = {
    ...{ accountBalance: amount('1234.560'), availableBalance: amount('1000.000') },
    ...{ accountAvailability: amount('-0.010'), hour: '10:15' },
  };
  expect(balanceAnswer.parse({ ...balance, date: '30/06/2024' })).toEqual({
    ...{ ...balance, accountAvailableCredit: null, date: '2024-06-30' },
  });
});

it('an amount beside the booked balance that cannot be read hides no other', () => {
  const odd = {
    accountBalance: { amount: ' 1.500,10 ', currency: ' eur ' },
    availableBalance: 5,
    date: 20240630,
  };
  expect(balanceAnswer.parse(odd)).toMatchObject({
    ...{ accountBalance: { amount: '1500.10', currency: 'EUR' }, date: '2024-06-30' },
    ...{ availableBalance: 'unreadable', accountAvailability: null },
  });
});

it.each([
  {},
  { accountBalance: { amount: 'n/a' }, availableBalance: { amount: '1.00' } },
  { availableBalance: { amount: 'n/a' } },
  { accountBalance: null },
  { availableBalance: { amount: '' }, date: '30/06/2024', hour: '10:15' },
])('the balance %j is refused, because it has no amount', (wire) => {
  expect(balanceAnswer.safeParse(wire).success).toBe(false);
});

it.each(['accountBalance', 'availableBalance', 'accountAvailability', 'accountAvailableCredit'])(
  'a balance may have only %s',
  (name) => {
    expect(balanceAnswer.safeParse({ [name]: { amount: '1.000', currency: 'EUR' } }).success).toBe(true);
  },
);

describe('an operation status', () => {
  it.each([
    [{ authorizationStatus: 'AUTHORIZED', executionStatus: 'PENDING' }, 'AUTHORIZED', 'PENDING'],
    [{ authenticationState: 'NOT_AUTHORIZED' }, 'NOT_AUTHORIZED', null],
    [{ authorizationStatus: null, authenticationState: 'EXPIRED' }, 'EXPIRED', null],
    [{ authorizationStatus: '', authenticationState: 'AUTHORIZED' }, 'AUTHORIZED', null],
    [{ authorizationStatus: 'STARTED', authenticationState: 'AUTHORIZED' }, 'STARTED', null],
  ])('the operation status %j has the authorization %s', (wire, authorizationStatus, executionStatus) => {
    expect(operationStatusAnswer.parse(wire)).toEqual({ authorizationStatus, executionStatus });
  });

  it.each([{}, { executionStatus: 'OK' }, { authorizationStatus: '' }])(
    'the operation status %j is refused, because it has no authorization',
    (wire) => {
      expect(operationStatusAnswer.safeParse(wire).error?.issues).toMatchObject([
        { path: ['authorizationStatus'] },
      ]);
    },
  );
});

it('long texts of an outcome are cut, so the journal fits into the space reserved for it', () => {
  const long = '\u0000'.repeat(100_000);
  const cut = '\u0000'.repeat(1000);
  expect(executeAnswer.parse({ cro: long })).toEqual({ cro: cut });
  const failed = (executionStatusDescription: string) => ({
    executionStatus: 'KO',
    executionStatusDescription,
  });
  expect(executionStatusAnswer.parse(failed(long))).toEqual(failed(cut));
  expect(operationStatusAnswer.parse({ authorizationStatus: long }).authorizationStatus).toBe(cut);
  expect(verifyAnswer.parse({ bankName: long }).bankName).toBe(cut);
});

it.each([{}, ['Bank'], true])(
  'the name %j of a bank counts as absent, because the bank has made a resource; an amount must be right',
  (bankName) => {
    const answer = { totalAmount: { amount: '2.00', currency: 'EUR' }, commissions: null };
    expect(verifyAnswer.parse({ ...answer, bankName })).toMatchObject({ ...answer, bankName: null });
    expect(verifyAnswer.safeParse({ ...answer, totalAmount: 'two', bankName: 'Bank' }).success).toBe(false);
    expect(verifyAnswer.safeParse({ ...answer, commissions: 'free', bankName: 'Bank' }).success).toBe(false);
  },
);

describe('the object with the access token', () => {
  const GRANT = { access_token: 't' };
  const nested = (levels: number) => {
    let json: unknown = GRANT;
    for (let level = 0; level < levels; level += 1) json = { data: json };
    return json;
  };
  it.each<[string, unknown, unknown]>([
    ['the answer', GRANT, GRANT],
    ['in it', { data: GRANT }, GRANT],
    ['in a list', [1, null, GRANT], GRANT],
    ['the first of two', { a: GRANT, b: { access_token: 'u' } }, GRANT],
    ['that can be used', { access_token: '', data: GRANT }, GRANT],
    ['that is not null', { access_token: null, data: GRANT }, GRANT],
    ['at the eighth level', nested(8), GRANT],
    ['at the ninth level', nested(9), undefined],
    ['in no text', '{"access_token":"t"}', undefined],
    ['in no object', { token: 't' }, undefined],
    ['in nothing', null, undefined],
  ])('is the one %s', (_, json, grant) => {
    expect(findGrant(json)).toEqual(grant);
  });
});
