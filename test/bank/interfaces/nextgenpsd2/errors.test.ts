import { describe, expect, it } from 'vitest';
import type { Psd2Error } from '../../../../src/errors.ts';
import { isBanksRefusal, isRefusal, isTurningAway } from '../../../../src/flows/refusals.ts';
import type { WrittenAnswer } from '../../recorded-bank.ts';
import { json, type NextGenOptions, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);

async function failure(answer: WrittenAnswer, options: NextGenOptions = {}): Promise<Psd2Error> {
  bank.expect('GET', '/v1/accounts/a1/balances', answer);
  // A card account may have this id.
  if (answer.status === 404 || answer.body?.includes('RESOURCE_UNKNOWN'))
    bank.expect('GET', '/v1/card-accounts/a1/balances', answer);
  return open(options)
    .bank.accounts.balance('shop', 'a1', TRANSACTION_ID)
    .then(
      () => Promise.reject(new TypeError('The call succeeded')),
      (error: Psd2Error) => error,
    );
}

describe('the code of the bank decides, then the HTTP status', () => {
  it.each([
    ['CONSENT_UNKNOWN', 400, 'not_logged_in', ['consent', 'request']],
    ['CONSENT_UNKNOWN', 403, 'not_logged_in', ['consent', 'request']],
    ['CONSENT_UNKNOWN', 404, 'not_logged_in', ['consent', 'request']],
    ['CONSENT_INVALID', 401, 'not_logged_in', ['consent', 'request']],
    ['CONSENT_EXPIRED', 401, 'not_logged_in', ['consent', 'request']],
    ['TOKEN_EXPIRED', 401, 'not_logged_in', ['auth', 'login']],
    ['TOKEN_INVALID', 401, 'not_logged_in', ['auth', 'login']],
    ['TOKEN_UNKNOWN', 401, 'not_logged_in', ['auth', 'login']],
    ['ACCESS_EXCEEDED', 429, 'too_many_calls', undefined],
    ['SIGNATURE_INVALID', 401, 'config', undefined],
    ['SIGNATURE_MISSING', 401, 'config', undefined],
    ['KID_MISSING', 401, 'config', undefined],
    ['CERTIFICATE_INVALID', 401, 'certificate', ['cert', 'check']],
    ['CERTIFICATE_EXPIRED', 401, 'certificate', ['cert', 'check']],
    ['CERTIFICATE_REVOKED', 401, 'certificate', ['cert', 'check']],
    ['CERTIFICATE_MISSING', 401, 'certificate', ['cert', 'check']],
    ['ROLE_INVALID', 401, 'forbidden', ['cert', 'inspect']],
    ['PSU_CREDENTIALS_INVALID', 401, 'forbidden', undefined],
    ['CORPORATE_ID_INVALID', 401, 'forbidden', undefined],
    ['SERVICE_BLOCKED', 403, 'forbidden', undefined],
    ['FORBIDDEN', 403, 'forbidden', undefined],
    ['FORMAT_ERROR', 400, 'bank_refused', undefined],
    ['PARAMETER_NOT_SUPPORTED', 400, 'bank_refused', undefined],
    ['PERIOD_INVALID', 400, 'bank_refused', undefined],
    ['RESOURCE_UNKNOWN', 403, 'bank_refused', ['accounts', 'list']],
    ['RESOURCE_UNKNOWN', 404, 'bank_refused', ['accounts', 'list']],
    ['STATUS_INVALID', 409, 'bank_refused', undefined],
    ['TIMESTAMP_INVALID', 400, 'config', undefined],
    ['INTERNAL_SERVER_ERROR', 501, 'bank_failing', undefined],
    ['NOT_IN_THE_STANDARD', 403, 'forbidden', ['consent', 'request']],
    ['NOT_IN_THE_STANDARD', 401, 'not_logged_in', ['auth', 'login']],
    ['NOT_IN_THE_STANDARD', 400, 'bank_refused', undefined],
    ['constructor', 400, 'bank_refused', undefined],
  ])('%s with HTTP %i', async (bankCode, status, code, next) => {
    const error = await failure(refusal(status, bankCode, 'Because of the test'));
    expect(error).toMatchObject({
      code,
      bankCode,
      httpStatus: status,
      transactionId: TRANSACTION_ID,
      isBanks: true,
    });
    expect(error.message).toContain(`(HTTP ${status}): Because of the test`);
    expect(error.next?.[0]).toEqual(next);
  });

  it('problem details (RFC 7807) say the same, also in additionalErrors', async () => {
    const problem = { type: 'https://bank.example/x', title: 'No', detail: 'The consent is over' };
    expect(
      await failure(
        json({ ...problem, code: 'CONSENT_EXPIRED' }, 401, { 'content-type': 'application/problem+json' }),
      ),
    ).toMatchObject({
      code: 'not_logged_in',
      bankCode: 'CONSENT_EXPIRED',
      message: expect.stringContaining('The consent is over'),
    });
    const additional = {
      ...problem,
      code: 'OWN_CODE',
      additionalErrors: [{ code: 'CONSENT_UNKNOWN', title: 'Unknown' }],
    };
    expect(await failure(json(additional, 400))).toMatchObject({
      code: 'not_logged_in',
      bankCode: 'CONSENT_UNKNOWN',
    });
  });

  it('a warning does not decide, and the first error that means something does', async () => {
    const tppMessages = [
      { category: 'WARNING', code: 'CERTIFICATE_EXPIRED', text: 'soon' },
      { category: 'ERROR', code: 'OWN', text: 'own' },
      { category: 'ERROR', code: 'CONSENT_INVALID', path: 'access', text: 'not covered' },
    ];
    const error = await failure(json({ tppMessages }, 401));
    expect(error).toMatchObject({ code: 'not_logged_in', bankCode: 'CONSENT_INVALID' });
    expect(error.message).toContain('not covered (access)');
  });

  it('the full stop of the bank’s sentence does not stand before the path', async () => {
    const tppMessages = [
      { category: 'ERROR', code: 'FORMAT_ERROR', path: 'access', text: 'Not this field.' },
    ];
    expect((await failure(json({ tppMessages }, 400))).message).toMatch(/: Not this field \(access\)$/);
  });

  it('the bank file says what a bank’s own codes mean', async () => {
    const file = {
      errors: {
        OWN_1: 'too_many_calls',
        OWN_2: 'invalid_iban',
        FORMAT_ERROR: 'forbidden',
        OWN_3: 'outcome_unknown',
      },
    } as const;
    expect(await failure(refusal(400, 'OWN_1'), { file })).toMatchObject({ code: 'too_many_calls' });
    expect(await failure(refusal(400, 'OWN_2'), { file })).toMatchObject({
      code: 'invalid_iban',
      refusal: 'content',
    });
    expect(await failure(refusal(400, 'FORMAT_ERROR'), { file })).toMatchObject({ code: 'forbidden' });
    const unknown = await failure(refusal(400, 'OWN_3'), { file });
    expect(unknown.code).toBe('outcome_unknown');
    expect(isRefusal(unknown)).toBe(false);
  });

  it('a refused signature says what was signed, and which forms of keyId to try', async () => {
    const { hint } = await failure(refusal(401, 'SIGNATURE_INVALID'));
    expect(hint).toContain('psd2 signed with rsa-sha256: digest, x-request-id, psu-id if it is sent');
    expect(hint).toContain('sn-ca with a hex serial, lower case, the issuer in rfc2253');
    for (const word of ['decimal', 'upper', 'subject', 'rfc1779', 'percent', 'strip', 'organization-id'])
      expect(hint).toContain(word);
  });

  it('what a bank says is cut and has no control characters', async () => {
    const error = await failure(refusal(400, 'FORMAT_ERROR', `\u001b[31m${'x'.repeat(5000)}`));
    expect(error.message).not.toMatch(/\p{Cc}/u);
    expect(error.message.length).toBeLessThan(1200);
  });
});

