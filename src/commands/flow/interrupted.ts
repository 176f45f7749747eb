import { nextConsentStep } from '../../domain/consent.ts';
import { nextOperationStep } from '../../domain/operation.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { FlowJournal } from '../../store/files/journal.ts';
import type { ProfileContext } from '../context.ts';

/** A flow that was left behind, and what of it the operator has to know. */
interface LeftBehind {
  kind: string;
  flow: string;
  state: string;
  resourceId: string | null;
  isAtEnd: boolean;
}

const MOST_NAMED = 3;

/**
 * Names the flows of the profile that were interrupted, with the command that takes each up again, in one line on
 * stderr, for a person at a terminal. A flow is interrupted when it is not at its end and no process works on it.
 *
 * @param own the flow that this command is about, as the operator named it: that one is left out
 */
export function nameInterruptedFlows(context: ProfileContext, journal: FlowJournal, own?: string): void {
  const { globals, sourceOf, terminal } = context;
  if (!context.isForPerson) return;
  const unread = journal.underWay.leftBehind();
  const interrupted: LeftBehind[] = [];
  // Only what is named is read: there may be thousands.
  for (let id = unread.shift(); id !== undefined; id = unread.shift()) {
    const flow = readFlow(journal, id);
    if (flow?.isAtEnd) journal.underWay.end(id);
    if (flow && !flow.isAtEnd && !isNamed(flow, own)) interrupted.push(flow);
    if (interrupted.length === MOST_NAMED) break;
  }
  const [first] = interrupted;
  if (!first) return;
  const more = unread.filter((id) => own === undefined || !id.startsWith(own)).length;
  const count = interrupted.length + more;
  const what = count === 1 ? `${first.kind} ${first.flow} (${first.state})` : `${count} flows`;
  const psd2 = sourceOf('profile') === 'option' ? `psd2 --profile ${globals.profile}` : 'psd2';
  const commands = interrupted.map(({ kind, flow }) => `${psd2} ${kind} resume ${flow}`);
  if (more > 0) commands.push(`and ${more} more, which psd2 transfer, consent and operation list`);
  terminal.say(`Interrupted: ${what}. Go on with: ${commands.join('; ')}`);
}

/** @returns undefined when there is no such journal, or it can't be read: another command tells more of it */
function readFlow(journal: FlowJournal, id: string): LeftBehind | undefined {
  try {
    if (id.startsWith('co-')) {
      const { current } = journal.openConsent(id);
      return { ...current, isAtEnd: nextConsentStep(current) === 'done' };
    }
    const { current, settles } = id.startsWith('op-')
      ? { ...journal.openOperation(id), settles: false }
      : transferOf(journal, id);
    const resourceId = current.verification?.resourceId ?? null;
    return { ...current, resourceId, isAtEnd: nextOperationStep(current, settles) === 'done' };
  } catch (error) {
    if (error instanceof Psd2Error) return undefined;
    throw error;
  }
}

function transferOf(journal: FlowJournal, id: string) {
  const { current } = journal.openTransfer(id);
  return { current, settles: needsSettlement(current.order) };
}

function isNamed({ flow, resourceId }: LeftBehind, reference: string | undefined): boolean {
  return (
    reference !== undefined && (flow.startsWith(reference) || resourceId?.startsWith(reference) === true)
  );
}
