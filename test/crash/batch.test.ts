import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { bankDay } from '../e2e/support/bank-days.ts';
import { type Running, useLoggedIn } from '../e2e/support/psd2.ts';
import * as shapes from '../e2e/support/shapes.ts';
import { bySeed } from '../support/sample.ts';

const KILL = fileURLToPath(new URL('kill-at-step.js', import.meta.url));
const ACCOUNT = '0010482620';
const LINES = [1, 2, 3, 4, 5];
const operator = useLoggedIn();

/** A step of a batch of five changes these files. Every third one, so that all kinds of step are met. */
const POINTS = Array.from({ length: 150 }, (_, index) => 1 + index * 3);
const cases = POINTS.flatMap((nth) => [
  [`killed at step ${nth}`, nth, 'SIGKILL'] as const,
  [`stopped at step ${nth}`, nth, 'SIGSTOP'] as const,
]);

let batches = 0;
/** Stores a batch of five payments with amounts that no other batch has. */
async function addFive(): Promise<{ batch: string; amounts: string[] }> {
  batches += 1;
  const amounts = LINES.map((line) => `${batches}.${10 + line}`);
  const path = join(operator.folder, `five-${batches}.csv`);
  const lines = amounts.map((amount, index) => `Payee ${index},DE89370400440532013000,${amount}\n`);
  writeFileSync(path, `name,iban,amount\n${lines.join('')}`);
  const { batch } = await operator.json(shapes.batch, ['batch', 'add', path, '--from', ACCOUNT, '--json']);
  return { batch, amounts };
}

/** How often the bank has paid each amount. */
async function paid(amounts: readonly string[]): Promise<number[]> {
  const rows = await operator.json(shapes.transactions, [
    // The bank books them on the next business day.
    ...['accounts', 'transactions', ACCOUNT, '--pending', '--from', bankDay(-2)],
  ]);
  return amounts.map((amount) => rows.filter((row) => row.amount === `-${amount}0`).length);
}

const run = (batch: string) => ['batch', 'run', batch, '--yes', '--json'];

/** How often the test looks whether a process has stopped. */
const LOOKS_EVERY_MS = 20;

/** Starts a run, and waits until it is hit at a step, or has ended before. */
async function runUntilHit(batch: string, nth: number, how: string): Promise<Running> {
  const mark = join(operator.folder, `hit-${batches}`);
  const running = await operator.start(run(batch), {
    NODE_OPTIONS: `--import=${KILL}`,
    KILL_AT: '^(?:before|half|after) .*flows/sandbox/',
    KILL_NTH: String(nth),
    KILL_HOW: how,
    KILL_MARK: mark,
  });
  let hasEnded = false;
  void running.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && !existsSync(mark)) await delay(LOOKS_EVERY_MS);
  return running;
}

// All of them take longer than a run of all tests may: CRASH_MATRIX=all takes them.
const tried = process.env.CRASH_MATRIX === 'all' ? cases : bySeed(cases, ([name]) => name).slice(0, 3);
it.each(tried)('a batch of five, %s: all is paid once', async (_name, nth, how) => {
  const { batch, amounts } = await addFive();
  const first = await runUntilHit(batch, nth, how);
  if (how === 'SIGKILL') await first.ended;
  const second = await operator.psd2(run(batch), { ownProcess: true });
  if (how === 'SIGSTOP') {
    first.kill('SIGCONT');
    await first.ended;
  }
  const third = second.code === 0 ? second : await operator.psd2(run(batch), { ownProcess: true });
  const rows = await operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
  const counts = await paid(amounts);
  // An execute that was announced and not sent stays unknown, and is never sent again.
  const told = rows.map(({ state }) => (state === 'executed' ? 1 : 0));
  expect(counts).toEqual(told);
  const unknown = rows.filter(({ state }) => state !== 'executed').map(({ state }) => state);
  expect([third.code, unknown]).toEqual(unknown.length === 0 ? [0, []] : [9, ['unknown']]);
});
