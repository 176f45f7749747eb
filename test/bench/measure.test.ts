import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keepAllowed } from '../../bench/environment.js';
import { intervalOf, roundsWithin, timeProcesses } from '../../bench/measure.js';
import { temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();

it('the benches run without the variables that could change what they measure', () => {
  const env = {
    PATH: '/bin',
    LANG: 'C',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    NODE_OPTIONS: '-x',
    PSD2_STORE: 'x',
  };
  expect(keepAllowed(env)).toEqual(['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'PSD2_STORE']);
  expect(env).toEqual({ PATH: '/bin', LANG: 'C' });
});

it('the interval of 8 pairs is all of them, and that of 100 the one of the sign test', () => {
  const eight = [1.3, 1.1, 1.2, 1.7, 1.4, 1.5, 1.6, 1.8];
  expect(intervalOf(eight)).toEqual({ median: 1.5, low: 1.1, high: 1.8, differs: true });
  // The tables of the sign test have the 37th and the 64th of 100 for 99 %.
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect(intervalOf(hundred)).toMatchObject({ low: 37, high: 64 });
  expect(() => intervalOf(eight.slice(1))).toThrow('7 pairs say nothing');
});

it('two builds differ only if the interval lies on one side of 1', () => {
  const around = (middle: number) => [-4, -3, -2, -1, 1, 2, 3, 4].map((step) => middle + step / 100);
  expect(intervalOf(around(1)).differs).toBe(false);
  expect(intervalOf(around(1.03)).differs).toBe(false);
  expect(intervalOf(around(1.05)).differs).toBe(true);
  expect(intervalOf(around(0.95)).differs).toBe(true);
});

it('rounds end when their time is over, but there are some in any case', () => {
  expect([...roundsWithin(0, { atLeast: 2, atMost: 9 })]).toEqual([0, 1]);
  expect([...roundsWithin(3600, { atLeast: 2, atMost: 9 })]).toHaveLength(9);
});

it('processes run in turns, and every other round goes backwards', () => {
  const file = join(temporary, 'turns');
  const command = (name: string) => [
    process.execPath,
    '-e',
    `require('node:fs').appendFileSync(${JSON.stringify(file)}, '${name}')`,
  ];
  const times = timeProcesses({ a: command('a'), b: command('b') }, { rounds: 2, atLeast: 2, seconds: 0 });
  expect(readFileSync(file, 'utf8')).toBe('abbaab');
  expect(times.ratios('a', 'a')).toEqual([1, 1]);
  expect(times.ratios('a', 'b')).toHaveLength(2);
});

it('a process that fails ends the bench', () => {
  const broken = [process.execPath, '-e', 'process.exit(3)'];
  expect(() => timeProcesses({ broken }, { rounds: 1, seconds: 0 })).toThrow('broken ended with exit code 3');
});
