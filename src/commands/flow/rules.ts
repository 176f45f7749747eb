import { adviceOf } from '../../advice.ts';
import { type FlowState, isOver, isUntouched, standingOf } from '../../domain/flow-states.ts';
import { Psd2Error } from '../../errors.ts';
import type { Filter, OpenFlow } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';

/** @throws Psd2Error `usage`: SCA needs the customer, who is not there with client credentials */
export function refuseClientCredentials({ globals }: Context): void {
  if (globals.grant === 'client_credentials') {
    throw new Psd2Error(
      'usage',
      'This needs the customer online, so it goes through the authorization_code application',
      {
        hint: 'Leave --grant client_credentials out.',
      },
    );
  }
}

/**
 * @param what is confirmed, as a sentence begins with it
 * @throws Psd2Error `confirmation_needed` when a question will come up that nobody can answer
 */
export function refuseUnconfirmable({ globals, terminal }: Context, what: string): void {
  if (terminal.canAsk || globals.yes) return;
  throw new Psd2Error(
    'confirmation_needed',
    `${what} has to be confirmed, and there is no terminal to ask at`,
    {
      hint: 'Add --yes to confirm it beforehand. Nothing was sent.',
    },
  );
}

/** Says which flow was begun or taken up. */
export function tellFlow(
  { tell }: Context['terminal'],
  { kind, flow, state }: { kind: string; flow: string; state: FlowState },
): void {
  tell({ event: 'flow', flow, kind, state }, `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${flow}`);
}

/**
 * Names the flow and how to go on, where an error has no better hint and the flow has not ended.
 *
 * @param confirmed the options that confirmed it beforehand and have to be given again
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
  if (!(error instanceof Psd2Error) || isOver({ state })) return error;
  const known = error.next ?? [];
  if (known.some(([, verb]) => verb === 'resume')) {
    const again = (words: string[]) => [...words, ...confirmed.filter((word) => !words.includes(word))];
    return error.with({ flow, next: known.map((words) => (words[1] === 'resume' ? again(words) : words)) });
  }
  const hint = known.length > 0 ? error.hint : `${error.hint ?? ''} Go on with:`.trimStart();
  const next = [...known, [kind, 'resume', flow, ...confirmed]];
  return error.with({ flow, next, transactionId, ...(hint !== undefined && { hint }) });
}

/**
 * Says of a payment that was interrupted that it must not be made again, once `execute` was sent.
 *
 * @param what was to be executed: `payment of 12.50 EUR to Ada Lovelace`
 */
export function withWarning(error: unknown, flow: { state: FlowState }, what: string): unknown {
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

/** After these a flow can be taken up all the same: nothing is wrong with it. */
const PASSING = ['interrupted', 'overtaken', 'too_many_calls', 'config'];

/** Ends a flow of which nothing has reached the bank when its command failed: there would be nothing to go on with. */
export async function endIfUntouched<Flow extends { state: FlowState; reached: boolean }>(
  open: OpenFlow<Flow, { type: 'cancelled' }>,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Psd2Error) || PASSING.includes(error.code) || !isUntouched(open.current)) return;
  try {
    await open.record({ type: 'cancelled' });
  } catch (problem) {
    // The command has failed already, and says why.
    if (!(problem instanceof Psd2Error)) throw problem;
  }
}

/** A journal that is damaged is told of; the other flows are listed all the same. */
export function warnOfDamaged({ terminal }: Context): NonNullable<Filter['onDamaged']> {
  return (damage, flow) =>
    terminal.warn(cleanText(`${flow} is not shown. ${damage.message}. ${adviceOf(damage) ?? ''}`.trimEnd()));
}

/** All of a list. */
export async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of list) all.push(each);
  return all;
}
