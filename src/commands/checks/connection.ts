import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { BankInterface } from '../../bank/ports/bank.ts';
import type { LoginProbe } from '../../bank/ports/customer.ts';
import { CallFailed, proxyFor } from '../../bank/transport/connection.ts';
import { ClosedUnanswered } from '../../bank/transport/line.ts';
import { isLoopback } from '../../domain/local-address.ts';
import { Psd2Error } from '../../errors.ts';
import { baseUrlOf, type Profile, redirectUriOf } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { finding } from '../shared/checks.ts';
import type { Diagnosis, Finding } from './diagnosis.ts';

/** A bank accepts a signature only for some time before or after its `Date`, and does not say for how long. */
const CLOCK_WARN_MS = 5_000;
const CLOCK_FAIL_MS = 60_000;

/** The names of the checks that {@link checkConnection} makes, in their order. @param probes the last of them */
export function connectionChecks(probes: BankInterface['probes']): string[] {
  return ['proxy', 'DNS', 'TLS', 'clock', probes];
}

/**
 * Checks the path to the bank: proxy, DNS, mutual TLS, and whether it accepts one call that psd2 sends, once. At a bank where
 * customers log in, a login begins with it. Elsewhere it is a reading with a consent that does not exist.
 *
 * @returns the code with which the bank refused that call, empty without one. Undefined if it did not, or if psd2 could not ask
 */
export async function checkConnection(context: Context, diagnosis: Diagnosis): Promise<string | undefined> {
  const { probes } = await context.bankInterface();
  const heard = await checkPath(context, diagnosis);
  if (typeof heard === 'string') diagnosis.skip([probes], heard);
  return typeof heard === 'string' ? undefined : checkProbe(context, diagnosis, heard);
}

/** Checks proxy, DNS, mutual TLS and the clock. @returns what the bank said to the call, or why it was not asked */
export async function checkPath(context: Context, diagnosis: Diagnosis): Promise<Said | string> {
  const baseUrl = baseUrlOf(context.profile());
  const isPlain = baseUrl.protocol === 'http:';
  const proxy = await diagnosis.make('proxy', async () => {
    if (isPlain) return finding('skip', 'a base URL with http is on this computer, which no proxy reaches');
    const proxyHere = await proxyFor(baseUrl);
    const detail = proxyHere
      ? `the bank is reached through ${proxyHere.host}`
      : 'none: the bank is reached directly';
    return { ...finding('ok', detail), ...(proxyHere && { value: proxyHere }) };
  });
  const { hostname } = proxy ?? baseUrl;
  const resolved = await diagnosis.make('DNS', () => checkDns(context, hostname.replace(/^\[|\]$/g, '')));
  if (!resolved) {
    const unknown = 'the host name is not known';
    diagnosis.skip(['TLS', 'clock'], unknown);
    return unknown;
  }
  const heard = await checkTls(context, diagnosis, { isPlain, hasProxy: proxy !== undefined });
  if (!heard) {
    const silent = 'the bank did not answer';
    diagnosis.skip(['clock'], silent);
    return silent;
  }
  const { answer } = heard;
  if (answer) await diagnosis.make('clock', async () => compareClocks(context.world.now(), answer.date));
  else diagnosis.skip(['clock'], "psd2 cannot trust the bank's answer");
  return heard;
}

/** Checks what the bank said to the call. @returns the code with which the bank refused it, as {@link checkConnection} says */
export async function checkProbe(
  context: Context,
  diagnosis: Diagnosis,
  heard: Said,
): Promise<string | undefined> {
  let refusal: string | undefined;
  await diagnosis.make((await context.bankInterface()).probes, () =>
    judge(heard, (code) => {
      refusal = code;
    }),
  );
  return refusal;
}

/** What the bank said to the call: a usable answer, or why there is none. */
export type Said = { answer: LoginProbe } | { answer?: never; refusal: Psd2Error };

