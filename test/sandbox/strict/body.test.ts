import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  checkBodyPresence,
  readJsonBody,
  readJsonOrFormBody,
  requireEmptyBody,
} from '../../../src/sandbox/strict/body.ts';
import { refuseOversized } from '../../../src/sandbox/strict/raw-request.ts';
import { answerTo, rawRequest } from './raw.ts';

function sent(body: string | Buffer, type = 'application/json') {
  return rawRequest({ method: 'POST', headers: [['Content-Type', type]], body });
}

const order = z.strictObject({
  data: z.strictObject({
    amount: z.string().check(z.maxLength(5)),
    lines: z.array(z.strictObject({ text: z.string() })),
    note: z.optional(z.nullable(z.string())),
  }),
});

const FORM = 'application/x-www-form-urlencoded';
const grant = z.strictObject({ code: z.string(), state: z.optional(z.string()) });

describe('whether there is a body', () => {
  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '{}'],
    ['PUT', '{}'],
  ])('the bank accepts a %s with the body %j', (method, body) => {
    expect(answerTo(() => checkBodyPresence(rawRequest({ method, body })))).toBe('accepted');
  });

  it.each(['GET', 'DELETE'])('a %s must not have a body', (method) => {
    expect(answerTo(() => checkBodyPresence(rawRequest({ method, body: '{}' })))).toEqual([
      'BODY_NOT_ALLOWED',
      `A ${method} must not have a body`,
      'Expected: no body. Received: 2 bytes.',
    ]);
  });

  it.each(['POST', 'PUT'])('a %s must have a body', (method) => {
    expect(answerTo(() => checkBodyPresence(rawRequest({ method })))).toEqual([
      'BODY_MISSING',
      `A ${method} must have a body`,
      'Expected: JSON, or {} if the call takes no parameters. Received: no body.',
    ]);
  });

  it('a body of more than 1 MiB is too large', () => {
    const oversized = { length: 1024 * 1024 + 1, sha256: Buffer.alloc(32) };
    expect(answerTo(() => refuseOversized(rawRequest({ body: '{' })))).toBe('accepted');
    expect(answerTo(() => refuseOversized({ ...rawRequest({ body: '{' }), oversized })).slice(0, 2)).toEqual([
      'BODY_TOO_LARGE',
      'The body is larger than 1 MiB',
    ]);
  });
});

describe('the content type', () => {
  it.each([
    ...['application/json', 'Application/JSON', 'application/json; charset=utf-8', ' application/json ;x=1'],
  ])('the bank reads JSON with the content type %j', (type) => {
    expect(readJsonBody(sent('{"code":"a"}', type), grant)).toEqual({ code: 'a' });
    expect(readJsonOrFormBody(sent('{"code":"a"}', type), grant)).toEqual({ code: 'a' });
  });

  it.each([FORM, `${FORM}; charset=utf-8`])('the token call also reads a form: %s', (type) => {
    expect(readJsonOrFormBody(sent('code=a%20b&state=%C3%A9', type), grant)).toEqual({
      code: 'a b',
      state: 'é',
    });
  });

  it.each([FORM, 'text/plain', 'application/jsonx', ''])('other calls refuse the content type %j', (type) => {
    expect(answerTo(() => readJsonBody(sent('{}', type), grant))).toEqual([
      'CONTENT_TYPE_UNSUPPORTED',
      'This endpoint does not accept the Content-Type of the body',
      `Expected: application/json. Received: ${type}.`,
    ]);
  });

  it('the bank says which content types it expects, and that there was none', () => {
    expect(answerTo(() => readJsonOrFormBody(rawRequest({ body: '{}' }), grant))).toEqual([
      'CONTENT_TYPE_UNSUPPORTED',
      'This endpoint does not accept the Content-Type of the body',
      'Expected: application/json or application/x-www-form-urlencoded. Received: no Content-Type.',
    ]);
  });
});

describe('the text of a body', () => {
  const notUtf8 = Buffer.from([0x7b, 0xff, 0x7d]);

  it.each([
    ['no JSON', '{"code":'],
    ['bytes that are not UTF-8', notUtf8],
    ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
  ])('the bank refuses %s, and does not repeat it', (_, body) => {
    expect(answerTo(() => readJsonBody(sent(body), grant)).slice(0, 2)).toEqual([
      'BODY_MALFORMED',
      'The body is not JSON in UTF-8',
    ]);
  });

  it('the bank refuses a form that is not UTF-8', () => {
    expect(answerTo(() => readJsonOrFormBody(sent(notUtf8, FORM), grant)).slice(0, 2)).toEqual([
      'BODY_MALFORMED',
      'The body is not UTF-8',
    ]);
  });

  it('a form has each field at most once', () => {
    expect(
      answerTo(() => readJsonOrFormBody(sent('state=x&code=a&code=a', FORM), grant)).slice(0, 2),
    ).toEqual(['BODY_MALFORMED', 'The form has the field code twice']);
  });
});

describe('the shape of a body', () => {
  const right = { data: { amount: '12.50', lines: [{ text: 'a' }] } };
  const amountOf = (amount: unknown) => ({ data: { amount, lines: [] } });
  const secondLine = { data: { amount: '1', lines: [{ text: 'a' }, { text: true }] } };

  it('the bank reads a body of the right shape', () => {
    expect(readJsonBody(sent(JSON.stringify(right)), order)).toEqual(right);
  });

  const NUMBER = 'data.amount: Expected: string. Received: number.';
  const SHAPE = 'The body does not have the shape that this endpoint expects';
  const shapeIs = (detail: string) => ['FIELD_INVALID', SHAPE, detail];
  it.each<[string, unknown, string]>([
    ['a missing part', {}, 'data is missing.'],
    ['a missing field', { data: { lines: [] } }, 'data.amount is missing.'],
    ['a field of another type', amountOf(12.5), NUMBER],
    ['a null', amountOf(null), 'data.amount: Expected: string. Received: null.'],
    ['a list', amountOf([]), 'data.amount: Expected: string. Received: array.'],
    ['no list', { data: { amount: '1', lines: {} } }, 'data.lines: Expected: array. Received: object.'],
    ['a field in a list', secondLine, 'data.lines.1.text: Expected: string. Received: boolean.'],
    ['an unknown field', { data: { amount: '1', lines: [], more: 1 } }, 'data has no field more.'],
    ['unknown fields', { ...right, a: 1, b: 2 }, 'the body has no field a, b.'],
    ['a body of another type', [], 'the body: Expected: object. Received: array.'],
    ['two mistakes', { data: { amount: 1 } }, `${NUMBER} data.lines is missing.`],
    // The value may be a secret.
    ['a value too long', amountOf('secret'), 'data.amount: Too big: expected string to have <=5 characters.'],
  ])('the answer names the field and the types: %s', (_, body, detail) => {
    expect(answerTo(() => readJsonBody(sent(JSON.stringify(body)), order))).toEqual(shapeIs(detail));
  });

  it('a call without parameters has the body {}', () => {
    expect(answerTo(() => requireEmptyBody(sent('{}')))).toBe('accepted');
    expect(answerTo(() => requireEmptyBody(sent('{"a":1}')))).toEqual(shapeIs('the body has no field a.'));
  });
});
