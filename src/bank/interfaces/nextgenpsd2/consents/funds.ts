import type { CoveredFunds } from '../../../../domain/consent.ts';
import { maskedMembers } from '../../../../domain/order/card-number.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { AskedFunds, Bank } from '../../../ports/bank.ts';
import type { Consents } from '../../../ports/customer.ts';
import type { OAuth } from '../access/oauth.ts';
import { linksOf, scaOfConsents, usableLinks } from '../access/sca.ts';
import { mayLackCall } from '../judge/lacking.ts';
import { aboutPayment } from '../payments/payment-calls.ts';
import { ask } from '../wire/answer.ts';
import { begunWith, type Calls, lackingService } from '../wire/calls.ts';
import { consentAnswer } from '../wire/consent.ts';
import { callOf } from '../wire/paths.ts';
import { fundsAnswer } from '../wire/payment.ts';
import { saidBeside } from '../wire/said-beside.ts';
import { afterRequest, isDecided, referenceTo } from './consents.ts';

/** The category of cb that these consents are for. */
const FUNDS = 'FUNDS_AVAILABILITY';

/**
 * Consents for confirmations of funds: the extended service "confirmation of funds consent" 2.0. They stand beside those for readings, and
 * the token of a customer's login with one is for it alone.
 */
export function fundsConsentsOf(plainCalls: Calls, oauth: OAuth): NonNullable<Bank['ofFunds']> {
  const calls = { ...plainCalls, bank: aboutTransaction(plainCalls.bank) };
  const later = afterRequest(calls, {
    information: 'getConsentConfirmationOfFunds',
    status: 'getConsentConfirmationOfFundsStatus',
    delete: 'deleteConsentConfirmationOfFunds',
  });
  // The standard has PIIS where consents for readings have AIS.
  const scope = plainCalls.description.oauth.scope.ais.replace(/^ais\b/i, (word) =>
    word === 'ais' ? 'piis' : 'PIIS',
  );
  return {
    consents: {
      checkTerms: ({ access }) => void fundsIn(access),
      request: (consent) => requestFundsConsent(calls, consent),
      ...later,
    },
    sca: scaOfConsents(calls, oauth, later.status, 'startConsentConfirmationOfFundsAuthorisation', scope),
  };
}

/** Calls that carry the tokens of the customer's login with this consent. */
function aboutTransaction({ send, ask: asking }: Calls['bank']): Calls['bank'] {
  return {
    send: (call) => aboutPayment({ send, ask: asking }, call.transactionId).send(call),
    ask: (call, read) => aboutPayment({ send, ask: asking }, call.transactionId).ask(call, read),
  };
}

function fundsIn(access: { type: string } | CoveredFunds | undefined): CoveredFunds {
  if (access && 'account' in access) return access;
  throw lackingService('such consents');
}

async function requestFundsConsent(
  calls: Calls,
  { terms, transactionId, beforeSend, redirectUri, categories }: Parameters<Consents['request']>[0],
): ReturnType<Consents['request']> {
  const { type: _, account, ...card } = fundsIn(terms?.access);
  const body = { account: referenceTo(account), ...card };
  const call = {
    ...callOf(calls.paths, 'createConsentConfirmationOfFunds', {}, transactionId),
    body,
    beforeSend,
    ...(redirectUri !== undefined && { redirectUri }),
  };
  const { data, headers, notices } = await ask(calls.bank, call, consentAnswer).catch((error: unknown) => {
    throw isLackingService(error) ? error.with({ hint: LACKING_SERVICE }) : error;
  });
  const { consentId, consentStatus } = data;
  const resource = { start: 'startConsentConfirmationOfFundsAuthorisation', values: { consentId } } as const;
  return {
    resourceId: consentId,
    outcomes: categories.map(({ name }) => ({ name, outcome: name === FUNDS })),
    access: maskedMembers(body),
    bankStatus: consentStatus,
    ...saidBeside({ notices, data }),
    ...begunWith(calls),
    besideOthers: true,
    links: usableLinks(() => linksOf(data, headers, { ...calls, resource }, isDecided(consentStatus))),
  };
}

/** Whether the bank may not have the service, or has it elsewhere. */
function isLackingService(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  return mayLackCall(error) || error.bankCode === 'SERVICE_INVALID';
}
const LACKING_SERVICE =
  'The bank may have no consents for confirmations of funds, or has them at another path: funds.consent never, or api.paths (createConsentConfirmationOfFunds and its like) of the bank file says so. Without such a consent, psd2 funds check asks all the same.';

/** Whether an account has an amount. */
export async function askForFunds(
  { bank, paths }: Pick<Calls, 'bank' | 'paths'>,
  { account, amount, currency, consent }: AskedFunds,
  transactionId: string,
): Promise<boolean> {
  const call = {
    ...callOf(paths, 'checkAvailabilityOfFunds', {}, transactionId),
    body: { account: referenceTo(account), instructedAmount: { currency, amount } },
    decides: true as const,
    ...(consent && { headers: { 'consent-id': consent.consentId } }),
  };
  const asking = consent ? aboutPayment(bank, consent.transactionId) : bank;
  try {
    return (await ask(asking, call, fundsAnswer)).data.fundsAvailable;
  } catch (error) {
    throw wantsConsent(error, consent !== undefined) ? lackingConsent(error, consent !== undefined) : error;
  }
}

/** Whether the bank refuses a confirmation for want of a consent: by its code, or it had none and speaks of one. */
function wantsConsent(error: unknown, hadConsent: boolean): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  const { bankCode = '', httpStatus = 0, message } = error;
  if (bankCode.startsWith('CONSENT_')) return true;
  // What the customer activates at the bank, no consent replaces.
  if (bankCode === 'NO_PIIS_ACTIVATION') return false;
  return !hadConsent && httpStatus >= 400 && httpStatus < 500 && CONSENT.test(message);
}
/** In the languages of the banks. */
const CONSENT = /consen[ts]|einwilligung|zustimmung|toestemming|zgod/i;

function lackingConsent(error: Psd2Error, hadConsent: boolean): Psd2Error {
  const says = hadConsent
    ? 'The bank does not confirm funds with the consent that psd2 has'
    : 'The bank confirms funds only with a consent of the customer';
  return error.restated('not_logged_in', `${says}. ${error.message}`);
}
