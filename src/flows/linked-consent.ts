import { randomBytes } from 'node:crypto';
import type {
  ClientCredentials,
  ConsentDetails,
  ScaLinks,
  ScaProgress,
  ScaTurn,
} from '../bank/ports/customer.ts';
import type { Consent, ConsentEvent } from '../domain/consent.ts';
import { type ErrorContext, Psd2Error } from '../errors.ts';
import type { Open } from '../store/ports/flows.ts';
import type { StoredTokens } from '../store/ports/tokens.ts';
import { announcing, type Revoking } from './announce.ts';
import { endOf } from './consent.ts';
import { readCode } from './login.ts';
import { lackingResource } from './outcome.ts';
import type { Callback, FlowPorts } from './ports.ts';
import { isBanksRefusal, isRefusal } from './refusals.ts';
import { askUntil, awaitCallback, type ScaRequest, timedOut } from './sca.ts';
import { toStoredTokens } from './session.ts';

/** What a consent needs besides, at a bank where the customer's SCA alone grants it. */
export interface GrantPorts {
  /** The OAuth client, for a bank where the customer logs in with the consent. */
  client(): ClientCredentials;
  /** Stores the tokens of such a login. First makes sure that it can: `granted` uses up the code of the login. */
  keepTokens(granted: () => Promise<StoredTokens>): Promise<void>;
  /** Keeps the consent, so that readings find it. May come twice. */
  keepConsent(consent: Consent, details: ConsentDetails): Promise<void>;
  /** Forgets the consent: no reading uses it any more. */
  dropConsent(consent: Consent): Promise<void>;
  /** Asks the operator for the address that the customer's browser ended at. Undefined: psd2 does not ask. */
  askForReturn: ((state: string) => Promise<URLSearchParams>) | undefined;
  /** Tells the operator what the bank wants the customer to do. */
  say(text: string): void;
}

/**
 * Runs a consent from the state in its journal to its end, at a bank where the customer's SCA alone grants it (NextGenPSD2,
 * section 2, "Consent" and "SCA"): request, then what the bank's links say, then the status until the customer has decided.
 * Nothing here moves money, so a request whose answer was lost is made again.
 *
 * @returns the granted consent
 * @throws Psd2Error if it is not granted. The journal then has the state
 */
export async function runLinkedConsent(
  open: Open<'consent'>,
  ports: FlowPorts,
  grant: GrantPorts,
): Promise<Consent> {
  if (open.current.state === 'created') await request(open, ports);
  const links = await linksLeft(open, ports, grant);
  if (!isUndecided(open.current)) return endOf(open.current);
  let sentCode = false;
  if (links !== 'authorised') {
    const codeVerifier = randomBytes(32).toString('base64url');
    const turn = await proceed(open, links, ports, { grant, codeVerifier });
    const listener = await listenFor(open.current, turn, ports, grant);
    try {
      await open.record({ type: 'sca-started', links: turn.links });
      sentCode = await sendCustomer(open, turn, ports, grant, { listener, codeVerifier });
    } finally {
      await listener?.close();
    }
  }
  await awaitDecision(open, ports, grant, sentCode);
  return endOf(open.current);
}

function isUndecided({ state }: Consent): boolean {
  return state === 'requested' || state === 'authorizing';
}

/** Whether the customer's login with the consent is still to come. Only it gives the tokens that readings carry. */
function lacksLogin({ links, returned }: Consent): boolean {
  return links !== null && isLogin(links) && !returned;
}

function isLogin({ redirect, oauth }: ScaLinks): boolean {
  return redirect === undefined && oauth !== undefined;
}

/**
 * The links to follow. The customer may have decided on a page that an earlier run opened, and that page may no longer be
 * good: then psd2 starts another authorisation.
 *
 * @returns null if there are none. `authorised`: the customer has done everything, and the bank is about to say so
 */
async function linksLeft(
  open: Open<'consent'>,
  ports: FlowPorts,
  grant: GrantPorts,
): Promise<ScaLinks | null | 'authorised'> {
  const { links, state } = open.current;
  if (state !== 'authorizing') return links;
  await recordStatus(open, ports, grant);
  if (!isUndecided(open.current)) return links;
  const progress = await progressOf(open.current, ports);
  switch (progress?.means) {
    case 'failed':
      return null;
    case 'needs code':
      // Only the address that the browser ended at has the code.
      return grant.askForReturn ? links : null;
    case 'done':
      return lacksLogin(open.current) ? links : 'authorised';
    default:
      return links;
  }
}

