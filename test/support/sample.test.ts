import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, it } from 'vitest';
import { sampling } from './sample.ts';

const CASES = Array.from({ length: 30 }, (_, index) => `case ${index}`);

function chosen(env: Record<string, string>) {
  const { fewer, sample } = sampling(env);
  return { cases: sample(CASES, 5), fewer: [0, 1, 4, 6].map(fewer) };
}

it('a sample has a few cases in their order, and the same seed chooses the same ones', () => {
  const { cases, fewer } = chosen({ TEST_SEED: '1' });
  expect(cases).toHaveLength(5);
  expect(cases).toEqual(CASES.filter((each) => cases.includes(each)));
  expect(fewer).toEqual([0, 1, 2, 2]);
  expect(chosen({ TEST_SEED: '1' })).toEqual({ cases, fewer });
  expect(chosen({ TEST_SEED: '2' }).cases).not.toEqual(cases);
});

it.each([{ TEST_ALL: '1' }, { CRASH_MATRIX: 'all' }])('%j leaves nothing out', (env) => {
  expect(chosen(env)).toEqual({ cases: CASES, fewer: [0, 1, 4, 6] });
});

it('npm test takes the tests of the kill and of PIN and TAN in each run, and one long file of each other kind', () => {
  const filesOf = (seed: string) => sampling({ TEST_SEED: seed }).someFiles('test');
  const files = filesOf('1');
  expect(files.every((file) => existsSync(file))).toBe(true);
  for (const always of ['kill', 'embedded-secrets'])
    expect(files).toContain(join('test', 'crash', `${always}.test.ts`));
  expect(files.map((file) => file.split(sep)[1]).slice(0, 4)).toEqual([
    'crash',
    'crash',
    'scenarios',
    'crash',
  ]);
  expect(files).toHaveLength(5);
  expect(filesOf('1')).toEqual(files);
  expect(filesOf('2')).not.toEqual(files);
});
