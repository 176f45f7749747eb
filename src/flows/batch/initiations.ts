import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { Psd2Error } from '../../errors.ts';

/** After so many initiations in a row that ended unknown alike, the others would do so, too. */
const MOST_ALIKE = 3;

/** The initiations of one run of a batch, in the order in which they end. */
export class Initiations {
  #last: string | null = null;
  #count = 0;

  /** How the last ones ended, if they ended unknown alike too often for the run to go on: `HTTP 401, CERTIFICATE_INVALID`. */
  get alike(): string | null {
    return this.#count >= MOST_ALIKE ? this.#last : null;
  }

  /**
   * Runs a payment or a signing basket, and counts its initiation if it is sent now.
   *
   * @param run gets the calls to make
   * @throws what `run` throws
   */
  async counting(
    open: { readonly current: Operation<OrderTarget> },
    calls: PaymentCalls,
    run: (calls: PaymentCalls) => Promise<unknown>,
  ): Promise<void> {
    let isSent = false;
    const verify: PaymentCalls['verify'] = (beforeSend, requestId) =>
      calls.verify(async (intent) => {
        const announced = await beforeSend(intent);
        isSent = true;
        return announced;
      }, requestId);
    let problem: unknown = null;
    try {
      await run({ ...calls, verify });
    } catch (error) {
      problem = error;
      throw error;
    } finally {
      if (isSent) this.#ended(open.current.verification === null ? problem : null);
    }
  }

  #ended(problem: unknown): void {
    const isUnknown = problem instanceof Psd2Error && problem.code === 'outcome_unknown';
    const how = isUnknown ? describeRefusal(problem) : null;
    this.#count = how === null ? 0 : how === this.#last ? this.#count + 1 : 1;
    this.#last = how;
  }
}

/** Status and code, which are the same for all if one thing is wrong with all. */
function describeRefusal({ httpStatus, bankCode }: Psd2Error): string {
  const parts = [httpStatus !== undefined && `HTTP ${httpStatus}`, bankCode];
  return parts.filter(Boolean).join(', ') || 'no answer';
}
