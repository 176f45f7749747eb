import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Bank } from '../bank.ts';
import { refuse } from '../control/json-site.ts';
import { faultKinds } from '../faults/fault.ts';
import { endpointNames } from '../faults/target.ts';
import { lineOf } from './call-view.ts';

const HEARTBEAT_MS = 15_000;
const MOST_WATCHERS = 16;

/**
 * Sends the page events about the bank: `hello` with the calls so far, `call` for each new call, `change` for anything else.
 *
 * @param pageToken the token that the page's actions need
 */
export function eventStream(bank: Bank, pageToken: string): Handler {
  const { rowsAPage } = bank.rules;
  let watchers = 0;
  return (c) => {
    if (watchers >= MOST_WATCHERS) return refuse(c, 400, 'The console is open in too many windows');
    return streamSSE(c, async (stream) => {
      watchers += 1;
      const send = (event: string, data: unknown) =>
        void stream.writeSSE({ event, data: JSON.stringify(data) }).catch(() => undefined);
      send('hello', {
        token: pageToken,
        baseUrl: bank.baseUrl,
        calls: bank.calls.list().map((seen) => lineOf(seen, rowsAPage)),
        faults: [...faultKinds].map(([kind, { says, value }]) => ({ kind, says, value })),
        endpoints: endpointNames,
      });
      const end = bank.calls.watch((seen) =>
        seen ? send('call', lineOf(seen, rowsAPage)) : send('change', {}),
      );
      await new Promise<void>((resolve) => {
        const heartbeat = setInterval(() => send('alive', {}), HEARTBEAT_MS).unref();
        stream.onAbort(() => {
          clearInterval(heartbeat);
          end();
          watchers -= 1;
          resolve();
        });
      });
    });
  };
}
