import { isDeepStrictEqual } from 'node:util';
import { Psd2Error } from '../../errors.ts';
import { parseAuditLine } from '../audit/chain.ts';
import type {
  BatchRecord,
  CopySide,
  CustomerRecord,
  FlowRecord,
  Holdings,
  LoginRecord,
  Mark,
  NoteRecord,
  ReadsRecord,
  StoredRecord,
} from '../ports/copy.ts';

/** How long to wait for workers that were busy when the copy began. A token call must finish. */
const PATIENCE_MS = 150_000;
const LOOK_MS = 250;

/** What a copy needs from the program. */
interface CopyWorld {
  /** Ends the copy between two records. Its reason is thrown. */
  signal: AbortSignal;
  sleep(milliseconds: number): Promise<void>;
  /** Tells the operator which worker psd2 waits for. */
  say(text: string): void;
  /** Called after each record, with the number of records so far. */
  onRecord(count: number): void;
}

interface CopyResult {
  profiles: number;
  logins: number;
  flows: number;
  events: number;
  /** Lines of the audit log, counts of calls and reads, results of syncs, notes of refusals, what is kept of customers, batches, and who logged in last. */
  others: number;
  /** Records that this copy wrote. */
  written: number;
  /** Records that are newer in the destination, because it was used after an earlier copy. */
  newer: number;
}

/**
 * Copies a store to another backend (store page, `store copy`). First psd2 marks both, so that no worker begins anything in
 * either of them, and waits for busy workers. Then it writes each record that the destination lacks, reads all of them
 * again on both sides, and compares them. Only then may workers use the destination. The copy can be stopped at any point
 * and run again.
 *
 * @throws Psd2Error `config` if the destination contains another store, workers do not end, or a record differs on both
 *   sides
 */
export async function copyStore(from: CopySide, to: CopySide, world: CopyWorld): Promise<CopyResult> {
  const source = await from.mark();
  const target = await to.mark();
  const relation = await relationOf(from.place, source, to, target);
  const isDone = relation === 'again' && target.copiedFrom?.isComplete && source.movedTo?.id === target.id;
  if (isDone) {
    const comparison = await pass(from, to, world, { isAgain: true, writes: false });
    if (comparison.written === 0) return comparison;
  }
  await checkAll(from, to, world, relation === 'again');
  const copied = { id: source.id, place: from.place };
  await to.setMark({ movedTo: null, copiedFrom: { ...copied, isComplete: false } });
  await from.setMark({ movedTo: { id: target.id, place: to.place } });
  const result = await copyAll(from, to, world, relation === 'again').catch((error: unknown) => {
    world.say(
      `The copy is not complete, so no worker can use ${from.place} or ${to.place}. To continue, run the same psd2 store copy again. To use ${from.place} again, copy in the other direction.`,
    );
    throw error;
  });
  await to.setMark({ copiedFrom: { ...copied, isComplete: true } });
  return result;
}

/**
 * Whatever could fail for a reason that is there before, before the marks stop all workers: keys on both sides, records that are
 * damaged, and records that differ.
 */
async function checkAll(from: CopySide, to: CopySide, world: CopyWorld, isAgain: boolean): Promise<void> {
  // A login is the first record, if there is one.
  for (const profile of await from.profiles())
    for await (const { kind } of from.open(profile).records()) {
      if (kind === 'login') await to.open(profile).openKey();
      break;
    }
  await pass(from, to, world, { isAgain, writes: false });
}

/** Copies between two stores that are marked, and compares them. */
async function copyAll(
  from: CopySide,
  to: CopySide,
  world: CopyWorld,
  isAgain: boolean,
): Promise<CopyResult> {
  await untilNobodyWorks([from, to], world);
  for (const pins of await from.pins()) await to.countPins(pins);
  const { written } = await pass(from, to, world, { isAgain, writes: true });
  const compared = await pass(from, to, world, { isAgain, writes: false });
  if (compared.written > 0)
    throw new Psd2Error(
      'config',
      `${compared.written} records in ${to.place} differ from those in ${from.place}`,
      {
        hint: 'Nothing is lost. Check whether another program writes to one of them, then run the same psd2 store copy again.',
      },
    );
  return { ...compared, written };
}

/** If the destination contains data, it must be a copy of this store. Otherwise psd2 cannot tell which record is newer. */
async function relationOf(
  from: string,
  source: Mark,
  to: CopySide,
  target: Mark,
): Promise<'empty' | 'again' | 'back'> {
  if (source.id === target.id) throw new Psd2Error('usage', '--from and --to name the same store');
  const { copiedFrom } = source;
  if (copiedFrom && !copiedFrom.isComplete && copiedFrom.id !== target.id)
    throw new Psd2Error(
      'config',
      `The copy of the store in ${copiedFrom.place} into ${from} is not complete`,
      { hint: 'Run that psd2 store copy again first. It continues where it stopped.' },
    );
  if (source.movedTo && source.movedTo.id !== target.id)
    throw new Psd2Error('config', `The store in ${from} was copied to ${source.movedTo.place}`, {
      hint: 'Copy it from there.',
    });
  if (target.movedTo?.id === source.id) return 'back';
  if (target.copiedFrom?.id === source.id) return 'again';
  if (target.movedTo === null && target.copiedFrom === null && (await to.profiles()).length === 0)
    return 'empty';
  throw new Psd2Error('config', `The store in ${to.place} contains data that is not from ${from}`, {
    hint: 'Copy to an empty folder, or to a new database after psd2 store init.',
  });
}

