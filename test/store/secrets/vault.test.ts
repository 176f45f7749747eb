import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileTokens } from '../../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { type ProfileSettings, ProfileStore } from '../../../src/store/machine/profiles.ts';
import type { Holder, StoredTokens, Tokens } from '../../../src/store/ports/tokens.ts';
import type { KeySources } from '../../../src/store/secrets/vault.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { login as tokens } from '../whole-store.ts';

const temporary = temporaryFolder();
const bank = new URL('https://bank.example/');
const PROTECTOR = { kind: 'passphrase', passphrase: 'correct horse' } as const;
const settings: ProfileSettings = {
  baseUrl: bank.href,
  clientId: 'client-1',
  clientSecret: 'secret-of-the-client',
  qwacCertificate: { pem: 'a certificate' },
  qwacKey: { pem: 'secret-of-the-qwac' },
  qsealKey: { path: '/etc/psd2/qseal-key.pem' },
};
let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

/** Opens the stores of a process whose operator knows this passphrase, or none. */
function open(passphrase: string | undefined = PROTECTOR.passphrase) {
  const sources: KeySources = { passphrase: async () => passphrase, signal: new AbortController().signal };
  const profiles = new ProfileStore(folder, () => {}, sources);
  const vault = profiles.vault('bank');
  return { profiles, vault, tokens: new FileTokens(folder, 'bank', bank, () => {}, vault) };
}

async function store(content = settings, login = tokens): Promise<void> {
  const stores = open();
  await stores.profiles.write('bank', content);
  await write(stores.tokens, '1234567', login);
  await write(stores.tokens, null, { ...login, refreshToken: null });
}

async function protect(protector: typeof PROTECTOR | undefined = PROTECTOR): Promise<void> {
  const stores = open();
  await stores.vault.protect(protector);
  await stores.profiles.rewrite('bank');
  await stores.tokens.rewrite();
  await stores.vault.settle();
}

let made: StoreFolder | undefined;
/** What a new folder has after {@link store} and {@link protect}. Each use of a passphrase takes time, so it is made once. */
async function storeProtected(): Promise<void> {
  const here = folder;
  if (made === undefined) {
    made = newConfigFolder(temporary);
    folder = made;
    await store();
    await protect();
    folder = here;
  }
  cpSync(made.root, here.root, { recursive: true });
}

/** Every file of the profile, with its content. */
const files = () =>
  Object.fromEntries(
    readdirSync(folder.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, readFileSync(path, 'utf8')]),
  );
const everything = () => Object.values(files()).join();

/** Writes the tokens of a new login. */
function write(store: Tokens, holder: Holder, login: StoredTokens): Promise<void> {
  return store.change(holder, (slot) => slot.write(login));
}

describe('a profile that is protected by a passphrase', () => {
  it('a protected profile has no secret on disk, and gives all of them to an operator with the passphrase', async () => {
    await store();
    expect(everything()).toContain('secret-refresh');
    await protect();
    expect(everything()).not.toMatch(/secret-/);
    const stores = open();
    expect({ ...stores.profiles.read('bank'), ...(await stores.profiles.readSealed('bank')) }).toMatchObject(
      settings,
    );
    expect(await stores.tokens.read('1234567')).toMatchObject(tokens);
    expect(await stores.tokens.read(null)).toMatchObject({
      accessToken: 'secret-access',
      refreshToken: null,
    });
  });

  it.each([
    ['another passphrase', 'correct horses', 'does not open the profile bank'],
    ['no passphrase', '', 'is protected by a passphrase'],
  ])(
    'with %s, psd2 gets nothing from a protected profile, and writes nothing in plain text',
    async (_what, passphrase, message) => {
      await storeProtected();
      const before = files();
      const stores = open(passphrase);
      const refusal = { code: 'config', message: expect.stringContaining(message) };
      await expect(stores.tokens.read('1234567')).rejects.toMatchObject(refusal);
      await expect(stores.profiles.readSealed('bank')).rejects.toMatchObject(refusal);
      await expect(write(stores.tokens, '7654321', tokens)).rejects.toMatchObject(refusal);
      await expect(stores.profiles.write('bank', settings)).rejects.toMatchObject(refusal);
      let begun = false;
      const spend = async () => {
        begun = true;
      };
      await expect(stores.tokens.change('1234567', spend)).rejects.toMatchObject(refusal);
      expect(begun).toBe(false);
      expect(files()).toEqual(before);
    },
  );

  it('a new passphrase does not rewrite the files', async () => {
    await storeProtected();
    const path = folder.protection('bank');
    const { [path]: _old, ...before } = files();
    await open().vault.protect({ kind: 'passphrase', passphrase: 'battery staple' });
    const { [path]: _new, ...after } = files();
    expect(after).toEqual(before);
    await expect(open().vault.key()).rejects.toMatchObject({ code: 'config' });
    expect(await open('battery staple').profiles.readSealed('bank')).toMatchObject({
      qwacKey: settings.qwacKey,
    });
  });

  it('protection waits for a refresh that began earlier, and encrypts what it wrote', async () => {
    await store();
    const [refresher, protector] = [open(''), open()];
    let rewritten: Promise<void> | undefined;
    await refresher.tokens.change('1234567', async (slot) => {
      await protector.vault.protect(PROTECTOR);
      rewritten = protector.tokens.rewrite();
      await slot.write({ ...tokens, accessToken: 'secret-late' });
    });
    await rewritten;
    await protector.profiles.rewrite('bank');
    expect(everything()).not.toMatch(/secret-/);
    expect((await open().tokens.read('1234567'))?.accessToken).toBe('secret-late');
  });

  it('after protection and its removal, a profile has the same bytes as before', async () => {
    const odd = 'Caff\u00e8 "\u{1f511}\\\n';
    const content = { ...settings, clientSecret: odd, qwacKey: { pem: odd } };
    // Tokens are visible characters only, because they go into a header.
    await store(content, { ...tokens, accessToken: '~"\\ ' });
    // Rewriting tokens writes another generation.
    const parsed = () =>
      Object.entries(files()).map(([path, text]) => {
        const { origin: _, ...rest } = JSON.parse(text);
        return [path.replace(/\d+\.json$/, 'n.json'), rest];
      });
    const before = parsed();
    // One store for all steps, because each use of a passphrase takes time.
    const stores = open();
    const rewrite = async () => {
      await stores.profiles.rewrite('bank');
      await stores.tokens.rewrite();
    };
    await stores.vault.protect(PROTECTOR);
    await rewrite();
    expect(parsed()).not.toEqual(before);
    await stores.vault.startEnding();
    await rewrite();
    await stores.vault.forget();
    expect(parsed()).toEqual(before);
  });
});

