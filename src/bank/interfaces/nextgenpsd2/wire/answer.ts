import type * as z from 'zod/mini';
import { toldReasons } from '../../../../domain/bank-reason.ts';
import { cardNumbersIn, maskedJson, withoutCardNumbers } from '../../../../domain/order/card-number.ts';
import { type ErrorContext, Psd2Error } from '../../../../errors.ts';
import {
  type Answer,
  type BankCall,
  type Caller,
  isPage,
  PAGE_ADVICE,
  type Reading,
  type Said,
  type Sent,
} from '../../../call/call.ts';
import { answerText } from '../../../call/charset.ts';
import { idsInPath, type Known, showsValue, withoutValue } from '../../../call/hidden-value.ts';
import { parseJson } from '../../../call/json.ts';
import type { Verdict } from '../../../ports/call.ts';
import { pathOf, type WireAnswer } from '../../../transport/line.ts';
import type { BankDescription } from '../description/schema.ts';
import { type DeletionOf, type DeletionVerdict, judgeDeletion } from '../judge/deletion.ts';
import { readOneWay } from '../judge/one-way-json.ts';
import { isOwnError } from '../judge/own-answer.ts';
import { definiteRefusal, judgeRefusedCall } from '../judge/refused-call.ts';
import { requestIdOf } from '../judge/sent.ts';
import { anotherIn, isSuccess, judgeStatus, whyNoAnswer } from '../judge/status.ts';
import { SCA_STATUSES } from './consent.ts';
import { type BankMessage, messagesIn, titleIn } from './messages.ts';
import { reasonsIn } from './reasons.ts';
import { atBank, type Meaning, meaningOfCode, meaningOfStatus, meaningOfWords } from './refusals.ts';

/** What this interface understands of an answer: its JSON, and the messages in it. Both are parsed once. */
export interface NextGenSaid extends Said {
  messages: BankMessage[];
  /** What the refusal means. Null for a success. */
  meaning: Meaning | null;
  /** The message that decided. */
  decided: BankMessage | undefined;
  /** Only the bank itself can have refused it so. */
  isBanks: boolean;
}

export type NextGenAnswer = Answer<NextGenSaid>;
export type NextGenCaller = Caller<NextGenSaid>;

/** A successful answer: its content, and the rest of it. */
export interface NextGenReading<T> extends Reading, Pick<Answer, 'wasUnusable'> {
  data: T;
  headers: Readonly<Record<string, string>>;
  status: number;
}

/** Parses an answer. The code of the bank decides what a refusal means, then the HTTP status. */
export async function understand(
  answer: WireAnswer,
  call: BankCall,
  bank: BankDescription,
  sent: Sent & { certificateEnds: Date },
): Promise<NextGenSaid> {
  const { status, headers } = answer;
  const { text, problem } = answerText(answer);
  // Banks quote what they were sent. The number of a card is to stay with them.
  const cards = cardNumbersIn(call.body);
  const whole = await parseJson(text.trim()).catch(() => undefined);
  const read = sent.hidden.reduce((json, each) => withoutValue(json, each, knownOf(call)), whole);
  const parsed = cards.length > 0 ? maskedJson(read, cards) : read;
  const isRefused = !isSuccess(answer);
  // The codes of a refusal are ASCII, and its text is only shown.
  // A token that was granted is kept, and a list of transactions is long.
  const mayBeUnclear = isRefused || read === undefined || call.facts.reads !== null || call.facts.login;
  const isUnclear = !mayBeUnclear && 'problem' in readOneWay(text.trim());
  const unreadable = isUnclear ? 'can be read in two ways' : problem;
  const json = unreadable === null || isRefused ? parsed : undefined;
  // A success has the forms of the standard alone.
  const rawMessages =
    isRefused && json === undefined ? titleOf(text, sent.hidden) : messagesIn(json, isRefused);
  const messages = rawMessages.map((each) => ({
    ...each,
    text: each.text && withoutCardNumbers(each.text, cards),
  }));
  const decided = isRefused ? decidingOf(messages, bank) : undefined;
  const isPageAlone = json === undefined && isPage(answer);
  const meaning = isRefused ? meaningIn(decided, status, call, bank, isPageAlone) : null;
  const refused = judgeRefusedCall({
    status,
    code: decided?.code ?? null,
    isOAuth: decided?.isOAuth === true,
    isLogin: call.facts.login,
    isOwn:
      isRefused &&
      isOwnError({ ...answer, more: answer.more ?? false }, requestIdOf(sent.request, bank), bank),
  });
  return {
    json,
    messages,
    meaning,
    decided,
    ...refused,
    requestId: shortId(headers['x-request-id']),
    asksForSca: meaning?.code === 'sca_required',
    lasts: meaning?.lasts === true,
    ...(call.judged && (await judge(call.judged, [...(call.earlier ?? []), answer], sent, bank))),
    ...(unreadable !== null && { problem: unreadable }),
  };
}