/** How far the authorisation is. Null if the bank does not say: the status of the consent decides. */
async function progressOf(
  { links, transactionId }: Consent,
  { bank }: Pick<FlowPorts, 'bank'>,
): Promise<ScaProgress | null> {
  try {
    return (links && (await bank.sca.progress?.(links, transactionId))) ?? null;
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

async function request(open: Open<'consent'>, { bank, customer }: FlowPorts): Promise<void> {
  const { customerId, categories, terms, transactionId } = open.current;
  try {
    const requested = await bank.consents.request({
      customerId,
      categories,
      ...(terms && { terms }),
      redirectUri: returnAddress(customer.redirectUri, stateOf(open.current)),
      transactionId,
      beforeSend: announcing<Consent, ConsentEvent>(
        open,
        (intent) => ({ type: 'request-sent', ...intent }),
        REQUEST_NOT_BEGUN,
      ),
    });
    await open.record({ type: 'requested', ...requested });
  } catch (error) {
    if (isBanksRefusal(error)) await open.record({ type: 'request-refused' });
    throw error;
  }
}

/** Does what the bank's links say, up to what the customer must do. */
async function proceed(
  open: Open<'consent'>,
  links: ScaLinks | null,
  { bank, customer }: FlowPorts,
  { grant, codeVerifier }: { grant: GrantPorts; codeVerifier: string },
): Promise<ScaTurn> {
  const { transactionId } = open.current;
  if (!bank.sca.proceed) throw new TypeError('This interface has no links for SCA');
  const state = stateOf(open.current);
  return bank.sca.proceed({
    resourceId: resourceOf(open.current),
    links,
    redirectUri: returnAddress(customer.redirectUri, state),
    login: {
      // Only a bank where the customer logs in with the consent has one.
      get clientId() {
        return grant.client().clientId;
      },
      redirectUri: customer.redirectUri,
      state,
      codeVerifier,
    },
    transactionId,
    beforeSend: announceApproach(open),
  });
}

/**
 * Sends the customer where the bank wants them, and takes what their browser brings back.
 *
 * @returns whether the bank has the confirmation code
 */
async function sendCustomer(
  open: Open<'consent'>,
  turn: ScaTurn,
  ports: FlowPorts,
  grant: GrantPorts,
  { listener, codeVerifier }: { listener: Callback | null; codeVerifier: string },
): Promise<boolean> {
  if (turn.links.message !== undefined) grant.say(`The bank says: ${turn.links.message}`);
  if (turn.next === 'nothing' || turn.next === 'wait') return false;
  await ports.customer.sendBrowser(turn.url);
  const parameters = grant.askForReturn
    ? await grant.askForReturn(stateOf(open.current))
    : listener && (await awaitCallback(listener, ports, requestOf(open.current)));
  if (!parameters) return false;
  if (turn.next === 'log in') {
    try {
      await takeLogin(open.current, ports, grant, { parameters, server: turn.server, codeVerifier });
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code !== 'login_refused') throw error;
      // A customer who refuses the login refuses the consent, if the bank says so.
      const { means } = await recordStatus(open, ports, grant);
      if (!isUndecided(open.current)) return false;
      throw means === 'valid' ? error.with(withoutLogin(open.current)) : error;
    }
  }
  await open.record({ type: 'sca-returned' });
  const code = parameters.get('confirmationCode') ?? parameters.get('confirmation_code');
  if (turn.next !== 'open' || turn.links.confirmation === undefined || !code) return false;
  await confirm(open, code, ports);
  return true;
}

/** The browser brought a code of OAuth back: it gives the customer's tokens. The bank accepts it only once. */
async function takeLogin(
  { flow, transactionId }: Consent,
  { bank, customer, world }: FlowPorts,
  grant: GrantPorts,
  login: { parameters: URLSearchParams; server: string; codeVerifier: string },
): Promise<void> {
  const { parameters, server, codeVerifier } = login;
  await bank.login.assertIssuer?.(parameters.get('iss'), server, transactionId);
  const code = readCode(parameters, ['consent', 'resume', flow]);
  const granted = async () => {
    const answer = await bank.login.tokens(
      { ...grant.client(), server },
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: customer.redirectUri,
        ...(bank.login.tiesCodes && { code_verifier: codeVerifier }),
      },
      transactionId,
    );
    return toStoredTokens(answer, world.now());
  };
  await world.finish('The new login', () => grant.keepTokens(granted));
}

/** Sends the confirmation code: the bank waits for it before the consent is in force. */
async function confirm(open: Open<'consent'>, code: string, { bank }: FlowPorts): Promise<void> {
  const { links, transactionId } = open.current;
  if (!links || !bank.sca.confirmCode) return;
  const beforeSend = announceApproach(open);
  await bank.sca.confirmCode({ links, code, transactionId, beforeSend });
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
  const ask = async () => {
    const { consentStatus: bankStatus } = await recordStatus(open, ports, grant);
    if (!isUndecided(open.current)) return true;
    const progress = await progressOf(open.current, ports);
    if (progress?.means === 'needs code' && !sentCode)
      throw lacksReturn(
        open.current,
        "The bank waits for the code that only the customer's browser brings back",
      );
    if (progress?.means !== 'failed') return null;
    // The authorisation is over, whenever the bank says so in the status of the consent.
    await open.record({ type: 'ended', state: 'rejected', bankStatus });
    return true;
  };
  const asked = askUntil(world, customer.scaTimeoutMs, ask, pause === undefined ? undefined : pause * 1000);
  const decided = await customer.whileWaiting(
    "Waiting for the customer's decision",
    asked,
    customer.scaTimeoutMs,
  );
  if (!decided) throw timedOut(customer, requestOf(open.current));
}

