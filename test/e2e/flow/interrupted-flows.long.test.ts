import { readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import {
  ADDRESS,
  type Environment,
  keepRunning,
  type Running,
  readDocument,
  useLoggedIn,
} from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = [
  ...['transfer', 'create', '--json', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '2.00'],
];
const operator = keepRunning(useLoggedIn());

const terminal = terminalOf(operator);

/** The lines about interrupted flows that a command at a terminal prints. */
async function linesOf(args: string[], env: Environment = {}): Promise<string[]> {
  const { stdout } = await (await terminal(args, { env })).ended;
  const lines = stdout.split(/\r?\n/);
  const from = lines.findIndex((line) => line.startsWith('Interrupted: '));
  if (from < 0) return [];
  const end = lines.findIndex((line, at) => at > from && !line.startsWith('  '));
  return lines.slice(from, end < 0 ? undefined : end);
}
const next = (...args: string[]) => linesOf(['accounts', 'list', ...args]);

/** Starts a command and waits until the customer would be at the bank's page. */
async function untilCustomer(args: string[]): Promise<Running> {
  const psd2 = await operator.start(args, { PSD2_BROWSER: 'none' });
  await psd2.prints(ADDRESS);
  return psd2;
}

async function newest(): Promise<string> {
  const [flow] = await operator.json(shapes.transfers, ['transfer', 'list']);
  return flow?.flow ?? '';
}

it('each command at a terminal names a killed flow until someone resumes it', async () => {
  const psd2 = await untilCustomer(ORDER);
  const flow = await newest();
  expect(await next(), 'a process still works on it').toEqual([]);

  psd2.kill('SIGKILL');
  await psd2.ended;
  const line = `Interrupted: transfer ${flow} (authorizing). Continue with: psd2 transfer resume ${flow}`;
  expect(await next()).toEqual([line]);
  expect(await linesOf(['transfer', 'show', flow])).toEqual([line]);
  // The line is for a person.
  expect(await next('--quiet')).toEqual([]);
  expect(await next('--json')).toEqual([]);
  expect((await operator.psd2(['accounts', 'list'])).stderr).toBe('');

  expect(await linesOf(['transfer', 'resume', flow, '--yes']), 'resume does not name its own flow').toEqual(
    [],
  );
  expect(await operator.json(shapes.transfer, ['transfer', 'show', flow])).toMatchObject({
    state: 'executed',
  });
  expect(await next()).toEqual([]);
});

it('one line names several interrupted flows, each with its command, newest first', async () => {
  const consent = ['consent', 'request', '--json', '--category', 'PAYMENTS', '--account', ACCOUNT];
  const flows: string[] = [];
  for (const args of [ORDER, consent, ORDER, ORDER]) {
    const psd2 = await untilCustomer(args);
    psd2.kill('SIGINT');
    const ended = await psd2.ended;
    expect(readError(ended).exitCode).toBe(130);
    flows.unshift(JSON.parse(ended.stdout).flow);
  }
  const [a, b, c] = flows;
  expect(await next()).toEqual([
    'Interrupted: 4 flows. Continue with:',
    `  Ask the bank again (never pays twice):  psd2 transfer resume ${a}`,
    `  Ask the bank again (never pays twice):  psd2 transfer resume ${b}`,
    `  Ask the bank again:                     psd2 consent resume ${c}`,
    '  And 1 more: see psd2 transfer, consent and operation list.',
  ]);

  const folder = join(operator.config, 'flows', 'sandbox', 'open');
  const weekAgo = Date.now() / 1000 - 7 * 24 * 60 * 60 - 60;
  for (const file of readdirSync(folder)) utimesSync(join(folder, file), weekAgo, weekAgo);
  expect(await next(), 'nobody resumed them for a week').toEqual([]);
});

it('a flow that failed is finished, and psd2 does not name it', async () => {
  // A process that goes on has its flows under its name for some seconds.
  const refused = await operator.psd2([...ORDER, '--name', 'SCA REFUSED'], { ownProcess: true });
  expect(refused.code).toBe(6);
  expect(await next()).toEqual([]);
});

describe('two transfers with one reference at the same time', () => {
  const STOP = fileURLToPath(new URL('stop-at-journal.mjs', import.meta.url));
  const held = { NODE_OPTIONS: `--import=${STOP}` };
  const begin = (reference: string) => operator.start([...ORDER, '--reference', reference], held);
  const withReference = async (wanted: string) =>
    (await operator.json(shapes.transfers, ['transfer', 'list'])).filter(
      ({ reference }) => reference === wanted,
    );

  it('two transfers with one reference make one payment: the second finds the reference taken', async () => {
    const first = await begin('TWICE');
    // The first transfer has found that the reference is free.
    await first.prints(/^stopped before its journal$/m);
    const second = await begin('TWICE');
    const [what] = await second.prints(/^(?:stopped before its journal|waits for another)$/m);
    expect(what).toBe('waits for another');
    await first.write('\n');
    const paid = await first.ended;
    const { flow, state } = readDocument(shapes.transfer, paid.stdout);
    expect(state).toBe('executed');
    const error = readError(await second.ended);
    expect(error).toMatchObject({ code: 'duplicate_reference', exitCode: 2 });
    expect(error.message).toContain(flow);
    expect(await withReference('TWICE')).toHaveLength(1);
  });

  it('two transfers with one reference make one payment even if the first was stopped until it lost its lock', async () => {
    const first = await begin('LATE');
    await first.prints(/^stopped before its journal$/m);
    // The second transfer does the same after it has watched the lock for five seconds.
    rmSync(join(operator.config, 'flows', 'sandbox', 'journal.lock'));
    const paid = await operator.json(shapes.transfer, [...ORDER, '--reference', 'LATE']);
    expect(paid.state).toBe('executed');
    await first.write('\n');
    const error = readError(await first.ended);
    expect(error).toMatchObject({ code: 'duplicate_reference', exitCode: 2 });
    expect(error.message).toContain(`was used by transfer ${paid.flow}, which is executed`);
    expect((await withReference('LATE')).map(({ state }) => state).sort()).toEqual(['cancelled', 'executed']);
  });
});

it('finished flows leave no lock and no sign of work', async () => {
  expect(await next()).toEqual([]);
  const folder = join(operator.config, 'flows', 'sandbox');
  expect(readdirSync(join(folder, 'open'))).toEqual([]);
  expect(readdirSync(folder).filter((file) => file.endsWith('.lock'))).toEqual([]);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ndjson'))) {
    expect(readFileSync(join(folder, file), 'utf8').endsWith('\n')).toBe(true);
  }
});

it('the suggested command repeats a given --profile, and works without the variable', async () => {
  const psd2 = await untilCustomer([...ORDER, '--profile', 'sandbox']);
  psd2.kill('SIGINT');
  const ended = await psd2.ended;
  const { flow } = readDocument(shapes.transfer, ended.stdout);
  const resumeCommand = ['--profile', 'sandbox', 'transfer', 'resume', flow];
  expect(readError(ended).hint).toContain(`psd2 ${resumeCommand.join(' ')}`);
  expect(await next('--profile', 'sandbox')).toEqual([
    `Interrupted: transfer ${flow} (authorizing). Continue with: psd2 ${resumeCommand.join(' ')}`,
  ]);
  const resumed = await operator.psd2([...resumeCommand, '--yes'], { env: { PSD2_PROFILE: undefined } });
  expect(resumed.code, resumed.stderr).toBe(0);
});
