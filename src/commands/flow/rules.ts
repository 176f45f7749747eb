import { adviceOf } from '../../advice.ts';
import { type FlowState, isOver, isUntouched, type Progress, standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import type { Filter, OpenFlow } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';

/** @throws Psd2Error `usage`: SCA needs the customer, and client credentials have none */
export function refuseClientCredentials({ globals }: Context): void {
  if (globals.grant === 'client_credentials') {
    throw new Psd2Error('usage', 'This needs the customer, so it needs the grant authorization_code', {
      hint: 'Leave out --grant client_credentials.',
    });
  }
}

/**
 * @param what the subject of the sentence "... needs a confirmation"
 * @throws Psd2Error `confirmation_needed` if psd2 will have to ask and cannot
 */
export function refuseUnconfirmable({ globals, terminal }: Context, what: string): void {
  if (terminal.canAsk || globals.yes) return;
  throw new Psd2Error(
    'confirmation_needed',
    `${what} needs a confirmation, and there is no terminal to ask at`,
    {
      hint: 'Add --yes to confirm in advance. psd2 has sent nothing.',
    },
  );
}

/** Prints which flow psd2 has begun or continued. */
export function tellFlow(
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
  if (isOver({ state })) return error.with({ flow: error.flow ?? flow });
  const known = error.next ?? [];
  if (known.some(([, verb]) => verb === 'resume')) {
    const again = (words: string[]) => [...words, ...confirmed.filter((word) => !words.includes(word))];
    return error.with({ flow, next: known.map((words) => (words[1] === 'resume' ? again(words) : words)) });
  }
  const hint = known.length > 0 ? error.hint : `${error.hint ?? ''} Continue with:`.trimStart();
  const next = [...known, [kind, 'resume', flow, ...confirmed]];
  return error.with({ flow, next, transactionId, ...(hint !== undefined && { hint }) });
}

/**
 * Warns against making an interrupted payment again, once `execute` was sent.
 *
 * @param what the payment: `payment of 12.50 EUR to Ada Lovelace`
 */
export function withWarning(error: unknown, flow: Progress, what: string): unknown {
  if (!(error instanceof Psd2Error) || error.code !== 'interrupted') return error;
  const standing = standingOf(flow);
  if (standing !== 'sent' && standing !== 'done') return error;
  const became = standing === 'done' ? 'was executed' : 'may have been executed';
  return new Psd2Error(
    'interrupted',
    `Interrupted. The ${what} ${became}: do not make it again`,
    error.context,
  );
}

/** After these errors a flow can continue: nothing is wrong with it. */
const PASSING = ['interrupted', 'overtaken', 'too_many_calls', 'config'];

/** Ends a flow whose command failed before anything reached the bank: there is nothing to continue. */
export async function endIfUntouched<Flow extends { state: FlowState; reached: boolean }>(
  open: OpenFlow<Flow, { type: 'cancelled' }>,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Psd2Error) || PASSING.includes(error.code) || !isUntouched(open.current)) return;
  try {
    await open.record({ type: 'cancelled' });
  } catch (problem) {
    // The command has already failed with its own error.
    if (!(problem instanceof Psd2Error)) throw problem;
  }
}

/** Warns about a damaged journal. The other flows are still listed. */
export function warnOfDamaged(context: Context): NonNullable<Filter['onDamaged']> {
  return (damage, flow) => {
    const advice = adviceOf(damage, context.repeated) ?? '';
    context.terminal.warn(cleanText(`psd2 cannot show ${flow}. ${damage.message}. ${advice}`.trimEnd()));
  };
}

/** Collects a list. */
export async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of list) all.push(each);
  return all;
}
