import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readError } from './errors.ts';
import { type EndedCall, PROGRAM } from './psd2.ts';
import { useTappedBank } from './tap.ts';
import { tokensFile } from './tokens-file.ts';
import { stepsOf } from './verbose.ts';

const { operator, tap } = useTappedBank();
const ORDER = [
  ...['transfer', 'create', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '1.00'],
];
const tokens = (config = operator.config) => tokensFile(config);

/** Runs `psd2` where no file can grow, as on a full disk. */
async function onFullDisk(args: string[]): Promise<EndedCall> {
  const { ended } = await operator.startProgram('bash', [
    ...['-c', 'ulimit -f 0; exec "$@"', 'full', process.execPath, PROGRAM, ...args, '--json'],
  ]);
  return ended;
}

/** Runs `psd2` where it cannot write anything in the configuration folder. */
async function inReadOnlyFolder(args: string[]): Promise<EndedCall> {
  const config = operator.config;
  const { ended } = await operator.startProgram('unshare', [
    ...['--mount', 'bash', '-c', `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`],
    ...[config, process.execPath, PROGRAM, ...args, '--json'],
  ]);
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
  it.each([
    ['a login', ['auth', 'login']],
    ['a login with client credentials', ['auth', 'login', '--client-credentials']],
    ['a consent', ['consent', 'request', '--category', 'ACCOUNT_INFO', '--product', '0010482620']],
    ['a transfer', ORDER],
    ['a transfer with a reference', [...ORDER, '--reference', 'INV-1']],
    ['an operation', ['operation', 'run', 'standingOrder', '--yes', '--product', '0010482620']],
  ])(
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
    const after = await operator.psd2(['accounts', 'list']);
    expect(after.code, after.stderr).toBe(0);
    expect(readFileSync(tokens(), 'utf8')).not.toBe(fresh);
  });

  it.each([
    [['accounts', 'list']],
    [['accounts', 'balance', '0010482620']],
    [['transfer', 'list']],
    [['auth', 'status']],
    [['profile', 'list']],
  ])('psd2 %j works even if psd2 cannot write', async (args) => {
    const ended = await run(args);
    expect(ended.code, ended.stderr).toBe(0);
  });
});

describe('a disk with room only for the beginning of a payment', () => {
  // The beginning of a journal needs 2 KiB. The space reserved for the outcome of an execution needs 8 KiB.
  it.each([
    ...[2, 3, 4, 5, 6, 7].map((blocks) => [blocks, 'pays nothing, and can resume', 3, 0] as const),
    [8, 'pays once', 0, 1] as const,
  ])('with files of at most %i KiB psd2 %s', async (blocks, _, exitCode, payments) => {
    const config = join(operator.folder, `limited-${blocks}`);
    cpSync(operator.config, config, { recursive: true });
    const description = 'x'.repeat(140);
    const { ended } = await operator.startProgram(
      'bash',
      [
        ...['-c', `ulimit -f ${blocks}; exec "$@"`, 'full', process.execPath, PROGRAM, ...ORDER],
        ...['--description', description, '--json', '--verbose'],
      ],
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
    const resumed = await operator.psd2(
      ['transfer', 'resume', file.replace('.ndjson', ''), '--yes', '--verbose'],
      {
        env: { PSD2_CONFIG_DIR: config },
      },
    );
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(executions(limited) + executions(resumed)).toBe(1);
  });
});
