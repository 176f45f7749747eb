import { describe, expect, it } from 'vitest';
import { confirmConsent, requestConsent } from '../../src/bank/consents.ts';
import { fetchAccounts, fetchBalance, fetchCustomerId } from '../../src/bank/customers.ts';
import { authorize, requestTokens, revokeToken } from '../../src/bank/oauth.ts';
import { executeOperation, fetchOperationStatus, startSca } from '../../src/bank/operations.ts';
import { fetchExecutionStatus, prepareTransfer, verifyTransfer } from '../../src/bank/transfers.ts';
import { parseDate } from '../../src/domain/calendar.ts';
import { consentCategories, transferOrder } from '../domain/orders.ts';
import { operationStatus, success, tokens } from './answers.ts';
import { TOKEN, useClients } from './client.ts';
import { useRecordedBank } from './recorded-bank.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);

const transactionId = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const client = { clientId: 'client-1', clientSecret: 'secret-1' };
const TRANSFER = '/private/customers/1234567/products/0000012345/moneyTransfer';

/** Takes what is announced before a call leaves. */
function announcements() {
  const announced: { requestId: string; digest: string | null }[] = [];
  return {
    announced,
    beforeSend: (intent: { requestId: string; digest: string | null }) => announced.push(intent),
  };
}

function sentBody(): unknown {
  return JSON.parse(recorded.last.body.toString());
}

describe('OAuth', () => {
  it('authorize is a GET without bearer or digest, and its Location is taken, not followed', async () => {
    const path =
      '/auth/oauth/v2/authorize?response_type=code&client_id=client-1&redirect_uri=http%3A%2F%2F127.0.0.1%3A8910%2Fcallback&state=s1';
    recorded.expect('GET', path, {
      status: 302,
      headers: { 'content-type': 'text/plain', location: 'https://customers.example/login?x=1' },
    });
    const { bankWith } = openClient();
    const location = await authorize(bankWith(), {
      clientId: 'client-1',
      redirectUri: 'http://127.0.0.1:8910/callback',
      state: 's1',
      transactionId,
    });
    expect(location).toBe('https://customers.example/login?x=1');
    expect(recorded.last.headers).not.toHaveProperty('authorization');
    expect(recorded.last.headers).not.toHaveProperty('digest');
    expect(recorded.last.headers).not.toHaveProperty('content-type');
  });

  it('authorize without a Location is no login', async () => {
    const { bankWith } = openClient();
    const login = { clientId: 'c', redirectUri: 'http://127.0.0.1/', state: 's', transactionId };
    const path =
      '/auth/oauth/v2/authorize?response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%2F&state=s';
    recorded.expect('GET', path, { status: 302 });
    await expect(authorize(bankWith(), login)).rejects.toMatchObject({
      code: 'bank_answer',
      httpStatus: 302,
    });
    recorded.expect('GET', path, success());
    await expect(authorize(bankWith(), login)).rejects.toMatchObject({
      code: 'bank_answer',
      httpStatus: 200,
    });
    recorded.expect('GET', path, { status: 401, body: '{"error":"unauthorized_client"}' });
    await expect(authorize(bankWith(), login)).rejects.toMatchObject({
      code: 'not_logged_in',
      bankCode: 'unauthorized_client',
    });
  });

  it.each([
    [
      { grant_type: 'authorization_code', code: 'code-1', redirect_uri: 'http://127.0.0.1:8910/callback' },
      { accessToken: 'a1', expiresIn: 600, refreshToken: 'r1', refreshExpiresIn: 2592000, scope: 'oob' },
    ] as const,
    [
      { grant_type: 'refresh_token', refresh_token: 'r0' },
      { accessToken: 'a1', expiresIn: 600, refreshToken: 'r1', refreshExpiresIn: 2592000, scope: 'oob' },
    ] as const,
    [
      { grant_type: 'client_credentials' },
      { accessToken: 'a1', expiresIn: 600, refreshToken: null, refreshExpiresIn: null, scope: 'oob' },
    ] as const,
  ])('the token call sends %j bare, and reads lifetimes written as strings', async (grant, granted) => {
    recorded.expect('POST', '/auth/oauth/v2/token', tokens('a1', granted.refreshToken, '600'));
    const { bankWith } = openClient();
    expect(await requestTokens(bankWith(), client, grant, transactionId)).toEqual(granted);
    expect(sentBody()).toEqual({ ...grant, client_id: 'client-1', client_secret: 'secret-1' });
    expect(recorded.last.headers).not.toHaveProperty('authorization');
    expect(recorded.last.headers['content-type']).toBe('application/json');
  });

  it('a token is revoked by its kind', async () => {
    recorded.expect(
      'POST',
      '/auth/oauth/v2/token/revoke',
      success('{"tokenType":"refresh_token","operationOutcome":"revoked"}'),
    );
    await revokeToken(openClient().bankWith(), client, 'r1', 'refresh_token', transactionId);
    expect(sentBody()).toEqual({
      client_id: 'client-1',
      client_secret: 'secret-1',
      token: 'r1',
      token_type_hint: 'refresh_token',
    });
  });
});

