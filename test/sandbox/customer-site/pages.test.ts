import { createHash } from 'node:crypto';
import { parse } from 'node-html-parser';
import { expect, test } from 'vitest';
import type { ScaRequest } from '../../../src/sandbox/customer-site/bank-side.ts';
import { type Problem, problemPage } from '../../../src/sandbox/customer-site/session.ts';
import { customerSite } from '../../../src/sandbox/customer-site/site.ts';
import { consent, fakeBank, payment, RESOURCE } from '../fake-bank.ts';

// What a customer reads on each page.

const SCA = `/sca-authorize/?resourceId=${RESOURCE}`;

async function open(path: string, request?: ScaRequest, host = '127.0.0.1:8444') {
  const bank = fakeBank('https://tpp.example/');
  if (request) bank.sca.request = request;
  const answer = await customerSite(bank).request(`http://${host}${path}`);
  const root = parse(await answer.text());
  const all = (selector: string) => root.querySelectorAll(selector).map((one) => one.textContent.trim());
  return {
    answer,
    root,
    all,
    text: (root.querySelector('main')?.textContent ?? '').replace(/\s+/g, ' ').trim(),
  };
}

const ASKS = 'Fintrek S.r.l. asks Anna Esposito to authorise this.';
const REFUSE = 'If you did not ask for this, refuse it.';
const common = { resourceId: RESOURCE, tppName: 'Fintrek S.r.l.', customerName: 'Anna Esposito' };
const product = { productId: '0010482620', description: 'Current account', iban: 'IT12A0999' };

test.each<[what: string, request: ScaRequest, title: string, approve: string, type: string | undefined]>([
  [
    ...(['an instant transfer', payment, 'Authorise an instant payment', 'Approve payment'] as const),
    'Instant bank transfer',
  ],
  [
    'a transfer',
    { ...payment, instant: false },
    ...(['Authorise a payment', 'Approve payment', 'Bank transfer'] as const),
  ],
  [
    'a standing order',
    { ...payment, instant: false, operation: 'standingOrder', schedule: 'WEEKLY' },
    ...(['Authorise a standing order', 'Approve payment', 'standingOrder'] as const),
  ],
  ['a consent', consent, 'Give your consent', 'Approve consent', undefined],
  [
    'an inquiry',
    { ...common, kind: 'inquiry', product, from: '2026-01-31' },
    ...(['Confirm that it is you', 'Show older transactions', undefined] as const),
  ],
])('the page to authorise %s', async (_, request, title, approve, type) => {
  const { all, root } = await open(SCA, request);
  expect([all('title'), all('h1'), all('.lead')]).toEqual([[`${title} · Sandbox Bank`], [title], [ASKS]]);
  const buttons = root
    .querySelectorAll('button')
    .map((one) => `${one.getAttribute('name')} ${one.getAttribute('value')} ${one.textContent}`);
  expect(buttons).toEqual([`decision approve ${approve}`, 'decision refuse Refuse']);
  expect(all('p.after').at(-1)).toBe(REFUSE);
  expect(all('dl > div').filter((row) => row.startsWith('Type'))).toEqual(type ? [`Type${type}`] : []);
  expect(root.querySelector('form')?.getAttribute('action')).toBe('/sca-authorize/');
  expect(root.querySelector('input[name=resourceId]')?.getAttribute('value')).toBe(RESOURCE);
});

test('a payment shows what it costs, when it is, and where it is from', async () => {
  const { all } = await open(SCA, { ...payment, schedule: 'WEEKLY' });
  expect(all('.sum')).toEqual(['1,250.40 EUR to Officina Bianchi & Figli']);
  expect(all('dl > div')).toEqual([
    'PayeeOfficina Bianchi & Figli',
    'IBANIT60 X054 2811 1010 0000 0123 456',
    'Amount1,250.40 EUR',
    'Fee1.50 EUR',
    'Total1,251.90 EUR',
    'TypeInstant bank transfer',
    'Date21 November 2026, immediately',
    'ScheduleWEEKLY',
    'DescriptionInvoice 2026/118',
    'From your accountIT12 A099 9001 6000 0001 0482 620\n0010482620',
  ]);
});

