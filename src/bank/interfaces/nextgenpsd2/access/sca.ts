import type { EmbeddedStep } from '../../../../domain/embedded.ts';
import type { Authorization, Cost } from '../../../../domain/operation.ts';
import type { ResourceStatus, ScaProgress } from '../../../../domain/payment-answers.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { BankCall, Reading } from '../../../call/call.ts';
import type {
  ConsentStatus,
  Consents,
  Decides,
  Sca,
  ScaAuthorisation,
  ScaGift,
  ScaLinks,
  ScaStepAnswer,
  ScaTurn,
} from '../../../ports/customer.ts';
import type { OperationId } from '../description/operations.ts';
import { anotherIn } from '../judge/status.ts';
import { ask, type NextGenAnswer, readNothing } from '../wire/answer.ts';
import type { Calls } from '../wire/calls.ts';
import { scaStatusAnswer, startAnswer } from '../wire/consent.ts';
import { costIn, type SaidOfCost } from '../wire/costs.ts';
import { callOf } from '../wire/paths.ts';
import {
  anew,
  beginsAuthorisation,
  refuseUnusual,
  type SaidOfSca,
  stepAfter,
  stepIn,
  usualStep,
  withPassword,
} from './embedded-step.ts';
import { browserLink, type Offer, readLink, shownLink } from './links.ts';
import { type AuthorizationRequest, filled, type OAuth } from './oauth.ts';

/** What has authorisations: the operation that starts one, and the ids in its path. */
export interface Resource {
  start: keyof typeof AUTHORISATIONS;
  values: Readonly<Record<string, string>>;
}

/** What the customer authorises. */
export interface Authorised {
  resource(resourceId: string): Resource;
  /** What it is for OAuth: the scope, and the id by its name there. */
  oauth: { scope: string; id: 'consentId' | 'paymentId' };
  status(resourceId: string, transactionId: string, decides?: Decides): Promise<ResourceStatus>;
  /** As {@link Sca.authorisations}. */
  authorisations?(resourceId: string, transactionId: string): Promise<string[]>;
  /** As {@link Sca.progressWithoutLink}. */
  progress?(resourceId: string, transactionId: string): Promise<ScaProgress | null>;
}

/** SCA of consents. @param scope what OAuth calls it, with `{consentId}` */
export function scaOfConsents(
  calls: Calls,
  oauth: OAuth,
  consentStatus: NonNullable<Consents['status']>,
  start: Resource['start'] = 'startConsentAuthorisation',
  scope: string = calls.description.oauth.scope.ais,
): Sca {
  return scaOf(calls, oauth, {
    resource: (consentId) => ({ start, values: { consentId } }),
    oauth: { scope, id: 'consentId' },
    async status(resourceId, transactionId, decides) {
      return resourceStatus(await consentStatus(resourceId, transactionId, decides));
    },
  });
}

/** SCA as the bank's links say (NextGenPSD2, section 2, "SCA"). */
export function scaOf(calls: Calls, oauth: OAuth, authorised: Authorised): Sca {
  const { pollSeconds, authorisationMinutes: minutes } = calls.description.sca;
  const ofKind = authorised.oauth.id === 'consentId' ? 'consents' : 'payments';
  return {
    timing: { pollSeconds, authorisationMinutes: typeof minutes === 'number' ? minutes : minutes[ofKind] },
    async start({ resourceId, redirectUri, transactionId, beforeSend }) {
      const resource = authorised.resource(resourceId);
      const more = { redirectUri, transactionId, beforeSend };
      const { links } = await startAuthorisation({ ...calls, resource }, undefined, more);
      if (links.redirect !== undefined) return browserLink(links.redirect, calls.base, 'scaRedirect');
      throw noWay('names no page for the customer', transactionId);
    },
    status: (...of) => authorised.status(...of),
    ...(authorised.authorisations && { authorisations: authorised.authorisations }),
    ...(authorised.progress && { progressWithoutLink: authorised.progress }),
    oddLinks(resourceId, links) {
      const odd = { rewritten: new Set<string>(), foreign: new Map<string, string>() };
      noteOddLinks({ ...calls, resource: authorised.resource(resourceId) }, links, odd);
      return odd;
    },
    proceed: (sca) => proceed(calls, oauth, authorised, sca),
    ...(calls.description.sca.approaches.includes('embedded') && { hasEmbedded: true }),
    ...(calls.description.sca.approaches[0] === 'embedded' && { isEmbeddedAlone: true }),
    anew,
    begins: (resourceId, links) =>
      placeOfStep({ ...calls, resource: authorised.resource(resourceId) }, links)?.begins ?? false,
    give: (sca) => give({ ...calls, resource: authorised.resource(sca.resourceId) }, sca),
    async progress(resourceId, links, transactionId, decides) {
      const linked = { ...calls, resource: authorised.resource(resourceId) };
      const call = begunCall(linked, 'status', links, transactionId);
      if (!call) return null;
      const { data, headers } = await ask(calls.bank, { ...call, decides: decides || true }, scaStatusAnswer);
      return { ...progressOf(data), ...timed('saidAt', headers) };
    },
    async confirmCode({ resourceId, links, code, transactionId, beforeSend }) {
      const linked = { ...calls, resource: authorised.resource(resourceId) };
      const call = begunCall(linked, 'confirmation', links, transactionId);
      if (!call) throw noWay('gave no address for the confirmation code', transactionId);
      const confirmation = { ...call, beforeSend, body: { confirmationCode: code } };
      return progressOf((await ask(calls.bank, confirmation, scaStatusAnswer)).data);
    },
  };
}

