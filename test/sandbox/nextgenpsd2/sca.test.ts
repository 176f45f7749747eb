import { afterAll, describe, expect, test } from 'vitest';
import { playCustomer } from '../../../src/sandbox/player/play-customer.ts';
import { serve } from '../fake-bank.ts';
import { order } from '../tpp.ts';
import {
  ANNA,
  askConsent,
  authorisationOf,
  type Bank,
  CURRENT,
  type DoorReply,
  linkOf,
  newDoor,
  refusalOf,
  SAVINGS,
  type TestDoor,
} from './door-client.ts';

/** Where the customer goes back to: a TPP that remembers the addresses. */
const visits: string[] = [];
const tpp = await serve((request, response) => {
  visits.push(request.url ?? '');
  response.end('<title>Back at the TPP</title>');
});
afterAll(() => tpp.close());
const CALLBACK = `${tpp.origin}/callback`;

async function statusesOf(at: TestDoor, reply: DoorReply): Promise<unknown[]> {
  const sca = await at.client.get(linkOf(reply, 'scaStatus'));
  const consent = await at.client.get(linkOf(reply, 'status'));
  return [sca.json.scaStatus, consent.json.consentStatus];
}

describe('the pages of the customer, without a browser', () => {
  const ask = (at: TestDoor, changes = {}, headers = {}) =>
    askConsent(at, changes, { 'tpp-redirect-uri': CALLBACK, ...headers });

  test('the customer logs in, sees the accounts, approves, and goes back', async () => {
    const at = await newDoor();
    const reply = await ask(at);
    const { pages, finalUrl } = await playCustomer(linkOf(reply, 'scaRedirect'));
    expect([pages, finalUrl]).toEqual([
      ['Log in · Sandbox Bank', 'Give access · Sandbox Bank', 'Back at the TPP'],
      CALLBACK,
    ]);
    expect(await statusesOf(at, reply)).toEqual(['finalised', 'valid']);
    await expect(playCustomer(linkOf(reply, 'scaRedirect'))).rejects.toThrow(
      'There is nothing to authorise here',
    );
  });

  test('the customer refuses, and goes to TPP-Nok-Redirect-URI', async () => {
    const at = await newDoor();
    const reply = await ask(at, {}, { 'tpp-nok-redirect-uri': `${CALLBACK}/no` });
    const { finalUrl } = await playCustomer(linkOf(reply, 'scaRedirect'), { refuse: true });
    expect(finalUrl).toBe(`${CALLBACK}/no`);
    expect(await statusesOf(at, reply)).toEqual(['failed', 'rejected']);
  });

  test('if the bank offers the accounts, those that are ticked are chosen', async () => {
    const at = await newDoor();
    const reply = await ask(at, { access: { accounts: [] } });
    await playCustomer(linkOf(reply, 'scaRedirect'), { user: 'bruno' });
    const { json } = await at.client.get('/v1/accounts', String(reply.json.consentId));
    const chosen = [json.accounts?.[0]?.resourceId, json.accounts?.[1]?.resourceId];
    expect(chosen).toEqual(['0020739150', '0020739168']);
  });

  test('another customer than the one of PSU-ID can only refuse', async () => {
    const at = await newDoor();
    const reply = await ask(at, {}, { 'psu-id': 'anna' });
    await expect(playCustomer(linkOf(reply, 'scaRedirect'), { user: 'bruno' })).rejects.toThrow(
      'asks the customer anna. You are logged in as Bruno Conti',
    );
    expect(await statusesOf(at, reply)).toEqual(['psuIdentified', 'received']);
  });

  test('a form of another browser decides nothing', async () => {
    const at = await newDoor();
    const reply = await ask(at);
    const form = new URLSearchParams({ request: authorisationOf(reply), token: 'x', decision: 'approve' });
    const answer = await fetch(`${at.sandbox.customerSiteUrl}/authorise`, { method: 'POST', body: form });
    expect(answer.status).toBe(403);
    expect(await statusesOf(at, reply)).toEqual(['received', 'received']);
  });

  test('a script decides with the control token', async () => {
    const at = await newDoor();
    const [approved, refused] = [await ask(at), await ask(at)];
    const decide = (body: object) => order(at.sandbox, 'POST', '/nextgenpsd2/decide', body);
    const answer = await decide({ id: authorisationOf(approved), decision: 'approve', user: 'anna' });
    expect(answer.json).toEqual({ returnTo: CALLBACK });
    await decide({ id: authorisationOf(refused), decision: 'refuse' });
    expect(await statusesOf(at, approved)).toEqual(['finalised', 'valid']);
    expect(await statusesOf(at, refused)).toEqual(['failed', 'rejected']);
    const again = await decide({ id: authorisationOf(approved), decision: 'refuse' });
    expect(again.status).toBe(404);
  });
});

