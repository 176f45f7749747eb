import { type Consent, type ConsentState, consentEnd, nextConsentStep } from '../../domain/consent.ts';
import { CONSENT_CATEGORIES } from '../../domain/consent-category.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { askOfConsent } from '../../flows/resolve.ts';
import {
  anything,
  day,
  flag,
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
import type { Context } from '../context.ts';
import type { FlowNoun } from '../flow/describe.ts';
import {
  authorisationsField,
  authorisedBy,
  flowBegins,
  flowData,
  flowEnds,
  resolutionField,
} from '../flow/fields.ts';
import { forgetRefusedCall } from '../open/call-records.ts';
import { namesInAccess } from './coverage.ts';

const STATES = [
  ...(['created', 'requested', 'authorizing', 'confirming', 'confirmed'] as const),
  ...(['failed', 'rejected', 'expired', 'cancelled', 'revoked', 'unknown'] as const),
] satisfies ConsentState[];

const ACCESS =
  'what the bank says that the customer has granted, in its own words; before that, what was asked for';

const consent = object({
  ...flowBegins('consent', STATES),
  categories: list(
    object({
      name: oneOf(CONSENT_CATEGORIES, 'category of the consent'),
      products: list(text(), 'the ids of their accounts'),
      outcome: orNull(flag('true if the bank accepts it; null until the bank has answered')),
    }),
    'requested categories',
  ),
  // Only at a bank where the operator chooses the terms.
  consentStatus: optional(orNull(text("the bank's own word for the status"))),
  validUntil: optional(orNull(day('last day'))),
  frequencyPerDay: optional(orNull(whole('readings a day while the customer is absent'))),
  recurring: optional(orNull(flag('false for one reading'))),
  authorisations: optional(authorisationsField),
  access: optional(orNull(anything(ACCESS))),
  ...flowEnds(),
});

/** A consent in the list, with its end. */
const listedConsent = object({
  ...consent.fields,
  expiresAt: orNull(time('when the bank may ask for SCA again; null if the consent is not confirmed')),
  daysLeft: orNull(whole('days until then, including the last one; 0 after the end')),
});

/** Consents, as their verbs show them. */
export const CONSENTS: FlowNoun<'consent'> = {
  kind: 'consent',
  one: 'a consent',
  example: 'co-0mwq9zif7',
  prints: { what: 'a consent', shape: consent },
  print: printConsent,
  columns: (now) => [
    { title: 'FLOW', value: ({ flow }) => flow, whole: true },
    { title: 'STATE', value: ({ state }) => state, kind: 'state' },
    {
      title: 'CATEGORIES',
      value: ({ categories }) => categories.map(writeCategory).join(', '),
      whole: true,
    },
    {
      title: 'PRODUCTS',
      value: ({ categories }) => [...new Set(categories.flatMap(({ products }) => products))].join(' '),
      whole: true,
      dispensable: 2,
    },
    {
      title: 'GRANTED',
      value: ({ state, updatedAt }) => (state === 'confirmed' ? updatedAt : null),
      kind: 'time',
      dispensable: 1,
    },
    { title: 'DAYS LEFT', value: (flow) => writeDaysLeft(consentEnd(flow, now)?.daysLeft), right: true },
    { title: 'CUSTOMER', value: ({ customerId }) => customerId, whole: true, dispensable: 3 },
  ],
  row(flow, now): ValueOf<typeof listedConsent> {
    const end = consentEnd(flow, now);
    return { ...toData(flow), expiresAt: end?.expiresAt ?? null, daysLeft: end?.daysLeft ?? null };
  },
  rows: list(listedConsent),
  describe: ({ categories }) => categories.map(({ name, products }) => [name, products.join(' ')]),
  inShort: ({ categories }) => categories.map(({ name }) => name).join(', '),
  referenceOf: () => null,
  async tidy(context, { state, customerId }) {
    if (state === 'confirmed') await forgetRefusedCall(context, customerId);
  },
  sent: 'confirm',
  leftAtBank: ({ flow, terms, resourceId }) =>
    terms === null || resourceId === null
      ? undefined
      : {
          why: 'The customer can still grant it at the bank. psd2 does not use it. End it there with:',
          end: ['consent', 'delete', flow],
        },
  done: 'confirmed',
  isUnknown: (flow) => flow.refusedUnconfirmed || nextConsentStep(flow) === 'ask-outcome',
  isEnded: (flow) => nextConsentStep(flow) === 'done',
  askBank: (bank, flow) => askOfConsent(bank, flow),
  help: {
    list: ['psd2 consent list', "psd2 consent list --json | jq -r '.[0].state'"],
    executed: "the bank has confirmed it: you can read the accounts, or the bank's support says so",
    notExecuted: 'the bank has not confirmed it and never will',
    resolve: `For a consent in state unknown or confirming. The command first asks the bank again. If the bank's answer decides, that
answer counts. Otherwise the command shows the consent, asks you to confirm, and records who decided what, when and why. It
confirms nothing at the bank. First end every psd2 that still works on the consent, also one that Ctrl-Z stopped.`,
    resolveExamples: [
      'psd2 consent resolve co-0mwq9zif7 --executed --note "psd2 accounts balance works"',
      'psd2 consent resolve co-0mwq9zif7 --not-executed --yes',
    ],
  },
};

/** A consent in the shape of the command contract. */
function toData(flow: Consent) {
  const { customerId, resourceId, categories, resolution, createdAt, updatedAt } = flow;
  return {
    ...flowData(flow, customerId, resourceId),
    categories,
    ...(flow.terms && {
      consentStatus: flow.bankStatus,
      validUntil: flow.terms.validUntil ?? null,
      frequencyPerDay: flow.terms.frequencyPerDay ?? null,
      recurring: flow.terms.recurring ?? null,
      authorisations: [...flow.authorisations],
      access: flow.access ?? flow.terms.access ?? null,
    }),
    resolution,
    createdAt,
    updatedAt,
  };
}

/** Prints a consent in the shape of the command contract. */
function printConsent({ output, world }: Context, flow: Consent): void {
  const end = consentEnd(flow, world.now());
  output.record(
    toData(flow),
    [
      { title: 'Consent', value: (data) => data.flow },
      { title: 'State', value: ({ state }) => state, kind: 'state' },
      { title: 'Customer', value: ({ customerId }) => customerId },
      ...flow.categories.map(({ name, outcome, products }) => ({
        title: name,
        value: () =>
          [
            writeOutcome(flow, outcome, end?.daysLeft),
            ...(products.length > 0 ? ['for', ...products] : []),
          ].join(' '),
      })),
      ...termsFields(flow),
      resolutionField,
      { title: 'Good until', value: () => end?.expiresAt, kind: 'time' },
      { title: 'Resource', value: ({ resourceId }) => resourceId },
      { title: 'Transaction', value: ({ transactionId }) => transactionId },
    ],
    consent,
  );
}

/** What the operator chose, and the bank's word for the status. */
function termsFields({
  terms,
  access: granted,
  bankStatus,
  grantedAt,
  authorisations,
}: Consent): { title: string; value: () => string | null }[] {
  if (!terms) return [];
  const { access, frequencyPerDay, recurring } = terms;
  const named = grantedAt === null ? [] : namesInAccess(granted);
  const readings = frequencyPerDay === undefined ? null : `${frequencyPerDay} a day without the customer`;
  return [
    { title: 'At the bank', value: () => bankStatus },
    ...authorisedBy(authorisations),
    {
      title: 'Accounts',
      value: () => (named.length > 0 ? named.join(' ') : access ? writeAccess(access) : null),
    },
    ...(access?.type === 'funds' && access.cardNumber !== undefined
      ? [{ title: 'Card', value: () => access.cardNumber ?? null }]
      : []),
    { title: 'Readings', value: () => (recurring === false ? 'one' : readings) },
  ];
}

function writeAccess(access: NonNullable<NonNullable<Consent['terms']>['access']>): string {
  switch (access.type) {
    case 'dedicated':
      return access.accounts.join(' ');
    case 'bank-offered':
      return 'those that the customer chooses';
    case 'all-accounts':
      return 'all';
    case 'list-only':
      return 'the list alone';
    case 'list-with-balances':
      return 'the list alone, with balances';
    case 'funds':
      return access.account;
  }
}

/** Writes a category, and says if the bank did not grant it. */
function writeCategory({ name, outcome }: Consent['categories'][number]): string {
  return outcome === false ? `${name} (not granted)` : name;
}

function writeDaysLeft(days: number | undefined): string | undefined {
  return days === 0 ? 'over' : days?.toString();
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
