import { setTimeout as delay } from 'node:timers/promises';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { type LogOptions, type ShownCall, selectCalls, shortCall, watchCalls } from './select-calls.ts';

const USUAL_LIMIT = '10';
/** How often psd2 looks for new calls. */
const LOOK_MS = 500;

/**
 * Shows the last calls and then each new one, the newest last, until the operator ends it.
 *
 * @param print prints pages of calls as they come
 * @throws Psd2Error `usage` with `--json`, which would be one document without an end; `interrupted` after Ctrl-C
 */
export async function follow(
  context: Context,
  options: LogOptions,
  print: (pages: AsyncIterable<ShownCall[]>) => Promise<void>,
): Promise<void> {
  const { output, stdoutIsTerminal } = context;
  if (output.format === 'json')
    throw new Psd2Error('usage', '--follow has no end, so it cannot print one JSON document', {
      hint: 'With -o ndjson, each call is a line.',
    });
  const pages = followedPages(context, options);
  // A terminal would collect the rows of a table, to align them.
  if (output.format === 'table' && stdoutIsTerminal)
    for await (const page of pages) output.lines(page.map((call) => callLine(context, call)));
  else await print(pages);
}

async function* followedPages(context: Context, options: LogOptions): AsyncGenerator<ShownCall[]> {
  const { world } = context;
  const gentle = context.stopGently();
  const look = await watchCalls(context, options);
  const before = [...(await selectCalls(context, { ...options, limit: options.limit ?? USUAL_LIMIT }))];
  if (before.length > 0) yield before.reverse();
  const shown = new Set(before.map((call) => JSON.stringify(call)));
  const signal = AbortSignal.any([world.signal, gentle]);
  while (!signal.aborted) {
    // A call that came while psd2 read the last ones is among both.
    const added = look().filter((call) => !shown.has(JSON.stringify(call)));
    if (added.length > 0) yield added;
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  world.signal.throwIfAborted();
  if (gentle.reason !== 'SIGTERM') throw new Psd2Error('interrupted', 'Interrupted');
}

function callLine({ terminal }: Context, call: ShownCall): string {
  const { at, status, failure, milliseconds, flow, transactionId } = call;
  const of = flow ?? transactionId.slice(0, 18);
  return `${terminal.writeTime(at)}  ${status ?? failure ?? 'none'}  ${milliseconds} ms  ${shortCall(call)}  ${of}`;
}
