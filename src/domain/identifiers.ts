import { Psd2Error } from '../errors.ts';

/** The id of a product (an account, card or deposit): 10 letters or digits, including leading zeros. */
export type ProductId = string & { readonly __productId: unique symbol };

function isProductId(text: string): text is ProductId {
  return /^[A-Za-z0-9]{10}$/.test(text);
}

/**
 * Reads a product id from the operator (interface specification, "Identifiers").
 *
 * @throws Psd2Error `invalid_product_id`
 */
export function parseProductId(text: string): ProductId {
  if (isProductId(text)) return text;
  const odd = /[^A-Za-z0-9]/u.exec(text);
  const what = odd
    ? `contains the character ${JSON.stringify(odd[0])}: only letters and digits are allowed`
    : `has ${text.length} characters instead of 10`;
  throw new Psd2Error('invalid_product_id', `The product id ${JSON.stringify(text)} ${what}`, {
    hint: 'Include leading zeros. See the product ids with:',
    next: [['accounts', 'list']],
  });
}

/** Whether a text is a customer id: digits only. */
export function isCustomerId(text: string): boolean {
  return /^\d{1,20}$/.test(text);
}

/**
 * Reads a customer id from the operator: digits only.
 *
 * @throws Psd2Error `usage`
 */
export function parseCustomerId(text: string): string {
  if (isCustomerId(text)) return text;
  throw new Psd2Error('usage', `The customer id ${JSON.stringify(text)} is not a number`, {
    hint: 'See the id of the logged-in customer with:',
    next: [['customer', 'id']],
  });
}
