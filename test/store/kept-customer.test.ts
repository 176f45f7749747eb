import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addDays, parseDate } from '../../src/domain/calendar.ts';
import { type CustomerVersion, changeRecord, lastingOf } from '../../src/store/kept-customer.ts';
import { granting } from './whole-store.ts';

/**
 * What becomes of a version that a worker adds: it is stored; it is stored, and the worker is not told; it is lost on the way; it is
 * stored later, after the worker was told that it may not be.
 */
const FATES = ['stored', 'untold', 'lost', 'late'] as const;
type Fate = (typeof FATES)[number];

/** A backend that decides by generation, as each backend does. */
function backendOf(fates: readonly Fate[]) {
  let newest: CustomerVersion = { generation: 0, changes: [], kept: null };
  let adds = 0;
  const late: (() => void)[] = [];
  const store = (version: CustomerVersion) => {
    if (version.generation !== newest.generation + 1) return false;
    newest = version;
    return true;
  };
  return {
    newest: () => newest,
    land: () => late.shift()?.(),
    add: (version: CustomerVersion): boolean => {
      const fate = fates[adds] ?? 'stored';
      adds += 1;
      if (fate === 'lost') return false;
      if (fate === 'late') late.push(() => void store(version));
      else if (store(version)) return fate === 'stored';
      return false;
    },
  };
}

const flowsIn = ({ kept }: CustomerVersion) => (kept?.consents ?? []).map(({ flow }) => flow).sort();

it('each change of several workers is made once, whatever is lost, late, or slow', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.constantFrom(...FATES), { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
      async (scheduler, fates, workers) => {
        const backend = backendOf(fates);
        const step = async <T>(what: () => T): Promise<T> => {
          await scheduler.schedule(Promise.resolve());
          return what();
        };
        const versions = {
          newest: () => step(backend.newest),
          add: (version: CustomerVersion) => step(() => backend.add(version)),
        };
        const expected = workers.flatMap((changes, worker) =>
          Array.from({ length: changes }, (_, change) => `co-${worker}-${change}`),
        );
        const work = workers.map(async (changes, worker) => {
          for (let change = 0; change < changes; change += 1)
            await changeRecord('it', versions, granting(`co-${worker}-${change}`));
        });
        const landing = fates.map(() => step(backend.land));
        await scheduler.waitFor(Promise.all([...work, ...landing]));
        for (const _ of fates) backend.land();
        expect(flowsIn(backend.newest())).toEqual(expected.toSorted());
      },
    ),
    { numRuns: 300 },
  );
});

/** A worker whose first version has a fate, and which stands still then while others make changes. */
async function afterOthers(fate: Fate, count: number): Promise<{ error: unknown; flows: string[] }> {
  const backend = backendOf([fate]);
  let hasTried = false;
  const versions = {
    newest: async () => backend.newest(),
    add: async (v: CustomerVersion) => backend.add(v),
  };
  const error: unknown = await changeRecord(
    'the record of customer ada',
    {
      ...versions,
      add: async (version) => {
        const added = backend.add(version);
        if (hasTried) return added;
        hasTried = true;
        for (let number = 0; number < count; number += 1)
          await changeRecord('it', versions, granting(`co-${number + 10}`));
        return added;
      },
    },
    granting('co-late'),
  ).catch((thrown: unknown) => thrown);
  return { error, flows: flowsIn(backend.newest()) };
}

it.each(['untold', 'lost'] as const)(
  'a worker that stood still while others made 15 changes knows whether its own was made (%s)',
  async (fate) => {
    const { error, flows } = await afterOthers(fate, 15);
    expect(error).toBeUndefined();
    expect(flows).toHaveLength(16);
    expect(flows).toContain('co-late');
  },
);

it.each([
  ['untold', 16, 17],
  ['lost', 17, 17],
] as const)('after more changes, the worker says that it does not know (%s)', async (fate, count, kept) => {
  const { error, flows } = await afterOthers(fate, count);
  expect(error).toMatchObject({
    code: 'config',
    message: 'It is unclear whether the record of customer ada was written',
    hint: expect.stringContaining('Run this again'),
  });
  expect(flows).toHaveLength(kept);
});

it('a record that psd2 could not read again is not written', async () => {
  const backend = backendOf([]);
  const versions = {
    newest: async () => backend.newest(),
    add: async (v: CustomerVersion) => backend.add(v),
  };
  const wrong = granting('co-1');
  await expect(
    changeRecord('it', versions, (before) => ({
      ...before,
      consents: wrong(before).consents.map((consent) => ({ ...consent, grantedAt: 'yesterday' })),
    })),
  ).rejects.toThrow();
  expect(backend.newest().generation).toBe(0);
});

it.each([
  [90, 90],
  [180, 180],
  [181, 180],
  [null, 180],
])('a consent that is valid for %s days lasts %s: SCA must be made again after 180', (valid, lasts) => {
  const granted = parseDate('--date', '2026-11-21');
  const { consents, ...rest } = granting('co-1')({ psu: NOBODY, consents: [] });
  const kept = consents.map((each) => ({
    ...{ ...each, grantedAt: `${granted}T10:00:00.000Z` },
    validUntil: valid === null ? null : addDays(granted, valid),
  }));
  const [ending] = lastingOf('ada', { ...rest, consents: kept });
  expect(ending?.validUntil).toBe(addDays(granted, lasts));
  // A consent for one reading does not last.
  const once = kept.map((each) => ({ ...each, flow: 'co-once', recurring: false }));
  expect(lastingOf('ada', { ...rest, consents: [...once, ...kept] })).toEqual([ending]);
});

const NOBODY = { id: null, idType: null, corporateId: null, corporateIdType: null };
