import { get } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import {
  askConsent,
  authorisationOf,
  type Bank,
  CARD,
  CURRENT,
  giveConsent,
  linkOf,
  newDoor,
  refusalOf,
  SAVINGS,
  type TestDoor,
} from './door-client.ts';
import { initiate } from './payment-client.ts';

/** A door with these variations, for the test that runs. */
const oddDoor = (variations: Variation[], bank: Bank = {}) => newDoor(bank, variations, { rowsAPage: 30 });

const rows = z.array(
  z.looseObject({ transactionId: z.string(), bookingDate: z.string(), valueDate: z.string() }),
);
const report = z.object({
  account: z.object({ iban: z.string() }),
  transactions: z.object({ booked: rows, _links: z.looseObject({}) }),
});

const LIST = 'transactions?bookingStatus=booked&dateFrom=2026-09-01';

/** The booked rows of anna's current account. */
async function read({ client }: TestDoor, consent: string, headers = {}, list = LIST) {
  const answer = await client.get(`/v1/accounts/${CURRENT}/${list}`, consent, {
    'psu-ip-address': '192.0.2.1',
    ...headers,
  });
  return report.parse(answer.json).transactions;
}

describe('how rows are shown', () => {
  test.each<[Variation, (first: string[], again: string[]) => void]>([
    ['row-ids-fresh', (first, again) => expect(new Set([...first, ...again]).size).toBe(60)],
    ['row-ids-shared', (first) => expect(new Set(first).size).toBeLessThanOrEqual(16)],
    ['row-ids-positional', (first) => expect(first.slice(0, 3)).toEqual(['1', '2', '3'])],
    ['row-ids-constant', (first) => expect(new Set(first).size).toBe(1)],
  ])('%s', async (variation, check) => {
    const at = await oddDoor([variation]);
    const consent = await giveConsent(at);
    const [first, again] = [await read(at, consent), await read(at, consent)];
    const ids = (list: typeof first) => list.booked.map(({ transactionId }) => transactionId);
    check(ids(first), ids(again));
  });

  test('row-ids-moved: two rows exchange their ids when a row is booked, and every third keeps its own', async () => {
    const at = await oddDoor(['row-ids-moved']);
    const consent = await giveConsent(at);
    const before = (await read(at, consent)).booked.map(({ transactionId }) => transactionId);
    const after = (await read(at, consent, { 'x-sandbox-fault': 'booking=1' })).booked
      .slice(1)
      .map(({ transactionId }) => transactionId);
    const kept = after.filter((id, index) => id === before[index]).length;
    expect([kept, new Set(after).size >= 28]).toEqual([expect.toSatisfy((n) => n >= 9 && n <= 10), true]);
  });

  test('value-day-30-february', async () => {
    const at = await oddDoor(['value-day-30-february']);
    const { booked } = await read(at, await giveConsent(at));
    expect(booked.filter(({ valueDate }) => valueDate === '2026-02-30').length).toBeGreaterThanOrEqual(4);
  });

  test('rows-cut-at-50 and days-ignored: the list has 50 rows of any day, and no link', async () => {
    const at = await oddDoor(['rows-cut-at-50', 'days-ignored']);
    const list = 'transactions?bookingStatus=booked&dateFrom=2026-11-19&dateTo=2026-11-19';
    const { booked, _links } = await read(at, await giveConsent(at), {}, list);
    expect(booked).toHaveLength(50);
    expect(String(booked.at(-1)?.bookingDate) < '2026-11-01').toBe(true);
    expect(_links).not.toHaveProperty('next');
  });
});

test('gateway-links: links have the address behind the gateway', async () => {
  const at = await oddDoor(['gateway-links']);
  const reply = await askConsent(at);
  expect(linkOf(reply, 'status')).toMatch(
    /^http:\/\/xs2a\.internal:8080\/core\/v1\/consents\/[^/]+\/status$/,
  );
  expect(linkOf(reply, 'scaRedirect')).toMatch(/^http:\/\/127\.0\.0\.1:/);
});

