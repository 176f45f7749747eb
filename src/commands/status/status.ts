import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import { cleanText } from '../../terminal/clean.ts';
import { type Column, linesAs } from '../../terminal/output/output.ts';
import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { notifyOfUnknown } from '../flow/notify-unknown.ts';
import { describeElsewhere } from '../open/other-logins.ts';
import { list, oneOf, orNull, text, whole } from '../shared/fields.ts';
import { itemsOf } from './attention.ts';
import { type Item, item } from './item.ts';

const shape = () =>
  z.object({
    profile: text('profile that this is about'),
    environment: orNull(oneOf(['production', 'sandbox'], 'whether real money moves; null if it is not set')),
    interface: text("interface of the profile's bank"),
    store: oneOf(['files', 'postgres'], 'kind of store'),
    customers: whole('customers with a login or a record'),
    attention: list(item(), 'what needs a person; payments first'),
  });

type Status = Printed<typeof shape>;

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
  const { output, terminal } = context;
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
  const columns: Column<Status>[] = [
    { title: 'Profile', value: ({ profile }) => profile },
    { title: 'Environment', value: ({ environment }) => environment },
    { title: 'Interface', value: (each) => each.interface },
    { title: 'Store', value: () => store.place.replace(/^in /, '') },
    { title: 'Customers', value: ({ customers: count }) => String(count) },
    ...linesAs('Attention', writeItems(attention, terminal.writeTime), context.stdoutIsTerminal),
  ];
  output.record(found, columns, shape);
  if (attention.length === 0) return;
  const count = attention.length;
  throw new Psd2Error(
    'needs_attention',
    `${count === 1 ? '1 thing needs' : `${count} things need`} a person`,
  );
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

/** At least one line. */
function writeItems(items: readonly Item[], writeTime: (time: string) => string): string[] {
  if (items.length === 0) return ['nothing'];
  const lines = items.slice(0, MAX_SHOWN).map((each) => cleanText(writeItem(each, writeTime)));
  const more = items.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more: psd2 status --json has all`] : [])];
}

/** `transfer tr-… unknown since 21 Nov 10:00, 12.50 EUR to Ada Lovelace, customer 1048262: psd2 transfer resume tr-…` */
function writeItem(each: Item, writeTime: (time: string) => string): string {
  const amount = each.amount === null ? '' : `${each.amount} ${each.currency} `;
  const customer = each.customerId === null ? '' : `, customer ${each.customerId}`;
  const when =
    each.since === null ? '' : ` ${each.state === 'ends' ? 'at' : 'since'} ${writeTime(each.since)}`;
  const command = each.next.map(quoteForShell).join(' ');
  return `${each.kind} ${each.id} ${each.state}${when}, ${amount}${each.message}${customer}: ${command}`;
}
