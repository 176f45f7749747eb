import type * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { BankMessage } from '../../wire/envelope.ts';
import { pathOf } from '../transport/connection.ts';
import { type Reading, readAnswer } from './answer.ts';
import { type Answer, asksForSca, type BankCall, type Exchange, isTurnedAway } from './exchange.ts';

/** Where the access token of private calls comes from. */
export interface TokenSource {
  /** A token that is not about to expire. @throws Psd2Error `not_logged_in` */
  current(): Promise<string>;
  /** A token in place of one that the bank answered 401 to. @throws Psd2Error `not_logged_in` */
  renewed(refused: string): Promise<string>;
}

/** The bank, as the endpoint functions of this room call it. */
export interface Bank {
  /**
   * Makes one call and reads its answer.
   *
   * @throws Psd2Error when there was no answer, or it was no success, or it lacks what `schema` needs
   */
  call<T>(call: BankCall, schema: z.ZodMiniType<T>): Promise<Reading<T>>;
  exchange: Exchange;
}

/**
 * An answer without content (204) is no answer to a question, and to a call that changes something it may come from
 * something on the way.
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
 * @param notice takes the warnings and infos that come with a success
 * @param tokens for private calls; a call answered with 401 is made once more with a renewed token
 * @param onAnswer sees each answer before it is read
 */
export function openBank(
  exchange: Exchange,
  notice: (message: BankMessage) => void,
  tokens?: TokenSource,
  onAnswer: (answer: Answer) => void = () => {},
): Bank {
  const authenticated: Exchange = tokens
    ? async (call) => {
        const token = await tokens.current();
        const answer = await exchange({ ...call, bearer: token });
        if (answer.status !== 401 || asksForSca(answer)) return answer;
        // A call that changes something is made again only where the bank itself turned it away.
        if (call.method !== 'GET' && !(await isTurnedAway(answer))) return answer;
        return exchange({ ...call, bearer: await tokens.renewed(token) });
      }
    : exchange;
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
