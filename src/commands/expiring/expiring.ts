import { Psd2Error } from '../../errors.ts';
import { list } from '../../terminal/output/fields.ts';
import { allEndings, type Ending, ending, endingWithin } from '../checks/endings.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { warnOfDamaged } from '../flow/list.ts';
import { describeElsewhere } from '../open/other-logins.ts';
import { notifyOnce } from '../shared/notify-once.ts';
import { readDays } from '../shared/option-values.ts';

/** `psd2 expiring`: certificates, logins and consents that end soon, soonest first, each with the command that renews it. */
export const expiring = verb(
  {
    prints: { what: 'what ends soon', shape: list(ending) },
    help: `
The list has the certificates of the profile, the logins of all its customers, and the consents of customers who are logged
in (a consent ends 180 days after its confirmation). The exit code is 0 if nothing ends within that time, and 12 if something
does.

PSD2_NOTIFY names a command that gets each item as JSON on its standard input: once, and again if its end changes. psd2
splits the command as a shell splits words, and runs it without a shell. It also gets failed rounds of psd2 sync, and payments
whose outcome is not known.

${examples('psd2 expiring', 'psd2 expiring --within 30d --json', 'PSD2_NOTIFY="mail-me --to ops" psd2 expiring').trimStart()}`,
  },
  (command) => command.option('--within <days>', 'how many days or weeks to look ahead: 14d, 2w', '14d'),
  (context, options) => listEndings(context, options),
);

/** @throws Psd2Error `ends_soon` if anything ends soon, or `config` if nothing does but a consent is damaged */
async function listEndings(context: Context, options: { within: string }): Promise<void> {
  const days = readDays('--within', options.within);
  const damages: Psd2Error[] = [];
  const all = await allEndings(context, (damage, flow) => {
    warnOfDamaged(context)(damage, flow);
    damages.push(damage);
  });
  const soon = endingWithin(all, context.world.now(), days);
  await notify(context, soon, all);
  if (!all.some(({ kind }) => kind === 'login')) {
    const elsewhere = await describeElsewhere(await context.store());
    if (elsewhere !== undefined) context.terminal.warn(`${elsewhere}. psd2 expiring leaves them out.`);
  }
  const span = `${days} day${days === 1 ? '' : 's'}`;
  await context.output.table(soon, ending, `Nothing ends within ${span}.`);
  const [first] = soon;
  // Nobody knows whether a damaged consent ends.
  if (!first && damages[0]) throw damages[0];
  if (!first) return;
  throw new Psd2Error(
    'ends_soon',
    `${soon.length} of ${all.length} certificates, logins and consents end within ${span}`,
    {
      hint: 'Renew the first one with:',
      // `next` leaves out psd2, the first word.
      next: [first.next.slice(1)],
    },
  );
}

/**
 * Gives each ending to the operator's command: once, and again if its end changes.
 *
 * @param all everything that ends, also later. psd2 forgets what is no longer in it
 */
export async function notify(
  context: Context,
  soon: readonly Ending[],
  all: readonly Ending[],
): Promise<void> {
  const keys = new Set(all.map(endingKey));
  const notifications = soon.map((ending) => ({
    key: endingKey(ending),
    version: ending.endsAt,
    content: ending,
  }));
  await notifyOnce(
    context,
    notifications,
    (key) => KINDS.some((kind) => key.startsWith(`${kind} `)) && !keys.has(key),
  );
}

const KINDS: readonly Ending['kind'][] = ['certificate', 'login', 'consent'];

/** What identifies an ending. Consents for different accounts are different ones. */
function endingKey({ kind, name, customerId, next }: Ending): string {
  const what =
    kind === 'consent'
      ? next.filter((word, at) => TOLD_APART.has(word) || NAMED_BY.has(next[at - 1] ?? ''))
      : [];
  return [kind, name, customerId ?? '', ...what].join(' ');
}

/** The options whose values tell one consent of a customer from another, and those that do so without a value. */
const NAMED_BY: ReadonlySet<string> = new Set(['--account']);
const TOLD_APART: ReadonlySet<string> = new Set([
  '--balances',
  '--transactions',
  '--all-accounts',
  '--list-only',
]);
