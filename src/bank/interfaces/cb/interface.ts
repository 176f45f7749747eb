import { tppCertificateHeader } from '../../../certificates/key-pair.ts';
import { bankDay } from '../../../domain/calendar.ts';
import { parseCustomerId, parseProductId } from '../../../domain/identifiers.ts';
import { Psd2Error } from '../../../errors.ts';
import {
  CHANGED,
  type Proofs,
  problemOfAnswer,
  readBankCertificate,
} from '../../../signature/answer-check.ts';
import { digestHeader, signatureHeader, signingString } from '../../../signature/http-signature.ts';
import type { BankCall, KnownInterface, OpenInterface, Signed, Wire, WireSettings } from '../../call/call.ts';
import type { Bank } from '../../ports/bank.ts';
import type { CallKind, Route } from '../../ports/call.ts';
import { pathOf, type WireAnswer, type WireRequest } from '../../transport/line.ts';
import { accountsOf } from './accounts.ts';
import { type CbCaller, type CbSaid, understand } from './answer.ts';
import { CAPABILITIES } from './capabilities.ts';
import { consentsOf, scaOf } from './consents.ts';
import { composeFreely, OWN_HEADERS, pagesFreely, refusalOf, sendFreely } from './free-call.ts';
import { loginOf } from './login.ts';
import { paymentsOf } from './payments.ts';

/** The codes of cards among the products of this bank, as it was seen. The list is open. */
const CARDS = /^(CA30|CAPC|SI1[2-9]|SI20)$/;

/** The interface that psd2 began with (interface specification). It has everything that a port can ask for. */
export const cb: KnownInterface = {
  name: 'cb',
  has: CAPABILITIES,
  logsIn: 'customers',
  probes: 'authorize',
  customers: 'named by the bank',
  ownHeaders: OWN_HEADERS,
  readCustomerId: parseCustomerId,
  readAccountId: parseProductId,
  fieldsRead: async () => (await import('./fields-read.ts')).fieldsRead(),
  cannotPay: ({ productCode }) => CARDS.test(productCode ?? ''),
  refusePayment({ creditorReference, instant, executionDate }, today) {
    if (instant && executionDate !== null && executionDate > today)
      throw new Psd2Error(
        'invalid_date',
        `An instant transfer is executed at once, so this bank takes none for ${executionDate}`,
        { hint: 'Leave out the day, or pay without --instant.' },
      );
    if (!creditorReference) return;
    throw new Psd2Error('usage', "This bank's interface has no place for the reference of a payee", {
      hint: 'Pay with a text.',
    });
  },
  refusalOf,
  open,
};

function open(settings: WireSettings): OpenInterface {
  const wire = openWire(settings);
  return {
    client: () => null,
    connect: (over) => bankOver(over(wire, bankOver)),
    compose: (call, bearer) => composeFreely(wire, call, bearer),
  };
}

/** How `cb` writes requests and understands answers. */
export function openWire(settings: WireSettings): Wire<CbSaid> {
  const { session } = settings;
  const check = answerCheck(settings.bankSigningCertificate);
  return {
    compose: composer(settings),
    check,
    understand(answer, call) {
      session.apiTrackId ??= answer.headers['cb-apitrack-id'];
      return understand(answer, call);
    },
    routeOf,
  };
}

/** The bank of an interface, over whatever makes its calls. */
export function bankOver(outer: CbCaller): Bank {
  let earliest: Date | undefined;
  const unread = new Map<string, number>();
  const bank: CbCaller = {
    send: outer.send,
    ask: (call, read) =>
      outer.ask(call, (answer) => {
        const reading = read(answer);
        const date = new Date(answer.headers.date ?? '');
        if (!Number.isNaN(date.getTime()) && (earliest === undefined || date < earliest)) earliest = date;
        return reading;
      }),
  };
  return {
    accounts: accountsOf(bank, unread, () => earliest && bankDay(earliest)),
    oddities: { unread, rewritten: new Set(), foreign: new Map() },
    consents: consentsOf(bank),
    login: loginOf(bank),
    payments: paymentsOf(bank),
    sca: scaOf(bank),
    send: (call) => sendFreely(bank, call),
    pages: (call) => pagesFreely(bank, call),
    earliestAnswer: () => earliest,
    forgetAnswers: () => {
      earliest = undefined;
    },
  };
}

/** The headers that the bank requires in the signature, in order (interface specification, "Headers"). */
export const SIGNED_WITH_BODY = ['(request-target)', 'digest', 'tpp-request-id', 'date'];
export const SIGNED_WITHOUT_BODY = ['(request-target)', 'tpp-request-id', 'date'];

/**
 * @returns a function that makes the request of a call: headers, digest and signature, with a new id and the current date
 *   (interface specification, "Headers")
 */
