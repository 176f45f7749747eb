import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { Psd2Error } from '../../../src/errors.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { keyringEntry } from '../../../src/store/secrets/keyring.ts';
import type { Sealed } from '../../../src/store/secrets/sealed.ts';
import {
  deriveKey,
  type KeySources,
  NO_SOURCES,
  type ProfileKey,
  Vault,
} from '../../../src/store/secrets/vault.ts';
import { lacking } from '../../support/lacking.ts';
import { thrownBy } from '../../support/thrown.ts';
import { useKeyring, withoutKeyring } from '../system-keyring.ts';
import { newConfigFolder, put, temporaryFolder } from '../temporary-folder.ts';
import { heldByAnother } from '../waiting.ts';

const temporary = temporaryFolder();
const KEYRING = { kind: 'keyring' } as const;
const PASSPHRASE = { kind: 'passphrase', passphrase: 'correct horse' } as const;
const CHOICES =
  'psd2 has changed nothing. Choose a passphrase (set PSD2_CONFIG_PASSPHRASE, or add --passphrase to be asked, or --passphrase-stdin), or a keyring that can be opened here, on Linux a Secret Service such as gnome-keyring or KWallet, on D-Bus.';
const secret = z.object({ token: z.string() });
/** The file of a key, as psd2 writes it for the passphrase `correct horse`. */
const stored = {
  v: 1,
  id: 'aszt2ZDKZ-xNgA5b',
  state: 'on',
  wrappedBy: { kind: 'passphrase', scrypt: { N: 32768, r: 8, p: 3, salt: 'sbUf0TKqy6rmfP+FXPiZrg==' } },
  key: {
    v: 1,
    cipher: 'aes-256-gcm',
    nonce: 'c+YdXSVquo5YnPeK',
    tag: 'zk393WosYvhKTVXpF5jGog==',
    data: 'Z2jCGiQyDMEssmkXtELCuWMfIy6BDpvwablo/Gf2lDiQAGxcIupALw4JrUs=',
  },
};
let folder: StoreFolder;

beforeEach(() => {
  folder = newConfigFolder(temporary);
});

/** The vault as another process opens it. */
const vault = (sources?: Partial<KeySources>, profile = 'bank') =>
  new Vault(folder, profile, { ...NO_SOURCES, ...sources });
const withPassphrase = (passphrase: string | undefined) => vault({ passphrase: async () => passphrase });
const file = () => folder.protection('bank');
const text = () => readFileSync(file(), 'utf8');
async function keyOf(of: Vault): Promise<ProfileKey> {
  const key = await of.key();
  if (!key) throw new TypeError('The profile is not protected');
  return key;
}
const open = (key: ProfileKey, sealed: Sealed, place = ['here']) =>
  key.open('/a/file', place, sealed, secret);
/** Protects the profile with the keyring, and seals something. */
async function sealedByKeyring(): Promise<Sealed> {
  await vault().protect(KEYRING);
  return (await keyOf(vault())).seal(['here'], { token: 't' });
}

const failingKeyring = (reason = 'locked') => void useKeyring(() => Promise.reject(new Error(reason)));
function forgetfulKeyring(): void {
  const entries = useKeyring((asked) => asked === 'getPassword' && entries.clear());
}

const protectedBefore = (content: object = stored) => put(file(), JSON.stringify(content));

