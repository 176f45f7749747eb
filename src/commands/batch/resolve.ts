import { sumsOf } from '../../domain/batch/totals.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { type KnownBatch, type KnownLine, readBatch } from '../../flows/batch/known-lines.ts';
import { resolveNotExecuted, type UnknownLine, unknownLines } from '../../flows/batch/resolve.ts';
import { actorOf } from '../../store/machine/actor.ts';
import { cleanText } from '../../terminal/clean.ts';
import { writeMoney } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { refuseUnconfirmable } from '../flow/drive.ts';
import { readNote } from '../flow/resolve.ts';
import { confirmed } from '../shared/confirmed.ts';
import { LINE_FORM, LINES, lineData, writeSums } from './batches.ts';
import { chooseLines } from './choose-lines.ts';
import { followed, unattendedPayers } from './payers.ts';

interface ResolveOptions {
  notExecuted?: true;
  only?: string[];
  note?: string;
}

/** `psd2 batch resolve <batch> --not-executed` */
export const resolve = verb(
  {
    prints: LINES,
    help: `
For the payments of a batch whose outcome is unknown, if psd2 batch run does not help: it ends all of them, or those of --only, as psd2
transfer resolve ends one. The command first asks the bank about those that it has. If the bank says that it has executed one, the command
records that and no more. Otherwise it shows the payments with their count and sum, asks you once, and records for each who decided what,
when and why. You can then pay their references again. It leaves alone what is paid, or what somebody can still authorise, and names it.

First end every psd2 process that still works on the batch. Then look at the account statement of the execution day and of the days after it.
${examples('psd2 batch resolve 3f2a9c --not-executed --note "Not on the statement of 24 November"', 'psd2 batch resolve 3f2a9c --not-executed --only 7 --only 9 --yes')}`,
  },
  (command) =>
    command
      .argument('<batch>', 'id of the batch, or the beginning of it')
      .option(
        '--not-executed',
        'they were not executed and never will be; you can use their references again',
      )
      .option('--only <line...>', 'only these payments, by their numbers')
      .option('--note <text>', 'how you know it, at most 500 characters; stored in the journals'),
  (context, reference, options: ResolveOptions) => resolveBatch(context, reference, options),
);

async function resolveBatch(context: Context, reference: string, options: ResolveOptions): Promise<void> {
  if (!options.notExecuted)
    throw new Psd2Error('usage', 'The outcome is missing', { hint: 'Add --not-executed.' });
  const note = readNote(options.note);
  const data = await context.store();
  const current = await readBatch(data, reference);
  const chosen = new Set(chooseLines(current.lines, options.only).map(({ line }) => line));
  const unknown = await unknownLines(data.flows, current);
  const wanted = unknown.filter(({ line }) => chosen.has(line.line));
  const isWanted = isOneOf(wanted);
  const others = current.outcomes.filter((each) => !isWanted(each));
  if (options.only)
    refuseNamed(
      current,
      others.filter(({ line }) => chosen.has(line.line)),
    );
  if (wanted.length === 0) throw noneIsUnknown(current);
  refuseUnconfirmable(context, 'The outcome');

  const { terminal } = context;
  const { operator, machine } = actorOf(context.env);
  await resolveNotExecuted(followed(context, data, current.batch.batch), wanted, {
    said: { by: `${operator}@${machine}`, note },
    payerOf: unattendedPayers(context),
    tell: (what, sentences) => terminal.warn(cleanText(`${what}: ${sentences.join(' ')}`)),
    whileAsking: (work) => terminal.whileWaiting('Asking the bank for the outcome of the payments', work),
    confirm: (lines) => confirmAll(context, lines, others),
  });
  const after = await readBatch(data, current.batch.batch);
  await context.output.table(
    after.outcomes.filter(isWanted).map(({ row }) => lineData(row)),
    LINE_FORM,
    '',
  );
  terminal.say('You can use their references again.');
}

/** Whether a line is one of these. */
function isOneOf(lines: readonly KnownLine[]): (line: KnownLine) => boolean {
  const numbers = new Set(lines.map(({ line }) => line.line));
  return ({ line }) => numbers.has(line.line);
}

/** Shows what is about to be ended, and what is left alone. @throws Psd2Error `cancelled` */
async function confirmAll(
  context: Context,
  lines: readonly UnknownLine[],
  others: readonly KnownLine[],
): Promise<void> {
  const { terminal } = context;
  for (const { line, row } of lines.slice(0, SHOWN))
    terminal.warn(
      cleanText(`Payment ${line.line}: ${writeMoney(line)} to ${line.name}, ${line.iban}, is ${row.state}`),
    );
  if (lines.length > SHOWN) terminal.warn(`and ${lines.length - SHOWN} more`);
  if (others.length > 0)
    terminal.warn(`psd2 leaves the other ${others.length} alone: ${nameStates(others)}.`);
  const count = lines.length === 1 ? '1 payment' : `${lines.length} payments`;
  const what = `${count} of ${writeSums(sumsOf(lines.map(({ line }) => line)))}`;
  await confirmed(context, {
    text: `Record for good that ${what} ${lines.length === 1 ? 'was' : 'were'} not executed? You can then pay ${lines.length === 1 ? 'its reference' : 'their references'} again`,
    unasked: 'The outcome needs a confirmation',
    hint: 'Add --yes to confirm in advance.',
    declined: 'The outcome was not recorded',
  });
}

/** How many payments a person is shown. */
const SHOWN = 20;

/** @throws Psd2Error `usage` if the operator names lines whose outcome is not unknown */
function refuseNamed({ batch }: KnownBatch, others: readonly KnownLine[]): void {
  if (others.length === 0) return;
  throw new Psd2Error('usage', `The outcome of these payments is not unknown: ${nameStates(others)}`, {
    hint: 'psd2 has recorded nothing. Name others with --only, or leave it out. See the payments with:',
    next: [['batch', 'show', batch.batch]],
  });
}

function noneIsUnknown({ batch, outcomes }: KnownBatch): Psd2Error {
  return new Psd2Error('usage', `No payment of the batch has an unknown outcome: ${nameStates(outcomes)}`, {
    hint: 'psd2 has recorded nothing. See the payments with:',
    next: [['batch', 'show', batch.batch]],
  });
}

/** `line 2 is executed, line 4 is authorizing`. What cannot be read is named with the reason. */
function nameStates(lines: readonly KnownLine[]): string {
  const named = lines.slice(0, NAMED).map(({ line, row, transfer, outcome }) => {
    const isUnread = !transfer && outcome === 'unknown';
    return isUnread
      ? `line ${line.line} cannot be read (${endSentence(row.reason ?? '')})`
      : `line ${line.line} is ${row.state}`;
  });
  const more = lines.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** How many payments a sentence names. */
const NAMED = 10;
