import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { factsOf } from '../../../../src/bank/interfaces/cb/accounts.ts';
import { type CbAnswer, readAnswer, readDocument } from '../../../../src/bank/interfaces/cb/answer.ts';
import { bankOver } from '../../../../src/bank/interfaces/cb/interface.ts';
import { Psd2Error } from '../../../../src/errors.ts';
import { isAboutContent, isBanksRefusal, isRefusal } from '../../../../src/flows/refusals.ts';
import { lacking } from '../../../support/lacking.ts';
import { thrownBy } from '../../../support/thrown.ts';
import { answered as answeredTo } from './answered.ts';

// Tests which answers psd2 takes, and the exact words for those that it does not take.

type Method = CbAnswer['call']['method'];

/** An answer to a call. Without a type it has no Content-Type. */
function answered(
  status: number,
  body: string | Buffer,
  { method = 'PUT', path = '/private/x?secret=1', type, headers = {} }: OddCall = {},
): Promise<CbAnswer> {
  return answeredTo(
    { method, path, facts: factsOf(method, path), transactionId: 't1' },
    { status, headers: { ...(type !== undefined && { 'content-type': type }), ...headers }, body },
  );
}
interface OddCall {
  method?: Method;
  path?: string;
  type?: string;
  headers?: Record<string, string>;
}

const JSON_TYPE = { type: 'application/json' };
const SUCCESS = '{"result":{"outcome":"SUCCESS","requestId":"12"},"data":{"a":1}}';
const read = async (answer: Promise<CbAnswer>) => readAnswer(await answer, z.unknown());
const document = async (answer: Promise<CbAnswer>) => readDocument(await answer);

describe('the reasons of a refusal', () => {
  const reasonsOf = async (texts: string[], isAnnounced = true) => {
    const call = {
      method: 'PUT',
      path: '/private/x',
      facts: factsOf('PUT', '/x'),
      transactionId: 't1',
    } as const;
    const messages = texts.map((text) => ({
      code: 'E1',
      message: text,
      type: text === 'W' ? 'WARNING' : 'ERROR',
    }));
    const body = JSON.stringify({ result: { result: { outcome: 'ERROR', messages } } });
    const announced = { ...call, ...(isAnnounced && { beforeSend: async () => undefined }) };
    const answer = await answeredTo(announced, { status: 400, body });
    const failure = thrownBy(() => readAnswer(answer, z.unknown()));
    return failure instanceof Psd2Error ? failure.reasons?.map(({ text }) => text) : failure;
  };

  it.each([
    [[], undefined],
    [['A'], ['A']],
    [['A', 'A'], ['A']],
    [
      ['A', 'B'],
      ['A', 'B'],
    ],
    [
      ['B', 'A'],
      ['B', 'A'],
    ],
    // The message that decides comes first.
    [
      ['W', 'A'],
      ['A', 'W'],
    ],
    [
      ['A', 'B', 'C'],
      ['A', 'B', 'C'],
    ],
  ])('of the messages %j are kept: %j', async (texts, reasons) => {
    expect(await reasonsOf(texts)).toEqual(reasons);
    expect(await reasonsOf(texts, false)).toBeUndefined();
  });
});

/** A refusal with a message of the bank. */
const error = (code: string, message: string) =>
  `{"result":{"outcome":"ERROR","requestId":"012345678901234567890123","messages":[{"code":"${code}","message":"${message}","type":"ERROR","detail":"more of it"}]}}`;

