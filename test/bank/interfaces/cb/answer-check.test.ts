import { createHash, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { answerCheck } from '../../../../src/bank/interfaces/cb/interface.ts';
import type { WireRequest } from '../../../../src/bank/transport/line.ts';
import { registeredPairs } from '../../../sandbox/registered-pairs.ts';
import { thrownBy } from '../../../support/thrown.ts';
import { PLAIN_FACTS, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const made = await registeredPairs();

const request: WireRequest = {
  method: 'PUT',
  target: '/prefix/x?a=%2F',
  headers: {},
  body: Buffer.from('{}'),
};
const BODY = Buffer.from('{"result":{"outcome":"SUCCESS"}}');
const DATE = 'Sat, 21 Nov 2026 10:00:00 GMT';
const digestOf = (body: Buffer) => `SHA-256=${createHash('sha256').update(body).digest('base64')}`;

/** Returns an answer's headers, signed like the bank does but only with node:crypto. */
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
    expect(error).toMatchObject({
      code: 'bank_answer',
      hint: 'psd2 did not use the answer. Someone may have changed it on the way, or the bank has a new certificate.',
    });
    return error instanceof Error ? error.message : '';
  }
}

const refused = (what: string) => `The bank's answer to PUT /prefix/x ${what}`;

const NOT_ITS_BODY = 'Signature that does not cover its body';
const UNKNOWN = 'Signature in an unknown format';

describe('a signed answer', () => {
  it('psd2 accepts an answer with the bank’s signature', () => {
    expect(checked(signed())).toBe('taken');
    const empty = {
      ...signed({ over: ['(request-target)', 'cb-response-id', 'date'] }),
      digest: digestOf(Buffer.alloc(0)),
    };
    expect(checked(empty, Buffer.alloc(0))).toBe('taken');
  });

  const { 'cb-response-id': _, ...withoutId } = signed();
  it.each([
    ['by another key', signed({ key: made.other.key }), 'wrong Signature'],
    ['for another request', signed({ target: '/prefix/y' }), 'wrong Signature'],
    ['for another date', { ...signed(), date: 'Sat, 21 Nov 2026 10:00:01 GMT' }, 'wrong Signature'],
    [
      'with an invalid base64 text',
      { ...signed(), signature: signed().signature.replace(/signature="..../, 'signature="!!!!') },
      'wrong Signature',
    ],
    ['not over the body', signed({ over: ['(request-target)', 'date'] }), NOT_ITS_BODY],
    ['in an unknown algorithm', signed({ algorithm: 'hmac-sha256' }), UNKNOWN],
    ['in an unknown form', { ...signed(), signature: 'unreadable' }, UNKNOWN],
    ['over a missing header', withoutId, 'Signature over the header cb-response-id, which is missing'],
  ])('psd2 refuses an answer signed %s', (_what, headers, what) => {
    expect(checked(headers)).toBe(refused(`has a ${what}`));
  });

  it('a signature that does not say what it covers, covers the date', () => {
    const { digest: _, ...full } = signed({ over: ['date'] });
    const headers = { ...full, signature: full.signature.replace(/headers="[^"]*",/, '') };
    expect(checked(headers, Buffer.alloc(0))).toBe('taken');
    expect(checked({ ...headers, date: 'Sat, 21 Nov 2026 10:00:01 GMT' }, Buffer.alloc(0))).toBe(
      refused('has a wrong Signature'),
    );
    expect(checked(headers)).toBe(refused(`has a ${NOT_ITS_BODY}`));
  });

  it('without the bank’s certificate, psd2 checks only the digest', () => {
    const headers = signed({ key: made.other.key });
    expect(() => answerCheck(undefined)({ status: 200, headers, body: BODY }, request)).not.toThrow();
  });
});

describe('a digest', () => {
  it.each([
    [digestOf(BODY), 'taken'],
    [digestOf(BODY).replace('SHA-256', 'sha-256'), 'taken'],
    [`MD5=x, ${digestOf(BODY)}`, 'taken'],
    [`MD5=x, ${digestOf(Buffer.from('{}'))}`, refused('does not match its Digest')],
    ['MD5=x', 'taken'],
    ['X-SHA-256=x', 'taken'],
    [digestOf(Buffer.from('{}')), refused('does not match its Digest')],
    ['SHA-256=', refused('does not match its Digest')],
  ])('for the digest %s the outcome is: %s', (digest, outcome) => {
    expect(checked({ digest })).toBe(outcome);
  });

  it('an answer may have no digest and no signature', () => {
    expect(checked({})).toBe('taken');
  });
});

it('an invalid bank certificate is a certificate error', () => {
  expect(thrownBy(() => answerCheck('no PEM'))).toMatchObject({
    code: 'certificate',
    message: 'The bank signing certificate is not a PEM certificate',
    cause: expect.any(Error),
  });
});

it('psd2 uses nothing of a changed answer and does not retry the call', async () => {
  recorded.expect('GET', '/x', { status: 200, headers: { digest: digestOf(BODY) }, body: '{}' });
  const { exchange } = openClient({ check: answerCheck(undefined) });
  const call = { method: 'GET', path: '/x', facts: PLAIN_FACTS, transactionId: 't1' } as const;
  await expect(exchange(call)).rejects.toMatchObject({ code: 'bank_answer' });
});
