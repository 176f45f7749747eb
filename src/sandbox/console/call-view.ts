import type { X509Certificate } from 'node:crypto';
import { BankRefusal } from '../answers/bank-refusal.ts';
import { Refusal } from '../answers/refusal.ts';
import { faultText } from '../faults/fault.ts';
import { endpointOf } from '../faults/target.ts';
import { explainSignature, type SignatureFinding } from '../strict/explain-signature.ts';
import { header } from '../strict/headers.ts';
import { readTppCertificate, type TppCertificates } from '../strict/signature.ts';
import type { KeptBody, Seen, SeenCall } from './call-log.ts';

/** A line of the console's list of calls. */
interface CallLine {
  id: number;
  /** ISO 8601 */
  at: string;
  title: string;
  method: string;
  /** Path and query, or why the handshake failed. */
  target: string;
  /** 0 if there was no answer. */
  status: number;
  decision: string;
  tone: 'good' | 'bad' | 'fault';
}

/** Everything that the console shows about a call. */
interface CallDetail extends CallLine {
  milliseconds: number;
  explanation: string;
  faults: string[];
  /** What the bank ignored. */
  warnings: readonly string[];
  caller: string | undefined;
  request: { head: string; body: string };
  answer: { head: string; body: string };
  signature: SignatureFinding | undefined;
  digest: { computed: string; received: string | undefined } | undefined;
  certificates: CertificateView[];
}

/** A field is empty if the certificate does not have it. */
interface CertificateView {
  use: string;
  registered: boolean;
  subject: string;
  organizationIdentifier: string;
  issuer: string;
  /** The kind of qualified certificate. */
  qcType: string;
  roles: string;
  authority: string;
  validFrom: string;
  validTo: string;
  sha256: string;
}

/** A call as a line of the console's list. @param rowsAPage transactions per page */
export function shownCall(seen: Seen, rowsAPage: number): CallLine {
  const at = seen.at.toISOString();
  if ('reason' in seen) {
    const { id, reason } = seen;
    const handshake = { title: 'TLS handshake', method: 'TLS', target: reason };
    return { id, at, ...handshake, status: 0, decision: 'no connection', tone: 'bad' };
  }
  const { id, request, answer, refusal, faults } = seen;
  const cut = faults.some(({ kind }) => kind === 'cut-before-effect' || kind === 'cut-after-effect');
  return {
    id,
    at,
    title: hideSecrets(seen.title ?? callTitle(seen, rowsAPage)),
    method: request.method,
    target: hideSecrets(request.target),
    status: cut ? 0 : answer.status,
    decision: decisionOf(seen),
    tone: faults.length > 0 ? 'fault' : refusal || answer.status >= 400 ? 'bad' : 'good',
  };
}

function decisionOf({ refusal, faults, answer }: SeenCall): string {
  if (refusal) return refusal instanceof BankRefusal ? refusal.code : 'INTERNAL_ERROR';
  if (faults.length > 0) return faults.map(faultText).join(', ');
  return answer.status >= 400 ? 'refused' : 'served';
}

/** @param registered the certificates that the call's certificates and signature must match */
export async function detailOf(
  seen: SeenCall,
  registered: TppCertificates,
  rowsAPage: number,
): Promise<CallDetail> {
  const { request, answer, body, milliseconds, caller, refusal, faults, warnings } = seen;
  return {
    ...shownCall(seen, rowsAPage),
    milliseconds,
    caller,
    explanation: refusal ? explain(refusal) : '',
    faults: faults.map(faultText),
    warnings,
    request: {
      head: headText(`${request.method} ${request.target} HTTP/1.1`, request.headers),
      body: bodyText(body),
    },
    answer: { head: headText(`HTTP/1.1 ${answer.status}`, answer.headers), body: bodyText(answer.body) },
    // The refusal of the second door has the signing string that the bank expected.
    signature: seen.title === undefined ? explainSignature(request, body.sha256, registered) : undefined,
    digest:
      seen.title === undefined && (body.length > 0 || header(request, 'digest') !== undefined)
        ? {
            computed: `SHA-256=${body.sha256.toString('base64')}`,
            received: header(request, 'digest'),
          }
        : undefined,
    certificates: await certificatesOf(seen, registered),
  };
}

function explain(refusal: Error): string {
  const { message } = refusal;
  // The console shows the signing string separately.
  const isShown = refusal instanceof Refusal && refusal.code === 'SIGNATURE_INVALID';
  const detail = refusal instanceof BankRefusal && !isShown ? refusal.detail : '';
  return [`${message}.`, detail].join(' ').trim();
}

