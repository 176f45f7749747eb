import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { account, BankHere, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { ANNA, endOf, payerAt, payerWith } from '../payer-here.ts';

const temporary = temporaryFolder();
const check = (of: string, amount: string) => ['funds', 'check', '--account', of, '--amount', amount];

/** A bank whose accounts are called by their IBANs too. */
function bankWithFunds(): BankHere {
  const bank = new BankHere({ commits: 'by the customer' });
  Object.assign(bank.interface, { readAccountId: (text: string) => text });
  return bank;
}

it('an account has an amount or not, and the exit code says which', async () => {
  const { bank, payer } = await payerWith(temporary, bankWithFunds());
  const yes = await payer.run(check(OWN_IBAN, '100'));
  expect([yes.data, endOf(yes)]).toEqual([
    { account: OWN_IBAN, amount: '100.00', currency: 'EUR', fundsAvailable: true },
    ['done'],
  ]);
  const no = await payer.run(check(OWN_IBAN, '100.01'), { format: 'table' });
  expect(no.printed).toBe(`Account\t${OWN_IBAN}\nAmount\t100.01 EUR\nAvailable\tno\n`);
  expect(endOf(no)).toEqual([
    'exit 7, bank_refused: The account does not have 100.01 EUR',
    'transactionId: "an-id"',
  ]);
  expect((await payer.run(check(OWN_IBAN, '1'), { format: 'table' })).printed).toContain('Available\tyes\n');
  // An IBAN needs no reading of the accounts.
  expect(bank.calls).toEqual(['100.00', '100.01', '1.00'].map((amount) => `funds ${OWN_IBAN} ${amount} EUR`));
});

it('an account may be named by its id, which psd2 looks up', async () => {
  const { bank, payer } = await payerWith(temporary, bankWithFunds());
  bank.accounts = [account(OWN_ACCOUNT, OWN_IBAN), account('00000CARD1', null)];
  expect((await payer.run(check(OWN_ACCOUNT, '1'))).data).toMatchObject({ account: OWN_IBAN });
  expect(bank.calls).toEqual([`accounts ${ANNA}`, `funds ${OWN_IBAN} 1.00 EUR`]);
  bank.meets('accounts', new Psd2Error('forbidden', 'No consent'));
  expect([
    endOf(await payer.run(check(OWN_ACCOUNT, '1'))),
    endOf(await payer.run(check('00000CARD1', '1'))),
    endOf(await payer.run(check('0000099999', '1'))),
  ]).toMatchInlineSnapshot(`
    [["exit 5, forbidden: No consent",
      "--account also takes the IBAN of the account, and then psd2 reads no accounts."],
     ["exit 2, usage: The account 00000CARD1 has no IBAN",
      "--account also takes the IBAN of the account, and then psd2 reads no accounts."],
     ["exit 2, usage: The account 0000099999 is not among the accounts of the customer",
      "--account also takes the IBAN of the account, and then psd2 reads no accounts. See the accounts with:",
      "$ accounts list --customer 1048262"]]
  `);
});

it('what is wrong is refused before the bank is asked', async () => {
  const { bank, payer } = await payerWith(temporary, bankWithFunds());
  const codes = [];
  for (const words of [check('DE02100100109307118604', '1'), check(OWN_IBAN, '0'), check(OWN_IBAN, 'x')])
    codes.push((await payer.run(words)).failure?.code);
  expect(codes).toEqual(['invalid_iban', 'invalid_amount', 'invalid_amount']);
  const lacking = new BankHere({ lacks: ['confirmation of funds'] });
  const ran = await (await payerAt(lacking, temporary)).run(check(OWN_IBAN, '1'));
  expect(endOf(ran)).toEqual([
    'exit 2, usage: The interface of this bank, here, has no confirmation of funds',
  ]);
  expect([...bank.calls, ...lacking.calls]).toEqual([]);
});

it('a fault while the accounts are read is not taken for an answer of the bank', async () => {
  const { bank, payer } = await payerWith(temporary, bankWithFunds());
  bank.meanwhile = () => Promise.reject(new RangeError('a fault'));
  await expect(payer.run(check(OWN_ACCOUNT, '1'))).rejects.toThrow('a fault');
  expect(bank.calls).toEqual([`accounts ${ANNA}`]);
});

const REFUSED = new Psd2Error('bank_refused', 'The bank refused it', { hint: 'See the bank file.' });
const UNSAID = 'The bank did not say whether the account has the amount. The bank refused it';
const WITH_CURRENCY = ['funds', 'check', '--account', `${OWN_IBAN}:EUR`, '--amount', '1.00'];
const NO_CONSENT = new Psd2Error('not_logged_in', 'No consent');
const ACTIVATE = new Psd2Error('not_logged_in', 'Not activated', { hint: 'The customer activates it.' });
const NOT_ALLOWED = new Psd2Error('forbidden', 'No', { hint: 'Ask:', next: [['consent', 'request']] });
const ASK = ['consent', 'request', '--category', 'FUNDS_AVAILABILITY', '--account', OWN_IBAN];
it.each<[what: string, account: string, has: boolean, met: Psd2Error, exitCode: number, says: object]>([
  ['refuses', OWN_IBAN, true, REFUSED, 11, { message: UNSAID, next: [WITH_CURRENCY] }],
  ['refuses', `${OWN_IBAN}:EUR`, true, REFUSED, 11, { message: UNSAID, hint: 'See the bank file.' }],
  ['refuses', OWN_IBAN, false, REFUSED, 11, { next: [WITH_CURRENCY] }],
  ['wants its activation for', OWN_IBAN, true, ACTIVATE, 4, { hint: ACTIVATE.hint, next: null }],
  ['wants a consent for', OWN_IBAN, true, NO_CONSENT, 4, { next: [ASK] }],
  ['wants a consent, but has none, for', OWN_IBAN, false, NO_CONSENT, 4, { next: null }],
  ['forbids', OWN_IBAN, true, NOT_ALLOWED, 5, { next: [ASK] }],
  ['forbids, and has no consents for,', OWN_IBAN, false, NOT_ALLOWED, 5, { next: [['cert', 'inspect']] }],
])(
  'a bank that %s the question of funds says no "no": %s, %s',
  async (_, account, has, met, exitCode, says) => {
    const { bank, payer } = await payerWith(temporary, bankWithFunds());
    if (has)
      Object.assign(bank.interface, {
        has: new Set([...bank.interface.has, 'consents for confirmations of funds']),
      });
    Object.assign(bank.interface, { customers: 'named by the operator' });
    bank.meets('funds', met);
    const { failure } = await payer.run(check(account, '1'));
    expect({ next: null, ...failure }).toMatchObject({ exitCode, ...says });
  },
);

it.each([
  ['kept', [['consent', 'request']], /^The certificate may lack the role/],
  ['not kept', undefined, /^Ask the customer for a consent to that:$/],
])('a refusal names the command for a consent of this kind (the consent is %s)', async (had, next, hint) => {
  const { bank, payer } = await payerWith(temporary, bankWithFunds());
  Object.assign(bank.interface, {
    has: new Set([...bank.interface.has, 'consents for confirmations of funds']),
  });
  const consent = { flow: 'co-1', consentId: 'f', transactionId: 't', account: OWN_IBAN };
  const { customers } = await payer.open().context.store();
  if (had === 'kept')
    await customers.change(ANNA, (before) => ({
      ...before,
      funds: [{ ...consent, validUntil: null, grantedAt: '2026-11-21T09:00:00Z' }],
    }));
  bank.meets(
    'funds',
    new Psd2Error('forbidden', 'No', { hint: 'The certificate may lack the role.', ...(next && { next }) }),
  );
  const { failure } = await payer.run(check(OWN_IBAN, '1'));
  expect(failure).toMatchObject({
    ...{ code: 'forbidden', hint: expect.stringMatching(hint) },
    next: [['consent', 'request', '--category', 'FUNDS_AVAILABILITY', '--account', OWN_IBAN]],
  });
});
