import * as z from 'zod/mini';
import type { Bank } from '../../bank.ts';
import { readCents } from '../../ledger/cents.ts';
import { header } from '../../strict/headers.ts';
import type { DoorAnswer, DoorCall } from '../door-call.ts';
import { checkGrant } from '../in-path.ts';
import { unexpected } from '../refusal.ts';
import { readBody } from '../strict/body.ts';
import { readQuery } from '../strict/query.ts';

const fundsBody = z.strictObject({
  account: z.strictObject({ iban: z.string(), currency: z.optional(z.literal('EUR')) }),
  instructedAmount: z.strictObject({ currency: z.literal('EUR'), amount: z.string() }),
  cardNumber: z.optional(z.string().check(z.maxLength(35))),
  payee: z.optional(z.string().check(z.maxLength(70))),
});

/** `POST /funds-confirmations`: whether the available balance covers an amount. */
export function checkAvailabilityOfFunds(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  const { account, instructedAmount } = readBody(call.request, fundsBody);
  const { customers, ledger, door } = bank;
  const found = customers.byProduct(customers.accountByIban(account.iban)?.productId ?? '');
  if (!found) {
    throw unexpected(
      'FORMAT_ERROR',
      'account.iban',
      'The bank has no such account',
      'an account of the customer',
      account.iban,
    );
  }
  const cents = readCents(instructedAmount.amount);
  if (!cents) {
    const expected = 'a decimal above 0 with at most two decimals';
    throw unexpected(
      'FORMAT_ERROR',
      'instructedAmount.amount',
      'The amount is not valid',
      expected,
      instructedAmount.amount,
    );
  }
  const consentId = header(call.request, 'consent-id');
  if (consentId !== undefined) door.consents.requireValid(consentId);
  else checkGrant(call, found.customer.customerId, undefined);
  const { available } = ledger.balance(found.product, bank.now());
  return { status: 200, body: { fundsAvailable: available >= cents } };
}
