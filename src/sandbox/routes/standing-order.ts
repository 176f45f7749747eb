import { randomInt } from 'node:crypto';
import { Hono } from 'hono';
import { payingProductOf, standingOrderOf } from '../access/access.ts';
import { operationPlace, successEnvelope } from '../answers/envelope.ts';
import { answerJson } from '../answers/outgoing.ts';
import { Refusal } from '../answers/refusal.ts';
import { bankDay, targetHolidays, writeBankDate } from '../ledger/bank-time.ts';
import { euros } from '../ledger/cents.ts';
import {
  firstExecutionMinimum,
  frequencies,
  lastDayOf,
  readNumberOfExecutions,
  readStandingOrder,
  standingOrderBody,
  standingOrderTermBody,
} from '../operations/standing-order.ts';
import { passStep } from '../operations/steps.ts';
import { executionDateLimit, totalOf } from '../operations/transfer-order.ts';
import type { Bank } from '../server/bank.ts';
import type { BankEnv } from '../server/bank-env.ts';
import { readJsonBody, requireEmptyBody } from '../strict/body.ts';
import { printerLink } from './printer.ts';

const root = '/private/customers/:customerId/products/:productId/standingOrder';

/**
 * Standing orders: an operation of the sandbox's own, to try the generic operation flow with a second verify step
 * (interface specification, "Generic operation flow"). The order is kept; its payments are not made.
 */
export function standingOrderRoutes(bank: Bank): Hono<BankEnv> {
  const routes = new Hono<BankEnv>();

  routes.get(`${root}/prepare`, (c) => {
    const { customer, product } = payingProductOf(c, bank);
    const now = bank.now();
    const year = Number(bankDay(now).slice(0, 4));
    return answerJson(
      c,
      successEnvelope(bank, {
        data: {
          today: writeBankDate(bankDay(now)),
          firstExecutionDateMinimum: writeBankDate(firstExecutionMinimum(now)),
          firstExecutionDateLimit: writeBankDate(executionDateLimit(now)),
          holidays: [...targetHolidays(year), ...targetHolidays(year + 1)].map(writeBankDate),
          frequencies,
        },
        place: {
          ...operationPlace('standingOrder', customer, product),
          self: { href: 'prepare', method: 'GET' },
          next: { href: 'verify', method: 'POST' },
        },
      }),
    );
  });

  routes.post(`${root}/verify`, (c) => {
    const { customer, product } = payingProductOf(c, bank);
    const { data } = readJsonBody(c.var.request, standingOrderBody);
    const order = readStandingOrder(data, product, bank.now());
    const { id } = bank.resources.addStandingOrder(customer, product, order);
    return answerJson(
      c,
      successEnvelope(bank, {
        data: {
          amount: euros(order.amount),
          commissions: euros(order.commissions),
          firstExecutionDate: writeBankDate(order.firstDay),
        },
        resourceId: id,
        place: {
          ...operationPlace('standingOrder', customer, product),
          self: { href: 'verify', method: 'POST' },
          next: { href: `${id}/verify2`, method: 'PUT' },
        },
      }),
    );
  });

  routes.put(`${root}/:resourceId/verify2`, (c) => {
    const standing = standingOrderOf(c, bank);
    const executions = readNumberOfExecutions(readJsonBody(c.var.request, standingOrderTermBody).data);
    passStep(standing, 'verify2');
    standing.order.executions = executions;
    return answerJson(
      c,
      successEnvelope(bank, {
        data: {
          numberOfExecutions: executions,
          lastExecutionDate: writeBankDate(lastDayOf(standing.order, executions)),
          totalAmount: euros(totalOf(standing.order) * executions),
        },
        resourceId: standing.id,
        place: {
          ...operationPlace('standingOrder', standing.customer, standing.product),
          self: { href: `${standing.id}/verify2`, method: 'PUT' },
          next: { href: `${standing.id}/execute`, method: 'PUT' },
        },
      }),
    );
  });

  routes.put(`${root}/:resourceId/execute`, (c) => {
    const standing = standingOrderOf(c, bank);
    requireEmptyBody(c.var.request);
    if (standing.execution) throw new Refusal('ALREADY_EXECUTED', 'The operation was executed before');
    bank.resources.requireExecutable(standing);
    const now = bank.now();
    const standingOrderId = String(randomInt(1_000_000_000, 9_999_999_999));
    standing.execution = { standingOrderId, at: now };
    standing.finishedAt = now;
    return answerJson(
      c,
      successEnvelope(bank, {
        data: { standingOrderId },
        resourceId: standing.id,
        place: {
          ...operationPlace('standingOrder', standing.customer, standing.product),
          self: { href: `${standing.id}/execute`, method: 'PUT' },
        },
        embedded: { printer: printerLink(bank, standing) },
      }),
    );
  });

  return routes;
}
