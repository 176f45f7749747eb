import { expect, it } from 'vitest';
import * as z from 'zod';
import { accounts, useSecondDoor } from './second-door-customer.ts';

/** The door puts its own address there. */
const METADATA = 'https://bank.example/.well-known/oauth-authorization-server';

const { json, request } = useSecondDoor([], { oauth: { mode: 'client-credentials', metadata: METADATA } });

it('at a bank where the application logs in: its token goes with the consent of the customer', async () => {
  const own = z.object({ grantType: z.literal('client_credentials'), customerId: z.literal('default') });
  await json(own, ['auth', 'login']);
  expect(await request()).toMatchObject({ state: 'confirmed', customerId: 'default' });
  await json(own, ['auth', 'refresh']);
  expect(await json(accounts, ['accounts', 'list'])).toHaveLength(3);
});
