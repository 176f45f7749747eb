import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../../support/sample.ts';
import { readError } from '../support/errors.ts';
import { type Environment, keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const SAME = fileURLToPath(new URL('same-resource.mjs', import.meta.url));
const STOP = fileURLToPath(new URL('../../store/stop-at.cjs', import.meta.url));
const ORDER = [
  ...['transfer', 'create', '--json', '--yes', '--from', '0010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '2.00'],
];
const operator = keepRunning(useLoggedIn());
const sameId = join(operator.folder, 'same-id');
// Only the sandbox needs it. Commands with it would each need a process of their own.
Object.assign(operator.env, { NODE_OPTIONS: `--import=${SAME}`, SAME_ID: sameId });
beforeAll(() => {
  operator.env.NODE_OPTIONS = undefined;
});

const pay = (...options: string[]) => operator.json(shapes.transfer, [...ORDER, ...options]);
const journalOf = (flow: string) => join(operator.config, 'flows', 'sandbox', `${flow}.ndjson`);
/** How often psd2 sent a request whose path ends so, for a transfer. */
async function sent(transactionId: string, end: string): Promise<number> {
  const calls = await operator.json(shapes.log, ['log', '--transaction', transactionId]);
  return calls.filter(({ path }) => path.endsWith(end)).length;
}
const resume = (flow: string) => operator.psd2(['transfer', 'resume', flow, '--yes', '--json']);

it('a journal from an old backup, however old, never makes psd2 pay again', async () => {
  const { flow, transactionId } = await pay('--reference', 'OLD');
  const lines = readFileSync(journalOf(flow), 'utf8').split('\n').filter(Boolean);
  const types = lines.map((line) => JSON.parse(line).event.type);
  const counts = sample(
    types.slice(1).map((_, index) => index + 1),
    3,
  );
  const codes: number[] = [];
  for (const events of counts) {
    writeFileSync(journalOf(flow), `${lines.slice(0, events).join('\n')}\n`);
    const resumed = await resume(flow);
    codes.push(resumed.code ?? -1);
    if (resumed.code === 3) {
      const { message, hint } = readError(resumed);
      expect(message).toBe(`The journal ${journalOf(flow)} is older than what psd2 knows about ${flow}`);
      expect(hint).toContain('Restore the newest journal from a backup');
      expect((await operator.json(shapes.transfer, ['transfer', 'show', flow])).state).toBe('created');
    }
    const again = readError(await operator.psd2([...ORDER, '--reference', 'old', '--amount', '3.00']));
    expect(again).toMatchObject({ code: 'duplicate_reference', flow, differs: ['amount'] });
  }
  const verified = types.indexOf('verified');
  expect(codes).toEqual(counts.map((events) => (events <= verified ? 3 : 0)));
  expect(await sent(transactionId, '/execute')).toBe(1);
  expect(await sent(transactionId, '/verify')).toBe(1);
});

it('a journal that is missing keeps its reference, and psd2 says what to do', async () => {
  const { flow } = await pay('--reference', 'GONE');
  const journal = readFileSync(journalOf(flow));
  rmSync(journalOf(flow));
  expect(readError(await operator.psd2([...ORDER, '--reference', 'gone']))).toMatchObject({
    code: 'config',
    exitCode: 3,
    message: `The journal ${journalOf(flow)} is missing, and its transfer has the reference "gone"`,
    hint: expect.stringMatching(/Restore the journal from a backup, or use another --reference/),
    flow,
  });
  writeFileSync(journalOf(flow), journal, { mode: 0o600 });
  expect(readError(await operator.psd2([...ORDER, '--reference', 'gone']))).toMatchObject({
    code: 'duplicate_reference',
    exitCode: 2,
    differs: [],
  });
});

it('a resource that the bank gives twice is not executed twice, and resume gets another one', async () => {
  const first = await pay();
  writeFileSync(sameId, first.resourceId ?? '');
  const refused = readError(await operator.psd2(ORDER));
  rmSync(sameId);
  const { flow = '' } = refused;
  expect(refused).toMatchObject({
    code: 'bank_answer',
    exitCode: 11,
    message: `The bank gave ${flow} the resource ${first.resourceId}, which belongs to ${first.flow}`,
  });
  const [open] = await operator.json(shapes.transfers, ['transfer', 'list']);
  expect(open).toMatchObject({ flow, state: 'created', resourceId: null });
  expect(await sent(open?.transactionId ?? '', '/execute')).toBe(0);
  const resumed = await operator.json(shapes.transfer, ['transfer', 'resume', flow ?? '', '--yes']);
  expect(resumed.state).toBe('executed');
  expect(resumed.resourceId).not.toBe(first.resourceId);
  expect(await sent(resumed.transactionId, '/execute')).toBe(1);
});

describe('psd2 that is killed while it writes the index', () => {
  const folder = join(operator.config, 'flows', 'sandbox');
  const stopped = (point: string): Environment => ({
    NODE_OPTIONS: `--require=${STOP}`,
    STOP_FOLDER: folder,
    STOP_AT: point,
    STOP_HOW: 'SIGKILL',
  });

  it.each([
    ['before writeFile index #2', 'created', 0, 'executed', 1],
    ['after writeFile index #2', 'created', 0, 'executed', 1],
    ['before writeFile index #3', 'executing', 9, 'unknown', 0],
    ['after writeFile index #3', 'executing', 9, 'unknown', 0],
  ] as const)('%s: the flow is %s, and resume continues', async (point, state, code, end, executions) => {
    const killed = await (await operator.start(ORDER, stopped(point))).ended;
    expect(killed).toMatchObject({ signal: 'SIGKILL', stderr: expect.stringContaining(point) });
    const [left] = await operator.json(shapes.transfers, ['transfer', 'list']);
    expect(left?.state).toBe(state);
    const flow = left?.flow ?? '';
    expect((await resume(flow)).code).toBe(code);
    expect(await operator.json(shapes.transfer, ['transfer', 'show', flow])).toMatchObject({ state: end });
    expect(await sent(left?.transactionId ?? '', '/execute')).toBe(executions);
    if (end !== 'unknown') return;
    const resolved = ['transfer', 'resolve', flow, '--not-executed', '--yes'];
    expect((await operator.json(shapes.transfer, resolved)).state).toBe('failed');
  });
});

it('these flows leave nothing but journals', () => {
  const files = readdirSync(join(operator.config, 'flows', 'sandbox'));
  expect(files.filter((file) => !/\.ndjson$|^(index|open|at-rest|references)$/.test(file))).toEqual([]);
});
