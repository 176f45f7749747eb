import { type Command, Option } from '@commander-js/extra-typings';
import type { BatchLine } from '../../domain/batch/line.ts';
import { readDebited } from '../../domain/batch/read-line.ts';
import { bankDay } from '../../domain/calendar.ts';
import { parseExecutionDate } from '../../domain/order/terms.ts';
import type { Context } from '../context.ts';
import { where } from '../declare.ts';
import { TRANSLITERATE } from '../transfer/spelling.ts';

// What `batch check` and `batch add` take, so that the one says what the other does.

/** The argument. */
export const FILE = 'CSV or pain.001; - reads standard input';

/** Declares what the payments of a file have that the file does not say. */
export function takingFile<Args extends unknown[]>(command: Command<Args>) {
  return command
    .option(
      '--from <account>',
      'account to debit, for payments whose file names none: its id or IBAN (required, unless the customer may choose it at the bank)',
    )
    .option('--date <date>', 'execution day, YYYY-MM-DD, for payments whose file has none')
    .option('--instant', 'make all payments instant transfers')
    .option('--payee-verified', 'you have checked all names and IBANs')
    .addOption(
      new Option(
        '--batch-booking <yes-or-no>',
        where(
          'bulk payments',
          'book a bulk payment as one sum, or each payment alone, for files that do not say it',
        ),
      ).choices(['yes', 'no'] as const),
    )
    .option('--transliterate', TRANSLITERATE)
    .option('--note <text>', 'what the batch is for')
    .option('--again', 'pay once more what an earlier batch pays, or paid in the last 30 days');
}

export type FileOptions = ReturnType<ReturnType<typeof takingFile>['opts']>;

/** What `examineFile` takes of these options. @throws Psd2Error for wrong ones */
export async function examinationOf({ world, globals, bankInterface }: Context, options: FileOptions) {
  const { readAccountId, readCustomerId } = await bankInterface();
  const today = bankDay(world.now());
  const date = options.date === undefined ? null : parseExecutionDate(options.date, today);
  const debited = readDebited(options.from ?? null, readAccountId);
  const customer = globals.customer === undefined ? null : readCustomerId(globals.customer);
  const { instant = false, payeeVerified = false, transliterate = false, again = false } = options;
  const booking = options.batchBooking && { batchBooking: options.batchBooking === 'yes' };
  const complete = (line: BatchLine): BatchLine => ({
    ...line,
    ...(line.from === null && line.fromIban === null && debited),
    customer: line.customer ?? customer,
    executionDate: line.executionDate ?? date,
    ...(line.batchBooking === undefined && booking),
  });
  return { instant, payeeVerified, transliterate, again, complete };
}
