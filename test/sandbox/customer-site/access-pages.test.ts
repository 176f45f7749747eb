import { parse } from 'node-html-parser';
import { expect, test } from 'vitest';
import {
  accessPage,
  donePage,
  foreignAccountsPage,
  otherCustomerPage,
  waitingPage,
} from '../../../src/sandbox/customer-site/access-pages.ts';
import type { AccessRequest, AccessShown } from '../../../src/sandbox/customer-site/access-side.ts';
import type { Html } from '../../../src/sandbox/customer-site/page.ts';
import type { PaymentShown } from '../../../src/sandbox/customer-site/payment-details.ts';

const login = { user: 'anna', password: 'p', name: 'Anna Esposito', customerId: '1048262' };
const token = 'T';

const request: AccessRequest = {
  ...{ id: 'R1', tppName: 'Fintrek', user: undefined },
  ...{ consent: undefined, payments: undefined },
};
const money = (amount: string) => ({ amount, currency: 'EUR' });
const order = { name: 'Ada', iban: 'DE89370400440532013000', amount: money('1.00'), description: 'rent' };
const payment: PaymentShown = {
  ...{ kind: 'sepa-credit-transfers', debit: { productId: '0010482620', iban: 'IT12A0999' } },
  ...{ orders: [order], sum: money('1.00'), fee: money('0.50'), total: money('1.50') },
  ...{ date: '2026-11-20', isInstant: false },
};
const paying = (all: PaymentShown[], cancels = false): AccessRequest => ({
  ...request,
  payments: { cancels, all },
});
const consent = { id: 'C1', forFunds: false, recurring: true, until: '2027-01-31', frequencyPerDay: 4 };
const current = {
  productId: '0010482620',
  description: 'Current',
  number: 'IT12A0999',
  rights: ['accounts'],
};
const savings = { productId: '0010482638', description: 'Savings', number: 'IT34A0999', rights: ['funds'] };
const shown: AccessShown = { accounts: [current], choose: false, authorisedBy: [], alsoNeeded: [] };
const nothing: AccessShown = { ...shown, accounts: [] };

async function read(page: Html) {
  const root = parse(String(await page));
  const all = (selector: string) => root.querySelectorAll(selector).map((one) => one.textContent.trim());
  return {
    root,
    all,
    text: root.textContent.replace(/\s+/g, ' ').trim(),
    fields: root
      .querySelectorAll('input')
      .map(({ attributes: { type, name, value } }) => `${type} ${name} ${value}`),
  };
}

const pageOf = (asked: AccessRequest, sees: AccessShown) =>
  read(accessPage({ request: asked, login, token, shown: sees }));

const WHO = 'You are logged in as Anna Esposito, customer 1048262.';
const CAREFUL = 'If you did not ask for this, refuse it.';

test.each<[asks: string, asked: AccessRequest, title: string, approval: string, careful: string]>([
  ['a login', request, 'asks for access to your accounts', 'Allow access', CAREFUL],
  [
    'a consent',
    { ...request, consent },
    'asks for access to your accounts',
    'Approve consent',
    `Your consent is valid until 31 January 2027. Without you it may look at each account 4 times a day. ${CAREFUL}`,
  ],
  [
    'a consent for one time',
    { ...request, consent: { ...consent, recurring: false } },
    'asks for access to your accounts',
    'Approve consent',
    `Your consent is valid today, for one time. ${CAREFUL}`,
  ],
  [
    'a consent for funds',
    { ...request, consent: { ...consent, forFunds: true } },
    'wants to ask whether your account has an amount',
    'Approve consent',
    `Your consent is valid until you withdraw it. ${CAREFUL}`,
  ],
  ['a payment', paying([payment]), 'asks you to authorise a payment', 'Approve payment', CAREFUL],
  [
    'a standing order',
    paying([{ ...payment, schedule: 'monthly' }]),
    'asks you to authorise a standing order',
    'Approve payment',
    CAREFUL,
  ],
  [
    'a bulk payment',
    paying([{ ...payment, orders: [order, order] }]),
    'asks you to authorise 2 payments',
    'Approve payment',
    CAREFUL,
  ],
  ['a basket', paying([payment, payment]), 'asks you to authorise 2 payments', 'Approve payment', CAREFUL],
  ['a cancellation', paying([payment], true), 'asks to cancel this payment', 'Cancel payment', CAREFUL],
])('the page of %s says what it is, and what a yes does', async (_, asked, title, approval, careful) => {
  const { root, all, fields } = await pageOf(asked, shown);
  expect([all('h1'), all('.lead'), all('button')]).toEqual([
    [`Fintrek ${title}`],
    [WHO],
    [approval, 'Refuse'],
  ]);
  expect(all('p.after').at(-1)).toBe(careful);
  expect(fields).toEqual(['hidden request R1', 'hidden token T']);
  const form = root.querySelector('form');
  expect([form?.getAttribute('method'), form?.getAttribute('action')]).toEqual(['post', '/authorise']);
  expect(root.querySelectorAll('button').map((one) => one.getAttribute('value'))).toEqual([
    ...['approve', 'refuse'],
  ]);
});