/** What links are about. */
interface Linked extends Pick<Calls, 'base' | 'paths'> {
  resource: Resource;
}

/** The operations of an authorisation, by the one that starts it. */
const AUTHORISATIONS = {
  startConsentAuthorisation: { status: 'getConsentScaStatus', update: 'updateConsentsPsuData' },
  startPaymentAuthorisation: { status: 'getPaymentInitiationScaStatus', update: 'updatePaymentPsuData' },
  startPaymentInitiationCancellationAuthorisation: {
    status: 'getPaymentCancellationScaStatus',
    update: 'updatePaymentCancellationPsuData',
  },
  startSigningBasketAuthorisation: {
    status: 'getSigningBasketScaStatus',
    update: 'updateSigningBasketPsuData',
  },
  startConsentConfirmationOfFundsAuthorisation: {
    status: 'getConsentConfirmationOfFundsScaStatus',
    update: 'updateConsentConfirmationOfFundsPsuData',
  },
} as const satisfies Partial<Record<OperationId, { status: OperationId; update: OperationId }>>;

/** More than a bank tells a customer. */
const LONGEST_MESSAGE = 500;

/**
 * What is next for SCA, from an answer that says it. The links are kept as they are, and read when psd2 does what they offer.
 *
 * @param linked what they are about
 * @param isDone the answer says that the customer has nothing to do
 * @throws Psd2Error `bank_answer` for what the bank wants in a form that psd2 does not have
 */
export function linksOf(
  answer: SaidOfSca,
  headers: Readonly<Record<string, string>>,
  linked: Linked & Pick<Calls, 'description' | 'odd'>,
  isDone = false,
): ScaLinks {
  const { scaStatus, psuMessage, authorisationId, _links: links } = answer;
  const chosen = headers['aspsp-sca-approach']?.trim().toUpperCase();
  const start =
    links?.startAuthorisation ??
    links?.startAuthorisationWithPsuIdentification ??
    links?.updatePsuIdentification;
  // Where OAuth is the only approach, both links lead to the metadata of the OAuth server.
  const isOAuthAlone = linked.description.sca.approaches.every((approach) => approach === 'oauth');
  const oauth = links?.scaOAuth ?? (isOAuthAlone ? links?.scaRedirect : undefined);
  const named = chosen === 'DECOUPLED' ? null : (stepIn(answer) ?? usualStep(answer, chosen));
  const stated = {
    ...(authorisationId && { id: authorisationId }),
    ...(start && { start }),
    ...(links?.scaStatus && { status: links.scaStatus }),
    ...(links?.confirmation && { confirmation: links.confirmation }),
  };
  const id = idOfAuthorisation(linked, stated) ?? idOfStep(linked, named);
  const step = named && ownStep(linked, named, { id, begins: beginsAuthorisation(links, named.link) });
  const linksOfSca = {
    ...(id && { id }),
    ...(links?.scaRedirect && !isOAuthAlone && { redirect: links.scaRedirect }),
    ...(oauth && { oauth }),
    ...(start && { start }),
    ...(id && { status: ownStatus(linked, id) }),
    ...(links?.scaStatus && { status: links.scaStatus }),
    // Nobody can confirm an authorisation whose id nothing says.
    ...(id && links?.confirmation && { confirmation: links.confirmation }),
  };
  const isOver = isDone || scaStatus === 'exempted' || scaStatus === 'finalised';
  const hasWay = isOver || Boolean(linksOfSca.redirect ?? linksOfSca.oauth ?? start);
  // psd2 takes credentials only where the bank has no other way.
  const isStep = !hasWay && step !== null;
  if (!hasWay && chosen !== 'DECOUPLED' && !isStep) refuseUnusual(links);
  if (!isOver && !hasWay && named) noteOddLinks(linked, { ...stated, step: named }, linked.odd);
  else if (!isOver) noteOddLinks(linked, stated, linked.odd);
  // A page that psd2 must not open is refused before anybody waits for its customer.
  if (!isOver && linksOfSca.redirect !== undefined)
    browserLink(linksOfSca.redirect, linked.base, 'scaRedirect');
  const isEmbedded =
    isStep || (chosen === 'EMBEDDED' && (linksOfSca.redirect ?? linksOfSca.oauth) === undefined);
  return {
    approach: isEmbedded && !isOver ? 'embedded' : (APPROACHES[chosen ?? ''] ?? null),
    ...linksOfSca,
    ...(isOver && { isDone: true }),
    ...timed('madeAt', headers),
    ...(psuMessage !== null && { message: psuMessage.slice(0, LONGEST_MESSAGE) }),
    ...(isStep && { step }),
    ...(isStep && beginsWith(linked, step)),
  };
}

