import type { StepEvent } from '../../domain/operation.ts';
import { askBefore, type Once, recordOutcome, sendOnce } from '../once.ts';
import type { Payment, Run } from '../ports.ts';
import { askIfSettled, recordsOutcome } from './outcome.ts';

/**
 * Sends `execute`, at a bank where psd2 commits. If the flow was resumed, or `execute` was turned away, psd2 asks the bank first,
 * because the resource may have changed.
 */
export async function execute(run: Run, operation: Payment): Promise<void> {
  const once = execution(run, operation);
  if (run.authorizedNow) return sendOnce(once);
  const settled = operation.refusedUnconfirmed ? await askIfSettled(run, operation, 'once') : null;
  const decides = operation.refusedUnconfirmed;
  const events = await askBefore(
    once,
    async () => settled ?? [(await run.ask(operation, { decides })).event],
  );
  for (const event of events) await run.open.record(event);
  run.authorizedNow = true;
}

/** `execute`, as what cannot be undone. */
function execution(run: Run, operation: Payment): Once<StepEvent, { cro: string | null }> {
  const { open, calls, ports } = run;
  const { resourceId } = run.resource(operation);
  const { name, execute: call } = calls;
  if (!call) throw new TypeError(`The bank has no execute for ${operation.flow}`);
  return {
    open,
    words: { call: 'execute', did: 'executed', what: `the ${name}` },
    events: {
      sent: (intent) => ({ type: 'execute-sent', ...intent }),
      revoking: { notBegun: { type: 'execute-not-begun' } },
      unanswered: (why) => ({ type: 'execute-unanswered', ...why }),
      refused: (why) => ({ type: 'execute-refused', ...why }),
    },
    send: (beforeSend) =>
      ports.customer.whileWaiting(`Executing the ${name}`, call(resourceId, beforeSend)).finally(() => {
        run.executeEnded = ports.world.now().getTime();
      }),
    answered: ({ cro }) => recordOutcome(open, { type: 'executed', cro }),
    asking: {
      turnedAway: { type: 'execute-turned-away' },
      ask: () => recordsOutcome(run, operation),
      async again() {
        if (run.wasTurnedAway) return false;
        run.wasTurnedAway = true;
        // The next step asks for the status, and sends it with a new token.
        run.authorizedNow = false;
        return true;
      },
    },
  };
}
