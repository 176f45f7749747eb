import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { CallFailed, proxyFor } from '../../bank/transport/connection.ts';
import { ClosedUnanswered } from '../../bank/transport/line.ts';
import { Psd2Error } from '../../errors.ts';
import { baseUrlOf, redirectUriOf } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { finding } from '../shared/checks.ts';
import type { Check, Reply, Subject } from './check.ts';
import type { Diagnosis, Finding } from './diagnosis.ts';

/** A bank accepts a signature only for some time before or after its `Date`, and does not say for how long. */
const CLOCK_WARN_MS = 5_000;
const CLOCK_FAIL_MS = 60_000;

/**
 * Whether the way to the bank is right: proxy, DNS, mutual TLS, and the clock. It makes one call. At a bank where customers log in, a
 * login begins with it. Elsewhere it is a reading with a consent that does not exist.
 */
export const connection: Check = {
  id: 'connection',
  needs: ['settings', 'store'],
  names: async () => ['proxy', 'DNS', 'TLS', 'clock'],
  run: checkPath,
};

async function checkPath(subject: Subject): Promise<string | undefined> {
  const { context, diagnosis } = subject;
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
  subject.reply = await checkTls(context, diagnosis, { isPlain, hasProxy: proxy !== undefined });
  if (!subject.reply) {
    const silent = 'the bank did not answer';
    diagnosis.skip(['clock'], silent);
    return silent;
  }
  const { answer } = subject.reply;
  if (answer) await diagnosis.make('clock', async () => compareClocks(context.world.now(), answer.date));
  else diagnosis.skip(['clock'], "psd2 cannot trust the bank's answer");
  return undefined;
}

/** Makes the call, once. @returns undefined when there was no answer */
function checkTls(
  context: Context,
  diagnosis: Diagnosis,
  { isPlain, hasProxy }: { isPlain: boolean; hasProxy: boolean },
): Promise<Reply | undefined> {
  return diagnosis.make('TLS', async (): Promise<Finding & { value: Reply }> => {
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
