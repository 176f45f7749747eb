import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RememberedStore } from '../../../src/store/machine/store-choice.ts';
import type { Init } from '../../../src/store/postgres/init.ts';
import type { How } from '../command.ts';

/** The database: its tables and keys, and what psd2 did there. Its data is in a folder. */
const database = vi.hoisted(() => {
  vi.resetModules();
  return {
    version: 0,
    isPlain: false,
    /** What opens the tokens, if it has any. */
    passphrase: undefined as string | undefined,
    fails: undefined as Error | undefined,
    did: [] as unknown[],
    /** By host. */
    folders: new Map<string, string>(),
    closed: 0,
    /** The profiles whose tokens a passphrase opens. */
    sealed: [] as string[],
  };
});
/** The keyring of this machine. */
const keyring = vi.hoisted(() => ({
  passphrase: null as string | null,
  /** What it says instead of an answer, at each use. */
  answers: [] as (Error | string | undefined)[],
}));
vi.mock(import('../../../src/store/postgres/admin.ts'), async (original) => {
  const real = await original();
  const { folderSide } = await import('../../../src/store/files/copy/side.ts');
  const { storeFolder } = await import('../../../src/store/machine/folder.ts');
  const { ProfileStore } = await import('../../../src/store/machine/profiles.ts');
  const use = async (work: () => string | null) => {
    const answer = keyring.answers.shift();
    if (answer instanceof Error) throw answer;
    const found = work();
    return answer ?? found;
  };
  vi.spyOn(real.Database.prototype, 'close').mockImplementation(async () => {
    database.closed += 1;
  });
  return {
    ...real,
    sqlFor: async ({ shown }, how: Init) => `-- ${shown} ${JSON.stringify(how)};\n\n`,
    initStore: async ({ shown }, how: Init) => {
      database.did.push({ shown, ...how });
      if (database.fails) throw database.fails;
      const before = database.version;
      database.version = 9;
      return before;
    },
    currentVersion: async () => database.version,
    storedKeys: async () => {
      const { isPlain, passphrase } = database;
      if (passphrase === undefined) return { isPlain, keys: [] };
      const sealed = { v: 1, cipher: 'aes-256-gcm', nonce: '', tag: '', data: '' } as const;
      return { isPlain, keys: [{ profile: 'bank', key: { v: 1, id: 'id', salt: '', key: sealed } }] };
    },
    opensOne: async (_, passphrase: string) => passphrase === database.passphrase,
    addPassphrase: async ({ shown }, passphrases) => {
      database.did.push({ added: shown, ...passphrases });
      if (database.fails) throw database.fails;
      return database.sealed;
    },
    dropOthers: async ({ shown }, passphrase: string) => {
      database.did.push({ dropped: shown, left: passphrase, keyring: keyring.passphrase });
      return database.sealed;
    },
    passphraseEntry: async ({ shown }) => {
      database.did.push(`the entry of ${shown}`);
      return {
        read: () => use(() => keyring.passphrase),
        write: async (secret: string) => {
          await use(() => {
            keyring.passphrase = Buffer.from(secret).toString();
            return null;
          });
        },
        remove: async () => {
          await use(() => {
            if (keyring.passphrase === null) throw new TypeError('There is no entry to remove');
            keyring.passphrase = null;
            return null;
          });
        },
      };
    },
    databaseSide: ({ shown }, sources, mayBePlain) => {
      database.did.push(`may be plain: ${mayBePlain}`);
      const root = database.folders.get(shown) ?? '';
      const folder = storeFolder(root);
      const profiles = new ProfileStore(folder, () => {}, sources);
      return { ...folderSide(folder, (profile) => profiles.vault(profile)), place: shown };
    },
  };
});
const { Psd2Error } = await import('../../../src/errors.ts');
const { markOf } = await import('../../../src/store/files/data.ts');
const { storeFolder } = await import('../../../src/store/machine/folder.ts');
const { StoreMemory } = await import('../../../src/store/machine/store-choice.ts');
const { newConfigFolder, temporaryFolder } = await import('../../store/temporary-folder.ts');
const { storeLogin } = await import('../access.ts');
const { openCommand, ranIn, runIn, typing } = await import('../command.ts');
const { storeTransfer } = await import('../customer/stored.ts');
const { failureOf } = await import('../failure.ts');
afterAll(() => vi.resetModules());

