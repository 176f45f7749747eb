import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import {
  ask,
  readAnswer,
  readDeletion,
  readNothing,
} from '../../../../../src/bank/interfaces/nextgenpsd2/wire/answer.ts';
import { messagesIn } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/messages.ts';
import { TRANSACTION_ID } from '../client.ts';
import {
  answered,
  described,
  errorOf,
  failureOf,
  IDS,
  LOGIN,
  PAYING,
  PLAIN_FACTS,
  type Scripted,
  said,
  scriptedCalls,
} from '../scripted.ts';

// What psd2 understands of an answer: the messages in it, whose they are, and whether its content can be used.

const READING: BankCall = {
  method: 'GET',
  path: '/v1/accounts',
  facts: { reads: 'list', needsConsent: true, login: false },
  transactionId: TRANSACTION_ID,
};
const BEGINNING: BankCall = { ...PAYING, judged: 'payment' };
const BASKET: BankCall = { ...PAYING, judged: 'signing basket' };
const HTML = { 'content-type': 'text/html' };
const TWICE = '{"tppMessages":[{"code":"A"}],"tppMessages":[{"code":"B"}]}';
const messages = (...tppMessages: object[]) => ({ tppMessages });
const error = (code: string, text = 'No') => ({ category: 'ERROR', code, text });
const understood = async (call: BankCall, answer: Scripted) => (await answered(call, answer)).reply;

const PAGE = 'A website answered. Is the base URL that of the interface?';

