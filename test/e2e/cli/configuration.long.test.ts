import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeCertificateSet } from '../../../src/sandbox/folder/certificate-set.ts';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { PROGRAM, useOperator } from '../support/psd2.ts';
import { useTappedBank } from '../support/tap.ts';
import { tokensFile } from '../support/tokens-file.ts';

const TRANSFER = [
  ...['transfer', 'create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '12.50'],
];
const { operator, tap } = useTappedBank();

describe('wrong configuration', () => {
  const certificates = join(operator.config, 'sandbox', 'certificates');
  const own = (name: string) => join(operator.folder, name);

  it('psd2 reports a missing profile', async () => {
    const env = { PSD2_CONFIG_DIR: own('empty'), PSD2_PROFILE: undefined, PSD2_BASE_URL: undefined };
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env });
    expect(readError(ended)).toMatchObject({
      code: 'no_profile',
      exitCode: 3,
      hint: expect.stringMatching(/psd2 profile add\n.*psd2 sandbox start/),
    });
  });

  it('psd2 reports a missing home folder, as for an unknown user in a container', async () => {
    const program = [process.execPath, PROGRAM, 'profile', 'list', '--json'];
    const env = { PSD2_CONFIG_DIR: undefined, HOME: undefined };
    const running = await operator.startProgram('unshare', ['--user', '--map-user=4711', ...program], env);
    expect(readError(await running.ended)).toMatchObject({
      code: 'config',
      exitCode: 3,
      hint: expect.stringContaining('PSD2_CONFIG_DIR'),
    });
  });

  it('psd2 reports a profile that does not exist', async () => {
    const ended = await operator.psd2(['accounts', 'list', '--profile', 'other', '--json']);
    expect(readError(ended)).toMatchObject({
      code: 'no_profile',
      exitCode: 3,
      message: expect.stringContaining('"other"'),
      hint: expect.stringContaining('sandbox'),
    });
  });

  it('psd2 reports a callback port that another program uses', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    try {
      const before = tap.connections();
      const ended = await operator.psd2(['auth', 'login', '--json'], {
        env: { PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`, PSD2_SCA_TIMEOUT: '1' },
      });
      expect(ended.stderr).toContain('The login waits its turn, at most 1 s.');
      expect(readError(ended)).toMatchObject({
        code: 'callback_port_busy',
        exitCode: 3,
        message: expect.stringContaining(String(port)),
        hint: expect.stringContaining('PSD2_REDIRECT_URI=http://127.0.0.1:'),
      });
      expect(tap.connections()).toBe(before);
    } finally {
      other.close();
    }
  });

  it('psd2 refuses a key that others can read', async () => {
    const key = own('readable-key.pem');
    cpSync(join(certificates, 'qwac-key.pem'), key);
    chmodSync(key, 0o644);
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env: { PSD2_QWAC_KEY: key } });
    expect(readError(ended)).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(`${key} can be read by others`),
      hint: expect.stringContaining(`chmod 600 ${key}`),
    });
  });

  it.each([
    ['QWAC', 'PSD2_QWAC_KEY', 'qseal-key.pem'],
    ['QSealC', 'PSD2_QSEAL_KEY', 'qwac-key.pem'],
  ])('psd2 refuses a key that does not belong to the %s', async (name, variable, file) => {
    const env = { [variable]: join(certificates, file) };
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env });
    expect(readError(ended)).toMatchObject({
      code: 'certificate',
      exitCode: 3,
      message: expect.stringContaining(`The ${name} key does not belong to the ${name} certificate`),
    });
  });

  it('psd2 refuses an expired certificate', async () => {
    const old = await makeCertificateSet({ from: new Date('2020-01-01T00:00:00Z'), days: 30 });
    writeFileSync(own('old.pem'), old.qwac.certificate, { mode: 0o600 });
    writeFileSync(own('old-key.pem'), old.qwac.key, { mode: 0o600 });
    const env = { PSD2_QWAC_CERT: own('old.pem'), PSD2_QWAC_KEY: own('old-key.pem') };
    const before = tap.connections();
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env });
    expect(readError(ended)).toMatchObject({
      code: 'certificate',
      exitCode: 3,
      message: expect.stringContaining('The QWAC certificate expired on 2020-01-31'),
    });
    expect(tap.connections()).toBe(before);
  });

  it('psd2 reports a missing certificate file', async () => {
    const env = { PSD2_QWAC_CERT: own('missing.pem') };
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env });
    expect(readError(ended)).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(own('missing.pem')),
    });
  });

  it('psd2 reports a damaged token file', async () => {
    const config = own('damaged');
    cpSync(operator.config, config, { recursive: true });
    const file = tokensFile(config);
    const damaged = readFileSync(file, 'utf8').slice(0, 40);
    writeFileSync(file, damaged);
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env: { PSD2_CONFIG_DIR: config } });
    expect(readError(ended)).toMatchObject({
      code: 'config',
      exitCode: 3,
      message: expect.stringContaining(`${file} is damaged`),
    });
    expect(readFileSync(file, 'utf8')).toBe(damaged);
  });
});

describe('a bank that cannot be used', () => {
  it('psd2 names the logged-in customers if the chosen one is not logged in', async () => {
    const ended = await operator.psd2(['accounts', 'list', '--customer', '2073915', '--json']);
    expect(readError(ended)).toMatchObject({
      code: 'not_logged_in',
      exitCode: 4,
      message: 'The customer 2073915 is not logged in with the profile "sandbox"',
      hint: 'Logged in: 1048262. Or run: psd2 --customer 2073915 --profile sandbox auth login',
      next: [['psd2', '--customer', '2073915', '--profile', 'sandbox', 'auth', 'login']],
    });
  });

  it('psd2 refuses a bank whose certificate chains to another authority', async () => {
    const other = await makeCertificateSet({ from: new Date(), days: 1 });
    const ca = join(operator.folder, 'other-ca.pem');
    writeFileSync(ca, other.ca);
    const ended = await operator.psd2(['accounts', 'list', '--json'], { env: { PSD2_CA: ca } });
    expect(readError(ended)).toMatchObject({ code: 'bank_unreachable', exitCode: 11 });
  });
});

describe('a bank that is down', () => {
  const stopped = useOperator();
  stopped.env.PSD2_PROFILE = 'sandbox';
  beforeAll(async () => {
    for (const args of [
      ['sandbox', 'start', '--detach', '--port', '0'],
      ['auth', 'login'],
      ['sandbox', 'stop'],
    ]) {
      const ended = await stopped.psd2(args);
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
    }
  });

  it.each([[['accounts', 'list']], [['auth', 'login']], [TRANSFER]])(
    'psd2 %j exits with 11 if the sandbox is not running',
    async (args) => {
      const ended = await stopped.psd2([...args, '--json']);
      expect(readError(ended)).toMatchObject({
        code: 'bank_unreachable',
        exitCode: 11,
        message: 'The sandbox is not running',
        hint: 'Start it with: psd2 sandbox start --detach',
        next: [['psd2', 'sandbox', 'start', '--detach']],
      });
    },
  );
});

describe('a browser that cannot be started', () => {
  it('psd2 ends at once if the browser cannot be started and nobody is at a terminal', async () => {
    const env = { PSD2_BROWSER: '/nonexistent/browser' };
    expect(readError(await operator.psd2(['auth', 'login', '--json'], { env }))).toMatchObject({
      exitCode: 3,
      message: 'The browser command "/nonexistent/browser" could not be started: there is no such program',
      hint: expect.stringContaining('PSD2_BROWSER'),
    });
  });
});
