import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { withOpenssl } from '../certificates/openssl.ts';
import { readError } from '../e2e/support/errors.ts';
import { type Environment, PROGRAM, words } from '../e2e/support/psd2.ts';
import { tokensFile } from '../e2e/support/tokens-file.ts';
import { measuringMemory, success, useHostileBank, write, writeTokens } from './hostile-bank.ts';
import { useResident } from './resident.ts';

const bank = useHostileBank();
const { operator, certificates } = bank;
const resident = useResident(operator);
const CALL = ['api', 'GET', '/x', '--no-token', '--json'];
const place = (name: string) => join(operator.ownHands, name);
const file = (name: string, content: string | Buffer, mode = 0o600) => {
  writeFileSync(place(name), content, { mode });
  chmodSync(place(name), mode);
  return place(name);
};
const run = async (env: Environment, args = CALL) => ({
  ...(await resident.run(args, { env })),
  signal: null,
});

const encrypted = withOpenssl((openssl) => {
  const key = openssl.write('right.key', certificates.client.key);
  return openssl.run('pkcs8', '-topk8', '-in', key, '-passout', 'pass:hush hush');
});

// test/store/machine/settings.test.ts has the others: folders, loops of links, huge files, keys that others can read.
describe('psd2 refuses a certificate or key that it cannot use before it sends anything', () => {
  beforeAll(() => {
    symlinkSync('readable', place('link-to-readable'));
    execFileSync('mkfifo', [place('fifo')]);
    chmodSync(place('fifo'), 0o600);
  });

  it.each<[what: string, env: () => Environment, said: RegExp, hint: RegExp]>([
    ['standard input', () => ({ PSD2_QWAC_CERT: '/dev/stdin' }), /is a pipe or a device/, /path of a file/],
    ['a missing file', () => ({ PSD2_QWAC_KEY: place('gone') }), /does not exist/, /PSD2_QWAC_KEY/],
    ['a name that is too long', () => ({ PSD2_CA: 'a'.repeat(5000) }), /cannot be read/, /PSD2_CA/],
    [
      'a wrong passphrase',
      () => ({ PSD2_QWAC_KEY: file('x', encrypted), PSD2_KEY_PASSPHRASE: 'hush hus' }),
      /The passphrase does not open the QWAC key/,
      /PSD2_KEY_PASSPHRASE/,
    ],
    [
      'a link to a key that others can read',
      () => {
        file('readable', certificates.client.key, 0o604);
        return { PSD2_QWAC_KEY: place('link-to-readable') };
      },
      /can be read by others \(mode 0604\)/,
      /chmod 600/,
    ],
  ])('psd2 refuses %s before it sends anything', async (_, env, said, hint) => {
    bank.behave((socket) => write(socket, success()));
    const ended = await run(env());
    const error = readError(ended);
    expect(error).toMatchObject({ exitCode: 3, message: expect.stringMatching(said) });
    expect(`${error.message} ${error.hint}`).toMatch(hint);
    expect(ended.stdout + ended.stderr).not.toMatch(/hush|PRIVATE KEY-----\n/);
    expect(bank.heard).toEqual([]);
  });

  it.each(['PSD2_QWAC_CERT', 'PSD2_QWAC_KEY', 'PSD2_CA', 'PSD2_BANK_SIGNING_CERT'])(
    'psd2 refuses a pipe that nobody writes to, as %s',
    async (variable) => {
      expect(readError(await run({ [variable]: place('fifo') }))).toMatchObject({
        exitCode: 3,
        message: expect.stringMatching(/is a pipe or a device, not a file/),
      });
    },
  );

  it('psd2 does not read an endless device into memory', async () => {
    const { env, peakMiB } = measuringMemory(operator);
    for (const variable of ['PSD2_QWAC_KEY', 'PSD2_CA']) {
      const ended = await operator.psd2(CALL, { env: { ...env, [variable]: '/dev/zero' } });
      expect(readError(ended).exitCode).toBe(3);
      expect(peakMiB()).toBeLessThan(150);
    }
  });

  it('psd2 follows a link to a correct file, and uses the passphrase of a key', async () => {
    bank.behave((socket) => write(socket, success()));
    symlinkSync(operator.env.PSD2_QWAC_CERT ?? '', place('link-to-certificate'));
    const env = {
      PSD2_QWAC_CERT: place('link-to-certificate'),
      PSD2_QWAC_KEY: file('x', encrypted),
      PSD2_KEY_PASSPHRASE: 'hush hush',
    };
    expect(await run(env)).toMatchObject({ code: 0 });
  });
});