describe('how definitely the bank refused', () => {
  it.each([
    ['the content', refusal(400, 'FORMAT_ERROR'), 'content', true],
    ['for another reason', refusal(409, 'STATUS_INVALID'), 'other', true],
    ['the consent', refusal(401, 'CONSENT_INVALID'), 'content', true],
    ['what it may have done already', refusal(403, 'RESOURCE_UNKNOWN'), 'other', true],
    ['the signature, unread', refusal(401, 'SIGNATURE_INVALID'), 'unread', true],
    ['an error in the form of OAuth', json({ error: 'invalid_request' }, 400), 'content', undefined],
    ['the token, unread', refusal(401, 'TOKEN_INVALID'), 'unread', true],
    ['more calls, unread', refusal(429, 'ACCESS_EXCEEDED'), 'unread', true],
    ['a gateway’s page', { status: 400, body: '<html>No</html>' }, 'content', undefined],
    ['a gateway’s 401', { status: 401, body: '' }, undefined, undefined],
    ['a failure', refusal(501, 'INTERNAL_SERVER_ERROR'), undefined, true],
    ['a timeout of a gateway', { status: 408, body: '' }, undefined, undefined],
  ] as const)('%s', async (_name, answer, refused, isBanks) => {
    const error = await failure(answer);
    expect([error.refusal, error.isBanks]).toEqual([refused, isBanks]);
    expect(isTurningAway(error)).toBe(refused === 'unread' && isBanks === true);
    if (isBanksRefusal(error)) expect(isRefusal(error)).toBe(true);
  });

  it('readings that are used up are not asked for again, and do not slow other calls down', async () => {
    bank.expect('GET', '/v1/accounts/a1/balances', refusal(429, 'ACCESS_EXCEEDED'));
    const { bank: opened, sleeps } = open();
    await expect(opened.accounts.balance('shop', 'a1', TRANSACTION_ID)).rejects.toMatchObject({
      ...{ code: 'too_many_calls', lasts: true },
      hint: expect.stringContaining('tomorrow'),
    });
    expect(sleeps).toEqual([]);
  });

  it('another 429 is asked for again', async () => {
    bank.expect('GET', '/v1/accounts/a1/balances', { status: 429, headers: { 'retry-after': '1' } });
    bank.expect(
      'GET',
      '/v1/accounts/a1/balances',
      json({ balances: [{ balanceType: 'x', balanceAmount: { amount: '1', currency: 'EUR' } }] }),
    );
    const { bank: opened, sleeps } = open();
    await opened.accounts.balance('shop', 'a1', TRANSACTION_ID);
    expect(sleeps.length).toBeGreaterThan(0);
  });

  it('a refused consent costs no new token, a refused token does', async () => {
    const used: string[] = [];
    const tokens = {
      current: async () => 'old',
      renewed: async (refused: string) => {
        used.push(refused);
        return 'new';
      },
    };
    await failure(refusal(401, 'CONSENT_INVALID'), { tokens });
    expect(used).toEqual([]);
    bank.expect('GET', '/v1/accounts/a1/balances', refusal(401, 'TOKEN_EXPIRED'));
    await failure(refusal(401, 'TOKEN_EXPIRED'), { tokens });
    expect(used).toEqual(['old']);
    expect(bank.last.headers.authorization).toBe('Bearer new');
  });
});

