import { randomBytes } from 'node:crypto';
import type { BeforeSend } from '../bank/ports/call.ts';
import type { Sca, ScaLinks, ScaTurn } from '../bank/ports/customer.ts';
import type { Cost } from '../domain/operation.ts';
import { Psd2Error } from '../errors.ts';
import { beginTimeLimit } from '../time-limit.ts';
import { type GiftRecord, refuseUntaken } from './gifts.ts';
import { readCode } from './login.ts';
import type { Callback, FlowPorts, ReturnPorts } from './ports.ts';
import { isInterruption } from './refusals.ts';
import { awaitReturn, type ScaSubject, Trouble } from './sca.ts';
import { toStoredTokens } from './session.ts';

/** The resource to authorise, at a bank whose links say how. */
export interface LinkedSubject extends ScaSubject {
  kind: 'consent' | 'transfer' | 'operation';
  flow: string;
  /** Ties the return of the customer's browser to the flow. */
  state: string;
  /** The command that goes on with it, and who authorises it, if that is not the customer. */
  again: readonly [string, string, string, ...string[]];
}

/** The journal's callbacks while the customer is at the bank. */
export interface LinkedRecord {
  /** Announces the start of an authorisation, and the confirmation code. */
  approach: BeforeSend;
  code: BeforeSend;
  /** The bank says only now what it costs. @throws Psd2Error if the customer must not get the link */
  cost?(told: Cost): Promise<void>;
  /** What the flow keeps of the bank's links, before the customer has one. */
  started(links: ScaLinks): Promise<void>;
  returned(): Promise<void>;
  /** Asks the bank whether the customer has decided. */
  isDecided(): Promise<boolean>;
  /**
   * The browser brought no login back.
   *
   * @param isCustomers the bank says with the state of this login that the customer has refused it
   * @throws `error`, unless the bank's status shows what became of the resource
   */
  refusedLogin(error: Psd2Error, isCustomers: boolean): Promise<void>;
  /** For what the customer gives psd2, at a bank that wants it from psd2. */
  gifts: GiftRecord;
}

/**
 * Takes the customer through SCA as the bank's links say (the standard, section 2, "SCA"): redirect, start of an authorisation,
 * OAuth, confirmation code, or elsewhere. The bank's status then decides.
 *
 * @param links null: nothing is known, so psd2 starts an authorisation
 * @returns whether the bank has the confirmation code
 * @throws Psd2Error `usage` if psd2 must see the return of the browser and cannot, before the customer does anything
 */
export async function authoriseByLinks(
  subject: LinkedSubject,
  links: ScaLinks | null,
  ports: FlowPorts,
  returns: ReturnPorts,
  record: LinkedRecord,
): Promise<boolean> {
  const codeVerifier = randomBytes(32).toString('base64url');
  const go = { returns, codeVerifier, beforeSend: record.approach };
  const assertTakesGifts = () => refuseUntaken(returns, record.gifts);
  // Before anything is begun that only the customer's credentials go on with.
  if (links?.approach === 'embedded') assertTakesGifts();
  const turn = await proceed(subject, links, ports, go);
  if (turn.next === 'give') assertTakesGifts();
  if (turn.cost) await record.cost?.(turn.cost);
  if (turn.next === 'give') {
    if (turn.links !== links) await record.started(turn.links);
    const begin = (next: ScaLinks | null) => proceed(subject, next, ports, go);
    const redirectUri = returnAddress(ports.customer.redirectUri, subject.state);
    const { giveCredentials } = await import('./embedded-sca.ts');
    await giveCredentials({ ...subject, redirectUri }, turn.links, { ports, returns, begin }, record);
    return false;
  }
  // No customer logs in for nothing.
  if (turn.next === 'log in') await returns.readyToKeep();
  const listener = await listenFor(subject, turn, ports, returns);
  try {
    await record.started(turn.links);
    return await sendCustomer(subject, turn, ports, returns, { listener, codeVerifier, record });
  } finally {
    await listener?.close();
  }
}

/** The redirect URI with a state. */
export function returnAddress(redirectUri: string, state: string): string {
  const url = new URL(redirectUri);
  url.searchParams.set('state', state);
  return url.href;
}

