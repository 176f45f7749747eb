import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  cents,
  codeOf,
  detailOf,
  type Json,
  list,
  newTestBank,
  openTestBank,
  type Reply,
  refusalOf,
  resourceOf,
  useTestBank,
} from './tpp.ts';

const CURRENT = '/private/customers/1048262/products/0010482620';
const SAVINGS = '/private/customers/1048262/products/0010482638';
const CARD = '/private/customers/1048262/products/0000093017';
const DAY = 24 * 60 * 60 * 1000;
const BENEFICIARY = 'IT60X0542811101000000123456';

const bank = await useTestBank();
const { accessToken: token } = await bank.tpp.login();

const order = {
  moneyTransferAmount: { currency: 'EUR', amount: '12.34' },
  flagUrgency: false,
  moneyTransferExecutionDate: '20/11/2026',
  ibanBeneficiary: BENEFICIARY,
  beneficiaryName: 'Mario Rossi',
  description: 'invoice 7',
};
const instant = { ...order, type: 'INSTANT' };

function get(path: string, as = token): Promise<Reply> {
  return bank.tpp.send({ path, token: as });
}

function verify(data: object, product = CURRENT): Promise<Reply> {
  return bank.tpp.send({ method: 'POST', path: `${product}/moneyTransfer/verify`, token, body: { data } });
}

const execute = (id: string, product?: string) => bank.tpp.execute(token, id, product);

function executionStatus(id: string): Promise<Reply> {
  return get(`${CURRENT}/moneyTransfer/${id}/execution/status`);
}

const verified = async (data: object) => resourceOf(await verify(data));
const startSca = async (id: string): Promise<void> => void (await bank.tpp.startSca(token, id));

async function authorised(data: object): Promise<string> {
  const id = await verified(data);
  await bank.tpp.authorise(token, id);
  return id;
}

async function balance(product = CURRENT, as = token): Promise<{ booked: number; available: number }> {
  const { data } = (await get(`${product}/balance/retrieve`, as)).json;
  return { booked: cents(data?.accountBalance), available: cents(data?.availableBalance) };
}

async function rows(product = CURRENT, as = token): Promise<{ booked: Json[]; pending: Json[] }> {
  const { data } = (await get(`${product}/transactions/retrieve`, as)).json;
  return { booked: list(data?.transactionsAccounting), pending: list(data?.transactionsNotAccounting) };
}

describe('prepare', () => {
  test('prepare answers with every field of the interface', async () => {
    const { json } = await get(`${CURRENT}/moneyTransfer/prepare`);
    expect(json.data).toEqual({
      ...{ abi: '09990', ABI: '09990', sepa: true, SEPA: true, swift: false, SWIFT: false },
      ...{ swiftcontractSigned: false, SWIFTContractSigned: false, initialData: {}, flagUrgency: false },
      executionDateMinimumWireTransferAtBank: '20/11/2026',
      executionDateMinimumWireTransferInternal: '20/11/2026',
      ...{ addBeneficiary: false, editBeneficiary: false },
      ...{ today: '20/11/2026', executionDateLimit: '20/11/2027' },
      holidays: expect.arrayContaining('03/04/2026 06/04/2026 26/03/2027 29/03/2027 25/12/2026'.split(' ')),
      currency: {
        currencyList: [{ label: 'EURO', value: 'EUR', rate: '' }],
        updated: { date: '20/11/2026', hour: '12:00' },
        selected: 'EUR',
      },
      countries: expect.arrayContaining([
        { label: 'GIBRALTAR', value: 'GI' },
        { label: 'ITALY', value: 'IT' },
        { label: 'SERBIA', value: 'RS' },
      ]),
    });
    expect(json.data?.countries).toHaveLength(42);
    expect(json._links).toEqual({
      self: { href: 'prepare', method: 'GET' },
      next: { href: 'verify', method: 'POST' },
      curies: [{ href: `${bank.sandbox.baseUrl}${CURRENT}/moneyTransfer/{rel}`, name: 'moneyTransfer' }],
    });
  });

  test('the bank does not prepare a transfer from a card', async () => {
    expect(refusalOf(await get(`${CARD}/moneyTransfer/prepare`))).toBe('412 PRODUCT_NOT_ENABLED');
  });
});

