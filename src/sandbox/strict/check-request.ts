import { wrongValue } from '../answers/refusal.ts';
import { checkBodyPresence } from './body.ts';
import { checkDate, checkOptionalHeaders, refuseDuplicates, uuidHeader } from './headers.ts';
import type { RawRequest } from './raw-request.ts';
import type { SeenRequestIds } from './seen-request-ids.ts';
import {
  certificateFingerprint,
  checkDigest,
  checkSignature,
  checkTppCertificate,
  type TppCertificates,
} from './signature.ts';

/**
 * Checks the rules for every request of the API, including OAuth (interface specification, "Authentication" and
 * "Headers"), on the received bytes. The first broken rule decides the answer.
 *
 * @param clock the time to compare `Date` with, if a fault makes the bank's clock wrong
 * @returns the signature's `keyId`. The endpoint decides which application's name it must be.
 * @throws Refusal
 */
export function checkRequest(
  request: RawRequest,
  registered: TppCertificates,
  seenRequestIds: SeenRequestIds,
  now: Date,
  clock = now,
): string {
  checkTransport(request, registered);
  refuseDuplicates(request);
  checkBodyPresence(request);
  uuidHeader(request, 'TPP-Transaction-ID');
  const requestId = uuidHeader(request, 'TPP-Request-ID');
  checkDate(request, clock);
  checkOptionalHeaders(request);
  checkTppCertificate(request, registered);
  checkDigest(request);
  const keyId = checkSignature(request, registered);
  // Recorded last, so that only the TPP can use up an id.
  seenRequestIds.add(requestId, now);
  return keyId;
}

/** Checks that the client's TLS certificate is the registered QWAC. */
function checkTransport({ clientCertificate }: RawRequest, { qwac, qseal }: TppCertificates): void {
  if (clientCertificate?.equals(qwac.raw)) return;
  throw wrongValue(
    'QWAC_NOT_REGISTERED',
    clientCertificate?.equals(qseal.raw)
      ? 'The TLS client certificate is the QSealC, but must be the QWAC'
      : 'The TLS client certificate is not the registered QWAC',
    `SHA-256 ${certificateFingerprint(qwac.raw)}`,
    clientCertificate ? `SHA-256 ${certificateFingerprint(clientCertificate)}` : 'no certificate',
  );
}

/**
 * Checks that the signature's `keyId` is the name of the calling application.
 *
 * @throws Refusal `SIGNATURE_KEY_ID`
 */
export function checkKeyId(keyId: string, applicationName: string): void {
  if (keyId === applicationName) return;
  throw wrongValue(
    'SIGNATURE_KEY_ID',
    "The signature's keyId is not the name of the application of the token or client id",
    `keyId="${applicationName}"`,
    `keyId="${keyId}"`,
  );
}
