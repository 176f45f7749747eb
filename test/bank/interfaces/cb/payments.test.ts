import { describe, expect, it } from 'vitest';
import { type BankCall, openCaller } from '../../../../src/bank/call/call.ts';
import { bankOver } from '../../../../src/bank/interfaces/cb/interface.ts';
import { parseDate } from '../../../../src/domain/calendar.ts';
import type { TransferOrder } from '../../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../../src/errors.ts';
import { transferOrder } from '../../../domain/orders.ts';
import { success } from '../../answers.ts';
import { answered } from './answered.ts';

// Each call of a payment, whole, and what psd2 makes of the answers, without a connection.

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const PRODUCT = '/private/customers/1234567/products/0000012345';
const TRANSFER = `${PRODUCT}/moneyTransfer`;
const OWN = { operation: 'own/operation', data: '{ "amount": 1.50, "id": 123456789012345678901234 }' };
const silent = async () => undefined;

function opened(...answers: { status?: number; body?: string | Buffer }[]) {
  const sent: BankCall[] = [];
  const caller = openCaller(
    async (call) => {
      const answer = answers[sent.length];
      sent.push(call);
      if (!answer) throw new TypeError('The script has no answer');
      return answered(call, { body: '', ...answer });
    },
    () => {},
  );
  return { sent, payments: bankOver(caller).payments };
}

const transferAt = (bank: ReturnType<typeof opened>, more: Partial<TransferOrder> = {}) =>
  bank.payments.transfer({ order: transferOrder(more), transactionId });
const operationAt = (bank: ReturnType<typeof opened>, customerId = '1234567') => {
  const { from } = transferOrder();
  return bank.payments.operation({ order: { customerId, from, ...OWN }, transactionId });
};

const errorOf = async (call: Promise<unknown> | undefined) => {
  const error = await call?.catch((thrown: unknown) => thrown);
  if (!(error instanceof Psd2Error)) throw new TypeError('It is no error of psd2');
  return { code: error.code, message: error.message, hint: error.hint };
};

