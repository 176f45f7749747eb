import { type BankCall, type Exchange, type Said, withTokens } from '../../bank/call/call.ts';
import type { BankInterface } from '../../bank/ports/bank.ts';
import type { TokenSource } from '../../bank/ports/call.ts';
import { Psd2Error } from '../../errors.ts';
import { openSession } from '../../flows/session.ts';
import type { Holder, Tokens } from '../../store/ports/tokens.ts';
import type { ApplicationBank, Context, Transport } from '../context.ts';
import { notingRefreshes } from './call-records.ts';
import type { OpenCustomer } from './customer.ts';
import { type ResourceTokens, resourceTokensOf } from './payment-tokens.ts';

/** The tokens that calls carry. */
export interface Carried {
  /** Those of the holder. Absent: no call carries any. */
  ofHolder?: TokenSource;
  /** Those of what a call is about, which it carries in place of the holder's. */
  ofResources?: ResourceTokens;
}

/**
 * Opens the sessions of the calls for a customer: of the holder, of the application where the bank wants its token too, and of each
 * payment or consent that has tokens of its own.
 */
export async function openSessions(
  context: Context,
  application: ApplicationBank,
  transport: Transport,
  { customerId, holder }: OpenCustomer,
): Promise<Required<Carried>> {
  const { tokens } = await context.store();
  const { logsIn, hasApplicationToken = false } = await context.bankInterface();
  const sessionOf = sessionsAt(application, transport, tokens, context.world);
  const whose = holder === null ? 'The login of the application' : `The login of customer ${holder}`;
  const noting = notingRefreshes(sessionOf(holder, whose), context, holder, () => tokens.login(holder));
  const ofHolder = logsIn === 'with a consent' ? askingForConsent(noting, customerId) : noting;
  if (hasApplicationToken) {
    const ofApplication = sessionOf(null, 'The token of the application', true);
    return {
      ofHolder,
      ofResources: async ({ facts }) => (facts.login || facts.needsConsent ? undefined : ofApplication),
    };
  }
  const isOfLogin = async (consentId: string) =>
    logsIn === 'with a consent' && (await tokens.read(holder))?.consent === consentId;
  const ofResources = resourceTokensOf(
    tokens,
    (owner) => sessionOf(owner, 'The login of a payment'),
    async (consentId) => ((await isOfLogin(consentId)) ? ofHolder : undefined),
  );
  return { ofHolder, ofResources };
}

/** Adds the tokens to each call that carries some, and renews them if the bank refuses them. */
export function carrying<What extends Said>(
  exchange: Exchange<What>,
  { ofHolder, ofResources }: Carried,
  logsIn: BankInterface['logsIn'],
): Exchange<What> {
  const asHolder = ofHolder && withTokens(exchange, ofHolder);
  return async (call) => {
    const ofResource = await ofResources?.(call);
    if (ofResource) return withTokens(exchange, ofResource)(call);
    return asHolder && carriesToken(call, logsIn) ? asHolder(call) : exchange(call);
  };
}

/** Whether a call carries a token. A bank where customers log in with a consent wants none before. */
function carriesToken({ facts }: BankCall, logsIn: BankInterface['logsIn']): boolean {
  if (logsIn === 'with a consent') return facts.needsConsent;
  return logsIn === 'customers' || (logsIn === 'application' && !facts.login);
}

/** Opens the session of any holder of tokens at a bank. @returns its `whose` names the holder in errors */
function sessionsAt(
  application: ApplicationBank,
  { grant, tally }: Transport,
  tokens: Tokens,
  world: Context['world'],
): (owner: Holder, whose: string, begins?: boolean) => TokenSource {
  return (owner, whose, begins = false) =>
    openSession({
      login: application.connect().login,
      grantType:
        owner === null && !begins ? grant : owner === null ? 'client_credentials' : 'authorization_code',
      begins,
      holder: owner,
      client: application.client,
      keeper: {
        whose,
        read: () => tokens.read(owner),
        ready: () => tokens.ready(),
        change: (work) => tokens.change(owner, (slot) => work(tally.countingRenewals(slot))),
      },
      world,
    });
}

/** Where the customer logs in with a consent, only another consent gives new tokens. */
function askingForConsent(tokens: TokenSource, customerId: string): TokenSource {
  const advised = (error: unknown) => {
    const isLogin = error instanceof Psd2Error && error.next?.some(([noun]) => noun === 'auth');
    throw isLogin ? error.with({ next: [['consent', 'request', '--customer', customerId]] }) : error;
  };
  return {
    current: () => tokens.current().catch(advised),
    renewed: (refused) => tokens.renewed(refused).catch(advised),
  };
}
