import * as z from 'zod/mini';
import type { Bank } from '../../bank.ts';
import type { Customers } from '../../customers/customers.ts';
import type { Product } from '../../customers/seed-customers.ts';
import { readCents } from '../../ledger/cents.ts';
import { header } from '../../strict/headers.ts';
import { isReferredTo } from '../consents/consent.ts';
import { type AccountReference, reference } from '../consents/consent-request.ts';
import type { DoorAnswer, DoorCall } from '../door-call.ts';
import { doorOf } from '../door-state.ts';
import { checkGrant } from '../in-path.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';
import { readBody } from '../strict/body.ts';
import { readQuery } from '../strict/query.ts';

const fundsBody = z.strictObject({
  account: reference,
  instructedAmount: z.strictObject({ currency: z.literal('EUR'), amount: z.string() }),
  cardNumber: z.optional(z.string().check(z.maxLength(35))),
  payee: z.optional(z.string().check(z.maxLength(70))),
});

/** `POST /funds-confirmations`: whether the available balance covers an amount. */
export function checkAvailabilityOfFunds(bank: Bank, call: DoorCall): DoorAnswer {
  readQuery(call.request, []);
  const { account, instructedAmount } = readBody(call.request, fundsBody);
  const { customers, ledger } = bank;
  const owned = accountOf(customers, account);
  if (!owned)
    throw unexpected(
      'FORMAT_ERROR',
      `account.${Object.keys(account)[0]}`,
      'The bank has no such account',
      'an account of the customer',
      Object.values(account)[0],
    );
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
  if (consentId === undefined && bank.rules.variations.includes('funds-consents'))
    throw new DoorRefusal('FORMAT_ERROR', 'The call has no Consent-ID', '', { path: 'Consent-ID' });
  if (consentId === undefined) checkGrant(call, owned.customer.customerId, undefined);
  else checkConsent(bank, call, consentId, owned.product);
  const { available } = ledger.balance(owned.product, bank.now());
  return { status: 200, body: { fundsAvailable: available + owned.product.creditLimit >= cents } };
}

/** The consent of a confirmation names this account, and an access token is for the same consent. @throws DoorRefusal */
function checkConsent(bank: Bank, { grant }: DoorCall, id: string, product: Product): void {
  const { grants } = doorOf(bank).consents.requireValid(id, 'funds-consent');
  if (!grants.has(product.productId))
    throw new DoorRefusal('CONSENT_INVALID', 'The consent is for another account', '', {
      path: 'Consent-ID',
    });
  const isForOther =
    grant && (grant.paymentId !== undefined || (grant.consentId !== undefined && grant.consentId !== id));
  if (isForOther) throw new DoorRefusal('TOKEN_INVALID', 'The access token is for another consent');
}

function accountOf(customers: Customers, account: AccountReference): ReturnType<Customers['byProduct']> {
  const { iban } = account;
  const product =
    iban === undefined
      ? customers.seeded.flatMap(({ products }) => products).find((each) => isReferredTo(each, account))
      : customers.accountByIban(iban);
  return customers.byProduct(product?.productId ?? '');
}
