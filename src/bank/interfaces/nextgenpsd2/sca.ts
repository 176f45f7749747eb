import type { Authorization } from '../../../domain/operation.ts';
import { Psd2Error } from '../../../errors.ts';
import type { BankCall } from '../../call/call.ts';
import type {
  ConsentStatus,
  Consents,
  Decides,
  ResourceStatus,
  Sca,
  ScaAuthorisation,
  ScaLinks,
  ScaProgress,
  ScaTurn,
} from '../../ports/customer.ts';
import { ask } from './answer.ts';
import type { Calls } from './calls.ts';
import type { OperationId } from './description/operations.ts';
import { apiLink, browserLink, type LinkTarget } from './links.ts';
import { type AuthorizationRequest, filled, type OAuth } from './oauth.ts';
import { callOf, factsOf, meaning } from './paths.ts';
import { scaStatusAnswer, startAnswer, type WireScaLinks } from './wire/consent.ts';

/** What the customer authorises. */
export interface Authorised {
  /** The call that starts an authorisation, unless a link says another. */
  start(resourceId: string, transactionId: string): BankCall;
  /** What it is for OAuth: the scope, and the id by its name there. */
  oauth: { scope: string; id: 'consentId' | 'paymentId' };
  status(resourceId: string, transactionId: string, decides?: Decides): Promise<ResourceStatus>;
  /** As {@link Sca.count}. */
  count?(resourceId: string, transactionId: string): Promise<number>;
  /** As {@link Sca.progressWithoutLink}. */
  progress?(resourceId: string, transactionId: string): Promise<ScaProgress | null>;
}

/** SCA of consents. @param scope what OAuth calls it, with `{consentId}` */
export function scaOfConsents(
  calls: Calls,
  oauth: OAuth,
  consentStatus: NonNullable<Consents['status']>,
  start: OperationId = 'startConsentAuthorisation',
  scope: string = calls.description.oauth.scope.ais,
): Sca {
  return scaOf(calls, oauth, {
    start: (consentId, transactionId) => callOf(calls.paths, start, { consentId }, transactionId),
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
      const start = authorised.start(resourceId, transactionId);
      const links = await startAuthorisation(calls, { call: start, start, redirectUri, beforeSend });
      if (links.redirect !== undefined) return browserLink(links.redirect, calls.base, 'scaRedirect');
      throw noWay('names no page for the customer', transactionId);
    },
    status: (...of) => authorised.status(...of),
    ...(authorised.count && { count: authorised.count }),
    ...(authorised.progress && { progressWithoutLink: authorised.progress }),
    noteLinks({ start, status, confirmation }) {
      const notes = [
        () => start && linkedTo(calls, 'POST', start, 'startAuthorisation'),
        () => status && linkedTo(calls, 'GET', status, 'scaStatus'),
        () => confirmation && linkedTo(calls, 'PUT', confirmation, 'confirmation'),
      ];
      for (const note of notes)
        try {
          note();
        } catch {
          // A link to another host is refused where it is followed.
        }
    },
    linksLeft: (links) => linksLeft(calls, links),
    proceed: (sca) => proceed(calls, oauth, authorised, sca),
    progress: (links, transactionId, decides) => progress(calls, links, transactionId, decides),
    async confirmCode({ links, code, transactionId, beforeSend }) {
      if (links.confirmation === undefined)
        throw noWay('gave no address for the confirmation code', transactionId);
      const call = {
        ...linkedCall(calls, 'PUT', links.confirmation, 'confirmation', transactionId),
        beforeSend,
      };
      const { data } = await ask(calls.bank, { ...call, body: { confirmationCode: code } }, scaStatusAnswer);
      return progressOf(data);
    },
  };
}

type SaidOfSca = {
  scaStatus: string | null;
  psuMessage: string | null;
  authorisationId?: string | null;
  _links?: WireScaLinks;
};

/** What links are about. */
interface Linked extends Pick<Calls, 'base' | 'paths' | 'odd'> {
  /** The call that starts an authorisation of it. Absent: the links were checked before psd2 kept them. */
  start?: BankCall;
}

