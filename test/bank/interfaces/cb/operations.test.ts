import { describe, expect, it } from 'vitest';
import type { Bank } from '../../../../src/bank/ports/bank.ts';
import { parseProductId } from '../../../../src/domain/identifiers.ts';
import { success } from '../../answers.ts';
import { announcements, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const BASE = '/private/customers/1234567/products/0000012345/standingOrder';
const target = { customerId: '1234567', from: parseProductId('0000012345'), operation: 'standingOrder' };

const callsOf = (bank: Bank, order: typeof target, data = '{}') =>
  bank.payments.operation({ order: { ...order, data }, transactionId });

describe('an operation', () => {
  it('psd2 prepares an operation, and keeps every digit of the answer', async () => {
    recorded.expect('GET', `${BASE}/prepare`, success('{"limit":1.50,"id":123456789012345678901234}'));
    expect(await openClient().bank.payments.operationTerms(target, transactionId)).toEqual({
      limit: '1.50',
      id: '123456789012345678901234',
    });
  });

  it('psd2 sends the data of verify and of further steps unchanged', async () => {
    const { announced, beforeSend } = announcements();
    const { bank } = openClient();
    recorded.expect(
      'POST',
      `${BASE}/verify`,
      success('{}', { resourceId: 'r1', next: { method: 'PUT', href: 'r1/verify2' } }),
    );
    const data = '{ "amount": 1.50, "id": 123456789012345678901234 }';
    expect(await callsOf(bank, target, data).verify(beforeSend)).toEqual({
      resourceId: 'r1',
      totalAmount: null,
      commissions: null,
      bankName: null,
      nextStep: 'verify2',
    });
    expect(recorded.last.body.toString()).toBe(`{"data":${data}}`);

    recorded.expect(
      'PUT',
      `${BASE}/r1/verify2`,
      success('{}', { next: { method: 'PUT', href: 'r1/execute' } }),
    );
    expect(
      await callsOf(bank, target).verifyFurther('r1', 'verify2', '{"seen":true}', beforeSend),
    ).toMatchObject({
      resourceId: 'r1',
      nextStep: 'execute',
    });
    expect(recorded.last.body.toString()).toBe('{"data":{"seen":true}}');
    expect(announced.map(({ digest }) => digest)).toEqual(
      recorded.received.map(({ headers }) => headers.digest),
    );
  });

  it('psd2 executes an operation with the body {}', async () => {
    recorded.expect('PUT', `${BASE}/r1/execute`, success('{}'));
    const { beforeSend } = announcements();
    const execute = { resourceId: 'r1', transactionId, beforeSend };
    expect(await callsOf(openClient().bank, target).execute?.(execute.resourceId, beforeSend)).toEqual({
      cro: null,
    });
    expect(recorded.last.body.toString()).toBe('{}');
  });

  it('ids of an operation cannot lead to another path', async () => {
    recorded.expect('PUT', '/private/customers/1%2F2/products/0000012345/a%2Fb/r%3F1/execute', success('{}'));
    const { beforeSend } = announcements();
    const odd = { ...target, customerId: '1/2', operation: 'a/b' };
    expect(await callsOf(openClient().bank, odd).execute?.('r?1', beforeSend)).toBeDefined();
  });
});

describe('the start of SCA', () => {
  const PATH = '/private/auth/security/sca/r1/approach';
  const start = () => {
    const { beforeSend } = announcements();
    const sca = { resourceId: 'r1', redirectUri: 'http://127.0.0.1/', transactionId, beforeSend };
    return openClient().bank.sca.start(sca);
  };

  it('psd2 gets the address of the bank’s customer site', async () => {
    const url = 'https://customers.example/sca?x=1';
    recorded.expect('GET', PATH, success(`{"chosenScaApproach":"REDIRECT","scaRedirectURL":"${url}"}`));
    expect(await start()).toBe(url);
    recorded.expect('GET', PATH, success(`{"scaRedirectURL":"${url}"}`));
    expect(await start()).toBe(url);
  });

  it.each([
    ['{"chosenScaApproach":"DECOUPLED"}', 'the approach DECOUPLED'],
    [
      '{"chosenScaApproach":"DECOUPLED","scaRedirectURL":"https://customers.example/"}',
      'the approach DECOUPLED',
    ],
    ['{"chosenScaApproach":"REDIRECT"}', 'no scaRedirectURL'],
    ['{"chosenScaApproach":"REDIRECT","scaRedirectURL":""}', 'no scaRedirectURL'],
  ])('for the approach %s psd2 says that it supports only REDIRECT', async (data, what) => {
    recorded.expect('GET', PATH, success(data));
    await expect(start()).rejects.toMatchObject({
      code: 'bank_answer',
      message: `The bank answered with ${what} for SCA, but psd2 supports only REDIRECT`,
      hint: 'Ask the bank to offer REDIRECT to this application.',
      transactionId,
    });
  });
});
