import type { Bank } from '../bank.ts';
import type { Resource } from '../cb/orders/resource.ts';
import type { AccessSide } from '../customer-site/access-side.ts';
import type { Customer } from '../customers/seed-customers.ts';
import { decimal } from '../ledger/cents.ts';
import type { Entry } from '../ledger/entry.ts';
import { consentStatus } from '../nextgenpsd2/door-state.ts';
import { customerPage } from '../nextgenpsd2/links.ts';
import { listPayments } from '../nextgenpsd2/payments/payment-view.ts';
import { paymentsTogether } from './payments-together.ts';

/** The maximum numbers of flows and transactions that the console shows. */
const MAX_FLOWS = 100;
const MAX_ENTRIES = 50;

/** The pending logins, and the resources of all flows, newest first. */
export function flowsOf(bank: Bank, access: AccessSide) {
  return {
    logins: bank.logins.open().map(({ id, application, startedAt }) => ({
      id,
      application: application.applicationName,
      startedAt: startedAt.toISOString(),
      url: `${bank.customerSiteUrl}/login?request=${id}`,
    })),
    /** The users that have a button to log in. */
    users: bank.customers.seeded.map(({ user }) => user),
    resources: bank.resources
      .list()
      .slice(-MAX_FLOWS)
      .toReversed()
      .map((resource) => ({
        id: resource.id,
        kind: resource.kind,
        customer: resource.customer.user,
        about: aboutOf(resource),
        createdAt: resource.createdAt.toISOString(),
        sca: resource.sca ? bank.resources.scaState(resource) : 'not started',
        /** Whether the customer can decide now. */
        open: resource.sca !== undefined && bank.resources.scaState(resource) === 'PENDING',
        execution: executionOf(bank, resource),
      })),
    together: paymentsTogether(bank, (resource) => executionOf(bank, resource)),
    door: {
      requests: access.open().map((request) => ({ ...request, url: customerPage(bank, request.id) })),
      payments: listPayments(bank).slice(-MAX_FLOWS).toReversed(),
      consents: bank.door.consents
        .list()
        .slice(-MAX_FLOWS)
        .toReversed()
        .map((consent) => ({
          id: consent.id,
          type: consent.type,
          status: consentStatus(bank.door, consent),
          customer: bank.customers.find(consent.customerId ?? '')?.user ?? '',
          until: consent.validUntil,
          accounts: consent.grants.size,
        })),
    },
    consents: bank.consents.inForce().map(({ customerId, category, productId, givenAt, endsAt }) => ({
      customer: bank.customers.find(customerId)?.user ?? customerId,
      category,
      productId,
      givenAt: givenAt.toISOString(),
      endsAt: endsAt.toISOString(),
    })),
  };
}

function aboutOf(resource: Resource): string {
  switch (resource.kind) {
    case 'consent':
      return resource.categories
        .map(({ name, products }) => `${name} for ${products.map(({ productId }) => productId).join(', ')}`)
        .join('; ');
    case 'inquiry':
      return `transactions of ${resource.product.productId} from ${resource.from}`;
    case 'moneyTransfer':
    case 'standingOrder': {
      const { beneficiaryName, beneficiaryIban, amount } = resource.order;
      return `${decimal(amount)} EUR from ${resource.product.productId} to ${beneficiaryName}, ${beneficiaryIban}`;
    }
  }
}

function executionOf(bank: Bank, resource: Resource): string {
  if (resource.kind === 'consent') return resource.finishedAt ? 'confirmed' : 'not confirmed';
  if (resource.kind === 'inquiry') return '';
  const { execution } = resource;
  if (!execution) return resource.nextStep === 'verify2' ? 'verify2 required' : 'not executed';
  if (!('cro' in execution)) return `executed, ${execution.standingOrderId}`;
  const { cro, settlement } = execution;
  if (!settlement) return `executed, CRO ${cro}`;
  return bank.now() < settlement.at ? `pending, CRO ${cro}` : `settled ${settlement.status}, CRO ${cro}`;
}

/** The accounts of one customer. Default: of the seeded customers. */
export function accountsOf(bank: Bank, user: string | undefined) {
  const one = user === undefined ? undefined : bank.customers.byUser(user);
  const customers: readonly Customer[] = user === undefined ? bank.customers.seeded : one ? [one] : [];
  const now = bank.now();
  return customers.map(({ user: name, firstName, lastName, customerId, products }) => ({
    user: name,
    name: `${firstName} ${lastName}`,
    customerId,
    products: products.map((product) => {
      const { booked, available } = bank.ledger.balance(product, now);
      return {
        productId: product.productId,
        kind: product.kind,
        name: product.name,
        iban: product.iban,
        booked: decimal(booked),
        available: decimal(available),
      };
    }),
  }));
}

/** The newest entries of an account, pending ones first. Undefined if the bank has no such account. */
export function ledgerOf(bank: Bank, productId: string) {
  const found = bank.customers.byProduct(productId);
  if (!found) return undefined;
  const whole = { from: undefined, to: undefined };
  const { booked, pending } = bank.ledger.entries(found.product, whole, bank.now());
  const view =
    (state: string) =>
    ({ amount, bookingDay, shortDescription, extendedDescription, transferReference }: Entry) => ({
      state,
      day: bookingDay,
      amount: decimal(amount),
      text: `${shortDescription} ${extendedDescription}`,
      reference: transferReference,
    });
  return {
    productId,
    count: booked.count + pending.length,
    entries: [
      ...pending.slice(0, MAX_ENTRIES).map(view('pending')),
      ...booked.slice(0, MAX_ENTRIES).map(view('booked')),
    ],
  };
}
