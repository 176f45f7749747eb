import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Block, PAGES, readPage, shellOf } from '../../docs/pages.ts';
import { sample } from '../../support/sample.ts';
import {
  type Ended,
  type Environment,
  type Operator,
  PROGRAM,
  useLoggedIn,
  useOperator,
} from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Pages that begin on a fresh computer: they start and stop their own sandbox. */
const FRESH = ['README.md', 'docs/install.md', 'docs/first-day.md', 'docs/pipelines.md'];
/** Pages for readers who have a bank's certificates and credentials. */
const WITH_BANK = ['docs/production.md', 'docs/certificates.md', 'docs/protection.md'];
/** What happened before a reader opens a page: a transfer whose outcome is unknown. */
const UNKNOWN = `
  psd2 sandbox fault add cut-before-effect --on execute --times 1 >&2
  FLOW=$(psd2 transfer --yes --from 0010482620 --to DE89370400440532013000 --name 'Ada Lovelace' --amount 7.00 \\
    --query flow --raw-output) || [ $? = 9 ]`;
const BEFORE: Record<string, string> = { 'docs/troubleshooting.md': UNKNOWN, 'docs/reliability.md': UNKNOWN };
/** This page moves the bank's time, which never goes back. */
const LAST = 'docs/sandbox-team.md';
/** Every other page with commands: its reader has a sandbox and a logged-in customer. */
const OTHERS = [
  ...PAGES.filter((page) => ![...FRESH, ...WITH_BANK, LAST].includes(page) && shellOf(page).length > 0),
  LAST,
];

/** `psd2` and `npm` of a fresh computer. npm installs nothing but psd2, and only there. */
const INSTALLED = `
  npm() (
    case $1 in
      # The tests run with what it installed.
      ci) ;;
      pack) cd "$ROOT" && command npm "$@" --pack-destination "$OLDPWD" ;;
      link) cd "$ROOT" && command npm "$@" ;;
      *) command npm "$@" ;;
    esac
  )
  # Another bank may have the port that it would take.
  psd2() { if [ "\${1-} \${2-}" = 'sandbox start' ]; then command psd2 "$@" --port 0; else command psd2 "$@"; fi; }`;

/** Runs the blocks of a page unchanged, one after the other in one shell. */
async function runBlocks(
  operator: Operator,
  blocks: Pick<Block, 'at' | 'text'>[],
  env: Environment = {},
): Promise<Ended> {
  const prefix = join(operator.folder, 'prefix');
  mkdirSync(join(prefix, 'bin'), { recursive: true });
  // A line that fails is reported with its page.
  const texts = blocks.map(({ at, text }) => `trap 'echo "failed: ${at}" >&2' ERR\n${text}`);
  const script = ['set -Eeuo pipefail', INSTALLED, ...texts].join('\n');
  const bash = await operator.startProgram('bash', ['-c', script], {
    ROOT,
    PATH: `${join(prefix, 'bin')}:${process.env.PATH}`,
    npm_config_prefix: prefix,
    npm_config_cache: join(operator.folder, 'npm-cache'),
    npm_config_ignore_scripts: 'true',
    npm_config_offline: 'true',
    npm_config_omit: 'optional',
    npm_config_update_notifier: 'false',
    ...env,
  });
  const ended = await bash.ended;
  expect(ended.code, `${ended.stdout}\n${ended.stderr}`).toBe(0);
  return ended;
}

/** Makes the same as `npm link`, without npm. */
function putOnPath(operator: Operator): void {
  const folder = join(operator.folder, 'prefix', 'bin');
  mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
  writeFileSync(join(folder, 'psd2'), script, { mode: 0o755 });
}

/** The environment of an operator who has never run psd2: nothing is set. */
const FRESH_COMPUTER = { PSD2_CONFIG_DIR: undefined, PSD2_PROFILE: undefined };

function stopAtTheEnd(operator: Operator, env: Environment): void {
  afterAll(async () => {
    await operator.psd2(['sandbox', 'stop'], { env });
  });
}

it('every page that has a test of its own has shell commands', () => {
  for (const page of [...FRESH, ...WITH_BANK]) expect(shellOf(page), page).not.toEqual([]);
});

// These tests mostly wait for their own bank.
describe.concurrent('the quick start', () => {
  const operator = useOperator();
  stopAtTheEnd(operator, FRESH_COMPUTER);

  it('the quick start leads to two settled transfers', async () => {
    const { stdout, stderr } = await runBlocks(operator, shellOf('README.md'), FRESH_COMPUTER);
    expect(stderr).toContain('The sandbox is ready.');
    expect(stdout).toMatch(/^0010482620\tIT89F0999001600000010482620\tEUR\t/m);
    expect(stdout.match(/^state\tsettled$/gm)).toHaveLength(1);
    const second = shapes.transfer.parse(
      JSON.parse(readFileSync(join(operator.folder, 'transfer.json'), 'utf8')),
    );
    expect(second).toMatchObject({ state: 'settled', reference: expect.stringMatching(/^INV-\d+$/) });
    expect(stderr).toMatch(/^The sandbox at \S+ has stopped\.$/m);
    expect(readdirSync(join(operator.home, '.config', 'psd2')).sort()).toContain('profiles');
    const pages = join(operator.folder, 'prefix/share/man');
    const man = await operator.startProgram('man', ['-M', pages, 'psd2-transfer']);
    expect((await man.ended).stdout).toMatch(/^ +psd2 transfer create \[options\]$/m);
  });
});

