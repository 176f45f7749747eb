import { beforeEach, describe, expect, it } from 'vitest';
import type { Holdings, StoredRecord } from '../../../src/store/ports/copy.ts';
import { named } from '../../support/named.ts';
import { BANK, login } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

const day = '2026-11-21';

describe.each(named(useBackends()))('a record that is copied into %s', (_name, { open }) => {
  let place: Place;
  let holdings: Holdings;
  beforeEach(async () => {
    place = await open();
    holdings = place.side().open('bank');
  });
  /** @returns all records after these were put there, one after the other */
  async function holding(...records: StoredRecord[]): Promise<StoredRecord[]> {
    for (const record of records) await holdings.put(record);
    const all: StoredRecord[] = [];
    for await (const record of holdings.records()) all.push(record);
    return all;
  }

  it('a count grows to what the other backend has counted, and never shrinks', async () => {
    const calls = (count: number): StoredRecord => ({ kind: 'count', day, read: null, count });
    const reads = (productId: string, count: number): StoredRecord => ({
      ...{ kind: 'count', day, count },
      read: { customerId: '42', productId },
    });
    const counts = [calls(3), calls(5), calls(2), reads('', 2), reads('A1', 1), reads('A1', 4), reads('', 1)];
    expect(await holding(...counts)).toEqual([calls(5), reads('', 2), reads('A1', 4)]);
  });

  it('notes replace the notes of the holder, and no others', async () => {
    const note = (holder: string, message: string): StoredRecord => ({
      ...{ kind: 'note', holder, refresh: null },
      call: { at: `${day}T10:00:00.000Z`, message },
    });
    await holding(note('42', 'one'), note('', 'two'), note('42', 'three'));
    for (const [holder, message] of [
      ['42', 'three'],
      ['', 'two'],
    ] as const)
      expect(await holdings.counterpart(note(holder, ''))).toEqual(note(holder, message));
  });

  it('older tokens never replace newer ones, and a logout counts', async () => {
    const record = (generation: number, accessToken: string | null, origin = generation): StoredRecord => ({
      ...{ kind: 'login', holder: '42', generation, origin, baseUrl: BANK.href },
      tokens: accessToken === null ? null : { ...login, accessToken, apiTrackId: undefined },
    });
    const newer = record(3, 'three', 2);
    expect(await holding(newer, record(3, 'other'), record(2, 'two'), record(1, null))).toEqual([newer]);
    const { tokens } = (await place.worker()).open('bank', BANK);
    expect(await tokens.read('42')).toMatchObject({ accessToken: 'three', generation: 3, origin: 2 });
    await holdings.put(record(4, null));
    expect(await tokens.read('42')).toBeUndefined();
    const logout = { generation: 4, origin: 4, tokens: null };
    expect(await holdings.counterpart(record(1, null))).toMatchObject(logout);
  });
});