test('TPP-Redirect-URI is needed, and is an address that a browser may go to', async () => {
  const at = await newDoor();
  for (const uri of [null, 'http://tpp.example/', 'https://tpp.example/#x', 'javascript:alert(1)']) {
    const reply = await askConsent(at, {}, { 'tpp-redirect-uri': uri });
    expect(refusalOf(reply)).toBe('400 FORMAT_ERROR TPP-Redirect-URI');
  }
});

describe('explicit start', () => {
  const explicit = { 'tpp-explicit-authorisation-preferred': 'true' };

  /** Starts the authorisation that the answer to the consent has a link for. */
  async function start(at: TestDoor, reply: DoorReply, body: object | string = {}): Promise<DoorReply> {
    return at.client.send({
      method: 'POST',
      path: linkOf(reply, 'startAuthorisation'),
      body,
      headers: { 'tpp-redirect-uri': CALLBACK },
    });
  }

  test('sca.start explicit: the TPP must ask for it, then starts the authorisation', async () => {
    const at = await newDoor({ sca: { start: 'explicit' } });
    expect(refusalOf(await askConsent(at))).toBe('400 FORMAT_ERROR TPP-Explicit-Authorisation-Preferred');
    const reply = await askConsent(at, {}, explicit);
    expect(Object.keys(Object(reply.json._links)).sort()).toEqual(['self', 'startAuthorisation', 'status']);
    expect(reply.headers).not.toHaveProperty('aspsp-sca-approach');
    const started = await start(at, reply);
    expect([started.status, started.json.scaStatus]).toEqual([201, 'received']);
    expect(started.headers['aspsp-sca-approach']).toBe('REDIRECT');
    await playCustomer(linkOf(started, 'scaRedirect'));
    const sca = await at.client.get(linkOf(started, 'scaStatus'));
    expect(sca.json.scaStatus).toBe('finalised');
    expect((await at.client.get(linkOf(reply, 'status'))).json.consentStatus).toBe('valid');
    expect(refusalOf(await start(at, reply))).toBe('409 STATUS_INVALID');
  });

  test('a password of the customer is refused', async () => {
    const at = await newDoor();
    const reply = await askConsent(at, {}, explicit);
    const started = await start(at, reply, { psuData: { password: 'x' } });
    expect(refusalOf(started)).toBe('400 FORMAT_ERROR psuData');
  });

  test('start-link: the bank has the link without being asked', async () => {
    const at = await newDoor({}, ['start-link']);
    expect((await askConsent(at)).json._links).toHaveProperty('startAuthorisation');
  });
});

describe('confirmation codes', () => {
  const variations = ['confirmation-codes'] as const;

  async function approved(at: TestDoor): Promise<{ reply: DoorReply; code: string }> {
    const reply = await askConsent(at);
    const { returnTo } = at.sandbox.access.approve(authorisationOf(reply), ANNA);
    return { reply, code: returnTo?.searchParams.get('confirmationCode') ?? '' };
  }
  const confirm = (at: TestDoor, reply: DoorReply, confirmationCode: string) =>
    at.client.send({ method: 'PUT', path: linkOf(reply, 'confirmation'), body: { confirmationCode } });

  test('after the approval the authorisation is unconfirmed, and the right code finalises it', async () => {
    const at = await newDoor({}, variations);
    const { reply, code } = await approved(at);
    expect(await statusesOf(at, reply)).toEqual(['unconfirmed', 'received']);
    const { status, json } = await confirm(at, reply, code);
    expect([status, json.scaStatus]).toEqual([200, 'finalised']);
    expect(await statusesOf(at, reply)).toEqual(['finalised', 'valid']);
    expect(refusalOf(await confirm(at, reply, code))).toBe('409 STATUS_INVALID');
  });

  test('a wrong code ends the authorisation', async () => {
    const at = await newDoor({}, variations);
    const { reply, code } = await approved(at);
    expect(refusalOf(await confirm(at, reply, `${code}0`))).toBe('400 SCA_INVALID confirmationCode');
    expect(await statusesOf(at, reply)).toEqual(['failed', 'rejected']);
    expect(refusalOf(await confirm(at, reply, code))).toBe('409 STATUS_INVALID');
  });
});

