import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as module from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PROGRAM, useOperator } from '../support/psd2.ts';

// The time to start depends on what a command loads. `npm run bench -- start` measures the time.
const dist = join(PROGRAM, '../../dist');
const recorder = fileURLToPath(new URL('../support/record-loaded.cjs', import.meta.url));
const written = new URL('../../../node_modules/.cache/psd2-chunks.json', import.meta.url);
const sourcesOfChunk = z
  .record(z.string(), z.array(z.string()))
  .parse(JSON.parse(readFileSync(written, 'utf8')));
const recorded = z.object({
  chunks: z.array(z.string()),
  ofNode: z.array(z.string()),
  platforms: z.array(z.string()),
});

const ANY_COMMAND = ['src/cli/print-at-once.ts', 'src/main.ts'];
/** Those of Node's own modules that take long to load. */
const HEAVY =
  /^NativeModule (child_process|crypto|dgram|fs\/promises|https?|net|os|readline|stream|tls|zlib)$/;

/** Whether this Node.js can keep compiled code. */
const keepsCode = 'enableCompileCache' in module;

describe('the folder of compiled code', () => {
  const operator = useOperator();
  const run = (env: Record<string, string>) =>
    execFileSync(process.execPath, [PROGRAM, 'consent', '--help'], { env, encoding: 'utf8' });
  const place = (name: string) => join(operator.folder, name);

  /** The files of compiled code below a home folder. */
  const codeIn = (home: string) => {
    const folder = join(home, '.cache', 'psd2');
    const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
    return names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  };

  it('the folder of compiled code is in the home of the user, who alone can enter it, if Node.js can keep code', () => {
    mkdirSync(place('user'));
    mkdirSync(place('shared'));
    run({ HOME: place('user'), TMPDIR: place('shared') });
    const mode = statSync(join(place('user'), '.cache', 'psd2'), { throwIfNoEntry: false })?.mode;
    expect(mode).toBe(keepsCode ? 0o40700 : undefined);
    expect(codeIn(place('user')).length > 0).toBe(keepsCode);
    expect(readdirSync(place('shared'))).toEqual([]);
  });

  it('a file of compiled code that was cut off, damaged or exchanged changes nothing that psd2 prints', () => {
    mkdirSync(place('damaged'));
    const env = { HOME: place('damaged') };
    const usual = run(env);
    const whole = codeIn(place('damaged')).map((path) => ({ path, bytes: readFileSync(path) }));
    const damages: Record<string, (bytes: Buffer, at: number) => Buffer> = {
      empty: () => Buffer.alloc(0),
      'cut off': (bytes) => bytes.subarray(0, bytes.length / 2),
      'without its last byte': (bytes) => bytes.subarray(0, -1),
      'zeros at the end': (bytes) => Buffer.concat([bytes.subarray(0, 99), Buffer.alloc(bytes.length - 99)]),
      'the code of another file': (bytes, at) => whole[(at + 1) % whole.length]?.bytes ?? bytes,
    };
    for (const [what, damage] of Object.entries(damages)) {
      for (const [at, { path, bytes }] of whole.entries()) writeFileSync(path, damage(bytes, at));
      expect(run(env), what).toBe(usual);
    }
  });

  it('psd2 does not use the folder of compiled code if others may write to it, or if it is a link', () => {
    for (const name of ['open', 'linked']) mkdirSync(join(place(name), '.cache'), { recursive: true });
    mkdirSync(join(place('open'), '.cache', 'psd2'));
    chmodSync(join(place('open'), '.cache', 'psd2'), 0o777);
    mkdirSync(place('elsewhere'));
    symlinkSync(place('elsewhere'), join(place('linked'), '.cache', 'psd2'));
    for (const name of ['open', 'linked'])
      expect(run({ HOME: place(name) })).toContain('Usage: psd2 consent');
    expect(readdirSync(join(place('open'), '.cache', 'psd2'))).toEqual([]);
    expect(readdirSync(place('elsewhere'))).toEqual([]);
  });

  it('psd2 works the same without the folder of compiled code, which needs a usable home', () => {
    writeFileSync(place('file'), '');
    for (const env of [{}, { HOME: place('nowhere') }, { HOME: place('file') }])
      expect(run({ ...env, TMPDIR: place('shared') })).toContain('Usage: psd2 consent');
    expect(existsSync(place('nowhere'))).toBe(false);
    expect(readdirSync(place('shared'))).toEqual([]);
  });
});

