import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { outsideSigner } from '../../../src/commands/open/outside-signer.ts';
import { EC, withOpenssl } from '../../certificates/openssl.ts';
import { useCommands } from '../../cli/in-process.ts';

const { run, said } = useCommands();
const certificate = new X509Certificate(
  withOpenssl((openssl) => openssl.issued(openssl.authority('CA'), 'QSealC', EC)).cert,
);

it('the signer command signs with SHA-256 only, and is not run for another hash', async () => {
  await run(async (context) => {
    await outsideSigner(context, 'no-such-program', certificate)('text', 'sha512');
  });
  expect(said()).toContain('The signer command signs with SHA-256, but this bank wants SHA-512');
  expect(said()).not.toContain('no-such-program');
  expect(process.exitCode).toBe(3);
});