describe('answers that cannot be used', () => {
  it.each([
    [
      'a page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' },
      'is not JSON: the answer is text/html',
    ],
    ['nothing', { status: 200, body: '' }, 'the answer is empty'],
    ['no content', { status: 204 }, 'the answer is empty'],
    ['a number', { status: 200, body: '42' }, 'is no JSON object'],
    [
      'XML',
      { status: 200, headers: { 'content-type': 'application/xml' }, body: '<Document/>' },
      'the answer is application/xml',
    ],
    ['deep JSON', { status: 200, body: '['.repeat(100_000) }, 'is not JSON'],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://evil.example' }, body: '' },
      'with a redirect',
    ],
    [
      'a float amount that is none',
      json({ balances: [{ balanceAmount: { amount: '1e5', currency: 'EUR' } }] }),
      'expected a balance',
    ],
    ['no balances', json({ balances: [] }), 'expected a balance'],
  ] as const)('%s', async (_name, answer, says) => {
    const error = await failure(answer);
    expect(error.code).toBe('bank_answer');
    expect(error.message).toContain(says);
    expect(isRefusal(error)).toBe(false);
  });

  it.each([
    [
      'a wrong digest',
      { digest: 'SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' },
      'does not match its Digest',
    ],
    ['a wrong digest of SHA-512', { digest: 'SHA-512=AAAA' }, 'does not match its Digest'],
  ])('%s', async (_name, headers, says) => {
    const error = await failure(json({ balances: [] }, 200, headers));
    expect(error).toMatchObject({ code: 'bank_answer', message: expect.stringContaining(says) });
  });
});
