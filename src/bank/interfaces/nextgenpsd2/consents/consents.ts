import type * as z from 'zod/mini';
import { addDays, bankDay, type IsoDate } from '../../../../domain/calendar.ts';
import type { ConsentTerms, Covered } from '../../../../domain/consent.ts';
import { accountReferenceOf, maskedAccess } from '../../../../domain/order/account-reference.ts';
import { maskedMembers } from '../../../../domain/order/card-number.ts';
import { Psd2Error } from '../../../../errors.ts';
import type {
  ConsentDetails,
  ConsentStatus,
  Consents,
  Decides,
  RequestedConsent,
} from '../../../ports/customer.ts';
import { browserLink } from '../access/links.ts';
import { linksOf, usableLinks } from '../access/sca.ts';
import type { OperationId } from '../description/operations.ts';
import type { BankDescription } from '../description/schema.ts';
import { mayLackCall } from '../judge/lacking.ts';
import { ask, type NextGenAnswer, readDeletion } from '../wire/answer.ts';
import { begunWith, type Calls, lackingService } from '../wire/calls.ts';
import { consentAnswer, consentDetailsAnswer, consentStatusAnswer, startAnswer } from '../wire/consent.ts';
import { callOf } from '../wire/paths.ts';
import { saidBeside } from '../wire/said-beside.ts';

type Request = Parameters<Consents['request']>[0];

/** The category of cb that consents of this interface are for. */
const READING = 'ACCOUNT_INFO';

/** The consents of NextGenPSD2 (section 2, "Consent"). */
export function consentsOf(calls: Calls): Consents & AfterRequest {
  return {
    checkTerms: (terms) => void termsOf(calls, terms),
    request: (consent) => requestConsent(calls, consent),
    replaced: EXPIRED,
    ...afterRequest(calls, OF_READINGS),
  };
}

/** The operations of one kind of consents. */
interface ConsentOperations {
  information: OperationId;
  status: OperationId;
  delete: OperationId;
}

const OF_READINGS: ConsentOperations = {
  information: 'getConsentInformation',
  status: 'getConsentStatus',
  delete: 'deleteConsent',
};

/** Every consent of this interface has a status. */
type AfterRequest = Pick<Consents, 'confirm' | 'details' | 'delete'> & Required<Pick<Consents, 'status'>>;

/** What a consent has once it was asked for, of whatever kind it is. */
export function afterRequest(plainCalls: Calls, operations: ConsentOperations): AfterRequest {
  const calls = { ...plainCalls, operations };
  const { bank, paths } = calls;
  return {
    confirm: () => Promise.reject(lackingService('confirmation of consents')),
    status: (...of) => fetchStatus(calls, ...of),
    details: (...of) => fetchDetails(calls, ...of),
    async delete(consentId, transactionId, { wasTaken }) {
      if (calls.description.consent.delete === 'authorised')
        await refuseUnauthorised(calls, consentId, transactionId);
      const call = callOf(paths, operations.delete, { consentId }, transactionId);
      const { verdict, notices, authorise } = await bank.ask(call, (answer) => {
        const read = readDeletion(answer, { what: 'consent', wasTaken });
        const isForCustomer = read.verdict === 'to be authorised';
        return { ...read, authorise: isForCustomer ? wayToEnd(calls, consentId, answer) : undefined };
      });
      if (authorise) return { bankStatus: TERMINATED, notices, authorise };
      const wasThere = verdict === 'taken' || verdict === 'accepted';
      return { bankStatus: TERMINATED, notices, ...(wasThere && { wasThere }) };
    },
  };
}

interface ConsentCalls extends Calls {
  operations: ConsentOperations;
}

/** @throws Psd2Error `bank_refused` for a consent that nobody has authorised, where the bank deletes none of these */
async function refuseUnauthorised(
  calls: ConsentCalls,
  consentId: string,
  transactionId: string,
): Promise<void> {
  const { means, consentStatus } = await fetchStatus(calls, consentId, transactionId, undefined);
  if (means !== 'open') return;
  throw new Psd2Error('bank_refused', `The bank deletes only a consent that the customer has authorised`, {
    hint: `It calls this one ${consentStatus}. Nothing can be read with it, and it ends by itself (consent.delete of the bank file).`,
    transactionId,
  });
}

