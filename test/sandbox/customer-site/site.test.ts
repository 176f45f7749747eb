import { request as httpRequest } from 'node:http';
import { parse } from 'node-html-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { consent, type FakeBank, fakeBank, payment, RESOURCE, type Served, serveSite } from '../fake-bank.ts';

const RETURN = 'http://127.0.0.1:8910/callback';

let bank: FakeBank;
let site: Served;

beforeEach(async () => {
  bank = fakeBank(RETURN);
  site = await serveSite(bank);
});

afterEach(() => site.close());

interface Answer {
  status: number;
  headers: Headers;
  html: string;
  cookie: string;
}

async function send(
  path: string,
  { form, cookie = '' }: { form?: Record<string, string>; cookie?: string } = {},
): Promise<Answer> {
  const answer = await fetch(new URL(path, site.origin), {
    ...{ redirect: 'manual', headers: { cookie } },
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  const { status, headers } = answer;
  const [set] = headers.getSetCookie().join().split(';');
  return { status, headers, html: await answer.text(), cookie: set || cookie };
}

function tokenOf({ html }: Answer): string {
  return parse(html).querySelector('input[name=token]')?.getAttribute('value') ?? '';
}

const SCA = `/sca-authorize/?resourceId=${RESOURCE}`;
const anna = { user: 'anna', password: 'anna-sandbox', decision: 'login', request: 'L1' };

/** Logs Anna in and returns her browser session at the access page. */
async function loggedIn(): Promise<Answer> {
  const login = await send('/login?request=L1');
  const { cookie } = login;
  await send('/login', { cookie, form: { ...anna, token: tokenOf(login) } });
  return send('/login?request=L1', { cookie });
}

describe('the customer site over HTTP', () => {
  it('every page has headers that forbid scripts, frames, caching and the referrer', async () => {
    const paths = ['/login?request=L1', '/login?request=L2', '/login', SCA, '/', '/x'];
    const answers = await Promise.all(paths.map((path) => send(path)));
    answers.push(await loggedIn());
    for (const { headers, html } of answers) {
      expect(headers.get('content-type')).toMatch(/^text\/html; charset=utf-8/i);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; .*frame-ancestors 'none'/,
      );
      expect(Object.fromEntries(headers)).toMatchObject({
        ...{ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' },
        ...{ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
      });
      const page = parse(html);
      expect(page.querySelector('html')?.getAttribute('lang')).toBe('en');
      expect(page.querySelectorAll('h1')).toHaveLength(1);
      expect(page.querySelector('main h1')).not.toBeNull();
      expect(page.querySelector('title')?.text).toMatch(/.+ · Sandbox Bank$/);
      expect(page.querySelector('header')?.text).toContain('Sandbox — no real money');
      expect(page.querySelectorAll('script, iframe, img, link[rel=stylesheet]')).toHaveLength(0);
      expect(html).not.toMatch(/\son\w+=|\sstyle=|https?:\/\//);
    }
    expect(new Set(answers.map(({ html }) => parse(html).querySelector('title')?.text)).size).toBe(7);
  });

  it('the pages show an inquiry for older transactions, and a standing order, in plain words', async () => {
    const text = async (): Promise<string> => {
      const { html } = await send(SCA);
      expect(html).not.toContain('<account>');
      return parse(html).querySelector('main')?.text.replace(/\s+/g, ' ') ?? '';
    };
    const common = { resourceId: RESOURCE, tppName: 'Fintrek S.r.l.', customerName: 'Anna Esposito' };
    const product = { productId: '0010482620', description: 'Current <account>', iban: 'IT12A0999001600000' };
    bank.sca.request = { ...common, kind: 'inquiry', product, from: '2026-01-31' };
    const inquiry = await text();
    expect(inquiry).toContain('Confirm that it is you');
    expect(inquiry).toContain('AccountCurrent <account> · 0010482620 IT12 A099 9001 6000 00');
    expect(inquiry).toContain('Transactions from31 January 2026');
    expect(inquiry).toContain('Show older transactions Refuse');

    const standing = { operation: 'standingOrder', instant: false, schedule: 'MONTHLY, 3 times' };
    bank.sca.request = { ...payment, ...standing };
    const order = await text();
    expect(order).toContain('Authorise a standing order');
    expect(order).toContain('ScheduleMONTHLY, 3 times');
  });

  it('the session cookie is hidden from scripts and from other sites', async () => {
    const first = await send('/login?request=L1');
    expect(first.headers.get('set-cookie')).toMatch(
      /^psd2_sandbox_session=[\w-]{32}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const second = await send('/login?request=L1', { cookie: first.cookie });
    expect(second.headers.get('set-cookie')).toBeNull();
    expect(tokenOf(second)).toBe(tokenOf(first));
    const [name = '', session = ''] = first.cookie.split('=');
    for (const strange of [
      'chosen',
      session.slice(1),
      `${session}x`,
      `${session.slice(1)}!`,
      '',
      'undefined',
    ]) {
      const { headers } = await send('/login?request=L1', { cookie: `${name}=${strange}` });
      expect([strange, headers.get('set-cookie')]).toEqual([strange, expect.stringMatching(/=[\w-]{32};/)]);
    }
  });

  it('the site redirects with 303 after a decision', async () => {
    const access = await loggedIn();
    const { cookie } = access;
    const form = { request: 'L1', decision: 'allow', token: tokenOf(access) };
    const { status, headers } = await send('/login/access', { cookie, form });
    expect(status).toBe(303);
    expect(headers.get('location')).toBe(`${RETURN}?code=the-code&state=the-state`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('the pages escape all text from outside', async () => {
    const hostile = `</style><script>alert(1)</script>"'><img src=x onerror=alert(1)>&lt;`;
    bank.login = { id: hostile, tppName: `${hostile}1`, applicationName: `${hostile}2` };
    bank.logins = () => [
      { user: `${hostile}3`, password: `${hostile}4`, name: `${hostile}5`, customerId: `${hostile}6` },
    ];
    const path = `/login?${new URLSearchParams({ request: hostile })}`;
    const login = await send(path);
    const form = { request: hostile, token: tokenOf(login), decision: 'login' };
    const { cookie } = login;
    const wrong = await send('/login', { cookie, form: { ...form, user: `${hostile}7`, password: 'x' } });
    expect(wrong.status).toBe(422);
    const right = { ...form, user: `${hostile}3`, password: `${hostile}4` };
    await send('/login', { cookie, form: right });
    const access = await send(path, { cookie });
    const pages = [login, wrong, access];
    const text = { tppName: `${hostile}1`, customerName: `${hostile}2`, resourceId: hostile };
    const sca = `/sca-authorize/?${new URLSearchParams({ resourceId: hostile })}`;
    const money = { amount: hostile, currency: hostile };
    bank.sca.request = {
      ...{ ...payment, ...text, operation: `${hostile}3` },
      ...{ beneficiaryName: `${hostile}4`, beneficiaryIban: hostile, description: `${hostile}5` },
      ...{ amount: money, commissions: money, total: money },
      debitAccount: { productId: `${hostile}6`, iban: hostile },
    };
    pages.push(await send(sca));
    const products = [{ productId: `${hostile}3`, description: `${hostile}4`, iban: hostile }];
    bank.sca.request = { ...consent, ...text, categories: [{ name: `${hostile}5`, products }] };
    pages.push(await send(sca));
    for (const { html } of pages) {
      expect(html.match(/<style>/g)).toHaveLength(1);
      expect(html.match(/<\/style>/g)).toHaveLength(1);
      expect(html).not.toMatch(/<script|<img|"'>/);
    }
    const shown = (answer: Answer | undefined) => parse(answer?.html ?? '').querySelector('main')?.text ?? '';
    const numbers = (answer: Answer | undefined) =>
      [...'1234567'].filter((number) => shown(answer).includes(`${hostile}${number}`)).join('');
    expect(pages.map(numbers)).toEqual(['1345', '1345', '1256', '123456', '12345']);
    expect(parse(wrong.html).querySelector('#user')?.getAttribute('value')).toBe(`${hostile}7`);
  });

  it('the page announces a wrong user or password to assistive technology too', async () => {
    const login = await send('/login?request=L1');
    const form = { ...anna, password: 'bruno-sandbox', token: tokenOf(login) };
    const { status, html } = await send('/login', { cookie: login.cookie, form });
    expect(status).toBe(422);
    const page = parse(html);
    expect(page.querySelector('[role=alert]')?.text).toBe('User and password do not match.');
    expect(page.querySelector('#password')?.getAttribute('aria-describedby')).toBe('refused');
    expect(page.querySelector('#user')?.getAttribute('value')).toBe('anna');
    expect(page.querySelector('title')?.text).toContain('Error');
    expect((await send('/login?request=L1', { cookie: login.cookie })).html).toContain('Log in to your bank');
  });

  describe("the customer site's forms", () => {
    it.each(['', 'x', 'A'.repeat(43)])('the site refuses the form token %j', async (token) => {
      const { cookie } = await loggedIn();
      for (const [path, form] of [
        ['/login', anna],
        ['/login', { request: 'L1', decision: 'refuse' }],
        ['/login/access', { request: 'L1', decision: 'allow' }],
        ['/login/access', { request: 'L1', decision: 'refuse' }],
        ['/sca-authorize/', { resourceId: RESOURCE, decision: 'approve' }],
        ['/sca-authorize/', { resourceId: RESOURCE, decision: 'refuse' }],
      ] as const)
        expect((await send(path, { cookie, form: { ...form, token } })).status).toBe(403);
      expect(bank.decisions).toEqual([]);
    });

    it("the site refuses a form with another session's token or without a session", async () => {
      const sca = await send(SCA);
      const other = await send(SCA);
      const form = { resourceId: RESOURCE, decision: 'approve', token: tokenOf(sca) };
      expect((await send('/sca-authorize/', { cookie: other.cookie, form })).status).toBe(403);
      expect((await send('/sca-authorize/', { form })).status).toBe(403);
      expect(bank.decisions).toEqual([]);
      expect((await send('/sca-authorize/', { cookie: sca.cookie, form })).status).toBe(303);
    });

    it('the site refuses a form token that was issued for something else', async () => {
      const access = await loggedIn();
      const { cookie } = access;
      const token = tokenOf(access);
      const form = { resourceId: RESOURCE, decision: 'approve', token };
      expect((await send('/sca-authorize/', { cookie, form })).status).toBe(403);
      expect((await send('/login', { cookie, form: { ...anna, token } })).status).toBe(403);
      expect(bank.decisions).toEqual([]);
    });

    it('only the browser that logged in sees the access page', async () => {
      const access = await loggedIn();
      expect(access.html).toContain('Anna Esposito');
      const other = await send('/login?request=L1');
      expect(other.html).toContain('Log in to your bank');
      const form = { request: 'L1', decision: 'allow', token: tokenOf(other) };
      expect((await send('/login/access', { cookie: other.cookie, form })).status).toBe(403);
      expect(bank.decisions).toEqual([]);
    });
  });

  it('the site answers 404 to unknown requests and to a login that is already decided', async () => {
    const access = await loggedIn();
    const { cookie } = access;
    const form = { request: 'L1', decision: 'allow', token: tokenOf(access) };
    await send('/login/access', { cookie, form });
    const answers = await Promise.all([
      send('/login?request=L1', { cookie }),
      send('/login/access', { cookie, form }),
      send('/login', { cookie, form: { ...anna, token: 'x' } }),
      send('/login?request=L2'),
      send('/sca-authorize/?resourceId=00000000-0000-4000-8000-000000000000'),
      send('/x'),
      send('/sca-authorize'),
      send('/login/access'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    for (const { html } of answers) expect(html).not.toContain('<form');
    expect(bank.decisions).toEqual(['allow L1 1048262']);
  });

  it.each([
    ['AUTHORIZED', 'You already decided this'],
    ['NOT_AUTHORIZED', 'You already decided this'],
    ['EXPIRED', 'This request has expired'],
  ] as const)('the site answers 410 to an SCA that is %s, and records no decision', async (state, title) => {
    const sca = await send(SCA);
    bank.sca.state = state;
    const again = await send(SCA);
    expect([again.status, parse(again.html).querySelector('h1')?.text]).toEqual([410, title]);
    const form = { resourceId: RESOURCE, decision: 'approve', token: tokenOf(sca) };
    expect((await send('/sca-authorize/', { cookie: sca.cookie, form })).status).toBe(410);
    expect(bank.decisions).toEqual([]);
  });

  it('the site answers 400 to addresses and forms that are incomplete or contain no decision', async () => {
    const access = await loggedIn();
    const { cookie } = access;
    const token = tokenOf(access);
    const answers = [
      await send('/login'),
      await send('/sca-authorize/'),
      await send('/login', { cookie, form: { request: 'L1', token, decision: 'login', user: 'anna' } }),
      await send('/login', { cookie, form: { request: 'L1', token } }),
      await send('/login/access', { cookie, form: { request: 'L1', token, decision: 'approve' } }),
      await send('/login/access', { cookie, form: { request: 'L1', decision: 'allow' } }),
      await send('/sca-authorize/', { cookie, form: { resourceId: RESOURCE, decision: 'allow', token } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
    expect(bank.decisions).toEqual([]);
  });

  it('the site rejects a large form', async () => {
    const { cookie } = await loggedIn();
    const form = { ...anna, token: 'x'.repeat(20_000) };
    expect((await send('/login', { cookie, form })).status).toBe(413);
  });

  it('the site answers only to names of this computer', async () => {
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        httpRequest(`${site.origin}/login?request=L1`, { headers: { host }, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await statusFor('rebound.example')).toBe(421);
    expect(await statusFor('127.0.0.1.rebound.example')).toBe(421);
    expect(await statusFor('localhost:8444')).toBe(200);
  });
});
