import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { smokeRun } from '../../../src/commands/smoke/shape.ts';
import type { StepId } from '../../../src/smoke/steps.ts';
import { words } from '../../support/words.ts';
import { useDoor } from './door-operator.ts';

const transfers = z.array(z.looseObject({ state: z.string(), transactionStatus: z.string().nullable() }));
const safe = useDoor({ payments: { executesWithoutSca: 'never', cancel: 'direct' } });
const usual = useDoor({});
const PAYEE = ['--initiate', '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--yes'];

/** On a busy machine each step may be slow. */
const UNHURRIED = ['--slow', '1h'];

async function smoke(who: typeof safe, ...options: string[]) {
  const { code, stdout } = await who.psd2([
    'smoke',
    '--json',
    '--psu-ip',
    '192.0.2.1',
    ...UNHURRIED,
    ...options,
  ]);
  const run = smokeRun.read(JSON.parse(stdout));
  return { code, of: (id: StepId) => run.steps.find((step) => step.id === id) };
}
const consent = (who: typeof safe) => who.psd2(['consent', 'request', '--all-accounts', '--yes']);

describe('psd2 smoke at a NextGenPSD2 bank', () => {
  it('asks for the status of the consent, reads, and has the bank cancel a payment that nobody saw', async () => {
    await consent(safe);
    const { code, of } = await smoke(safe, ...PAYEE);
    expect([code, of('login')?.reason, of('consent')?.status]).toEqual([0, 'this bank has no login', 'pass']);
    const calls = of('initiate')?.calls.map(({ method, route }) => `${method} ${route}`);
    expect(calls?.filter((call) => /^(POST|DELETE)/.test(call))).toEqual([
      'POST /v1/payments/{payment-product}',
      'DELETE /v1/payments/{payment-product}/{paymentId}',
    ]);
    const [transfer] = await safe.json(transfers, ['transfer', 'list']);
    expect(transfer).toMatchObject({ state: 'cancelled', transactionStatus: 'CANC' });
  });

  it('asks whether the account has one cent, of the first one or of the one that is named', async () => {
    for (const more of [[], ['--account', 'IT89F0999001600000010482620']]) {
      const { code, of } = await smoke(safe, '--funds', ...more);
      expect([code, of('funds')?.detail, of('funds')?.calls.map(({ route }) => route)]).toEqual([
        ...[0, 'available', ['/v1/funds-confirmations']],
      ]);
    }
    const alone = await smoke(safe, '--funds', '--steps', 'funds');
    expect(alone.of('funds')?.error?.message).toMatch(/name one with --account/);
    await safe.psd2(words`sandbox fault add status=403 --on checkAvailabilityOfFunds --times 1`);
    expect((await smoke(safe, '--funds')).of('funds')?.status).toBe('fail');
  });

  it('if the answer to the cancellation is lost, the bank says what became of it, else the payment is named', async () => {
    await safe.psd2(['sandbox', 'fault', 'add', 'cut-after-effect', '--on', 'cancelPayment', '--times', '1']);
    expect((await smoke(safe, ...PAYEE)).of('initiate')?.status).toBe('pass');
    await safe.psd2(['sandbox', 'fault', 'add', 'status=503', '--on', 'cancelPayment']);
    const named = await smoke(safe, ...PAYEE);
    expect([named.code, named.of('initiate')?.error?.flow]).toEqual([9, expect.stringMatching(/^tr-/)]);
    await safe.psd2(['sandbox', 'fault', 'clear']);
    // The next run ends it.
    const next = await smoke(safe);
    expect([next.code, next.of('clean-up')?.detail]).toEqual([
      0,
      expect.stringContaining('ended the transfer tr-'),
    ]);
    const states = (await safe.json(transfers, ['transfer', 'list'])).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['cancelled']));
  });

  it('begins no payment at a bank that may execute it, or asks the customer, before it is given up', async () => {
    await consent(usual);
    const { code, of } = await smoke(usual, ...PAYEE);
    expect([code, of('initiate')?.error?.exitCode, of('initiate')?.calls]).toEqual([2, 2, []]);
    expect(of('initiate')?.error?.message).toContain('payments.executesWithoutSca');
    expect(await usual.json(transfers, ['transfer', 'list'])).toEqual([]);
    const costly = await smoke(safe, '--pay', '0.02', ...PAYEE.slice(1));
    expect([costly.code, costly.of('pay')?.error?.message]).toEqual([
      2,
      expect.stringContaining('0.52 from the account'),
    ]);
    const paid = await smoke(usual, '--pay', '0.02', '--max-fee', '0.50', ...PAYEE.slice(1));
    expect([paid.code, paid.of('initiate')?.status, paid.of('pay')?.status]).toEqual([0, 'skip', 'pass']);
  });

  it('makes a consent for the list alone, which does not take the place of another, and ends it', async () => {
    const { code, of } = await smoke(usual, '--consent');
    expect([code, of('accounts')?.status, of('clean-up')?.detail]).toEqual([
      0,
      'pass',
      expect.stringMatching(/^ended the consent co-/),
    ]);
    expect((await smoke(usual)).of('consent')?.status).toBe('pass');
    // Of a customer who has no other consent, only the list is read, and its form compared.
    const alone = await smoke(usual, '--consent', '--customer', 'tester');
    expect([alone.of('balance')?.status, alone.of('shapes')?.status]).toEqual(['skip', 'pass']);
  });
});
