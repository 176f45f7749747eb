import type { BankCall } from '../../bank/call/call.ts';
import type { TokenSource } from '../../bank/ports/call.ts';
import { type Acceptance, isAccepted, isOver, standingOf } from '../../domain/flow-states.ts';
import { paymentHolder } from '../../domain/identifiers.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { Tokens } from '../../store/ports/tokens.ts';
import type { Context } from '../context.ts';

// The tokens of payments and consents. Where the customer's SCA is a login (the standard, section 2, `scaOAuth`), it gives tokens
// for one payment or consent alone. The bank may want them with each later call about it.

/** Finds the tokens of the payment or the consent that a call is about. Undefined: the call goes without them. */
export type ResourceTokens = (call: BankCall) => Promise<TokenSource | undefined>;

/**
 * @param open opens the tokens of a holder
 * @param ofConsent finds the tokens of a consent
 * @returns finds tokens that can be used now. If they have ended and cannot be renewed, the bank may not need them
 */
export function resourceTokensOf(
  tokens: Pick<Tokens, 'login'>,
  open: (holder: string) => TokenSource,
  ofConsent: (consentId: string) => Promise<TokenSource | undefined>,
): ResourceTokens {
  const sources = new Map<string, TokenSource>();
  const ofPayment = async (transactionId: string) => {
    const holder = paymentHolder(transactionId);
    if (!(await tokens.login(holder))) return undefined;
    const source = sources.get(holder) ?? open(holder);
    sources.set(holder, source);
    return source;
  };
  return async ({ facts }) => {
    const source =
      facts.ofPayment === undefined
        ? facts.ofConsent !== undefined && (await ofConsent(facts.ofConsent))
        : await ofPayment(facts.ofPayment);
    if (!source) return undefined;
    try {
      await source.current();
      return source;
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code !== 'not_logged_in') throw error;
      return undefined;
    }
  };
}

/**
 * Removes the tokens of a payment after its end: the bank is not asked about it any more.
 *
 * @param mayFollow a payment that is executed can still change at the bank
 */
export async function endPaymentTokens(
  { store, terminal }: Pick<Context, 'store' | 'terminal'>,
  {
    transactionId,
    ...flow
  }: Pick<Transfer, 'refusedUnconfirmed' | 'mayExecuteWithoutUs' | 'authorises' | 'transactionId'> &
    Acceptance,
  mayFollow: boolean,
): Promise<void> {
  const isAtEnd = isOver(flow) || (standingOf(flow) === 'done' && !mayFollow && !isAccepted(flow));
  if (flow.authorises === 'by call' || standingOf(flow) === 'sent' || !isAtEnd) return;
  try {
    const { tokens } = await store();
    await tokens.erase(paymentHolder(transactionId));
  } catch (error) {
    // What became of the payment is recorded.
    if (!(error instanceof Psd2Error)) throw error;
    terminal.warn(`The tokens of the payment could not be removed: ${error.message}`);
  }
}
