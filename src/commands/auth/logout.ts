import { revokeToken } from '../../bank/endpoints/oauth.ts';
import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { logout } from './shape.ts';
import { storedLogin } from './stored-login.ts';

/** `psd2 auth logout`: deletes the stored tokens. With `revoke`, first asks the bank to revoke them. */
export async function authLogout(context: Context, options: { revoke: boolean }): Promise<void> {
  const { world, output, terminal } = context;
  const { tokens: store, holder } = await storedLogin(context);
  const revoked: Printed<typeof logout>['revoked'] = [];
  const bank = options.revoke ? await context.applicationBank() : undefined;
  await store.forget(holder, async () => {
    if (!bank) return;
    const tokens = await store.read(holder);
    const transactionId = world.newId();
    const kinds = [
      ['refresh_token', tokens?.refreshToken],
      ['access_token', tokens?.accessToken],
    ] as const;
    for (const [kind, token] of kinds) {
      if (!token) continue;
      await revokeToken(bank.connect(), bank.client(), token, kind, transactionId);
      revoked.push(kind);
    }
  });
  if (output.format === 'table')
    terminal.say(`Logged out${revoked.length > 0 ? `; the bank has revoked ${revoked.join(' and ')}` : ''}.`);
  else output.record({ profile: context.profile().name, revoked }, [], logout);
}
