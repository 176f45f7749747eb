import { describe, expect, it } from 'vitest';
import { consentCategories } from '../../../domain/orders.ts';
import { success } from '../../answers.ts';
import { announcements, useClients } from '../../client.ts';
import { useRecordedBank } from '../../recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

const REQUEST = '/private/customers/1234567/consent/request';

describe('consent', () => {
  it('psd2 requests a consent in data, by category', async () => {
    const { announced, beforeSend } = announcements();
    const outcomes = '[{"name":"ACCOUNT_INFO","outcome":true},{"name":"PAYMENTS","outcome":false}]';
    const next = { method: 'PUT', href: 'request/r1/confirm' };
    const answer = success(`{"categoriesOutcome":${outcomes}}`, { resourceId: 'r1', next });
    recorded.expect('POST', REQUEST, answer);
    const consent = { customerId: '1234567', categories: consentCategories(), transactionId, beforeSend };
    const requested = await openClient().bank.consents.request(consent);
    expect(requested).toMatchInlineSnapshot(`
      { outcomes: [{ name: "ACCOUNT_INFO", outcome: true }, { name: "PAYMENTS", outcome: false }],
        resourceId: "r1" }
    `);
    expect(recorded.lastJson).toEqual({ data: { categories: consentCategories() } });
    const { headers } = recorded.last;
    expect(announced).toEqual([{ requestId: headers['tpp-request-id'], digest: headers.digest }]);
  });

  it('psd2 confirms a consent with the two bytes {}', async () => {
    recorded.expect('PUT', `${REQUEST}/r1/confirm`, success());
    const { beforeSend } = announcements();
    const consent = { customerId: '1234567', resourceId: 'r1', transactionId, beforeSend };
    await openClient().bank.consents.confirm(consent);
    expect(recorded.last.body.toString()).toBe('{}');
    expect(recorded.last.headers).toMatchObject({
      digest: 'SHA-256=RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=',
      'content-type': 'application/json',
      'content-length': '2',
    });
  });

  it('psd2 cannot authorise a consent that has no resource', async () => {
    recorded.expect('POST', REQUEST, success('{"categoriesOutcome":[]}'));
    const { beforeSend } = announcements();
    const consent = { customerId: '1234567', categories: [], transactionId, beforeSend };
    await expect(openClient().bank.consents.request(consent)).rejects.toMatchObject({
      ...{ code: 'bank_answer', message: expect.stringContaining('resources.resourceId') },
    });
  });
});

describe('SCA', () => {
  const APPROACH = '/private/auth/security/sca/r1/approach';
  const redirectUri = 'http://127.0.0.1:8910/callback?state=s1';
  const start = () => {
    const { announced, beforeSend } = announcements();
    const sca = { resourceId: 'r1', redirectUri, transactionId, beforeSend };
    return { announced, url: openClient().bank.sca.start(sca) };
  };

  it('psd2 starts SCA with the address to return to, and reads the nested result', async () => {
    recorded.expect('GET', APPROACH, {
      status: 200,
      body:
        '{"result":{"outcome":"SUCCESS","requestId":"012345678901234567890123","result":{"data":{"scaRedirectURL":' +
        '"https://customers.example/sca-authorize/?resourceId=r1","chosenScaApproach":"REDIRECT"}}},"resources":{"resourceId":"r1"}}',
    });
    const { announced, url } = start();
    expect(await url).toBe('https://customers.example/sca-authorize/?resourceId=r1');
    expect(recorded.last.headers['tpp-redirect-uri']).toBe(redirectUri);
    expect(announced).toEqual([{ requestId: recorded.last.headers['tpp-request-id'], digest: null }]);
  });

  it('the address alone means REDIRECT', async () => {
    recorded.expect('GET', APPROACH, success('{"scaRedirectURL":"https://customers.example/sca?x=1"}'));
    expect(await start().url).toBe('https://customers.example/sca?x=1');
  });

  it.each([
    ['{"chosenScaApproach":"DECOUPLED"}', 'the approach DECOUPLED'],
    ['{"chosenScaApproach":"DECOUPLED","scaRedirectURL":"https://x.example/"}', 'the approach DECOUPLED'],
    ['{"chosenScaApproach":"REDIRECT"}', 'no scaRedirectURL'],
    ['{"chosenScaApproach":"REDIRECT","scaRedirectURL":""}', 'no scaRedirectURL'],
  ])('for the approach %s psd2 says that it supports only REDIRECT', async (data, what) => {
    recorded.expect('GET', APPROACH, success(data));
    await expect(start().url).rejects.toMatchObject({
      code: 'bank_answer',
      message: `The bank answered with ${what} for SCA, but psd2 supports only REDIRECT`,
      hint: 'Ask the bank to offer REDIRECT to this application.',
      transactionId,
    });
  });

  it.each([
    ['AUTHORIZED', 'AUTHORIZED', 'OK', 'executed'],
    ['AUTHORIZED', 'AUTHORIZED', 'EXECUTED', 'executed'],
    ['NOT_AUTHORIZED', 'NOT_AUTHORIZED', 'KO', 'failed'],
    ['EXPIRED', 'EXPIRED', 'PENDING', null],
    ['PENDING', 'PENDING', 'ok', null],
    ['STARTED', 'PENDING', null, null],
    ['authorized', 'PENDING', null, null],
  ])('psd2 reads the status of SCA %s as %s, and by %j the resource became %j', async (...row) => {
    const [authorizationStatus, status, executionStatus, became] = row;
    const data = JSON.stringify({ authorizationStatus, executionStatus });
    recorded.expect('GET', '/private/operations/r1/status', success(data));
    expect(await openClient().bank.sca.status('r1', transactionId)).toEqual({
      ...{ authorizationStatus, executionStatus, became },
      authorization: { type: 'authorization', status, bankStatus: authorizationStatus },
    });
  });
});
