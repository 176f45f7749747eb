import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareRecords } from '../../../src/store/copy/copy.ts';
import type {
  CustomerRecord,
  LoginRecord,
  NoteRecord,
  ReadsRecord,
  StoredRecord,
} from '../../../src/store/ports/copy.ts';
import { count, flow, last, LOGIN as login } from './records.ts';

const loggedOut: LoginRecord = { ...login, tokens: null };
const customer: CustomerRecord = {
  kind: 'customer',
  baseUrl: 'https://bank.example/',
  customer: 'ada',
  generation: 3,
  kept: { psu: { id: 'ada-1', idType: null, corporateId: null, corporateIdType: null }, consents: [] },
};
/** What a sync has read at an hour, and the hours at which it has failed. */
const reads = (readAt: number | null, ...failedAt: number[]): ReadsRecord => ({
  ...{ kind: 'reads', customerId: '42' },
  reads: {
    readAt: readAt === null ? null : at(readAt),
    failed: failedAt.map((hour, index) => ({
      ...{ productId: `A${index}`, code: 'network', message: 'No answer', since: at(0), failures: 1 },
      ...{ lastFailedAt: at(hour), lastReadAt: null },
    })),
    doubts: [],
  },
});
const batch = (lines: number[], ...types: string[]): StoredRecord => ({
  ...{ kind: 'batch', batch: 'b', lines: lines.map((line) => ({ line })) },
  events: types.map((type) => ({ at: '2026-11-21T10:00:00.000Z', event: { type } })),
});
const word = (pseudonym: string): StoredRecord => ({
  ...{ kind: 'pseudonym', pseudonym, customerId: '42', word: '42' },
});
const line = (n: number, text: string): StoredRecord => ({ kind: 'audit', n, text });
const at = (hour: number) => `2026-11-21T${String(hour).padStart(2, '0')}:00:00.000Z`;
/** What the bank refused, with the hours when. */
const note = (refresh: number | null, call: number | null, message = 'No'): NoteRecord => ({
  kind: 'note',
  holder: '42',
  refresh: refresh === null ? null : { at: at(refresh), message, of: null },
  call: call === null ? null : { at: at(call), message },
});

