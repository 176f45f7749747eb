import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// Payments from a file that their customer authorises once: links, and two runs at once. What becomes of each payment is in
// test/scenarios/rows/batches.ts.

const FROM = 'IT89F0999001600000010482620';
const log = z.array(z.looseObject({ method: z.string(), path: z.string() }));

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
});
