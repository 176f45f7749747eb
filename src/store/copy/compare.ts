import { isDeepStrictEqual } from 'node:util';
import type { FlowRecord, LoginRecord, NoteRecord, StoredRecord } from '../ports/copy.ts';

/**
 * How the other home's version compares with a record: it is `missing`, the `same`, `older` or `newer`, or it `differs`,
 * so that neither continues the other.
 */
export type Comparison = 'missing' | 'same' | 'older' | 'newer' | 'differs';

/** @param other the other home's version of the record */
export function compareRecords(record: StoredRecord, other: StoredRecord | undefined): Comparison {
  if (!other) return 'missing';
  if (record.kind === 'login' && other.kind === 'login') return compareLogins(record, other);
  if (record.kind === 'flow' && other.kind === 'flow') return compareFlows(record, other);
  if (record.kind === 'note' && other.kind === 'note') return compareNotes(record, other);
  if (record.kind === 'count' && other.kind === 'count') return byOrder(record.count, other.count);
  return isDeepStrictEqual(record, other) ? 'same' : 'older';
}

function compareLogins(record: LoginRecord, other: LoginRecord): Comparison {
  if (record.generation !== other.generation) return byOrder(record.generation, other.generation);
  // After a logout, not every home stores the bank.
  if (record.tokens === null && other.tokens === null) return 'same';
  return isDeepStrictEqual(record, other) ? 'same' : 'differs';
}

function compareFlows({ events }: FlowRecord, other: FlowRecord): Comparison {
  const both = Math.min(events.length, other.events.length);
  if (!isDeepStrictEqual(events.slice(0, both), other.events.slice(0, both))) return 'differs';
  return byOrder(events.length, other.events.length);
}

function compareNotes(record: NoteRecord, other: NoteRecord): Comparison {
  if (isDeepStrictEqual(record, other)) return 'same';
  return latest(record) < latest(other) ? 'newer' : 'older';
}

function latest({ refresh, call }: NoteRecord): string {
  const [a, b] = [refresh?.at ?? '', call?.at ?? ''];
  return a > b ? a : b;
}

function byOrder(own: number, other: number): Comparison {
  if (own === other) return 'same';
  return own > other ? 'older' : 'newer';
}
