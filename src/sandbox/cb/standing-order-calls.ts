import { randomInt } from 'node:crypto';
import { bankDay, targetHolidays, writeBankDate } from '../ledger/bank-time.ts';
import { euros } from '../ledger/cents.ts';
import { totalOf } from '../operations/transfer.ts';
import { readJsonBody } from '../strict/body.ts';
import { operationCalls, passStep } from './operation-calls.ts';
import {
  firstExecutionMinimum,
  frequencies,
  lastDayOf,
  readNumberOfExecutions,
  readStandingOrder,
  standingOrderBody,
  standingOrderTermBody,
} from './orders/standing-order.ts';
import { executionDateLimit } from './orders/transfer-order.ts';

/**
 * Standing orders: the sandbox's own operation, to try the generic operation flow with a second verify step. The sandbox
 * stores the order but never makes its payments.
 */
export const standingOrderCalls = operationCalls<'standingOrder'>({
  name: 'standingOrder',
  prepare(bank) {
    const now = bank.now();
    const year = Number(bankDay(now).slice(0, 4));
    return {
      today: writeBankDate(bankDay(now)),
      firstExecutionDateMinimum: writeBankDate(firstExecutionMinimum(now)),
      firstExecutionDateLimit: writeBankDate(executionDateLimit(now)),
      holidays: [...targetHolidays(year), ...targetHolidays(year + 1)].map(writeBankDate),
      frequencies,
    };
  },
  verify(bank, request, { customer, product }) {
    const { data } = readJsonBody(request, standingOrderBody);
    const order = readStandingOrder(data, product, bank.now());
    return {
      resource: bank.resources.addStandingOrder(customer, product, order),
      data: {
        amount: euros(order.amount),
        commissions: euros(order.commissions),
        firstExecutionDate: writeBankDate(order.firstDay),
      },
    };
  },
  verify2(request, standing) {
    const executions = readNumberOfExecutions(readJsonBody(request, standingOrderTermBody).data);
    passStep(standing, 'verify2');
    standing.order.executions = executions;
    return {
      numberOfExecutions: executions,
      lastExecutionDate: writeBankDate(lastDayOf(standing.order, executions)),
      totalAmount: euros(totalOf(standing.order) * executions),
    };
  },
  execute(bank, standing) {
    bank.resources.requireExecutable(standing);
    const standingOrderId = String(randomInt(1_000_000_000, 9_999_999_999));
    standing.execution = { standingOrderId, at: bank.now() };
    standing.finishedAt = standing.execution.at;
    return { data: { standingOrderId } };
  },
});
