import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../store/temporary-folder.ts';

// Where Node.js may keep compiled code. Another Node.js than the one of the tests is played: only its answers matter here. That it keeps
// the code, and what a damaged file does, is tested with the built program (test/e2e/cli/start.test.ts).

const FILE = fileURLToPath(new URL('../../bin/compiled-code.js', import.meta.url));
const temporary = temporaryFolder();
let count = 0;
let home: string;
const cache = () => join(home, '.cache', 'psd2');

beforeEach(() => {
  count += 1;
  home = join(temporary, String(count));
  mkdirSync(home);
});

const printed = z.object({ code: z.record(z.string(), z.unknown()), enabled: z.array(z.string()) });

interface Played {
  version?: string;
  /** The folder that Node.js itself uses already. */
  begun?: string;
  /** What it answers when it is told a folder. */
  answer?: object;
}

/** @returns what the program says of its compiled code, and the folders in which Node.js was told to keep it */
function run(
  env: Record<string, string>,
  { version = '22.8.0', begun, answer = { status: 1 } }: Played = {},
  setUp = '',
) {
  const script = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
    const enabled = [];
    Object.assign(require('node:module'), {
      constants: { compileCacheStatus: { ENABLED: 1 } },
      getCompileCacheDir: () => ${JSON.stringify(begun)},
      enableCompileCache: (folder) => { enabled.push(folder); return ${JSON.stringify(answer)}; },
    });
    ${setUp}
    const { keepCompiledCode, state } = require(${JSON.stringify(FILE)});
    keepCompiledCode();
    console.log(JSON.stringify({ code: state.code, enabled }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
  expect(stderr).toBe('');
  return printed.parse(JSON.parse(stdout));
}

describe('compiled code', () => {
  it('is kept in a folder of the user that only the user can enter', () => {
    expect(run({ HOME: home })).toEqual({ code: { folder: cache() }, enabled: [cache()] });
  });

  it('is kept below XDG_CACHE_HOME if that is set', () => {
    const folder = join(home, 'psd2');
    expect(run({ HOME: '/', XDG_CACHE_HOME: home })).toEqual({ code: { folder }, enabled: [folder] });
  });

  it.each(['20.20.2', '22.7.0'])('is not kept by Node.js %s, which cannot do it', (version) => {
    expect(run({ HOME: home }, { version })).toEqual({ code: { version }, enabled: [] });
    expect(existsSync(cache())).toBe(false);
  });

  it('is not kept with NODE_DISABLE_COMPILE_CACHE', () => {
    const why = 'NODE_DISABLE_COMPILE_CACHE is set';
    expect(run({ HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual({ code: { why }, enabled: [] });
  });

  it('is not kept if Node.js says that it cannot', () => {
    const answer = { status: 0, message: 'the disk is read-only' };
    expect(run({ HOME: home }, { answer }).code).toEqual({ why: 'the disk is read-only' });
  });

  it.each([
    [0o700, false],
    [0o755, false],
    [0o720, true],
    [0o702, true],
  ])('stays where NODE_COMPILE_CACHE has it; with the mode %o others can change it: %s', (mode, isShared) => {
    const begun = join(home, 'begun');
    mkdirSync(begun);
    chmodSync(begun, mode);
    expect(run({ HOME: home }, { begun })).toEqual({ code: { folder: begun, isShared }, enabled: [] });
  });
});

describe('a folder for compiled code that cannot be trusted or used', () => {
  const spoilt: [string, () => void][] = [
    ['others can list', () => chmodSync(cache(), 0o704)],
    ['others can enter', () => chmodSync(cache(), 0o701)],
    ['the group can change', () => chmodSync(cache(), 0o720)],
  ];
  if (process.getuid?.() === 0)
    spoilt.push(['belongs to another user', () => chownSync(cache(), 1234, 1234)]);

  it.each(spoilt)('is left alone if it is one that %s', (_what, spoil) => {
    mkdirSync(cache(), { recursive: true, mode: 0o700 });
    spoil();
    const { code, enabled } = run({ HOME: home });
    expect(enabled).toEqual([]);
    expect(code.why).toContain(cache());
  });

  it('is left alone if it is a link', () => {
    mkdirSync(join(home, '.cache'));
    mkdirSync(join(home, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(home, 'elsewhere'), cache());
    const { code, enabled } = run({ HOME: home });
    expect(enabled).toEqual([]);
    expect(code.why).toContain(cache());
  });

  it('is no obstacle if there is no home folder, or it is a file', () => {
    writeFileSync(join(home, 'file'), '');
    for (const env of [{}, { HOME: join(home, 'nowhere') }, { HOME: join(home, 'file') }])
      expect(run(env)).toEqual({ code: { why: expect.any(String) }, enabled: [] });
    expect(existsSync(join(home, 'nowhere'))).toBe(false);
  });

  it('is no obstacle on a read-only disk', () => {
    const readOnly = `require('node:fs').mkdirSync = () => { throw new Error('EROFS: read-only file system'); };`;
    expect(run({ HOME: home }, {}, readOnly)).toEqual({
      code: { why: 'EROFS: read-only file system' },
      enabled: [],
    });
  });
});