describe.concurrent('the page about installing', () => {
  const operator = useOperator();

  it('the page about installing installs psd2 from a clone and from a package, runs two versions, and removes both', async () => {
    const { stdout } = await runBlocks(operator, shellOf('docs/install.md'), FRESH_COMPUTER);
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(readPage('package.json')));
    expect(stdout.split('\n').filter((line) => line === version).length).toBeGreaterThan(2);
    expect(readdirSync(join(operator.folder, 'prefix', 'bin'))).toEqual([]);
  });
});

describe.concurrent('the first day', () => {
  const operator = useOperator();
  beforeAll(() => putOnPath(operator));
  stopAtTheEnd(operator, FRESH_COMPUTER);

  it('the commands of the first-day guide work as it says', async () => {
    const { stdout, stderr } = await runBlocks(operator, shellOf('docs/first-day.md'), FRESH_COMPUTER);
    expect(stdout.match(/^state\t\w+$/gim)?.map((line) => line.toLowerCase())).toEqual(
      ['confirmed', 'executed', 'settled', 'rejected'].map((state) => `state\t${state}`),
    );
    expect(stdout).toMatch(/^refused with exit code 2$/m);
    expect(stdout).toMatch(/^ended with exit code 6$/m);
    expect(stdout).toMatch(/\tauthorization \(NOT_AUTHORIZED\)\t/);
    expect(stderr).toMatch(/^The sandbox at \S+ has stopped\.$/m);
  });
});

describe.concurrent('a pipeline', () => {
  const operator = useOperator();
  const env = { PSD2_PROFILE: undefined };
  beforeAll(() => putOnPath(operator));
  stopAtTheEnd(operator, env);

  it('the commands of the pipelines guide work as it says', async () => {
    const { stdout } = await runBlocks(operator, shellOf('docs/pipelines.md'), env);
    expect(stdout).toMatch(/^paid$/m);
    const read = (file: string): unknown => JSON.parse(readFileSync(join(operator.folder, file), 'utf8'));
    expect(shapes.transfer.parse(read('transfer.json'))).toMatchObject({
      state: 'settled',
      reference: 'INV-2026-001',
    });
    expect(shapes.balance.parse(read('balance.json')).productId).toBe('0010482620');
  });
});

describe('with a bank', () => {
  const operator = useLoggedIn();
  let given: Environment = {};
  beforeAll(async () => {
    putOnPath(operator);
    given = await realBank(operator);
  });

  it('the production setup works as its guide says', async () => {
    const { stdout } = await runBlocks(operator, shellOf('docs/production.md'), given);
    expect(stdout).toMatch(/^\(request-target\): get \/private\/customers\/customerid-info$/m);
    expect(stdout).toMatch(/^0010482620\tIT89F/m);
  });

  it('certificates are inspected, checked, replaced and made as their page says', async () => {
    // The page makes keys, in the folders that it names.
    for (const folder of ['new-qwac', 'new-qseal'])
      operator.called(['cert', 'request', '--out', join(operator.folder, folder)]);
    operator.called(['cert', 'generate', '--out', join(operator.folder, 'test-certificates')]);
    const { stdout } = await runBlocks(operator, shellOf('docs/certificates.md'), given);
    expect(stdout).toContain('PSP_AI');
  });

  it('a profile is protected as its page says', async () => {
    const { stdout } = await runBlocks(operator, shellOf('docs/protection.md'), given);
    expect(stdout).toMatch(/^"passphrase"$/m);
  });

  it.each(sample(OTHERS, 3))('the commands of %s work', async (page) => {
    const before = BEFORE[page];
    const first = before === undefined ? [] : [{ at: `before ${page}`, text: before }];
    await runBlocks(operator, [...first, ...shellOf(page)]);
  });
});

/** The environment of a fresh computer whose operator has a bank's settings: those of the sandbox. */
async function realBank(operator: Operator): Promise<Environment> {
  const settings = await operator.json(z.record(z.string(), z.string()), ['sandbox', 'env']);
  const own = (name: string, content: string) => {
    const path = join(operator.ownHands, name);
    writeFileSync(path, `${content}\n`, { mode: 0o600 });
    return path;
  };
  return {
    PSD2_CONFIG_DIR: join(operator.folder, 'with-bank'),
    PSD2_PROFILE: undefined,
    BANK_URL: settings.PSD2_BASE_URL,
    CLIENT_ID: settings.PSD2_CLIENT_ID,
    SECRET_FILE: own('secret.txt', settings.PSD2_CLIENT_SECRET ?? ''),
    PASSPHRASE_FILE: own('passphrase.txt', 'correct horse battery staple'),
    APPLICATION_NAME: settings.PSD2_APP_NAME,
    QWAC_CERT: settings.PSD2_QWAC_CERT,
    QWAC_KEY: settings.PSD2_QWAC_KEY,
    QSEAL_CERT: settings.PSD2_QSEAL_CERT,
    QSEAL_KEY: settings.PSD2_QSEAL_KEY,
    // A real bank's certificate chains to an authority that the system knows.
    PSD2_CA: settings.PSD2_CA,
  };
}
