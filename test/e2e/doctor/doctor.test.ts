import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeCertificateSet } from '../../../src/sandbox/folder/certificate-set.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { keepRunning } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { useTappedBank } from '../support/tap.ts';
import { tokensFile } from '../support/tokens-file.ts';
import { callsOf } from '../support/verbose.ts';

const { operator, tap } = useTappedBank();
keepRunning(operator);
const own = (name: string) => join(operator.folder, name);
const NETWORK = ['proxy', 'DNS', 'TLS', 'clock', 'authorize'];

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

  it('without a profile, psd2 doctor says what to do and connects to nothing', async () => {
    const before = tap.connections();
    const found = await examine({
      PSD2_CONFIG_DIR: own('empty'),
      PSD2_PROFILE: undefined,
      PSD2_BASE_URL: undefined,
    });
    expect(found.of('configuration')).toMatchObject({
      status: 'fail',
      fix: expect.stringContaining('psd2 profile add'),
    });
    expect(found.checks.slice(1).map(({ status }) => status)).not.toContain('fail');
    expect(readError(found.ended)).toMatchObject({ code: 'no_profile', exitCode: 3 });
    expect(tap.connections()).toBe(before);
  });

  it('psd2 doctor fails for files that others can read, and warns about folders that they can list', async () => {
    const config = own('open-config');
    cpSync(operator.config, config, { recursive: true });
    chmodSync(join(config, 'flows'), 0o755);
    const listable = await examine({ PSD2_CONFIG_DIR: config });
    expect(listable.of('file modes')).toMatchObject({
      status: 'warn',
      detail: `others can list ${join(config, 'flows')}`,
      fix: `Run: chmod 700 ${join(config, 'flows')}`,
    });
    const tokens = join(config, 'tokens/sandbox/last-login.json');
    chmodSync(tokens, 0o644);
    const found = await examine({ PSD2_CONFIG_DIR: config });
    expect(found.of('file modes')).toMatchObject({
      status: 'fail',
      detail: `${tokens} can be read by others (mode 0644)`,
      fix: `Run: chmod 600 ${tokens}`,
    });
    expect(readError(found.ended)).toMatchObject({ code: 'config', exitCode: 3 });
  });

  it('psd2 doctor refuses a folder that others can write to, as every command does, and reads nothing in it', async () => {
    const config = own('writable-config');
    cpSync(operator.config, config, { recursive: true });
    chmodSync(config, 0o777);
    const refused = readError(
      await operator.psd2(['profile', 'list', '--json'], { env: { PSD2_CONFIG_DIR: config } }),
    );
    const found = await examine({ PSD2_CONFIG_DIR: config });
    expect(found.of('file modes')).toMatchObject({
      status: 'fail',
      detail: refused.message,
      fix: refused.hint,
    });
    expect(refused).toMatchObject({ code: 'config', exitCode: 3, hint: `Run: chmod 700 ${config}` });
    expect(found.checks.filter(({ status }) => status !== 'skip').map(({ name }) => name)).toEqual([
      'file modes',
    ]);
    expect(readError(found.ended)).toMatchObject({ code: 'config', exitCode: 3 });
  });

  it('psd2 doctor ignores the modes of files behind a link in the folder', async () => {
    const config = own('linked-config');
    cpSync(operator.config, config, { recursive: true });
    const elsewhere = own('elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'public'), '', { mode: 0o644 });
    symlinkSync(elsewhere, join(config, 'link'));
    const found = await examine({ PSD2_CONFIG_DIR: config });
    expect(found.of('file modes')).toMatchObject({ status: 'ok' });
  });

  it('psd2 doctor detects a port that is in use', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    try {
      const found = await examine({ PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback` });
      expect(found.statusOf('redirect port')).toBe('fail');
      expect(readError(found.ended)).toMatchObject({ code: 'callback_port_busy', exitCode: 3 });
    } finally {
      other.close();
    }
  });

  it('psd2 doctor skips the port of a redirect URI elsewhere, and names the port to forward over ssh', async () => {
    const away = await examine({ PSD2_REDIRECT_URI: 'https://tpp.example/callback' });
    expect(away.of('redirect port')).toMatchObject({
      status: 'skip',
      detail: expect.stringContaining('--paste'),
    });
    const port = await freePort();
    const remote = await examine({
      PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
      SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22',
    });
    expect(remote.of('redirect port')).toMatchObject({
      status: 'ok',
      fix: expect.stringContaining(`ssh -L ${port}:127.0.0.1:${port}`),
    });
  });

  describe('with other certificates', () => {
    beforeAll(async () => {
      const [old, other] = await Promise.all([
        makeCertificateSet({ from: new Date('2020-01-01T00:00:00Z'), days: 30 }),
        makeCertificateSet({ from: new Date(), days: 20 }),
      ]);
      const mode = { mode: 0o600 };
      writeFileSync(own('old.pem'), old.qseal.certificate, mode);
      writeFileSync(own('old-key.pem'), old.qseal.key, mode);
      writeFileSync(own('other-ca.pem'), other.ca, mode);
      writeFileSync(own('unordered.pem'), other.qwac.certificate + other.qseal.certificate, mode);
      writeFileSync(own('other-key.pem'), other.qwac.key, mode);
      writeFileSync(own('other-qwac.pem'), other.qwac.certificate, mode);
    });

    it('psd2 doctor detects an expired certificate', async () => {
      const found = await examine({ PSD2_QSEAL_CERT: own('old.pem'), PSD2_QSEAL_KEY: own('old-key.pem') });
      expect(found.of('QSealC')).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining('expired on 2020-01-31'),
      });
      expect(readError(found.ended)).toMatchObject({ code: 'certificate', exitCode: 3 });
    });

    it('psd2 doctor names a certificate of another chain, and a certificate that expires soon', async () => {
      const env = { PSD2_QWAC_CERT: own('unordered.pem'), PSD2_QWAC_KEY: own('other-key.pem') };
      const found = await examine(env);
      expect(found.of('chain')).toMatchObject({
        status: 'warn',
        detail: expect.stringContaining('that does not belong to its chain'),
      });
      expect(found.of('QWAC')).toMatchObject({
        status: 'warn',
        detail: expect.stringMatching(
          /days left; ends before a consent that depends on it \(customer \d+, until/,
        ),
      });
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

  it('psd2 doctor detects a signer whose signature is wrong', async () => {
    const found = await examine({ PSD2_SIGNER: 'echo AAAA' });
    expect(found.of('signer')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('does not match the signing certificate'),
    });
  });

  it('psd2 doctor detects a bank that does not know the application', async () => {
    const found = await examine({ PSD2_CLIENT_ID: 'not-this-one' });
    expect(NETWORK.map(found.statusOf)).toEqual(['ok', 'skip', 'ok', 'ok', 'fail']);
    expect(readError(found.ended)).toMatchObject({ code: 'bank_refused', exitCode: 7 });
  });

  it('psd2 doctor detects a bank that is not running, and does not retry', async () => {
    const found = await examine({ PSD2_BASE_URL: `https://127.0.0.1:${await freePort()}` });
    expect(NETWORK.map(found.statusOf)).toEqual(['ok', 'skip', 'fail', 'skip', 'skip']);
    expect(callsOf(found)).toHaveLength(1);
    expect(found.of('token')).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/^nobody is logged in; 1 login of this profile belongs to https:/),
    });
    expect(readError(found.ended)).toMatchObject({ code: 'bank_unreachable', exitCode: 11 });
  });

  it('psd2 doctor detects an unknown host name', async () => {
    const found = await examine({ PSD2_BASE_URL: 'https://no-such-bank.invalid' }, '--timeout', '5');
    expect(NETWORK.map(found.statusOf)).toEqual(['ok', 'fail', 'skip', 'skip', 'skip']);
    expect(found.code).toBe(11);
  });

  it('psd2 doctor waits no longer than --timeout', async () => {
    const open = tap.hold();
    try {
      const found = await examine({}, '--timeout', '0.5');
      expect(found.of('TLS')?.detail).toContain('it did not answer within 0.5 s');
    } finally {
      open();
    }
  });

  it.each([
    ['2', 'behind'],
    ['-2', 'ahead of'],
  ])("psd2 doctor detects a clock that differs from the bank's by %s minutes", async (minutes, side) => {
    const fault = await operator.psd2(['sandbox', 'fault', 'add', `clock=${minutes}`]);
    expect(fault, fault.stderr).toMatchObject({ code: 0 });
    try {
      const found = await examine();
      // The bank accepts a Date that is up to five minutes off.
      expect(NETWORK.map(found.statusOf)).toEqual(['ok', 'skip', 'ok', 'fail', 'ok']);
      expect(found.of('clock')).toMatchObject({
        detail: expect.stringMatching(new RegExp(`^1[12]\\d s ${side} the bank$`)),
        fix: expect.stringContaining('timedatectl set-ntp true'),
      });
      expect(readError(found.ended)).toMatchObject({ code: 'config', exitCode: 3 });
    } finally {
      await operator.psd2(['sandbox', 'fault', 'clear']);
    }
  });

  it('psd2 doctor names a proxy without its credentials', async () => {
    const port = await freePort();
    const found = await examine({ HTTPS_PROXY: `http://someone:hush@127.0.0.1:${port}` });
    expect(found.of('proxy')).toMatchObject({
      status: 'ok',
      detail: `the bank is reached through 127.0.0.1:${port}`,
    });
    expect(found.statusOf('TLS')).toBe('fail');
    expect(found.stdout + found.stderr).not.toContain('hush');
  });

  it('psd2 doctor detects a login that has ended, and consents that are too old', async () => {
    const config = own('old-login');
    cpSync(operator.config, config, { recursive: true });
    const tokens = tokensFile(config);
    const ended = {
      accessTokenExpiresAt: '2020-01-01T00:00:00.000Z',
      refreshTokenExpiresAt: '2020-01-02T00:00:00.000Z',
    };
    writeFileSync(tokens, JSON.stringify({ ...JSON.parse(readFileSync(tokens, 'utf8')), ...ended }), {
      mode: 0o600,
    });
    const flows = join(config, 'flows', 'sandbox');
    for (const name of readdirSync(flows).filter((file) => file.endsWith('.ndjson'))) {
      const journal = join(flows, name);
      writeFileSync(journal, readFileSync(journal, 'utf8').replace(/"at":"\d{4}-/g, '"at":"2020-'));
    }
    const found = await examine({ PSD2_CONFIG_DIR: config });
    expect(found.of('token')).toMatchObject({ status: 'fail', fix: 'Run: psd2 auth login' });
    expect(found.of('consents')).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('ACCOUNT_INFO is older than 180 days'),
    });
    expect(readError(found.ended)).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
    rmSync(config, { recursive: true });
  });
});
