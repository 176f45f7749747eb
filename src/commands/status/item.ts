import { withoutCall } from '../../domain/refused-call.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import type { Kind } from '../../store/ports/flows.ts';
import {
  decimal,
  list,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
  type ValueOf,
  whole,
} from '../../terminal/output/fields.ts';
import { waitingFields } from '../flow/fields.ts';

/** The flows that can need a person. */
export const FLOW_KINDS = ['transfer', 'operation', 'consent'] as const satisfies readonly Kind[];

/** Something that needs a person, and the command that helps. */
export const item = object({
  kind: oneOf(
    [...FLOW_KINDS, 'batch', 'login', 'certificate', 'data'],
    'what it is; data: what a sync has stored',
  ).as('What'),
  id: text(
    'local id of a flow; id of a batch; customer of a login or of data; QWAC, QSealC, ...; or the category of a consent',
  ),
  state: text('state of a flow or batch; damaged; ended or ends; refused; stale').as('State', {
    kind: 'state',
  }),
  since: orNull(
    time(
      'when its state last changed, or its end: in the future if it only ends soon; null if it is damaged',
    ),
  ).as('Since', { dispensable: 2 }),
  customerId: orNull(text('its customer; null for a certificate, a batch, and what is damaged')).as(
    'Customer',
    {
      dispensable: 1,
    },
  ),
  amount: orNull(decimal('amount of a transfer; of several payments in one currency, their sum'))
    .as('Amount', { right: true })
    .shown(
      ({ amount, currency }: Record<'amount' | 'currency', string | null>) =>
        amount && `${amount} ${currency}`,
    ),
  currency: orNull(text('ISO 4217 code of the amount')),
  payee: orNull(text('name of the payee of a transfer')).as('To'),
  payments: optional(whole('how many payments of a batch need the same; absent for one flow')),
  message: text('what it is about, in words').as('Why').shown(whyOf),
  ...waitingFields(),
  // Last, and whole, so that it can be copied.
  next: list(text(), 'words of the command that helps')
    .as('Next', { whole: true })
    .written((next) => next.map(shortId).map(quoteForShell).join(' ')),
}).inList('since kind state amount payee customerId message next');

/** The id of a batch is unique by its beginning. */
function shortId(word: string): string {
  return /^[0-9a-f]{64}$/.test(word) ? word.slice(0, 12) : word;
}

/** The payee has a column. */
function whyOf({ payee, message }: { payee: string | null; message: string }): string {
  const why = withoutCall(message);
  return payee !== null && why.startsWith(`to ${payee}`)
    ? why.slice(`to ${payee}`.length).replace(/^[,:] /, '')
    : why;
}

export type Item = ValueOf<typeof item>;

/** Nothing is paid, or psd2 cannot read what. */
export const NO_PAYMENT = { amount: null, currency: null, payee: null } as const;
