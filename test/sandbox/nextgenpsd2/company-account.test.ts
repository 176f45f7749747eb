import { expect, test } from 'vitest';
import { companyCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import {
  askConsent,
  authorisationOf,
  CALLBACK,
  type DoorReply,
  linkOf,
  refusalOf,
  useDoor,
} from './door-client.ts';
import { initiate, paymentBody, SCT } from './payment-client.ts';

const [dora, emil] = companyCustomers.map(({ customerId }) => customerId);
const iban = companyCustomers[0]?.products[0]?.iban;
const FROM = { debtorAccount: { iban } };
const products = { 'bulk-payments': ['sepa-credit-transfers'] };
const door = await useDoor({ payments: { products } }, ['company-account']);
const { client, sandbox } = door;

/** Begins the authorisation of a person. */
function begin(path: string, psuId: string): Promise<DoorReply> {
  const headers = { 'psu-id': psuId, 'tpp-redirect-uri': CALLBACK };
  return client.send({ method: 'POST', path: `${path}/authorisations`, body: {}, headers });
}

const statusOf = async (path: string) => {
  const { json } = await client.get(`${path}/status`);
  return json.transactionStatus ?? json.consentStatus;
};

test.each(['approve', 'refuse then approve'])(
  'a payment is executed when both have authorised: %s',
  async (second) => {
    const reply = await initiate(door, FROM, { headers: { 'psu-id': 'emil' } });
    const path = `${SCT}/${reply.json.paymentId}`;
    sandbox.access.approve(authorisationOf(reply), emil ?? '');
    expect(await statusOf(path)).toBe('PATC');
    // Emil counts once.
    sandbox.access.approve(authorisationOf(await begin(path, 'emil')), emil ?? '');
    expect(await statusOf(path)).toBe('PATC');
    if (second !== 'approve') sandbox.access.refuse(authorisationOf(await begin(path, 'dora')));
    expect(await statusOf(path)).toBe('PATC');
    sandbox.access.approve(authorisationOf(await begin(path, 'dora')), dora ?? '');
    expect(await statusOf(path)).toBe('ACSP');
    expect(refusalOf(await begin(path, 'dora'))).toBe('409 STATUS_INVALID');
  },
);

test('a payment that one has authorised can be cancelled', async () => {
  const reply = await initiate(door, FROM);
  sandbox.access.approve(authorisationOf(reply), dora ?? '');
  const path = `${SCT}/${reply.json.paymentId}`;
  expect((await client.send({ method: 'DELETE', path })).status).toBe(202);
});

test('a signing basket that one has authorised is not deleted', async () => {
  const payment = await initiate(door, FROM);
  const body = { paymentIds: [payment.json.paymentId] };
  const basket = await initiate(door, {}, { path: '/v1/signing-baskets', body });
  const path = `/v1/signing-baskets/${basket.json.basketId}`;
  sandbox.access.approve(authorisationOf(basket), dora ?? '');
  expect(refusalOf(await client.send({ method: 'DELETE', path }))).toBe('409 STATUS_INVALID');
});

test('both cancel a bulk payment that one has authorised', async () => {
  const { debtorAccount, ...entry } = paymentBody(FROM);
  const body = { debtorAccount, payments: [entry, entry] };
  const bulk = '/v1/bulk-payments/sepa-credit-transfers';
  const reply = await initiate(door, {}, { path: bulk, body });
  sandbox.access.approve(authorisationOf(reply), dora ?? '');
  const path = `${bulk}/${reply.json.paymentId}`;
  expect((await client.send({ method: 'DELETE', path })).status).toBe(202);
  const cancel = async (psuId: string) =>
    client.send({
      ...{ method: 'POST', path: `${path}/cancellation-authorisations`, body: {} },
      headers: { 'psu-id': psuId, 'tpp-redirect-uri': CALLBACK },
    });
  sandbox.access.approve(authorisationOf(await cancel('dora')), dora ?? '');
  expect(await statusOf(path)).toBe('PATC');
  sandbox.access.approve(authorisationOf(await cancel('emil')), emil ?? '');
  expect(await statusOf(path)).toBe('CANC');
});

test('a consent shows nothing until both have given it', async () => {
  const reply = await askConsent(door);
  const consent = String(reply.json.consentId);
  const path = `/v1/consents/${consent}`;
  sandbox.access.approve(authorisationOf(reply), dora ?? '');
  expect(await statusOf(path)).toBe('partiallyAuthorised');
  expect(refusalOf(await client.get('/v1/accounts', consent))).toBe('401 CONSENT_INVALID Consent-ID');
  sandbox.access.approve(authorisationOf(await begin(path, 'emil')), emil ?? '');
  expect(await statusOf(path)).toBe('valid');
  expect((await client.get('/v1/accounts', consent)).text).toContain(iban);
});

test.each([
  ['a payment', 'approve', 'PATC', 'ACSP'],
  ['a payment', 'refuse', 'PATC', 'PATC'],
  ['a consent', 'approve', 'partiallyAuthorised', 'valid'],
])(
  'what dora has authorised of %s waits for emil at the bank, and he can %s it',
  async (kind, decision, before, after) => {
    const isPayment = kind === 'a payment';
    const reply = isPayment ? await initiate(door, FROM) : await askConsent(door);
    const path = isPayment ? `${SCT}/${reply.json.paymentId}` : `/v1/consents/${reply.json.consentId}`;
    const { access } = sandbox;
    const own = authorisationOf(reply);
    const name = (user?: string) =>
      companyCustomers.filter((one) => one.user === user).map((one) => `${one.firstName} ${one.lastName}`);
    expect(access.shown(own, dora ?? '')).toMatchObject({ authorisedBy: [], alsoNeeded: name('emil') });
    const next = `next-${own}`;
    expect(access.accessRequest(next)).toBeUndefined();
    access.approve(own, dora ?? '');
    expect(access.open().map(({ id, user }) => [id, user])).toContainEqual([next, 'emil']);
    expect(access.waiting('emil').map(({ id }) => id)).toContain(next);
    expect(access.waiting('dora').map(({ id }) => id)).not.toContain(next);
    expect(access.shown(next, emil ?? '')).toMatchObject({ authorisedBy: name('dora'), alsoNeeded: [] });
    // Not as long as the TPP asks for him itself, nor for anybody else.
    const asked = authorisationOf(await begin(path, 'emil'));
    expect(access.accessRequest(next)).toBeUndefined();
    access.refuse(asked);
    expect(() => access.approve(next, dora ?? '')).toThrow('The request is not for dora');
    expect(await statusOf(path)).toBe(before);
    if (decision === 'approve') access.approve(next, emil ?? '');
    else access.refuse(next);
    expect(await statusOf(path)).toBe(after);
    expect(access.accessRequest(next) === undefined).toBe(decision === 'approve');
  },
);

test('a person who does not hold the account is refused', async () => {
  const reply = await initiate(door, FROM, { headers: { 'psu-id': 'anna' } });
  expect(refusalOf(reply)).toBe('400 FORMAT_ERROR debtorAccount.iban');
  expect(linkOf(reply, 'scaRedirect')).toBe('undefined');
});
