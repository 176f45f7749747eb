import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import * as z from 'zod';
import { list } from '../../../src/commands/profile/list.ts';
import { remove } from '../../../src/commands/profile/remove.ts';
import { show } from '../../../src/commands/profile/show.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration, type Registration } from '../../../src/sandbox/folder/registration.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { ProfileSettings } from '../../../src/store/machine/profiles.ts';
import { Vault } from '../../../src/store/secrets/vault.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand, runIn } from '../command.ts';
import { storeTransfer } from '../customer/stored.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
/** The certificates are valid by then. */
const NOW = new Date(Date.now() + 60_000).toISOString();
const BANK = { baseUrl: 'https://psd2.bank.example/', clientId: 'id', applicationName: 'app' };
const NO_ENVIRONMENT = { PSD2_BASE_URL: undefined };

let files: Registration;
let folder: StoreFolder;
beforeAll(async () => {
  files = await loadOrCreateRegistration(inject('registration'));
});
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

type How = NonNullable<Parameters<typeof openCommand>[2]>;
const open = ({ env, ...how }: How = {}) =>
  openCommand(folder, NOW, { ...how, env: { ...NO_ENVIRONMENT, ...env } });

/** Runs `psd2 profile …`. @returns what it printed and said */
async function run(words: string[], how?: How) {
  const command = open(how);
  await runIn(command.context, 'profile', ...words);
  const printed = command.printed();
  const data: unknown = printed.startsWith('{') || printed.startsWith('[') ? JSON.parse(printed) : null;
  return { printed, said: command.said(), data };
}

const store = (name: string, settings: Partial<ProfileSettings> = {}) =>
  open().context.profiles.write(name, { ...BANK, ...settings });