const temporary = temporaryFolder();
const NOW = '2026-03-01T10:00:00.000Z';
const ADDRESS = 'postgres://ada@db.example/bank';
const PLACE = 'db.example:5432/bank';
const ENTRY = `the entry of ${PLACE}`;
const IN_ENVIRONMENT = { PSD2_STORE: ADDRESS };

let folder = newConfigFolder(temporary);
beforeEach(() => {
  folder = newConfigFolder(temporary);
  Object.assign(database, { version: 0, isPlain: false, passphrase: undefined, fails: undefined, closed: 0 });
  database.sealed = [];
  Object.assign(keyring, { passphrase: null, answers: [] });
  database.did.length = 0;
});

/** Runs `psd2 store …`, and what it does at its end. */
async function run(words: string[], { changes, ...how }: How = {}) {
  const ends: (() => Promise<void>)[] = [];
  const onEnd = (end: () => Promise<void>) => void ends.push(end);
  const command = openCommand(folder, NOW, {
    ...how,
    changes: (world) => ({ ...changes?.(world), onEnd }),
  });
  try {
    return await ranIn(command, 'store', ...words);
  } finally {
    for (const end of ends) await end();
  }
}
const init = (words: string[], { env, ...how }: How = {}) =>
  run(['init', ...words], { env: { ...IN_ENVIRONMENT, ...env }, ...how });