describe('an answer that psd2 understands', () => {
  it('is a success without a refusal', async () => {
    expect(await understood(READING, said({ accounts: [] }, 200, { 'x-request-id': 'r1' }))).toEqual({
      json: { accounts: [] },
      ...{ messages: [], meaning: null, decided: undefined, isBanks: false, requestId: 'r1' },
      ...{ asksForSca: false, turnedAway: false, keepsToken: false, lasts: false },
    });
  });

  it('has no id if it is longer than one, and no JSON if it is a page', async () => {
    const page = { body: '<html>', headers: { 'x-request-id': 'r'.repeat(201) } };
    expect(await understood(READING, page)).toMatchObject({ json: undefined, requestId: null });
    const longest = { body: ' {} \n', headers: { 'x-request-id': 'r'.repeat(200) } };
    expect(await understood(READING, longest)).toMatchObject({ json: {}, requestId: 'r'.repeat(200) });
  });

  it.each<[string, BankCall, Scripted, object]>([
    ['an initiation', BEGINNING, said({ paymentId: 'p1' }, 201), { begun: 'p1' }],
    ['a basket', BASKET, said({ basketId: 'b1', paymentId: 'p1' }, 201), { begun: 'b1' }],
    [
      'an initiation with two ids',
      BEGINNING,
      { status: 201, body: '{"paymentId":"p1","paymentId":"p2"}' },
      {},
    ],
    ['an initiation that is refused', BEGINNING, said({ paymentId: 'p1' }, 400), {}],
    ['an initiation whose id no header carries', BEGINNING, said({ paymentId: 'p 1' }, 201), {}],
    ['a reading', READING, said({ paymentId: 'p1' }, 200), {}],
  ])('%s: the log keeps the id of what it has begun', async (_, call, answer, begun) => {
    const { begun: kept } = await understood(call, answer);
    expect({ ...(kept !== undefined && { begun: kept }) }).toEqual(begun);
  });

  it.each<[string, BankCall, Scripted, boolean, boolean, boolean]>([
    // Whose it is, whether the bank has not read the request, and whether the token stays.
    ['a token that has expired', READING, said(messages(error('TOKEN_EXPIRED')), 401), true, true, false],
    ['the same with HTTP 400', READING, said(messages(error('TOKEN_EXPIRED')), 400), true, false, false],
    ['a consent', READING, said(messages(error('CONSENT_INVALID')), 401), true, false, true],
    ['too many calls', READING, said(messages(error('ACCESS_EXCEEDED')), 429), true, true, true],
    ['a signature', READING, said(messages(error('SIGNATURE_INVALID')), 400), true, true, true],
    ['a certificate', READING, said(messages(error('CERTIFICATE_EXPIRED')), 403), true, true, true],
    ['a gateway with 401', READING, { status: 401, body: 'No' }, false, false, false],
    ['a gateway with 429', READING, { status: 429, body: 'No' }, false, false, false],
    ['a gateway with a code', READING, said({ code: 'X', message: 'No' }, 404), false, false, false],
    ['a problem', READING, said({ code: 'X', title: 'No' }, 404), true, false, true],
    ['two answers in one', READING, { status: 404, body: TWICE }, false, false, false],
    ['a page with a code', READING, said(messages(error('X')), 404, HTML), false, false, false],
    ['a text without a code', READING, said(messages({ text: 'No' }), 429), false, false, false],
    ['an OAuth token', READING, said({ error: 'invalid_token' }, 401), true, true, false],
    ['an OAuth token with 403', READING, said({ error: 'invalid_token' }, 403), false, false, false],
    ['another OAuth error with 401', READING, said({ error: 'invalid_client' }, 401), false, false, false],
    ['an OAuth error at the login', LOGIN, said({ error: 'invalid_grant' }, 400), true, false, true],
  ])('refuses %s', async (_, call, answer, isBanks, turnedAway, keepsToken) => {
    const got = await understood(call, answer);
    expect([got.isBanks, got.turnedAway, got.keepsToken]).toEqual([isBanks, turnedAway, keepsToken]);
  });

  it.each<[string, BankCall, string | undefined]>([
    ['a status', { ...READING, facts: PLAIN_FACTS }, 'can be read in two ways'],
    ['a list', READING, undefined],
    ['what grants a token', LOGIN, undefined],
  ])('that has a name twice is no answer to %s', async (_, call, problem) => {
    const got = await understood(call, { body: '{"transactionStatus":"ACSC","transactionStatus":"RJCT"}' });
    expect([got.problem, got.json === undefined]).toEqual([problem, problem !== undefined]);
  });

  it('asks for SCA only if the bank file says so of a code', async () => {
    const answer = said(messages(error('OWN')), 401);
    const description = described({ errors: { OWN: 'sca_required' } });
    expect((await answered(READING, answer, description)).reply.asksForSca).toBe(true);
    expect((await understood(READING, answer)).asksForSca).toBe(false);
  });

  const WARNING = { category: 'WARNING', code: 'FORMAT_ERROR' };
  it.each<[string, object, string | null | undefined]>([
    ['the only one', messages(error('OWN')), 'OWN'],
    ['the first that has a meaning', messages(error('OWN'), error('FORMAT_ERROR')), 'FORMAT_ERROR'],
    ['the first of two', messages(error('TOKEN_INVALID'), error('FORMAT_ERROR')), 'TOKEN_INVALID'],
    ['the first with a code', messages({ text: 'No' }, error('OWN')), 'OWN'],
    ['the first, if none has a code', messages({ text: 'One' }, { text: 'Two' }), null],
    ['no warning beside an error', messages(WARNING, error('OWN')), 'OWN'],
    ['a warning alone', messages(WARNING), 'FORMAT_ERROR'],
    ['none', {}, undefined],
  ])('the message that decides a refusal is %s', async (_, body, code) => {
    const { decided } = await understood(READING, said(body, 400));
    expect(decided === undefined ? undefined : decided.code).toBe(code);
  });
});