const APPROACHES: Readonly<Record<string, ScaLinks['approach']>> = {
  REDIRECT: 'redirect',
  DECOUPLED: 'decoupled',
};

/** The link with which another authorisation can begin, if a step has one. */
function beginsWith(linked: Linked, { next, link }: EmbeddedStep): Pick<ScaLinks, 'begins'> {
  const { update } = AUTHORISATIONS[linked.resource.start];
  return next === 'password' && link !== undefined && !offered(linked, link, update) ? { begins: link } : {};
}

/**
 * A step as psd2 can take it. A link that is about something else still offers what begins an authorisation: that has an address of its
 * own.
 *
 * @returns null if nothing says of which authorisation it is
 */
function ownStep(
  linked: Linked,
  step: EmbeddedStep,
  { id, begins }: { id: string | undefined; begins: boolean },
): EmbeddedStep | null {
  const { resource, paths } = linked;
  if (placeOfStep(linked, { step, ...(id !== undefined && { id }) })) return step;
  return begins ? { ...step, link: paths.to(resource.start, resource.values) } : null;
}

/** The id of the authorisation that a step goes on with: many banks say it in the link alone. */
function idOfStep(linked: Linked, step: EmbeddedStep | null): string | undefined {
  const { update } = AUTHORISATIONS[linked.resource.start];
  return offered(linked, step?.link, update)?.ids.authorisationId;
}

/** The bank's time of an answer, under a name. Nothing, if it does not say it, or if the answer may have been stored on the way. */
export function timed<Name extends 'madeAt' | 'saidAt'>(
  name: Name,
  { date, age }: Readonly<Record<string, string>>,
): { [Key in Name]?: string } {
  const time = new Date(date ?? '');
  if (age !== undefined || Number.isNaN(time.getTime())) return {};
  const bankTime: { [Key in Name]?: string } = {};
  bankTime[name] = time.toISOString();
  return bankTime;
}

/** The resource is at the bank, whatever its links are: the flow must keep its id. */
export function usableLinks(read: () => ScaLinks): ScaLinks {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'bank_answer') throw error;
    return { approach: null, unusable: error.message };
  }
}

type LinksOfAuthorisation = Pick<ScaLinks, 'id' | 'start' | 'status' | 'usualStatus' | 'confirmation'>;

function ownStatus({ paths, resource }: Linked, authorisationId: string): string {
  return paths.to(AUTHORISATIONS[resource.start].status, { ...resource.values, authorisationId });
}

/** The id of the authorisation that has begun: the bank's own word, else that of a link. */
function idOfAuthorisation(linked: Linked, { id, status, usualStatus, confirmation }: LinksOfAuthorisation) {
  const operations = AUTHORISATIONS[linked.resource.start];
  const offer =
    offered(linked, status, operations.status) ??
    offered(linked, usualStatus, operations.status) ??
    offered(linked, confirmation, operations.update);
  return id ?? offer?.ids.authorisationId;
}

