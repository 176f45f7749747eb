import type { X509Certificate } from 'node:crypto';
import { ACCESS } from '../../advice.ts';
import { describePersons, type Persons, personsIn } from '../../domain/authorisations.ts';
import { endOfDay } from '../../domain/calendar.ts';
import { CONSENT_STATES, type Consent, consentEnd } from '../../domain/consent.ts';
import type { ConsentCategory } from '../../domain/consent-category.ts';
import { referenceToAsk } from '../../domain/order/account-reference.ts';
import { isInterruption } from '../../flows/refusals.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import type { Filter, Flows } from '../../store/ports/flows.ts';
import type { StoredLogin, Tokens } from '../../store/ports/tokens.ts';
import { list, object, oneOf, orNull, text, time, type ValueOf } from '../../terminal/output/fields.ts';
import { keylessOf, PAIRS, pairOf } from '../cert/certificates.ts';
import type { Context, KeyRing } from '../context.ts';
import { waitingFields } from '../flow/fields.ts';
import type { Check } from './check.ts';
import type { Finding } from './diagnosis.ts';

/** Something that ends, and the command that renews it. */
export const ending = object({
  kind: oneOf(['certificate', 'login', 'consent'], 'what ends').as('Kind', { whole: true }),
  name: text('QWAC, QSealC, ...; refresh token; or the category of the consent').as('Name').shown(writeName),
  customerId: orNull(text('customer of the login or consent; null for a certificate')).as('Customer', {
    whole: true,
    dispensable: 1,
  }),
  endsAt: time('its end; in the past if it has already ended').as('Ends'),
  ...waitingFields(),
  next: list(text(), 'words of the command that renews it')
    .as('Renew with', { whole: true })
    .written((next) => next.map(quoteForShell).join(' ')),
}).inList('endsAt kind name customerId next');

/** @param named what ends, and who has authorised what takes its place */
function writeName({
  name,
  authorisedBy = [],
  refusedBy = [],
  waitsFor = [],
}: { name: string } & { [Does in keyof Persons]?: string[] | undefined }): string {
  const waiting = describePersons({ authorisedBy, refusedBy, waitsFor });
  return waiting === '' ? name : `${name} (the new one: ${waiting})`;
}

export type Ending = ValueOf<typeof ending>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** With fewer days left, psd2 warns. */
export const SOON_DAYS = 14;

/** What ends soon in the profile, whoever the customer is. */
export const endings: Check = {
  id: 'endings',
  needs: ['settings', 'store'],
  names: async () => ['expiring'],
  async run({ context, diagnosis }) {
    await diagnosis.make('expiring', () => checkEndings(context));
    return undefined;
  },
};

async function checkEndings(context: Context): Promise<Finding> {
  const all = await allEndings(context);
  const soon = describeSoon(all, context.world.now(), SOON_DAYS, context.output.writeTime);
  return soon === undefined
    ? { status: 'ok', detail: `nothing ends within ${SOON_DAYS} days`, fix: null }
    : { status: 'warn', detail: soon, fix: { next: [['expiring']] } };
}

/** Whether something ends within some days, or has ended. @param endsAt ISO 8601 */
export function endsSoon(endsAt: string, now: Date, days: number): boolean {
  return Date.parse(endsAt) - now.getTime() < days * DAY_MS;
}

/** What ends within some days, soonest first. This includes what has already ended. */
export function endingWithin(all: readonly Ending[], now: Date, days: number): Ending[] {
  return all
    .filter(({ endsAt }) => endsSoon(endsAt, now, days))
    .sort((a, b) => Date.parse(a.endsAt) - Date.parse(b.endsAt));
}

/** Says what ends soon; undefined if nothing does. @param writeTime formats an ISO 8601 time */
export function describeSoon(
  all: readonly Ending[],
  now: Date,
  days: number,
  writeTime: (time: string) => string,
): string | undefined {
  const [first, ...more] = endingWithin(all, now, days);
  if (!first) return undefined;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  return `${endingName(first)} ${Date.parse(first.endsAt) <= now.getTime() ? 'has ended' : 'ends'} at ${writeTime(first.endsAt)}${others}`;
}

/** `the QWAC`, `the login of customer 1048262`, ... */
function endingName({ kind, name, customerId }: Ending): string {
  if (kind === 'certificate') return `the ${name} certificate`;
  return kind === 'login'
    ? `the login of customer ${customerId}`
    : `the consent ${name} of customer ${customerId}`;
}

/**
 * Everything of the profile that ends: certificates, the logins of all customers, and the consents of logged-in customers.
 *
 * @param onDamaged called for each consent whose journal is damaged. Without it, psd2 cannot read the endings then
 * @param readLogins the logins, if the caller has read them. It takes seconds if there are many
 * @throws Psd2Error `config`, `certificate` if psd2 cannot read one of them
 */
