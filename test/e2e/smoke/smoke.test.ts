import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { smokeRun } from '../../../src/commands/smoke/shape.ts';
import { STEP_IDS, type StepId } from '../../../src/smoke/steps.ts';
import { terminalOf } from '../support/in-terminal.ts';
import {
  keepRunning,
  type Operator,
  type RunOptions,
  useLoggedIn,
  useSandbox,
  words,
} from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const count = z.number();
const statistics = z.looseObject({
  total: z.looseObject({ own: count, noReply: count, unusable: count }),
});

const operator = keepRunning(useLoggedIn());
const without = keepRunning(useSandbox());

/** On a busy machine each step may be slow. */
const UNHURRIED = ['--slow', '1h'];

/** Makes a smoke test. @returns how it ended, and its steps by how they ended */
async function smoke(who: Operator, options: string[] = [], how: RunOptions = {}) {
  const ended = await who.psd2(['smoke', '--json', '--psu-ip', '192.0.2.1', ...UNHURRIED, ...options], how);
  const run = smokeRun.read(JSON.parse(ended.stdout));
  const with_ = (status: string) => run.steps.filter((step) => step.status === status).map(({ id }) => id);
  const of = (id: StepId) => run.steps.find((step) => step.id === id);
  return {
    ...ended,
    run,
    of,
    failed: with_('fail'),
    skipped: with_('skip'),
    warned: with_('warn'),
    known: with_('known'),
  };
}

const fault = (...words: string[]) => operator.psd2(['sandbox', 'fault', 'add', ...words]);
afterEach(() => operator.psd2(['sandbox', 'fault', 'clear']));

const READ = ['settings..transactions'];
const ASKED_FOR = ['funds', 'initiate', 'pay'];

const PAYEE = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'];

