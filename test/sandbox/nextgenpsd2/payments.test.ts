import { describe, expect, test } from 'vitest';
import { order } from '../tpp.ts';
import {
  authorisationOf,
  type DoorReply,
  linkOf,
  newDoor,
  refusalOf,
  START,
  type TestDoor,
  useDoor,
} from './door-client.ts';
import {
  approve,
  debitsOf,
  INSTANT,
  initiate,
  listed,
  PAYEE,
  pay,
  paymentBody,
  SCT,
  statusOf,
} from './payment-client.ts';

const door = await useDoor();
const MINUTE = 60_000;
const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };

/** Starts the authorisation that an answer asks for. */
function begin(at: TestDoor, reply: DoorReply): Promise<DoorReply> {
  const path = linkOf(reply, 'startAuthorisation');
  return at.client.send({ method: 'POST', path, body: {}, headers: START });
}

describe('a payment', () => {
  test('is received, and has fee, links and authorisation', async () => {
    const reply = await initiate(door);
    const { status, headers, json } = reply;
    const base = `/nextgenpsd2${SCT}/${json.paymentId}`;
    expect([status, headers['aspsp-sca-approach'], headers.location]).toEqual([201, 'REDIRECT', base]);
    expect(json).toEqual({
      transactionStatus: 'RCVD',
      paymentId: json.paymentId,
      transactionFees: { currency: 'EUR', amount: '0.50' },
      transactionFeeIndicator: true,
      scaStatus: 'received',
      _links: {
        scaRedirect: { href: expect.stringContaining('/authorise?request=') },
        scaStatus: { href: `${base}/authorisations/${authorisationOf(reply)}` },
        self: { href: base },
        status: { href: `${base}/status` },
      },
    });
    expect(await statusOf(door, reply)).toBe('RCVD');
    const whole = await door.client.get(base);
    expect(whole.json).toEqual({ ...paymentBody(), transactionStatus: 'RCVD' });
    const list = await door.client.get(`${base}/authorisations`);
    expect(list.json).toEqual({ authorisationIds: [authorisationOf(reply)] });
  });

  test('runs without the TPP once the customer has authorised it, and once alone', async () => {
    const reply = await pay(door, { endToEndIdentification: 'RUNS-1' });
    expect(await statusOf(door, reply)).toBe('ACSP');
    expect(await debitsOf(door, 'RUNS-1')).toBe(1);
    expect(() => approve(door, reply)).toThrow('There is no open request');
    expect((await door.client.get(linkOf(reply, 'scaStatus'))).json).toEqual({ scaStatus: 'finalised' });
    expect(await debitsOf(door, 'RUNS-1')).toBe(1);
  });

  test('is settled on the next business day', async () => {
    const at = await newDoor();
    const reply = await pay(at);
    at.clock.advance(3 * 24 * 60 * MINUTE);
    expect(await statusOf(at, reply)).toBe('ACSC');
  });

  test('that is instant settles at once, with the first final status of the bank', async () => {
    const at = await newDoor({ payments: { final: ['ACCC'] } });
    const reply = await pay(at, {}, { path: INSTANT });
    expect(await statusOf(at, reply)).toBe('ACSP');
    at.clock.advance(600);
    expect(await statusOf(at, reply)).toBe('ACCC');
    const ko = { creditorName: 'INSTANT KO', endToEndIdentification: 'KO-1' };
    const failed = await pay(at, ko, { path: INSTANT });
    at.clock.advance(600);
    expect([await statusOf(at, failed), await debitsOf(at, 'KO-1')]).toEqual(['RJCT', 0]);
  });
});

describe('a customer', () => {
  test('who refuses, or does nothing in time, ends the payment', async () => {
    const at = await newDoor({ sca: { authorisationMinutes: 5 } });
    const refused = await initiate(at, {}, { headers: { 'tpp-nok-redirect-uri': 'https://tpp.example/no' } });
    expect(at.sandbox.access.refuse(authorisationOf(refused)).returnTo?.href).toBe('https://tpp.example/no');
    const late = await initiate(at);
    const unstarted = await initiate(at, {}, { headers: EXPLICIT });
    at.clock.advance(5 * MINUTE + 1);
    for (const reply of [refused, late, unstarted]) expect(await statusOf(at, reply)).toBe('RJCT');
    expect(() => approve(at, late)).toThrow('There is no open request');
    expect(await debitsOf(at, 'E2E-1')).toBe(0);
  });

  test('without enough money gets RJCT after the SCA', async () => {
    const amount = { currency: 'EUR', amount: '999999.99' };
    const reply = await pay(door, { instructedAmount: amount, endToEndIdentification: 'POOR-1' });
    expect([await statusOf(door, reply), await debitsOf(door, 'POOR-1')]).toEqual(['RJCT', 0]);
  });

  test('other than the owner of the account cannot authorise', async () => {
    const reply = await initiate(door);
    expect(() => approve(door, reply, '2073915')).toThrow('bruno does not have these accounts');
    expect(await statusOf(door, reply)).toBe('RCVD');
  });

  test.each([
    ['SCA REFUSED', 'RJCT'],
    ['SCA PENDING', 'RCVD'],
    ['EXECUTE REFUSED', 'RJCT'],
  ])('pays %s, and the payment is %s', async (creditorName, status) => {
    const reply = await pay(door, { creditorName, endToEndIdentification: 'MAGIC' });
    expect([await statusOf(door, reply), await debitsOf(door, 'MAGIC')]).toEqual([status, 0]);
  });

  test('sees payee and amount on the page, and authorises there', async () => {
    const reply = await initiate(door, { endToEndIdentification: 'PAGE-1' });
    const [request] = door.sandbox.access.open().filter(({ id }) => id === authorisationOf(reply));
    expect(request?.payments?.all[0]).toMatchObject({ orders: [{ name: 'Beta GmbH', iban: PAYEE }] });
    const seen = await fetch(linkOf(reply, 'scaRedirect'));
    expect(seen.status).toBe(200);
    approve(door, reply);
    expect(await debitsOf(door, 'PAGE-1')).toBe(1);
  });
});

