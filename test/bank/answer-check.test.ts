import { createHash, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { answerCheck } from '../../src/bank/call/answer-check.ts';
import type { WireRequest } from '../../src/bank/transport/connection.ts';
import { RSA, withOpenssl } from '../certificates/openssl.ts';
import { useClients } from './client.ts';
import { useRecordedBank } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const made = withOpenssl((openssl) => {
  const authority = openssl.authority('Bank');
  return { bank: openssl.issued(authority, 'bank', RSA), other: openssl.issued(authority, 'other', RSA) };
});

const request: WireRequest = {
  method: 'PUT',
  target: '/prefix/x?a=%2F',
  headers: {},
  body: Buffer.from('{}'),
};
const BODY = Buffer.from('{"result":{"outcome":"SUCCESS"}}');
const DATE = 'Sat, 21 Nov 2026 10:00:00 GMT';
const digestOf = (body: Buffer) => `SHA-256=${createHash('sha256').update(body).digest('base64')}`;

/** The headers of an answer, signed as the bank does, with node:crypto alone. */
function signed(
  change: { over?: string[]; target?: string; key?: string; algorithm?: string } = {},
): Record<'digest' | 'cb-response-id' | 'date' | 'signature', string> {
  const over = change.over ?? ['(request-target)', 'digest', 'cb-response-id', 'date'];
  const headers = { digest: digestOf(BODY), 'cb-response-id': 'response-1', date: DATE };
  const values: Record<string, string> = headers;
  const text = over
    .map(
      (name) =>
        `${name}: ${name === '(request-target)' ? `put ${change.target ?? request.target}` : values[name]}`,
    )
    .join('\n');
  const signature = sign('sha256', Buffer.from(text), change.key ?? made.bank.key).toString('base64');
  return {
    ...headers,
    signature: `keyId="bank",algorithm="${change.algorithm ?? 'rsa-sha256'}",headers="${over.join(' ')}",signature="${signature}"`,
  };
}

function checked(headers: Record<string, string>, body = BODY): string {
  try {
    answerCheck(made.bank.cert)({ status: 200, headers, body }, request);
    return 'taken';
  } catch (error) {
    expect(error).toMatchObject({ code: 'bank_answer' });
    return error instanceof Error ? error.message : '';
  }
}

const refused = (what: string) => `The bank's answer to PUT /prefix/x ${what}`;

describe('a signed answer', () => {
  it('is taken when its signature is the bank’s', () => {
    expect(checked(signed())).toBe('taken');
    const empty = {
      ...signed({ over: ['(request-target)', 'cb-response-id', 'date'] }),
      digest: digestOf(Buffer.alloc(0)),
    };
    expect(checked(empty, Buffer.alloc(0))).toBe('taken');
  });

  it.each([
    ['another key', signed({ key: made.other.key })],
    ['another request', signed({ target: '/prefix/y' })],
    ['another date', { ...signed(), date: 'Sat, 21 Nov 2026 10:00:01 GMT' }],
    [
      'no base64',
      { ...signed(), signature: signed().signature.replace(/signature="..../, 'signature="!!!!') },
    ],
  ])('is refused when it was made with %s', (_, headers) => {
    expect(checked(headers)).toBe(refused('has a wrong Signature'));
  });

  it('is refused when its signature leaves its body out', () => {
    expect(checked(signed({ over: ['(request-target)', 'date'] }))).toBe(
      refused('has a Signature that does not cover its body'),
    );
  });

  it('is refused in an unknown form, or over a header that is not there', () => {
    expect(checked(signed({ algorithm: 'hmac-sha256' }))).toBe(
      refused('has a Signature in an unknown format'),
    );
    expect(checked({ ...signed(), signature: 'unreadable' })).toBe(
      refused('has a Signature in an unknown format'),
    );
    const { 'cb-response-id': _, ...without } = signed();
    expect(checked(without)).toBe(
      refused('has a Signature over the header cb-response-id, which is missing'),
    );
  });

  it('is not checked without the bank’s certificate, but for its digest', () => {
    const headers = signed({ key: made.other.key });
    expect(() => answerCheck(undefined)({ status: 200, headers, body: BODY }, request)).not.toThrow();
  });
});

describe('a digest', () => {
  it.each([
    [digestOf(BODY), 'taken'],
    [digestOf(BODY).replace('SHA-256', 'sha-256'), 'taken'],
    [`MD5=x, ${digestOf(BODY)}`, 'taken'],
    ['MD5=x', 'taken'],
    [digestOf(Buffer.from('{}')), refused('does not match its Digest')],
    ['SHA-256=', refused('does not match its Digest')],
  ])('%s: %s', (digest, outcome) => {
    expect(checked({ digest })).toBe(outcome);
  });

  it('and a signature may be missing', () => {
    expect(checked({})).toBe('taken');
  });
});

it('what is no certificate is an error of the certificate', () => {
  expect(() => answerCheck('no PEM')).toThrow(expect.objectContaining({ code: 'certificate' }));
});

it('nothing of a changed answer is used, and the call is not made again', async () => {
  recorded.expect('GET', '/x', { status: 200, headers: { digest: digestOf(BODY) }, body: '{}' });
  const { exchange } = openClient({ checkAnswer: answerCheck(undefined) });
  const call = exchange({ method: 'GET', path: '/x', transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee' });
  await expect(call).rejects.toMatchObject({ code: 'bank_answer' });
});