/** What a bank without a call for it says of a consent: nothing. Flows wait for the tokens of the customer's login. */
const UNTOLD: ConsentStatus = { consentStatus: 'not told', means: 'valid' };

/** Whether the bank has no call that tells how a consent is. */
function isUntold({ description, operations }: Pick<ConsentCalls, 'description' | 'operations'>): boolean {
  return description.consent.status === 'none' && operations === OF_READINGS;
}

async function fetchStatus(
  { bank, paths, operations, description }: ConsentCalls,
  consentId: string,
  transactionId: string,
  decides: Decides,
): Promise<ConsentStatus> {
  if (isUntold({ operations, description })) return UNTOLD;
  const call = callOf(paths, operations.status, { consentId }, transactionId);
  const answer = await ask(bank, { ...call, decides: decides || true }, consentStatusAnswer);
  return { ...consentStatusOf(answer.data.consentStatus), ...saidBeside(answer) };
}

/** The consent as the bank has it. At a bank that does not show consents, their status alone. */
async function fetchDetails(
  calls: ConsentCalls,
  consentId: string,
  transactionId: string,
  decides: Decides,
): Promise<ConsentDetails> {
  if (isUntold(calls))
    return { ...UNTOLD, validUntil: null, frequencyPerDay: null, recurring: null, access: null };
  const call = callOf(calls.paths, calls.operations.information, { consentId }, transactionId);
  try {
    const answer = await ask(calls.bank, { ...call, decides: decides || true }, consentDetailsAnswer);
    return { ...detailsOf(answer.data), ...saidBeside(answer) };
  } catch (error) {
    if (!lacksCall(error)) throw error;
    const status = await fetchStatus(calls, consentId, transactionId, decides).catch((reason: unknown) => {
      throw lacksCall(reason) && !reason.isNotKnown ? untold(reason, consentId) : reason;
    });
    return { ...status, validUntil: null, frequencyPerDay: null, recurring: null, access: null };
  }
}

/** What an answer tells of a consent. */
export function detailsOf(data: z.output<typeof consentDetailsAnswer>): ConsentDetails {
  return {
    ...consentStatusOf(data.consentStatus),
    validUntil: data.validUntil,
    frequencyPerDay: data.frequencyPerDay ?? null,
    recurring: data.recurringIndicator ?? null,
    access: data.access ?? (data.account ? { account: data.account } : null),
  };
}

/** Whether the bank may not have the call at all. Of a consent that it does not know it would say so. */
function lacksCall(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && mayLackCall(error) && !error.bankCode?.startsWith('CONSENT_');
}

/** The error for a bank that shows neither the consent nor its status. */
function untold(error: Psd2Error, consentId: string): Psd2Error {
  const says = `The bank does not say how the consent ${consentId} is, so psd2 keeps what it knows. ${error.message}`;
  return error.restated('bank_refused', says);
}

/**
 * Where the customer authorises the end of a consent. The standard has no authorisation for it, so psd2 starts none: what a start begins
 * authorises the consent itself.
 *
 * @throws Psd2Error `outcome_unknown` if the answer names no page, and does not say that the bank asks the customer elsewhere
 */
function wayToEnd(calls: ConsentCalls, consentId: string, { reply, headers, call }: NextGenAnswer) {
  const { data } = startAnswer.safeParse(reply.json ?? {});
  const resource = { start: 'startConsentAuthorisation', values: { consentId } } as const;
  // Only the page is followed, so nothing is told of the other links.
  const odd: Calls['odd'] = { unread: new Map(), rewritten: new Set(), foreign: new Map() };
  const links = data && usableLinks(() => linksOf(data, headers, { ...calls, odd, resource }));
  if (links?.redirect !== undefined)
    return { page: browserLink(links.redirect, calls.base, 'scaRedirect'), links };
  if (links?.approach === 'decoupled') return { page: null, links };
  const says = `The bank wants the customer to authorise the end of the consent ${consentId}, so it stays in force`;
  throw new Psd2Error('outcome_unknown', says, {
    hint: 'The customer can end it at the bank.',
    transactionId: call.transactionId,
  });
}

