import { describe, expect, test } from 'vitest';
import { seedCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import {
  ANNA,
  askConsent,
  authorisationOf,
  CALLBACK,
  CARD,
  CURRENT,
  giveConsent,
  linkOf,
  newDoor,
  refusalOf,
  SAVINGS,
  type TestDoor,
  useDoor,
} from './door-client.ts';

const DAY = 86_400_000;

const door = await useDoor();
const ibans = new Map(
  seedCustomers.flatMap(({ products }) => products.map(({ productId, iban }) => [productId, iban])),
);

/** The state of a consent at the bank. */
async function statusOf(consentId: string, at: TestDoor = door): Promise<unknown> {
  return (await at.client.get(`/v1/consents/${consentId}/status`)).json.consentStatus;
}

/** The ids of the accounts and of the cards that a consent shows. */
async function shownBy(consentId: string, at: TestDoor = door): Promise<unknown[]> {
  const accounts = await at.client.get('/v1/accounts', consentId);
  const cards = await at.client.get('/v1/card-accounts', consentId);
  const listed: unknown = Object(accounts.json.accounts).concat(Object(cards.json.cardAccounts));
  return Array.isArray(listed) ? listed.map((account) => account.resourceId) : [];
}

describe('a consent with redirect', () => {
  test('the answer has the links of the standard, and the customer makes the consent valid', async () => {
    const reply = await askConsent(door);
    const { consentId } = reply.json;
    const id = authorisationOf(reply);
    expect([reply.status, reply.json.consentStatus]).toEqual([201, 'received']);
    const self = `/nextgenpsd2/v1/consents/${consentId}`;
    expect(reply.headers).toMatchObject({ 'aspsp-sca-approach': 'REDIRECT', location: self });
    expect(reply.json._links).toEqual({
      scaRedirect: { href: `${door.sandbox.customerSiteUrl}/authorise?request=${id}` },
      scaStatus: { href: `${self}/authorisations/${id}` },
      self: { href: self },
      status: { href: `${self}/status` },
    });
    const sca = () => door.client.get(linkOf(reply, 'scaStatus'));
    expect((await sca()).json).toEqual({ scaStatus: 'received' });
    expect(door.sandbox.access.approve(id, ANNA).returnTo?.href).toBe(CALLBACK);
    expect((await sca()).json).toEqual({ scaStatus: 'finalised' });
    expect(await statusOf(String(consentId))).toBe('valid');
    const ids = await door.client.get(`/v1/consents/${consentId}/authorisations`);
    expect(ids.json).toEqual({ authorisationIds: [id] });
  });

  test('a refusal rejects the consent, and sends the customer to TPP-Nok-Redirect-URI', async () => {
    const refused = 'http://127.0.0.1:8910/no';
    const reply = await askConsent(door, {}, { 'tpp-nok-redirect-uri': refused });
    expect(door.sandbox.access.refuse(authorisationOf(reply)).returnTo?.href).toBe(refused);
    expect(await statusOf(String(reply.json.consentId))).toBe('rejected');
  });

  test('an authorisation lapses after sca.authorisationMinutes, and the consent is rejected', async () => {
    const at = await newDoor({ sca: { authorisationMinutes: 3 } });
    const reply = await askConsent(at);
    at.clock.advance(3 * 60_000);
    expect(at.sandbox.access.accessRequest(authorisationOf(reply))).toBeDefined();
    at.clock.advance(1);
    expect(at.sandbox.access.accessRequest(authorisationOf(reply))).toBeUndefined();
    const sca = await at.client.get(linkOf(reply, 'scaStatus'));
    expect(sca.json).toEqual({ scaStatus: 'failed' });
    expect(await statusOf(String(reply.json.consentId), at)).toBe('rejected');
  });

  test('GET of a consent says what the bank gave: validUntil is shortened to consent.maxDays', async () => {
    const id = await giveConsent(door, { validUntil: '9999-12-31', frequencyPerDay: 3 });
    const { status, json } = await door.client.get(`/v1/consents/${id}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      ...{ access: { allPsd2: 'allAccounts' }, recurringIndicator: true, frequencyPerDay: 3 },
      ...{ validUntil: '2027-05-19', lastActionDate: '2026-11-20', consentStatus: 'valid' },
      _links: { account: { href: '/nextgenpsd2/v1/accounts' } },
    });
  });

  test('a consent that the TPP deletes, or that the customer withdraws, shows nothing any more', async () => {
    const deleted = await giveConsent(door);
    const reply = await door.client.send({ method: 'DELETE', path: `/v1/consents/${deleted}` });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(await statusOf(deleted)).toBe('terminatedByTpp');
    const withdrawn = await giveConsent(door);
    expect(door.sandbox.access.revoke(withdrawn)).toBe(true);
    expect(await statusOf(withdrawn)).toBe('revokedByPsu');
    for (const id of [deleted, withdrawn])
      expect(refusalOf(await door.client.get('/v1/accounts', id))).toBe('401 CONSENT_INVALID Consent-ID');
  });

  test('an unknown consent is CONSENT_UNKNOWN: 403 in the path, 400 in the header', async () => {
    expect(refusalOf(await door.client.get('/v1/consents/nobody/status'))).toBe('403 CONSENT_UNKNOWN');
    expect(refusalOf(await door.client.get('/v1/accounts', 'nobody'))).toBe('400 CONSENT_UNKNOWN Consent-ID');
  });
});

test('a new recurring consent ends the former one of that customer, and of no other', async () => {
  const at = await newDoor();
  const former = await giveConsent(at);
  const brunos = await giveConsent(at, {}, '2073915');
  const once = await giveConsent(at, { recurringIndicator: false, frequencyPerDay: 1 });
  expect(await statusOf(former, at)).toBe('valid');
  const next = await giveConsent(at);
  expect(await statusOf(former, at)).toBe('expired');
  for (const id of [brunos, once, next]) expect(await statusOf(id, at)).toBe('valid');
  expect(refusalOf(await at.client.get('/v1/accounts', former))).toBe('401 CONSENT_EXPIRED Consent-ID');
});

test('with multiple-consents the former one stays, and the answer says so', async () => {
  const at = await newDoor({}, ['multiple-consents']);
  const former = await giveConsent(at);
  const reply = await askConsent(at);
  expect(reply.headers['aspsp-multiple-consent-support']).toBe('true');
  at.sandbox.access.approve(authorisationOf(reply), ANNA);
  expect(await statusOf(former, at)).toBe('valid');
});

test("a consent ends after its last day, and one for one time ends with its day, by the bank's clock", async () => {
  const at = await newDoor();
  const week = await giveConsent(at, { validUntil: '2026-11-27' });
  const once = await giveConsent(at, { recurringIndicator: false, frequencyPerDay: 1 });
  at.clock.advance(DAY);
  expect([await statusOf(week, at), await statusOf(once, at)]).toEqual(['valid', 'expired']);
  at.clock.advance(6 * DAY);
  expect(await statusOf(week, at)).toBe('valid');
  at.clock.advance(DAY);
  expect(await statusOf(week, at)).toBe('expired');
});

describe('what a consent shows', () => {
  const iban = (productId: string) => ({ iban: ibans.get(productId) });

  test('a dedicated consent shows its accounts, and of each what the TPP asked for', async () => {
    const access = { balances: [iban(CURRENT)], transactions: [iban(SAVINGS)] };
    const id = await giveConsent(door, { access });
    expect(await shownBy(id)).toEqual([CURRENT, SAVINGS]);
    const read = async (path: string) => (await door.client.get(path, id)).status;
    const transactions = 'transactions?bookingStatus=booked&dateFrom=2026-11-01';
    expect(await read(`/v1/accounts/${CURRENT}/balances`)).toBe(200);
    expect(await read(`/v1/accounts/${CURRENT}/${transactions}`)).toBe(401);
    expect(await read(`/v1/accounts/${SAVINGS}/balances`)).toBe(401);
    expect(await read(`/v1/accounts/${SAVINGS}/${transactions}`)).toBe(200);
    expect(await read(`/v1/card-accounts/${CARD}`)).toBe(404);
  });

  test('a card is named by its masked number', async () => {
    const id = await giveConsent(door, { access: { accounts: [{ maskedPan: '525412xxxxxx3017' }] } });
    expect(await shownBy(id)).toEqual([CARD]);
  });

  test('a customer cannot give a consent to accounts of somebody else', async () => {
    const reply = await askConsent(door, { access: { accounts: [iban(CURRENT)] } });
    const id = authorisationOf(reply);
    expect(door.sandbox.access.shown(id, '2073915')).toBeUndefined();
    expect(() => door.sandbox.access.approve(id, '2073915')).toThrow('bruno does not have these accounts');
    expect(await statusOf(String(reply.json.consentId))).toBe('received');
  });

  test('if the bank offers the accounts, the customer chooses, and the consent names the chosen ones', async () => {
    const reply = await askConsent(door, { access: { accounts: [], balances: [] } });
    door.sandbox.access.approve(authorisationOf(reply), ANNA, [SAVINGS]);
    const id = String(reply.json.consentId);
    expect(await shownBy(id)).toEqual([SAVINGS]);
    const chosen = [{ iban: ibans.get(SAVINGS) }];
    const { access } = (await door.client.get(`/v1/consents/${id}`)).json;
    expect(access).toEqual({ accounts: chosen, balances: chosen });
    expect((await door.client.get(`/v1/accounts/${SAVINGS}/balances`, id)).status).toBe(200);
  });

  test('allPsd2 shows everything, cards too', async () => {
    expect(await shownBy(await giveConsent(door))).toEqual([CURRENT, SAVINGS, CARD]);
  });

  test('availableAccounts shows the list and nothing else', async () => {
    const id = await giveConsent(door, { access: { availableAccounts: 'allAccounts' } });
    expect(await shownBy(id)).toEqual([CURRENT, SAVINGS, CARD]);
    for (const path of [`/v1/accounts/${CURRENT}`, '/v1/accounts?withBalance=true']) {
      expect(refusalOf(await door.client.get(path, id))).toBe('401 CONSENT_INVALID Consent-ID');
    }
    const { json } = await door.client.get('/v1/accounts', id, { 'psu-ip-address': '192.0.2.1' });
    expect(json.accounts?.[0]?._links).toEqual({});
  });
});

describe('what the bank does not take', () => {
  test.each<[changes: Record<string, unknown>, path: string]>([
    [{ access: {} }, 'access'],
    [{ access: { allPsd2: 'allAccounts', accounts: [] } }, 'access'],
    [{ access: { accounts: [], balances: [{ iban: ibans.get(CURRENT) }] } }, 'access'],
    [{ access: { accounts: [{ iban: 'IT60X0542811101000000123456' }] } }, 'access.accounts[0].iban'],
    [{ access: { accounts: [{}] } }, 'access.accounts[0]'],
    [{ access: { allPsd2: 'everything' } }, 'access.allPsd2'],
    [{ access: { allPsd2: 'allAccounts', more: 1 } }, 'access.more'],
    [{ access: { allPsd2: 'allAccounts', restrictedTo: [] } }, 'access.restrictedTo'],
    [{ recurringIndicator: 'true' }, 'recurringIndicator'],
    [{ validUntil: '2026-11-19' }, 'validUntil'],
    [{ validUntil: '2026-02-30' }, 'validUntil'],
    [{ frequencyPerDay: 5 }, 'frequencyPerDay'],
    [{ frequencyPerDay: 0 }, 'frequencyPerDay'],
    [{ recurringIndicator: false, frequencyPerDay: 2 }, 'frequencyPerDay'],
    [{ creditorName: 'Ada' }, 'creditorName'],
  ])('%j is refused at %s', async (changes, path) => {
    expect(refusalOf(await askConsent(door, changes))).toBe(`400 FORMAT_ERROR ${path}`);
  });

  test('a combined service is refused, because the bank has no sessions', async () => {
    const reply = await askConsent(door, { combinedServiceIndicator: true });
    expect(refusalOf(reply)).toBe('400 SESSIONS_NOT_SUPPORTED combinedServiceIndicator');
  });

  test.each([
    ['dedicated', { accounts: [{ iban: ibans.get(CURRENT) }] }],
    ['bank-offered', { accounts: [] }],
    ['all-accounts', { allPsd2: 'allAccounts' }],
    ['list-only', { availableAccounts: 'allAccounts' }],
  ] as const)('a bank whose consent.types are %s alone refuses the others', async (type, access) => {
    const at = await newDoor({ consent: { types: [type] } });
    expect((await askConsent(at, { access })).status).toBe(201);
    const other = type === 'bank-offered' ? { allPsd2: 'allAccounts' } : { accounts: [] };
    expect(refusalOf(await askConsent(at, { access: other }))).toBe('400 PARAMETER_NOT_SUPPORTED access');
  });

  test('consent.once false refuses recurringIndicator false; consent.frequencyPerDay is the most', async () => {
    const at = await newDoor({ consent: { once: false, frequencyPerDay: 6, maxDays: 30 } });
    const once = await askConsent(at, { recurringIndicator: false, frequencyPerDay: 1 });
    expect(refusalOf(once)).toBe('400 FORMAT_ERROR recurringIndicator');
    const id = await giveConsent(at, { frequencyPerDay: 6 });
    expect((await at.client.get(`/v1/consents/${id}`)).json.validUntil).toBe('2026-12-20');
    expect(refusalOf(await askConsent(at, { frequencyPerDay: 7 }))).toBe('400 FORMAT_ERROR frequencyPerDay');
  });
});
