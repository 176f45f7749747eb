import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import {
  initiationOf,
  productOf,
  productOfPayment,
  refuseUntaken,
} from '../../../../../src/bank/interfaces/nextgenpsd2/payments/initiation.ts';
import { parseDate } from '../../../../../src/domain/calendar.ts';
import { parseSepaText } from '../../../../../src/domain/order/sepa-text.ts';
import type { TransferOrder } from '../../../../../src/domain/transfer.ts';
import { transferOrder } from '../../../../domain/orders.ts';
import { described, errorOf, noBankHas, scriptedCalls } from '../scripted.ts';

// What psd2 keeps of a payment before it sends anything: the bytes of the body, and what the bank file says of it.

const BACK = { address: 'http://127.0.0.1:8910/callback?state=s1', state: 's1' };
const NEW_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const IBAN = 'DE02100100109307118603';
const PAYEE = 'IT60X0542811101000000123456';
const date = (day: string) => parseDate('--date', day);
const text = (value: string) => parseSepaText('--payee-town', value, 70);

const PLAIN = { instant: false, type: null, reference: 'INV-7', fromIban: IBAN } as const;
const SIMPLE = { ...PLAIN, description: '' } as const;
const FIELDS = {
  debtorAccount: { iban: IBAN },
  instructedAmount: { currency: 'EUR', amount: '12.50' },
  creditorAccount: { iban: PAYEE },
  creditorName: 'Mario Rossi',
};

/** The body of an order that is {@link SIMPLE}. */
const BODY = { endToEndIdentification: 'INV-7', ...FIELDS };

function initiated(
  payments: NonNullable<BankFile['payments']>,
  order: Partial<TransferOrder> = {},
  sca: BankFile['sca'] = {},
) {
  const { calls } = scriptedCalls([], { payments, sca });
  return initiationOf(calls, transferOrder({ ...PLAIN, ...order }), BACK, () => NEW_ID);
}

/** The body of a payment, with its fields in their order. */
function bodyOf(payments: NonNullable<BankFile['payments']>, order: Partial<TransferOrder> = {}): unknown {
  return JSON.parse(initiated(payments, order).body);
}

