import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { profileProtect } from '../../../src/commands/profile/protect.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const BY_ENVIRONMENT = { keyring: false, passphrase: false, passphraseStdin: false };
const SETTINGS = { baseUrl: 'https://psd2.bank.example', clientSecret: 'hush' };

it('psd2 profile protect names the damaged files that it left in clear', async () => {
  const folder = newConfigFolder(temporary);
  const open = () =>
    openCommand(folder, '2026-03-01T00:00:00.000Z', {
      env: { PSD2_CONFIG_PASSPHRASE: 'correct horse' },
      globals: { profile: 'bank' },
    });
  const protect = async () => {
    const { context, said } = open();
    await profileProtect(context, undefined, BY_ENVIRONMENT);
    return said();
  };
  await open().context.profiles.write('bank', SETTINGS);
  expect(await protect()).toBe('');
  damage(folder.profile('bank'));
  damage(join(folder.tokens('bank'), 'customer-42', '1.json'));
  await open().context.profiles.write('bank', SETTINGS);
  await storeLogin(open().context, '42');
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
