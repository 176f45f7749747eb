import { describe, expect, it } from 'vitest';
import type { BankFile } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { initiationOf } from '../../../../../src/bank/interfaces/nextgenpsd2/payments/initiation.ts';
import {
  isInXml,
  mediaTypeOf,
  xmlInitiationOf,
} from '../../../../../src/bank/interfaces/nextgenpsd2/payments/pain001.ts';
import { paymentsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/payments/payments.ts';
import { parseDate } from '../../../../../src/domain/calendar.ts';
import type { Initiation } from '../../../../../src/domain/operation.ts';
import { parsePaymentAmount } from '../../../../../src/domain/order/payment-amount.ts';
import { parseSepaText } from '../../../../../src/domain/order/sepa-text.ts';
import type { TransferOrder } from '../../../../../src/domain/transfer.ts';
import { transferOrder } from '../../../../domain/orders.ts';
import { silent, TRANSACTION_ID } from '../client.ts';
import { identifiedCalls } from '../identified.ts';
import { failureOf, noBankHas, OTHER_THAN_ORDERED, type Scripted, said, scriptedCalls } from '../scripted.ts';

// The payments of the interface: confirmations of funds, a transfer with its initiation, and what no bank of it has.

const BACK = { address: 'http://127.0.0.1:8910/callback?state=s1', state: 's1' };
const ORDER = transferOrder({
  ...{ instant: false, type: null, reference: 'INV-7', fromIban: 'DE02100100109307118603' },
});

function opened(...answers: Scripted[]) {
  const script = scriptedCalls(answers);
  return { ...script, payments: paymentsOf(script.calls, script.oauth) };
}

it.each([true, false])('funds are confirmed without a consent: %s', async (fundsAvailable) => {
  const { payments, sent } = opened(said({ fundsAvailable }));
  const funds = { account: 'DE02100100109307118603', amount: parsePaymentAmount('1.00'), currency: 'EUR' };
  expect(await payments.funds?.(funds, TRANSACTION_ID)).toBe(fundsAvailable);
  expect(sent).toMatchObject([{ method: 'POST', path: '/v1/funds-confirmations' }]);
});

it('the customer commits payments, and bulk payments are there where the bank file has a product of them', () => {
  expect(opened().payments).toMatchObject({ commits: 'by the customer' });
  expect(opened().payments.bulk).toBeUndefined();
  const bulkOf = (payments: object) => {
    const products = { 'bulk-payments': ['sct'] };
    const { calls, oauth } = scriptedCalls([], { payments: { products, ...payments } });
    return paymentsOf(calls, oauth).bulk;
  };
  expect(bulkOf({})).toBeDefined();
  // In JSON, nothing but the end-to-end id tells the transfers of one apart.
  expect(bulkOf({ allowed: ['creditorAddress'] })).toBeUndefined();
  expect(bulkOf({ allowed: ['endToEndIdentification'] })).toBeDefined();
});

describe('what no bank of the interface has', () => {
  const target = { customerId: 'shop', from: ORDER.from };
  const operation = 'sct';
  const order = { ...target, operation, data: '{}' };
  const { payments } = opened();
  it.each<[string, () => unknown]>([
    ['operations', () => payments.operation({ order, transactionId: TRANSACTION_ID })],
    ['operations', () => payments.operationTerms({ ...target, operation }, TRANSACTION_ID)],
    ['terms of transfers', () => payments.terms(target, TRANSACTION_ID)],
    ['receipts', () => payments.receipt(target, 'r1', TRANSACTION_ID)],
  ])('%s', async (what, call) => {
    expect(await failureOf((async () => call())())).toEqual(noBankHas(what));
  });
});

describe('a transfer', () => {
  const initiation = (script: ReturnType<typeof opened>) =>
    initiationOf(script.calls, ORDER, BACK, () => TRANSACTION_ID);
  const KNOWN = { order: ORDER, transactionId: TRANSACTION_ID };
  const RECEIVED = said({ transactionStatus: 'RCVD', paymentId: 'p1', _links: {} }, 201);

  it('is initiated with the bytes that psd2 keeps', async () => {
    const script = opened(RECEIVED);
    const kept = initiation(script);
    expect(await script.payments.initiation?.(ORDER, BACK, () => TRANSACTION_ID)).toEqual(kept);
    const made = script.payments.transfer({ ...KNOWN, initiation: kept });
    const again = '11111111-2222-4333-8444-555555555555';
    // payment-calls.test.ts has the whole request and the whole answer.
    expect(await made.verify(silent, again)).toMatchObject({ resourceId: 'p1' });
    const asked = {
      transactionId: TRANSACTION_ID,
      beforeSend: silent,
      irrevocable: true,
      judged: 'payment',
      requestId: again,
    };
    const path = '/v1/payments/sepa-credit-transfers';
    expect(script.sent).toMatchObject([{ path, body: kept.body, redirectUri: BACK.address, ...asked }]);
  });

  it('has what the bank file wants in every payment, and is the one that was ordered', async () => {
    const constant = { instructionPriority: 'NORM' };
    const { calls, oauth } = scriptedCalls([RECEIVED], { payments: { constant } });
    const kept = initiationOf(calls, ORDER, BACK, () => TRANSACTION_ID);
    const made = paymentsOf(calls, oauth).transfer({ ...KNOWN, initiation: kept });
    expect(await made.verify(silent)).toMatchObject({ resourceId: 'p1' });
  });

  it('in a basket is asked for with the login of the basket', async () => {
    const script = opened(said({ transactionStatus: 'RCVD' }));
    const known = { ...KNOWN, initiation: initiation(script), authorisedBy: 'of the basket' };
    const { sca } = script.payments.transfer(known);
    await sca?.status('p1', TRANSACTION_ID);
    expect(script.sent).toMatchObject([{ facts: { ofPayment: 'of the basket' } }]);
  });

  it('is not sent if its initiation is another one', async () => {
    const script = opened(RECEIVED);
    const kept = { ...initiation(script), service: 'periodic-payments' } as const;
    const made = script.payments.transfer({ ...KNOWN, initiation: kept });
    expect(await failureOf(made.verify(silent))).toEqual(OTHER_THAN_ORDERED);
    expect(script.sent).toEqual([]);
  });

  it.each([{}, { initiation: null }])('without an initiation is a fault of psd2: %j', (none) => {
    const { payments } = opened();
    const fault = new TypeError('A payment of this interface begins with its initiation');
    expect(() => payments.transfer({ ...KNOWN, ...none })).toThrow(fault);
  });
});

// Payments that are sent alone in pain.001, and stored ones that somebody has changed.

type Payments = NonNullable<BankFile['payments']>;
const NEW_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const ID = '0123456789ab4cde8f0123456789abcd';
const IBAN = 'DE02100100109307118603';
const PLAIN = { instant: false, type: null, reference: 'INV-7', fromIban: IBAN } as const;
const products = { payments: ['pain.001-sct', 'pain.001-sct-inst'], 'periodic-payments': ['pain.001-sct'] };
const PRODUCTS: Payments = { futureDays: 30, products };
const STANDING = {
  executionDate: parseDate('--date', '2026-11-25'),
  futureDated: true,
  standing: { frequency: 'Monthly', end: parseDate('--end', '2027-12-01'), day: 3 },
} as const;

const REFERRING = {
  description: '',
  creditorReference: { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' },
} as const;

const orderOf = (more: Partial<TransferOrder> = {}) => transferOrder({ ...PLAIN, ...more });
const initiated = (more: Partial<TransferOrder> = {}, payments: Payments = {}) => {
  const { calls } = identifiedCalls([], { payments: { ...PRODUCTS, ...payments } });
  return xmlInitiationOf(calls, orderOf(more), BACK, () => NEW_ID);
};

describe('a payment alone in pain.001', () => {
  it('is one transfer, with an id of its own', async () => {
    const { body, ...initiation } = await initiated({ reference: null });
    expect(initiation).toEqual({
      ...{ service: 'payments', product: 'pain.001-sct', endToEndId: ID },
      ...{ returnAddress: BACK.address, returnState: 's1', repeatMinutes: null, needsLink: true },
      executesWithoutSca: 'possible',
    });
    expect(body).toContain('<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03">');
    expect(body).toContain('<NbOfTxs>1</NbOfTxs><CtrlSum>12.50</CtrlSum>');
    expect(body).toContain(`<EndToEndId>${ID}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">12.50<`);
    expect(body).toContain('<ReqdExctnDt>2026-11-21</ReqdExctnDt>');
  });

  it.each<[Partial<TransferOrder>, Payments, string, string]>([
    [{ instant: true }, {}, 'pain.001-sct-inst', '<LclInstrm><Cd>INST</Cd></LclInstrm>'],
    [{}, { bulk: { format: 'pain.001.001.09' } }, 'pain.001-sct', '<ReqdExctnDt><Dt>2026-11-21</Dt>'],
    [{}, { bulk: { format: 'pain.001.001.11' } }, 'pain.001-sct', 'pain.001.001.11"'],
    [{ reference: 'A+B' }, {}, 'pain.001-sct', '<EndToEndId>A+B<'],
    [REFERRING, {}, 'pain.001-sct', '<Ref>RF18539007547034</Ref>'],
  ])('%j %j', async (more, payments, product, part) => {
    const made = await initiated(more, payments);
    expect([made.product, made.body]).toEqual([product, expect.stringContaining(part)]);
  });

  it('that repeats has two parts: the payment, and when it repeats', async () => {
    const { body, service } = await initiated(STANDING, { days: 'two-digits' });
    const headers = { 'content-type': `multipart/form-data; boundary=psd2-${ID}` };
    const form = await new Response(body, { headers }).formData();
    expect([service, [...form.keys()]]).toEqual(['periodic-payments', ['xml_sct', 'json_standingorderType']]);
    expect(form.get('xml_sct')).toContain('<ReqdExctnDt>2026-11-25</ReqdExctnDt>');
    expect(JSON.parse(`${form.get('json_standingorderType')}`)).toEqual({
      ...{ startDate: '2026-11-25', endDate: '2027-12-01', frequency: 'Monthly', dayOfExecution: '03' },
    });
  });

  it('that repeats has these lines around its parts', async () => {
    const { body } = await initiated(STANDING);
    const part = (name: string, type: string) =>
      `--psd2-${ID}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
    const rule = {
      startDate: '2026-11-25',
      endDate: '2027-12-01',
      frequency: 'Monthly',
      dayOfExecution: '3',
    };
    expect(body.replace(/<\?xml.*<\/Document>\n/s, 'XML')).toBe(
      `${part('xml_sct', 'application/xml')}XML\r\n${part('json_standingorderType', 'application/json')}${JSON.stringify(rule)}\r\n--psd2-${ID}--\r\n`,
    );
  });

  const NO_DEBTOR = {
    message: 'The bank takes this payment as pain.001, which names the account to debit',
    hint: 'Name it with --from.',
  };
  const NO_TOWN = {
    message: "This bank takes the payment as pain.001, so the payee's address needs a town",
  };
  it.each([
    [{ from: null, fromIban: undefined }, {}, NO_DEBTOR],
    [{ payeeAddress: { country: 'DE' } }, { address: 'country' }, NO_TOWN],
  ] as const)('is refused for %j', async (more, payments, refusal) => {
    expect(await failureOf(initiated(more, payments))).toEqual({ code: 'usage', ...refusal });
  });

  it.each<[string, boolean, string | undefined]>([
    ['<Document/>', true, 'application/xml'],
    ['--b-1\r\n\r\n--b-1--\r\n', true, 'multipart/form-data; boundary=b-1'],
    ['--b\r\n--c\r\n', true, 'multipart/form-data; boundary=b'],
    ['--b\n', true, undefined],
    ['--b c\r\n', true, undefined],
    ['--\r\n', true, undefined],
    ['{"a":"<--"}', false, undefined],
    ['{"a":"\n<"}', false, undefined],
    ['\r\n--b\r\n', false, undefined],
    ['-<', false, undefined],
    ['', false, undefined],
  ])('is known by the beginning of its body: %j', (body, isXml, type) => {
    expect([isInXml({ body }), mediaTypeOf(body)]).toEqual([isXml, type]);
  });
});

describe('a stored payment in pain.001', () => {
  const changed = (initiation: Initiation, from: string, to: string) => {
    expect(initiation.body).toContain(from);
    return { ...initiation, body: initiation.body.replace(from, to) };
  };
  const town = parseSepaText('--payee-town', 'Berlin', 35);

  it.each<[Partial<TransferOrder>, string, string]>([
    [{}, '>12.50</InstdAmt>', '>99.50</InstdAmt>'],
    [{}, orderOf().to, IBAN],
    [{}, IBAN, orderOf().to],
    [{}, '<EndToEndId>INV-7', '<EndToEndId>INV-8'],
    [{}, 'Invoice 7', 'Gift'],
    [{}, 'pain.001.001.03', 'pain.001.001.99'],
    [{}, '<ReqdExctnDt>2026-11-21', '<ReqdExctnDt>2026-11-22'],
    [{ instant: true }, '<LclInstrm><Cd>INST</Cd></LclInstrm>', ''],
    [{ payeeAddress: { town, country: 'DE' } }, 'Berlin', 'Bonn'],
    [STANDING, '"frequency":"Monthly"', '"frequency":"Daily"'],
    [STANDING, '"endDate":"2027-12-01"', '"endDate":"2028-12-01"'],
    [STANDING, '"dayOfExecution":"3"', '"dayOfExecution":"4"'],
    [STANDING, `--psd2-${ID}--`, `--psd2-${ID}\r\n\r\n{}--psd2-${ID}--`],
  ])('is not sent if somebody has changed it: %j, %s to %s', async (more, from, to) => {
    const order = orderOf(more);
    const other = changed(await initiated(more), from, to);
    const { payments } = atBank();
    const made = payments.transfer({ order, transactionId: NEW_ID, initiation: other });
    expect(await failureOf(made.verify(silent))).toEqual(OTHER_THAN_ORDERED);
  });

  it.each([
    [{}, 'periodic-payments'],
    [STANDING, 'payments'],
  ] as const)('of %j is not sent as one of %s', async (more, service) => {
    const initiation = { ...(await initiated(more)), service };
    const made = atBank().payments.transfer({ order: orderOf(more), transactionId: NEW_ID, initiation });
    expect(await failureOf(made.verify(silent))).toEqual(OTHER_THAN_ORDERED);
  });

  it.each<[string, Partial<TransferOrder>, Payments]>([
    ['as it is', {}, {}],
    ['without a reference', { reference: null }, {}],
    ['in another version', {}, { bulk: { format: 'pain.001.001.09' } }],
    ['that repeats on a day of two digits', STANDING, { days: 'two-digits' }],
  ])('is sent %s, whatever a later bank file says', async (_, more, payments) => {
    const order = orderOf(more);
    const initiation = await initiated(more, payments);
    const { calls, payments: bank } = atBank();
    const made = bank.transfer({ order, transactionId: NEW_ID, initiation });
    expect(await made.verify(silent)).toMatchObject({ resourceId: 'p1' });
    expect(calls()).toEqual([initiation.body]);
  });
});

function atBank() {
  const script = identifiedCalls([said({ transactionStatus: 'RCVD', paymentId: 'p1', _links: {} }, 201)], {});
  return {
    calls: () => script.sent.map(({ body }) => body),
    payments: paymentsOf(script.calls, script.oauth),
  };
}
