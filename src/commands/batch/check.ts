import type { BulkTerms } from '../../bank/ports/bulk.ts';
import { BATCH_FORMATS } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import type { Examined } from '../../flows/batch/examine.ts';
import { describeCounts } from '../../flows/batch/payees.ts';
import {
  day,
  decimal,
  flag,
  list,
  object,
  oneOf,
  orNull,
  text,
  whole,
  writeMoney,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { readNote } from '../flow/resolve.ts';
import { keepHeapSmall } from '../shared/keep-heap-small.ts';
import { examineFile } from './examine.ts';
import { examinationOf, FILE, type FileOptions, takingFile } from './file-options.ts';
import { shortPlace } from './place.ts';

const CHECK_NOTE = `
It takes what psd2 batch add takes, and says what that would refuse. psd2 asks no bank, sends nothing and stores nothing. If there is a profile, it compares the file with the earlier transfers and
with the largest amount of the profile.

An error is what psd2 will not pay as the file says it. A warning is for a person to look at. Exit code 2 means that there are
errors.
${examples('psd2 batch check salaries.csv', 'psd2 batch check suppliers.xml --json --query "problems[].message" --raw-output', 'PSD2_PAYEE_CHECK=./payee-check psd2 batch check --payees salaries.csv')}`;

const total = object({
  customer: orNull(text('the customer who pays; null if the file does not say')).as('Customer'),
  from: orNull(text('id or IBAN of the account to debit; null if the file does not say')).as('From', {
    whole: true,
  }),
  executionDate: orNull(day('execution day; null: the day on which psd2 pays'))
    .as('Day')
    .written((date) => date ?? 'when it is paid'),
  instant: flag('true for instant transfers')
    .as('Product')
    .written((instant) => (instant ? 'instant' : 'transfer')),
  batchBooking: orNull(flag('whether the bank books their sum; null if nobody says it')),
  currency: text('ISO 4217 code'),
  count: whole('number of payments').as('Payments'),
  amount: decimal('their sum, exact').as('Amount', { right: true }).shown(writeMoney),
  scas: whole('how many times the customer must authorise them').as('SCAs'),
});

const problem = object({
  severity: oneOf(['error', 'warning'], 'an error stops the batch; a warning does not').as('Problem', {
    kind: 'state',
  }),
  line: orNull(whole('number of the payment in the file, from 1; null if it is about none alone')).as(
    'Payment',
    {
      right: false,
    },
  ),
  place: text('line of the CSV file, or path of the XML element; empty: the file as a whole, or an option')
    .as('Place')
    .shown(shortPlace),
  fileLine: orNull(whole('line of the file, from 1; null: the file as a whole, or an option')),
  message: text('what is wrong').as('What'),
}).inList('severity line place message');

const shape = object({
  ok: flag('true if there are no errors'),
  file: text('path of the file, as it was given'),
  format: orNull(oneOf(BATCH_FORMATS, 'format of the file; null if psd2 did not recognise it')),
  messageId: orNull(text('MsgId of pain.001; null for CSV')),
  sha256: orNull(text('SHA-256 of the content in canonical form; null if there are errors')),
  lines: whole('number of payments without errors in themselves'),
  count: whole('the same number'),
  scas: whole('how many times the customers must authorise'),
  totals: list(total, 'one for each account, day and product'),
  errors: whole('number of errors'),
  warnings: whole('number of warnings'),
  problems: list(problem, 'what is wrong; at most 10 000'),
  payees: orNull(
    object({
      match: whole('payees whose name belongs to the IBAN'),
      close: whole('payees with almost that name'),
      none: whole('payees with another name'),
      unavailable: whole('payees that could not be checked'),
    }),
  ),
});

/** `psd2 batch check <file>` */
export const check = verb(
  { prints: { what: 'a file of payments, checked', shape }, help: CHECK_NOTE },
  (command) =>
    takingFile(command.argument('<file>', FILE)).option(
      '--payees',
      'also run the payee check (PSD2_PAYEE_CHECK) for all payments',
    ),
  (context, file, options) => keepHeapSmall(() => checkFile(context, file, options)),
);

/** @throws Psd2Error `usage` if there are errors */
async function checkFile(
  context: Context,
  file: string,
  { payees, ...options }: FileOptions & { payees?: true },
): Promise<void> {
  readNote(options.note);
  const how = await examinationOf(context, options);
  const examined = await examineFile(context, file, payees ? payeeCommandOf(context) : undefined, how);
  await printExamined(context, file, examined);
  const { errors } = examined;
  if (errors > 0)
    throw new Psd2Error('usage', `The file ${file} has ${errors} ${errors === 1 ? 'error' : 'errors'}`, {
      hint: 'psd2 has stored and sent nothing. Correct the file and check it again.',
    });
}

/** @throws Psd2Error `usage` if the profile has no payee check */
function payeeCommandOf(context: Context): string {
  const command = context.profile().settings.payeeCheck;
  if (command !== undefined) return command;
  throw new Psd2Error('usage', '--payees needs a payee check', {
    hint: 'Set PSD2_PAYEE_CHECK to the command that checks a name and an IBAN.',
  });
}

/** How many times the customer authorises payments of one account, day and product: each alone, or many at once. */
function scasOf(total: Examined['totals'][number], bulk: BulkTerms | undefined): number {
  const { count } = total;
  return bulk?.takes(total) ? Math.ceil(count / (bulk.maxEntries ?? count)) : count;
}

async function printExamined(context: Context, file: string, examined: Examined): Promise<void> {
  const { output, terminal } = context;
  const { source, sha256, lines, errors, warnings, problems, payees } = examined;
  const { bulk } = await context.bankInterface();
  const totals = examined.totals.map((total) => ({
    ...total,
    batchBooking: total.batchBooking ?? null,
    scas: scasOf(total, bulk),
  }));
  const scas = totals.reduce((sum, total) => sum + total.scas, 0);
  if (output.format !== 'table') {
    output.record(
      {
        ok: errors === 0,
        file,
        format: source?.format ?? null,
        messageId: source?.messageId ?? null,
        sha256,
        lines,
        count: lines,
        scas,
        totals,
        errors,
        warnings,
        problems,
        payees,
      },
      shape,
    );
    return;
  }
  if (problems.length > 0) await output.table(problems, problem, '');
  if (problems.length > 0 && totals.length > 0) output.lines(['']);
  if (totals.length > 0)
    await output.table(totals, total.inList('customer from executionDate instant count amount scas'), '');
  const numbers = {
    payment: lines,
    'authorisation by the customer': scas,
    error: errors,
    warning: warnings,
  };
  const parts = Object.entries(numbers).map(
    ([name, n]) => `${n} ${n === 1 ? name : name.replace(/^\w+/, '$&s')}`,
  );
  terminal.say(`${parts.join(', ')}.${payees ? ` Payees: ${describeCounts(payees)}.` : ''}`);
  if (problems.length < errors + warnings) terminal.say(`These are the first ${problems.length} problems.`);
}
