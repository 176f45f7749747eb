import {
  type KeyPair,
  type TppCertificateEncoding,
  tppCertificateHeader,
} from '../../certificates/key-pair.ts';
import { digestHeader } from '../../signature/digest.ts';
import {
  SIGNED_WITH_BODY,
  SIGNED_WITHOUT_BODY,
  type Signer,
  signatureHeader,
  signingString,
} from '../../signature/http-signature.ts';
import type { WireRequest } from '../transport/connection.ts';
import type { BankCall } from './exchange.ts';

/** The signer, and the application that it signs for. */
export interface Identity {
  /** The application's name, as registered: the signature's `keyId`. */
  applicationName: string;
  signer: Signer;
  signingCertificate: KeyPair['certificate'];
  tppCertificate: TppCertificateEncoding;
}

/** The settings that turn a call into a request. */
export interface ComposeSettings {
  /** The path of the base URL, a prefix for every path: `''` or `/prefix`. */
  pathPrefix: string;
  identity: Identity;
  /** `cb-apitrack-id`: the bank sends it with its first answer, and psd2 repeats it for the rest of the session. */
  session: { apiTrackId: string | undefined };
  /** `PSU-IP-Address` */
  psuIpAddress: string | undefined;
  /** `Accept-Language` */
  language: string | undefined;
  /** The component of `CB-Trace-Id`. */
  traceComponent: string | undefined;
  now: () => Date;
  newId: () => string;
}

/** A request that is ready to send, and its signing string. */
export interface ComposedRequest {
  request: WireRequest;
  tppRequestId: string;
  /** The `Digest` header, or null without a body. */
  digest: string | null;
  signingString: string;
}

/**
 * Makes the request of a call: headers, digest and signature, with a new id and the current date (interface
 * specification, "Headers").
 */
export async function composeRequest(call: BankCall, settings: ComposeSettings): Promise<ComposedRequest> {
  const { identity, session, pathPrefix } = settings;
  const tppRequestId = settings.newId();
  const body = call.body === undefined ? undefined : toBytes(call.body);
  const digest = body ? digestHeader(body) : null;
  const target = `${pathPrefix}${call.path}`;
  const tppCertificate = certificateHeaderOf(identity);
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
  headers.signature = await signatureHeader(signable, names, identity.applicationName, identity.signer);
  return {
    request: { method: call.method, target, headers, body },
    tppRequestId,
    digest,
    signingString: signingString(signable, names),
  };
}

const certificateHeaders = new WeakMap<Identity, string | undefined>();

/** The header's value. It is the same for all calls of an identity. */
function certificateHeaderOf(identity: Identity): string | undefined {
  if (!certificateHeaders.has(identity)) {
    const header = tppCertificateHeader(identity.signingCertificate, identity.tppCertificate);
    certificateHeaders.set(identity, header);
  }
  return certificateHeaders.get(identity);
}

function toBytes(body: object | string): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