async function requestConsent(calls: Calls, consent: Request): Promise<RequestedConsent> {
  const { transactionId, beforeSend, redirectUri, categories } = consent;
  const terms = termsOf(calls, consent.terms ?? {});
  const body = {
    access: accessIn(terms.access),
    recurringIndicator: terms.recurring,
    validUntil: terms.validUntil,
    frequencyPerDay: terms.frequencyPerDay,
    combinedServiceIndicator: false,
  };
  const call = {
    ...callOf(calls.paths, 'createConsent', {}, transactionId),
    body,
    beforeSend,
    ...(redirectUri !== undefined && { redirectUri }),
  };
  const { data, headers, notices } = await ask(calls.bank, call, consentAnswer).catch((error: unknown) => {
    throw withOtherKinds(error, terms.access.type);
  });
  const { consentId } = data;
  const resource = { start: 'startConsentAuthorisation', values: { consentId } } as const;
  return {
    resourceId: consentId,
    outcomes: categories.map(({ name }) => ({ name, outcome: name === READING })),
    terms: { ...terms, access: maskedAccess(terms.access) },
    access: maskedMembers(body.access),
    bankStatus: data.consentStatus,
    ...saidBeside({ notices, data }),
    ...begunWith(calls),
    besideOthers: headers['aspsp-multiple-consent-support']?.trim().toLowerCase() === 'true',
    links: usableLinks(() => linksOf(data, headers, { ...calls, resource }, isDecided(data.consentStatus))),
  };
}

/** Whether the bank has granted or ended a consent already: that leaves nothing to authorise. */
export function isDecided(consentStatus: string): boolean {
  return !['open', 'unknown'].includes(consentStatusOf(consentStatus).means);
}

/** How the operator asks for each kind of consent. */
const KINDS: readonly [Covered['type'], string][] = [
  ['dedicated', '--account <iban>'],
  ['all-accounts', '--all-accounts'],
  ['list-only', '--list-only'],
  ['list-with-balances', '--list-only'],
  ['bank-offered', 'none of these options (the customer chooses at the bank)'],
];

/** The bank's refusal of a consent. If it may be about the kind of consent, with the other kinds. */
function withOtherKinds(error: unknown, consentType: Covered['type']): unknown {
  const isOfKind = error instanceof Psd2Error && OF_KIND.has(error.bankCode ?? '');
  if (!isOfKind) return error;
  const { message, reasons = [] } = error;
  const words = [message, ...reasons.map(({ text }) => text)].join(' ');
  if (/\bheaders?\b|\((date|digest|signature|(psu|tpp)-[\w-]+)\)/i.test(words))
    return /\bdate\b/i.test(words) ? error.with({ hint: WANTS_DATE }) : error;
  const own = KINDS.find(([type]) => type === consentType)?.[1];
  const others = new Set(KINDS.flatMap(([, option]) => (option === own ? [] : option)));
  const earlierHint = error.hint === undefined ? '' : `${error.hint} `;
  return error.with({
    hint: `${earlierHint}The bank may not take consents of the type ${consentType}. Other kinds: ${[...others].join(', ')}. What the bank takes belongs into consent.types of the bank file.`,
  });
}
const WANTS_DATE = 'The bank wants the header Date. Set headers.date of the bank file to "always".';
const OF_KIND = new Set(['SERVICE_INVALID', 'PARAMETER_NOT_SUPPORTED', 'FORMAT_ERROR']);

/**
 * What is asked for, with the bank's defaults.
 *
 * @throws Psd2Error `usage` or `invalid_date` for what the bank does not offer
 */
