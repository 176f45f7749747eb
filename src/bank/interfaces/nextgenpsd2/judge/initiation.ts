import type { BankDescription } from '../description/schema.ts';
import { callsMissing, isInTable, namedBy, objectionTo, type ReadError } from './codes.ts';
import { lacksBaskets } from './lacking.ts';
import type { Lookup } from './named-fields.ts';
import { type GivenAnswer, readOwnJson } from './own-answer.ts';
import { type Refusal, readRefusal } from './refusal.ts';
import { contentOf, requestIdOf, type SentInitiation } from './sent.ts';
import { hasLink } from './standing.ts';
import { isSuccess } from './status.ts';
import { type Begun, judgeSuccess } from './success.ts';
import { stateIn } from './word-search.ts';

export type { GivenAnswer } from './own-answer.ts';
export type { SentInitiation } from './sent.ts';
export { begunBy } from './success.ts';

/**
 * What answers prove of an initiation. `why` says it in a sentence for the operator, after the bank's words, without a full stop.
 * `isDuplicate`: the bank has rejected it because it has another one like it. `isLacking`: the bank does not have the service.
 */
export type InitiationVerdict =
  | { says: 'began' }
  | { says: 'nothing began' | 'unknown' | 'ask again'; why: string; isDuplicate?: true; isLacking?: true };

/**
 * Judges what the answers to an initiation prove (docs/nextgenpsd2.md, "A refused initiation"). A bank may have begun a payment and refuse it all the same, and a
 * gateway may have sent an initiation twice, or without its body: so a refusal proves something only if
 *
 * 1. nobody can have authorised the payment,
 * 2. or the bank promises the same answer to the same request, and has given it twice,
 * 3. or it says what is true of every delivery of these bytes.
 *
 * @param answers to the same bytes with the same `X-Request-ID`, in their order
 * @param what a signing basket has no payment of its own. The bank has those in it already
 */
export function judgeInitiation(
  sent: SentInitiation,
  answers: readonly GivenAnswer[],
  bank: BankDescription,
  what: Begun = 'payment',
): InitiationVerdict {
  const isBasket = what === 'signing basket';
  if (isBasket && answers.length > 0 && answers.every((answer) => lacksBaskets(answer, sent, bank)))
    return { says: 'nothing began', why: 'The bank has no signing baskets', isLacking: true };
  const lookup: Lookup = { sent, bank, content: contentOf(sent) };
  const verdicts = answers.filter(isSuccess).map((answer) => judgeSuccess(answer, lookup, what));
  const verdict = verdicts.find(({ says }) => says === 'began') ?? verdicts.at(-1);
  return verdict ?? judgeRefusals(answers, lookup);
}

function judgeRefusals(answers: readonly GivenAnswer[], lookup: Lookup): InitiationVerdict {
  const readings = answers.map((answer) => readRefusal(answer, lookup));
  const undecided = readings.find((reading) => 'keeps' in reading);
  if (undecided && 'keeps' in undecided) return { says: 'unknown', why: undecided.keeps };
  const refusals = readings.flatMap((reading) => ('refusal' in reading ? reading.refusal : []));
  const [first, second] = refusals;
  if (!first) {
    const [nobodys] = readings.flatMap((reading) => ('nobodys' in reading ? reading.nobodys : []));
    return { says: 'unknown', why: nobodys ?? 'The bank did not answer' };
  }
  if (refusals.every(({ errors }) => errors.length > 0) && isNeverAuthorised(answers, lookup))
    return {
      says: 'nothing began',
      why: 'The bank executes nothing without SCA, and nobody has a link to authorise it',
    };
  const objection = refusals.map((refusal) => objectionToAll(refusal, lookup)).find((each) => each !== null);
  if (objection === undefined)
    return { says: 'nothing began', why: 'What the bank says is true of every delivery of what psd2 sent' };
  if (lookup.bank.payments.repeat !== 'same-answer') return unproven(objection);
  if (answers.length === 1)
    return { says: 'ask again', why: 'The bank promises the same answer to the same request' };
  return second &&
    refusals.length === answers.length &&
    isSameRefusal(first, second) &&
    isProvenTwice(first, lookup)
    ? {
        says: 'nothing began',
        why: 'The bank promises the same answer to the same request, and refused it twice',
      }
    : unproven(objection);
}

