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
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  run(...args: string[]): string {
    return execFileSync('openssl', args, { cwd: this.#folder, encoding: 'utf8', stdio: 'pipe' });
  }

  write(file: string, content: string): string {
    writeFileSync(join(this.#folder, file), content);
    return file;
  }

  /** A certificate that signed itself, valid for two days from now; it may issue others. */
  authority(commonName: string): PemPair {
    return this.#request(commonName, EC, ['-addext', 'keyUsage=critical,keyCertSign,digitalSignature']);
  }

  /** @param names `DNS:...` and `IP:...`; none for a client's certificate */
  issued(by: PemPair, commonName: string, kind: string[], names: string[] = []): PemPair {
    this.write('ca.pem', by.cert);
    this.write('ca.key', by.key);
    return this.#request(commonName, kind, [
      ...['-CA', 'ca.pem', '-CAkey', 'ca.key'],
      ...['-addext', 'basicConstraints=critical,CA:FALSE'],
      ...(names.length > 0 ? ['-addext', `subjectAltName=${names.join(',')}`] : []),
    ]);
  }

  #request(commonName: string, kind: string[], more: string[]): PemPair {
    this.run(
      ...['req', '-x509', '-newkey', ...kind, '-nodes', '-days', '2', '-subj', `/CN=${commonName}`],
      ...['-keyout', 'new.key', '-out', 'new.pem', ...more],
    );
    const read = (file: string) => readFileSync(join(this.#folder, file), 'utf8');
    return { cert: read('new.pem'), key: read('new.key') };
  }
}
