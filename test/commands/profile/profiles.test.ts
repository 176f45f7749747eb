import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import * as z from 'zod';
import { list } from '../../../src/commands/profile/list.ts';
import { chooseProtector, profileProtect } from '../../../src/commands/profile/protect.ts';
import { remove } from '../../../src/commands/profile/remove.ts';
import { show } from '../../../src/commands/profile/show.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration, type Registration } from '../../../src/sandbox/folder/registration.ts';
import { type ProfileSettings, ProfileStore } from '../../../src/store/machine/profiles.ts';
import { removableOptions } from '../../../src/store/machine/setting-table.ts';
import { type Environment, passphraseIn } from '../../../src/store/machine/settings.ts';
import { Vault } from '../../../src/store/secrets/vault.ts';
import { certificateBag, keyBag, pkcs12Of, plainPart } from '../../certificates/pkcs12-file.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { auditedIn, storeLogin, storeOperation } from '../access.ts';
import { answering, type How, openCommand, ranIn, runIn, typing, useFolder } from '../command.ts';
import { storeTransfer } from '../customer/stored.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';
import { person } from './person.ts';

const temporary = temporaryFolder();
/** The certificates are valid by then. */
const NOW = new Date(Date.now() + 60_000).toISOString();
const BANK = { baseUrl: 'https://psd2.bank.example/', clientId: 'id', applicationName: 'app' };

let files: Registration;
const folder = useFolder(temporary);
beforeAll(async () => {
  files = await loadOrCreateRegistration(inject('registration'));
});

const open = ({ env, ...how }: How = {}) =>
  openCommand(folder, NOW, { ...how, env: { PSD2_BASE_URL: undefined, ...env } });

/** Runs `psd2 profile …`. */
const run = (words: string[], how?: How) => ranIn(open(how), 'profile', ...words);

const store = (name: string, settings: Partial<ProfileSettings> = {}) =>
  open().context.profiles.write(name, { ...BANK, ...settings });
