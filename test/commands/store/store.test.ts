import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { storeFolder } from '../../../src/store/machine/folder.ts';
import type { StoreStatus } from '../../../src/store/ports/store.ts';
import { transferOrder } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { cellsIn, type How, openCommand, ranIn, runIn, typing } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T10:00:00.000Z';

let folder: StoreFolder;
let other: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
  other = newConfigFolder(temporary);
});

/** Runs a command of `psd2 store` in a store. */
const run = (words: string[], how?: How, where = folder) =>
  ranIn(openCommand(where, NOW, how), 'store', ...words);

/** Stores a transfer that is not over. @returns its local id */
async function storeTransfer(where: StoreFolder, reference: string): Promise<string> {
  const { flows } = await openCommand(where, NOW).context.store();
  const begin = { transactionId: 't', commits: 'on execute' as const, order: transferOrder({ reference }) };
  return flows.begin('transfer', begin, async ({ current }) => current.flow);
}

const flowsIn = async (where: StoreFolder) =>
  z
    .array(z.object({ flow: z.string() }))
    .parse((await ranIn(openCommand(where, NOW), 'transfer', 'list')).data)
    .map(({ flow }) => flow);

describe('psd2 store copy', () => {
  it('copies a store, which refuses workers then, and back again with what was done since', async () => {
    const first = await storeTransfer(folder, 'one');
    await storeLogin(openCommand(folder, NOW).context, '1000001');
    const { data } = await run(['copy', '--from', 'files', '--to', other.root]);
    expect(data).toMatchObject({ profiles: 1, logins: 1, flows: 1, newer: 0, isSame: true });
    expect(await flowsIn(other)).toEqual([first]);
    await expect(storeTransfer(folder, 'two')).rejects.toMatchObject({ code: 'config' });
    const second = await storeTransfer(other, 'two');
    const back = await run(['copy', '--from', other.root, '--to', 'files']);
    expect(back.data).toMatchObject({ flows: 2, isSame: true });
    expect(await flowsIn(folder)).toContain(second);
    await storeTransfer(folder, 'three');
  });

  it('what is protected in one folder is copied only to a folder that protects it, too', async () => {
    const env = { PSD2_CONFIG_PASSPHRASE: 'a word' };
    const protectIn = (where: StoreFolder) =>
      runIn(openCommand(where, NOW, { env }).context, 'profile', 'protect', 'env', '--passphrase');
    await storeLogin(openCommand(folder, NOW, { env }).context, '1000001');
    await protectIn(folder);
    const copy = () => run(['copy', '--from', 'files', '--to', other.root], { env });
    const refused = await failureOf(copy());
    expect(refused).toMatchObject({
      code: 'config',
      message: `The profile env is protected in ${folder.root}, but not in ${other.root}, where its tokens would be in clear text`,
      next: [
        ['profile', 'protect', 'env'],
        ['profile', 'add', 'env', '--protect'],
      ],
    });
    expect(existsSync(join(folder.root, 'store.json'))).toBe(false);
    await protectIn(other);
    expect((await copy()).data).toMatchObject({ logins: 1, isSame: true });
  });

  it('a person reads what was copied, and which store to use', async () => {
    await storeTransfer(folder, 'one');
    await storeLogin(openCommand(folder, NOW).context, '1000001');
    const copy = ['copy', '--from', 'files', '--to', other.root];
    const { printed, said } = await run(copy, { format: 'table' });
    const rows = cellsIn(printed);
    expect(rows.slice(2)).toEqual([
      ['Profiles', '1'],
      ['Logins', '1'],
      ['Flows', '1, with 1 events'],
      ['Counts and notes', expect.stringMatching(/^\d+$/)],
      ['Written now', expect.stringMatching(/^[1-9]\d*$/)],
      ['Compared', 'the same on both sides'],
    ]);
    const [[, from] = [], [, to] = []] = rows;
    expect([from, to]).toEqual([expect.stringContaining(folder.root), expect.stringContaining(other.root)]);
    expect(said).toContain(`Use ${to} from now on. ${from} is unchanged, and refuses workers.\n`);
  });

  it.each(['.', '..', './new', 'new/'])('the folder may be %j', async (name) => {
    const first = await storeTransfer(folder, 'one');
    const here = join(other.root, 'here');
    vi.spyOn(process, 'cwd').mockReturnValue(here);
    const { data } = await run(['copy', '--from', 'files', '--to', name]);
    vi.restoreAllMocks();
    const to = { '.': here, '..': other.root }[name] ?? join(here, 'new');
    expect(data).toMatchObject({ from: folder.root, to });
    expect(await flowsIn(storeFolder(to))).toEqual([first]);
  });

  const NAMES =
    'files, a folder, postgres (the database of PSD2_STORE), or postgres://user@host:5432/database';
  const UNSET =
    '--from postgres means the database of PSD2_STORE, but PSD2_STORE is not set, nor is the store of the profile';
  const missing = join(temporary, 'missing');
  const PASSWORD = '--from contains a password, which others can read in the list of processes';
  const NO_STORE = `--from does not name a store. Use ${NAMES}`;
  it.each<[string, string, string?]>([
    ['', NO_STORE],
    [' ', NO_STORE],
    ['nowhere', NO_STORE],
    ['...', NO_STORE],
    ['.x', NO_STORE],
    ['x.', NO_STORE],
    ['postgres', UNSET, 'Set it, or give postgres://user@host:5432/database.'],
    [missing, `There is no folder ${missing}`, 'Check --from.'],
    [import.meta.filename, `There is no folder ${import.meta.filename}`, 'Check --from.'],
    ['./missing', `There is no folder ${resolve('missing')}`, 'Check --from.'],
    ['mis\\sing', `There is no folder ${resolve('mis\\sing')}`, 'Check --from.'],
    ['postgres://a:secret@127.0.0.1/x', PASSWORD, expect.any(String)],
  ])('from %j changes nothing', async (from, message, hint) => {
    await storeTransfer(folder, 'one');
    const copy = (of: string, to: string) => failureOf(run(['copy', '--from', of, '--to', to]));
    const failure = await copy(from, other.root);
    expect(failure).toMatchObject({ message, ...(hint !== undefined && { hint }) });
    expect(failure.code).toBe(hint === 'Check --from.' ? 'config' : 'usage');
    expect(JSON.stringify(failure)).not.toContain('secret');
    expect(await flowsIn(other)).toEqual([]);
    expect((await copy('files', 'secret')).message).toBe(`--to does not name a store. Use ${NAMES}`);
    const { message: toSecret } = await copy('files', 'postgres://a:secret@127.0.0.1/x');
    expect(toSecret).toBe(PASSWORD.replace('--from', '--to'));
  });
});