test('no-baskets: every call of a signing basket is refused with 501', async () => {
  const { client } = await oddDoor(['no-baskets']);
  const body = { paymentIds: ['x'] };
  const headers = { 'psu-ip-address': '192.0.2.1' };
  const made = await client.send({ method: 'POST', path: '/v1/signing-baskets', body, headers });
  expect(refusalOf(made)).toBe('501 SERVICE_INVALID');
  expect(refusalOf(await client.get('/v1/signing-baskets/x/status'))).toBe('501 SERVICE_INVALID');
});

test('shared-ids: the card has the id of the account, and each has its own rows', async () => {
  const at = await oddDoor(['shared-ids']);
  const consent = await giveConsent(at);
  const cards = await at.client.get('/v1/card-accounts', consent);
  expect(cards.text).toContain(`"resourceId":"${CURRENT}"`);
  expect(cards.text).toContain(`/card-accounts/${CURRENT}/transactions`);
  const card = await at.client.get(`/v1/card-accounts/${CURRENT}/balances`, consent);
  expect([card.status, card.text]).toEqual([200, expect.stringContaining('"cardAccount":{"maskedPan"')]);
  expect((await read(at, consent)).booked).toHaveLength(30);
  const own = await at.client.get(`/v1/card-accounts/${CARD}/balances`, consent);
  expect(refusalOf(own)).toBe('404 RESOURCE_UNKNOWN');
});

test('notices: every answer has them', async () => {
  const at = await oddDoor(['notices']);
  const consent = await giveConsent(at);
  for (const path of ['/v1/accounts', `/v1/consents/${consent}/status`]) {
    const { json } = await at.client.get(path, consent && path === '/v1/accounts' ? consent : undefined);
    expect(json).toMatchObject({ psuMessage: expect.any(String), tppMessages: [{ category: 'WARNING' }] });
  }
});

test('date-wanted: a call without Date is refused, though the bank file does not say so', async () => {
  const { client, clock } = await oddDoor(['date-wanted']);
  const path = '/v1/consents/x/status';
  expect(refusalOf(await client.get(path))).toBe('400 FORMAT_ERROR Date');
  const date = clock.now().toUTCString();
  expect(refusalOf(await client.get(path, undefined, { date }))).toBe('403 CONSENT_UNKNOWN');
});

test('compressed: an answer is compressed if the call accepts that', async () => {
  const { client, sandbox } = await oddDoor(['compressed']);
  const path = '/nextgenpsd2/v1/consents/x/status';
  const ask = async (accepted: string) => {
    const headers = client.headersOf({ path, headers: { 'accept-encoding': accepted } });
    const { hostname, port } = new URL(sandbox.baseUrl);
    return new Promise<[string | undefined, Buffer]>((resolve, reject) => {
      get({ hostname, port, path, headers, ...client.tls, agent: false }, (answer) => {
        buffer(answer).then((bytes) => resolve([answer.headers['content-encoding'], bytes]), reject);
      }).on('error', reject);
    });
  };
  for (const accepted of ['gzip', 'br, gzip;q=0.5', '*']) {
    const [encoding, bytes] = await ask(accepted);
    expect(encoding).toBe('gzip');
    expect(gunzipSync(bytes).toString()).toContain('CONSENT_UNKNOWN');
  }
  for (const accepted of ['identity', 'br, gzip;q=0', 'gzip; q=0', 'gzip ;q=0.0, br', 'xgzip'])
    expect((await ask(accepted))[0]).toBeUndefined();
});