describe('psd2 store init', () => {
  const KEPT = 'The passphrase of the store is now in the keyring of this machine.\n';

  it('says what the schema was and is now, also the second time', async () => {
    expect(await init([])).toMatchObject({ data: { place: PLACE, before: 0, version: 9 }, said: '' });
    database.version = 0;
    expect((await init([], { format: 'table' })).printed).toBe(
      `Database\t${PLACE}\nSchema before\tnone\nSchema\t9\n`,
    );
    expect((await init([], { format: 'table' })).printed).toContain('Schema before\t9\nSchema\t9\n');
    expect([database.did.length, database.closed]).toEqual([3, 3]);
  });

  it.each<[string[], Init]>([
    [[], { roles: false, plainTokens: false }],
    [['--roles'], { roles: true, plainTokens: false }],
    [['--plain-tokens'], { roles: false, plainTokens: true }],
    [['--roles', '--plain-tokens'], { roles: true, plainTokens: true }],
  ])('%j decides what is created, and --dry-run only prints it', async (words, how) => {
    const { said } = await init(words);
    expect(database.did.splice(0)).toEqual([{ shown: PLACE, ...how }]);
    expect(said).toBe(
      how.plainTokens
        ? 'Tokens are stored in clear text: anyone who can read the database can use them.\n'
        : '',
    );
    for (const besides of [[], ['--no-keyring']]) {
      const dry = await init(['--dry-run', ...words, ...besides]);
      expect(dry).toMatchObject({ printed: `-- ${PLACE} ${JSON.stringify(how)};\n`, said: '' });
    }
    expect([database.did, database.closed]).toEqual([[], 3]);
  });

  it('PSD2_STORE counts more than the store of the profile, which counts without it', async () => {
    const own = { shown: 'own.example:5432/own' };
    const address = 'postgres://ada@own.example/own';
    new StoreMemory(folder, 'env').replace({ home: 'postgres', id: null, ...own, address, isSet: true });
    await init([]);
    await run(['init']);
    await init([], { env: { PSD2_STORE: '' } });
    const shown = { shown: PLACE };
    expect(database.did).toMatchObject([shown, own, own]);
  });

  const RIGHT = { PSD2_CONFIG_PASSPHRASE: 'right' };
  const TWICE = ['New passphrase of the store', 'Repeat the passphrase'];
  it.each<[string, string | undefined, How, string[]]>([
    ['of the environment', undefined, { env: { PSD2_CONFIG_PASSPHRASE: 'right\n' } }, []],
    ['of the environment, which opens the tokens', 'right', { env: RIGHT }, []],
    ['of a person, twice', undefined, typing('right', 'right'), TWICE],
    ['of a person, once if it opens the tokens', 'right', typing('right'), ['Passphrase of the store']],
  ])('--keyring keeps the passphrase %s', async (_, opens, how, questions) => {
    database.passphrase = opens;
    const { said } = await init(['--keyring'], how);
    expect([said, keyring.passphrase]).toEqual([KEPT, 'right']);
    expect(database.did).toEqual([ENTRY, { shown: PLACE, roles: false, plainTokens: false }]);
    if ('questions' in how) expect(how.questions).toEqual(questions);
  });

  const UNCHANGED = 'Nothing was changed.';
  const NOBODY = {
    message: 'The passphrase is missing, and psd2 cannot ask for it without a terminal',
    hint: `${UNCHANGED} Set PSD2_CONFIG_PASSPHRASE for this command.`,
  };
  const no = (message: string) => ({ message, hint: UNCHANGED });
  it.each<[string, How, object]>([
    ['that is empty', typing(''), no('The passphrase is empty')],
    ['that is repeated in another way', typing('one', 'two'), no('The two passphrases are different')],
    ['that nobody can be asked for', { env: { PSD2_CONFIG_PASSPHRASE: '' } }, NOBODY],
  ])('--keyring keeps no passphrase %s', async (_, how, failure) => {
    keyring.passphrase = 'before';
    expect(await failureOf(init(['--keyring'], how))).toEqual({ code: 'usage', exitCode: 2, ...failure });
    expect([keyring.passphrase, database.did.slice(1), database.closed]).toEqual(['before', [], 1]);
  });

  it('--keyring keeps no passphrase that does not open the tokens, nor one of a store that needs none', async () => {
    database.passphrase = 'right';
    const env = { PSD2_CONFIG_PASSPHRASE: 'wrong' };
    expect(await failureOf(init(['--keyring'], { env }))).toEqual({
      ...{ code: 'config', exitCode: 3, message: `The passphrase does not open the tokens at ${PLACE}` },
      hint: `${UNCHANGED} Use the passphrase that the other machines have.`,
    });
    Object.assign(database, { passphrase: undefined, isPlain: true });
    expect(await failureOf(init(['--keyring'], { env }))).toEqual({
      ...{ code: 'config', exitCode: 3, message: `The store at ${PLACE} keeps tokens in clear text` },
      hint: 'There is no passphrase to keep. Leave out --keyring.',
    });
    expect([keyring.passphrase, database.did]).toEqual([null, [ENTRY]]);
    // Some of its tokens are encrypted.
    database.passphrase = 'wrong';
    await init(['--keyring'], { env });
    expect(keyring.passphrase).toBe('wrong');
  });

  const INSTEAD =
    'Nothing was changed. If this machine has no usable keyring, set PSD2_CONFIG_PASSPHRASE instead.';
  const locked = () => new Psd2Error('config', 'The keyring is locked', { hint: 'Unlock it.' });
  const asked = typing('right');
  it.each<[string, (Error | string | undefined)[]]>([
    ['at the first use', [locked()]],
    ['when it stores', [undefined, locked()]],
    ['when it reads what it stored', [undefined, undefined, locked()]],
  ])('a keyring that fails %s is an error, and nothing else is done', async (_, answers) => {
    keyring.answers = answers;
    expect(await failureOf(init(['--keyring'], { env: RIGHT, ...asked }))).toEqual({
      ...{ code: 'config', exitCode: 3, message: 'The keyring is locked', hint: INSTEAD },
    });
    expect([asked.questions, database.did]).toEqual([[], [ENTRY]]);
  });

  it.each([
    ['another fault', new TypeError('a fault of psd2')],
    ['an interruption', new Psd2Error('interrupted', 'Interrupted')],
  ])('%s of the keyring is passed on as it is', async (_, fault) => {
    keyring.answers = [fault];
    await expect(init(['--keyring'], typing('right', 'right'))).rejects.toBe(fault);
  });

  it.each([null, 'before'])(
    'a keyring that forgets, or without the tables, gets back what it had: %j',
    async (before) => {
      keyring.passphrase = before;
      keyring.answers = [undefined, undefined, 'something else'];
      expect(await failureOf(init(['--keyring'], { env: RIGHT }))).toEqual({
        ...{ code: 'config', exitCode: 3, hint: INSTEAD },
        message: "The system's keyring does not return what psd2 stored in it",
      });
      expect([keyring.passphrase, database.did]).toEqual([before, [ENTRY]]);
      database.fails = new Psd2Error('config', 'No right to create');
      await expect(init(['--keyring'], { env: RIGHT })).rejects.toBe(database.fails);
      expect(keyring.passphrase).toBe(before);
      // That it cannot be restored hides no reason.
      keyring.answers = [undefined, undefined, undefined, locked()];
      await expect(init(['--keyring'], { env: RIGHT })).rejects.toBe(database.fails);
      await expect(init([])).rejects.toBe(database.fails);
    },
  );

  it('--no-keyring removes the passphrase, and says so if there is none', async () => {
    keyring.passphrase = 'right';
    expect((await init(['--no-keyring'])).said).toBe(
      'The passphrase of the store was removed from the keyring of this machine.\n',
    );
    expect(keyring.passphrase).toBeNull();
    const { said, data } = await init(['--no-keyring', '--plain-tokens']);
    expect(said).toMatch(/^The keyring of this machine has no passphrase of the store\.\n/);
    expect(data).toEqual({ place: PLACE, before: 9, version: 9 });
    keyring.answers = [locked()];
    expect(await failureOf(init(['--no-keyring']))).toMatchObject({ message: 'The keyring is locked' });
    expect(database.did.at(-1)).toBe(`the entry of ${PLACE}`);
  });

  it('--no-keyring keeps the passphrase if the schema could not be updated', async () => {
    keyring.passphrase = 'right';
    database.fails = new Psd2Error('config', 'Not the owner');
    expect(await failureOf(init(['--no-keyring']))).toMatchObject({ message: 'Not the owner' });
    expect(keyring.passphrase).toBe('right');
  });
});