const IDS = { tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff', transactionId: 't1' };
/** The error for a success that psd2 cannot use. */
const unusable = (message: string) => ({ code: 'bank_answer', message, httpStatus: 200, ...IDS });

/** The error for an answer of this type. */
const failed = (status: number, body: string, call: OddCall = JSON_TYPE): Promise<Psd2Error> =>
  read(answered(status, body, call)).then(
    () => {
      throw new TypeError('The answer was read as a success');
    },
    (thrown) => thrown,
  );

describe('a status', () => {
  it.each([200, 201, 204, 299])('HTTP %i with the outcome SUCCESS is a success', async (status) => {
    expect((await read(answered(status, SUCCESS))).data).toEqual({ a: 1 });
  });
});

describe('a success without a word of the bank', () => {
  const NO_OUTCOME = '{"requestId":"12","data":{"a":1}}';

  it.each([
    ['PUT', '/private/x?secret=1'],
    ['POST', '/private/x?secret=1'],
    ['DELETE', '/private/x?secret=1'],
    ['POST', '/private/auth/oauth/?secret=1'],
    ['POST', '/private/auth/oauth/'],
  ] as const)('psd2 does not count a %s of %s as done without result.outcome', async (method, path) => {
    await expect(read(answered(200, NO_OUTCOME, { method, path }))).rejects.toMatchObject({
      ...unusable(`The bank's answer to ${method} ${path.replace('?secret=1', '')} has no result.outcome`),
      requestId: '12',
    });
  });

  it.each([
    ['GET', '/private/x'],
    ['POST', '/auth/oauth/v2/token'],
  ] as const)('psd2 reads the answer to %s %s without result.outcome', async (method, path) => {
    expect((await read(answered(200, NO_OUTCOME, { method, path }))).data).toEqual({ a: 1 });
  });
});

describe('a success that is not what psd2 needs', () => {
  it.each([
    ['[]', 'application/json; charset=utf-8', 'no JSON object'],
    ['"done"', 'application/json', 'no JSON object'],
    ['null', 'application/json', 'no JSON object'],
    ['{"result":', 'application/json', 'not JSON'],
    ['<html>', 'text/html; charset=utf-8', 'not JSON: the answer is text/html'],
    ['{}{}', undefined, 'not JSON'],
    ['', 'application/json', 'not JSON: the answer is empty'],
  ])('psd2 says of the answer %j of type %s that it is %s', async (body, type, what) => {
    const reading = read(answered(200, body, type === undefined ? {} : { type }));
    await expect(reading).rejects.toMatchObject(unusable(`The bank's answer to PUT /private/x is ${what}`));
  });

  it.each([
    ['"odd"', 'data'],
    ['{}', 'data.list'],
    ['{"list":[{"id":"1"},{}]}', 'data.list.1.id'],
  ])('the error for a success without a field names the field and the request: %s', async (data, field) => {
    const schema = z.object({ list: z.array(z.object({ id: z.string() })) });
    const body = `{"result":{"outcome":"SUCCESS","requestId":123456789012345678901234},"data":${data}}`;
    await expect(answered(200, body).then((answer) => readAnswer(answer, schema))).rejects.toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^The bank's answer to PUT /private/x has no usable ${field}: Invalid input`),
      ),
      ...{ ...IDS, requestId: '123456789012345678901234' },
    });
  });

  it('HTTP 204 has an empty envelope of a success', async () => {
    expect(await read(answered(204, ''))).toMatchInlineSnapshot(`
      { data: {},
        envelope: { data: {}, embedded: {}, isBanksError: false, messages: [], next: null, outcome: "SUCCESS",
          requestId: null, resourceId: null },
        notices: [] }
    `);
  });
});

it.each([
  [['Sat, 21 Nov 2026 10:00:00 GMT'], new Date('2026-11-21T10:00:00Z')],
  [[1, 0, 2].map((second) => `Sat, 21 Nov 2026 10:00:0${second} GMT`), new Date('2026-11-21T10:00:00Z')],
  [['soon'], undefined],
  [[undefined], undefined],
])('by the Dates %s the earliest answer of the bank was at %s', async (dates, time) => {
  const left = [...dates];
  const bank = bankOver({
    send: () => Promise.reject(new TypeError('This test bank only answers')),
    ask: async (call, read) => {
      const date = left.shift();
      const body = '{"result":{"outcome":"SUCCESS"},"data":{"customerid":"1"}}';
      return read(await answeredTo(call, { headers: date === undefined ? {} : { date }, body }));
    },
  });
  for (const _ of dates) await bank.login.whose('t1');
  expect(bank.earliestAnswer()).toEqual(time);
});

