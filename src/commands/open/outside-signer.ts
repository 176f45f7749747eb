import { createVerify, type X509Certificate } from 'node:crypto';
import { Psd2Error } from '../../errors.ts';
import type { Signer } from '../../signature/http-signature.ts';
import type { Context } from '../context.ts';
import { runOutsideCommand } from '../shared/outside-command.ts';

/**
 * A signer that is a command of the operator's, so that the key can stay in an HSM (command contract, "outside
 * signer"). It gets the signing string on standard input, with no line break at its end, and prints the base64
 * RSASSA-PKCS1-v1_5 SHA-256 signature, which is verified before it is used.
 *
 * @param certificate whose key the command signs with
 * @returns a signer that throws Psd2Error `config` when the command fails or its signature is wrong
 */
export function outsideSigner(
  context: Pick<Context, 'globals' | 'world'>,
  command: string,
  certificate: X509Certificate,
): Signer {
  return async (signingString) => {
    const printed = await runOutsideCommand(context, 'signer', command, signingString);
    const signature = printed.replace(/\s+/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(signature)) {
      throw new Psd2Error('config', 'The signer command did not print a signature in base64', {
        hint: 'It has to print the base64 of the signature and nothing else; base64 without line breaks: openssl base64 -A',
      });
    }
    if (!createVerify('sha256').update(signingString).verify(certificate.publicKey, signature, 'base64')) {
      throw new Psd2Error(
        'config',
        'The signature of the signer command does not fit the signing certificate',
        {
          hint: 'Nothing was sent. It has to be RSASSA-PKCS1-v1_5 with SHA-256 over standard input as it is, made with the key of that certificate. See which it is with:',
          next: [['cert', 'inspect']],
        },
      );
    }
    return signature;
  };
}
