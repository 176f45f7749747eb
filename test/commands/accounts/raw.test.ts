import { expect, it } from 'vitest';
import { buildProgram } from '../../../src/cli/program.ts';

it.each([
  ['accounts list', 'inquiry'],
  ['accounts show 0000012345', 'inquiry'],
  ['accounts balance 0000012345', 'inquiry'],
  ['accounts transactions 0000012345', 'inquiry'],
  ['products list', 'inquiry'],
  ['api GET /x', 'inquiry'],
  // These print what psd2 makes of several answers, or of none.
  ['accounts export 0000012345 --format csv --file x', undefined],
  ['accounts report 0000012345 --file x', undefined],
  ['consent list', undefined],
  ['sync --out x', undefined],
  ['sync status', undefined],
])('psd2 %s has the kind %s: only an inquiry takes --raw', async (line, kind) => {
  const kinds: unknown[] = [];
  const words = line.split(' ');
  const program = await buildProgram('0.0.0', {
    words,
    runInstead: async (_command, itsKind) => void kinds.push(itsKind),
  });
  await program.parseAsync(words, { from: 'user' });
  expect(kinds).toEqual([kind]);
});
