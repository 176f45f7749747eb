import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileCustomers } from '../../src/store/files/customers.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { useProgram } from '../store/process.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { BANK } from '../store/whole-store.ts';
import { sample } from '../support/sample.ts';

const temporary = temporaryFolder();
const program = useProgram(new URL('../store/change-customer.ts', import.meta.url));
const NO_HASTE = { STOP_HASTE: '1' };
const PATIENCE_MS = 300_000;

/** Starts a worker that makes changes. @param stop where it is stopped, and by which signal */
function start({ root }: StoreFolder, prefix: string, changes: number, stop?: Record<string, string>) {
  return program([root, prefix, String(changes)], join(root, 'tokens'), stop);
}

const customers = (folder: StoreFolder) => new FileCustomers(folder, 'bank', BANK);
const flowsIn = async (folder: StoreFolder) =>
  ((await customers(folder).read('ada'))?.consents ?? []).map(({ flow }) => flow).sort();

/** A folder with a record that has one consent, or without a record. */
async function newFolder(isEmpty: boolean): Promise<StoreFolder> {
  const folder = newConfigFolder(temporary);
  if (!isEmpty) expect((await start(folder, 'before', 1).ended).points).not.toEqual([]);
  return folder;
}

describe.each([
  ['the first change', true],
  ['a further change', false],
])('wherever a worker was stopped at %s', (_what, isEmpty) => {
  const before = isEmpty ? [] : ['before-1'];
  /** The points of a change, without those that differ from run to run. */
  async function points(): Promise<string[]> {
    const { points: found } = await start(await newFolder(isEmpty), 'late', 1).ended;
    expect(found.filter((point) => !/^(?:before|after) \w+ .+ #\d+$/.test(point))).toEqual([]);
    expect(found.length).toBeGreaterThan(15);
    return sample(found, 8);
  }

  it(
    'it goes on after another one made a change, and both are there once',
    async () => {
      for (const point of await points()) {
        const folder = await newFolder(isEmpty);
        const late = start(folder, 'late', 1, { STOP_AT: point });
        await late.stands(point);
        await start(folder, 'other', 3).ended;
        expect(await flowsIn(folder), point).toEqual(
          expect.arrayContaining([...before, 'other-1', 'other-2', 'other-3']),
        );
        late.child.kill('SIGCONT');
        await late.ended;
        expect(late.child.exitCode, point).toBe(0);
        const all = [...before, 'late-1', 'other-1', 'other-2', 'other-3'];
        expect(await flowsIn(folder), point).toEqual(all);
      }
    },
    PATIENCE_MS,
  );

  it(
    'and killed, its change was made or not, and others can go on',
    async () => {
      for (const point of await points()) {
        const folder = await newFolder(isEmpty);
        await start(folder, 'late', 1, { STOP_AT: point, STOP_HOW: 'SIGKILL' }).ended;
        const left = await flowsIn(folder);
        expect([before, [...before, 'late-1']], point).toContainEqual(left);
        await start(folder, 'other', 2).ended;
        expect(await flowsIn(folder), point).toEqual([...left, 'other-1', 'other-2']);
      }
    },
    PATIENCE_MS,
  );
});

it(
  'of changes that several processes make at once, one of them killed, none is lost or made twice',
  async () => {
    const folder = await newFolder(true);
    // In haste, a process would also give up sooner while the others take turns.
    const killed = start(folder, 'a', 100, NO_HASTE);
    const others = ['b', 'c', 'd'].map((prefix) => start(folder, prefix, 10, NO_HASTE));
    await Promise.race(others.map(({ ended }) => ended));
    killed.child.kill('SIGKILL');
    await Promise.all([killed, ...others].map(({ ended }) => ended));
    const flows = await flowsIn(folder);
    expect(new Set(flows).size).toBe(flows.length);
    const of = (prefix: string) => flows.filter((flow) => flow.startsWith(`${prefix}-`)).length;
    expect(['b', 'c', 'd'].map(of)).toEqual([10, 10, 10]);
    // Those of the killed process are the first ones that it made, without a gap.
    const numbers = flows.flatMap((flow) => (flow.startsWith('a-') ? [Number(flow.slice(2))] : []));
    expect(numbers.sort((one, other) => one - other)).toEqual(numbers.map((_, index) => index + 1));
  },
  PATIENCE_MS,
);