test('a consent says what each category means, for which accounts, and until when', async () => {
  const categories = ['ACCOUNT_INFO', 'FUNDS_AVAILABILITY', 'PAYMENTS', 'OTHER'].map((name) => ({
    name,
    products: [product],
  }));
  const { all } = await open(SCA, { ...consent, categories });
  expect(all('.grants h2')).toEqual([
    ...[
      'See your accounts',
      'Ask whether an amount is available',
      'Prepare payments from your accounts',
      'OTHER',
    ],
  ]);
  expect(all('.grants p')).toEqual([
    'Details, balances and transactions. Nothing can be changed or paid with this.',
    'The answer is only yes or no. It does not show your balance.',
    'You see each payment here. It is made only if you approve it.',
    'The bank has no description of this category.',
  ]);
  expect(all('.grants ul li')).toEqual(Array(4).fill('Current account · 0010482620IT12 A099 9'));
  expect(all('.note')[0]).toBe(
    'Your consent is valid for 180 days, until 20 May 2027. After that the bank asks you again.',
  );
});

test('an inquiry says why, for which account, from when, and how far it reaches', async () => {
  const { all, text } = await open(SCA, { ...common, kind: 'inquiry', product, from: '2026-01-31' });
  expect(text).toContain('The bank shows transactions older than 90 days only after this confirmation.');
  expect(all('dl > div')).toEqual([
    'AccountCurrent account · 0010482620\nIT12 A099 9',
    'Transactions from31 January 2026',
  ]);
  expect(all('.note')[0]).toBe('It applies to this login, and to all accounts that you gave consent for.');
});

test('the login page asks for user and password, and offers the customers of the sandbox', async () => {
  const { root, text } = await open('/login?request=L1');
  expect(text).toBe(
    [
      'Log in to your bank Fintrek S.r.l. sent you here to log in. It does not see your password.',
      'User Password Log in Cancel',
      'Customers of this sandbox Enter one of these, or continue directly as that customer.',
      'Anna EspositoUser annaPassword anna-sandbox Continue',
      'Bruno ContiUser brunoPassword bruno-sandbox Continue',
    ].join(' '),
  );
  const forms = root.querySelectorAll('form').map((form) => [
    `${form.getAttribute('method')} ${form.getAttribute('action')}`,
    ...form
      .querySelectorAll('input')
      .filter((one) => one.getAttribute('name') !== 'token')
      .map(({ attributes: { type, name, value } }) => `${type} ${name} ${value}`),
    ...form.querySelectorAll('button').map((one) => `${one.getAttribute('value')}`),
  ]);
  const request = ['post /login', 'hidden request L1'];
  expect(forms).toEqual([
    [...request, 'text user ', 'password password undefined', 'login', 'refuse'],
    [...request, 'hidden user anna', 'hidden password anna-sandbox', 'login'],
    [...request, 'hidden user bruno', 'hidden password bruno-sandbox', 'login'],
  ]);
  const labels = root.querySelectorAll('[aria-label]').map((one) => one.getAttribute('aria-label'));
  expect(labels).toEqual(['Continue as Anna Esposito', 'Continue as Bruno Conti']);
  expect(root.querySelectorAll('[autofocus]').map((one) => one.id)).toEqual(['user']);
});

test('the front page says how to start, and links to the console', async () => {
  const { all, root, text } = await open('/');
  expect(all('title')).toEqual(['Welcome · Sandbox Bank']);
  expect(all('code').slice(0, 3)).toEqual([
    'psd2 --profile sandbox auth login',
    'psd2 --profile sandbox consent request --category ACCOUNT_INFO --all-accounts',
    'psd2 --profile sandbox accounts list',
  ]);
  const links = root.querySelectorAll('a').map((one) => `${one.getAttribute('href')} ${one.textContent}`);
  expect(links).toEqual([
    ...['/console Console', '/console#calls calls', '/console#flows pending logins and payments'],
    ...['/console#accounts accounts', '/console#faults faults'],
  ]);
  expect(text).toContain('Anna EspositoUser anna, password anna-sandbox, customer 1048262');
  expect(text).toContain('Bruno ContiUser bruno, password bruno-sandbox, customer 2073915');
});