const stored = (name: string) => open().context.profiles.read(name);
const audited = async (name: string) => {
  const { data } = await ranIn(open({ globals: { profile: name } }), 'audit');
  return auditedIn(data).map(([action, , about]) => `${action}: ${about}`);
};
const TOKEN = 'the-access-token-of-the-earlier-login';
/** What the files of the folder have. */
const everything = () =>
  readdirSync(folder.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    .join('\n');
/** Writes a private file. @returns its path */
function write(name: string, content: string | Buffer): string {
  const path = join(temporary, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}
const stdin = (text: string): How => ({ changes: () => ({ readStdin: async () => text }) });
const YES = { globals: { yes: true } } as const;
const pair = (certificate: string, key: string) => ({
  ...{ qwacCertificate: { path: certificate }, qwacKey: { path: key } },
});
const qwac = () => pair(files.qwacCertFile, files.qwacKeyFile);
const nextQwac = () => pair(files.nextQwacCertFile, files.nextQwacKeyFile);
const usage = (message: unknown) => ({ code: 'usage', exitCode: 2, message });
const unknown = (known: string, like = '') => ({
  ...{ code: 'no_profile', exitCode: 3, message: 'There is no profile "bnak"' },
  hint: `${like}Existing profiles: ${known}.`,
});

describe('psd2 profile list and use', () => {
  it('the list has each profile, the one that psd2 uses has a mark, and another one can be used', async () => {
    await store('bank');
    await store('other', { baseUrl: 'https://other.example/' });
    const { data: used } = await run(['use', 'bank']);
    expect(used).toEqual({ name: 'bank', baseUrl: BANK.baseUrl, current: true });
    const { data } = await run(['list']);
    expect(data).toEqual([
      { name: 'bank', baseUrl: BANK.baseUrl, current: true },
      { name: 'other', baseUrl: 'https://other.example/', current: false },
    ]);
    expect(list.prints?.shape.is(data)).toBe(true);
    expect((await run(['list'], { format: 'table' })).printed).toBe(
      `*\tbank\t${BANK.baseUrl}\n \tother\thttps://other.example/\n`,
    );
    const drawn = await run(['list'], { format: 'table', columns: 100 });
    expect(drawn.printed.split('\n')[0]?.trim().split(/ {2,}/)).toEqual(['PROFILE', 'BASE URL']);
    const { said, printed } = await run(['use', 'other'], { format: 'table' });
    expect([printed, said]).toEqual(['', 'psd2 now uses the profile other by default.\n']);
    expect(open().context.profiles.current()).toBe('other');
  });

  it('a profile that another psd2 removes while this one lists them is not in the list', async () => {
    await store('bank');
    await store('other');
    const command = open();
    const { profiles } = command.context;
    const names = profiles.list();
    vi.spyOn(profiles, 'list').mockImplementation(() => {
      profiles.remove('other');
      return names;
    });
    const { data } = await ranIn(command, 'profile', 'list');
    expect(data).toEqual([{ name: 'bank', baseUrl: BANK.baseUrl, current: false }]);
  });

  it('without a profile the list says what to do', async () => {
    expect(await run(['list'], { format: 'table' })).toMatchObject({
      printed: '',
      said: 'There are no profiles. Run psd2 profile add <name>, or psd2 sandbox start to try the sandbox.\n',
    });
  });

  it('a profile that does not exist cannot be used, and psd2 names those that do', async () => {
    expect(await failureOf(run(['use', 'bank']))).toEqual({
      ...{ code: 'no_profile', exitCode: 3, message: 'There is no profile "bank"' },
      ...{ hint: 'Add it with:', next: [['profile', 'add', 'bank']] },
    });
    await store('bank');
    await store('other');
    expect(await failureOf(run(['use', 'bnak']))).toEqual(unknown('bank, other', 'Did you mean bank? '));
  });
});

const shown = z.object({
  ...{ name: z.string(), source: z.string(), protected: z.string() },
  settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
});
const settingsOf = async (name: string, how?: How) =>
  shown.parse((await run(['show', name], how)).data).settings;

describe('psd2 profile show', () => {
  it('each value has its source: the environment counts more than the profile', async () => {
    const limits = { maxAmount: '5.00', staleAfter: '1d' };
    await store('bank', { ...limits, clientSecret: 'hush', signer: ' sign\t--pin 1234 ' });
    const env = { PSD2_MAX_AMOUNT: '9.00', PSD2_BANK: 'sparkassen', PSD2_KEY_PASSPHRASE: 'hush' };
    const globals = { psuIp: '192.0.2.1', lang: 'it', trace: 'view', timeout: '7.5' };
    const { data } = await run(['show', 'bank'], { env, globals });
    expect(show.prints?.shape.is(data)).toBe(true);
    expect(JSON.stringify(data)).not.toMatch(/hush|1234/);
    const { settings, ...rest } = shown.parse(data);
    expect(rest).toEqual({ name: 'bank', source: 'option', protected: 'no' });
    expect(settings).toMatchObject({
      baseUrl: { value: BANK.baseUrl, source: 'profile' },
      clientSecret: { value: 'set', source: 'profile' },
      signer: { value: 'sign …', source: 'profile' },
      bank: { value: 'sparkassen', source: 'environment' },
      // What limits the operator is the stricter of both.
      maxAmount: { value: '5.00', source: 'profile' },
      staleAfter: { value: '1d', source: 'profile' },
      approvals: { value: '1 in production, else 0', source: 'default' },
      redirectUri: { value: 'http://127.0.0.1:8910/callback', source: 'default' },
      store: { value: `files in ${folder.root}`, source: 'default' },
      keyPassphrase: { value: 'set', source: 'environment' },
      timeout: { value: '7.5 s', source: 'option' },
      scaTimeout: { value: '300 s', source: 'default' },
      psuIpAddress: { value: '192.0.2.1', source: 'option' },
      language: { value: 'it', source: 'option' },
      traceComponent: { value: 'view', source: 'option' },
    });
    expect(settings).not.toHaveProperty('payeeCheck');
  });

  it.each<[string, Partial<ProfileSettings>, Environment, value: string | undefined, source: string]>([
    ['maxAmount', { maxAmount: '9.00' }, { PSD2_MAX_AMOUNT: '5.00' }, '5.00', 'environment'],
    ['maxAmount', { maxAmount: '5.00' }, { PSD2_MAX_AMOUNT: '9.00' }, '5.00', 'profile'],
    ['maxAmount', { maxAmount: '5.00' }, { PSD2_MAX_AMOUNT: '5.00' }, '5.00', 'environment'],
    ['maxAmount', { maxAmount: '5.00' }, {}, '5.00', 'profile'],
    ['maxAmount', {}, { PSD2_MAX_AMOUNT: '5.00' }, '5.00', 'environment'],
    ['approvals', { approvals: '1' }, { PSD2_APPROVALS: '2' }, '2', 'environment'],
    ['approvals', { approvals: '2' }, { PSD2_APPROVALS: '1' }, '2', 'profile'],
    [
      'environment',
      { environment: 'sandbox' },
      { PSD2_ENVIRONMENT: 'production' },
      'production',
      'environment',
    ],
    ['environment', { environment: 'production' }, { PSD2_ENVIRONMENT: 'sandbox' }, 'production', 'profile'],
    ['embedded', { embedded: 'ask' }, { PSD2_EMBEDDED: 'never' }, 'never', 'environment'],
    ['embedded', { embedded: 'never' }, { PSD2_EMBEDDED: 'ask' }, 'never', 'profile'],
    // Of others, the environment counts.
    ['staleAfter', { staleAfter: '1d' }, { PSD2_STALE_AFTER: '2d' }, '2d', 'environment'],
    ['staleAfter', { staleAfter: '2d' }, { PSD2_STALE_AFTER: '1d' }, '1d', 'environment'],
  ])('%s of %j is with %j: %s, of the %s', async (key, settings, env, value, source) => {
    await store('bank', settings);
    expect((await settingsOf('bank', { env }))[key]).toEqual({ value, source });
  });

  it('the name that is given counts more than --profile, and that more than the profile in use', async () => {
    for (const name of ['given', 'option', 'used']) await store(name, { clientId: name });
    await run(['use', 'used']);
    const ofClient = async (words: string[], globals = {}) => {
      const { name, source, settings } = shown.parse((await run(['show', ...words], { globals })).data);
      return [name, source, settings.clientId?.value];
    };
    const option = { profile: 'option' };
    expect(await ofClient(['given'], option)).toEqual(['given', 'option', 'given']);
    expect(await ofClient([], option)).toEqual(['option', 'option', 'option']);
    expect(await ofClient([])).toEqual(['used', 'default', 'used']);
  });

  it('without a name it is the profile in use, and a person reads one line for each value', async () => {
    await store('bank');
    await run(['use', 'bank']);
    const { printed } = await run(['show'], { format: 'table' });
    const lines = printed.split('\n');
    expect(lines.slice(0, 2)).toEqual(['Profile\tbank (default)', 'Protected\tno']);
    expect(lines).toContain(`Base URL\t${BANK.baseUrl} (profile)`);
    expect(lines).toContain('Time limit of a call\t30 s (default)');
    expect(printed).not.toMatch(/Language|IP address/);
  });

  it('a file is its path or stored, a bank file its name, and the store has no password', async () => {
    await store('bank', {
      ...{ qwacCertificate: { path: '/etc/qwac.pem' }, ca: { pem: 'PEM' } },
      bank: JSON.stringify({ name: 'My Bank' }),
    });
    // A command without arguments is all of it, and a text that looks like a bank file is none.
    await store('other', { bank: '{"interface":"nextgenpsd2"}', signer: 'sign', clientId: '{"name":"x"}' });
    const env = { PSD2_STORE: 'postgres://ada@db.example/bank' };
    expect(await settingsOf('bank', { env })).toMatchObject({
      qwacCertificate: { value: '/etc/qwac.pem' },
      ca: { value: 'stored in the profile' },
      bank: { value: 'My Bank, stored in the profile' },
      store: { value: env.PSD2_STORE, source: 'environment' },
    });
    expect(await settingsOf('other')).toMatchObject({
      bank: { value: 'stored in the profile' },
      signer: { value: 'sign', source: 'profile' },
      clientId: { value: '{"name":"x"}' },
    });
  });
});

describe('psd2 profile protect and unprotect', () => {
  const env = { PSD2_CONFIG_PASSPHRASE: 'a word' };
  const protect = (...words: string[]) => run(['protect', 'bank', ...words], { env });

  it('encrypts the values, which profile show then hides, and the audit log has it, as its end', async () => {
    await store('bank', { clientSecret: 'hush' });
    expect((await protect('--passphrase')).data).toEqual({ name: 'bank', protected: 'passphrase' });
    expect(stored('bank')).not.toHaveProperty('clientSecret');
    expect((await run(['show', 'bank'])).data).toMatchObject({
      protected: 'passphrase',
      settings: { clientSecret: { value: 'encrypted', source: 'profile' } },
    });
    const { data } = await run(['unprotect', 'bank'], { env, ...YES });
    expect(data).toEqual({ name: 'bank', protected: 'no' });
    const changes = ['profile-changed: protection passphrase', 'profile-changed: protection none'];
    expect(await audited('bank')).toEqual(changes);
  });

  it('the secrets are in clear again only after a yes, and a person reads how the profile is stored', async () => {
    const said = async (words: string[], how?: How) => {
      const { printed, ...found } = await run([...words, 'bank'], { env, format: 'table', ...how });
      expect(printed).toBe('');
      return found.said;
    };
    await store('bank', { clientSecret: 'hush' });
    expect(await said(['protect', '--passphrase'])).toBe(
      'The stored data of the profile bank is encrypted. The key comes from the passphrase.\n',
    );
    expect(await failureOf(run(['unprotect', 'bank'], { env }))).toEqual({
      ...{ code: 'confirmation_needed', exitCode: 2, hint: 'Add --yes.' },
      message:
        'Storing secrets without encryption needs a confirmation, and psd2 cannot ask without a terminal',
    });
    const { questions, operator } = answering(false);
    expect(await failureOf(run(['unprotect', 'bank'], { env, operator }))).toEqual({
      ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was changed' },
    });
    expect(questions).toEqual(['Store the tokens, secrets and keys of bank without encryption?']);
    expect(stored('bank')).not.toHaveProperty('clientSecret');
    expect(await said(['unprotect'], YES)).toBe(
      'The stored data of the profile bank is no longer encrypted.\n',
    );
    expect(stored('bank')).toMatchObject({ clientSecret: 'hush' });
    expect(await said(['unprotect'])).toBe('The stored data of the profile bank was not encrypted.\n');
  });

  const MISSING = 'Set PSD2_CONFIG_PASSPHRASE, or use --passphrase-stdin.';
  it.each([
    [['--keyring', '--passphrase'], usage('--keyring and a passphrase cannot be used together')],
    [['--keyring', '--passphrase-stdin'], usage('--keyring and a passphrase cannot be used together')],
    [['--passphrase-stdin'], usage('The passphrase is empty')],
    [['--passphrase'], { ...usage('The passphrase is missing, and psd2 cannot ask for it'), hint: MISSING }],
  ])('%j without a passphrase changes nothing', async (words, failure) => {
    await store('bank', { clientSecret: 'hush' });
    expect(await failureOf(run(['protect', 'bank', ...words]))).toEqual(failure);
    expect(stored('bank')).toMatchObject({ clientSecret: 'hush' });
  });

  it('at a terminal the passphrase is asked for twice', async () => {
    await store('bank', { clientSecret: 'hush' });
    const words = ['protect', 'bank', '--passphrase'];
    expect(await failureOf(run(words, typing('one', 'two')))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: 'The two passphrases are different' },
      hint: 'Nothing was changed.',
    });
    expect(stored('bank')).toMatchObject({ clientSecret: 'hush' });
    const { questions, operator } = typing('one', 'one');
    await run(words, { operator });
    expect(stored('bank')).not.toHaveProperty('clientSecret');
    expect(questions).toEqual(['New passphrase of the profile bank', 'Repeat the passphrase']);
  });

  it('refuses a profile that is encrypted and has no key any more', async () => {
    await store('bank', { clientSecret: 'hush' });
    await protect('--passphrase');
    writeFileSync(folder.protection('bank'), '');
    mkdirSync(dirname(folder.protection('bank')), { recursive: true });
    expect(await failureOf(protect('--passphrase'))).toMatchObject({ code: 'config', exitCode: 3 });
  });

  const BY_ENVIRONMENT = { keyring: false, passphrase: false, passphraseStdin: false };
  it('psd2 profile protect names the damaged files that it left in clear', async () => {
    const protectIt = async () => (await run(['protect', 'bank', '--passphrase'], { env })).said;
    const damage = (file: string) => {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, '{"secret":"hush"', { mode: 0o600 });
    };
    await store('bank', { clientSecret: 'hush' });
    expect(await protectIt()).toBe('');
    damage(folder.profile('bank'));
    damage(join(folder.tokens('bank'), 'customer-42', '1.json'));
    await open({ env }).context.profiles.write('bank', { ...BANK, clientSecret: 'hush' });
    await storeLogin(open({ env, globals: { profile: 'bank' } }).context, '42');
    const kept = /Damaged files may contain unencrypted secrets\. Remove them: rm (\S+) (\S+)\n/.exec(
      await protectIt(),
    );
    expect(kept?.slice(1)).toEqual([
      expect.stringContaining(`${folder.profile('bank')}.damaged-`),
      expect.stringContaining(join(folder.tokens('bank'), 'customer-42', '1.json.damaged-')),
    ]);
  });

  it.each([
    ['two words', 'two words'],
    [' a blank before and behind ', ' a blank before and behind '],
    ['a tab behind\t', 'a tab behind\t'],
    ['one line end\n', 'one line end'],
    ['one line end of Windows\r\n', 'one line end of Windows'],
    ['two line ends\n\n', 'two line ends\n'],
    ['one\r\nwithin\r\n', 'one\r\nwithin'],
  ])('from standard input and the environment %j is the passphrase %j', async (given, passphrase) => {
    const { context } = open(stdin(given));
    const fromStdin = { ...BY_ENVIRONMENT, passphraseStdin: true };
    expect(await chooseProtector(context, 'bank', fromStdin)).toEqual({ kind: 'passphrase', passphrase });
    expect(passphraseIn({ PSD2_CONFIG_PASSPHRASE: given })).toBe(passphrase);
  });

  const TYPING = { operator: { askSecret: async () => 'typed' } };
  const given = (passphrase: string) => ({ kind: 'passphrase', passphrase });
  it.each<[string, object, boolean, object | undefined]>([
    ['what protects it stays', {}, false, undefined],
    ['what protects it stays at a terminal, too', {}, true, undefined],
    ['the passphrase that opens it stays', { passphrase: true }, false, undefined],
    ['a person is asked for a new one', { passphrase: true }, true, given('typed')],
    ['the keyring takes its place', { keyring: true }, false, { kind: 'keyring' }],
    ['standard input has a new one', { passphraseStdin: true }, true, given('piped')],
  ])('of a profile that a passphrase protects, %s: %j', async (_, options, canAsk, protector) => {
    await store('bank');
    const { context } = open({ env, globals: { profile: 'bank' }, ...stdin('piped'), ...(canAsk && TYPING) });
    await profileProtect(context, undefined, BY_ENVIRONMENT);
    expect(await chooseProtector(context, 'bank', { ...BY_ENVIRONMENT, ...options })).toEqual(protector);
  });

  it.each<[string, object, string | undefined, object]>([
    ['the keyring, without an option', {}, undefined, { kind: 'keyring' }],
    ['the keyring, with its option', { keyring: true }, 'set', { kind: 'keyring' }],
    ['a person', { passphrase: true }, undefined, given('typed')],
    ['the environment, before a person', { passphrase: true }, 'set', given('set')],
  ])('a profile that nothing protects gets its key from %s', async (_, options, passphrase, protector) => {
    const { context } = open({ env: { PSD2_CONFIG_PASSPHRASE: passphrase }, ...TYPING });
    expect(await chooseProtector(context, 'bank', { ...BY_ENVIRONMENT, ...options })).toEqual(protector);
  });
});

