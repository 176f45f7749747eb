import { createSign, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { outsideSigner } from '../../../src/commands/open/outside-signer.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { EC, withOpenssl } from '../../certificates/openssl.ts';
import { useCommands } from '../../cli/in-process.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const { run, said } = useCommands();
const certificate = new X509Certificate(
  withOpenssl((openssl) => openssl.issued(openssl.authority('CA'), 'QSealC', EC)).cert,
);

it('the signer command signs with SHA-256 only, and is not run for another hash', async () => {
  await run(async (context) => {
    await outsideSigner(context, 'no-such-program', certificate)('text', 'ecdsa-sha512');
  });
  expect(said()).toContain('The signer command signs with SHA-256, but this bank wants ecdsa-sha512');
  expect(said()).not.toContain('no-such-program');
  expect(process.exitCode).toBe(3);
});

const temporary = temporaryFolder();
const NOW = new Date().toISOString();
const TEXT = 'the signing string';

/** Signs with a command that prints this. The certificate is that of the sandbox. */
async function signWith(printed: string) {
  const { qsealCertFile } = await loadOrCreateRegistration(inject('registration'));
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const file = join(temporary, 'printed');
  writeFileSync(file, printed);
  return outsideSigner(context, `cat ${file}`, new X509Certificate(readFileSync(qsealCertFile)))(TEXT);
}
/** The signature of a text with the key of the sandbox. */
async function signatureOf(text: string): Promise<string> {
  const { qsealKeyFile } = await loadOrCreateRegistration(inject('registration'));
  return createSign('sha256').update(text).sign(readFileSync(qsealKeyFile), 'base64');
}

it('a signature over several lines is one', async () => {
  const signature = await signatureOf(TEXT);
  const lines = signature.replace(/(.{10})/g, '$1\r\n  ');
  expect(await signWith(`\n${lines}\n`)).toBe(signature);
});

it.each(['', '\n', 'no!', '!AAAA', 'AAAA!', 'AA===', '=', '-----BEGIN SIGNATURE-----'])(
  'what is not base64 is no signature: %j',
  async (printed) => {
    expect(await failureOf(signWith(printed))).toEqual({
      ...{ code: 'config', exitCode: 3, message: 'The signer command did not print a signature in base64' },
      hint: 'It must print only the signature, in base64. For base64 without line breaks, use: openssl base64 -A',
    });
  },
);

it('a signature of something else is refused before anything is sent', async () => {
  expect(await failureOf(signWith(await signatureOf('another text')))).toEqual({
    ...{ code: 'config', exitCode: 3 },
    message: 'The signature of the signer command does not match the signing certificate',
    hint: 'psd2 has sent nothing. The command must sign its unchanged standard input with SHA-256 and the key of that certificate. See the certificate with:',
    next: [['cert', 'inspect']],
  });
});

it('the refusal of another hash says what else the operator can do', async () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  expect(
    await failureOf(outsideSigner(context, 'no-such-program', certificate)('text', 'ecdsa-sha512')),
  ).toEqual({
    ...{ code: 'config', exitCode: 3 },
    message: 'The signer command signs with SHA-256, but this bank wants ecdsa-sha512',
    hint: 'Use a key that psd2 can read, or a bank file with another signing.algorithm.',
  });
});