test('each page says whose it is, and allows its own style alone', async () => {
  const { answer, root, all } = await open('/');
  expect(all('.sandbox')).toEqual(['Sandbox — no real money']);
  expect(all('.bank')).toEqual(['Sandbox Bank']);
  expect(all('footer')).toEqual([
    'A bank for trying out psd2. Its customers, accounts and payments are made up.',
  ]);
  const style = root.querySelector('style')?.textContent ?? '';
  expect(style.length).toBeGreaterThan(1000);
  const hash = createHash('sha256').update(style).digest('base64');
  expect(answer.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  );
});

const AGAIN = 'Go back to the application that sent you here and start again.';
test.each<[problem: Problem, status: number, title: string, text: string, next: string]>([
  [
    ...(['badRequest', 400, 'This address is incomplete'] as const),
    'The link or the form does not have everything that this page needs.',
    AGAIN,
  ],
  [
    ...(['staleForm', 403, 'This form can’t be used any more'] as const),
    'It does not belong to a page that this browser was shown. Nothing was decided.',
    'Open the link from the application again. Allow cookies.',
  ],
  [
    ...(['noSuchPage', 404, 'Page not found'] as const),
    'The customer site of the sandbox bank has pages to log in and to authorise requests.',
    'An application opens them for you. The front page explains how to start.',
  ],
  [
    ...(['unknownLogin', 404, 'This login is not open'] as const),
    ...(['It is unknown, already used or expired.', AGAIN] as const),
  ],
  [
    ...(['unknownSca', 404, 'There is nothing to authorise here'] as const),
    ...(['The bank does not know this request.', AGAIN] as const),
  ],
  [
    ...(['decidedSca', 410, 'You already decided this', 'A decision is final.'] as const),
    'Go back to the application that sent you here. It asks the bank how you decided.',
  ],
  [
    ...(['expiredSca', 410, 'This request has expired'] as const),
    ...(['You did not decide in time. Nothing was authorised.', AGAIN] as const),
  ],
  [
    ...(['tooLarge', 413, 'This form is too large'] as const),
    ...(['It holds more than its fields allow. Nothing was decided.', AGAIN] as const),
  ],
  [
    ...(['otherHost', 421, 'Unknown host name'] as const),
    ...(['The sandbox bank answers only on this computer.', AGAIN] as const),
  ],
])('the problem %s says what happened, and what the customer can do', async (problem, ...expected) => {
  const { status, title, body } = problemPage(problem);
  const parts = parse(String(await body)).querySelectorAll('p');
  expect([status, title, ...parts.map((one) => one.textContent)]).toEqual(expected);
  const detailed = parse(String(await problemPage(problem, 'state is missing').body));
  expect(detailed.querySelector('[role=alert]')?.textContent).toBe('state is missing');
  expect(detailed.querySelectorAll('p')).toHaveLength(3);
});

test.each<[path: string, host: string | undefined, status: number, title: string]>([
  ['/login', undefined, 400, 'This address is incomplete'],
  ['/login?request=other', undefined, 404, 'This login is not open'],
  ['/sca-authorize/', undefined, 400, 'This address is incomplete'],
  ['/sca-authorize/?resourceId=x', undefined, 404, 'There is nothing to authorise here'],
  ['/elsewhere', undefined, 404, 'Page not found'],
  ['/', 'bank.example', 421, 'Unknown host name'],
  ['/', 'localhost:8444', 200, 'Welcome'],
  ['/', '[::1]:8444', 200, 'Welcome'],
])('GET %s at %s is %i', async (path, host, status, title) => {
  const { answer, all } = await open(path, undefined, host);
  expect([answer.status, all('title')]).toEqual([status, [`${title} · Sandbox Bank`]]);
});
