import { expect, it } from 'vitest';
import { authList } from '../../../src/commands/auth/list.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const [BEFORE, AFTER] = ['2026-11-21T11:59:59.999Z', '2026-11-21T12:00:00.001Z'];

it.each([
  ['good', { accessTokenExpiresAt: AFTER }],
  ['to be renewed', { accessTokenExpiresAt: BEFORE, refreshTokenExpiresAt: AFTER }],
  ['expired', { accessTokenExpiresAt: BEFORE, refreshTokenExpiresAt: BEFORE }],
  ['to be renewed', { accessTokenExpiresAt: BEFORE, refreshTokenExpiresAt: null }],
  ['expired', { accessTokenExpiresAt: BEFORE, refreshToken: null, refreshTokenExpiresAt: null }],
  ['not known', { accessTokenExpiresAt: null, refreshTokenExpiresAt: null }],
])('psd2 auth list says %j of a login with %j', async (validity, ends) => {
  const { context, printed } = openCommand(newConfigFolder(temporary), NOW, { format: 'table' });
  await storeLogin(context, '1000001', ends);
  await authList(context);
  expect(printed().split('\t').slice(0, 4)).toEqual(['*', '1000001', 'authorization_code', validity]);
});
