import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { factsOf } from '../../../../src/bank/interfaces/cb/accounts.ts';
import { type CbAnswer, readAnswer } from '../../../../src/bank/interfaces/cb/answer.ts';
import type { Psd2Error } from '../../../../src/errors.ts';
import { isAboutContent, isBanksRefusal, isRefusal } from '../../../../src/flows/refusals.ts';
import { lacking } from '../../../support/lacking.ts';
import { answered as answeredTo } from './answered.ts';

const anything = z.unknown();

function answered(status: number, body: string, headers: Record<string, string> = {}): Promise<CbAnswer> {
  const path = '/private/x?secret=1';
  return answeredTo(
    { method: 'PUT', path, facts: factsOf('PUT', path), transactionId: 't1' },
    { status, headers: { 'content-type': 'application/json', ...headers }, body },
  );
}

const read = async <T>(answer: Promise<CbAnswer>, schema: z.ZodMiniType<T>) =>
  readAnswer(await answer, schema);

function failed(status: number, body: string, headers?: Record<string, string>): Promise<Psd2Error> {
  return read(answered(status, body, headers), anything).then(
    () => {
      throw new TypeError('The answer was read as a success');
    },
    (error) => error,
  );
}

const error = (code: string, message: string) =>
  `{"result":{"outcome":"ERROR","requestId":"012345678901234567890123","messages":[{"code":"${code}","message":"${message}","type":"ERROR","detail":"more of it"}]}}`;

describe('an HTTP status', () => {
  it.each([
    [400, 'bank_refused', 'The bank refused PUT /private/x (HTTP 400)'],
    [401, 'not_logged_in', 'The bank does not accept the token or the client for PUT /private/x (HTTP 401)'],
    [403, 'forbidden', 'The bank does not allow PUT /private/x (HTTP 403)'],
    [404, 'bank_refused', 'The bank refused PUT /private/x (HTTP 404)'],
    [412, 'bank_refused', 'The bank refused PUT /private/x (HTTP 412)'],
    [417, 'bank_refused', 'The bank refused PUT /private/x (HTTP 417)'],
    [420, 'too_many_calls', 'The bank allows no more calls at the moment (HTTP 420)'],
    [422, 'bank_refused', 'The bank refused PUT /private/x (HTTP 422)'],
    [429, 'too_many_calls', 'The bank allows no more calls at the moment (HTTP 429)'],
    [500, 'bank_failing', 'The bank failed on PUT /private/x (HTTP 500)'],
    [503, 'bank_failing', 'The bank failed on PUT /private/x (HTTP 503)'],
  ])('HTTP %i is %s, whether the answer has a message, a page or no body', async (status, code, sentence) => {
    expect(await failed(status, error('PSD2_E1', 'Not today'))).toMatchObject({
      code,
      message: `${sentence}: Not today – more of it`,
      httpStatus: status,
      bankCode: 'PSD2_E1',
      requestId: '012345678901234567890123',
      tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff',
      transactionId: 't1',
    });
    expect(
      await failed(status, '<html>Blocked</html>', { 'content-type': 'text/html; charset=utf-8' }),
    ).toMatchObject({
      code,
      message: `${sentence}: the answer is text/html`,
      context: lacking('bankCode', 'requestId'),
      tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff',
    });
    expect(await failed(status, '')).toMatchObject({ code, message: `${sentence}: the answer is empty` });
  });

  it('the error for HTTP 420 says how long to wait if the bank does', async () => {
    expect(await failed(420, '', { 'retry-after': '3600' })).toMatchObject({
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
    expect(await failed(status, error('E1', 'no'))).toMatchObject({
      code,
      httpStatus: status,
      bankCode: 'E1',
    });
  });

  it('psd2 quotes the message of the type ERROR, else the first with a code, else the first', async () => {
    const saying = (messages: string) =>
      failed(400, `{"result":{"outcome":"ERROR","messages":[${messages}]}}`);
    const info = '{"code":"I1","message":"info","type":"INFO"}';
    expect(await saying(`${info},{"code":"E1","message":"error","type":"ERROR"}`)).toMatchObject({
      bankCode: 'E1',
    });
    expect(await saying(`"plain",${info}`)).toMatchObject({ bankCode: 'I1' });
    expect(await saying('"plain"')).toMatchObject({
      message: 'The bank refused PUT /private/x (HTTP 400): plain',
      context: lacking('bankCode'),
    });
  });

  it('an unknown outcome counts as ERROR', async () => {
    expect(await failed(200, '{"result":{"outcome":"MAYBE"},"data":{}}')).toMatchObject({
      code: 'bank_refused',
    });
  });
});

it.each([200, 400, 401, 403, 412])(
  'PSD2_SCA_REQUIRED with HTTP %i is sca_required, with its resource',
  async (status) => {
    const body = error('PSD2_SCA_REQUIRED', 'SCA').replace(/}$/, ',"resources":{"resourceId":"r1"}}');
    expect(await failed(status, body)).toMatchObject({
      code: 'sca_required',
      bankCode: 'PSD2_SCA_REQUIRED',
      resourceId: 'r1',
      httpStatus: status,
    });
  },
);

it('PSD2_SCA_REQUIRED as a plain string is also sca_required', async () => {
  expect(await failed(401, '{"result":{"outcome":"ERROR","messages":["PSD2_SCA_REQUIRED"]}}')).toMatchObject({
    code: 'sca_required',
  });
});

it('a plain OAuth error keeps its code', async () => {
  expect(
    await failed(400, '{"error":"invalid_grant","error_description":"The code was used"}'),
  ).toMatchObject({
    code: 'bank_refused',
    bankCode: 'invalid_grant',
    message: 'The bank refused PUT /private/x (HTTP 400): The code was used',
  });
});

describe('a success', () => {
  const schema = z.object({ accounts: z.array(z.object({ id: z.string() })) });

  it('the error for a success without a field names the field and the request', async () => {
    const body =
      '{"result":{"outcome":"SUCCESS","requestId":123456789012345678901234},"data":{"accounts":[{"id":5}]}}';
    await expect(read(answered(200, body), schema)).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringMatching(
        /^The bank's answer to PUT \/private\/x has no usable data\.accounts\.0\.id: /,
      ),
      requestId: '123456789012345678901234',
      tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff',
    });
  });

  it('a success gives its warnings and infos', async () => {
    const messages = ['WARNING', 'INFO', 'SUCCESS'].map(
      (type) => `{"code":"${type}","message":"m","type":"${type}"}`,
    );
    const body = `{"result":{"outcome":"SUCCESS","messages":[${messages}]},"data":{}}`;
    const { notices } = await read(answered(200, body), anything);
    expect(notices.map(({ code }) => code)).toEqual(['WARNING', 'INFO']);
  });
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
      notBegun: (await answered(status, body)).said.turnedAway,
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
