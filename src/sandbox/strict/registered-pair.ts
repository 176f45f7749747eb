import { header } from './headers.ts';
import type { RawRequest } from './raw-request.ts';
import type { TppCertificates } from './signature.ts';

/** The certificates that the TPP registered. The next ones count beside the first ones, so that a TPP can change them. */
export interface RegisteredCertificates {
  tppCertificates: TppCertificates;
  nextTppCertificates: TppCertificates;
}

/**
 * The registered certificates that a request must match. Each of the two may be the first one or the next one: a TPP can change
 * them one after the other.
 */
export function registeredFor(
  { tppCertificates: first, nextTppCertificates: next }: RegisteredCertificates,
  request: RawRequest,
): TppCertificates {
  const named = header(request, 'tpp-certificate') ?? header(request, 'tpp-signature-certificate') ?? '';
  return {
    qwac: request.clientCertificate?.equals(next.qwac.raw) ? next.qwac : first.qwac,
    qseal: contains(named, next.qseal.raw) ? next.qseal : first.qseal,
  };
}

/** Whether a header has this certificate, in any of the forms that banks want: as DER or PEM, in base64 or percent-encoded. */
function contains(value: string, der: Buffer): boolean {
  const forms = [
    value,
    value.replace(/%[0-9A-Fa-f]{2}/g, unescaped),
    Buffer.from(value, 'base64').toString('latin1'),
  ];
  return forms.some((form) => form.replace(/\s/g, '').includes(der.toString('base64')));
}

function unescaped(escaped: string): string {
  return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
}
