import { stepInterfaceAnswered } from '../../../../domain/interface-name.ts';
import { type ErrorCode, Psd2Error } from '../../../../errors.ts';
import { type BankCall, isPage, PAGE_ADVICE, type WireSettings } from '../../../call/call.ts';
import type { LoginProbe, Verdict } from '../../../ports/customer.ts';
import type { SignatureVerdict } from '../../../ports/questions.ts';
import { judgeQuestion } from '../judge/question.ts';
import { answerKind, type NextGenAnswer, type NextGenCaller, readNothing } from '../wire/answer.ts';
import { hasOwnId } from '../wire/answer-check.ts';
import { callOf, type Paths } from '../wire/paths.ts';
import { isStepAnswer } from './step-answer.ts';

/** Codes about what is read: the bank has gone past the signature. */
const ABOUT_CONSENT = ['CONSENT_UNKNOWN', 'CONSENT_INVALID', 'CONSENT_EXPIRED'];
/** What refusals mean that say nothing of the signature: a bank may look for the path, or the token, first. */
const UNCLEAR: readonly ErrorCode[] = ['bank_refused', 'forbidden', 'not_logged_in'];

const OWN_IDS =
  'Its answer has another X-Request-ID than the request: if all answers have, headers.requestId of the bank file must be "any"';

/**
 * Reads the accounts with a consent that does not exist (NextGenPSD2, section 3, `doctor`). No customer is read, and no reading
 * is used up. The bank's error must be about the consent: then it has accepted the certificates and the signature.
 */
export async function probeSignature(
  bank: NextGenCaller,
  paths: Paths,
  { newId }: Pick<WireSettings, 'newId'>,
): Promise<LoginProbe> {
  const answer = await bank.send(readingOfNothing(paths, newId));
  return {
    date: answer.headers.date,
    async judge() {
      const verdict = judgeProbe(answer);
      return hasOwnId(answer) ? { ...verdict, says: `${verdict.says}. ${OWN_IDS}` } : verdict;
    },
  };
}

/** The bank's time, by its answer to such a reading. Null if it does not say, or the answer may have been stored on the way. */
export async function bankTime(
  bank: NextGenCaller,
  paths: Paths,
  { newId }: Pick<WireSettings, 'newId'>,
): Promise<Date | null> {
  const reading = readingOfNothing(paths, newId);
  // It reads no customer, so it needs no consent: customers who only pay have none.
  const facts = { ...reading.facts, reads: null, needsConsent: false };
  const { headers } = await bank.send({ ...reading, facts, decides: true });
  const date = new Date(headers.date ?? '');
  return headers.age !== undefined || Number.isNaN(date.getTime()) ? null : date;
}

function readingOfNothing(paths: Paths, newId: () => string): BankCall {
  const call = callOf(paths, 'getAccountList', {}, newId());
  return { ...call, headers: { 'consent-id': newId() }, once: true };
}

/** What an answer to such a reading shows of the signature: for `doctor`, `smoke`, `bank check` and `bank learn` alike. */
export function judgeSignature(answer: NextGenAnswer): SignatureVerdict {
  const verdict = judgeQuestion(answer);
  if (verdict === 'wants a token') return verdict;
  const code = answer.reply.decided?.code ?? '';
  return verdict === 'minds the consent' && ABOUT_CONSENT.includes(code) ? 'accepted' : 'not shown';
}

/** @throws Psd2Error if the answer is about the signature, a certificate, or unusable */
function judgeProbe(answer: NextGenAnswer): Verdict {
  const { meaning, decided } = answer.reply;
  if (isStepAnswer(answer.reply.json)) throw stepInterfaceAnswered();
  const code = decided?.code ?? null;
  if (!meaning) {
    assertBanksInterface(answer);
    return { says: 'the bank answers a reading with a consent that does not exist', isUnsure: 'other' };
  }
  const signature = judgeSignature(answer);
  if (signature === 'wants a token')
    return {
      says: 'the bank needs a login before it checks the signature, so the signature is untested',
      isUnsure: 'asks for a token',
    };
  if (signature === 'accepted') {
    const says = `the bank accepts the certificates and the signature: it only refused a test's consent (${code})`;
    return { says };
  }
  if (UNCLEAR.includes(meaning.code)) {
    if (!isJsonObject(answer)) {
      const says = `what refused a test may not be the bank's interface (HTTP ${answer.status}${answerKind(answer)})`;
      return { says, isUnsure: 'other' };
    }
    const detail = code === null ? '' : `, ${code}`;
    return {
      says: `the bank refused a test for another reason (HTTP ${answer.status}${detail})${bankWords(answer)}`,
      isUnsure: 'other',
      code: code ?? '',
    };
  }
  readNothing(answer);
  throw new TypeError('A refusal was read as a success');
}

/** The bank's words, whatever form its error has: a quotation that decides nothing. */
function bankWords({ reply }: NextGenAnswer): string {
  const text = reply.decided?.text ?? reply.messages.find((message) => message.text)?.text;
  return text ? `: "${text}"` : '';
}

/** @throws Psd2Error `bank_answer` for a success that no bank gives: a page of a website, or the answer of a gateway */
function assertBanksInterface(answer: NextGenAnswer): void {
  const { json, messages } = answer.reply;
  const hasList = typeof json === 'object' && json !== null && 'accounts' in json;
  if (hasList || messages.length > 0) return;
  throw new Psd2Error(
    'bank_answer',
    `What answered is not the bank's interface: HTTP ${answer.status} without a list of accounts${answerKind(answer)}`,
    {
      hint: isPage(answer)
        ? PAGE_ADVICE
        : 'Check the base URL, and api.version and api.paths of the bank file. A gateway or proxy on the way may have answered, too.',
    },
  );
}

function isJsonObject({ reply: { json } }: NextGenAnswer): boolean {
  return typeof json === 'object' && json !== null;
}