const stored = (name: string) => open().context.profiles.read(name);
const audited = async (name: string) => {
  const { context, printed } = open({ globals: { profile: name } });
  await runIn(context, 'audit');
  return z
    .array(z.object({ action: z.string(), about: z.nullable(z.string()) }))
    .parse(JSON.parse(printed()))
    .map(({ action, about }) => `${action}: ${about}`);
};
const TOKEN = 'the-access-token-of-the-earlier-login';
/** What the files of the folder have. */
const everything = () =>
  readdirSync(folder.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    .join('\n');
const unknown = (known: string, like = '') => ({
  ...{ code: 'no_profile', exitCode: 3, message: 'There is no profile "bnak"' },
  hint: `${like}Existing profiles: ${known}.`,
});

describe('psd2 profile list and use', () => {
  it('the list has each profile, and the one that psd2 uses has a mark', async () => {
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
  });

  it('a profile that another psd2 removes while this one lists them is not in the list', async () => {
    await store('bank');
    await store('other');
    const { context, printed } = open();
    const { profiles } = context;
    const names = profiles.list();
    vi.spyOn(profiles, 'list').mockImplementation(() => {
      profiles.remove('other');
      return names;
    });
    await runIn(context, 'profile', 'list');
    expect(JSON.parse(printed())).toEqual([{ name: 'bank', baseUrl: BANK.baseUrl, current: false }]);
  });

  it('the second use replaces the first', async () => {
    await store('bank');
    await store('other');
    await run(['use', 'bank']);
    const { said, printed } = await run(['use', 'other'], { format: 'table' });
    expect([printed, said]).toEqual(['', 'psd2 now uses the profile other by default.\n']);
    expect(open().context.profiles.current()).toBe('other');
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

describe('psd2 profile show', () => {
  const shown = z.object({
    ...{ name: z.string(), source: z.string(), protected: z.string() },
    settings: z.record(z.string(), z.object({ value: z.string(), source: z.string() })),
  });

  it('each value has its source: the environment counts more than the profile', async () => {
    await store('bank', { clientSecret: 'hush', maxAmount: '5.00', signer: 'sign --pin 1234' });
    const env = { PSD2_MAX_AMOUNT: '9.00', PSD2_KEY_PASSPHRASE: 'hush' };
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
      redirectUri: { source: 'default' },
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

  it('the name that is given counts more than --profile, and that more than the profile in use', async () => {
    for (const name of ['given', 'option', 'used']) await store(name, { clientId: name });
    await run(['use', 'used']);
    const ofClient = async (words: string[], globals = {}) => {
      const { name, source, settings } = shown.parse((await run(['show', ...words], { globals })).data);
      return [name, source, settings.clientId?.value];
    };
    expect([
      await ofClient(['given'], { profile: 'option' }),
      await ofClient([], { profile: 'option' }),
      await ofClient([]),
    ]).toEqual([
      ['given', 'option', 'given'],
      ['option', 'option', 'option'],
      ['used', 'default', 'used'],
    ]);
  });

  it('without a name it is the profile in use, and a person reads one line for each value', async () => {
    await store('bank');
    await run(['use', 'bank']);
    const { printed } = await run(['show'], { format: 'table' });
    const lines = printed.split('\n');
    expect(lines.slice(0, 2)).toEqual(['Profile\tbank (default)', 'Protected\tno']);
    expect(lines).toContain(`baseUrl\t${BANK.baseUrl} (profile)`);
    expect(lines).toContain('timeout\t30 s (default)');
    expect(printed).not.toMatch(/language|psuIpAddress/);
  });

  it('the store that the environment names has its source too, without a password', async () => {
    await store('bank');
    const env = { PSD2_STORE: 'postgres://ada@db.example/bank' };
    const { settings } = shown.parse((await run(['show', 'bank'], { env })).data);
    expect(settings.store).toEqual({ value: env.PSD2_STORE, source: 'environment' });
  });

  it('a file is its path or stored, a bank file its name', async () => {
    await store('bank', {
      ...{ qwacCertificate: { path: '/etc/qwac.pem' }, ca: { pem: 'PEM' } },
      bank: JSON.stringify({ name: 'My Bank' }),
    });
    await store('other', { bank: '{"interface":"nextgenpsd2"}' });
    const settings = async (name: string) => shown.parse((await run(['show', name])).data).settings;
    expect(await settings('bank')).toMatchObject({
      qwacCertificate: { value: '/etc/qwac.pem' },
      ca: { value: 'stored in the profile' },
      bank: { value: 'My Bank, stored in the profile' },
    });
    expect(await settings('other')).toMatchObject({ bank: { value: 'stored in the profile' } });
  });

  it('of a protected profile the encrypted values are there, and not what they are', async () => {
    await store('bank', { clientSecret: 'hush' });
    const env = { PSD2_CONFIG_PASSPHRASE: 'a word' };
    const { data } = await run(['protect', 'bank', '--passphrase'], { env });
    expect(data).toEqual({ name: 'bank', protected: 'passphrase' });
    const found = shown.parse((await run(['show', 'bank'])).data);
    expect(found.protected).toBe('passphrase');
    expect(found.settings.clientSecret).toEqual({ value: 'encrypted', source: 'profile' });
    expect(await audited('bank')).toEqual(['profile-changed: protection passphrase']);
  });
});

describe('psd2 profile protect and unprotect', () => {
  const env = { PSD2_CONFIG_PASSPHRASE: 'a word' };
  const protect = (...words: string[]) => run(['protect', 'bank', ...words], { env });

  it('the secrets are in clear again only after a yes', async () => {
    await store('bank', { clientSecret: 'hush' });
    await protect('--passphrase');
    expect(stored('bank')).not.toHaveProperty('clientSecret');
    expect(await failureOf(run(['unprotect', 'bank'], { env }))).toEqual({
      ...{ code: 'confirmation_needed', exitCode: 2, hint: 'Add --yes.' },
      message:
        'Storing secrets without encryption needs a confirmation, and psd2 cannot ask without a terminal',
    });
    const questions: string[] = [];
    const confirm = async (text: string) => questions.push(text) < 0;
    expect(await failureOf(run(['unprotect', 'bank'], { env, operator: { confirm } }))).toEqual({
      ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was changed' },
    });
    expect(questions).toEqual(['Store the tokens, secrets and keys of bank without encryption?']);
    expect(stored('bank')).not.toHaveProperty('clientSecret');
    const ended = await run(['unprotect', 'bank'], { env, globals: { yes: true } });
    expect(ended.data).toEqual({ name: 'bank', protected: 'no' });
    expect(stored('bank')).toMatchObject({ clientSecret: 'hush' });
    const again = await run(['unprotect', 'bank'], { format: 'table' });
    expect([again.printed, again.said]).toEqual([
      '',
      'The stored data of the profile bank was not encrypted.\n',
    ]);
  });

  it('a person reads how the profile is stored', async () => {
    await store('bank');
    const { said } = await run(['protect', 'bank', '--passphrase'], { env, format: 'table' });
    expect(said).toBe(
      'The stored data of the profile bank is encrypted. The key comes from the passphrase.\n',
    );
    const after = await run(['unprotect', 'bank'], { env, format: 'table', globals: { yes: true } });
    expect(after.said).toBe('The stored data of the profile bank is no longer encrypted.\n');
  });

  it.each([
    [['--keyring', '--passphrase'], '--keyring and a passphrase cannot be used together', undefined],
    [['--keyring', '--passphrase-stdin'], '--keyring and a passphrase cannot be used together', undefined],
    [['--passphrase-stdin'], 'The passphrase is empty', undefined],
    [
      ['--passphrase'],
      'The passphrase is missing, and psd2 cannot ask for it',
      'Set PSD2_CONFIG_PASSPHRASE, or use --passphrase-stdin.',
    ],
  ])('%j without a passphrase changes nothing', async (words, message, hint) => {
    await store('bank', { clientSecret: 'hush' });
    expect(await failureOf(run(['protect', 'bank', ...words]))).toEqual({
      ...{ code: 'usage', exitCode: 2, message },
      ...(hint !== undefined && { hint }),
    });
    expect(stored('bank')).toMatchObject({ clientSecret: 'hush' });
  });

  it('at a terminal the passphrase is asked for twice', async () => {
    await store('bank', { clientSecret: 'hush' });
    const questions: string[] = [];
    const answers = (...given: string[]) => ({
      askSecret: async (question: string) => {
        questions.push(question);
        return given.shift() ?? '';
      },
    });
    const words = ['protect', 'bank', '--passphrase'];
    expect(await failureOf(run(words, { operator: answers('one', 'two') }))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: 'The two passphrases are different' },
      hint: 'Nothing was changed.',
    });
    expect(stored('bank')).toMatchObject({ clientSecret: 'hush' });
    await run(words, { operator: answers('one', 'one') });
    expect(stored('bank')).not.toHaveProperty('clientSecret');
    expect(questions.slice(0, 2)).toEqual(['New passphrase of the profile bank', 'Repeat the passphrase']);
  });
});

describe('psd2 profile remove', () => {
  const YES = { globals: { yes: true } } as const;

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
  ] as const)(
    'payments that are %s keep the profile: of %i, the first five are named',
    async (reached, count, more) => {
      await store('bank');
      const { context } = open({ globals: { profile: 'bank' } });
      for (let number = 1; number <= count; number += 1)
        await storeTransfer(context, '1000001', reached, { reference: String(number) });
      await storeTransfer(context, '1000001', 'created', { reference: '7' });
      const failure = await failureOf(run(['remove', 'bank'], YES));
      const named = [...failure.message.matchAll(/(tr-\S+) \(/g)].map(([, flow]) => flow);
      expect(failure).toEqual({
        ...{ code: 'config', exitCode: 3, hint: 'Finish them first:' },
        message: `The profile bank has unfinished payments: ${named.map((flow) => `${flow} (${reached})`).join(', ')}${more}`,
        next: named.slice(0, 3).map((flow) => ['--profile', 'bank', 'transfer', 'resume', flow]),
      });
      expect(named).toHaveLength(5);
      expect(stored('bank')).toBeDefined();
    },
  );

  it('a payment that has not begun is named, and does not', async () => {
    await store('bank', { environment: 'production' });
    const { context } = open({ globals: { profile: 'bank' } });
    const flow = await storeTransfer(context, '1000001', 'created');
    const questions: string[] = [];
    const confirm = async (text: string) => questions.push(text) < 0;
    const command = open({ operator: { confirm } });
    expect(await failureOf(runIn(command.context, 'profile', 'remove', 'bank'))).toEqual({
      ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was removed' },
    });
    expect(questions).toEqual(['Remove the profile bank with its certificates and tokens?']);
    expect(command.context.terminal.marked('?')).toBe('[PRODUCTION bank] ?');
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
    const command = open({
      env: { PSD2_ENVIRONMENT: now },
      operator: {
        confirm: async () => {
          marks.push(command.context.terminal.marked('?'));
          return true;
        },
      },
    });
    await runIn(command.context, 'profile', 'remove', 'bank');
    expect(marks).toEqual([mark]);
  });

  it.each(['authorised', 'executed'])(
    'of operations, one that is %s keeps the profile until it is over',
    async (is) => {
      await store('bank');
      const { flows } = await open({ globals: { profile: 'bank' } }).context.store();
      const order = { customerId: '1000001', from: parseProductId('0000012345'), operation: 'x', data: '{}' };
      const begin = { transactionId: 't1', commits: 'on execute', order } as const;
      const flow = await flows.begin('operation', begin, async (open) => {
        await open.record({
          ...{ type: 'verified', resourceId: 'r1', totalAmount: null, commissions: null, bankName: null },
          nextStep: 'execute',
        });
        await open.record({ type: 'accepted' });
        if (is === 'authorised') {
          await open.record({ type: 'sca-started' });
          await open.record({ type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' });
        } else {
          await open.record({ type: 'execute-sent', requestId: 'q', digest: null });
          await open.record({ type: 'executed', cro: null });
        }
        return open.current.flow;
      });
      const removing = run(['remove', 'bank'], YES);
      if (is === 'executed') expect(await removing).toMatchObject({ data: { removed: true }, said: '' });
      else
        expect(await failureOf(removing)).toMatchObject({
          ...{ code: 'config', next: [['--profile', 'bank', 'operation', 'resume', flow]] },
        });
      expect(open().context.profiles.list()).toEqual(is === 'executed' ? [] : ['bank']);
    },
  );

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
        message: expect.stringMatching(
          new RegExp(`^Another psd2 is working on ${flow} of the profile bank: .`),
        ),
        hint: 'Wait for it to end, or interrupt it. Nothing was removed.',
      });
    });
  });

  it('a damaged profile can be removed', async () => {
    await store('bank');
    writeFileSync(folder.profile('bank'), '{', { mode: 0o600 });
    const confirm = async () => true;
    const { data } = await run(['remove', 'bank'], { operator: { confirm } });
    expect(data).toEqual({ name: 'bank', removed: true });
  });
});

