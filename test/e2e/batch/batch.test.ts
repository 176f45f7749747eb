import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { CUSTOMER, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const operator = useLoggedIn();

const IBAN = 'DE89370400440532013000';
const line = (name: string, amount: string) => `${name},${IBAN},${amount}\n`;
/** Writes a file of payments. @returns its path */
function file(name: string, ...lines: string[]): string {
  const path = join(operator.folder, name);
  writeFileSync(path, `name,iban,amount\n${lines.join('')}`);
  return path;
}
const add = async (path: string, ...options: string[]) =>
  operator.json(shapes.batch, ['batch', 'add', path, '--from', ACCOUNT, '--json', ...options]);
const report = (batch: string) => operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
const run = (batch: string, ...options: string[]) =>
  operator.psd2(['batch', 'run', batch, '--yes', '--json', ...options]);
/** How many calls of all transfers end so. */
async function sent(end: string): Promise<number> {
  const calls = await operator.json(shapes.log, ['log', '--limit', '1000', '--json']);
  return calls.filter(({ path }) => path.endsWith(end)).length;
}


it('a batch is stored once and paid line by line; a refused line stops no other one, and is retried alone', async () => {
  const five = file(
    'five.csv',
    ...[line('Ada Lovelace', '1.01'), line('Alan Turing', '1.02'), line('VERIFY 403', '1.03')],
    ...[line('Grace Hopper', '1.04'), line('Mary Jackson', '1.05')],
  );
  const { batch, sha256, state, counts, totals } = await add(five, '--note', 'First');
  expect([batch, state, counts]).toEqual([sha256, 'added', { waiting: 5 }]);
  expect(totals).toEqual([{ from: ACCOUNT, currency: 'EUR', count: 5, amount: '5.15' }]);
  expect(readError(await operator.psd2(['batch', 'add', five, '--from', ACCOUNT, '--json']))).toMatchObject({
    exitCode: 2,
    message: `The batch ${batch} has the same content`,
  });

  const before = await sent('/execute');
  const ran = await run(batch.slice(0, 10));
  expect([ran.code, ran.stderr]).toEqual([8, expect.stringContaining('1 of 5 payments were not made')]);
  const rows = await report(batch);
  expect(rows.map((row) => row.state)).toEqual(['executed', 'executed', 'cancelled', 'executed', 'executed']);
  expect(await sent('/execute')).toBe(before + 4);
  expect((await run(batch)).code).toBe(8);
  expect(await sent('/execute')).toBe(before + 4);
});
