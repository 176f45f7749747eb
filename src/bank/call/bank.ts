import type * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { BankMessage } from '../../wire/envelope.ts';
import { pathOf } from '../transport/connection.ts';
import { type Reading, readAnswer } from './answer.ts';
import { type Answer, asksForSca, type BankCall, type Exchange, isTurnedAway } from './exchange.ts';

/** The source of access tokens for private calls. */
export interface TokenSource {
  /** A token that does not expire soon. @throws Psd2Error `not_logged_in` */
  current(): Promise<string>;
  /** A new token after the bank answered 401 to `refused`. @throws Psd2Error `not_logged_in` */
  renewed(refused: string): Promise<string>;
}

/** The bank, as the functions in `endpoints/` call it. */
export interface Bank {
  /**
   * Makes one call and reads its answer.
   *
   * @throws Psd2Error if there is no answer, it is not a success, or it does not match `schema`
   */
  call<T>(call: BankCall, schema: z.ZodMiniType<T>): Promise<Reading<T>>;
  exchange: Exchange;
}

/**
 * Refuses an answer without content (204). It does not answer a question, and for a call that changes something it may
 * come from a gateway.
 *
 * @throws Psd2Error `bank_answer`
 */
function refuseEmpty({ call, status, tppRequestId }: Answer): void {
  if (status !== 204) return;
  const { method, path, transactionId } = call;
  throw new Psd2Error('bank_answer', `The bank's answer to ${method} ${pathOf({ target: path })} is empty`, {
    httpStatus: status,
    tppRequestId,
    transactionId,
  });
}

/**
 * Opens the bank.
 *
 * @param notice receives the warnings and infos of successful answers
 * @param tokens for private calls. After a 401, a call that is not irrevocable is made again once with a renewed token
 * @param onAnswer receives each answer before it is read
 */
export function openBank(
  exchange: Exchange,
  notice: (message: BankMessage) => void,
  tokens?: TokenSource,
  onAnswer: (answer: Answer) => void = () => {},
): Bank {
  const authenticated = tokens ? withTokens(exchange, tokens) : exchange;
  return {
    exchange: authenticated,
    async call(call, schema) {
      const answer = await authenticated(call);
      onAnswer(answer);
      refuseEmpty(answer);
      const reading = await readAnswer(answer, schema);
      reading.notices.forEach(notice);
      return reading;
    },
  };
}

/** Adds a token to each call. If the bank refuses the token, the call is made again once with a renewed one. */
function withTokens(exchange: Exchange, tokens: TokenSource): Exchange {
  /** The token that the bank refused for a call that this does not repeat. The next call renews it. */
  let refused: string | undefined;
  return async (call) => {
    const current = await tokens.current();
    const token = current === refused ? await tokens.renewed(current) : current;
    const answer = await exchange({ ...call, bearer: token });
    if (answer.status !== 401 || asksForSca(answer)) return answer;
    // Repeat a call that changes something only if the bank itself refused it without processing.
    if (call.method !== 'GET' && !(await isTurnedAway(answer))) return answer;
    if (call.irrevocable) {
      refused = token;
      return answer;
    }
    return exchange({ ...call, bearer: await tokens.renewed(token) });
  };
}