describe('a profile that is protected by the keyring', () => {
  it('what one process seals, another one opens, and only the owner can read the file of the key', async () => {
    const entries = useKeyring();
    const sealed = await sealedByKeyring();
    const key = await keyOf(vault());
    expect(key.sealsNew).toBe(true);
    expect(open(key, sealed)).toEqual({ token: 't' });
    expect(vault().kind).toBe('keyring');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const { id } = JSON.parse(text());
    expect([...entries.keys()]).toEqual([`psd2: bank ${id}`]);
    expect(Buffer.from([...entries.values()].join(), 'base64')).toHaveLength(32);
  });

  it('the file of the key and the entry of the keyring are of no use without each other', async () => {
    const entries = useKeyring();
    await sealedByKeyring();
    for (const value of entries.values()) expect(text()).not.toContain(value);
  });

  it('a profile that is not protected has no key, and asks nobody for one', async () => {
    const entries = useKeyring(() => {
      throw new TypeError('not asked');
    });
    expect(await vault().key()).toBeUndefined();
    expect(vault().kind).toBeUndefined();
    await vault().startEnding();
    await vault().forget();
    await vault().protect(undefined);
    expect(existsSync(file())).toBe(false);
    expect(entries.size).toBe(0);
  });

  it('a process asks the keyring only once', async () => {
    const on = vi.fn();
    useKeyring(on);
    await sealedByKeyring();
    on.mockClear();
    const one = vault();
    await Promise.all([one.key(), one.key()]);
    await one.key();
    expect(on.mock.calls).toEqual([['getPassword']]);
  });

  it.each([
    ['at another place', ['there'], { token: 't' }],
    ['in another form', ['here'], { secret: 't' }],
  ])('what was sealed %s does not open', async (_, place, value) => {
    useKeyring();
    await sealedByKeyring();
    const key = await keyOf(vault());
    expect(thrownBy(() => open(key, key.seal(place, value)))).toMatchObject({
      code: 'config',
      message: '/a/file is damaged: what is encrypted in it was changed, or was written for another place',
      hint: 'Restore it, or move it away: mv /a/file /a/file.damaged',
    });
  });

  it('while a protection ends, psd2 writes in clear and still reads; protecting again turns it back on', async () => {
    useKeyring();
    const sealed = await sealedByKeyring();
    await vault().startEnding();
    const ending = await keyOf(vault());
    expect(ending.sealsNew).toBe(false);
    expect(open(ending, sealed)).toEqual({ token: 't' });
    await vault().protect(undefined);
    const again = await keyOf(vault());
    expect(again.sealsNew).toBe(true);
    expect(open(again, sealed)).toEqual({ token: 't' });
  });

  it('protecting a protected profile without a choice leaves its file as it is', async () => {
    useKeyring();
    await sealedByKeyring();
    const before = statSync(file()).ino;
    await vault().protect(undefined);
    expect(statSync(file()).ino).toBe(before);
  });

  it('a protection that is forgotten leaves neither a file nor an entry', async () => {
    const entries = useKeyring();
    await sealedByKeyring();
    await vault({}, 'other').protect(KEYRING);
    await vault().forget();
    expect(existsSync(file())).toBe(false);
    expect([...entries.keys()]).toEqual([expect.stringMatching(/^psd2: other /)]);
  });
});

describe('another protection', () => {
  it('a profile that moves from the keyring to a passphrase keeps its key, and leaves no entry', async () => {
    const entries = useKeyring();
    const sealed = await sealedByKeyring();
    const moving = vault();
    await moving.protect(PASSPHRASE);
    // The process that moved it needs no passphrase again.
    expect(open(await keyOf(moving), sealed)).toEqual({ token: 't' });
    expect(entries.size).toBe(0);
    expect(vault().kind).toBe('passphrase');
    expect(open(await keyOf(withPassphrase('correct horse')), sealed)).toEqual({ token: 't' });
  });

  it('a profile that moves from a passphrase to the keyring keeps its key, and asks no more', async () => {
    const entries = useKeyring();
    await vault().protect(PASSPHRASE);
    const before = withPassphrase('correct horse');
    const sealed = (await keyOf(before)).seal(['here'], { token: 't' });
    await before.protect(KEYRING);
    expect(entries.size).toBe(1);
    expect(open(await keyOf(vault()), sealed)).toEqual({ token: 't' });
  });

  it('a profile that is protected by the keyring again keeps its entry', async () => {
    const entries = useKeyring();
    const sealed = await sealedByKeyring();
    const before = [...entries];
    await vault().protect(KEYRING);
    expect([...entries]).toEqual(before);
    expect(open(await keyOf(vault()), sealed)).toEqual({ token: 't' });
  });
});

describe('another passphrase', () => {
  const OLD = PASSPHRASE.passphrase;
  /** Which of the passphrases open what was sealed first. */
  async function opening(sealed: Sealed, ...passphrases: string[]) {
    const opens: string[] = [];
    for (const passphrase of passphrases) {
      const key = await keyOf(withPassphrase(passphrase)).catch(() => null);
      if (key && open(key, sealed)) opens.push(passphrase);
    }
    return opens;
  }

  it('opens the profile beside the old one, until the others are dropped', async () => {
    await vault().protect(PASSPHRASE);
    const sealed = (await keyOf(withPassphrase(OLD))).seal(['here'], { token: 't' });
    await expect(withPassphrase('wrong').addPassphrase('new')).rejects.toBeInstanceOf(Psd2Error);
    await expect(withPassphrase('wrong').openFor('new')).rejects.toBeInstanceOf(Psd2Error);
    expect(await withPassphrase(OLD).addPassphrase('new')).toBe(true);
    expect(await opening(sealed, OLD, 'new', 'other')).toEqual([OLD, 'new']);
    // Nobody is asked for a passphrase whose one is known.
    const unasked = vault({ passphrase: () => Promise.reject(new TypeError('not asked')) });
    const before = text();
    for (const known of [OLD, 'new']) {
      expect(await unasked.addPassphrase(known)).toBe(true);
      await unasked.openFor(known);
    }
    expect(text()).toBe(before);
    expect(await withPassphrase('new').addPassphrase('other')).toBe(true);
    await expect(unasked.dropOthers('none of them')).rejects.toThrow('has let this passphrase open');
    await unasked.dropOthers('new');
    expect(await opening(sealed, OLD, 'new', 'other')).toEqual(['new']);
    const after = text();
    await unasked.dropOthers('new');
    expect(text()).toBe(after);
  });

  it.each(['keyring', 'nothing'])('opens no profile that %s protects', async (how) => {
    useKeyring();
    if (how === 'keyring') await vault().protect(KEYRING);
    const before = existsSync(file()) ? text() : null;
    expect(await vault().addPassphrase('new')).toBe(false);
    await vault().openFor('new');
    await vault().dropOthers('new');
    expect(existsSync(file()) ? text() : null).toBe(before);
  });
});

