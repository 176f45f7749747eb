import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../e2e/support/errors.ts';
import { keepRunning, readDocument } from '../e2e/support/psd2.ts';
import { type Behaviour, type Heard, type PlainAnswer, useHostileBank, write } from './hostile-bank.ts';
import { ACTED_UPON } from './resident.ts';

// Answers of a NextGenPSD2 bank, or of a system in front of it, that psd2 must not follow, believe or show.

const bank = useHostileBank();
const operator = keepRunning(bank.operator);
const CONSENT = 'consent-of-the-test';
const ACCOUNT = 'a1';
const READ = ['accounts', 'transactions', ACCOUNT, '--json'];
const BALANCE = ['accounts', 'balance', ACCOUNT, '--json'];
const REQUEST = ['consent', 'request', '--json', '--yes'];

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): PlainAnswer => ({
  status,
  headers,
  body: JSON.stringify(body),
});
const refusal = (status: number, code: string, headers: Record<string, string> = {}): PlainAnswer =>
  json({ tppMessages: [{ category: 'ERROR', code, text: 'The test says no' }] }, status, headers);
const html: PlainAnswer = { headers: { 'content-type': 'text/html' }, body: '<h1>Maintenance</h1>' };

const money = (amount: unknown) => ({ amount, currency: 'EUR' });
const balance = (amount: unknown) => ({ balanceType: 'closingBooked', balanceAmount: money(amount) });
const row = (id: string, more: object = {}) => ({
  transactionId: id,
  bookingDate: '2026-11-02',
  transactionAmount: money('-1.00'),
  ...more,
});
const report = (booked: object[], next?: string) => ({
  account: { iban: 'DE89370400440532013000' },
  transactions: {
    booked,
    pending: [],
    _links: { account: { href: '/v1/accounts/a1' }, ...(next !== undefined && { next: { href: next } }) },
  },
});
const given = { consentId: CONSENT, consentStatus: 'valid', _links: {} };

/** What a bank without oddities answers. */
function plain({ method, target }: Heard): PlainAnswer {
  const [path = ''] = target.split('?', 1);
  if (method === 'POST' && path === '/v1/consents') return json(given, 201);
  if (path.endsWith('/status')) return json({ consentStatus: 'valid' });
  if (path.endsWith('/authorisations')) return json({ scaStatus: 'received', _links: {} }, 201);
  if (path.startsWith('/v1/consents/')) return json({ consentStatus: 'valid', access: {} });
  if (path.endsWith('/balances')) return json({ balances: [balance('1.00')] });
  if (path.endsWith('/transactions')) return json(report([row('t1')]));
  if (path === '/v1/accounts') return json({ accounts: [{ resourceId: ACCOUNT, currency: 'EUR' }] });
  return refusal(404, 'RESOURCE_UNKNOWN');
}

/** A bank that works, except for the calls whose path ends like this. */
function odd(end: string, answer: PlainAnswer | ((heard: Heard) => PlainAnswer)): Behaviour {
  return (socket: Socket, heard) => {
    const isOdd = (heard.target.split('?', 1)[0] ?? '').endsWith(end);
    const said = isOdd ? (typeof answer === 'function' ? answer(heard) : answer) : plain(heard);
    write(socket, said);
  };
}

function useBank(file: object = {}): void {
  const path = join(operator.folder, 'bank.json');
  writeFileSync(
    path,
    JSON.stringify({
      interface: 'nextgenpsd2',
      psu: { ip: '203.0.113.1' },
      sca: { pollSeconds: 1 },
      ...file,
    }),
  );
  operator.env.PSD2_BANK = path;
}

beforeAll(async () => {
  useBank();
  bank.behave(odd('nothing', html));
  const ended = await operator.psd2([...REQUEST]);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
});
beforeEach(() => useBank());

