import { OPERATION_STATES, type OperationState } from '../../domain/operation.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { hasOrder } from '../../store/flow/order-filter.ts';
import { list as listOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import {
  ATTENTION_NOTE,
  listedFlows,
  readDays,
  readOrderFilter,
  SINCE,
  UNTIL,
  whenEmpty,
} from '../flow/list.ts';
import { readLimit } from '../shared/option-values.ts';
import { TRANSFERS } from './transfers.ts';

export interface TransferListOptions {
  /** Maximum number of transfers; without it, a table on a terminal is short and all other output is complete. */
  limit: string | undefined;
  /** Only transfers in one of these states. */
  state: string[];
  /** Only transfers created on this day in the bank's time zone, or later. */
  since: string | undefined;
  /** Only transfers created on this day or earlier. */
  until?: string | undefined;
  /** Only transfers to this payee: a part of the name or of the IBAN. */
  payee?: string | undefined;
  amount?: string | undefined;
  /** Only transfers with this reference of the operator. */
  reference?: string | undefined;
  /** Only transfers that a person must look at. */
  attention: boolean;
}

/** As many as fit a terminal. */
const TABLE_LIMIT = 30;

/** `psd2 transfer list`: newest first. */
export const list = verb(
  {
    prints: { what: 'transfers', shape: listOf(TRANSFERS.form) },
    help: `${ATTENTION_NOTE}

If a transfer's journal is damaged, psd2 names its file and line on stderr and lists the others.
${examples(...TRANSFERS.help.list)}`,
  },
  (command) =>
    command
      .option(
        '--limit <n>',
        'maximum number of transfers to show; default: 30 in a table on a terminal, otherwise all',
      )
      .option('--state <state>', 'show only transfers in this state; may be repeated', collect, [])
      .option('--attention', 'show only what a person must look at')
      .option('--since <date>', SINCE)
      .option('--until <date>', UNTIL)
      .option('--payee <text>', 'show only transfers to this payee: a part of the name or IBAN')
      .option('--amount <decimal>', 'show only transfers of this amount')
      .option('--reference <text>', 'show only transfers with this reference of yours'),
  (context, { limit, since, attention = false, ...options }) =>
    transferList(context, { ...options, limit, since, attention }),
);

/** psd2 reads each transfer only when it prints it. */
export async function transferList(context: Context, options: TransferListOptions): Promise<void> {
  const { output, stdoutIsTerminal, terminal } = context;
  const states = options.state.map(parseState);
  const days = readDays(options);
  const { since, until } = days;
  const order = readOrderFilter(options);
  const isShort = options.limit === undefined && output.format === 'table' && stdoutIsTerminal;
  const limit = readLimit(options.limit, isShort ? TABLE_LIMIT : undefined);
  const chosen = {
    attention: options.attention,
    states: states.length > 0 ? states : undefined,
    ...days,
    order,
  };

  let shown = 0;
  let isCut = false;
  const pages = async function* (): AsyncGenerator<Transfer[]> {
    for await (const transfer of listedFlows(context, 'transfer', chosen)) {
      if (states.length > 0 && !states.includes(transfer.state)) continue;
      if (since && Date.parse(transfer.createdAt) < since.getTime()) continue;
      if (until && Date.parse(transfer.createdAt) >= until.getTime()) continue;
      if (order && !hasOrder(transfer.order, order)) continue;
      isCut = shown === limit;
      if (isCut) return;
      shown += 1;
      yield [transfer];
    }
  };
  const none = whenEmpty(context, 'transfer', chosen, states.length > 0);
  await output.pages(pages(), TRANSFERS.form, none);
  if (isShort && isCut)
    terminal.say(
      `These are the newest ${shown}. --limit <n> shows more; --attention, --state and --since filter.`,
    );
}

/** @throws Psd2Error `usage` */
function parseState(text: string): OperationState {
  const state = OPERATION_STATES.find((each) => each === text);
  if (state) return state;
  throw new Psd2Error('usage', `Unknown state ${JSON.stringify(text)}`, {
    hint: `Use one of ${OPERATION_STATES.join(', ')}.`,
  });
}
