import { type Consent, consentEnd } from '../../domain/consent.ts';
import { standingOf } from '../../domain/flow-states.ts';
import type { Column } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { flowData } from '../flow/flow-data.ts';
import { resolutionField } from '../flow/resolution-field.ts';
import { consent as consentShape } from './shape.ts';

/** A consent in the list, with its end. */
type ListedConsent = ReturnType<typeof toListedConsent>;

/** A row of `psd2 consent list`. */
export const CONSENT_COLUMNS: Column<ListedConsent>[] = [
  { title: 'FLOW', value: ({ flow }) => flow, whole: true },
  { title: 'STATE', value: ({ state }) => state, kind: 'state' },
  { title: 'CATEGORIES', value: ({ categories }) => categories.map(writeCategory).join(', '), whole: true },
  {
    title: 'PRODUCTS',
    value: ({ categories }) => [...new Set(categories.flatMap(({ products }) => products))].join(' '),
    whole: true,
    dispensable: 2,
  },
  {
    title: 'GRANTED',
    value: ({ expiresAt, updatedAt }) => expiresAt && updatedAt,
    kind: 'time',
    dispensable: 1,
  },
  {
    title: 'DAYS LEFT',
    value: ({ daysLeft }) => (daysLeft === 0 ? 'over' : daysLeft?.toString()),
    right: true,
  },
  { title: 'CUSTOMER', value: ({ customerId }) => customerId, whole: true, dispensable: 3 },
];

/** Writes a category, and says if the bank did not grant it. */
function writeCategory({ name, outcome }: Consent['categories'][number]): string {
  return outcome === false ? `${name} (not granted)` : name;
}

/** A consent in the shape of the command contract. */
function toConsentData(consent: Consent) {
  const { customerId, resourceId, categories, resolution, createdAt, updatedAt } = consent;
  return { ...flowData(consent, customerId, resourceId), categories, resolution, createdAt, updatedAt };
}

/** A consent in `psd2 consent list`. */
export function toListedConsent(consent: Consent, now: Date) {
  const end = consentEnd(consent, now);
  return { ...toConsentData(consent), expiresAt: end?.expiresAt ?? null, daysLeft: end?.daysLeft ?? null };
}

/** Describes the consent for a question about it. */
export function describeConsent({ categories }: Consent): [title: string, value: string][] {
  return categories.map(({ name, products }) => [name, products.join(' ')]);
}

/** Writes an outcome. A consent is granted only after confirm: before that, the bank has only accepted the request. */
function writeOutcome(consent: Consent, outcome: boolean | null, daysLeft: number | undefined): string {
  if (outcome === null) return 'not answered';
  if (!outcome) return 'not granted';
  switch (standingOf(consent)) {
    case 'open':
      return 'not granted yet';
    case 'sent':
      return 'not known to be granted';
    case 'done':
      return daysLeft === 0 ? 'granted, but expired,' : 'granted';
    case 'refused':
      return `not granted (${consent.state})`;
  }
}

/** Prints a consent in the shape of the command contract. */
export function printConsent({ output, world }: Context, consent: Consent): void {
  const end = consentEnd(consent, world.now());
  output.record(
    toConsentData(consent),
    [
      { title: 'Consent', value: ({ flow }) => flow },
      { title: 'State', value: ({ state }) => state, kind: 'state' },
      { title: 'Customer', value: ({ customerId }) => customerId },
      ...consent.categories.map(({ name, outcome, products }) => ({
        title: name,
        value: () => `${writeOutcome(consent, outcome, end?.daysLeft)} for ${products.join(' ')}`,
      })),
      resolutionField,
      { title: 'Good until', value: () => end?.expiresAt, kind: 'time' },
      { title: 'Resource', value: ({ resourceId }) => resourceId },
      { title: 'Transaction', value: ({ transactionId }) => transactionId },
    ],
    consentShape,
  );
}