describe('encrypted data that was changed on disk', () => {
  const file = () => {
    const login = join(folder.tokens('bank'), 'customer-1234567');
    return join(login, readdirSync(login)[0] ?? '');
  };
  const change = (path: string, by: (text: string) => string) =>
    writeFileSync(path, by(readFileSync(path, 'utf8')));
  const damaged = (path: string) => ({
    code: 'config',
    message: `${path} is damaged: what is encrypted in it was changed, or was written for another place`,
  });
  beforeEach(async () => {
    await storeProtected();
  });

  it('an older file does not open in the place of a newer one', async () => {
    const older = readFileSync(file());
    await write(open().tokens, '1234567', tokens);
    writeFileSync(file(), older, { mode: 0o600 });
    await expect(open().tokens.read('1234567')).rejects.toMatchObject(damaged(file()));
    await write(open().tokens, '1234567', tokens);
    expect(await open().tokens.read('1234567')).toMatchObject(tokens);
  });

  it.each<[string, Holder, string[]]>([
    ['a customer', '1234567', ['auth', 'login']],
    ['the application', null, ['auth', 'login', '--client-credentials']],
  ])('tokens of %s in clear text are refused, and a new login replaces them', async (_, holder, next) => {
    const login = join(folder.tokens('bank'), holder === null ? 'client-credentials' : `customer-${holder}`);
    const planted = join(login, '9.json');
    writeFileSync(planted, JSON.stringify({ ...tokens, baseUrl: bank.href }), { mode: 0o600 });
    const refused = {
      code: 'config',
      message: `${planted} is not encrypted, and the profile is protected`,
      hint: expect.stringContaining('Someone without its key has written it.'),
      next: [next],
    };
    await expect(open().tokens.read(holder)).rejects.toMatchObject(refused);
    await expect(open().tokens.rewrite()).rejects.toMatchObject(refused);
    await write(open().tokens, holder, tokens);
    expect(await open().tokens.read(holder)).toMatchObject(tokens);
    expect(everything()).not.toContain('secret-');
  });

  it.each(['starting', 'ending'])('nobody without the key can say that protection is %s', async (state) => {
    change(folder.protection('bank'), (text) => text.replace('"state": "on"', `"state": "${state}"`));
    const refused = {
      code: 'config',
      message: `${folder.protection('bank')} was changed: psd2 did not write that protection is ${state}`,
      hint: 'Find out who can write to the folder, and restore the file.',
    };
    await expect(open().tokens.read('1234567')).rejects.toMatchObject(refused);
    await expect(write(open().tokens, '1234567', tokens)).rejects.toMatchObject(refused);
  });

  it('a key of another profile does not open', async () => {
    writeFileSync(folder.protection('other'), readFileSync(folder.protection('bank')), { mode: 0o600 });
    const { profiles } = open();
    await expect(profiles.vault('other').key()).rejects.toMatchObject({ code: 'config' });
  });
});