describe("the other backend's version of a record", () => {
  it.each<[string, StoredRecord, StoredRecord, string]>([
    ['a login of an earlier generation', login, { ...login, generation: 2 }, 'older'],
    ['a login of a later generation', login, { ...login, generation: 4 }, 'newer'],
    ['the same login', login, { ...login }, 'same'],
    ['another login of the same generation', login, { ...login, baseUrl: 'https://b.example/' }, 'differs'],
    ['a login where this one was logged out', loggedOut, login, 'differs'],
    ['a logout where this one is logged in', login, loggedOut, 'differs'],
    ['a logout from another bank', loggedOut, { ...loggedOut, baseUrl: '', origin: 0 }, 'same'],
    ['a later logout', loggedOut, { ...loggedOut, generation: 4 }, 'newer'],
    ['a customer of an earlier generation', customer, { ...customer, generation: 2 }, 'older'],
    ['a customer of a later generation', customer, { ...customer, generation: 4 }, 'newer'],
    ['the same customer', customer, structuredClone(customer), 'same'],
    ['a customer who was forgotten there', customer, { ...customer, kept: null }, 'differs'],
    ['a customer who was forgotten later', customer, { ...customer, generation: 4, kept: null }, 'newer'],
    ['a customer in place of a login', login, customer, 'older'],
    ['the same flow', flow('a', 'b'), flow('a', 'b'), 'same'],
    ['a flow with fewer events', flow('a', 'b'), flow('a'), 'older'],
    ['a flow with more events', flow('a'), flow('a', 'b'), 'newer'],
    ['a flow with another event', flow('a', 'b'), flow('a', 'c'), 'differs'],
    ['a longer flow with another event', flow('a', 'b'), flow('x', 'b', 'c'), 'differs'],
    ['the same flow, under way', flow('a'), { ...flow('a'), underWay: true }, 'same'],
    ['the same notes', note(9, null), note(9, null), 'same'],
    ['notes of an earlier refusal', note(9, null), note(8, null), 'older'],
    ['notes of a later refusal', note(9, null), note(10, null), 'newer'],
    ['notes with a later refused call', note(9, 1), note(9, 10), 'newer'],
    ['notes with an earlier refused call', note(1, 9), note(1, 8), 'older'],
    ['a refused call before the refused refresh', note(9, null), note(null, 8), 'older'],
    ['a refused call after the refused refresh', note(9, null), note(null, 10), 'newer'],
    ['a refused refresh before the refused call', note(null, 9), note(8, null), 'older'],
    ['a refused refresh after the refused call', note(null, 9), note(10, null), 'newer'],
    ['other notes of the same time', note(9, null), note(9, null, 'Never'), 'older'],
    ['a lower count', count(3), count(2), 'older'],
    ['a higher count', count(3), count(4), 'newer'],
    ['the same count', count(3), count(3), 'same'],
    ['the same last login', last('42'), last('42'), 'same'],
    ['another last login', last('42'), last('43'), 'older'],
    ['the same results of syncs', reads(9, 8), reads(9, 8), 'same'],
    ['results of an earlier sync', reads(9), reads(8), 'older'],
    ['results of a later sync', reads(9), reads(10), 'newer'],
    ['results before any sync', reads(9), reads(null), 'older'],
    ['results of a later sync in vain', reads(9), reads(9, 10), 'newer'],
    ['results of an earlier sync in vain', reads(9, 10), reads(9, 8), 'older'],
    ['results of which the first failure is later', reads(1, 2, 3), reads(1, 9, 3), 'newer'],
    ['results of which the last failure is later', reads(1, 2, 3), reads(1, 2, 9), 'newer'],
    ['results of which the first failure is earlier', reads(1, 9, 3), reads(1, 2, 3), 'older'],
    ['results of a later success', reads(4, 9), reads(10, 9), 'newer'],
    ['results of an earlier success', reads(10, 9), reads(4, 9), 'older'],
    ['other results of the same time', reads(9, 8), reads(9, 7), 'older'],
    ['the same batch', batch([1, 2], 'a', 'b'), batch([1, 2], 'a', 'b'), 'same'],
    ['a batch with fewer events', batch([1], 'a', 'b'), batch([1], 'a'), 'older'],
    ['a batch with more events', batch([1], 'a'), batch([1], 'a', 'b'), 'newer'],
    ['a batch with another event', batch([1], 'a', 'b'), batch([1], 'a', 'c'), 'differs'],
    ['a batch with another line', batch([1, 2], 'a'), batch([1, 3], 'a'), 'differs'],
    ['a batch with fewer lines', batch([1, 2], 'a', 'b'), batch([1], 'a'), 'differs'],
    ['the same pseudonym', word('p1'), word('p1'), 'same'],
    ['another pseudonym of the word', word('p1'), word('p2'), 'newer'],
    ['the same line of the audit log', line(1, 'a'), line(1, 'a'), 'same'],
    ['another line of the audit log', line(1, 'a'), line(1, 'b'), 'newer'],
    ['a record of another kind', login, flow('a'), 'older'],
    ['a flow in place of a note', note(9, null), flow('a'), 'older'],
    ['a count in place of a note', note(9, null), count(3), 'older'],
    ['a note in place of a count', count(3), note(9, null), 'older'],
    ['a login in place of a flow', flow('a'), login, 'older'],
    ['a last login in place of a count', count(3), last('3'), 'older'],
  ])('%s', (_, record, other, comparison) => {
    expect(compareRecords(record, other)).toBe(comparison);
  });

  it.each([login, customer, flow('a'), batch([1], 'a'), note(9, 9), reads(9), count(3), last('42')])(
    'a $kind without a version there is missing',
    (record) => {
      expect(compareRecords(record, undefined)).toBe('missing');
    },
  );

  it('what is older on one side is newer on the other, for flows, counts and generations', () => {
    const events = fc.array(fc.constantFrom('a', 'b'), { maxLength: 4 });
    const records = fc.oneof(
      events.map((types): StoredRecord => flow(...types)),
      fc.nat(3).map(count),
      fc.nat(3).map((generation): StoredRecord => ({ ...login, generation })),
    );
    const opposite: Record<string, string> = { older: 'newer', newer: 'older' };
    fc.assert(
      fc.property(records, records, (one, other) => {
        fc.pre(one.kind === other.kind);
        const comparison = compareRecords(one, other);
        expect(compareRecords(other, one)).toBe(opposite[comparison] ?? comparison);
      }),
    );
  });
});
