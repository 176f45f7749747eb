import { expect, test } from 'vitest';
import { companyCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import {
  ANNA,
  authorisationOf,
  CALLBACK,
  CARD,
  CURRENT,
  type DoorReply,
  giveConsent,
  linkOf,
  newDoor,
  refusalOf,
  useDoor,
} from './door-client.ts';

const PATH = '/v2/consents/confirmation-of-funds';
const IBAN = 'IT89F0999001600000010482620';
const door = await useDoor({}, ['funds-consents', 'company-account', 'multiple-consents']);

function ask(account: object, more: object = {}, at = door, headers: Record<string, string> = {}) {
  return at.client.send({
    ...{ method: 'POST', path: PATH, body: { account, ...more } },
    headers: { 'tpp-redirect-uri': CALLBACK, ...headers },
  });
}

function confirm(account: object, amount: string, consentId?: string): Promise<DoorReply> {
  const body = { account, instructedAmount: { currency: 'EUR', amount } };
  const headers = consentId === undefined ? {} : { 'consent-id': consentId };
  return door.client.send({ method: 'POST', path: '/v1/funds-confirmations', body, headers });
}

test('a consent for confirmations of funds is one of its own', async () => {
  const reading = await giveConsent(door);
  const card = { cardNumber: '3241', cardExpiryDate: '2028-12-31', cardInformation: 'Gold' };
  const reply = await ask({ iban: IBAN }, card);
  expect([reply.status, reply.json.consentStatus, linkOf(reply, 'self')]).toEqual([
    ...[201, 'received', expect.stringContaining(PATH)],
  ]);
  const id = String(reply.json.consentId);
  expect(refusalOf(await confirm({ iban: IBAN }, '1', id))).toContain(' CONSENT_INVALID');
  door.sandbox.access.approve(authorisationOf(reply), ANNA);
  expect((await door.client.get(`${PATH}/${id}`)).json).toEqual({
    ...{ account: { iban: IBAN }, ...card, consentStatus: 'valid' },
  });
  expect((await confirm({ iban: IBAN }, '1', id)).json).toEqual({ fundsAvailable: true });
  expect((await confirm({ iban: IBAN }, '999999', id)).json).toEqual({ fundsAvailable: false });
  expect(refusalOf(await confirm({ iban: IBAN }, '1'))).toBe('400 FORMAT_ERROR Consent-ID');
  // Neither does what the other does, or ends it.
  expect(refusalOf(await confirm({ iban: IBAN }, '1', reading))).toContain(' CONSENT_UNKNOWN');
  expect(refusalOf(await door.client.get(`/v1/accounts/${CURRENT}/balances`, id))).toContain(
    ' CONSENT_UNKNOWN',
  );
  expect(refusalOf(await door.client.get(`/v1/consents/${id}`))).toContain(' CONSENT_UNKNOWN');
  expect((await door.client.get(`/v1/accounts/${CURRENT}/balances`, reading)).status).toBe(200);
  expect((await door.client.send({ method: 'DELETE', path: `${PATH}/${id}` })).status).toBe(204);
  expect((await door.client.get(`${PATH}/${id}/status`)).json).toEqual({ consentStatus: 'terminatedByTpp' });
  expect((await door.client.get(`/v1/consents/${reading}/status`)).json).toEqual({ consentStatus: 'valid' });
});

test.each([
  ['bban', { bban: IBAN.slice(4) }],
  ['masked number of a card', { maskedPan: `525412******${CARD.slice(-4)}` }],
  ['number of a card', { pan: `525412000000${CARD.slice(-4)}`, currency: 'EUR' }],
])('an account is named by its %s', async (_, account) => {
  const reply = await ask(account);
  door.sandbox.access.approve(authorisationOf(reply), ANNA);
  const confirmed = await confirm(account, '1', String(reply.json.consentId));
  expect(confirmed.status).toBe(200);
  expect(refusalOf(await confirm({ iban: IBAN.replace('482620', '482621') }, '1'))).toContain(
    ' FORMAT_ERROR',
  );
});

test('its authorisations are at its own path', async () => {
  const { sandbox, client } = door;
  const [dora, emil] = companyCustomers.map(({ customerId }) => customerId);
  const reply = await ask({ iban: companyCustomers[0]?.products[0]?.iban }, {}, door, { 'psu-id': 'dora' });
  const path = `${PATH}/${reply.json.consentId}`;
  sandbox.access.approve(authorisationOf(reply), dora ?? '');
  expect((await client.get(`${path}/status`)).json).toEqual({ consentStatus: 'partiallyAuthorised' });
  const headers = { 'psu-id': 'emil', 'tpp-redirect-uri': CALLBACK };
  const second = await client.send({ method: 'POST', path: `${path}/authorisations`, body: {}, headers });
  expect((await client.get(linkOf(second, 'scaStatus'))).json.scaStatus).toBe('psuIdentified');
  sandbox.access.approve(authorisationOf(second), emil ?? '');
  expect((await client.get(`${path}/status`)).json).toEqual({ consentStatus: 'valid' });
  const { json } = await client.get(`${path}/authorisations`);
  expect(Object(json).authorisationIds).toEqual([authorisationOf(reply), authorisationOf(second)]);
  const put = await client.send({
    ...{ method: 'PUT', path: `${path}/authorisations/${authorisationOf(reply)}` },
    body: { confirmationCode: 'x' },
  });
  expect(refusalOf(put)).toContain(' STATUS_INVALID');
});

test.each([
  [{}, 'account'],
  [{ account: { iban: 'DE00' } }, 'account.iban'],
  [{ account: { iban: IBAN }, access: {} }, 'access'],
  [{ account: { iban: IBAN }, cardInformation: 'x'.repeat(141) }, 'cardInformation'],
])('%j is no such request', async (body, path) => {
  const headers = { 'tpp-redirect-uri': CALLBACK };
  const reply = await door.client.send({ method: 'POST', path: PATH, body, headers });
  expect(refusalOf(reply)).toBe(`400 FORMAT_ERROR ${path}`);
});

test('a bank without such consents has no path for them', async () => {
  const other = await newDoor({ funds: { consent: 'never' } });
  expect((await ask({ iban: IBAN }, {}, other)).status).toBe(404);
});

test('a new consent for readings ends the former one, and none for confirmations of funds', async () => {
  const other = await newDoor({}, ['funds-consents']);
  const funds = await ask({ iban: IBAN }, {}, other);
  other.sandbox.access.approve(authorisationOf(funds), ANNA);
  const [former, next] = [await giveConsent(other), await giveConsent(other)];
  const again = await ask({ iban: IBAN }, {}, other);
  other.sandbox.access.approve(authorisationOf(again), ANNA);
  const paths = [funds, again].map(({ json }) => `${PATH}/${json.consentId}`);
  const statuses: unknown[] = [];
  for (const path of [...paths, `/v1/consents/${former}`, `/v1/consents/${next}`])
    statuses.push((await other.client.get(`${path}/status`)).json.consentStatus);
  expect(statuses).toEqual(['valid', 'valid', 'expired', 'valid']);
});
