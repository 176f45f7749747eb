import { verify, X509Certificate } from 'node:crypto';
import { Psd2Error } from '../../../errors.ts';
import { digestHeader, signingString } from '../../../signature/http-signature.ts';
import { pathOf, type WireAnswer, type WireRequest } from '../../transport/line.ts';

/**
 * Checks that an answer belongs to its request (`X-Request-ID`), its `Digest`, and with the bank's certificate its `Signature`
 * (draft-cavage-http-signatures-10). Banks need not send any of them.
 *
 * @param certificatePem the bank's signing certificate. Without it, signatures are not checked
 * @returns a check that throws Psd2Error `bank_answer`. Such an answer must not be used
 * @throws Psd2Error `certificate`
 */
export function answerCheck(
  certificatePem: string | undefined,
): (answer: WireAnswer, request: WireRequest) => void {
  const certificate = certificatePem === undefined ? undefined : readCertificate(certificatePem);
  return (answer, request) => {
    const problem =
      requestIdProblem(answer, request) ??
      digestProblem(answer) ??
      (certificate && signatureProblem(answer, request, certificate));
    if (!problem) return;
    throw new Psd2Error(
      'bank_answer',
      `The bank's answer to ${request.method} ${pathOf(request)} ${problem}`,
      {
        hint: 'psd2 did not use the answer. Someone may have changed it on the way, or the bank has a new certificate.',
      },
    );
  };
}

function requestIdProblem({ headers }: WireAnswer, request: WireRequest): string | undefined {
  const repeated = headers['x-request-id'];
  if (repeated === undefined || repeated.toLowerCase() === request.headers['x-request-id']?.toLowerCase())
    return undefined;
  return 'has the X-Request-ID of another request';
}

function digestProblem({ headers, body }: WireAnswer): string | undefined {
  for (const algorithm of ['SHA-256', 'SHA-512'] as const) {
    // Base64 has no comma.
    const given = headers.digest?.split(',').map((value) => value.trim());
    const digest = given?.find((value) => value.toUpperCase().startsWith(`${algorithm}=`));
    const own = digestHeader(body, algorithm).slice(8);
    if (digest !== undefined && digest.slice(8) !== own) return 'does not match its Digest';
  }
  return undefined;
}

const HASHES = new Map([
  ['rsa-sha256', 'sha256'],
  ['rsa-sha512', 'sha512'],
]);

function signatureProblem(
  { headers, body }: WireAnswer,
  request: WireRequest,
  certificate: X509Certificate,
): string | undefined {
  if (headers.signature === undefined) return undefined;
  const parts = Object.fromEntries(
    [...headers.signature.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const names = (parts.headers ?? 'date').toLowerCase().split(' ');
  const hash = HASHES.get(parts.algorithm?.toLowerCase() ?? '');
  if (!hash || !parts.signature) return 'has a Signature in an unknown format';
  if (body.length > 0 && !names.includes('digest')) return 'has a Signature that does not cover its body';
  const missing = names.find((name) => name !== '(request-target)' && headers[name] === undefined);
  if (missing !== undefined) return `has a Signature over the header ${missing}, which is missing`;
  const signed = signingString({ method: request.method, target: request.target, headers }, names);
  const signature = Buffer.from(parts.signature, 'base64');
  return verify(hash, Buffer.from(signed), certificate.publicKey, signature)
    ? undefined
    : 'has a wrong Signature';
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Psd2Error('certificate', 'The bank signing certificate is not a PEM certificate', { cause });
  }
}
