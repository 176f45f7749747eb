import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { factsOf } from '../../../../src/bank/interfaces/cb/accounts.ts';
import { type CbAnswer, readAnswer, readDocument } from '../../../../src/bank/interfaces/cb/answer.ts';
import { bankOver } from '../../../../src/bank/interfaces/cb/interface.ts';
import { lacking } from '../../../support/lacking.ts';
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
const saying = (message: string, code = 'E1') =>
  JSON.stringify({ result: { outcome: 'ERROR', messages: [{ code, message, type: 'ERROR' }] } });

describe('a status', () => {
  it.each([200, 201, 204, 299])('HTTP %i with the outcome SUCCESS is a success', async (status) => {
    expect((await read(answered(status, SUCCESS))).data).toEqual({ a: 1 });
  });

  it.each([
    [199, 'bank_refused', 'The bank refused PUT /private/x (HTTP 199)'],
    [
      300,
      'bank_answer',
      'The bank answered PUT /private/x with a redirect. psd2 does not follow it (HTTP 300)',
    ],
    [
      399,
      'bank_answer',
      'The bank answered PUT /private/x with a redirect. psd2 does not follow it (HTTP 399)',
    ],
    [400, 'bank_refused', 'The bank refused PUT /private/x (HTTP 400)'],
    [499, 'bank_refused', 'The bank refused PUT /private/x (HTTP 499)'],
    [500, 'bank_failing', 'The bank failed on PUT /private/x (HTTP 500)'],
  ])('HTTP %i is %s, even with the outcome SUCCESS or as a document', async (status, code, message) => {
    await expect(read(answered(status, SUCCESS, JSON_TYPE))).rejects.toMatchObject({ code, message });
    await expect(document(answered(status, '%PDF', { type: 'application/pdf' }))).rejects.toMatchObject({
      code,
      message: `${message}: the answer is application/pdf`,
    });
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
      code: 'bank_answer',
      message: `The bank's answer to ${method} ${path.replace('?secret=1', '')} has no result.outcome`,
      httpStatus: 200,
      requestId: '12',
      tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff',
      transactionId: 't1',
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
    await expect(read(answered(200, body, type === undefined ? {} : { type }))).rejects.toMatchObject({
      code: 'bank_answer',
      message: `The bank's answer to PUT /private/x is ${what}`,
      httpStatus: 200,
      tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff',
      transactionId: 't1',
    });
  });

  it('psd2 names the field that is missing, from `data` on', async () => {
    const schema = z.object({ list: z.array(z.object({ id: z.string() })) });
    const failing = async (data: string) =>
      readAnswer(await answered(200, `{"result":{"outcome":"SUCCESS"},"data":${data}}`), schema);
    for (const [data, field] of [
      ['"odd"', 'data'],
      ['{}', 'data.list'],
      ['{"list":[{"id":"1"},{}]}', 'data.list.1.id'],
    ] as const) {
      await expect(failing(data)).rejects.toMatchObject({
        message: expect.stringMatching(
          new RegExp(`^The bank's answer to PUT /private/x has no usable ${field}: Invalid input`),
        ),
      });
    }
  });

  it('HTTP 204 has an empty envelope of a success', async () => {
    expect(await read(answered(204, ''))).toEqual({
      data: {},
      envelope: {
        outcome: 'SUCCESS',
        isBanksError: false,
        requestId: null,
        messages: [],
        data: {},
        resourceId: null,
        next: null,
        embedded: {},
      },
      notices: [],
    });
  });
});

it.each([
  [['Sat, 21 Nov 2026 10:00:00 GMT'], new Date('2026-11-21T10:00:00Z')],
  [
    ['Sat, 21 Nov 2026 10:00:01 GMT', 'Sat, 21 Nov 2026 10:00:00 GMT', 'Sat, 21 Nov 2026 10:00:02 GMT'],
    new Date('2026-11-21T10:00:00Z'),
  ],
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
  const advice = async (status: number, call: OddCall = {}) => {
    const error = await read(answered(status, '', call)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    return error;
  };

  it('after a 401 the customer logs in, and for a login the client may be wrong', async () => {
    expect(await advice(401)).toMatchObject({ context: lacking('hint'), next: [['auth', 'login']] });
    expect(await advice(401, { path: '/private/auth/oauth/' })).toMatchObject({
      context: lacking('hint'),
      next: [['auth', 'login']],
    });
    expect(await advice(401, { method: 'POST', path: '/auth/oauth/v2/token' })).toMatchObject({
      hint: 'Check the client id and the client secret of the profile.',
      context: lacking('next'),
    });
  });

  it('if the bank requires SCA, psd2 names the call that waits for it', async () => {
    const body = saying('SCA needed', 'PSD2_SCA_REQUIRED');
    for (const answer of [answered(401, body), answered(200, body)]) {
      for (const reading of [read(answer), document(answer)]) {
        await expect(reading).rejects.toMatchObject({
          code: 'sca_required',
          message: `The bank requires the customer to authenticate again before PUT /private/x (HTTP ${(await answer).status}): SCA needed`,
        });
      }
    }
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
    const declared = answered(403, saying('No', 'FORBIDDEN'), { type: 'text/html' });
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

describe('a long message of the bank', () => {
  const refused = (message: string, code?: string) =>
    read(answered(400, saying(message, code))).catch((thrown: unknown) => thrown);
  const start = 'The bank refused PUT /private/x (HTTP 400): ';
  const full = 'm'.repeat(1000);

  it('psd2 shows 1000 characters of a message and of a code, and marks what it cuts', async () => {
    expect(await refused(full, full)).toMatchObject({ message: start + full, bankCode: full });
    expect(await refused(`${full}m`, `${full}m`)).toMatchObject({
      message: `${start}${full}…`,
      bankCode: `${full}…`,
    });
  });
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
    await expect(document(answered(200, body, { method: 'GET', type }))).rejects.toMatchObject({
      code: 'bank_answer',
      message: 'The bank answered GET /private/x without a document',
      httpStatus: 200,
      tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff',
      transactionId: 't1',
    });
  });
});

describe('the JSON of an answer', () => {
  const jsonOf = async (answer: Promise<CbAnswer>) => (await answer).said.json;

  const BOM = '\uFEFF';

  it('spaces and a byte order mark around the JSON do not matter', async () => {
    expect(await jsonOf(answered(200, ` \r\n${BOM}{"a":1}\n\n`))).toEqual({ a: 1 });
  });

  it.each(['[]', 'null', '5', '"text"', 'no JSON', ''])('%j has no envelope', async (body) => {
    expect((await answered(200, body)).said.envelope).toBeNull();
  });
});