export async function allEndings(
  context: Context,
  onDamaged?: Filter['onDamaged'],
  readLogins?: Logins,
): Promise<Ending[]> {
  const certificates = await certificateEndings(context);
  const logins = readLogins ?? (await (await context.store()).tokens.logins());
  return [
    ...certificates,
    ...(await loginEndings(context, logins)),
    ...(await allConsentEndings(context, logins, onDamaged)),
  ];
}

function withoutKeys(keys: KeyRing): KeyRing {
  return { ...keys, read: async (name) => ({ ...(await keys.read(name)), key: () => undefined }) };
}

export type Logins = Awaited<ReturnType<Tokens['logins']>>;

/** The certificates of the profile: of several in a file, the one that psd2 uses. Of CAs, the last to end. */
export async function certificateEndings(context: Context): Promise<Ending[]> {
  const profile = await context.unsealed();
  const keys = await context.keys();
  const certificates: { name: string; certificate: X509Certificate }[] = [];
  for (const [name] of PAIRS) {
    const used = await pairOf(context, profile, keys, name).catch((error: unknown) => {
      if (isInterruption(error)) throw error;
      // A certificate ends, even if its key cannot be read.
      return pairOf(context, profile, withoutKeys(keys), name);
    });
    if (used) certificates.push({ name, certificate: used.certificate });
  }
  certificates.push(...(await keylessOf(profile)));
  const next =
    profile.name === ENVIRONMENT_PROFILE
      ? ['psd2', 'cert', 'check', '<new certificate>']
      : ['psd2', 'profile', 'edit', profile.name];
  return certificates.map(({ name, certificate }) => {
    const endsAt = new Date(certificate.validTo).toISOString();
    return { kind: 'certificate', name, customerId: null, endsAt, next };
  });
}

/** The logins of all customers. psd2 renews the application's own login without help. */
async function loginEndings(context: Context, logins: Logins): Promise<Ending[]> {
  const { tokens } = await context.store();
  const { logsIn } = await context.bankInterface();
  const endings: Ending[] = [];
  for (const { customerId, login } of logins) {
    const endsAt = login.refreshTokenExpiresAt ?? (await endOfAccess(tokens, customerId, login));
    const next = [...psd2(context), '--customer', customerId, ...ACCESS[logsIn]];
    if (endsAt) endings.push({ kind: 'login', name: 'refresh token', customerId, endsAt, next });
  }
  return endings;
}

/** Without a refresh token the login ends with its access token. With one whose end the bank did not name, nobody knows. */
async function endOfAccess(
  tokens: Tokens,
  customerId: string,
  login: StoredLogin | undefined,
): Promise<string | null> {
  if (!login?.accessTokenExpiresAt || (await tokens.read(customerId))?.refreshToken) return null;
  return login.accessTokenExpiresAt;
}

async function allConsentEndings(
  context: Context,
  logins: Logins,
  onDamaged: Filter['onDamaged'],
): Promise<Ending[]> {
  const journals = { accesses: new Map<string, Access>(), renewals: new Map<string, Consent>() };
  const endings = await consentEndings(context, logins, journals, onDamaged);
  return [...endings, ...(await keptEndings(context, journals))];
}

/**
 * The newest confirmed consent for each category and product of each logged-in customer.
 *
 * @param journals gets what consents with terms have in theirs
 */
async function consentEndings(
  context: Context,
  logins: Logins,
  journals: FromJournals,
  onDamaged: Filter['onDamaged'],
): Promise<Ending[]> {
  const { flows } = await context.store();
  const customers = new Set(logins.map(({ customerId }) => customerId));
  const seen = new Set<string>();
  const endings: Ending[] = [];
  for await (const consent of flows.list('consent', { states: ['confirmed', 'authorizing'], onDamaged })) {
    // What readings use of a consent with terms is in the record of its customer.
    if (consent.terms) note(journals, consent);
    const end = consentEnd(consent, context.world.now());
    if (!end || consent.terms) continue;
    if (!customers.has(consent.customerId)) continue;
    for (const { name, products, outcome } of consent.categories) {
      if (outcome === false) continue;
      const newest = products.filter((product) => isNew(seen, consent, name, product));
      if (newest.length === 0) continue;
      const what = ['--category', name, ...newest.flatMap((product) => ['--account', product])];
      const next = [...psd2(context), '--customer', consent.customerId, 'consent', 'request', ...what];
      endings.push({ kind: 'consent', name, customerId: consent.customerId, endsAt: end.expiresAt, next });
    }
  }
  return endings;
}