/** Modes do not limit root, so these tests run psd2 as another user. */
describe.runIf(process.getuid?.() === 0)('a user who may not read every file', () => {
  const NOBODY = 65_534;
  const home = () => place('home-of-nobody');
  const asNobody = async (env: Environment, args: string[]) => {
    const line = ['--reuid=65534', '--clear-groups', process.execPath, PROGRAM, ...args];
    const started = await operator.startProgram('setpriv', line, {
      HOME: home(),
      PSD2_CONFIG_DIR: join(home(), 'config'),
      NODE_COMPILE_CACHE: undefined,
      ...env,
    });
    started.closeInput();
    return started.ended;
  };

  beforeAll(() => {
    mkdirSync(home());
    chownSync(home(), NOBODY, NOBODY);
    for (const name of ['client.pem', 'client-key.pem', 'ca.pem']) {
      cpSync(place(name), join(home(), name));
      chownSync(join(home(), name), NOBODY, NOBODY);
    }
  });
  const own = (): Environment => ({
    PSD2_QWAC_CERT: join(home(), 'client.pem'),
    PSD2_QWAC_KEY: join(home(), 'client-key.pem'),
    PSD2_CA: join(home(), 'ca.pem'),
  });

  it("psd2 calls the bank with the user's own files", async () => {
    bank.behave((socket) => write(socket, success()));
    const ended = await asNobody(own(), CALL);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
  });

  it.each([
    ['PSD2_QWAC_CERT', 'client.pem'],
    ['PSD2_QWAC_KEY', 'client-key.pem'],
    ['PSD2_CA', 'ca.pem'],
  ])('psd2 names the file of %s if the user may not read it', async (variable, name) => {
    const path = place(name);
    const ended = await asNobody({ ...own(), [variable]: path }, CALL);
    expect(readError(ended)).toMatchObject({
      code: 'certificate',
      exitCode: 3,
      message: expect.stringContaining(`${path} cannot be read`),
      hint: expect.stringContaining(variable),
    });
  });

  it('psd2 refuses a store that belongs to another user', async () => {
    writeTokens(place('of-root'), bank.baseUrl);
    chmodSync(place('of-root'), 0o700);
    const env = { ...own(), PSD2_CONFIG_DIR: place('of-root') };
    const error = readError(await asNobody(env, words`accounts list --json`));
    expect(error).toMatchObject({ exitCode: 3, message: expect.stringContaining('belongs to root') });
  });
});

it.each([{ accessToken: 'a\r\nX-Evil: 1' }, { accessToken: '\u20ac' }, { apiTrackId: '1\nX-Evil: 1' }])(
  'psd2 refuses the stored text %j before it sends anything',
  async (changed) => {
    const config = place('odd-tokens');
    writeTokens(config, bank.baseUrl, changed);
    bank.behave((socket) => write(socket, success()));
    const ended = await run({ PSD2_CONFIG_DIR: config }, ['accounts', 'list', '--json']);
    expect(readError(ended)).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(`${Object.keys(changed)} is not as psd2 wrote it`),
    });
    expect(bank.heard).toEqual([]);
  },
);

describe('links in the store', () => {
  const answerLogin = () =>
    bank.behave((socket) => write(socket, success('{"access_token":"abc","expires_in":600}')));
  const cc = { PSD2_CC_CLIENT_ID: 'id', PSD2_CC_CLIENT_SECRET: 'hush', PSD2_CC_APP_NAME: 'app' };
  const LOGIN = ['auth', 'login', '--client-credentials', '--json'];

  it('psd2 uses a store that is itself a link', async () => {
    answerLogin();
    mkdirSync(place('real-store'), { mode: 0o700 });
    symlinkSync('real-store', place('linked-store'));
    const ended = await run({ ...cc, PSD2_CONFIG_DIR: place('linked-store') }, LOGIN);
    expect(ended).toMatchObject({ code: 0 });
    const written = readFileSync(tokensFile(place('real-store'), 'env', 'client-credentials'), 'utf8');
    expect(written).toContain('abc');
  });

  it('psd2 replaces a file that is a link to elsewhere, and leaves the target as it is', async () => {
    answerLogin();
    const folder = join(place('store-with-link'), 'tokens', 'env', 'client-credentials');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const elsewhere = file('elsewhere.json', '{"mine":true}', 0o644);
    symlinkSync(elsewhere, join(folder, '1.json'));
    const ended = await run({ ...cc, PSD2_CONFIG_DIR: place('store-with-link') }, LOGIN);
    expect(ended).toMatchObject({ code: 0 });
    expect(readFileSync(elsewhere, 'utf8')).toBe('{"mine":true}');
    expect(lstatSync(elsewhere).mode & 0o777).toBe(0o644);
    const stats = lstatSync(tokensFile(place('store-with-link'), 'env', 'client-credentials'));
    expect([stats.isFile(), stats.mode & 0o777]).toEqual([true, 0o600]);
  });

  it('psd2 does not write to a journal that is a link, and sends nothing', async () => {
    const config = place('store-with-journal');
    writeTokens(config, bank.baseUrl);
    const create = words`transfer create --yes --from 0010482620 --to DE89370400440532013000 --name
      ${'Ada Lovelace'} --amount 6.00 --json`;
    const verified = success('{}', ',"resources":{"resourceId":"r1"}');
    bank.behave((socket, { target }) =>
      write(socket, target.endsWith('/verify') ? verified : { status: 501 }),
    );
    const env = { PSD2_CONFIG_DIR: config, PSD2_REDIRECT_URI: 'https://tpp.example/' };
    const { flow } = JSON.parse((await run(env, create)).stdout);
    const journal = join(config, 'flows', 'env', `${flow}.ndjson`);
    const elsewhere = file('elsewhere.ndjson', readFileSync(journal));
    execFileSync('ln', ['-sf', elsewhere, journal]);
    const before = readFileSync(elsewhere, 'utf8');
    bank.behave((socket) => write(socket, success('{"authorizationStatus":"AUTHORIZED"}')));
    const ended = await run(env, ['transfer', 'resume', flow, '--yes', '--json']);
    expect(readError(ended)).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining(`The journal ${journal} cannot be written`),
    });
    expect(readFileSync(elsewhere, 'utf8')).toBe(before);
    expect(bank.heard.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
