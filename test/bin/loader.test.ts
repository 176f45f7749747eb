import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../store/temporary-folder.ts';

const LOADER = fileURLToPath(new URL('../../bin/loader.js', import.meta.url));
const temporary = temporaryFolder();
let count = 0;
let folder: string;
const place = (...names: string[]) => join(folder, ...names);

/** A program with its own loader. Its entry says what `late.js` says, and which files V8 had to compile. */
beforeEach(() => {
  count += 1;
  folder = join(temporary, String(count));
  mkdirSync(place('bin'), { recursive: true });
  cpSync(LOADER, place('bin', 'loader.js'));
  writeProgram('one', 'dist');
});

function writeProgram(says: string, dist: string): void {
  mkdirSync(place(dist, 'chunks'), { recursive: true });
  writeFileSync(place(dist, 'build'), `build-${says}`);
  writeModule(place(dist, 'main.js'), `exports.say = () => require('./chunks/late.js').word;`);
  writeModule(place(dist, 'chunks', 'late.js'), `exports.word = '${says}'; exports.file = __filename;`);
}

/** As the build does: a function with all that Node gives a module. */
function writeModule(path: string, text: string): void {
  writeFileSync(path, `(function (exports, require, module, __filename, __dirname) { ${text} })`);
}

/** Runs the program once. `compiled` are the files that V8 had no usable code for. */
function run(
  env: Record<string, string> = { NODE_COMPILE_CACHE: place('cache') },
  between = '',
  flags: string[] = [],
) {
  const script = `
    const { Script } = require('node:vm');
    const compiled = [];
    require('node:vm').Script = class extends Script {
      constructor(text, options) {
        super(text, options);
        if (options?.filename && (options.cachedData === undefined || this.cachedDataRejected))
          compiled.push(require('node:path').basename(options.filename));
      }
    };
    const { load, kept } = require(${JSON.stringify(place('bin', 'loader.js'))});
    const { say } = load('main.js');
    ${between}
    console.log(JSON.stringify({ said: say(), compiled, why: kept.why ?? null }));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', script], {
    env,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return z
    .object({ said: z.string(), compiled: z.array(z.string()), why: z.string().nullable() })
    .parse(JSON.parse(stdout));
}

const ALL = ['main.js', 'late.js'];
const keptFiles = (cache = place('cache')) =>
  existsSync(cache)
    ? readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.code'))
    : [];
const theFile = (name: string) => {
  const file = keptFiles().find((path) => path.endsWith(`${name}.code`));
  if (file === undefined) throw new Error(`${name} is not kept`);
  return place('cache', file);
};

describe('compiled code', () => {
  it('is used by the next process, and made once', () => {
    expect(run()).toEqual({ said: 'one', compiled: ALL, why: null });
    const before = keptFiles().map((name) => readFileSync(place('cache', name)));
    expect(before).toHaveLength(2);
    expect(run()).toEqual({ said: 'one', compiled: [], why: null });
    expect(keptFiles().map((name) => readFileSync(place('cache', name)))).toEqual(before);
  });

  it('of a file grows once by what another command runs', () => {
    const commands = ['late', 'other'].map(
      (name) =>
        `${name}: () => [1, 2, 3].map((each) => each + '${name}') && require('./chunks/${name}.js').word`,
    );
    writeModule(
      place('dist', 'main.js'),
      `const commands = { ${commands.join(', ')} }; exports.say = () => commands[process.env.COMMAND]();`,
    );
    writeModule(place('dist', 'chunks', 'other.js'), `exports.word = 'another';`);
    const runCommand = (COMMAND: string) => run({ NODE_COMPILE_CACHE: place('cache'), COMMAND });
    const size = () => statSync(theFile('main.js')).size;
    runCommand('late');
    const first = size();
    expect(runCommand('late').compiled).toEqual([]);
    expect(size()).toBe(first);
    expect(runCommand('other')).toEqual({ said: 'another', compiled: ['other.js'], why: null });
    const both = size();
    expect(both).toBeGreaterThan(first);
    for (const command of ['late', 'other']) expect(runCommand(command).compiled).toEqual([]);
    expect(size()).toBe(both);
  });

  it('is compiled again if the file was cut off anywhere, or its end is other bytes', () => {
    run();
    const whole = readFileSync(theFile('late.js'));
    for (const length of [0, 9, Math.floor(whole.length / 2), whole.length - 1]) {
      truncateSync(theFile('late.js'), length);
      expect(run(), String(length)).toEqual({ said: 'one', compiled: ['late.js'], why: null });
    }
    const zeros = Buffer.from(whole);
    zeros.fill(0, whole.length / 2);
    writeFileSync(theFile('late.js'), zeros);
    expect(run()).toEqual({ said: 'one', compiled: ['late.js'], why: null });
  });

  it('of two builds side by side is not mixed up, even if their files have the same length', () => {
    expect(run().said).toBe('one');
    renameSync(place('dist'), place('old'));
    writeProgram('two', 'dist');
    expect(run()).toEqual({ said: 'two', compiled: ALL, why: null });
    expect(run()).toEqual({ said: 'two', compiled: [], why: null });
    renameSync(place('dist'), place('new'));
    renameSync(place('old'), place('dist'));
    expect(run()).toEqual({ said: 'one', compiled: [], why: null });
  });

  it('of a program that was replaced while it ran is not kept under the name of the old one', () => {
    writeProgram('two', 'next');
    const replace = `
      const { renameSync } = require('node:fs');
      renameSync(${JSON.stringify(place('dist'))}, ${JSON.stringify(place('old'))});
      renameSync(${JSON.stringify(place('next'))}, ${JSON.stringify(place('dist'))});`;
    expect(run(undefined, replace).said).toBe('two');
    expect(keptFiles()).toEqual([]);
  });

  it('is not kept by a process that has changed flags of V8', () => {
    const change = `require('node:v8').setFlagsFromString('--semi-space-growth-factor=5');`;
    run(undefined, change);
    expect(keptFiles()).toEqual([]);
    run();
    const before = keptFiles().map((name) => readFileSync(place('cache', name)));
    expect(run(undefined, change).said).toBe('one');
    expect(keptFiles().map((name) => readFileSync(place('cache', name)))).toEqual(before);
    expect(run().compiled).toEqual([]);
  });

  it('of another version or architecture of Node lies beside it', () => {
    run();
    for (const name of ['version', 'arch']) {
      const change = ['--require', place(`${name}.cjs`)];
      writeFileSync(place(`${name}.cjs`), `Object.defineProperty(process, '${name}', { value: 'other' });`);
      expect(run(undefined, '', change).compiled, name).toEqual(ALL);
    }
    expect(run().compiled).toEqual([]);
    expect(readdirSync(place('cache'))).toHaveLength(3);
  });

  it('of other flags of Node lies beside it', () => {
    run();
    expect(run(undefined, '', ['--max-lazy']).said).toBe('one');
    expect(run(undefined, '', ['--max-lazy']).compiled).toEqual([]);
    expect(run().compiled).toEqual([]);
  });
});

describe('a folder that cannot be trusted or used', () => {
  const NOTHING = { said: 'one', compiled: ALL };

  const spoilt: [string, () => void][] = [
    ['can be changed by its group', () => chmodSync(place('cache'), 0o770)],
    ['can be changed by all users', () => chmodSync(place('cache'), 0o757)],
    [
      'has a folder for this build that others can change',
      () => chmodSync(place('cache', ...readdirSync(place('cache'))), 0o707),
    ],
    [
      'is a link',
      () => {
        renameSync(place('cache'), place('elsewhere'));
        symlinkSync(place('elsewhere'), place('cache'));
      },
    ],
  ];
  if (process.getuid?.() === 0)
    spoilt.push(['belongs to another user', () => chownSync(place('cache'), 1234, 1234)]);

  it.each(spoilt)('is left alone if it %s', (_what, spoil) => {
    run();
    writeFileSync(theFile('late.js'), 'what another user has put there');
    spoil();
    const found = run();
    expect(found).toMatchObject(NOTHING);
    expect(found.why).toContain(place('cache'));
    expect(readFileSync(theFile('late.js'), 'utf8')).toBe('what another user has put there');
  });

  it('is no obstacle if it is a file, or not there', () => {
    writeFileSync(place('file'), '');
    for (const env of [{ NODE_COMPILE_CACHE: place('file') }, { HOME: place('nowhere') }, {}]) {
      const found = run(env);
      expect(found).toMatchObject(NOTHING);
      expect(found.why).not.toBeNull();
    }
    expect(existsSync(place('nowhere'))).toBe(false);
  });

  it('on a read-only disk is used, and nothing more is kept', () => {
    run();
    const script = readOnly(`load('main.js').say();`);
    rmSync(theFile('late.js'));
    const names = readdirSync(place('cache'), { recursive: true, encoding: 'utf8' });
    execFileSync(process.execPath, ['-e', script], { env: { NODE_COMPILE_CACHE: place('cache') } });
    expect(readdirSync(place('cache'), { recursive: true, encoding: 'utf8' })).toEqual(names);
    const why = execFileSync(
      process.execPath,
      ['-e', readOnly('console.log(kept.why); load("main.js").say()')],
      {
        env: { NODE_COMPILE_CACHE: place('none') },
        encoding: 'utf8',
      },
    );
    expect(why).toContain('EROFS');
  });

  it('is not used with NODE_DISABLE_COMPILE_CACHE', () => {
    const found = run({ NODE_COMPILE_CACHE: place('cache'), NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(found).toEqual({ ...NOTHING, why: 'NODE_DISABLE_COMPILE_CACHE is set' });
    expect(keptFiles()).toEqual([]);
  });

  it('on a full disk is left without a file that is not finished', () => {
    const cache = place('cache');
    const full = `
      const fs = require('node:fs');
      const { writeFileSync } = fs;
      fs.writeFileSync = (path, bytes, how) => {
        writeFileSync(path, bytes.subarray(0, 9), how);
        throw new Error('ENOSPC');
      };`;
    // The loader takes what it needs of node:fs when it starts.
    const script = `${full} require(${JSON.stringify(place('bin', 'loader.js'))}).load('main.js').say();`;
    execFileSync(process.execPath, ['-e', script], { env: { NODE_COMPILE_CACHE: cache } });
    const names = readdirSync(cache, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.includes('.code'))).toEqual([]);
    expect(run()).toEqual({ ...NOTHING, why: null });
  });
});

/** A script that runs the program where nothing can be written. */
function readOnly(then: string): string {
  return `
    const fs = require('node:fs');
    fs.writeFileSync = fs.mkdirSync = () => { throw new Error('EROFS: read-only file system'); };
    const { load, kept } = require(${JSON.stringify(place('bin', 'loader.js'))});
    ${then}`;
}

it('a file that is missing gives the error that Node gives, and names who asks for it', () => {
  const script = `
    const { load } = require(${JSON.stringify(place('bin', 'loader.js'))});
    const { say } = load('main.js');
    require('node:fs').rmSync(${JSON.stringify(place('dist', 'chunks', 'late.js'))});
    try { say(); } catch ({ code, message, requireStack }) { console.log(JSON.stringify({ code, message, requireStack })); }`;
  const said: unknown = JSON.parse(
    execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env: {} }),
  );
  expect(said).toEqual({
    code: 'MODULE_NOT_FOUND',
    message: `Cannot find module '${place('dist', 'chunks', 'late.js')}'`,
    requireStack: [place('dist', 'main.js')],
  });
});
