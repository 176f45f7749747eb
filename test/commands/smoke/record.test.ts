import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type Made, openRecords, type Records } from '../../../src/commands/smoke/record.ts';
import { runWith } from '../../smoke/runs.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';

const temporary = temporaryFolder();
let folder: string;
let records: Records;
beforeEach(() => {
  folder = join(newConfigFolder(temporary).root, 'smoke');
  records = openRecords(folder);
});
const write = (name: string, text: string) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, name), text, { mode: 0o600 });
};
const runOf = (run: string) => runWith({}, { run });

it('keeps the last 20 runs, whole, and finds them by the beginning of an id', () => {
  expect(records.last()).toBeUndefined();
  for (let nth = 10; nth < 32; nth += 1) records.save(runOf(`sm-${nth}`));
  const names = readdirSync(folder).toSorted();
  expect([names.length, names[0], names.at(-1)]).toEqual([20, 'sm-12.json', 'sm-31.json']);
  expect(records.last()).toEqual(runOf('sm-31'));
  expect(records.find(undefined)).toEqual(runOf('sm-31'));
  expect(records.find('sm-15')).toEqual(runOf('sm-15'));
  // Of several, the newest.
  expect(records.find('sm-2')).toEqual(runOf('sm-29'));
});

it('other files are no runs', () => {
  records.save(runOf('sm-10'));
  for (const name of ['sm-99.json.tmp', 'x-sm-99.json', 'sm-.json', 'unended.json'])
    write(name, JSON.stringify(runOf('sm-99')));
  expect(records.last()?.run).toBe('sm-10');
});

it.each([
  [undefined, 'There was no smoke test yet'],
  ['sm-2', 'There is no run sm-2'],
])('a run %s that there is not cannot be shown', (id, message) => {
  if (id !== undefined) records.save(runOf('sm-1'));
  expect(thrownBy(() => records.find(id))).toMatchObject({
    ...{ code: 'usage', message, context: { hint: 'Make one with:', next: [['smoke']] } },
  });
});

it.each([
  ['no JSON', '{'],
  ['something else', '{"run":"sm-1"}'],
  ['a run of another psd2', JSON.stringify({ ...runOf('sm-1'), result: 'unsure' })],
])('a file with %s is no run', (_, text) => {
  write('sm-1.json', text);
  expect(records.last()).toBeUndefined();
  expect(thrownBy(() => records.find('sm-1'))).toMatchObject({ code: 'usage' });
});

const MADE: Made[] = [
  { kind: 'login', customerId: 'anna', tokens: ['a', 'b'] },
  ...(['consent', 'transfer', 'payment'] as const).map((kind) => ({ kind, transactionId: 't', run: 'sm-1' })),
];

it('what a run has made stays noted until nothing is left', () => {
  expect(records.unended()).toEqual({ run: '', made: [] });
  records.noteUnended('sm-1', MADE);
  expect(records.unended()).toEqual({ run: 'sm-1', made: MADE });
  records.noteUnended('sm-1', MADE.slice(1, 2));
  expect(openRecords(folder).unended()).toEqual({ run: 'sm-1', made: MADE.slice(1, 2) });
  records.noteUnended('sm-1', []);
  expect([existsSync(records.unendedPath), records.unended()]).toEqual([false, { run: '', made: [] }]);
  records.noteUnended('sm-1', []);
  expect(existsSync(records.unendedPath)).toBe(false);
});

it.each([
  ['no JSON', '{"run":'],
  ['no run', '{"made":[]}'],
  [
    'a kind that psd2 does not know',
    '{"run":"sm-1","made":[{"kind":"card","transactionId":"t","run":"sm-1"}]}',
  ],
  ['a login without a customer', '{"run":"sm-1","made":[{"kind":"login","tokens":[]}]}'],
  ['a login without tokens', '{"run":"sm-1","made":[{"kind":"login","customerId":"anna"}]}'],
  ['a transfer without a transaction', '{"run":"sm-1","made":[{"kind":"transfer","run":"sm-1"}]}'],
])('a note with %s is for a person to look at', (_, text) => {
  write('unended.json', text);
  expect(thrownBy(() => records.unended())).toMatchObject({
    ...{ code: 'config', message: `${records.unendedPath} is damaged` },
    context: {
      hint: 'It says what an earlier smoke test has made and not ended. Look at it, end that by hand, and remove the file.',
    },
  });
});

it('what others can read is not read', () => {
  records.noteUnended('sm-1', MADE);
  chmodSync(records.unendedPath, 0o644);
  expect(thrownBy(() => records.unended())).toMatchObject({ code: 'config' });
  records.save(runOf('sm-1'));
  chmodSync(join(folder, 'sm-1.json'), 0o644);
  expect(thrownBy(() => records.last())).toMatchObject({ code: 'config' });
});