/** The operations of an authorisation, by the one that starts it. */
const AUTHORISATIONS: readonly { start: OperationId; GET: OperationId; PUT: OperationId }[] = [
  { start: 'startConsentAuthorisation', GET: 'getConsentScaStatus', PUT: 'updateConsentsPsuData' },
  { start: 'startPaymentAuthorisation', GET: 'getPaymentInitiationScaStatus', PUT: 'updatePaymentPsuData' },
  {
    start: 'startPaymentInitiationCancellationAuthorisation',
    GET: 'getPaymentCancellationScaStatus',
    PUT: 'updatePaymentCancellationPsuData',
  },
  {
    start: 'startSigningBasketAuthorisation',
    GET: 'getSigningBasketScaStatus',
    PUT: 'updateSigningBasketPsuData',
  },
  {
    start: 'startConsentConfirmationOfFundsAuthorisation',
    GET: 'getConsentConfirmationOfFundsScaStatus',
    PUT: 'updateConsentConfirmationOfFundsPsuData',
  },
];

/** More than a bank tells a customer. */
const LONGEST_MESSAGE = 500;

/**
 * What is next for SCA, from an answer that says it. The links are kept as they are, and read when psd2 follows them.
 *
 * @param linked what they are about
 * @param isDone the answer says that the customer has nothing to do
 * @throws Psd2Error `bank_answer` for the embedded approach
 */
