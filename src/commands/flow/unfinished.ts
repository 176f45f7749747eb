import { Psd2Error } from '../../errors.ts';
import type { FlowOf, Flows, Kind } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { chosenCustomer, customerIdOf } from './customer.ts';

/** More than a person reads in a list. */
const MOST_OFFERED = 50;

/**
 * The flow that `resume` continues if the operator names none: the only unfinished one of its kind, or the one that they
 * choose on a terminal.
 *
 * @param kind the noun of the command
 * @param how reads a flow, and describes it in a few words
 * @returns its local id
 * @throws Psd2Error `usage` if there is none, or if there are several and psd2 cannot ask
 */
export async function unfinishedFlow<Flow extends FlowOf<Kind>>(
  context: Context,
  kind: 'transfer' | 'operation' | 'consent',
  how: { read: (flows: Flows, flow: string) => Promise<Flow>; describe: (flow: Flow) => string },
): Promise<string> {
  const { terminal } = context;
  const customer = chosenCustomer(context);
  // This command shows all unfinished flows, so it names none as interrupted.
  const { flows } = await context.store('');
  const left = await flows.leftBehind(MOST_OFFERED);
  const ofKind = left.flows.filter((flow) => flow.kind === kind);
  const read = await Promise.all(ofKind.map(({ flow }) => how.read(flows, flow)));
  const unfinished = read.filter((flow) => customer === undefined || customerIdOf(flow) === customer);
  const [first, ...others] = unfinished;
  if (!first) {
    throw new Psd2Error(
      'usage',
      `There is no unfinished ${kind}${customer === undefined ? '' : ` of customer ${customer}`}`,
      {
        hint: 'See all of them with:',
        next: [[kind, 'list']],
      },
    );
  }
  const line = (flow: Flow) =>
    `${flow.flow}  ${how.describe(flow)}, ${flow.state}, begun ${terminal.writeTime(flow.createdAt)}`;
  if (others.length === 0) {
    terminal.say(`Continuing the only unfinished ${kind}: ${line(first)}`);
    return first.flow;
  }
  if (!terminal.canAsk) {
    throw new Psd2Error(
      'usage',
      `There are ${unfinished.length} unfinished ${kind}s. Name the one to continue`,
      {
        next: unfinished.slice(0, 5).map(({ flow }) => [kind, 'resume', flow]),
      },
    );
  }
  const choices = unfinished.map((flow) => ({ value: flow.flow, name: line(flow) }));
  return terminal.choose(`Which ${kind} do you want to continue?`, choices);
}
