import { Psd2Error } from '../../errors.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { describeOtherLogins } from '../open/other-logins.ts';
import { allEndings, DAY_MS, type Ending, endingBefore } from './endings.ts';
import { notify } from './notify.ts';
import { endings as endingsShape } from './shape.ts';

const COLUMNS: Column<Ending>[] = [
  { title: 'ENDS', value: ({ endsAt }) => endsAt, kind: 'time' },
  { title: 'KIND', value: ({ kind }) => kind, whole: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'CUSTOMER', value: ({ customerId }) => customerId, whole: true, dispensable: 1 },
  { title: 'RENEW WITH', value: ({ next }) => next.join(' ') },
];

/**
 * `psd2 expiring`: certificates, logins and consents that end soon, soonest first, each with the command that renews it.
 *
 * @throws Psd2Error `ends_soon` if there are any
 */
export async function expiring(context: Context, options: { within: string }): Promise<void> {
  const days = parseDays(options.within);
  const all = await allEndings(context);
  const soon = endingBefore(all, new Date(context.world.now().getTime() + days * DAY_MS));
  await notify(context, soon, all);
  if (!all.some(({ kind }) => kind === 'login')) {
    const elsewhere = await describeOtherLogins((await context.store()).tokens);
    if (elsewhere !== undefined) context.terminal.warn(`${elsewhere}. psd2 expiring leaves them out.`);
  }
  const span = `${days} day${days === 1 ? '' : 's'}`;
  await context.output.table(soon, COLUMNS, `Nothing ends within ${span}.`, endingsShape);
  const [first] = soon;
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

/** @throws Psd2Error `usage` */
function parseDays(text: string): number {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (days !== undefined) return Number(days);
  throw new Psd2Error('usage', `--within ${JSON.stringify(text)} is not a number of days`, {
    hint: 'For example --within 14d.',
  });
}