describe('psd2 profile remove', () => {
  it('removes the settings after a yes, and says so', async () => {
    await store('bank');
    expect(await failureOf(run(['remove', 'bank']))).toEqual({
      ...{ code: 'confirmation_needed', exitCode: 2, hint: 'Add --yes.' },
      message: 'Removing a profile needs a confirmation, and psd2 cannot ask without a terminal',
    });
    await storeLogin(open({ globals: { profile: 'bank' } }).context, '1000001', { accessToken: TOKEN });
    expect(everything()).toContain(TOKEN);
    const { data } = await run(['remove', 'bank'], YES);
    expect(everything()).not.toContain(TOKEN);
    expect(data).toEqual({ name: 'bank', removed: true });
    expect(remove.prints?.shape.is(data)).toBe(true);
    expect(await failureOf(run(['remove', 'bank'], YES))).toMatchObject({
      ...{ code: 'no_profile', exitCode: 3, message: 'There is no profile "bank"' },
    });
  });

  it('removes the smoke tests of the profile, and the shapes they have learned, but not those of another', async () => {
    const kept = (name: string) => [join(folder.smoke(name), 'runs.json'), folder.shapes(name)];
    for (const name of ['bank', 'other']) {
      await store(name);
      for (const path of kept(name)) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        writeFileSync(path, '{}', { mode: 0o600 });
      }
    }
    await run(['remove', 'bank'], YES);
    expect([...kept('bank'), folder.smoke('bank'), ...kept('other')].map((path) => existsSync(path))).toEqual(
      [...[false, false, false], ...[true, true]],
    );
  });

  it('a person reads where the record of the payments stays', async () => {
    await store('bank');
    expect((await run(['remove', 'bank'], { ...YES, format: 'table' })).said).toBe(
      'The profile bank is removed.\n',
    );
    await store('bank');
    const { context } = open({ globals: { profile: 'bank' } });
    await storeTransfer(context, '1000001', 'settled');
    expect((await run(['remove', 'bank'], { ...YES, format: 'table' })).said).toBe(
      `The profile bank is removed. The record of its flows stays in ${folder.flows('bank')}.\n`,
    );
  });

  it.each([
    ['executed', 6, ', and 1 more'],
    ['unknown', 5, ''],
  ] as const)('payments (%s) keep it: of %i, the first five are named', async (reached, count, more) => {
    await store('bank');
    const { context } = open({ globals: { profile: 'bank' } });
    for (let number = 1; number <= count; number += 1)
      await storeTransfer(context, '1000001', reached, { reference: String(number) });
    await storeTransfer(context, '1000001', 'created', { reference: '7' });
    const failure = await failureOf(run(['remove', 'bank'], YES));
    const named = [...failure.message.matchAll(/(tr-\S+) \(/g)].map(([, flow]) => flow);
    const flows = named.map((flow) => `${flow} (${reached})`).join(', ');
    expect(failure).toEqual({
      ...{ code: 'config', exitCode: 3, hint: 'Finish them first:' },
      message: `The profile bank has unfinished payments: ${flows}${more}`,
      next: named.slice(0, 3).map((flow) => ['--profile', 'bank', 'transfer', 'resume', flow]),
    });
    expect(named).toHaveLength(5);
    expect(stored('bank')).toBeDefined();
  });

  it('a payment that has not begun is named, and does not', async () => {
    await store('bank');
    const { context } = open({ globals: { profile: 'bank' } });
    const flow = await storeTransfer(context, '1000001', 'created');
    const { questions, operator } = answering(false);
    const command = open({ operator });
    expect(await failureOf(runIn(command.context, 'profile', 'remove', 'bank'))).toEqual({
      ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was removed' },
    });
    expect(questions).toEqual(['Remove the profile bank with its certificates and tokens?']);
    expect(command.said()).toBe(
      `Unfinished flows, which psd2 cannot resume without the profile: ${flow} (created).\n`,
    );
  });

  it.each<[ProfileSettings['environment'], string | undefined, string]>([
    ['production', undefined, '[PRODUCTION bank] ?'],
    // The environment changes nothing about what is removed.
    ['production', 'sandbox', '[PRODUCTION bank] ?'],
    ['sandbox', undefined, '?'],
    [undefined, undefined, '?'],
  ])('the question is marked as what is stored says: %s, with PSD2_ENVIRONMENT %s', async (is, now, mark) => {
    await store('bank', is === undefined ? {} : { environment: is });
    const marks: string[] = [];
    const confirm = async () => marks.push(command.context.terminal.marked('?')) > 0;
    const command = open({ env: { PSD2_ENVIRONMENT: now }, operator: { confirm } });
    await runIn(command.context, 'profile', 'remove', 'bank');
    expect(marks).toEqual([mark]);
  });

  it('an operation keeps it until it is executed', async () => {
    await store('bank');
    const { context } = open({ globals: { profile: 'bank' } });
    const amounts = { totalAmount: null, commissions: null, bankName: null };
    const flow = await storeOperation(
      context,
      {},
      { type: 'verified', resourceId: 'r1', ...amounts, nextStep: 'execute' },
      { type: 'accepted' },
      { type: 'sca-started' },
      { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
    );
    expect(await failureOf(run(['remove', 'bank'], YES))).toMatchObject({
      ...{ code: 'config', next: [['--profile', 'bank', 'operation', 'resume', flow]] },
    });
    const { flows } = await context.store();
    await flows.resume('operation', flow, async ({ record }) => {
      await record({ type: 'execute-sent', requestId: 'q', digest: null });
      await record({ type: 'executed', cro: null });
    });
    expect(await run(['remove', 'bank'], YES)).toMatchObject({ data: { removed: true }, said: '' });
  });

  it('a transfer whose settlement the bank does not tell is over once it was executed', async () => {
    await store('bank');
    await storeTransfer(open({ globals: { profile: 'bank' } }).context, '1000001', 'executed', {
      instant: false,
    });
    expect(await run(['remove', 'bank'], YES)).toMatchObject({ data: { removed: true }, said: '' });
  });

  it('writes the removal to the audit log, which stays, and removes the key', async () => {
    await store('bank', { clientSecret: 'hush' });
    const env = { PSD2_CONFIG_PASSPHRASE: 'a word' };
    await run(['protect', 'bank', '--passphrase'], { env });
    expect(await open({ env }).context.profiles.vault('bank').kind).toBe('passphrase');
    await run(['remove', 'bank'], { ...YES, env });
    expect(open({ env }).context.profiles.vault('bank').kind).toBeUndefined();
    await store('bank');
    expect((await audited('bank')).at(-1)).toBe('profile-changed: removed');
  });

  it('is done even if the key cannot be removed, and psd2 says so', async () => {
    const forget = vi.spyOn(Vault.prototype, 'forget');
    const locked = new Psd2Error('config', 'The keyring is locked');
    await store('bank');
    forget.mockRejectedValueOnce(locked);
    expect(await run(['remove', 'bank'], YES)).toMatchObject({
      data: { name: 'bank', removed: true },
      said: "psd2 could not remove the profile's key, which is useless now: The keyring is locked.\n",
    });
    for (const fault of [new TypeError('a fault of psd2'), new Psd2Error('interrupted', 'Interrupted')]) {
      await store('bank');
      forget.mockRejectedValueOnce(fault);
      await expect(run(['remove', 'bank'], YES)).rejects.toBe(fault);
    }
    forget.mockRestore();
  });

  it.each(['', ' ', 'Bank', '../bank', 'env'])('%j is no profile that can be removed', async (name) => {
    await store('bank');
    const failure = await failureOf(run(['remove', name], YES));
    expect([failure.code, stored('bank')]).toEqual([expect.stringMatching(/^(usage|no_profile)$/), BANK]);
  });

  it('a flow that another psd2 works on keeps the profile', async () => {
    await store('bank');
    const { flows } = await open({ globals: { profile: 'bank' } }).context.store();
    const flow = await storeTransfer(open({ globals: { profile: 'bank' } }).context, '1', 'settled');
    await flows.resume('transfer', flow, async () => {
      expect(await failureOf(run(['remove', 'bank'], YES))).toEqual({
        ...{ code: 'config', exitCode: 3 },
        message: expect.stringMatching(`^Another psd2 is working on ${flow} of the profile bank: .`),
        hint: 'Wait for it to end, or interrupt it. Nothing was removed.',
      });
    });
  });

  it('a damaged profile can be removed', async () => {
    await store('bank');
    writeFileSync(folder.profile('bank'), '{', { mode: 0o600 });
    const { data } = await run(['remove', 'bank'], answering(true));
    expect(data).toEqual({ name: 'bank', removed: true });
  });
});

describe('a secret of psd2 profile set', () => {
  const set = (words: string[], how: How = {}) => run(['set', 'bank', ...words], how);

  it('comes from standard input, from a file or from its variable, without the blanks around it', async () => {
    await store('bank');
    await set(['--client-secret-stdin'], stdin(' of stdin \n'));
    expect(stored('bank')?.clientSecret).toBe('of stdin');
    await set(['--client-secret-file', write('secret.txt', '\n of a file\n')]);
    expect(stored('bank')?.clientSecret).toBe('of a file');
    await set(['--client-secret-env'], {
      env: { PSD2_CLIENT_SECRET: ' of env ', PSD2_CC_CLIENT_SECRET: 'x' },
    });
    expect(stored('bank')?.clientSecret).toBe('of env');
    await set(['--cc-client-secret-env'], { env: { PSD2_CLIENT_SECRET: 'x', PSD2_CC_CLIENT_SECRET: 'cc' } });
    expect(stored('bank')).toMatchObject({ clientSecret: 'of env', ccClientSecret: 'cc' });
  });

  const EMPTY = 'so psd2 cannot read the secret from it';
  const FROM = ['stdin', 'file', 'env'].map((from) => `--client-secret-${from}`);
  const [STDIN = '', FILE = '', ENV = ''] = FROM;
  const HUSH = { PSD2_CLIENT_SECRET: 'hush' };
  const BLANK = { env: { PSD2_CC_CLIENT_SECRET: ' ' } };
  const both = (one: string, other: string) => `${one} and ${other} cannot be used together`;
  const NO_FILE = expect.stringMatching(/^The secret file \/does\/not\/exist /);
  it.each<[string, string[], How, string]>([
    ['standard input is blank', [STDIN], stdin(' \n'), 'The client secret from standard input is empty'],
    ['its variable is not set', [ENV], {}, `PSD2_CLIENT_SECRET is not set, ${EMPTY}`],
    ['its variable is blank', [`--cc${ENV.slice(1)}`], BLANK, `PSD2_CC_CLIENT_SECRET is not set, ${EMPTY}`],
    ['it comes from two places', [ENV, STDIN], stdin('hush'), both(STDIN, ENV)],
    ['it comes from two others', [FILE, 'x', STDIN], stdin('hush'), both(STDIN, FILE)],
    ['it comes from the two that are left', [FILE, 'x', ENV], { env: HUSH }, both(FILE, ENV)],
    ['its file does not exist', [FILE, '/does/not/exist'], {}, NO_FILE],
  ])('changes nothing if %s', async (_, words, how, message) => {
    await store('bank', { clientSecret: 'before' });
    expect(await failureOf(set(words, how))).toMatchObject(usage(message));
    expect(stored('bank')?.clientSecret).toBe('before');
  });

  it('is not taken from a file that others can read', async () => {
    const path = write('client-secret', 'hush');
    chmodSync(path, 0o644);
    await store('bank', { clientSecret: 'before' });
    for (const option of ['--client-secret-file', '--cc-client-secret-file'])
      expect(await failureOf(set([option, path]))).toMatchObject({
        ...{ code: 'config', message: `${path} can be read by others (mode 0644)` },
      });
    expect(await failureOf(set(['--client-secret-file', temporary]))).toEqual({
      ...{ code: 'config', exitCode: 3, message: `The secret file ${temporary} cannot be read` },
    });
    expect(await failureOf(set(['--client-secret-file', write('empty', ' \n')]))).toMatchObject(
      usage(`The client secret from ${join(temporary, 'empty')} is empty`),
    );
    expect(stored('bank')).toEqual({ ...BANK, clientSecret: 'before' });
  });
});

describe('psd2 profile set', () => {
  const set = (...words: string[]) => run(['set', ...words]);

  it('changes what is given, says what was there, and writes the names to the audit log', async () => {
    await store('bank', { maxAmount: '5.00', clientSecret: 'old' });
    const secret = write('secret.txt', 'new\n');
    const words = ['bank', '--max-amount', '7.00', '--client-secret-file', secret, '--unset', 'payee-check'];
    const { said } = await run(['set', ...words], { format: 'table' });
    expect(said).toBe('The profile bank has changed:\n  clientSecret: changed\n  maxAmount: 5.00 → 7.00\n');
    expect(stored('bank')).toEqual({ ...BANK, maxAmount: '7.00', clientSecret: 'new' });
    expect(await audited('bank')).toEqual(['profile-changed: clientSecret (maxAmount: 5.00 → 7.00)']);
    // What is the same is not written again.
    const { ino } = statSync(folder.profile('bank'));
    const { said: again } = await run(['set', ...words], { format: 'table' });
    expect(again).toBe('The profile bank is unchanged.\n');
    expect(statSync(folder.profile('bank')).ino).toBe(ino);
    expect(await audited('bank')).toHaveLength(1);
  });

  it('writes to the audit log who may enter credentials, and takes none from files in production', async () => {
    await store('bank');
    await set('bank', '--embedded', 'files');
    expect(await audited('bank')).toEqual(['profile-changed: (embedded: not set → files)']);
    expect(await failureOf(set('bank', '--environment', 'production'))).toMatchObject({
      ...{ code: 'config', exitCode: 3 },
      message: 'Embedded SCA with files is only for sandboxes, and this profile is of production',
    });
    expect(stored('bank')?.environment).toBeUndefined();
    const other = ['--environment', 'production', '--embedded', 'ask'];
    await set('bank', ...other);
    expect(stored('bank')).toMatchObject({ environment: 'production', embedded: 'ask' });
    const env = { PSD2_EMBEDDED: 'files' };
    expect((await settingsOf('bank', { env })).embedded).toEqual({ value: 'ask', source: 'profile' });
    expect(await failureOf(run(['set', 'bank', '--embedded', 'files']))).toMatchObject({ exitCode: 3 });
  });

  it('changes the profile in use if none is named', async () => {
    await store('bank');
    await store('other');
    await run(['set', '--max-amount', '7.00'], { globals: { profile: 'other' } });
    expect([stored('bank')?.maxAmount, stored('other')?.maxAmount]).toEqual([undefined, '7.00']);
    await run(['use', 'bank']);
    await set('--max-amount', '8.00');
    expect([stored('bank')?.maxAmount, stored('other')?.maxAmount]).toEqual(['8.00', '7.00']);
  });

  it.each([
    ['-----BEGIN CERTIFICATE REQUEST-----\n', 'is a certificate request, not a certificate'],
    ['%PDF-1.4', 'is not a PEM certificate'],
  ])('names a file that is no certificate: %s', async (content, says) => {
    await store('bank');
    const path = write('new.csr', content);
    expect(await failureOf(set('bank', '--qwac-cert', path))).toMatchObject({ message: `${path} ${says}` });
  });

  it('prints the profile as JSON, and removes settings by the name of the option or of the setting', async () => {
    await store('bank', { maxAmount: '5.00', staleAfter: '1d', ccDailyLimit: '5', ccClientId: 'cc' });
    const unset = ['stale-after', 'ccDailyLimit', 'ca'].flatMap((name) => ['--unset', name]);
    const { data } = await set('bank', ...unset);
    expect(data).toMatchObject({ name: 'bank', settings: { baseUrl: { value: BANK.baseUrl } } });
    const { said } = await run(['set', 'bank', '--unset', 'maxAmount'], { format: 'table' });
    expect(said).toContain('  maxAmount: 5.00 → not set');
    expect(stored('bank')).toEqual({ ...BANK, ccClientId: 'cc' });
  });

  const ALL_TAKES = '--all takes certificates and keys, and no profile';
  const ALONE = '--store cannot be combined with other settings';
  const OWN = 'Set the store in a command of its own.';
  const EACH = 'Give at least one, or let psd2 ask for each:';
  const TOGETHER = '--max-amount and --unset max-amount cannot be used together';
  const TO_REMOVE = 'To remove the setting: --unset max-amount.';
  const AN_AMOUNT =
    'Give PSD2_MAX_AMOUNT or --max-amount as digits with a point before at most two decimals: 500.00.';
  const AN_AGE = 'Give PSD2_STALE_AFTER or --stale-after as a whole number with its unit: 36h or 2d.';
  const STORES = 'Use files, or postgres://user@host:5432/database.';
  it.each<[string, string, string?]>([
    ['bank', 'No setting is given', EACH],
    ['bank --all', ALL_TAKES],
    ['--all --unset ca', ALL_TAKES],
    ['--all --store files', ALL_TAKES],
    ['bank --max-amount 5.00 --unset max-amount', TOGETHER],
    ['bank --max-amount ', 'The value of --max-amount is empty', TO_REMOVE],
    ['bank --max-amount abc', 'The largest amount "abc" is not an amount', AN_AMOUNT],
    ['bank --stale-after 1x', 'The age "1x" from which data is stale is not a duration', AN_AGE],
    ['bank --client-id ', 'The value of --client-id is empty'],
    ['bank --store files --max-amount 5.00', ALONE, OWN],
    ['bank --store files --unset ca', ALONE, OWN],
    ['bank --store files --reference', ALONE, OWN],
    ['bank --store nowhere', '--store does not name a store', STORES],
  ])('%s changes nothing', async (words, message, hint) => {
    await store('bank', { maxAmount: '9.00' });
    const next = [
      ['profile', 'set', 'bank', '--max-amount', '500.00'],
      ['profile', 'edit', 'bank'],
    ];
    expect(await failureOf(set(...words.split(' ')))).toEqual({
      ...{ code: 'usage', exitCode: 2, message },
      ...(hint !== undefined && { hint }),
      ...(hint === EACH && { next }),
    });
    expect(stored('bank')).toEqual({ ...BANK, maxAmount: '9.00' });
  });

  it('of a profile that does not exist is an error', async () => {
    await store('bank');
    expect(await failureOf(set('bnak', '--max-amount', '5.00'))).toEqual(
      unknown('bank', 'Did you mean bank? '),
    );
  });

  it('another base URL needs a yes if somebody is logged in, and says how to take the logins along', async () => {
    await store('bank');
    const { context } = open({ globals: { profile: 'bank' } });
    await storeLogin(context, '1000001');
    const words = ['bank', '--base-url', 'https://new.bank.example'];
    const moving = 'psd2 --profile bank auth move --from https://psd2.bank.example/';
    expect(await failureOf(set(...words))).toEqual({
      ...{ code: 'confirmation_needed', exitCode: 2 },
      message: `1 login of the profile bank belongs to ${BANK.baseUrl}, and psd2 cannot ask without a terminal`,
      hint: `A login is valid only at its own base URL. Add --yes to change it, or add a profile for the other one. If it is the same bank with a new address, then take it along: ${moving}`,
    });
    expect(stored('bank')).toEqual(BANK);
    await storeLogin(open({ globals: { profile: 'bank' } }).context, '1000002');
    const { said } = await run(['set', ...words], { format: 'table', globals: { yes: true } });
    expect(said.split('\n')).toEqual([
      `2 logins of the profile bank belong to ${BANK.baseUrl}. psd2 keeps them, but cannot use them at https://new.bank.example/. If it is the same bank with a new address, take them along afterwards: ${moving}`,
      'The profile bank has changed:',
      `  baseUrl: ${BANK.baseUrl} → https://new.bank.example/`,
      'Logins and consents are valid only for their own base URL. Log in with: psd2 --profile bank auth login',
      '',
    ]);
    // The same URL, written in another way, is no change.
    const same = await run(['set', 'bank', '--base-url', 'https://NEW.bank.example/'], { format: 'table' });
    expect(same.said).toBe('The profile bank is unchanged.\n');
  });

  it.each<[logins: number, customers: number, what: string | null, them?: string]>([
    [0, 0, null],
    [1, 0, '1 login of the profile bank belongs', 'it'],
    [2, 0, '2 logins of the profile bank belong', 'them'],
    [0, 1, 'the consents of 1 customer of the profile bank belong', 'them'],
    [1, 1, '1 login and the consents of 1 customer of the profile bank belong', 'them'],
  ])('another base URL, with %i logins and consents of %i customers, says what stays: %s', async (...row) => {
    const [logins, customers, what, them] = row;
    await store('bank');
    const { context } = open({ globals: { profile: 'bank' } });
    for (let index = 1; index <= logins; index += 1) await storeLogin(context, `${index}`);
    const data = await context.store();
    for (let index = 1; index <= customers; index += 1)
      await data.customers.change(`${index}`, (before) => ({ ...before, psuId: 'ada' }));
    const words = ['set', 'bank', '--base-url', 'https://new.bank.example'];
    const { said } = await run(words, { format: 'table', ...YES });
    const moving = 'psd2 --profile bank auth move --from https://psd2.bank.example/';
    const belongs = `${what} to ${BANK.baseUrl}. psd2 keeps ${them}, but cannot use ${them} at https://new.bank.example/. If it is the same bank with a new address, take ${them} along afterwards: ${moving}`;
    expect(said.split('\n').slice(0, -4)).toEqual(what === null ? [] : [belongs]);
  });

  it('another base URL of a bank that nobody logs in to asks for a consent next', async () => {
    await store('bank');
    const find = bankWhere({ logsIn: 'nobody' });
    const words = ['set', 'bank', '--base-url', 'https://new.bank.example'];
    const { said } = await run(words, { format: 'table', find });
    expect(said.trimEnd().split('\n').at(-1)).toBe(
      'Logins and consents are valid only for their own base URL. Ask a customer for a consent with: psd2 --profile bank consent request',
    );
  });

  it('--unset takes a certificate and its key together', async () => {
    const qseal = { qsealCertificate: { path: files.qsealCertFile }, qsealKey: { path: files.qsealKeyFile } };
    await store('bank', { ...qwac(), ...qseal });
    await set('bank', '--unset', 'qseal-cert');
    expect(Object.keys(stored('bank') ?? {}).toSorted()).toEqual([
      ...['applicationName', 'baseUrl', 'clientId', 'qwacCertificate', 'qwacKey'],
    ]);
  });

  it.each([
    ['--max-amount', 'much'],
    ['--app-name', 'ä'],
    ['--cc-app-name', 'ä'],
    ['--cc-daily-limit', '0'],
    ['--stale-after', 'soon'],
    ['--redirect-uri', 'callback'],
    ['--base-url', 'psd2.bank.example'],
    ['--qwac-cert', '/does/not/exist'],
  ])('a wrong value of %s changes nothing, nor do right ones beside it', async (option, value) => {
    await store('bank');
    await failureOf(set('bank', '--client-id', 'x', '--max-amount', '5.00', option, value));
    expect(stored('bank')).toEqual(BANK);
  });

  const REMOVABLE = `Settings that can be removed: ${removableOptions().join(', ')}.`;
  const NEEDED = 'Give it another value, or remove the whole profile with psd2 profile remove.';
  it.each([
    ['max-amout', 'Unknown setting "max-amout"', `Did you mean max-amount? ${REMOVABLE}`],
    ['quux', 'Unknown setting "quux"', REMOVABLE],
    ['', 'Unknown setting ""', REMOVABLE],
    ['base-url', 'A profile needs the setting base-url', NEEDED],
    ['clientSecret', 'A profile needs the setting client-secret', NEEDED],
    ['qwac-cert', 'A profile needs the setting qwac-cert', NEEDED],
  ])('--unset %j removes nothing', async (name, message, hint) => {
    await store('bank', { maxAmount: '5.00' });
    const failure = await failureOf(set('bank', '--unset', 'max-amount', '--unset', name));
    expect(failure).toEqual({ ...usage(message), hint });
    expect(stored('bank')).toEqual({ ...BANK, maxAmount: '5.00' });
  });

  it('opens certificates and keys if one of them changes, and else leaves them', async () => {
    await store('bank', { ...qwac(), qwacKey: { path: '/does/not/exist' }, signer: 'sign' });
    await set('bank', '--max-amount', '5.00');
    expect(stored('bank')?.maxAmount).toBe('5.00');
    for (const words of ['--signer other', '--unset signer', '--unset qseal-cert'])
      expect((await failureOf(set('bank', ...words.split(' ')))).message).toContain('/does/not/exist');
    expect(stored('bank')?.signer).toBe('sign');
    await set('bank', '--qwac-key', files.qwacKeyFile);
    expect(stored('bank')?.qwacKey).toMatchObject({ pem: expect.stringContaining('PRIVATE KEY') });
  });

  it('a certificate without its key keeps the stored key, which must belong to it', async () => {
    await store('bank', qwac());
    expect((await failureOf(set('bank', '--qwac-cert', files.nextQwacCertFile))).message).toBe(
      'The QWAC key does not belong to the QWAC certificate',
    );
    await set('bank', '--reference', '--qwac-cert', files.qwacCertFile);
    expect(stored('bank')).toEqual({ ...BANK, ...qwac() });
  });

  it.each([
    ['that key', false, true],
    ['the key that is given beside it', true, false],
  ])('of a file that has certificate and key, psd2 stores %s', async (_, isGiven, isGone) => {
    await store('bank', qwac());
    const texts = [files.nextQwacCertFile, files.nextQwacKeyFile].map((path) => readFileSync(path, 'utf8'));
    const words = ['--reference', '--qwac-cert', write('both.pem', texts.join(''))];
    await set('bank', ...words, ...(isGiven ? ['--qwac-key', files.nextQwacKeyFile] : []));
    const { qwacKey } = stored('bank') ?? {};
    expect(qwacKey).toEqual(isGone ? undefined : { path: files.nextQwacKeyFile });
  });

  it('a PKCS#12 file has certificate and key, so the stored key goes', async () => {
    const [certificate, key] = [files.nextQwacCertFile, files.nextQwacKeyFile].map((path) =>
      readFileSync(path, 'utf8'),
    );
    const content = pkcs12Of(plainPart(certificateBag(certificate ?? ''), keyBag(key ?? '')));
    await store('bank', qwac());
    const words = ['set', 'bank', '--qwac-cert', write('qwac.p12', content)];
    const { said } = await run(words, { format: 'table' });
    expect(stored('bank')).toEqual({ ...BANK, qwacCertificate: { pkcs12: content.toString('base64') } });
    expect(said.split('\n').slice(1)).toEqual([
      `  qwacCertificate: ${files.qwacCertFile} → stored in the profile`,
      `  qwacKey: ${files.qwacKeyFile} → not set`,
      '',
    ]);
  });

  it('a setting that was not there was not set, and psd2 warns of a variable that overrides it', async () => {
    await store('bank');
    const words = ['set', 'bank', '--max-amount', '5.00', '--bank', 'sparkassen', '--client-id', 'other'];
    const env = { PSD2_MAX_AMOUNT: '9.00', PSD2_CLIENT_ID: 'mine', PSD2_STALE_AFTER: '1d' };
    const { said } = await run(words, { format: 'table', env });
    expect(said.split('\n')).toEqual([
      'The profile bank has changed:',
      '  bank: not set → Sparkassen (S-Payment), stored in the profile',
      '  clientId: id → other',
      '  maxAmount: not set → 5.00',
      'PSD2_CLIENT_ID is set and overrides the stored value.',
      'PSD2_MAX_AMOUNT is set and counts where it is stricter.',
      '',
    ]);
  });

  it('the name of an application is checked only where it is sent', async () => {
    await store('bank');
    expect((await failureOf(set('bank', '--app-name', 'ä'))).exitCode).toBe(3);
    await set('bank', '--bank', 'sparkassen', '--app-name', 'ä');
    expect(stored('bank')).toMatchObject({
      applicationName: 'ä',
      bank: expect.stringContaining('Sparkassen'),
    });
  });
});

describe('psd2 profile add', () => {
  const TEXTS = ['--base-url', 'https://psd2.bank.example', '--client-id', 'id', '--app-name', 'app'];
  const QWAC = () => ['--qwac-cert', files.qwacCertFile, '--qwac-key', files.qwacKeyFile];
  const QSEALC = () => ['--qseal-cert', files.qsealCertFile, '--qseal-key', files.qsealKeyFile];
  const settings = () => [...TEXTS, ...QWAC(), ...QSEALC()];
  const env = { PSD2_CLIENT_SECRET: 'hush' };
  const add = (words: string[], how: How = {}) => run(['add', ...words], { env, ...how });

  it('stores the contents of the files, and the first profile is the one in use', async () => {
    const { data } = await add(['bank', ...settings()]);
    expect(data).toEqual({ name: 'bank', baseUrl: BANK.baseUrl, current: true });
    expect(stored('bank')).toMatchObject({
      ...{ ...BANK, clientSecret: 'hush' },
      qwacCertificate: { pem: expect.stringContaining('BEGIN CERTIFICATE') },
    });
    expect(await audited('bank')).toEqual(['profile-changed: added']);
    const second = await add(['other', ...settings(), '--reference'], { format: 'table' });
    expect(second.said).toBe('The profile other is stored. Log in with: psd2 --profile other auth login\n');
    expect(stored('other')).toMatchObject({ qwacCertificate: { path: files.qwacCertFile } });
    expect(open().context.profiles.current()).toBe('bank');
  });

  it('--protect leaves no secret in clear, also no token of the profile that it replaces', async () => {
    const how: How = { env: { ...env, PSD2_CONFIG_PASSPHRASE: 'a word' }, globals: { yes: true } };
    await store('bank');
    await storeLogin(open({ globals: { profile: 'bank' } }).context, '1000001', { accessToken: TOKEN });
    expect(everything()).toContain(TOKEN);
    await add(['bank', ...settings(), '--protect'], how);
    expect(stored('bank')?.sealed?.names).toEqual(expect.arrayContaining(['clientSecret', 'qwacKey']));
    for (const secret of [TOKEN, 'hush', 'PRIVATE KEY']) expect(everything()).not.toContain(secret);
  });

  it('a profile that exists is replaced only after a yes', async () => {
    await store('bank');
    expect(await failureOf(add(['bank', ...settings()]))).toEqual({
      ...{ code: 'confirmation_needed', exitCode: 2 },
      message: 'The profile bank already exists, and psd2 cannot ask without a terminal',
      hint: 'Add --yes to replace it, or choose another name.',
    });
    expect(stored('bank')).toEqual(BANK);
    await add(['bank', ...settings()], { globals: { yes: true } });
    expect(stored('bank')).toMatchObject({ clientSecret: 'hush' });
  });

  const NO_NAME = {
    message: 'The name of the profile is missing, and psd2 cannot ask for it',
    ...{ hint: 'Give a name and the settings. See the options with:', next: [['profile', 'add', '--help']] },
  };
  const NO_URL = {
    message: '--base-url is missing, and psd2 cannot ask for it',
    hint: 'Add --base-url, or set it in the environment.',
  };
  const NO_SECRET = {
    message: 'The client secret is missing, and psd2 cannot ask for it',
    hint: 'Use --client-secret-stdin, --client-secret-file <file> or PSD2_CLIENT_SECRET.',
  };
  const fileOf = (what: string, name: string) => ({
    message: `The ${what} is missing`,
    hint: `Add --${name} <file>, or set PSD2_${name.replace('-', '_').toUpperCase()}.`,
  });
  const NO_KEY = fileOf('QWAC key', 'qwac-key');
  const withQseal = (from: number, to: number) => [
    ...['bank', ...TEXTS, ...QWAC(), ...QSEALC().slice(from, to)],
  ];
  const signer = () => [...QWAC().slice(0, 2), '--signer', 'sign'];
  it.each<[string, () => string[], object, How?]>([
    ['the name', () => [], NO_NAME],
    ['the base URL', () => ['bank', ...settings().slice(2)], NO_URL],
    ['the client secret', () => ['bank', ...settings()], NO_SECRET, { env: {} }],
    ['the QWAC', () => ['bank', ...TEXTS], fileOf('QWAC certificate', 'qwac-cert')],
    ['the key of the QWAC', () => ['bank', ...TEXTS, ...QWAC().slice(0, 2)], NO_KEY],
    ['the key of the QWAC, in place of which a signer is', () => ['bank', ...TEXTS, ...signer()], NO_KEY],
    ['the QSealC of a key', () => withQseal(2, 4), fileOf('QSealC certificate', 'qseal-cert')],
    ['the key of the QSealC', () => withQseal(0, 2), fileOf('QSealC key', 'qseal-key')],
  ])('without %s stores nothing', async (_, words, failure, how) => {
    expect(await failureOf(add(words(), how))).toEqual({ code: 'usage', exitCode: 2, ...failure });
    expect(open().context.profiles.list()).toEqual([]);
  });

  it('at a terminal asks for what is missing', async () => {
    const ask = vi.fn(async (_: string) => 'id');
    const askSecret = vi.fn(async (_: string) => ' hush ');
    const operator = { ask: (text: string) => ask(text), askSecret: (text: string) => askSecret(text) };
    const words = [...TEXTS.slice(0, 2), ...TEXTS.slice(4), ...QWAC(), ...QSEALC()];
    await add(['bank', ...words], { env: {}, operator });
    expect([ask.mock.calls, askSecret.mock.calls]).toEqual([[['Client id']], [['Client secret']]]);
    expect(stored('bank')).toMatchObject({ clientId: 'id', clientSecret: 'hush' });
    const blank = { ...operator, askSecret: async () => ' ' };
    expect(await failureOf(add(['other', ...words], { env: {}, operator: blank }))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: 'The client secret from the prompt is empty' },
    });
  });

  it.each<[string, string[], string[]]>([
    [
      'base-url',
      ['', ' ', 'bank', BANK.baseUrl],
      ['A value is required', 'A value is required', 'The base URL "bank" is not a URL'],
    ],
    ['client-id', ['', ' ', 'bank'], ['A value is required', 'A value is required']],
    ['app-name', ['', ' ', 'bank'], ['A value is required', 'A value is required']],
  ])('at a terminal asks for --%s until the answer can be one', async (option, answers, wrong) => {
    const at = TEXTS.indexOf(`--${option}`);
    const words = [...TEXTS.slice(0, at), ...TEXTS.slice(at + 2), ...QWAC()];
    const someone = person({ '': answers });
    await add(['bank', ...words], { operator: someone.operator });
    expect([someone.wrong, someone.asked.length]).toEqual([wrong, answers.length]);
    expect(Object.values(stored('bank') ?? {})).toContain(answers.at(-1));
  });

  it('asks before it replaces a profile, and again if somebody is logged in elsewhere', async () => {
    await store('bank', { baseUrl: 'https://old.bank.example/' });
    await storeLogin(open({ globals: { profile: 'bank' } }).context, '1000001');
    const words = ['bank', ...TEXTS, ...QWAC()];
    const no = { code: 'cancelled', exitCode: 2, message: 'Nothing was stored' };
    const { questions, operator } = answering(false, true, false, true, true, true);
    expect(await failureOf(add(words, { operator }))).toEqual(no);
    expect(await failureOf(add(words, { operator }))).toEqual(no);
    expect(stored('bank')?.baseUrl).toBe('https://old.bank.example/');
    await add(words, { operator });
    expect(stored('bank')?.baseUrl).toBe(BANK.baseUrl);
    const replace = 'The profile bank already exists. Replace it?';
    const other = 'Change the base URL?';
    expect(questions).toEqual([replace, replace, other, replace, other]);
    // At the same base URL the login stays valid.
    await add(words, { operator });
    expect(questions.slice(5)).toEqual([replace]);
  });

  it('replaces a damaged profile after a yes, but a fault of psd2 is no damage', async () => {
    await store('bank');
    writeFileSync(folder.profile('bank'), '{', { mode: 0o600 });
    const read = vi.spyOn(ProfileStore.prototype, 'read');
    const fault = new TypeError('a fault of psd2');
    read.mockImplementationOnce(() => {
      throw fault;
    });
    await expect(add(['bank', ...TEXTS, ...QWAC()], YES)).rejects.toBe(fault);
    read.mockRestore();
    await add(['bank', ...TEXTS, ...QWAC()], YES);
    expect(stored('bank')).toMatchObject({ ...BANK, clientSecret: 'hush' });
  });

  it('a bank with a bank file needs no client id, and a secret only if its file says so', async () => {
    const words = ['--base-url', BANK.baseUrl, ...QWAC()];
    await add(['bank', '--bank', 'sparkassen', ...words], { env: {} });
    expect(stored('bank')).toEqual({
      ...{ baseUrl: BANK.baseUrl, bank: expect.stringContaining('Sparkassen') },
      ...{ qwacCertificate: { pem: expect.any(String) }, qwacKey: { pem: expect.any(String) } },
    });
    const needs = ['--bank', 'banca-transilvania', ...words];
    expect(await failureOf(run(['add', 'other', ...needs]))).toEqual({
      ...{ code: 'usage', exitCode: 2, ...NO_SECRET },
    });
    await run(['add', 'other', ...needs], { env });
    expect(stored('other')?.clientSecret).toBe('hush');
    const askSecret = async (question: string) => (question === 'Client secret' ? 'typed' : '');
    await run(['add', 'third', ...needs], { operator: { askSecret } });
    expect(stored('third')?.clientSecret).toBe('typed');
  });

  it('the base URL may come from the bank file, and an option counts more', async () => {
    const api = { baseUrl: 'https://file.example/psd2' };
    const file = write('bank.json', JSON.stringify({ interface: 'nextgenpsd2', name: 'Mine', api }));
    await add(['bank', '--bank', file, ...QWAC()]);
    expect(stored('bank')?.baseUrl).toBe('https://file.example/psd2');
    const { data } = await add(['other', '--bank', file, '--base-url', BANK.baseUrl, ...QWAC()]);
    expect(data).toEqual({ name: 'other', baseUrl: BANK.baseUrl, current: false });
    expect(stored('other')?.baseUrl).toBe(BANK.baseUrl);
  });

  it('a signer stands in for the key of the QSealC, whose certificate is read all the same', async () => {
    const words = ['bank', ...TEXTS, ...QWAC(), '--signer', 'sign'];
    const bad = write('bad.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    expect((await failureOf(add([...words, '--qseal-cert', bad]))).exitCode).toBe(3);
    await add([...words, '--qseal-cert', files.qsealCertFile]);
    expect(stored('bank')).toMatchObject({ signer: 'sign' });
    expect(stored('bank')).not.toHaveProperty('qsealKey');
  });
});

