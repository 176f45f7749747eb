import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const CASES = Array.from({ length: 30 }, (_, index) => `case ${index}`);

async function chosen(env: Record<string, string | undefined>) {
  vi.resetModules();
  const variables = { TEST_ALL: undefined, CRASH_MATRIX: undefined, TEST_SEED: '1', ...env };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const { fewer, sample } = await import('./sample.ts');
  return { cases: sample(CASES, 5), fewer: [0, 1, 4, 6].map(fewer) };
}

it('a sample has a few cases in their order, and the same seed chooses the same ones', async () => {
  const { cases, fewer } = await chosen({});
  expect(cases).toHaveLength(5);
  expect(cases).toEqual(CASES.filter((each) => cases.includes(each)));
  expect(fewer).toEqual([0, 1, 2, 2]);
  expect(await chosen({})).toEqual({ cases, fewer });
  expect((await chosen({ TEST_SEED: '2' })).cases).not.toEqual(cases);
});

it.each([{ TEST_ALL: '1' }, { CRASH_MATRIX: 'all' }])('%j leaves nothing out', async (env) => {
  expect(await chosen(env)).toEqual({ cases: CASES, fewer: [0, 1, 4, 6] });
});

it('npm test takes a long file of each kind, and the test of the kill in each run', async () => {
  const filesOf = async (seed: string) => {
    vi.resetModules();
    vi.stubEnv('TEST_SEED', seed);
    return (await import('./sample.ts')).someFiles('test');
  };
  const files = await filesOf('1');
  expect(files.every((file) => existsSync(file))).toBe(true);
  expect(files).toContain(join('test', 'crash', 'kill.test.ts'));
  const folders = files.map((file) => (file.endsWith('.long.test.ts') ? 'long' : file.split(sep)[1]));
  expect(folders).toEqual(['crash', 'crash', 'hostile', 'fuzz', 'long']);
  expect(await filesOf('1')).toEqual(files);
  expect(await filesOf('2')).not.toEqual(files);
});