test('a login shows nothing yet, and says so', async () => {
  const { text } = await pageOf(request, shown);
  expect(text).toContain(
    'It may ask for your consents and your payments. You decide on each of them here. Allow access Refuse',
  );
  expect(text).not.toContain('0010482620');
});

test.each<[rights: string[], text: string]>([
  [['accounts'], 'the account'],
  [['balances'], 'its balance'],
  [['transactions'], 'its transactions'],
  [['funds'], 'whether it has an amount'],
  [['accounts', 'balances', 'transactions'], 'the account, its balance, its transactions'],
  [['ownerName'], 'ownerName'],
])('the rights %j are words', async (rights, text) => {
  const { all } = await pageOf({ ...request, consent }, { ...shown, accounts: [{ ...current, rights }] });
  expect(all('.grants p')).toEqual([`It may see ${text}.`]);
});

test.each<[choose: boolean, boxes: string[]]>([
  [false, []],
  [true, ['checkbox account-0010482620 yes', 'checkbox account-0010482638 yes']],
])('the accounts of a consent: the customer chooses them: %s', async (choose, boxes) => {
  const { root, all, fields } = await pageOf(
    { ...request, consent },
    { ...shown, choose, accounts: [current, savings] },
  );
  expect(all('.grants h2')).toEqual(['Current · 0010482620IT12 A099 9', 'Savings · 0010482638IT34 A099 9']);
  expect(fields).toEqual(['hidden request R1', 'hidden token T', ...boxes]);
  expect(root.querySelectorAll('input[checked]')).toHaveLength(boxes.length);
});

test.each<[what: string, sees: AccessShown, choices: string[]]>([
  ['names the account', { ...shown, accounts: [current, savings] }, []],
  [
    'lets the customer choose the account',
    { ...shown, choose: true, accounts: [current, savings] },
    ['radio debtor 0010482620', 'radio debtor 0010482638'],
  ],
])('a payment that %s', async (_, sees, choices) => {
  const { root, all, fields } = await pageOf(paying([payment]), sees);
  expect(fields.filter((one) => one.startsWith('radio'))).toEqual(choices);
  expect(all('legend')).toEqual(choices.length === 0 ? [] : ['Pay from your account']);
  const labels = ['Current IT12 A099 9', 'Savings IT34 A099 9'];
  expect(all('label')).toEqual(choices.length === 0 ? [] : labels);
  const chosen = root.querySelectorAll('input[checked]').map((one) => one.getAttribute('value'));
  expect(chosen).toEqual(choices.length === 0 ? [] : ['0010482620']);
});

test.each<[before: string[], after: string[], text: string | undefined]>([
  [[], [], undefined],
  [['Dora'], [], 'Dora has authorised this. Your approval completes it.'],
  [[], ['Emil'], 'After you, Emil must authorise it too.'],
  [['Dora'], ['Emil'], 'Dora has authorised this. After you, Emil must authorise it too.'],
  [[], ['Dora', 'Emil'], 'After you, Dora and Emil must authorise it too.'],
])('after %j and before %j, the page names the others', async (authorisedBy, alsoNeeded, text) => {
  for (const asked of [{ ...request, consent }, paying([payment])]) {
    const { all } = await pageOf(asked, { ...shown, authorisedBy, alsoNeeded });
    expect(all('form > p')[0]).toBe(text ?? (asked.payments ? '1.00 EUR to Ada' : undefined));
  }
});

