import type { QuestionVerdict } from '../../../ports/questions.ts';
import type { BankMessage } from '../wire/messages.ts';
import { NO_OPERATION } from './lacking.ts';
import { isBanksRefusal, isSuccess, type JudgedAnswer } from './status.ts';

/** An answer, as far as it decides what it shows of a bank that nobody has described yet. */
export interface QuestionedAnswer extends JudgedAnswer {
  reply: JudgedAnswer['reply'] & {
    /** The message that decided. */
    decided: BankMessage | undefined;
  };
}

/** What a code of the standard is about. The first pattern that fits counts. */
const ABOUT: readonly (readonly [RegExp, QuestionVerdict])[] = [
  [/^(SIGNATURE_|KID_|CERTIFICATE_MISSING$)/, 'minds the signature'],
  [/^CERTIFICATE_/, 'minds the certificate'],
  [/^(TOKEN_|invalid_token$)/, 'wants a token'],
  [/^CONSENT_/, 'minds the consent'],
  [/^(PRODUCT_(UNKNOWN|INVALID)|RESOURCE_UNKNOWN|SERVICE_INVALID)$/, 'is not there'],
  [/^STATUS_INVALID$/, 'minds the state'],
  [/^(FORMAT_ERROR$|PARAMETER_NOT_|PAYMENT_FAILED$)/, 'minds the content'],
];

/** Statuses with which a bank, or what stands before it, minds that psd2 asks. */
const MINDING = [420, 429];
/** These codes answer a question, although their status forbids something. */
const ANSWERS_ALL_THE_SAME =
  /^(CONSENT_|RESOURCE_|PRODUCT_|SIGNATURE_|KID_|TOKEN_|PARAMETER_|STATUS_|(SERVICE|ROLE)_INVALID$|FORMAT_ERROR$)/;

/** Judges what an answer to a question shows. */
export function judgeQuestion(answer: QuestionedAnswer): QuestionVerdict {
  const { status, reply } = answer;
  const code = reply.isBanks ? (reply.decided?.code ?? null) : null;
  if (isSuccess(answer)) return judgeTaken(answer);
  const minds = MINDING.includes(status) || code === 'ACCESS_EXCEEDED';
  if (minds || (status === 403 && !ANSWERS_ALL_THE_SAME.test(code ?? ''))) return 'minds being asked';
  if (status === 501) return code === null ? 'says nothing' : 'is not there';
  if (status >= 500) return status === 500 ? 'fails' : 'is down';
  if (code !== null && isBanksRefusal(answer))
    return (
      ABOUT.find(([pattern]) => pattern.test(code))?.[1] ??
      (status === 409 ? 'minds the state' : 'minds something else')
    );
  return status === 401 && !isAboutSender(reply.messages) ? 'wants a token' : 'says nothing';
}

function judgeTaken({ reply }: QuestionedAnswer): QuestionVerdict {
  const isObject = typeof reply.json === 'object' && reply.json !== null;
  return isObject && !reply.messages.some(({ isError }) => isError) ? 'takes it' : 'says nothing';
}

function isAboutSender(messages: readonly BankMessage[]): boolean {
  return messages.some(({ text, path }) => /signature|certificate/i.test(`${text} ${path}`));
}

/**
 * Whether a refusal shows that nothing began of a request that nobody can authorise and that cannot be paid: an empty object, or a
 * consent whose link nobody gets. The bank itself refused it; or there is no such operation, whoever says so. One server begins a payment
 * and says that it failed.
 */
export function beganNothing(answer: QuestionedAnswer): boolean {
  const { status, reply } = answer;
  if (NO_OPERATION.includes(status)) return true;
  return isBanksRefusal(answer) && reply.messages.every(({ code }) => code !== 'PAYMENT_FAILED');
}