describe('the messages of an answer', () => {
  const WARNING = { category: 'WARNING', code: 'B' };
  const WHOLE = { code: 'A', path: 'body.x', text: 'T' };
  const NO = { code: 'A', text: 'No' };
  const OVER = { code: 'invalid_grant', text: 'Over', isOAuth: true };
  const OAUTH = { error: 'invalid_grant', message: 'Words' };
  const NO_KEY = { code: 'Bad Request', text: 'No such key', isOAuth: true };
  const FURTHER = { additionalErrors: [{ code: 'A' }, { title: 'B' }, {}, 'x'] };
  const message = (more: object) => ({ code: null, text: null, path: null, isError: true, ...more });
  const THREE = [message({ text: 'T' }), message({ code: 'A' }), message({ text: 'B' })];
  it.each<[string, unknown, object[]]>([
    ['of the standard', messages({ category: 'ERROR', ...WHOLE }), [message(WHOLE)]],
    ['that only warn', messages(WARNING), [message({ code: 'B', isError: false })]],
    ['in lower case, or without a category', messages({ category: 'error' }, {}), [message({}), message({})]],
    ['that are texts alone', { tppMessages: ['x', 1, null] }, [message({ text: 'x' })]],
    ['one without a list', { tppMessages: { code: 'A' } }, [message({ code: 'A' })]],
    ['beside others', { ...messages(error('A')), error: 'B', code: 'C' }, [message(NO)]],
    ['of OAuth', { error: 'invalid_grant', error_description: 'Over', code: 'C' }, [message(OVER)]],
    [
      'in words of a gateway',
      { error: 'Bad Request', message: 'No such key', path: '/v1' },
      [message(NO_KEY)],
    ],
    ['of OAuth, beside words of a gateway', { ...OAUTH, error_description: 'Over' }, [message(OVER)]],
    ['of OAuth, with words of a gateway alone', OAUTH, [message({ ...OVER, text: 'Words' })]],
    ['of OAuth, longer', { error: 'x'.repeat(201) }, [message({ code: 'x'.repeat(200), isOAuth: true })]],
    ['an error that is no text', { error: { code: 'A' } }, []],
    ['problem details', { title: 'T', detail: 'D', code: 'C' }, [message({ code: 'C', text: 'D' })]],
    ['problem details with a title alone', { title: 'T' }, [message({ text: 'T' })]],
    ['problem details with a code alone', { code: 'C' }, [message({ code: 'C' })]],
    ['problem details with further ones', { title: 'T', ...FURTHER }, THREE],
    ['a title that is no text', { title: { a: 1 } }, []],
    ['a code that is a number', { code: 42 }, []],
    ['a list', [error('A')], [message({ text: 'No' })]],
    ['null', null, []],
    ['a text', 'tppMessages', [message({ text: 'tppMessages' })]],
  ])('%s', (_, json, expected) => {
    expect(messagesIn(json)).toEqual(expected);
  });

  it('are twenty at most', () => {
    const many = Array.from({ length: 25 }, (_, at) => error(`A${at}`));
    expect(messagesIn({ tppMessages: many }).map(({ code }) => code)).toEqual(
      many.slice(0, 20).map(({ code }) => code),
    );
  });
});