test.each<[page: Html, title: string, alarm: string]>([
  [
    foreignAccountsPage({ request, login, token }),
    'These are not your accounts',
    'Fintrek asks for accounts that Anna Esposito does not have.',
  ],
  [
    otherCustomerPage({ request: { ...request, user: 'bruno' }, login, token }),
    'This request is not for you',
    'Fintrek asks the customer bruno. You are logged in as Anna Esposito.',
  ],
])('a request that a customer can only refuse (%#)', async (page, title, alarm) => {
  const { all, root, fields } = await read(page);
  expect([all('h1'), all('[role=alert]'), all('button')]).toEqual([[title], [alarm], ['Refuse']]);
  expect([root.querySelector('form')?.getAttribute('action'), fields]).toEqual([
    ...['/authorise', ['hidden request R1', 'hidden token T']],
  ]);
});

test.each<[approved: boolean, title: string]>([
  [true, 'You approved the request'],
  [false, 'You refused the request'],
])('a decision that no browser returns from: approved %s', async (approved, title) => {
  const next = 'The application asks the bank how you decided. You can close this window.';
  expect((await read(donePage(approved))).text).toBe(`${title} ${next}`);
});

test('a page where nothing waits, and nothing was given, says so and has no form', async () => {
  const { text, root } = await read(waitingPage({ login, waiting: [], consents: [] }));
  expect(text).toBe(`Nothing waits for you ${WHO}`);
  expect(root.querySelectorAll('form')).toHaveLength(0);
});

test('what waits can be decided one by one, and what was given can be withdrawn', async () => {
  const given = { id: 'C2', tppName: 'Fintrek', until: '2027-01-31', accounts: 2 };
  const { root, all, text } = await read(
    waitingPage({
      login,
      waiting: [
        { request: { ...request, consent }, shown: { ...shown, choose: true }, token: 'T1' },
        { request: { ...paying([payment], true), id: 'R2' }, shown: nothing, token: 'T2' },
        { request: { ...request, consent, id: 'R3' }, shown: undefined, token: 'T3' },
      ],
      consents: [
        { consent: given, token: 'T4' },
        { consent: { ...given, id: 'C3', until: undefined }, token: 'T5' },
      ],
    }),
  );
  expect([all('h1'), all('.lead')]).toEqual([['Requests that wait for you'], [WHO]]);
  expect(all('h2').filter((title) => !title.startsWith('Current'))).toEqual([
    'Fintrek asks for access to your accounts',
    'Fintrek asks to cancel this payment',
    'Fintrek asks for access to your accounts',
    'Consents that you gave',
  ]);
  const forms = root
    .querySelectorAll('form')
    .map((form) => [
      form.getAttribute('action'),
      ...form.querySelectorAll('input').map((one) => one.getAttribute('value')),
      ...form.querySelectorAll('button').map((one) => `${one.getAttribute('value')}: ${one.textContent}`),
    ]);
  expect(forms).toEqual([
    ['/requests', 'R1', 'T1', 'approve: Approve consent', 'refuse: Refuse'],
    ['/requests', 'R2', 'T2', 'approve: Cancel payment', 'refuse: Refuse'],
    ['/requests', 'R3', 'T3', 'refuse: Refuse'],
    ['/requests', 'C2', 'T4', 'withdraw: Withdraw consent'],
    ['/requests', 'C3', 'T5', 'withdraw: Withdraw consent'],
  ]);
  expect(root.querySelectorAll('[type=checkbox]')).toHaveLength(0);
  expect(text).toContain('These are not your accounts. Refuse');
  expect(text).toContain('If you did not ask for one of these, refuse it.');
  expect(all('form > p').slice(-2)).toEqual([
    'Fintrek sees 2 accounts until 31 January 2027',
    'Fintrek may ask whether your account has an amount',
  ]);
});