/** The title of a page, if it does not quote what it was sent. */
function titleOf(text: string, hidden: Sent['hidden']): BankMessage[] {
  return titleIn(text).filter(
    ({ text: title }) => !hidden.some((each) => showsValue(title ?? '', each.reveal())),
  );
}

/** What an answer may have although it looks like a credential: ids that psd2 had before, and words of the standard. */
function knownOf({ path }: BankCall): Known {
  return { texts: idsInPath(path), isWord: (text) => SCA_STATUSES.includes(text) };
}

/** What the answers to an initiation prove, and the id of what the last of them has begun. */
async function judge(
  what: NonNullable<BankCall['judged']>,
  answers: readonly WireAnswer[],
  { request, firstByteAt, certificateEnds }: Omit<Sent, 'hidden'> & { certificateEnds: Date },
  bank: BankDescription,
): Promise<{ verdict: Verdict; begun?: string }> {
  const { begunBy, judgeInitiation } = await import('../judge/initiation.ts');
  const { target: path, headers, body } = request;
  const sent = { path, headers, body: body?.toString() ?? '', firstByteAt, certificateEnds };
  const whole = answers.map((answer) => ({ ...answer, more: answer.more ?? false }));
  const begun = whole.map((answer) => begunBy(answer, { sent, bank }, what)).at(-1);
  return {
    verdict: judgeInitiation(sent, whole, bank, what),
    ...(begun !== undefined && { begun }),
  };
}

/** What a refusal means: by its code, else by its HTTP status. Only readings are used up for a day. */
function meaningIn(
  decided: BankMessage | undefined,
  status: number,
  { facts }: BankCall,
  bank: BankDescription,
  isPageAlone: boolean,
): Meaning {
  const codeMeaning = decided?.code ? meaningOfCode(decided.code, bank) : undefined;
  if (codeMeaning?.lasts && facts.reads === null) return meaningOfStatus(429, facts);
  const meaning =
    codeMeaning ??
    meaningOfWords(status, decided?.text ?? '') ??
    meaningOfStatus(status, { ...facts, isPage: isPageAlone });
  return atBank(meaning, facts, bank);
}

function shortId(header: string | undefined): string | null {
  return header !== undefined && header.length <= 200 ? header : null;
}

/** The first error with a code that has a meaning, else the first with a code, else the first. */
function decidingOf(messages: readonly BankMessage[], bank: BankDescription): BankMessage | undefined {
  const errors = messages.some(({ isError }) => isError)
    ? messages.filter(({ isError }) => isError)
    : messages;
  return (
    errors.find(({ code }) => code !== null && meaningOfCode(code, bank) !== undefined) ??
    errors.find(({ code }) => code !== null) ??
    errors[0]
  );
}

/**
 * Makes a call and reads its answer.
 *
 * @throws Psd2Error if there is no answer, it is not a success, or it does not match `schema`
 */
export function ask<T>(
  bank: NextGenCaller,
  call: BankCall,
  schema: z.ZodMiniType<T>,
): Promise<NextGenReading<T>> {
  return bank.ask(call, (answer) => readAnswer(answer, schema));
}

/**
 * Reads the JSON of an answer.
 *
 * @throws Psd2Error for every unsuccessful answer, and `bank_answer` for a success without a required field. The message names
 *   the field and the request
 */
