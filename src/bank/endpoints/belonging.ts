import { Psd2Error } from '../../errors.ts';
import type { Envelope } from '../../wire/envelope.ts';

/** The request that an answer must belong to. */
interface Asked {
  /** Its name in messages: `execute`. */
  name: string;
  resourceId: string;
  transactionId: string;
}

/**
 * Checks that an answer is about the resource that it was asked about, if it names one. A gateway may answer with what
 * belongs to another request (command contract, "Money moves at most once").
 *
 * @throws Psd2Error `bank_answer`. The answer decides nothing then
 */
export function assertAbout({ resourceId: named }: Envelope, asked: Asked): void {
  if (named === null || named.toLowerCase() === asked.resourceId.toLowerCase()) return;
  throw notItsAnswer(asked, `is about the resource ${named}, not about ${asked.resourceId}`);
}

/** Fields of the answers to other calls of a flow: status, approach, verify, consent request. */
const OTHERS = [
  ...['authorizationStatus', 'authenticationState', 'executionStatus', 'scaRedirectURL', 'chosenScaApproach'],
  ...['totalAmount', 'categoriesOutcome'],
];

/**
 * Checks that a success answers `execute` or `confirm`, and neither is about another resource nor answers another call.
 *
 * @throws Psd2Error `bank_answer`. The answer decides nothing then
 */
export function assertDone(envelope: Envelope, asked: Asked): void {
  assertAbout(envelope, asked);
  const { data } = envelope;
  const other = typeof data === 'object' && data !== null && OTHERS.find((field) => field in data);
  if (other) throw notItsAnswer(asked, `has the field ${other}, so it belongs to another request`);
}

function notItsAnswer({ name, transactionId }: Asked, why: string): Psd2Error {
  return new Psd2Error('bank_answer', `The bank's answer to ${name} ${why}`, {
    hint: 'psd2 did not use the answer. A gateway on the way may mix up answers.',
    transactionId,
  });
}
