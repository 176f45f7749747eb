import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { readCertificateFile } from '../../certificates/certificate-file.ts';
import { readEidasCertificate } from '../../certificates/eidas.ts';
import type { PairName } from '../../certificates/key-pair.ts';
import { requestSuccessor } from '../../certificates/request.ts';
import { Psd2Error } from '../../errors.ts';
import { flag, object, oneOf, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, type OptionsOf, verb } from '../declare.ts';
import { eidasData, eidasFields, openCertificateFile } from './certificates.ts';
import { refuseExisting, writeNewFiles } from './new-files.ts';

const requested = object({
  subject: text('distinguished name').as('Subject'),
  ...eidasFields(),
  keyType: oneOf(['RSA', 'EC'], 'type of the new key')
    .as('Key type')
    .shown(
      ({ keyType, keyBits, keyEncrypted }: { keyType: string; keyBits: number; keyEncrypted: boolean }) =>
        `${keyType} ${keyBits}, ${keyEncrypted ? 'encrypted' : 'not encrypted'}`,
    ),
  keyBits: whole('size of the new key'),
  keyEncrypted: flag('true if PSD2_KEY_PASSPHRASE encrypts the new key'),
  keyFile: text('the new private key, PEM').as('Key'),
  requestFile: text('the certificate request, PKCS#10 in PEM').as('Request'),
});

const FILE_NAMES = { web: 'qwac', eseal: 'qseal', esign: 'certificate' } as const;

function withRequestOptions(command: Command) {
  return command
    .argument('[file]', 'the old certificate: PEM, DER or PKCS#12')
    .requiredOption('--out <folder>', 'folder for the key and the request; psd2 overwrites none')
    .option('--qwac', "use the profile's QWAC (the default without a file)")
    .option('--qseal', "use the profile's QSealC");
}

/** `psd2 cert request [file]`: makes a new key, and a request with the eIDAS fields of the old certificate. */
export const request = verb(
  {
    prints: { what: 'the request that was made', shape: requested },
    help: examples(
      'psd2 cert request --out new-qwac',
      'psd2 --profile mybank cert request --qseal --out new-qseal',
      'psd2 cert request old-qwac.pem --out new-qwac --json',
    ),
  },
  withRequestOptions,
  async (context, file, options) => {
    const old = await oldCertificate(context, file, options);
    const eidas = readEidasCertificate(old);
    const name = FILE_NAMES[eidas.qcType ?? 'esign'];
    const files = {
      keyFile: join(options.out, `${name}-key.pem`),
      requestFile: join(options.out, `${name}.csr`),
    };
    refuseExisting(Object.values(files));
    const passphrase = context.env.PSD2_KEY_PASSPHRASE || undefined;
    const { key, request: csr, keyType, keyBits } = await requestSuccessor(old, passphrase);
    // The key first: a request without its key is worth nothing.
    writeNewFiles(options.out, 'the key and the request', [
      [files.keyFile, key],
      [files.requestFile, csr],
    ]);
    context.output.record(
      {
        subject: eidas.subject,
        ...eidasData(eidas),
        keyType,
        keyBits,
        keyEncrypted: passphrase !== undefined,
        ...files,
      },
      requested,
    );
    context.terminal.say(
      'Send the request to your certificate authority. Keep the key: it belongs to the new certificate.',
    );
  },
);

/** The old certificate in DER. @throws Psd2Error `usage`, `config` or `certificate` */
async function oldCertificate(
  context: Context,
  file: string | undefined,
  { qwac, qseal }: OptionsOf<typeof withRequestOptions>,
): Promise<Uint8Array> {
  const isFromProfile = qwac === true || qseal === true;
  if ((qwac && qseal) || (file !== undefined && isFromProfile))
    throw new Psd2Error('usage', 'Give one of these: a file, --qwac or --qseal', {
      hint: 'Each request is for one certificate.',
    });
  const pair: PairName = qseal ? 'QSealC' : 'QWAC';
  const { certificates } =
    file === undefined ? await certificateOfProfile(context, pair) : await openCertificateFile(context, file);
  const own = certificates.find(({ ca }) => !ca);
  if (own) return own.raw;
  throw new Psd2Error(
    'certificate',
    `${file ?? `The ${pair} certificate`} has only certificates of authorities, and none of a TPP`,
    { hint: 'Give the file with your old certificate.' },
  );
}

async function certificateOfProfile(context: Context, pair: PairName) {
  const { certificate } = await (await context.keys()).read(pair);
  return readCertificateFile(Buffer.from(certificate), undefined, `The ${pair} certificate`);
}
