import { describe, it } from 'vitest';
import { useMemory } from './memory.ts';
import { play } from './play.ts';
import { byBank, ROWS } from './rows.ts';

describe.each(byBank(ROWS))('at %s', (_, { bank, rows }) => {
  const stage = useMemory(bank);
  it.each(rows.map((row) => [row.name, row] as const))('%s', async (_name, row) => play(await stage(), row));
});
