import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import type { TppCertificates } from '../../strict/signature.ts';
import { type DoorRules, exactness } from '../door-rules.ts';
import type { Addressed } from '../operations.ts';
import { DoorRefusal } from '../refusal.ts';
import { checkBodyPresence } from './body.ts';
import {
  checkBankHeaders,
  checkDate,
  checkHeaderNames,
  checkMediaTypes,
  checkPsuHeaders,
} from './headers.ts';
import { type CheckedRequest, lenientRequest } from './lenient-request.ts';
import { checkSigning, mustBeSigned } from './signature.ts';

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
