import { beforeEach, describe, expect, it } from 'vitest';
import type { ReadResults } from '../../../src/store/ports/read-results.ts';
import { type Place, useBackends } from './backends.ts';

const BANK = new URL('https://bank.example');
const day = (of: number, hour = 6) =>
  `2026-11-${String(of).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00.000Z`;
const failure = (productId: string | null, code = 'forbidden') => ({ productId, code, message: `${code}!` });
const failed = (customerId: string, at: string, ...failures: ReturnType<typeof failure>[]) => ({
  ...{ customerId, at, failures, skipped: [] },
});
const whole = (customerId: string, at: string) => failed(customerId, at);
const ALWAYS = new Date(0);

describe.each(useBackends())('$name', ({ open }) => {
  let place: Place;
  let results: ReadResults;
  const worker = async () => (await place.worker()).open('bank', BANK).results;
  beforeEach(async () => {
    place = await open();
    results = await worker();
  });

  it('a failure keeps its beginning and its number while it lasts, and the last success before it', async () => {
    await results.add([whole('1', day(1)), failed('1', day(2), failure('A', 'sca_required'))]);
    await (await worker()).add([failed('1', day(3), failure('A'))]);
    expect(await results.failed(ALWAYS)).toEqual([
      {
        ...{ customerId: '1', productId: 'A', code: 'forbidden', message: 'forbidden!' },
        ...{ since: day(2), failures: 2, lastFailedAt: day(3), lastReadAt: day(1) },
      },
    ]);
  });

  it('a failure stays after a success, which ends its row', async () => {
    await results.add([failed('1', day(1), failure('A')), whole('1', day(2))]);
    expect(await results.failed(ALWAYS)).toMatchObject([{ lastFailedAt: day(1), lastReadAt: day(2) }]);
    await results.add([failed('1', day(3), failure('A'))]);
    expect(await results.failed(ALWAYS)).toMatchObject([{ since: day(3), failures: 1, lastReadAt: day(2) }]);
  });

  it('of an account that was never read, nothing else that was read says that it was', async () => {
    await results.add([
      failed('1', day(1), failure('A')),
      failed('1', day(2), failure('A'), failure('B')),
      failed('1', day(3), failure('A'), failure('B'), failure(null)),
    ]);
    const found = (await results.failed(ALWAYS)).map(({ productId, lastReadAt }) => [productId, lastReadAt]);
    expect(found).toEqual([
      ['A', null],
      ['B', day(1)],
      [null, day(2)],
    ]);
    expect(await results.outdated(new Date(day(4)))).toEqual([
      { customerId: '1', readAt: null, since: day(1) },
    ]);
  });

  it.each([
    ['since before it', 2, 23, true],
    ['since that moment', 3, 0, true],
    ['since after it', 3, 1, false],
  ])('a failure %s is shown only if it is not older', async (_, since, hour, isShown) => {
    await results.add([failed('1', day(3, 0), failure('A'))]);
    expect(await results.failed(new Date(day(since, hour)))).toHaveLength(isShown ? 1 : 0);
  });

  it.each([
    ['older than its data', 2, []],
    ['that of its data', 3, []],
    ['newer than its data', 4, [{ customerId: '1', readAt: day(3), since: day(3) }]],
  ])('a customer is outdated by a time only if it is %s', async (which, before, outdated) => {
    await results.add([whole('1', day(3))]);
    expect([which, await results.outdated(new Date(day(before)))]).toEqual([which, outdated]);
  });

  it('an account that was skipped, or whose customer could not be read, is not read again', async () => {
    await results.add([
      failed('1', day(1), failure('A')),
      { ...whole('1', day(2)), skipped: ['A'] },
      failed('1', day(3), failure(null, 'not_logged_in')),
    ]);
    const found = (await results.failed(ALWAYS)).map(({ productId, lastReadAt }) => [productId, lastReadAt]);
    expect(found).toEqual([
      ['A', null],
      [null, day(1)],
    ]);
  });

  it('what a sync could not know of an account is kept until a sync has read it without a doubt', async () => {
    const doubt = (productId: string) => ({
      ...{ productId, balanced: false, difference: '-3.50', complete: false, certainFrom: '2026-11-01' },
      message: `${productId} differs`,
    });
    const found = async () =>
      (await (await worker()).doubts()).map(({ customerId, productId, at }) => [customerId, productId, at]);
    await results.add([{ ...whole('1', day(1)), doubts: [doubt('A'), doubt('B')] }, whole('2', day(1))]);
    expect(await results.doubts()).toContainEqual({ customerId: '1', at: day(1), ...doubt('A') });
    await results.add([
      { ...failed('1', day(2), failure('A')), doubts: [doubt('C')] },
      { ...whole('2', day(2)), doubts: [doubt('A')] },
    ]);
    expect((await found()).toSorted()).toEqual([
      ['1', 'A', day(1)],
      ['1', 'C', day(2)],
      ['2', 'A', day(2)],
    ]);
    await results.add([{ ...whole('1', day(3)), skipped: ['C'] }]);
    expect((await found()).toSorted()).toEqual([
      ['1', 'C', day(2)],
      ['2', 'A', day(2)],
    ]);
  });

  it('only failures since a time are shown, and those older than 30 days are forgotten', async () => {
    await results.add([failed('1', '2026-10-01T00:00:00.000Z', failure('A'))]);
    await results.add([failed('1', day(2), failure('B')), failed('2', day(1), failure(null))]);
    const found = async (since: Date) =>
      (await results.failed(since)).map(({ productId }) => productId).sort();
    expect(await found(ALWAYS)).toEqual(['B', null]);
    expect(await found(new Date(day(2)))).toEqual(['B']);
  });

  it('a customer is outdated by the oldest account that is still failing, or since psd2 has tried in vain', async () => {
    await results.add([
      ...[whole('1', day(1)), whole('2', day(4)), whole('3', day(1)), failed('3', day(4), failure('A'))],
      ...[
        failed('4', day(1), failure(null)),
        failed('4', day(4), failure(null)),
        failed('5', day(4), failure('A')),
      ],
      ...[failed('6', day(1), failure('A')), whole('6', day(4))],
    ]);
    const found = await results.outdated(new Date(day(3)));
    expect(found.toSorted((a, b) => a.customerId.localeCompare(b.customerId))).toEqual([
      { customerId: '1', readAt: day(1), since: day(1) },
      { customerId: '3', readAt: day(1), since: day(1) },
      { customerId: '4', readAt: null, since: day(1) },
    ]);
  });

  it('after a customer is forgotten, nothing of them is left', async () => {
    await results.add([failed('1048262', day(1), failure('A')), failed('2', day(1), failure('A'))]);
    await results.forget('1048262');
    expect((await results.failed(ALWAYS)).map(({ customerId }) => customerId)).toEqual(['2']);
    expect(place.everything()).not.toContain('1048262');
  });

  it('the results of many syncs take little space', async () => {
    for (let round = 0; round < 30; round += 1) {
      const at = new Date(Date.parse(day(1)) + round * 60_000).toISOString();
      await results.add(Array.from({ length: 1_000 }, (_, n) => failed(String(n), at, failure(null))));
    }
    expect(await results.failed(ALWAYS)).toHaveLength(1_000);
    expect(place.everything().length).toBeLessThan(4_000_000);
  });
});