describe('what the operator can do', () => {
  const advice = (status: number, call: OddCall = {}) => failed(status, '', call);

  it('after a 401 the customer logs in, and for a login the client may be wrong', async () => {
    for (const call of [{}, { path: '/private/auth/oauth/' }])
      expect(await advice(401, call)).toMatchObject({ context: lacking('hint'), next: [['auth', 'login']] });
    expect(await advice(401, { method: 'POST', path: '/auth/oauth/v2/token' })).toMatchObject({
      hint: 'Check the client id and the client secret of the profile.',
      context: lacking('next'),
    });
  });

  it('after a 403 the customer gives a consent', async () => {
    expect(await advice(403)).toMatchObject({
      hint: 'The application may lack the PSD2 role for this call, or the customer has not consented. Ask for it with:',
      next: [['consent', 'request']],
    });
  });

  it('after a 403 with a page no consent helps', async () => {
    expect(await advice(403, { type: 'text/html; charset=utf-8' })).toMatchObject({
      hint: expect.stringMatching(/^A firewall or gateway/),
      context: lacking('next'),
    });
    // A bank may declare its envelope as a page.
    const declared = answered(403, error('FORBIDDEN', 'No'), { type: 'text/html' });
    await expect(read(declared)).rejects.toMatchObject({ next: [['consent', 'request']] });
  });

  it.each([302, 400, 404, 408, 500])('for HTTP %i psd2 has no advice', async (status) => {
    expect(await advice(status)).toMatchObject({ context: lacking('hint', 'next') });
  });

  it.each([
    [{}, ''],
    [{ type: 'application/json; charset=utf-8' }, ''],
    [{ type: 'application/problem+json' }, ': the answer is application/problem+json'],
  ])('the error for the answer %j ends with %j', async (call, end) => {
    await expect(read(answered(400, 'x', call))).rejects.toThrow(
      expect.objectContaining({ message: `The bank refused PUT /private/x (HTTP 400)${end}` }),
    );
  });
});

it('psd2 shows 1000 characters of a message and of a code, and marks what it cuts', async () => {
  const start = 'The bank refused PUT /private/x (HTTP 400): ';
  const full = 'm'.repeat(1000);
  const saying = (text: string) =>
    failed(400, `{"result":{"outcome":"ERROR","messages":[{"code":"${text}","message":"${text}"}]}}`);
  expect(await saying(full)).toMatchObject({ message: start + full, bankCode: full });
  expect(await saying(`${full}m`)).toMatchObject({ message: `${start}${full}…`, bankCode: `${full}…` });
});

describe('a document', () => {
  it.each([
    ['application/pdf'],
    ['application/octet-stream'],
    ['multipart/related; type="text/html"'],
    ['text/htmlx'],
    [undefined],
  ])('a document may have the type %s', async (type) => {
    for (const status of [200, 299]) {
      const answer = answered(status, '%PDF', type === undefined ? {} : { type });
      expect(await document(answer)).toBe((await answer).body);
    }
  });

  it.each([
    ['a page', '<html>', 'text/html'],
    ['a page in capitals', '<html>', 'TEXT/HTML; charset=utf-8'],
    ['an envelope', SUCCESS, 'application/pdf'],
    ['nothing', '', 'application/pdf'],
  ])('psd2 takes no %s for a document', async (_, body, type) => {
    const reading = document(answered(200, body, { method: 'GET', type }));
    const message = 'The bank answered GET /private/x without a document';
    await expect(reading).rejects.toMatchObject(unusable(message));
  });
});

describe('the JSON of an answer', () => {
  const jsonOf = async (answer: Promise<CbAnswer>) => (await answer).reply.json;

  const BOM = '\uFEFF';

  it('spaces and a byte order mark around the JSON do not matter', async () => {
    expect(await jsonOf(answered(200, ` \r\n${BOM}{"a":1}\n\n`))).toEqual({ a: 1 });
  });

  it.each(['[]', 'null', '5', '"text"', 'no JSON', ''])('%j has no envelope', async (body) => {
    expect((await answered(200, body)).reply.envelope).toBeNull();
  });
});

