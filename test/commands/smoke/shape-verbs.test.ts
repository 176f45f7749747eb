import { expect, it } from 'vitest';
import { openRecords } from '../../../src/commands/smoke/record.ts';
import { readShapes, saveShapes } from '../../../src/commands/smoke/shapes.ts';
import type { DriftFinding } from '../../../src/smoke/result.ts';
import type { FieldShape, ShapeFile } from '../../../src/smoke/shapes.ts';
import { runWith } from '../../smoke/runs.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { payerWith } from '../payer-here.ts';

// What an operator accepts of the forms of answers. What a run learns of them is in sandbox.test.ts.

const temporary = temporaryFolder();
const [ONE, OTHER] = ['GET /a 200', 'GET /b 200'];
const seen = (runs: number): FieldShape => ({ in: [runs, runs], runs, kinds: ['object'] });
const finding = (id: string, answer: string, path: string): DriftFinding => ({
  ...{ id, answer, path, severity: 'breaking', message: 'changed' },
});
const FOUND = [
  finding('dr-12', ONE, '$.x'),
  finding('dr-13', OTHER, '$.x'),
  finding('dr-2', OTHER, '$.y'),
  // It was new, and is not learnt yet.
  finding('dr-3', 'GET /c 200', '$'),
];

/** The forms, without these fields. */
function shapesWithout(...gone: string[]): ShapeFile['shapes'] {
  const fieldsOf = (answer: string) =>
    Object.fromEntries(
      ['$', '$.x', '$.y']
        .filter((path) => !gone.includes(`${answer} ${path}`))
        .map((path) => [path, seen(5)]),
    );
  return { [ONE]: fieldsOf(ONE), [OTHER]: fieldsOf(OTHER) };
}

/** Of a run on another day. */
const KNOWN: ShapeFile = {
  ...{ version: 1, interface: 'here', bank: 'env', learnedFrom: '2026-01-01', learnedTo: '2026-01-02' },
  ...{ days: 2, runs: 5, shapes: shapesWithout() },
};

it.each<[what: string, words: string[], changed: number, gone: string[]]>([
  ['all', [], 4, [`${ONE} $.x`, `${OTHER} $.x`, `${OTHER} $.y`]],
  ['one', ['dr-13'], 1, [`${OTHER} $.x`]],
  ['one by the beginning of its id', ['dr-2'], 1, [`${OTHER} $.y`]],
  ['one that is new', ['dr-3'], 1, []],
])('accepting %s forgets those fields, and counts as no run', async (_, words, changed, gone) => {
  const { payer } = await payerWith(temporary);
  const records = openRecords(payer.folder.smoke('env'));
  // Those of an earlier run count no longer.
  records.save(runWith({}, { run: 'sm-1', drift: [finding('dr-9', ONE, '$.y')] }));
  records.save(runWith({}, { run: 'sm-2', drift: FOUND }));
  const path = payer.folder.shapes('env');
  saveShapes(path, KNOWN);
  const { data } = await payer.run(['smoke', 'shapes', 'accept', ...words, '--json']);
  expect(data).toEqual({ changed });
  expect(readShapes(path)).toEqual({ ...KNOWN, shapes: shapesWithout(...gone) });
});

it.each(['dr-1', 'dr-9', 'x'])('nothing is accepted as %s, which names no finding or several', async (id) => {
  const { payer } = await payerWith(temporary);
  const records = openRecords(payer.folder.smoke('env'));
  records.save(runWith({}, { run: 'sm-1', drift: [finding('dr-9', ONE, '$.y')] }));
  records.save(runWith({}, { run: 'sm-2', drift: FOUND }));
  const path = payer.folder.shapes('env');
  saveShapes(path, KNOWN);
  const { failure } = await payer.run(['smoke', 'shapes', 'accept', id]);
  expect([failure?.exitCode, failure?.message]).toEqual([2, `There is no finding ${id} in the last run`]);
  expect(readShapes(path)).toEqual(KNOWN);
});
