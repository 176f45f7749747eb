import { hostname, userInfo } from 'node:os';
import type { Bank } from '../../bank/call/bank.ts';
import type { ResolvedEvent, ResolvedOutcome } from '../../domain/resolution.ts';
import { Psd2Error } from '../../errors.ts';
import { type BankWord, resolveFlow } from '../../flows/resolve.ts';
import type { FlowOf, Flows, Kind, OpenFlow } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Context } from '../context.ts';
import { forFlow, refuseOtherCustomer } from './customer.ts';
import { type Described, describeFlow } from './describe.ts';
import { refuseUnconfirmable } from './rules.ts';

export interface ResolveOptions {
  executed: boolean;
  notExecuted: boolean;
  note: string | undefined;
}

const MOST_NOTE = 500;

/** The differences between the kinds of flow. */
export interface Resolvable<Flow, Event> {
  find(flows: Flows, reference: string): Promise<Flow>;
  resume(
    flows: Flows,
    flow: string,
    work: (open: OpenFlow<Flow, Event | ResolvedEvent>) => Promise<void>,
  ): Promise<void>;
  /** Its outcome is unknown, so a person may decide it. */
  isOpen(flow: Flow): boolean;
  isEnded(flow: Flow): boolean;
  askBank(bank: () => Promise<Bank>, flow: Flow): Promise<BankWord<Event>>;
  /** What the operator must see before they confirm. */
  describe(flow: Flow): Described;
  print(context: Context, flow: Flow): void;
  /** What `--executed` means. */
  done: 'executed' | 'confirmed';
  /** The operator's reference, which becomes free again if the flow did nothing. */
  referenceOf(flow: Flow): string | null;
}

/**
 * Ends a flow with an unknown outcome by a person's decision (command contract, "A person can end an unknown"). psd2 first
 * asks the bank again. If the bank's answer decides, that answer counts.
 *
 * @param reference local id, resource id, or an unambiguous prefix of either
 * @throws Psd2Error `usage`, `confirmation_needed`, and what `resolveFlow` throws
 */
export async function resolve<Flow extends FlowOf<Kind>, Event extends { type: string }>(
  context: Context,
  reference: string,
  options: ResolveOptions,
  kind: Resolvable<Flow, Event>,
): Promise<void> {
  const said = { outcome: readOutcome(options), by: operatorOf(), note: readNote(options.note) };
  const { flows } = await context.store(reference);
  const current = await kind.find(flows, reference);
  refuseOtherCustomer(context, current);
  refuseUnlessOpen(kind, current, context.terminal);
  refuseUnconfirmable(context, 'The outcome');

  const { terminal, globals } = context;
  await kind.resume(flows, current.flow, async (open) => {
    refuseUnlessOpen(kind, open.current, terminal);
    const before = open.current;
    try {
      await resolveFlow(open, said, {
        executedMeans: kind.done,
        askBank: (flow) =>
          terminal.whileWaiting(
            `Asking the bank for the outcome of the ${flow.kind}`,
            kind.askBank(() => openBank(context, flow), flow),
          ),
        tell: (sentences) => terminal.warn(sentences.map(cleanText).join('\n')),
        isOpen: kind.isOpen,
        confirm: async (flow) => {
          terminal.warn(terminal.marked(describeFlow(flow, kind.describe(flow), terminal.writeTime)));
          return globals.yes || terminal.confirm(question(said.outcome, kind, flow));
        },
      });
    } finally {
      if (open.current !== before) kind.print(context, open.current);
    }
    const freed = kind.referenceOf(open.current);
    if (open.current.state === 'failed' && freed !== null)
      terminal.say(cleanText(`You can use the reference ${JSON.stringify(freed)} again.`));
  });
}

/** Opens the bank for questions while the customer is not there: psd2 sends no customer to SCA. */
async function openBank(context: Context, flow: FlowOf<Kind>): Promise<Bank> {
  return (await (await forFlow(context, flow)).unattendedBank()).bank;
}

/** @throws Psd2Error `usage` */
function readOutcome({ executed, notExecuted }: ResolveOptions): ResolvedOutcome {
  if (executed !== notExecuted) return executed ? 'executed' : 'not-executed';
  const message = executed ? '--executed and --not-executed exclude each other' : 'The outcome is missing';
  throw new Psd2Error('usage', message, { hint: 'Add --executed or --not-executed.' });
}

/** Plain text of one line. @throws Psd2Error `invalid_text` */
function readNote(text: string | undefined): string | null {
  if (text === undefined) return null;
  const note = cleanText(text).trim();
  if (note === '') throw new Psd2Error('invalid_text', '--note is empty', { hint: 'Leave it out.' });
  const { length } = [...note];
  if (length <= MOST_NOTE) return note;
  throw new Psd2Error('invalid_text', `--note has ${length} characters; the maximum is ${MOST_NOTE}`);
}

/** The operating system's user and the host's name: `ada@pisp-1`. */
function operatorOf(): string {
  let user: string;
  try {
    user = userInfo().username;
  } catch {
    // In a container a user may have no name.
    user = String(process.getuid?.() ?? 'unknown');
  }
  return cleanText(`${user}@${hostname()}`);
}

/** @throws Psd2Error `usage` if the outcome of the flow is known */
function refuseUnlessOpen<Flow extends FlowOf<Kind>, Event>(
  kind: Resolvable<Flow, Event>,
  current: Flow,
  { writeTime }: Pick<Terminal, 'writeTime'>,
): void {
  if (kind.isOpen(current)) return;
  const { kind: name, flow, state, resolution, transactionId } = current;
  const see = { hint: 'See it with:', next: [[name, 'show', flow]], flow };
  if (resolution) {
    const was = resolution.outcome === 'executed' ? kind.done : `not ${kind.done}`;
    const time = writeTime(resolution.at);
    throw new Psd2Error(
      'usage',
      `The ${name} ${flow} has already ended: ${resolution.by} recorded on ${time} that it was ${was}`,
      { ...see, transactionId },
    );
  }
  throw new Psd2Error('usage', `The ${name} ${flow} is ${state}, so its outcome is not unknown`, {
    ...(kind.isEnded(current) ? see : { hint: 'Continue with:', next: [[name, 'resume', flow]], flow }),
    transactionId,
  });
}

function question<Flow extends FlowOf<Kind>, Event>(
  outcome: ResolvedOutcome,
  kind: Resolvable<Flow, Event>,
  flow: Flow,
): string {
  const what = `Record for good that the ${flow.kind} was ${outcome === 'executed' ? '' : 'not '}${kind.done}?`;
  const reference = outcome === 'not-executed' ? kind.referenceOf(flow) : null;
  return reference === null ? what : `${what} You can then pay its reference ${reference} again`;
}
