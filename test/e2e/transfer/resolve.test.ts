import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { stepsOf } from '../support/verbose.ts';

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());
const inTerminal = terminalOf(operator);

const order = (name: string, amount: string, more: string[] = []) => [
  ...['transfer', 'create', '--yes', '--json', '--from', ACCOUNT],
  ...['--to', 'DE89370400440532013000', '--name', name, '--amount', amount, ...more],
];
const resolve = (flow: string, ...args: string[]) =>
  operator.psd2(['transfer', 'resolve', flow, '--json', '--verbose', ...args]);
const show = (flow: string) => operator.json(shapes.transfer, ['transfer', 'show', flow]);

/** A transfer whose `execute` the bank did not do, and did not answer clearly. */
async function unknownTransfer(amount: string, ...more: string[]): Promise<string> {
  const ended = await operator.psd2(order('EXECUTE 500 ONCE', amount, more));
  expect(readError(ended)).toMatchObject({ exitCode: 9 });
  return readDocument(shapes.transfer, ended.stdout).flow;
}

describe('psd2 transfer resolve', () => {
  it('the resolution is in the timeline of its transaction, and in CSV', async () => {
    const flow = await unknownTransfer('5.03');
    const ended = await resolve(flow, '--not-executed', '--yes', '--note', 'Case 4711');
    const { resolution } = readDocument(shapes.transfer, ended.stdout);
    const timeline = await operator.psd2(['log', '--transaction', flow]);
    expect(timeline.stdout).toContain(
      `${resolution?.at}\tresolved (not-executed, by ${resolution?.by}: Case 4711)`,
    );
    const csv = await operator.psd2(['transfer', 'show', flow, '-o', 'csv']);
    expect(csv.stdout).toContain('resolution.outcome,resolution.by,resolution.at,resolution.note');
    expect(csv.stdout).toContain(`not-executed,${resolution?.by},${resolution?.at},Case 4711`);
  });

  it('at a terminal psd2 asks, and takes Enter for no', async () => {
    const flow = await unknownTransfer('5.09', '--reference', 'ASKED');
    const before = await show(flow);
    for (const [answer, code, state] of [
      ['\r', 2, 'unknown'],
      ['y\r', 0, 'failed'],
    ] as const) {
      const psd2 = await inTerminal(['transfer', 'resolve', flow, '--not-executed']);
      await psd2.prints(/was not executed\? You can then pay its reference ASKED again/);
      await psd2.write(answer);
      const ended = await psd2.ended;
      expect(ended.code, ended.stdout).toBe(code);
      const screen = stripVTControlCharacters(ended.stdout);
      expect(screen).toMatch(/Payee +EXECUTE 500 ONCE/);
      expect((await show(flow)).state).toBe(state);
      if (state === 'unknown') expect(await show(flow)).toEqual(before);
    }
  });

  it('psd2 transfer resolve leaves a flow alone while another psd2 works on it', async () => {
    const flow = await unknownTransfer('5.13');
    const first = await inTerminal(['transfer', 'resolve', flow, '--executed']);
    await first.prints(/that the transfer was executed\?/);
    const ended = await resolve(flow, '--not-executed', '--yes');
    expect(readError(ended)).toMatchObject({ exitCode: 3, message: expect.stringContaining(flow) });
    expect(stepsOf(ended)).toEqual([]);
    await first.write('y\r');
    expect((await first.ended).code).toBe(0);
    expect(await show(flow)).toMatchObject({ state: 'executed', resolution: { outcome: 'executed' } });
  });
});
