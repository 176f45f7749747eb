import { Option } from '@commander-js/extra-typings';
import Big from 'big.js';
import { adviceOf } from '../../advice.ts';
import { shortBatchId } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { sumsOf } from '../../domain/batch/totals.ts';
import { bankDay } from '../../domain/calendar.ts';
import { refusedCallIn, withoutCall } from '../../domain/refused-call.ts';
import { endSentence, type Psd2Error } from '../../errors.ts';
import { describeApprovals, refuseUnapproved } from '../../flows/batch/approval.ts';
import { endSettledGroups } from '../../flows/batch/end-groups.ts';
import { Initiations } from '../../flows/batch/initiations.ts';
import { hasLineEnded, type KnownBatch, type KnownLine, readBatch } from '../../flows/batch/known-lines.ts';
import {
  isAnyStuck,
  isOpenElsewhere,
  type LeftLine,
  payLines,
  refuseUnpaid,
  waitsForOthers,
} from '../../flows/batch/pay-lines.ts';
import { type As, type Choice, chooseWay, sharesIn, WAYS } from '../../flows/batch/pay-share.ts';
import { PinsOfRun } from '../../flows/batch/pins.ts';
import type { BatchRun } from '../../flows/batch/ports.ts';
import { inOrder, type Share } from '../../flows/batch/run.ts';
import { isInterruption } from '../../flows/refusals.ts';
import { actorOf } from '../../store/machine/actor.ts';
import { controlsOf } from '../../store/machine/settings.ts';
import { cleanLines, cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { examples, verb, where } from '../declare.ts';
import { refuseClientCredentials } from '../flow/drive.ts';
import { customerPortsOf } from '../flow/ports.ts';
import { confirmed } from '../shared/confirmed.ts';
import { givenCredentials, withCredentialOptions } from '../shared/credential-options.ts';
import { readWholeNumber } from '../shared/option-values.ts';
import { drawBar, writeLeft } from '../shared/progress.ts';
import { readPerson } from '../shared/psu.ts';
import { LINE_FORM, LINES, lineData, writeSums } from './batches.ts';
import { chooseLines } from './choose-lines.ts';
import { tellCredentials } from './credentials-of-run.ts';
import { linksFile } from './links.ts';
import { followed, payers } from './payers.ts';
import { auditBatch, personOf } from './person.ts';

interface RunOptions {
  as?: As;
  only?: string[];
  stopAfter?: string;
  links?: string;
  acceptClose?: true;
  psuId?: string;
}

/** `psd2 batch run <batch>` */
export const run = verb(
  {
    prints: LINES,
    help: `
psd2 pays the payments one after the other, in the order of their execution days. Each is a transfer of its own, with its own SCA. A
refused payment stops no other one. After three initiations in a row whose outcome is unknown for the same reason, as with a wrong
certificate, psd2 stops and says so. However the run was stopped, run it again: it goes on, and pays nothing twice. Two runs at once,
also on two machines, share the payments.

Where the bank has bulk payments, psd2 sends the payments of one account, day and product as one, which the customer
authorises once. --as chooses. With --as basket each goes to the bank alone, and the customer authorises them once, in a signing basket.

With --links, psd2 writes each customer's link as a line of JSON to the end of a file, and does not wait. The file must be yours, and
nobody else may read it (mode 0600). PSD2_NOTIFY_LINK names a command that gets the line on its standard input. Run the batch again
later: psd2 asks the bank for the customers' decisions, and executes what they authorised.

Exit codes: 0 all are paid, or the bank has accepted them, and psd2 asks it again; 8 some are known not to be paid; 9 the outcome of
some is not known, which counts more; 13 some are open: somebody can still authorise them at the bank; 6 the same where nothing moves
without psd2.
${examples('psd2 batch run 3f2a9c', 'psd2 batch run 3f2a9c --yes --links links.ndjson', 'psd2 batch run 3f2a9c --yes --only 7 --only 9 --json')}`,
  },
  (command) =>
    withCredentialOptions(command)
      .argument('<batch>', 'id of the batch, or the beginning of it')
      .option('--only <line...>', 'pay only these payments, by their numbers')
      .addOption(
        new Option(
          '--as <way>',
          'how the customers authorise; default: as rarely as the bank allows',
        ).choices(WAYS),
      )
      .option('--stop-after <n>', 'stop after this many refused or unknown payments in this run')
      .option(
        '--links <file>',
        "write the customers' links to the end of this file, instead of opening a browser",
      )
      .option('--accept-close', 'also pay if the payee check says that the name is close')
      .option(
        '--psu-id <id>',
        where(
          'PSU-ID',
          "who authorises now what another person has authorised, or psd2 knows no customer's id for",
        ),
      ),
  async (context, reference, options) =>
    runBatch(await givenCredentials(context, options), reference, options),
);

async function runBatch(context: Context, reference: string, options: RunOptions): Promise<void> {
  const stopAfter =
    options.stopAfter === undefined ? Infinity : readWholeNumber('--stop-after', options.stopAfter, 1);
  await context.needs('payments');
  refuseClientCredentials(context);
  const choice = chooseWay(await context.bankInterface(), options.as);
  const profile = context.profile();
  const rules = controlsOf(profile);
  const data = await context.store();
  // What was approved is what is paid: from here on, only these lines count, whatever becomes of the store.
  const current = await readBatch(data, reference);
  const { batch, lines, outcomes } = current;
  refuseUnapproved(rules, batch, lines);
  const chosen = inOrder(chooseLines(lines, options.only), bankDay(context.world.now()));
  const shares = sharesIn(outcomes, chosen, choice);
  const links = linksFile(context, options.links);
  await tellCredentials(context, {
    shares: openShares(shares, outcomes),
    isOnePerson: options.psuId !== undefined,
  });
  await confirmRun(context, current, chosen);

  const approvals = `, ${describeApprovals(rules, batch, lines)}`;
  await auditBatch(data, 'paid', batch, personOf(context, undefined), approvals);

  const progress = new Progress(chosen.length);
  const began = context.world.now().getTime();
  const near = customerPortsOf(context, profile);
  const run: BatchRun = {
    ...followed(context, data, batch.batch),
    links,
    acceptsClose: options.acceptClose ?? false,
    person: await readPerson(context, options),
    payerOf: payers(context),
    initiations: new Initiations(),
    pins: new PinsOfRun(),
    whileWaiting: (text, work, ms) =>
      near.whileWaiting(`${progress.draw(context.world.now().getTime() - began)} ${text}`, work, ms),
  };
  const printer = linePrinter(context);
  const { ends, stop } = await payLines(run, { shares, choice }, stopAfter, {
    ended: (end) => {
      progress.add(end);
      printer.print(withReason(end));
    },
    stopped: (line, why) => warnOf(context, line, why),
    withoutBaskets: ({ message }) =>
      context.terminal.warn(
        cleanText(`${endSentence(message)} So each payment is authorised alone, with a link of its own.`),
      ),
  });
  await printer.end(ends.map(withReason));
  const { operator, machine } = actorOf(context.env);
  if (stop === null || !isInterruption(stop))
    await endSettledGroups(data, batch.batch, `${operator}@${machine}`);
  context.terminal.say(progress.write());
  tellStop(context, { stop, isPinRefused: run.pins.isRefused }, ends);
  await refuseAfter(run, choice, ends);
}

/** @throws Psd2Error unless all are paid */
async function refuseAfter(
  { batch, flows, initiations: { alike } }: BatchRun,
  { isBasket }: Choice,
  ends: readonly LeftLine[],
): Promise<void> {
  const [isStuck, isForOthers] = [await isAnyStuck(flows, ends), await waitsForOthers(flows, ends)];
  refuseUnpaid(batch, ends, { isBasket, isStuck, isForOthers, alike });
}

/** What somebody may still have to authorise of the shares. */
function openShares(shares: readonly Share[], outcomes: readonly KnownLine[]): Share[] {
  const over = new Set(
    outcomes.filter(({ outcome }) => hasLineEnded(outcome)).map(({ line: { line } }) => line),
  );
  return shares.flatMap((share): Share[] => {
    const [first, ...others] = share.filter(({ line }) => !over.has(line));
    return first === undefined ? [] : [[first, ...others]];
  });
}

/** Says what stopped a run, if the payments say more. @throws what stopped it, if they do not */
function tellStop(
  { terminal }: Context,
  { stop, isPinRefused }: { stop: unknown; isPinRefused: boolean },
  ends: readonly LeftLine[],
): void {
  if (isPinRefused)
    terminal.warn(
      'psd2 has stopped, because a PIN was not accepted. Three refused ones block the customer at most banks.',
    );
  if (stop === null) return;
  const isSaid = ends.some((end) => end.outcome === 'unknown' || isOpenElsewhere(end));
  if (isInterruption(stop) || !isSaid) throw stop;
  terminal.warn(cleanText(stop instanceof Error ? stop.message : ''));
}

/** Says why a payment goes no further in this run. */
function warnOf({ terminal, repeated }: Context, { line }: BatchLine, problem: Psd2Error): void {
  const advice = adviceOf(problem, repeated) ?? '';
  terminal.warn(cleanLines(`Payment ${line}: ${endSentence(problem.message)} ${advice}`.trimEnd()));
}

/** @throws Psd2Error `confirmation_needed`, `cancelled` */
async function confirmRun(
  context: Context,
  { batch, outcomes }: KnownBatch,
  chosen: BatchLine[],
): Promise<void> {
  const wanted = new Set(chosen.map(({ line }) => line));
  const open = outcomes.filter(({ line, outcome }) => wanted.has(line.line) && outcome === 'unfinished');
  if (open.length === 0) return;
  const total = writeSums(sumsOf(open.map(({ line }) => line)));
  const payments = open.length === 1 ? '1 payment' : `${open.length} payments`;
  await confirmed(context, {
    text: `Pay ${payments} of ${total} of the batch ${shortBatchId(batch.batch)}?`,
    unasked: `Paying ${payments} of ${total} needs a confirmation`,
    hint: 'Add --yes to confirm in advance. psd2 has sent nothing.',
    declined: 'psd2 has paid nothing',
  });
}

function withReason({ row, outcome, problem }: LeftLine) {
  const data = lineData(row);
  if (outcome === 'paid' || problem === undefined || (outcome !== 'unknown' && data.reason !== null))
    return data;
  return { ...data, reason: withoutCall(problem), refusedCall: refusedCallIn(problem) };
}

/** Prints the lines of a run: in a pipe each as a line of JSON as soon as it has ended, else all at the end. */
function linePrinter({ output, stdoutIsTerminal, printBytes, terminal }: Context) {
  const isStreamed = output.format === 'ndjson' || (output.format === 'table' && !stdoutIsTerminal);
  return {
    print: (row: ReturnType<typeof lineData>) => {
      if (!isStreamed) return;
      if (output.format === 'ndjson') output.json([row]);
      else printBytes(Buffer.from(`${JSON.stringify(row)}\n`));
    },
    end: async (rows: ReturnType<typeof lineData>[]) => {
      if (isStreamed) return;
      const shared: SharedReasons = output.format === 'table' ? sharedReasons(rows) : new Map();
      await output.table(
        rows.map((row) => (isShared(row, shared) ? { ...row, reason: null } : row)),
        LINE_FORM,
        '',
      );
      for (const { state, reason, count } of shared.values())
        terminal.say(
          cleanText(`${count} payments ${BECAME[state] ?? `are ${state}`}: ${endSentence(reason)}`),
        );
    },
  };
}

type Line = ReturnType<typeof lineData>;

/** What became of payments, by their state. Others are still in it. */
const BECAME: Partial<Record<Line['state'], string>> = {
  failed: 'failed',
  expired: 'expired',
  rejected: 'were rejected',
  cancelled: 'were cancelled',
};

/** Why several payments have the same state, by both. */
type SharedReasons = ReadonlyMap<string, { state: Line['state']; reason: string; count: number }>;

/** What is the same for several payments: a person reads it once. */
function sharedReasons(rows: readonly Line[]): SharedReasons {
  const counts = new Map<string, { state: Line['state']; reason: string; count: number }>();
  for (const row of rows) {
    const { state, reason } = row;
    if (reason !== null)
      counts.set(sharedKey(row), { state, reason, count: (counts.get(sharedKey(row))?.count ?? 0) + 1 });
  }
  return new Map([...counts].filter(([, { count }]) => count > 1));
}

function sharedKey({ state, reason }: Line): string {
  return `${state} ${reason}`;
}

function isShared(row: Line, shared: SharedReasons): boolean {
  return row.reason !== null && shared.has(sharedKey(row));
}

/** How far a run is. */
class Progress {
  readonly #count: number;
  readonly #ended = {
    paid: 0,
    accepted: 0,
    ordered: 0,
    'not paid': 0,
    refused: 0,
    kept: 0,
    unknown: 0,
    awaited: 0,
    unfinished: 0,
  };
  readonly #paid = new Map<string, Big>();

  constructor(count: number) {
    this.#count = count;
  }

  add({ outcome, line: { currency, amount } }: KnownLine): void {
    this.#ended[outcome] += 1;
    if (outcome === 'paid') this.#paid.set(currency, (this.#paid.get(currency) ?? new Big(0)).plus(amount));
  }

  /** For example `[====>               ] 8 of 40 paid (120.00 EUR), 0.8/s, 40 s left.` */
  draw(milliseconds: number): string {
    const { unfinished: _, ...ended } = this.#ended;
    const done = Object.values(ended).reduce((sum, count) => sum + count, 0);
    const rate = done === 0 ? '' : `, ${(done / (milliseconds / 1000)).toFixed(1)}/s`;
    const left = writeLeft(this.#count, done, milliseconds);
    return `${drawBar(this.#count, done)} ${this.write().slice(0, -1)}${rate}${left}.`;
  }

  write(): string {
    const { paid, 'not paid': unpaid, refused, kept: linked, unknown, awaited } = this.#ended;
    const accepted = this.#ended.accepted + this.#ended.ordered;
    const left = unpaid + refused + linked;
    const sums = writeSums(this.#paid);
    const parts = [
      `${paid} of ${this.#count} paid${sums && ` (${sums})`}`,
      accepted > 0 && `${accepted} accepted`,
      left > 0 && `${left} not paid`,
      unknown > 0 && `${unknown} unknown`,
      awaited > 0 && `${awaited} ${awaited === 1 ? 'awaits its' : 'await their'} customer`,
    ];
    return `${parts.filter(Boolean).join(', ')}.`;
  }
}
