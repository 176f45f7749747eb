import { Option } from '@commander-js/extra-typings';
import { writeCommand } from '../../advice.ts';
import type { PsuIdentification } from '../../bank/ports/call.ts';
import { isBanksToCancel, isOpen, standingOf } from '../../domain/flow-states.ts';
import { whyKept } from '../../domain/kept.ts';
import { type ErrorContext, endSentence, Psd2Error } from '../../errors.ts';
import { findOut } from '../../flows/refusals.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { examples, type Verb, verb, where } from '../declare.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { type PsuOptions, readPerson, withPersonOptions } from '../shared/psu.ts';
import { forFlow, refuseOtherCustomer } from './customer.ts';
import { type FlowNoun, printFlow, printsOne } from './describe.ts';
import { refuseUnconfirmable } from './drive.ts';
import { describeFlow } from './fields.ts';
import { commandThatContinues, withWaysOfBatch } from './next-command.ts';

/** `psd2 <noun> cancel <flow>` */
export const cancelOf = <K extends Kind>(noun: FlowNoun<K>): Verb =>
  verb(
    {
      prints: printsOne(noun),
      help: `
The command shows the flow and asks you; --yes confirms in advance. It sends nothing to the bank, unless only the bank
can cancel it: then the customer may have to authorise the cancellation. If psd2 has already sent
\`${noun.sent}\`, the command refuses with exit code 2 and says what to do instead.
${examples(`psd2 ${noun.kind} cancel ${noun.example}`)}`,
    },
    (command) =>
      withCredentialOptions(
        withPersonOptions(command, noun.cancelAtBank === undefined),
        noun.cancelAtBank === undefined,
      )
        .argument('<flow>')
        .addOption(
          new Option(
            '--paste',
            where('links for SCA', 'prompt for the address in the browser after the customer has finished'),
          ).hideHelp(noun.cancelAtBank === undefined),
        ),
    async (context, flow, { paste = false, psuPasswordFile, otpFile, scaMethod, ...person }) => {
      const taking = await givenCredentials(context, { psuPasswordFile, otpFile, scaMethod });
      return cancelFlow(taking, flow, noun, { paste, person });
    },
  );

interface CancelOptions {
  paste?: boolean;
  /** Who authorises the cancellation now, if it is not the customer. */
  person?: PsuOptions;
}

/**
 * Gives up a flow that has sent neither `execute` nor `confirm`, and whose payment cannot run without psd2: writes the event
 * `cancelled` after a confirmation. Sends nothing to the bank. A psd2 that was stopped while it worked on the flow finds itself
 * overtaken when it continues.
 *
 * @param reference local id, resource id, or an unambiguous prefix of either
 * @throws Psd2Error `usage` if it is too late, `confirmation_needed`, `cancelled` after a no, `config` while another psd2
 *   works on the flow
 */
export async function cancelFlow<K extends Kind>(
  context: Context,
  reference: string,
  noun: FlowNoun<K>,
  { paste = false, person = {} }: CancelOptions = {},
): Promise<void> {
  const { globals, terminal } = context;
  const { flows } = await context.store(reference);
  const current = await flows.find(noun.kind, reference);
  refuseOtherCustomer(context, current);
  if (noun.cancelAtBank && 'commits' in current && isBanksToCancel(current)) {
    const who = await readPerson(context, person);
    return cancelThere(context, current, noun, { paste, who });
  }
  const isLeft = await isLeftOpen(context, current, noun);
  if (!isLeft) refuseUnlessOpen(current, noun.sent);
  const meaningless = paste ? '--paste' : person.psuId !== undefined && '--psu-id';
  if (meaningless)
    throw new Psd2Error('usage', `This needs no authorisation, so ${meaningless} has no effect`);
  refuseUnconfirmable(context, 'Cancelling');

  await flows.resume(noun.kind, current.flow, async (open) => {
    if (!isLeft || !open.current.refusedUnconfirmed) refuseUnlessOpen(open.current, noun.sent);
    const shown = describeFlow(open.current, noun.describe(open.current), terminal.writeTime);
    terminal.warn(terminal.marked(shown));
    if (!globals.yes && !(await terminal.confirm(`Cancel the ${noun.kind} for good?`)))
      throw new Psd2Error('cancelled', `The ${noun.kind} ${current.flow} is unchanged`);
    const wasAtBank = ['authorizing', 'authorized'].includes(open.current.state);
    const ended = await open.record({ type: 'cancelled' });
    printFlow(context, noun, ended);
    const left = noun.leftAtBank?.(ended);
    if (left) terminal.say(writeLeft(left, context.repeated));
    else if (wasAtBank)
      terminal.say(
        `The customer can still answer at the bank, but it has no effect: psd2 will not send ${noun.sent}.`,
      );
    const freed = noun.referenceOf(ended);
    if (freed !== null) terminal.say(cleanText(`You can use the reference ${JSON.stringify(freed)} again.`));
    await noun.afterEnd?.(context, ended);
  });
}

/**
 * Whether the bank has refused `confirm`, and says that the customer has not decided: it has confirmed nothing, and no money hangs on
 * it.
 */
