import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { accountsIn, accountsInRows } from '../../domain/pseudonymised.ts';
import type { Psd2Error } from '../../errors.ts';
import { type AuditFields, parseAuditLine } from '../../store/audit/chain.ts';
import { withWords, wordsOf } from '../../store/audit/pseudonyms.ts';
import { unlessDamaged } from '../../store/batch/refusals.ts';
import {
  type LoggedCall,
  type NamedCall,
  readCalls,
  wordsOf as wordsOfCall,
} from '../../store/machine/call-log.ts';
import { syncFoldersOf } from '../../store/machine/sync-folders.ts';
import type { OnDamagedBatch } from '../../store/ports/batches.ts';
import type { CollectedData, StoredRows } from '../../store/ports/personal.ts';
import type { Context } from '../context.ts';

/** All that psd2 keeps about a customer: in the store, and on this machine. */
export interface Collected extends CollectedData {
  customerId: string;
  /** Their pseudonym; undefined if they have none. */
  pseudonym: string | undefined;
  /** The ids and IBANs of their accounts, as far as psd2 knows them. */
  accounts: string[];
  batches: { batch: Batch; lines: BatchLine[] }[];
  /** The batches that psd2 cannot read, or that somebody has changed. Each may have payments of the customer. */
  damagedBatches: { batch: string; damage: Psd2Error }[];
  audit: AuditFields[];
  /** The folders of syncs, with the rows in them. */
  folders: { folder: string; files: StoredRows[] }[];
  calls: LoggedCall[];
}

/**
 * Collects what psd2 keeps about a customer of the profile.
 *
 * @param more folders of syncs that psd2 does not remember
 * @throws Psd2Error `config` if something else than a batch is damaged
 */
export async function collectFor(
  context: Context,
  customerId: string,
  more: readonly string[],
): Promise<Collected> {
  const { name } = context.profile();
  const data = await context.store();
  const stored = await data.personal.collect(customerId);
  const folders = [];
  for (const folder of new Set([...syncFoldersOf(context.folder, name), ...more])) {
    const files = await data.personal.syncedInto(folder).rows(customerId);
    if (files.length > 0) folders.push({ folder, files });
  }
  const all = await data.personal.pseudonyms();
  const own = all.filter((each) => each.customerId === customerId);
  const rows = [...stored.rows, ...folders.flatMap(({ files }) => files)].flatMap((each) => each.rows);
  const words = [
    ...stored.flows.flatMap(({ events }) => accountsIn(events[0]?.event)),
    ...accountsInRows(rows),
    ...own.map(({ word }) => word).filter((word) => word !== customerId),
  ];
  const pseudonyms = new Set(own.map(({ pseudonym }) => pseudonym));
  const collected = {
    ...stored,
    customerId,
    pseudonym: own.find(({ word }) => word === customerId)?.pseudonym,
    accounts: [...new Set(words)].filter((word) => !pseudonyms.has(word)),
    folders,
  };
  return {
    ...collected,
    ...(await batchesOf(context, collected)),
    audit: await auditOf(context, collected, wordsOf(all)),
    calls: customerCalls(context, collected),
  };
}

/** Whether nothing is kept about the customer. */
export function hasNothing(collected: Collected): boolean {
  const { logins, flows, rows, batches, audit, folders, calls, pseudonym } = collected;
  const parts = [logins, flows, rows, batches, audit, folders, calls];
  return pseudonym === undefined && parts.every(({ length }) => length === 0);
}

type Known = Pick<Collected, 'customerId' | 'pseudonym' | 'accounts' | 'flows'>;

async function batchesOf(
  context: Context,
  customer: Known,
): Promise<Pick<Collected, 'batches' | 'damagedBatches'>> {
  const store = (await context.store()).batches;
  const batches: Collected['batches'] = [];
  const damagedBatches: Collected['damagedBatches'] = [];
  const onDamaged: OnDamagedBatch = (damage, batch) => damagedBatches.push({ batch, damage });
  for await (const batch of store.list(onDamaged)) {
    const all = await unlessDamaged(batch.batch, onDamaged, () => store.lines(batch));
    const lines = all?.filter((line) => isLineOf(customer, batch, line)) ?? [];
    if (lines.length > 0) batches.push({ batch, lines });
  }
  return { batches, damagedBatches };
}

/** Whether a line of a batch pays for the customer: the file says so, a transfer does, or the account is theirs. */
function isLineOf({ customerId, pseudonym, accounts, flows }: Known, batch: Batch, line: BatchLine): boolean {
  if (line.customer !== null) return line.customer === customerId || line.customer === pseudonym;
  const flow = batch.flows.get(line.line);
  if (flow !== undefined) return flows.some((each) => each.flow === flow);
  return [line.from, line.fromIban].some((account) => account !== null && accounts.includes(account));
}

async function auditOf(
  context: Context,
  { customerId, pseudonym }: Known,
  words: ReadonlyMap<string, string>,
): Promise<AuditFields[]> {
  if (pseudonym === undefined) return [];
  const { audit } = await context.store();
  const auditLines: AuditFields[] = [];
  for await (const { text } of audit.lines()) {
    const fields = text.includes(pseudonym) ? parseAuditLine(text) : undefined;
    if (fields && withWords(fields, words).customerId === customerId)
      auditLines.push(withWords(fields, words));
  }
  return auditLines;
}

/** The calls of the customer in this machine's log, and the other calls of the same transactions. The newest come first. */
function customerCalls(context: Context, customer: Known): LoggedCall[] {
  const isTheirs = callsFor(context, customer);
  return [...readCalls(context.folder.log)].filter(isTheirs);
}

/** Recognises the calls of a customer in this machine's log: by the ids in the path, the name, the flow and the transaction. */
export function callsFor(
  { folder, profile }: Context,
  { customerId, accounts, flows }: Known,
): (call: NamedCall) => boolean {
  const { name } = profile();
  const names = new Set(customerNames({ customerId, accounts, flows }));
  const isNamed = (call: LoggedCall) => wordsOfCall(call).some((word) => names.has(word));
  const transactions = new Set<string>();
  for (const call of readCalls(folder.log))
    if (call.profile === name && isNamed(call)) transactions.add(call.transactionId);
  return (call) => call.profile === name && transactions.has(call.transactionId);
}

/** The words by which a call in the log is a customer's. */
export function customerNames({
  customerId,
  accounts,
  flows,
}: Pick<Known, 'customerId' | 'accounts' | 'flows'>): string[] {
  return [customerId, ...accounts, ...flows.map(({ flow }) => flow)];
}
