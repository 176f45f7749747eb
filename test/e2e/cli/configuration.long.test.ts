import { expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { PROGRAM } from '../support/psd2.ts';
import { useTappedBank } from '../support/tap.ts';

const { operator } = useTappedBank();

it('psd2 reports a missing home folder, as for an unknown user in a container', async () => {
  const program = [process.execPath, PROGRAM, 'profile', 'list', '--json'];
  const env = { PSD2_CONFIG_DIR: undefined, HOME: undefined };
  const running = await operator.startProgram('unshare', ['--user', '--map-user=4711', ...program], env);
  expect(readError(await running.ended)).toMatchObject({
    code: 'config',
    exitCode: 3,
    hint: expect.stringContaining('PSD2_CONFIG_DIR'),
  });
});
