import { Psd2Error } from '../errors.ts';

/** A product (an account, card or deposit): 10 letters or digits, leading zeros included. */
export type ProductId = string & { readonly __productId: unique symbol };

function isProductId(text: string): text is ProductId {
  return /^[A-Za-z0-9]{10}$/.test(text);
}

/**
 * Reads a product id as the operator gave it (interface specification, "Identifiers").
 *
 * @throws Psd2Error `invalid_product_id`
 */
export function parseProductId(text: string): ProductId {
  if (isProductId(text)) return text;
  const odd = /[^A-Za-z0-9]/u.exec(text);
  const what = odd
    ? `holds the character ${JSON.stringify(odd[0])}: only letters and digits are allowed`
    : `has ${text.length} characters instead of 10`;
  throw new Psd2Error('invalid_product_id', `The product id ${JSON.stringify(text)} ${what}`, {
    hint: 'Leading zeros belong to it. See the product ids with:',
    next: [['accounts', 'list']],
  });
}

/**
 * Reads a customer id as the operator gave it: digits only.
 *
 * @throws Psd2Error `usage`
 */
export function parseCustomerId(text: string): string {
  if (/^\d{1,20}$/.test(text)) return text;
  throw new Psd2Error('usage', `The customer id ${JSON.stringify(text)} is not a number`, {
    hint: 'See the id of the customer who is logged in with:',
    next: [['customer', 'id']],
  });
}
