import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// Where the customer logs in with a payment, the bank may want the token of that login with each later call about it.

const PAY = [
  ...['transfer', 'create', '--from', 'IT89F0999001600000010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '1.00', '--yes'],
];
const transfer = z.looseObject({
  flow: z.string(),
  state: z.string(),
  transactionStatus: z.string().nullable(),
});

describe('at a bank that wants the token of a payment', () => {
  const operator = useSecondDoor(['--variation', 'payment-tokens'], {
    oauth: { mode: 'integrated' },
    payments: { futureDays: 30, products: { 'periodic-payments': ['sepa-credit-transfers'] } },
  });
  // Three weeks later it is still to come.
  const day = new Date(Date.now() + 28 * 86_400_000).toISOString().slice(0, 10);
  const kept = () =>
    readdirSync(join(operator.config, 'tokens', 'env')).filter((name) => name.startsWith('payment'));

  /** No holidays last as long. */
  const aWeekLater = async () => {
    expect((await operator.psd2(['sandbox', 'clock', '+7d'])).code).toBe(0);
  };

  it('a payment is followed to its end, and then its token is gone', async () => {
    const { state } = await operator.json(transfer, [...PAY, '--instant', '--payee-verified']);
    expect(state).toBe('settled');
    const { flow } = await operator.json(transfer, PAY);
    // The bank has accepted it, and may still reject it: psd2 asks again.
    expect(kept()).toHaveLength(1);
    await aWeekLater();
    expect(await operator.json(transfer, ['transfer', 'status', flow])).toMatchObject({
      ...{ state: 'executed', transactionStatus: 'ACSC' },
    });
    expect(kept()).toEqual([]);
  });

  it('a payment whose login was lost on its way goes on with another login of the customer', async () => {
    const lost = ['cut-after-effect', '--on', 'POST /nextgenpsd2/oauth/token', '--times', '1'];
    expect((await operator.psd2(['sandbox', 'fault', 'add', ...lost])).code).toBe(0);
    const cut = await operator.psd2([...PAY, '--json']);
    expect(cut, cut.stderr).toMatchObject({ code: 9 });
    const { flow, state } = transfer.parse(JSON.parse(cut.stdout));
    expect([state, kept()]).toEqual(['authorizing', []]);
    const asked = await operator.psd2(['transfer', 'status', flow, '--json']);
    expect(asked).toMatchObject({ code: 4 });
    expect(asked.stderr).toContain(`"next":[["psd2","transfer","resume","${flow}"]]`);
    expect((await operator.json(transfer, ['transfer', 'resume', flow, '--yes'])).state).toBe('executed');
    expect(kept()).toHaveLength(1);
    await aWeekLater();
    await operator.json(transfer, ['transfer', 'resume', flow, '--yes']);
    expect(kept()).toEqual([]);
  });

  it('the payments of a signing basket are asked for with the token of the basket', async () => {
    const path = join(operator.folder, 'basket.csv');
    const rows = ['4.01', '4.02', '4.03'].map((amount) => `Ada Lovelace,DE89370400440532013000,${amount}\n`);
    writeFileSync(path, `name,iban,amount\n${rows.join('')}`);
    const added = ['batch', 'add', path, '--from', 'IT89F0999001600000010482620', '--json'];
    const { batch } = await operator.json(shapes.batch, added);
    const ran = await operator.psd2(['batch', 'run', batch, '--yes', '--json', '--as', 'basket']);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const lines = await operator.json(shapes.batchLines, ['batch', 'report', batch, '--json']);
    expect(lines.map(({ state }) => state)).toEqual(['executed', 'executed', 'executed']);
    expect(kept()).toHaveLength(1);
    const flow = lines[0]?.flow ?? '';
    expect((await operator.json(transfer, ['transfer', 'status', flow, '--watch'])).state).toBe('executed');
    expect(kept()).toHaveLength(1);
    await aWeekLater();
    const settled = await operator.psd2(['batch', 'status', batch, '--json']);
    expect(settled, settled.stderr).toMatchObject({ code: 0 });
    expect(kept()).toEqual([]);
  });

  it('one for a later day is asked for and cancelled later, with the token, which is no login', async () => {
    const { flow } = await operator.json(transfer, [...PAY, '--date', day]);
    expect(kept()).toHaveLength(1);
    expect(await operator.json(transfer, ['transfer', 'status', flow])).toMatchObject({
      transactionStatus: 'ACTC',
    });
    expect(await operator.json(z.array(z.looseObject({ customerId: z.string() })), ['auth', 'list'])).toEqual(
      [],
    );
    const cancelled = await operator.json(transfer, ['transfer', 'cancel', flow, '--yes']);
    expect(cancelled).toMatchObject({ state: 'cancelled', transactionStatus: 'CANC' });
    expect(kept()).toEqual([]);
  });

  it('goes with the customer who is forgotten, once the bank will not soon reject a payment', async () => {
    const { flow } = await operator.json(transfer, [...PAY, '--date', day, '--customer', 'edda']);
    const early = await operator.psd2(['customer', 'forget', 'edda', '--yes', '--json']);
    expect(early).toMatchObject({ code: 3, stderr: expect.stringContaining(`${flow} (ordered)`) });
    expect(kept()).toHaveLength(1);
    await operator.json(transfer, ['transfer', 'cancel', flow, '--yes']);
    const [, , ...order] = PAY;
    const terms = ['--frequency', 'Monthly', '--start', day, '--customer', 'edda'];
    await operator.json(transfer, ['transfer', 'standing', ...order, ...terms]);
    expect(kept()).toHaveLength(1);
    const forgotten = await operator.psd2(['customer', 'forget', 'edda', '--yes', '--json']);
    expect(forgotten, forgotten.stderr).toMatchObject({ code: 0 });
    expect(kept()).toEqual([]);
  });
});
