import type { Context } from 'hono';
import type { Bank } from './bank.ts';
import type { BankEnv } from './bank-env.ts';
import { expectedAndReceived, Refusal } from './refusal.ts';
import type { ConsentResource, Resource, TransferResource } from './resources.ts';
import type { Customer, Product } from './seed-customers.ts';
import { isUuid } from './strict/headers.ts';

/**
 * The customer that the path names, where the caller's token is good for them.
 *
 * @throws Refusal `FIELD_INVALID`, `NOT_ALLOWED`, `CUSTOMER_UNKNOWN`
 */
export function customerOf(c: Context<BankEnv>, bank: Bank): Customer {
  const id = c.req.param('customerId') ?? '';
  if (!/^\d{7}$/.test(id)) {
    throw new Refusal(
      'FIELD_INVALID',
      'The customerId of the path is not valid',
      expectedAndReceived('7 digits', id),
    );
  }
  const { customerId } = c.var.caller;
  if (customerId !== undefined && customerId !== id) {
    throw new Refusal(
      'NOT_ALLOWED',
      "The access token is another customer's",
      expectedAndReceived(`customerId ${customerId}`, id),
    );
  }
  const customer = bank.customers.find((candidate) => candidate.customerId === id);
  if (!customer) throw new Refusal('CUSTOMER_UNKNOWN', `The bank has no customer ${id}`);
  return customer;
}

/**
 * The product that the path names, which is one of the customer's.
 *
 * @throws Refusal as {@link customerOf} and {@link findProduct}
 */
export function productOf(c: Context<BankEnv>, bank: Bank): { customer: Customer; product: Product } {
  const customer = customerOf(c, bank);
  return { customer, product: findProduct(customer, c.req.param('productId') ?? '') };
}

/**
 * A customer's product.
 *
 * @throws Refusal `FIELD_INVALID`, `PRODUCT_UNKNOWN`
 */
export function findProduct(customer: Customer, productId: string): Product {
  if (!/^[0-9A-Za-z]{10}$/.test(productId)) {
    throw new Refusal(
      'FIELD_INVALID',
      'The productId is not valid',
      expectedAndReceived('10 letters and digits', `"${productId}"`),
    );
  }
  const product = customer.products.find((candidate) => candidate.productId === productId);
  if (product) return product;
  throw new Refusal('PRODUCT_UNKNOWN', `The customer ${customer.customerId} has no product ${productId}`);
}

/**
 * The resource that the path names, which is the caller's customer's.
 *
 * @throws Refusal `FIELD_INVALID`, `RESOURCE_UNKNOWN`
 */
export function resourceOf(c: Context<BankEnv>, bank: Bank): Resource {
  const id = c.req.param('resourceId') ?? '';
  if (!isUuid(id)) {
    throw new Refusal(
      'FIELD_INVALID',
      'The resourceId of the path is not valid',
      expectedAndReceived('a UUID', id),
    );
  }
  const resource = bank.resources.find(id);
  const { customerId } = c.var.caller;
  // Another customer's resource is not told from one that does not exist.
  if (resource && (customerId === undefined || customerId === resource.customer.customerId)) return resource;
  throw unknownResource(id);
}

/** The consent that the path names. */
export function consentOf(c: Context<BankEnv>, bank: Bank): ConsentResource {
  const customer = customerOf(c, bank);
  const resource = resourceOf(c, bank);
  if (resource.kind === 'consent' && resource.customer === customer) return resource;
  throw unknownResource(resource.id);
}

/** The transfer that the path names, from the product that the path names. */
export function transferOf(c: Context<BankEnv>, bank: Bank): TransferResource {
  const { product } = productOf(c, bank);
  const resource = resourceOf(c, bank);
  if (resource.kind === 'transfer' && resource.product === product) return resource;
  throw unknownResource(resource.id);
}

function unknownResource(id: string): Refusal {
  return new Refusal('RESOURCE_UNKNOWN', `There is no resource ${id} for this call`);
}