/** The error if only the return of the customer's browser helps, and psd2 has not seen it. */
export function lacksReturn(
  { again, transactionId }: Pick<LinkedSubject, 'again' | 'transactionId'>,
  why: string,
): Psd2Error {
  return new Psd2Error('usage', why, {
    hint: 'Paste the final address of the browser:',
    next: [[...again, '--paste']],
    transactionId,
  });
}

/** Does what the bank's links say, up to what the customer must do. */
async function proceed(
  { resourceId, state, transactionId }: LinkedSubject,
  links: ScaLinks | null,
  { bank, customer }: FlowPorts,
  {
    returns,
    codeVerifier,
    beforeSend,
  }: { returns: ReturnPorts; codeVerifier: string; beforeSend: BeforeSend },
): Promise<ScaTurn> {
  const { sca }: { sca: Sca } = bank;
  if (!sca.proceed) throw new TypeError('This interface has no links for SCA');
  return sca.proceed({
    resourceId,
    links,
    // This machine may not be the one that began the flow.
    redirectUri: returnAddress(customer.redirectUri, state),
    login: {
      // Only a bank where the customer logs in with the resource has one.
      get clientId() {
        return returns.client().clientId;
      },
      redirectUri: customer.redirectUri,
      state,
      codeVerifier,
    },
    psu: returns.person,
    transactionId,
    beforeSend,
  });
}

/** Sends the customer where the bank wants them, and takes what their browser brings back. */
async function sendCustomer(
  subject: LinkedSubject,
  turn: ScaTurn,
  ports: FlowPorts,
  returns: ReturnPorts,
  {
    listener,
    codeVerifier,
    record,
  }: { listener: Callback | null; codeVerifier: string; record: LinkedRecord },
): Promise<boolean> {
  if (turn.links.message !== undefined) returns.quote(turn.links.message);
  if (turn.next !== 'open' && turn.next !== 'log in') return false;
  await ports.customer.sendBrowser(turn.url, returns.psuId);
  const browser = listener && received(listener, turn, ports, record);
  const parameters = returns.askForReturn
    ? await returns.askForReturn(subject.state)
    : browser && (await awaitReturn(browser, ports, subject));
  if (!parameters) return false;
  if (turn.next === 'log in') {
    try {
      await takeLogin(subject, ports, returns, { parameters, server: turn.server, codeVerifier });
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code !== 'login_refused') throw error;
      const isCustomers = parameters.get('error') === 'access_denied' && parameters.has('state');
      await record.refusedLogin(error, isCustomers);
      return false;
    }
  }
  await record.returned();
  const code = confirmationCodeIn(parameters);
  const { confirmCode } = ports.bank.sca;
  if (turn.next !== 'open' || turn.links.confirmation === undefined || !code || !confirmCode) return false;
  const { resourceId, transactionId } = subject;
  await confirmCode({
    resourceId,
    links: turn.links,
    code,
    transactionId,
    beforeSend: record.code,
  });
  return true;
}

/** The standard does not name the parameter, so banks call it what they like: `confirmationCode`, `code`, `authCode`. */
function confirmationCodeIn(parameters: URLSearchParams): string | undefined {
  for (const name of [/confirmation[-_]?code$/i, /^code$/i, /^(auth|authori[sz]ation|sca)[-_]?code$/i]) {
    const parameter = [...parameters].find(([each]) => name.test(each));
    if (parameter) return parameter[1];
  }
  return undefined;
}

/** What the return of the browser is for. If it brings a code, nothing else does. */
function purposeOf({ next, links }: ScaTurn): 'login' | 'confirmation' | 'authorisation' {
  if (next === 'log in') return 'login';
  return links.confirmation === undefined ? 'authorisation' : 'confirmation';
}

/** Waits for what the bank wants to see. */
function received(
  listener: Callback,
  turn: ScaTurn,
  { bank, world }: FlowPorts,
  { isDecided }: LinkedRecord,
): (signal: AbortSignal) => Promise<URLSearchParams | null> {
  // A code is worth waiting for until the time is over.
  if (purposeOf(turn) !== 'authorisation')
    return (signal) => returnOrDecision(listener, isDecided, FOREVER_MS, signal, world);
  const looksEveryMs = PAUSES_BETWEEN_LOOKS * (bank.sca.timing?.pollSeconds ?? POLL_SECONDS) * 1000;
  return (signal) => returnOrDecision(listener, isDecided, looksEveryMs, signal, world);
}

