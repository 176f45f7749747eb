import { Psd2Error } from '../../../../errors.ts';
import type { BankCall, Reading } from '../../../call/call.ts';
import type { NextGenAnswer, NextGenCaller } from '../wire/answer.ts';

/**
 * Sends the initiation of a payment or a signing basket. If the bank promises the same answer to the same request, and its refusal
 * proves nothing by itself, psd2 sends the same bytes with the same `X-Request-ID` once more, on a new connection (docs/nextgenpsd2.md,
 * "A refused initiation").
 *
 * @param call its `beforeSend` announces the second attempt too, and may prevent it
 * @throws Psd2Error what `read` throws of the last answer. If the second attempt had none, of the first
 */
export async function sendInitiation<R extends Reading>(
  bank: NextGenCaller,
  call: BankCall,
  read: (answer: NextGenAnswer) => R,
): Promise<R> {
  let first: NextGenAnswer | undefined;
  try {
    return await bank.ask(call, (answer) => {
      first = answer;
      return read(answer);
    });
  } catch (refusal) {
    if (first?.reply.verdict?.says !== 'ask again') throw refusal;
    const again = { ...call, requestId: first.tppRequestId, earlier: [first] };
    return bank.ask(again, read).catch((error: unknown) => {
      throw hasNoAnswer(error) ? refusal : error;
    });
  }
}

/** The bank gave no answer, or the time in which it gives the same one may be over. */
function hasNoAnswer(error: unknown): boolean {
  return error instanceof Psd2Error && ['bank_unreachable', 'outcome_unknown'].includes(error.code);
}
