import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, PROGRAM, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { tokensFile } from '../support/tokens-file.ts';

const operator = keepRunning(useLoggedIn());
let journal: string;
let resource: string;

beforeAll(async () => {
  const { flow, resourceId } = await operator.json(
    shapes.transfer,
    words`transfer create --yes --from
    0010482620 --to DE89370400440532013000 --name ${'Ada Lovelace'} --amount 1.00 --reference
    ${'invoice 1'}`,
  );
  resource = resourceId ?? '';
  journal = `flows/sandbox/${flow}.ndjson`;
  expect(await run(operator.config, ['profile', 'use', 'sandbox'])).toMatchObject({ code: 0 });
});

let copies = 0;
/** A copy of the operator's configuration folder, for a test to change its modes. */
function copyConfig(): string {
  copies += 1;
  const config = join(operator.folder, `copy-${copies}`);
  cpSync(operator.config, config, { recursive: true });
  chmodSync(config, 0o700);
  return config;
}

const run = (config: string, args: string[]) =>
  operator.psd2([...args, '--json'], { env: { PSD2_CONFIG_DIR: config, PSD2_PROFILE: undefined } });

/** Each kind of file that psd2 trusts, with a command that reads it. */
const FILES: [string, () => string, string[]][] = [
  ['the chosen profile', () => 'config.json', ['accounts', 'list']],
  ['the settings', () => 'profiles/sandbox.json', ['accounts', 'list']],
  ['the tokens', () => relative(operator.config, tokensFile(operator.config)), ['accounts', 'list']],
  ['the last login', () => 'tokens/sandbox/last-login.json', ['accounts', 'list']],
  ['a journal', () => journal, ['transfer', 'show', 'FLOW']],
  ['the index', () => 'flows/sandbox/index', ['transfer', 'show', 'RESOURCE']],
  ['where the sandbox runs', () => 'sandbox/running.json', ['sandbox', 'status']],
  ['the log of calls', () => 'log/calls.ndjson', ['log', 'list']],
];

it.each(FILES)('psd2 refuses a file that others can change: %s', async (_, nameOf, words) => {
  const args = words.map(
    (word) => ({ RESOURCE: resource, FLOW: basename(journal, '.ndjson') })[word] ?? word,
  );
  const config = copyConfig();
  const path = join(config, nameOf());
  expect(await run(config, args)).toMatchObject({ code: 0 });
  chmodSync(path, 0o666);
  const error = readError(await run(config, args));
  expect(error).toMatchObject({
    ...{ code: 'config', exitCode: 3, message: `${path} can be changed by others (mode 0666)` },
    hint: expect.stringMatching(/^Run: chmod (600|go-w) /),
  });
  execFileSync('sh', ['-c', error.hint?.replace('Run: ', '') ?? 'false']);
  expect(await run(config, args)).toMatchObject({ code: 0 });
});

/** Only root can give files away. */
describe.runIf(process.getuid?.() === 0)('a file of another user', () => {
  const NOBODY = 65_534;
  const ANOTHER = 4711;
  const give = (path: string, uid: number): void => {
    chownSync(path, uid, uid);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name), uid);
  };
  /** Node.js and psd2 where that user can read them: the clone may be in a private folder. */
  let program: [node: string, psd2: string];
  beforeAll(() => {
    const folder = join(operator.folder, 'program');
    for (const name of ['bin', 'dist', 'package.json'])
      cpSync(join(dirname(PROGRAM), '..', name), join(folder, name), { recursive: true });
    program = [join(folder, 'node'), join(folder, 'bin', basename(PROGRAM))];
    cpSync(process.execPath, program[0]);
    execFileSync('chmod', ['-R', 'a+rX', folder]);
  });
  /** Runs psd2 as an unprivileged user who owns the configuration folder. */
  const runAsNobody = async (config: string, args: string[]) => {
    const started = await operator.startProgram(
      // That user cannot read the recorder of the tests either.
      'env',
      ['--unset=NODE_OPTIONS', 'setpriv', '--reuid=65534', '--clear-groups', ...program, ...args, '--json'],
      { PSD2_CONFIG_DIR: config, PSD2_PROFILE: undefined, NODE_COMPILE_CACHE: undefined },
    );
    started.closeInput();
    return started.ended;
  };

  it.each(['config.json', 'profiles/sandbox.json', 'tokens/sandbox'])(
    'psd2 refuses what belongs to another user: %s',
    async (name) => {
      const config = copyConfig();
      give(config, NOBODY);
      expect(await runAsNobody(config, ['profile', 'list'])).toMatchObject({ code: 0 });
      const path = join(config, name);
      chownSync(path, ANOTHER, ANOTHER);
      if (name.endsWith('.json')) chmodSync(path, 0o666);
      expect(readError(await runAsNobody(config, ['profile', 'show']))).toMatchObject({
        ...{ code: 'config', exitCode: 3 },
        message: `${path} belongs to another user (${ANOTHER})`,
      });
    },
  );

  it('psd2 uses a file that root put there and that nobody else can change', async () => {
    const config = copyConfig();
    give(config, NOBODY);
    const path = join(config, 'profiles/sandbox.json');
    const content = readFileSync(path);
    rmSync(path);
    // Written again: if root copies a file, Node 26 keeps its owner.
    writeFileSync(path, content);
    chmodSync(path, 0o444);
    expect(statSync(path).uid).toBe(0);
    expect(await runAsNobody(config, ['profile', 'show', 'sandbox'])).toMatchObject({ code: 0 });
  });
});