/** The consents of the customers whom the operator names: those that readings use, and that are meant to last. */
async function keptEndings(context: Context, { accesses, renewals }: FromJournals): Promise<Ending[]> {
  const { customers, flows } = await context.store();
  const consents = await customers.lasting();
  await addAccesses(flows, new Set(consents.map(({ flow }) => flow)), accesses);
  return consents.map(({ customer: customerId, flow, validUntil }) => {
    const access = accesses.get(flow);
    const name = categoryOf(access);
    const renewal = renewals.get(accessKey(customerId, access));
    if (renewal)
      return {
        kind: 'consent',
        name,
        customerId,
        endsAt: endOfDay(validUntil),
        ...personsIn(renewal.authorisations),
        next: [...psd2(context), '--customer', customerId, 'consent', 'resume', renewal.flow],
      };
    // If somebody has removed its journal, nobody knows what it was asked for.
    const options = optionsOf(access);
    const next = [...psd2(context), '--customer', customerId, 'consent', 'request', ...options];
    return { kind: 'consent', name, customerId, endsAt: endOfDay(validUntil), next };
  });
}

/** What the journals of consents with terms say. */
interface FromJournals {
  /** What each was asked for. */
  accesses: Map<string, Access>;
  /** The newest ones that somebody has authorised, and others must, by customer and category: they renew one that ends. Of those for funds, by account, too. */
  renewals: Map<string, Consent>;
}

function note({ accesses, renewals }: FromJournals, consent: Consent): void {
  const access = consent.terms?.access;
  accesses.set(consent.flow, access);
  const key = accessKey(consent.customerId, access);
  const isPartly =
    consent.state === 'authorizing' && personsIn(consent.authorisations).authorisedBy.length > 0;
  if (isPartly && !renewals.has(key)) renewals.set(key, consent);
}

function accessKey(customer: string, access: Access): string {
  return `${customer} ${categoryOf(access)} ${access?.type === 'funds' ? access.account : ''}`;
}

function categoryOf(access: Access): ConsentCategory {
  return access?.type === 'funds' ? FUNDS : 'ACCOUNT_INFO';
}

const OTHER_STATES = CONSENT_STATES.filter((state) => state !== 'confirmed');

/** Adds what the wanted consents were asked for that are not confirmed any more. It reads the journals once, however many are missing. */
async function addAccesses(
  flows: Flows,
  wanted: ReadonlySet<string>,
  accesses: Map<string, Access>,
): Promise<void> {
  const unknown = new Set([...wanted].filter((flow) => !accesses.has(flow)));
  if (unknown.size === 0) return;
  // The list of the confirmed ones has named those that are damaged.
  for await (const { flow, terms } of flows.list('consent', { states: OTHER_STATES, onDamaged: () => {} })) {
    if (unknown.delete(flow)) accesses.set(flow, terms?.access);
    if (unknown.size === 0) return;
  }
}

const FUNDS: ConsentCategory = 'FUNDS_AVAILABILITY';

type Access = NonNullable<Consent['terms']>['access'];

/** The options that ask for the same access. */
export function optionsOf(access: Access): string[] {
  switch (access?.type) {
    case 'dedicated': {
      const { accounts, balances, transactions } = access;
      const isLess = balances.length === 0 || transactions.length === 0;
      return [
        ...accounts.flatMap((account) => ['--account', referenceToAsk(account)]),
        ...(isLess && balances.length > 0 ? ['--balances'] : []),
        ...(isLess && transactions.length > 0 ? ['--transactions'] : []),
      ];
    }
    case 'all-accounts':
      return ['--all-accounts'];
    case 'list-only':
    case 'list-with-balances':
      return ['--list-only'];
    case 'funds': {
      const { account, cardNumber, cardExpiryDate, cardInformation, registrationInformation } = access;
      return [
        '--category',
        FUNDS,
        '--account',
        referenceToAsk(account),
        // A new card has another number and another day.
        ...(cardNumber === undefined ? [] : ['--card-number', '@FILE']),
        ...(cardExpiryDate === undefined ? [] : ['--card-expiry-date', 'DATE']),
        ...(cardInformation === undefined ? [] : ['--card-information', cardInformation]),
        ...(registrationInformation === undefined
          ? []
          : ['--registration-information', registrationInformation]),
      ];
    }
    default:
      return [];
  }
}

/** Consents come newest first, and a newer one replaces an older one for the same category and product. */
function isNew(seen: Set<string>, { customerId }: Consent, category: string, product: string): boolean {
  const key = `${customerId} ${category} ${product}`;
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}

/** The profile of the environment needs no name. */
function psd2(context: Context): string[] {
  const { name } = context.profile();
  return name === ENVIRONMENT_PROFILE ? ['psd2'] : ['psd2', '--profile', name];
}