/** The states that the bank's words for an end mean. */
const ENDS = {
  rejected: 'rejected',
  expired: 'expired',
  revoked: 'revoked',
  'ended by us': 'cancelled',
} as const;

/**
 * Asks the bank how the consent is, and records what has changed: the customer has granted it, or it has ended. What is
 * granted is kept for readings before the journal says so, and what has ended is forgotten before. So a kill in between loses
 * nothing. A consent that was given up here stays unused, even if the customer grants it.
 *
 * @returns the bank's word
 * @throws Psd2Error if the bank gives no usable answer
 */
export async function recordStatus(
  open: Open<'consent'>,
  { bank }: Pick<FlowPorts, 'bank'>,
  grant: Pick<GrantPorts, 'keepConsent' | 'dropConsent'>,
): Promise<ConsentDetails> {
  if (!bank.consents.details) throw new TypeError('This interface has no status of consents');
  const consent = open.current;
  const details = await bank.consents.details(resourceOf(consent), consent.transactionId);
  const { consentStatus: bankStatus, means } = details;
  if (means === 'open') return details;
  const isOurs = isUndecided(consent) || consent.state === 'confirmed';
  if (means !== 'valid') {
    await grant.dropConsent(consent);
    if (isOurs) await open.record({ type: 'ended', state: ENDS[means], bankStatus });
  } else if (!isOurs) {
    await grant.dropConsent(consent);
  } else if (!isUndecided(consent) || !lacksLogin(consent)) {
    await grant.keepConsent(consent, details);
    if (isNews(consent, details)) await open.record(grantedBy(details));
  }
  return details;
}

/** Whether the customer has just granted it, or the bank has moved its last day. */
function isNews(consent: Consent, { validUntil }: ConsentDetails): boolean {
  return isUndecided(consent) || (validUntil !== null && validUntil !== consent.terms?.validUntil);
}

function grantedBy({ consentStatus, validUntil, frequencyPerDay, recurring }: ConsentDetails): ConsentEvent {
  return { type: 'granted', bankStatus: consentStatus, validUntil, frequencyPerDay, recurring };
}

/**
 * Waits for the browser, unless the operator pastes the address, or the customer decides elsewhere.
 *
 * @throws Psd2Error `usage` if psd2 must see the return and cannot, before the customer does anything
 */
async function listenFor(
  consent: Consent,
  turn: ScaTurn,
  { customer }: FlowPorts,
  { askForReturn }: GrantPorts,
): Promise<Callback | null> {
  if (askForReturn || turn.next === 'nothing' || turn.next === 'wait') return null;
  // Only the return brings a code, so such a consent waits for the port.
  const bringsCode = turn.next === 'log in' || turn.links.confirmation !== undefined;
  const listener = customer.atAnotherDevice
    ? null
    : await customer.listen(stateOf(consent), bringsCode ? 'login' : 'authorisation');
  if (turn.next === 'log in' && !listener)
    throw lacksReturn(consent, 'The customer logs in with this consent, and psd2 cannot see their return');
  return listener;
}

function returnAddress(redirectUri: string, state: string): string {
  const url = new URL(redirectUri);
  url.searchParams.set('state', state);
  return url.href;
}

function stateOf({ returnState }: Consent): string {
  if (returnState === null) throw new TypeError('A consent with terms begins with a state for its return');
  return returnState;
}

function resourceOf({ flow, resourceId }: Consent): string {
  if (!resourceId) throw lackingResource(flow);
  return resourceId;
}

function requestOf({ flow, transactionId }: Consent): ScaRequest {
  return {
    transactionId,
    doing: 'authorise the consent',
    whenLate: { hint: 'Continue with:', next: [['consent', 'resume', flow]], flow },
  };
}

function lacksReturn({ flow, transactionId }: Consent, why: string): Psd2Error {
  return new Psd2Error('usage', why, {
    hint: 'Paste the final address of the browser:',
    next: [['consent', 'resume', flow, '--paste']],
    transactionId,
  });
}

/** The customer has granted the consent, and the bank gives no tokens for it any more. */
function withoutLogin({ flow, customerId }: Consent): ErrorContext {
  return {
    hint: 'The consent is in force at the bank, but psd2 has no tokens for it. End it, and ask for another:',
    next: [
      ['consent', 'delete', flow],
      ['consent', 'request', '--customer', customerId],
    ],
  };
}

/** Nothing is granted yet, so a request that the bank has not read is no trace of the flow there. */
const REQUEST_NOT_BEGUN: Revoking<ConsentEvent> = {
  notBegun: { type: 'request-not-begun' },
  turnedAway: { type: 'request-not-begun' },
};

function announceApproach(open: Open<'consent'>) {
  return announcing<Consent, ConsentEvent>(open, (intent) => ({ type: 'approach-sent', ...intent }));
}
