import type { Context } from '../../src/commands/context.ts';
import type { ConsentCategoryRequest } from '../../src/domain/consent.ts';
import type { StoredTokens } from '../../src/store/ports/tokens.ts';

/** Logs a customer in, as `auth login` stores it. By default the bank named no ends. */
export async function storeLogin(
  context: Context,
  customerId: string,
  ends: Partial<StoredTokens> = {},
): Promise<void> {
  const { tokens } = await context.store();
  await tokens.change(customerId, (slot) =>
    slot.write({
      accessToken: 'a1',
      refreshToken: 'r1',
      accessTokenExpiresAt: null,
      refreshTokenExpiresAt: null,
      scope: null,
      ...ends,
    }),
  );
  await tokens.remember(customerId);
}

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
