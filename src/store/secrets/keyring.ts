import { Psd2Error } from '../../errors.ts';

const SERVICE = 'psd2';

/** One entry of the system's keyring: the Secret Service on Linux, the keychain of macOS, Windows' credentials. */
export interface KeyringEntry {
  /** @returns null when there is none. @throws Psd2Error `config` when the keyring can't be used */
  read(): Promise<string | null>;
  /** @throws Psd2Error `config` when the keyring can't be used */
  write(secret: string): Promise<void>;
  /** @throws Psd2Error `config` when the keyring can't be used */
  remove(): Promise<void>;
}

/** @param signal ends waiting for a keyring that asks its owner to be opened */
export function keyringEntry(account: string, signal: AbortSignal): KeyringEntry {
  const use = async <T>(work: (entry: import('@napi-rs/keyring').AsyncEntry) => Promise<T>): Promise<T> => {
    const { AsyncEntry } = await loadKeyring();
    try {
      // Without the Secret Service the package would take the kernel's keys, which a restart forgets.
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

/** A native addon: it stays outside the bundle, and an installation may be without it. */
async function loadKeyring(): Promise<typeof import('@napi-rs/keyring')> {
  try {
    return await import('@napi-rs/keyring');
  } catch (cause) {
    throw new Psd2Error(
      'config',
      "The system's keyring cannot be used: the package @napi-rs/keyring does not load here",
      { hint: 'Install psd2-cli with its optional dependencies, on a system that the package knows.', cause },
    );
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The cause in plain words where it is the usual one, else in the keyring's own, in one line. */
function reasonOf(cause: unknown): string {
  if (process.platform === 'linux' && !process.env.DBUS_SESSION_BUS_ADDRESS)
    return 'there is no D-Bus session here (DBUS_SESSION_BUS_ADDRESS is not set)';
  return cause instanceof Error ? cause.message.replace(/\s+/g, ' ').trim() : String(cause);
}