describe('the content of an answer', () => {
  // Texts of its own: those of zod depend on what other test files of the process have loaded.
  const account = z.object({ id: z.string('expected an id') });
  const list = z.object({ accounts: z.array(account, 'expected a list') }, 'expected an object');
  const read = async (answer: Scripted) => readAnswer(await answered(READING, answer), list);

  it('is what was asked for, with the headers and the messages of the bank', async () => {
    const notices = messages({ text: 'Soon', code: 'W1' }, { code: 'W2' }, {});
    const body = { accounts: [{ id: 'a1', more: 1 }], ...notices };
    expect(await read(said(body, 200, { date: 'today' }))).toEqual({
      data: { accounts: [{ id: 'a1' }] },
      ...{ headers: { date: 'today' }, status: 200 },
      notices: [
        { text: 'Soon', code: 'W1' },
        { text: 'W2', code: 'W2' },
      ],
    });
  });

  const half = (type: string, body = '{') => ({ body, headers: { 'content-type': type } });
  it.each<[string, Scripted, string]>([
    ['nothing', { status: 204 }, 'is not JSON: the answer is empty'],
    ['a page', half('text/html; charset=utf-8', '<html>'), 'is not JSON: the answer is text/html'],
    ['half of JSON', half('application/json'), 'is not JSON'],
    ['half of JSON of another kind', half('application/hal+json'), 'is not JSON'],
    ['no kind', { body: '{' }, 'is not JSON'],
    ['deep JSON', { body: '['.repeat(100_000) }, 'is not JSON'],
    ['a kind without an end', half('x'.repeat(101)), `is not JSON: the answer is ${'x'.repeat(100)}`],
    ['a kind that begins with JSON', half('json/x'), 'is not JSON: the answer is json/x'],
    ['null', { body: 'null' }, 'is no JSON object'],
    ['a text', { body: '"x"' }, 'is no JSON object'],
    ['a list', { body: '[]' }, 'has no usable content: expected an object'],
    ['no list', said({}), 'has no usable accounts: expected a list'],
    ['no id', said({ accounts: [{ id: 'a' }, {}] }), 'has no usable accounts.1.id: expected an id'],
  ])('cannot be used: %s', async (_, answer, says) => {
    expect(await failureOf(read(answer))).toEqual({
      ...{ code: 'bank_answer', message: `The bank's answer to GET /v1/accounts ${says}` },
      ...{ httpStatus: answer.status ?? 200, ...IDS },
      ...(says.includes('text/html') && { hint: PAGE }),
    });
  });

  it('as a whole has no name', async () => {
    const answer = await answered(READING, said({}));
    const nothing = z.record(z.string(), z.unknown()).check(z.refine(() => false, 'expected more'));
    expect(errorOf(() => readAnswer(answer, nothing))).toMatchObject({
      message: "The bank's answer to GET /v1/accounts has no usable content: expected more",
    });
  });

  it('an error has the id of the bank, and what it had been told to wait', async () => {
    const headers = { 'x-request-id': 'r1', 'retry-after': `${'9'.repeat(41)}` };
    const { bank } = scriptedCalls([said({}, 429, headers)]).calls;
    expect(await failureOf(ask(bank, READING, list))).toEqual({
      code: 'too_many_calls',
      message: 'The bank allows no more calls at the moment (HTTP 429)',
      ...{ hint: `The bank says: retry after ${'9'.repeat(40)}.`, httpStatus: 429, requestId: 'r1', ...IDS },
    });
  });

  it('a failing bank that asks to wait is no bank with too many calls, and used-up readings come back tomorrow', async () => {
    const headers = { 'retry-after': '5' };
    expect(await failureOf(read(said({}, 503, headers)))).toEqual({
      ...{ code: 'bank_failing', message: 'The bank failed on GET /v1/accounts (HTTP 503)', httpStatus: 503 },
      ...IDS,
    });
    expect(await failureOf(read(said(messages(error('ACCESS_EXCEEDED')), 429, headers)))).toMatchObject({
      hint: expect.stringMatching(/^Read again tomorrow/),
    });
  });

  it.each<[string, object, string]>([
    ['a text', { code: 'OWN', text: 'Not now.' }, ': Not now.'],
    ['a text and a path', { code: 'OWN', text: 'Not now.', path: 'a.b' }, ': Not now (a.b)'],
    ['a text with points, and a path', { text: 'At 9.30 a.m.', path: 'a.b' }, ': At 9.30 a.m (a.b)'],
    ['a code alone', { code: 'OWN' }, ': OWN'],
    ['a code and a path', { code: 'OWN', path: 'a.b' }, ': OWN (a.b)'],
    ['a path alone', { path: 'a.b' }, ''],
  ])('a refusal ends with %s', async (_, said400, end) => {
    expect(await failureOf(read(said(messages(said400), 400)))).toMatchObject({
      message: `The bank refused GET /v1/accounts (HTTP 400)${end}`,
    });
  });

  it('a refusal is cut, and has no control characters', async () => {
    const text = `\u001b[31m${'x'.repeat(5000)}`;
    const message = `${Reflect.get(await failureOf(read(said(messages(error('FORMAT_ERROR', text)), 400))), 'message')}`;
    expect(message).not.toMatch(/\p{Cc}/u);
    expect([message.includes('[31mx'), message.length < 1200]).toEqual([true, true]);
  });

  it('a refused token that the call had is worth another try, and none without a token', async () => {
    const answer = said(messages(error('TOKEN_EXPIRED')), 401);
    const context = {
      ...{ code: 'not_logged_in', message: 'The token of GET /v1/accounts has expired (HTTP 401): No' },
      ...{ next: [['auth', 'login']], bankCode: 'TOKEN_EXPIRED', httpStatus: 401, ...IDS },
      ...{ refusal: 'unread', isBanks: true },
    };
    expect(await failureOf(read(answer))).toEqual(context);
    const withToken = await answered({ ...READING, bearer: 't1' }, answer);
    expect(errorOf(() => readAnswer(withToken, list))).toEqual({ ...context, hadToken: true });
    const forbidden = await answered({ ...READING, bearer: 't1' }, said(messages(error('FORBIDDEN')), 403));
    expect(errorOf(() => readAnswer(forbidden, list))).not.toHaveProperty('hadToken');
  });
});

