import { createVerify, type X509Certificate } from 'node:crypto';
import { Psd2Error } from '../../errors.ts';
import { hashOf, refuseOtherKey, type Signer } from '../../signature/http-signature.ts';
import type { Context } from '../context.ts';
import { runOutsideCommand } from '../shared/outside-command.ts';

/**
 * A signer that runs a command of the operator, so that the key can stay in an HSM (command contract, "outside signer").
 * The command gets the signing string on standard input, without a line break at its end, and prints the base64
 * signature with SHA-256: RSASSA-PKCS1-v1_5, or ECDSA for an EC key. psd2 verifies the signature before it uses it.
 *
 * @param certificate the certificate of the key that the command signs with
 * @returns a signer that throws Psd2Error `config` if the command fails or its signature is wrong, and for another hash than
 *   SHA-256
 */
export function outsideSigner(
  context: Pick<Context, 'globals' | 'world'>,
  command: string,
  certificate: X509Certificate,
): Signer {
  return async (signingString, algorithm = 'rsa-sha256') => {
    refuseOtherKey(certificate.publicKey, algorithm);
    if (hashOf(algorithm) !== 'sha256')
      throw new Psd2Error(
        'config',
        `The signer command signs with SHA-256, but this bank wants ${algorithm}`,
        { hint: 'Use a key that psd2 can read, or a bank file with another signing.algorithm.' },
      );
    const printed = await runOutsideCommand(context, 'signer', command, signingString);
    const signature = printed.replace(/\s+/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(signature))
      throw new Psd2Error('config', 'The signer command did not print a signature in base64', {
        hint: 'It must print only the signature, in base64. For base64 without line breaks, use: openssl base64 -A',
      });
    if (!createVerify('sha256').update(signingString).verify(certificate.publicKey, signature, 'base64'))
      throw new Psd2Error(
        'config',
        'The signature of the signer command does not match the signing certificate',
        {
          hint: 'psd2 has sent nothing. The command must sign its unchanged standard input with SHA-256 and the key of that certificate. See the certificate with:',
          next: [['cert', 'inspect']],
        },
      );
    return signature;
  };
}
