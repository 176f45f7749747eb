import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Environment, type Operator, useOperator, useSandbox } from './psd2.ts';
import * as shapes from './shapes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Block {
  heading: string;
  text: string;
}

/** The shell commands of a page, each block with the heading that it stands under. */
function blocksIn(page: string): Block[] {
  const found: Block[] = [];
  let heading = '';
  for (const [, title, text] of readText(page).matchAll(/^#{1,6} ([^\n]*)$|^```sh\n(.*?)^```$/gms)) {
    if (title !== undefined) heading = title;
    else if (text !== undefined) found.push({ heading, text });
  }
  return found;
}

const blocks = blocksIn('README.md');
const under = (title: string) => blocks.filter((block) => block.heading === title).map(({ text }) => text);

/** Runs blocks of a page as they stand, one after the other in one shell, with `psd2` installed by `npm link`. */
async function runBlocks(operator: Operator, texts: string[], env: Environment = {}) {
  const prefix = join(operator.folder, 'prefix');
  mkdirSync(prefix, { recursive: true });
  const script = `
    set -euo pipefail
    # Another bank may have the port that it would take.
    psd2() { if [ "\${1-} \${2-}" = 'sandbox start' ]; then command psd2 "$@" --port 0; else command psd2 "$@"; fi; }
    npm() { (cd "$ROOT" && command npm "$@"); }
    ${texts.join('\n')}`;
  const bash = await operator.startProgram('bash', ['-c', script], {
    ROOT,
    PATH: `${join(prefix, 'bin')}:${process.env.PATH}`,
    // npm installs nothing but the link, and only there.
    npm_config_prefix: prefix,
    npm_config_cache: join(operator.folder, 'npm-cache'),
    npm_config_ignore_scripts: 'true',
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    ...env,
  });
  return bash.ended;
}

describe('the commands of the README', () => {
  it('are all run: here, or by npm itself', () => {
    const here = ['Quick start', 'Against a real bank'];
    for (const title of here) expect(under(title), title).not.toEqual([]);
    const others = blocks.filter((block) => !here.includes(block.heading)).map(({ text }) => text.trim());
    expect(others).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readText('package.json')));
    expect(scripts).toMatchObject({ demo: 'node bin/psd2.js demo', test: 'vitest run' });
    const ci = readText('.ci/run');
    for (const command of ['npm ci', 'npm test', 'npm run demo']) expect(ci).toContain(command);
  });
});

// The two wait for their own bank most of the time.
describe.concurrent('the quick start', () => {
  const operator = useOperator();
  // As on a fresh computer: nothing is set.
  const env = { PSD2_CONFIG_DIR: undefined, PSD2_PROFILE: undefined };
  afterAll(async () => {
    await operator.psd2(['sandbox', 'stop'], { env });
  });

  it('leads to two settled transfers', async () => {
    const { code, stdout, stderr } = await runBlocks(operator, under('Quick start'), env);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stderr).toContain('The sandbox is ready.');
    expect(stdout).toMatch(/^0010482620\tIT89F0999001600000010482620\tEUR\t/m);
    expect(stdout.match(/^State\tsettled$/gm)).toHaveLength(1);
    const second = shapes.transfer.parse(
      JSON.parse(readFileSync(join(operator.folder, 'transfer.json'), 'utf8')),
    );
    expect(second).toMatchObject({ state: 'settled', reference: expect.stringMatching(/^INV-\d+$/) });
    expect(stderr).toMatch(/^The sandbox at \S+ has ended\.$/m);
    expect(readdirSync(join(operator.home, '.config', 'psd2')).sort()).toContain('profiles');
    const man = await operator.startProgram('man', [
      '-M',
      join(operator.folder, 'prefix/share/man'),
      'psd2-transfer',
    ]);
    expect((await man.ended).stdout).toMatch(/^ +psd2 transfer create \[options\]$/m);
  });
});

