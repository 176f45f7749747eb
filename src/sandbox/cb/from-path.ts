import { Refusal, wrongValue } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import { isUuid } from '../strict/headers.ts';
import type { PrivateCall } from './bank-call.ts';
import type { ConsentResource, OperationResource, Resource } from './orders/resource.ts';
import { type Category, requireAnyConsent, requireConsent, requireRole } from './permission.ts';

/**
 * The customer that the path names, if the caller's token is valid for them.
 *
 * @throws Refusal `FIELD_INVALID`, `NOT_ALLOWED`, `CUSTOMER_UNKNOWN`, `CONSENT_MISSING`
 */
export function customerOf(bank: Bank, call: PrivateCall): Customer {
  const id = call.parameters.get('customerId') ?? '';
  if (!/^\d{7}$/.test(id))
    throw wrongValue('FIELD_INVALID', 'The customerId of the path is not valid', '7 digits', id);
  const { customerId } = call.caller;
  if (customerId !== undefined && customerId !== id)
    throw wrongValue('NOT_ALLOWED', "The access token is another customer's", `customerId ${customerId}`, id);
  const customer = bank.customers.find(id);
  if (!customer) throw new Refusal('CUSTOMER_UNKNOWN', `The bank has no customer ${id}`);
  if (customerId === undefined) requireAnyConsent(bank, customer);
  return customer;
}

/**
 * The product that the path names, if the customer has it.
 *
 * @throws Refusal as {@link customerOf} and {@link findProduct}
 */
function productOf(bank: Bank, call: PrivateCall): { customer: Customer; product: Product } {
  const customer = customerOf(bank, call);
  return { customer, product: findProduct(customer, call.parameters.get('productId') ?? '') };
}

/**
 * Finds a customer's product.
 *
 * @throws Refusal `FIELD_INVALID`, `PRODUCT_UNKNOWN`
 */
export function findProduct(customer: Customer, productId: string): Product {
  if (!/^[0-9A-Za-z]{10}$/.test(productId))
    throw wrongValue(
      'FIELD_INVALID',
      'The productId is not valid',
      '10 letters and digits',
      `"${productId}"`,
    );
  const product = customer.products.find((candidate) => candidate.productId === productId);
  if (product) return product;
  throw new Refusal('PRODUCT_UNKNOWN', `The customer ${customer.customerId} has no product ${productId}`);
}

/**
 * The resource that the path names, if it belongs to the caller's customer.
 *
 * @throws Refusal `FIELD_INVALID`, `RESOURCE_UNKNOWN`
 */
export function resourceOf(bank: Bank, call: PrivateCall): Resource {
  const id = call.parameters.get('resourceId') ?? '';
  if (!isUuid(id)) throw wrongValue('FIELD_INVALID', 'The resourceId of the path is not valid', 'a UUID', id);
  const resource = bank.resources.find(id);
  const { customerId } = call.caller;
  // The answer is the same for another customer's resource and for one that does not exist.
  if (resource && (customerId === undefined || customerId === resource.customer.customerId)) return resource;
  throw unknownResource(id);
}

/** The consent that the path names. */
export function consentOf(bank: Bank, call: PrivateCall): ConsentResource {
  const customer = customerOf(bank, call);
  const resource = resourceOf(bank, call);
  if (resource.kind === 'consent' && resource.customer.customerId === customer.customerId) return resource;
  throw unknownResource(resource.id);
}

/**
 * The product that the path names, if the TPP may read it.
 *
 * @throws Refusal as {@link productOf}, `ROLE_MISSING`, `CONSENT_MISSING`
 */
export function inquiredProductOf(bank: Bank, call: PrivateCall): { customer: Customer; product: Product } {
  return permittedProductOf(bank, call, 'ACCOUNT_INFO');
}

/**
 * The account that the path names, if an operation may pay from it.
 *
 * @throws Refusal as {@link productOf}, `ROLE_MISSING`, `CONSENT_MISSING`, `PRODUCT_NOT_ENABLED`
 */
export function payingProductOf(bank: Bank, call: PrivateCall): { customer: Customer; product: Product } {
  const owned = permittedProductOf(bank, call, 'PAYMENTS');
  const { kind, productId } = owned.product;
  if (kind !== 'card') return owned;
  throw new Refusal('PRODUCT_NOT_ENABLED', `${productId} is a card. Only accounts can pay`);
}

/**
 * The operation that the path names, if it pays from the product that the path names.
 *
 * @param kind the required operation. Default: any
 */
export function operationOf(bank: Bank, call: PrivateCall): OperationResource;
export function operationOf<K extends OperationResource['kind']>(
  bank: Bank,
  call: PrivateCall,
  kind: K,
): Extract<OperationResource, { kind: K }>;
export function operationOf(
  bank: Bank,
  call: PrivateCall,
  kind?: OperationResource['kind'],
): OperationResource {
  const { product } = payingProductOf(bank, call);
  const resource = resourceOf(bank, call);
  const operation = resource.kind === 'moneyTransfer' || resource.kind === 'standingOrder';
  if (
    operation &&
    resource.kind === (kind ?? resource.kind) &&
    resource.product.productId === product.productId
  )
    return resource;
  throw unknownResource(resource.id);
}

function permittedProductOf(
  bank: Bank,
  call: PrivateCall,
  category: Category,
): { customer: Customer; product: Product } {
  requireRole(bank, category);
  const owned = productOf(bank, call);
  requireConsent(bank, owned.customer, owned.product, category);
  return owned;
}

function unknownResource(id: string): Refusal {
  return new Refusal('RESOURCE_UNKNOWN', `There is no resource ${id} for this call`);
}
