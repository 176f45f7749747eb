import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Context } from '../../../src/commands/context.ts';
import type { Commits } from '../../../src/domain/operation.ts';
import type { TransferEvent, TransferOrder } from '../../../src/domain/transfer.ts';
import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import { recording } from '../access.ts';
import type { OperatorHere } from '../operator.ts';

/** How far a stored transfer has come. */
export type Reached = 'created' | 'cancelled' | 'accepted' | 'executed' | 'settled' | 'failed' | 'unknown';

const SENT = { requestId: 'q', digest: null };
const EXECUTING: TransferEvent[] = [
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'FLOW' },
  { type: 'accepted' },
  { type: 'execute-sent', ...SENT },
];
const EXECUTED: TransferEvent[] = [...EXECUTING, { type: 'executed', cro: null }];
const EVENTS: Record<Reached, TransferEvent[]> = {
  ...{ created: [], cancelled: [{ type: 'cancelled' }], accepted: EXECUTED, executed: EXECUTED },
  settled: [...EXECUTED, { type: 'settlement', status: 'OK', description: null }],
  failed: [...EXECUTING, { type: 'execute-refused', description: 'No' }],
  unknown: [...EXECUTING, { type: 'execute-unanswered' }],
};

/** Stores a transfer of a customer. @returns its local id */
export async function storeTransfer(
  context: Context,
  customerId: string,
  reached: Reached,
  changes: Partial<TransferOrder> = {},
): Promise<string> {
  const { flows } = await context.store();
  const commits: Commits = reached === 'accepted' ? 'by the customer' : 'on execute';
  const order = transferOrder({ customerId, ...changes });
  const begin = { transactionId: context.world.newId(), commits, order };
  return flows.begin('transfer', begin, recording(EVENTS[reached]));
}

/** Adds a batch from CSV. @returns its id */
export async function addBatch(operator: OperatorHere, text: string, words: string[] = []): Promise<string> {
  const path = join(operator.folder.root, 'payments.csv');
  mkdirSync(operator.folder.root, { recursive: true });
  writeFileSync(path, text);
  const command = ['batch', 'add', path, '--again', ...words];
  const { batch } = await operator.json(z.object({ batch: z.string() }), command);
  return batch;
}

/** Somebody gives a stored batch another payee. @returns how psd2 says so */
export function changeBatch({ folder }: OperatorHere, batch: string): string {
  const batches = join(folder.flows('env'), 'batches');
  const path = join(batches, batch, 'lines.ndjson');
  writeFileSync(path, readFileSync(path, 'utf8').replace('Ada', 'Eve'));
  return `The lines of the batch ${batch} in ${batches} are not those that were added`;
}

/** Writes a call to the log of this machine. */
export function logCall({ folder, profile, world }: Context, changes: Partial<LoggedCall>): LoggedCall {
  const call: LoggedCall = {
    ...{ at: world.now().toISOString(), profile: profile().name, host: 'bank.example:443', method: 'GET' },
    ...{ path: '/private', status: 200, failure: null, milliseconds: 7 },
    ...{ tppRequestId: 'r', transactionId: 't' },
    ...{ requestId: null, apiTrackId: null, flow: null, route: '/private', kind: 'other', ...changes },
  };
  const log = new CallLog(folder.log);
  log.append(call);
  log.close();
  return call;
}
