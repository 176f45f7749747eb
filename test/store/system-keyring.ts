import { onTestFinished, vi } from 'vitest';

const PACKAGE = '@napi-rs/keyring';

/** What psd2 asked a keyring to do. The names are those of the package. */
type Asked = 'getPassword' | 'setPassword' | 'deleteCredential';

/**
 * Puts a keyring in place of the system's until the test ends.
 *
 * @param on called before each use, for example to fail or to wait
 * @returns its entries, by service and account
 */
export function useKeyring(on: (asked: Asked) => unknown = () => {}): Map<string, string> {
  const entries = new Map<string, string>();
  class AsyncEntry {
    readonly #name: string;
    constructor(service: string, account: string, options: { linux: { store: string } }) {
      // Any other store on Linux is lost when the machine restarts.
      if (options.linux.store !== 'secret-service') throw new TypeError('Not the Secret Service');
      this.#name = `${service}: ${account}`;
    }
    async getPassword(): Promise<string | null> {
      await on('getPassword');
      return entries.get(this.#name) ?? null;
    }
    async setPassword(secret: string): Promise<void> {
      await on('setPassword');
      entries.set(this.#name, secret);
    }
    async deleteCredential(): Promise<boolean> {
      await on('deleteCredential');
      return entries.delete(this.#name);
    }
  }
  replacePackage(() => ({ AsyncEntry }));
  return entries;
}

/** Lets the package of the keyring fail to load until the test ends, as where it is not installed. */
export function withoutKeyring(): void {
  replacePackage(() => {
    throw new Error('Cannot find native binding');
  });
}

function replacePackage(content: () => object): void {
  vi.doMock(PACKAGE, content);
  onTestFinished(() => {
    vi.doUnmock(PACKAGE);
    vi.unstubAllEnvs();
  });
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'unix:path=/run/user/1000/bus');
}