/** Makes the call, once. @returns undefined when there was no answer */
function checkTls(
  context: Context,
  diagnosis: Diagnosis,
  { isPlain, hasProxy }: { isPlain: boolean; hasProxy: boolean },
): Promise<Said | undefined> {
  return diagnosis.make('TLS', async (): Promise<Finding & { value: Said }> => {
    const bank = await context.applicationBank('authorization_code');
    const login = {
      // Not every bank knows the application by an id.
      get clientId() {
        return bank.client().clientId;
      },
      redirectUri: redirectUriOf(bank.profile),
      state: context.world.newId(),
      transactionId: context.world.newId(),
    };
    const done = isPlain
      ? finding(
          'skip',
          "the base URL has http, so psd2 can check neither the QWAC nor the bank's certificate",
        )
      : finding('ok', 'the handshake with the QWAC succeeded, and the bank is trusted');
    try {
      return { ...done, value: { answer: await bank.connect().login.probe(login) } };
    } catch (error) {
      if (error instanceof Psd2Error && error.cause instanceof CallFailed)
        throw closedInHandshake(error, error.cause, hasProxy) ?? lostTo(error, error.cause);
      // Whatever else is wrong with the answer, the handshake succeeded.
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

/** A connection that was lost has the hint to run this very command. */
function lostTo(error: Psd2Error, { passing, hint }: CallFailed): Psd2Error {
  if (!passing || hint === undefined) return error;
  return error.with({
    hint: 'Try again later. If it goes on, ask the bank whether it knows this QWAC and trusts the authority that issued it.',
  });
}

/** Whether the bank accepts the call, as it does when it knows the application. @param refused hears the code of a refusal */
async function judge(heard: Said, refused: (code: string | undefined) => void): Promise<Finding> {
  try {
    if (!heard.answer) throw heard.refusal;
    const { says, isUnsure, code } = await heard.answer.judge();
    if (isUnsure === 'other') refused(code);
    return finding(isUnsure ? 'warn' : 'ok', says);
  } catch (error) {
    if (error instanceof Psd2Error) refused(error.context.bankCode ?? undefined);
    throw error;
  }
}

/** @returns true as its value when the name is known */
async function checkDns({ globals }: Context, hostname: string): Promise<Finding & { value: true }> {
  if (isIP(hostname) !== 0) return { ...finding('skip', `${hostname} is an address`), value: true };
  const timeout = AbortSignal.timeout(globals.timeoutMs);
  const timedOut = new Promise<never>((_, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('it took too long')));
  });
  try {
    const addresses = await Promise.race([lookup(hostname, { all: true }), timedOut]);
    const detail = `${hostname} is ${addresses.map(({ address }) => address).join(', ')}`;
    return { ...finding('ok', detail), value: true };
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
 * @param date the bank's `Date` (RFC 9110, section 6.6.1), in whole seconds
 */
export function compareClocks(now: Date, date: string | undefined): Finding {
  const bankTime = Date.parse(date ?? '');
  if (Number.isNaN(bankTime)) return finding('skip', 'the bank sent no Date');
  // It is cut to whole seconds, so it is half a second behind on average.
  const ahead = now.getTime() - (bankTime + 500);
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const detail = `${seconds} s ${ahead < 0 ? 'behind' : 'ahead of'} the bank`;
  const fix = { hint: 'Set the clock, ideally with NTP: timedatectl set-ntp true' };
  if (Math.abs(ahead) > CLOCK_FAIL_MS) return { status: 'fail', code: 'config', detail, fix };
  return Math.abs(ahead) > CLOCK_WARN_MS ? finding('warn', detail, fix) : finding('ok', detail);
}

/** Whether psd2 can listen where the customer's browser returns to. */
export async function checkRedirectPort({ env }: Context, profile: Profile): Promise<Finding> {
  const uri = new URL(redirectUriOf(profile));
  if (!isLoopback(uri)) return finding('skip', `${uri.href} is not on this computer: log in with --paste`);
  const { serveOnLoopback } = await import('../../callback/loopback-server.ts');
  const { makeLoopbackCertificate } = await import('../../certificates/loopback.ts');
  const stop = await serveOnLoopback(
    uri,
    () => makeLoopbackCertificate([uri.hostname]),
    (_, response) => response.end(),
  );
  await stop();
  const port = uri.port || (uri.protocol === 'https:' ? '443' : '80');
  const forward = `For a browser on your own computer: ssh -L ${port}:127.0.0.1:${port} <this computer>`;
  return finding('ok', `psd2 can listen at ${uri.href}`, env.SSH_CONNECTION ? { hint: forward } : null);
}
