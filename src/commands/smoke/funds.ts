import { isIban } from '../../domain/order/iban.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { confirmFunds } from '../open/funds.ts';
import { chosenAccount } from './readings.ts';
import { bankOf, type Found, missing, type Smoke } from './smoke.ts';

export const NO_FUNDS: Found = { skipped: 'this bank has no confirmation of funds' };

/** Step 10: whether the account has one cent. */
export async function funds(smoke: Smoke): Promise<Found> {
  const { context, plan } = smoke;
  if (!(await context.bankInterface()).has.has('confirmation of funds')) return NO_FUNDS;
  const opened = await bankOf(smoke);
  const named = plan.account && isIban(plan.account) ? plan.account : undefined;
  const account = named ?? (await chosenAccount(smoke, opened))?.iban;
  if (!account) return missing('no account with an IBAN is known: name one with --account');
  const question = { account, amount: parsePaymentAmount('0.01'), currency: 'EUR' };
  const answer = await confirmFunds(context, opened, question, context.world.newId());
  return { detail: answer ? 'available' : 'not available' };
}
