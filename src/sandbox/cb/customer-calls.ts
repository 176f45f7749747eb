import { Refusal } from '../answers/refusal.ts';
import type { Product } from '../customers/seed-customers.ts';
import { bankDay, bankHour, writeBankDate } from '../ledger/bank-time.ts';
import { euros } from '../ledger/cents.ts';
import type { Calls } from './bank-call.ts';
import { success } from './envelope.ts';
import { customerOf, inquiredProductOf } from './from-path.ts';
import { requireRole } from './permission.ts';

/** The customer and their products (interface specification, "Customer data"). */
export const customerCalls: Calls = {
  'GET /private/customers/customerid-info': (bank, call) => {
    const { customerId, application } = call.caller;
    if (customerId === undefined)
      throw new Refusal(
        'NOT_ALLOWED',
        `The application ${application.applicationName} has no customer of its own`,
      );
    return success(bank, { data: { customerid: customerId }, resultExtras: { result: true } });
  },

  'GET /private/customers/{customerId}': (bank, call) => {
    requireRole(bank, 'ACCOUNT_INFO');
    const { customerId, firstName, lastName } = customerOf(bank, call);
    return success(bank, {
      data: { customerid: customerId, name: firstName, surname: lastName },
      place: { base: '/private/customers', name: 'customers', self: { href: customerId, method: 'GET' } },
    });
  },

  'GET /private/customers/{customerId}/accounts': listAs('accounts'),
  'GET /private/customers/{customerId}/products': listAs('products'),

  'GET /private/customers/{customerId}/products/{productId}': (bank, call) => {
    const { customer, product } = inquiredProductOf(bank, call);
    return success(bank, {
      data: accountRecord(product),
      place: {
        base: `/private/customers/${customer.customerId}/products`,
        name: 'products',
        self: { href: product.productId, method: 'GET' },
      },
    });
  },

  'GET /private/customers/{customerId}/products/{productId}/balance/retrieve': (bank, call) => {
    const { customer, product } = inquiredProductOf(bank, call);
    const now = bank.now();
    const { booked, available } = bank.ledger.balance(product, now);
    return success(bank, {
      data: {
        accountBalance: euros(booked),
        availableBalance: euros(available),
        accountAvailability: euros(available + product.creditLimit),
        ...(product.creditLimit > 0 && { accountAvailableCredit: euros(available + product.creditLimit) }),
        date: writeBankDate(bankDay(now)),
        hour: bankHour(now),
        isPocketAccount: false,
      },
      place: {
        base: `/private/customers/${customer.customerId}/products/${product.productId}/balance`,
        name: 'balance',
        self: { href: 'retrieve', method: 'GET' },
      },
    });
  },
};

/** The list of products. It has two names. */
function listAs(name: 'accounts' | 'products'): Calls[string] {
  return (bank, call) => {
    const { customerId, products } = customerOf(bank, call);
    return success(bank, {
      data: { [name]: products.map(accountRecord) },
      place: { base: `/private/customers/${customerId}`, name, self: { href: name, method: 'GET' } },
    });
  };
}

/** The account record of the interface specification ("Records"). */
function accountRecord({ productId, code, description, iban, name }: Product): Record<string, unknown> {
  return { accountId: productId, product: { code, description }, currency: 'EUR', iban, name };
}
