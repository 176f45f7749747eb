import { isDeepStrictEqual } from 'node:util';
import type { ConsentSource, ListedAccount, PsuIdentification, Read } from '../../bank/ports/call.ts';
import { bankDay } from '../../domain/calendar.ts';
import { type Consent, isForFunds } from '../../domain/consent.ts';
import { paymentHolder } from '../../domain/identifiers.ts';
import { accountReferenceOf, maskedReference } from '../../domain/order/account-reference.ts';
import { compactIban } from '../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../errors.ts';
import type {
  Customers,
  KeptAccount,
  KeptConsent,
  KeptCustomer,
  KeptFundsConsent,
} from '../../store/ports/customers.ts';
import type { Tokens } from '../../store/ports/tokens.ts';
import type { ProfileContext } from '../context.ts';
import { isFirst } from '../shared/once.ts';
import { writeSome } from './other-logins.ts';

/** The consents of a customer, with how often each allows a reading while the customer is absent. */
export interface KeptConsents extends ConsentSource {
  for(what: Read): Promise<UsedConsent>;
  /**
   * Passes over a consent for one reading that is used up, as long as another consent may read the same.
   *
   * @returns the other one. Undefined if there is none, or `consentId` is not for one reading
   */
  instead(consentId: string, what: Read): Promise<UsedConsent | undefined>;
  /** Whether a consent is for one reading: once that is used up, no other day helps. */
  isForOne(consentId: string): boolean;
}

type UsedConsent = Pick<KeptConsent, 'consentId' | 'frequencyPerDay' | 'reads' | 'cards'>;

/**
 * What the calls of a customer take from the store, at a bank without ids of customers: who the customer is there, and the
 * consent of each reading.
 *
 * @throws Psd2Error `config` if the record is damaged
 */
export async function readKept(
  { world, terminal }: Pick<ProfileContext, 'world' | 'terminal'>,
  customers: Customers,
  customer: string,
): Promise<{ psu: PsuIdentification; consents: KeptConsents }> {
  let stored = await customers.read(customer);
  const usedUp = new Set<string>();
  const listedAs = (account: string) => stored?.accounts?.find(({ accountId }) => accountId === account);
  const isForOne = (consentId: string) =>
    stored?.consents.find((each) => each.consentId === consentId)?.recurring === false;
  const note = async (news: News) => {
    if (!stored || news.isKnown(stored)) return;
    if (await keepNews(customers, customer, news)) stored = news.added(stored);
  };
  return {
    psu: identificationOf(stored),
    consents: {
      async for(what) {
        const valid = validOf(stored?.consents ?? [], world.now());
        const consent = bestUnused(valid, usedUp, what, stored) ?? bestOf(valid, what, stored);
        if (consent) return consent;
        if (stored === undefined) throw unknownCustomer(customer, await customers.list());
        throw lackingConsent(customer, valid.length > 0 ? what : undefined);
      },
      async instead(consentId, what) {
        const valid = validOf(stored?.consents ?? [], world.now());
        if (!valid.some((each) => each.consentId === consentId) || !isForOne(consentId)) return undefined;
        usedUp.add(consentId);
        return bestUnused(valid, usedUp, what, stored);
      },
      isForOne,
      lastGrantedAt: () => grantedAtOf(validOf(stored?.consents ?? [], world.now())),
      currencyOf: (account) => listedAs(account)?.currency,
      ibanOf: (account) => listedAs(account)?.iban,
      isCard: (account) =>
        stored?.accounts?.some(({ accountId, kind }) => accountId === account && kind === 'card') ?? false,
      async listed(consentId, accounts, cards) {
        const listed = accounts.map(keptOf);
        warnOfMore(terminal, consentId, beyondNamed(stored, consentId, accounts));
        if (listed.length > MAX_LISTED) return;
        await note({
          isKnown: (record) => knows(record, consentId, listed, cards),
          added: (record) => withListed(record, consentId, listed, cards),
        });
      },
      reportOf: (consentId) => stored?.consents.find((each) => each.consentId === consentId)?.report,
      took: (consentId, report) => note(newsOf(consentId, { report })),
      listsOf: (consentId) => stored?.consents.find((each) => each.consentId === consentId)?.lists,
      async tookLists(consentId, lists) {
        if (!lists.includes('pending') && isFirst(terminal, NO_PENDING)) terminal.warn(NO_PENDING);
        await note(newsOf(consentId, { lists }));
      },
    },
  };
}

