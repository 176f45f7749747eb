import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

// Runs that are stopped, that run at once, and that come back. What becomes of each payment is in test/scenarios/rows/batches.ts.

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());

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

it('Ctrl-C in the middle of a run says how to go on, and the run goes on', async () => {
  const csv = file('stopped.csv', line('Ada Lovelace', '1.21'), line('Alan Turing', '1.22'));
  await operator.succeeds(['batch', 'check', csv, '--from', ACCOUNT, '--json']);
  const { batch } = await add(csv);
  const port = await freePort();
  const stopped = await operator.start(['batch', 'run', batch, '--yes', '--json'], {
    PSD2_BROWSER: 'none',
    PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
  });
  await stopped.prints(/http/);
  stopped.kill('SIGINT');
  const ended = await stopped.ended;
  expect(ended.code).toBe(130);
  expect(readError(ended).hint).toContain(`psd2 batch run ${batch}`);
  expect((await report(batch)).map(({ state }) => state)).toEqual(['authorizing', 'waiting']);
  await operator.succeeds(['batch', 'status', batch, '--json']);
  expect((await run(batch)).code).toBe(0);
});

it('two runs at once share the payments of a batch, and pay none twice', async () => {
  const names = ['Ada', 'Bea', 'Cleo', 'Dora', 'Eve', 'Fay'];
  const { batch } = await add(
    file('shared.csv', ...names.map((name, index) => line(name, `3.0${index + 1}`))),
  );
  const before = await sent('/execute');
  const both = await Promise.all([
    operator.psd2(['batch', 'run', batch, '--yes', '--json'], { ownProcess: true }),
    operator.psd2(['batch', 'run', batch, '--yes', '--json'], { ownProcess: true }),
  ]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await sent('/execute')).toBe(before + 6);
  expect(new Set((await report(batch)).map(({ flow }) => flow)).size).toBe(6);
});

it('the links go to a file, and the run comes back for what the customers decided', async () => {
  const { batch } = await add(file('links.csv', line('Ada Lovelace', '4.01'), line('Alan Turing', '4.02')));
  const links = join(operator.folder, 'links.ndjson');
  const nowhere = readError(await run(batch, '--links', join(operator.folder, 'none', 'links.ndjson')));
  expect([nowhere.exitCode, (await report(batch)).map(({ state }) => state)]).toEqual([
    3,
    ['waiting', 'waiting'],
  ]);
  const first = await run(batch, '--links', links);
  expect([first.code, readError(first).message]).toEqual([6, '2 of 2 payments await their customer']);
  const written = () =>
    readFileSync(links, 'utf8')
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
  expect(written().map((link) => [link.line, link.amount])).toEqual([
    [1, '4.01'],
    [2, '4.02'],
  ]);
  expect((await run(batch, '--links', links)).code).toBe(6);
  expect(written()).toHaveLength(2);
  // Nobody waits at the redirect URI, so the customer's browser ends at an address that does not answer.
  for (const { url } of written()) await operator.psd2(['sandbox', 'customer', url]);
  expect((await run(batch, '--links', links)).code).toBe(0);
});