describe('what is asked for', () => {
  it('a transfer is verified with what was ordered', async () => {
    const bank = opened(success('{}', { resourceId: 'r1' }));
    expect(await transferAt(bank).verify(silent)).toEqual({
      ...{ resourceId: 'r1', totalAmount: null, commissions: null, bankName: null, nextStep: 'execute' },
    });
    expect(bank.sent).toMatchObject([
      {
        ...{ method: 'POST', path: `${TRANSFER}/verify`, transactionId, beforeSend: silent },
        body: '{"data":{"moneyTransferAmount":{"currency":"EUR","amount":"12.50"},"flagUrgency":false,"type":"INSTANT","moneyTransferExecutionDate":"21/11/2026","ibanBeneficiary":"IT60X0542811101000000123456","beneficiaryName":"Mario Rossi","description":"Invoice 7"}}',
      },
    ]);
    expect(bank.sent[0]).not.toHaveProperty('irrevocable');
  });

  it.each<[Partial<TransferOrder>, string]>([
    [{ type: null, urgent: true }, '"flagUrgency":true,"moneyTransferExecutionDate":"21/11/2026"'],
    [{ executionDate: parseDate('--date', '2026-12-01') }, '"moneyTransferExecutionDate":"01/12/2026"'],
  ])('a transfer with %j has %s', async (more, part) => {
    const bank = opened(success('{}', { resourceId: 'r1' }));
    await transferAt(bank, more).verify(silent);
    expect(bank.sent).toMatchObject([{ body: expect.stringContaining(part) }]);
  });

  it('an operation is verified with the bytes of the operator, at its own path', async () => {
    const bank = opened(success('{}', { resourceId: 'r1' }));
    const calls = operationAt(bank, '1/2');
    await calls.verify(silent);
    const path = '/private/customers/1%2F2/products/0000012345/own%2Foperation/verify';
    expect(bank.sent).toMatchObject([{ method: 'POST', path, body: `{"data":${OWN.data}}` }]);
    expect([calls.name, calls.executionStatus, transferAt(bank).name]).toEqual([
      ...['own/operation', null, 'transfer'],
    ]);
  });

  it('a further step has the data of the operator', async () => {
    const bank = opened(success('{}', { resourceId: 'r/1', next: { method: 'PUT', href: 'r1/verify3' } }));
    expect(await transferAt(bank).verifyFurther('r/1', 'verify2', '{"otp":"1"}', silent)).toEqual({
      ...{ resourceId: 'r/1', totalAmount: null, commissions: null, bankName: null, nextStep: 'verify3' },
    });
    expect(bank.sent).toMatchObject([
      {
        ...{ method: 'PUT', path: `${TRANSFER}/r%2F1/verify2`, body: '{"data":{"otp":"1"}}' },
        ...{ transactionId, beforeSend: silent },
      },
    ]);
    expect(bank.sent[0]).not.toHaveProperty('irrevocable');
  });

  it.each([
    ['transfer', transferAt, TRANSFER],
    ['operation', operationAt, `${PRODUCT}/own%2Foperation`],
  ] as const)('the execution of a %s can be asked for only once, with the body {}', async (_, at, base) => {
    const bank = opened(success('{"cro":"0012345678"}'));
    expect(await at(bank).execute?.('r/1', silent)).toEqual({ cro: '0012345678' });
    expect(bank.sent).toMatchObject([
      {
        ...{ method: 'PUT', path: `${base}/r%2F1/execute`, body: {}, transactionId },
        ...{ beforeSend: silent, irrevocable: true },
      },
    ]);
  });

  it.each([
    ['OK', 'OK'],
    ['KO', 'KO'],
    ['PENDING', 'PENDING'],
    ['ok', 'PENDING'],
    ['EXECUTED', 'PENDING'],
    ['', 'PENDING'],
  ])('the execution status %s means %s, and decides', async (executionStatus, status) => {
    const bank = opened(success(JSON.stringify({ executionStatus })));
    expect(await transferAt(bank).executionStatus?.('r1')).toEqual({
      ...{ executionStatus, executionStatusDescription: null, status },
    });
    expect(bank.sent).toMatchObject([
      { method: 'GET', path: `${TRANSFER}/r1/execution/status`, transactionId, decides: true },
    ]);
  });

  it('the description of the execution status is the reason of a failure, and of nothing else', async () => {
    const said = (executionStatus: string) => {
      const answer = JSON.stringify({ executionStatus, executionStatusDescription: 'No funds' });
      return transferAt(opened(success(answer))).executionStatus?.('r1');
    };
    const reason = { level: 'payment', code: null, proprietary: null, text: 'No funds' };
    expect(await said('KO')).toHaveProperty('reasons', [reason]);
    expect(await said('OK')).not.toHaveProperty('reasons');
  });

  it.each([
    [{ instant: true, futureDated: false }, true],
    [{ instant: true, futureDated: true }, false],
    [{ instant: false }, false],
  ])('only an instant transfer of today has one: %j', (more, has) => {
    expect(transferAt(opened(), more).executionStatus !== null).toBe(has);
  });
});

describe('the answer to a verify', () => {
  const amount = (value: string, currency = 'EUR') => ({ amount: value, currency });
  it.each<[string, object]>([
    ['{"totalAmount":{"amount":"13.00","currency":"EUR"}}', { totalAmount: amount('13.00') }],
    ['{"commissions":{"commissions":"0.50","amount":"9","currency":"EUR"}}', { commissions: amount('0.50') }],
    ['{"commissions":{"amount":"0.75","currency":"EUR"}}', { commissions: amount('0.75') }],
    ['{"commissions":{"commissions":"","currency":""}}', {}],
    ['{"commissions":{"currency":"EUR"}}', {}],
    ['{"commissions":null}', {}],
    ['{"bankName":"BANCA"}', { bankName: 'BANCA' }],
    ['{"bankName":{"it":"BANCA"}}', {}],
    ['{"bankName":""}', {}],
  ])('%s', async (data, expected) => {
    expect(await transferAt(opened(success(data, { resourceId: 'r1' }))).verify(silent)).toEqual({
      ...{ resourceId: 'r1', totalAmount: null, commissions: null, bankName: null, nextStep: 'execute' },
      ...expected,
    });
  });

  it.each([
    ['/x/r1/verify2', 'verify2'],
    [' /x/r1/verify2/ ', 'verify2'],
    ['verify2?a=/b', 'verify2'],
    ['/x/verify2#/y', 'verify2'],
    ['/', 'execute'],
    ['?a=b', 'execute'],
  ])('that links to %j', async (href, step) => {
    const answer = success('{}', { resourceId: 'r1', next: { method: 'PUT', href } });
    expect(await transferAt(opened(answer)).verify(silent)).toMatchObject({ nextStep: step });
  });

  it('without an id cannot be used', async () => {
    expect(await errorOf(transferAt(opened(success('{}'))).verify(silent))).toEqual({
      code: 'bank_answer',
      message: "The bank's answer to verify has no resources.resourceId",
      hint: undefined,
    });
  });
});