describe('psd2 profile set', () => {
  const set = (...words: string[]) => run(['set', ...words]);

  it('changes what is given, says what was there, and writes the names to the audit log', async () => {
    await store('bank', { maxAmount: '5.00', clientSecret: 'old' });
    const secret = join(temporary, 'secret.txt');
    writeFileSync(secret, 'new\n', { mode: 0o600 });
    const words = ['bank', '--max-amount', '7.00', '--client-secret-file', secret, '--unset', 'payee-check'];
    const { said } = await run(['set', ...words], { format: 'table' });
    expect(said).toBe(
      ['The profile bank has changed:', '  clientSecret: changed', '  maxAmount: 5.00 → 7.00', ''].join('\n'),
    );
    expect(stored('bank')).toEqual({ ...BANK, maxAmount: '7.00', clientSecret: 'new' });
    expect(await audited('bank')).toEqual(['profile-changed: clientSecret (maxAmount: 5.00 → 7.00)']);
    const { said: again } = await run(['set', ...words], { format: 'table' });
    expect(again).toBe('The profile bank is unchanged.\n');
    expect(await audited('bank')).toHaveLength(1);
  });

  it('prints the profile as JSON, and a removed setting is not set', async () => {
    await store('bank', { maxAmount: '5.00', environment: 'sandbox' });
    const { data } = await set('bank', '--unset', 'max-amount', '--unset', 'environment');
    expect(data).toMatchObject({ name: 'bank', settings: { baseUrl: { value: BANK.baseUrl } } });
    expect(stored('bank')).toEqual(BANK);
    await store('bank', { maxAmount: '5.00' });
    const { said } = await run(['set', 'bank', '--unset', 'max-amount'], { format: 'table' });
    expect(said).toContain('  maxAmount: 5.00 → not set');
  });

  const ALL_TAKES = '--all takes certificates and keys, and no profile';
  const ALONE = '--store cannot be combined with other settings';
  const OWN = 'Set the store in a command of its own.';
  const EACH = 'Give at least one, or let psd2 ask for each:';
  const NAME = 'Name it, or use --all to change the certificates of all profiles that have the old ones.';
  it.each<[string, string, string?]>([
    ['bank', 'No setting is given', EACH],
    ['--max-amount 5.00', 'The name of the profile is missing', NAME],
    ['bank --all', ALL_TAKES],
    ['--all --unset ca', ALL_TAKES],
    ['--all --store files', ALL_TAKES],
    [
      'bank --max-amount 5.00 --unset max-amount',
      '--max-amount and --unset max-amount cannot be used together',
    ],
    [
      'bank --max-amount ',
      'The value of --max-amount is empty',
      'To remove the setting: --unset max-amount.',
    ],
    ['bank --client-id ', 'The value of --client-id is empty'],
    ['bank --store files --max-amount 5.00', ALONE, OWN],
    ['bank --store files --unset ca', ALONE, OWN],
    ['bank --store files --reference', ALONE, OWN],
    [
      'bank --store nowhere',
      '--store does not name a store',
      'Use files, or postgres://user@host:5432/database.',
    ],
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

  it('--unset takes a certificate and its key together', async () => {
    await store('bank', {
      ...{ qwacCertificate: { path: files.qwacCertFile }, qwacKey: { path: files.qwacKeyFile } },
      ...{ qsealCertificate: { path: files.qsealCertFile }, qsealKey: { path: files.qsealKeyFile } },
    });
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
  ])(
    'a wrong value of %s changes nothing, also not those beside it that are right',
    async (option, value) => {
      await store('bank');
      await failureOf(set('bank', '--client-id', 'x', '--max-amount', '5.00', option, value));
      expect(stored('bank')).toEqual(BANK);
    },
  );
});

describe('psd2 profile add', () => {
  const settings = () => [
    ...['--base-url', 'https://psd2.bank.example', '--client-id', 'id', '--app-name', 'app'],
    ...['--qwac-cert', files.qwacCertFile, '--qwac-key', files.qwacKeyFile],
    ...['--qseal-cert', files.qsealCertFile, '--qseal-key', files.qsealKeyFile],
  ];
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
  const orSet = (variable: string) => expect.stringContaining(`or set ${variable}.`);
  it.each<[string, () => string[], object]>([
    ['the name', () => [], NO_NAME],
    ['the base URL', () => ['bank', ...settings().slice(2)], NO_URL],
    [
      'the key of the QWAC',
      () => ['bank', ...settings().slice(0, 8)],
      { message: 'The QWAC key is missing', hint: orSet('PSD2_QWAC_KEY') },
    ],
    [
      'the QWAC',
      () => ['bank', ...settings().slice(0, 6)],
      { message: 'The QWAC certificate is missing', hint: orSet('PSD2_QWAC_CERT') },
    ],
  ])('without %s stores nothing', async (_, words, failure) => {
    expect(await failureOf(add(words()))).toEqual({ code: 'usage', exitCode: 2, ...failure });
    expect(open().context.profiles.list()).toEqual([]);
  });

  it('without the client secret says how to give it', async () => {
    expect(await failureOf(add(['bank', ...settings()], { env: {} }))).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: 'The client secret is missing, and psd2 cannot ask for it',
      hint: 'Use --client-secret-stdin, --client-secret-file <file> or PSD2_CLIENT_SECRET.',
    });
  });

  it('at a terminal asks for what is missing', async () => {
    const asked: string[] = [];
    const operator = {
      ask: async (question: string) => {
        asked.push(question);
        return 'id';
      },
      askSecret: async (question: string) => {
        asked.push(question);
        return ' hush ';
      },
    };
    const words = settings().filter(
      (word, index, all) => word !== '--client-id' && all[index - 1] !== '--client-id',
    );
    await add(['bank', ...words], { env: {}, operator });
    expect(asked).toEqual(['Client id', 'Client secret']);
    expect(stored('bank')).toMatchObject({ clientId: 'id', clientSecret: 'hush' });
    const blank = { ...operator, askSecret: async () => ' ' };
    expect(await failureOf(add(['other', ...words], { env: {}, operator: blank }))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: 'The client secret from the prompt is empty' },
    });
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
    expect(await failureOf(run(['edit'], { operator: {} }))).toEqual({
      ...{ code: 'no_profile', exitCode: 3, message: 'No profile is chosen', next: [['profile', 'add']] },
    });
    await store('bank');
    await store('other');
    expect(await failureOf(run(['edit'], { operator: {} }))).toEqual({
      ...{ code: 'no_profile', exitCode: 3, message: 'No profile is chosen', hint: 'Name one: bank, other.' },
    });
  });
});
