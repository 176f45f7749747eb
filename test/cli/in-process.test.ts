import { expect, it } from 'vitest';
import { useCommands } from './in-process.ts';

const commands = useCommands();

it('an expectation that fails inside a command fails its test, although psd2 turns every error into a message', async () => {
  const failing = commands.run(async () => {
    expect(1).toBe(2);
  });
  await expect(failing).rejects.toThrow('expected 1 to be 2');
});