describe('SCA of a payment', () => {
  test('starts by a call of its own, if the bank or the TPP wants it', async () => {
    const at = await newDoor({ sca: { start: 'explicit' } });
    expect(refusalOf(await initiate(at))).toBe('400 FORMAT_ERROR TPP-Explicit-Authorisation-Preferred');
    const reply = await initiate(at, {}, { headers: EXPLICIT });
    expect(reply.json.scaStatus).toBeUndefined();
    const started = await begin(at, reply);
    expect([started.status, started.json.scaStatus]).toEqual([201, 'received']);
    approve(at, started);
    expect(await statusOf(at, reply)).toBe('ACSP');
    expect(refusalOf(await begin(at, reply))).toBe('409 STATUS_INVALID');
  });

  test('is decoupled for the customer of PSU-ID, who has to own the account', async () => {
    const at = await newDoor({ sca: { approaches: ['decoupled'] } });
    expect(refusalOf(await initiate(at))).toBe('400 FORMAT_ERROR PSU-ID');
    const foreign = await initiate(at, {}, { headers: { 'psu-id': 'bruno' } });
    expect(refusalOf(foreign)).toBe('400 FORMAT_ERROR debtorAccount.iban');
    const reply = await initiate(at, {}, { headers: { 'psu-id': 'anna' } });
    expect(reply.headers['aspsp-sca-approach']).toBe('DECOUPLED');
    expect(reply.json.psuMessage).toContain('/requests');
    expect(at.sandbox.access.waiting('anna').map(({ id }) => id)).toEqual([authorisationOf(reply)]);
    approve(at, reply);
    expect(await statusOf(at, reply)).toBe('ACSP');
  });

  test('with OAuth has the scope of the payment, and gives a token for it alone', async () => {
    const at = await newDoor({ oauth: { mode: 'integrated', pkce: 'none' } });
    const reply = await initiate(at);
    expect(Object.keys(reply.json._links ?? {})).toContain('scaOAuth');
    const { access, customerSiteUrl } = at.sandbox;
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: String(/organizationIdentifier=(\S+)/.exec(at.client.seal.subject)?.[1] ?? ''),
      redirect_uri: 'https://tpp.example/back',
      scope: `PIS:${reply.json.paymentId}`,
    });
    const page = access.authorize(query);
    if (!(page instanceof URL)) throw new Error(page.wrong);
    expect(page.href).toContain(customerSiteUrl);
    const back = access.approve(page.searchParams.get('request') ?? '', '1048262').returnTo;
    expect(back?.searchParams.get('code')).toBeTruthy();
    expect(await statusOf(at, reply)).toBe('ACSP');
  });

  test('with a confirmation code executes nothing before the right one', async () => {
    const at = await newDoor({}, ['confirmation-codes']);
    const reply = await initiate(at);
    const code = approve(at, reply)?.searchParams.get('confirmationCode');
    expect([await statusOf(at, reply), await debitsOf(at, 'E2E-1')]).toEqual(['RCVD', 0]);
    const path = linkOf(reply, 'confirmation');
    const confirmed = await at.client.send({ method: 'PUT', path, body: { confirmationCode: code } });
    expect([confirmed.status, confirmed.json.scaStatus]).toEqual([200, 'finalised']);
    expect([await statusOf(at, reply), await debitsOf(at, 'E2E-1')]).toEqual(['ACSP', 1]);
  });
});

