import { Hono } from 'hono';
import { inquiredProductOf } from '../access/from-path.ts';
import { successEnvelope } from '../answers/envelope.ts';
import { answerJson } from '../answers/outgoing.ts';
import type { Bank } from '../bank.ts';
import { bankDay, bankHour, writeBankDate } from '../ledger/bank-time.ts';
import { euros } from '../ledger/cents.ts';
import type { BankEnv } from '../server/bank-env.ts';

/** The balance of an account (interface specification, "Customer data"). */
export function accountRoutes(bank: Bank): Hono<BankEnv> {
  const routes = new Hono<BankEnv>();

  routes.get('/private/customers/:customerId/products/:productId/balance/retrieve', (c) => {
    const { customer, product } = inquiredProductOf(c, bank);
    const now = bank.now();
    const { booked, available } = bank.ledger.balance(product, now);
    return answerJson(
      c,
      successEnvelope(bank, {
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
      }),
    );
  });

  return routes;
}