/** What the pages call a bank's own settings, from the sandbox. */
async function realBank(operator: Operator): Promise<Environment> {
  const settings = await operator.json(z.record(z.string(), z.string()), ['sandbox', 'env']);
  const secret = join(operator.folder, 'secret.txt');
  writeFileSync(secret, `${settings.PSD2_CLIENT_SECRET}\n`, { mode: 0o600 });
  return {
    PSD2_PROFILE: undefined,
    BANK_URL: settings.PSD2_BASE_URL,
    CLIENT_ID: settings.PSD2_CLIENT_ID,
    SECRET_FILE: secret,
    APPLICATION_NAME: settings.PSD2_APP_NAME,
    QWAC_CERT: settings.PSD2_QWAC_CERT,
    QWAC_KEY: settings.PSD2_QWAC_KEY,
    QSEAL_CERT: settings.PSD2_QSEAL_CERT,
    QSEAL_KEY: settings.PSD2_QSEAL_KEY,
    // A real bank's certificate chains to an authority that the system knows.
    PSD2_CA: settings.PSD2_CA,
  };
}

describe.concurrent('the way to a real bank', () => {
  const operator = useSandbox();

  it('leads to the accounts', async () => {
    const { code, stdout, stderr } = await runBlocks(
      operator,
      ['npm link >&2', ...under('Against a real bank')],
      await realBank(operator),
    );
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout).toMatch(/^Profile\tmybank$/m);
    expect(stdout).toMatch(/^0010482620\tIT89F/m);
  });
});

/** The blocks of a page of the guide, in a shell that has `psd2` as `npm link` gives it. */
const page = (name: string) => ['npm link >&2', ...blocksIn(`docs/${name}.md`).map(({ text }) => text)];

describe('the guide', () => {
  it('has no link that leads nowhere', () => {
    const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)];
    const broken = pages
      .filter((name) => name.endsWith('.md'))
      .flatMap((name) =>
        [...readText(name).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
          .map(([, to = '']) => join(ROOT, name, '..', to))
          .filter((path) => !existsSync(path)),
      );
    expect(broken).toEqual([]);
  });
});

describe.concurrent('the first day', () => {
  const operator = useOperator();
  const env = { PSD2_CONFIG_DIR: undefined, PSD2_PROFILE: undefined };
  afterAll(async () => {
    await operator.psd2(['sandbox', 'stop'], { env });
  });

  it('goes as the guide says', async () => {
    const { code, stdout, stderr } = await runBlocks(operator, page('first-day'), env);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout.match(/^State\t\w+$/gm)).toEqual(
      ['confirmed', 'executed', 'settled', 'rejected'].map((state) => `State\t${state}`),
    );
    expect(stdout).toMatch(/^refused with exit code 2$/m);
    expect(stdout).toMatch(/^ended with exit code 6$/m);
    expect(stdout).toMatch(/\tauthorization \(NOT_AUTHORIZED\)\t/);
    expect(stderr).toMatch(/^The sandbox at \S+ has ended\.$/m);
  });
});

describe.concurrent('the production set-up', () => {
  const operator = useSandbox();

  it('goes as the guide says', async () => {
    const { code, stdout, stderr } = await runBlocks(operator, page('production'), await realBank(operator));
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout).toMatch(/^\(request-target\): get \/private\/customers\/customerid-info$/m);
    expect(stdout).toMatch(/^0010482620\tIT89F/m);
  });
});

describe.concurrent('a pipeline', () => {
  const operator = useOperator();
  const env = { PSD2_PROFILE: undefined };
  afterAll(async () => {
    await operator.psd2(['sandbox', 'stop'], { env });
  });

  it('goes as the guide says', async () => {
    const { code, stdout, stderr } = await runBlocks(operator, page('pipelines'), env);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(stdout).toMatch(/^paid$/m);
    const read = (file: string): unknown => JSON.parse(readFileSync(join(operator.folder, file), 'utf8'));
    expect(shapes.transfer.parse(read('transfer.json'))).toMatchObject({
      state: 'settled',
      reference: 'INV-2026-001',
    });
    expect(shapes.balance.parse(read('balance.json')).productId).toBe('0010482620');
  });
});
