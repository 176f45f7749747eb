import type { Bank } from '../../bank/ports/bank.ts';
import type { ConsentDetails, Decides, ScaLinks } from '../../bank/ports/customer.ts';
import { hasAuthorised, isAuthorised } from '../../domain/authorisations.ts';
import { type Consent, type ConsentEvent, type ConsentTerms, isForFunds } from '../../domain/consent.ts';
import { isLogin } from '../../domain/given-links.ts';
import { isMaskedReference } from '../../domain/order/account-reference.ts';
import type { ScaProgress } from '../../domain/payment-answers.ts';
import { type ErrorContext, Psd2Error } from '../../errors.ts';
import type { Open } from '../../store/ports/flows.ts';
import { type GiftRecord, recordedGifts, recordLoggedGifts, refuseBeforehand } from '../gifts.ts';
import {
  authoriseByLinks,
  type LinkedRecord,
  type LinkedSubject,
  lacksReturn,
  returnAddress,
} from '../linked-sca.ts';
import { isNotKnown, notKnownThere } from '../not-known.ts';
import { announcing } from '../once.ts';
import { othersMust } from '../payment/authorise.ts';
import { lackingResource } from '../payment/status.ts';
import type { FlowPorts, ReturnPorts } from '../ports.ts';
import {
  isBanksRefusal,
  isInterruption,
  isRefusal,
  isTrouble,
  isTurningAway,
  isUnsaidOf,
} from '../refusals.ts';
import { askUntil, timedOut } from '../sca.ts';
import { isOnlyAStop, namingPerson, onlyAsking, stillOpen } from '../still-open.ts';
import { deleteAtBank } from './deletion.ts';
import { announcingRequest, endOf } from './loop.ts';

/** The bank as a consent needs it: consents for confirmations of funds are a service of their own. */
export function bankFor<Own extends Pick<Bank, 'ofFunds'>>(bank: Own, consent: Pick<Consent, 'terms'>): Own {
  return isForFunds(consent) && bank.ofFunds ? { ...bank, ...bank.ofFunds } : bank;
}

/** What a consent needs besides, at a bank where the customer's SCA alone grants it. */
export interface GrantPorts extends ReturnPorts {
  /** Keeps the consent, so that readings find it. May come twice. */
  keepConsent(consent: Consent, details: ConsentDetails): Promise<void>;
  /** Forgets the consent: no reading uses it any more. */
  dropConsent(consent: Consent): Promise<void>;
  /** The terms as the operator gave them: no journal has the whole number of a card. */
  given?: Partial<ConsentTerms> | undefined;
}

/**
 * Runs a consent from the state in its journal to its end, at a bank where the customer's SCA alone grants it (the standard,
 * section 2, "Consent" and "SCA"): request, then what the bank's links say, then the status until the customer has decided.
 * Nothing here moves money, so a request whose answer was lost is made again.
 *
 * @returns the granted consent
 * @throws Psd2Error if it is not granted. The journal then has the state. `still_open` if somebody can still authorise it,
 *   whatever stopped psd2; `outcome_unknown` if the bank could not be asked
 */
export async function runLinkedConsent(
  open: Open<'consent'>,
  ports: FlowPorts,
  grant: GrantPorts,
): Promise<Consent> {
  try {
    return await takeSteps(open, ports, grant);
  } catch (error) {
    throw unlessOpen(open.current, error, grant.psuId);
  }
}

/** The error of a consent that psd2 stopped with: whatever stopped it, a customer with the link can still authorise it. */
function unlessOpen(consent: Consent, error: unknown, psuId = 'the customer'): unknown {
  // What the customer has refused themselves is no stop of psd2's.
  if (!isOnlyAStop(error) || consent.state !== 'authorizing' || error.code === 'not_authorised') return error;
  if (isTrouble(error)) return notAsked(consent, error);
  // Whom the bank refuses has no link.
  return stillOpen(consent, error, { who: isRefusal(error) || isTurningAway(error) ? 'somebody' : psuId });
}

