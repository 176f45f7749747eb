import { Psd2Error } from '../../errors.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import type { ShownFlow } from './describe.ts';

/** More than anybody reads a list of. */
const MOST_OFFERED = 50;

/**
 * The flow that `resume` takes up where the operator names none: the only unfinished one of its kind, or the one that they
 * choose on a terminal.
 *
 * @param kind the noun of the command
 * @param how reads a flow, and says in a few words what it is about
 * @returns its local id
 * @throws Psd2Error `usage` when there is none, or there are several and nobody can be asked
 */
export async function unfinishedFlow<Flow extends ShownFlow>(
  context: Context,
  kind: 'transfer' | 'operation' | 'consent',
  how: { read: (flows: Flows, flow: string) => Promise<Flow>; describe: (flow: Flow) => string },
): Promise<string> {
  const { terminal } = context;
  // The operator is shown all of them here, so none is named as interrupted.
  const { flows } = await context.store('');
  const left = await flows.leftBehind(MOST_OFFERED);
  const ofKind = left.flows.filter((flow) => flow.kind === kind);
  const unfinished = await Promise.all(ofKind.map(({ flow }) => how.read(flows, flow)));
  const [first, ...others] = unfinished;
  if (!first) {
    throw new Psd2Error('usage', `There is no unfinished ${kind} to go on with`, {
      hint: 'See all of them with:',
      next: [[kind, 'list']],
    });
  }
  const line = (flow: Flow) =>
    `${flow.flow}  ${how.describe(flow)}, ${flow.state}, begun ${terminal.writeTime(flow.createdAt)}`;
  if (others.length === 0) {
    terminal.say(`Going on with the only unfinished ${kind}: ${line(first)}`);
    return first.flow;
  }
  if (!terminal.canAsk) {
    throw new Psd2Error(
      'usage',
      `There are ${unfinished.length} unfinished ${kind}s, so name the one to go on with`,
      {
        next: unfinished.slice(0, 5).map(({ flow }) => [kind, 'resume', flow]),
      },
    );
  }
  const choices = unfinished.map((flow) => ({ value: flow.flow, name: line(flow) }));
  return terminal.choose(`Which ${kind} do you want to go on with?`, choices);
}
