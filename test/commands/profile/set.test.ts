import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSettingOptions } from '../../../src/commands/profile/given-settings.ts';
import { profileSet } from '../../../src/commands/profile/set.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const NONE = { reference: false, unset: [] };

it('psd2 profile set warns if a variable overrides what it has stored', async () => {
  const folder = newConfigFolder(temporary);
  const { context, said } = openCommand(folder, NOW, {
    env: { PSD2_MAX_AMOUNT: '9.00' },
    format: 'table',
  });
  await context.profiles.write('bank', {
    ...{
      baseUrl: 'https://psd2.bank.example',
      clientId: 'id',
      clientSecret: 'secret',
      applicationName: 'app',
    },
  });
  await profileSet(context, 'bank', { ...NONE, maxAmount: '5.00', clientId: 'other' });
  expect(context.profiles.read('bank')).toMatchObject({ maxAmount: '5.00', clientId: 'other' });
  const overridden = said()
    .split('\n')
    .filter((line) => line.includes('is set'));
  expect(overridden).toEqual(['PSD2_MAX_AMOUNT is set and counts where it is stricter.']);
});

it.each([
  ['clientSecretFile', 'clientSecret'],
  ['ccClientSecretFile', 'ccClientSecret'],
] as const)('psd2 takes no secret from a file that others can read: %s', async (option, setting) => {
  const file = join(temporary, option);
  writeFileSync(file, 'hush\n', { mode: 0o600 });
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  expect(await readSettingOptions(context, { [option]: file })).toEqual({ [setting]: 'hush' });
  chmodSync(file, 0o644);
  await expect(readSettingOptions(context, { [option]: file })).rejects.toMatchObject({
    code: 'config',
    message: `${file} can be read by others (mode 0644)`,
  });
});