describe('psd2 store copy with a database', () => {
  const OTHER = 'postgres://ada@other.example/bank';
  const OTHER_PLACE = 'other.example:5432/bank';
  beforeEach(() => {
    database.folders.clear();
    for (const place of [PLACE, OTHER_PLACE]) database.folders.set(place, newConfigFolder(temporary).root);
  });
  const copy = (from: string, to: string, how: How = {}) =>
    run(['copy', '--from', from, '--to', to], { env: IN_ENVIRONMENT, ...how });
  const rootOf = (store: string) =>
    store === 'files' ? folder.root : (database.folders.get(store === OTHER ? OTHER_PLACE : PLACE) ?? '');
  /** Stores a payment of the profile in a store. */
  async function pay(store: string, profile = 'env') {
    const { context } = openCommand(storeFolder(rootOf(store)), NOW, { globals: { profile } });
    if (profile !== 'env') await context.profiles.write(profile, { baseUrl: 'https://bank.example/' });
    await storeTransfer(context, '1000001', 'settled');
  }
  const idOf = async (store: string) => (await markOf(rootOf(store))).id;
  const remembered = (profile = 'env') => new StoreMemory(folder, profile).read();
  const FILES = { home: 'files', isSet: false } as const;
  const inDatabase = async (address = ADDRESS, isSet = false) => ({
    ...{ home: 'postgres' as const, id: await idOf(address), address, isSet },
    shown: address === OTHER ? OTHER_PLACE : PLACE,
  });
  const remember = (store: RememberedStore) => new StoreMemory(folder, 'env').replace(store);

  it.each(['postgres', ADDRESS])('to %s: this machine remembers the database', async (to) => {
    await pay('files');
    const { data, said } = await copy('files', to);
    expect(data).toMatchObject({ from: folder.root, to: PLACE, flows: 1, isSame: true });
    expect(said).toBe(`Use ${PLACE} from now on. ${folder.root} is unchanged, and refuses workers.\n`);
    expect(remembered()).toEqual(await inDatabase());
    expect(database.closed).toBe(1);
  });

  it('a store that was set for the profile stays set, with the destination', async () => {
    await pay('files');
    remember({ home: 'files', isSet: true });
    await copy('files', 'postgres');
    expect(remembered()).toEqual(await inDatabase(ADDRESS, true));
    // The second copy finds the same, and back again leads to the files.
    await copy('files', 'postgres');
    expect(remembered()).toEqual(await inDatabase(ADDRESS, true));
    await copy('postgres', 'files');
    expect(remembered()).toEqual({ home: 'files', isSet: true });
  });

  it('the address that is remembered has no password', async () => {
    await pay('files');
    await copy('files', 'postgres', { env: { PSD2_STORE: 'postgres://ada:hush@db.example/bank' } });
    const address = 'postgres://ada@db.example:5432/bank';
    expect(remembered()).toEqual({ ...(await inDatabase()), address });
  });

  it('from one database to another: only a profile whose data was in the first follows', async () => {
    for (const profile of ['env', 'bank', 'third']) await pay(ADDRESS, profile);
    remember({ ...(await inDatabase()), shown: 'old', address: 'postgres://old/b' });
    new StoreMemory(folder, 'third').replace(FILES);
    await copy(ADDRESS, OTHER);
    const followed = [remembered(), remembered('bank'), remembered('third')];
    expect(followed).toEqual([await inDatabase(OTHER), undefined, FILES]);
  });

  it('a profile that is in another database than the two does not follow', async () => {
    await pay('files');
    await pay('files', 'bank');
    const elsewhere = { ...(await inDatabase(OTHER, true)), id: 'third' };
    remember(elsewhere);
    await copy('files', 'postgres');
    expect([remembered(), remembered('bank')]).toEqual([elsewhere, await inDatabase()]);
  });

  it('from a database to the files: a profile that is nowhere yet is in the files, one in the files stays', async () => {
    await pay(ADDRESS);
    await pay(ADDRESS, 'bank');
    new StoreMemory(folder, 'bank').replace({ home: 'files', isSet: true });
    await copy('postgres', 'files');
    expect([remembered(), remembered('bank')]).toEqual([FILES, { home: 'files', isSet: true }]);
  });

  it('another configuration folder is nothing to remember, whatever is copied', async () => {
    await pay('files');
    const other = newConfigFolder(temporary).root;
    await copy('files', other);
    expect(remembered()).toEqual(FILES);
    await copy(other, 'postgres');
    expect(remembered()).toEqual(FILES);
  });

  it('says what is newer in the destination, counts the records meanwhile, and may keep tokens in clear', async () => {
    await pay('files');
    await storeLogin(openCommand(folder, NOW).context, '1000001');
    const env = { ...IN_ENVIRONMENT, PSD2_STORE_PLAIN_TOKENS: '1' };
    await copy('files', 'postgres', { env });
    expect(database.did).toEqual(['may be plain: true']);
    await storeLogin(openCommand(storeFolder(rootOf(ADDRESS)), NOW).context, '1000001');
    const texts: (() => string)[] = [];
    const changes: How['changes'] = ({ terminal }) => ({
      terminal: {
        ...terminal,
        whileWaiting: (text, work) => {
          if (typeof text === 'function') texts.push(text);
          return work;
        },
      },
    });
    const { printed } = await copy('files', 'postgres', { format: 'table', changes });
    expect(printed).toContain(
      'Compared\tthe same on both sides, except 1 that are newer in the destination\n',
    );
    expect(texts.map((text) => text())).toEqual([expect.stringMatching(/^[1-9]\d* records$/)]);
  });
});

