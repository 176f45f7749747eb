import { chmodSync, chownSync, mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { faultOf, refuseShared } from '../../../src/store/disk/permissions.ts';
import { checkStore, inspectStore, storeFolder } from '../../../src/store/machine/folder.ts';
import { readKeyFile } from '../../../src/store/machine/key-file.ts';
import { checkBankFile } from '../../bank-file/described.ts';
import { thrownBy } from '../../support/thrown.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const temporary = temporaryFolder();
let warnings: string[];
const warn = (text: string) => warnings.push(text);

beforeEach(() => {
  warnings = [];
});

it('a configuration folder is used if it belongs to the user or does not exist yet', () => {
  const folder = storeFolder(join(temporary, 'own'));
  checkStore(folder, warn);
  mkdirSync(folder.root);
  checkStore(folder, warn);
  expect(warnings).toEqual([]);
});

it('a configuration folder that belongs to another user is refused', () => {
  expect(thrownBy(() => checkStore(storeFolder('/usr'), warn, 65534))).toMatchObject({
    code: 'config',
    message: 'The configuration folder /usr belongs to root',
    hint: expect.stringContaining('PSD2_CONFIG_DIR'),
  });
});

it('root uses the configuration folder of another user, with a warning', () => {
  const folder = storeFolder(join(temporary, 'of-another'));
  mkdirSync(folder.root);
  if (process.getuid?.() === 0) chownSync(folder.root, 12345, 12345);
  checkStore(folder, warn, 0);
  expect(warnings).toEqual([
    `The configuration folder ${folder.root} belongs to another user (${statSync(folder.root).uid}), and psd2 runs as root. That user cannot read what psd2 writes there.`,
  ]);
});

it('all places of the store are below one root', () => {
  const { forgotten: _forgotten, interrupted, ...folder } = storeFolder('/somewhere');
  const places = Object.entries(folder).map(([name, place]) => [
    name,
    typeof place === 'string' ? place : place('bank'),
  ]);
  expect(Object.fromEntries(places)).toEqual({
    root: '/somewhere',
    config: '/somewhere/config.json',
    sandbox: '/somewhere/sandbox',
    profiles: '/somewhere/profiles',
    profile: '/somewhere/profiles/bank.json',
    checkedBank: '/somewhere/banks/bank.json',
    protection: '/somewhere/protection/bank.json',
    tokens: '/somewhere/tokens/bank',
    flows: '/somewhere/flows/bank',
    audit: '/somewhere/audit/bank.ndjson',
    syncFolders: '/somewhere/sync-folders/bank.json',
    log: '/somewhere/log',
    smoke: '/somewhere/log/smoke/bank',
    learning: '/somewhere/log/learn/bank',
    shapes: '/somewhere/log/shapes/bank.json',
    stats: '/somewhere/log/stats.ndjson',
  });
  expect(interrupted).toBeUndefined();
  const { signal } = new AbortController();
  expect(storeFolder('/somewhere', signal).interrupted).toBe(signal);
});

it('a name that no profile can have leads to no other folder', () => {
  const { smoke, learning, shapes } = storeFolder('/somewhere');
  expect([smoke('../a b'), learning('a.b/'), shapes('A-1_é')]).toEqual([
    '/somewhere/log/smoke/%2e%2e%2fa%20b',
    '/somewhere/log/learn/a%2eb%2f',
    '/somewhere/log/shapes/A-1_%e9.json',
  ]);
});

it('a user without a home folder must name a folder', () => {
  vi.spyOn(os, 'homedir').mockImplementation(() => {
    throw new Error('no such user');
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  expect(thrownBy(() => storeFolder(undefined))).toMatchObject({
    code: 'config',
    message: 'This user has no home folder, so psd2 has no configuration folder',
    hint: 'Set PSD2_CONFIG_DIR to a folder that only this user can write to, or set HOME.',
  });
  expect(storeFolder('/somewhere').root).toBe('/somewhere');
});

it('a configuration folder that cannot be reached, or is of a third user, is refused', () => {
  const file = join(temporary, 'a-file');
  writeFileSync(file, '');
  expect(thrownBy(() => checkStore(storeFolder(join(file, 'psd2')), warn))).toMatchObject({
    code: 'config',
    message: expect.stringContaining(`The configuration folder ${join(file, 'psd2')} cannot be used: `),
    hint: 'Check who owns the folders above it, or set PSD2_CONFIG_DIR.',
  });
  const { root } = storeFolder(mkdtempSync(join(temporary, 'third-')));
  if (process.getuid?.() === 0) chownSync(root, 12345, 12345);
  const { uid } = statSync(root);
  expect(thrownBy(() => checkStore(storeFolder(root), warn, uid + 1))).toMatchObject({
    message: `The configuration folder ${root} belongs to another user (${uid})`,
    hint: 'Let that user run psd2, or set PSD2_CONFIG_DIR to a folder of your own.',
  });
  expect(warnings).toEqual([]);
});

it('an inspection finds files that others read or change, and folders that they list', () => {
  const folder = storeFolder(mkdtempSync(join(temporary, 'inspected-')));
  const place = (mode: number, ...names: string[]) => {
    const path = join(folder.root, ...names);
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(path, '');
    chmodSync(path, mode);
    return path;
  };
  const [secret, inner] = [place(0o644, 'config.json'), place(0o640, 'log', 'smoke', 'bank')];
  const changed = place(0o666, 'log', 'calls.ndjson');
  for (const [mode, ...names] of [
    [0o600, 'profiles', 'bank.json'],
    [0o644, 'log', 'stats.ndjson'],
  ] as const)
    place(mode, ...names);
  const listed = join(folder.root, 'tokens');
  mkdirSync(listed);
  chmodSync(listed, 0o755);
  symlinkSync('/', join(folder.root, 'a-link'));
  const { faults, listable } = inspectStore(folder);
  expect(faults.map(({ message }) => message).toSorted()).toEqual(
    [
      `${secret} can be read by others (mode 0644)`,
      `${inner} can be read by others (mode 0640)`,
      `${changed} can be changed by others (mode 0666)`,
    ].toSorted(),
  );
  expect(listable).toEqual([listed]);
  const none = storeFolder(join(temporary, 'of-nobody'));
  expect(inspectStore(none)).toEqual({ faults: [], listable: [] });
});

it('an inspection looks at the log wherever it is, and at the configuration', () => {
  const { root } = storeFolder(mkdtempSync(join(temporary, 'configuration-')));
  const log = mkdtempSync(join(temporary, 'state-'));
  const files = [join(root, 'config.json'), join(log, 'calls.ndjson'), join(log, 'smoke', 'bank')];
  mkdirSync(join(log, 'smoke'), { mode: 0o700 });
  for (const path of files) {
    writeFileSync(path, '');
    chmodSync(path, 0o666);
  }
  chmodSync(log, 0o755);
  const { faults, listable } = inspectStore({ ...storeFolder(root), log });
  expect(faults.map(({ message }) => message).toSorted()).toEqual(
    files.map((path) => `${path} can be changed by others (mode 0666)`).toSorted(),
  );
  expect(listable).toEqual([log]);
});

it('without a configured folder, the log is with the state of the user, and the rest with their configuration', () => {
  vi.stubEnv('XDG_CONFIG_HOME', '/configuration');
  vi.stubEnv('XDG_STATE_HOME', '/state');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(storeFolder(undefined)).toMatchObject({
    ...{ root: '/configuration/psd2', profiles: '/configuration/psd2/profiles' },
    ...{ log: '/state/psd2', stats: '/state/psd2/stats.ndjson' },
  });
  expect(storeFolder('').root).toBe('/configuration/psd2');
});

describe('file permissions, judged as ssh judges them', () => {
  const SELF = process.getuid?.() ?? 0;
  const stats = (mode: number, uid = SELF) => ({ uid, mode });

  it.each([
    ['folder', 0o700],
    ['folder', 0o755],
    ['secret', 0o600],
    ['secret', 0o400],
    ['public', 0o644],
  ] as const)('a path judged as %s, with the mode %i (decimal), is used', (judged, mode) => {
    expect(faultOf('/some/where', stats(mode), judged)).toBeUndefined();
  });

  it.each([
    ['folder', 0o777, 'changed', '0777', 'chmod 700'],
    ['folder', 0o770, 'changed', '0770', 'chmod 700'],
    ['folder', 0o1777, 'changed', '0777', 'chmod 700'],
    ['secret', 0o666, 'changed', '0666', 'chmod 600'],
    ['secret', 0o602, 'changed', '0602', 'chmod 600'],
    ['secret', 0o640, 'read', '0640', 'chmod 600'],
    ['public', 0o664, 'changed', '0664', 'chmod go-w'],
  ] as const)(
    'a path judged as %s, with the mode %i (decimal), is refused',
    (judged, mode, what, octal, chmod) => {
      expect(faultOf("/it's/here", stats(mode), judged)).toMatchObject({
        code: 'config',
        message: `/it's/here can be ${what} by others (mode ${octal})`,
        hint: `Run: ${chmod} '/it'\\''s/here'`,
      });
    },
  );

  it('a file of root is used, and root decides who may read it', () => {
    expect(faultOf('/some/secret', stats(0o440, 0), 'secret', 1000)).toBeUndefined();
    expect(faultOf('/some/secret', stats(0o664, 0), 'secret', 1000)).toMatchObject({
      message: '/some/secret can be changed by others (mode 0664)',
    });
  });

  it.each([
    ['of another user', stats(0o600, 4711), 'belongs to another user (4711)'],
    ['of root', stats(0o600, 0), 'belongs to another user (0)'],
    ['that others read', stats(0o604, 1000), 'can be read by others (mode 0604)'],
    ['of its own', stats(0o600, 1000), undefined],
  ])('psd2 writes secrets into no file %s', (_, judged, fault) => {
    const refused = () => refuseShared('/some/links', judged, 1000);
    if (fault === undefined) expect(refused).not.toThrow();
    else expect(refused).toThrow(`/some/links ${fault}`);
  });

  it('not even root writes secrets into a file of another user', () => {
    expect(() => refuseShared('/some/links', stats(0o600, 1000), 0)).toThrow('belongs to another user');
  });

  it('a file of another user is refused, with the command that makes it safe', () => {
    expect(faultOf('/some/secret', stats(0o666, 4711), 'secret', 1000)).toMatchObject({
      code: 'config',
      message: '/some/secret belongs to another user (4711)',
      hint: 'If you trust its content, run: sudo chown 1000 /some/secret && chmod 600 /some/secret',
    });
    expect(faultOf('/some/ca.pem', stats(0o644, 4711), 'public', 1000)?.hint).toBe(
      'If you trust its content, run: sudo chown 1000 /some/ca.pem',
    );
  });

  it('root uses the files of the user in whose folder they are, and of nobody else', () => {
    const home = join(temporary, 'home');
    mkdirSync(home);
    if (SELF === 0) chownSync(home, 4711, 4711);
    const { uid } = statSync(home);
    expect(faultOf(join(home, 'secret'), stats(0o600, uid), 'secret', 0)).toBeUndefined();
    expect(faultOf(join(home, 'secret'), stats(0o644, uid), 'secret', 0)?.message).toContain('can be read');
    expect(faultOf(join(home, 'secret'), stats(0o600, 815), 'secret', 0)?.hint).toBe(
      `If you trust its content, run: chown 0 ${join(home, 'secret')}`,
    );
  });

  const TOP = '. profiles protection tokens flows stores sandbox log'.split(' ');
  const BELOW = 'tokens/bank/client-credentials-calls flows/bank/open flows/bank/references'.split(' ');
  it.each([...TOP, ...BELOW, 'tokens/bank', 'flows/bank', 'stores/copies', 'sandbox/certificates'])(
    'psd2 refuses a folder of the store that others can write to: %s',
    (name) => {
      const folder = storeFolder(mkdtempSync(join(temporary, 'store-')));
      const path = join(folder.root, name);
      mkdirSync(path, { recursive: true });
      checkStore(folder, warn);
      expect(inspectStore(folder).faults).toEqual([]);
      chmodSync(path, 0o777);
      expect(() => checkStore(folder, warn)).toThrow(`${path} can be changed by others (mode 0777)`);
      expect(inspectStore(folder).faults.map(({ message }) => message)).toEqual([
        `${path} can be changed by others (mode 0777)`,
      ]);
      expect(warnings).toEqual([]);
    },
  );
});

const newFolder = () => mkdtempSync(join(temporary, 'row-'));
const LEAST = { interface: 'nextgenpsd2' };

/** Something that another user can do to a file that psd2 reads. */
interface Row {
  file?: number;
  folder?: number;
  /** The mode of the folder with a link to the file; undefined: the file itself is read. */
  linkFolder?: number;
  fault: RegExp | undefined;
}

const CHANGED_FILE = /bank\.json can be changed by others \(mode 06\d\d\)/;
const CHANGED_FOLDER = /place can be changed by others \(mode 07\d\d\)/;
const ROWS: Row[] = [
  { file: 0o644, folder: 0o755, fault: undefined },
  { file: 0o666, fault: CHANGED_FILE },
  { file: 0o664, fault: CHANGED_FILE },
  { folder: 0o777, fault: CHANGED_FOLDER },
  { folder: 0o775, fault: CHANGED_FOLDER },
  { folder: 0o1777, fault: undefined },
  { linkFolder: 0o700, fault: undefined },
  { linkFolder: 0o777, fault: /links can be changed by others \(mode 0777\)/ },
  { linkFolder: 0o700, folder: 0o777, fault: CHANGED_FOLDER },
  { linkFolder: 0o700, file: 0o666, fault: CHANGED_FILE },
];

/** A file as the row says. @returns the path that psd2 reads */
function placed({ file = 0o600, folder = 0o700, linkFolder }: Row): string {
  const place = join(newFolder(), 'place');
  mkdirSync(place);
  const path = join(place, 'bank.json');
  writeFileSync(path, JSON.stringify(LEAST));
  chmodSync(path, file);
  chmodSync(place, folder);
  if (linkFolder === undefined) return path;
  const links = join(newFolder(), 'links');
  mkdirSync(links);
  symlinkSync(path, join(links, 'bank.json'));
  chmodSync(links, linkFolder);
  return join(links, 'bank.json');
}

describe('a file that says where secrets go', () => {
  it.each(ROWS)('may not be another user to change: %j', async (row) => {
    const path = placed(row);
    const { problems } = await checkBankFile(path);
    const wanted = row.fault ? [{ path: '', message: expect.stringMatching(row.fault) }] : [];
    expect(problems).toEqual(wanted);
    expect(problems.every(({ message }) => /\. Run: chmod go-w \S+$/.test(message))).toBe(true);
    const read = () => readKeyFile(path, 'CA bundle', 'public').toString();
    if (row.fault) expect(read).toThrow(row.fault);
    else expect(read()).toBe(JSON.stringify(LEAST));
  });

  it('may not be another user to change where another file extends it', async () => {
    const below = placed({ file: 0o666, fault: CHANGED_FILE });
    const own = join(below, '..', 'own.json');
    writeFileSync(own, JSON.stringify({ ...LEAST, extends: 'bank.json' }), { mode: 0o600 });
    expect((await checkBankFile(own)).problems).toEqual([
      { path: 'extends', message: expect.stringMatching(CHANGED_FILE) },
    ]);
  });

  // Only root can give a file away.
  it.runIf(process.getuid?.() === 0)('may not be of another user than that of its folder', async () => {
    const path = placed({ fault: undefined });
    chownSync(path, 65_534, statSync(path).gid);
    expect((await checkBankFile(path)).problems).toEqual([
      { path: '', message: expect.stringContaining('belongs to another user (65534)') },
    ]);
  });
});
