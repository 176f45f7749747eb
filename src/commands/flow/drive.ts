import {
  type FlowState,
  isOver,
  isPlainlyFailed,
  type Progress,
  standingOf,
} from '../../domain/flow-states.ts';
import { refusedCallIn, withoutCall } from '../../domain/refused-call.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { endIfUntouched } from '../../flows/once.ts';
import type { FlowPorts } from '../../flows/ports.ts';
import type { FlowOf, Kind, Open } from '../../store/ports/flows.ts';
import { fitLine } from '../../terminal/cells.ts';
import type { Context, CustomerBank } from '../context.ts';
import { type FlowNoun, printFlow } from './describe.ts';
import { notifyOfOutcome } from './notify-unknown.ts';
import { flowPortsOf } from './ports.ts';

/**
 * Continues a flow from its journal, and prints the outcome.
 *
 * @param run runs the flow
 * @param confirmed the options that confirm something in advance, which the operator must repeat as long as the flow does not
 *   have the confirmation
 * @throws what `run` throws, with the commands to run next
 */
export async function driveFlow<K extends Kind>(
  context: Context,
  noun: FlowNoun<K>,
  opened: CustomerBank,
  open: Open<K>,
  run: (ports: Required<FlowPorts>) => Promise<unknown>,
  confirmed: string[] = [],
): Promise<void> {
  tellFlow(context.terminal, open.current);
  const isForTerminal = context.output.format === 'table' && context.stdoutIsTerminal;
  try {
    await run(flowPortsOf(context, opened));
  } catch (error) {
    await endIfUntouched(open, error);
    const flow: FlowOf<K> = open.current;
    const meaning = noun.payment && meaningOf(error, flow);
    // A person has read what a payment is when they confirmed it.
    const isKnown = meaning !== undefined || noun.inOneLine?.(context, flow) !== undefined;
    if (!isForTerminal || !isKnown) printFlow(context, noun, flow);
    await noun.tidy?.(context, flow);
    await notifyOfOutcome(context, flow);
    const withMeaning = meaning !== undefined && error instanceof Psd2Error ? error.with({ meaning }) : error;
    const warned = noun.payment ? withWarning(withMeaning, flow, noun.payment(flow)) : withMeaning;
    throw withNext(warned, flow, 'accepted' in flow && flow.accepted ? [] : confirmed);
  }
  const short = isForTerminal ? noun.inOneLine?.(context, open.current) : undefined;
  if (short === undefined) printFlow(context, noun, open.current);
  else context.output.lines(fitLine(short, context.stdoutColumns).split('\n'));
  await noun.tidy?.(context, open.current);
  await notifyOfOutcome(context, open.current);
}

/** What a refusal means for somebody who wanted to pay. Undefined unless the payment has certainly failed. */
function meaningOf(error: unknown, flow: Progress): string | undefined {
  if (!(error instanceof Psd2Error) || error.code !== 'bank_refused' || !isPlainlyFailed(flow))
    return undefined;
  // Without a call, the message is a sentence of its own, which comes below.
  const why = refusedCallIn(error.message) === null ? '' : `: ${withoutCall(error.message)}`;
  return `${endSentence(`Not paid${why}`)} No money moved`;
}

/** @throws Psd2Error `usage`: SCA needs the customer, and client credentials have none */
export function refuseClientCredentials({ globals }: Context): void {
  if (globals.grant === 'client_credentials')
    throw new Psd2Error('usage', 'This needs the customer, so it needs the grant authorization_code', {
      hint: 'Leave out --grant client_credentials.',
    });
}

/**
 * @param what the subject of the sentence "... needs a confirmation"
 * @throws Psd2Error `confirmation_needed` if psd2 will have to ask and cannot
 */
export function refuseUnconfirmable({ globals, terminal }: Context, what: string): void {
  if (terminal.canAsk || globals.yes) return;
  throw new Psd2Error(
    'confirmation_needed',
    `${what} needs a confirmation, and psd2 cannot ask without a terminal`,
    { hint: 'Add --yes to confirm in advance. psd2 has sent nothing.' },
  );
}

/** Prints which flow psd2 has begun or continued. */
function tellFlow(
  { tell }: Context['terminal'],
  { kind, flow, state }: { kind: string; flow: string; state: FlowState },
): void {
  tell({ event: 'flow', flow, kind, state }, `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${flow}`);
}

/**
 * Adds the flow to an error, and the command that continues it, unless the error has a better hint or the flow has ended.
 *
 * @param confirmed the options that confirmed something in advance, which the operator must repeat
 */
export function withNext(
  error: unknown,
  {
    kind,
    flow,
    state,
    transactionId,
  }: { kind: string; flow: string; state: FlowState; transactionId: string },
  confirmed: string[] = [],
): unknown {
  if (!(error instanceof Psd2Error)) return error;
  if (isOver({ state }) || error.isDeadEnd) return error.with({ flow: error.flow ?? flow });
  const proposed = error.next ?? [];
  // `resume` may lead to the same.
  if (error.code === 'still_open' && !proposed.some(([, verb]) => verb === 'resume'))
    return error.with({ flow });
  if (proposed.some(([, verb]) => verb === 'resume')) {
    const again = (words: string[]) => [...words, ...confirmed.filter((word) => !words.includes(word))];
    return error.with({
      flow,
      next: proposed.map((words) => (words[1] === 'resume' ? again(words) : words)),
    });
  }
  const hint = proposed.length > 0 ? error.hint : `${error.hint ?? ''} Continue with:`.trimStart();
  const next = [...proposed, [kind, 'resume', flow, ...confirmed]];
  return error.with({ flow, next, transactionId, ...(hint !== undefined && { hint }) });
}

/**
 * Warns against making a payment again whose command was interrupted, or could not go on here (the browser failed, the disk is full), once
 * `execute` was sent, or the payment may run without psd2.
 *
 * @param what the payment: `payment of 12.50 EUR to Ada Lovelace`
 */
export function withWarning(error: unknown, flow: Progress, what: string): unknown {
  if (!(error instanceof Psd2Error) || !['interrupted', 'config'].includes(error.code)) return error;
  const standing = standingOf(flow);
  if (standing !== 'sent' && standing !== 'done') return error;
  const mayHave = flow.mayExecuteWithoutUs ? 'may be executed without psd2' : 'may have been executed';
  const became = standing === 'done' ? 'was executed' : mayHave;
  const why = error.code === 'interrupted' ? 'Interrupted.' : endSentence(error.message);
  return new Psd2Error(error.code, `${why} The ${what} ${became}: do not make it again`, error.context);
}