/** Waits until no worker is busy. Because of the marks, none can begin anything. */
async function untilNobodyWorks(sides: readonly CopySide[], world: CopyWorld): Promise<void> {
  let announced = '';
  for (let waited = 0; ; waited += LOOK_MS) {
    const working = (await Promise.all(sides.map((side) => side.atWork()))).flat();
    const [first] = working;
    if (first === undefined) return;
    if (waited >= PATIENCE_MS)
      throw new Psd2Error('config', `Workers are still busy: ${working.slice(0, 3).join(', ')}`, {
        hint: 'Wait for it to end, then run the same psd2 store copy again.',
      });
    if (first !== announced) world.say(`Waiting for ${first}`);
    announced = first;
    world.signal.throwIfAborted();
    await world.sleep(LOOK_MS);
  }
}

/**
 * Compares every record of the source with the destination's version.
 *
 * @param writes whether to write the records that are missing or older
 * @returns the counts; `written` counts the records that were written, or would have to be
 */
async function pass(
  from: CopySide,
  to: CopySide,
  world: CopyWorld,
  { isAgain, writes }: { isAgain: boolean; writes: boolean },
): Promise<CopyResult> {
  const result: CopyResult = {
    profiles: 0,
    logins: 0,
    flows: 0,
    events: 0,
    others: 0,
    written: 0,
    newer: 0,
  };
  for (const profile of await from.profiles()) {
    result.profiles += 1;
    const [source, held] = [from.open(profile), to.open(profile)];
    const forgotten = isAgain ? await forgottenIn(held, source) : new Set<string>();
    for await (const record of source.records()) {
      world.signal.throwIfAborted();
      const other = await held.counterpart(record);
      const comparison = judged(record, other, { isAgain, forgotten });
      if (comparison === 'differs') throw differing(record, other, profile, from, to);
      if (comparison === 'newer') result.newer += 1;
      if (comparison === 'missing' || comparison === 'older') {
        result.written += 1;
        if (writes) await held.put(record);
      }
      count(result, record);
      world.onRecord(result.logins + result.flows + result.others);
    }
  }
  return result;
}

/** Whether the destination has records of an earlier copy of this source, and whom psd2 has forgotten there since. */
interface Repeated {
  isAgain: boolean;
  forgotten: ReadonlySet<string>;
}

/** As {@link compareRecords}, with what has happened in the destination since an earlier copy. */
function judged(
  record: StoredRecord,
  other: StoredRecord | undefined,
  { isAgain, forgotten }: Repeated,
): Comparison {
  const comparison = compareRecords(record, other);
  if (isAgain && record.kind === 'last-login' && comparison === 'older') return 'newer';
  const customer = customerInRecord(record);
  if (customer !== undefined && forgotten.has(customer)) return 'newer';
  if (isAgain && comparison === 'differs' && isForgotten(other) && !isForgotten(record)) return 'newer';
  return comparison;
}

/** The customers whom psd2 has forgotten in the destination since a copy. The source still has their pseudonyms. */
async function forgottenIn(held: Holdings, source: Holdings): Promise<Set<string>> {
  const pseudonyms = new Set<string>();
  for await (const record of held.records()) {
    const line = record.kind === 'audit' ? parseAuditLine(record.text) : undefined;
    if (line?.action === 'forgot' && line.customerId !== null) pseudonyms.add(line.customerId);
  }
  const customers = new Set<string>();
  if (pseudonyms.size === 0) return customers;
  for await (const record of source.records())
    if (record.kind === 'pseudonym' && record.word === record.customerId && pseudonyms.has(record.pseudonym))
      customers.add(record.customerId);
  return customers;
}

/** The customer of a record that goes if psd2 forgets them. */
function customerInRecord(record: StoredRecord): string | undefined {
  switch (record.kind) {
    case 'login':
    case 'note':
      return record.holder;
    case 'customer':
      return record.customer;
    case 'last-login':
    case 'pseudonym':
    case 'reads':
      return record.customerId;
    case 'count':
      return record.read?.customerId;
    default:
      return undefined;
  }
}

/** Whether psd2 has forgotten the customer of a flow or batch: it has a pseudonym in their place. */
function isForgotten(record: StoredRecord | undefined): boolean {
  const isPayment = record?.kind === 'flow' || record?.kind === 'batch';
  return isPayment && /"pseudonym-[0-9a-f]{16}/.test(JSON.stringify(record));
}

