import { createPrivateKey, randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { link, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import { flushFolder, removeLeftovers, temporaryPath, writeDurably } from './durable-files.ts';
import { hasCode } from './system-error.ts';

/** An application that the TPP registered at the bank. */
export interface Application {
  clientId: string;
  clientSecret: string;
  /** The signature's `keyId`. */
  applicationName: string;
}

/** What the TPP and the sandbox bank know of each other. Every file is PEM. */
export interface Registration {
  /** The authority that the server's and the TPP's certificates chain to. */
  caFile: string;
  serverCertFile: string;
  serverKeyFile: string;
  /** The TPP's certificate and key for mutual TLS. */
  qwacCertFile: string;
  qwacKeyFile: string;
  /** The TPP's certificate and key for the `Signature` header. */
  qsealCertFile: string;
  qsealKeyFile: string;
  /** What the bank signs its answers with. */
  bankSigningCertFile: string;
  bankSigningKeyFile: string;
  applications: { authorizationCode: Application; clientCredentials: Application };
}

export interface RegistrationOptions {
  /** Default: the system's clock. TLS judges certificates by the system's clock, whatever is given here. */
  now?: () => Date;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const VALID_DAYS = 365;
const CERTIFICATES = 'certificates';
const APPLICATIONS = 'registration.json';

const application = z.object({ clientId: z.string(), clientSecret: z.string(), applicationName: z.string() });
const applicationsFile = z.object({ authorizationCode: application, clientCredentials: application });

/**
 * The registration kept in `folder`, made at the first call: `registration.json` with the two applications and
 * the folder `certificates` with the PEM files. Each of the two appears in one step, written and flushed
 * elsewhere before, so a kill at any point leaves it whole or absent. Certificates are made anew when one is
 * missing or unreadable, does not fit its key or the authority, or expires within a day; the applications stay.
 *
 * Folders are made with mode 0700, files with 0600.
 *
 * @throws Psd2Error `sandbox` when `folder` can't be written, or when its `registration.json` is not one of ours.
 */
export async function loadOrCreateRegistration(
  folder: string,
  { now = () => new Date() }: RegistrationOptions = {},
): Promise<Registration> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeLeftovers(folder);
    const files = registrationFiles(join(folder, CERTIFICATES));
    const applications = await loadOrCreateApplications(folder);
    if (!(await areUsable(files, now()))) await makeCertificates(folder, files, now());
    return { ...files, applications };
  } catch (cause) {
    if (cause instanceof Psd2Error) throw cause;
    throw new Psd2Error('sandbox', `The sandbox can't keep its certificates in ${folder}`, {
      hint: 'See that the folder may be written, and that its disk is not full.',
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
    bankSigningCertFile: join(certificates, 'bank-signing.pem'),
    bankSigningKeyFile: join(certificates, 'bank-signing-key.pem'),
  };
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
  // A link, unlike a rename, lets stand what another process has put there in the meantime.
  await link(temporary, path).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  await rm(temporary);
  await flushFolder(folder);
}

function makeApplication(applicationName: string): Application {
  return { clientId: randomUUID(), clientSecret: randomBytes(24).toString('base64url'), applicationName };
}

/** Whether all files are there, fit together, and stay valid for a day. */
async function areUsable(files: RegistrationFiles, now: Date): Promise<boolean> {
  try {
    const ca = new X509Certificate(await readFile(files.caFile));
    const pairs = [
      [files.serverCertFile, files.serverKeyFile],
      [files.qwacCertFile, files.qwacKeyFile],
      [files.qsealCertFile, files.qsealKeyFile],
      [files.bankSigningCertFile, files.bankSigningKeyFile],
    ] as const;
    const checks = pairs.map(async ([certificateFile, keyFile]) => {
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

async function makeCertificates(folder: string, final: RegistrationFiles, now: Date): Promise<void> {
  // Loaded here only: a second start has no need of the certificate library.
  const { makeCertificateSet } = await import('./certificate-set.ts');
  const made = await makeCertificateSet({ from: now, days: VALID_DAYS });
  const temporary = temporaryPath(folder, CERTIFICATES);
  await mkdir(temporary, { mode: 0o700 });
  const files = registrationFiles(temporary);
  await Promise.all([
    writeDurably(files.caFile, made.ca),
    writeDurably(files.serverCertFile, made.server.certificate),
    writeDurably(files.serverKeyFile, made.server.key),
    writeDurably(files.qwacCertFile, made.qwac.certificate),
    writeDurably(files.qwacKeyFile, made.qwac.key),
    writeDurably(files.qsealCertFile, made.qseal.certificate),
    writeDurably(files.qsealKeyFile, made.qseal.key),
    writeDurably(files.bankSigningCertFile, made.bankSigning.certificate),
    writeDurably(files.bankSigningKeyFile, made.bankSigning.key),
  ]);
  await flushFolder(temporary);
  await putInPlace(temporary, folder, final, now);
  await flushFolder(folder);
}

/** A folder can't be renamed over one that holds files, so an old set is first moved out of the way. */
async function putInPlace(
  temporary: string,
  folder: string,
  final: RegistrationFiles,
  now: Date,
): Promise<void> {
  // Another process may have made a set in the meantime: then that one stays.
  if (!(await areUsable(final, now))) {
    const place = join(folder, CERTIFICATES);
    const replaced = temporaryPath(folder, CERTIFICATES);
    await rename(place, replaced).catch(ignoreMissing);
    await rename(temporary, place).catch(async (error: unknown) => {
      if (!(await areUsable(final, now))) throw error;
    });
    await rm(replaced, { recursive: true, force: true });
  }
  await rm(temporary, { recursive: true, force: true });
}

function ignoreMissing(error: unknown): undefined {
  if (hasCode(error, 'ENOENT')) return undefined;
  throw error;
}
