import { writeCommand } from '../../advice.ts';
import { ofServer } from '../../flows/session.ts';
import type { Holder } from '../../store/ports/tokens.ts';
import { list, object, oneOf, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { isNoted, loginHolder, storedLogin } from './stored-login.ts';

const shape = object({
  profile: text('profile of the login'),
  revoked: list(oneOf(['refresh_token', 'access_token']), 'the tokens that the bank has revoked'),
});

/** Deletes the stored tokens. With `revoke`, first asks the bank to revoke them. */
export const logout = verb(
  { prints: { what: 'what was revoked', shape }, help: examples('psd2 auth logout --revoke') },
  (command) => command.option('--revoke', 'first ask the bank to revoke them'),
  async (context, { revoke }) => {
    const { output, terminal } = context;
    const owner = await loginHolder(context);
    const stays = await consentsThatStay(context, owner);
    const hasTokens = (await (await context.store()).tokens.login(owner)) !== undefined;
    if (!hasTokens && (await isNoted(context, owner))) return sayNoTokens(context, stays);
    const { holder } = await storedLogin(context);
    const revoked = await endLogin(context, holder, revoke === true);
    if (output.format === 'table')
      terminal.say(
        `Logged out${revoked.length > 0 ? `; the bank has revoked ${revoked.join(' and ')}` : ''}.`,
      );
    else output.record({ profile: context.profile().name, revoked }, shape);
    sayWhatStays(context, stays);
  },
);

/** Forgets the tokens of a holder. @param revoke first asks the bank to revoke them. @returns what it has revoked */
export async function endLogin(
  context: Context,
  holder: Holder,
  revoke: boolean,
): Promise<ValueOf<typeof shape>['revoked']> {
  const { tokens: store, audit } = await context.store();
  const revoked: ValueOf<typeof shape>['revoked'] = [];
  const bank = revoke ? await context.applicationBank() : undefined;
  await audit.append({ action: 'logged-out', customerId: holder, about: context.globals.grant });
  await store.forget(holder, async () => {
    if (!bank) return;
    const tokens = await store.read(holder);
    const transactionId = context.world.newId();
    const kinds = [
      ['refresh_token', tokens?.refreshToken],
      ['access_token', tokens?.accessToken],
    ] as const;
    for (const [kind, token] of kinds) {
      if (!token) continue;
      const client = ofServer(bank.client(), tokens);
      if (await bank.connect().login.revoke(client, token, kind, transactionId)) revoked.push(kind);
    }
  });
  return revoked;
}

/** The flows of the customer's consents: tokens end here, and a consent at the bank. */
async function consentsThatStay(context: Context, holder: Holder): Promise<string[]> {
  if (holder === null || !(await isNoted(context, holder))) return [];
  const { customers } = await context.store();
  const { consents = [], funds = [] } = (await customers.read(holder)) ?? {};
  return [...consents, ...funds].map(({ flow }) => flow);
}

/** A script that logs out serves a bank without logins too. */
function sayNoTokens(context: Context, stays: string[]): void {
  const { output, terminal } = context;
  if (output.format === 'table') terminal.say('There are no tokens to forget.');
  else output.record({ profile: context.profile().name, revoked: [] }, shape);
  sayWhatStays(context, stays);
}

function sayWhatStays({ terminal, repeated }: Context, stays: string[]): void {
  if (stays.length === 0) return;
  const commands = stays.map((flow) => `  ${writeCommand(['consent', 'delete', flow], repeated)}`);
  terminal.say(['The consent stays in force at the bank. End it with:', ...commands].join('\n'));
}
