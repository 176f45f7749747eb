import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import { ADDRESS, readDocument, words } from '../support/psd2.ts';
import { useSecondDoor } from './second-door-customer.ts';

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
    const again = words`transfer --from ${IBAN} ${PAYEE} --amount 12.50 --reference INV-1 --yes`;
    expect(readError(await operator.psd2([...again, '--json']))).toMatchObject({
      code: 'duplicate_reference',
    });
    const listed = await operator.json(z.array(transfer), ['transfer', 'list']);
    expect(listed.map(({ state }) => state)).toEqual(['settled', 'executed']);
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
