import type { AskedFunds } from '../../bank/ports/bank.ts';
import { referenceToAsk } from '../../domain/order/account-reference.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context, CustomerBank } from '../context.ts';
import { fundsConsentFor } from './kept-customer.ts';

/**
 * Whether the account has the amount. Sends the newest consent for that account, if there is one. If the bank ends it with its answer,
 * another one may be left.
 *
 * @throws Psd2Error of the bank. If it is for want of a consent, with the command that asks for one
 */
export async function confirmFunds(
  context: Context,
  { bank, customerId }: CustomerBank,
  asked: AskedFunds,
  transactionId: string,
): Promise<boolean> {
  const { has } = await context.bankInterface();
  const { customers } = await context.store();
  const takesConsents = has.has('consents for confirmations of funds');
  const kept = async () =>
    takesConsents ? fundsConsentFor(await customers.read(customerId), asked.account) : undefined;
  for (let consent = await kept(); ; ) {
    try {
      const available = await bank.payments.funds?.({ ...asked, ...(consent && { consent }) }, transactionId);
      if (available === undefined) throw new TypeError('The interface says that it confirms funds');
      return available;
    } catch (error) {
      const ended = consent;
      if (!takesConsents || !isForWant(error)) throw error;
      consent = await kept();
      if (ended && consent && consent.consentId !== ended.consentId) continue;
      const account = referenceToAsk(asked.account);
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

function isForWant(error: unknown): error is Psd2Error {
  if (!(error instanceof Psd2Error)) return false;
  return error.code === 'forbidden' || (error.code === 'not_logged_in' && error.next === undefined);
}
