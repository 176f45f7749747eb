import * as z from 'zod';
import type { Context } from '../../src/commands/context.ts';
import type { ConsentCategoryRequest, ConsentEvent } from '../../src/domain/consent.ts';
import { parseProductId } from '../../src/domain/identifiers.ts';
import type { GenericOrder, StepEvent } from '../../src/domain/operation.ts';
import type { TransferEvent, TransferOrder } from '../../src/domain/transfer.ts';
import type { KeptConsent } from '../../src/store/ports/customers.ts';
import type { Begin } from '../../src/store/ports/flows.ts';
import type { StoredTokens } from '../../src/store/ports/tokens.ts';
import { transferOrder } from '../domain/orders.ts';

/** Logs a customer or the application (null) in, as `auth login` stores it. By default the bank named no ends. */
export async function storeLogin(
  context: Context,
  customerId: string | null,
  ends: Partial<StoredTokens> = {},
): Promise<void> {
  const { tokens } = await context.store();
  await tokens.change(customerId, (slot) =>
    slot.write({
      accessToken: 'a1',
      refreshToken: customerId === null ? null : 'r1',
      accessTokenExpiresAt: null,
      refreshTokenExpiresAt: null,
      scope: null,
      ...ends,
    }),
  );
  if (customerId !== null) await tokens.remember(customerId);
}

const AUDIT = z.array(
  z.object({ action: z.string(), customerId: z.nullable(z.string()), about: z.nullable(z.string()) }),
);

/** What was done, for whom and about what, in each line that `psd2 audit` has printed. */
export const auditedIn = (data: unknown) =>
  AUDIT.parse(data).map(({ action, customerId, about }) => [action, customerId, about]);

/**
 * Stores a consent that was confirmed at the command's time.
 *
 * @param refused the categories that the bank did not grant
 */
export async function storeConsent(
  context: Context,
  customerId: string,
  categories: ConsentCategoryRequest[],
  refused: string[] = [],
): Promise<void> {
  const { flows } = await context.store();
  const begin = { transactionId: context.world.newId(), customerId, categories };
  await flows.begin('consent', begin, async (open) => {
    const outcomes = categories.map(({ name }) => ({ name, outcome: !refused.includes(name) }));
    await open.record({ type: 'requested', resourceId: context.world.newId(), outcomes });
    await open.record({ type: 'confirmed' });
  });
}

/** Records events of a flow. `FLOW` as a resource is the flow itself. */
export const recording =
  <E extends object>(events: readonly E[]) =>
  async (open: { current: { flow: string }; record(event: E): Promise<unknown> }) => {
    const { flow } = open.current;
    for (const event of events)
      await open.record(
        'resourceId' in event && event.resourceId === 'FLOW' ? { ...event, resourceId: flow } : event,
      );
    return flow;
  };

/** Stores a transfer with these events. @returns its flow */
export async function storeTransfer(
  context: Context,
  order: Partial<TransferOrder>,
  ...events: TransferEvent[]
): Promise<string> {
  const { flows } = await context.store();
  const begin = { transactionId: context.world.newId(), commits: 'on execute' as const };
  return flows.begin('transfer', { ...begin, order: transferOrder(order) }, recording(events));
}

/** Stores an operation with these events, by default a standing order. @returns its flow */
export async function storeOperation(
  context: Context,
  order: Partial<GenericOrder>,
  ...events: StepEvent[]
): Promise<string> {
  const { flows } = await context.store();
  const begin = { transactionId: context.world.newId(), commits: 'on execute' as const };
  const usual = { customerId: '1000001', from: parseProductId('0000012345'), operation: 'standingOrder' };
  const whole = { ...begin, order: { ...usual, data: '{}', ...order } };
  return flows.begin('operation', whole, recording(events));
}

/** Stores a consent with these events. @returns its flow */
export async function storeConsentFlow(
  context: Context,
  begin: Partial<Begin<'consent'>>,
  ...events: ConsentEvent[]
): Promise<string> {
  const { flows } = await context.store();
  const usual = { transactionId: context.world.newId(), customerId: '1000001', categories: [] };
  return flows.begin('consent', { ...usual, ...begin }, recording(events));
}

/** Keeps a consent for the readings of a customer, by default one without an end. */
export async function keepConsent(
  context: Context,
  customer: string,
  flow: string,
  changes: Partial<KeptConsent> = {},
): Promise<void> {
  const { customers } = await context.store();
  const kept: KeptConsent = {
    ...{ flow, consentId: flow, accounts: null, reads: ['accounts'], validUntil: null },
    ...{ recurring: true, frequencyPerDay: 4, grantedAt: '2026-11-01T00:00:00.000Z', ...changes },
  };
  await customers.change(customer, (before) => ({ ...before, consents: [...before.consents, kept] }));
}