describe('what to do about a refused token', () => {
  const PAYMENT: BankCall = { ...READING, method: 'POST', path: '/v1/payments/sepa-credit-transfers' };
  const ofPayment = { ...PAYMENT, facts: { ...READING.facts, reads: null } };
  const LOG_IN = { next: [['auth', 'login']] };
  it.each<[mode: 'none' | 'integrated' | 'pre-step' | 'client-credentials', call: BankCall, advice: object]>([
    [
      'none',
      ofPayment,
      { hint: 'By its bank file, no login gives psd2 a token for this (oauth.mode none).' },
    ],
    [
      'integrated',
      ofPayment,
      { hint: 'By its bank file, no login gives psd2 a token for this (oauth.mode integrated).' },
    ],
    ['pre-step', ofPayment, LOG_IN],
    ['client-credentials', ofPayment, LOG_IN],
    // There another consent gives access.
    ['none', READING, LOG_IN],
    ['integrated', READING, LOG_IN],
  ])('at a bank with oauth.mode %s', async (mode, call, advice) => {
    for (const code of ['TOKEN_INVALID', 'unheard']) {
      const description = described({ oauth: { mode } });
      const answer = await answered(call, said(messages(error(code)), 401), description);
      const failure = errorOf(() => readAnswer(answer, z.object({})));
      expect(failure).toMatchObject(advice);
      expect('next' in failure).toBe('next' in advice);
    }
  });
});