function composer(settings: WireSettings): (call: BankCall) => Promise<Signed> {
  const { identity } = settings;
  // A missing name is said before a flow begins.
  const keyId = identity.applicationName;
  // It is the same for all calls.
  let tppCertificate: string | undefined;
  return (call) => {
    tppCertificate ??= tppCertificateHeader(identity.signingCertificate, identity.tppCertificate);
    return compose(call, settings, { keyId, tppCertificate });
  };
}

async function compose(
  call: BankCall,
  settings: WireSettings,
  { keyId, tppCertificate }: { keyId: string; tppCertificate: string | undefined },
): Promise<Signed> {
  const { identity, session, pathPrefix } = settings;
  const tppRequestId = settings.newId();
  const body = call.body === undefined ? undefined : toBytes(call.body);
  const digest = body ? digestHeader(body) : null;
  const target = `${pathPrefix}${call.path}`;
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...(body && { 'content-type': 'application/json' }),
    ...(digest && { digest }),
    date: settings.now().toUTCString(),
    'tpp-transaction-id': call.transactionId,
    'tpp-request-id': tppRequestId,
    ...(tppCertificate && { 'tpp-certificate': tppCertificate }),
    ...(call.bearer && { authorization: `Bearer ${call.bearer}` }),
    ...(call.redirectUri && { 'tpp-redirect-uri': call.redirectUri }),
    ...(settings.psuIpAddress && { 'psu-ip-address': settings.psuIpAddress }),
    ...(settings.language && { 'accept-language': settings.language }),
    ...(settings.traceComponent && { 'cb-trace-id': `viewId=${settings.traceComponent}` }),
    ...(session.apiTrackId && { 'cb-apitrack-id': session.apiTrackId }),
    ...call.headers,
  };
  const signable = { method: call.method, target, headers };
  const names = body ? SIGNED_WITH_BODY : SIGNED_WITHOUT_BODY;
  headers.signature = await signatureHeader(signable, names, keyId, identity.signer);
  return {
    request: { method: call.method, target, headers, body },
    tppRequestId,
    digest,
    signingString: signingString(signable, names),
  };
}

function toBytes(body: object | string): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/**
 * Checks the `Digest` of an answer, and with the bank's certificate its `Signature` (draft-cavage-http-signatures-09). The
 * bank does not sign all answers.
 *
 * @param certificatePem the bank's signing certificate. Without it, only the digest is checked
 * @returns a check that throws Psd2Error `bank_answer`. Such an answer must not be used
 */
export function answerCheck(
  certificatePem: string | undefined,
): (answer: WireAnswer, request: WireRequest) => void {
  const certificate = readBankCertificate(certificatePem);
  return (answer, request) => {
    const problem = problemOfAnswer(answer, request, certificate, PROOFS);
    if (!problem) return;
    const says = `The bank's answer to ${request.method} ${pathOf(request)} ${problem}`;
    throw new Psd2Error('bank_answer', says, { hint: CHANGED });
  };
}

const PROOFS: Proofs = { digests: ['SHA-256'], hashes: { 'rsa-sha256': 'sha256' } };

/** The calls of this interface, the special ones first. The second group is the rest of the path, in which `{...}` is any id. */
const ROUTES: readonly [path: string, kind: CallKind][] = [
  ['/auth/oauth/v2/authorize', 'auth'],
  ['/auth/oauth/v2/token', 'auth'],
  ['/auth/oauth/v2/token/revoke', 'auth'],
  ['/private/customers/customerid-info', 'ais'],
  ['/private/customers/{customer}', 'ais'],
  ['/private/customers/{customer}/accounts', 'ais'],
  ['/private/customers/{customer}/products', 'ais'],
  ['/private/customers/{customer}/consent/request', 'consent'],
  ['/private/customers/{customer}/consent/request/{resource}/confirm', 'consent'],
  ['/private/customers/{customer}/products/{product}', 'ais'],
  ['/private/customers/{customer}/products/{product}/balance/retrieve', 'ais'],
  ['/private/customers/{customer}/products/{product}/transactions/retrieve', 'ais'],
  ['/private/customers/{customer}/products/{product}/common/printer/{resource}/retrieve', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/prepare', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/verify', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/{resource}/execute', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/{resource}/execution/status', 'pis'],
  ['/private/customers/{customer}/products/{product}/{operation}/{resource}/{step}', 'pis'],
  ['/private/operations/{resource}/status', 'consent'],
  ['/private/auth/security/sca/{resource}/approach', 'consent'],
];

const PATTERNS = ROUTES.map(([path, kind]) => ({
  route: { path, kind },
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}));

/** What a call is about, without its ids. A call that psd2 does not know itself has no path. */
function routeOf({ path }: Pick<BankCall, 'path'>): Route {
  const pathname = path.split('?', 1)[0] ?? '';
  return PATTERNS.find(({ pattern }) => pattern.test(pathname))?.route ?? { path: '{other}', kind: 'other' };
}