function count(result: CopyResult, record: StoredRecord): void {
  if (record.kind === 'login') result.logins += record.tokens === null ? 0 : 1;
  else if (record.kind === 'flow') {
    result.flows += 1;
    result.events += record.events.length;
  } else result.others += 1;
}

function differing(
  record: StoredRecord,
  other: StoredRecord | undefined,
  profile: string,
  from: CopySide,
  to: CopySide,
): Psd2Error {
  const what =
    record.kind === 'flow'
      ? `The flow ${record.flow}`
      : record.kind === 'batch'
        ? `The batch ${record.batch}`
        : record.kind === 'customer'
          ? `The record of customer ${record.customer}`
          : record.kind === 'login' && record.holder !== ''
            ? `The login of customer ${record.holder}`
            : 'The login of the application';
  if (isForgotten(record) && !isForgotten(other))
    return new Psd2Error(
      'config',
      `psd2 has forgotten the customer of ${what.toLowerCase()} of ${profile} in ${from.place}, and ${to.place} still has their data`,
      { hint: `Copy to an empty folder or a new database, and delete ${to.place}.` },
    );
  return new Psd2Error('config', `${what} of ${profile} differs in ${from.place} and in ${to.place}`, {
    hint: 'It was changed in both. psd2 has overwritten nothing. Compare both, and restore the wrong one from a backup.',
  });
}

/**
 * How the other backend's version compares with a record: it is `missing`, the `same`, `older` or `newer`, or it `differs`,
 * so that neither continues the other.
 */
type Comparison = 'missing' | 'same' | 'older' | 'newer' | 'differs';

/** @param other the other backend's version of the record */
export function compareRecords(record: StoredRecord, other: StoredRecord | undefined): Comparison {
  if (!other) return 'missing';
  if (record.kind === 'login' && other.kind === 'login') return compareLogins(record, other);
  if (record.kind === 'customer' && other.kind === 'customer') return compareCustomers(record, other);
  if (record.kind === 'flow' && other.kind === 'flow') return compareFlows(record, other);
  if (record.kind === 'batch' && other.kind === 'batch') return compareBatches(record, other);
  if (record.kind === 'note' && other.kind === 'note') return compareNotes(record, other);
  // A destination that began its own audit log keeps it: two chains cannot become one.
  if (record.kind === 'audit' || record.kind === 'pseudonym')
    return isDeepStrictEqual(record, other) ? 'same' : 'newer';
  if (record.kind === 'count' && other.kind === 'count') return byOrder(record.count, other.count);
  if (record.kind === 'reads' && other.kind === 'reads') return compareReads(record, other);
  return isDeepStrictEqual(record, other) ? 'same' : 'older';
}

function compareLogins(record: LoginRecord, other: LoginRecord): Comparison {
  if (record.generation !== other.generation) return byOrder(record.generation, other.generation);
  // After a logout, not every backend stores the bank.
  if (record.tokens === null && other.tokens === null) return 'same';
  return isDeepStrictEqual(record, other) ? 'same' : 'differs';
}

function compareCustomers(record: CustomerRecord, other: CustomerRecord): Comparison {
  if (record.generation !== other.generation) return byOrder(record.generation, other.generation);
  return isDeepStrictEqual(record, other) ? 'same' : 'differs';
}

function compareBatches(record: BatchRecord, other: BatchRecord): Comparison {
  return isDeepStrictEqual(record.lines, other.lines) ? compareFlows(record, other) : 'differs';
}

function compareFlows({ events }: Pick<FlowRecord, 'events'>, other: Pick<FlowRecord, 'events'>): Comparison {
  const both = Math.min(events.length, other.events.length);
  if (!isDeepStrictEqual(events.slice(0, both), other.events.slice(0, both))) return 'differs';
  return byOrder(events.length, other.events.length);
}

function compareNotes(record: NoteRecord, other: NoteRecord): Comparison {
  if (isDeepStrictEqual(record, other)) return 'same';
  return latest(record) < latest(other) ? 'newer' : 'older';
}

function compareReads(record: ReadsRecord, other: ReadsRecord): Comparison {
  if (isDeepStrictEqual(record, other)) return 'same';
  return lastRead(record) < lastRead(other) ? 'newer' : 'older';
}

/** When a sync last read the customer, or tried to. */
function lastRead({ reads: { readAt, failed } }: ReadsRecord): string {
  return [readAt ?? '', ...failed.map(({ lastFailedAt }) => lastFailedAt)].toSorted().at(-1) ?? '';
}

function latest({ refresh, call }: NoteRecord): string {
  const [a, b] = [refresh?.at ?? '', call?.at ?? ''];
  return a > b ? a : b;
}

function byOrder(own: number, other: number): Comparison {
  if (own === other) return 'same';
  return own > other ? 'older' : 'newer';
}
