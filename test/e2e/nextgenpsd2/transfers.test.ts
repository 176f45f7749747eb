import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { ADDRESS, readDocument } from '../support/psd2.ts';
import { runningBank, useSecondDoor } from './second-door-customer.ts';

// Payments at the second door: the customer commits them, and the bank runs them without psd2.

const IBAN = 'IT89F0999001600000010482620';
const PAYEE = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'];

const transfer = z.looseObject({
  flow: z.string(),
  state: z.string(),
  product: z.string().nullable(),
  endToEndId: z.string().nullable(),
  transactionStatus: z.string().nullable(),
  reference: z.string().nullable(),
});
const funds = z.looseObject({ fundsAvailable: z.boolean() });

/** The products of a bank. @param form what stands before their names: `pain.001-` for those in XML */
const productsOf = (form: string) => ({
  payments: [`${form}sepa-credit-transfers`, `${form}instant-sepa-credit-transfers`],
  'periodic-payments': [`${form}sepa-credit-transfers`],
});

describe.each([
  ['that redirects', '', [], {}],
  ['that takes payments in XML', 'pain.001-', [], {}],
  ['whose authorisation is OAuth', '', [], { oauth: { mode: 'integrated' } }],
  ['that starts on demand and confirms by a code', '', ['--variation', 'start-link,confirmation-codes'], {}],
] as const)('at a bank %s', (_what, form, rules, file) => {
  const operator = useSecondDoor([...rules], {
    ...file,
    payments: { futureDays: 30, products: productsOf(form) },
  });
  const pay = (...args: string[]) =>
    operator.json(transfer, ['transfer', 'create', '--from', IBAN, ...PAYEE, '--yes', ...args]);

  it('a transfer and an instant one are paid, each once, and a reference is used once', async () => {
    await operator.request();
    expect(await pay('--amount', '12.50', '--reference', 'INV-1')).toMatchObject({
      ...{ state: 'executed', product: `${form}sepa-credit-transfers`, endToEndId: 'INV-1' },
      transactionStatus: 'ACSP',
    });
    expect(await pay('--amount', '1.00', '--instant', '--payee-verified')).toMatchObject({
      ...{ state: 'settled', product: `${form}instant-sepa-credit-transfers`, transactionStatus: 'ACSC' },
    });
    const again = [
      'transfer',
      '--from',
      IBAN,
      ...PAYEE,
      '--amount',
      '12.50',
      '--reference',
      'INV-1',
      '--yes',
    ];
    expect(readError(await operator.psd2([...again, '--json']))).toMatchObject({
      code: 'duplicate_reference',
    });
    const listed = await operator.json(z.array(transfer), ['transfer', 'list']);
    expect(listed.map(({ state }) => state)).toEqual(['settled', 'executed']);
  });

  it('a transfer for a later day is cancelled at the bank, and its reference is free again', async () => {
    const date = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    const order = ['--amount', '3.00', '--reference', 'LATER-1', '--date', date];
    const { flow } = await pay(...order);
    const cancelled = await operator.json(transfer, ['transfer', 'cancel', flow, '--yes']);
    expect(cancelled).toMatchObject({ flow, state: 'cancelled', transactionStatus: 'CANC' });
    expect(await pay(...order)).toMatchObject({ state: 'ordered', reference: 'LATER-1' });
  });

  it('Ctrl-C while the customer authorises a cancellation: the error says how to go on', async () => {
    const date = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    const { flow } = await pay('--amount', '4.00', '--date', date);
    const cancelling = await operator.start(['transfer', 'cancel', flow, '--yes', '--json'], {
      PSD2_BROWSER: 'none',
    });
    await cancelling.prints(ADDRESS);
    cancelling.kill('SIGINT');
    expect(readError(await cancelling.ended)).toMatchObject({
      ...{ code: 'interrupted', exitCode: 130, flow },
      next: [
        ['psd2', 'transfer', 'status', flow],
        ['psd2', 'transfer', 'cancel', flow],
      ],
    });
  });

  it('the browser fails: the error warns of a payment that the customer can still authorise', async () => {
    const order = ['transfer', 'create', '--from', IBAN, ...PAYEE, '--yes', '--amount', '6.00', '--json'];
    const error = readError(await operator.psd2(order, { env: { PSD2_BROWSER: 'false' } }));
    expect(error).toMatchObject({
      code: 'config',
      exitCode: 3,
      hint: expect.stringContaining('PSD2_BROWSER'),
    });
    expect(error.message).toMatch(/may be executed without psd2: do not make it again$/);
  });

  it('a standing order is taken, and funds are confirmed', async () => {
    const start = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const ordered = ['--frequency', 'Monthly', '--start', start, '--amount', '5.00', '--yes'];
    expect(
      await operator.json(transfer, ['transfer', 'standing', '--from', IBAN, ...PAYEE, ...ordered]),
    ).toMatchObject({ state: 'ordered', product: `${form}sepa-credit-transfers` });
    const check = ['funds', 'check', '--account', IBAN, '--json', '--amount'];
    expect(readDocument(funds, (await operator.psd2([...check, '1.00'])).stdout)).toMatchObject({
      fundsAvailable: true,
    });
    expect(await operator.psd2([...check, '99999999.00'])).toMatchObject({ code: 7 });
  });
});

