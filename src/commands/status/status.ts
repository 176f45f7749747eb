import { interfaceInWords } from '../../domain/interface-name.ts';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import { fitLine } from '../../terminal/cells.ts';
import { list, objectOf, oneOf, orNull, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { notifyOfUnknown } from '../flow/notify-unknown.ts';
import { describeElsewhere } from '../open/other-logins.ts';
import { itemsOf } from './attention.ts';
import { type Item, item } from './item.ts';

interface Found {
  profile: string;
  environment: 'production' | 'sandbox' | null;
  interface: string;
  home: 'files' | 'postgres';
  place: string;
  customers: number;
  attention: Item[];
}

const shape = objectOf<Found>()(() => ({
  profile: text('profile that this is about').as('Profile'),
  environment: orNull(oneOf(['production', 'sandbox'], 'whether real money moves; null if it is not set')).as(
    'Environment',
  ),
  interface: text("interface of the profile's bank")
    .as('Interface')
    .shown(({ interface: name }: Found) => interfaceInWords(name)),
  store: oneOf(['files', 'postgres'], 'kind of store')
    .from(({ home }: Found) => home)
    .as('Store')
    .shown(({ place }: Found) => place.replace(/^in /, '')),
  customers: whole('customers with a login or a record').as('Customers'),
  // For a pipe, for example to a mail: each thing that needs a person has a line.
  attention: list(item, 'what needs a person; payments first')
    .as('Attention')
    .written((items) => (items.length === 0 ? 'nothing' : items.map(inOneLine))),
}));

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
  showAttention,
);

/** @throws Psd2Error `needs_attention` if anything needs a person */
async function showAttention(context: Context): Promise<void> {
  const { output } = context;
  // The profile first: without one, nothing else makes sense.
  const { name, settings } = context.profile();
  const store = await context.wholeStore();
  const { tokens, customers } = await context.store('');
  const logins = await tokens.logins();
  const customerIds = new Set([...logins.map(({ customerId }) => customerId), ...(await customers.list())]);
  const attention = await itemsOf(context, logins);
  if (customerIds.size === 0) await warnOfElsewhere(context);
  await notifyOfUnknown(context);
  const report: Found = {
    profile: name,
    environment: settings.environment ?? null,
    interface: (await context.bankInterface()).name,
    home: store.home,
    place: store.place,
    customers: customerIds.size,
    attention,
  };
  const count = attention.length;
  const [nobody, one] = ['Nothing needs a person', '1 thing needs a person'];
  const headline = count === 0 ? nobody : count === 1 ? one : `${count} things need a person`;
  if (output.format !== 'table' || !context.stdoutIsTerminal) output.record(report, shape, 'titles');
  else await printForPeople(context, report, headline);
  if (count > 0) throw new Psd2Error('needs_attention', headline);
}

function inOneLine(thing: Item): string {
  const { kind, id, state, since, amount, currency, message, customerId, next } = thing;
  const money = amount === null ? '' : `${amount} ${currency} `;
  const customer = customerId === null ? '' : `, customer ${customerId}`;
  const when = since === null ? '' : ` ${state === 'ends' ? 'at' : 'since'} ${since}`;
  return `${kind} ${id} ${state}${when}, ${money}${message}${customer}: ${next.map(quoteForShell).join(' ')}`;
}

/** The profile, then what needs a person. How much that is stands above, unless the error says so on the same terminal. */
async function printForPeople(
  { output, terminal, isForPerson, stdoutColumns }: Context,
  { profile, environment, interface: named, customers, attention, place }: Found,
  headline: string,
): Promise<void> {
  const facts = [
    environment,
    interfaceInWords(named),
    `${customers} ${customers === 1 ? 'customer' : 'customers'}`,
    place,
  ];
  const isSaidBelow = isForPerson && attention.length > 0;
  output.lines([
    ...(isSaidBelow ? [] : [`${headline}.`]),
    ...fitLine(`Profile ${profile}: ${facts.filter(Boolean).join(', ')}.`, stdoutColumns).split('\n'),
  ]);
  if (attention.length === 0) return;
  output.text('');
  await output.table(attention.slice(0, MAX_SHOWN), item, '');
  const more = attention.length - MAX_SHOWN;
  if (more > 0) terminal.say(`And ${more} more: psd2 status --json has all.`);
}

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
