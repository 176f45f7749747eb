import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import { readDebited } from '../../domain/batch/read-line.ts';
import { bankDay, type IsoDate } from '../../domain/calendar.ts';
import { parseExecutionDate } from '../../domain/order/terms.ts';
import { Psd2Error } from '../../errors.ts';
import { contentIsStored } from '../../store/batch/refusals.ts';
import type { Batches } from '../../store/ports/batches.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { readNote } from '../flow/resolve.ts';
import { BATCH, batchData, printBatch } from './batches.ts';
import { examineFile } from './examine.ts';
import { describeCounts } from './payees.ts';
import { auditBatch, personOf } from './person.ts';
import { readLines } from './rows.ts';

interface AddOptions {
  from?: string;
  date?: string;
  instant?: true;
  payeeVerified?: true;
  note?: string;
  again?: true;
}

/** `psd2 batch add <file>` */
export const add = verb(
  {
    prints: BATCH,
    help: `
psd2 checks the file as psd2 batch check does, and stores its payments. From then on they cannot be changed: what people approve
is what is paid. The id of the batch is the SHA-256 of its content. psd2 asks no bank and sends nothing.

The same content again is refused, and so is another content with the MsgId of an earlier file. If PSD2_PAYEE_CHECK is set, psd2
checks all payees, and keeps the results for psd2 batch show.
${examples('psd2 batch add salaries.csv --from 0012345678 --note "Salaries of November"', 'psd2 batch add refunds.xml --json --query batch --raw-output')}`,
  },
  (command) =>
    command
      .argument('<file>', 'CSV or pain.001 (docs/batches.md has the versions); - reads standard input')
      .option('--from <account>', 'account to debit, for payments whose file names none: its id or IBAN')
      .option('--date <date>', 'execution day, YYYY-MM-DD, for payments whose file has none')
      .option('--instant', 'make all payments instant transfers')
      .option('--payee-verified', 'you have checked all names and IBANs')
      .option('--note <text>', 'what the batch is for')
      .option('--again', 'store the same content once more, to pay all of it once more'),
  (context, file, options: AddOptions) => addFile(context, file, options),
);

async function addFile(context: Context, file: string, options: AddOptions): Promise<void> {
  const profile = context.profile();
  const note = readNote(options.note);
  const complete = await completing(context, options);
  const lines: BatchLine[] = [];
  const { source, errors, problems, contentSha256 } = await examineFile(context, file, undefined, {
    instant: options.instant ?? false,
    payeeVerified: options.payeeVerified ?? false,
    complete,
    keep: (line) => lines.push(line),
  });
  for (const { place, message } of problems.filter(({ severity }) => severity === 'warning').slice(0, 20))
    context.terminal.warn(cleanText(`${place}: ${message}`));
  const homeless = lines.find(({ from, fromIban }) => from === null && fromIban === null);
  if (homeless)
    throw new Psd2Error('usage', `${homeless.place} names no account to debit`, {
      hint: 'Add --from <account>.',
    });
  const { batches, flows, audit } = await context.store();
  // What was paid has references that are paid: that it is the same file says more.
  if (errors > 0 && contentSha256 !== null && !options.again) await refuseStored(batches, contentSha256);
  if (errors > 0 || !source) throw wrongFile(file, errors, problems);
  const command = profile.settings.payeeCheck;
  const payees = command === undefined ? [] : await checkAll(context, command, lines);

  const person = personOf(context, undefined);
  const batch = await batches.add({
    added: {
      ...{ format: source.format, messageId: source.messageId, note, retryOf: null, payees },
      ...person,
    },
    lines,
    again: options.again ?? false,
  });
  await auditBatch({ audit }, 'added', batch, person);
  if (batch.batch !== batch.sha256) warnOfReferences(context, lines);
  await printAdded(context, { batch, lines }, async () => readLines(flows, batch, lines));
}

/** @throws Psd2Error `usage` if a batch with this content is stored */
async function refuseStored(batches: Batches, sha256: string): Promise<void> {
  for await (const { batch } of batches.list(() => {})) if (batch === sha256) throw contentIsStored(batch);
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
  { batch, lines }: { batch: Batch; lines: BatchLine[] },
  read: () => ReturnType<typeof readLines>,
): Promise<void> {
  const data = batchData(context.profile(), { batch, lines, known: await read() });
  printBatch(context, data);
  const next =
    data.approvalsNeeded > 0
      ? `Before it can be paid, other people must approve it: ${data.approvalsNeeded}.`
      : 'It can be paid now.';
  context.terminal.say(`Stored. ${next}`);
}

/** Adds to a line what its file does not say. @throws Psd2Error for wrong options */
async function completing(
  { world, globals, bankInterface }: Context,
  options: AddOptions,
): Promise<(line: BatchLine) => BatchLine> {
  const { readAccountId, readCustomerId } = await bankInterface();
  const today = bankDay(world.now());
  const date: IsoDate | null = options.date === undefined ? null : parseExecutionDate(options.date, today);
  const debited = readDebited(options.from ?? null, readAccountId);
  const customer = globals.customer === undefined ? null : readCustomerId(globals.customer);
  return (line) => ({
    ...line,
    ...(line.from === null && line.fromIban === null && debited),
    customer: line.customer ?? customer,
    executionDate: line.executionDate ?? date,
  });
}

function wrongFile(
  file: string,
  errors: number,
  problems: { severity: string; place: string; message: string }[],
) {
  const first = problems.filter(({ severity }) => severity === 'error').slice(0, 3);
  const said = first.map(({ place, message }) => (place ? `${place}: ${message}` : message)).join('. ');
  return new Psd2Error(
    'usage',
    cleanText(`The file ${file} has ${errors} ${errors === 1 ? 'error' : 'errors'}. ${said}`),
    {
      hint: 'psd2 has stored nothing. See all of them with:',
      next: [['batch', 'check', file]],
    },
  );
}

async function checkAll(context: Context, command: string, lines: readonly BatchLine[]) {
  const { checkPayees } = await import('./payees.ts');
  const checks = checkPayees(context, command);
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