/** The error if the bank could not be asked whether the customer has decided. */
function notAsked({ flow, transactionId }: Consent, why: Psd2Error): Psd2Error {
  return new Psd2Error('outcome_unknown', `${isUnsaidOf('consent', why)}: ${why.message}`, {
    ...why.context,
    hint: 'Ask the bank again with:',
    next: [['consent', 'resume', flow]],
    flow,
    transactionId,
  });
}

async function takeSteps(open: Open<'consent'>, ports: FlowPorts, grant: GrantPorts): Promise<Consent> {
  if (open.current.state === 'created') {
    if (!open.current.reached) refuseBeforehand(ports.bank.sca, grant);
    await request(open, ports, grant);
  }
  // A journal that was restored may say so of a consent that this machine does not keep for readings.
  if (open.current.state === 'confirmed') await recordStatus(open, ports, grant);
  if (!isUndecided(open.current)) return endOf(open.current);
  await recordLoggedGifts(open, ports);
  const links = await linksToFollow(open, ports, grant);
  const goesOn = isUndecided(open.current) && links !== 'authorised';
  const sentCode = goesOn && (await sendCustomer(open, links, ports, grant));
  if (isUndecided(open.current)) await awaitDecision(open, ports, grant, sentCode);
  await noteLastWord(open, ports);
  return endOf(open.current);
}

/** @returns whether the bank has the confirmation code. @throws Psd2Error that no customer can authorise it: the consent has ended then */
async function sendCustomer(
  open: Open<'consent'>,
  links: ScaLinks | null,
  ports: FlowPorts,
  grant: GrantPorts,
): Promise<boolean> {
  const record = recordOf(open, ports, grant);
  let isBeginning = false;
  let isConfirming = false;
  const code: LinkedRecord['code'] = async (intent) => {
    isConfirming = true;
    return record.code(intent);
  };
  const approach: LinkedRecord['approach'] = async (intent) => {
    const announced = await record.approach(intent);
    isBeginning = true;
    return announced;
  };
  const started: LinkedRecord['started'] = (links) => {
    isBeginning = false;
    return record.started(links);
  };
  try {
    const noting = { ...record, approach, code, started };
    return await authoriseByLinks(linkedSubject(open.current, grant), links, ports, grant, noting);
  } catch (error) {
    // The bank would refuse to begin another authorisation again. The consent is as open as before.
    if (isBeginning && isRefusal(error))
      throw stillOpen(open.current, error, { who: 'somebody', ask: [onlyAsking(open.current)] });
    // A wrong code may have ended the authorisation: then the bank says so.
    if (isConfirming && isRefusal(error) && (await hasFailed(open, ports, grant))) return true;
    // What one person cannot authorise, another may have.
    if (!(error instanceof Psd2Error) || !error.isDeadEnd || grant.person) throw error;
    throw await giveUp(open, ports, error);
  }
}

/** Whether the bank says that the consent has ended, or that its authorisation has failed. */
async function hasFailed(open: Open<'consent'>, ports: FlowPorts, grant: GrantPorts): Promise<boolean> {
  const { consentStatus: bankStatus, isPartly } = await recordStatus(open, ports, grant);
  if (!isUndecided(open.current)) return true;
  return isPartly ? false : endIfFailed(open, ports, bankStatus, await askProgress(open, ports));
}

/**
 * Ends a consent whose authorisation has failed, if the bank says so twice. Who refuses ends nothing of what others may authorise, unless
 * the bank says so.
 *
 * @returns whether it has ended
 */
