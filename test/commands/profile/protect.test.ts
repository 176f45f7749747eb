import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { chooseProtector, profileProtect } from '../../../src/commands/profile/protect.ts';
import { passphraseIn } from '../../../src/store/machine/settings.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const BY_ENVIRONMENT = { keyring: false, passphrase: false, passphraseStdin: false };
const SETTINGS = { baseUrl: 'https://psd2.bank.example', clientSecret: 'hush' };
type How = NonNullable<Parameters<typeof openCommand>[2]>;
const open = (passphrase?: string, how: How = {}, folder = newConfigFolder(temporary)) =>
  openCommand(folder, '2026-03-01T00:00:00.000Z', {
    ...{ env: { PSD2_CONFIG_PASSPHRASE: passphrase }, globals: { profile: 'bank' }, ...how },
  });

it('psd2 profile protect names the damaged files that it left in clear', async () => {
  const folder = newConfigFolder(temporary);
  const here = () => open('correct horse', {}, folder);
  const protect = async () => {
    const { context, said } = here();
    await profileProtect(context, undefined, BY_ENVIRONMENT);
    return said();
  };
  await here().context.profiles.write('bank', SETTINGS);
  expect(await protect()).toBe('');
  damage(folder.profile('bank'));
  damage(join(folder.tokens('bank'), 'customer-42', '1.json'));
  await here().context.profiles.write('bank', SETTINGS);
  await storeLogin(here().context, '42');
  const kept = /Damaged files may contain unencrypted secrets\. Remove them: rm (\S+) (\S+)\n/.exec(
    await protect(),
  );
  expect(kept?.slice(1)).toEqual([
    expect.stringContaining(`${folder.profile('bank')}.damaged-`),
    expect.stringContaining(join(folder.tokens('bank'), 'customer-42', '1.json.damaged-')),
  ]);
});

function damage(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, '{"secret":"hush"', { mode: 0o600 });
}

it.each([
  ['two words', 'two words'],
  [' a blank before and behind ', ' a blank before and behind '],
  ['a tab behind\t', 'a tab behind\t'],
  ['one line end\n', 'one line end'],
  ['one line end of Windows\r\n', 'one line end of Windows'],
  ['two line ends\n\n', 'two line ends\n'],
])(
  'the passphrase %j is the same from standard input and from the environment: %j',
  async (given, passphrase) => {
    const stdin = { ...open().context, readStdin: async () => given };
    const fromStdin = { ...BY_ENVIRONMENT, passphraseStdin: true };
    expect(await chooseProtector(stdin, 'bank', fromStdin)).toEqual({ kind: 'passphrase', passphrase });
    expect(passphraseIn({ PSD2_CONFIG_PASSPHRASE: given })).toBe(passphrase);
  },
);

const TYPING: How = { operator: { askSecret: async () => 'typed' } };
const given = (passphrase: string) => ({ kind: 'passphrase', passphrase });
it.each<[string, object, boolean, object | undefined]>([
  ['what protects it stays', {}, false, undefined],
  ['what protects it stays at a terminal, too', {}, true, undefined],
  ['the passphrase that opens it stays', { passphrase: true }, false, undefined],
  ['a person is asked for a new one', { passphrase: true }, true, given('typed')],
  ['the keyring takes its place', { keyring: true }, false, { kind: 'keyring' }],
  ['standard input has a new one', { passphraseStdin: true }, true, given('piped')],
])('of a profile that a passphrase protects, %s: %j', async (_, options, canAsk, protector) => {
  const { context } = open('from the environment', canAsk ? TYPING : {});
  await context.profiles.write('bank', SETTINGS);
  await profileProtect(context, undefined, BY_ENVIRONMENT);
  const stdin = { ...context, readStdin: async () => 'piped' };
  expect(await chooseProtector(stdin, 'bank', { ...BY_ENVIRONMENT, ...options })).toEqual(protector);
});

it.each<[string, object, string | undefined, object]>([
  ['the keyring, without an option', {}, undefined, { kind: 'keyring' }],
  ['the keyring, with its option', { keyring: true }, 'set', { kind: 'keyring' }],
  ['a person', { passphrase: true }, undefined, given('typed')],
  ['the environment, before a person', { passphrase: true }, 'set', given('set')],
])('a profile that nothing protects gets its key from %s', async (_, options, passphrase, protector) => {
  const { context } = open(passphrase, TYPING);
  expect(await chooseProtector(context, 'bank', { ...BY_ENVIRONMENT, ...options })).toEqual(protector);
});