async function isLeftOpen<K extends Kind>(
  context: Context,
  current: FlowOf<K>,
  noun: FlowNoun<K>,
): Promise<boolean> {
  if (noun.sent !== 'confirm' || !current.refusedUnconfirmed) return false;
  const acting = await forFlow(context, current);
  const { flows } = await context.store();
  return (await noun.askBank(async () => (await acting.bank()).bank, current, flows)).isOpen ?? false;
}

/** Cancels a payment at the bank, after a confirmation. */
async function cancelThere<K extends Kind>(
  context: Context,
  { flow, kind }: FlowOf<K>,
  noun: FlowNoun<K>,
  { paste, who }: { paste: boolean; who: PsuIdentification | undefined },
): Promise<void> {
  const { globals, terminal } = context;
  refuseUnconfirmable(context, 'Cancelling');
  const current = await (await context.store(flow)).flows.find(noun.kind, flow);
  const opened = await (await forFlow(context, current)).bank();
  await opened.flows.resume(noun.kind, flow, async (open) => {
    terminal.warn(
      terminal.marked(describeFlow(open.current, noun.describe(open.current), terminal.writeTime)),
    );
    if (!globals.yes && !(await terminal.confirm(`Ask the bank to cancel the ${kind}?`)))
      throw new Psd2Error('cancelled', `The ${kind} ${flow} is unchanged`);
    const before = open.current;
    try {
      await noun.cancelAtBank?.(context, opened, open, { paste, person: who });
    } catch (error) {
      if (open.current !== before) printFlow(context, noun, open.current);
      throw withWaysOfBatch(open.current === before ? error : withWayOn(error, kind, flow), open.current);
    } finally {
      await noun.tidy?.(context, open.current);
    }
    printFlow(context, noun, open.current);
    await noun.afterEnd?.(context, open.current);
    const whyReferenceKept = 'linkUntil' in open.current ? whyKept(open.current, kind) : null;
    if (whyReferenceKept !== null)
      terminal.say(cleanText(`${endSentence(whyReferenceKept)}${wayToFree(open.current, context.repeated)}`));
    const freed = noun.referenceOf(open.current);
    if (freed !== null && standingOf(open.current) === 'refused')
      terminal.say(cleanText(`You can use the reference ${JSON.stringify(freed)} again.`));
  });
}

/** How the reference becomes free: by asking the bank later; for a standing order, by a person who has seen the account. */
function wayToFree({ kind, flow, state }: FlowOf<Kind>, repeated: Context['repeated']): string {
  const [when, words] =
    state === 'ended'
      ? ['If the account shows none, free it with', [kind, 'resolve', flow, '--not-executed']]
      : ['Then ask the bank again with', [kind, 'resume', flow]];
  return ` ${when}: ${writeCommand(words, repeated)}`;
}

/** Says how to go on after an interruption: the bank may have the request, and only the customer's SCA is missing. */
function withWayOn(error: unknown, kind: string, flow: string): unknown {
  if (!(error instanceof Psd2Error) || error.code !== 'interrupted' || error.next !== undefined) return error;
  return error.with({
    hint: `The ${kind} may be cancelled or not. Ask the bank, or ask it again to cancel it, with:`,
    next: [
      [kind, 'status', flow],
      [kind, 'cancel', flow],
    ],
    flow,
  });
}

function writeLeft({ why, end }: { why: string; end: string[] }, repeated: Context['repeated']): string {
  return `${why}\n  ${writeCommand(end, repeated)}`;
}

/** @throws Psd2Error `usage` if the flow has ended, or if it is too late */
function refuseUnlessOpen(current: FlowOf<Kind>, sent: string): void {
  if (isOpen(current)) return;
  const { kind, flow, state, transactionId } = current;
  if (standingOf(current) === 'sent') {
    const isCustomers = 'commits' in current && current.commits === 'by the customer';
    const [why, never] = isCustomers
      ? [`The bank may execute it without psd2`, 'pays twice']
      : [`psd2 has sent ${sent}`, `sends ${sent} again`];
    throw new Psd2Error(
      'usage',
      `The ${kind} ${flow} is ${state}. ${why}, so ${isCustomers ? 'psd2 can no longer cancel it' : `it can no longer cancel the ${kind}`}`,
      { ...wayToOutcome(current, never), transactionId },
    );
  }
  throw new Psd2Error('usage', `The ${kind} ${flow} is ${state}, so there is nothing to cancel`, {
    hint: 'See it with:',
    next: [[kind, 'show', flow]],
    flow,
    transactionId,
  });
}

/** How to find out what becomes of a flow. What the customer authorises with others is not asked for alone. */
function wayToOutcome(current: FlowOf<Kind>, never: string): Pick<ErrorContext, 'flow' | 'hint' | 'next'> {
  const { kind, flow } = current;
  const continues = commandThatContinues(current);
  if (continues[0] === kind)
    return findOut(kind, flow, `First ask the bank for the outcome, which never ${never}.`);
  return {
    flow,
    hint: `The customer authorises it with others. psd2 goes on with all, and never ${never}, with:`,
    next: [continues],
  };
}
