import { commandOf } from '../../advice.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import type { FailedRead } from '../../store/ports/read-results.ts';
import { flag, list, object, orNull, text, time, type ValueOf, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { readSince } from '../shared/option-values.ts';

/** What a sync could not read, and the command that helps. */
const failedRead = object({
  customerId: text('id of the customer').as('Customer', { whole: true }),
  productId: orNull(text('the account; null if psd2 could not read the list of accounts'))
    .as('Account', { whole: true })
    .written((productId) => productId ?? 'all'),
  code: text('error code of the last failure')
    .as('Why')
    .shown(({ code, message }: Record<'code' | 'message', string>) => `${code}: ${message}`),
  message: text('error message of the last failure'),
  since: time('the first of the failures in a row').as('Since'),
  failures: whole('how many failures there were in a row').as('Times', { whole: true, right: false }),
  lastFailedAt: time('the last failure'),
  lastSuccess: orNull(time('the last read that brought data; null if psd2 knows of none')).as('Last success'),
  readAgain: flag('whether a sync has read it again since').as('Read again', { dispensable: 1 }),
  next: list(text(), 'words of the command that helps')
    .as('Next', { whole: true })
    .written((next) => next.map(quoteForShell).join(' ')),
});

export const failedReads = list(failedRead);

type Row = ValueOf<typeof failedRead>;

/** The store keeps failures for this long. */
export const KEPT_FOR = '30d';

/** Prints what syncs could not read since a time: first what is still failing, the latest failure first. @throws Psd2Error `usage`, `config` */
export async function showFailed(context: Context, since: string): Promise<void> {
  const from = new Date(readSince(since, context.world.now()));
  const { results, lastSyncFolder } = await context.store();
  const folder = lastSyncFolder();
  const described = (await results.failed(from)).map((read) => failedRow(context, read, folder));
  const rows = (await Promise.all(described)).sort(
    (a, b) =>
      Number(a.readAgain) - Number(b.readAgain) ||
      compare(b.lastFailedAt, a.lastFailedAt) ||
      compare(a.customerId, b.customerId) ||
      compare(a.productId ?? '', b.productId ?? ''),
  );
  await context.output.table(rows, failedRead, `No sync has failed since ${from.toISOString()}.`);
}

async function failedRow(context: Context, read: FailedRead, folder: string | undefined): Promise<Row> {
  const { lastReadAt, lastFailedAt, ...rest } = read;
  const help = await helpOf(context, read, folder);
  return {
    ...rest,
    lastFailedAt,
    lastSuccess: lastReadAt,
    readAgain: lastReadAt !== null && lastReadAt >= lastFailedAt,
    next: commandOf(['--customer', read.customerId, ...help], { profile: context.repeated.profile }),
  };
}

/**
 * The command that helps with a failed read, without the customer.
 *
 * @param folder where syncs write, if the store needs a folder
 */
export async function helpOf(
  context: Context,
  { customerId, code, productId }: Pick<FailedRead, 'customerId' | 'code' | 'productId'>,
  folder: string | undefined,
): Promise<string[]> {
  switch (code) {
    case 'not_logged_in':
      return (await lacksConsent(context, customerId)) ? ['consent', 'request'] : ['auth', 'login'];
    case 'sca_required':
      return productId === null ? ['accounts', 'list'] : ['accounts', 'transactions', productId];
    case 'forbidden':
      return ['doctor'];
    default:
      return ['sync', ...(folder === undefined ? [] : ['--out', folder])];
  }
}

/** Whether a login alone lets nobody read: the customer has no consent, or the bank has no login before it. */
async function lacksConsent(context: Context, customerId: string): Promise<boolean> {
  const { customers: named, logsIn } = await context.bankInterface();
  if (named !== 'named by the operator') return false;
  const { customers } = await context.store();
  return logsIn !== 'customers' || ((await customers.read(customerId))?.consents ?? []).length === 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
