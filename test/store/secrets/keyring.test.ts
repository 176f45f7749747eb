import { describe, expect, it, vi } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { keyringEntry } from '../../../src/store/secrets/keyring.ts';
import { useKeyring, withoutKeyring } from '../system-keyring.ts';

const never = new AbortController().signal;
const hint =
  'Open the keyring of your desktop session (on Linux: a Secret Service such as gnome-keyring or KWallet, on D-Bus).';

describe("an entry of the system's keyring", () => {
  it('an entry keeps a secret under the name psd2 and its account, until it is removed', async () => {
    const entries = useKeyring();
    const [entry, other] = [keyringEntry('bank 1', never), keyringEntry('bank 2', never)];
    expect(await entry.read()).toBeNull();
    await entry.write('the secret');
    expect([...entries]).toEqual([['psd2: bank 1', 'the secret']]);
    expect(await keyringEntry('bank 1', never).read()).toBe('the secret');
    expect(await other.read()).toBeNull();
    await other.write('another');
    expect(await entry.remove()).toBeUndefined();
    expect([...entries]).toEqual([['psd2: bank 2', 'another']]);
  });

  it.each([
    ['reads', (entry: ReturnType<typeof keyringEntry>) => entry.read()],
    ['writes', (entry: ReturnType<typeof keyringEntry>) => entry.write('the secret')],
    ['removes', (entry: ReturnType<typeof keyringEntry>) => entry.remove()],
  ])('if the keyring fails while psd2 %s an entry, the error says why, on one line', async (_, use) => {
    useKeyring(() => {
      throw new Error(' The collection\n   is locked. ');
    });
    await expect(use(keyringEntry('bank 1', never))).rejects.toMatchObject({
      code: 'config',
      message: "The system's keyring cannot be used: The collection is locked.",
      hint,
      cause: new Error(' The collection\n   is locked. '),
    });
  });

  it('a reason that is not an Error is shown as it is', async () => {
    useKeyring(() => Promise.reject('locked'));
    await expect(keyringEntry('bank 1', never).read()).rejects.toMatchObject({
      message: "The system's keyring cannot be used: locked",
    });
  });

  it.runIf(process.platform === 'linux')('on Linux, without a session bus, the error says so', async () => {
    useKeyring(() => {
      throw new Error('org.freedesktop.DBus.Error.Something');
    });
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', '');
    await expect(keyringEntry('bank 1', never).read()).rejects.toMatchObject({
      message:
        "The system's keyring cannot be used: there is no D-Bus session here (DBUS_SESSION_BUS_ADDRESS is not set)",
      hint,
    });
  });

  it('on other systems, the reason is the one of the keyring', async () => {
    useKeyring(() => {
      throw new Error('The Keychain is locked');
    });
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', '');
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    const refused = keyringEntry('bank 1', never).read();
    await expect(refused).rejects.toThrow("The system's keyring cannot be used: The Keychain is locked");
    platform.mockRestore();
  });

  it('an installation without the package of the keyring says what to install', async () => {
    withoutKeyring();
    await expect(keyringEntry('bank 1', never).read()).rejects.toMatchObject({
      code: 'config',
      message: "The system's keyring cannot be used: the package @napi-rs/keyring does not load here",
      hint: 'Install psd2-cli with its optional dependencies, on a system that the package supports.',
    });
  });

  it('an operator who interrupts does not wait for a keyring that asks to be unlocked', async () => {
    const interrupt = new AbortController();
    useKeyring(() => {
      interrupt.abort(new Psd2Error('interrupted', 'Interrupted'));
      return new Promise(() => {});
    });
    await expect(keyringEntry('bank 1', interrupt.signal).read()).rejects.toMatchObject({
      code: 'interrupted',
      message: 'Interrupted',
    });
  });

  it('a keyring is not used any more after the operator interrupted, even if it would answer', async () => {
    useKeyring();
    const interrupted = AbortSignal.abort(new Psd2Error('interrupted', 'Interrupted'));
    await expect(keyringEntry('bank 1', interrupted).read()).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('a use of the keyring leaves nothing behind that waits for an interrupt', async () => {
    useKeyring();
    const { signal } = new AbortController();
    const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')];
    await keyringEntry('bank 1', signal).read();
    expect(added).toHaveBeenCalledOnce();
    expect(removed).toHaveBeenCalledWith('abort', added.mock.calls[0]?.[1]);
  });
});
