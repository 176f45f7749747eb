import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { readAnswer } from '../../bank/call/answer.ts';
import type { Answer } from '../../bank/call/exchange.ts';
import { authorizeCall } from '../../bank/endpoints/oauth.ts';
import { CallFailed, proxyFor } from '../../bank/transport/connection.ts';
import { ClosedUnanswered } from '../../bank/transport/line.ts';
import { Psd2Error } from '../../errors.ts';
import { baseUrlOf, redirectUriOf } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import type { Diagnosis, Finding } from './diagnosis.ts';

/** A bank takes a signature only so long before or after its `Date`; how long it does not say. */
const CLOCK_WARN_MS = 5_000;
const CLOCK_FAIL_MS = 60_000;

/** The names of the checks that {@link checkConnection} makes, in their order. */
export const CONNECTION_CHECKS = ['proxy', 'DNS', 'TLS', 'clock', 'authorize'];

/**
 * Checks the way to the bank: proxy, DNS, mutual TLS, and whether it takes the authorize call that a login begins
 * with, which tells of the application, its signature and the redirect URI. One request is sent, once.
 */
export async function checkConnection(context: Context, diagnosis: Diagnosis): Promise<void> {
  const baseUrl = baseUrlOf(context.profile());
  const proxy = await diagnosis.make('proxy', async () => {
    const found = await proxyFor(baseUrl);
    const detail = found ? `the bank is reached through ${found.host}` : 'none: the bank is reached directly';
    return { status: 'ok', detail, fix: null, ...(found && { value: found }) };
  });
  const { hostname } = proxy ?? baseUrl;
  const known = await diagnosis.make('DNS', () => checkDns(context, hostname.replace(/^\[|\]$/g, '')));
  if (!known) {
    diagnosis.skip(['TLS', 'clock', 'authorize'], 'the host name is not known');
    return;
  }

  const said = await checkTls(context, diagnosis, proxy !== undefined);
  if (!said) {
    diagnosis.skip(['clock', 'authorize'], 'the bank did not answer');
    return;
  }
  const { answer } = said;
  if (answer)
    await diagnosis.make('clock', async () => compareClocks(context.world.now(), answer.headers.date));
  else diagnosis.skip(['clock'], "the bank's answer can't be trusted");
  await diagnosis.make('authorize', () => judgeAuthorize(said));
}

/** What the bank said to the authorize call: an answer, or one that can't be taken as such, and why. */
type Said = { answer: Answer } | { answer?: never; refusal: Psd2Error };

/** Makes the authorize call, once. @returns undefined when there was no answer */
function checkTls(context: Context, diagnosis: Diagnosis, hasProxy: boolean): Promise<Said | undefined> {
  return diagnosis.make('TLS', async (): Promise<Finding & { value: Said }> => {
    const bank = await context.applicationBank('authorization_code');
    const call = authorizeCall({
      clientId: bank.client().clientId,
      redirectUri: redirectUriOf(bank.profile),
      state: context.world.newId(),
      transactionId: context.world.newId(),
    });
    const detail = 'the handshake with the QWAC is done, the bank is trusted';
    const done = { status: 'ok', detail, fix: null } as const;
    try {
      return { ...done, value: { answer: await bank.connect().exchange({ ...call, once: true }) } };
    } catch (error) {
      if (error instanceof Psd2Error && error.cause instanceof CallFailed)
        throw closedInHandshake(error, error.cause, hasProxy) ?? error;
      // Whatever else is wrong with the answer, the handshake was right.
      if (!(error instanceof Psd2Error) || error.code !== 'bank_answer') throw error;
      return { ...done, value: { refusal: error } };
    }
  });
}

/**
 * The error for a connection that the bank closed without a TLS alert. A bank that refuses a QWAC may do so: with TLS 1.2 during the
 * handshake, and with TLS 1.3 after it. Undefined for other failures. A proxy may also have closed a connection during the handshake.
 */
function closedInHandshake(
  error: Psd2Error,
  { cause, neverSent }: CallFailed,
  hasProxy: boolean,
): Psd2Error | undefined {
  const isReset = cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET';
  const isDuring = neverSent && isReset && !hasProxy;
  if (!isDuring && !(cause instanceof ClosedUnanswered)) return undefined;
  const when = isDuring ? 'during the TLS handshake' : 'after the TLS handshake, before it answered';
  return new Psd2Error(error.code, `The bank closed the connection ${when}`, {
    ...error.context,
    hint:
      'The usual reason is that the bank refused the QWAC. Ask the bank whether it knows this QWAC and trusts the authority that ' +
      'issued it. If the QWAC is right, try again later.',
  });
}

/** Whether the bank sends the customer on to log in, as it does when it knows the application. */
async function judgeAuthorize(said: Said): Promise<Finding> {
  if (!said.answer) throw said.refusal;
  const { answer } = said;
  if (answer.status < 300 || answer.status > 399) await readAnswer(answer, z.unknown());
  if (!answer.headers.location) {
    throw new Psd2Error('bank_answer', `The bank answered without a Location (HTTP ${answer.status})`, {
      hint: 'Is the base URL that of the PSD2 interface?',
    });
  }
  const detail = 'the bank takes the application, its signature and the redirect URI';
  return { status: 'ok', detail, fix: null };
}

/** @returns true as its value when the name is known */
async function checkDns({ globals }: Context, hostname: string): Promise<Finding & { value: true }> {
  if (isIP(hostname) !== 0)
    return { status: 'skip', detail: `${hostname} is an address`, fix: null, value: true };
  const timeout = AbortSignal.timeout(globals.timeoutMs);
  const timedOut = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('it took too long')));
  });
  try {
    const addresses = await Promise.race([lookup(hostname, { all: true }), timedOut]);
    const detail = `${hostname} is ${addresses.map(({ address }) => address).join(', ')}`;
    return { status: 'ok', detail, fix: null, value: true };
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
    throw new Psd2Error('bank_unreachable', `The host name ${hostname} could not be looked up${why}`, {
      hint: 'Check the base URL, the network and the name server; behind a proxy set HTTPS_PROXY.',
      cause,
    });
  }
}

/**
 * This computer's clock against the bank's (command contract, "doctor").
 *
 * @param date the bank's `Date` (RFC 9110, section 6.6.1), which is of whole seconds
 */
export function compareClocks(now: Date, date: string | undefined): Finding {
  const bankTime = Date.parse(date ?? '');
  if (Number.isNaN(bankTime)) return { status: 'skip', detail: 'the bank sent no Date', fix: null };
  // Cut to whole seconds it is half a second behind on average.
  const ahead = now.getTime() - (bankTime + 500);
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const detail = `${seconds} s ${ahead < 0 ? 'behind' : 'ahead of'} the bank`;
  const fix = { hint: 'Set the clock, best by NTP: timedatectl set-ntp true' };
  if (Math.abs(ahead) > CLOCK_FAIL_MS) return { status: 'fail', code: 'config', detail, fix };
  return Math.abs(ahead) > CLOCK_WARN_MS
    ? { status: 'warn', detail, fix }
    : { status: 'ok', detail, fix: null };
}
