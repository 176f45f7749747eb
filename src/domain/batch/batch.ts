import type * as z from 'zod/mini';
import type { batchAdded, batchEvent } from './events.ts';

export type BatchAdded = z.infer<typeof batchAdded>;
/** All events of a batch after the first. */
export type BatchEvent = z.infer<typeof batchEvent>;

/** Who acts on a batch. */
export type Person = Pick<BatchAdded, 'by' | 'user' | 'machine'>;

/** The role of what `store copy` has brought into files. */
export const COPIED = '';

/** A person's yes or no to a content. `at` is ISO 8601 with zone. */
export interface Decision extends Person {
  /** The database role that recorded it. Null in files; {@link COPIED} in files if it was given in another store. */
  role: string | null;
  at: string;
  sha256: string;
}

/** A batch, without its lines: the fold of its events. */
export interface Batch extends Omit<BatchAdded, 'type' | 'by'> {
  batch: string;
  addedBy: string;
  /** The database role that added it. Null in files. */
  addedRole: string | null;
  /** ISO 8601 with zone. */
  addedAt: string;
  approvals: Decision[];
  rejection: (Decision & { note: string }) | null;
  /** The transfer of each line that has one. A line's first transfer may have ended before anything of it was sent. */
  flows: Map<number, string>;
  /** The bulk payments, each with its lines. The last one that has a line is the line's. */
  bulks: Map<string, readonly number[]>;
  /** Why psd2 refused a line: before it had a transfer, or before anybody confirmed that. */
  refused: Map<number, string>;
  cancelled: Set<number>;
  /** The transfers whose link was written out. */
  linked: Set<string>;
  /** The hashes of the lines since psd2 has forgotten customers of them. Nothing of such a batch can be paid. */
  pseudonymised: Set<string>;
}

/** A batch that has just been added. */
export function newBatch(
  batch: string,
  { type: _, by, ...added }: BatchAdded,
  at: string,
  role: string | null = null,
): Batch {
  return {
    ...added,
    batch,
    addedBy: by,
    addedAt: at,
    addedRole: role,
    approvals: [],
    rejection: null,
    flows: new Map(),
    bulks: new Map(),
    refused: new Map(),
    cancelled: new Set(),
    linked: new Set(),
    pseudonymised: new Set(),
  };
}

/** Adds an event to a batch. It changes the batch, because a batch has as many events as lines. */
export function applyBatchEvent(
  batch: Batch,
  event: BatchEvent,
  at: string,
  role: string | null = null,
): void {
  switch (event.type) {
    case 'approved':
      batch.approvals.push({ ...personIn(event), role, sha256: event.sha256, at });
      break;
    case 'rejected':
      batch.rejection = { ...personIn(event), role, sha256: event.sha256, note: event.note, at };
      break;
    case 'line-begun':
      batch.flows.set(event.line, event.flow);
      break;
    case 'bulk-begun':
      batch.bulks.set(event.flow, event.lines);
      break;
    case 'line-refused':
      batch.refused.set(event.line, event.reason);
      break;
    case 'link-given':
      batch.linked.add(event.flow);
      break;
    case 'lines-cancelled':
      for (const line of event.lines) batch.cancelled.add(line);
      break;
    case 'pseudonymised':
      batch.pseudonymised.add(event.sha256);
      // A note may name the customer.
      batch.note = null;
      if (batch.rejection) batch.rejection = { ...batch.rejection, note: '' };
      break;
  }
}

function personIn({ by, user, machine }: Person): Person {
  return { by, user, machine };
}

/**
 * The approvals that count: for this content, each of another person, and none of the person who added it. In a database a person is
 * their role, which nobody can choose. In files it is the name that they gave. A store counts only what was given in it: it knows no
 * person of another one, who could approve once as a role and once as a name.
 */
export function countedApprovals(batch: Batch): Decision[] {
  const seen = new Set(adderOf(batch));
  return batch.approvals.filter((approval) => {
    const person = personKey(batch, approval);
    if (person === null || approval.sha256 !== batch.sha256 || seen.has(person)) return false;
    seen.add(person);
    return true;
  });
}

/** Whether this person has added the batch or approved it already. */
export function hasDecided(batch: Batch, person: Pick<Decision, 'by' | 'role'>): boolean {
  const deciders = [...adderOf(batch), ...batch.approvals.map((approval) => personKey(batch, approval))];
  return deciders.includes(personKey(batch, person));
}

function adderOf({ addedBy, user, addedRole }: Batch): string[] {
  return addedRole === null ? [addedBy, user].map(comparableName) : [addedRole];
}

function personKey({ addedRole }: Batch, { by, role }: Pick<Decision, 'by' | 'role'>): string | null {
  if (addedRole !== null) return role;
  return role === COPIED ? null : comparableName(by);
}

/** A name without what nobody sees: case, repeated blanks, invisible characters (also as `cleanText` replaces them), and other forms of the same letters. */
export function comparableName(name: string): string {
  const visible = name
    .normalize('NFKC')
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\uFFFD]/gu, '');
  return visible.trim().replace(/\s+/g, ' ').toLowerCase();
}

/** The id of a batch for people: what tells it from others, as far as a beginning of its hash does. */
export function shortBatchId(batch: string): string {
  const [sha256 = '', again] = batch.split('-');
  return again === undefined ? sha256.slice(0, 12) : `${sha256.slice(0, 12)}-${again}`;
}

/**
 * The reference of a line that has none in its file: of the batch and the line alone, so that no line is paid twice.
 *
 * @returns at most 35 characters
 */
export function referenceOfLine({ batch }: Pick<Batch, 'batch'>, line: number): string {
  const [sha256 = '', again = '1'] = batch.split('-');
  return `B${sha256.slice(0, 20)}-${again}-${line}`;
}
