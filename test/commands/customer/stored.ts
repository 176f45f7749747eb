import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Context } from '../../../src/commands/context.ts';
import type { TransferOrder } from '../../../src/domain/transfer.ts';
import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';
import type { OperatorHere } from '../operator.ts';

const SENT = { requestId: 'q', digest: null };

/** How far a stored transfer has come. */
export type Reached = 'created' | 'cancelled' | 'accepted' | 'executed' | 'settled' | 'failed' | 'unknown';

/** Stores a transfer of a customer. @returns its local id */
export async function storeTransfer(
  context: Context,
  customerId: string,
  reached: Reached,
  changes: Partial<TransferOrder> = {},
): Promise<string> {
  const { flows } = await context.store();
  const order = transferOrder({ customerId, ...changes });
  return flows.begin(
    'transfer',
    {
      transactionId: context.world.newId(),
      commits: reached === 'accepted' ? 'by the customer' : 'on execute',
      order,
    },
    async (open) => {
      const { flow } = open.current;
      if (reached === 'cancelled') await open.record({ type: 'cancelled' });
      if (reached === 'created' || reached === 'cancelled') return flow;
      await open.record({ type: 'verify-sent', ...SENT });
      await open.record({ ...VERIFIED, resourceId: flow });
      await open.record({ type: 'accepted' });
      await open.record({ type: 'execute-sent', ...SENT });
      if (reached === 'unknown') await open.record({ type: 'execute-unanswered' });
      else if (reached === 'failed') await open.record({ type: 'execute-refused', description: 'No' });
      else await open.record({ type: 'executed', cro: null });
      if (reached === 'settled') await open.record({ type: 'settlement', status: 'OK', description: null });
      return flow;
    },
  );
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