/** The best of the valid ones that are not used up, if it may read this. */
function bestUnused(
  valid: readonly KeptConsent[],
  usedUp: ReadonlySet<string>,
  what: Read,
  customer: KeptCustomer | undefined,
): KeptConsent | undefined {
  const unused = valid.filter(({ consentId }) => !usedUp.has(consentId));
  const best = bestOf(unused, what, customer);
  return best && mayRead(best, what, customer) ? best : undefined;
}

const NO_PENDING =
  'The bank refuses the list of pending transactions (bookingStatus), so psd2 shows only what is booked.';

/** What the bank has shown to take with a consent. */
function newsOf(consentId: string, note: Pick<KeptConsent, 'report' | 'lists'>): News {
  return {
    isKnown: ({ consents }) =>
      consents.every((each) => each.consentId !== consentId || isDeepStrictEqual({ ...each, ...note }, each)),
    added: (record) => withNote(record, consentId, note),
  };
}

/** @param beyond the IBANs that the bank lists and the consent does not name */
function warnOfMore(
  terminal: Pick<ProfileContext, 'terminal'>['terminal'],
  consentId: string,
  beyond: readonly string[],
): void {
  if (beyond.length === 0) return;
  const text = `The bank lists accounts that the consent ${consentId} does not name: ${writeSome(beyond)}. Perhaps it does not read Consent-ID, or the customer has granted more.`;
  if (isFirst(terminal, text)) terminal.warn(text);
}

/** When the newest of them was granted. */
function grantedAtOf([newest]: readonly KeptConsent[]): Date | undefined {
  return newest && new Date(newest.grantedAt);
}

/** The listed accounts that a consent does not name, by their IBANs. None if it covers all, or names accounts otherwise. */
function beyondNamed(
  customer: KeptCustomer | undefined,
  consentId: string,
  listed: readonly ListedAccount[],
): string[] {
  const { accounts } = customer?.consents.find((each) => each.consentId === consentId) ?? { accounts: null };
  const named = (accounts ?? []).map((name) => compactIban(name).replace(/:[A-Z]{3}$/, ''));
  if (named.length === 0 || !named.every(isIbanLike)) return [];
  return listed.flatMap(({ iban }) => (iban !== null && !named.includes(compactIban(iban)) ? iban : []));
}

/** What the bank has said of a customer, to be kept in the record. */
interface News {
  isKnown(record: KeptCustomer): boolean;
  /** The record with it. */
  added(record: KeptCustomer): KeptCustomer;
}

/**
 * Keeps news in the store, as far as it can be written.
 *
 * @returns false: the record knows them already
 * @throws Psd2Error `interrupted`
 */
async function keepNews(customers: Customers, customer: string, news: News): Promise<boolean> {
  try {
    await customers.change(customer, (before) => {
      if (news.isKnown(before)) throw NOTHING_NEW;
      return news.added(before);
    });
  } catch (error) {
    if (error === NOTHING_NEW) return false;
    // psd2 can do without: then the bank says it again.
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
  }
  return true;
}

function identificationOf(customer: KeptCustomer | undefined): PsuIdentification {
  const { id, idType, corporateId } = customer?.psu ?? {};
  return { id: id ?? undefined, idType: idType ?? undefined, corporateId: corporateId ?? undefined };
}