async function endIfFailed(
  open: Open<'consent'>,
  ports: FlowPorts,
  bankStatus: string,
  progress: ScaProgress | null,
): Promise<boolean> {
  const isAlone = new Set(open.current.authorisations.map(({ psuId }) => psuId)).size <= 1;
  if (progress?.means !== 'failed' || !isAlone) return false;
  if ((await askProgress(open, ports, 'an end'))?.means !== 'failed') return false;
  // The authorisation is over, whenever the bank says so in the status of the consent.
  await open.record({ type: 'ended', state: 'rejected', bankStatus, scaStatus: progress.scaStatus });
  return true;
}

/** Ends a consent that no customer can authorise. @returns why, with what became of it at the bank */
async function giveUp(open: Open<'consent'>, { bank }: FlowPorts, why: Psd2Error): Promise<Psd2Error> {
  const { flow, transactionId } = open.current;
  const hint = why.hint === undefined ? '' : `${why.hint} `;
  let bankStatus: string | null = null;
  let left: ErrorContext = { hint: `${hint}psd2 has ended the consent at the bank.` };
  try {
    bankStatus = await deleteAtBank(open, bank);
  } catch (error) {
    if (isInterruption(error)) throw error;
    left = {
      hint: `${hint}The bank still has the consent. End it there with:`,
      next: [['consent', 'delete', flow]],
    };
  }
  await open.record({ type: 'ended', state: 'cancelled', bankStatus });
  return why.with({ ...left, flow, transactionId });
}

function isUndecided({ state }: Consent): boolean {
  return state === 'requested' || state === 'authorizing';
}

/** Whether the customer's login with the consent is still to come. Only it gives the tokens that readings carry. */
function lacksLogin({ links, returned }: Consent): boolean {
  return links !== null && isLogin(links) && !returned;
}

/**
 * The links to follow. The customer may have decided on a page that an earlier run opened, and that page may no longer be
 * good: then psd2 starts another authorisation.
 *
 * @returns null if there are none. `authorised`: the customer has done everything, and the bank is about to say so
 */
async function linksToFollow(
  open: Open<'consent'>,
  ports: FlowPorts,
  grant: GrantPorts,
): Promise<ScaLinks | null | 'authorised'> {
  const { links, state } = open.current;
  if (state !== 'authorizing') return links;
  const { isPartly } = await recordStatus(open, ports, grant);
  if (!isUndecided(open.current)) return links;
  const { person } = grant;
  // Whose part is over is asked for nothing more.
  if (person && !(isPartly && hasAuthorised(open.current.authorisations, person.id)))
    return isTheirs(open.current, person.id) ? links : (ports.bank.sca.anew?.(links) ?? null);
  const progress = await askProgress(open, ports);
  // As long as the code of this customer's page is missing, nobody has authorised it.
  if (isPartly && progress?.means !== 'needs code') throw await partly(open, progress);
  switch (progress?.means) {
    case 'failed':
      // With psd2, the customer is asked before another one begins.
      return links?.step ? links : null;
    case 'needs code':
      // Only the address that the browser ended at has the code.
      return grant.askForReturn ? links : null;
    case 'done':
      return lacksLogin(open.current) ? links : 'authorised';
    default:
      return links;
  }
}

/** Whether psd2 is in the midst of what a person gives it for their authorisation. */
function isTheirs({ links, authorisations }: Consent, psuId: string | undefined): boolean {
  const last = authorisations.at(-1);
  return links?.step !== undefined && last?.psuId === (psuId ?? null) && !isAuthorised(last);
}