describe('psd2 profile edit', () => {
  it('without a terminal leads to single settings', async () => {
    expect(await failureOf(run(['edit', 'bank']))).toEqual({
      ...{ code: 'usage', exitCode: 2, hint: 'Change single settings instead:' },
      message: 'psd2 profile edit asks for each setting, and psd2 cannot ask without a terminal',
      next: [['profile', 'set', 'bank', '--max-amount', '500.00']],
    });
    expect((await failureOf(run(['edit']))).next).toEqual([['profile', 'set', '--max-amount', '500.00']]);
  });

  it('without a profile that is chosen names those that there are', async () => {
    const none = { code: 'no_profile', exitCode: 3, message: 'No profile is chosen' };
    expect(await failureOf(run(['edit'], { operator: {} }))).toEqual({ ...none, next: [['profile', 'add']] });
    await store('bank');
    await store('other');
    const hint = 'Name one: bank, other.';
    expect(await failureOf(run(['edit'], { operator: {} }))).toEqual({ ...none, hint });
  });
});

describe('psd2 profile set --all', () => {
  const toNewQwac = () => [
    ...['set', '--all', '--qwac-cert', files.nextQwacCertFile],
    ...['--qwac-key', files.nextQwacKeyFile],
  ];

  it('an interruption ends it', async () => {
    await store('bank', qwac());
    const read = vi.spyOn(ProfileStore.prototype, 'read');
    const interrupted = new Psd2Error('interrupted', 'Interrupted');
    read.mockImplementationOnce(() => {
      throw interrupted;
    });
    await expect(run(toNewQwac())).rejects.toBe(interrupted);
    read.mockRestore();
    expect(stored('bank')).toEqual({ ...BANK, ...qwac() });
  });

  it('a stored certificate that cannot be read fails alone, and a person reads a table', async () => {
    const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    await store('bank', { ...qwac(), qwacCertificate: { pem } });
    await store('other', nextQwac());
    const command = open({ format: 'table', columns: 120 });
    expect(await failureOf(ranIn(command, 'profile', ...toNewQwac()))).toEqual({
      ...{ code: 'certificate', exitCode: 3 },
      message: '1 of 2 profiles was not changed: The QWAC certificate cannot be read',
    });
    const lines = command.printed().split('\n');
    expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
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
    await store('foreign', { ...away, ...pair(files.caFile, files.qwacKeyFile) });
    expect(await rows()).toEqual(['foreign failed']);
    await store('old', { ...away, ...qwac() });
    expect(await rows()).toEqual(['foreign unchanged', 'old failed']);
    await store('old', { ...away, ...nextQwac() });
    expect(await rows()).toEqual(['foreign unchanged', 'old unchanged']);
  });

  it('none has one: says so', async () => {
    await store('bank');
    const words = ['set', '--all', '--qseal-cert', files.qsealCertFile, '--qseal-key', files.qsealKeyFile];
    expect(await failureOf(run(words))).toEqual({
      ...usage('No profile has a QSealC'),
      hint: 'Give the certificate to a profile by its name.',
    });
  });
});