describe('a key that is not available', () => {
  const error = (of: Vault): Promise<unknown> => of.key().catch((cause: unknown) => cause);

  it('a keyring without the entry is the wrong one, and one whose entry was changed does not open the profile', async () => {
    const entries = useKeyring();
    await sealedByKeyring();
    for (const name of entries.keys()) entries.set(name, Buffer.alloc(32).toString('base64'));
    expect(await error(vault())).toMatchObject({
      code: 'config',
      message: "The key in the system's keyring does not open the profile bank",
      hint: `Either the keyring's entry or ${file()} was changed: restore it.`,
    });
    entries.clear();
    expect(await error(vault())).toMatchObject({
      code: 'config',
      message: "The system's keyring has no key for the profile bank",
      hint: 'Use the keyring of the user who protected the profile, on the same machine.',
    });
  });

  it('a wrong passphrase does not open the profile', async () => {
    protectedBefore();
    expect(await error(withPassphrase('wrong horse'))).toMatchObject({
      code: 'config',
      message: 'The passphrase does not open the profile bank',
      hint: `Check the passphrase (PSD2_CONFIG_PASSPHRASE). If psd2 store rekey has changed it, use the new one. If it is right, ${file()} was changed: restore it.`,
    });
  });

  it.each([undefined, ''])(
    'without a passphrase (%j), the error says where to set one',
    async (passphrase) => {
      protectedBefore();
      for (const closed of [withPassphrase(passphrase), new Vault(folder, 'bank')])
        expect(await error(closed)).toMatchObject({
          code: 'config',
          message: 'The profile bank is protected by a passphrase',
          hint: 'Set PSD2_CONFIG_PASSPHRASE, or run this at a terminal to be asked.',
        });
    },
  );

  it('a keyring that cannot be used where the profile is protected by it leads to a passphrase', async () => {
    useKeyring();
    await sealedByKeyring();
    failingKeyring();
    expect(await error(vault())).toMatchObject({
      code: 'config',
      message: "The system's keyring cannot be used: locked",
      hint: 'The keyring holds the key of the profile bank. Open the keyring of your desktop session (on Linux: a Secret Service such as gnome-keyring or KWallet, on D-Bus). To use the profile without a keyring, protect it with a passphrase instead. Run this where the keyring is:',
      next: [['profile', 'protect', 'bank', '--passphrase']],
    });
  });

  it('an operator who interrupts while the keyring asks sees nothing about the keyring', async () => {
    useKeyring();
    await sealedByKeyring();
    const signal = AbortSignal.abort(new Psd2Error('interrupted', 'Interrupted'));
    const interrupted = await error(vault({ signal }));
    expect(interrupted).toMatchObject({ code: 'interrupted', context: lacking('hint', 'next') });
    const protecting = vault({ signal }, 'other').protect(KEYRING);
    await expect(protecting).rejects.toMatchObject({ code: 'interrupted', context: lacking('hint') });
    const end = new RangeError('another end');
    const other = { signal: AbortSignal.abort(end) };
    expect(await error(vault(other))).toEqual(end);
    await expect(vault(other, 'other').protect(KEYRING)).rejects.toEqual(end);
  });

  it.each<[string, () => void, string]>([
    ['is not there', withoutKeyring, 'cannot be used: the package @napi-rs/keyring does not load here'],
    ['cannot be used', () => failingKeyring(), 'cannot be used: locked'],
    ['forgets what it is given', forgetfulKeyring, 'does not return what psd2 stored in it'],
  ])(
    'a profile is not protected by a keyring that %s, and the error names the choices',
    async (_, prepare, what) => {
      prepare();
      const error = { code: 'config', message: `The system's keyring ${what}`, hint: CHOICES };
      await expect(vault().protect(KEYRING)).rejects.toMatchObject(error);
      expect(existsSync(file())).toBe(false);
    },
  );
});