describe('an HTTP status', () => {
  const PAGE = { type: 'text/html; charset=utf-8' };
  const REDIRECT = 'The bank answered PUT /private/x with a redirect. psd2 does not follow it';

  it.each([
    [199, 'bank_refused', 'The bank refused PUT /private/x (HTTP 199)'],
    [300, 'bank_answer', `${REDIRECT} (HTTP 300)`],
    [399, 'bank_answer', `${REDIRECT} (HTTP 399)`],
    [400, 'bank_refused', 'The bank refused PUT /private/x (HTTP 400)'],
    [401, 'not_logged_in', 'The bank does not accept the token or the client for PUT /private/x (HTTP 401)'],
    [403, 'forbidden', 'The bank does not allow PUT /private/x (HTTP 403)'],
    [404, 'bank_refused', 'The bank refused PUT /private/x (HTTP 404)'],
    [412, 'bank_refused', 'The bank refused PUT /private/x (HTTP 412)'],
    [417, 'bank_refused', 'The bank refused PUT /private/x (HTTP 417)'],
    [420, 'too_many_calls', 'The bank allows no more calls at the moment (HTTP 420)'],
    [422, 'bank_refused', 'The bank refused PUT /private/x (HTTP 422)'],
    [429, 'too_many_calls', 'The bank allows no more calls at the moment (HTTP 429)'],
    [499, 'bank_refused', 'The bank refused PUT /private/x (HTTP 499)'],
    [500, 'bank_failing', 'The bank failed on PUT /private/x (HTTP 500)'],
    [503, 'bank_failing', 'The bank failed on PUT /private/x (HTTP 503)'],
  ])(
    'HTTP %i is %s, whether the answer has a message, a page, no body, the outcome SUCCESS or a document',
    async (status, code, sentence) => {
      expect(await failed(status, error('PSD2_E1', 'Not today'))).toMatchObject({
        ...{ code, message: `${sentence}: Not today – more of it`, httpStatus: status, ...IDS },
        ...{ bankCode: 'PSD2_E1', requestId: '012345678901234567890123' },
      });
      expect(await failed(status, '<html>Blocked</html>', PAGE)).toMatchObject({
        ...{ code, message: `${sentence}: the answer is text/html`, ...IDS },
        context: lacking('bankCode', 'requestId'),
      });
      expect(await failed(status, '')).toMatchObject({ code, message: `${sentence}: the answer is empty` });
      expect(await failed(status, SUCCESS)).toMatchObject({ code, message: sentence });
      const pdf = answered(status, '%PDF', { type: 'application/pdf' });
      await expect(document(pdf)).rejects.toMatchObject({
        ...{ code, message: `${sentence}: the answer is application/pdf` },
      });
    },
  );

  it('the error for HTTP 420 says how long to wait if the bank does', async () => {
    expect(await failed(420, '', { headers: { 'retry-after': '3600' } })).toMatchObject({
      hint: 'The bank says: retry after 3600.',
    });
    expect(await failed(420, '')).toMatchObject({ hint: 'Wait, then try again.' });
  });
});

describe('the outcome ERROR', () => {
  it.each([
    [200, 'bank_refused'],
    [201, 'bank_refused'],
    [500, 'bank_failing'],
  ])('the outcome ERROR with HTTP %i is %s', async (status, code) => {
    const failure = await failed(status, error('E1', 'no'));
    expect(failure).toMatchObject({ code, httpStatus: status, bankCode: 'E1' });
  });

  it('psd2 quotes the message of the type ERROR, else the first with a code, else the first', async () => {
    const saying = (messages: string) =>
      failed(400, `{"result":{"outcome":"ERROR","messages":[${messages}]}}`);
    const info = '{"code":"I1","message":"info","type":"INFO"}';
    const bad = '{"code":"E1","message":"error","type":"ERROR"}';
    expect(await saying(`${info},${bad}`)).toMatchObject({ bankCode: 'E1' });
    expect(await saying(`"plain",${info}`)).toMatchObject({ bankCode: 'I1' });
    expect(await saying('"plain"')).toMatchObject({
      message: 'The bank refused PUT /private/x (HTTP 400): plain',
      context: lacking('bankCode'),
    });
  });

  it('an unknown outcome counts as ERROR', async () => {
    const failure = await failed(200, '{"result":{"outcome":"MAYBE"},"data":{}}');
    expect(failure).toMatchObject({ code: 'bank_refused' });
  });
});

it.each([200, 400, 401, 403, 412])(
  'PSD2_SCA_REQUIRED with HTTP %i is sca_required, with its resource and the call that waits for it',
  async (status) => {
    const body = error('PSD2_SCA_REQUIRED', 'SCA').replace(/}$/, ',"resources":{"resourceId":"r1"}}');
    for (const reading of [read, document])
      await expect(reading(answered(status, body))).rejects.toMatchObject({
        code: 'sca_required',
        message: `The bank requires the customer to authenticate again before PUT /private/x (HTTP ${status}): SCA – more of it`,
        bankCode: 'PSD2_SCA_REQUIRED',
        resourceId: 'r1',
        httpStatus: status,
      });
  },
);

