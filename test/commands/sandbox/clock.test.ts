import { expect, it } from 'vitest';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();

it.each([
  ['-5d', "The bank's time only moves forward"],
  ['--fast', "Unknown option '--fast'"],
  ['5d', '"5d" is not a time of the bank'],
])('sandbox clock %s is refused: %s', async (time, message) => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-25T10:00:00.000Z');
  await expect(runIn(context, 'sandbox', 'clock', time)).rejects.toMatchObject({ code: 'usage', message });
});