describe('the file of the key', () => {
  beforeEach(() => protectedBefore());

  it('a passphrase opens the profile however its letters are composed, as RFC 7914 derives a key from it', async () => {
    const salt = Buffer.from('a salt').toString('base64');
    // From Python: hashlib.scrypt('perch\u00e9'.encode(), salt=b'a salt', n=2**15, r=8, p=3, dklen=32, maxmem=2**26).
    const key = 'b2c0530174c3ae8f3108d66b515b8727a2565131aae26b2c6855558b99285d66';
    expect((await deriveKey('perche\u0301', salt)).toString('hex')).toBe(key);
  });

  it('what was sealed once still opens', async () => {
    const key = await keyOf(withPassphrase('correct horse'));
    expect(
      open(key, {
        v: 1 as const,
        cipher: 'aes-256-gcm',
        nonce: 'FRLsVLCQRMQ6Ch7V',
        tag: 'Dml4HXBgZI2DCZktpLZ5fw==',
        data: 'bSi/Mqs8wDE/+XgNzg==',
      }),
    ).toEqual({ token: 't' });
  });

  it('psd2 waits for a process that changes the protection, and names it when the time is up', async () => {
    const lock = `${file()}.lock`;
    const time = heldByAnother(lock);
    await expect(vault().exclusively(async () => 'never')).rejects.toMatchObject({
      code: 'config',
      message: 'The protection of the profile bank is in use by another psd2: process 7 on h since now',
    });
    expect(time.seconds).toBe(201);
    rmSync(lock);
    expect(await vault().exclusively(async () => 'done')).toBe('done');
  });
});

const derivedWith = (change: object) => ({
  ...stored,
  wrappedBy: { ...stored.wrappedBy, scrypt: { ...stored.wrappedBy.scrypt, ...change } },
});
const withKey = (change: object) => ({ ...stored, key: { ...stored.key, ...change } });
/** What is wrong with a file, the field that the error names, and the content. */
const DAMAGED: [string, string, object][] = [
  ['of a later format', 'v', { ...stored, v: 2 }],
  ['in another state', 'state', { ...stored, state: 'off' }],
  ['with another kind of protection', 'wrappedBy.kind', { ...stored, wrappedBy: { kind: 'card' } }],
  ['with a faster hash', 'wrappedBy.scrypt.N', derivedWith({ N: 1024 })],
  ['with smaller blocks', 'wrappedBy.scrypt.r', derivedWith({ r: 1 })],
  ['with less work in parallel', 'wrappedBy.scrypt.p', derivedWith({ p: 1 })],
  ['without a salt', 'wrappedBy.scrypt', { ...stored, wrappedBy: { kind: 'passphrase' } }],
  ['without an id', 'id', { ...stored, id: undefined }],
  ['without a key', 'key', { ...stored, key: undefined }],
  ['with a key of a later format', 'key.v', withKey({ v: 2 })],
  ['with another cipher', 'key.cipher', withKey({ cipher: 'aes-128-gcm' })],
  ['with a short nonce', 'key.nonce', withKey({ nonce: 'AAAA' })],
  ['with a short tag', 'key.tag', withKey({ tag: 'AAAA' })],
  ['with a number for its data', 'key.data', withKey({ data: 7 })],
];
const kindOf = (content: object) => {
  protectedBefore(content);
  return vault().kind;
};

it.each(['on', 'ending'])('psd2 reads every file of a key that it has ever stored: %s', (state) => {
  expect(kindOf({ ...stored, state })).toBe('passphrase');
  expect(kindOf({ ...stored, state, wrappedBy: { kind: 'keyring' } })).toBe('keyring');
});

it.each(DAMAGED)('psd2 names the field of a file of a key that it never stored: %s', (_, where, content) => {
  const message = `${file()} is damaged: ${where} is not as psd2 wrote it`;
  expect(thrownBy(() => kindOf(content))).toMatchObject({ code: 'config', message });
});

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
    failingKeyring(' The collection\n   is locked. ');
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
    failingKeyring('org.freedesktop.DBus.Error.Something');
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', '');
    await expect(keyringEntry('bank 1', never).read()).rejects.toMatchObject({
      message:
        "The system's keyring cannot be used: there is no D-Bus session here (DBUS_SESSION_BUS_ADDRESS is not set)",
      hint,
    });
  });

  it('on other systems, the reason is the one of the keyring', async () => {
    failingKeyring('The Keychain is locked');
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
