import { beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { FlowRecord, Holdings, StoredRecord } from '../../../src/store/ports/copy.ts';
import type { KeptCustomer } from '../../../src/store/ports/customers.ts';
import { named } from '../../support/named.ts';
import { TRANSFER_BEGIN } from '../flows.ts';
import { BANK, granted, login } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

const DAY = parseDate('--date', '2026-11-21');
const day: string = DAY;

const time = (hour: number) => `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`;
const noteOf = (refresh: number | null, call: number | null): StoredRecord => ({
  ...{ kind: 'note', holder: '42' },
  refresh:
    refresh === null
      ? null
      : { at: time(refresh), message: `renewal ${refresh}`, of: refresh > 2 ? time(12) : null },
  call: call === null ? null : { at: time(call), message: `call ${call}` },
});
const readsOf = (hour: number, failures: number, doubts: number): StoredRecord => ({
  ...{ kind: 'reads', customerId: '42' },
  reads: {
    readAt: hour === 0 ? null : time(hour),
    failed: Array.from({ length: failures }, (_, n) => ({
      ...{ productId: n === 0 ? null : `A${n}`, code: 'network', message: `at ${hour}`, since: time(1) },
      ...{ failures: hour, lastFailedAt: time(2), lastReadAt: null },
    })),
    doubts: Array.from({ length: doubts }, (_, n) => ({
      ...{ productId: `A${n}`, at: time(hour), message: `at ${hour}`, complete: false, balanced: null },
      ...{ difference: null, certainFrom: null },
    })),
  },
});
const customerOf = (generation: number, kept: KeptCustomer | null): StoredRecord => ({
  ...{ kind: 'customer', baseUrl: BANK.href, customer: '42', generation, kept },
});
const person = (id: string | null) => ({ id, idType: null, corporateId: null, corporateIdType: null });

/** Versions of a record that follow one another: with more, with less, with something else. */
const TWICE: Record<string, StoredRecord[]> = {
  'a note': [noteOf(1, 1), noteOf(3, 3), noteOf(2, null), noteOf(null, 4), noteOf(4, null)],
  'what syncs could not read': [readsOf(1, 2, 2), readsOf(2, 1, 0), readsOf(0, 0, 1), readsOf(3, 0, 0)],
  'who logged in last': ['42', '43', '42'].map((customerId) => ({ kind: 'last-login', customerId })),
  'a customer': [
    customerOf(1, { psu: person('ada'), consents: [granted('co-1')], scaMethod: 'sms' }),
    customerOf(3, { psu: person(null), consents: [granted('co-2')] }),
    customerOf(4, null),
    customerOf(5, { psu: person('bob'), consents: [], scaMethod: 'chip' }),
  ],
};

const DAY_MS = 86_400_000;
const NOW = Date.now();
const daysAgo = (days: number) => new Date(NOW - days * DAY_MS - 60_000).toISOString();
const BEGIN = { ...TRANSFER_BEGIN('Rent'), transactionId: 't1' };
const FLOW = 'tr-0mh000000abcde';
/** A transfer that the bank was asked to verify. */
const flowRecord = (underWay: boolean, events: number, times = [daysAgo(1), daysAgo(1)]): FlowRecord => ({
  ...{ kind: 'flow', flow: FLOW, underWay },
  events: [
    { type: 'created', flow: FLOW, ...BEGIN },
    { type: 'verify-sent', requestId: 'r', digest: null },
  ]
    .slice(0, events)
    .map((event, index) => ({ at: times[index] ?? '', event: JSON.parse(JSON.stringify(event)) })),
});

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

  it('a pause after failed reads is no count, and a read that was given back counts no more', async () => {
    const { reads } = (await place.worker()).open('bank');
    const read = (productId: string | null) => ({ day: DAY, customerId: '42', productId });
    const counted = async () => {
      const all = [];
      for await (const record of place.side().open('bank').records()) all.push(record);
      return all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    };
    const count = (productId: string, times: number): StoredRecord => ({
      ...{ kind: 'count', day, read: { customerId: '42', productId }, count: times },
    });
    for (const productId of ['A1', 'B2', null]) await reads.take(read(productId));
    await reads.giveBack(read('A1'), 600);
    expect(await counted()).toEqual([count('', 1), count('B2', 1)]);
    await reads.take(read('A1'));
    await reads.giveBack(read(null));
    expect(await counted()).toEqual([count('A1', 1), count('B2', 1)]);
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

  it.each(Object.entries(TWICE))('%s that is copied again has nothing of before', async (_, records) => {
    for (const record of records) {
      await holdings.put(record);
      // Another worker of the copy, which has read nothing before.
      expect(await place.side().open('bank').counterpart(record)).toEqual(record);
    }
  });

  it.each([
    ['that is not under way any more', true, false],
    ['that somebody has resumed', false, true],
  ])('a flow %s is left behind only if it is under way', async (_what, before, after) => {
    const flow = flowRecord(before, 1);
    await holdings.put(flow);
    await holdings.put(flowRecord(after, 2));
    expect(await holdings.counterpart(flow)).toEqual(flowRecord(after, 2));
    const { flows } = (await place.worker()).open('bank', BANK);
    expect((await flows.leftBehind(9)).flows.map((each) => each.flow)).toEqual(after ? [FLOW] : []);
  });

  it.each([
    ['a week and a day ago, and worked on yesterday', [8, 1], [FLOW]],
    ['a week and a day ago, and left alone since', [9, 8], []],
    ['yesterday', [1, 1], [FLOW]],
  ])('a copied flow is named as left behind if it was begun %s', async (_what, [begun, last], named) => {
    await holdings.put(
      flowRecord(
        true,
        2,
        [begun, last].map((days = 0) => daysAgo(days)),
      ),
    );
    const { flows } = (await place.worker()).open('bank', BANK);
    expect((await flows.leftBehind(9)).flows.map((each) => each.flow)).toEqual(named);
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
