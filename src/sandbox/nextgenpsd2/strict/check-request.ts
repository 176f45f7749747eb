import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import type { TppCertificates } from '../../strict/signature.ts';
import { type DoorRules, type Exactness, exactness } from '../door-rules.ts';
import type { Addressed } from '../operations.ts';
import { DoorRefusal } from '../refusal.ts';
import { checkBodyPresence } from './body.ts';
import {
  ALLOWED,
  answerTypes,
  bodyType,
  checkBankHeaders,
  checkDate,
  checkHeaderNames,
  checkMediaTypes,
  checkPsuHeaders,
  FOREIGN,
  INITIATION,
  wantsDate,
  XML,
} from './headers.ts';
import { bestOf, mediaTypeOf } from './media-types.ts';
import { checkSigning, hasDigest, mustBeSigned, SIGNING_HEADERS } from './signature.ts';

/**
 * Checks the rules for every call of the second door but its path and `X-Request-ID`, on the received bytes. The first
 * broken rule decides the answer.
 *
 * @param clock the bank's clock, which a fault may set wrong
 * @throws DoorRefusal
 */
export function checkRequest(
  received: RawRequest,
  operation: Addressed,
  rules: DoorRules,
  registered: TppCertificates,
  clock: Date,
): CheckedRequest {
  if (received.oversized)
    throw new DoorRefusal('FORMAT_ERROR', 'The body is larger than 1 MiB', '', { status: 413 });
  const description = withDate(rules);
  const exact = exactness(rules);
  const checked = rules.strict
    ? { request: received, warnings: [] }
    : lenientRequest(received, operation, description, exact);
  const { request } = checked;
  checkHeaderNames(request, operation, description);
  checkBodyPresence(request);
  checkMediaTypes(request, description, operation);
  checkBankHeaders(request, description, operation);
  checkPsuHeaders(request, description, operation);
  checkDate(request, description, mustBeSigned(description, request), clock);
  checkSigning(request, description, registered, { exact, received });
  return checked;
}

/** The bank file, or what the variation `date-wanted` makes of it. */
function withDate({ description, variations }: DoorRules): BankDescription {
  if (!variations.includes('date-wanted')) return description;
  return { ...description, headers: { ...description.headers, date: 'always' } };
}

/** Checks that the client's TLS certificate is the registered QWAC. @throws DoorRefusal `CERTIFICATE_INVALID` */
export function checkClientCertificate({ clientCertificate }: RawRequest, { qwac }: TppCertificates): void {
  if (clientCertificate?.equals(qwac.raw)) return;
  throw new DoorRefusal('CERTIFICATE_INVALID', 'The TLS client certificate is not the registered QWAC');
}

/** A request as the bank reads it: without what it ignores. */
interface CheckedRequest {
  request: RawRequest;
  /** What it ignored, for the console. */
  warnings: readonly string[];
}

type Header = RawRequest['headers'][number];

/**
 * A request without what HTTP and the standard allow and the call does not use, and with its media types as the bank writes them. So
 * the rules for the rest are the same as with `--strict`.
 */
function lenientRequest(
  received: RawRequest,
  operation: Addressed,
  description: BankDescription,
  exact: Exactness,
): CheckedRequest {
  const reasonOf = unusedBy(received, operation, description);
  const used: Header[] = [];
  const warnings: string[] = [];
  for (const sent of received.headers) {
    const reason = reasonOf(sent);
    if (reason === undefined) used.push(sent);
    else warnings.push(`The bank ignores ${sent[0]}: ${reason}.`);
  }
  const request = { ...received, headers: used };
  const types = writtenTypes(request, operation, description, exact);
  const headers = used.filter(([name]) => !types.has(name.toLowerCase()));
  return { request: { ...received, headers: [...headers, ...types] }, warnings };
}

/** Why a call does not use a header. */
function unusedBy(
  request: RawRequest,
  { id, kind }: Addressed,
  description: BankDescription,
): (sent: Header) => string | undefined {
  const { headers, oauth, signing } = description;
  const own = Object.keys({ ...headers.static, ...headers.perOperation[id] }).map(lower);
  const others = Object.values(headers.perOperation)
    .flatMap(Object.keys)
    .map(lower)
    .filter((name) => name !== lower(oauth.tokenHeader));
  const isSigned = mustBeSigned(description, request);
  const isUnused: Record<string, boolean> = {
    authorization: oauth.mode === 'none' || lower(oauth.tokenHeader) !== 'authorization',
    [lower(oauth.tokenHeader)]: oauth.mode === 'none',
    'content-type': request.body.length === 0,
    date: !wantsDate(headers, isSigned),
    ...Object.fromEntries(SIGNING_HEADERS.map((name) => [lower(name), !isSigned])),
    ...(!hasDigest(signing, request) && { digest: true }),
  };
  const seen = new Set<string>();
  return ([sent, value]) => {
    const name = lower(sent);
    const isKnown = INITIATION.includes(name);
    const isRead = isKnown || own.includes(name) || name in isUnused || /^(psu|tpp|x-request)-/.test(name);
    const isAgain = seen.has(name);
    seen.add(name);
    if (own.includes(name)) return undefined;
    if (FOREIGN.includes(name) || others.includes(name) || isUnused[name])
      return 'the call does not use this header';
    if (isKnown && !ALLOWED[kind].includes(name)) return 'the call does not use this header';
    const mayBeEmpty = name === 'psu-id' && description.psu.id === 'empty';
    if (value === '' && !mayBeEmpty && (isKnown || /^(psu|tpp)-/.test(name))) return 'it is empty';
    return isAgain && !isRead && name !== 'accept' ? 'it came before' : undefined;
  };
}

/** `Accept` and `Content-Type` as the bank writes them, if what was sent means the same. */
function writtenTypes(
  request: RawRequest,
  operation: Addressed,
  description: BankDescription,
  exact: Exactness,
): Map<string, string> {
  const written = new Map<string, string>();
  if (!exact.accept) {
    const accept = request.headers.filter(([name]) => lower(name) === 'accept').map(([, value]) => value);
    const best = bestOf(
      answerTypes(description, operation),
      accept.length === 0 ? undefined : accept.join(','),
    );
    const chosen = best ?? accept.join(', ');
    if (chosen !== '') written.set('accept', chosen);
  }
  const sent = header(request, 'content-type');
  if (exact.contentType || sent === undefined) return written;
  const bankType = bodyType(description, operation, sent);
  // RFC 7303, section 9.2: text/xml is the same.
  const type = mediaTypeOf(sent) === 'text/xml' ? XML : mediaTypeOf(sent);
  if (type === mediaTypeOf(bankType)) written.set('content-type', bankType);
  return written;
}

function lower(name: string): string {
  return name.toLowerCase();
}
