import { createPrivateKey, randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { link, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { makeFolder } from '../../make-folder.ts';
import {
  flushFolder,
  hasCode,
  ignoreMissing,
  removeLeftovers,
  temporaryPath,
  writeDurably,
} from './durable-files.ts';

/** An application that the TPP registered at the bank. */
export interface Application {
  clientId: string;
  clientSecret: string;
  /** The signature's `keyId`. */
  applicationName: string;
}

/** The registration of the TPP at the sandbox bank. All files are PEM. */
export interface Registration {
  /** The authority that issued the server's and the TPP's certificates. */
  caFile: string;
  serverCertFile: string;
  serverKeyFile: string;
  /** The TPP's certificate and key for mutual TLS. */
  qwacCertFile: string;
  qwacKeyFile: string;
  /** The TPP's certificate and key for the `Signature` header. */
  qsealCertFile: string;
  qsealKeyFile: string;
  /** Certificates of the TPP that are registered too, to try a change of certificates. */
  nextQwacCertFile: string;
  nextQwacKeyFile: string;
  nextQsealCertFile: string;
  nextQsealKeyFile: string;
  /** The certificate and key with which the bank signs its answers. */
  bankSigningCertFile: string;
  bankSigningKeyFile: string;
  applications: { authorizationCode: Application; clientCredentials: Application };
}

interface RegistrationOptions {
  /** Default: the system's clock. TLS always checks certificates against the system's clock. */
  now?: () => Date;
  /** How long the certificates are valid. */
  days?: number;
  /** Host names and IP addresses that the server's certificate must have, besides those of this computer. */
  names?: readonly string[];
}

const DAY_MS = 24 * 60 * 60 * 1000;
const VALID_DAYS = 365;
const CERTIFICATES = 'certificates';
const APPLICATIONS = 'registration.json';

const application = z.object({ clientId: z.string(), clientSecret: z.string(), applicationName: z.string() });
const applicationsFile = z.object({ authorizationCode: application, clientCredentials: application });

/**
 * The registration in `folder`. The first call creates it: `registration.json` with the two applications, and
 * the folder `certificates` with the PEM files. Both are written and flushed under a temporary name and then renamed,
 * so after a kill each is complete or absent. New certificates replace the old ones if one is missing, unreadable,
 * expires within a day, or does not match its key or the authority. The applications stay the same.
 *
 * Folders have mode 0700, files 0600.
 *
 * @throws Psd2Error `sandbox` if `folder` cannot be written, or if its `registration.json` is not a sandbox's.
 */
export async function loadOrCreateRegistration(
  folder: string,
  { now = () => new Date(), days = VALID_DAYS, names = [] }: RegistrationOptions = {},
): Promise<Registration> {
  try {
    makeFolder(folder);
    await removeLeftovers(folder);
    const files = registrationFiles(join(folder, CERTIFICATES));
    const applications = await loadOrCreateApplications(folder);
    const want = { at: now(), days, names };
    if (!(await areUsable(files, want))) await makeCertificates(folder, files, want);
    return { ...files, applications };
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw new Psd2Error('sandbox', `The sandbox cannot store its certificates in ${folder}`, {
      hint: 'Check that you may write to the folder, and that the disk is not full.',
      cause,
    });
  }
}

type RegistrationFiles = Omit<Registration, 'applications'>;

function registrationFiles(certificates: string): RegistrationFiles {
  return {
    caFile: join(certificates, 'ca.pem'),
    serverCertFile: join(certificates, 'server.pem'),
    serverKeyFile: join(certificates, 'server-key.pem'),
    qwacCertFile: join(certificates, 'qwac.pem'),
    qwacKeyFile: join(certificates, 'qwac-key.pem'),
    qsealCertFile: join(certificates, 'qseal.pem'),
    qsealKeyFile: join(certificates, 'qseal-key.pem'),
    nextQwacCertFile: join(certificates, 'next-qwac.pem'),
    nextQwacKeyFile: join(certificates, 'next-qwac-key.pem'),
    nextQsealCertFile: join(certificates, 'next-qseal.pem'),
    nextQsealKeyFile: join(certificates, 'next-qseal-key.pem'),
    bankSigningCertFile: join(certificates, 'bank-signing.pem'),
    bankSigningKeyFile: join(certificates, 'bank-signing-key.pem'),
  };
}

/** The certificates with their keys: of the server, of the TPP, and of the bank's seal. */
function pairsOf(files: RegistrationFiles): [certificateFile: string, keyFile: string][] {
  return [
    [files.serverCertFile, files.serverKeyFile],
    [files.qwacCertFile, files.qwacKeyFile],
    [files.qsealCertFile, files.qsealKeyFile],
    [files.nextQwacCertFile, files.nextQwacKeyFile],
    [files.nextQsealCertFile, files.nextQsealKeyFile],
    [files.bankSigningCertFile, files.bankSigningKeyFile],
  ];
}

async function loadOrCreateApplications(folder: string): Promise<Registration['applications']> {
  const path = join(folder, APPLICATIONS);
  if ((await readFile(path).catch(ignoreMissing)) === undefined) await makeApplications(folder, path);
  try {
    return applicationsFile.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new Psd2Error('sandbox', `${path} is not a registration of the sandbox`, {
      hint: 'Remove the file: the next start makes a new one.',
      cause,
    });
  }
}

async function makeApplications(folder: string, path: string): Promise<void> {
  const made = {
    authorizationCode: makeApplication('psd2-sandbox'),
    clientCredentials: makeApplication('psd2-sandbox-cc'),
  };
  const temporary = temporaryPath(folder, APPLICATIONS);
  await writeDurably(temporary, `${JSON.stringify(made, null, 2)}\n`);
  // Unlike a rename, a link does not replace a file that another process wrote in the meantime.
  await link(temporary, path).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  await rm(temporary);
  await flushFolder(folder);
}

function makeApplication(applicationName: string): Application {
  return { clientId: randomUUID(), clientSecret: randomBytes(24).toString('base64url'), applicationName };
}

/** Whether all files exist, match each other, and stay valid for a day. */
interface Wanted {
  at: Date;
  days: number;
  names: readonly string[];
}

async function areUsable(files: RegistrationFiles, { at: now, names }: Wanted): Promise<boolean> {
  try {
    const server = new X509Certificate(await readFile(files.serverCertFile));
    if (!names.every((name) => (isIP(name) === 0 ? server.checkHost(name) : server.checkIP(name))))
      return false;
    const ca = new X509Certificate(await readFile(files.caFile));
    const checks = pairsOf(files).map(async ([certificateFile, keyFile]) => {
      const certificate = new X509Certificate(await readFile(certificateFile));
      const key = createPrivateKey(await readFile(keyFile));
      return (
        outlivesTomorrow(certificate, now) &&
        certificate.checkPrivateKey(key) &&
        certificate.verify(ca.publicKey)
      );
    });
    return outlivesTomorrow(ca, now) && (await Promise.all(checks)).every(Boolean);
  } catch {
    return false;
  }
}

function outlivesTomorrow(certificate: X509Certificate, now: Date): boolean {
  return Date.parse(certificate.validTo) > now.getTime() + DAY_MS;
}

async function makeCertificates(folder: string, final: RegistrationFiles, want: Wanted): Promise<void> {
  // Lazy, because later starts do not need the certificate library.
  const { makeCertificateSet } = await import('./certificate-set.ts');
  const made = await makeCertificateSet({ from: want.at, days: want.days }, want.names);
  const temporary = temporaryPath(folder, CERTIFICATES);
  await mkdir(temporary, { mode: 0o700 });
  const files = registrationFiles(temporary);
  const pairs = [made.server, made.qwac, made.qseal, made.next.qwac, made.next.qseal, made.bankSigning];
  await Promise.all([
    writeDurably(files.caFile, made.ca),
    ...pairsOf(files).flatMap(([certificateFile, keyFile], index) => {
      const pair = pairs[index];
      return pair ? [writeDurably(certificateFile, pair.certificate), writeDurably(keyFile, pair.key)] : [];
    }),
  ]);
  await flushFolder(temporary);
  await putInPlace(temporary, folder, final, want);
  await flushFolder(folder);
}

/** A rename cannot replace a folder that has files, so this first moves an old set away. */
async function putInPlace(
  temporary: string,
  folder: string,
  final: RegistrationFiles,
  want: Wanted,
): Promise<void> {
  // If another process made a set in the meantime, keep that one.
  if (!(await areUsable(final, want))) {
    const place = join(folder, CERTIFICATES);
    const replaced = temporaryPath(folder, CERTIFICATES);
    await rename(place, replaced).catch(ignoreMissing);
    await rename(temporary, place).catch(async (error: unknown) => {
      if (!(await areUsable(final, want))) throw error;
    });
    await rm(replaced, { recursive: true, force: true });
  }
  await rm(temporary, { recursive: true, force: true });
}
