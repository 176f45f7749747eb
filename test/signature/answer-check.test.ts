import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Proofs, problemOfAnswer, readBankCertificate } from '../../src/signature/answer-check.ts';
import { withOpenssl } from '../certificates/openssl.ts';

// Whose certificate checks an answer, and which of its digests. What a signature proves is tested at both interfaces.

const [one, other] = withOpenssl((openssl) => ['One', 'Other'].map((name) => openssl.authority(name).cert));

it('the certificate of a bank is its own, whichever was read before', () => {
  const subjectOf = (pem: string | undefined) => readBankCertificate(pem)?.subject;
  const names = new Map([
    [undefined, undefined],
    [one, 'CN=One'],
    [other, 'CN=Other'],
  ]);
  for (const before of names.keys())
    for (const [pem, name] of names)
      expect([subjectOf(before), subjectOf(pem)]).toEqual([names.get(before), name]);
});

it('what is no certificate is refused each time, and hides none', () => {
  for (const pem of [one, other]) {
    expect(readBankCertificate(pem)).toBeDefined();
    for (const wrong of ['', 'no certificate', 'no certificate'])
      expect(() => readBankCertificate(wrong)).toThrow(
        expect.objectContaining({
          code: 'certificate',
          message: 'The bank signing certificate is not a PEM certificate',
        }),
      );
    expect(readBankCertificate(pem)?.subject).toBe(pem === one ? 'CN=One' : 'CN=Other');
  }
});

const body = Buffer.from('{"a":1}');
const digest = (hash: 'sha256' | 'sha512', of = body) => createHash(hash).update(of).digest('base64');
const RIGHT = { 256: `SHA-256=${digest('sha256')}`, 512: `SHA-512=${digest('sha512')}` };
const WRONG = {
  256: `SHA-256=${digest('sha256', Buffer.from('x'))}`,
  512: `SHA-512=${digest('sha512', Buffer.from('x'))}`,
};
const BOTH: Proofs['digests'] = ['SHA-256', 'SHA-512'];
it.each<[what: string, header: string | undefined, digests: Proofs['digests'], isRight: boolean]>([
  ['none', undefined, BOTH, true],
  ['SHA-256', RIGHT[256], BOTH, true],
  ['SHA-512', RIGHT[512], BOTH, true],
  ['a wrong SHA-256', WRONG[256], BOTH, false],
  ['a wrong SHA-512', WRONG[512], BOTH, false],
  ['both', `${RIGHT[256]},${RIGHT[512]}`, BOTH, true],
  ['both, with blanks, in the other order', `${RIGHT[512]} , ${RIGHT[256]}`, BOTH, true],
  ['both, of which the first is wrong', `${WRONG[256]},${RIGHT[512]}`, BOTH, false],
  ['both, of which the second is wrong', `${RIGHT[256]},${WRONG[512]}`, BOTH, false],
  ['both, of which the second is wrong, in the other order', `${RIGHT[512]},${WRONG[256]}`, BOTH, false],
  ['a name in small letters', RIGHT[256].replace('SHA', 'sha'), BOTH, true],
  ['a wrong one with a name in small letters', WRONG[256].replace('SHA', 'sha'), BOTH, false],
  ['one that psd2 does not know', 'MD5=xyz', BOTH, true],
  ['a right one after one that psd2 does not know', `MD5=xyz,${RIGHT[256]}`, BOTH, true],
  ['a wrong one after one that psd2 does not know', `MD5=xyz,${WRONG[256]}`, BOTH, false],
  ['a wrong one of a kind that the bank does not have', WRONG[512], ['SHA-256'], true],
  ['no value', 'SHA-256=', BOTH, false],
])('of an answer with the digest: %s', (_, header, digests, isRight) => {
  const headers: Record<string, string> = header === undefined ? {} : { digest: header };
  const request = { method: 'GET', target: '/v1/accounts' };
  const problem = problemOfAnswer({ headers, body }, request, undefined, { digests, hashes: {} });
  expect(problem).toBe(isRight ? undefined : 'does not match its Digest');
});
