import type { BankReason } from '../../../../errors.ts';
import { decoded } from './texts.ts';
import { duplicateIn } from './word-search.ts';

/** The codes of ISO 20022 that name another payment (`ExternalStatusReason1Code`): a duplicate, and an identifier that is not unique. */
export const DUPLICATE_REASON = /\b(AM05|DU0[1-5])\b/;

/**
 * Whether the bank rejects a payment because it has another one like it: by a code of ISO 20022, or by a word. Then nobody knows which
 * of the two is the one that was ordered.
 */
export function speaksOfDuplicate(reasons: readonly BankReason[]): boolean {
  return reasons.some(({ code, proprietary, text }) => {
    const texts = [code, proprietary, text].filter((each) => each !== null);
    return texts.some((each) => DUPLICATE_REASON.test(each) || duplicateIn(decoded(each)) !== undefined);
  });
}
