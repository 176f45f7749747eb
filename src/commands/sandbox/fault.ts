import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { control } from '../../sandbox/control/control-client.ts';
import { BadFault, parseFault } from '../../sandbox/faults/fault.ts';
import { type FaultOrder, type FaultRecord, faultRecord } from '../../sandbox/faults/fault-book.ts';
import { parseTarget } from '../../sandbox/faults/target.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { readWholeNumber } from '../shared/whole-number.ts';
import { requireRunning } from './running.ts';
import { cleared as clearedShape, fault as faultShape } from './shape.ts';

/** The options as typed. */
export interface FaultOptions {
  on?: string | undefined;
  times?: string | undefined;
  after?: string | undefined;
  probability?: string | undefined;
  seed?: string | undefined;
}

const COLUMNS: Column<FaultRecord>[] = [
  { title: 'Id', value: ({ id }) => String(id), right: true },
  { title: 'Fault', value: ({ fault }) => fault, whole: true },
  { title: 'On', value: ({ on }) => on ?? 'every call' },
  { title: 'When', value: conditionsOf },
  { title: 'Calls', value: ({ seen }) => String(seen), right: true },
  { title: 'Applied', value: ({ fired }) => String(fired), right: true },
];

/** `psd2 sandbox fault add`. @throws Psd2Error `usage`, `sandbox` if it is not running */
export async function addFault(context: Context, fault: string, options: FaultOptions): Promise<void> {
  const order = readOrder(fault, options);
  const running = await requireRunning(context);
  const added = await control(running, { method: 'POST', path: '/faults', body: order }, faultRecord);
  context.output.record(added, COLUMNS, faultShape);
  context.terminal.say('Calls succeed again after: psd2 sandbox fault clear');
}

/** `psd2 sandbox fault list`. @throws Psd2Error `sandbox` if it is not running */
export async function listFaults(context: Context): Promise<void> {
  const running = await requireRunning(context);
  const faults = await control(running, { method: 'GET', path: '/faults' }, z.array(faultRecord));
  await context.output.table(faults, COLUMNS, 'There are no faults.');
}

/** `psd2 sandbox fault clear [id]`. @throws Psd2Error `usage`, `sandbox` if it is not running */
export async function clearFaults(context: Context, id: string | undefined): Promise<void> {
  const path = id === undefined ? '/faults' : `/faults/${readWholeNumber('The id', id, 1)}`;
  const running = await requireRunning(context);
  const { cleared } = await control(running, { method: 'DELETE', path }, z.object({ cleared: z.int() }));
  if (id !== undefined && cleared === 0) {
    throw new Psd2Error('usage', `There is no fault ${id}`, {
      hint: 'See the faults with:',
      next: [['sandbox', 'fault', 'list']],
    });
  }
  if (context.output.format === 'table') context.terminal.say(`Faults cleared: ${cleared}.`);
  else context.output.record({ cleared }, [], clearedShape);
}

function readOrder(fault: string, { on, times, after, probability, seed }: FaultOptions): FaultOrder {
  try {
    parseFault(fault);
    if (on !== undefined) parseTarget(on);
  } catch (error) {
    if (error instanceof BadFault) throw new Psd2Error('usage', error.message, { hint: error.hint });
    throw error;
  }
  if (seed !== undefined && probability === undefined) {
    throw new Psd2Error('usage', '--seed needs --probability');
  }
  return {
    fault,
    ...(on !== undefined && { on }),
    ...(times !== undefined && { times: readWholeNumber('--times', times, 1) }),
    ...(after !== undefined && { after: readWholeNumber('--after', after, 0) }),
    ...(probability !== undefined && { probability: readShare(probability) }),
    ...(seed !== undefined && { seed }),
  };
}

function readShare(text: string): number {
  const share = /^(?:0?\.\d{1,9}|1(?:\.0+)?)$/.test(text) ? Number(text) : 0;
  if (share > 0) return share;
  throw new Psd2Error(
    'usage',
    `--probability ${JSON.stringify(text)} is not a decimal above 0 and at most 1`,
    { hint: 'For example --probability 0.25.' },
  );
}

function conditionsOf({ times, after, probability, seed }: FaultRecord): string {
  return [
    ...(after > 0 ? [`after ${after}`] : []),
    ...(probability < 1 ? [`${probability} of them (seed ${seed})`] : []),
    times === null ? 'always' : `${times} times`,
  ].join(', ');
}
