import { Psd2Error } from '../../../../errors.ts';
import type { BankCall, WireSettings } from '../../../call/call.ts';
import type { Login } from '../../../ports/customer.ts';
import type { Begun, Ended, Heard, OAuthFacts, Questions } from '../../../ports/questions.ts';
import { linksOf, usableLinks } from '../access/sca.ts';
import { accessIn, detailsOf } from '../consents/consents.ts';
import type { OperationId } from '../description/operations.ts';
import { judgeDeletion } from '../judge/deletion.ts';
import { beganNothing, judgeQuestion } from '../judge/question.ts';
import { judgeStatus } from '../judge/status.ts';
import { answerKind, callName, type NextGenAnswer, readNothing } from '../wire/answer.ts';
import { hasOwnId } from '../wire/answer-check.ts';
import type { Calls } from '../wire/calls.ts';
import { consentAnswer, consentDetailsAnswer, startAnswer } from '../wire/consent.ts';
import { metadataAnswer } from '../wire/oauth.ts';
import { callOf } from '../wire/paths.ts';
import { begunAnswer, paymentStatusAnswer } from '../wire/payment.ts';
import { judgeSignature } from './probe.ts';
import { isStepAnswer } from './step-answer.ts';

const LOGIN = { reads: null, needsConsent: false, login: true } as const;
/** It reads no customer: nobody has authorised its consent. */
const UNREAD = { reads: null, needsConsent: false, login: false } as const;
/** What may have begun something once it is sent. */
const BEGINS = { interruptible: 'until sent' } as const;
/** RFC 8414, section 3: behind the host, with the path of the base URL after it; and where many banks have it. */
const METADATA = '/.well-known/oauth-authorization-server';

/** The questions of `psd2 bank learn` (NextGenPSD2, "Learning a bank"). They read no customer and use up no reading. */
export function questionsOf(calls: Calls, { newId }: Pick<WireSettings, 'newId'>, login: Login): Questions {
  const { bank, paths } = calls;
  const send = (call: BankCall) => bank.send({ ...call, once: true });
  const to: SendTo = (operation, values, more = {}) =>
    send({ ...callOf(paths, operation, values, newId()), ...more });
  const linksIn = (consentId: string, { reply: { json }, headers }: NextGenAnswer) => {
    const { data } = startAnswer.safeParse(json);
    const resource = { start: 'startConsentAuthorisation', values: { consentId } } as const;
    return data ? usableLinks(() => linksOf(data, headers, { ...calls, resource })) : null;
  };
  return {
    async consent({ access, recurring, validUntil, frequencyPerDay, redirectUri }, more) {
      const body = {
        access: accessIn(access),
        recurringIndicator: recurring,
        validUntil,
        frequencyPerDay,
        combinedServiceIndicator: false,
      };
      const answer = await to('createConsent', {}, { body, redirectUri, ...BEGINS, ...more });
      const id = idOfAnswer(answer, (json) => consentAnswer.safeParse(json).data?.consentId);
      return { ...begunThere(answer, id), links: id === null ? null : linksIn(id, answer) };
    },
    async details(consentId, more) {
      const answer = await to('getConsentInformation', { consentId }, more);
      const { data } = consentDetailsAnswer.safeParse(answer.reply.json);
      return { ...heard(answer), details: takes(answer) && data ? detailsOf(data) : null };
    },
    status: async (consentId, more) => heard(await to('getConsentStatus', { consentId }, more)),
    async authorisation(consentId, more) {
      const answer = await to('startConsentAuthorisation', { consentId }, { body: {}, ...more });
      return { ...heard(answer), links: takes(answer) ? linksIn(consentId, answer) : null };
    },
    async product(service, product, more) {
      const values = { 'payment-service': service, 'payment-product': product };
      const answer = await to('initiatePayment', values, { body: {}, ...BEGINS, ...more });
      return begunThere(
        answer,
        idOfAnswer(answer, (json) => begunAnswer.safeParse(json).data?.paymentId),
      );
    },
    async fundsConsent(more) {
      const answer = await to('createConsentConfirmationOfFunds', {}, { body: {}, ...BEGINS, ...more });
      return begunThere(
        answer,
        idOfAnswer(answer, (json) => consentAnswer.safeParse(json).data?.consentId),
      );
    },
    ...readingsOf(calls, newId, send),
    ...endingsOf(to),
    oauthServer: (named) => serverAt(send, calls, newId, named),
    async applicationToken(client) {
      return (await login.tokens(client, { grant_type: 'client_credentials' }, newId())).accessToken;
    },
  };
}

type SendTo = (
  operation: OperationId,
  values: Record<string, string>,
  more?: Partial<BankCall>,
) => Promise<NextGenAnswer>;

/** Readings with a consent that does not exist, or that nobody has authorised. @param send sends a call once */
function readingsOf(
  { paths, description }: Calls,
  newId: () => string,
  send: (call: BankCall) => Promise<NextGenAnswer>,
): Pick<Questions, 'reading' | 'transactions'> {
  return {
    async reading(more) {
      const call = callOf(paths, 'getAccountList', {}, newId());
      const answer = await send({ ...call, headers: { 'consent-id': newId() }, ...more });
      return { ...heard(answer), signature: judgeSignature(answer) };
    },
    async transactions({ consentId, bookingStatus, dateFrom }, more) {
      const names = new Map(Object.entries(description.accounts.parameters));
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries({ bookingStatus, dateFrom }))
        query.set(names.get(name) ?? name, value);
      const call = callOf(paths, 'getTransactionList', { 'account-id': newId() }, newId(), `${query}`);
      return heard(await send({ ...call, facts: UNREAD, headers: { 'consent-id': consentId }, ...more }));
    },
  };
}

