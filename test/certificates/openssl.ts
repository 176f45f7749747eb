import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key, in PEM. */
export interface PemPair {
  cert: string;
  key: string;
}

/** Runs `work` with the openssl command in a temporary folder, and then removes the folder. */
export function withOpenssl<T>(work: (openssl: Openssl) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-openssl-'));
  try {
    return work(new Openssl(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A given RSA key, because making one takes long. */
export const GIVEN_KEY = readFileSync('test/vectors/cavage-test-key.pem', 'utf8');

export const RSA = ['rsa:2048'];
/** EC keys are faster to make than RSA keys. They suit certificates that sign no request. */
export const EC = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/** OpenSSL has the machine's clock, and a run may have one that is ahead (test/support/day-of-run.js). */
const daysFromNow = (days: number) =>
  String(days + Math.ceil(Number(process.env.CLOCK_AHEAD_MS ?? 0) / (24 * 60 * 60 * 1000)));

export class Openssl {
  /** The folder of its files. */
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  run(...args: string[]): string {
    return execFileSync('openssl', args, { cwd: this.folder, encoding: 'utf8', stdio: 'pipe' });
  }

  runBinary(...args: string[]): Buffer {
    return execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' });
  }

  write(file: string, content: string | Uint8Array): string {
    writeFileSync(join(this.folder, file), content);
    return file;
  }

  /** Makes a self-signed certificate that is valid for two days and can issue others. */
  authority(commonName: string): PemPair {
    return this.#request(commonName, EC, ['-addext', 'keyUsage=critical,keyCertSign,digitalSignature']);
  }

  /** @param names `DNS:...` and `IP:...`; empty for a client certificate */
  issued(by: PemPair, commonName: string, kind: string[], names: string[] = []): PemPair {
    return this.#request(commonName, kind, [
      ...this.#issuer(by),
      ...(names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : []),
    ]);
  }

  /** Makes a certificate that an authority issues, and that can issue others. */
  issuing(by: PemPair, commonName: string): PemPair {
    const files = ['-CA', this.write('ca.pem', by.cert), '-CAkey', this.write('ca.key', by.key)];
    return this.#request(commonName, EC, [...files, '-addext', 'keyUsage=critical,keyCertSign']);
  }

  /** Issues a certificate for an existing key. */
  issuedFor(by: PemPair, commonName: string, key: string, days = 2): PemPair {
    const given = ['-key', this.write('given.key', key), '-days', daysFromNow(days)];
    this.#certify(commonName, [...given, ...this.#issuer(by)]);
    return { cert: this.#read('new.pem'), key };
  }

  #issuer(by: PemPair): string[] {
    const files = ['-CA', this.write('ca.pem', by.cert), '-CAkey', this.write('ca.key', by.key)];
    return [...files, '-addext', 'basicConstraints=critical,CA:FALSE'];
  }

  #request(commonName: string, kind: string[], more: string[]): PemPair {
    this.#certify(commonName, ['-newkey', ...kind, '-nodes', '-keyout', 'new.key', ...more]);
    return { cert: this.#read('new.pem'), key: this.#read('new.key') };
  }

  #certify(commonName: string, more: string[]): void {
    this.run(
      'req',
      '-x509',
      '-days',
      daysFromNow(2),
      '-subj',
      `/CN=${commonName}`,
      '-out',
      'new.pem',
      ...more,
    );
  }

  #read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }
}