describe('the initiation of a transfer', () => {
  it('has the fields of the standard, in its order, and what the bank file says', () => {
    expect(initiated({})).toEqual({
      service: 'payments',
      product: 'sepa-credit-transfers',
      endToEndId: 'INV-7',
      body: JSON.stringify({ ...BODY, remittanceInformationUnstructured: 'Invoice 7' }),
      returnAddress: BACK.address,
      returnState: 's1',
      repeatMinutes: null,
      needsLink: true,
      executesWithoutSca: 'possible',
    });
  });

  it('without a reference has an id of its own, without hyphens, and without a description no text', () => {
    const endToEndId = '0123456789ab4cde8f0123456789abcd';
    expect(initiated({}, { reference: null, description: '' })).toMatchObject({
      endToEndId,
      body: JSON.stringify({ endToEndIdentification: endToEndId, ...FIELDS }),
    });
    const { calls } = scriptedCalls([]);
    const order = transferOrder({ ...PLAIN, reference: null });
    expect(initiationOf(calls, order, BACK, () => 'x'.repeat(40)).endToEndId).toBe('x'.repeat(35));
  });

  it.each([
    [{ repeat: 'same-answer', repeatMinutes: 60 }, {}, { repeatMinutes: 60 }],
    [{ repeat: 'same-answer' }, {}, { repeatMinutes: null }],
    [{ executesWithoutSca: 'never' }, {}, { executesWithoutSca: 'never' }],
    [{}, { approaches: ['redirect', 'decoupled'] }, { needsLink: false }],
    [{}, { approaches: ['decoupled'] }, { needsLink: false }],
  ] as const)('keeps what the bank file says: %j %j', (payments, sca, kept) => {
    const { approaches } = { approaches: ['redirect'] as const, ...sca };
    expect(initiated(payments, {}, { approaches: [...approaches] })).toMatchObject({
      ...{ repeatMinutes: null, needsLink: true, executesWithoutSca: 'possible' },
      ...kept,
    });
  });

  it('debits the product of an order without an IBAN of its own', () => {
    const order = transferOrder({ instant: false, type: null, reference: 'INV-7', description: '' });
    const { calls } = scriptedCalls([]);
    expect(JSON.parse(initiationOf(calls, order, BACK, () => NEW_ID).body)).toMatchObject({
      debtorAccount: { iban: '0000012345' },
    });
  });

  it('has the parts of the address that the operator gave, and no other', () => {
    const town = { town: text('Berlin'), country: 'DE' };
    expect(bodyOf({}, { ...SIMPLE, payeeAddress: town })).toEqual({
      ...BODY,
      creditorAddress: { townName: 'Berlin', country: 'DE' },
    });
    const full = { street: text('Ring'), building: text('7'), postcode: text('10115'), ...town };
    const creditorAddress = {
      ...{ streetName: 'Ring', buildingNumber: '7', postCode: '10115', townName: 'Berlin', country: 'DE' },
    };
    const { body } = initiated({}, { ...SIMPLE, payeeAddress: full });
    expect(body).toBe(JSON.stringify({ ...BODY, creditorAddress }));
  });

  it('has the reference of the payee if the bank file names it', () => {
    const creditorReference = { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' };
    const order = { ...SIMPLE, description: '', creditorReference };
    const allowed = ['remittanceInformationStructured'];
    for (const [issuer, named] of [
      ['ISO', { referenceIssuer: 'ISO' }],
      [null, {}],
    ] as const)
      expect(bodyOf({ allowed }, { ...order, creditorReference: { ...creditorReference, issuer } })).toEqual({
        ...BODY,
        remittanceInformationStructured: {
          ...{ reference: 'RF18539007547034', referenceType: 'SCOR', ...named },
        },
      });
    expect(errorOf(() => bodyOf({}, order))).toEqual({
      ...{ code: 'usage', message: 'This bank does not take the reference of a payee in a payment' },
      hint: expect.stringMatching(
        /^If it does, name remittance\w+ in payments\.allowed of the bank file\. Else pay with a text\.$/,
      ),
    });
    const inBulk = { bulk: { format: 'pain.001.001.03' } } as const;
    expect(errorOf(() => bodyOf(inBulk, order))).toMatchObject({
      ...{ code: 'usage', message: expect.stringContaining('only in its bulk payments') },
      hint: 'Pay it with --as bulk.',
    });
  });

  it('names no account if the customer chooses it, also where the bank demands more of it', () => {
    const { debtorAccount: _, ...fields } = FIELDS;
    const free = { ...SIMPLE, from: null, fromIban: undefined };
    const required = ['debtorAccount.currency', 'chargeBearer'];
    const constant = { 'debtorAccount.cashAccountType': 'CACC' };
    expect(bodyOf({ debtorAccount: 'optional', required, constant }, free)).toEqual({
      ...{ endToEndIdentification: 'INV-7', ...fields, chargeBearer: 'SLEV' },
    });
  });

  it('has the day only if it is a later one', () => {
    const day = date('2026-11-25');
    const later = { ...SIMPLE, executionDate: day, futureDated: true };
    expect(bodyOf({ futureDays: 30 }, later)).toEqual({ ...BODY, requestedExecutionDate: '2026-11-25' });
    expect(bodyOf({ futureDays: 30 }, { ...later, futureDated: false })).toEqual(BODY);
  });
});

describe('the initiation of a standing order', () => {
  const products = { 'periodic-payments': ['sepa-credit-transfers'] };
  const start = date('2027-03-01');

  const STARTS = { startDate: '2027-03-01' };
  const monthly = { frequency: 'Monthly', end: null, day: null } as const;
  const onThe31st = { ...monthly, day: 31 };
  const weekly = { frequency: 'Weekly', end: date('2028-03-01'), day: null } as const;
  it.each<[NonNullable<TransferOrder['standing']>, object]>([
    [monthly, { ...STARTS, frequency: 'Monthly' }],
    [weekly, { ...STARTS, endDate: '2028-03-01', frequency: 'Weekly' }],
    [onThe31st, { ...STARTS, frequency: 'Monthly', dayOfExecution: '31' }],
  ])('%j', (standing, written) => {
    const order = { ...SIMPLE, executionDate: start, futureDated: true, standing };
    expect(initiated({ products }, order)).toEqual({
      ...{ service: 'periodic-payments', product: 'sepa-credit-transfers', endToEndId: 'INV-7' },
      body: JSON.stringify({ ...BODY, ...written }),
      ...{ returnAddress: BACK.address, returnState: 's1', repeatMinutes: null },
      ...{ needsLink: true, executesWithoutSca: 'possible' },
    });
  });
});

it('payments.days writes the day of a standing order with two digits', () => {
  const order = { ...SIMPLE, standing: { frequency: 'Monthly', end: null, day: 1 } } as const;
  const products = { 'periodic-payments': ['sepa-credit-transfers'] };
  expect(bodyOf({ products }, order)).toMatchObject({ dayOfExecution: '1' });
  expect(bodyOf({ products, days: 'two-digits' }, order)).toMatchObject({ dayOfExecution: '01' });
});

it('payments.required asks for what a standing order alone has', () => {
  const products = { 'periodic-payments': ['sepa-credit-transfers'], payments: ['sepa-credit-transfers'] };
  const required = ['dayOfExecution', 'endDate'];
  const whole = { frequency: 'Monthly', end: date('2027-12-01'), day: 1 } as const;
  const ofStanding = (standing: NonNullable<TransferOrder['standing']>) =>
    bodyOf({ products, required }, { ...SIMPLE, standing });
  expect(bodyOf({ products, required }, SIMPLE)).toEqual(BODY);
  expect(ofStanding(whole)).toMatchObject({ dayOfExecution: '1', endDate: '2027-12-01' });
  expect(ofStanding({ ...whole, frequency: 'Weekly', day: null })).not.toHaveProperty('dayOfExecution');
  expect(errorOf(() => ofStanding({ ...whole, day: null }))).toEqual({
    ...{ code: 'usage', hint: 'Give it with --day, 1 to 31.' },
    message: 'This bank wants to know the day of the month of a standing order',
  });
  expect(errorOf(() => ofStanding({ ...whole, end: null }))).toMatchObject({ hint: 'Give it with --end.' });
});

it('payments.frequencies has the words of the bank', () => {
  const order = { ...SIMPLE, standing: { frequency: 'Monthly', end: null, day: null } } as const;
  const products = { 'periodic-payments': ['sepa-credit-transfers'] };
  expect(bodyOf({ products, frequencies: { Monthly: 'MNTH' } }, order)).toMatchObject({ frequency: 'MNTH' });
  expect(bodyOf({ products, frequencies: { Weekly: 'WEEK' } }, order)).toMatchObject({
    frequency: 'Monthly',
  });
});

it('one of several accounts of an IBAN is named by its currency', () => {
  expect(bodyOf({}, { fromIban: IBAN, fromCurrency: 'EUR', toCurrency: 'USD' })).toMatchObject({
    debtorAccount: { iban: IBAN, currency: 'EUR' },
    creditorAccount: { currency: 'USD' },
  });
});

describe('a field that the bank demands', () => {
  it.each<[string, object]>([
    ['debtorAccount.currency', { debtorAccount: { iban: IBAN, currency: 'EUR' } }],
    ['creditorAccount.currency', { creditorAccount: { iban: PAYEE, currency: 'EUR' } }],
    ['chargeBearer', { chargeBearer: 'SLEV' }],
    ['instructionIdentification', { instructionIdentification: 'INV-7' }],
    ['requestedExecutionDate', { requestedExecutionDate: '2026-11-21' }],
    ['remittanceInformationUnstructured', { remittanceInformationUnstructured: 'INV-7' }],
    ['creditorName', {}],
    ['debtorAccount.iban', {}],
  ])('%s is filled with what psd2 knows', (path, filled) => {
    expect(bodyOf({ required: [path] }, SIMPLE)).toEqual({ ...BODY, ...filled });
  });

  it.each<[string | undefined, string | undefined, string, string]>([
    [undefined, undefined, 'EUR', 'EUR'],
    ['USD', undefined, 'USD', 'EUR'],
    [undefined, 'USD', 'EUR', 'USD'],
    ['USD', 'CHF', 'USD', 'CHF'],
  ])(
    'of accounts in %j and %j is that of the account, else that of the payment',
    (from, to, debtor, payee) => {
      const order = { ...SIMPLE, ...(from && { fromCurrency: from }), ...(to && { toCurrency: to }) };
      expect(bodyOf({ required: ['debtorAccount.currency', 'creditorAccount.currency'] }, order)).toEqual({
        ...BODY,
        debtorAccount: { iban: IBAN, currency: debtor },
        creditorAccount: { iban: PAYEE, currency: payee },
      });
    },
  );

  it('has the text of the operator if there is one', () => {
    expect(bodyOf({ required: ['remittanceInformationUnstructured'] })).toMatchObject({
      remittanceInformationUnstructured: 'Invoice 7',
    });
  });

  it('is there beside another one', () => {
    const required = ['chargeBearer', 'creditorAccount.currency'];
    expect(bodyOf({ required }, SIMPLE)).toEqual({
      ...{ ...BODY, chargeBearer: 'SLEV' },
      creditorAccount: { iban: PAYEE, currency: 'EUR' },
    });
  });

  const GIVE_ADDRESS =
    "Give the payee's address with --payee-town, --payee-country and the options beside them.";
  const OF_FILE = 'payments.required of the bank file names it.';
  it.each([
    ['purposeCode', OF_FILE],
    ['constructor', OF_FILE],
    ['ultimateDebtor.name', OF_FILE],
    ['creditorName.first', OF_FILE],
    ['creditorAddress.townName', GIVE_ADDRESS],
  ])('%s is refused if psd2 does not know it', (path, hint) => {
    expect(errorOf(() => initiated({ required: [path] }))).toEqual({
      ...{ code: 'usage', hint },
      message: `This bank demands ${path} in a payment, and psd2 has no value for it`,
    });
  });
});

describe('a payment that the bank does not take', () => {
  const TODAY = date('2026-11-21');
  const planned = {
    ...{ instant: false, urgent: false, executionDate: null, address: null, description: '' },
  };
  const refused = (payments: NonNullable<BankFile['payments']>, more: Partial<typeof planned> | object) =>
    errorOf(() => refuseUntaken(described({ payments }).payments, { ...planned, ...more }, TODAY));

  const NO_DAY = {
    code: 'invalid_date',
    message: 'This bank takes no execution date, so 2026-11-22 is not possible',
    hint: 'Leave out --date. payments.futureDays of the bank file says how far ahead a date may be.',
  };
  const TOO_LATE = { code: 'invalid_date', message: 'This bank takes no execution date after 2026-12-01' };
  const NO_ADDRESS = {
    ...{ code: 'usage', message: "This bank wants the payee's address" },
    hint: 'Give it with --payee-town and --payee-country, and --payee-street, --payee-building and --payee-postcode.',
  };
  const on = (day: string) => ({ executionDate: date(day) });
  it.each<[string, NonNullable<BankFile['payments']>, object, object]>([
    ['an urgent one', {}, { urgent: true }, noBankHas('urgent execution')],
    ['one for a later day, where the bank takes no day', {}, on('2026-11-22'), NO_DAY],
    ['one after the last day that the bank takes', { futureDays: 10 }, on('2026-12-02'), TOO_LATE],
    ['one without the address that the bank wants', { address: 'required' }, {}, NO_ADDRESS],
  ])('is %s', (_, payments, more, error) => {
    expect(refused(payments, more)).toEqual(error);
  });

  it('is one to a country alone, unless the bank takes that', () => {
    const order = { payeeAddress: { country: 'DE' } };
    expect(errorOf(() => initiated({}, order))).toMatchObject({
      ...{ code: 'usage', message: "The payee's address has no town" },
      hint: 'SEPA allows only addresses with both: --payee-town and --payee-country.',
    });
    expect(bodyOf({ address: 'country' }, order)).toMatchObject({ creditorAddress: { country: 'DE' } });
    expect(() => initiated({ address: 'country' })).toThrow("wants the payee's address");
  });

  it.each([
    ['today, where the bank takes no day', {}, { executionDate: TODAY }],
    ['on the last day that the bank takes', { futureDays: 10 }, { executionDate: date('2026-12-01') }],
    ['with the address that the bank wants', { address: 'required' }, { address: { town: 'Berlin' } }],
    ['without an address, where the bank wants none', {}, {}],
  ] as const)('is none %s', (_, payments, more) => {
    const taken = described({ payments }).payments;
    expect(() => refuseUntaken(taken, { ...planned, ...more }, TODAY)).not.toThrow();
  });

  it('is refused as an order, too, except for the first day of a standing order', () => {
    const later = { executionDate: date('2027-03-01'), futureDated: true };
    expect(errorOf(() => initiated({}, later))).toMatchObject({ code: 'invalid_date' });
    expect(errorOf(() => initiated({}, { urgent: true }))).toMatchObject({ code: 'usage' });
    expect(errorOf(() => initiated({ address: 'required' }))).toMatchObject({ code: 'usage' });
    const standing = { frequency: 'Monthly', end: null, day: null } as const;
    const products = { 'periodic-payments': ['sepa-credit-transfers'] };
    expect(initiated({ products }, { ...later, standing }).service).toBe('periodic-payments');
  });
});

describe('the product of a payment', () => {
  const SEPA = ['instant-sepa-credit-transfers', 'sepa-credit-transfers', 'target-2-payments'];

  it.each([
    [{ instant: false, type: null }, 'sepa-credit-transfers'],
    [{ instant: true, type: null }, 'instant-sepa-credit-transfers'],
    [{ instant: true, type: 'INSTANT' }, 'instant-sepa-credit-transfers'],
    [{ instant: false, type: 'target-2-payments' }, 'target-2-payments'],
    [{ instant: false, type: 'instant-sepa-credit-transfers' }, 'instant-sepa-credit-transfers'],
  ])('%j', (order, product) => {
    expect(productOf(order, SEPA, 'payments')).toBe(product);
  });

  it.each([
    [{ instant: true, type: null }, 'instant product', ['sepa-credit-transfers']],
    [{ instant: false, type: null }, 'product', ['instant-sepa-credit-transfers']],
    [{ instant: false, type: 'cross-border' }, 'product cross-border', ['sepa-credit-transfers', 'other']],
  ] as const)('%j: the bank file has no %s', (order, what, products) => {
    expect(errorOf(() => productOf(order, products, 'bulk-payments'))).toEqual({
      code: 'usage',
      message: `The bank file has no ${what} in payments.products.bulk-payments`,
      hint: `It has: ${products.join(', ')}. Choose one with --type.`,
    });
  });

  it('none at all: the bank file shows what it has', () => {
    expect(errorOf(() => productOf({ instant: true, type: null }, [], 'periodic-payments'))).toEqual({
      code: 'usage',
      message: 'The bank file has no instant product in payments.products.periodic-payments',
      hint: 'psd2 bank show prints what it has.',
    });
  });

  it('a payment alone has one in JSON rather than one in XML, and a standing order none of a payment', () => {
    const products = {
      payments: ['pain.001-sepa-credit-transfers', 'sepa-credit-transfers', 'own-pain.001'],
      'periodic-payments': ['pain.001-standing', 'standing'],
    };
    const { payments } = described({ payments: { products } });
    expect(productOfPayment(payments, { instant: false })).toBe('sepa-credit-transfers');
    expect(productOfPayment(payments, { instant: false, type: 'own-pain.001' })).toBe('own-pain.001');
    expect(productOfPayment(payments, { instant: false }, 'periodic-payments')).toBe('standing');
    const asked = { instant: false, type: 'pain.001-sepa-credit-transfers' };
    expect(productOfPayment(payments, asked)).toBe(asked.type);
    expect(errorOf(() => productOfPayment(payments, { instant: true }))).toMatchObject({
      hint: 'It has: sepa-credit-transfers, own-pain.001, pain.001-sepa-credit-transfers. Choose one with --type.',
    });
  });
});

describe('a bank that does not take all fields', () => {
  const ADDRESS = { town: text('Berlin'), country: 'DE' };
  const STREET = { ...ADDRESS, street: text('Ring') };
  const RENT = { description: 'Rent' };
  const NEEDED = ['debtorAccount', 'instructedAmount', 'creditorAccount', 'creditorName'];
  const takenBy = (payments: NonNullable<BankFile['payments']>, order: Partial<TransferOrder> = {}) => {
    const { body, endToEndId } = initiated(payments, { ...SIMPLE, ...order });
    return { body: JSON.parse(body), endToEndId };
  };
  const fieldsOf = ({ body }: { body: object }) => Object.keys(body).toSorted();
  it.each([
    ['names nothing', {}],
    ['names only fields of its own', { allowed: ['purposeCode'] }],
  ])('takes every field of the standard if its file %s', (_, payments) => {
    const made = takenBy(payments, { ...RENT, payeeAddress: STREET });
    const optional = ['endToEndIdentification', 'creditorAddress', 'remittanceInformationUnstructured'];
    expect(fieldsOf(made)).toEqual([...NEEDED, ...optional].toSorted());
    expect(made.endToEndId).toBe('INV-7');
  });

  it('takes only the optional fields that payments.allowed names', () => {
    const texts = { allowed: ['remittanceInformationUnstructured'] };
    const made = takenBy(texts, RENT);
    expect(fieldsOf(made)).toEqual([...NEEDED, 'remittanceInformationUnstructured'].toSorted());
    expect(made.endToEndId).toBe('');
    const named = takenBy({ allowed: ['endToEndIdentification'] });
    expect(fieldsOf(named)).toEqual([...NEEDED, 'endToEndIdentification'].toSorted());
    expect(named.endToEndId).toBe('INV-7');
  });

  const ID = ['endToEndIdentification'];
  const TOWN = ['creditorAddress.townName', 'creditorAddress.country'];
  it.each<[string, string[], object, string, string]>([
    ['a description', ID, RENT, 'remittanceInformationUnstructured', '--description'],
    ['an address', ID, { payeeAddress: ADDRESS }, 'creditorAddress.townName', '--payee-town'],
    ['a part of an address', TOWN, { payeeAddress: STREET }, 'creditorAddress.streetName', '--payee-street'],
  ])('that does not take %s gets no payment without it', (_, allowed, more, path, option) => {
    expect(errorOf(() => takenBy({ allowed }, more))).toMatchObject({
      ...{ code: 'usage', message: `This bank does not take ${path} in a payment` },
      hint: expect.stringContaining(`Leave out ${option}.`),
    });
  });

  const EACH_PART = [
    ['streetName', '--payee-street'],
    ['buildingNumber', '--payee-building'],
    ['postCode', '--payee-postcode'],
    ['townName', '--payee-town'],
    ['country', '--payee-country'],
  ] as const;
  const WHOLE = { ...STREET, building: text('7'), postcode: text('10115') };
  it.each(EACH_PART)('that takes all of an address but %s gets none with it', (lacking, option) => {
    const others = EACH_PART.filter(([part]) => part !== lacking);
    const allowed = others.map(([part]) => `creditorAddress.${part}`);
    expect(errorOf(() => takenBy({ allowed }, { payeeAddress: WHOLE }))).toEqual({
      ...{ code: 'usage', message: `This bank does not take creditorAddress.${lacking} in a payment` },
      hint: `Leave out ${option}. payments.allowed of the bank file names the optional fields that the bank takes.`,
    });
    const all = [...allowed, `creditorAddress.${lacking}`];
    expect(takenBy({ allowed: all }, { payeeAddress: WHOLE }).body).toHaveProperty('creditorAddress');
  });

  it.each([
    ['optional', false],
    ['required', true],
    ['country', true],
  ] as const)('whose address is %s takes one that payments.allowed does not name: %s', (address, takes) => {
    const asked = () => takenBy({ allowed: ID, address }, { payeeAddress: WHOLE });
    if (takes) expect(asked().body).toHaveProperty('creditorAddress.streetName', 'Ring');
    else expect(errorOf(asked)).toMatchObject({ code: 'usage' });
  });

  it('takes what it demands, whatever payments.allowed names', () => {
    const allowed = ['endToEndIdentification'];
    const demanded = { allowed, required: ['remittanceInformationUnstructured'] };
    expect(takenBy(demanded, RENT).body).toMatchObject({ remittanceInformationUnstructured: 'Rent' });
    const addressed = { allowed, address: 'required' as const };
    expect(takenBy(addressed, { payeeAddress: STREET }).body).toMatchObject({
      creditorAddress: { streetName: 'Ring', townName: 'Berlin', country: 'DE' },
    });
  });

  it('that wants the same in every payment gets it, and what the operator says goes first', () => {
    const constant = { chargeBearer: 'SLEV', 'creditorAddress.country': 'IT' };
    const made = takenBy({ constant }, { payeeAddress: ADDRESS });
    expect(made.body).toMatchObject({ chargeBearer: 'SLEV', creditorAddress: { country: 'DE' } });
    expect(takenBy({ constant }).body).toMatchObject({ creditorAddress: { country: 'IT' } });
  });
});
