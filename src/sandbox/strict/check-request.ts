import { expectedAndReceived, Refusal } from '../answers/refusal.ts';
import { checkBodyPresence } from './body.ts';
import { checkDate, checkOptionalHeaders, refuseDuplicates, uuidHeader } from './headers.ts';
import type { RawRequest } from './raw-request.ts';
import type { SeenRequestIds } from './seen-request-ids.ts';
import {
  checkDigest,
  checkSignature,
  checkTppCertificate,
  fingerprint,
  type TppCertificates,
} from './signature.ts';

/**
 * The rules that every request of the API obeys, OAuth included (interface specification, "Authentication" and
 * "Headers"), judged from the bytes that came. The first one broken is the answer.
 *
 * @param clock what `Date` is compared with, where a fault has the bank's clock be off
 * @returns the signature's `keyId`: whose name it has to be depends on the endpoint.
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
  // Counted only now: nobody but the TPP can use up an id.
  seenRequestIds.add(requestId, now);
  return keyId;
}

/** The client's TLS certificate is the registered QWAC. */
function checkTransport({ clientCertificate }: RawRequest, { qwac, qseal }: TppCertificates): void {
  if (clientCertificate?.equals(qwac.raw)) return;
  throw new Refusal(
    'QWAC_NOT_REGISTERED',
    clientCertificate?.equals(qseal.raw)
      ? 'The TLS client certificate is the QSealC, and must be the QWAC'
      : 'The TLS client certificate is not the registered QWAC',
    expectedAndReceived(
      `SHA-256 ${fingerprint(qwac.raw)}`,
      clientCertificate ? `SHA-256 ${fingerprint(clientCertificate)}` : 'no certificate',
    ),
  );
}

/**
 * The signature's `keyId` is the name of the application that calls.
 *
 * @throws Refusal `SIGNATURE_KEY_ID`
 */
export function checkKeyId(keyId: string, applicationName: string): void {
  if (keyId === applicationName) return;
  throw new Refusal(
    'SIGNATURE_KEY_ID',
    'The keyId of the signature is not the name of the application that the token or client id belongs to',
    expectedAndReceived(`keyId="${applicationName}"`, `keyId="${keyId}"`),
  );
}