async function certificatesOf(
  { request }: SeenCall,
  { qwac, qseal }: TppCertificates,
): Promise<CertificateView[]> {
  const views: CertificateView[] = [];
  if (request.clientCertificate)
    views.push(await certificateView('TLS client certificate (QWAC)', request.clientCertificate, qwac));
  try {
    const der = readTppCertificate(header(request, 'tpp-certificate') ?? '');
    views.push(await certificateView('TPP-Certificate (QSealC)', der, qseal));
  } catch {
    // The refusal says what is wrong with the certificate.
  }
  return views;
}

async function certificateView(
  use: string,
  der: Buffer,
  registered: X509Certificate,
): Promise<CertificateView> {
  // The certificate library is large, and only this view needs it.
  const { readEidasCertificate } = await import('../../certificates/eidas.ts');
  const { subject, issuer, notBefore, notAfter, sha256, ...statements } = readEidasCertificate(der);
  const { organizationIdentifier = '', qcType = '', roles, ncaName, ncaId } = statements;
  return {
    use,
    registered: der.equals(registered.raw),
    subject,
    organizationIdentifier,
    issuer,
    qcType,
    roles: roles.join(', '),
    authority: [ncaName, ncaId].filter(Boolean).join(', '),
    validFrom: notBefore.toISOString(),
    validTo: notAfter.toISOString(),
    sha256,
  };
}

function headText(first: string, headers: readonly (readonly [string, string])[]): string {
  const lines = headers.map(
    ([name, value]) => `${name}: ${/^authorization$/i.test(name) ? shorten(value) : value}`,
  );
  return [
    hideSecrets(first),
    ...lines.map((line) => (/^location:/i.test(line) ? hideSecrets(line) : line)),
  ].join('\n');
}

function shorten(value: string): string {
  return value.replace(/^(Bearer \S{6})\S+/, '$1…');
}

function bodyText({ bytes, length }: KeptBody): string {
  const printable = !bytes.subarray(0, 512).includes(0);
  const text = printable ? hideSecrets(bytes.toString('utf8')) : '(not text)';
  return bytes.length < length ? `${text}\n… ${length} bytes in all` : text;
}

const SECRETS = 'client_secret|access_token|refresh_token|token|code';

/** What a customer gives a TPP once. Nothing of it is shown, neither its beginning. */
const CREDENTIALS = 'password|additionalPassword|encryptedPassword|scaAuthenticationData';

/** Shortens tokens, secrets and codes to their beginning: enough to tell them apart, not enough to use them. Leaves out PINs and TANs. */
function hideSecrets(text: string): string {
  return text
    .replace(new RegExp(`("(?:${CREDENTIALS})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)*(")`, 'g'), '$1…$2')
    .replace(new RegExp(`("(?:${SECRETS})"\\s*:\\s*"[\\w-]{6})[\\w-]{10,}(")`, 'g'), '$1…$2')
    .replace(new RegExp(`((?:^|[?&])(?:${SECRETS})=[\\w-]{6})[\\w-]{10,}`, 'g'), '$1…');
}

/** Calls whose title differs from the endpoint name that faults use. */
const WORDS = new Map([
  ['authorize', 'authorise'],
  ['customerid', 'customer id'],
]);

/**
 * A call's title: `authorise`, `token refresh_token`, `transactions page 31`, `verify moneyTransfer`. For an unknown
 * endpoint it is the path.
 *
 * @param rowsAPage transactions per page
 */
function callTitle({ request, body }: Pick<SeenCall, 'request' | 'body'>, rowsAPage: number): string {
  const [path = '', query = ''] = request.target.split('?', 2);
  const endpoint = endpointOf(request);
  if (endpoint === undefined) return path;
  const words = WORDS.get(endpoint) ?? endpoint.replaceAll('-', ' ');
  const more = moreOf(endpoint, path, new URLSearchParams(query), body.bytes, rowsAPage);
  return more === undefined ? words : `${words} ${more}`;
}

function moreOf(
  endpoint: string,
  path: string,
  query: URLSearchParams,
  body: Buffer,
  rowsAPage: number,
): string | undefined {
  if (endpoint === 'token') return /grant_type"?\s*[=:]\s*"?([a-z_]+)/.exec(body.toString('latin1'))?.[1];
  if (endpoint === 'transactions') {
    const first = Math.max(...['nextAccounting', 'nextNotAccounting'].map((name) => Number(query.get(name))));
    return first > 1 ? `page ${Math.ceil(first / rowsAPage)}` : undefined;
  }
  // The steps of an operation have the operation's name after the product.
  const step = /^(?:prepare|verify2?|execute|execution-status)$/.test(endpoint);
  return step ? /\/products\/[^/]+\/(\w+)\//.exec(path)?.[1] : undefined;
}
