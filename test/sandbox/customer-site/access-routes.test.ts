import { parse } from 'node-html-parser';
import { beforeEach, describe, expect, test } from 'vitest';
import type {
  AccessRequest,
  AccessShown,
  AccessSide,
  Decided,
} from '../../../src/sandbox/customer-site/access-side.ts';
import { customerSite } from '../../../src/sandbox/customer-site/site.ts';
import { fakeBank } from '../fake-bank.ts';

const RETURN = 'https://tpp.example/back';
const current = {
  productId: '0010482620',
  description: 'Current',
  number: 'IT12A0999',
  rights: ['accounts'],
};
const request: AccessRequest = {
  ...{ id: 'R1', tppName: 'Fintrek', user: undefined, payments: undefined },
  consent: { id: 'C1', forFunds: false, recurring: true, until: '2027-01-31', frequencyPerDay: 4 },
};
const payments = { cancels: false, all: [] };
const shown: AccessShown = { accounts: [current], choose: false, authorisedBy: [], alsoNeeded: [] };

/** What the door would be told, and the request that is open. */
let told: string[];
let open: AccessRequest | undefined;
let sees: AccessShown | undefined;
let returnTo: URL | undefined;
let site: ReturnType<typeof customerSite>;

function fakeAccess(): AccessSide {
  const tell = (what: string): Decided => {
    told.push(what);
    return { returnTo };
  };
  return {
    authorizePaths: ['/oauth/authorize', '/other/authorize'],
    authorize: (query) =>
      query.has('client_id') ? new URL(`${RETURN}?${query}`) : { wrong: 'client_id is <missing>' },
    accessRequest: (id) => (id === open?.id ? open : undefined),
    shown: () => sees,
    approve: (id, customerId, chosen) => tell(`approve ${id} ${customerId} ${chosen?.join('+')}`),
    refuse: (id) => tell(`refuse ${id}`),
    waiting: (user) => (open && user === 'anna' ? [open] : []),
    open: () => [],
    given: (customerId) => [{ id: 'C2', tppName: `TPP of ${customerId}`, until: undefined, accounts: 1 }],
    revoke: (id) => {
      tell(`revoke ${id}`);
      return true;
    },
  };
}

beforeEach(() => {
  [told, open, sees, returnTo] = [[], request, shown, new URL(RETURN)];
  site = customerSite(fakeBank(RETURN), fakeAccess());
});