export function readAnswer<T>(answer: NextGenAnswer, schema: z.ZodMiniType<T>): NextGenReading<T> {
  const { json, problem } = success(answer).reply;
  const none = answer.call.decides ? whyNoAnswer(answer) : null;
  if (none !== null) throw unusable(answer, `The bank's answer to ${callName(answer)} ${none}`);
  if (typeof json !== 'object' || json === null) {
    const what = problem ?? `is ${json === undefined ? 'not JSON' : 'no JSON object'}${answerKind(answer)}`;
    throw unusable(answer, `The bank's answer to ${callName(answer)} ${what}`);
  }
  const another = anotherIn(answer);
  if (another !== null)
    throw aboutAnother(another.what, another.named, another.ours, answer.call.transactionId);
  const result = schema.safeParse(json);
  if (!result.success) {
    const issue = result.error.issues[0];
    const field = (issue?.path ?? []).join('.') || 'content';
    throw unusable(
      answer,
      `The bank's answer to ${callName(answer)} has no usable ${field}: ${issue?.message ?? 'unreadable'}`,
    );
  }
  const { status, headers, wasUnusable } = answer;
  const read = { data: result.data, headers, status, notices: noticesOf(answer) };
  return { ...read, ...(wasUnusable && { wasUnusable }) };
}

/** The answer to an initiation. `isRejected`, `isDuplicate`: the bank has rejected it in the same answer, and says that there is another one. */
export interface BegunReading<T> extends NextGenReading<T> {
  isRejected?: true | undefined;
  isDuplicate?: true | undefined;
}

/**
 * Reads the answer to an initiation, as the judge says.
 *
 * @throws as {@link readAnswer}. `payment_failed` if the bank has rejected it and gave it no id, `bank_answer` for a success that does not
 *   prove that it began
 */
export function readBegun<T>(answer: NextGenAnswer, schema: z.ZodMiniType<T>): BegunReading<T> {
  const { verdict, meaning, json, messages } = answer.reply;
  if (meaning !== null || verdict === undefined || verdict.says === 'began')
    return readAnswer(answer, schema);
  const isRejected = verdict.says === 'nothing began';
  if ((isRejected || verdict.isDuplicate) && schema.safeParse(json).success)
    return {
      ...readAnswer(answer, schema),
      isRejected: true,
      ...(verdict.isDuplicate && { isDuplicate: true }),
    };
  if (isRejected)
    throw new Psd2Error('payment_failed', `The bank rejected ${callName(answer)}`, {
      ...answerIds(answer),
      reasons: reasonsIn(json, 'payment', messages),
      ...provenIn(verdict),
    });
  const says = `The bank's answer to ${callName(answer)} does not say that it has begun${answerKind(answer)}`;
  throw unusable(answer, says).with(provenIn(verdict));
}

/** Checks that an answer is a success, whatever is in it. @throws Psd2Error if it is none */
export function readNothing(answer: NextGenAnswer): Reading {
  return { notices: noticesOf(success(answer)) };
}

/** The verdicts after which a `DELETE` is no error. */
type Deleted = Extract<DeletionVerdict, 'taken' | 'accepted' | 'to be authorised' | 'is gone'>;

/**
 * Reads the answer to a `DELETE`.
 *
 * @throws Psd2Error for a refusal, and for an answer that says nothing: `bank_answer` if its status is a success, `outcome_unknown` if it
 *   looks like a refusal
 */
export function readDeletion(answer: NextGenAnswer, of: DeletionOf): Reading & { verdict: Deleted } {
  const verdict = judgeDeletion(answer, of);
  switch (verdict) {
    case 'taken':
    case 'accepted':
    case 'to be authorised':
      return { verdict, notices: noticesOf(answer) };
    case 'is gone':
      return { verdict, notices: [] };
    default:
      if (verdict === 'says nothing') refuseNobodys(answer);
      readNothing(answer);
      throw unusable(
        answer,
        `The bank's answer to ${callName(answer)} does not say that it is done${answerKind(answer)}`,
      );
  }
}

/** @throws Psd2Error `outcome_unknown` for a refusal of a `DELETE` that is not the bank's own: it may have been done all the same */
function refuseNobodys(answer: NextGenAnswer): void {
  const { meaning } = answer.reply;
  if (meaning?.code !== 'bank_refused' && meaning?.code !== 'forbidden') return;
  const says = `The answer to ${callName(answer)} is not the bank's own word (HTTP ${answer.status})${answerKind(answer)}. It does not say what became of it`;
  throw toError(answer, meaning).restated('outcome_unknown', says);
}

function success(answer: NextGenAnswer): NextGenAnswer {
  if (answer.reply.meaning) throw toError(answer, answer.reply.meaning);
  return answer;
}

