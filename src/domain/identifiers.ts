import { Psd2Error } from '../errors.ts';

/** The id of an account, card or deposit, in a form of its bank. */
export type AccountId = string & { readonly __accountId: unique symbol };

/** Whether a text can be the id of an account, card or deposit, at any bank: 1 to 70 visible characters of ASCII. */
export function isAccountId(text: string): text is AccountId {
  return /^[!-~]{1,70}$/.test(text);
}

/**
 * Reads the id of a product (an account, card or deposit) of today's bank from the operator: 10 letters or digits, including
 * leading zeros (interface specification, "Identifiers").
 *
 * @throws Psd2Error `invalid_product_id`
 */
export function parseProductId(text: string): AccountId {
  if (/^[A-Za-z0-9]{10}$/.test(text) && isAccountId(text)) return text;
  const next = [['accounts', 'list']];
  if (/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/i.test(text.replaceAll(' ', '')))
    throw new Psd2Error('invalid_product_id', "This bank wants the account's id, not its IBAN", {
      hint: 'See the ids with:',
      next,
    });
  const odd = /[^A-Za-z0-9]/u.exec(text);
  const what = odd
    ? `contains the character ${JSON.stringify(odd[0])}: only letters and digits are allowed`
    : `has ${text.length} characters instead of 10`;
  throw new Psd2Error('invalid_product_id', `The account id ${JSON.stringify(text)} ${what}`, {
    hint: 'Include leading zeros. See the ids with:',
    next,
  });
}

/** Whether a text can be the id of a customer, at any bank: 1 to 64 letters, digits, `.`, `_` or `-`, but not `.` or `..`. */
export function isCustomerId(text: string): boolean {
  return /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(text);
}

/**
 * Reads a customer id of today's bank from the operator: digits only.
 *
 * @throws Psd2Error `usage`
 */
export function parseCustomerId(text: string): string {
  if (/^\d{1,20}$/.test(text)) return text;
  throw new Psd2Error('usage', `The customer id ${JSON.stringify(text)} is not a number`, {
    hint: 'See the id of the logged-in customer with:',
    next: [['customer', 'id']],
  });
}

const PAYMENT = 'payment:';

/** The holder of the tokens of one payment. No customer has such an id. */
export function paymentHolder(transactionId: string): string {
  return `${PAYMENT}${transactionId}`;
}

/** Whether the tokens of a holder are those of a payment. */
export function isPaymentHolder(holder: string): boolean {
  return holder.startsWith(PAYMENT);
}