/** How far the authorisation is. Null if the bank does not say: the status of the consent decides. */
async function askProgress(
  open: Open<'consent'>,
  { bank }: Pick<FlowPorts, 'bank'>,
  decides?: Decides,
): Promise<ScaProgress | null> {
  const { links, transactionId } = open.current;
  try {
    const resourceId = consentResource(open.current);
    return (links && (await bank.sca.progress?.(resourceId, links, transactionId, decides))) ?? null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

async function request(
  open: Open<'consent'>,
  { bank, customer }: FlowPorts,
  { given: wholeTerms }: Pick<GrantPorts, 'given'>,
): Promise<void> {
  const { flow, customerId, categories, transactionId } = open.current;
  const terms = wholeTerms ?? open.current.terms;
  if (!wholeTerms && terms && namesMaskedCard(terms)) throw lacksNumber(flow);
  try {
    const requested = await bank.consents.request({
      customerId,
      categories,
      ...(terms && { terms }),
      redirectUri: returnAddress(customer.redirectUri, stateOf(open.current)),
      transactionId,
      beforeSend: announcingRequest(open),
    });
    await open.record({ type: 'requested', ...requested });
  } catch (error) {
    if (isBanksRefusal(error)) await open.record({ type: 'request-refused' });
    throw error;
  }
}

/** Whether only a part of the number of a card is kept. Somebody may have given it so: nobody knows. */
function namesMaskedCard({ access }: Partial<ConsentTerms>): boolean {
  if (access?.type === 'dedicated') return access.accounts.some(isMaskedReference);
  if (access?.type !== 'funds') return false;
  return isMaskedReference(access.account) || (access.cardNumber?.includes('*') ?? false);
}

function lacksNumber(flow: string): Psd2Error {
  return new Psd2Error('usage', 'psd2 does not keep full card numbers, so it cannot ask again', {
    hint: 'End this consent, and ask for another one:',
    next: [
      ['consent', 'cancel', flow],
      ['consent', 'request'],
    ],
    flow,
  });
}

/** Asks the bank until the customer has decided. @throws Psd2Error `authorisation_timeout`, `usage` if only a code helps */
async function awaitDecision(
  open: Open<'consent'>,
  ports: FlowPorts,
  grant: GrantPorts,
  sentCode: boolean,
): Promise<void> {
  const { customer, world } = ports;
  const pause = ports.bank.sca.timing?.pollSeconds;
  let looksPartly = 0;
  let last: ScaProgress | null = null;
  const ask = async () => {
    const { consentStatus: bankStatus, isPartly } = await recordStatus(open, ports, grant);
    if (!isUndecided(open.current)) return true;
    const progress = await askProgress(open, ports);
    last = progress;
    if (progress?.means === 'needs code' && !sentCode)
      throw lacksReturn(
        linkedSubject(open.current, grant),
        "The bank waits for the code that only the customer's browser brings back",
      );
    const { authorisations } = open.current;
    const isOver = progress ? ['done', 'failed'].includes(progress.means) : authorisations.length <= 1;
    // The word for the consent can come a moment after that for the last authorisation.
    looksPartly = isPartly && isOver ? looksPartly + 1 : 0;
    if (looksPartly > 1) throw await partly(open, progress);
    if (isPartly) return null;
    return (await endIfFailed(open, ports, bankStatus, progress)) ? true : null;
  };
  const decision = askUntil(
    world,
    customer.scaTimeoutMs,
    ask,
    pause === undefined ? undefined : pause * 1000,
  );
  const decided = await customer.whileWaiting(
    "Waiting for the customer's decision",
    decision,
    customer.scaTimeoutMs,
  );
  if (decided) return;
  await noteProgress(open, last);
  const { bankStatus } = open.current;
  throw timedOut(customer, linkedSubject(open.current, grant), bankStatus === null ? '' : ` (${bankStatus})`);
}

/** Records what the bank says of the authorisation once the consent is granted or has ended. Without an answer, nothing is lost. */
async function noteLastWord(open: Open<'consent'>, ports: FlowPorts): Promise<void> {
  const progress = await askProgress(open, ports).catch((error: unknown) => {
    if (isInterruption(error)) throw error;
    return null;
  });
  await noteProgress(open, progress);
}

/** Records how far the last authorisation is. @returns the error: others must authorise the consent, too */
async function partly(open: Open<'consent'>, progress: ScaProgress | null): Promise<Psd2Error> {
  await noteProgress(open, progress);
  return othersMust(open.current, 'consent', open.current.bankStatus ?? '');
}

/** Records how far the last authorisation is, if that is new. */
async function noteProgress(open: Open<'consent'>, progress: ScaProgress | null): Promise<void> {
  const { authorisations, bankStatus, links } = open.current;
  const lastOfOurs = authorisations.find(({ id }) => id === (links?.id ?? null)) ?? authorisations.at(-1);
  if (progress && bankStatus !== null && lastOfOurs?.scaStatus !== progress.scaStatus)
    await open.record({ type: 'noted', bankStatus, scaStatus: progress.scaStatus });
}

/** The states that the bank's words for an end mean. */
const ENDS = {
  rejected: 'rejected',
  expired: 'expired',
  revoked: 'revoked',
  unknown: 'revoked',
  'ended by us': 'cancelled',
} as const;

/**
 * Asks the bank how the consent is, and records what has changed: the customer has granted it, or it has ended. What is
 * granted is kept for readings before the journal says so, and what has ended is forgotten before. So a kill in between loses
 * nothing. A consent that was given up here stays unused, even if the customer grants it.
 *
 * @returns the bank's word
 * @throws Psd2Error if the bank gives no usable answer; `outcome_unknown` or `certificate` if it does not know the consent, and has not taken
 *   its deletion
 */
export async function recordStatus(
  open: Open<'consent'>,
  { bank }: { bank: Pick<Bank, 'consents' | 'certificate'> },
  grant: Pick<GrantPorts, 'keepConsent' | 'dropConsent'>,
): Promise<ConsentDetails> {
  const { details } = bank.consents;
  if (!details) throw new TypeError('This interface has no status of consents');
  const consent = open.current;
  const ask = (decides?: Decides) =>
    details(consentResource(consent), consent.transactionId, decides).catch((error: unknown) => {
      if (!isNotKnown(error)) throw error;
      if (consent.isDeletionTaken) return goneAfter(consent);
      throw notKnownThere(consent, bank, error);
    });
  // An open one is waited for, whatever the bank calls it. One in force ends with a word that grants nothing.
  const isWaitedFor = ({ means }: ConsentDetails) =>
    means === 'open' || (means === 'unknown' && consent.state !== 'confirmed');
  const first = await ask();
  // What ends it takes it from the readings, and a gateway may have given the answer to another request.
  const latest = first.means === 'valid' || isWaitedFor(first) ? first : await ask('an end');
  const { consentStatus: bankStatus, means } = latest;
  if (means === 'open' || isWaitedFor(latest)) {
    const isOpen = isUndecided(consent) || consent.state === 'confirmed';
    const isNew = isOpen && (bankStatus !== consent.bankStatus || saysNew(consent, latest));
    if (isNew) await open.record({ type: 'noted', bankStatus, ...messagesIn(latest) });
    return latest;
  }
  const isOurs = isUndecided(consent) || consent.state === 'confirmed';
  if (means !== 'valid') {
    await grant.dropConsent(consent);
    if (isOurs) await open.record({ type: 'ended', state: ENDS[means], bankStatus, ...messagesIn(latest) });
  } else if (!isOurs) {
    await grant.dropConsent(consent);
  } else if (!isUndecided(consent) || !lacksLogin(consent)) {
    await grant.keepConsent(consent, latest);
    if (isNews(consent, latest)) await open.record(grantedBy(latest));
  }
  return latest;
}

/** What is left of a consent that the bank does not know any more after it has taken its deletion. */
function goneAfter({ bankStatus }: Consent): ConsentDetails {
  const nothing = { validUntil: null, frequencyPerDay: null, recurring: null, access: null };
  return { consentStatus: bankStatus ?? '', means: 'ended by us', ...nothing };
}

/** Whether the customer has just granted it, or the bank has changed its word, its last day or what it covers. */
function isNews(consent: Consent, latest: ConsentDetails): boolean {
  const { consentStatus, validUntil, access } = latest;
  return (
    isUndecided(consent) ||
    saysNew(consent, latest) ||
    consentStatus !== consent.bankStatus ||
    (validUntil !== null && validUntil !== consent.terms?.validUntil) ||
    (access !== null && JSON.stringify(access) !== JSON.stringify(consent.access))
  );
}

/** Whether the bank says something beside its word that the journal does not have. */
function saysNew({ messages: earlierMessages }: Consent, { messages = [] }: ConsentDetails): boolean {
  return messages.some((each) => !earlierMessages.includes(each));
}

function messagesIn({ messages }: Pick<ConsentDetails, 'messages'>) {
  return messages ? { messages } : {};
}

function grantedBy(latest: ConsentDetails): ConsentEvent {
  const { consentStatus, access, validUntil, frequencyPerDay, recurring } = latest;
  return {
    ...messagesIn(latest),
    type: 'granted',
    bankStatus: consentStatus,
    validUntil,
    frequencyPerDay,
    recurring,
    ...(access && { access }),
  };
}

function stateOf({ returnState }: Consent): string {
  if (returnState === null) throw new TypeError('A consent with terms begins with a state for its return');
  return returnState;
}

function consentResource({ flow, resourceId }: Consent): string {
  if (!resourceId) throw lackingResource(flow);
  return resourceId;
}

/** The consent, as its SCA needs to know it. */
function linkedSubject(consent: Consent, grant: GrantPorts): LinkedSubject {
  const { flow, transactionId } = consent;
  const state = stateOf(consent);
  const again = ['consent', 'resume', flow, ...namingPerson(grant)] as const;
  return {
    kind: 'consent',
    flow,
    transactionId,
    state,
    resourceId: consentResource(consent),
    again,
    doing: 'authorise the consent',
    who: grant.psuId,
    whenLate: { hint: 'Continue with:', next: [[...again]], flow },
  };
}

/** What is recorded of what a customer gives psd2 for a consent. */
function giftsOfConsent(open: Open<'consent'>, ports: FlowPorts, grant: GrantPorts): GiftRecord {
  const { flow, terms } = open.current;
  return {
    subject: { kind: 'consent', flow, order: terms },
    ...recordedGifts(open, ports, grant),
    async look() {
      await recordStatus(open, ports, grant);
      const { state } = open.current;
      if (!isUndecided(open.current))
        return { scaStatus: null, decided: state === 'confirmed' ? 'accepted' : 'ended' };
      return { scaStatus: (await askProgress(open, ports))?.scaStatus ?? null, decided: null };
    },
    async lacksMethod() {
      const { consentStatus: bankStatus } = await recordStatus(open, ports, grant);
      if (isUndecided(open.current)) await open.record({ type: 'ended', state: 'rejected', bankStatus });
    },
  };
}

function recordOf(open: Open<'consent'>, ports: FlowPorts, grant: GrantPorts): LinkedRecord {
  const approach = announcing<ConsentEvent>(open, (intent) => ({
    type: 'approach-sent',
    ...intent,
  }));
  return {
    approach,
    code: approach,
    async started(links) {
      const { psuId } = grant;
      await open.record({ type: 'sca-started', links, ...(psuId !== undefined && { psuId }) });
    },
    async returned() {
      await open.record({ type: 'sca-returned' });
    },
    async isDecided() {
      await recordStatus(open, ports, grant);
      if (!isUndecided(open.current)) return true;
      const progress = await askProgress(open, ports);
      await noteProgress(open, progress);
      return progress?.means === 'failed' || progress?.means === 'done';
    },
    async refusedLogin(error, isCustomers) {
      // A customer who refuses the login refuses the consent, if the bank says so.
      const { means } = await recordStatus(open, ports, grant);
      if (!isUndecided(open.current)) return;
      // Another login gives the tokens for one in force.
      if (means === 'valid') throw error;
      throw isCustomers ? error.restated('not_authorised', error.message) : error;
    },
    gifts: giftsOfConsent(open, ports, grant),
  };
}
