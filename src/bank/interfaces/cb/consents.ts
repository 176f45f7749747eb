import * as z from 'zod/mini';
import type { Authorization } from '../../../domain/operation.ts';
import type { ResourceStatus } from '../../../domain/payment-answers.ts';
import { Psd2Error } from '../../../errors.ts';
import type { Consents, Sca } from '../../ports/customer.ts';
import { customerPath, factsOf, get, pathSegment } from './accounts.ts';
import { ask, type CbCaller, type Envelope } from './answer.ts';
import { text, words } from './wire/fields.ts';

/** `data` of the answer to a consent request. */
export const consentAnswer = z.object({
  categoriesOutcome: z.array(z.object({ name: text, outcome: z.boolean() })),
});

/** `data` of the SCA approach. `REDIRECT` has a `scaRedirectURL`. */
export const approachAnswer = z.object({
  chosenScaApproach: z.nullish(text),
  scaRedirectURL: z.nullish(z.string()),
});

/** `data` of the operation status. The bank has two names for the authorization status. */
export const operationStatusAnswer = z.pipe(
  z.object({
    authorizationStatus: z.nullish(words),
    authenticationState: z.nullish(words),
    executionStatus: z.nullish(words),
  }),
  z.transform((value, context) => {
    const authorizationStatus = value.authorizationStatus || value.authenticationState;
    if (authorizationStatus) return { authorizationStatus, executionStatus: value.executionStatus ?? null };
    context.issues.push({ code: 'custom', message: 'missing', input: value, path: ['authorizationStatus'] });
    return z.NEVER;
  }),
);

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
export function assertAbout({ resourceId: named }: Envelope, resource: Asked): void {
  if (named === null || named.toLowerCase() === resource.resourceId.toLowerCase()) return;
  throw notItsAnswer(resource, `is about the resource ${named}, not about ${resource.resourceId}`);
}

/** Fields of the answers to other calls of a flow: status, approach, verify, consent request. */
const OTHERS = [
  'authorizationStatus',
  'authenticationState',
  'executionStatus',
  'scaRedirectURL',
  'chosenScaApproach',
  'totalAmount',
  'categoriesOutcome',
];

/**
 * Checks that a success answers `execute` or `confirm`, and neither is about another resource nor answers another call.
 *
 * @throws Psd2Error `bank_answer`. The answer decides nothing then
 */
export function assertDone(envelope: Envelope, resource: Asked): void {
  assertAbout(envelope, resource);
  const { data } = envelope;
  const other = typeof data === 'object' && data !== null && OTHERS.find((field) => field in data);
  if (other) throw notItsAnswer(resource, `has the field ${other}, so it belongs to another request`);
}

function notItsAnswer({ name, transactionId }: Asked, why: string): Psd2Error {
  return new Psd2Error('bank_answer', `The bank's answer to ${name} ${why}`, {
    hint: 'psd2 did not use the answer. A gateway on the way may mix up answers.',
    transactionId,
  });
}

/** The consents of `cb` (interface specification, "Consent"). */
export function consentsOf(bank: CbCaller): Consents {
  return {
    async request({ customerId, categories, transactionId, beforeSend }) {
      const path = `${customerPath(customerId)}/consent/request`;
      const body = { data: { categories: categories.map(({ name, products }) => ({ name, products })) } };
      const { data, envelope } = await ask(
        bank,
        { method: 'POST', path, facts: factsOf('POST', path), body, transactionId, beforeSend },
        consentAnswer,
      );
      if (!envelope.resourceId)
        throw new Psd2Error(
          'bank_answer',
          "The bank's answer to the consent request has no resources.resourceId",
          { transactionId },
        );
      return { resourceId: envelope.resourceId, outcomes: data.categoriesOutcome };
    },
    // The body is `{}`.
    async confirm({ customerId, resourceId, transactionId, beforeSend }) {
      const path = `${customerPath(customerId)}/consent/request/${pathSegment(resourceId)}/confirm`;
      const facts = factsOf('PUT', path);
      const { envelope } = await ask(
        bank,
        { method: 'PUT', path, facts, body: {}, transactionId, beforeSend, irrevocable: true },
        z.unknown(),
      );
      assertDone(envelope, { name: 'confirm', resourceId, transactionId });
    },
  };
}

/** SCA at `cb`, for consents and operations (interface specification, "Consent" and "Generic operation flow"). */
export function scaOf(bank: CbCaller): Sca {
  return {
    async start({ resourceId, redirectUri, transactionId, beforeSend }) {
      const path = scaPath(resourceId);
      const call = { ...get(path, transactionId), redirectUri, beforeSend };
      const { data, envelope } = await ask(bank, call, approachAnswer);
      assertAbout(envelope, { name: 'the SCA approach', resourceId, transactionId });
      if (data.chosenScaApproach !== 'DECOUPLED' && data.scaRedirectURL) return data.scaRedirectURL;
      const what = data.chosenScaApproach === 'DECOUPLED' ? 'the approach DECOUPLED' : 'no scaRedirectURL';
      throw new Psd2Error(
        'bank_answer',
        `The bank answered with ${what} for SCA, but psd2 supports only REDIRECT`,
        { hint: 'Ask the bank to offer REDIRECT to this application.', transactionId },
      );
    },
    async status(resourceId, transactionId, decides = false) {
      const path = `/private/operations/${pathSegment(resourceId)}/status`;
      const { data, envelope } = await ask(
        bank,
        { ...get(path, transactionId), decides },
        operationStatusAnswer,
      );
      assertAbout(envelope, { name: 'the status call', resourceId, transactionId });
      const { authorizationStatus, executionStatus } = data;
      const authorization = readAuthorization(authorizationStatus);
      return { authorizationStatus, executionStatus, authorization, became: becameOf(executionStatus) };
    },
  };
}

/** What an authorization status means (interface specification, "States and transitions"). */
export function readAuthorization(bankStatus: string): Authorization {
  const isKnown = bankStatus === 'AUTHORIZED' || bankStatus === 'NOT_AUTHORIZED' || bankStatus === 'EXPIRED';
  return { type: 'authorization', status: isKnown ? bankStatus : 'PENDING', bankStatus };
}

/** What an execution status means. The specification shows only `PENDING` for this field. */
export function becameOf(bankStatus: string | null): ResourceStatus['became'] {
  if (bankStatus === 'OK' || bankStatus === 'EXECUTED') return 'executed';
  return bankStatus === 'KO' ? 'failed' : null;
}

/** The path of the call that starts SCA. */
export function scaPath(resourceId: string): string {
  return `/private/auth/security/sca/${pathSegment(resourceId)}/approach`;
}
