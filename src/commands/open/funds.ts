import type { AskedFunds } from '../../bank/ports/bank.ts';
import { accountReferenceOf, referenceToAsk } from '../../domain/order/account-reference.ts';
import { adviceIn, Psd2Error } from '../../errors.ts';
import type { Context, CustomerBank } from '../context.ts';
import { fundsConsentFor } from './kept-customer.ts';

/**
 * Whether the account has the amount. Sends the newest consent for that account, if there is one. If the bank ends it with its answer,
 * another one may be left.
 *
 * @throws Psd2Error of the bank, and `bank_answer` if the bank refuses the question: that is no "no". If it is for want of a consent,
 *   with the command that asks for one, at a bank that has such consents
 */
export async function confirmFunds(
  context: Context,
  { bank, customerId }: CustomerBank,
  query: AskedFunds,
  transactionId: string,
): Promise<boolean> {
  const { has } = await context.bankInterface();
  const { customers } = await context.store();
  const takesConsents = has.has('consents for confirmations of funds');
  const keptConsent = async () =>
    takesConsents ? fundsConsentFor(await customers.read(customerId), query.account) : undefined;
  for (let consent = await keptConsent(); ; ) {
    try {
      const available = await bank.payments.funds?.({ ...query, ...(consent && { consent }) }, transactionId);
      if (available === undefined) throw new TypeError('The interface says that it confirms funds');
      return available;
    } catch (error) {
      const ended = consent;
      if (!isForWant(error)) throw orUnsaid(error, query);
      if (!takesConsents) throw withoutConsents(error);
      consent = await keptConsent();
      if (ended && consent && consent.consentId !== ended.consentId) continue;
      const account = referenceToAsk(query.account);
      const request = ['consent', 'request', '--category', 'FUNDS_AVAILABILITY', '--account', account];
      // With a consent, the certificate may lack the role.
      const isOther = error.code === 'forbidden' && ended !== undefined;
      throw error.with({
        ...(!isOther && { hint: 'Ask the customer for a consent to that:' }),
        next: [request],
      });
    }
  }
}

/** Whether a consent may help. What a token lacks, or only the customer can change, the error says itself. */
function isForWant(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  return error.code === 'forbidden' || (error.code === 'not_logged_in' && adviceIn(error) === null);
}

/** The error of a bank without consents for confirmations of funds, which speaks of one all the same, or forbids the question. */
function withoutConsents(error: Psd2Error): Psd2Error {
  const { code, message } = error;
  if (code === 'not_logged_in')
    return error.with({
      hint: 'The customer consents to it at the bank. psd2 asks for such a consent unless funds.consent of the bank file is never.',
    });
  // A consent for readings says nothing of funds.
  return error.restated(code, message).with({
    hint: 'The certificate may lack the role PSP_IC, or the customer has not consented at the bank. See the roles with:',
    next: [['cert', 'inspect']],
  });
}

/** A question that the bank refuses has no answer: only the bank's "no" is one. */
function orUnsaid(error: unknown, { account, amount }: AskedFunds): unknown {
  if (!(error instanceof Psd2Error) || error.code !== 'bank_refused') return error;
  const unsaid = error.restated(
    'bank_answer',
    `The bank did not say whether the account has the amount. ${error.message}`,
  );
  const { currency } = accountReferenceOf(account);
  if (currency !== null) return unsaid.with({ ...adviceIn(error) });
  return unsaid.with({
    hint: "At some banks the currency belongs to the account's name. Ask with it:",
    next: [['funds', 'check', '--account', referenceToAsk(`${account}:EUR`), '--amount', amount]],
  });
}