function termsOf({ description, settings }: Calls, terms: Partial<ConsentTerms>): ConsentTerms {
  const { consent } = description;
  const recurring = terms.recurring ?? true;
  if (!recurring && !consent.once) throw notOffered('consents for one reading', 'Leave out --once.');
  const access = listedAs(terms.access ?? defaultAccess(consent.types), consent.types);
  if (access.type === 'funds' || !consent.types.includes(access.type))
    throw notOffered(`consents of the type ${access.type}`, `It offers: ${consent.types.join(', ')}.`);
  const frequencyPerDay = recurring ? (terms.frequencyPerDay ?? consent.frequencyPerDay) : 1;
  if (frequencyPerDay < 1 || frequencyPerDay > consent.frequencyPerDay)
    throw notOffered(`${frequencyPerDay} readings a day`, `It allows 1 to ${consent.frequencyPerDay}.`);
  const today = bankDay(settings.now());
  const latest = addDays(today, consent.maxDays);
  const validUntil: IsoDate = terms.validUntil ?? latest;
  if (validUntil < today || validUntil > latest)
    throw new Psd2Error('invalid_date', `The consent cannot be valid until ${validUntil}`, {
      hint: `This bank takes a day from ${today} to ${latest}.`,
    });
  return { access, validUntil, frequencyPerDay, recurring };
}

/** The list alone, in the kind that the bank has: with balances or without. */
function listedAs(access: Covered, types: BankDescription['consent']['types']): Covered {
  const isOther = access.type === 'list-only' && !types.includes('list-only');
  return isOther && types.includes('list-with-balances') ? { type: 'list-with-balances' } : access;
}

/** The customer chooses the accounts if the bank offers that, else the first type of the bank. */
function defaultAccess(types: BankDescription['consent']['types']): Covered {
  const type = types.includes('bank-offered') ? 'bank-offered' : types[0];
  switch (type) {
    case 'all-accounts':
    case 'list-only':
    case 'list-with-balances':
      return { type };
    case 'bank-offered':
      return { type, balances: true, transactions: true };
    default:
      throw new Psd2Error('usage', 'This bank wants to know for which accounts the consent is', {
        hint: 'Name each with --account <iban>.',
      });
  }
}

function notOffered(what: string, hint: string): Psd2Error {
  return new Psd2Error('usage', `This bank does not offer ${what}`, { hint });
}

/** `access` of the request. An empty list means that the customer chooses at the bank. */
export function accessIn(access: Covered): Record<string, unknown> {
  switch (access.type) {
    case 'all-accounts':
      return { allPsd2: 'allAccounts' };
    case 'list-only':
      return { availableAccounts: 'allAccounts' };
    case 'list-with-balances':
      return { availableAccountsWithBalance: 'allAccounts' };
    case 'bank-offered':
      return {
        accounts: [],
        ...(access.balances && { balances: [] }),
        ...(access.transactions && { transactions: [] }),
      };
    case 'funds':
      throw new TypeError('Consents for confirmations of funds are another service');
    case 'dedicated': {
      const { accounts, balances, transactions } = access;
      return {
        accounts: accounts.map(referenceTo),
        ...(balances.length > 0 && { balances: balances.map(referenceTo) }),
        ...(transactions.length > 0 && { transactions: transactions.map(referenceTo) }),
      };
    }
  }
}

/** An account as the standard refers to it. */
export function referenceTo(account: string): object {
  const { kind, id, currency } = accountReferenceOf(account);
  return { [kind]: id, ...(currency !== null && { currency }) };
}

/** What a bank calls a consent that psd2 has ended. */
const TERMINATED = 'terminatedByTpp';
/** What it calls one that has ended by itself: also when the customer authorises a newer one. */
const EXPIRED = 'expired';

/** Somebody has authorised it, and not everybody who must. */
const PARTLY_AUTHORISED = 'partiallyAuthorised';

const MEANINGS: Readonly<Record<string, ConsentStatus['means']>> = {
  received: 'open',
  [PARTLY_AUTHORISED]: 'open',
  valid: 'valid',
  rejected: 'rejected',
  [EXPIRED]: 'expired',
  revokedByPsu: 'revoked',
  [TERMINATED]: 'ended by us',
};

/** What a status of a consent means. The bank may have its own words. */
export function consentStatusOf(consentStatus: string): ConsentStatus {
  const means = Object.hasOwn(MEANINGS, consentStatus) ? MEANINGS[consentStatus] : undefined;
  return {
    consentStatus,
    means: means ?? 'unknown',
    ...(consentStatus === PARTLY_AUTHORISED && { isPartly: true }),
  };
}
