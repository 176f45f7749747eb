import { expect, it } from 'vitest';
import * as z from 'zod';
import { recordExport, recordProfileChange } from '../../../src/commands/shared/record-in-audit.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const lines = z.array(
  z.object({ action: z.string(), about: z.string(), customerId: z.nullable(z.string()) }),
);

async function open() {
  const folder = newConfigFolder(temporary);
  await openCommand(folder, NOW).context.profiles.write('bank', { baseUrl: 'https://bank.example/' });
  const audit = async (profile = 'env') => {
    const { context, printed } = openCommand(folder, NOW, { globals: { profile } });
    await runIn(context, 'audit');
    return lines.parse(JSON.parse(printed()));
  };
  return { ...openCommand(folder, NOW), audit };
}
const changed = { action: 'profile-changed', customerId: null };

it('an export of the data of a customer is recorded, with the account or without', async () => {
  const { context, audit } = await open();
  await recordExport(context, '1000001', 'csv');
  await recordExport(context, '1000001', 'mt940', '0010482620');
  const exported = { action: 'exported', customerId: '1000001' };
  expect(await audit()).toEqual([
    { ...exported, about: 'csv' },
    { ...exported, about: 'mt940 0010482620' },
  ]);
});

it('a change of a profile is recorded with that profile', async () => {
  const { context, audit, said } = await open();
  await recordProfileChange(context, 'bank', 'baseUrl, clientId');
  expect([await audit('bank'), await audit(), said()]).toEqual([
    [{ ...changed, about: 'baseUrl, clientId' }],
    [],
    '',
  ]);
});

it('a store that cannot be used is a warning; an interruption and a fault of psd2 are not', async () => {
  const { context, audit, said } = await open();
  const failing = (error: Error) => ({
    ...context,
    forProfile: () => ({ ...context, wholeStore: () => Promise.reject(error) }),
  });
  await recordProfileChange(failing(new Psd2Error('config', 'The disk is full')), 'bank', 'baseUrl');
  expect([said(), await audit('bank')]).toEqual([
    'The change is not in the audit log: The disk is full.\n',
    [],
  ]);
  for (const error of [new Psd2Error('interrupted', 'Ctrl-C'), new TypeError('a fault')])
    await expect(recordProfileChange(failing(error), 'bank', 'baseUrl')).rejects.toBe(error);
});
