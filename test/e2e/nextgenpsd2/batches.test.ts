import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// Payments from a file that their customer authorises once: links, and two runs at once. What becomes of each payment is in
// test/scenarios/rows/batches.ts.

const FROM = 'IT89F0999001600000010482620';
const log = z.array(z.looseObject({ method: z.string(), path: z.string() }));
const status = z.looseObject({
  attention: z.array(z.looseObject({ kind: z.string(), next: z.array(z.string()) })),
});

describe.each([
  ['bulk', ['POST bulk-payments']],
  ['basket', ['POST payments', 'POST payments', 'POST signing-baskets']],
])('as a %s', (as, initiations) => {
  const operator = useSecondDoor([], {
    payments: { executesWithoutSca: 'never', products: { 'bulk-payments': ['sepa-credit-transfers'] } },
  });
  let files = 0;
  async function add(): Promise<string> {
    files += 1;
    const path = join(operator.folder, `${files}.csv`);
    const rows = ['Ada', 'Bea'].map((name) => `${name},DE89370400440532013000,${files}.10\n`);
    writeFileSync(path, `name,iban,amount\n${rows.join('')}`);
    return (await operator.json(shapes.batch, ['batch', 'add', path, '--from', FROM, '--json'])).batch;
  }
  const run = (batch: string, ...options: string[]) =>
    operator.psd2(['batch', 'run', batch, '--yes', '--json', '--as', as, ...options]);
  const report = (batch: string) => operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
  /** The calls that have initiated something. */
  async function initiated(): Promise<string[]> {
    const calls = await operator.json(log, ['log', '--limit', '1000', '--json']);
    return calls
      .filter(({ method, path }) => method === 'POST' && /(payments\/[a-z-]+|baskets)$/.test(path))
      .map(({ method, path }) => `${method} ${/\/v1\/([a-z-]+)/.exec(path)?.[1]}`)
      .toReversed();
  }

  it('two runs at once send each payment once', async () => {
    await operator.request();
    const batch = await add();
    const both = await Promise.all(
      [1, 2].map(() =>
        operator.psd2(['batch', 'run', batch, '--yes', '--json', '--as', as], { ownProcess: true }),
      ),
    );
    expect([both.map(({ code }) => code), await initiated()]).toEqual([[0, 0], initiations]);
  });

  it('the customer gets one link, and a later run asks what they decided', async () => {
    const batch = await add();
    const links = join(operator.folder, 'links.ndjson');
    const given = () => readFileSync(links, 'utf8').trim().split('\n');
    for (const _ of ['first', 'second']) expect((await run(batch, '--links', links)).code).toBe(6);
    const [link = '', ...others] = given();
    expect([JSON.parse(link), others]).toMatchObject([{ batch, lines: [1, 2], currency: 'EUR' }, []]);
    await operator.psd2(['sandbox', 'customer', JSON.parse(link).url]);
    expect((await run(batch, '--links', links)).code).toBe(0);
  });

  it('once a person has resolved each payment of one whose answer was lost, psd2 asks for nothing any more', async () => {
    const batch = await add();
    const lost = ['cut-after-effect', '--on', as === 'bulk' ? 'initiatePayment' : 'createSigningBasket'];
    await operator.psd2(['sandbox', 'fault', 'add', ...lost, '--times', '1']);
    expect((await run(batch)).code).toBe(9);
    const attention = async () => {
      const { stdout } = await operator.psd2(['status', '--json']);
      return status.parse(JSON.parse(stdout)).attention.map(({ kind, next }) => [kind, ...next]);
    };
    const waits = ['transfer', 'transfer', 'operation'];
    expect(await attention()).toEqual(waits.map((kind) => [kind, 'psd2', 'batch', 'run', batch]));
    for (const { flow } of await report(batch)) {
      const resolved = ['transfer', 'resolve', flow ?? '', '--not-executed', '--yes'];
      expect((await operator.psd2(resolved)).code).toBe(0);
    }
    expect(await attention()).toEqual([]);
    expect((await run(batch)).code).toBe(8);
  });
});