export function linksOf(
  { scaStatus, psuMessage, authorisationId, _links: links }: SaidOfSca,
  headers: Readonly<Record<string, string>>,
  linked: Linked & Pick<Calls, 'description'> & { start: BankCall },
  isDone = false,
): ScaLinks {
  const chosen = headers['aspsp-sca-approach']?.trim().toUpperCase();
  const start = links?.startAuthorisation ?? links?.startAuthorisationWithPsuIdentification;
  // Where OAuth is the only approach, both links lead to the metadata of the OAuth server.
  const isOAuthAlone = linked.description.sca.approaches.every((approach) => approach === 'oauth');
  const oauth = links?.scaOAuth ?? (isOAuthAlone ? links?.scaRedirect : undefined);
  const status = statusLink(linked, links?.scaStatus, authorisationId);
  const id = authorisationId ?? idIn(linked, status.status);
  const found = {
    ...(id && { id }),
    ...(links?.scaRedirect && !isOAuthAlone && { redirect: links.scaRedirect }),
    ...(oauth && { oauth }),
    ...(start && { start }),
    ...status,
    ...(links?.confirmation && { confirmation: links.confirmation }),
  };
  const isOver = isDone || scaStatus === 'exempted' || scaStatus === 'finalised';
  const hasWay = isOver || found.redirect !== undefined || found.oauth !== undefined || start;
  const isRefused = chosen === 'EMBEDDED' || (!hasWay && chosen !== 'DECOUPLED' && isEmbedded(links));
  if (isRefused && !isOver) throw embedded();
  if (!isOver) assertFollowable(found, linked);
  return {
    approach: chosen === 'DECOUPLED' ? 'decoupled' : chosen === 'REDIRECT' ? 'redirect' : null,
    ...found,
    ...(isOver && { isDone: true }),
    ...(psuMessage !== null && { message: psuMessage.slice(0, LONGEST_MESSAGE) }),
  };
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

/** A link that psd2 must not follow is refused before the customer acts: afterwards it is too late to ask there. */
function assertFollowable(
  { redirect, status, confirmation }: Omit<ScaLinks, 'approach'>,
  linked: Linked,
): void {
  if (redirect !== undefined) browserLink(redirect, linked.base, 'scaRedirect');
  if (status !== undefined) linkedTo(linked, 'GET', status, 'scaStatus');
  if (confirmation !== undefined) linkedTo(linked, 'PUT', confirmation, 'confirmation');
}

/**
 * Where the status of an authorisation is. If the answer has its id, no link is needed. Else a link ends with the id, and
 * the standard's address is asked if the link is dead.
 */
function statusLink(
  linked: Linked & { start: BankCall },
  href: string | null | undefined,
  authorisationId: string | null | undefined,
): Pick<ScaLinks, 'status' | 'usualStatus'> {
  const { paths, start } = linked;
  const found = paths.find('POST', start.path);
  const operation = AUTHORISATIONS.find((each) => each.start === found?.operation)?.GET;
  const usualWith = (id: string | null | undefined) =>
    id && found && operation ? paths.to(operation, { ...found.values, authorisationId: id }) : undefined;
  const own = usualWith(authorisationId);
  const target = href ? targetOf(linked, href) : undefined;
  const isUsable = target !== undefined && target.origin === undefined;
  if (!href || (own && !isUsable)) return own ? { status: own } : {};
  const usual = own ?? usualWith(/([^/]+)\/?$/.exec(target?.path.split('?', 1)[0] ?? '')?.[1]);
  return { status: href, ...(usual && usual !== target?.path && { usualStatus: usual }) };
}

/** The id of the authorisation that a link tells of. */
function idIn(linked: Linked, href: string | undefined): string | undefined {
  const target = href === undefined ? undefined : targetOf(linked, href);
  return target && linked.paths.find('GET', target.path)?.values.authorisationId;
}

/** Where the link to a status leads. Undefined: psd2 must not follow it. */
function targetOf(linked: Linked, href: string): LinkTarget | undefined {
  try {
    return linkedTo(linked, 'GET', href, 'scaStatus');
  } catch {
    return undefined;
  }
}

/** Where a link about an authorisation leads. */
function linkedTo(
  { base, paths, odd, start }: Linked,
  method: 'GET' | 'PUT' | 'POST',
  href: string,
  name: string,
) {
  const operations = AUTHORISATIONS.map((each) => (method === 'POST' ? each.start : each[method]));
  return apiLink(href, base, name, { isMeant: meaning(paths, method, operations, start), ...odd });
}

function isEmbedded(links: WireScaLinks | undefined): boolean {
  const names = [
    ...([
      'updatePsuAuthentication',
      'updateEncryptedPsuAuthentication',
      'selectAuthenticationMethod',
    ] as const),
    ...(['authoriseTransaction', 'startAuthorisationWithPsuAuthentication'] as const),
    ...(['startAuthorisationWithEncryptedPsuAuthentication'] as const),
    ...(['startAuthorisationWithAuthenticationMethodSelection'] as const),
    ...(['startAuthorisationWithTransactionAuthorisation'] as const),
  ];
  return names.some((name) => Boolean(links?.[name]));
}

const ASK_FOR_OTHER_SCA = 'Ask the bank to offer redirect or decoupled SCA to this application.';

function embedded(): Psd2Error {
  return new Psd2Error(
    'bank_answer',
    "The bank wants the customer's password or code from psd2 (embedded SCA). psd2 never takes them",
    { hint: ASK_FOR_OTHER_SCA, isDeadEnd: true },
  );
}

function noWay(what: string, transactionId: string): Psd2Error {
  return new Psd2Error('bank_answer', `The bank ${what}, so the customer cannot authorise`, {
    hint: 'psd2 follows scaRedirect, scaOAuth, startAuthorisation, and the decoupled approach.',
    transactionId,
  });
}

/** A call to a link of the bank's. */
function linkedCall(
  linked: Linked,
  method: 'GET' | 'PUT' | 'POST',
  href: string,
  name: string,
  transactionId: string,
): BankCall {
  const target = linkedTo(linked, method, href, name);
  return { method, ...target, facts: factsOf(linked.paths.find(method, target.path)), transactionId };
}

async function startAuthorisation(
  calls: Calls,
  {
    call,
    start,
    ...more
  }: { call: BankCall; start: BankCall } & Pick<ScaAuthorisation, 'redirectUri' | 'beforeSend' | 'psu'>,
): Promise<ScaLinks> {
  const { data, headers } = await ask(calls.bank, { ...call, body: {}, ...more }, startAnswer);
  return linksOf(data, headers, { ...calls, start });
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
  const asked = { id, scope: filled(authorised.oauth.scope, id) };
  const turn = sca.links && (await turnOf(calls, oauth, sca, sca.links, asked));
  if (turn) return turn;
  const start = authorised.start(resourceId, transactionId);
  const startAt = (call: BankCall) =>
    startAuthorisation(calls, { call, start, redirectUri, beforeSend, psu });
  const known = sca.links && linksLeft(calls, sca.links).start;
  const linked = known && linkedCall({ ...calls, start }, 'POST', known, 'startAuthorisation', transactionId);
  const started = await startAt(linked || start).catch((error: unknown) => {
    if (!known || !isUnknown(error)) throw error;
    calls.dead.add(known);
    if (linked && linked.path === start.path) throw error;
    return startAt(start);
  });
  const next = await turnOf(calls, oauth, sca, started, asked);
  if (next) return next;
  throw noWay('has started the authorisation, but names no way', transactionId);
}

/** @returns null if an authorisation must be started first */
async function turnOf(
  calls: Calls,
  oauth: OAuth,
  { login, transactionId }: Pick<ScaAuthorisation, 'login' | 'transactionId'>,
  links: ScaLinks,
  asked: Pick<AuthorizationRequest, 'scope' | 'id'>,
): Promise<ScaTurn | null> {
  if (links.unusable !== undefined)
    throw new Psd2Error('bank_answer', links.unusable, { transactionId, isDeadEnd: true });
  if (links.isDone) return { next: 'nothing', links };
  if (links.redirect !== undefined)
    return { next: 'open', url: browserLink(links.redirect, calls.base, 'scaRedirect'), links };
  if (links.oauth !== undefined) {
    const server = await oauth.server(links.oauth, transactionId);
    const url = await oauth.address(server, { ...login, ...asked }, transactionId);
    return { next: 'log in', url, server: links.oauth, links };
  }
  if (links.start !== undefined) return null;
  const isUsual = calls.description.sca.approaches[0] === 'decoupled' && links.status !== undefined;
  const isElsewhere = isUsual || links.approach === 'decoupled' || links.message !== undefined;
  return isElsewhere ? { next: 'wait', links } : null;
}

async function progress(
  calls: Calls,
  links: ScaLinks,
  transactionId: string,
  decides: Decides,
): Promise<ScaProgress | null> {
  const { status } = linksLeft(calls, links);
  if (status === undefined) return null;
  const call = {
    ...linkedCall(calls, 'GET', status, 'scaStatus', transactionId),
    decides: decides || true,
  };
  try {
    return progressOf((await ask(calls.bank, call, scaStatusAnswer)).data);
  } catch (error) {
    if (!isUnknown(error)) throw error;
    calls.dead.add(status);
    return progress(calls, links, transactionId, decides);
  }
}

/** The links without those that the bank has answered with 404: in their place the standard's address, once. */
function linksLeft({ dead }: Pick<Calls, 'dead'>, links: ScaLinks): ScaLinks {
  const { start, status, usualStatus, ...rest } = links;
  const isDead = (href: string | undefined) => href !== undefined && dead.has(href);
  if (isDead(status) && usualStatus !== undefined)
    return linksLeft({ dead }, { ...rest, ...(start && { start }), status: usualStatus });
  if (!isDead(start) && !isDead(status)) return links;
  return {
    ...rest,
    ...(start && !isDead(start) && { start }),
    ...(status && !isDead(status) && { status, ...(usualStatus && { usualStatus }) }),
  };
}

/** Whether the bank does not know the address of a link. */
function isUnknown(error: unknown): boolean {
  return error instanceof Psd2Error && (error.httpStatus === 404 || error.httpStatus === 410);
}

const PROGRESS: Readonly<Record<string, ScaProgress['means']>> = {
  unconfirmed: 'needs code',
  finalised: 'done',
  exempted: 'done',
  failed: 'failed',
};

/** What an SCA status means. */
export function progressOf({
  scaStatus,
  psuMessage,
}: {
  scaStatus: string;
  psuMessage: string | null;
}): ScaProgress {
  const means = Object.hasOwn(PROGRESS, scaStatus) ? PROGRESS[scaStatus] : undefined;
  return { scaStatus, means: means ?? 'going on', message: psuMessage?.slice(0, LONGEST_MESSAGE) ?? null };
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
