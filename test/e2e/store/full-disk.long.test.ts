import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sample } from '../../support/sample.ts';
import { readError } from '../support/errors.ts';
import { type EndedCall, type Environment, PROGRAM, words } from '../support/psd2.ts';
import { useTappedBank } from '../support/tap.ts';
import { tokensFile } from '../support/tokens-file.ts';
import { callsOf, stepsOf } from '../support/verbose.ts';

const { operator, tap } = useTappedBank();
const ORDER = words`transfer create --yes --from 0010482620 --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 1.00`;
const tokens = (config = operator.config) => tokensFile(config);

/** Runs `psd2` where no file can grow, as on a full disk. */
async function onFullDisk(args: string[]): Promise<EndedCall> {
  const { ended } = await operator.startProgram(
    'bash',
    words`-c ${'ulimit -f 0; exec "$@"'} full
    ${process.execPath} ${PROGRAM} ${args} --json`,
  );
  return ended;
}

/** Runs `psd2` where it cannot write anything in the configuration folder. */
async function inReadOnlyFolder(args: string[]): Promise<EndedCall> {
  const config = operator.config;
  const { ended } = await operator.startProgram(
    'unshare',
    words`--mount bash -c
    ${`mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`} ${config}
    ${process.execPath} ${PROGRAM} ${args} --json`,
  );
  return ended;
}

/** All files of the configuration folder, with their content. */
function contents(): Record<string, string> {
  const names = readdirSync(operator.config, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, readFileSync(path, 'utf8')]),
  );
}

function expire(): void {
  const stored = JSON.parse(readFileSync(tokens(), 'utf8'));
  const ended = { ...stored, accessTokenExpiresAt: '2020-01-01T00:00:00.000Z' };
  writeFileSync(tokens(), JSON.stringify(ended), { mode: 0o600 });
}

describe.each([
  ['a full disk', onFullDisk, 'the limit for the size of a file is reached'],
  ['a read-only folder', inReadOnlyFolder, 'the file system is read-only'],
])('%s', (_, run, reason) => {
  const changing: [what: string, args: string[]][] = [
    ['a login', ['auth', 'login']],
    ['a login with client credentials', ['auth', 'login', '--client-credentials']],
    ['a consent', ['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', '0010482620']],
    ['a transfer', ORDER],
    ['a transfer with a reference', [...ORDER, '--reference', 'INV-1']],
    ['an operation', ['operation', 'run', 'standingOrder', '--yes', '--account', '0010482620']],
  ];
  it.each(sample(changing, 3, ([what]) => `${what} ${reason}`))(
    'if psd2 cannot write, it stops %s before it calls the bank, and changes nothing',
    async (_what, args) => {
      const before = contents();
      const called = tap.connections();
      const error = readError(await run(args));
      expect(error).toMatchObject({ code: 'config', exitCode: 3, message: expect.stringContaining(reason) });
      expect(tap.connections()).toBe(called);
      expect(contents()).toEqual(before);
    },
  );

  it('psd2 does not spend a refresh token if it cannot store the next one', async () => {
    const fresh = readFileSync(tokens(), 'utf8');
    expire();
    const before = contents();
    const called = tap.connections();
    const error = readError(await run(['accounts', 'list']));
    expect(error).toMatchObject({ code: 'config', exitCode: 3, message: expect.stringContaining(reason) });
    expect(tap.connections()).toBe(called);
    expect(contents()).toEqual(before);
    // With space again, psd2 renews with the same token, since it was not spent.
    await operator.succeeds(['accounts', 'list']);
    expect(readFileSync(tokens(), 'utf8')).not.toBe(fresh);
  });

  const reading = [
    [['accounts', 'list']],
    [['accounts', 'balance', '0010482620']],
    [['transfer', 'list']],
    [['auth', 'status']],
    [['profile', 'list']],
  ];
  it.each(sample(reading, 2, ([args]) => `${args} ${reason}`))(
    'psd2 %j works even if psd2 cannot write',
    async (args) => {
      const ended = await run(args);
      expect(ended.code, ended.stderr).toBe(0);
    },
  );
});

// The beginning of a journal needs 2 KiB. The space reserved for the outcome of an execution needs 8 KiB.
it.each([
  ...sample([2, 3, 4, 5, 6, 7], 3).map((blocks) => [blocks, 'pays nothing, and can resume', 3, 0] as const),
  [8, 'pays once', 0, 1] as const,
])('with files of at most %i KiB psd2 %s', async (blocks, _, exitCode, payments) => {
  const config = join(operator.folder, `limited-${blocks}`);
  cpSync(operator.config, config, { recursive: true });
  const description = 'x'.repeat(140);
  const { ended } = await operator.startProgram(
    'bash',
    words`-c ${`ulimit -f ${blocks}; exec "$@"`} full ${process.execPath} ${PROGRAM} ${ORDER}
        --description ${description} --json --verbose`,
    { PSD2_CONFIG_DIR: config },
  );
  const limited = await ended;
  const { code, stderr } = limited;
  const executions = (run: EndedCall) => stepsOf(run).filter((step) => step === 'execute').length;
  const flows = join(config, 'flows', 'sandbox');
  const [file = ''] = readdirSync(flows).filter((name) => name.startsWith('tr-'));
  expect({ code, payments: executions(limited) }, stderr).toEqual({ code: exitCode, payments });
  // The journal does not announce the execute either, so the outcome is not in doubt.
  const announced = readFileSync(join(flows, file), 'utf8').includes('"execute-sent"');
  expect(announced).toBe(payments === 1);
  if (payments === 1) return;
  const resumed = await operator.succeeds(
    ['transfer', 'resume', file.replace('.ndjson', ''), '--yes', '--verbose'],
    {
      env: { PSD2_CONFIG_DIR: config },
    },
  );
  expect(executions(limited) + executions(resumed)).toBe(1);
});