/** What a link says of an operation of this resource. Null: nothing. */
function offered(
  { resource, ...at }: Linked,
  href: string | undefined,
  operation: OperationId,
  id?: string,
): Offer | null {
  const values = { ...resource.values, ...(id !== undefined && { authorisationId: id }) };
  return href === undefined ? null : readLink(href, at, { operation, values });
}

/** Notes the links that lead elsewhere, or to something else. */
function noteOddLinks(
  linked: Linked,
  links: LinksOfAuthorisation & Pick<ScaLinks, 'step'>,
  odd: Pick<Calls['odd'], 'rewritten' | 'foreign'>,
): void {
  const { status, update } = AUTHORISATIONS[linked.resource.start];
  const named = [
    ['startAuthorisation', links.start, [linked.resource.start, update]],
    ['scaStatus', links.status, [status]],
    ['confirmation', links.confirmation, [update]],
    [NAMES[links.step?.next ?? 'code'], links.step?.link, [linked.resource.start, update]],
  ] as const;
  for (const [name, href, operations] of named) {
    if (href === undefined) continue;
    // A start begins another authorisation than the one whose id is in hand.
    const id = name === 'startAuthorisation' ? undefined : links.id;
    const offers = operations.flatMap((operation) => offered(linked, href, operation, id) ?? []);
    if (offers.length === 0 && !odd.foreign.has(name)) odd.foreign.set(name, shownLink(href));
    if (offers.length > 0 && offers.every(({ isElsewhere }) => isElsewhere)) odd.rewritten.add(name);
  }
}

/** The names of the links to the steps of embedded SCA. */
const NAMES = {
  password: 'updatePsuAuthentication',
  method: 'selectAuthenticationMethod',
  code: 'authoriseTransaction',
} as const;

/** Asks for the status of an authorisation that has begun, or confirms it. Null: no link offers it, or nothing says its id. */
function begunCall(
  linked: Linked,
  what: 'status' | 'confirmation',
  links: LinksOfAuthorisation,
  transactionId: string,
): BankCall | null {
  const { status, update } = AUTHORISATIONS[linked.resource.start];
  const operation = what === 'status' ? status : update;
  const offer = offered(linked, links[what], operation, links.id);
  const authorisationId = offer?.ids.authorisationId ?? idOfAuthorisation(linked, links);
  if (links[what] === undefined || authorisationId === undefined) return null;
  const values = { ...linked.resource.values, authorisationId };
  return callOf(linked.paths, operation, values, transactionId, offer?.query);
}

function noWay(what: string, transactionId: string): Psd2Error {
  return new Psd2Error('bank_answer', `The bank ${what}, so the customer cannot authorise`, {
    hint: 'psd2 follows scaRedirect, scaOAuth, startAuthorisation, and the decoupled approach.',
    transactionId,
  });
}

async function startAuthorisation(
  linked: Calls & Linked,
  href: string | undefined,
  more: Pick<ScaAuthorisation, 'redirectUri' | 'transactionId' | 'psu'> &
    Partial<Pick<ScaAuthorisation, 'beforeSend'>>,
): Promise<{ links: ScaLinks; cost: Cost | null }> {
  const { paths, resource } = linked;
  const { update } = AUTHORISATIONS[resource.start];
  // A link to an authorisation that has begun is for an update of that one.
  const begun = offered(linked, href, update);
  const call = begun
    ? callOf(paths, update, begun.ids, more.transactionId, begun.query)
    : callOf(
        paths,
        resource.start,
        resource.values,
        more.transactionId,
        offered(linked, href, resource.start)?.query,
      );
  const { data, headers } = await ask(linked.bank, { ...call, body: {}, ...more }, startAnswer);
  const authorisationId = data.authorisationId ?? begun?.ids.authorisationId ?? null;
  return { links: linksOf({ ...data, authorisationId }, headers, linked), cost: costIn(data) };
}