describe('psd2 store rekey', () => {
  const OLD = { PSD2_CONFIG_PASSPHRASE: 'old' };
  const protect = async () => {
    await storeLogin(openCommand(folder, NOW, { env: OLD }).context, '1000001');
    const { context } = openCommand(folder, NOW, { env: OLD });
    await runIn(context, 'profile', 'protect', 'env', '--passphrase');
  };
  const opens = async (passphrase: string): Promise<boolean> => {
    const { context } = openCommand(folder, NOW, { env: { PSD2_CONFIG_PASSPHRASE: passphrase } });
    const { tokens } = await context.store();
    return tokens.read('1000001').then(
      (found) => found !== undefined,
      () => false,
    );
  };

  it('takes a blank in a passphrase as part of it, and the line break of a mounted secret as none', async () => {
    await protect();
    await run(['rekey'], { env: { ...OLD, PSD2_NEW_CONFIG_PASSPHRASE: ' new \n' } });
    expect([await opens('new'), await opens(' new '), await opens(' new \n')]).toEqual([false, true, true]);
  });

  it('changes each profile that the passphrase protects, leaves the others, and the audit log says so', async () => {
    await protect();
    const settings = { baseUrl: 'https://bank.example', clientSecret: 'hush' };
    for (const name of ['bank', 'plain'])
      await openCommand(folder, NOW).context.profiles.write(name, settings);
    const { context } = openCommand(folder, NOW, { env: OLD });
    await runIn(context, 'profile', 'protect', 'bank', '--passphrase');
    const { data } = await run(['rekey'], { env: { ...OLD, PSD2_NEW_CONFIG_PASSPHRASE: 'new' } });
    expect(data).toEqual({ place: folder.root, profiles: ['bank', 'env'], oldWorks: false });
    const env = { PSD2_CONFIG_PASSPHRASE: 'new' };
    const { profiles } = openCommand(folder, NOW, { env }).context;
    expect(await profiles.readSealed('bank')).toEqual({ clientSecret: 'hush' });
    expect(profiles.read('plain')).toEqual(settings);
    expect(await opens('new')).toBe(true);
    const changes = async (profile: string) => {
      const { data: lines } = await ranIn(openCommand(folder, NOW, { env, globals: { profile } }), 'audit');
      return z
        .array(z.object({ about: z.string() }))
        .parse(lines)
        .map(({ about }) => about);
    };
    const both = ['protection passphrase', 'passphrase'];
    expect([await changes('bank'), await changes('env'), await changes('plain')]).toEqual([both, both, []]);
  });

  it('a profile with another passphrase is said before any key changes', async () => {
    await protect();
    const other = { PSD2_CONFIG_PASSPHRASE: 'other' };
    await openCommand(folder, NOW).context.profiles.write('zoo', { baseUrl: 'https://bank.example' });
    await runIn(
      openCommand(folder, NOW, { env: other }).context,
      'profile',
      'protect',
      'zoo',
      '--passphrase',
    );
    const env = { ...OLD, PSD2_NEW_CONFIG_PASSPHRASE: 'new' };
    expect(await failureOf(run(['rekey'], { env }))).toMatchObject({
      message: 'The passphrase does not open the profile zoo',
    });
    expect([await opens('old'), await opens('new')]).toEqual([true, false]);
  });

  const rekey = (words: string[], how: How) => run(['rekey', ...words], how);
  const asking = (...answers: string[]) => {
    const { questions, operator } = typing(...answers);
    return { questions, how: { env: OLD, format: 'table', operator } as const };
  };

  it('--keep-old lets both open the keys, and the next one only the new', async () => {
    await protect();
    const { questions, how } = asking('new', 'new', 'new', 'new');
    expect(await rekey(['--keep-old'], how)).toMatchObject({
      printed: '',
      said: 'Both passphrases open env. Give all workers the new one, then run this again without --keep-old.\n',
    });
    expect((await rekey([], how)).said).toBe('Only the new passphrase opens env.\n');
    const both = ['New passphrase', 'Repeat the new passphrase'];
    expect(questions).toEqual([...both, ...both]);
  });

  it.each([
    [['one', 'two'], 'The two passphrases are different'],
    [[''], 'The passphrase is empty'],
  ])('%j is no new passphrase', async (answers, message) => {
    await protect();
    expect(await failureOf(rekey([], asking(...answers).how))).toEqual({
      ...{ code: 'usage', exitCode: 2, message, hint: 'Nothing was changed.' },
    });
  });

  it.each([undefined, '', '\n'])('without a terminal, %j is no new passphrase either', async (passphrase) => {
    await protect();
    const env = { ...OLD, PSD2_NEW_CONFIG_PASSPHRASE: passphrase };
    expect(await failureOf(rekey([], { env }))).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: 'The new passphrase is missing, and psd2 cannot ask for it without a terminal',
      hint: 'Nothing was changed. Set PSD2_NEW_CONFIG_PASSPHRASE for this command.',
    });
    expect(await opens('old')).toBe(true);
  });

  it('with nothing to protect leads to the protection of the profile', async () => {
    expect(await failureOf(rekey([], asking('new', 'new').how))).toEqual({
      ...{ code: 'config', exitCode: 3, message: 'Nothing here is protected by a passphrase' },
      hint: 'Nothing was changed. To protect a profile with a passphrase:',
      next: [['profile', 'protect', 'env', '--passphrase']],
    });
  });
});

