import { nextConsentStep } from '../domain/consent.ts';
import { nextOperationStep } from '../domain/operation.ts';
import { needsSettlement } from '../domain/transfer.ts';
import { Psd2Error } from '../errors.ts';
import type { FlowJournal } from '../store/journal.ts';
import type { Context } from './context.ts';

/** A flow that was left behind, and what of it the operator has to know. */
interface LeftBehind {
  kind: string;
  flow: string;
  state: string;
  resourceId: string | null;
  isAtEnd: boolean;
}

const MOST_NAMED = 3;
const told = new WeakSet<Context['terminal']>();

/**
 * Names the flows of the profile that were interrupted, with the command that takes each up again, in one line on
 * stderr. A flow is interrupted when it is not at its end and no process works on it. A command that opens its
 * profile twice names them once.
 *
 * @param own the flow that this command is about, as the operator named it: that one is left out
 */
export function nameInterruptedFlows({ terminal }: Context, journal: FlowJournal, own?: string): void {
  if (told.has(terminal)) return;
  told.add(terminal);
  const interrupted = journal.underWay.leftBehind().flatMap((id) => {
    const flow = readFlow(journal, id);
    if (flow?.isAtEnd) journal.underWay.end(id);
    return flow && !flow.isAtEnd && !isNamed(flow, own) ? [flow] : [];
  });
  const [first] = interrupted;
  if (!first) return;
  const what =
    interrupted.length === 1 ? `${first.kind} ${first.flow} (${first.state})` : `${interrupted.length} flows`;
  const commands = interrupted.slice(0, MOST_NAMED).map(({ kind, flow }) => `psd2 ${kind} resume ${flow}`);
  const more = interrupted.length - commands.length;
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