describe('decoupled', () => {
  const bank: Bank = { sca: { approaches: ['decoupled'] } };
  const asks = { 'psu-id': 'anna', 'tpp-redirect-uri': null };

  test('the customer approves on the page with waiting requests', async () => {
    const at = await newDoor(bank);
    const reply = await askConsent(at, {}, asks);
    const page = `${at.sandbox.customerSiteUrl}/requests`;
    expect(reply.headers['aspsp-sca-approach']).toBe('DECOUPLED');
    expect(reply.json.psuMessage).toBe(`Log in at ${page} and approve the request.`);
    expect(Object.keys(Object(reply.json._links)).sort()).toEqual(['scaStatus', 'self', 'status']);
    expect(await statusesOf(at, reply)).toEqual(['psuIdentified', 'received']);
    await expect(playCustomer(page, { user: 'bruno' })).rejects.toThrow('Nothing waits for you');
    const { pages } = await playCustomer(page, { user: 'anna' });
    const requests = 'Your requests · Sandbox Bank';
    expect(pages).toEqual(['Log in · Sandbox Bank', requests, requests]);
    expect(await statusesOf(at, reply)).toEqual(['finalised', 'valid']);
  });

  test('the bank must know whom to ask', async () => {
    const at = await newDoor(bank);
    expect(refusalOf(await askConsent(at))).toBe('400 FORMAT_ERROR PSU-ID');
  });

  test('a bank with both approaches takes the first, or the one that the TPP prefers', async () => {
    const at = await newDoor({ sca: { approaches: ['redirect', 'decoupled'] } });
    const approach = async (headers: Record<string, string>) =>
      (await askConsent(at, {}, { 'psu-id': 'anna', ...headers })).headers['aspsp-sca-approach'];
    expect(await approach({})).toBe('REDIRECT');
    expect(await approach({ 'tpp-decoupled-preferred': 'true' })).toBe('DECOUPLED');
    const redirect = { 'tpp-decoupled-preferred': 'false', 'tpp-redirect-preferred': 'true' };
    expect(await approach(redirect)).toBe('REDIRECT');
    const wrong = await askConsent(at, {}, { 'tpp-decoupled-preferred': 'yes' });
    expect(refusalOf(wrong)).toBe('400 FORMAT_ERROR TPP-Decoupled-Preferred');
  });
});

test('the status of an authorisation can be at a path with its id alone', async () => {
  const at = await newDoor({ api: { paths: { getConsentScaStatus: '/v1/scaStatus/{authorisationId}' } } });
  const status = linkOf(await askConsent(at), 'scaStatus');
  expect(status).toMatch(/\/v1\/scaStatus\/[^/]+$/);
  expect((await at.client.get(status)).json).toEqual({ scaStatus: 'received' });
  expect(refusalOf(await at.client.get('/v1/scaStatus/other'))).toMatch(/RESOURCE_UNKNOWN/);
});

test('the customer withdraws a consent by script', async () => {
  const at = await newDoor();
  const reply = await askConsent(at);
  at.sandbox.access.approve(authorisationOf(reply), ANNA, [CURRENT, SAVINGS]);
  const revoked = await order(at.sandbox, 'POST', '/nextgenpsd2/revoke', { consentId: reply.json.consentId });
  expect(revoked.json).toEqual({ revoked: true });
  expect((await statusesOf(at, reply))[1]).toBe('revokedByPsu');
});
