import { expect, it } from 'vitest';
import { authLogin } from '../../../src/commands/auth/login.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();

it('without a terminal psd2 auth login --paste ends before it sends anything', async () => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z');
  await expect(authLogin(context, { clientCredentials: false, paste: true })).rejects.toMatchObject({
    code: 'usage',
    message: '--paste asks for an address, and there is no terminal to ask at',
  });
});
