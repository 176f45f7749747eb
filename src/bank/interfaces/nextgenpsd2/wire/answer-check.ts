import { Psd2Error } from '../../../../errors.ts';
import {
  CHANGED,
  type Proofs,
  problemOfAnswer,
  readBankCertificate,
} from '../../../../signature/answer-check.ts';
import type { BankCall } from '../../../call/call.ts';
import { pathOf, type WireAnswer, type WireRequest } from '../../../transport/line.ts';
import type { BankDescription } from '../description/schema.ts';
import { namesAtBank } from './compose.ts';

/** Checks answers. @throws Psd2Error `bank_answer`: such an answer must not be used */
type Check = (
  answer: WireAnswer,
  request: WireRequest,
  call?: Pick<BankCall, 'irrevocable' | 'decides' | 'judged'>,
) => void;

/**
 * Checks that an answer belongs to its request (`X-Request-ID`), its `Digest`, and with the bank's certificate its `Signature`
 * (draft-cavage-http-signatures-10). Banks need not send any of them.
 *
 * Some gateways write an id of their own into every answer. So a reading takes an id that psd2 does not know, and what decides about a
 * payment or a consent does not, unless the bank file says that the bank does so (`headers.requestId`). An answer without an id is the
 * bank's: many servers know the id of a request too late for their errors.
 *
 * After an answer that ends something, nothing may come on its connection. Of an initiation, the judge sees that.
 *
 * @param certificatePem the bank's signing certificate. Without it, signatures are not checked
 * @throws Psd2Error `certificate`
 */
export function answerCheck(certificatePem: string | undefined, bank: BankDescription): Check {
  const certificate = readBankCertificate(certificatePem);
  const ids = new RequestIds(bank);
  return (answer, request, call = {}) => {
    const foreign = ids.problemOf(answer, request, call);
    const more = answer.more && !call.judged ? 'has more after it on its connection' : undefined;
    const problem = foreign ?? more ?? problemOfAnswer(answer, request, certificate, PROOFS);
    if (!problem) return;
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to ${request.method} ${pathOf(request)} ${problem}`,
      {
        hint: foreign
          ? 'psd2 did not use the answer: it may be the answer to somebody else. A gateway before the bank mixes up answers, or writes ids of its own. If the bank says that it does, write "any" into headers.requestId of the bank file.'
          : more
            ? 'psd2 did not use the answer: a gateway may have handed on two. Ask again later.'
            : CHANGED,
      },
    );
  };
}

/** Whether an answer has an id that is not that of its request: the bank, or a gateway before it, writes ids of its own. */
export function hasOwnId({ headers, tppRequestId }: Pick<WireAnswer, 'headers'> & { tppRequestId: string }) {
  const id = headers['x-request-id']?.trim().toLowerCase();
  return Boolean(id) && id !== tppRequestId.toLowerCase();
}

/** The ids of this process's requests. */
class RequestIds {
  /** The ids of the last requests. */
  readonly #sent = new Set<string>();
  readonly #name: string;
  readonly #areCompared: boolean;

  constructor(bank: BankDescription) {
    this.#name = namesAtBank(bank)('x-request-id');
    this.#areCompared = bank.headers.requestId === 'ours';
  }

  problemOf(
    { headers }: WireAnswer,
    request: WireRequest,
    { irrevocable, decides }: Pick<BankCall, 'irrevocable' | 'decides'>,
  ): string | undefined {
    if (!this.#areCompared) return undefined;
    const own = request.headers[this.#name]?.toLowerCase() ?? '';
    const repeated = (headers[this.#name] || headers['x-request-id'])?.toLowerCase() || undefined;
    const isAnothers = repeated !== undefined && repeated !== own;
    const isKnown = repeated !== undefined && this.#sent.has(repeated);
    this.#remember(own);
    return isAnothers && (isKnown || irrevocable || Boolean(decides) || request.method !== 'GET')
      ? 'has the X-Request-ID of another request'
      : undefined;
  }

  #remember(id: string): void {
    this.#sent.add(id);
    const [oldest] = this.#sent;
    if (this.#sent.size > MOST_IDS && oldest !== undefined) this.#sent.delete(oldest);
  }
}

/** An answer is mixed up with one of a moment before. */
const MOST_IDS = 1_000;

const PROOFS: Proofs = {
  digests: ['SHA-256', 'SHA-512'],
  hashes: { 'rsa-sha256': 'sha256', 'rsa-sha512': 'sha512' },
};