/** With none, psd2 has no room for a lock. With the last number it has room for everything. */
const FREE_INODES = Array.from({ length: 13 }, (_, free) => free);
const freeInodes = (what: string) => [
  0,
  ...sample(FREE_INODES.slice(1, -1), 3, (free) => `${free} for ${what}`),
  FREE_INODES.length - 1,
];

describe('a file system with few inodes', () => {
  /**
   * Runs `psd2` again and again, with more and more free inodes, on a copy of the configuration folder in a tmpfs, which counts links
   * as inodes. It ends with 3 until there are enough, then with 0.
   *
   * @param check gets how psd2 ended, and what the configuration folder was then
   */
  async function runWithFew(
    what: string,
    args: string[],
    check: (ended: EndedCall, after: string) => unknown,
    { env = {}, prepare = () => {} }: { env?: Environment; prepare?: () => void } = {},
  ): Promise<void> {
    const mounted = join(operator.folder, 'inodes');
    mkdirSync(mounted, { recursive: true });
    mkdirSync(operator.ownHands, { recursive: true });
    const script = [
      'from=$1 at=$2 after=$3 free=$4; shift 4',
      'mount -t tmpfs -o mode=700,nr_inodes=1000 tmpfs "$at" && cp -a "$from/." "$at" && mkdir "$at/full" || exit 99',
      'left=$(df --output=iavail "$at" | tail -1)',
      'for name in $(seq $((left - free))); do : > "$at/full/$name"; done',
      '"$@"; code=$?',
      'rm -r "$at/full"; cp -a "$at" "$after"; exit $code',
    ].join('\n');
    const outcomes = new Set<number | null>();
    for (const free of freeInodes(what)) {
      prepare();
      const after = join(operator.ownHands, `${what} with ${free} inodes`);
      const started = await operator.startProgram(
        'unshare',
        words`--mount bash -c ${script} inodes ${operator.config} ${mounted} ${after} ${String(free)}
          ${process.execPath} ${PROGRAM} ${args} --json --verbose`,
        { ...env, PSD2_CONFIG_DIR: mounted },
      );
      const ended = await started.ended;
      outcomes.add(ended.code);
      if (ended.code !== 0)
        expect(readError(ended), `${free} inodes`).toMatchObject({ code: 'config', exitCode: 3 });
      await check(ended, after);
    }
    expect(outcomes).toEqual(new Set([0, 3]));
  }

  it('psd2 refuses a renewal before the call, or stores the new tokens, however few inodes are free', async () => {
    let before = '';
    const prepare = () => {
      expire();
      before = readFileSync(tokens(), 'utf8');
    };
    const check = (ended: EndedCall, after: string) => {
      if (ended.code === 0) {
        const renewed = JSON.parse(readFileSync(tokens(after), 'utf8'));
        expect(Date.parse(renewed.accessTokenExpiresAt)).toBeGreaterThan(Date.now());
        rmSync(join(operator.config, 'tokens'), { recursive: true });
        cpSync(join(after, 'tokens'), join(operator.config, 'tokens'), { recursive: true });
      } else {
        expect(readError(ended).message).toContain('the disk is full');
        expect(callsOf(ended)).toEqual([]);
        expect(readFileSync(tokens(after), 'utf8')).toBe(before);
      }
    };
    await runWithFew('a renewal', ['accounts', 'list'], check, { prepare });
    await operator.succeeds(['auth', 'refresh']);
  });

  it('psd2 stops a login before it calls the bank, or stores it, however few inodes are free', async () => {
    // This customer has no folder yet.
    const env = { PSD2_BROWSER: `${operator.env.PSD2_BROWSER} --user bruno` };
    expect(existsSync(join(operator.config, 'tokens/sandbox/customer-2073915'))).toBe(false);
    const check = async (ended: EndedCall, after: string) => {
      const known = { env: { PSD2_CONFIG_DIR: after } };
      if (ended.code === 0) await operator.succeeds(['--customer', '2073915', 'accounts', 'list'], known);
      else expect(callsOf(ended)).toEqual([]);
    };
    await runWithFew('a login', ['auth', 'login'], check, { env });
  });

  it('psd2 pays nothing, or stores the outcome, however few inodes are free', async () => {
    await runWithFew('a payment', ORDER, (ended, after) => {
      const executions = stepsOf(ended).filter((step) => step === 'execute').length;
      expect(executions).toBe(ended.code === 0 ? 1 : 0);
      const flows = join(after, 'flows', 'sandbox');
      const journals = readdirSync(flows).filter((name) => name.startsWith('tr-'));
      const isExecuted = journals.some((name) =>
        readFileSync(join(flows, name), 'utf8').includes('"executed"'),
      );
      expect(isExecuted).toBe(ended.code === 0);
    });
  });
});
