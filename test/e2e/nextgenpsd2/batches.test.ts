import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// Payments from a file at a bank with bulk payments: one SCA for the lines of one account and day.

const FROM = 'IT89F0999001600000010482620';
const operator = useSecondDoor([], {
  payments: { bulk: { maxEntries: 4 }, products: { 'bulk-payments': ['sepa-credit-transfers'] } },
});
const log = z.array(z.looseObject({ method: z.string(), path: z.string() }));
const checked = z.looseObject({ scas: z.int(), totals: z.array(z.looseObject({ scas: z.int() })) });

const status = z.looseObject({
  attention: z.array(z.looseObject({ kind: z.string(), next: z.array(z.string()) })),
});

/** A payment that the bank has accepted is not final yet. */
const ACCEPTED = 'The bank has accepted it, and has not said that it is final';

let files = 0;
/** Writes a file of payments to these payees. */
function file(...names: string[]): string {
  files += 1;
  const path = join(operator.folder, `bulk-${files}.csv`);
  const rows = names.map((name, index) => `${name},DE89370400440532013000,${files}.${index + 10}\n`);
  writeFileSync(path, `name,iban,amount\n${rows.join('')}`);
  return path;
}
const add = async (...names: string[]) => {
  const added = ['batch', 'add', file(...names), '--from', FROM, '--json'];
  return (await operator.json(shapes.batch, added)).batch;
};
const run = (batch: string, ...options: string[]) =>
  operator.psd2(['batch', 'run', batch, '--yes', '--json', ...options]);
const report = (batch: string) => operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
/** The calls that have initiated something, by their paths. */
async function initiated(): Promise<string[]> {
  const calls = await operator.json(log, ['log', '--limit', '1000', '--json']);
  return calls
    .filter(({ method, path }) => method === 'POST' && /payments\/[a-z-]+$/.test(path))
    .map(({ path }) => path);
}

it('lines go as bulk payments, as many as the bank takes in one, and each line has the outcome that the bank says', async () => {
  await operator.request();
  const names = ['Ada', 'Bea', 'EXECUTE REFUSED', 'Dora', 'Eve'];
  expect(await operator.json(checked, ['batch', 'check', file(...names), '--json'])).toMatchObject({
    scas: 2,
  });
  const batch = await add(...names);
  const before = (await initiated()).length;
  const ran = await run(batch, '--as', 'bulk');
  expect([ran.code, readError(ran).message]).toEqual([8, '1 of 5 payments was not made']);
  expect((await report(batch)).map(({ state, reason, paidAt }) => [state, reason, paidAt])).toEqual([
    ...[
      ['executed', ACCEPTED, null],
      ['executed', ACCEPTED, null],
      ['failed', 'RJCT', null],
    ],
    ...[
      ['executed', ACCEPTED, null],
      ['executed', ACCEPTED, null],
    ],
  ]);
  const sent = (await initiated()).length - before;
  expect(sent).toBe(2);
  expect((await run(batch)).code).toBe(8);
  expect((await initiated()).length - before).toBe(2);
  const again = await operator.json(shapes.batch, ['batch', 'retry', batch, '--json']);
  expect(again).toMatchObject({ retryOf: batch, lines: 1 });
});

it('the customer of a bulk payment gets one link, and a transfer of it is not handled alone', async () => {
  const batch = await add('Ada', 'Bea');
  const links = join(operator.folder, 'links.ndjson');
  expect((await run(batch, '--links', links)).code).toBe(6);
  const given = readFileSync(links, 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(given).toEqual([expect.objectContaining({ batch, lines: [1, 2], currency: 'EUR' })]);
  const [line] = await report(batch);
  expect(line).toMatchObject({ state: 'authorizing' });
  for (const verb of [['resume'], ['resolve', '--not-executed']]) {
    const refused = await operator.psd2(['transfer', ...verb, line?.flow ?? '', '--yes', '--json']);
    expect(readError(refused)).toMatchObject({ exitCode: 2 });
  }
  expect((await run(batch, '--links', links)).code).toBe(6);
  expect(readFileSync(links, 'utf8').trim().split('\n')).toHaveLength(1);
  await operator.psd2(['sandbox', 'customer', given[0].url]);
  expect((await run(batch, '--links', links)).code).toBe(0);
});

it('once a person has resolved each payment of an unknown bulk payment, psd2 asks for nothing any more', async () => {
  const batch = await add('Ada', 'Bea');
  const lost = ['cut-after-effect', '--on', 'initiatePayment', '--times', '1'];
  await operator.psd2(['sandbox', 'fault', 'add', ...lost]);
  expect((await run(batch)).code).toBe(9);
  expect(new Set((await report(batch)).map(({ reason }) => reason))).toEqual(
    new Set(['The bank has not said what became of this payment of a bulk payment']),
  );
  const attention = async () => {
    const { stdout } = await operator.psd2(['status', '--json']);
    return status.parse(JSON.parse(stdout)).attention.map(({ kind, next }) => [kind, ...next]);
  };
  const waits = [['transfer'], ['transfer'], ['operation']];
  expect(await attention()).toEqual(waits.map((kind) => [...kind, 'psd2', 'batch', 'run', batch]));
  for (const { flow } of await report(batch)) {
    const resolved = ['transfer', 'resolve', flow ?? '', '--not-executed', '--yes'];
    expect((await operator.psd2(resolved)).code).toBe(0);
  }
  expect(await attention()).toEqual([]);
  expect((await run(batch)).code).toBe(8);
});

it('with --as single each line has an SCA of its own', async () => {
  const batch = await add('Ada', 'Bea');
  const before = (await initiated()).length;
  expect((await run(batch, '--as', 'single')).code).toBe(0);
  expect((await initiated()).length).toBe(before + 2);
});

it('two runs at once send one bulk payment', async () => {
  const batch = await add('Ada', 'Bea', 'Cleo');
  const before = (await initiated()).length;
  const both = await Promise.all(
    [1, 2].map(() => operator.psd2(['batch', 'run', batch, '--yes', '--json'], { ownProcess: true })),
  );
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect((await initiated()).length).toBe(before + 1);
});
