import type { BankCall, Caller, Said } from '../../bank/call/call.ts';
import type { Bank } from '../../bank/ports/bank.ts';
import type { ConsentStatus } from '../../bank/ports/customer.ts';
import { type ErrorContext, Psd2Error } from '../../errors.ts';
import type { Customers } from '../../store/ports/customers.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { Tokens } from '../../store/ports/tokens.ts';
import { dropConsent, type KeptConsents } from './kept-customer.ts';

/** What is known where a reading may show that its consent has ended. */
export interface Ends {
  flows: Flows;
  customers: Customers;
  customerId: string;
  consents: Pick<KeptConsents, 'instead' | 'isForOne'>;
  /** The bank, for calls that nobody has asked for. */
  bank(): Pick<Bank, 'consents' | 'ofFunds'>;
  tokens: Pick<Tokens, 'erase'>;
}

/**
 * Calls that notice the end of a consent: if the bank refuses a reading for it, psd2 asks how the consent is, and records that.
 * So the lists, `psd2 status` and the next reading know it. If a consent for one reading is used up, the call is made again with
 * another one that may read the same.
 *
 * @param ends null: nothing is noticed
 */
export function noticingEnds<What extends Said>(calls: Caller<What>, ends: Ends | null): Caller<What> {
  if (!ends) return calls;
  return {
    send: calls.send,
    ask: async (call, read) => {
      try {
        return await calls.ask(call, read);
      } catch (error) {
        const consentId = call.headers?.['consent-id'];
        if (consentId === undefined || !(error instanceof Psd2Error)) throw error;
        const ended = error.endsConsent ? await recordEnd(ends, consentId) : undefined;
        const again = error.endsConsent || error.lasts ? await withAnother(ends, call, consentId) : undefined;
        const isUsedUp = error.lasts && call.facts.reads !== null && ends.consents.isForOne(consentId);
        if (!again && isUsedUp) throw error.with(usedUpFor(ends.customerId));
        if (!again) throw ended === undefined ? error : inItsWords(error, consentId, ended);
        return calls.ask(again, read);
      }
    },
  };
}

/** What helps after the only reading of a consent. */
function usedUpFor(customerId: string): Pick<ErrorContext, 'hint' | 'next'> {
  return {
    hint: 'The consent was for one reading, which is used up. Ask the customer for another one:',
    next: [['consent', 'request', '--customer', customerId]],
  };
}

/** The same call with the consent that may be used instead. Undefined without one. */
async function withAnother(
  { consents }: Ends,
  call: BankCall,
  consentId: string,
): Promise<BankCall | undefined> {
  const { reads } = call.facts;
  const other = reads === null ? undefined : await consents.instead(consentId, reads);
  return other && { ...call, headers: { ...call.headers, 'consent-id': other.consentId } };
}

/** Whatever fails here, the reading has failed already, and its error counts. @returns how the consent is. Undefined: psd2 could not find out */
async function recordEnd(
  { flows, customers, tokens, customerId, bank }: Ends,
  consentId: string,
): Promise<ConsentStatus['means'] | undefined> {
  try {
    const { consents = [], funds = [] } = (await customers.read(customerId)) ?? {};
    const ended = [...consents, ...funds].find((each) => each.consentId === consentId);
    if (!ended) return undefined;
    // Other readings need none of this.
    const { bankFor, recordStatus } = await import('../../flows/consent/by-links.ts');
    return await flows.resume('consent', ended.flow, async (open) => {
      const { means } = await recordStatus(
        open,
        { bank: bankFor(bank(), open.current) },
        {
          keepConsent: async () => {},
          dropConsent: (consent) => dropConsent({ customers, tokens }, consent),
        },
      );
      return means;
    });
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    return undefined;
  }
}

/** The error of the reading, in the words of the consent's own status: the reading was refused with a guess. */
function inItsWords(error: Psd2Error, consentId: string, means: ConsentStatus['means']): Psd2Error {
  const says =
    means === 'revoked'
      ? `The customer has revoked the consent ${consentId} at the bank`
      : means === 'expired' && `The consent ${consentId} has expired at the bank`;
  return says ? new Psd2Error(error.code, says, error.context) : error;
}