describe('a refusal', () => {
  const failureFor = async (call: BankCall, answer: Scripted) => {
    const got = await answered(call, answer);
    return errorOf(() => readAnswer(got, z.object({})));
  };
  const warning = { category: 'WARNING', code: 'W1', text: 'Soon' };

  it.each([
    ['the error that decides before others', [error('OWN'), error('FORMAT_ERROR')], ['FORMAT_ERROR', 'OWN']],
    ['an error before a warning', [warning, error('FORMAT_ERROR')], ['FORMAT_ERROR', 'W1']],
    ['errors in their order', [error('FORMAT_ERROR'), error('OWN')], ['FORMAT_ERROR', 'OWN']],
    ['each once', [error('FORMAT_ERROR'), error('FORMAT_ERROR')], ['FORMAT_ERROR']],
  ])('has the reasons for the journal: %s', async (_, all, codes) => {
    const call = { ...LOGIN, facts: PLAIN_FACTS };
    const refusal = said(messages(...all), 400);
    const own = codes.map((proprietary) => expect.objectContaining({ proprietary }));
    const changing = { ...call, beforeSend: async () => undefined };
    expect(await failureFor(changing, refusal)).toHaveProperty('reasons', own);
    expect(await failureFor(call, refusal)).not.toHaveProperty('reasons');
  });

  const ended = said(messages(error('CONSENT_EXPIRED')), 401);
  it.each<[string, Partial<BankCall>, boolean]>([
    ['a reading', READING, true],
    ['a confirmation of funds with a consent', { headers: { 'consent-id': 'f1' } }, true],
    ['a confirmation of funds without one', {}, false],
    ['another call with headers', { headers: { accept: 'x' } }, false],
  ])('of a consent ends that of the call: %s, %s', async (_, more, ends) => {
    const failure = await failureFor({ ...LOGIN, facts: PLAIN_FACTS, ...more }, ended);
    expect('endsConsent' in failure).toBe(ends);
  });
});

it.each(['none', 'integrated', 'pre-step', 'client-credentials'] as const)(
  'a refused token of a call that gets tokens leads to a login, with oauth.mode %s',
  async (mode) => {
    const refusal = said(messages(error('TOKEN_INVALID')), 401);
    const got = await answered(LOGIN, refusal, described({ oauth: { mode } }));
    expect(errorOf(() => readAnswer(got, z.object({})))).toHaveProperty('next', [['auth', 'login']]);
  },
);

describe('an answer that is a page', () => {
  it.each([200, 201, 202])('with HTTP %i says that a website answered', async (status) => {
    const got = await answered(READING, { status, body: '<html>', headers: HTML });
    expect(errorOf(() => readAnswer(got, z.object({})))).toMatchObject({ code: 'bank_answer', hint: PAGE });
    const other = await answered(READING, { status, body: 'x', headers: { 'content-type': 'text/plain' } });
    expect(errorOf(() => readAnswer(other, z.object({})))).not.toHaveProperty('hint');
  });
});

describe('an answer whose content psd2 does not read', () => {
  it('is a success', async () => {
    expect(readNothing(await answered(READING, { body: '<html>' }))).toEqual({ notices: [] });
  });

  it('is refused', async () => {
    const got = await answered(READING, { status: 404 });
    expect(errorOf(() => readNothing(got))).toMatchObject({
      message: 'The bank refused GET /v1/accounts (HTTP 404): the answer is empty',
    });
  });
});

describe('an answer to a DELETE', () => {
  const DELETING = { ...LOGIN, facts: PLAIN_FACTS, method: 'DELETE', path: '/v1/consents/c1' } as const;
  const OURS = { what: 'consent', wasTaken: false } as const;

  it('that takes it has the verdict, and what the bank says besides', async () => {
    const got = await answered(DELETING, said({ tppMessages: [{ category: 'WARNING', text: 'Soon' }] }));
    expect(readDeletion(got, OURS)).toEqual({ verdict: 'taken', notices: [{ text: 'Soon', code: null }] });
  });

  it('that is a page is an error, and says so', async () => {
    const page = { body: '<html>', headers: { 'content-type': 'text/html' } };
    const got = await answered(DELETING, page);
    expect(errorOf(() => readDeletion(got, OURS))).toEqual({
      code: 'bank_answer',
      message:
        "The bank's answer to DELETE /v1/consents/c1 does not say that it is done: the answer is text/html",
      ...{ httpStatus: 200, ...IDS, hint: PAGE },
    });
  });

  it('that refuses it is the bank’s error', async () => {
    const got = await answered(DELETING, said(messages(error('CONSENT_UNKNOWN')), 403));
    expect(errorOf(() => readDeletion(got, OURS))).toMatchObject({
      ...{ code: 'not_logged_in', isBanks: true, isNotKnown: true },
    });
  });
});