function unproven(objection: string): InitiationVerdict {
  return { says: 'unknown', why: `This does not prove that no payment began: ${objection}` };
}

/** Whether nobody can have authorised the payment: nothing runs without SCA, no answer had a link, and the bank asks nobody by itself. */
function isNeverAuthorised(answers: readonly GivenAnswer[], { sent, bank }: Lookup): boolean {
  const { payments, sca } = bank;
  if (payments.executesWithoutSca !== 'never' || sca.approaches.includes('decoupled')) return false;
  return answers.every((answer) => {
    const own = readOwnJson(answer, requestIdOf(sent, bank), bank);
    return !hasLink(answer, 'nobodys' in own ? {} : own.json);
  });
}

/** Why a refusal does not say what is true of every delivery. Null: all its errors do. */
function objectionToAll(refusal: Refusal, lookup: Lookup): string | null {
  if (refusal.hasUncoded) return 'an error has no code';
  const word = refusal.texts.map(stateIn).find((each) => each !== undefined);
  if (word !== undefined) return `the bank may speak of a state, which may have been another one: "${word}"`;
  const errors = decidingOf(refusal, lookup);
  if (errors.length === 0) return 'its code is only the HTTP status';
  const objections = errors.map((error) =>
    isListed(error, lookup.bank) ? null : objectionTo(error, { ...lookup, status: refusal.status }),
  );
  return objections.find((each) => each !== null) ?? null;
}

/** Whether a bank that gives the same answer again, and refused twice so, has not begun the payment. */
function isProvenTwice(refusal: Refusal, lookup: Lookup): boolean {
  const errors = decidingOf(refusal, lookup);
  const isProven = (error: ReadError) => {
    if (isListed(error, lookup.bank)) return true;
    if (error.code !== FORMAT_ERROR) return isInTable(error.code);
    const named = namedBy(error, lookup);
    // A gateway may have emptied both.
    return named.length > 0 && named.every(({ sent }) => sent !== 'unclear') && !callsMissing(error, named);
  };
  return !refusal.hasUncoded && errors.length > 0 && errors.every(isProven);
}

const FORMAT_ERROR = 'FORMAT_ERROR';

/** The errors that say something: not a code that is only the HTTP status, and no summary beside an error that names a field. */
function decidingOf({ errors, status }: Refusal, lookup: Lookup): readonly ReadError[] {
  const specific = errors.filter((error) => error.code !== String(status) || isListed(error, lookup.bank));
  const isSummary = (error: ReadError) =>
    error.code === FORMAT_ERROR && !isListed(error, lookup.bank) && namedBy(error, lookup).length === 0;
  const namesField = specific.some((error) => error.code === FORMAT_ERROR && !isSummary(error));
  return namesField ? specific.filter((error) => !isSummary(error)) : specific;
}

/** Whether the bank file says of an error that the bank says it of the bytes alone (`payments.refusals`). */
function isListed({ code, whole }: ReadError, { payments }: BankDescription): boolean {
  return payments.refusals.some(
    (listed) =>
      (listed.code === code || listed.code === code.slice(code.lastIndexOf('.') + 1)) &&
      (listed.text === undefined || oneLine(listed.text) === oneLine(whole)),
  );
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

function isSameRefusal(one: Refusal, other: Refusal): boolean {
  const words = ({ status, errors, hasUncoded }: Refusal) =>
    JSON.stringify([
      status,
      hasUncoded,
      errors.map(({ code, whole, title, path }) => [code, whole, title, path]),
    ]);
  return words(one) === words(other);
}