describe('customer data', () => {
  it('whose token it is', async () => {
    const body =
      '{"result":{"outcome":"SUCCESS","requestId":123456789012345678901234,"result":true},"data":{"customerid":"0012345"}}';
    recorded.expect('GET', '/private/customers/customerid-info', { status: 200, body });
    expect(await fetchCustomerId(openClient().bank, transactionId)).toBe('0012345');
    expect(recorded.last.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('accounts, where a card has the IBAN of the account and no name', async () => {
    recorded.expect(
      'GET',
      '/private/customers/1234567/accounts',
      success(
        '{"accounts":[' +
          '{"accountId":"0000012345","product":{"code":"0602","description":"Conto"},"currency":"EUR","iban":"IT60X0542811101000000123456","name":"Casa"},' +
          '{"accountId":"CARD000001","product":{"code":"CA30","description":"Carta"},"currency":"EUR","iban":"IT60X0542811101000000123456","name":"","new":1}]}',
      ),
    );
    expect(await fetchAccounts(openClient().bank, '1234567', transactionId)).toEqual([
      {
        productId: '0000012345',
        iban: 'IT60X0542811101000000123456',
        currency: 'EUR',
        name: 'Casa',
        productCode: '0602',
        productDescription: 'Conto',
      },
      {
        productId: 'CARD000001',
        iban: 'IT60X0542811101000000123456',
        currency: 'EUR',
        name: null,
        productCode: 'CA30',
        productDescription: 'Carta',
      },
    ]);
  });

  it.each([
    ['"date":"30/06/2026","hour":"10:15"', '2026-06-30T10:15:00+02:00'],
    ['"date":"2026-01-30","hour":"10:15"', '2026-01-30T10:15:00+01:00'],
    ['"date":"30/06/2026","hour":""', '2026-06-30'],
    ['"date":"30/06/2026","hour":"24:61"', '2026-06-30'],
    ['"hour":"10:15"', null],
  ])('a balance as of %s', async (time, asOf) => {
    recorded.expect(
      'GET',
      '/private/customers/1234567/products/0000012345/balance/retrieve',
      success(
        `{"accountBalance":{"amount":"1234.560","currency":"EUR"},"availableBalance":{"amount":-0.5,"currency":"EUR"},${time}}`,
      ),
    );
    expect(await fetchBalance(openClient().bank, '1234567', '0000012345', transactionId)).toEqual({
      productId: '0000012345',
      accountBalance: { amount: '1234.560', currency: 'EUR' },
      availableBalance: { amount: '-0.5', currency: 'EUR' },
      accountAvailability: null,
      accountAvailableCredit: null,
      asOf,
    });
  });

  it('ids stand in the path percent-encoded, so that none of them makes another path', async () => {
    recorded.expect('GET', '/private/customers/a%2F..%3Fb/accounts', success('{"accounts":[]}'));
    expect(await fetchAccounts(openClient().bank, 'a/..?b', transactionId)).toEqual([]);
  });
});

describe('consent', () => {
  it('is requested in data, by category', async () => {
    const { announced, beforeSend } = announcements();
    recorded.expect(
      'POST',
      '/private/customers/1234567/consent/request',
      success(
        '{"categoriesOutcome":[{"name":"ACCOUNT_INFO","outcome":true},{"name":"PAYMENTS","outcome":false}]}',
        { resourceId: 'r1', next: { method: 'PUT', href: 'request/r1/confirm' } },
      ),
    );
    const requested = await requestConsent(openClient().bank, {
      customerId: '1234567',
      categories: consentCategories(),
      transactionId,
      beforeSend,
    });
    expect(requested).toEqual({
      resourceId: 'r1',
      outcomes: [
        { name: 'ACCOUNT_INFO', outcome: true },
        { name: 'PAYMENTS', outcome: false },
      ],
    });
    expect(sentBody()).toEqual({ data: { categories: consentCategories() } });
    const { headers } = recorded.last;
    expect(announced).toEqual([{ requestId: headers['tpp-request-id'], digest: headers.digest }]);
  });

  it('is confirmed with the two bytes {}', async () => {
    recorded.expect('PUT', '/private/customers/1234567/consent/request/r1/confirm', success());
    const { beforeSend } = announcements();
    await confirmConsent(openClient().bank, {
      customerId: '1234567',
      resourceId: 'r1',
      transactionId,
      beforeSend,
    });
    expect(recorded.last.body.toString()).toBe('{}');
    expect(recorded.last.headers).toMatchObject({
      digest: 'SHA-256=RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=',
      'content-type': 'application/json',
      'content-length': '2',
    });
  });

  it('without a resource cannot be authorised', async () => {
    recorded.expect(
      'POST',
      '/private/customers/1234567/consent/request',
      success('{"categoriesOutcome":[]}'),
    );
    const { beforeSend } = announcements();
    await expect(
      requestConsent(openClient().bank, { customerId: '1234567', categories: [], transactionId, beforeSend }),
    ).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining('resources.resourceId'),
    });
  });
});

describe('SCA', () => {
  const sca = { resourceId: 'r1', redirectUri: 'http://127.0.0.1:8910/callback?state=s1', transactionId };

  it('is started with the address to return to; its answer has the data in a nested result', async () => {
    recorded.expect('GET', '/private/auth/security/sca/r1/approach', {
      status: 200,
      body:
        '{"result":{"outcome":"SUCCESS","requestId":"012345678901234567890123","result":{"data":{"scaRedirectURL":' +
        '"https://customers.example/sca-authorize/?resourceId=r1","chosenScaApproach":"REDIRECT"}}},"resources":{"resourceId":"r1"}}',
    });
    const { announced, beforeSend } = announcements();
    const url = await startSca(openClient().bank, { ...sca, beforeSend });
    expect(url).toBe('https://customers.example/sca-authorize/?resourceId=r1');
    expect(recorded.last.headers['tpp-redirect-uri']).toBe(sca.redirectUri);
    expect(announced).toEqual([{ requestId: recorded.last.headers['tpp-request-id'], digest: null }]);
  });

  it.each([
    ['{"chosenScaApproach":"DECOUPLED"}', 'the approach DECOUPLED'],
    ['{"chosenScaApproach":"REDIRECT"}', 'no scaRedirectURL'],
  ])('in the form %s is not possible', async (data, what) => {
    recorded.expect('GET', '/private/auth/security/sca/r1/approach', success(data));
    const { beforeSend } = announcements();
    await expect(startSca(openClient().bank, { ...sca, beforeSend })).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(what),
    });
  });

  it('has a status', async () => {
    recorded.expect('GET', '/private/operations/r1/status', operationStatus('STARTED'));
    expect(await fetchOperationStatus(openClient().bank, 'r1', transactionId)).toEqual({
      authorizationStatus: 'STARTED',
      executionStatus: 'PENDING',
    });
  });
});