describe('psd2 store status', () => {
  it('of an empty store has no profile, and of a folder that is not there is no error', async () => {
    expect((await run(['status'])).data).toMatchObject({ profiles: [] });
    const path = join(temporary, 'not there yet');
    const { data } = await run(['status'], {}, storeFolder(path, new AbortController().signal));
    expect(data).toMatchObject({ profiles: [] });
  });

  it('counts each profile, and a person reads it on a line of its own, at a terminal and in a pipe', async () => {
    await storeTransfer(folder, 'one');
    await storeTransfer(folder, 'two');
    await storeLogin(openCommand(folder, NOW).context, '1000001');
    const { context } = openCommand(folder, NOW);
    await context.profiles.write('bank', { baseUrl: 'https://bank.example/' });
    const bank = openCommand(folder, NOW, { globals: { profile: 'bank' } }).context;
    for (const customer of ['1000001', '1000002']) await storeLogin(bank, customer);
    const flows = [{ kind: 'transfer', state: 'created', count: 2 }];
    expect((await run(['status'])).data).toMatchObject({
      ...{ home: 'files', source: 'default', schema: null },
      profiles: [
        { profile: 'bank', customers: 2, flows: [], batches: 0 },
        { profile: 'env', customers: 1, flows, batches: 0 },
      ],
    });
    expect(cellsIn((await run(['status'], { format: 'table' })).printed)).toEqual([
      ['Store', 'files'],
      ['Place', folder.root],
      ['Set by', 'default'],
      ['Schema', ''],
      ['Size', expect.stringMatching(/^[\d.]+ kB$/)],
      ['Profiles', 'bank: 2 customers'],
      ['Profiles', 'env: 1 customer, 2 transfer created'],
      ['At work', ''],
    ]);
    const drawn = await run(['status'], { format: 'table', columns: 100 });
    expect(drawn.printed.trimEnd().split('\n').slice(-2)).toEqual([
      'Profiles  bank: 2 customers',
      '          env: 1 customer, 2 transfer created',
    ]);
  });
});

