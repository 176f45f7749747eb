import type { ErrorCode, ErrorContext } from '../../../../errors.ts';
import { isAboutSender, MAY_BE_DONE, TOKEN_CODES } from '../wire/refusals.ts';

/** A refusal of any call, by the message that decides it. */
export interface RefusedCall {
  status: number;
  /** The bank's code. */
  code: string | null;
  /** The message has the form of OAuth. Gateways write so, too. */
  isOAuth: boolean;
  /** The answer is the bank's own, in a form of the standard. */
  isOwn: boolean;
  /** The call gets or revokes tokens. */
  isLogin: boolean;
}

/** Whose word a refusal is, and what it says of the call. */
export interface RefusedBy {
  /** Only the bank itself can have refused it so. */
  isBanks: boolean;
  /** The bank refused the call without processing it: for the token, for who sends it, or for too many calls. */
  turnedAway: boolean;
  /** The bank refuses the call for something else than the token. */
  keepsToken: boolean;
}

/** Judges whose word a refusal is. The form of OAuth belongs to the token endpoint, and to refused tokens. */
export function judgeRefusedCall({ status, code, isOAuth, isOwn, isLogin }: RefusedCall): RefusedBy {
  if (code === null) return { isBanks: false, turnedAway: false, keepsToken: false };
  const hasTokenCode = TOKEN_CODES.includes(code);
  const isOfOAuth = isLogin || (status === 401 && hasTokenCode);
  const isBanks = isOAuth ? isOfOAuth : isLogin || isOwn;
  const isTurnedAway = (status === 401 && hasTokenCode) || status === 429 || isAboutSender(code);
  return { isBanks, turnedAway: isBanks && isTurnedAway, keepsToken: isBanks && !hasTokenCode };
}

/** Statuses with which the bank refuses what a request contains. */
const REFUSED_CONTENT = [400, 417, 422];
/** Statuses with which a bank may answer a request that it has carried out before. */
const DONE_BEFORE = [409, 412];

/** Codes that are no refusal, whatever the status. */
const UNDECIDED: readonly ErrorCode[] = ['bank_failing', 'bank_answer', 'outcome_unknown'];

/**
 * How definitely an error is a refusal. It is certainly the bank's own with one of the standard's messages and a code.
 *
 * @param code what the refusal means for psd2
 * @param bankCode of the message that decides
 */
export function definiteRefusal(
  { status, isBanks, turnedAway }: Pick<RefusedCall, 'status'> & Omit<RefusedBy, 'keepsToken'>,
  code: ErrorCode,
  bankCode: string | null,
): Pick<ErrorContext, 'refusal' | 'isBanks'> {
  const own = isBanks ? ({ isBanks: true } as const) : {};
  if (turnedAway || code === 'too_many_calls') return turnedAway ? { refusal: 'unread', ...own } : own;
  // A gateway's timeout, and whatever happened at the bank, are no refusal.
  if (status === 408 || status >= 500 || status < 400 || UNDECIDED.includes(code)) return own;
  if (status === 401 && !isBanks) return { refusal: 'unread' };
  // Any other refusal may mean that the bank has done it already.
  const isAboutContent = isBanks
    ? !DONE_BEFORE.includes(status) && !MAY_BE_DONE.includes(bankCode ?? '')
    : REFUSED_CONTENT.includes(status);
  return { refusal: isAboutContent ? 'content' : 'other', ...own };
}
