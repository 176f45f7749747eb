import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { parseSepaText } from '../../../../src/domain/order/sepa-text.ts';
import { transferOrder } from '../../../domain/orders.ts';
import { useNextGen, useNextGenBank } from './client.ts';

// Which fields of the standard an initiation has, at a bank that does not take all of them.

const open = useNextGen(useNextGenBank());
const BACK = { address: 'http://127.0.0.1:8910/callback?state=s1', state: 's1' };
const ADDRESS = { town: parseSepaText('--payee-town', 'Berlin', 35), country: 'DE' };
const STREET = { ...ADDRESS, street: parseSepaText('--payee-street', 'Ring', 70) };

async function initiationOf(payments: NonNullable<BankFile['payments']>, more: object = {}) {
  const order = transferOrder({
    ...{ instant: false, type: null, reference: 'INV-7', description: '' },
    ...{ fromIban: 'DE02100100109307118603', ...more },
  });
  const { initiation } = open({ file: { payments } }).bank.payments;
  const made = await initiation?.(order, BACK, () => '01234567-89ab-4cde-8f01-23456789abcd');
  if (!made) throw new Error('The interface initiates nothing');
  const body: unknown = JSON.parse(made.body);
  return { ...made, body };
}
const NEEDED = ['debtorAccount', 'instructedAmount', 'creditorAccount', 'creditorName'];
const fieldsOf = ({ body }: { body: unknown }) => Object.keys(Object(body)).sort();

describe('a bank', () => {
  it.each([
    ['names nothing', {}],
    ['names only fields of its own', { allowed: ['purposeCode'] }],
  ])('takes every field of the standard if its file %s', async (_, payments) => {
    const made = await initiationOf(payments, { description: 'Rent', payeeAddress: STREET });
    const optional = ['endToEndIdentification', 'creditorAddress', 'remittanceInformationUnstructured'];
    expect(fieldsOf(made)).toEqual([...NEEDED, ...optional].sort());
    expect(made.endToEndId).toBe('INV-7');
  });

  it('takes only the optional fields that payments.allowed names', async () => {
    const texts = { allowed: ['remittanceInformationUnstructured'] };
    const made = await initiationOf(texts, { description: 'Rent' });
    expect(fieldsOf(made)).toEqual([...NEEDED, 'remittanceInformationUnstructured'].sort());
    expect(made.endToEndId).toBe('');
    const named = await initiationOf({ allowed: ['endToEndIdentification'] });
    expect(fieldsOf(named)).toEqual([...NEEDED, 'endToEndIdentification'].sort());
    expect(named.endToEndId).toBe('INV-7');
  });

  it.each<[string, NonNullable<BankFile['payments']>, object, string, string]>([
    [
      'a description',
      { allowed: ['endToEndIdentification'] },
      { description: 'Rent' },
      'remittanceInformationUnstructured',
      '--description',
    ],
    [
      'an address',
      { allowed: ['endToEndIdentification'] },
      { payeeAddress: ADDRESS },
      'creditorAddress.townName',
      '--payee-town',
    ],
    [
      'a part of an address',
      { allowed: ['creditorAddress.townName', 'creditorAddress.country'] },
      { payeeAddress: STREET },
      'creditorAddress.streetName',
      '--payee-street',
    ],
  ])('that does not take %s gets no payment without it', async (_, payments, more, path, option) => {
    await expect(initiationOf(payments, more)).rejects.toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `This bank does not take ${path} in a payment`,
        hint: expect.stringContaining(`Leave out ${option}.`),
      }),
    );
  });

  it('takes what it demands, whatever payments.allowed names', async () => {
    const allowed = ['endToEndIdentification'];
    const demanded = { allowed, required: ['remittanceInformationUnstructured'] };
    expect((await initiationOf(demanded, { description: 'Rent' })).body).toMatchObject({
      remittanceInformationUnstructured: 'Rent',
    });
    const addressed = { allowed, address: 'required' as const };
    expect((await initiationOf(addressed, { payeeAddress: STREET })).body).toMatchObject({
      creditorAddress: { streetName: 'Ring', townName: 'Berlin', country: 'DE' },
    });
  });

  it('that wants the same in every payment gets it, and what the operator says goes first', async () => {
    const constant = { chargeBearer: 'SLEV', 'creditorAddress.country': 'IT' };
    const made = await initiationOf({ constant }, { payeeAddress: ADDRESS });
    expect(made.body).toMatchObject({ chargeBearer: 'SLEV', creditorAddress: { country: 'DE' } });
    expect((await initiationOf({ constant })).body).toMatchObject({ creditorAddress: { country: 'IT' } });
  });
});
