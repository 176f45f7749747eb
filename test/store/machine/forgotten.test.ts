import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { storeFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
const DAY = 24 * 60 * 60_000;
const NOW = Date.parse('2026-11-21T09:30:00Z');

/** A folder, and the file of the record in it. */
function place() {
  const { root, log } = newConfigFolder(temporary);
  const file = join(log, 'forgotten.ndjson');
  return { file, command: () => storeFolder(root).forgotten };
}

it('only customers count whom psd2 has forgotten since a command began, whatever the clock says', async () => {
  const { command } = place();
  const [first, other] = [command(), command()];
  expect(first.isForgotten('bank', '1')).toBe(false);
  await other.add('bank', ['1', 'ACC'], new Date(NOW));
  const second = command();
  await other.add('bank', ['2'], new Date(NOW - DAY));
  const known = (of: typeof first) => ['1', 'ACC', '2', '3'].filter((word) => of.isForgotten('bank', word));
  expect([known(first), known(second), known(command())]).toEqual([['1', 'ACC', '2'], ['2'], []]);
  expect(first.isForgotten('other', '1')).toBe(false);
  // Another thread of the command began when the command did. A command that begins anew keeps nothing of before.
  const thread = command();
  thread.begin(second.before);
  expect(known(thread)).toEqual(['2']);
  first.begin();
  expect(known(first)).toEqual([]);
});

it('the record has no names, belongs to its owner alone, and goes after thirty days', async () => {
  const { command, file } = place();
  const began = command();
  await began.add('bank', ['1048262'], new Date(NOW - 30 * DAY));
  await began.add('bank', ['2073915'], new Date(NOW - 30 * DAY + 1));
  await began.add('bank', ['3000000'], new Date(NOW));
  expect(readFileSync(file, 'utf8')).not.toMatch(/1048262|2073915|3000000|bank/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(2);
  expect(['1048262', '2073915', '3000000'].map((word) => began.isForgotten('bank', word))).toEqual([
    ...[false, true, true],
  ]);
});

it('a damaged line says nothing, and the next customer is recorded all the same', async () => {
  const { command, file } = place();
  const began = command();
  await began.add('bank', ['1'], new Date(NOW));
  writeFileSync(file, `{"at":\n${readFileSync(file, 'utf8')}null\n`);
  expect(began.isForgotten('bank', '1')).toBe(true);
  await began.add('bank', ['2'], new Date(NOW));
  expect(['1', '2'].map((word) => began.isForgotten('bank', word))).toEqual([true, true]);
});