function noticesOf({ reply }: NextGenAnswer) {
  return reply.messages.flatMap(({ text, code }) => {
    const words = text ?? code;
    return words === null ? [] : [{ text: words, code }];
  });
}

/** The error for an answer about something else than psd2 asked about: it decides nothing. */
export function aboutAnother(what: string, named: string, ours: string, transactionId: string): Psd2Error {
  return new Psd2Error('bank_answer', `The bank's answer is about the ${what} ${named}, not about ${ours}`, {
    hint: 'psd2 did not use the answer. A gateway on the way may mix up answers.',
    transactionId,
  });
}

/** The error for an answer with statuses that cannot be true together: it decides nothing. @param statuses in words */
export function contradictsItself(statuses: string): Psd2Error {
  return new Psd2Error('bank_answer', `The bank's answer contradicts itself: it says ${statuses}`, {
    hint: 'psd2 did not use the answer. Ask the bank which of them is true.',
    contradicts: true,
  });
}

function unusable(answer: NextGenAnswer, message: string): Psd2Error {
  return new Psd2Error('bank_answer', message, {
    ...answerIds(answer),
    ...(isPage(answer) && { hint: PAGE_ADVICE }),
  });
}

/** The error for an unsuccessful answer. */
function toError(answer: NextGenAnswer, meaning: Meaning): Psd2Error {
  const { status, reply, call } = answer;
  const { code, says } = meaning;
  const { hint, next }: Partial<Meaning> = meaning.isForReadings && call.facts.reads === null ? {} : meaning;
  const { decided } = reply;
  const words = decided?.text ?? decided?.code;
  const placed = decided?.path ? `${words?.replace(/\.$/, '')} (${decided.path})` : words;
  const detail = words ? `: ${placed}` : answerKind(answer);
  const after = answer.headers['retry-after']?.slice(0, 40);
  const advice =
    code === 'too_many_calls' && after && !meaning.lasts ? `The bank says: retry after ${after}.` : hint;
  return new Psd2Error(code, `${says.replace('{call}', callName(answer))} (HTTP ${status})${detail}`, {
    ...answerIds(answer),
    ...(advice !== undefined && { hint: advice }),
    ...(next && { next }),
    ...(decided?.code && { bankCode: decided.code }),
    // The journal keeps those of a call that changes something.
    ...(call.beforeSend && toldReasons([...(decided ? [decided] : []), ...reply.messages])),
    ...(meaning.lasts && { lasts: true }),
    ...(code === 'not_logged_in' && call.bearer !== undefined && { hadToken: true }),
    ...(meaning.endsConsent && hasConsent(call) && { endsConsent: true }),
    ...(isAboutResource(call) && judgeStatus(answer) === 'is not known' && { isNotKnown: true }),
    ...definiteRefusal({ status, ...reply }, code, decided?.code ?? null),
    ...provenIn(reply.verdict),
  });
}

/** Whether a call is about a consent or a payment that psd2 has begun. */
function isAboutResource({ facts, irrevocable = false }: BankCall): boolean {
  return facts.reads === null && !irrevocable;
}

/** Whether a call names a consent: a reading, or a confirmation of funds. */
function hasConsent({ facts, headers }: BankCall): boolean {
  return facts.reads !== null || headers?.['consent-id'] !== undefined;
}

/** What a refused initiation proves. */
function provenIn(verdict: Verdict | undefined): Pick<ErrorContext, 'beganNothing' | 'noProof'> {
  if (verdict === undefined || verdict.says === 'began') return {};
  return verdict.says === 'nothing began' ? { beganNothing: true } : { noProof: verdict.why };
}

function answerIds(answer: NextGenAnswer): ErrorContext {
  return {
    httpStatus: answer.status,
    ...(answer.reply.requestId && { requestId: answer.reply.requestId }),
    tppRequestId: answer.tppRequestId,
    transactionId: answer.call.transactionId,
  };
}

/** A call in messages: its method and path, without the query. */
export function callName({ call }: { call: BankCall }): string {
  return `${call.method} ${pathOf({ target: call.path })}`;
}

/** What kind of answer it is, if it is not JSON. */
export function answerKind(answer: NextGenAnswer): string {
  if (answer.body.length === 0) return ': the answer is empty';
  const type = answer.headers['content-type']?.split(';')[0]?.slice(0, 100);
  return type && !/\bjson$/.test(type) ? `: the answer is ${type}` : '';
}
