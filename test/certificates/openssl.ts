import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key, PEM. */
export interface PemPair {
  cert: string;
  key: string;
}

/** A workshop for certificates that runs the openssl command, in a temporary folder that is gone after `work`. */
export function withOpenssl<T>(work: (openssl: Openssl) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-openssl-'));
  try {
    return work(new Openssl(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const RSA = ['rsa:2048'];
/** Quicker to make than RSA, for those that sign no request. */
export const EC = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

export class Openssl {
  /** Where its files are. */
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

  /** A certificate that signed itself, valid for two days from now; it may issue others. */
  authority(commonName: string): PemPair {
    return this.#request(commonName, EC, ['-addext', 'keyUsage=critical,keyCertSign,digitalSignature']);
  }

  /** @param names `DNS:...` and `IP:...`; none for a client's certificate */
  issued(by: PemPair, commonName: string, kind: string[], names: string[] = []): PemPair {
    return this.#request(commonName, kind, [
      ...this.#issuer(by),
      ...(names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : []),
    ]);
  }

  /** A certificate for a key that is there already. */
  issuedFor(by: PemPair, commonName: string, key: string): PemPair {
    this.#certify(commonName, ['-key', this.write('given.key', key), ...this.#issuer(by)]);
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
    this.run('req', '-x509', '-days', '2', '-subj', `/CN=${commonName}`, '-out', 'new.pem', ...more);
  }

  #read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }
}