describe('verify', () => {
  test('verify answers with the total cost of the transfer, and names execute as the next step', async () => {
    const { json } = await verify(order);
    const id = String(json.resources?.resourceId);
    expect(json).toEqual({
      result: { outcome: 'SUCCESS', requestId: expect.any(String), flushMessages: true, messages: [] },
      data: {
        totalAmount: { amount: '12.840', currency: 'EUR' },
        commissions: { commissions: '0.500', currency: 'EUR' },
        equivalentAmount: { amount: '', currency: '' },
        bankName: 'BANCA ABI 05428',
        branchName: 'FILIALE CAB 11101',
        address: 'ITALIA',
        moneyTransferOffline: false,
        holdersEnabled: true,
        additionalChecks: [],
      },
      resources: { resourceId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      _links: {
        self: { href: 'verify', method: 'POST' },
        next: { href: `${id}/execute`, method: 'PUT' },
        curies: [{ href: `${bank.sandbox.baseUrl}${CURRENT}/moneyTransfer/{rel}`, name: 'moneyTransfer' }],
      },
    });
  });

  const amount = (text: string, currency = 'EUR') => ({ moneyTransferAmount: { currency, amount: text } });
  const on = (moneyTransferExecutionDate: string) => ({ moneyTransferExecutionDate });

  test.each([
    ['an amount of one cent', amount('0.01')],
    ['an amount with one decimal', amount('1.5')],
    ['an amount without decimals', amount('1')],
    ['the last allowed day', on('20/11/2027')],
    ['the longest texts', { beneficiaryName: 'A'.repeat(70), description: "a/-?:().,'+ Z9".repeat(10) }],
    ['an empty description', { description: '' }],
    ['an IBAN of a country that joined SEPA recently', { ibanBeneficiary: 'RS35260005601001611379' }],
    ['the savings account of the same customer', { ibanBeneficiary: 'IT31P0999001600000010482638' }],
  ])('verify accepts %s', async (_name, changes) => {
    expect(await verify({ ...order, ...changes })).toMatchObject({ status: 200 });
  });

  // The answer names the field that a row changes, or the part of it.
  test.each<[what: string, changes: object, field?: string]>([
    ['an amount of zero', amount('0')],
    ['an amount of zero with decimals', amount('0.00')],
    ['a negative amount', amount('-1')],
    ['an amount with three decimals', amount('1.000')],
    ['an amount with a comma', amount('1,50')],
    ['an amount with an exponent', amount('1e2')],
    ['an amount with a leading zero', amount('01.00')],
    ['an amount without digits before the point', amount('.50')],
    ['an amount above the SEPA limit', amount('1000000000.00')],
    ['dollars', amount('1.00', 'USD'), 'moneyTransferAmount.currency'],
    ['yesterday', on('19/11/2026')],
    ['a day after the limit', on('21/11/2027')],
    ['a day that does not exist', on('31/02/2027')],
    ['a holiday', on('25/12/2026')],
    ['an ISO date', on('2026-11-20')],
    ['an instant transfer tomorrow', { ...on('21/11/2026'), type: 'INSTANT' }],
    ['an unknown type', { type: 'URGENT' }],
    ['an IBAN with wrong check digits', { ibanBeneficiary: 'IT61X0542811101000000123456' }],
    ['an IBAN with spaces', { ibanBeneficiary: 'IT60 X054 2811 1010 0000 0123 456' }],
    ['an IBAN in lower case', { ibanBeneficiary: BENEFICIARY.toLowerCase() }],
    ['an IBAN outside SEPA', { ibanBeneficiary: 'SA0380000000608010167519' }],
    ['the debited account itself', { ibanBeneficiary: 'IT89F0999001600000010482620' }],
    ['a name of spaces only', { beneficiaryName: '  ' }],
    ['a name that is too long', { beneficiaryName: 'A'.repeat(71) }],
    ['a description that is too long', { description: 'A'.repeat(141) }],
  ])('verify refuses %s', async (_name, changes, field) => {
    const [changed] = Object.keys(changes);
    const named = field ?? (changed === 'moneyTransferAmount' ? `${changed}.amount` : changed);
    const reply = await verify({ ...order, ...changes });
    expect(refusalOf(reply)).toBe('417 FIELD_INVALID');
    expect(reply.json.result?.messages?.[0]?.message).toBe(`data.${named} is not valid`);
    expect(reply.json.resources).toBeUndefined();
  });

  test.each([
    [{ beneficiaryName: 'Müller' }, 'beneficiaryName', '"ü" (U+00FC)'],
    [{ description: 'rent & more' }, 'description', '"&" (U+0026)'],
    [{ description: 'thanks 😀' }, 'description', '"😀" (U+1F600)'],
    [{ description: 'two\nlines' }, 'description', '"\n" (U+000A)'],
  ])('verify refuses the characters of %j and names the first one', async (changes, field, received) => {
    const reply = await verify({ ...order, ...changes });
    expect(refusalOf(reply)).toBe('422 CHARACTER_NOT_ALLOWED');
    const message = `data.${field} has a character that SEPA does not allow`;
    expect(reply.json.result?.messages?.[0]?.message).toBe(message);
    const expected = "Expected: a-z A-Z 0-9 / - ? : ( ) . , ' + and space.";
    expect(detailOf(reply)).toBe(`${expected} Received: ${received}.`);
  });

  const needed = ['moneyTransferAmount', 'flagUrgency', 'ibanBeneficiary', 'beneficiaryName', 'description'];
  test.each(needed)('verify needs %s', async (field) => {
    const reply = await verify({ ...order, [field]: undefined });
    expect(refusalOf(reply)).toBe('417 FIELD_INVALID');
    expect(detailOf(reply)).toBe(`data.${field} is missing.`);
  });

  test('verify refuses an amount that is a JSON number, because it could be inexact', async () => {
    const reply = await verify({ ...order, moneyTransferAmount: { currency: 'EUR', amount: 12.34 } });
    expect(detailOf(reply)).toBe('data.moneyTransferAmount.amount: Expected: string. Received: number.');
  });

  test('when the funds fall short by a cent, verify says what is available', async () => {
    const { available } = await balance();
    const text = (value: number): string => `${String(value).slice(0, -2)}.${String(value).slice(-2)}`;
    const exactly = { moneyTransferAmount: { currency: 'EUR', amount: text(available - 50) } };
    expect((await verify({ ...order, ...exactly })).status).toBe(200);
    const more = { moneyTransferAmount: { currency: 'EUR', amount: text(available - 49) } };
    const reply = await verify({ ...order, ...more });
    expect(refusalOf(reply)).toBe('417 FUNDS_INSUFFICIENT');
    expect(detailOf(reply)).toBe(
      `Available: ${text(available)} EUR. Needed, with commissions: ${text(available + 1)} EUR.`,
    );
  });

  test('the bank does not verify a transfer from a card', async () => {
    expect(codeOf(await verify(order, CARD))).toBe('PRODUCT_NOT_ENABLED');
  });
});

test('on a holiday, a transfer of that day is taken, and one for another holiday is not', async () => {
  const holiday = await openTestBank({}, '2026-12-25T11:00:00Z');
  onTestFinished(() => holiday.close());
  const { accessToken } = await holiday.tpp.login();
  const at = async (day: string) => {
    const data = { ...order, moneyTransferExecutionDate: day };
    const path = `${CURRENT}/moneyTransfer/verify`;
    return (await holiday.tpp.send({ method: 'POST', path, token: accessToken, body: { data } })).status;
  };
  expect([await at('25/12/2026'), await at('26/12/2026'), await at('28/12/2026')]).toEqual([200, 417, 200]);
});

test('the customer sees what they authorise', async () => {
  const id = await verified(instant);
  await startSca(id);
  expect(bank.sandbox.customers.scaRequest(id)?.request).toEqual({
    ...{ kind: 'payment', resourceId: id, tppName: 'Sandbox TPP', customerName: 'Anna Esposito' },
    ...{ operation: 'moneyTransfer', instant: true },
    ...{ beneficiaryName: 'Mario Rossi', beneficiaryIban: BENEFICIARY },
    amount: { amount: '12.34', currency: 'EUR' },
    commissions: { amount: '0.50', currency: 'EUR' },
    total: { amount: '12.84', currency: 'EUR' },
    executionDate: '2026-11-20',
    description: 'invoice 7',
    debitAccount: { productId: '0010482620', iban: 'IT89F0999001600000010482620' },
  });
});

describe('execute', () => {
  const refuse = async (id: string) => {
    await startSca(id);
    bank.sandbox.customers.refuseSca(id);
  };

  test.each([
    ['nobody has started SCA', async (_id: string) => undefined, 'PENDING'],
    ['the customer has not decided', startSca, 'PENDING'],
    ['the customer refused', refuse, 'NOT_AUTHORIZED'],
  ])('the bank refuses execute when %s, and no money moves', async (_when, prepare, state) => {
    const before = await balance();
    const id = await verified(instant);
    await prepare(id);
    const reply = await execute(id);
    expect(refusalOf(reply)).toBe('400 NOT_AUTHORIZED');
    expect(reply.json.result?.outcome).toBe('ERROR');
    expect(detailOf(reply)).toBe(`Expected: authorizationStatus AUTHORIZED. It is ${state}.`);
    expect(await balance()).toEqual(before);
    expect((await get(`/private/operations/${id}/status`)).json.data?.executionStatus).toBe('PENDING');
  });

  test('the bank books an instant transfer, with its commissions, when it settles', async () => {
    const before = await balance();
    const id = await authorised(instant);
    const reply = await execute(id);
    const cro = String(reply.json.data?.cro);
    const at = (path: string) => ({ href: `${bank.sandbox.baseUrl}${CURRENT}/${path}`, method: 'GET' });
    const message = 'The bank accepted the transfer';
    expect(reply.json).toEqual({
      result: {
        ...{ outcome: 'SUCCESS', requestId: expect.any(String), flushMessages: true },
        messages: [{ code: 'TRANSFER_ACCEPTED', message, type: 'SUCCESS', detail: `CRO ${cro}` }],
      },
      data: { cro: expect.stringMatching(/^\d{11}$/), moneyTransferOffline: false, sendEmailEnabled: false },
      resources: { resourceId: id },
      _links: {
        self: { href: `${id}/execute`, method: 'PUT' },
        curies: [{ href: `${bank.sandbox.baseUrl}${CURRENT}/moneyTransfer/{rel}`, name: 'moneyTransfer' }],
      },
      _embedded: {
        polling: at(`moneyTransfer/${id}/execution/status`),
        printer: at(`common/printer/${id}/retrieve`),
      },
    });

    expect((await executionStatus(id)).json).toMatchObject({
      data: { executionStatus: 'PENDING', executionStatusDescription: '' },
      resources: { resourceId: id },
      _links: { self: { href: `${id}/execution/status`, method: 'GET' } },
    });
    expect(await balance()).toEqual({ booked: before.booked, available: before.available - 12_84 });

    bank.clock.advance(499);
    expect((await executionStatus(id)).json.data?.executionStatus).toBe('PENDING');
    bank.clock.advance(1);
    expect((await executionStatus(id)).json.data?.executionStatus).toBe('OK');
    expect(await balance()).toEqual({ booked: before.booked - 12_84, available: before.available - 12_84 });
    const booked = (await rows()).booked.filter(({ idMoneyTransfer }) => String(idMoneyTransfer) === cro);
    const days = { dateAccountingCurrency: '20261120T00:00:00', dateLiquidationValue: '20261120T00:00:00' };
    expect(booked.map(({ index: _, ...row }) => row)).toEqual([
      {
        ...{ shortDescription: 'COMMISSIONI', extendedDescription: `COMMISSIONI BONIFICO ${cro}` },
        amountTransaction: { amount: '-0.500', currency: 'EUR' },
        ...{ ...days, codeDescription: '16', idMoneyTransfer: cro, isFeeCharge: true },
      },
      {
        shortDescription: 'BONIFICO ISTANTANEO',
        extendedDescription: `A FAVORE DI Mario Rossi ${BENEFICIARY} invoice 7`,
        amountTransaction: { amount: '-12.340', currency: 'EUR' },
        ...{ ...days, codeDescription: '26', idMoneyTransfer: cro, isFeeCharge: false },
      },
    ]);
    expect((await get(`/private/operations/${id}/status`)).json.data).toMatchObject({
      authorizationStatus: 'AUTHORIZED',
      executionStatus: 'OK',
    });
  });

  test('the bank executes a transfer once, even if execute comes several times or at the same time', async () => {
    const id = await authorised(instant);
    const before = await balance();
    const replies = await Promise.all([execute(id), execute(id), execute(id)]);
    replies.push(await execute(id));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const refused = replies.filter(({ status }) => status === 400).map(codeOf);
    expect(refused).toEqual(Array(3).fill('ALREADY_EXECUTED'));
    expect((await balance()).available).toBe(before.available - 12_84);
  });

  test('a transfer that is not instant is pending until the next business day', async () => {
    const own = await newTestBank();
    const { accessToken } = await own.tpp.login();
    const id = resourceOf(await own.tpp.verifyTransfer(accessToken, { amount: '12.34', instant: false }));
    await own.tpp.authorise(accessToken, id);
    const reply = await own.tpp.execute(accessToken, id);
    const cro = reply.json.data?.cro;
    expect(cro).toMatch(/^\d{11}$/);
    expect(Object.keys(reply.json._embedded ?? {})).toEqual(['printer']);
    const path = `${CURRENT}/moneyTransfer/${id}/execution/status`;
    const status = await own.tpp.send({ path, token: accessToken });
    expect(refusalOf(status)).toBe('400 NOT_INSTANT');

    const listed = async (part: string): Promise<Json[]> => {
      // The first token expires in the meantime.
      const { accessToken: fresh } = await own.tpp.login();
      const reply = await own.tpp.send({ path: `${CURRENT}/transactions/retrieve`, token: fresh });
      return list(reply.json.data?.[part]).filter((row) => row.idMoneyTransfer === cro);
    };
    expect(await listed('transactionsNotAccounting')).toMatchObject([
      { amountTransaction: { amount: '-0.500', currency: 'EUR' }, preAuthorized: false },
      {
        amountTransaction: { amount: '-12.340', currency: 'EUR' },
        dateLiquidationValue: '20261120T12:00:00',
      },
    ]);

    // 20 November 2026 is a Friday, so the bank books the transfer on Monday.
    own.clock.advance(2 * DAY);
    expect(await listed('transactionsNotAccounting')).toHaveLength(2);
    own.clock.advance(DAY);
    expect(await listed('transactionsNotAccounting')).toHaveLength(0);
    const booked = (await listed('transactionsAccounting')).map((row) => row.dateAccountingCurrency);
    expect(booked).toEqual(['20261123T00:00:00', '20261123T00:00:00']);
  });

  test('a transfer to an account of this bank credits that account', async () => {
    const bruno = (await bank.tpp.login('bruno')).accessToken;
    const account = '/private/customers/2073915/products/0020739150';
    const card = '/private/customers/2073915/products/0000093025';
    const [before, cardBefore] = [await balance(account, bruno), await balance(card, bruno)];
    const iban = (await get('/private/customers/2073915/accounts', bruno)).json.data?.accounts?.[0]?.iban;
    const id = await authorised({ ...instant, ibanBeneficiary: iban, beneficiaryName: 'Bruno Conti' });
    await execute(id);
    bank.clock.advance(500);
    const after = { booked: before.booked + 12_34, available: before.available + 12_34 };
    expect(await balance(account, bruno)).toEqual(after);
    expect((await rows(account, bruno)).booked[0]).toMatchObject({
      shortDescription: 'BONIFICO A VOSTRO FAVORE',
      extendedDescription: 'DA Anna Esposito invoice 7',
      amountTransaction: { amount: '12.340', currency: 'EUR' },
    });
    // The card with the same IBAN gets nothing.
    expect(await balance(card, bruno)).toEqual(cardBefore);
  });

  test('execute checks the funds again, since two verified transfers together may exceed them', async () => {
    const { available } = await balance(SAVINGS);
    const most = String(available - 50);
    const all = {
      ...instant,
      moneyTransferAmount: { currency: 'EUR', amount: `${most.slice(0, -2)}.${most.slice(-2)}` },
    };
    const [first, second] = [resourceOf(await verify(all, SAVINGS)), resourceOf(await verify(all, SAVINGS))];
    for (const id of [first, second]) await bank.tpp.authorise(token, id);
    expect((await execute(first, SAVINGS)).status).toBe(200);
    expect(refusalOf(await execute(second, SAVINGS))).toBe('417 FUNDS_INSUFFICIENT');
    expect((await balance(SAVINGS)).available).toBe(0);
  });

  test('the bank executes a transfer only under its own product and operation', async () => {
    const id = await authorised(instant);
    const before = await balance();
    expect(codeOf(await execute(id, SAVINGS))).toBe('RESOURCE_UNKNOWN');
    expect(codeOf(await bank.tpp.confirmConsent(token, id))).toBe('RESOURCE_UNKNOWN');
    expect(codeOf(await execute(randomUUID()))).toBe('RESOURCE_UNKNOWN');
    expect(await balance()).toEqual(before);
  });

  test('a transfer has no execution status before it is executed', async () => {
    const id = await authorised(instant);
    expect(refusalOf(await executionStatus(id))).toBe('400 NOT_EXECUTED');
  });
});
