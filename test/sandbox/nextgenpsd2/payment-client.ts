import * as z from 'zod/mini';
import { seedCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import { order } from '../tpp.ts';
import {
  ANNA,
  authorisationOf,
  type DoorReply,
  type DoorRequest,
  linkOf,
  START,
  type TestDoor,
} from './door-client.ts';

/** The accounts of a seeded customer: the current account and the savings. */
export function ibansOf(user: string): string[] {
  const customer = seedCustomers.find((one) => one.user === user);
  return (customer?.products ?? []).map(({ iban }) => iban);
}

export const [ANNAS = ''] = ibansOf('anna');
export const [BRUNOS = ''] = ibansOf('bruno');
export const PAYEE = 'DE02120300000000202051';
export const SCT = '/v1/payments/sepa-credit-transfers';
export const INSTANT = '/v1/payments/instant-sepa-credit-transfers';

/** The body of a single payment by anna. `undefined` leaves a field out. */
export function paymentBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    endToEndIdentification: 'E2E-1',
    debtorAccount: { iban: ANNAS },
    instructedAmount: { currency: 'EUR', amount: '12.50' },
    creditorAccount: { iban: PAYEE },
    creditorName: 'Beta GmbH',
    remittanceInformationUnstructured: 'Invoice 7',
    ...changes,
  };
}

/** Initiates a payment. */
export function initiate(
  { client }: TestDoor,
  changes: Record<string, unknown> = {},
  { path = SCT, headers = {}, ...more }: Partial<DoorRequest> = {},
): Promise<DoorReply> {
  return client.send({
    method: 'POST',
    path,
    body: paymentBody(changes),
    headers: { ...START, ...headers },
    ...more,
  });
}

/** The customer approves what an answer asks for. */
export function approve({ sandbox }: TestDoor, reply: DoorReply, customerId = ANNA): URL | undefined {
  return sandbox.access.approve(authorisationOf(reply), customerId).returnTo;
}

/** A payment that anna authorised. */
export async function pay(
  door: TestDoor,
  changes: Record<string, unknown> = {},
  more: Partial<DoorRequest> = {},
): Promise<DoorReply> {
  const reply = await initiate(door, changes, more);
  approve(door, reply);
  return reply;
}

/** The state that the bank gives of a payment. */
export async function statusOf({ client }: TestDoor, reply: DoorReply): Promise<unknown> {
  const { json } = await client.get(linkOf(reply, 'status'));
  return json.transactionStatus;
}

const listing = z.array(
  z.object({
    paymentId: z.string(),
    requestId: z.string(),
    transactionStatus: z.string(),
    orders: z.array(
      z.object({
        endToEndId: z.nullable(z.string()),
        paid: z.int(),
        debits: z.int(),
        transactionStatus: z.string(),
      }),
    ),
  }),
);

/** What the control site says of all payments. */
export async function listed({ sandbox }: TestDoor): Promise<z.infer<typeof listing>> {
  return listing.parse((await order(sandbox, 'GET', '/nextgenpsd2/payments')).json);
}

/** How often the ledger has the debit of a reference. */
export async function debitsOf(door: TestDoor, endToEndId: string): Promise<number> {
  const orders = (await listed(door)).flatMap((payment) => payment.orders);
  return orders.find((order) => order.endToEndId === endToEndId)?.debits ?? 0;
}
