import { isOpen, standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import { findOut } from '../../flows/outcome/execute-outcome.ts';
import type { FlowOf, Flows, Kind, OpenFlow } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { refuseOtherCustomer } from './customer.ts';
import { type Described, describeFlow } from './describe.ts';
import { refuseUnconfirmable } from './rules.ts';

/** The differences between the kinds of flow. */
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
  /** The operator's reference, which becomes free again. */
  referenceOf(flow: Flow): string | null;
}

/**
 * Gives up a flow that has sent neither `execute` nor `confirm`: writes the event `cancelled` after a confirmation. Sends
 * nothing to the bank. A psd2 that was stopped while it worked on the flow finds itself overtaken when it continues.
 *
 * @param reference local id, resource id, or an unambiguous prefix of either
 * @throws Psd2Error `usage` if it is too late, `confirmation_needed`, `cancelled` after a no, `config` while another psd2
 *   works on the flow
 */
export async function cancelFlow<Flow extends FlowOf<Kind>>(
  context: Context,
  reference: string,
  kind: CancelKind<Flow>,
): Promise<void> {
  const { globals, terminal } = context;
  const { flows } = await context.store(reference);
  const current = await kind.find(flows, reference);
  refuseOtherCustomer(context, current);
  refuseUnlessOpen(current, kind.sent);
  refuseUnconfirmable(context, 'Cancelling');

  await kind.resume(flows, current.flow, async (open) => {
    refuseUnlessOpen(open.current, kind.sent);
    const shown = describeFlow(open.current, kind.describe(open.current), terminal.writeTime);
    terminal.warn(terminal.marked(shown));
    if (!globals.yes && !(await terminal.confirm(`Cancel the ${current.kind} for good?`)))
      throw new Psd2Error('cancelled', `The ${current.kind} ${current.flow} is unchanged`);
    const wasAtBank = ['authorizing', 'authorized'].includes(open.current.state);
    kind.print(context, await open.record({ type: 'cancelled' }));
    if (wasAtBank)
      terminal.say(
        `The customer can still answer at the bank, but it has no effect: psd2 will not send ${kind.sent}.`,
      );
    const freed = kind.referenceOf(open.current);
    if (freed !== null) terminal.say(cleanText(`You can use the reference ${JSON.stringify(freed)} again.`));
  });
}

/** @throws Psd2Error `usage` if the flow has ended, or if it is too late */
function refuseUnlessOpen(current: FlowOf<Kind>, sent: string): void {
  if (isOpen(current)) return;
  const { kind, flow, state, transactionId } = current;
  if (standingOf(current) === 'sent') {
    throw new Psd2Error(
      'usage',
      `The ${kind} ${flow} is ${state}. psd2 has sent ${sent}, so it can't cancel the ${kind} any more`,
      {
        ...findOut(
          kind,
          flow,
          `The first command asks the bank for the outcome, and never sends ${sent} again.`,
        ),
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