describe('a transfer', () => {
  const order = transferOrder({ urgent: true, executionDate: parseDate('--date', '2026-12-01') });

  const target = { ...order, operation: 'moneyTransfer' };

  it('can be prepared', async () => {
    recorded.expect(
      'GET',
      `${TRANSFER}/prepare`,
      success('{"today":"21/11/2026","holidays":["26/12/2026","25/12/2026"],"initialData":{}}'),
    );
    expect(await prepareTransfer(openClient().bank, order, transactionId)).toMatchObject({
      today: '2026-11-21',
      holidays: ['2026-12-26', '2026-12-25'],
    });
  });

  it.each(['INSTANT', null])('of the type %s is verified in data, amounts as strings', async (type) => {
    const { announced, beforeSend } = announcements();
    recorded.expect(
      'POST',
      `${TRANSFER}/verify`,
      success(
        '{"totalAmount":{"amount":"13.000","currency":"EUR"},"commissions":{"commissions":"0.500","currency":"EUR"},"bankName":"BANCA","additionalChecks":[{}]}',
        { resourceId: 'r1', next: { method: 'PUT', href: 'r1/execute' } },
      ),
    );
    expect(await verifyTransfer(openClient().bank, { ...order, type }, transactionId, beforeSend)).toEqual({
      resourceId: 'r1',
      totalAmount: { amount: '13.000', currency: 'EUR' },
      commissions: { amount: '0.500', currency: 'EUR' },
      bankName: 'BANCA',
      nextStep: 'execute',
    });
    expect(sentBody()).toEqual({
      data: {
        moneyTransferAmount: { currency: 'EUR', amount: '12.50' },
        flagUrgency: true,
        ...(type && { type }),
        moneyTransferExecutionDate: '01/12/2026',
        ibanBeneficiary: 'IT60X0542811101000000123456',
        beneficiaryName: 'Mario Rossi',
        description: 'Invoice 7',
      },
    });
    expect(announced).toHaveLength(1);
  });

  it.each([
    [{ method: 'PUT', href: 'r1/verify2' }, 'verify2'],
    [{ method: 'PUT', href: 'https://elsewhere.example/x/r1/verify2/?a=b#c' }, 'verify2'],
    [{ method: 'PUT', href: ' ' }, 'execute'],
    [undefined, 'execute'],
  ])('whose answer links to %j goes on with %s', async (next, step) => {
    recorded.expect('POST', `${TRANSFER}/verify`, success('{}', { resourceId: 'r1', ...(next && { next }) }));
    const { beforeSend } = announcements();
    const { nextStep } = await verifyTransfer(openClient().bank, order, transactionId, beforeSend);
    expect(nextStep).toBe(step);
  });

  it.each([
    [success('{"cro":"0012345678","moneyTransferOffline":false}'), '0012345678'],
    [success('{}'), null],
    [{ status: 204 }, null],
  ])('is executed with the body {}', async (answer, cro) => {
    recorded.expect('PUT', `${TRANSFER}/r1/execute`, answer);
    const { announced, beforeSend } = announcements();
    expect(
      await executeOperation(openClient().bank, target, { resourceId: 'r1', transactionId, beforeSend }),
    ).toEqual({ cro });
    expect(recorded.last.body.toString()).toBe('{}');
    expect(announced).toEqual([
      { requestId: recorded.last.headers['tpp-request-id'], digest: recorded.last.headers.digest },
    ]);
  });

  it.each(['{}', '{"data":{"cro":"1"}}', '{"error":{"code":5}}', '[]', 'null', '<html>', ''])(
    'is not taken for executed by HTTP 200 with %j',
    async (body) => {
      recorded.expect('PUT', `${TRANSFER}/r1/execute`, { status: 200, body });
      const { beforeSend } = announcements();
      await expect(
        executeOperation(openClient().bank, target, { resourceId: 'r1', transactionId, beforeSend }),
      ).rejects.toThrow(expect.objectContaining({ httpStatus: 200 }));
    },
  );

  it('has an execution status', async () => {
    recorded.expect(
      'GET',
      `${TRANSFER}/r1/execution/status`,
      success('{"executionStatus":"KO","executionStatusDescription":"Account closed"}'),
    );
    expect(await fetchExecutionStatus(openClient().bank, order, 'r1', transactionId)).toEqual({
      executionStatus: 'KO',
      executionStatusDescription: 'Account closed',
    });
  });
});