/** Follows the bank's links up to what the customer must do. */
async function proceed(
  calls: Calls,
  oauth: OAuth,
  authorised: Authorised,
  sca: ScaAuthorisation,
): Promise<ScaTurn> {
  const { resourceId, redirectUri, transactionId, beforeSend, psu } = sca;
  const id = { [authorised.oauth.id]: resourceId };
  const request = { id, scope: filled(authorised.oauth.scope, id) };
  const turn = sca.links && (await turnOf(calls, oauth, sca, sca.links, request));
  if (turn) return turn;
  const linked = { ...calls, resource: authorised.resource(resourceId) };
  if (calls.description.sca.first === 'password') {
    const links = withPassword(sca.links);
    const step = ownStep(linked, links.step, { id: undefined, begins: true }) ?? links.step;
    return { next: 'give', step, links: { ...links, step } };
  }
  const more = { redirectUri, transactionId, beforeSend, psu };
  const started = await startAuthorisation(linked, sca.links?.start, more);
  const { update } = AUTHORISATIONS[linked.resource.start];
  // Some banks only ask now who the customer is. To say that begins nothing.
  const isAskingWho = offered(linked, started.links.start, update) !== null;
  const last = isAskingWho
    ? await startAuthorisation(linked, started.links.start, { redirectUri, transactionId, psu })
    : started;
  const next = await turnOf(calls, oauth, sca, last.links, request);
  const cost = last.cost ?? started.cost;
  if (next) return { ...next, ...(cost && { cost }) };
  throw noWay('has started the authorisation, but names no way', transactionId);
}

/** @returns null if an authorisation must be started first */
async function turnOf(
  calls: Calls,
  oauth: OAuth,
  { login, transactionId }: Pick<ScaAuthorisation, 'login' | 'transactionId'>,
  links: ScaLinks,
  request: Pick<AuthorizationRequest, 'scope' | 'id'>,
): Promise<ScaTurn | null> {
  if (links.unusable !== undefined)
    throw new Psd2Error('bank_answer', links.unusable, { transactionId, isDeadEnd: true });
  if (links.isDone) return { next: 'nothing', links };
  if (links.redirect !== undefined)
    return { next: 'open', url: browserLink(links.redirect, calls.base, 'scaRedirect'), links };
  if (links.oauth !== undefined) {
    const server = await oauth.server(links.oauth, transactionId);
    const url = await oauth.address(server, { ...login, ...request }, transactionId);
    return { next: 'log in', url, server: links.oauth, links };
  }
  if (links.step) return { next: 'give', step: links.step, links };
  if (links.start !== undefined) return null;
  const isUsual = calls.description.sca.approaches[0] === 'decoupled' && links.status !== undefined;
  const isElsewhere = isUsual || links.approach === 'decoupled' || links.message !== undefined;
  return isElsewhere ? { next: 'wait', links } : null;
}

type Giving = Parameters<NonNullable<Sca['give']>>[0];

/** Where a step is taken. */
interface StepPlace {
  operation: OperationId;
  values: Readonly<Record<string, string>>;
  /** Of the bank's link. */
  query: string | undefined;
  /** It begins an authorisation. */
  begins: boolean;
}

/** @returns null if no link offers it, and nothing says of which authorisation it is */
function placeOfStep(linked: Linked, { id, step }: Pick<ScaLinks, 'id' | 'step'>): StepPlace | null {
  const { resource } = linked;
  const { update } = AUTHORISATIONS[resource.start];
  const going = offered(linked, step?.link, update, id);
  const authorisationId = going?.ids.authorisationId ?? id;
  if (authorisationId !== undefined) {
    const values = { ...resource.values, authorisationId };
    return { operation: update, values, query: going?.query, begins: false };
  }
  const start = offered(linked, step?.link, resource.start);
  const isUsual = step?.next === 'password' && step.link === undefined;
  if (!start && !isUsual) return null;
  return { operation: resource.start, values: resource.values, query: start?.query, begins: true };
}

/** Sends what the customer gave psd2 (the standard, "Update PSU data"). */
async function give(linked: Calls & Linked, sca: Giving): Promise<ScaStepAnswer> {
  const { links, gift, redirectUri, psu, transactionId, beforeSend } = sca;
  const place = placeOfStep(linked, links);
  if (!place) throw noWay('does not say of which authorisation this is', transactionId);
  const ofCancellation = linked.resource.start === 'startPaymentInitiationCancellationAuthorisation';
  const sent: BankCall = {
    gives: { what: gift.what, ...(ofCancellation && { ofCancellation }) },
    ...callOf(linked.paths, place.operation, place.values, transactionId, place.query),
    redirectUri,
    psu,
    beforeSend,
    once: true,
    // What is on its way is worth its answer.
    interruptible: 'until sent',
    ...bodyOfGift(gift),
  };
  return linked.bank.ask(sent, (answer) => stepAnswer(answer, linked, links));
}