function withNote(
  record: KeptCustomer,
  consentId: string,
  note: Pick<KeptConsent, 'report' | 'lists'>,
): KeptCustomer {
  const consents = record.consents.map((each) =>
    each.consentId === consentId ? { ...each, ...note } : each,
  );
  return { ...record, consents };
}

/** The consents that have not ended by themselves. */
export function validOf(consents: readonly KeptConsent[], now: Date): KeptConsent[] {
  const today = bankDay(now);
  return consents.filter(({ validUntil }) => validUntil === null || validUntil >= today);
}

/**
 * Whether a consent covers an account, as far as psd2 knows: by its IBAN, or because a list had it.
 *
 * @param account id or IBAN
 * @returns undefined: only the bank knows
 */
export function covers(
  { accounts, listed }: KeptConsent,
  account: string,
  customer: KeptCustomer | undefined,
): boolean | undefined {
  if (accounts === null) return undefined;
  const names = accounts.map(compactIban);
  const wanted = compactIban(account);
  const { id, currency } = accountReferenceOf(account);
  const listedAccount = customer?.accounts?.find(
    (each) =>
      each.accountId === account ||
      (each.iban !== null &&
        compactIban(each.iban) === compactIban(id) &&
        (currency === null || (each.currency ?? currency) === currency)),
  );
  const iban = listedAccount?.iban ? compactIban(listedAccount.iban) : null;
  const sub = listedAccount?.currency && iban !== null ? [iban, `${iban}:${listedAccount.currency}`] : [iban];
  if (
    names.includes(wanted) ||
    names.includes(compactIban(id)) ||
    sub.some((each) => each !== null && names.includes(each))
  )
    return true;
  if (iban !== null) return false;
  if (listed) return listed.some(({ accountId }) => accountId === account);
  return isIbanLike(compactIban(id)) ? false : undefined;
}

/** An id can have this form, too. */
function isIbanLike(name: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(name);
}

/** The consent has ended meanwhile, or psd2 has forgotten the customer, or another worker was faster. */
const NOTHING_NEW = new Error('There is nothing to keep');

/** A consent with more accounts is not noted. */
const MAX_LISTED = 1000;

function keptOf({ accountId, iban, kind, currency, name, productCode, status }: ListedAccount): KeptAccount {
  return {
    accountId,
    iban,
    ...(kind && { kind }),
    ...(currency && { currency }),
    ...(name && { name }),
    ...(productCode && { productCode }),
    ...(status && status !== 'enabled' && { status }),
  };
}

/** Whether a record has what was listed. Nothing is kept with a consent that has ended. */
function knows(
  { consents, accounts = [] }: KeptCustomer,
  consentId: string,
  listed: readonly KeptAccount[],
  cards: 'none' | undefined,
): boolean {
  const consent = consents.find((each) => each.consentId === consentId);
  const isIn = (keptAccounts: readonly KeptAccount[]) =>
    listed.every((account) => keptAccounts.some((each) => isDeepStrictEqual(each, account)));
  return (
    consent === undefined ||
    (consent.listed?.length === listed.length &&
      isIn(consent.listed) &&
      isIn(accounts) &&
      (cards === undefined || consent.cards === cards))
  );
}

function withListed(
  before: KeptCustomer,
  consentId: string,
  listed: readonly KeptAccount[],
  cards: 'none' | undefined,
): KeptCustomer {
  const ids = new Set(listed.map(({ accountId }) => accountId));
  const others = (before.accounts ?? []).filter(({ accountId }) => !ids.has(accountId));
  return {
    ...before,
    consents: before.consents.map((each) =>
      each.consentId === consentId ? { ...each, listed, ...(cards && { cards }) } : each,
    ),
    accounts: [...listed, ...others].slice(0, MAX_LISTED),
  };
}

