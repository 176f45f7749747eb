import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import type { Column } from '../../terminal/output/fields.ts';
import { list, object, oneOf, orNull, text, type ValueOf, whole } from '../../terminal/output/fields.ts';
import { linesAs } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { notifyOfUnknown } from '../flow/notify-unknown.ts';
import { describeElsewhere } from '../open/other-logins.ts';
import { itemsOf } from './attention.ts';
import { type Item, item } from './item.ts';

const shape = object({
  profile: text('profile that this is about'),
  environment: orNull(oneOf(['production', 'sandbox'], 'whether real money moves; null if it is not set')),
  interface: text("interface of the profile's bank"),
  store: oneOf(['files', 'postgres'], 'kind of store'),
  customers: whole('customers with a login or a record'),
  attention: list(item, 'what needs a person; payments first'),
});

type Status = ValueOf<typeof shape>;

/** More than a person reads at once. `--json` has all. */
const MAX_SHOWN = 30;

/** `psd2 status`: what the profile is, and what needs a person (operations page, "One look"). */
export const status = bareVerb(
  { what: 'what needs a person', shape },
  `
It shows the profile, and what needs a person, each with the command that helps: payments and consents that are unfinished,
that are unknown, or that are executed and not settled; batches that wait for an approval; flows and batches that psd2 cannot
read; logins and consents that have ended, or that the bank refuses; certificates that end within 14 days; and customers whose
synced data is older than the profile allows (psd2 profile set --stale-after, default 2d). Flows that a running psd2 works on
are left out. It makes no call to the bank.

The exit code is 0 if nothing needs a person, and 12 if something does. So one line in cron or in a monitor is enough.
${examples('psd2 status', "psd2 status --json | jq -r '.attention[] | [.kind, .id, .state] | @tsv'")}`,
  showStatus,
);

/** @throws Psd2Error `needs_attention` if anything needs a person */
async function showStatus(context: Context): Promise<void> {
  const { output } = context;
  // The profile first: without one, nothing else makes sense.
  const { name, settings } = context.profile();
  const store = await context.wholeStore();
  const { tokens, customers } = await context.store('');
  const logins = await tokens.logins();
  const known = new Set([...logins.map(({ customerId }) => customerId), ...(await customers.list())]);
  const attention = await itemsOf(context, logins);
  if (known.size === 0) await warnOfElsewhere(context);
  await notifyOfUnknown(context);
  const found: Status = {
    profile: name,
    environment: settings.environment ?? null,
    interface: (await context.bankInterface()).name,
    store: store.home,
    customers: known.size,
    attention,
  };
  const count = attention.length;
  const headline = count === 1 ? '1 thing needs a person' : `${count} things need a person`;
  if (output.format !== 'table' || !context.stdoutIsTerminal)
    output.record(found, columnsOf(found, store.place), shape, 'titles');
  else await printForPeople(context, found, count === 0 ? 'Nothing needs a person' : headline, store.place);
  if (count > 0) throw new Psd2Error('needs_attention', headline);
}

/** For a pipe, for example to a mail: each thing that needs a person has a line. */
function columnsOf({ attention }: Status, place: string): Column<Status>[] {
  const lines = attention.map(({ kind, id, state, since, amount, currency, message, customerId, next }) => {
    const money = amount === null ? '' : `${amount} ${currency} `;
    const customer = customerId === null ? '' : `, customer ${customerId}`;
    const when = since === null ? '' : ` ${state === 'ends' ? 'at' : 'since'} ${since}`;
    return `${kind} ${id} ${state}${when}, ${money}${message}${customer}: ${next.map(quoteForShell).join(' ')}`;
  });
  return [
    { title: 'Profile', value: ({ profile }) => profile },
    { title: 'Environment', value: ({ environment }) => environment },
    { title: 'Interface', value: (each) => each.interface },
    { title: 'Store', value: () => place.replace(/^in /, '') },
    { title: 'Customers', value: ({ customers: count }) => String(count) },
    ...linesAs('Attention', lines.length === 0 ? ['nothing'] : lines, false),
  ];
}

/** The id of a batch is unique by its beginning. */
function shortId(word: string): string {
  return /^[0-9a-f]{64}$/.test(word) ? word.slice(0, 12) : word;
}

/** What needs a person, then the profile. */
async function printForPeople(
  { output, terminal }: Context,
  { profile, environment, interface: named, customers, attention }: Status,
  headline: string,
  place: string,
): Promise<void> {
  const facts = [environment, named, `${customers} ${customers === 1 ? 'customer' : 'customers'}`, place];
  output.lines([`${headline}.`, `Profile ${profile}: ${facts.filter(Boolean).join(', ')}.`]);
  if (attention.length === 0) return;
  output.text('');
  await output.table(attention.slice(0, MAX_SHOWN), COLUMNS, '');
  const more = attention.length - MAX_SHOWN;
  if (more > 0) terminal.say(`And ${more} more: psd2 status --json has all.`);
}

/** The call that the bank refused: what it said of it comes after. */
const CALL = /The bank refused \S+ \S+ \(HTTP \d+\): /;

/** The payee has a column. */
function whyOf({ payee, message }: Item): string {
  const why = message.replace(CALL, '');
  return payee !== null && why.startsWith(`to ${payee}`)
    ? why.slice(`to ${payee}`.length).replace(/^[,:] /, '')
    : why;
}

const COLUMNS: Column<Item>[] = [
  { title: 'SINCE', value: ({ since }) => since, kind: 'time', dispensable: 2 },
  { title: 'WHAT', value: ({ kind }) => kind },
  { title: 'STATE', value: ({ state }) => state, kind: 'state' },
  {
    title: 'AMOUNT',
    value: ({ amount, currency }) => amount && `${amount} ${currency}`,
    right: true,
  },
  { title: 'TO', value: ({ payee }) => payee },
  { title: 'CUSTOMER', value: ({ customerId }) => customerId, dispensable: 1 },
  { title: 'WHY', value: whyOf },
  // Last, and whole, so that it can be copied.
  { title: 'NEXT', value: ({ next }) => next.map(shortId).map(quoteForShell).join(' '), whole: true },
];

/**
 * Nobody can use the profile if all that it has belongs to other base URLs. That is no item: nobody knows since when, and nothing is
 * wrong if the operator has only begun at another bank. A sync that cannot read says so, and its data becomes stale.
 */
async function warnOfElsewhere(context: Context): Promise<void> {
  const store = await context.store();
  const elsewhere = await describeElsewhere(store);
  if (elsewhere === undefined) return;
  context.terminal.warn(`${elsewhere}. If the same bank has a new address, psd2 auth move takes them along.`);
}