describe('psd2 store rekey of a database', () => {
  const NEW = { ...IN_ENVIRONMENT, PSD2_NEW_CONFIG_PASSPHRASE: 'new' };
  const rekey = (words: string[] = [], { env, ...how }: How = {}) =>
    run(['rekey', ...words], { env: { ...NEW, ...env }, ...how });
  const added = (old: string | undefined) => ({ added: PLACE, old, new: 'new' });
  const dropped = (kept: string | null) => ({ dropped: PLACE, left: 'new', keyring: kept });
  beforeEach(() => {
    database.sealed = ['other', 'bank'];
  });

  it('the old passphrase is that of the environment, and then only the new one opens the keys', async () => {
    keyring.passphrase = 'kept';
    const { data, said } = await rekey([], { env: { PSD2_CONFIG_PASSPHRASE: 'old\n' } });
    expect(data).toEqual({ place: PLACE, profiles: ['bank', 'other'], oldWorks: false });
    expect(database.did).toEqual([added('old'), dropped('kept')]);
    expect([said, keyring.passphrase, database.closed]).toEqual(['', 'kept', 1]);
  });

  it('with --keep-old, both open them, and the keyring keeps the old one', async () => {
    keyring.passphrase = 'old';
    const { printed, said } = await rekey(['--keep-old'], { format: 'table' });
    expect(said).toBe(
      'Both passphrases open bank, other. Give all workers the new one, then run this again without --keep-old.\n',
    );
    expect([printed, database.did, keyring.passphrase]).toEqual(['', [ENTRY, added('old')], 'old']);
  });

  it('the keyring of this machine, which has the old one, gets the new one before the old one ends', async () => {
    keyring.passphrase = 'old';
    const { said } = await rekey([], { format: 'table' });
    expect(database.did).toEqual([ENTRY, added('old'), ENTRY, ENTRY, dropped('new')]);
    expect(said).toBe(
      'The keyring of this machine has the new passphrase.\nOnly the new passphrase opens bank, other.\n',
    );
    // The second time there is nothing to replace.
    database.did.length = 0;
    expect((await rekey([], { format: 'table' })).said).toBe('Only the new passphrase opens bank, other.\n');
    expect(database.did).toEqual([ENTRY, added('new'), ENTRY, dropped('new')]);
  });

  it('without one in the environment and the keyring, a person is asked for the old one', async () => {
    const { questions, operator } = typing('old');
    await rekey([], { operator });
    expect(questions).toEqual(['Old passphrase of the store']);
    expect([database.did, keyring.passphrase]).toEqual([[ENTRY, added('old'), ENTRY, dropped(null)], null]);
    database.did.length = 0;
    await rekey();
    expect(database.did).toEqual([ENTRY, added(undefined), ENTRY, dropped(null)]);
  });

  it('a machine without a usable keyring has none to replace; other faults of it count', async () => {
    const locked = () => new Psd2Error('config', 'The keyring is locked');
    keyring.passphrase = 'old';
    keyring.answers = [locked(), locked()];
    await rekey();
    expect(database.did).toEqual([ENTRY, added(undefined), ENTRY, dropped('old')]);
    expect(keyring.passphrase).toBe('old');
    for (const fault of [new Psd2Error('interrupted', 'Ctrl-C'), new TypeError('a fault')]) {
      keyring.answers = [fault];
      await expect(rekey()).rejects.toBe(fault);
    }
  });

  it('profiles of this machine that the passphrase protects get the new one too, each named once', async () => {
    const env = { PSD2_CONFIG_PASSPHRASE: 'old' };
    const { context } = openCommand(folder, NOW, { env });
    for (const name of ['bank', 'own']) {
      await context.profiles.write(name, { baseUrl: 'https://bank.example/', clientSecret: 'hush' });
      await runIn(openCommand(folder, NOW, { env }).context, 'profile', 'protect', name, '--passphrase');
    }
    const { data } = await rekey([], { env });
    expect(data).toMatchObject({ profiles: ['bank', 'other', 'own'] });
    const opened = (PSD2_CONFIG_PASSPHRASE: string) =>
      openCommand(folder, NOW, { env: { PSD2_CONFIG_PASSPHRASE } }).context.profiles.readSealed('own');
    expect(await opened('new')).toEqual({ clientSecret: 'hush' });
    await expect(opened('old')).rejects.toMatchObject({ code: 'config' });
  });

  it('if the database refuses, nothing of this machine has changed', async () => {
    database.fails = new Psd2Error('config', 'Neither passphrase opens the keys');
    keyring.passphrase = 'old';
    await expect(rekey()).rejects.toBe(database.fails);
    expect([database.did, keyring.passphrase, database.closed]).toEqual([[ENTRY, added('old')], 'old', 1]);
  });
});