/** The error of a call: one sentence that a terminal only shows, and no secret. */
async function errorOf(args: string[], behaviour: Behaviour) {
  bank.behave(behaviour);
  const ended = await operator.psd2(args);
  const error = readError(ended);
  expect(error.message, 'one sentence').toMatch(/^[^\n]{1,500}$/);
  expect(ended.stderr).not.toMatch(ACTED_UPON);
  return { ...error, stdout: ended.stdout };
}

describe('an answer that is not what was asked for', () => {
  const deep = `{"balances":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  let earlier = '';
  const FOREIGN_ID = { 'X-Request-ID': 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' };
  const wrongDigest = `SHA-256=${createHash('sha256').update('other').digest('base64')}`;
  it.each<[what: string, args: string[], behaviour: Behaviour, exitCode: number, said: RegExp]>([
    ['a page', BALANCE, odd('/balances', html), 11, /is not JSON: the answer is text\/html/],
    ['a page with 404', BALANCE, odd('/balances', { ...html, status: 404 }), 7, /HTTP 404/],
    ['a page with 500', BALANCE, odd('/balances', { ...html, status: 500 }), 11, /The bank failed/],
    [
      'RFC 7807',
      BALANCE,
      odd('/balances', json({ type: 'x', title: 'No', code: 'CONSENT_EXPIRED' }, 400)),
      4,
      /The consent for .* has ended/,
    ],
    [
      'the code of a consent with 403',
      BALANCE,
      odd('/balances', refusal(403, 'CONSENT_UNKNOWN')),
      4,
      /consent/,
    ],
    [
      'the code of a consent with 404',
      BALANCE,
      odd('/balances', refusal(404, 'CONSENT_UNKNOWN')),
      4,
      /consent/,
    ],
    [
      'a success that refuses',
      BALANCE,
      odd('/balances', refusal(200, 'CONSENT_INVALID')),
      11,
      /no usable balances/,
    ],
    [
      'the X-Request-ID of an earlier call',
      READ,
      odd('/transactions', ({ headers, target }) => {
        const id = headers['x-request-id'] ?? '';
        const isFirst = !target.includes('page=2');
        if (isFirst) earlier = id;
        const next = isFirst ? '/v1/accounts/a1/transactions?page=2' : undefined;
        return json(report([row(isFirst ? 't1' : 't2')], next), 200, { 'X-Request-ID': earlier });
      }),
      11,
      /X-Request-ID of another request/,
    ],
    [
      'a wrong Digest',
      BALANCE,
      odd('/balances', json({ balances: [balance('9.00')] }, 200, { Digest: wrongDigest })),
      11,
      /does not match its Digest/,
    ],
    ['deep JSON', BALANCE, odd('/balances', { body: deep }), 11, /balances|not JSON/],
    ['a list without rows', READ, odd('/transactions', json({})), 11, /has none/],
    [
      'an amount that is no number',
      READ,
      odd('/transactions', json(report([row('t1', { transactionAmount: money('1,000') })]))),
      11,
      /amount/,
    ],
    [
      'a redirect',
      BALANCE,
      odd('/balances', { status: 302, headers: { location: 'https://evil.example/' } }),
      11,
      /redirect/,
    ],
  ])('%s', async (_, args, behaviour, exitCode, said) => {
    const error = await errorOf(args, behaviour);
    expect(error).toMatchObject({ exitCode, message: expect.stringMatching(said), stdout: '' });
  });

  it('no consent is taken from an answer to another call', async () => {
    const error = await errorOf(REQUEST, odd('/consents', json(given, 201, FOREIGN_ID)));
    expect(error).toMatchObject({
      exitCode: 11,
      message: expect.stringMatching(/X-Request-ID of another request/),
    });
    expect(JSON.parse(error.stdout)).toMatchObject({ state: 'created', resourceId: null });
  });

  it('a reading works behind a gateway that writes an X-Request-ID of its own', async () => {
    bank.behave(odd('/balances', json({ balances: [balance('9.00')] }, 200, FOREIGN_ID)));
    const ended = await operator.psd2(BALANCE);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('"accountBalance":{"amount":"9.00","currency":"EUR"}');
  });

  it('duplicate keys do not make another amount than what a reader of JSON sees last', async () => {
    bank.behave(
      odd('/balances', {
        body: '{"balances":[{"balanceType":"closingBooked","balanceAmount":{"amount":"1.00","amount":"2.00","currency":"EUR"}}]}',
      }),
    );
    const ended = await operator.psd2(BALANCE);
    // Either is honest: to refuse, or to read as every reader of JSON does. A mixture is not.
    if (ended.code === 0)
      expect(ended.stdout).toContain('"accountBalance":{"amount":"2.00","currency":"EUR"}');
    else expect(readError(ended).exitCode).toBe(11);
  });
});

describe('what the standard writes in one way and banks in several', () => {
  const rows = z.array(z.looseObject({ amount: z.string(), remittance: z.nullable(z.string()) }));
  it.each<[what: string, more: object, amount: string, remittance: string | null]>([
    ['remittance as text', { remittanceInformationUnstructured: 'Invoice 7' }, '-1.00', 'Invoice 7'],
    ['remittance as an object', { remittanceInformationStructured: { reference: 'RF18' } }, '-1.00', 'RF18'],
    ['remittance as a list', { remittanceInformationUnstructuredArray: ['A', 'B'] }, '-1.00', 'A B'],
    ['remittance as a number', { remittanceInformationUnstructured: 7 }, '-1.00', '7'],
    ['no remittance', {}, '-1.00', null],
  ])('%s', async (_, more, amount, remittance) => {
    bank.behave(odd('/transactions', json(report([row('t1', more)]))));
    const ended = await operator.psd2(READ);
    expect(ended.code, ended.stderr).toBe(0);
    expect(readDocument(rows, ended.stdout)).toMatchObject([{ amount, remittance }]);
  });

  it('an amount that is a number keeps every digit', async () => {
    const body = JSON.stringify(report([row('t1')])).replace('"-1.00"', '-12345678901234567.10');
    bank.behave(odd('/transactions', { body }));
    const ended = await operator.psd2(READ);
    expect(readDocument(rows, ended.stdout)).toMatchObject([{ amount: '-12345678901234567.10' }]);
  });

  it('what a terminal acts on is not shown', async () => {
    const text = 'Hello \u001b]0;owned\u0007 \u001b[2J \u202e gnp.exe';
    bank.behave(odd('/transactions', json(report([row('t1', { remittanceInformationUnstructured: text })]))));
    const ended = await operator.psd2(['accounts', 'transactions', ACCOUNT]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).not.toMatch(ACTED_UPON);
  });
});

describe('pages', () => {
  it.each<[what: string, behaviour: Behaviour, said: RegExp]>([
    [
      'on another host',
      odd('/transactions', json(report([row('t1')], 'https://evil.example/v1/other/a1/transactions?page=2'))),
      /leads to another host: .*evil\.example/,
    ],
    [
      'on another port of the host',
      odd('/transactions', json(report([row('t1')], 'https://127.0.0.1:1/v1/accounts/a2/transactions'))),
      /leads to another host/,
    ],
    ['without TLS', odd('/transactions', json(report([row('t1')], 'http://127.0.0.1/v1/x'))), /another host/],
    [
      'behind a user',
      odd('/transactions', json(report([row('t1')], '//user@evil.example/v1/x'))),
      /another host|not a valid address/,
    ],
    [
      'that lead to themselves',
      odd('/transactions', ({ target }) => json(report([row('t1')], target))),
      /do not advance/,
    ],
    [
      'that repeat',
      odd(
        '/transactions',
        next(() => [row('t1')]),
      ),
      /do not advance/,
    ],
    [
      'that are empty without end',
      odd(
        '/transactions',
        next(() => []),
      ),
      /do not advance/,
    ],
  ])('%s', async (_, behaviour, said) => {
    const error = await errorOf(READ, behaviour);
    expect(error).toMatchObject({ exitCode: 11, message: expect.stringMatching(said), stdout: '' });
    expect(error.hint).not.toBeNull();
  });

  it('of the same list on the inner host of a gateway are read at the base URL', async () => {
    const inner = 'https://evil.example/v1/accounts/a1/transactions?page=2';
    bank.behave(
      odd('/transactions', ({ target }) =>
        json(target.includes('page=2') ? report([row('t2')]) : report([row('t1')], inner)),
      ),
    );
    const ended = await operator.psd2(READ);
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toHaveLength(2);
  });

  /** Each page has a link to another one. */
  function next(rowsOf: (page: number) => object[]) {
    return ({ target }: Heard): PlainAnswer => {
      const page = Number(/page=(\d+)/.exec(target)?.[1] ?? 1);
      return json(report(rowsOf(page), `/v1/accounts/a1/transactions?page=${page + 1}`));
    };
  }
});

describe('a consent', () => {
  let consents = 0;
  /** A new consent has a new id. */
  const begun = (links: object) =>
    odd('/consents', () => {
      consents += 1;
      return json({ consentId: `c-${consents}`, consentStatus: 'received', _links: links }, 201);
    });
  const link = (href: string) => ({ href });

  it.each<[what: string, behaviour: Behaviour, said: RegExp]>([
    ['whose page has no TLS', begun({ scaRedirect: link('http://evil.example/') }), /not an https address/],
    ['whose page is a script', begun({ scaRedirect: link('javascript:alert(1)') }), /not an https address/],
    ['whose page is a file', begun({ scaRedirect: link('file:///etc/passwd') }), /not an https address/],
    [
      'whose authorisation starts on another host',
      begun({ startAuthorisation: link('https://evil.example/v1/consents/c-2/authorisations') }),
      /leads to another host/,
    ],
    [
      'whose metadata is on another host',
      begun({ scaOAuth: link('https://evil.example/.well-known/oauth-authorization-server') }),
      /host that psd2 does not know/,
    ],
    ['without a way for the customer', begun({}), /names no way, so the customer cannot authorise/],
    [
      'that wants the password',
      begun({ updatePsuAuthentication: link('/v1/consents/c-2/authorisations/1') }),
      /psd2 never takes them/,
    ],
    ['without an id', odd('/consents', json({ consentStatus: 'received', _links: {} }, 201)), /consentId/],
    [
      'with an id that would end a header',
      odd('/consents', json({ ...given, consentId: 'a\r\nEvil: 1' }, 201)),
      /consentId/,
    ],
  ])('%s', async (_, behaviour, said) => {
    useBank({ oauth: { mode: 'integrated' }, sca: { approaches: ['redirect', 'oauth'], pollSeconds: 1 } });
    const error = await errorOf(REQUEST, behaviour);
    expect(error.message).toMatch(said);
    expect(error.exitCode).toBe(11);
  });

  it('whose metadata sends codes and tokens elsewhere', async () => {
    useBank({ oauth: { mode: 'integrated' }, sca: { approaches: ['oauth'], pollSeconds: 1 } });
    const error = await errorOf(REQUEST, (socket, heard) => {
      if (heard.target.startsWith('/.well-known'))
        return write(
          socket,
          json({
            issuer: bank.baseUrl,
            authorization_endpoint: `${bank.baseUrl}/authorize`,
            token_endpoint: 'https://evil.example/token',
          }),
        );
      return begun({ scaOAuth: link(`${bank.baseUrl}/.well-known/x`) })(socket, heard);
    });
    expect(error).toMatchObject({
      exitCode: 11,
      message: expect.stringMatching(/host that psd2 does not know/),
    });
  });

  it('of another id in the status decides nothing', async () => {
    bank.behave(odd('/consents', json({ consentId: 'c-9', consentStatus: 'valid', _links: {} }, 201)));
    const made = await operator.psd2(REQUEST);
    expect(made.code, made.stderr).toBe(0);
    const { flow } = readDocument(z.looseObject({ flow: z.string() }), made.stdout);
    const about = json({ consentId: 'somebody-elses', consentStatus: 'revokedByPsu' });
    const error = await errorOf(['consent', 'status', flow, '--json'], (socket, heard) =>
      write(socket, heard.target.startsWith('/v1/consents/') ? about : plain(heard)),
    );
    expect(error).toMatchObject({ exitCode: 11, message: expect.stringContaining('somebody-elses') });
    const shown = await operator.psd2(['consent', 'show', flow, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ state: 'confirmed' });
  });

  it('whose message for the customer would act on a terminal', async () => {
    const evil = 'Open \u001b[2J\u001b]8;;https://evil.example\u0007your app\u202e';
    let asked = 0;
    bank.behave((socket, heard) => {
      const { method, target } = heard;
      if (method === 'POST')
        return write(
          socket,
          json(
            {
              consentId: 'c-decoupled',
              consentStatus: 'received',
              psuMessage: evil,
              _links: { scaStatus: link('/v1/consents/c-decoupled/authorisations/1') },
            },
            201,
            { 'ASPSP-SCA-Approach': 'DECOUPLED' },
          ),
        );
      asked += 1;
      if (target.endsWith('/authorisations/1'))
        return write(socket, json({ scaStatus: 'finalised', psuMessage: evil }));
      return write(socket, json({ consentStatus: asked > 1 ? 'valid' : 'received' }));
    });
    useBank({ sca: { approaches: ['decoupled'], pollSeconds: 1 } });
    const ended = await operator.psd2(['consent', 'request', '--yes']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('your app');
    expect(`${ended.stdout}${ended.stderr}`).not.toMatch(ACTED_UPON);
  });
});

it('a resource that the bank does not know: psd2 names the accounts only if it read one', async () => {
  const unknown = refusal(404, 'RESOURCE_UNKNOWN');
  expect((await errorOf(BALANCE, odd('/balances', unknown))).next).toContainEqual([
    'psd2',
    'accounts',
    'list',
  ]);
  const error = await errorOf(REQUEST, odd('/consents', unknown));
  expect(error.next).not.toContainEqual(['psd2', 'accounts', 'list']);
});

describe('the readings of a day', () => {
  it.each([{}, { 'Retry-After': '3600' }])('are used up: %j', async (headers) => {
    const error = await errorOf(BALANCE, odd('/balances', refusal(429, 'ACCESS_EXCEEDED', headers)));
    expect(error).toMatchObject({
      code: 'too_many_calls',
      exitCode: 10,
      bankCode: 'ACCESS_EXCEEDED',
      httpStatus: 429,
    });
    expect(error.hint).toContain('tomorrow');
    expect(bank.heard.filter(({ target }) => target.endsWith('/balances'))).toHaveLength(1);
  });

  it('a 429 of a gateway, without a code, is not that', async () => {
    const error = await errorOf(
      [...BALANCE, '--timeout', '2'],
      odd('/balances', { status: 429, body: 'slow down', headers: { 'Retry-After': '600' } }),
    );
    expect(error.code).toBe('too_many_calls');
  });
});

it('a refused signature: what was signed, and which forms to try', async () => {
  const error = await errorOf(BALANCE, odd('/balances', refusal(401, 'SIGNATURE_INVALID')));
  expect(error).toMatchObject({ code: 'config', exitCode: 3, bankCode: 'SIGNATURE_INVALID' });
  for (const word of [
    'digest',
    'x-request-id',
    'rsa-sha256',
    'signing.keyId',
    'decimal',
    'subject',
    'rfc1779',
  ])
    expect(error.hint).toContain(word);
});
