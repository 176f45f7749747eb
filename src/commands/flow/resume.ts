import { Psd2Error } from '../../errors.ts';
import type { FlowOf, Kind, Open } from '../../store/ports/flows.ts';
import type { Context, CustomerBank } from '../context.ts';
import { chosenCustomer, customerIdOf, forFlow, refuseOtherCustomer } from './customer.ts';
import type { FlowNoun } from './describe.ts';

/**
 * Continues a flow from its journal, for `psd2 <noun> resume`.
 *
 * @param named as the operator named it; undefined for the only unfinished one, or the one that they choose
 * @param check refuses what psd2 must not continue, before it opens the bank. @returns what it has read for `work`
 * @throws Psd2Error `usage`, `flow_not_found`, and what `check` and `work` throw
 */
export async function resumeFlow<K extends Kind, Given>(
  context: Context,
  noun: FlowNoun<K>,
  named: string | undefined,
  check: (flow: FlowOf<K>) => Given | Promise<Given>,
  work: (opened: CustomerBank, open: Open<K>, given: Given) => Promise<void>,
): Promise<void> {
  const flow = named ?? (await unfinishedFlow(context, noun));
  const { flows } = await context.store(flow);
  const current = await flows.find(noun.kind, flow);
  refuseOtherCustomer(context, current);
  const checked = await check(current);
  const opened = await (await forFlow(context, current)).bank();
  await opened.flows.resume(noun.kind, current.flow, (open) => work(opened, open, checked));
}

/** More than a person reads in a list. */
const MAX_OFFERED = 50;

/**
 * The flow that `resume` continues if the operator names none: the only unfinished one of its kind, or the one that they
 * choose on a terminal.
 *
 * @returns its local id
 * @throws Psd2Error `usage` if there is none, or if there are several and psd2 cannot ask
 */
async function unfinishedFlow<K extends Kind>(
  context: Context,
  { kind, inShort }: FlowNoun<K>,
): Promise<string> {
  const { terminal } = context;
  const customer = await chosenCustomer(context);
  // This command shows all unfinished flows, so it names none as interrupted.
  const { flows } = await context.store('');
  const left = await flows.leftBehind(MAX_OFFERED);
  const ofKind = left.flows.filter((flow) => flow.kind === kind);
  const read = await Promise.all(ofKind.map(({ flow }) => flows.find(kind, flow)));
  const unfinished = read.filter((flow) => customer === undefined || customerIdOf(flow) === customer);
  const [first, ...others] = unfinished;
  if (!first)
    throw new Psd2Error(
      'usage',
      `There is no unfinished ${kind}${customer === undefined ? '' : ` of customer ${customer}`}`,
      {
        hint: 'See all of them with:',
        next: [[kind, 'list']],
      },
    );
  const line = (flow: FlowOf<K>) =>
    `${flow.flow}  ${inShort(flow)}, ${flow.state}, begun ${terminal.writeTime(flow.createdAt)}`;
  if (others.length === 0) {
    terminal.say(`Continuing the only unfinished ${kind}: ${line(first)}`);
    return first.flow;
  }
  if (!terminal.canAsk)
    throw new Psd2Error(
      'usage',
      `There are ${unfinished.length} unfinished ${kind}s. Name the one to continue`,
      { next: unfinished.slice(0, 5).map(({ flow }) => [kind, 'resume', flow]) },
    );
  const choices = unfinished.map((flow) => ({ value: flow.flow, name: line(flow) }));
  return terminal.choose(`Which ${kind} do you want to continue?`, choices);
}