describe('faults of the second door', () => {
  const fault = (name: string) => ({ 'x-sandbox-fault': name, 'psu-ip-address': '192.0.2.1' });

  test('other-account: the answer is about another account', async () => {
    const at = await oddDoor([]);
    const consent = await giveConsent(at);
    const path = `/v1/accounts/${CURRENT}/balances`;
    const other = await at.client.get(path, consent, fault('other-account'));
    expect(other.json).toEqual((await at.client.get(path.replace(CURRENT, SAVINGS), consent)).json);
  });

  test('other-request-id: the answer has an id of its own', async () => {
    const { client } = await oddDoor([]);
    const { headers } = await client.get('/v1/consents/x', undefined, {
      'x-sandbox-fault': 'other-request-id',
      'x-request-id': '3b241101-e2bb-4255-8caf-4136c566a962',
    });
    expect(headers['x-request-id']).toMatch(/^(?!3b241101)[0-9a-f-]{36}$/);
  });

  test('other-sca-status: the status is that of the authorisation before', async () => {
    const at = await oddDoor([]);
    const [first, second] = [await initiate(at), await initiate(at)];
    at.sandbox.access.approve(authorisationOf(first), '1048262');
    const path = linkOf(second, 'scaStatus');
    expect((await at.client.get(path)).json.scaStatus).toBe('received');
    const other = await at.client.get(path, undefined, { 'x-sandbox-fault': 'other-sca-status' });
    expect(other.json.scaStatus).toBe('finalised');
  });

  test.each([
    ['latin1', 'application/json; charset=ISO-8859-1'],
    ['latin1-undeclared', 'application/json'],
  ])('%s: the bytes are ISO-8859-1, and Content-Type is %s', async (name, type) => {
    const at = await oddDoor([]);
    const consent = await giveConsent(at);
    const answer = await at.client.get(`/v1/accounts/${CURRENT}/${LIST}`, consent, fault(name));
    // The client of the tests reads UTF-8.
    expect(answer.headers['content-type']).toBe(type);
    expect(answer.text).toContain('VOSTR\uFFFD DISPOSIZIONE');
  });
});

test('the OAuth endpoints are also at the paths that the bank file names', async () => {
  const oauth = {
    mode: 'pre-step',
    authorizationEndpoint: 'https://login.bank.example/oauth2/auth',
    tokenEndpoint: 'https://api.bank.example/psd2/oauth2/token',
    metadata: 'https://api.bank.example/psd2/oauth2/metadata',
  } as const;
  const { client, sandbox } = await oddDoor([], { api: { baseUrl: 'https://api.bank.example/psd2' }, oauth });
  const own = { client_id: 'PSDIT-BI-12345', redirect_uri: 'https://tpp.example/' };
  const form = { ...own, grant_type: 'authorization_code', code: 'x', code_verifier: 'x' };
  for (const path of ['https://bank/psd2/oauth2/token', '/oauth2/token'])
    expect((await client.form(path, form)).json.error).toBe('invalid_grant');
  const metadata = await client.exchange('GET', 'https://bank/psd2/oauth2/metadata', {}, undefined);
  expect(metadata.text).toContain('"issuer"');
  const login = `${sandbox.customerSiteUrl}/oauth2/auth?${new URLSearchParams(own)}`;
  const page = await fetch(login, { redirect: 'manual' });
  expect(page.headers.get('location')).toMatch(/^https:\/\/tpp\.example\/\?error=unsupported_response_type/);
});

test('report-links: a list is a document behind a link, in the format of the bank file', async () => {
  const at = await oddDoor(['report-links']);
  const consent = await giveConsent(at);
  const headers = { 'psu-ip-address': '192.0.2.1' };
  const asked = await at.client.get(`/v1/accounts/${CURRENT}/${LIST}`, consent, headers);
  const link = linkOf(asked, 'download').replace(/^\/nextgenpsd2/, '');
  const any = { ...headers, accept: 'application/json, application/xml, */*;q=0.1' };
  const { status, text } = await at.client.get(link, consent, any);
  expect(status).toBe(200);
  expect(text).toContain('camt.053.001.08');
  expect(text.match(/<Ntry>/g)?.length).toBeGreaterThan(30);
});

test('MT940 has a value day of each row, also of a card', async () => {
  const file = { accounts: { reports: ['mt940' as const] } };
  const at = await oddDoor([], file);
  const headers = { 'psu-ip-address': '192.0.2.1', accept: 'text/plain' };
  const { text } = await at.client.get(`/v1/card-accounts/${CARD}/${LIST}`, await giveConsent(at), headers);
  const rows = text.match(/^:61:.*/gm) ?? [];
  expect(rows.length).toBeGreaterThan(3);
  expect(rows.filter((row) => !/^:61:\d{6}(?:\d{4})?[CD]\d+,\d\dN/.test(row))).toEqual([]);
});