/** The customer has no record. Perhaps the operator means another one. */
function unknownCustomer(customer: string, others: readonly string[]): Psd2Error {
  return new Psd2Error(
    'not_logged_in',
    `The customer ${customer} has given no consent, so psd2 cannot read accounts`,
    {
      hint:
        others.length === 0
          ? 'Ask the customer for one:'
          : `Other customers: ${writeSome(others)}. Name one with --customer, or ask ${customer} for a consent:`,
      next: [['consent', 'request', '--customer', customer]],
    },
  );
}

/** @param unread what no valid consent covers; undefined if none is valid. A consent that has ended is no longer in the record */
function lackingConsent(customer: string, unread: Read | undefined): Psd2Error {
  const advice = {
    hint: 'Ask the customer for one:',
    next: [['consent', 'request', '--customer', customer]],
  };
  if (typeof unread === 'object') {
    const text = `The consent of the customer ${customer} does not cover ${unread.of ?? 'what is to be read'}`;
    // psd2 says what the bank would: the other accounts can have another consent.
    return new Psd2Error('not_logged_in', text, { ...advice, refusal: 'other' });
  }
  return new Psd2Error(
    'not_logged_in',
    `The customer ${customer} has no valid consent, so psd2 cannot read accounts`,
    advice,
  );
}

/**
 * The consent for a reading, of those that are valid, the newest first: one that names the account, else one for all accounts,
 * else any, because only the bank knows. The list of accounts has the most with a consent for all of them.
 */
export function bestOf(
  valid: readonly KeptConsent[],
  what: Read,
  customer: KeptCustomer | undefined,
): KeptConsent | undefined {
  if (what === 'list') return valid.find(({ accounts }) => accounts === null) ?? valid[0];
  const { account, of } = what;
  const reading = valid.filter(({ reads }) => (of ? reads.includes(of) : reads.length > 1));
  return (
    reading.find((each) => covers(each, account, customer)) ??
    reading.find(({ accounts }) => accounts === null) ??
    reading.find((each) => covers(each, account, customer) === undefined) ??
    reading[0] ??
    (of ? undefined : valid[0])
  );
}

/** Whether a consent may read this, as far as psd2 knows. */
function mayRead(consent: KeptConsent, what: Read, customer: KeptCustomer | undefined): boolean {
  if (what === 'list') return true;
  const isForIt = what.of ? consent.reads.includes(what.of) : consent.reads.length > 1;
  return isForIt && covers(consent, what.account, customer) !== false;
}

/** Forgets a consent that has ended, so that no reading uses it. */
export async function dropConsent(
  { customers, tokens }: { customers: Customers; tokens: Pick<Tokens, 'erase'> },
  {
    customerId,
    resourceId,
    transactionId,
    terms,
  }: Pick<Consent, 'customerId' | 'resourceId' | 'transactionId' | 'terms'>,
): Promise<void> {
  if (isForFunds({ terms })) await tokens.erase(paymentHolder(transactionId));
  const record = await customers.read(customerId);
  const isIt = ({ consentId }: { consentId: string }) => consentId === resourceId;
  if (!record || ![...record.consents, ...(record.funds ?? [])].some(isIt)) return;
  await customers.change(customerId, (before) => ({
    ...before,
    consents: before.consents.filter((each) => !isIt(each)),
    ...(before.funds && { funds: before.funds.filter((each) => !isIt(each)) }),
  }));
}

/** The customer's consent for confirmations of funds of an account: one that names it alike, else one in another part of it. The newest first. */
export function fundsConsentFor(
  customer: KeptCustomer | undefined,
  account: string,
): KeptFundsConsent | undefined {
  const reference = accountReferenceOf(maskedReference(account));
  const named = (customer?.funds ?? []).flatMap((each) => {
    const { kind, id, currency } = accountReferenceOf(each.account);
    return kind === reference.kind && id === reference.id ? [{ each, currency }] : [];
  });
  const best =
    named.find(({ currency }) => currency === reference.currency) ??
    named.find(({ currency }) => currency === null || reference.currency === null);
  return best?.each;
}