function bodyOfGift(gift: ScaGift): Pick<BankCall, 'credential' | 'body'> {
  switch (gift.what) {
    case 'password':
      return { credential: { value: gift.value, body: (password) => ({ psuData: { password } }) } };
    case 'method':
      return { body: { authenticationMethodId: gift.value } };
    case 'code':
      return { credential: { value: gift.value, body: (code) => ({ scaAuthenticationData: code }) } };
  }
}

/** Reads the answer to a step, whatever it is: the links of an error count, too. */
function stepAnswer(
  answer: NextGenAnswer,
  linked: Calls & Linked,
  before: ScaLinks,
): ScaStepAnswer & Reading {
  const { refusal, notices } = successOf(answer);
  const { data } = startAnswer.safeParse(answer.reply.json ?? {});
  if (!data || anotherIn(answer) !== null)
    return { links: before, scaStatus: null, notices, ...(refusal && { refusal }) };
  const authorisationId = data.authorisationId ?? before.id ?? null;
  const after = usableLinks(() => linksOf({ ...data, authorisationId }, answer.headers, linked));
  const cost = costIn(data);
  return {
    links: refusal && !after.step ? before : following(before, after, data.scaStatus),
    // The word of an error is about the error.
    scaStatus: refusal ? null : data.scaStatus,
    notices,
    ...(cost && { cost }),
    ...(refusal && { refusal }),
  };
}

/**
 * What a flow keeps after a step: what only an earlier answer has said stays. Where the bank wants nothing more of psd2, the customer goes
 * on elsewhere, whatever the bank calls it.
 */
function following(before: ScaLinks, after: ScaLinks, scaStatus: string | null): ScaLinks {
  const { id, begins, step: stepBefore } = before;
  const { step } = after;
  return {
    ...(id !== undefined && { id }),
    ...(begins !== undefined && { begins }),
    ...(before.status !== undefined && { status: before.status }),
    // The same is asked for once more, so what was said for it holds.
    ...(before.message !== undefined && step?.next === stepBefore?.next && { message: before.message }),
    ...after,
    ...(!step && !after.isDone && { approach: 'decoupled' }),
    // Another authorisation may go on from here. What was said for this one is over.
    ...(scaStatus === 'failed' && stepBefore && { approach: 'embedded', step: { next: stepBefore.next } }),
    ...(step && { step: stepAfter(stepBefore, step) }),
  };
}

/** Whether an answer is a success. If not: why, in the bank's words alone. */
function successOf(answer: NextGenAnswer): Reading & { refusal?: Psd2Error } {
  try {
    return readNothing(answer);
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    const { decided } = answer.reply;
    const words = decided?.text ?? decided?.code;
    const says = `The bank answered with HTTP ${answer.status}${words ? `: ${words}` : ''}`;
    const lacksMethod = error.isBanks === true && decided?.code === 'SCA_METHOD_UNKNOWN';
    const refusal = error.restated(error.code, says);
    return { notices: [], refusal: lacksMethod ? refusal.with({ lacksMethod }) : refusal };
  }
}

const PROGRESS: Readonly<Record<string, ScaProgress['means']>> = {
  unconfirmed: 'needs code',
  finalised: 'done',
  exempted: 'done',
  failed: 'failed',
};

/** What an SCA status means. */
export function progressOf(
  answer: { scaStatus: string; psuMessage: string | null } & SaidOfCost,
): ScaProgress {
  const { scaStatus, psuMessage } = answer;
  const means = Object.hasOwn(PROGRESS, scaStatus) ? PROGRESS[scaStatus] : undefined;
  const message = psuMessage?.slice(0, LONGEST_MESSAGE) ?? null;
  const cost = costIn(answer);
  return { scaStatus, means: means ?? 'going on', message, ...(cost && { cost }) };
}

const AUTHORIZATIONS: Record<ConsentStatus['means'], Authorization['status']> = {
  open: 'PENDING',
  unknown: 'PENDING',
  valid: 'AUTHORIZED',
  rejected: 'NOT_AUTHORIZED',
  revoked: 'NOT_AUTHORIZED',
  'ended by us': 'NOT_AUTHORIZED',
  expired: 'EXPIRED',
};

/** A consent is in force as soon as the customer has authorised it: nobody confirms it. */
function resourceStatus({ consentStatus, means }: ConsentStatus): ResourceStatus {
  return {
    authorizationStatus: consentStatus,
    executionStatus: null,
    authorization: { type: 'authorization', status: AUTHORIZATIONS[means], bankStatus: consentStatus },
    became: means === 'valid' ? 'executed' : null,
  };
}