describe('psd2 store status of what a database has', () => {
  const STATUS: StoreStatus = {
    ...{ home: 'postgres', place: 'db.example:5432/bank', profiles: [], claims: [], bytes: 999_940 },
    schema: { version: 9, needed: 9 },
  };
  const claim = { profile: 'bank', until: NOW };
  const PROFILE = { profile: 'bank', customers: 1, flows: [], batches: 0 };
  /** @returns the lines that a person reads, by their titles */
  const shown = async (found: Partial<StoreStatus>, how: How = {}) => {
    const command = openCommand(folder, NOW, { format: 'table', ...how });
    const store = await command.context.wholeStore();
    vi.spyOn(store, 'status').mockResolvedValue({ ...STATUS, ...found });
    const lines = cellsIn((await ranIn(command, 'store', 'status')).printed);
    return { lines, of: (title: string) => lines.filter(([is]) => is === title).map(([, text]) => text) };
  };

  it('a person reads its kind, its claims, and that it has no profile', async () => {
    const claims = [
      { ...claim, kind: 'tokens', name: '1000001', worker: 'a.example:1' },
      { ...claim, kind: 'flow', name: 'tr-1', worker: 'b.example:2' },
    ];
    expect((await shown({ claims })).lines).toEqual([
      ['Store', 'PostgreSQL'],
      ['Place', 'db.example:5432/bank'],
      ['Set by', 'default'],
      ['Schema', '9'],
      ['Size', '999.9 kB'],
      ['Profiles', ''],
      ['At work', 'tokens 1000001: a.example:1'],
      ['At work', 'flow tr-1: b.example:2'],
    ]);
  });

  const schema = (version: number) => ({ schema: { version, needed: 9 } });
  it.each<[string, string, Partial<StoreStatus>]>([
    ['Schema', 'none: run psd2 store init', schema(0)],
    ['Schema', '8; this psd2 needs 9', schema(8)],
    ['Schema', '10; this psd2 needs 9', schema(10)],
    ['Size', '0 kB', { bytes: 0 }],
    ['Size', '1.5 kB', { bytes: 1500 }],
    ['Size', '1 MB', { bytes: 1_000_000 }],
    ['Size', '2.3 MB', { bytes: 2_340_000 }],
    ['Size', '1,234.6 MB', { bytes: 1_234_567_890 }],
    ['Profiles', 'bank: 1 customer', { profiles: [PROFILE] }],
    ['Profiles', 'bank: 1 customer, 1 batch', { profiles: [{ ...PROFILE, batches: 1 }] }],
    ['Profiles', 'bank: 1 customer, 2 batches', { profiles: [{ ...PROFILE, batches: 2 }] }],
  ])('the line %s says %j', async (title, text, found) => {
    expect((await shown(found)).of(title)).toEqual([text]);
  });

  it('PSD2_STORE has chosen the store, if it is set, else the profile that was set to one', async () => {
    const { StoreMemory } = await import('../../../src/store/machine/store-choice.ts');
    new StoreMemory(folder, 'env').replace({ home: 'files', isSet: true });
    expect((await shown({})).of('Set by')).toEqual(['the profile']);
    const env = { PSD2_STORE: 'postgres://ada@db.example/bank' };
    expect((await shown({}, { env })).of('Set by')).toEqual(['PSD2_STORE']);
  });

  it.each([
    ['fail', 'The data of the profile is elsewhere', 'The data of the profile is elsewhere\n'],
    ['ok', 'The data of the profile is here', ''],
  ] as const)('if the first check of the store says %s, it says: %j', async (status, detail, expected) => {
    const { context, said } = openCommand(folder, NOW);
    const asked: unknown[] = [];
    vi.spyOn(await context.wholeStore(), 'check').mockImplementation(async function* (profile) {
      asked.push(profile);
      yield { name: 'place', status, detail, fix: null };
      yield { name: 'rest', status: 'fail', detail: 'Something else is wrong', fix: null };
    });
    await runIn(context, 'store', 'status');
    expect([said(), asked]).toEqual([expected, ['env']]);
  });
});

it('psd2 store init of a store in files has nothing to do, and says how to use a database', async () => {
  expect(await failureOf(run(['init']))).toEqual({
    ...{ code: 'config', exitCode: 3 },
    message: 'The store is the configuration folder, which needs no preparation',
    hint: 'To use a database, set PSD2_STORE=postgres://user@host:5432/database, or the store of the profile:',
    next: [['profile', 'set', 'env', '--store', 'postgres://user@host:5432/database']],
  });
  const env = { PSD2_STORE: 'postgres://127.0.0.1:1/none' };
  expect(await failureOf(run(['init', '--keyring', '--plain-tokens'], { env }))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: '--keyring and --plain-tokens cannot be used together' },
    hint: 'Tokens in clear text need no passphrase. Leave one of them out.',
  });
});
