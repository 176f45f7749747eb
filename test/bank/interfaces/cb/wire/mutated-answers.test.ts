import fc from 'fast-check';
import { expect, it } from 'vitest';
import type * as z from 'zod/mini';
import {
  accountsAnswer,
  balanceAnswer,
  factsOf,
  transactionsAnswer,
} from '../../../../../src/bank/interfaces/cb/accounts.ts';
import { readAnswer } from '../../../../../src/bank/interfaces/cb/answer.ts';
import {
  approachAnswer,
  consentAnswer,
  operationStatusAnswer,
} from '../../../../../src/bank/interfaces/cb/consents.ts';
import {
  executeAnswer,
  executionStatusAnswer,
  prepareAnswer,
  verifyAnswer,
} from '../../../../../src/bank/interfaces/cb/payments.ts';
import { customerIdAnswer, tokenAnswer } from '../../../../../src/bank/interfaces/cb/wire/oauth.ts';
import { Psd2Error } from '../../../../../src/errors.ts';
import { damaged } from '../../../../fuzz/damaged.ts';
import { answered } from '../answered.ts';

const euros = (amount: string) => ({ amount, currency: 'EUR' });
const row = {
  index: 'A1',
  amountTransaction: euros('-12.300'),
  dateAccountingCurrency: '20240630T00:00:00',
  dateLiquidationValue: '30/06/2024',
  isFeeCharge: false,
};
const account = {
  ...{ accountId: '0000012345', product: { code: 'CA30' }, currency: 'EUR', iban: 'IT60', name: '' },
};
const operation = { authorizationStatus: 'AUTHORIZED', executionStatus: 'PENDING' };
const terms = { today: '30/06/2024', holidays: ['25/12/2024'], currency: { selected: 'EUR' } };
const commissions = { commissions: '0', currency: 'EUR' };

/** A valid `data` for each schema. */
const answers: [name: string, schema: z.ZodMiniType, data: object][] = [
  ['token', tokenAnswer, { access_token: 't', expires_in: '600', rt_expires_in: 9, refresh_token: 'r' }],
  ['customer id', customerIdAnswer, { customerid: '1234567' }],
  ['accounts', accountsAnswer, { accounts: [account] }],
  ['balance', balanceAnswer, { accountBalance: euros('1.000'), date: '30/06/2024', hour: '10:15' }],
  ['transactions', transactionsAnswer, { transactionsAccounting: [row, row], nextAccounting: 11 }],
  ['consent request', consentAnswer, { categoriesOutcome: [{ name: 'PAYMENTS', outcome: true }] }],
  ['approach', approachAnswer, { chosenScaApproach: 'REDIRECT', scaRedirectURL: 'https://bank.example/' }],
  ['operation status', operationStatusAnswer, operation],
  ['prepare', prepareAnswer, terms],
  ['verify', verifyAnswer, { totalAmount: euros('1.000'), commissions }],
  ['execute', executeAnswer, { cro: '1' }],
  ['execution status', executionStatusAnswer, { executionStatus: 'OK', executionStatusDescription: '' }],
];

const status = fc.constantFrom(200, 200, 200, 204, 302, 400, 401, 403, 412, 417, 420, 422, 429, 500, 503);

async function read(schema: z.ZodMiniType, code: number, body: Buffer, method: 'GET' | 'PUT' = 'GET') {
  const path = '/private/x?secret=1';
  const call = { method, path, facts: factsOf(method, path), transactionId: 't1' };
  const headers = { 'content-type': 'application/json' };
  const answer = await answered(call, { status: code, headers, body });
  try {
    return readAnswer(answer, schema);
  } catch (error) {
    expect(error).toBeInstanceOf(Psd2Error);
    expect(String(error)).not.toContain('secret');
    return null;
  }
}

it.each(answers)('a mutated %s answer is read, or refused with a Psd2Error', async (_, schema, data) => {
  const answer = {
    result: {
      outcome: 'SUCCESS',
      requestId: '012345678901234567890123',
      messages: [{ code: 'A', message: 'b' }],
    },
    data,
    resources: { resourceId: 'r1' },
    _links: { self: { href: ' ' }, next: { href: 'r1/execute', method: 'PUT' } },
    _embedded: { polling: { href: 'x', method: 'GET' } },
  };
  expect(await read(schema, 200, Buffer.from(JSON.stringify(answer)))).not.toBeNull();
  await fc.assert(
    fc.asyncProperty(damaged(answer), status, fc.constantFrom('GET', 'PUT'), async (body, code, method) => {
      await read(schema, code, Buffer.from(body), method);
    }),
  );
});

it('an answer that is cut short, or of any bytes, is read or refused with a Psd2Error', async () => {
  const text = JSON.stringify({ result: { outcome: 'SUCCESS' }, data: { customerid: '1' } });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.nat({ max: text.length }).map((length) => Buffer.from(text.slice(0, length))),
        fc.uint8Array({ maxLength: 60, size: 'max' }).map((bytes) => Buffer.from(bytes)),
        fc.json().map((json) => Buffer.from(json)),
        fc.nat({ max: 100_000 }).map((depth) => Buffer.from(`{"a":1.0,"b":${'['.repeat(depth)}`)),
      ),
      status,
      async (body, code) => {
        const reading = await read(customerIdAnswer, code, body);
        if (reading) expect(reading.data).toEqual({ customerid: expect.stringMatching(/^\d+$/) });
      },
    ),
  );
});