describe('psd2 transfer resume --all at a NextGenPSD2 bank', () => {
  const operator = useSecondDoor();

  it('goes on with each unfinished transfer, and initiates none again', async () => {
    await operator.request();
    const lost = ['sandbox', 'fault', 'add', 'cut-after-effect', '--on', 'initiatePayment', '--times', '1'];
    expect((await operator.psd2(lost)).code).toBe(0);
    const begin = async (amount: string, env: Record<string, string>, exitCode: number) => {
      const create = ['transfer', 'create', '--from', IBAN, ...PAYEE, '--amount', amount, '--yes', '--json'];
      const ended = await operator.psd2([...create, '--sca-timeout', '1'], { env });
      expect(readError(ended)).toMatchObject({ exitCode });
      return readDocument(transfer, ended.stdout).flow;
    };
    const unknown = await begin('7.01', {}, 9);
    const waiting = await begin('7.02', { PSD2_BROWSER: 'none' }, 6);
    const resume = ['transfer', 'resume', '--all', '--yes', '--json'];
    const ended = await operator.psd2(resume);
    const states = readDocument(z.array(transfer), ended.stdout).map(({ flow, state }) => [flow, state]);
    expect(states).toEqual([
      [unknown, 'unknown'],
      [waiting, 'executed'],
    ]);
    expect(readError(ended)).toMatchObject({
      exitCode: 9,
      message: expect.stringContaining('1 of 2 transfers could not be continued'),
    });
    const again = await operator.psd2(resume);
    // psd2 asks again about what the bank has accepted, too: it is not final.
    expect(readDocument(z.array(transfer), again.stdout)).toEqual([
      expect.objectContaining({ flow: unknown, state: 'unknown' }),
      expect.objectContaining({ flow: waiting, state: 'executed' }),
    ]);
    const call = z.looseObject({ method: z.string(), path: z.string() });
    const calls = await operator.json(z.array(call), ['log', '--limit', '1000']);
    const initiations = calls.filter(
      ({ method, path }) => method === 'POST' && /credit-transfers$/.test(path),
    );
    expect(initiations).toHaveLength(2);
  });
});

describe('at a bank that wants to know who the customer is', () => {
  const operator = useSecondDoor([], {
    psu: { id: 'required' },
    payments: { products: { 'periodic-payments': ['sepa-credit-transfers'] } },
  });
  const order = ['--from', IBAN, ...PAYEE, '--amount', '12.50', '--yes', '--json'];

  it('a payment takes the id of the customer, and psd2 keeps it', async () => {
    expect(readError(await operator.psd2(['transfer', 'create', ...order]))).toMatchObject({
      ...{ exitCode: 2, message: 'This bank wants --psu-id' },
      hint: expect.stringContaining('Give it once'),
    });
    for (const named of [['--psu-id', 'anna'], []])
      expect(await operator.json(transfer, ['transfer', 'create', ...order, ...named])).toMatchObject({
        state: 'executed',
      });
  });

  it('a standing order names its own option if its first day is over', async () => {
    const ended = await operator.psd2([
      ...['transfer', 'standing', ...order, '--psu-id', 'anna'],
      ...['--frequency', 'Monthly', '--start', '2026-01-01'],
    ]);
    expect(readError(ended)).toMatchObject({
      code: 'invalid_date',
      message: expect.stringMatching(/^--start 2026-01-01 is in the past/),
    });
  });
});

describe.each(['', 'pain.001-'])('at a bank that gives the same answer again: %s', (form) => {
  const operator = useSecondDoor(['--variation', 'no-sca'], {
    payments: { repeat: 'same-answer', repeatMinutes: 10, products: productsOf(form) },
  });
  const paid = z.array(z.looseObject({ paymentId: z.string() }));

  it('an initiation whose answer is lost is repeated, also for a customer without a consent', async () => {
    await operator.psd2([
      'sandbox',
      'fault',
      'add',
      'cut-after-effect',
      '--on',
      'initiatePayment',
      '--times',
      '1',
    ]);
    const order = ['transfer', 'create', '--from', IBAN, ...PAYEE, '--amount', '3.75', '--yes', '--json'];
    expect((await operator.psd2(order)).code).toBe(9);
    const [resumed] = await operator.json(z.array(transfer), ['transfer', 'resume', '--all', '--yes']);
    expect(resumed).toMatchObject({ state: 'executed' });
    const { customerSiteUrl, controlToken } = runningBank(operator);
    const headers = { authorization: `Bearer ${controlToken}` };
    const listed = await fetch(`${customerSiteUrl}/control/nextgenpsd2/payments`, { headers });
    expect(paid.parse(await listed.json())).toHaveLength(1);
  });
});
