import { createHash, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { answerCheck } from '../../../../src/bank/interfaces/nextgenpsd2/answer-check.ts';
import type { PemPair } from '../../../certificates/openssl.ts';
import { registeredPairs } from '../../../sandbox/registered-pairs.ts';

// Signatures of answers, made here without psd2's own code.

const { bank, other } = await registeredPairs();

const request = {
  method: 'GET',
  target: '/v1/accounts',
  headers: { 'x-request-id': 'id-1' },
  body: undefined,
} as const;
const body = Buffer.from('{"a":1}');
const digest = `SHA-256=${createHash('sha256').update(body).digest('base64')}`;

function answer(
  names: string[],
  how: { algorithm?: string; key?: PemPair; headers?: Record<string, string> } = {},
) {
  const { algorithm = 'rsa-sha256', key = bank } = how;
  const headers: Record<string, string> = { digest, 'x-request-id': 'ID-1', ...how.headers };
  const text = names.map((name) => `${name}: ${headers[name]}`).join('\n');
  const hash = algorithm.includes('512') ? 'sha512' : 'sha256';
  const signature = sign(hash, Buffer.from(text), key.key).toString('base64');
  headers.signature = `keyId="x",algorithm="${algorithm}",headers="${names.join(' ')}",signature="${signature}"`;
  return { status: 200, headers, body };
}

const SIGNED = ['digest', 'x-request-id'];

describe('the signature of an answer', () => {
  const check = answerCheck(bank.cert);

  it.each(['rsa-sha256', 'rsa-sha512'])('%s of the bank is accepted', (algorithm) => {
    expect(() => check(answer(SIGNED, { algorithm }), request)).not.toThrow();
  });

  it('banks need not sign', () => {
    expect(() => check({ status: 200, headers: {}, body }, request)).not.toThrow();
  });

  it.each([
    ['of somebody else', answer(SIGNED, { key: other }), 'has a wrong Signature'],
    ['without the body', answer(['x-request-id']), 'does not cover its body'],
    ['in an unknown format', answer(SIGNED, { algorithm: 'hmac-sha256' }), 'unknown format'],
    ['over a header that is missing', answer([...SIGNED, 'date']), 'over the header date, which is missing'],
    ['of another body', { ...answer(SIGNED), body: Buffer.from('{"a":2}') }, 'does not match its Digest'],
  ])('%s is refused', (_name, signed, says) => {
    expect(() => check(signed, request)).toThrow(
      expect.objectContaining({ code: 'bank_answer', message: expect.stringContaining(says) }),
    );
  });

  it('without the bank’s certificate nobody can check it', () => {
    expect(() => answerCheck(undefined)(answer(SIGNED, { key: other }), request)).not.toThrow();
    expect(() => answerCheck('no certificate')).toThrow(expect.objectContaining({ code: 'certificate' }));
  });
});
