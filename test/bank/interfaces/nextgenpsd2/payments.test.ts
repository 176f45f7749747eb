import { describe, expect, it } from 'vitest';
import { initiationOf } from '../../../../src/bank/interfaces/nextgenpsd2/initiation.ts';
import { paymentsOf } from '../../../../src/bank/interfaces/nextgenpsd2/payments.ts';
import { parsePaymentAmount } from '../../../../src/domain/order/payment-amount.ts';
import { transferOrder } from '../../../domain/orders.ts';
import { silent, TRANSACTION_ID } from './client.ts';
import { failureOf, type Scripted, said, scriptedCalls } from './scripted.ts';

// The payments of the interface: confirmations of funds, a transfer with its initiation, and what no bank of it has.

const BACK = { address: 'http://127.0.0.1:8910/callback?state=s1', state: 's1' };
const ORDER = transferOrder({
  ...{ instant: false, type: null, reference: 'INV-7', fromIban: 'DE02100100109307118603' },
});
const OTHER_THAN_ORDERED = {
  code: 'config',
  message: 'The stored payment is not the one that was ordered',
  hint: 'Somebody may have changed the store. psd2 has sent nothing. Restore the store from a backup.',
};

function opened(...answers: Scripted[]) {
  const script = scriptedCalls(answers);
  return { ...script, payments: paymentsOf(script.calls, script.oauth) };
}

describe('a confirmation of funds', () => {
  const asked = { account: 'DE02100100109307118603', amount: parsePaymentAmount('1.00'), currency: 'EUR' };

  it.each([true, false])('the bank says %s', async (fundsAvailable) => {
    const { payments, sent } = opened(said({ fundsAvailable }));
    expect(await payments.funds?.(asked, TRANSACTION_ID)).toBe(fundsAvailable);
    expect(sent).toEqual([
      {
        method: 'POST',
        path: '/v1/funds-confirmations',
        facts: { reads: null, needsConsent: false, login: false },
        transactionId: TRANSACTION_ID,
        body: {
          account: { iban: 'DE02100100109307118603' },
          instructedAmount: { currency: 'EUR', amount: '1.00' },
        },
      },
    ]);
  });

  it.each([{}, { fundsAvailable: 'yes' }])('an answer of %j says nothing', async (answer) => {
    const call = (async () => opened(said(answer)).payments.funds?.(asked, TRANSACTION_ID))();
    expect(await failureOf(call)).toMatchObject({
      code: 'bank_answer',
      message: expect.stringMatching(
        /^The bank's answer to POST \/v1\/funds-confirmations has no usable fundsAvailable: /,
      ),
    });
  });
});

it('bulk payments are there only where the bank file has a product of them', () => {
  expect(opened().payments.bulk).toBeUndefined();
  const { calls, oauth } = scriptedCalls([], { payments: { products: { 'bulk-payments': ['sct'] } } });
  expect(paymentsOf(calls, oauth).bulk).toBeDefined();
});

describe('what no bank of the interface has', () => {
  const target = { customerId: 'shop', from: ORDER.from };
  const operation = 'sct';
  const { payments } = opened();
  it.each<[string, () => unknown]>([
    [
      'operations',
      () =>
        payments.operation({ order: { ...target, operation, data: '{}' }, transactionId: TRANSACTION_ID }),
    ],
    ['operations', () => payments.operationTerms({ ...target, operation }, TRANSACTION_ID)],
    ['terms of transfers', () => payments.terms(target, TRANSACTION_ID)],
    ['receipts', () => payments.receipt(target, 'r1', TRANSACTION_ID)],
  ])('%s', async (what, call) => {
    expect(await failureOf((async () => call())())).toEqual({
      code: 'usage',
      message: `This bank's interface has no ${what}`,
    });
  });
});

describe('a transfer', () => {
  const initiation = (script: ReturnType<typeof opened>) =>
    initiationOf(script.calls, ORDER, BACK, () => TRANSACTION_ID);
  const RECEIVED = said({ transactionStatus: 'RCVD', paymentId: 'p1', _links: {} }, 201);

  it('is committed by the customer, and has no bulk payments unless the bank file names products', () => {
    const { payments } = opened();
    expect([payments.commits, payments.bulk]).toEqual(['by the customer', undefined]);
  });

  it('is initiated with the bytes that psd2 keeps', async () => {
    const script = opened(RECEIVED);
    const kept = initiation(script);
    expect(await script.payments.initiation?.(ORDER, BACK, () => TRANSACTION_ID)).toEqual(kept);
    const made = script.payments.transfer({
      ...{ order: ORDER, transactionId: TRANSACTION_ID, initiation: kept },
    });
    const again = '11111111-2222-4333-8444-555555555555';
    expect(await made.verify(silent, again)).toEqual({
      ...{ resourceId: 'p1', totalAmount: null, commissions: null, bankName: null },
      nextStep: 'authorisation',
      bank: { transactionStatus: 'RCVD', scaStatus: null },
      links: { approach: null },
    });
    expect(script.sent).toEqual([
      {
        method: 'POST',
        path: '/v1/payments/sepa-credit-transfers',
        facts: { reads: null, needsConsent: false, login: false },
        transactionId: TRANSACTION_ID,
        ...{ body: kept.body, headers: {}, beforeSend: silent, redirectUri: BACK.address },
        ...{ irrevocable: true, requestId: again },
      },
    ]);
  });

  it('in a basket is asked for with the login of the basket', async () => {
    const script = opened(said({ transactionStatus: 'RCVD' }));
    const known = { order: ORDER, transactionId: TRANSACTION_ID, initiation: initiation(script) };
    const { sca } = script.payments.transfer({ ...known, authorisedBy: 'of the basket' });
    await sca?.status('p1', TRANSACTION_ID);
    expect(script.sent).toMatchObject([{ facts: { ofPayment: 'of the basket' } }]);
  });

  it('is not sent if its initiation is another one', async () => {
    const script = opened(RECEIVED);
    const kept = { ...initiation(script), service: 'periodic-payments' } as const;
    const made = script.payments.transfer({
      ...{ order: ORDER, transactionId: TRANSACTION_ID, initiation: kept },
    });
    expect(await failureOf(made.verify(silent))).toEqual(OTHER_THAN_ORDERED);
    expect(script.sent).toEqual([]);
  });

  it.each([{}, { initiation: null }])('without an initiation is a fault of psd2: %j', (none) => {
    const { payments } = opened();
    expect(() => payments.transfer({ order: ORDER, transactionId: TRANSACTION_ID, ...none })).toThrow(
      new TypeError('A payment of this interface begins with its initiation'),
    );
  });
});