it('PSD2_SCA_REQUIRED as a plain string is also sca_required', async () => {
  const body = '{"result":{"outcome":"ERROR","messages":["PSD2_SCA_REQUIRED"]}}';
  expect((await failed(401, body)).code).toBe('sca_required');
});

it('a plain OAuth error keeps its code', async () => {
  const failure = await failed(400, '{"error":"invalid_grant","error_description":"The code was used"}');
  expect(failure).toMatchObject({
    ...{ code: 'bank_refused', bankCode: 'invalid_grant' },
    message: 'The bank refused PUT /private/x (HTTP 400): The code was used',
  });
});

it('a success gives its warnings and infos', async () => {
  const messages = ['WARNING', 'INFO', 'SUCCESS'].map(
    (type) => `{"code":"${type}","message":"m","type":"${type}"}`,
  );
  const body = `{"result":{"outcome":"SUCCESS","messages":[${messages}]},"data":{}}`;
  const { notices } = await read(answered(200, body));
  expect(notices.map(({ code }) => code)).toEqual(['WARNING', 'INFO']);
});

const NO_WORD = { refused: false, byTheBank: false, notBegun: false };
const BANKS_NO = { refused: true, byTheBank: true, notBegun: false };
const SOMEBODYS_NO = { ...BANKS_NO, byTheBank: false };
const TURNED_AWAY = { ...NO_WORD, notBegun: true };

describe('what a failed call means', () => {
  const meaning = async (status: number, body: string) => {
    const failure = await failed(status, body);
    return {
      refused: isRefusal(failure),
      byTheBank: isBanksRefusal(failure),
      notBegun: (await answered(status, body)).reply.turnedAway,
    };
  };

  it.each([
    [400, error('E1', 'no'), BANKS_NO],
    [403, error('E1', 'no'), BANKS_NO],
    [412, error('E1', 'no'), BANKS_NO],
    [422, error('E1', 'no'), BANKS_NO],
    [404, '{"result":{"result":{"outcome":"ERROR"}}}', BANKS_NO],
    [200, error('E1', 'no'), BANKS_NO],
    [200, '{"result":{"outcome":"ERROR"}}', BANKS_NO],
    [401, error('E1', 'no'), TURNED_AWAY],
    [420, error('E1', 'no'), TURNED_AWAY],
    [429, error('E1', 'no'), TURNED_AWAY],
    // The bank examined the call: the customer must first authenticate.
    [401, error('PSD2_SCA_REQUIRED', 'no'), BANKS_NO],
    // An intermediary can refuse a call without knowing what the bank did.
    [400, '', SOMEBODYS_NO],
    [403, '<html>', SOMEBODYS_NO],
    [403, '{"error":"forbidden"}', SOMEBODYS_NO],
    [403, '{"outcome":"ERROR"}', SOMEBODYS_NO],
    [403, '{"result":"denied"}', SOMEBODYS_NO],
    [422, '{"result":{"outcome":"FAILURE"}}', SOMEBODYS_NO],
    // None of these is a definite refusal.
    [401, '<html>', NO_WORD],
    [401, '{"error":"invalid_token"}', NO_WORD],
    [420, '', NO_WORD],
    [429, '', NO_WORD],
    [500, error('E1', 'no'), NO_WORD],
    [503, '', NO_WORD],
    [302, '', NO_WORD],
    [408, '', NO_WORD],
    [408, error('E1', 'no'), NO_WORD],
    [200, '', NO_WORD],
    [200, '<html>', NO_WORD],
    [200, '{}', NO_WORD],
    [200, '{"result":{},"data":{"cro":"1"}}', NO_WORD],
    [200, '{"result":{"outcome":"MAYBE"}}', NO_WORD],
  ])('psd2 reads HTTP %i %s as a refusal, as not begun, or as neither', async (status, body, expected) => {
    expect(await meaning(status, body)).toEqual(expected);
  });

  it.each([
    ...[400, 417, 422].map((status) => [status, true] as const),
    ...[401, 403, 404, 409, 412, 420, 429].map((status) => [status, false] as const),
  ])(
    'HTTP %i refuses what the request contains, and nothing that may be done already: %s',
    async (status, isSo) => {
      expect(isAboutContent(await failed(status, error('E1', 'no')))).toBe(isSo);
      if (isSo) expect(isAboutContent(await failed(status, '<html>'))).toBe(true);
    },
  );
});
