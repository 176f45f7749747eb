import { nextConsentStep } from '../../domain/consent.ts';
import { type FlowState, isUntouched } from '../../domain/flow-states.ts';
import { nextOperationStep } from '../../domain/operation.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowJournal, OpenFlow } from '../../store/files/journal.ts';
import type { ProfileContext } from '../context.ts';

/** A flow that was left behind, and what of it the operator has to know. */
export interface LeftBehind {
  kind: string;
  flow: string;
  state: string;
  resourceId: string | null;
  isAtEnd: boolean;
  /** Nothing of it ever reached the bank. */
  isUntouched: boolean;
}

const MOST_NAMED = 3;

/**
 * Names the flows of the profile that were interrupted, with the command that takes each up again, in one line on
 * stderr, for a person at a terminal. A flow is interrupted when it is not at its end and no process works on it.
 *
 * @param own the flow that this command is about, as the operator named it: that one is left out
 */
export async function nameInterruptedFlows(
  context: ProfileContext,
  journal: FlowJournal,
  own?: string,
): Promise<void> {
  const { globals, sourceOf, terminal } = context;
  if (!context.isForPerson) return;
  const { flows: interrupted, more } = await leftBehind(journal, MOST_NAMED, own);
  const [first] = interrupted;
  if (!first) return;
  const count = interrupted.length + more;
  const what = count === 1 ? `${first.kind} ${first.flow} (${first.state})` : `${count} flows`;
  const psd2 = sourceOf('profile') === 'option' ? `psd2 --profile ${globals.profile}` : 'psd2';
  const commands = interrupted.map(({ kind, flow }) => `${psd2} ${kind} resume ${flow}`);
  if (more > 0) commands.push(`and ${more} more, which psd2 transfer, consent and operation list`);
  terminal.say(`Interrupted: ${what}. Go on with: ${commands.join('; ')}`);
}

/**
 * The flows that no process works on and that are not at their end, newest first. One of which nothing ever reached the bank
 * is ended here.
 *
 * @param most how many are read: there may be thousands
 * @param except the flow that a command is about, as the operator named it
 * @returns them, and how many there may be besides
 */
export async function leftBehind(
  journal: FlowJournal,
  most: number,
  except?: string,
): Promise<{ flows: LeftBehind[]; more: number }> {
  const unread = journal.underWay.leftBehind();
  const flows: LeftBehind[] = [];
  for (let id = unread.shift(); id !== undefined; id = unread.shift()) {
    const flow = readFlow(journal, id);
    if (flow?.isAtEnd) journal.underWay.end(id);
    else if (flow && !isNamed(flow, except) && !(await endIfUntouched(journal, flow))) flows.push(flow);
    if (flows.length === most) break;
  }
  return { flows, more: unread.filter((id) => except === undefined || !id.startsWith(except)).length };
}

/** @returns undefined when there is no such journal, or it can't be read: another command tells more of it */
function readFlow(journal: FlowJournal, id: string): LeftBehind | undefined {
  try {
    if (id.startsWith('co-')) {
      const { current } = journal.openConsent(id);
      const isAtEnd = nextConsentStep(current) === 'done';
      return { ...current, isAtEnd, isUntouched: isUntouched(current) };
    }
    const { current, settles } = id.startsWith('op-')
      ? { ...journal.openOperation(id), settles: false }
      : transferOf(journal, id);
    const resourceId = current.verification?.resourceId ?? null;
    const isAtEnd = nextOperationStep(current, settles) === 'done';
    return { ...current, resourceId, isAtEnd, isUntouched: isUntouched(current) };
  } catch (error) {
    if (error instanceof Psd2Error) return undefined;
    throw error;
  }
}

function transferOf(journal: FlowJournal, id: string) {
  const { current } = journal.openTransfer(id);
  return { current, settles: needsSettlement(current.order) };
}

/** Ends a flow of which nothing ever reached the bank: there is nothing to go on with. @returns whether it has ended */
async function endIfUntouched(
  journal: FlowJournal,
  { flow, isUntouched: seemsSo }: LeftBehind,
): Promise<boolean> {
  if (!seemsSo) return false;
  try {
    await journal.claimed(flow, async () => {
      if (flow.startsWith('co-')) return cancelIfUntouched(journal.openConsent(flow));
      return flow.startsWith('op-')
        ? cancelIfUntouched(journal.openOperation(flow))
        : cancelIfUntouched(journal.openTransfer(flow));
    });
    return true;
  } catch (error) {
    // Another psd2 has gone on with it, or it can't be written.
    if (error instanceof Psd2Error) return false;
    throw error;
  }
}

function cancelIfUntouched<Flow extends { state: FlowState; reached: boolean }>(
  open: OpenFlow<Flow, { type: 'cancelled' }>,
): void {
  if (!isUntouched(open.current)) throw new Psd2Error('overtaken', 'Another psd2 has gone on with the flow');
  open.record({ type: 'cancelled' });
}

function isNamed({ flow, resourceId }: LeftBehind, reference: string | undefined): boolean {
  return (
    reference !== undefined && (flow.startsWith(reference) || resourceId?.startsWith(reference) === true)
  );
}
