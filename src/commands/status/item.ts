import type { Kind } from '../../store/ports/flows.ts';
import {
  decimal,
  list,
  object,
  oneOf,
  orNull,
  text,
  time,
  type ValueOf,
} from '../../terminal/output/fields.ts';
import { waitingFields } from '../flow/fields.ts';

/** The flows that can need a person. */
export const FLOW_KINDS = ['transfer', 'operation', 'consent'] as const satisfies readonly Kind[];

/** Something that needs a person, and the command that helps. */
export const item = object({
  kind: oneOf(
    [...FLOW_KINDS, 'batch', 'login', 'certificate', 'data'],
    'what it is; data: what a sync has stored',
  ),
  id: text(
    'local id of a flow; id of a batch; customer of a login or of data; QWAC, QSealC, ...; or the category of a consent',
  ),
  state: text('state of a flow or batch; damaged; ended or ends; refused; stale'),
  since: orNull(
    time(
      'when its state last changed, or its end: in the future if it only ends soon; null if it is damaged',
    ),
  ),
  customerId: orNull(text('its customer; null for a certificate, a batch, and what is damaged')),
  amount: orNull(decimal('amount of a transfer; of a batch in one currency, its total')),
  currency: orNull(text('ISO 4217 code of the amount')),
  payee: orNull(text('name of the payee of a transfer')),
  message: text('what it is about, in words'),
  ...waitingFields(),
  next: list(text(), 'words of the command that helps'),
});

export type Item = ValueOf<typeof item>;

/** Nothing is paid, or psd2 cannot read what. */
export const NO_PAYMENT = { amount: null, currency: null, payee: null } as const;