/** While psd2 waits for the browser, it asks the bank less often than where only the bank knows the decision. */
const PAUSES_BETWEEN_LOOKS = 3;
/** The longest pause that a timer has. */
const FOREVER_MS = 2 ** 31 - 1;
/** For a bank that does not say how often it may be asked. */
const POLL_SECONDS = 3;

/**
 * Waits for the browser, or until the customer has decided: a browser that never returns, or returns to another machine, would
 * bring nothing that the bank's status does not say.
 *
 * @returns null if the customer has decided, and the browser has not come back
 * @throws what `signal` aborts with; the bank's trouble if it could not be asked when the time was over
 */
async function returnOrDecision(
  listener: Callback,
  isDecided: () => Promise<boolean>,
  looksEveryMs: number,
  signal: AbortSignal,
  world: Pick<FlowPorts['world'], 'now'>,
): Promise<URLSearchParams | null> {
  const trouble = new Trouble(world);
  for (;;) {
    const pause = beginTimeLimit(looksEveryMs, signal);
    try {
      return await listener.received(pause.signal);
    } catch (error) {
      const isTimeOver = error instanceof DOMException && error.name === 'TimeoutError';
      if (!pause.isOver() && !isTimeOver) throw error;
      // Also when the customer's time is over: whoever believes that they did not authorise it pays again.
      const decided = await isDecided().catch(trouble.note);
      if (decided) return null;
      if (decided === false) trouble.end();
      if (isTimeOver && signal.aborted) trouble.raise();
      if (signal.aborted) throw error;
    } finally {
      pause.clear();
    }
  }
}

/** The browser brought a code of OAuth back: it gives the customer's tokens. The bank accepts it only once. */
async function takeLogin(
  { again, kind, resourceId, transactionId }: LinkedSubject,
  { bank, customer, world }: FlowPorts,
  returns: ReturnPorts,
  login: { parameters: URLSearchParams; server: string; codeVerifier: string },
): Promise<void> {
  const { parameters, server, codeVerifier } = login;
  const code = await broughtCode(parameters, [...again], () =>
    bank.login.assertIssuer?.(parameters.get('iss'), server, transactionId),
  );
  const granted = async () => {
    const answer = await bank.login.tokens(
      { ...returns.client(), server },
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: customer.redirectUri,
        ...(bank.login.tiesCodes && { code_verifier: codeVerifier }),
      },
      transactionId,
    );
    // The bank names the server only here, and the tokens are renewed there.
    const ofConsent = kind === 'consent' ? { consent: resourceId } : {};
    return { ...toStoredTokens(answer, world.now()), server, ...ofConsent };
  };
  await world.finish('The new login', () => returns.keepTokens(granted));
}

/**
 * The code that the browser brought.
 *
 * @throws Psd2Error `login_refused` if it brought none, whatever it says: of what the customer authorises that proves nothing
 */
async function broughtCode(
  parameters: URLSearchParams,
  again: string[],
  assertIssuer: () => Promise<void> | undefined,
): Promise<string> {
  try {
    await assertIssuer();
    return readCode(parameters, again);
  } catch (error) {
    if (!(error instanceof Psd2Error) || isInterruption(error) || error.code === 'login_refused') throw error;
    throw new Psd2Error('login_refused', error.message, error.context);
  }
}

/** Waits for the browser, unless the operator pastes the address, or the customer decides elsewhere. */
async function listenFor(
  subject: LinkedSubject,
  turn: ScaTurn,
  { customer }: FlowPorts,
  { askForReturn }: ReturnPorts,
): Promise<Callback | null> {
  if (askForReturn || (turn.next !== 'open' && turn.next !== 'log in')) return null;
  // A flow that needs the return waits for the port.
  const listener = customer.atAnotherDevice ? null : await customer.listen(subject.state, purposeOf(turn));
  if (turn.next === 'log in' && !listener)
    throw lacksReturn(
      subject,
      `The customer logs in with this ${subject.kind}, and psd2 cannot see their return`,
    );
  return listener;
}
