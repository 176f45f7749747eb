import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { BatchProblem } from '../../domain/batch/read-line.ts';
import { Psd2Error } from '../../errors.ts';
import { neededApprovals } from '../../flows/batch/approval.ts';
import { addCompared } from '../../flows/batch/examine.ts';
import { readLines } from '../../flows/batch/known-lines.ts';
import { checkPayees, describeCounts } from '../../flows/batch/payees.ts';
import { contentIsStored } from '../../store/batch/refusals.ts';
import { controlsOf } from '../../store/machine/settings.ts';
import type { Flows } from '../../store/ports/flows.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { readNote } from '../flow/resolve.ts';
import { payeeCheckOf } from '../transfer/payee-check.ts';
import { BATCH, BATCH_FORM, batchData } from './batches.ts';
import { earlierPayments, examineFile } from './examine.ts';
import { examinationOf, FILE, type FileOptions, takingFile } from './file-options.ts';
import { auditBatch, personOf } from './person.ts';
import { shortPlace } from './place.ts';

/** `psd2 batch add <file>` */
export const add = verb(
  {
    prints: BATCH,
    help: `
psd2 checks the file as psd2 batch check does, and stores its payments. From then on they cannot be changed: what people approve
is what is paid. The id of the batch is the SHA-256 of its content. psd2 asks no bank and sends nothing.

psd2 refuses a file that orders the same as an earlier one, however it is written, whoever pays it and on whatever day, unless
nothing of the earlier one was or can be paid. It also refuses a payment that a batch already has, if that one is not over or was
paid in the last 30 days. --again means that you want to pay it once more. Another content with the MsgId of an earlier file is
refused too. If PSD2_PAYEE_CHECK is set, psd2
checks all payees, and keeps the results for psd2 batch show.
${examples('psd2 batch add salaries.csv --from 0010482620 --note "Salaries of November"', 'psd2 batch add refunds.xml --json --query batch --raw-output')}`,
  },
  (command) => takingFile(command.argument('<file>', FILE)),
  (context, file, options) => addFile(context, file, options),
);

async function addFile(context: Context, file: string, options: FileOptions): Promise<void> {
  const profile = context.profile();
  const note = readNote(options.note);
  const lines: BatchLine[] = [];
  const how = await examinationOf(context, options);
  const examined = await examineFile(context, file, undefined, how, (line) => lines.push(line));
  const { source, errors, problems, sameContent } = examined;
  for (const warning of problems.filter(({ severity }) => severity === 'warning').slice(0, 20))
    context.terminal.warn(cleanText(describeProblem(warning)));
  const { debtorAccount } = await context.bankInterface();
  const homeless =
    debtorAccount === undefined && lines.find(({ from, fromIban }) => from === null && fromIban === null);
  if (homeless)
    throw new Psd2Error('usage', `${homeless.place} names no account to debit`, {
      hint: 'Add --from <account>.',
    });
  const { batches, flows, audit } = await context.store();
  // What was paid has references that are paid: that it is the same file says more.
  if (sameContent !== undefined) throw contentIsStored(sameContent);
  if (errors > 0 || !source) throw wrongFile(file, errors, problems);
  const command = profile.settings.payeeCheck;
  const payees = command === undefined ? [] : await checkAll(context, command, lines);

  const person = personOf(context, undefined);
  const { format, messageId } = source;
  const approvalsNeeded = neededApprovals(controlsOf(profile), null, lines);
  const added = { format, messageId, note, retryOf: null, payees, approvalsNeeded, ...person };
  const { compared } = examined;
  const stored = { added, lines, again: how.again, compared };
  const batch = await addCompared(batches, stored, () => earlierPayments(context));
  await auditBatch({ audit }, 'added', batch, person);
  if (batch.batch !== batch.sha256) warnOfReferences(context, lines);
  await printAdded(context, flows, { batch, lines });
}

/** Content that was stored again is paid again, apart from references of the file's own. */
function warnOfReferences({ terminal }: Context, lines: readonly BatchLine[]): void {
  const { length } = lines.filter(({ reference }) => reference !== null);
  if (length === 0) return;
  terminal.warn(
    `${length} of ${lines.length} payments ${length === 1 ? 'has a reference of its own' : 'have references of their own'}. psd2 pays a reference once, in this batch or in the one before. To pay both, give them other references`,
  );
}

/** Prints a new batch, and what to do next. */
export async function printAdded(
  context: Context,
  flows: Flows,
  { batch, lines }: { batch: Batch; lines: BatchLine[] },
): Promise<void> {
  const data = batchData(context.profile(), { batch, lines, outcomes: await readLines(flows, batch, lines) });
  context.output.record(data, BATCH_FORM);
  const next =
    data.approvalsNeeded > 0
      ? `${data.approvalsNeeded === 1 ? 'One other person' : `${data.approvalsNeeded} other people`} must approve it before it can be paid.`
      : 'It can be paid now.';
  context.terminal.say(`Stored. ${next}`);
}

function describeProblem(problem: BatchProblem): string {
  const place = shortPlace(problem);
  return place === '' ? problem.message : `${place}: ${problem.message}`;
}

function wrongFile(file: string, errors: number, problems: readonly BatchProblem[]) {
  const first = problems.filter(({ severity }) => severity === 'error').slice(0, 3);
  const sentences = first.map(describeProblem).join('. ');
  return new Psd2Error(
    'usage',
    cleanText(`The file ${file} has ${errors} ${errors === 1 ? 'error' : 'errors'}. ${sentences}`),
    {
      hint: 'psd2 has stored nothing. See all of them with:',
      next: [['batch', 'check', file]],
    },
  );
}

async function checkAll(context: Context, command: string, lines: readonly BatchLine[]) {
  const checks = checkPayees(payeeCheckOf(context, command));
  const { counts, results } = await context.terminal.whileWaiting(
    `Checking ${lines.length} payees`,
    (async () => {
      for (const line of lines) await checks.add(line);
      return checks.end();
    })(),
  );
  context.terminal.say(`Payees: ${describeCounts(counts)}.`);
  return results.sort((one, other) => one.line - other.line);
}
