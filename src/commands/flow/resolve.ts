import type { Bank } from '../../bank/ports/bank.ts';
import type { ResolvedOutcome } from '../../domain/flow.ts';
import { Psd2Error } from '../../errors.ts';
import { resolveFlow } from '../../flows/resolve.ts';
import { actorOf } from '../../store/machine/actor.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Context } from '../context.ts';
import { examples, type Verb, verb } from '../declare.ts';
import { forFlow, refuseOtherCustomer } from './customer.ts';
import { type FlowNoun, printFlow, printsOne } from './describe.ts';
import { refuseUnconfirmable } from './drive.ts';
import { describeFlow } from './fields.ts';

interface ResolveOptions {
  executed: boolean;
  notExecuted: boolean;
  note: string | undefined;
}

const MAX_NOTE = 500;

/** `psd2 <noun> resolve <flow>` */
export const resolveOf = <K extends Kind>(noun: FlowNoun<K>): Verb =>
  verb(
    { prints: printsOne(noun), help: `\n${noun.help.resolve}\n${examples(...noun.help.resolveExamples)}` },
    (command) =>
      command
        .argument('<flow>')
        .option('--executed', noun.help.executed)
        .option('--not-executed', noun.help.notExecuted)
        .option('--note <text>', 'how you know it, at most 500 characters; stored in the journal'),
    (context, flow, { executed = false, notExecuted = false, note }) =>
      resolve(context, flow, { executed, notExecuted, note }, noun),
  );

/**
 * Ends a flow with an unknown outcome by a person's decision (command contract, "A person can end an unknown"). psd2 first
 * asks the bank again. If the bank's answer decides, that answer counts.
 *
 * @param reference local id, resource id, or an unambiguous prefix of either
 * @throws Psd2Error `usage`, `confirmation_needed`, and what `resolveFlow` throws
 */
async function resolve<K extends Kind>(
  context: Context,
  reference: string,
  options: ResolveOptions,
  noun: FlowNoun<K>,
): Promise<void> {
  const { operator, machine } = actorOf(context.env);
  const by = `${operator}@${machine}`;
  const resolution = { outcome: readOutcome(options), by, note: readNote(options.note) };
  const { flows } = await context.store(reference);
  const current = await flows.find(noun.kind, reference);
  refuseOtherCustomer(context, current);
  refuseUnlessUnknown(noun, current, resolution.outcome, context.terminal);
  refuseUnconfirmable(context, 'The outcome');

  const { terminal, globals } = context;
  await flows.resume(noun.kind, current.flow, async (open) => {
    refuseUnlessUnknown(noun, open.current, resolution.outcome, terminal);
    const before = open.current;
    try {
      await resolveFlow(open, resolution, {
        executedMeans: noun.done,
        askBank: (flow) =>
          terminal.whileWaiting(
            `Asking the bank for the outcome of the ${noun.kind}`,
            noun.askBank(() => openBank(context, flow), flow, flows),
          ),
        tell: (sentences) => terminal.warn(sentences.map(cleanText).join('\n')),
        isOpen: (flow) => mayResolve(noun, flow, resolution.outcome),
        confirm: async (flow) => {
          terminal.warn(terminal.marked(describeFlow(flow, noun.describe(flow), terminal.writeTime)));
          return globals.yes || terminal.confirm(question(resolution.outcome, noun, flow));
        },
      });
    } finally {
      if (open.current !== before) printFlow(context, noun, open.current);
      await noun.tidy?.(context, open.current);
    }
    await noun.afterEnd?.(context, open.current);
    const freed = noun.referenceOf(open.current);
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
  const message = executed
    ? '--executed and --not-executed cannot be used together'
    : 'The outcome is missing';
  throw new Psd2Error('usage', message, { hint: 'Add --executed or --not-executed.' });
}

/** Plain text of one line. @throws Psd2Error `invalid_text` */
export function readNote(text: string | undefined): string | null {
  if (text === undefined) return null;
  const note = cleanText(text).trim();
  if (note === '') throw new Psd2Error('invalid_text', '--note is empty', { hint: 'Leave it out.' });
  const { length } = [...note];
  if (length <= MAX_NOTE) return note;
  throw new Psd2Error('invalid_text', `--note has ${length} characters; the maximum is ${MAX_NOTE}`);
}

/** Whether a person may give this outcome. What the bank has accepted, only the bank ends unpaid. */
function mayResolve<K extends Kind>(noun: FlowNoun<K>, flow: FlowOf<K>, outcome: ResolvedOutcome): boolean {
  return noun.isUnknown(flow) || (outcome === 'executed' && (noun.isAccepted?.(flow) ?? false));
}

/** @throws Psd2Error `usage` if a person may not give this outcome of the flow */
function refuseUnlessUnknown<K extends Kind>(
  noun: FlowNoun<K>,
  current: FlowOf<K>,
  outcome: ResolvedOutcome,
  { writeTime }: Pick<Terminal, 'writeTime'>,
): void {
  if (mayResolve(noun, current, outcome)) return;
  const { kind, done } = noun;
  const { flow, state, resolution, transactionId } = current;
  const see = { hint: 'See it with:', next: [[kind, 'show', flow]], flow };
  if (resolution) {
    const was = resolution.outcome === 'executed' ? done : `not ${done}`;
    const time = writeTime(resolution.at);
    throw new Psd2Error(
      'usage',
      `The ${kind} ${flow} has already ended: ${resolution.by} recorded on ${time} that it was ${was}`,
      { ...see, transactionId },
    );
  }
  if (noun.isAccepted?.(current))
    throw new Psd2Error('usage', `The bank has accepted the ${kind} ${flow}, and may still execute it`, {
      hint: 'Only the bank can end it unpaid. Ask for that with:',
      next: [[kind, 'cancel', flow]],
      flow,
      transactionId,
    });
  throw new Psd2Error('usage', `The ${kind} ${flow} is ${state}, so its outcome is not unknown`, {
    ...(noun.isEnded(current) ? see : { hint: 'Continue with:', next: [[kind, 'resume', flow]], flow }),
    transactionId,
  });
}

function question<K extends Kind>(outcome: ResolvedOutcome, noun: FlowNoun<K>, flow: FlowOf<K>): string {
  const what = `Record for good that the ${noun.kind} was ${outcome === 'executed' ? '' : 'not '}${noun.done}?`;
  const reference = outcome === 'not-executed' ? noun.referenceOf(flow) : null;
  return reference === null ? what : `${what} You can then pay its reference ${reference} again`;
}
