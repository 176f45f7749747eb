import type { Authorization, Cost } from '../../../../domain/operation.ts';
import type { ResourceStatus, ScaProgress } from '../../../../domain/payment-answers.ts';
import { Psd2Error } from '../../../../errors.ts';
import type { BankCall } from '../../../call/call.ts';
import type {
  ConsentStatus,
  Consents,
  Decides,
  Sca,
  ScaAuthorisation,
  ScaLinks,
  ScaTurn,
} from '../../../ports/customer.ts';
import type { OperationId } from '../description/operations.ts';
import { ask } from '../wire/answer.ts';
import type { Calls } from '../wire/calls.ts';
import { scaStatusAnswer, startAnswer, type WireScaLinks } from '../wire/consent.ts';
import { costIn, type SaidOfCost } from '../wire/costs.ts';
import { callOf } from '../wire/paths.ts';
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
    ...(authorised.count && { count: authorised.count }),
    ...(authorised.progress && { progressWithoutLink: authorised.progress }),
    oddLinks(resourceId, links) {
      const odd = { rewritten: new Set<string>(), foreign: new Map<string, string>() };
      noteOddLinks({ ...calls, resource: authorised.resource(resourceId) }, links, odd);
      return odd;
    },
    proceed: (sca) => proceed(calls, oauth, authorised, sca),
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

type SaidOfSca = {
  scaStatus: string | null;
  psuMessage: string | null;
  authorisationId?: string | null;
  _links?: WireScaLinks;
};

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
 * @throws Psd2Error `bank_answer` for the embedded approach
 */
export function linksOf(
  { scaStatus, psuMessage, authorisationId, _links: links }: SaidOfSca,
  headers: Readonly<Record<string, string>>,
  linked: Linked & Pick<Calls, 'description' | 'odd'>,
  isDone = false,
): ScaLinks {
  const chosen = headers['aspsp-sca-approach']?.trim().toUpperCase();
  const start = links?.startAuthorisation ?? links?.startAuthorisationWithPsuIdentification;
  // Where OAuth is the only approach, both links lead to the metadata of the OAuth server.
  const isOAuthAlone = linked.description.sca.approaches.every((approach) => approach === 'oauth');
  const oauth = links?.scaOAuth ?? (isOAuthAlone ? links?.scaRedirect : undefined);
  const given = {
    ...(authorisationId && { id: authorisationId }),
    ...(start && { start }),
    ...(links?.scaStatus && { status: links.scaStatus }),
    ...(links?.confirmation && { confirmation: links.confirmation }),
  };
  const id = idOf(linked, given);
  const found = {
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
  const hasWay = isOver || found.redirect !== undefined || found.oauth !== undefined || start;
  const isRefused = chosen === 'EMBEDDED' || (!hasWay && chosen !== 'DECOUPLED' && isEmbedded(links));
  if (isRefused && !isOver) throw embedded();
  if (!isOver) noteOddLinks(linked, given, linked.odd);
  // A page that psd2 must not open is refused before anybody waits for its customer.
  if (!isOver && found.redirect !== undefined) browserLink(found.redirect, linked.base, 'scaRedirect');
  return {
    approach: chosen === 'DECOUPLED' ? 'decoupled' : chosen === 'REDIRECT' ? 'redirect' : null,
    ...found,
    ...(isOver && { isDone: true }),
    ...timed('madeAt', headers),
    ...(psuMessage !== null && { message: psuMessage.slice(0, LONGEST_MESSAGE) }),
  };
}

/** The bank's time of an answer, under a name. Nothing, if it does not say it, or if the answer may have been stored on the way. */
export function timed<Name extends 'madeAt' | 'saidAt'>(
  name: Name,
  { date, age }: Readonly<Record<string, string>>,
): { [Key in Name]?: string } {
  const time = new Date(date ?? '');
  if (age !== undefined || Number.isNaN(time.getTime())) return {};
  const said: { [Key in Name]?: string } = {};
  said[name] = time.toISOString();
  return said;
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
function idOf(linked: Linked, { id, status, usualStatus, confirmation }: LinksOfAuthorisation) {
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
  links: LinksOfAuthorisation,
  odd: Pick<Calls['odd'], 'rewritten' | 'foreign'>,
): void {
  const { status, update } = AUTHORISATIONS[linked.resource.start];
  const named = [
    ['startAuthorisation', links.start, [linked.resource.start, update]],
    ['scaStatus', links.status, [status]],
    ['confirmation', links.confirmation, [update]],
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
  const authorisationId = offer?.ids.authorisationId ?? idOf(linked, links);
  if (links[what] === undefined || authorisationId === undefined) return null;
  const values = { ...linked.resource.values, authorisationId };
  return callOf(linked.paths, operation, values, transactionId, offer?.query);
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

async function startAuthorisation(
  linked: Calls & Linked,
  href: string | undefined,
  more: Pick<ScaAuthorisation, 'redirectUri' | 'transactionId' | 'beforeSend' | 'psu'>,
): Promise<{ links: ScaLinks; cost: Cost | null }> {
  const { paths, resource } = linked;
  const { update } = AUTHORISATIONS[resource.start];
  // A link to an authorisation that has begun is for an update of that one.
  const begun = offered(linked, href, update);
  const call = begun
    ? callOf(paths, update, begun.ids, more.transactionId, begun.query)
    : callOf(
        ...([paths, resource.start, resource.values, more.transactionId] as const),
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
  const asked = { id, scope: filled(authorised.oauth.scope, id) };
  const turn = sca.links && (await turnOf(calls, oauth, sca, sca.links, asked));
  if (turn) return turn;
  const linked = { ...calls, resource: authorised.resource(resourceId) };
  const more = { redirectUri, transactionId, beforeSend, psu };
  const started = await startAuthorisation(linked, sca.links?.start, more);
  const next = await turnOf(calls, oauth, sca, started.links, asked);
  if (next) return { ...next, ...(started.cost && { cost: started.cost }) };
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

const PROGRESS: Readonly<Record<string, ScaProgress['means']>> = {
  unconfirmed: 'needs code',
  finalised: 'done',
  exempted: 'done',
  failed: 'failed',
};

/** What an SCA status means. */
export function progressOf(said: { scaStatus: string; psuMessage: string | null } & SaidOfCost): ScaProgress {
  const { scaStatus, psuMessage } = said;
  const means = Object.hasOwn(PROGRESS, scaStatus) ? PROGRESS[scaStatus] : undefined;
  const message = psuMessage?.slice(0, LONGEST_MESSAGE) ?? null;
  const cost = costIn(said);
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
