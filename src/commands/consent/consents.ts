import { CONSENT_STATES, type Consent, consentEnd, nextConsentStep } from '../../domain/consent.ts';
import { CONSENT_CATEGORIES } from '../../domain/consent-category.ts';
import { standingOf } from '../../domain/flow-states.ts';
import { askOfConsent } from '../../flows/resolve.ts';
import { cleanText } from '../../terminal/clean.ts';
import {
  anything,
  day,
  type Field,
  flag,
  list,
  object,
  objectOf,
  oneOf,
  optional,
  orNull,
  seen,
  text,
  time,
  type View,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { FlowNoun } from '../flow/describe.ts';
import { flowBegins, flowEnds, personsFields } from '../flow/fields.ts';
import { forgetRefusedCall } from '../open/call-records.ts';
import { lackingIn, namesInAccess } from './coverage.ts';

const ACCESS =
  'what the bank says that the customer has granted, in its own words; before that, what was asked for';

const fields = () => ({
  ...flowBegins('consent', CONSENT_STATES, 'Consent'),
  categories: list(
    object({
      name: oneOf(CONSENT_CATEGORIES, 'category of the consent'),
      products: list(text(), 'the ids of their accounts'),
      outcome: orNull(
        flag(
          'true if it is granted (where psd2 confirms consents: if the bank accepts it); null as long as that is open',
        ),
      ),
    }),
    'requested categories',
  )
    .from((consent: Consent) =>
      consent.categories.map((each) => ({ ...each, outcome: consentOutcome(consent, each) })),
    )
    .as('Categories', { whole: true })
    .shown(({ categories }: Consent) => categories.map(writeCategory).join(', ')),
  products: seen(
    'Products',
    ({ categories }: Consent) => [...new Set(categories.flatMap(({ products }) => products))].join(' '),
    { whole: true, dispensable: 2 },
  ),
  granted: seen('Granted', ({ state, updatedAt }: Consent) => (state === 'confirmed' ? updatedAt : null), {
    kind: 'time',
    dispensable: 1,
  }),
  // Only at a bank where the operator chooses the terms.
  consentStatus: optional(orNull(text("the bank's own word for the status")))
    .from(({ terms, bankStatus }: Consent) => (terms ? bankStatus : undefined))
    .as('At the bank', { ifAny: true }),
  validUntil: ofTerms(orNull(day('last day')), ({ validUntil }) => validUntil ?? null),
  frequencyPerDay: ofTerms(
    orNull(whole('readings a day while the customer is absent')),
    ({ frequencyPerDay }) => frequencyPerDay ?? null,
  ),
  recurring: ofTerms(orNull(flag('false for one reading')), ({ recurring }) => recurring ?? null)
    .as('Readings', { ifAny: true })
    .shown(({ terms }: Consent) => terms && writeReadings(terms)),
  ...linkedPersons(),
  access: ofTerms(orNull(anything(ACCESS)), (terms, { access }) => access ?? terms.access ?? null)
    .as('Accounts', { ifAny: true })
    .shown(writeAccounts),
  lacks: ofTerms(
    list(text(), 'what it covers less than was asked for, as far as the bank says it'),
    (_, consent) => lackingIn(consent),
  )
    .as('Lacks', { ifAny: true })
    .shown((consent: Consent) => lackingIn(consent).join(', ') || null),
  messages: ofTerms(list(text(), 'what the bank says to the customer'), (_, { messages }) => messages)
    .as('Bank says', { ifAny: true })
    .shown(({ messages }: Consent) => messages.join(' ') || null),
  card: seen(
    'Card',
    ({ terms }: Consent) => (terms?.access?.type === 'funds' ? terms.access.cardNumber : null),
    { ifAny: true },
  ),
  ...flowEnds(),
});

/** A field that there is if the operator has chosen the terms. */
const ofTerms = <Value>(field: Field<Value>, take: (terms: Terms, consent: Consent) => Value) =>
  optional(field).from((consent: Consent) => (consent.terms ? take(consent.terms, consent) : undefined));

/** Who authorises it, at such a bank. */
const linkedPersons = () => {
  const { authorisations, authorisedBy, refusedBy, waitsFor } = personsFields();
  return {
    authorisations: ofLinked(authorisations),
    authorisedBy: ofLinked(authorisedBy),
    refusedBy: ofLinked(refusedBy),
    waitsFor: ofLinked(waitsFor),
  };
};

function ofLinked<Value>(field: Field<Value, Consent>) {
  const { take, show, title = '', look } = field.parts;
  const there = optional(field).from((consent: Consent) => (consent.terms ? take?.(consent) : undefined));
  return show
    ? there.as(title, look).shown((consent: Consent, writeTime) => show(consent, writeTime))
    : there;
}

type Terms = NonNullable<Consent['terms']>;

const form = objectOf<Consent>()(fields);

/** A consent in the list, with its end. */
const listed = objectOf<Consent & { now: Date }>()(() => ({
  ...fields(),
  expiresAt: orNull(time('when the bank may ask for SCA again; null if the consent is not confirmed'))
    .from((consent: Consent & { now: Date }) => consentEnd(consent, consent.now)?.expiresAt ?? null)
    .as('Good until')
    // The day at the bank, as its pages and psd2 smoke say it: a time would be one of the operator's zone.
    .shown((consent: Consent & { now: Date }) => consentEnd(consent, consent.now)?.lastDay ?? null),
  daysLeft: orNull(whole('days until then, including the last one; 0 after the end'))
    .from((consent: Consent & { now: Date }) => consentEnd(consent, consent.now)?.daysLeft ?? null)
    .as('Days left')
    .written((days) => (days === 0 ? 'over' : days?.toString())),
})).inList('flow state categories products granted daysLeft customerId');

/** One consent, with a line for each category. */
function consentRecord(consent: Consent, now: Date): View<Consent> {
  const { lines } = listed.inRecord(
    'flow state customerId consentStatus authorisedBy refusedBy waitsFor access lacks messages card recurring resolution expiresAt resourceId transactionId',
  );
  const end = consentEnd(consent, now);
  const own = lines.map((line) => ({
    ...line,
    value: (of: Consent, ...rest: [(time: string) => string]) => line.value({ ...of, now }, ...rest),
  }));
  const categories = consent.categories.map(({ name, outcome, products }) => ({
    title: name,
    value: () =>
      [
        writeOutcome(consent, outcome, end?.daysLeft),
        ...(products.length > 0 ? ['for', ...products] : []),
      ].join(' '),
  }));
  return { data: form.data, names: form.names, columns: [], lines: own.toSpliced(3, 0, ...categories) };
}

/** Consents, as their verbs show them. */
export const CONSENTS: FlowNoun<'consent'> = {
  kind: 'consent',
  one: 'a consent',
  example: 'co-0mwq9zif7',
  form,
  listed,
  record: consentRecord,
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
confirms nothing at the bank. First end every psd2 process that still works on the consent, also one suspended with Ctrl-Z.`,
    resolveExamples: [
      'psd2 consent resolve co-0mwq9zif7 --executed --note "psd2 accounts balance works"',
      'psd2 consent resolve co-0mwq9zif7 --not-executed --yes',
    ],
  },
};

/** Warns that a granted consent covers less than was asked for. */
export function warnOfLess({ terminal }: Pick<Context, 'terminal'>, consent: Consent): void {
  const lacking = lackingIn(consent);
  if (lacking.length > 0)
    terminal.warn(cleanText(`The consent covers less than was asked for. It lacks: ${lacking.join(', ')}.`));
}

/** The accounts that the bank has granted, or that the operator asks for. */
function writeAccounts({ terms, access, grantedAt }: Consent): string | null {
  const named = grantedAt === null || !terms ? [] : namesInAccess(access);
  if (named.length > 0) return named.join(' ');
  return terms?.access ? writeAccess(terms.access) : null;
}

function writeReadings({ frequencyPerDay, recurring }: Terms): string | null {
  if (recurring === false) return 'one';
  return frequencyPerDay === undefined ? null : `${frequencyPerDay} a day without the customer`;
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

/**
 * Whether the bank has granted a category. Where the customer's SCA alone grants a consent, the bank's answer to the request accepts
 * nothing yet: null, as long as it waits.
 */
export function consentOutcome(
  { terms, ...consent }: Consent,
  { outcome }: { outcome: boolean | null },
): boolean | null {
  if (terms === null || outcome !== true) return outcome;
  const standing = standingOf(consent);
  return standing === 'done' ? true : standing === 'refused' ? false : null;
}

/** Writes a category, and says if the bank did not grant it. */
function writeCategory({ name, outcome }: Consent['categories'][number]): string {
  return outcome === false ? `${name} (not granted)` : name;
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
    case 'kept':
      return `not granted (${consent.state})`;
  }
}
