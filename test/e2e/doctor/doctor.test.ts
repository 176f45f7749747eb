import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeCertificateSet } from '../../../src/sandbox/folder/certificate-set.ts';
import { readError } from '../support/errors.ts';
import { keepRunning } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { useTappedBank } from '../support/tap.ts';
import { tokensFile } from '../support/tokens-file.ts';
import { callsOf } from '../support/verbose.ts';

const { operator } = useTappedBank();
keepRunning(operator);
const own = (name: string) => join(operator.folder, name);

/** Runs `psd2 doctor`. Returns the status of each check, and how the command ended. */
async function examine(env: Record<string, string | undefined> = {}, ...args: string[]) {
  const ended = await operator.psd2(['doctor', '--json', '--verbose', ...args], { env });
  const { ok, checks } = shapes.checks.parse(JSON.parse(ended.stdout));
  const of = (name: string) => checks.find((check) => check.name === name);
  return { ...ended, ended, ok, checks, of, statusOf: (name: string) => of(name)?.status };
}

describe('psd2 doctor', () => {
  it('psd2 doctor passes for a correct setup, with one call and without spending a token', async () => {
    const tokens = tokensFile(operator.config);
    const before = readFileSync(tokens, 'utf8');
    const found = await examine();
    expect(found.code, found.stderr).toBe(0);
    expect(found.ok).toBe(true);
    expect(found.checks.map(({ name, status }) => [name, status])).toEqual([
      ['configuration', 'ok'],
      ['settings', 'ok'],
      ['file modes', 'ok'],
      ['compiled code', 'ok'],
      ['store', 'ok'],
      ['QWAC', 'ok'],
      ['QSealC', 'ok'],
      ['CA', 'ok'],
      ['bank signing certificate', 'ok'],
      ['chain', 'ok'],
      ['signer', 'skip'],
      ['redirect port', 'ok'],
      ['proxy', 'ok'],
      ['DNS', 'skip'],
      ['TLS', 'ok'],
      ['clock', 'ok'],
      ['authorize', 'ok'],
      ['token', 'ok'],
      ['consents', 'ok'],
      ['expiring', 'ok'],
    ]);
    expect(callsOf(found).map(({ path }) => path)).toEqual(['/auth/oauth/v2/authorize']);
    expect(readFileSync(tokens, 'utf8')).toBe(before);
  });

  describe('with other certificates', () => {
    beforeAll(async () => {
      const other = await makeCertificateSet({ from: new Date(), days: 20 });
      const mode = { mode: 0o600 };
      writeFileSync(own('other-ca.pem'), other.ca, mode);
      writeFileSync(own('other-key.pem'), other.qwac.key, mode);
      writeFileSync(own('other-qwac.pem'), other.qwac.certificate, mode);
    });

    it.each([
      ['TLSv1.2', 'during the TLS handshake'],
      ['TLSv1.3', 'after the TLS handshake, before it answered'],
    ])('with %s, psd2 doctor says that the bank has probably refused the QWAC', async (version, when) => {
      const found = await examine({
        NODE_OPTIONS: `--tls-max-v${version.slice(4)}`,
        PSD2_QWAC_CERT: own('other-qwac.pem'),
        PSD2_QWAC_KEY: own('other-key.pem'),
      });
      expect(found.of('TLS')).toMatchObject({
        status: 'fail',
        detail: `The bank closed the connection ${when}`,
        fix: expect.stringContaining('The usual reason is that the bank refused the QWAC'),
      });
      expect(readError(found.ended)).toMatchObject({ code: 'bank_unreachable', exitCode: 11 });
    });

    it('psd2 doctor detects a bank whose certificate is not trusted', async () => {
      const found = await examine({ PSD2_CA: own('other-ca.pem') });
      expect(found.of('TLS')).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining('does not chain to a trusted authority'),
      });
      expect(readError(found.ended)).toMatchObject({ code: 'bank_unreachable', exitCode: 11 });
    });
  });
});