/** What ends what a question has begun. @param to sends a call once */
function endingsOf(to: SendTo): Pick<Questions, 'deleteConsent' | 'cancelPayment' | 'deleteFundsConsent'> {
  return {
    deleteConsent: async (consentId, more) =>
      ended(await to('deleteConsent', { consentId }, { interruptible: 'never', ...more })),
    async cancelPayment({ service, product, paymentId, redirectUri }, more) {
      const values = { 'payment-service': service, 'payment-product': product, paymentId };
      const always = { interruptible: 'never', ...more } as const;
      const answer = await to('cancelPayment', values, { redirectUri, ...always });
      const { isToBeAuthorised, ...end } = endedBy(answer, 'payment');
      if (!isToBeAuthorised) return end;
      return {
        ...end,
        isGone: isCancelled(await to('getPaymentInitiationStatus', values, always)),
      };
    },
    async deleteFundsConsent(consentId, more) {
      const call = { interruptible: 'never', ...more } as const;
      return ended(await to('deleteConsentConfirmationOfFunds', { consentId }, call));
    },
  };
}

async function serverAt(
  send: (call: BankCall) => Promise<NextGenAnswer>,
  { base: { origin, pathPrefix } }: Calls,
  newId: () => string,
  named: string | undefined,
): ReturnType<Questions['oauthServer']> {
  const usual = [`${origin}${METADATA}${pathPrefix}`, `${origin}${pathPrefix}${METADATA}`];
  for (const address of named === undefined ? new Set(usual) : [named]) {
    const { origin: host, pathname, search } = new URL(address);
    // Nothing is ever sent to another host.
    if (host !== origin) continue;
    const path = `${pathname}${search}`;
    const answer = await send({ method: 'GET', origin, path, transactionId: newId(), facts: LOGIN });
    const server = serverIn(answer, address);
    if (server || named !== undefined) return { ...heard(answer), server };
  }
  return null;
}

function takes(answer: NextGenAnswer): boolean {
  return judgeQuestion(answer) === 'takes it';
}

function idOfAnswer(answer: NextGenAnswer, read: (json: unknown) => string | undefined): string | null {
  return (takes(answer) ? read(answer.reply.json) : undefined) ?? null;
}

function serverIn(answer: NextGenAnswer, address: string): OAuthFacts | null {
  const { data } = metadataAnswer.safeParse(answer.reply.json);
  if (!takes(answer) || !data?.token_endpoint) return null;
  return {
    address,
    grantTypes: data.grant_types_supported ?? null,
    clientAuth: data.token_endpoint_auth_methods_supported ?? null,
    hasAuthorization: Boolean(data.authorization_endpoint),
  };
}

function begunThere(answer: NextGenAnswer, id: string | null): Begun {
  return { ...heard(answer), id, beganNothing: beganNothing(answer) };
}

/** How a consent has ended. */
function ended(answer: NextGenAnswer): Ended {
  const { isToBeAuthorised: _, ...end } = endedBy(answer, 'consent');
  return end;
}

function endedBy(answer: NextGenAnswer, what: 'consent' | 'payment'): Ended & { isToBeAuthorised: boolean } {
  const verdict = judgeDeletion(answer, { what, wasTaken: false });
  return {
    ...heard(answer),
    isGone: verdict === 'taken' || verdict === 'accepted' || verdict === 'is gone',
    isNotKnown: verdict === 'is not known',
    isToBeAuthorised: verdict === 'to be authorised',
  };
}

/** Whether the bank says that a payment is over. */
function isCancelled(answer: NextGenAnswer): boolean {
  const { data } = paymentStatusAnswer.safeParse(answer.reply.json);
  const isOurs = judgeStatus(answer) === 'says this about ours';
  return isOurs && data !== undefined && ['CANC', 'RJCT'].includes(data.transactionStatus);
}

function heard(answer: NextGenAnswer): Heard {
  const { status, reply } = answer;
  const { decided, messages } = reply;
  const verdict = judgeQuestion(answer);
  const code = reply.meaning && reply.isBanks ? (decided?.code ?? null) : null;
  const words = decided?.text ?? null;
  const brief = `${status}${code === null ? '' : ` ${code}`}`;
  return {
    asked: callName(answer),
    verdict,
    code,
    path: decided?.path?.toLowerCase() ?? null,
    about: messages
      .flatMap(({ code: each, path, text }) => [each, path, text])
      .join(' ')
      .toLowerCase(),
    brief,
    says: [brief, words ? `"${words}"` : answerKind(answer).replace(/^: /, '')].filter(Boolean).join(', '),
    refusal: refusalFacts(answer),
    hasOwnId: hasOwnId(answer),
    form: formOf(answer),
  };
}

function formOf({ reply: { json }, body }: NextGenAnswer): Heard['form'] {
  if (isStepAnswer(json)) return 'step interface';
  if (typeof json === 'object' && json !== null) return 'json';
  return body.length === 0 ? 'empty' : 'other';
}

function refusalFacts(answer: NextGenAnswer): Psd2Error | null {
  try {
    readNothing(answer);
    return null;
  } catch (error) {
    if (error instanceof Psd2Error) return error;
    throw error;
  }
}
