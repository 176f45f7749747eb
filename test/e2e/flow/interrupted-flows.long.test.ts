import { rmSync } from 'node:fs';
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
  words,
} from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = words`transfer create --json --yes --from ${ACCOUNT} --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 2.00`;
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
