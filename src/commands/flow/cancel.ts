import { type FlowState, isOpen, standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import { findOut } from '../../flows/outcome/execute-outcome.ts';
import type { Flows, OpenFlow } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { type Described, describeFlow, type ShownFlow } from './describe.ts';
import { refuseUnconfirmable } from './rules.ts';

type Cancellable = ShownFlow & { state: FlowState };

/** What differs from kind to kind of flow. */
export interface CancelKind<Flow> {
  find(flows: Flows, reference: string): Promise<Flow>;
  resume(
    flows: Flows,
    flow: string,
    work: (open: OpenFlow<Flow, { type: 'cancelled' }>) => Promise<void>,
  ): Promise<void>;
  describe(flow: Flow): Described;
  print(context: Context, flow: Flow): void;
  /** The call after which it is too late. */
  sent: 'execute' | 'confirm';
  /** The operator's reference, which may be used again then. */
  referenceOf(flow: Flow): string | null;
}

/**
 * Gives up a flow that has sent neither `execute` nor `confirm`: writes the event `cancelled`, after a yes. Nothing is sent to
 * the bank. Another psd2 that goes on with it later, because it stood still, is overtaken.
 *
 * @param reference local id, resource id, or an unambiguous prefix of either
 * @throws Psd2Error `usage` when it is too late, `confirmation_needed`, `cancelled` for a no, `config` while another psd2
 *   works on it
 */
export async function cancelFlow<Flow extends Cancellable>(
  context: Context,
  reference: string,
  kind: CancelKind<Flow>,
): Promise<void> {
  const { globals, terminal } = context;
  const { flows } = await context.store(reference);
  const current = await kind.find(flows, reference);
  refuseUnlessOpen(current, kind.sent);
  refuseUnconfirmable(context, 'Cancelling');

  await kind.resume(flows, current.flow, async (open) => {
    refuseUnlessOpen(open.current, kind.sent);
    const shown = describeFlow(open.current, kind.describe(open.current), terminal.writeTime);
    terminal.warn(terminal.marked(shown));
    if (!globals.yes && !(await terminal.confirm(`Cancel the ${current.kind} for good?`)))
      throw new Psd2Error('cancelled', `The ${current.kind} ${current.flow} was left as it is`);
    const wasAtBank = ['authorizing', 'authorized'].includes(open.current.state);
    kind.print(context, await open.record({ type: 'cancelled' }));
    if (wasAtBank)
      terminal.say(`What the customer does at the bank has no effect any more: psd2 sends no ${kind.sent}.`);
    const freed = kind.referenceOf(open.current);
    if (freed !== null) terminal.say(cleanText(`The reference ${JSON.stringify(freed)} can be used again.`));
  });
}

/** @throws Psd2Error `usage` for a flow that has ended, or for which it is too late */
function refuseUnlessOpen(current: Cancellable, sent: string): void {
  if (isOpen(current)) return;
  const { kind, flow, state, transactionId } = current;
  if (standingOf(current) === 'sent') {
    throw new Psd2Error(
      'usage',
      `The ${kind} ${flow} is ${state}: ${sent} was sent, so it can't be cancelled any more`,
      {
        ...findOut(kind, flow, `The first asks what became of it, and never sends ${sent} again.`),
        transactionId,
      },
    );
  }
  throw new Psd2Error('usage', `The ${kind} ${flow} is ${state}, so there is nothing to cancel`, {
    hint: 'See it with:',
    next: [[kind, 'show', flow]],
    flow,
    transactionId,
  });
}