describe('what is loaded', () => {
  const operator = useOperator();

  function loadedBy(...words: string[]) {
    const file = join(operator.folder, `loaded by ${words.join(' ')}.json`);
    execFileSync(process.execPath, ['--require', recorder, PROGRAM, ...words], {
      env: {
        PATH: process.env.PATH,
        HOME: operator.home,
        PSD2_CONFIG_DIR: operator.config,
        LOADED_FILE: file,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { chunks, ofNode, platforms } = recorded.parse(JSON.parse(readFileSync(file, 'utf8')));
    const sources = chunks.flatMap((path) => sourcesOfChunk[relative(dist, path)] ?? []);
    return {
      sources: [...new Set(sources)].filter((source) => !source.includes(':')).sort(),
      bytes: chunks.reduce((sum, path) => sum + statSync(path).size, 0),
      platforms,
      heavy: ofNode.flatMap((name) => HEAVY.exec(name)?.[1] ?? []).sort(),
    };
  }

  const ofBank = (sources: readonly string[]) =>
    sources.filter((source) => /^src\/(bank|bank-file|flows|signature|certificates)\//.test(source));

  /** The nouns whose commands are among the sources. What they share has rooms of its own. */
  const nounsIn = (sources: readonly string[]) => {
    expect(ofBank(sources)).toEqual([]);
    const nouns = sources.flatMap((source) => /^src\/commands\/(\w+)\//.exec(source)?.[1] ?? []);
    return [...new Set(nouns)].filter((noun) => !['flow', 'open', 'shared'].includes(noun));
  };

  it('psd2 --version loads only what any command loads', () => {
    expect(loadedBy('--version')).toMatchObject({ sources: ANY_COMMAND, heavy: [] });
  });

  it('psd2 --help without a terminal loads no more: it prints a text that the build made', () => {
    expect(loadedBy('--help')).toMatchObject({ sources: ANY_COMMAND, heavy: [] });
    const print = (...words: string[]) =>
      execFileSync(process.execPath, [PROGRAM, ...words], { encoding: 'utf8' });
    expect(print('--help')).toBe(print('help'));
  });

  it('psd2 completion bash loads only the command that has the scripts', () => {
    const sources = ['src/commands/completion/completion.ts', ...ANY_COMMAND].sort();
    expect(loadedBy('completion', 'bash')).toMatchObject({ sources, heavy: [] });
  });

  it('the help of one command loads what this command needs, and nothing of the others', () => {
    const { sources, heavy } = loadedBy('consent', '--help');
    expect(nounsIn(sources)).toEqual(['consent']);
    expect(heavy).toEqual([]);
  });

  it('the help of psd2 profile loads its own files, and nothing of the bank', () => {
    for (const words of [['--help'], ['add', '--help'], ['set', '--help']]) {
      const { sources, heavy } = loadedBy('profile', ...words);
      expect(nounsIn(sources)).toEqual(['profile']);
      expect(heavy).toEqual([]);
    }
  });

  it('psd2 profile list loads nothing of the bank, no cryptography, and no streams for its output', () => {
    // Without a profile it says so on stderr.
    const profiles = join(operator.config, 'profiles');
    mkdirSync(profiles, { recursive: true, mode: 0o700 });
    writeFileSync(join(profiles, 'mybank.json'), '{"baseUrl":"https://bank.example"}', { mode: 0o600 });
    const { sources, heavy, bytes } = loadedBy('profile', 'list');
    expect(ofBank(sources)).toEqual([]);
    expect(heavy).toEqual([]);
    // zod with all of its languages adds 400 kB.
    expect(bytes).toBeLessThan(430_000);
  });

  it.each<[words: string, read: string[]]>([
    ['--help', []],
    ['profile list', []],
    ['profile add --help', []],
    ['bank show n26', ['n26']],
    ['bank show comdirect', ['comdirect', 'commerzbank', 'worldline']],
  ])('psd2 %s reads the platforms that it names, and no other: %j', (words, read) => {
    expect(loadedBy(...words.split(' ')).platforms).toEqual(read);
  });

  it('the Tab key loads nothing of the bank, no cryptography, and neither zod nor what runs a command', () => {
    const { sources, heavy, bytes } = loadedBy('__complete', 'words', 'accounts', 'balance', '');
    expect(ofBank(sources)).toEqual([]);
    expect(sources).not.toContain('zod');
    expect(heavy).toEqual([]);
    // What runs a command adds 60 kB, and zod 110 kB.
    expect(bytes).toBeLessThan(200_000);
  });
});
