import * as z from 'zod/mini';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Customer, Product } from '../customers/seed-customers.ts';
import { readJsonBody, requireEmptyBody } from '../strict/body.ts';
import type { Calls } from './bank-call.ts';
import type { Place } from './envelope.ts';
import { success } from './envelope.ts';
import { consentOf, customerOf, findProduct } from './from-path.ts';
import type { ConsentCategory, ConsentResource } from './orders/resource.ts';
import { type Category, requireRole } from './permission.ts';

const consentBody = z.strictObject({
  data: z.strictObject({
    categories: z
      .array(
        z.strictObject({
          name: z.enum(['ACCOUNT_INFO', 'FUNDS_AVAILABILITY', 'PAYMENTS']),
          products: z.array(z.string()).check(z.minLength(1)),
        }),
      )
      .check(z.minLength(1)),
  }),
});

/** Consent: request and confirm, with SCA in between (interface specification, "Consent"). */
export const consentCalls: Calls = {
  'POST /private/customers/{customerId}/consent/request': (bank, call) => {
    const customer = customerOf(bank, call);
    if (call.caller.customerId === undefined)
      throw new Refusal(
        'NOT_ALLOWED',
        'A consent needs the customer online, through the authorization_code application',
      );
    const { data } = readJsonBody(call.request, consentBody);
    for (const { name } of data.categories) requireRole(bank, name);
    const consent = bank.resources.addConsent(customer, readCategories(data.categories, customer));
    return success(bank, {
      data: { categoriesOutcome: consent.categories.map(({ name, outcome }) => ({ name, outcome })) },
      resourceId: consent.id,
      place: {
        ...consentPlace(customer),
        self: { href: 'request', method: 'POST' },
        next: { href: `request/${consent.id}/confirm`, method: 'PUT' },
      },
    });
  },

  'PUT /private/customers/{customerId}/consent/request/{resourceId}/confirm': (bank, call) => {
    const consent = consentOf(bank, call);
    requireEmptyBody(call.request);
    if (consent.finishedAt) throw new Refusal('ALREADY_CONFIRMED', 'The consent was already confirmed');
    bank.resources.requireAuthorized(consent);
    consent.finishedAt = bank.now();
    recordConsent(bank, consent);
    return success(bank, {
      data: {},
      resourceId: consent.id,
      place: {
        ...consentPlace(consent.customer),
        self: { href: `request/${consent.id}/confirm`, method: 'PUT' },
      },
    });
  },
};

/** Records one consent for each granted category and product. */
function recordConsent(bank: Bank, { customer, categories }: ConsentResource): void {
  for (const { name, products } of categories.filter(({ outcome }) => outcome)) {
    for (const { productId } of products)
      bank.consents.give({ customerId: customer.customerId, category: name, productId });
  }
}

function readCategories(
  categories: readonly { name: Category; products: readonly string[] }[],
  customer: Customer,
): ConsentCategory[] {
  refuseTwice(
    'data.categories',
    categories.map(({ name }) => name),
  );
  return categories.map(({ name, products }) => {
    refuseTwice(`the products of ${name}`, products);
    const covered = products.map((productId) => findProduct(customer, productId));
    return { name, products: covered, outcome: isOffered(name, covered) };
  });
}

/** Only accounts have FUNDS_AVAILABILITY. One card makes the bank decline the whole category. */
function isOffered(category: Category, products: readonly Product[]): boolean {
  return category !== 'FUNDS_AVAILABILITY' || products.every(({ kind }) => kind !== 'card');
}

function refuseTwice(where: string, values: readonly string[]): void {
  const twice = values.find((value, index) => values.indexOf(value) !== index);
  if (twice !== undefined) throw new Refusal('FIELD_INVALID', `${twice} is twice in ${where}`);
}

function consentPlace({ customerId }: Customer): Pick<Place, 'base' | 'name'> {
  return { base: `/private/customers/${customerId}/consent`, name: 'consent' };
}
