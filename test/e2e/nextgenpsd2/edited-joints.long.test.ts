import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// What many lines are authorised with is stored before it is sent. Somebody changes it in the store, before psd2 sends it again.

const FROM = 'IT89F0999001600000010482620';
const PAYEE = 'DE89370400440532013000';
const log = z.array(z.looseObject({ method: z.string(), path: z.string() }));

describe.each([
  ['bulk', 'initiatePayment', /\/bulk-payments\//, [PAYEE, 'IT60X0542811101000000123456']],
  ['basket', 'createSigningBasket', /\/signing-baskets$/, [/("paymentIds\\":\[\\"[0-9a-f]{8})-/, '$1+']],
] as const)('a stored %s', (as, call, path, [ours, theirs]) => {
  const operator = useSecondDoor([], {
    payments: {
      repeat: 'same-answer',
      repeatMinutes: 60,
      products: { 'bulk-payments': ['sepa-credit-transfers'] },
    },
  });
  const sent = async () => {
    const calls = await operator.json(log, ['log', '--limit', '1000', '--json']);
    return calls.filter((each) => each.method === 'POST' && path.test(each.path)).length;
  };
  /** The journal of the only operation. */
  const journal = () => {
    const folder = join(operator.config, 'flows');
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return join(folder, names.find((each) => /\/op-[^/]*\.ndjson$/.test(each)) ?? '');
  };

  it('is sent again only if it is what the lines order', async () => {
    await operator.request();
    const file = join(operator.folder, 'two.csv');
    writeFileSync(file, `name,iban,amount\nAda,${PAYEE},1.10\nBea,${PAYEE},1.11\n`);
    const added = ['batch', 'add', file, '--from', FROM, '--json'];
    const { batch } = await operator.json(shapes.batch, added);
    const run = () => operator.psd2(['batch', 'run', batch, '--yes', '--json', '--as', as]);
    const fault = ['sandbox', 'fault', 'add', 'cut-before-effect', '--on', call];
    expect((await operator.psd2(fault)).code).toBe(0);
    expect((await run()).code).toBe(9);
    expect((await operator.psd2(['sandbox', 'fault', 'clear'])).code).toBe(0);
    const text = readFileSync(journal(), 'utf8');
    const edited = text.replace(ours, theirs);
    expect(edited).not.toBe(text);
    writeFileSync(journal(), edited);
    const before = await sent();
    const ran = await run();
    expect(ran.code).toBe(9);
    for (const { reason } of shapes.batchLines.parse(JSON.parse(ran.stdout)))
      expect(reason).toBe('The stored payment is not the one that was ordered');
    expect(await sent()).toBe(before);
    writeFileSync(journal(), text);
    expect((await run()).code).toBe(0);
    expect(await sent()).toBe(before + 1);
  });
});
