import { afterAll, beforeAll, expect } from 'vitest';
import * as z from 'zod';
import { CUSTOMER, giveRegistration, keepRunning, type Operator, useOperator } from '../support/psd2.ts';

const variables = z.record(z.string(), z.string());

/** An operator whose sandbox runs with these rules, and who uses its second door through the environment. */
export function useSecondDoor(rules: string[] = []): Operator {
  const operator = keepRunning(useOperator());
  let stop = async () => {};
  beforeAll(async () => {
    giveRegistration(operator);
    stop = await operator.openSandbox(rules);
    const door = await operator.json(variables, ['sandbox', 'env', '--interface', 'nextgenpsd2']);
    Object.assign(operator.env, door, { PSD2_PROFILE: 'env', PSD2_BROWSER: CUSTOMER });
  });
  afterAll(() => stop());
  return operator;
}

/** Has the customer consent. */
export async function consent(operator: Operator, customer: string, ...terms: string[]): Promise<void> {
  const asked = await operator.psd2(['consent', 'request', '--customer', customer, '--yes', ...terms]);
  expect(asked, asked.stderr).toMatchObject({ code: 0 });
}