async function send(path: string, form?: Record<string, string>, cookie = '') {
  const answer = await site.request(`http://127.0.0.1${path}`, {
    headers: { cookie },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  const root = parse(await answer.text());
  const set = answer.headers.get('set-cookie')?.split(';', 1)[0];
  return {
    ...{ status: answer.status, location: answer.headers.get('location'), cookie: set ?? cookie },
    title: root.querySelector('title')?.textContent.replace(' · Sandbox Bank', ''),
    h1: root.querySelector('h1')?.textContent,
    alert: root.querySelector('[role=alert]')?.textContent,
    token: (at = 0) => root.querySelectorAll('input[name=token]')[at]?.getAttribute('value') ?? '',
    policy: answer.headers.get('content-security-policy') ?? '',
  };
}

/** Logs in, by default anna for the request, and opens its page. */
async function loggedIn(path = '/authorise?request=R1', id = 'R1', user = 'anna') {
  const page = await send(path);
  const form = { decision: 'login', request: id, token: page.token(), user, password: `${user}-sandbox` };
  const { status, location } = await send('/authorise/login', form, page.cookie);
  expect([status, location]).toEqual([303, path]);
  return send(path, undefined, page.cookie);
}

describe('who has logged in', () => {
  const LOGIN = 'Log in to your bank';
  const QUESTION = 'Fintrek asks for access to your accounts';
  const REQUEST = '/authorise?request=R1';

  /** Logs in at a page, in the same browser. */
  async function logInAt(path: string, id: string, user: string, cookie: string) {
    const page = await send(path, undefined, cookie);
    expect(page.h1).toBe(LOGIN);
    const form = { decision: 'login', request: id, token: page.token(), user, password: `${user}-sandbox` };
    expect((await send('/authorise/login', form, cookie)).status).toBe(303);
  }

  test('for a request and for the list of all stays so in this browser, whatever comes first', async () => {
    for (const [first, second] of [
      ['R1', 'all'],
      ['all', 'R1'],
    ] as const) {
      const pageOf = { R1: REQUEST, all: '/requests' };
      const { cookie } = await send(pageOf[first]);
      await logInAt(pageOf[first], first, 'anna', cookie);
      await logInAt(pageOf[second], second, 'anna', cookie);
      expect((await send(REQUEST, undefined, cookie)).h1).toBe(QUESTION);
      expect((await send('/requests', undefined, cookie)).h1).toBe('Requests that wait for you');
      // Another browser has not.
      expect([(await send(REQUEST)).h1, (await send('/requests')).h1]).toEqual([LOGIN, LOGIN]);
    }
  });

  test('for a request that is over has to do so again', async () => {
    const { cookie } = await loggedIn();
    open = undefined;
    await logInAt('/requests', 'all', 'anna', cookie);
    open = request;
    expect((await send(REQUEST, undefined, cookie)).h1).toBe(LOGIN);
  });
});

describe('the page of a request', () => {
  test.each<[what: string, make: () => void, title: string, h1: string]>([
    ['a consent', () => {}, 'Give access', 'Fintrek asks for access to your accounts'],
    [
      'a login',
      () => {
        open = { ...request, consent: undefined };
      },
      'Give access',
      'Fintrek asks for access to your accounts',
    ],
    [
      'payments',
      () => {
        open = { ...request, consent: undefined, payments };
      },
      'Authorise a payment',
      'Fintrek asks you to authorise 0 payments',
    ],
    [
      'a cancellation',
      () => {
        open = { ...request, consent: undefined, payments: { ...payments, cancels: true } };
      },
      'Cancel a payment',
      'Fintrek asks to cancel this payment',
    ],
    [
      'accounts of another one',
      () => {
        sees = undefined;
      },
      'Not your accounts',
      'These are not your accounts',
    ],
    [
      'another customer',
      () => {
        open = { ...request, user: 'bruno' };
      },
      'Not your request',
      'This request is not for you',
    ],
    [
      'the customer by name',
      () => {
        open = { ...request, user: 'anna' };
      },
      'Give access',
      'Fintrek asks for access to your accounts',
    ],
  ])('%s', async (_, make, title, h1) => {
    make();
    const page = await loggedIn();
    expect([page.status, page.title, page.h1]).toEqual([200, title, h1]);
    expect(page.policy).toContain("form-action 'self' https: http:;");
  });

  test('before a login, the page names who sent the customer here', async () => {
    const page = await send('/authorise?request=R1');
    expect([page.status, page.title, page.h1]).toEqual([200, 'Log in', 'Log in to your bank']);
  });

  test('a customer who does not log in refuses', async () => {
    const page = await send('/authorise?request=R1');
    const form = { decision: 'refuse', request: 'R1', token: page.token() };
    const { status, location } = await send('/authorise/login', form, page.cookie);
    expect([status, location, told]).toEqual([303, RETURN, ['refuse R1']]);
  });

  test.each<[path: string, status: number, title: string]>([
    ['/authorise', 400, 'This address is incomplete'],
    ['/authorise?request=other', 404, 'There is nothing to authorise here'],
  ])('GET %s is %i', async (path, status, title) => {
    const page = await send(path);
    expect([page.status, page.title, page.h1]).toEqual([status, title, title]);
    expect(page.policy).toContain("form-action 'none';");
  });
});

describe('a decision', () => {
  test.each<[fields: Record<string, string>, choose: boolean, done: string]>([
    [{ decision: 'approve' }, false, 'approve R1 1048262 undefined'],
    [{ decision: 'approve', 'account-a': 'yes', 'account-b': 'yes' }, true, 'approve R1 1048262 a+b'],
    [{ decision: 'approve', 'account-a': 'yes' }, false, 'approve R1 1048262 undefined'],
    [{ decision: 'approve', debtor: 'a', 'account-b': 'yes' }, true, 'approve R1 1048262 a'],
    [{ decision: 'approve' }, true, 'approve R1 1048262 '],
    [{ decision: 'refuse', 'account-a': 'yes' }, true, 'refuse R1'],
  ])('with %j, where the customer chooses (%s)', async (fields, choose, done) => {
    sees = { ...shown, choose };
    const page = await loggedIn();
    const decided = await send('/authorise', { request: 'R1', token: page.token(), ...fields }, page.cookie);
    expect([decided.status, decided.location, told]).toEqual([303, RETURN, [done]]);
  });

  test.each<[decision: string, h1: string]>([
    ['approve', 'You approved the request'],
    ['refuse', 'You refused the request'],
  ])('without a browser to send back, after %s the customer is done', async (decision, h1) => {
    returnTo = undefined;
    const page = await loggedIn();
    const done = await send('/authorise', { request: 'R1', token: page.token(), decision }, page.cookie);
    expect([done.status, done.title, done.h1]).toEqual([200, 'Done', h1]);
  });

  test.each<[what: string, fields: Record<string, string>, status: number]>([
    ['no decision', { decision: '' }, 400],
    ['another decision', { decision: 'withdraw' }, 400],
    ['another request', { request: 'R2' }, 404],
    ['a wrong token', { token: 'x' }, 403],
  ])('a form with %s decides nothing', async (_, fields, status) => {
    const page = await loggedIn();
    const form = { request: 'R1', token: page.token(), decision: 'approve', ...fields };
    expect([(await send('/authorise', form, page.cookie)).status, told]).toEqual([status, []]);
    // Neither the token of the login page nor another browser decides.
    expect((await send('/authorise', { ...form, request: 'R1', token: page.token() })).status).not.toBe(303);
    expect(told).toEqual([]);
  });
});

describe('the requests that wait', () => {
  const waiting = () => loggedIn('/requests', 'all');

  test('the page shows those of the customer, after a login that is for all', async () => {
    const before = await send('/requests');
    expect([before.title, before.h1]).toEqual(['Log in', 'Log in to your bank']);
    const page = await waiting();
    expect([page.status, page.title, page.h1]).toEqual([200, 'Your requests', 'Requests that wait for you']);
    const bruno = await loggedIn('/requests', 'all', 'bruno');
    expect(bruno.h1).toBe('Nothing waits for you');
  });

  test('a customer who does not log in goes to the front page', async () => {
    const page = await send('/requests');
    const form = { decision: 'refuse', request: 'all', token: page.token() };
    const { status, location } = await send('/authorise/login', form, page.cookie);
    expect([status, location, told]).toEqual([303, '/', []]);
  });

  test.each<[decision: string, id: string, form: number, done: string]>([
    ['approve', 'R1', 0, 'approve R1 1048262 undefined'],
    ['refuse', 'R1', 0, 'refuse R1'],
    ['withdraw', 'C2', 1, 'revoke C2'],
  ])('%s of %s', async (decision, id, form, done) => {
    const page = await waiting();
    const answer = await send('/requests', { decision, id, token: page.token(form) }, page.cookie);
    expect([answer.status, answer.location, told]).toEqual([303, '/requests', [done]]);
  });

  test.each<[what: string, fields: Record<string, string>, status: number]>([
    ['another decision', { decision: 'allow' }, 400],
    ['the token of another one', { id: 'C2' }, 403],
    ['a wrong token', { token: 'x' }, 403],
  ])('a form with %s decides nothing', async (_, fields, status) => {
    const page = await waiting();
    const form = { decision: 'approve', id: 'R1', token: page.token(), ...fields };
    expect([(await send('/requests', form, page.cookie)).status, told]).toEqual([status, []]);
  });

  test.each(['approve', 'refuse'])('%s of what is no longer open says so', async (decision) => {
    const page = await waiting();
    open = undefined;
    const answer = await send('/requests', { decision, id: 'R1', token: page.token() }, page.cookie);
    expect([answer.status, answer.h1, told]).toEqual([404, 'There is nothing to authorise here', []]);
  });
});

test.each(['/oauth/authorize', '/other/authorize'])(
  '%s begins a request, or says what is wrong',
  async (path) => {
    const { status, location } = await send(`${path}?client_id=a&state=b`);
    expect([status, location]).toEqual([303, `${RETURN}?client_id=a&state=b`]);
    const wrong = await send(`${path}?state=b`);
    expect([wrong.status, wrong.h1, wrong.alert]).toEqual([
      ...[400, 'This address is incomplete', 'client_id is <missing>'],
    ]);
  },
);

test('a site without the second door has none of these pages', async () => {
  site = customerSite(fakeBank(RETURN));
  for (const path of ['/authorise?request=R1', '/requests', '/oauth/authorize?client_id=a'])
    expect((await send(path)).h1).toBe('Page not found');
});