describe('cancelling', () => {
  const remove = (at: TestDoor, reply: DoorReply) =>
    at.client.send({ method: 'DELETE', path: linkOf(reply, 'self') });

  test('direct: is done with 204, and nobody can authorise the payment any more', async () => {
    const at = await newDoor({ payments: { cancel: 'direct' } });
    const reply = await initiate(at);
    expect((await remove(at, reply)).status).toBe(204);
    expect(await statusOf(at, reply)).toBe('CANC');
    expect(() => approve(at, reply)).toThrow('There is no open request');
    expect(refusalOf(await remove(at, reply))).toBe('405 CANCELLATION_INVALID');
    expect(refusalOf(await remove(at, await pay(at)))).toBe('405 CANCELLATION_INVALID');
  });

  test('authorised: needs the SCA of the customer', async () => {
    const at = await newDoor({ payments: { futureDays: 30 } });
    const reply = await pay(at, { requestedExecutionDate: '2026-11-27' });
    const asked = await remove(at, reply);
    expect([asked.status, asked.json.transactionStatus]).toEqual([202, 'ACTC']);
    const started = await begin(at, asked);
    expect(started.status).toBe(201);
    expect(await statusOf(at, reply)).toBe('ACTC');
    approve(at, started);
    expect(await statusOf(at, reply)).toBe('CANC');
    at.clock.advance(30 * 24 * 60 * MINUTE);
    expect(await debitsOf(at, 'E2E-1')).toBe(0);
  });

  test.each(['none', { payments: 'none' }] as const)('%j: is refused', async (cancel) => {
    const at = await newDoor({ payments: { cancel } });
    expect(refusalOf(await remove(at, await initiate(at)))).toBe('405 CANCELLATION_INVALID');
  });
});

describe('a payment that comes twice', () => {
  const id = { 'x-request-id': '5b0a4c0e-5f6e-4c3d-9a57-6d1f0a6f1b11' };

  test('is a second payment at most banks', async () => {
    const at = await newDoor();
    const [one, other] = [await initiate(at, {}, { headers: id }), await initiate(at, {}, { headers: id })];
    approve(at, one);
    approve(at, other);
    expect(await debitsOf(at, 'E2E-1')).toBe(2);
  });

  test('gets the same answer where the bank says so, for its minutes, with the same bytes', async () => {
    const at = await newDoor({ payments: { repeat: 'same-answer', repeatMinutes: 30 } });
    const one = await initiate(at, {}, { headers: id });
    expect((await initiate(at, {}, { headers: id })).json).toEqual(one.json);
    const other = await initiate(at, { creditorName: 'Gamma' }, { headers: id });
    expect(refusalOf(other)).toBe('400 FORMAT_ERROR X-Request-ID');
    at.clock.advance(30 * MINUTE + 1);
    const later = await initiate(at, {}, { headers: id });
    expect(later.json.paymentId).not.toBe(one.json.paymentId);
    expect((await listed(at)).length).toBe(2);
  });
});

describe('a bank that does as it likes', () => {
  test('executes without SCA, by a variation or a fault', async () => {
    const headers = { 'x-sandbox-fault': 'no-sca' };
    const reply = await initiate(door, { endToEndIdentification: 'FREE-1' }, { headers });
    expect([reply.json.transactionStatus, reply.json.scaStatus]).toEqual(['ACSP', 'exempted']);
    expect(await debitsOf(door, 'FREE-1')).toBe(1);
  });

  test('executes an hour late, or when the control site says so', async () => {
    const at = await newDoor({}, ['executes-late']);
    const [first, second] = [await pay(at), await pay(at, { endToEndIdentification: 'E2E-2' })];
    expect([await statusOf(at, first), await debitsOf(at, 'E2E-1')]).toEqual(['ACTC', 0]);
    await order(at.sandbox, 'POST', '/nextgenpsd2/execute', { paymentId: second.json.paymentId });
    expect([await debitsOf(at, 'E2E-1'), await debitsOf(at, 'E2E-2')]).toEqual([0, 1]);
    at.clock.advance(60 * MINUTE);
    expect([await statusOf(at, first), await debitsOf(at, 'E2E-1')]).toEqual(['ACSP', 1]);
  });

  test('loses its answer, though it has the payment', async () => {
    const headers = { 'x-sandbox-fault': 'cut-after-effect' };
    await expect(initiate(door, { endToEndIdentification: 'LOST-1' }, { headers })).rejects.toThrow();
    const lost = (await listed(door)).filter(({ orders }) => orders[0]?.endToEndId === 'LOST-1');
    expect(lost.map(({ transactionStatus }) => transactionStatus)).toEqual(['RCVD']);
  });

  test('gets a call twice from a gateway, and has two payments', async () => {
    const headers = { 'x-sandbox-fault': 'delivered-twice' };
    await initiate(door, { endToEndIdentification: 'TWICE-1' }, { headers });
    const twice = (await listed(door)).filter(({ orders }) => orders[0]?.endToEndId === 'TWICE-1');
    expect(twice.length).toBe(2);
  });
});
