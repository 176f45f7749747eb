import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import * as z from 'zod';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration, type Registration } from '../../../src/sandbox/folder/registration.ts';
import { type ProfileSettings, ProfileStore } from '../../../src/store/machine/profiles.ts';
import { removableOptions } from '../../../src/store/machine/setting-table.ts';
import { certificateBag, keyBag, pkcs12Of, plainPart } from '../../certificates/pkcs12-file.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
/** The certificates are valid by then. */
const NOW = new Date(Date.now() + 60_000).toISOString();
const BANK = { baseUrl: 'https://psd2.bank.example/', clientId: 'id', applicationName: 'app' };

let files: Registration;
let folder = newConfigFolder(temporary);
beforeAll(async () => {
  files = await loadOrCreateRegistration(inject('registration'));
});
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

type How = NonNullable<Parameters<typeof openCommand>[2]>;
const open = ({ env, ...how }: How = {}) =>
  openCommand(folder, NOW, { ...how, env: { PSD2_BASE_URL: undefined, ...env } });
/** Runs `psd2 profile …`. @returns what it printed and said */
async function run(words: string[], how?: How) {
  const command = open(how);
  await runIn(command.context, 'profile', ...words);
  return { printed: command.printed(), said: command.said() };
}
const store = (settings: Partial<ProfileSettings> = {}, name = 'bank') =>
  open().context.profiles.write(name, { ...BANK, ...settings });
