import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// Payments from a file in a signing basket: a payment at the bank for each line, and one SCA for all.

const FROM = 'IT89F0999001600000010482620';
const operator = useSecondDoor([], { payments: { executesWithoutSca: 'never' } });
const log = z.array(z.looseObject({ method: z.string(), path: z.string() }));

let files = 0;
/** Adds a batch of payments to these payees. */
async function add(...names: string[]): Promise<string> {
  files += 1;
  const path = join(operator.folder, `basket-${files}.csv`);
  const rows = names.map((name, index) => `${name},DE89370400440532013000,${files}.${index + 10}\n`);
  writeFileSync(path, `name,iban,amount\n${rows.join('')}`);
  const added = ['batch', 'add', path, '--from', FROM, '--json'];
  return (await operator.json(shapes.batch, added)).batch;
}
const run = (batch: string, ...options: string[]) =>
  operator.psd2(['batch', 'run', batch, '--yes', '--json', '--as', 'basket', ...options]);
const report = (batch: string) => operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
/** The calls that have made or authorised something at the bank, in their order. */
async function changes(): Promise<string[]> {
  const calls = await operator.json(log, ['log', '--limit', '1000', '--json']);
  return calls
    .filter(({ method, path }) => method !== 'GET' && !path.includes('consents'))
    .map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/g, '…').replace('/nextgenpsd2', '')}`)
    .toReversed();
}
/** Lets the next basket fail. */
async function fail(fault: string): Promise<void> {
  const on = ['--on', 'createSigningBasket', '--times', '1'];
  expect((await operator.psd2(['sandbox', 'fault', 'add', fault, ...on])).code).toBe(0);
}
const INITIATED = 'POST /v1/payments/sepa-credit-transfers';
const PUT = 'POST /v1/signing-baskets';

it('each line is a payment at the bank, and the customer authorises all of them once', async () => {
  await operator.request();
  const batch = await add('Ada', 'Bea', 'EXECUTE REFUSED', 'Dora');
  const before = (await changes()).length;
  const ran = await run(batch);
  expect([ran.code, readError(ran).message]).toEqual([8, '1 of 4 payments was not made']);
  expect((await changes()).slice(before)).toEqual([INITIATED, INITIATED, INITIATED, INITIATED, PUT]);
  expect((await report(batch)).map(({ state }) => state)).toEqual([
    ...['executed', 'executed', 'failed', 'executed'],
  ]);
  expect((await run(batch)).code).toBe(8);
  expect(await changes()).toHaveLength(before + 5);
});

it('the customer of a basket gets one link, and its payments stay open until the customer has decided', async () => {
  const batch = await add('Ada', 'Bea');
  const links = join(operator.folder, 'links.ndjson');
  expect((await run(batch, '--links', links)).code).toBe(6);
  const [given, ...others] = readFileSync(links, 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect([given, others]).toEqual([expect.objectContaining({ batch, lines: [1, 2], currency: 'EUR' }), []]);
  const [line] = await report(batch);
  expect(line).toMatchObject({ state: 'authorizing' });
  const refused = await operator.psd2(['transfer', 'resume', line?.flow ?? '', '--yes', '--json']);
  expect(readError(refused)).toMatchObject({
    ...{
      exitCode: 2,
      message: expect.stringContaining('signing basket'),
      next: [['psd2', 'batch', 'run', batch]],
    },
  });
  const cancelled = await operator.psd2(['batch', 'cancel', batch, '--yes', '--json']);
  expect(readError(cancelled).message).toContain('2 payments have begun');
  expect((await run(batch, '--links', links)).code).toBe(6);
  await operator.psd2(['sandbox', 'customer', given.url]);
  expect((await run(batch, '--links', links)).code).toBe(0);
});

it('a payment in a basket can be cancelled at the bank, and the customer pays the others', async () => {
  const batch = await add('Ada', 'Bea');
  const links = join(operator.folder, 'cancelled.ndjson');
  expect((await run(batch, '--links', links)).code).toBe(6);
  const [line] = await report(batch);
  expect((await operator.psd2(['transfer', 'cancel', line?.flow ?? '', '--yes'])).code).toBe(0);
  await operator.psd2(['sandbox', 'customer', JSON.parse(readFileSync(links, 'utf8')).url]);
  expect((await run(batch)).code).toBe(8);
  expect((await report(batch)).map(({ state }) => state)).toEqual(['cancelled', 'executed']);
});

it('a customer who refuses a basket pays none of it', async () => {
  const batch = await add('SCA REFUSED', 'Bea');
  expect((await run(batch)).code).toBe(8);
  expect((await report(batch)).map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  const again = await operator.json(shapes.batch, ['batch', 'retry', batch, '--json']);
  expect(again).toMatchObject({ retryOf: batch, lines: 2 });
});

it('after a lost answer to a basket, its payments are authorised alone, and each is paid once', async () => {
  const batch = await add('Ada', 'Bea');
  await fail('cut-after-effect');
  expect((await run(batch)).code).toBe(9);
  expect((await report(batch)).map(({ state }) => state)).toEqual(['unknown', 'unknown']);
  // The bank has the payments in that basket, and takes them into no other one.
  expect(readError(await run(batch))).toMatchObject({
    exitCode: 6,
    next: [['psd2', 'batch', 'run', batch, '--as', 'single']],
  });
  expect((await report(batch)).map(({ state }) => state)).toEqual(['verified', 'verified']);
  const before = (await changes()).length;
  expect((await run(batch, '--as', 'single')).code).toBe(0);
  const since = (await changes()).slice(before);
  expect(since).toEqual(Array(2).fill('POST /v1/payments/sepa-credit-transfers/…/authorisations'));
});

it('two runs at once put each payment into one basket', async () => {
  const batch = await add('Ada', 'Bea', 'Cleo');
  const before = (await changes()).length;
  const both = await Promise.all(
    [1, 2].map(() =>
      operator.psd2(['batch', 'run', batch, '--yes', '--json', '--as', 'basket'], { ownProcess: true }),
    ),
  );
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect((await changes()).slice(before)).toEqual([INITIATED, INITIATED, INITIATED, PUT]);
});
