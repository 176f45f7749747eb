import { createHash, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { answerCheck } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/answer-check.ts';
import type { PemPair } from '../../../../certificates/openssl.ts';
import { registeredPairs } from '../../../../sandbox/registered-pairs.ts';
import { thrownBy } from '../../../../support/thrown.ts';
import { described } from '../scripted.ts';

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

function answer(names: string[], how: { algorithm?: string; key?: PemPair } = {}) {
  const { algorithm = 'rsa-sha256', key = bank } = how;
  const headers: Record<string, string> = { digest, 'x-request-id': 'ID-1' };
  const text = names.map((name) => `${name}: ${headers[name]}`).join('\n');
  const hash = algorithm.includes('512') ? 'sha512' : 'sha256';
  const signature = sign(hash, Buffer.from(text), key.key).toString('base64');
  headers.signature = `keyId="x",algorithm="${algorithm}",headers="${names.join(' ')}",signature="${signature}"`;
  return { status: 200, headers, body };
}

const SIGNED = ['digest', 'x-request-id'];

describe('the X-Request-ID of an answer', () => {
  type Call = NonNullable<Parameters<ReturnType<typeof answerCheck>>[2]>;
  const PAYING: Call = { irrevocable: true };
  const said = (id: string | undefined) => ({
    ...{ status: 200, body: Buffer.from('{}') },
    headers: id === undefined ? {} : { 'x-request-id': id },
  });

  it.each<[string, { call: Call; id?: string; seen?: boolean; any?: boolean; isRefused: boolean }]>([
    ['of a reading, that nobody knows', { call: {}, id: 'id-9', seen: true, isRefused: false }],
    ['of a reading, of a request before', { call: {}, id: 'ID-0', seen: true, isRefused: true }],
    ['that decides, that nobody knows', { call: { decides: true }, id: 'id-9', isRefused: true }],
    ['that ends something, that nobody knows', { call: { decides: 'an end' }, id: 'id-9', isRefused: true }],
    ['to an initiation, that nobody knows', { call: { irrevocable: true }, id: 'id-9', isRefused: true }],
    ['of a reading, that is missing', { call: {}, seen: true, isRefused: false }],
    ['that decides, that is missing', { call: { decides: true }, seen: true, isRefused: false }],
    ['that ends something, that is missing', { call: { decides: 'an end' }, seen: true, isRefused: false }],
    ['that decides, that is empty', { call: { decides: true }, id: '', seen: true, isRefused: false }],
    [
      'to an initiation, of a bank with ids of its own',
      { call: PAYING, id: 'id-9', any: true, isRefused: false },
    ],
    ['to an initiation, of a request before', { call: PAYING, id: 'id-0', seen: true, isRefused: true }],
  ])('%s', (_what, { call, id, seen = false, any = false, isRefused }) => {
    const check = answerCheck(undefined, described({ headers: { requestId: any ? 'any' : 'ours' } }));
    const before = { ...request, headers: { 'x-request-id': 'id-0' } };
    check(said(seen ? 'id-0' : undefined), before);
    const checking = () => check(said(id), request, call);
    if (isRefused) expect(thrownBy(checking)).toMatchObject({ code: 'bank_answer' });
    else expect(checking).not.toThrow();
  });
});

it.each([
  [999, true],
  [1000, false],
])('the id of a request is that of another one for the next 1000: after %i, %s', (count, isRefused) => {
  const check = answerCheck(undefined, described());
  const asked = (id: string) => ({ ...request, headers: { 'x-request-id': id } });
  const said = (id: string) => ({ status: 200, headers: { 'x-request-id': id }, body: Buffer.from('{}') });
  check(said('first'), asked('first'));
  for (let at = 1; at < count; at += 1) check(said(`id-${at}`), asked(`id-${at}`));
  const checking = () => check(said('first'), asked('last'));
  if (isRefused) expect(thrownBy(checking)).toMatchObject({ code: 'bank_answer' });
  else {
    check(said('x'), asked('x'));
    expect(checking).not.toThrow();
  }
});

it.each([1000, 1001, 1999, 2500])('after %i requests, the ids of the last 1000 are still known', (count) => {
  const check = answerCheck(undefined, described());
  const asked = (id: string) => ({ ...request, headers: { 'x-request-id': id } });
  const said = (id: string) => ({ status: 200, headers: { 'x-request-id': id }, body: Buffer.from('{}') });
  for (let at = 0; at < count; at += 1) check(said(`id-${at}`), asked(`id-${at}`));
  for (const known of [count - 1, count - 500, count - 990])
    expect(thrownBy(() => check(said(`id-${known}`), asked('last')))).toMatchObject({ code: 'bank_answer' });
});

it.each<[string, { more?: true; judged?: boolean; own?: string | null }, isRefused: boolean]>([
  ['that nothing follows', {}, false],
  ['that more follows', { more: true }, true],
  // The judge of an initiation sees what follows.
  ['that more follows, to an initiation', { more: true, judged: true }, false],
  ['to a request without an id', { own: null }, false],
])('an answer %s', (_, { more, judged, own }, isRefused) => {
  const headers: Record<string, string> = own === null ? {} : { 'x-request-id': 'id-1' };
  const answered = { status: 200, headers: {}, body: Buffer.from('{}'), ...(more && { more }) };
  const checking = () =>
    answerCheck(undefined, described())(
      answered,
      { ...request, headers },
      judged ? { judged: 'payment' } : {},
    );
  if (isRefused)
    expect(thrownBy(checking)).toMatchObject({
      message: "The bank's answer to GET /v1/accounts has more after it on its connection",
      hint: 'psd2 did not use the answer: a gateway may have handed on two. Ask again later.',
    });
  else expect(checking).not.toThrow();
});

it('the name of the id is that of the bank file, and an answer may have the standard name', () => {
  const check = answerCheck(undefined, described({ headers: { names: { 'X-Request-ID': 'Bank-Id' } } }));
  const own = { ...request, method: 'DELETE', headers: { 'bank-id': 'id-1' } } as const;
  const said = (headers: Record<string, string>) => ({ status: 200, headers, body: Buffer.from('{}') });
  for (const right of [{ 'bank-id': 'ID-1' }, { 'x-request-id': 'id-1' }, {}, { 'bank-id': '' }])
    expect(() => check(said(right), own)).not.toThrow();
  for (const wrong of [{ 'bank-id': 'id-2' }, { 'x-request-id': 'id-2' }])
    expect(thrownBy(() => check(said(wrong), own))).toMatchObject({ code: 'bank_answer' });
});

describe('the signature of an answer', () => {
  const check = answerCheck(bank.cert, described());
  const NO_MATCH = 'does not match its Digest';

  it.each(['rsa-sha256', 'rsa-sha512'])('%s of the bank is accepted', (algorithm) => {
    expect(() => check(answer(SIGNED, { algorithm }), request)).not.toThrow();
  });

  // test/bank/interfaces/cb/answer-check.test.ts has all that can be wrong.
  it.each([
    ['of somebody else', answer(SIGNED, { key: other }), 'has a wrong Signature'],
    ['that is missing, of SHA-512', { status: 200, headers: { digest: 'SHA-512=AAAA' }, body }, NO_MATCH],
  ])('%s is refused', (_name, signed, says) => {
    expect(thrownBy(() => check(signed, request))).toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(says),
    });
  });

  it('without the bank’s certificate nobody can check it', () => {
    expect(() => answerCheck(undefined, described())(answer(SIGNED, { key: other }), request)).not.toThrow();
    expect(thrownBy(() => answerCheck('no certificate', described()))).toMatchObject({ code: 'certificate' });
  });
});
