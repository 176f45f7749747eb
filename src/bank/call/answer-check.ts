import { verify, X509Certificate } from 'node:crypto';
import { Psd2Error } from '../../errors.ts';
import { digestHeader } from '../../signature/digest.ts';
import { signingString } from '../../signature/http-signature.ts';
import { pathOf, type WireAnswer, type WireRequest } from '../transport/connection.ts';

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
  const certificate = certificatePem === undefined ? undefined : readCertificate(certificatePem);
  return ({ headers, body }, request) => {
    const refuse = (what: string): never => {
      throw new Psd2Error(
        'bank_answer',
        `The bank's answer to ${request.method} ${pathOf(request)} ${what}`,
        {
          hint: 'psd2 did not use the answer. Someone may have changed it on the way, or the bank has a new certificate.',
        },
      );
    };
    const digest = headers.digest?.split(',').find((value) => /^\s*sha-256=/i.test(value));
    if (digest !== undefined && digest.trim().slice(8) !== digestHeader(body).slice(8)) {
      refuse('does not match its Digest');
    }
    if (!certificate || headers.signature === undefined) return;
    const parts = Object.fromEntries(
      [...headers.signature.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    );
    const names = parts.headers?.split(' ') ?? ['date'];
    if (parts.algorithm !== 'rsa-sha256' || !parts.signature) refuse('has a Signature in an unknown format');
    if (body.length > 0 && !names.includes('digest')) refuse('has a Signature that does not cover its body');
    const missing = names.find((name) => name !== '(request-target)' && headers[name] === undefined);
    if (missing !== undefined) refuse(`has a Signature over the header ${missing}, which is missing`);
    const signed = signingString({ method: request.method, target: request.target, headers }, names);
    if (
      !verify(
        'sha256',
        Buffer.from(signed),
        certificate.publicKey,
        Buffer.from(parts.signature ?? '', 'base64'),
      )
    ) {
      refuse('has a wrong Signature');
    }
  };
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Psd2Error('certificate', 'The bank signing certificate is not a PEM certificate', { cause });
  }
}
