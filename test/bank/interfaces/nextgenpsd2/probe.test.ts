import { describe, expect, it } from 'vitest';
import { json, refusal, TRANSACTION_ID, useNextGen, useNextGenBank } from './client.ts';

const bank = useNextGenBank();
const open = useNextGen(bank);
const start = { clientId: '', redirectUri: '', state: '', transactionId: TRANSACTION_ID };

/** What psd2 makes of the answer to its reading with a consent that does not exist. */
async function judged(answer: Parameters<typeof bank.expect>[2]) {
  bank.expect('GET', '/v1/accounts', answer);
  const { bank: opened, consentsFor } = open();
  const probe = await opened.login.probe(start);
  // It reads no customer.
  expect(consentsFor).toEqual([]);
  return probe.judge();
}

describe('the diagnosis reads with a consent that does not exist', () => {
  it.each([
    ['CONSENT_UNKNOWN', 400],
    ['CONSENT_UNKNOWN', 403],
    ['CONSENT_INVALID', 401],
    ['CONSENT_EXPIRED', 401],
  ])('%s with HTTP %i shows that the bank accepts the signature', async (code, status) => {
    const verdict = await judged(refusal(status, code, 'Because of the test'));
    expect(verdict).toEqual({ says: expect.stringContaining(code) });
  });

  it.each([
    ['TOKEN_INVALID', 401, 'asks for a token'],
    ['RESOURCE_UNKNOWN', 404, 'other'],
    ['FORMAT_ERROR', 400, 'other'],
    ['NOT_IN_THE_STANDARD', 401, 'other'],
    ['NOT_IN_THE_STANDARD', 403, 'other'],
  ])('%s with HTTP %i says nothing of the signature: %s', async (code, status, isUnsure) => {
    expect(await judged(refusal(status, code, 'Because of the test'))).toMatchObject({ isUnsure });
  });

  it('neither does a success, or a refusal without a code', async () => {
    expect(await judged(json({ accounts: [] }))).toMatchObject({ isUnsure: 'other' });
    expect(await judged({ status: 401 })).toMatchObject({ isUnsure: 'asks for a token' });
  });

  it('a page of a website is not the interface of the bank', async () => {
    const page = {
      headers: { 'content-type': 'text/html' },
      body: '<html>Welcome</html>',
    };
    await expect(judged({ status: 200, ...page })).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(
        "not the bank's interface: HTTP 200 without a list of accounts: the answer is text/html",
      ),
    });
    await expect(judged(json({ status: 'UP' }))).rejects.toMatchObject({ code: 'bank_answer' });
    expect(await judged({ status: 404, ...page })).toMatchObject({
      says: expect.stringContaining("may not be the bank's interface (HTTP 404: the answer is text/html)"),
    });
  });

  it.each([
    ['SIGNATURE_INVALID', 401, 'config'],
    ['KID_MISSING', 401, 'config'],
    ['CERTIFICATE_INVALID', 401, 'certificate'],
    ['INTERNAL_SERVER_ERROR', 500, 'bank_failing'],
  ])('%s with HTTP %i is an error, and psd2 does not try again', async (bankCode, status, code) => {
    await expect(judged(refusal(status, bankCode, 'Because of the test'))).rejects.toMatchObject({ code });
  });
});
