import { Psd2Error } from '../../errors.ts';

const SERVICE = 'psd2';

/** One entry of the system's keyring: Secret Service (Linux), Keychain (macOS) or Credential Manager (Windows). */
export interface KeyringEntry {
  /** @returns null if there is no entry. @throws Psd2Error `config` if the keyring cannot be used */
  read(): Promise<string | null>;
  /** @throws Psd2Error `config` if the keyring cannot be used */
  write(secret: string): Promise<void>;
  /** @throws Psd2Error `config` if the keyring cannot be used */
  remove(): Promise<void>;
}

/** @param signal ends the wait for a keyring that asks its owner to unlock it */
export function keyringEntry(account: string, signal: AbortSignal): KeyringEntry {
  const use = async <T>(work: (entry: import('@napi-rs/keyring').AsyncEntry) => Promise<T>): Promise<T> => {
    const { AsyncEntry } = await loadKeyring();
    try {
      // Without this option the package may use the kernel's keyring, which a restart clears.
      const entry = new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
      return await orAborted(work(entry), signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw new Psd2Error('config', `The system's keyring cannot be used: ${reasonOf(cause)}`, {
        hint: 'Open the keyring of your desktop session (on Linux: a Secret Service such as gnome-keyring or KWallet, on D-Bus).',
        cause,
      });
    }
  };
  return {
    read: () => use((entry) => entry.getPassword()),
    write: (secret) => use((entry) => entry.setPassword(secret)),
    remove: () => use((entry) => entry.deleteCredential().then(() => {})),
  };
}

/** Loads the native addon. It is outside the bundle, and an installation may lack it. */
async function loadKeyring(): Promise<typeof import('@napi-rs/keyring')> {
  try {
    return await import('@napi-rs/keyring');
  } catch (cause) {
    throw new Psd2Error(
      'config',
      "The system's keyring cannot be used: the package @napi-rs/keyring does not load here",
      {
        hint: 'Install psd2-cli with its optional dependencies, on a system that the package supports.',
        cause,
      },
    );
  }
}

/** Waits for `work`, but not longer than until the signal aborts. Its reason is thrown. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The usual cause in plain words, else the keyring's own message on one line. */
function reasonOf(cause: unknown): string {
  if (process.platform === 'linux' && !process.env.DBUS_SESSION_BUS_ADDRESS)
    return 'there is no D-Bus session here (DBUS_SESSION_BUS_ADDRESS is not set)';
  return cause instanceof Error ? cause.message.replace(/\s+/g, ' ').trim() : String(cause);
}
