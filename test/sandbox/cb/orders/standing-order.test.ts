import { expect, test } from 'vitest';
import {
  lastDayOf,
  type StandingOrder,
  scheduleText,
} from '../../../../src/sandbox/cb/orders/standing-order.ts';

const order: StandingOrder = {
  ...{ beneficiaryIban: 'IT60X', beneficiaryName: 'Ada', description: '', amount: 12_50, commissions: 50 },
  ...{ frequency: 'MONTHLY', firstDay: '2026-11-30', executions: undefined },
};

test.each<[changes: Partial<StandingOrder>, text: string]>([
  [{}, 'MONTHLY'],
  [{ executions: 1 }, 'MONTHLY, once, until 30/11/2026'],
  [{ executions: 2 }, 'MONTHLY, 2 times, until 30/12/2026'],
  [{ executions: 4 }, 'MONTHLY, 4 times, until 28/02/2027'],
  [{ frequency: 'WEEKLY' }, 'WEEKLY'],
  [{ frequency: 'WEEKLY', executions: 1 }, 'WEEKLY, once, until 30/11/2026'],
  [{ frequency: 'WEEKLY', executions: 6 }, 'WEEKLY, 6 times, until 04/01/2027'],
])('a standing order with %j reads %s', (changes, text) => {
  const changed = { ...order, ...changes };
  expect(scheduleText(changed)).toBe(text);
  const { executions } = changed;
  if (executions !== undefined)
    expect(text).toContain(lastDayOf(changed, executions).split('-').reverse().join('/'));
});
