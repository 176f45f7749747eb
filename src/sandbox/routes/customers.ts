import { Hono } from 'hono';
import { customerOf, inquiredProductOf } from '../access/from-path.ts';
import { requireRole } from '../access/permission.ts';
import { answerSuccess } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import type { Bank } from '../bank.ts';
import type { Product } from '../customers/seed-customers.ts';
import { bankDay, bankHour, writeBankDate } from '../ledger/bank-time.ts';
import { euros } from '../ledger/cents.ts';
import type { BankEnv } from '../server/bank-env.ts';

/** The customer and their products (interface specification, "Customer data"). */
export function customerRoutes(bank: Bank): Hono<BankEnv> {
  const routes = new Hono<BankEnv>();

  routes.get('/private/customers/customerid-info', (c) => {
    const { customerId, application } = c.var.caller;
    if (customerId === undefined) {
      throw new Refusal(
        'NOT_ALLOWED',
        `The application ${application.applicationName} has no customer of its own`,
      );
    }
    return answerSuccess(c, bank, { data: { customerid: customerId }, resultExtras: { result: true } });
  });

  routes.get('/private/customers/:customerId', (c) => {
    requireRole(bank, 'ACCOUNT_INFO');
    const { customerId, firstName, lastName } = customerOf(c, bank);
    return answerSuccess(c, bank, {
      data: { customerid: customerId, name: firstName, surname: lastName },
      place: { base: '/private/customers', name: 'customers', self: { href: customerId, method: 'GET' } },
    });
  });

  for (const name of ['accounts', 'products'] as const) {
    routes.get(`/private/customers/:customerId/${name}`, (c) => {
      const { customerId, products } = customerOf(c, bank);
      return answerSuccess(c, bank, {
        data: { [name]: products.map(accountRecord) },
        place: { base: `/private/customers/${customerId}`, name, self: { href: name, method: 'GET' } },
      });
    });
  }

  routes.get('/private/customers/:customerId/products/:productId', (c) => {
    const { customer, product } = inquiredProductOf(c, bank);
    return answerSuccess(c, bank, {
      data: accountRecord(product),
      place: {
        base: `/private/customers/${customer.customerId}/products`,
        name: 'products',
        self: { href: product.productId, method: 'GET' },
      },
    });
  });

  return routes;
}

/** The account record of the interface specification ("Records"). */
function accountRecord({ productId, code, description, iban, name }: Product): Record<string, unknown> {
  return { accountId: productId, product: { code, description }, currency: 'EUR', iban, name };
}

/** The balance of an account (interface specification, "Customer data"). */
export function accountRoutes(bank: Bank): Hono<BankEnv> {
  const routes = new Hono<BankEnv>();

  routes.get('/private/customers/:customerId/products/:productId/balance/retrieve', (c) => {
    const { customer, product } = inquiredProductOf(c, bank);
    const now = bank.now();
    const { booked, available } = bank.ledger.balance(product, now);
    return answerSuccess(c, bank, {
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
  });

  return routes;
}