const stored = (name = 'bank') => open().context.profiles.read(name);
/** Writes a private file. @returns its path */
function write(name: string, content: string | Buffer): string {
  const path = join(temporary, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}
const usage = (message: unknown) => ({ code: 'usage', exitCode: 2, message });
const qwac = () => ({ qwacCertificate: { path: files.qwacCertFile }, qwacKey: { path: files.qwacKeyFile } });
const qseal = () => ({
  ...{ qsealCertificate: { path: files.qsealCertFile }, qsealKey: { path: files.qsealKeyFile } },
});
const SETTINGS = () => ['--base-url', BANK.baseUrl, '--client-id', 'id', '--app-name', 'app'];
const QWAC = () => ['--qwac-cert', files.qwacCertFile, '--qwac-key', files.qwacKeyFile];
const YES = { globals: { yes: true } } as const;
const HUSH = { PSD2_CLIENT_SECRET: 'hush' };

describe('a secret', () => {
  const set = (words: string[], how: How = {}) => run(['set', 'bank', ...words], how);
  const stdin = (text: string): How => ({ changes: () => ({ readStdin: async () => text }) });

  it('comes from standard input, from a file or from its variable, without the blanks around it', async () => {
    await store();
    await set(['--client-secret-stdin'], stdin(' of stdin \n'));
    expect(stored()?.clientSecret).toBe('of stdin');
    await set(['--client-secret-file', write('secret.txt', '\n of a file\n')]);
    expect(stored()?.clientSecret).toBe('of a file');
    await set(['--client-secret-env'], {
      env: { PSD2_CLIENT_SECRET: ' of env ', PSD2_CC_CLIENT_SECRET: 'x' },
    });
    expect(stored()?.clientSecret).toBe('of env');
    await set(['--cc-client-secret-env'], { env: { PSD2_CLIENT_SECRET: 'x', PSD2_CC_CLIENT_SECRET: 'cc' } });
    expect(stored()).toMatchObject({ clientSecret: 'of env', ccClientSecret: 'cc' });
  });

  const EMPTY = 'so psd2 cannot read the secret from it';
  const FROM = ['stdin', 'file', 'env'].map((from) => `--client-secret-${from}`);
  const [STDIN = '', FILE = '', ENV = ''] = FROM;
  const both = (one: string, other: string) => usage(`${one} and ${other} cannot be used together`);
  it.each<[string, string[], How, object]>([
    [
      'standard input is blank',
      [STDIN],
      stdin(' \n'),
      usage('The client secret from standard input is empty'),
    ],
    ['its variable is not set', [ENV], {}, usage(`PSD2_CLIENT_SECRET is not set, ${EMPTY}`)],
    [
      'its variable is blank',
      ['--cc-client-secret-env'],
      { env: { PSD2_CC_CLIENT_SECRET: ' ' } },
      usage(`PSD2_CC_CLIENT_SECRET is not set, ${EMPTY}`),
    ],
    ['it comes from two places', [ENV, STDIN], stdin('hush'), both(STDIN, ENV)],
    ['it comes from two others', [FILE, 'x', STDIN], stdin('hush'), both(STDIN, FILE)],
    ['it comes from the two that are left', [FILE, 'x', ENV], { env: HUSH }, both(FILE, ENV)],
    [
      'its file does not exist',
      [FILE, '/does/not/exist'],
      {},
      usage(expect.stringMatching(/^The secret file \/does\/not\/exist /)),
    ],
  ])('changes nothing if %s', async (_, words, how, failure) => {
    await store({ clientSecret: 'before' });
    expect(await failureOf(set(words, how))).toMatchObject(failure);
    expect(stored()?.clientSecret).toBe('before');
  });

  it.each(['client-secret', 'cc-client-secret'])(
    'is not taken from a file that others can read: %s',
    async (option) => {
      const path = write(option, 'hush');
      chmodSync(path, 0o644);
      await store({ clientSecret: 'before' });
      expect(await failureOf(set([`--${option}-file`, path]))).toMatchObject({
        ...{ code: 'config', message: `${path} can be read by others (mode 0644)` },
      });
      expect(stored()).toEqual({ ...BANK, clientSecret: 'before' });
    },
  );
});

describe('psd2 profile set', () => {
  const set = (...words: string[]) => run(['set', 'bank', ...words]);

  it('--unset takes the name of the option or of the setting, and more than one', async () => {
    await store({ maxAmount: '5.00', staleAfter: '1d', ccDailyLimit: '5', ccClientId: 'cc' });
    await set('--unset', 'maxAmount', '--unset', 'stale-after', '--unset', 'ccDailyLimit', '--unset', 'ca');
    expect(stored()).toEqual({ ...BANK, ccClientId: 'cc' });
  });

  it.each<[string, string, string | undefined]>([
    ['max-amout', 'Did you mean max-amount? ', undefined],
    ['quux', '', undefined],
    ['', '', undefined],
    ['base-url', '', 'base-url'],
    ['clientSecret', '', 'client-secret'],
    ['qwac-cert', '', 'qwac-cert'],
  ])('--unset %j removes nothing', async (name, like, needed) => {
    await store({ maxAmount: '5.00' });
    const hint = `${like}Settings that can be removed: ${removableOptions().join(', ')}.`;
    expect(await failureOf(set('--unset', 'max-amount', '--unset', name))).toEqual(
      needed === undefined
        ? { ...usage(`Unknown setting ${JSON.stringify(name)}`), hint }
        : {
            ...usage(`A profile needs the setting ${needed}`),
            hint: 'Give it another value, or remove the whole profile with psd2 profile remove.',
          },
    );
    expect(stored()).toEqual({ ...BANK, maxAmount: '5.00' });
  });

  it('opens certificates and keys if one of them changes, and else leaves them', async () => {
    await store({ ...qwac(), qwacKey: { path: '/does/not/exist' }, signer: 'sign' });
    await set('--max-amount', '5.00');
    expect(stored()?.maxAmount).toBe('5.00');
    for (const words of [
      ['--signer', 'other'],
      ['--unset', 'signer'],
      ['--unset', 'qseal-cert'],
    ])
      expect((await failureOf(set(...words))).message).toContain('/does/not/exist');
    expect(stored()?.signer).toBe('sign');
    await set('--qwac-key', files.qwacKeyFile);
    expect(stored()?.qwacKey).toMatchObject({ pem: expect.stringContaining('PRIVATE KEY') });
  });

  it('a certificate without its key keeps the stored key, which must belong to it', async () => {
    await store(qwac());
    expect((await failureOf(set('--qwac-cert', files.nextQwacCertFile))).message).toBe(
      'The QWAC key does not belong to the QWAC certificate',
    );
    await set('--reference', '--qwac-cert', files.qwacCertFile);
    expect(stored()).toEqual({ ...BANK, ...qwac() });
  });

  it('a PKCS#12 file has certificate and key, so the stored key goes', async () => {
    const [certificate, key] = [files.nextQwacCertFile, files.nextQwacKeyFile].map((path) =>
      readFileSync(path, 'utf8'),
    );
    const content = pkcs12Of(plainPart(certificateBag(certificate ?? ''), keyBag(key ?? '')));
    await store(qwac());
    const { said } = await run(['set', 'bank', '--qwac-cert', write('qwac.p12', content)], {
      format: 'table',
    });
    expect(stored()).toEqual({ ...BANK, qwacCertificate: { pkcs12: content.toString('base64') } });
    expect(said.split('\n').slice(1)).toEqual([
      `  qwacCertificate: ${files.qwacCertFile} → stored in the profile`,
      `  qwacKey: ${files.qwacKeyFile} → not set`,
      '',
    ]);
  });

  it('a setting that was not there was not set, and psd2 warns of a variable that overrides it', async () => {
    await store();
    const words = ['set', 'bank', '--max-amount', '5.00', '--bank', 'sparkassen', '--client-id', 'other'];
    const { said } = await run(words, { format: 'table', env: { PSD2_MAX_AMOUNT: '9.00' } });
    expect(said.split('\n')).toEqual([
      'The profile bank has changed:',
      '  bank: not set → Sparkassen (S-Payment), stored in the profile',
      '  clientId: id → other',
      '  maxAmount: not set → 5.00',
      'PSD2_MAX_AMOUNT is set and counts where it is stricter.',
      '',
    ]);
  });

  it('the name of an application is checked only where it is sent', async () => {
    await store();
    expect((await failureOf(set('--app-name', 'ä'))).exitCode).toBe(3);
    await set('--bank', 'sparkassen', '--app-name', 'ä');
    expect(stored()).toMatchObject({ applicationName: 'ä', bank: expect.stringContaining('Sparkassen') });
  });
});

describe('psd2 profile add', () => {
  const add = (words: string[], how: How = {}) => run(['add', 'bank', ...words], { env: HUSH, ...how });

  it('the second profile is not in use, and says so', async () => {
    await store({}, 'other');
    await run(['use', 'other']);
    const { printed } = await add([...SETTINGS(), ...QWAC()]);
    expect(JSON.parse(printed)).toEqual({ name: 'bank', baseUrl: BANK.baseUrl, current: false });
  });

  it('asks before it replaces a profile, and again if somebody is logged in elsewhere', async () => {
    await store({ baseUrl: 'https://old.bank.example/' });
    await storeLogin(open({ globals: { profile: 'bank' } }).context, '1000001');
    const questions: string[] = [];
    const answering = (...answers: boolean[]): How => ({
      operator: {
        confirm: async (question) => {
          questions.push(question);
          return answers.shift() ?? false;
        },
      },
    });
    const words = [...SETTINGS(), ...QWAC()];
    const no = { code: 'cancelled', exitCode: 2, message: 'Nothing was stored' };
    expect(await failureOf(add(words, answering(false)))).toEqual(no);
    expect(await failureOf(add(words, answering(true, false)))).toEqual(no);
    expect(stored()?.baseUrl).toBe('https://old.bank.example/');
    await add(words, answering(true, true));
    expect(stored()?.baseUrl).toBe(BANK.baseUrl);
    const replace = 'The profile bank already exists. Replace it?';
    expect(questions).toEqual([
      replace,
      ...[replace, 'Change the base URL?'],
      replace,
      'Change the base URL?',
    ]);
    // At the same base URL the login stays valid.
    await add(words, answering(true));
    expect(questions.slice(5)).toEqual([replace]);
  });

  it('replaces a damaged profile after a yes, but a fault of psd2 is no damage', async () => {
    await store();
    writeFileSync(folder.profile('bank'), '{', { mode: 0o600 });
    const read = vi.spyOn(ProfileStore.prototype, 'read');
    const fault = new TypeError('a fault of psd2');
    read.mockImplementationOnce(() => {
      throw fault;
    });
    await expect(add([...SETTINGS(), ...QWAC()], YES)).rejects.toBe(fault);
    read.mockRestore();
    await add([...SETTINGS(), ...QWAC()], YES);
    expect(stored()).toMatchObject({ ...BANK, clientSecret: 'hush' });
  });

  it('a bank with a bank file needs no client id, and a secret only if its file says so', async () => {
    const words = ['--base-url', BANK.baseUrl, ...QWAC()];
    await add(['--bank', 'sparkassen', ...words], { env: {} });
    expect(stored()).toEqual({
      ...{ baseUrl: BANK.baseUrl, bank: expect.stringContaining('Sparkassen') },
      ...{ qwacCertificate: { pem: expect.any(String) }, qwacKey: { pem: expect.any(String) } },
    });
    const needs = ['--bank', 'banca-transilvania', ...words];
    expect(await failureOf(run(['add', 'other', ...needs]))).toEqual({
      ...usage('The client secret is missing, and psd2 cannot ask for it'),
      hint: 'Use --client-secret-stdin, --client-secret-file <file> or PSD2_CLIENT_SECRET.',
    });
    await run(['add', 'other', ...needs], { env: HUSH });
    expect(stored('other')?.clientSecret).toBe('hush');
    const askSecret = async (question: string) => (question === 'Client secret' ? 'typed' : '');
    await run(['add', 'third', ...needs], { operator: { askSecret } });
    expect(stored('third')?.clientSecret).toBe('typed');
  });

  it('the base URL may come from the bank file, and an option counts more', async () => {
    const file = write(
      'bank.json',
      JSON.stringify({
        interface: 'nextgenpsd2',
        name: 'Mine',
        api: { baseUrl: 'https://file.example/psd2' },
      }),
    );
    await add(['--bank', file, ...QWAC()]);
    expect(stored()?.baseUrl).toBe('https://file.example/psd2');
    await run(['add', 'other', '--bank', file, '--base-url', BANK.baseUrl, ...QWAC()], { env: HUSH });
    expect(stored('other')?.baseUrl).toBe(BANK.baseUrl);
  });

  const sealKey = () => [...QWAC(), '--qseal-key', files.qsealKeyFile];
  const seal = () => [...QWAC(), '--qseal-cert', files.qsealCertFile];
  const signer = () => ['--qwac-cert', files.qwacCertFile, '--signer', 'sign'];
  it.each<[string, () => string[], string, string]>([
    ['the QSealC key without its certificate', sealKey, 'QSealC certificate', 'qseal-cert'],
    ['the QSealC without its key', seal, 'QSealC key', 'qseal-key'],
    ['a signer in place of the key of the QWAC', signer, 'QWAC key', 'qwac-key'],
  ])('takes %s for a mistake', async (_, words, what, option) => {
    const variable = `PSD2_${option.replace('-', '_').toUpperCase()}`;
    expect(await failureOf(add([...SETTINGS(), ...words()]))).toEqual({
      ...usage(`The ${what} is missing`),
      hint: `Add --${option} <file>, or set ${variable}.`,
    });
    expect(stored()).toBeUndefined();
  });

  it('a signer stands in for the key of the QSealC, whose certificate is read all the same', async () => {
    const words = [...SETTINGS(), ...QWAC(), '--signer', 'sign'];
    const bad = write('bad.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    expect((await failureOf(add([...words, '--qseal-cert', bad]))).exitCode).toBe(3);
    await add([...words, '--qseal-cert', files.qsealCertFile]);
    expect(stored()).toMatchObject({ signer: 'sign' });
    expect(stored()).not.toHaveProperty('qsealKey');
  });
});

describe('psd2 profile show', () => {
  const shown = z.object({
    settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
  });
  const show = async (how: How = {}) =>
    shown.parse(JSON.parse((await run(['show', 'bank'], how)).printed)).settings;

  it('a value is from the environment, the profile, or the default', async () => {
    await store({ maxAmount: '5.00', staleAfter: '1d', signer: ' sign\t--pin 1 ' });
    const settings = await show({ env: { PSD2_MAX_AMOUNT: '9.00', PSD2_BANK: 'sparkassen' } });
    expect(settings).toMatchObject({
      bank: { value: 'sparkassen', source: 'environment' },
      // What limits the operator is the stricter of both.
      maxAmount: { value: '5.00', source: 'profile' },
      staleAfter: { value: '1d', source: 'profile' },
      signer: { value: 'sign …', source: 'profile' },
      approvals: { value: '1 in production, else 0', source: 'default' },
      redirectUri: { value: 'http://127.0.0.1:8910/callback', source: 'default' },
    });
    // A command without arguments is all of it.
    await store({ signer: 'sign', clientId: '{"name":"x"}' });
    expect(await show()).toMatchObject({
      signer: { value: 'sign', source: 'profile' },
      clientId: { value: '{"name":"x"}' },
    });
  });
});

describe('psd2 profile protect', () => {
  const env = { PSD2_CONFIG_PASSPHRASE: 'a word' };
  const stdin = (text: string): How => ({ changes: () => ({ readStdin: async () => text }) });

  it('a line break within a passphrase belongs to it, the last one does not', async () => {
    await store({ clientSecret: 'hush' });
    await run(['protect', 'bank', '--passphrase-stdin'], stdin('a\r\nb\r\n'));
    const opens = async (passphrase: string) =>
      open({ env: { PSD2_CONFIG_PASSPHRASE: passphrase } })
        .context.profiles.readSealed('bank')
        .then(
          () => true,
          () => false,
        );
    expect([await opens('a\r\nb'), await opens('ab'), await opens('a\r\nb\r')]).toEqual([true, false, false]);
  });

  it('is written to the audit log, as is its end', async () => {
    await store({ clientSecret: 'hush' });
    await run(['protect', 'bank', '--passphrase'], { env });
    await run(['unprotect', 'bank'], { env, ...YES });
    const { context, printed } = open({ globals: { profile: 'bank' } });
    await runIn(context, 'audit');
    const lines = z.array(z.object({ about: z.string() })).parse(JSON.parse(printed()));
    expect(lines.map(({ about }) => about)).toEqual(['protection passphrase', 'protection none']);
  });

  it('refuses a profile that is encrypted and has no key any more', async () => {
    await store({ clientSecret: 'hush' });
    await run(['protect', 'bank', '--passphrase'], { env });
    writeFileSync(folder.protection('bank'), '');
    mkdirSync(dirname(folder.protection('bank')), { recursive: true });
    const failure = await failureOf(run(['protect', 'bank', '--passphrase'], { env }));
    expect(failure).toMatchObject({ code: 'config', exitCode: 3 });
  });
});

describe('psd2 profile set --all', () => {
  const toNewQwac = () => [
    ...['set', '--all', '--qwac-cert', files.nextQwacCertFile],
    ...['--qwac-key', files.nextQwacKeyFile],
  ];

  it('an interruption ends it', async () => {
    await store(qwac());
    const read = vi.spyOn(ProfileStore.prototype, 'read');
    const interrupted = new Psd2Error('interrupted', 'Interrupted');
    read.mockImplementationOnce(() => {
      throw interrupted;
    });
    await expect(run(toNewQwac())).rejects.toBe(interrupted);
    read.mockRestore();
    expect(stored()).toEqual({ ...BANK, ...qwac() });
  });

  it('a stored certificate that cannot be read fails alone, and a person reads a table', async () => {
    await store({
      ...qwac(),
      qwacCertificate: { pem: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
    });
    await store(
      { qwacCertificate: { path: files.nextQwacCertFile }, qwacKey: { path: files.nextQwacKeyFile } },
      'other',
    );
    const command = open({ format: 'table', columns: 120 });
    const failure = await failureOf(runIn(command.context, 'profile', ...toNewQwac()));
    expect(failure).toEqual({
      ...{ code: 'certificate', exitCode: 3 },
      message: '1 of 2 profiles was not changed: The QWAC certificate cannot be read',
    });
    expect(
      command
        .printed()
        .split('\n')
        .map((line) => line.trim().split(/ {2,}/)),
    ).toEqual([
      ['PROFILE', 'RESULT', 'DETAIL'],
      ['bank', 'failed', 'The QWAC certificate cannot be read'],
      ['other', 'unchanged', 'it has the new one already'],
      [''],
    ]);
  });

  it('takes for the old one that of the same organization, and of another only if nobody has one', async () => {
    // Nothing listens there, so no profile changes.
    const away = { baseUrl: 'https://127.0.0.1:1/' };
    const rows = async () => {
      const command = open();
      await runIn(command.context, 'profile', ...toNewQwac()).catch(() => {});
      return z
        .array(z.object({ profile: z.string(), result: z.string() }))
        .parse(JSON.parse(command.printed() || '[]'))
        .map(({ profile, result }) => `${profile} ${result}`);
    };
    const foreign = { qwacCertificate: { path: files.caFile }, qwacKey: { path: files.qwacKeyFile } };
    await store({ ...away, ...foreign }, 'foreign');
    expect(await rows()).toEqual(['foreign failed']);
    await store({ ...away, ...qwac() }, 'old');
    expect(await rows()).toEqual(['foreign unchanged', 'old failed']);
    const next = {
      qwacCertificate: { path: files.nextQwacCertFile },
      qwacKey: { path: files.nextQwacKeyFile },
    };
    await store({ ...away, ...next }, 'old');
    expect(await rows()).toEqual(['foreign unchanged', 'old unchanged']);
  });

  it('none has one: says so', async () => {
    await store();
    const words = ['set', '--all', '--qseal-cert', files.qsealCertFile, '--qseal-key', files.qsealKeyFile];
    expect(await failureOf(run(words))).toEqual({
      ...usage('No profile has a QSealC'),
      hint: 'Give the certificate to a profile by its name.',
    });
    expect(qseal()).toBeDefined();
  });
});
