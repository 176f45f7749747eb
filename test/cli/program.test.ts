import { expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';

it.each([
  [['transfer', '--name', 'list', '--amount', '1']],
  [['transfer', 'create', '--reference', 'cancel']],
  [['sync', '--out', 'status']],
])('psd2 %j runs the standard command, although an option has the name of another one', async (words) => {
  let runs = 0;
  const runInstead = async () => {
    runs += 1;
  };
  const program = await buildProgram('0.0.0', { words, runInstead });
  await program.parseAsync(words, { from: 'user' });
  expect(runs).toBe(1);
});
