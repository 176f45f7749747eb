import { describe, expect, test } from 'vitest';
import { OrderRefused } from '../../../src/sandbox/control/order.ts';
import { ownerSide } from '../../../src/sandbox/nextgenpsd2/owner.ts';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import type { Json } from '../tpp.ts';
import { bankHere } from './bank-here.ts';
import { ANNA, CALLBACK, CURRENT, consentBody, SAVINGS } from './door-client.ts';
import { paymentBody, SCT } from './payment-client.ts';

// The orders that play the customer at the second door.

async function opened(variations: Variation[] = []) {
  const here = await bankHere({ payments: { debtorAccount: 'optional' } }, variations);
  const { orders = [], ...owner } = ownerSide(here.bank);
  const place = { bank: here.bank, revokeAll: owner.revokeAll, readTan: () => null };
  /** What an order does, as its description says it: `404 text` if it is refused. */
  const give = (path: string, body: object = {}): unknown => {
    const order = orders.find((one) => one.path === `/nextgenpsd2/${path}`) ?? expect.unreachable();
    try {
      return order.answer.parse(JSON.parse(JSON.stringify(order.run(place, body, {}))));
    } catch (error) {
      if (error instanceof OrderRefused) return `${error.status} ${error.message}`;
      throw error;
    }
  };
  const consent = (changes: Record<string, unknown> = {}, headers = {}) =>
    here.serve('POST /v1/consents', { body: consentBody(changes), headers });
  return { ...here, give, consent };
}

const idOf = ({ json }: { json: Json }) => String(json._links?.scaStatus?.href).split('/').at(-1) ?? '';

test('what waits is described: a consent with its terms, and whom the TPP named', async () => {
  const { give, consent, serve } = await opened();
  const asked = consent({}, { 'psu-id': 'anna' });
  const payment = serve(`POST ${SCT}`, { body: paymentBody() });
  expect(give('requests')).toEqual([
    {
      ...{ id: idOf(asked), tppName: 'Sandbox TPP', user: 'anna' },
      consent: { id: asked.json.consentId, recurring: true, until: '2027-01-31', frequencyPerDay: 4 },
    },
    { id: idOf(payment), tppName: 'Sandbox TPP' },
  ]);
});

describe('a decision', () => {
  test('sends the customer back, and is made once', async () => {
    const { give, consent, serve } = await opened();
    const [given, refused] = [consent(), consent()];
    expect(give('decide', { id: idOf(given), decision: 'approve', user: 'anna' })).toEqual({
      returnTo: CALLBACK,
    });
    expect(give('decide', { id: idOf(refused), decision: 'refuse' })).toEqual({ returnTo: CALLBACK });
    const states = [given, refused].map(
      ({ json }) => serve(`GET /v1/consents/${json.consentId}/status`).json,
    );
    expect(states).toEqual([{ consentStatus: 'valid' }, { consentStatus: 'rejected' }]);
    for (const id of [idOf(given), idOf(refused), 'x'])
      expect(give('decide', { id, decision: 'refuse' })).toBe('404 There is nothing to decide');
  });

  test('is one of a customer who has the accounts, and may name them', async () => {
    const { give, consent, serve } = await opened();
    const offered = consent({ access: { accounts: [] } });
    const approve = (id: string, user: string, accounts?: string[]) =>
      give('decide', { id, decision: 'approve', user, ...(accounts && { accounts }) });
    expect(approve(idOf(offered), 'nobody')).toBe('404 There is no customer nobody');
    expect(approve(idOf(offered), 'anna', [SAVINGS])).toEqual({ returnTo: CALLBACK });
    const headers = { 'consent-id': String(offered.json.consentId) };
    const { json } = serve('GET /v1/accounts', { headers });
    expect(Object(json.accounts).map(({ resourceId }: Json) => resourceId)).toEqual([SAVINGS]);
    const payment = serve(`POST ${SCT}`, { body: paymentBody() });
    expect(approve(idOf(payment), 'bruno')).toBe('400 bruno does not have these accounts');
    const open = serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount: undefined }) });
    expect(approve(idOf(open), 'anna', ['x'])).toBe('400 anna has no such account to pay from');
    expect(approve(idOf(open), 'anna', [CURRENT])).toEqual({ returnTo: CALLBACK });
  });
});

test('a consent is withdrawn once, and none that was not given', async () => {
  const { give, consent, approve } = await opened();
  const [given, asked] = [consent(), consent()];
  approve(given, ANNA);
  const revoke = ({ json }: { json: Json }) => give('revoke', { consentId: String(json.consentId) });
  expect([revoke(given), revoke(given), revoke(asked)]).toEqual(
    [true, false, false].map((revoked) => ({ revoked })),
  );
});

test('a late payment is executed at once, and another one is not', async () => {
  const { give, serve, approve } = await opened(['executes-late']);
  const [one, other] = [1, 2].map(() => serve(`POST ${SCT}`, { body: paymentBody() }));
  if (!one || !other) expect.unreachable();
  for (const reply of [one, other]) approve(reply, ANNA);
  const status = ({ json }: { json: Json }) =>
    serve(`GET ${SCT}/${json.paymentId}/status`).json.transactionStatus;
  expect([status(one), status(other)]).toEqual(['ACTC', 'ACTC']);
  expect(give('execute', { paymentId: one.json.paymentId })).toEqual({ transactionStatus: 'ACSP' });
  expect([status(one), status(other)]).toEqual(['ACSP', 'ACTC']);
  expect(give('execute', { paymentId: 'x' })).toBe('404 There is no such payment');
});