describe('an execution that the bank confirms', () => {
  it.each([
    ['{}', null],
    ['{"cro":null}', null],
    ['{"cro":""}', null],
    ['{"cro":{"a":1}}', null],
    ['{"cro":"0012"}', '0012'],
    ['[]', null],
    ['"done"', null],
    ['null', null],
  ])('has moved the money, whatever is in it: %s', async (data, cro) => {
    expect(await transferAt(opened(success(data))).execute?.('r1', silent)).toEqual({ cro });
  });
});

it.each([
  [204, ''],
  [200, ''],
  [200, '{}'],
  [200, '{"data":{"cro":"1"}}'],
  [200, '[]'],
])('HTTP %i with %j is no execution, since an intermediary may have sent it', async (status, body) => {
  const executing = transferAt(opened({ status, body })).execute?.('r1', silent);
  expect(await errorOf(executing)).toMatchObject({ code: 'bank_answer' });
});

describe('the terms of a transfer', () => {
  const { customerId, from } = transferOrder();
  const NOTHING = {
    ...{ bankCode: null, sepa: null, swift: null, urgent: null, today: null, earliestDate: null },
    ...{ earliestDateInternal: null, latestDate: null, holidays: [], currency: null, currencies: [] },
    countries: [],
  };

  const LOWER = { abi: '05428', sepa: true, swift: false };
  const UPPER = { ABI: '05429', SEPA: false, SWIFT: true };
  const DAYS = {
    ...{ today: '21/11/2026', executionDateMinimumWireTransferAtBank: '23/11/2026' },
    ...{ executionDateMinimumWireTransferInternal: '22/11/2026', executionDateLimit: '21/12/2026' },
    holidays: ['26/12/2026', null, '25/12/2026'],
  };
  const READ_DAYS = {
    ...{ today: '2026-11-21', earliestDate: '2026-11-23', earliestDateInternal: '2026-11-22' },
    ...{ latestDate: '2026-12-21', holidays: ['2026-12-25', '2026-12-26'] },
  };
  const EURO = { label: 'Euro', value: 'EUR', rate: '' };
  const DOLLAR = { label: 'Dollar', value: 'USD', rate: '1.10' };
  const currencies = [
    { code: 'EUR', label: 'Euro', rate: null },
    { code: 'USD', label: 'Dollar', rate: '1.10' },
  ];
  const ITALY = { countries: [{ label: 'Italy', value: 'IT' }] };

  it.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['names in lower case', { ...UPPER, ...LOWER }, { bankCode: '05428', sepa: true, swift: false }],
    ['names in capitals', UPPER, { bankCode: '05429', sepa: false, swift: true }],
    ['days', DAYS, READ_DAYS],
    ['what is urgent', { flagUrgency: true }, { urgent: true }],
    ['a chosen currency', { currency: { selected: 'EUR' } }, { currency: 'EUR' }],
    ['currencies', { currency: { currencyList: [EURO, DOLLAR] } }, { currencies }],
    ['countries', ITALY, { countries: [{ code: 'IT', label: 'Italy' }] }],
    ['a currency without a list', { currency: {} }, {}],
  ])('%s', async (_, data, expected) => {
    const bank = opened(success(JSON.stringify(data)));
    const terms = await bank.payments.terms({ customerId, from }, transactionId);
    expect(terms).toEqual({ ...NOTHING, ...expected });
    expect(bank.sent).toMatchObject([{ method: 'GET', path: `${TRANSFER}/prepare`, transactionId }]);
  });

  it('of an operation are the data of the bank', async () => {
    const bank = opened(success('{"own":{"a":[1.50]},"id":123456789012345678901234}'));
    const target = { customerId, from, operation: 'own' };
    expect(await bank.payments.operationTerms(target, transactionId)).toEqual({
      ...{ own: { a: ['1.50'] }, id: '123456789012345678901234' },
    });
    expect(bank.sent).toMatchObject([{ method: 'GET', path: `${PRODUCT}/own/prepare` }]);
  });

  it('the customer commits with the execution', () => {
    expect(opened().payments.commits).toBe('on execute');
  });
});
