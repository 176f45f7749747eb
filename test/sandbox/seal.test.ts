import { describe, expect, test } from 'vitest';
import { digestOf, type Reply, resourceOf, signatureOf, useTestBank } from './tpp.ts';

const CUSTOMER = '/private/customers/1048262';

const bank = await useTestBank();
const { accessToken: token } = await bank.tpp.login();

const signed = (reply: Reply, requestLine: string) => signatureOf(bank.tpp, reply, requestLine);

describe('an answer to POST or PUT is signed over request-target, digest, cb-response-id and date', () => {
  test('the bank signs its token answer', async () => {
    const reply = await bank.tpp.send(bank.tpp.codeCall('no-such-code'));
    expect(reply.status).toBe(400);
    expect(signed(reply, 'post /auth/oauth/v2/token')).toEqual({
      keyId: 'sandbox-bank',
      headers: '(request-target) digest cb-response-id date',
      valid: true,
    });
  });

  test('the bank signs its answers to a consent request and to confirm', async () => {
    const reply = await bank.tpp.requestConsent(token);
    expect(signed(reply, `post ${CUSTOMER}/consent/request`).valid).toBe(true);
    expect(reply.headers.digest).toBe(digestOf(reply.text));
    expect(reply.headers['cb-response-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(reply.headers.date).toBe('Fri, 20 Nov 2026 11:00:00 GMT');

    const id = resourceOf(reply);
    await bank.tpp.authorise(token, id);
    const confirmed = await bank.tpp.confirmConsent(token, id);
    expect(confirmed.status).toBe(200);
    expect(signed(confirmed, `put ${CUSTOMER}/consent/request/${id}/confirm`).valid).toBe(true);
    expect(confirmed.headers.digest).toBe(digestOf(confirmed.text));
    expect(confirmed.headers['cb-response-id']).not.toBe(reply.headers['cb-response-id']);
  });

  test('the bank signs a refusal, over the query as it was sent', async () => {
    const path = `${CUSTOMER}/consent/request?a=%2F%20b`;
    const reply = await bank.tpp.send({ method: 'POST', path, token, body: '{}' });
    expect(reply.status).toBe(417);
    expect(signed(reply, `post ${path}`).valid).toBe(true);
    expect(signed(reply, `post ${decodeURIComponent(path)}`).valid).toBe(false);
  });
});

test('the bank signs the redirect to the login page without a digest', async () => {
  const path = bank.tpp.authorizePath();
  const reply = await bank.tpp.send({ path });
  expect(reply.status).toBe(302);
  expect(reply.headers.digest).toBeUndefined();
  expect(signed(reply, `get ${path}`)).toEqual({
    keyId: 'sandbox-bank',
    headers: '(request-target) cb-response-id date',
    valid: true,
  });
});

test('the bank does not sign an answer to GET', async () => {
  const reply = await bank.tpp.send({ path: `${CUSTOMER}/accounts`, token });
  expect(reply.status).toBe(200);
  for (const name of ['signature', 'digest', 'cb-response-id']) expect(reply.headers[name]).toBeUndefined();
});