describe('psd2 smoke', () => {
  it('reads with four calls, and leaves nothing behind', async () => {
    const before = readdirSync(operator.config, { recursive: true }).filter((path) =>
      /flows|tokens/.test(String(path)),
    );
    const { code, run, failed, skipped } = await smoke(operator);
    expect([code, run.exitCode, run.result, failed]).toEqual([0, 0, 'pass', []]);
    expect(skipped).toEqual(ASKED_FOR);
    expect(run.steps.map(({ id }) => id)).toEqual(STEP_IDS);
    expect(run.steps.flatMap(({ calls }) => calls).map(({ method, route }) => `${method} ${route}`)).toEqual([
      'GET /auth/oauth/v2/authorize',
      'GET /private/customers/{customer}/accounts',
      'GET /private/customers/{customer}/products/{product}/balance/retrieve',
      'GET /private/customers/{customer}/products/{product}/transactions/retrieve',
    ]);
    const after = readdirSync(operator.config, { recursive: true }).filter((path) =>
      /flows|tokens/.test(String(path)),
    );
    expect(after).toEqual(before);
    expect(run.ends.qwac).not.toBeNull();
    expect(run.ends.bank).not.toBeNull();
  });

  it('gives all its calls its id, so that the log shows them', async () => {
    const { run } = await smoke(operator);
    const logged = await operator.json(shapes.log, ['log', '--run', run.run]);
    expect(logged.map(({ run: id }) => id)).toEqual(Array(4).fill(run.run));
    expect(logged.every(({ firstByteMs }) => firstByteMs !== undefined)).toBe(true);
    expect(logged.at(-1)?.connectMs).toBeGreaterThanOrEqual(0);
    const runs = async (...words: string[]) =>
      (await operator.json(shapes.log, ['log', '--limit', '1', ...words])).map(({ run: id }) => id);
    const file = join(operator.folder, 'bundle.json');
    await operator.succeeds(['log', 'bundle', '--run', run.run, '--file', file]);
    const saved = z.object({ calls: z.array(z.looseObject({ run: z.string() })) });
    const { calls } = saved.parse(JSON.parse(readFileSync(file, 'utf8')));
    expect(calls.map(({ run: id }) => id)).toEqual(Array(4).fill(run.run));
    await operator.psd2(['doctor'], { env: { PSD2_RUN: 'nightly-7' } });
    expect(await runs('--run', 'nightly-7')).toEqual(['nightly-7']);
    await operator.psd2(['doctor']);
    expect(await runs()).toEqual([expect.stringMatching(/^do-/)]);
    const shown = await operator.json(
      z.looseObject({ steps: z.array(z.looseObject({ status: z.string() })) }),
      ['smoke', 'show', run.run],
    );
    expect(shown.steps.map(({ status }) => status)).toEqual(run.steps.map(({ status }) => status));
  });

  it('without a login, skips what needs a customer, unless the operator wants it', async () => {
    const { code, skipped, of } = await smoke(without);
    expect(code).toBe(0);
    expect(skipped).toEqual(words`login consent accounts balance transactions ${ASKED_FOR} shapes`);
    expect(of('login')?.reason).toBe('nobody is logged in');
    expect(of('accounts')?.reason).toBe('after login');
    for (const wanted of [
      ['--fail-on', 'skip'],
      ['--account', '0010482620'],
    ]) {
      const asked = await smoke(without, wanted);
      expect([asked.code, asked.failed]).toEqual([4, ['login']]);
    }
    const named = await smoke(without, ['--steps', 'settings..accounts']);
    expect([named.code, named.failed]).toEqual([12, ['login', 'consent', 'accounts']]);
    const none = await smoke(without, ['--no-login', '--fail-on', 'skip']);
    expect([none.code, none.of('accounts')?.reason]).toEqual([0, 'no login is wanted (--no-login)']);
  });

  it.each<[StepId, string[], Record<string, string>, number, StepId[]]>([
    ['settings', [], { PSD2_MAX_AMOUNT: 'much' }, 3, ['certificates', 'accounts']],
    ['certificates', [], { PSD2_QWAC_KEY: '/nowhere' }, 3, ['connection', 'accounts']],
    ['connection', [], { PSD2_BASE_URL: 'https://127.0.0.1:1' }, 11, ['signature', 'accounts']],
    ['signature', ['status=400', '--on', 'authorize'], {}, 7, []],
    ['accounts', ['status=403', '--on', 'accounts'], {}, 5, ['balance', 'transactions']],
    ['balance', ['empty', '--on', 'balance'], {}, 11, []],
    ['transactions', ['truncated-json', '--on', 'transactions'], {}, 11, []],
  ])('the step %s fails alone, with the exit code of its error', async (id, on, env, exitCode, after) => {
    if (on.length > 0) await fault(...on);
    const { code, failed, of, run } = await smoke(operator, [], { env });
    expect([code, run.exitCode, failed]).toEqual([exitCode, exitCode, [id]]);
    for (const later of after) expect(of(later)?.reason).toBe(`after ${id}`);
    expect(of('clean-up')?.status).toBe('pass');
  });

  it.each<[string, Record<string, string>, 'own' | 'noReply' | 'unusable']>([
    ['nothing listens at the bank', { PSD2_BASE_URL: 'https://127.0.0.1:1' }, 'noReply'],
    ['nobody knows its name here', { PSD2_BASE_URL: 'https://bank.invalid' }, 'own'],
    [
      'nothing listens at the proxy',
      { PSD2_BASE_URL: 'https://bank.example', HTTPS_PROXY: 'http://127.0.0.1:1' },
      'own',
    ],
    ['the CA bundle of this machine is another', { PSD2_CA: 'other-ca.pem' }, 'own'],
  ])('in the figures it is not the bank that failed, unless it did: %s', async (_, env, of) => {
    const figures = async () => (await operator.json(statistics, ['log', 'stats'])).total;
    writeFileSync(join(operator.folder, 'other-ca.pem'), rootCertificates[0] ?? '');
    const before = await figures();
    expect((await operator.psd2(['auth', 'login', '--client-credentials'], { env })).code).toBe(11);
    const now = await figures();
    const grown = (['own', 'noReply', 'unusable'] as const).filter((name) => now[name] > before[name]);
    expect(grown).toEqual([of]);
  });

  it('reads at most as often a day as the law allows without the customer, and then no report is green', async () => {
    const asked = (env: Record<string, string>, ...words: string[]) =>
      operator.psd2(['smoke', ...words], { env });
    // A sandbox has no such limit.
    for (let run = 0; run < 5; run += 1) expect((await asked({})).code).toBe(0);
    const env = { PSD2_ENVIRONMENT: 'production' };
    const at = (name: string) => join(operator.folder, name);
    const forms = ['r.xml', 'r.tap', 'r.prom', 'r.md', 'r.json'];
    const files = forms.flatMap((name) => ['--report', at(name)]);
    const { code, stdout, stderr } = await asked({ ...env, GITHUB_ACTIONS: 'true' }, ...files);
    expect([code, stderr]).toEqual([12, expect.stringContaining('--psu-ip')]);
    expect(stdout).toMatch(/^::warning title=psd2 smoke sandbox%3A accounts::Not read/m);
    const written = forms.map((name) => readFileSync(at(name), 'utf8'));
    const fails = ['<failure type="not_read"', 'not ok 7 - accounts', /^psd2_smoke_success\{.*\} 0$/m];
    for (const [index, text] of [...fails, '| accounts | fail |', '"code":"not_read"'].entries())
      expect(written[index]).toMatch(text);
    const nagios = await asked(env, '--report', 'nagios=-');
    expect([nagios.code, nagios.stdout]).toEqual([1, expect.stringMatching(/^WARNING .*accounts: Not read/)]);
    const pay = ['--pay', '0.50', ...PAYEE, '--yes'];
    const unpaid = await asked(env, '--json', ...pay);
    expect([unpaid.code, unpaid.stdout]).toEqual([12, expect.stringContaining('Asked for with --pay')]);
    // A payment from an account that is named needs no reading. That nothing was read still counts.
    const paid = await asked(env, '--json', ...pay, '--from', '0010482620');
    const { steps } = smokeRun.read(JSON.parse(paid.stdout));
    expect([paid.code, steps.find(({ id }) => id === 'pay')?.detail]).toEqual([12, 'executed']);
  });

  it.each([
    [['smoke', 'show'], 80],
    [['smoke', 'show'], 40],
    [['log', 'stats'], 80],
    [['log', 'stats'], 40],
  ])('%j breaks its lines between words in a terminal with %i columns', async (words, columns) => {
    const { ended } = await terminalOf(operator)(words, { columns });
    const { code, stdout } = await ended;
    const lines = stripVTControlCharacters(stdout).split(/\r?\n/);
    const wide = lines.filter((line) => line.length > columns && line.trim().includes(' '));
    expect([code, stdout.length > columns, wide]).toEqual([0, true, []]);
  });

  it('writes reports, also if a step failed, and of what is in them nobody learns who the customer is', async () => {
    await fault('status=403', '--on', 'balance');
    const at = (name: string) => join(operator.folder, name);
    const forms = ['r.xml', 'r.tap', 'r.prom', 'r.md', 'r.json'];
    const options = forms.flatMap((name) => ['--report', at(name)]);
    const ended = await operator.psd2(['smoke', '--psu-ip', '192.0.2.1', ...options]);
    expect(ended.code).toBe(5);
    expect(ended.stdout).toMatch(/✗ balance .*psd2 log --run sm-/);
    for (const name of forms) {
      const text = readFileSync(at(name), 'utf8');
      expect(text).toContain('balance');
      for (const personal of ['1048262', '0010482620', 'IT'])
        expect(text).not.toMatch(new RegExp(`${personal}\\d`));
    }
    const lost = await operator.psd2(words`smoke --steps settings --report ${at('none/r.xml')} --json`);
    expect(lost.code).toBe(3);
    const nagios = await operator.psd2(['smoke', '--psu-ip', '192.0.2.1', '--report', 'nagios=-']);
    expect([nagios.code, nagios.stdout]).toEqual([
      2,
      expect.stringMatching(/^CRITICAL psd2 smoke sandbox: .* \| 'time'=/),
    ]);
    const show = await operator.psd2(['smoke', 'show', '--report', 'tap=-']);
    expect(show.stdout).toMatch(/^TAP version 14\n1\.\.14\n/);
  });

  it('begins a payment and gives it up, without SCA and execute', async () => {
    const { code, of } = await smoke(operator, ['--initiate', ...PAYEE, '--yes']);
    expect([
      code,
      of('initiate')?.calls.map(({ method, route }) => `${method} ${route.split('/').at(-1)}`),
    ]).toEqual([0, ['GET prepare', 'POST verify']]);
    const [transfer] = await operator.json(shapes.transfers, ['transfer', 'list']);
    expect(transfer).toMatchObject({
      state: 'cancelled',
      amount: '0.01',
      reference: expect.stringMatching(/^SMOKE-sm-/),
    });
  });

  it('makes a small payment to its end, and no larger one without a person', async () => {
    const { code, of } = await smoke(operator, ['--pay', '1.00', ...PAYEE]);
    expect([code, of('pay')?.detail, of('clean-up')?.detail]).toEqual([0, 'executed', 'nothing to end']);
    const count = (await operator.json(shapes.transfers, ['transfer', 'list'])).length;
    for (const wrong of [
      ['--pay', '1.01', ...PAYEE, '--yes'],
      ['--initiate'],
      ['--initiate', '--pay', '1', ...PAYEE],
      PAYEE,
    ]) {
      const refused = await operator.psd2(['smoke', '--json', ...wrong]);
      expect([refused.code, refused.stdout]).toEqual([2, '']);
    }
    const inProduction = await operator.psd2(['smoke', '--json', '--initiate', ...PAYEE], {
      env: { PSD2_ENVIRONMENT: 'production' },
    });
    expect(inProduction.code).toBe(2);
    const limited = await smoke(operator, ['--initiate', ...PAYEE, '--yes'], {
      env: { PSD2_MAX_AMOUNT: '0.00' },
    });
    expect([limited.code, limited.failed]).toEqual([2, ['initiate']]);
    expect(await operator.json(shapes.transfers, ['transfer', 'list'])).toHaveLength(count);
  });

  it('logs a test customer in, and ends that login and no other', async () => {
    const refused = await smoke(operator, ['--login']);
    expect([refused.code, refused.failed]).toEqual([2, ['login']]);
    const { code, of } = await smoke(without, ['--login', '--skip', 'balance,transactions']);
    expect([code, of('clean-up')?.detail]).toEqual([0, 'ended the login']);
    expect(await operator.json(shapes.accounts, ['accounts', 'list'])).not.toEqual([]);
    expect((await smoke(without)).of('login')?.reason).toBe('nobody is logged in');
  });

  it('ends the login and the consent of a run whose browser fails', async () => {
    const browser = join(operator.folder, 'fails-for-consent.sh');
    const customer = without.env.PSD2_BROWSER ?? '';
    writeFileSync(
      browser,
      `#!/bin/sh\ncase "$1" in *sca-authorize*) exit 3;; esac\nexec ${customer} "$1"\n`,
      { mode: 0o700 },
    );
    const env = { PSD2_BROWSER: browser };
    const { code, failed, of } = await smoke(without, ['--login', '--consent'], { env, ownProcess: true });
    expect([code, failed, of('clean-up')?.detail]).toEqual([
      ...[3, ['consent']],
      expect.stringMatching(/^ended the consent co-\w+, the login$/),
    ]);
    expect((await smoke(without)).of('clean-up')?.detail).toBe('nothing to end');
  });

  it('is for one run of a profile at a time', async () => {
    await fault('delay=20000', '--on', 'authorize');
    const first = await operator.start(['smoke', '--json', '--steps', READ.join()]);
    const lock = join(operator.config, 'log', 'smoke', 'sandbox', 'unended.json.lock');
    await expect.poll(() => existsSync(lock), { timeout: 20_000 }).toBe(true);
    const second = await operator.psd2(['smoke', '--json']);
    expect([second.code, second.stderr]).toEqual([12, expect.stringContaining('smoke_running')]);
    first.kill('SIGINT');
    const { code, stdout } = await first.ended;
    const run = smokeRun.read(JSON.parse(stdout));
    expect([code, run.steps.find(({ id }) => id === 'clean-up')?.status]).toEqual([130, 'pass']);
  });
});
