import { describe, expect, test } from 'vitest';
import { companyCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import { accessSide } from '../../../src/sandbox/nextgenpsd2/access-side.ts';
import { doorOf } from '../../../src/sandbox/nextgenpsd2/door-state.ts';
import { ownerSide } from '../../../src/sandbox/nextgenpsd2/owner.ts';
import type { Json } from '../tpp.ts';
import { bankHere } from './bank-here.ts';
import { ANNA, CALLBACK, CARD, CURRENT, consentBody, SAVINGS } from './door-client.ts';
import { ANNAS, ibansOf, PAYEE, paymentBody, SCT } from './payment-client.ts';

// What the pages of the customer, and the console, know of the second door.

const BRUNO = '2073915';
const BULK = '/v1/bulk-payments/sepa-credit-transfers';
const FUNDS = '/v2/consents/confirmation-of-funds';
const [, ANNAS_SAVINGS = ''] = ibansOf('anna');
const products = { 'bulk-payments': ['sepa-credit-transfers'] };

async function opened(...[file = {}, ...more]: Parameters<typeof bankHere>) {
  const payments = { products, debtorAccount: 'optional', futureDays: 30 } as const;
  const here = await bankHere({ ...file, payments: { ...payments, ...file.payments } }, ...more);
  return { ...here, access: accessSide(here.bank), owner: ownerSide(here.bank) };
}

/** The authorisation of an answer. */
const idOf = ({ json }: { json: Json }) => String(json._links?.scaStatus?.href).split('/').at(-1) ?? '';
const entry = (amount: string, creditorName: string, more: object = {}) => ({
  ...{ instructedAmount: { currency: 'EUR', amount }, creditorAccount: { iban: PAYEE } },
  ...{ creditorName, ...more },
});

describe('a request that waits', () => {
  test('says whom the TPP named, and what it asks for', async () => {
    const { serve, access } = await opened();
    const named = { 'psu-id': 'anna' };
    const consent = serve('POST /v1/consents', { body: consentBody(), headers: named });
    const funds = serve(`POST ${FUNDS}`, { body: { account: { iban: ANNAS } } });
    const payment = serve(`POST ${SCT}`, { body: paymentBody() });
    const about = { tppName: 'Sandbox TPP', user: undefined, payments: undefined };
    expect(access.open()).toEqual([
      {
        ...{ ...about, id: idOf(consent), user: 'anna' },
        consent: {
          ...{ id: consent.json.consentId, forFunds: false, recurring: true },
          ...{ until: '2027-01-31', frequencyPerDay: 4 },
        },
      },
      {
        ...{ ...about, id: idOf(funds) },
        consent: {
          ...{ id: funds.json.consentId, forFunds: true, recurring: true },
          ...{ until: '9999-12-31', frequencyPerDay: 0 },
        },
      },
      {
        ...{ ...about, id: idOf(payment), consent: undefined },
        payments: { cancels: false, all: [expect.objectContaining({ kind: 'Bank transfer' })] },
      },
    ]);
    for (const request of access.open()) expect(access.accessRequest(request.id)).toEqual(request);
    expect(access.accessRequest('x')).toBeUndefined();
  });

  test('is one to cancel, and one of a basket has all payments', async () => {
    const { serve, approve, access } = await opened();
    const late = serve(`POST ${SCT}`, { body: paymentBody({ requestedExecutionDate: '2026-11-27' }) });
    approve(late, ANNA);
    serve(`DELETE ${SCT}/${late.json.paymentId}`);
    serve(`POST ${SCT}/${late.json.paymentId}/cancellation-authorisations`);
    const explicit = { 'tpp-explicit-authorisation-preferred': 'true' };
    const paymentIds = ['A', 'B'].map(
      (creditorName) =>
        serve(`POST ${SCT}`, { body: paymentBody({ creditorName }), headers: explicit }).json.paymentId,
    );
    serve('POST /v1/signing-baskets', { body: { paymentIds } });
    const shown = access
      .open()
      .map(({ payments }) => [
        payments?.cancels,
        payments?.all.flatMap(({ orders }) => orders.map(({ name }) => name)),
      ]);
    expect(shown).toEqual([
      [true, ['Beta GmbH']],
      [false, ['A', 'B']],
    ]);
  });

  test('is none once it is decided', async () => {
    const { serve, access } = await opened();
    const [given, refused] = [1, 2].map(() => serve('POST /v1/consents', { body: consentBody() }));
    if (!given || !refused) expect.unreachable();
    expect(access.approve(idOf(given), ANNA).returnTo?.href).toBe(CALLBACK);
    expect(access.refuse(idOf(refused)).returnTo?.href).toBe(CALLBACK);
    expect(access.open()).toEqual([]);
    for (const id of [idOf(given), idOf(refused), 'x']) {
      expect(() => access.approve(id, ANNA)).toThrow(`There is no open request with the id ${id}`);
      expect(() => access.refuse(id)).toThrow(`There is no open request with the id ${id}`);
    }
  });

  test('of the customer whom the TPP named is decided by nobody else', async () => {
    const { serve, access } = await opened({ sca: { approaches: ['decoupled'] } });
    const reply = serve('POST /v1/consents', { body: consentBody(), headers: { 'psu-id': 'anna' } });
    expect([access.waiting('anna').map(({ id }) => id), access.waiting('bruno')]).toEqual([
      [idOf(reply)],
      [],
    ]);
    expect(() => access.approve(idOf(reply), BRUNO)).toThrow('The request is not for bruno');
    expect(() => access.approve(idOf(reply), 'x')).toThrow('There is no customer x');
    expect(access.approve(idOf(reply), ANNA).returnTo?.href).toBe(CALLBACK);
    expect(access.waiting('anna')).toEqual([]);
  });

  test('with redirect waits on no page of the customer', async () => {
    const { serve, access } = await opened();
    serve('POST /v1/consents', { body: consentBody(), headers: { 'psu-id': 'anna' } });
    expect([access.waiting('anna'), access.open().length]).toEqual([[], 1]);
  });
});

describe('what a customer sees before they decide', () => {
  const ALONE = { authorisedBy: [], alsoNeeded: [] };
  const seen = (productId: string, number: string, rights: string[]) => ({
    ...{ productId, number, rights, description: expect.stringMatching(/./) },
  });

  test.each<[what: string, access: object, accounts: object[], choose: boolean]>([
    [
      'everything',
      { allPsd2: 'allAccounts' },
      [
        seen(CURRENT, ANNAS, ['accounts', 'balances', 'transactions']),
        seen(SAVINGS, ANNAS_SAVINGS, ['accounts', 'balances', 'transactions']),
        seen(CARD, '525412xxxxxx3017', ['accounts', 'balances', 'transactions']),
      ],
      false,
    ],
    ['one account', { balances: [{ iban: ANNAS }] }, [seen(CURRENT, ANNAS, ['accounts', 'balances'])], false],
    [
      'what the bank offers',
      { accounts: [] },
      [
        seen(CURRENT, ANNAS, ['accounts']),
        seen(SAVINGS, ANNAS_SAVINGS, ['accounts']),
        seen(CARD, '525412xxxxxx3017', ['accounts']),
      ],
      true,
    ],
  ])('of a consent to %s', async (_, asked, accounts, choose) => {
    const { serve, access } = await opened();
    const id = idOf(serve('POST /v1/consents', { body: consentBody({ access: asked }) }));
    expect(access.shown(id, ANNA)).toEqual({ ...ALONE, accounts, choose });
  });

  test('of a consent to confirmations of funds', async () => {
    const { serve, access } = await opened();
    const id = idOf(serve(`POST ${FUNDS}`, { body: { account: { iban: ANNAS } } }));
    expect(access.shown(id, ANNA)).toEqual({
      ...ALONE,
      accounts: [seen(CURRENT, ANNAS, ['funds'])],
      choose: false,
    });
    expect(access.shown(id, BRUNO)).toBeUndefined();
  });

  test('of a payment without an account, the accounts to pay from', async () => {
    const { serve, access } = await opened();
    const id = idOf(serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount: undefined }) }));
    const accounts = [seen(CURRENT, ANNAS, []), seen(SAVINGS, ANNAS_SAVINGS, [])];
    expect(access.shown(id, ANNA)).toEqual({ ...ALONE, accounts, choose: true });
    const named = idOf(serve(`POST ${SCT}`, { body: paymentBody() }));
    expect([access.shown(named, ANNA), access.shown(named, BRUNO)]).toEqual([
      ...[{ ...ALONE, accounts: [], choose: false }, undefined],
    ]);
  });

  test('of a company account, who has authorised it and who must, too', async () => {
    const [dora, emil] = companyCustomers.map(({ customerId }) => customerId);
    const { serve, access } = await opened({}, ['company-account']);
    const debtorAccount = { iban: companyCustomers[0]?.products[0]?.iban };
    const reply = serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount }) });
    const shown = (id: string, customer = '') => {
      const { authorisedBy, alsoNeeded } = access.shown(id, customer) ?? expect.unreachable();
      return [authorisedBy, alsoNeeded];
    };
    expect(shown(idOf(reply), dora)).toEqual([[], ['Emil Gallo']]);
    access.approve(idOf(reply), dora ?? '');
    // Nobody was sent to the bank: the other holder finds it there.
    const [next] = access.waiting('emil');
    expect(next).toMatchObject({ id: `next-${idOf(reply)}`, user: 'emil', payments: { cancels: false } });
    expect(access.waiting('dora')).toEqual([]);
    expect(shown(next?.id ?? '', emil)).toEqual([['Dora Ferri'], []]);
    expect(() => access.approve(next?.id ?? '', dora ?? '')).toThrow('The request is not for dora');
    access.approve(next?.id ?? '', emil ?? '');
    expect(serve(`GET ${SCT}/${reply.json.paymentId}/status`).json.transactionStatus).toBe('ACSP');
    expect(access.open()).toEqual([]);
  });
});

test('a holder of a company account finds each payment that another one has authorised, once', async () => {
  const [dora = '', emil = ''] = companyCustomers.map(({ customerId }) => customerId);
  const { serve, access } = await opened({}, ['company-account']);
  const debtorAccount = { iban: companyCustomers[0]?.products[0]?.iban };
  const [one, other] = [1, 2].map(() => serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount }) }));
  if (!one || !other) expect.unreachable();
  for (const reply of [one, other]) access.approve(idOf(reply), dora);
  const again = serve(`POST ${SCT}/${one.json.paymentId}/authorisations`, { headers: { 'psu-id': 'dora' } });
  expect(access.waiting('emil').map(({ id }) => id)).toEqual([`next-${idOf(other)}`]);
  // Dora has begun once more: until she decides, nobody else is asked for this one.
  access.approve(idOf(again), dora);
  const waiting = access.waiting('emil').map(({ id }) => id);
  expect(waiting.toSorted()).toEqual([`next-${idOf(again)}`, `next-${idOf(other)}`].toSorted());
  for (const id of waiting) access.approve(id, emil);
  expect(access.open()).toEqual([]);
});

describe.each(['bulk', 'basket'])('the payees of a %s plan how the SCA ends', (kind) => {
  test.each<[names: string[], status: string]>([
    [['Beta', 'Gamma'], 'paid'],
    [['SCA REFUSED', 'Gamma'], 'RJCT'],
    [['Beta', 'SCA REFUSED'], 'RJCT'],
    [['Beta', 'Gamma', 'SCA EXPIRED'], 'RJCT'],
    [['SCA PENDING', 'Gamma'], 'RCVD'],
    [['Beta', 'SCA PENDING'], 'RCVD'],
    // Of two plans the first one counts.
    [['SCA PENDING', 'SCA REFUSED'], 'RCVD'],
    [['SCA REFUSED', 'SCA PENDING'], 'RJCT'],
  ])('%j: %s', async (names, status) => {
    const { serve, access } = await opened();
    const headers = { 'tpp-explicit-authorisation-preferred': 'true' };
    const asked =
      kind === 'bulk'
        ? serve(`POST ${BULK}`, { body: { payments: names.map((name) => entry('1.00', name)) } })
        : serve('POST /v1/signing-baskets', {
            body: {
              paymentIds: names.map(
                (creditorName) =>
                  serve(`POST ${SCT}`, { body: paymentBody({ creditorName }), headers }).json.paymentId,
              ),
            },
          });
    access.approve(idOf(asked), ANNA);
    const at =
      kind === 'bulk' ? `${BULK}/${asked.json.paymentId}` : `/v1/signing-baskets/${asked.json.basketId}`;
    const paid = kind === 'bulk' ? 'ACSP' : 'ACTC';
    expect(serve(`GET ${at}/status`).json.transactionStatus).toBe(status === 'paid' ? paid : status);
  });
});

describe('what one holder of a company account has authorised, the other one finds at the bank', () => {
  const [dora = '', emil = ''] = companyCustomers.map(({ customerId }) => customerId);
  const account = { iban: companyCustomers[0]?.products[0]?.iban };
  const late = { debtorAccount: account, requestedExecutionDate: '2026-11-27' };
  const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };
  type Opened = Awaited<ReturnType<typeof opened>>;

  test.each<[what: string, ask: (here: Opened) => { json: Json; at: string }, before: string, after: string]>(
    [
      [
        'a payment',
        ({ serve }) => {
          const { json } = serve(`POST ${SCT}`, { body: paymentBody(late) });
          return { json, at: `${SCT}/${json.paymentId}` };
        },
        ...(['PATC', 'ACTC'] as const),
      ],
      [
        'the cancellation of a payment that both have authorised',
        ({ serve, access }) => {
          const { json } = serve(`POST ${SCT}`, { body: paymentBody(late) });
          access.approve(idOf({ json }), dora);
          access.approve(`next-${idOf({ json })}`, emil);
          const at = `${SCT}/${json.paymentId}`;
          serve(`DELETE ${at}`);
          return { json: serve(`POST ${at}/cancellation-authorisations`).json, at };
        },
        ...(['ACTC', 'CANC'] as const),
      ],
      [
        'a signing basket',
        ({ serve }) => {
          const body = paymentBody(late);
          const paymentIds = [1, 2].map(
            () => serve(`POST ${SCT}`, { body, headers: EXPLICIT }).json.paymentId,
          );
          const { json } = serve('POST /v1/signing-baskets', { body: { paymentIds } });
          return { json, at: `/v1/signing-baskets/${json.basketId}` };
        },
        ...(['RCVD', 'ACTC'] as const),
      ],
      [
        'a consent',
        ({ serve }) => {
          const { json } = serve('POST /v1/consents', { body: consentBody() });
          return { json, at: `/v1/consents/${json.consentId}` };
        },
        ...(['partiallyAuthorised', 'valid'] as const),
      ],
      [
        'a consent to confirmations of funds',
        ({ serve }) => {
          const { json } = serve(`POST ${FUNDS}`, { body: { account } });
          return { json, at: `${FUNDS}/${json.consentId}` };
        },
        ...(['partiallyAuthorised', 'valid'] as const),
      ],
    ],
  )('%s', async (_, ask, before, after) => {
    const here = await opened({}, ['company-account']);
    const { access, serve } = here;
    const { json, at } = ask(here);
    const status = () => {
      const { transactionStatus, consentStatus } = serve(`GET ${at}/status`).json;
      return transactionStatus ?? consentStatus;
    };
    access.approve(idOf({ json }), dora);
    const next = `next-${idOf({ json })}`;
    expect([status(), access.waiting('emil').map(({ id }) => id)]).toEqual([before, [next]]);
    access.approve(next, emil);
    expect([status(), access.open()]).toEqual([after, []]);
  });

  test('a payment that the bank lets one of them pass without SCA', async () => {
    const { access, serve } = await opened({ sca: { approaches: ['embedded'] } }, ['company-account']);
    const headers = { 'psu-id': 'dora' };
    const { json } = serve(`POST ${SCT}`, { body: paymentBody(late), headers });
    const at = `${SCT}/${json.paymentId}`;
    const body = { psuData: { password: 'pin-dora' } };
    const step = serve(`PUT ${at}/authorisations/${idOf({ json })}`, { body, headers, faults: ['no-sca'] });
    const status = () => serve(`GET ${at}/status`).json.transactionStatus;
    expect([step.json.scaStatus, status()]).toEqual(['exempted', 'PATC']);
    const waiting = access.waiting('emil').map(({ id }) => id);
    expect(waiting).toEqual([`next-${idOf({ json })}`]);
    access.approve(waiting[0] ?? '', emil);
    expect(status()).toBe('ACTC');
  });
});

describe('the customer chooses', () => {
  test.each([
    [undefined, CURRENT],
    [[SAVINGS], SAVINGS],
    [[CURRENT], CURRENT],
  ])('%j to pay from: %s', async (chosen, paidFrom) => {
    const { bank, serve, access } = await opened();
    const reply = serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount: undefined }) });
    access.approve(idOf(reply), ANNA, chosen);
    const { debtor } = doorOf(bank).payments.find(String(reply.json.paymentId)) ?? expect.unreachable();
    expect(debtor?.product.productId).toBe(paidFrom);
    const { json } = serve(`GET ${SCT}/${reply.json.paymentId}`);
    expect(json.debtorAccount).toEqual({ iban: debtor?.product.iban });
  });

  test.each<[named: (string | undefined)[], chosen: string | undefined, paidFrom: string[]]>([
    [[undefined, undefined], SAVINGS, [SAVINGS, SAVINGS]],
    [[undefined, ANNAS], SAVINGS, [SAVINGS, CURRENT]],
    [[ANNAS, undefined], SAVINGS, [CURRENT, SAVINGS]],
    [[ANNAS_SAVINGS, undefined], undefined, [SAVINGS, CURRENT]],
    [[ANNAS_SAVINGS, ANNAS], CURRENT, [SAVINGS, CURRENT]],
  ])('of a basket with payments from %j %s: they are paid from %j', async (named, chosen, paidFrom) => {
    const { bank, serve, access } = await opened();
    const headers = { 'tpp-explicit-authorisation-preferred': 'true' };
    const paymentIds = named.map((iban) => {
      const body = paymentBody({ debtorAccount: iban === undefined ? undefined : { iban } });
      return String(serve(`POST ${SCT}`, { body, headers }).json.paymentId);
    });
    const basket = serve('POST /v1/signing-baskets', { body: { paymentIds } });
    access.approve(idOf(basket), ANNA, chosen === undefined ? undefined : [chosen]);
    const accounts = paymentIds.map((id) => doorOf(bank).payments.find(id)?.debtor?.product.productId);
    expect(accounts).toEqual(paidFrom);
  });

  test.each([[[CARD]], [['0020739150']], [['x']]])(
    'no account that they cannot pay from: %j',
    async (chosen) => {
      const { serve, access } = await opened();
      const reply = serve(`POST ${SCT}`, { body: paymentBody({ debtorAccount: undefined }) });
      expect(() => access.approve(idOf(reply), ANNA, chosen)).toThrow('anna has no such account to pay from');
      expect(serve(`GET ${SCT}/${reply.json.paymentId}/status`).json.transactionStatus).toBe('RCVD');
    },
  );

  test.each([
    [[CURRENT], [{ iban: ANNAS }]],
    [
      [CARD, SAVINGS],
      [{ iban: ANNAS_SAVINGS }, { maskedPan: '525412xxxxxx3017' }],
    ],
    [undefined, [{ iban: ANNAS }, { iban: ANNAS_SAVINGS }, { maskedPan: '525412xxxxxx3017' }]],
  ])('of what the bank offers %j, and the consent names them', async (chosen, accounts) => {
    const { serve, access } = await opened();
    const reply = serve('POST /v1/consents', {
      body: consentBody({ access: { accounts: [], transactions: [] } }),
    });
    access.approve(idOf(reply), ANNA, chosen);
    const { json } = serve(`GET /v1/consents/${reply.json.consentId}`);
    expect(json.access).toEqual({ accounts, transactions: accounts });
  });
});

test('the consents that a customer gave are those in force, and can be withdrawn once', async () => {
  const { bank, serve, approve, access, owner } = await opened({}, ['multiple-consents']);
  const give = (customerId: string, access = {}) => {
    const reply = serve('POST /v1/consents', {
      body: consentBody({ access: { allPsd2: 'allAccounts', ...access } }),
    });
    approve(reply, customerId);
    return String(reply.json.consentId);
  };
  const [one, two, brunos] = [give(ANNA), give(ANNA), give(BRUNO)];
  const funds = serve(`POST ${FUNDS}`, { body: { account: { iban: ANNAS } } });
  approve(funds, ANNA);
  serve('POST /v1/consents', { body: consentBody() });
  const row = (id: string | undefined) => ({ id, tppName: 'Sandbox TPP', until: '2027-01-31', accounts: 3 });
  const ofFunds = { ...row(String(funds.json.consentId)), until: undefined, accounts: 1 };
  expect(access.given(ANNA)).toEqual([row(one), row(two), ofFunds]);
  expect([access.revoke(one ?? ''), access.revoke(one ?? ''), access.revoke('x')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(access.given(ANNA)).toEqual([row(two), ofFunds]);
  expect([owner.revokeAll(ANNA), owner.revokeAll(ANNA), access.given(ANNA)]).toEqual([2, 0, []]);
  expect(doorOf(bank).consents.find(brunos ?? '')?.status).toBe('valid');
});

describe('the console', () => {
  test('has the newest of each kind, newest first', async () => {
    const { serve, approve, owner } = await opened({}, ['multiple-consents']);
    const consents = [ANNA, BRUNO].map((customerId) => {
      const reply = serve('POST /v1/consents', { body: consentBody() });
      approve(reply, customerId);
      return String(reply.json.consentId);
    });
    const open = serve('POST /v1/consents', {
      body: consentBody({ access: { accounts: [{ iban: ANNAS }] } }),
    });
    const payments = [1, 2].map(() => String(serve(`POST ${SCT}`, { body: paymentBody() }).json.paymentId));
    const flows = (most: number) => Object(owner.flows(most));
    const given = (id: unknown, customer: string, more: object = {}) => ({
      ...{ id, type: 'all-accounts', status: 'valid', customer, until: '2027-01-31', accounts: 3, ...more },
    });
    expect(flows(10)).toMatchObject({ title: 'NextGenPSD2', orders: '/nextgenpsd2', devices: [] });
    expect(flows(10).consents).toEqual([
      given(open.json.consentId, '', { type: 'dedicated', status: 'received', accounts: 0 }),
      given(consents[1], 'bruno', { accounts: expect.any(Number) }),
      given(consents[0], 'anna'),
    ]);
    expect(flows(10).payments.map(({ paymentId }: { paymentId: string }) => paymentId)).toEqual(
      payments.toReversed(),
    );
    expect(flows(10).requests.map(({ url }: { url: string }) => url)).toEqual(
      flows(10).requests.map(({ id }: { id: string }) => `https://customers.example/authorise?request=${id}`),
    );
    expect(flows(1).consents).toEqual([flows(10).consents[0]]);
    expect(flows(1).payments).toEqual([flows(10).payments[0]]);
  });

  test('has the devices of customers, the newest message first', async () => {
    const { serve, owner } = await opened({ sca: { approaches: ['embedded'] } });
    const headers = { 'psu-id': 'anna' };
    const begin = (creditorName: string) => {
      const { json } = serve(`POST ${SCT}`, { body: paymentBody({ creditorName }), headers });
      const at = `${SCT}/${json.paymentId}/authorisations/${idOf({ json })}`;
      serve(`PUT ${at}`, { body: { psuData: { password: 'pin-anna' } }, headers });
      serve(`PUT ${at}`, { body: { authenticationMethodId: '901' }, headers });
    };
    const names = ['A', 'B', 'C'];
    for (const name of names) begin(name);
    const shown = (most: number): string[] =>
      Object(owner.flows(most)).devices.map(({ text }: { text: string }) => / to (\w),/.exec(text)?.[1]);
    expect([shown(10), shown(2), shown(1)]).toEqual([['C', 'B', 'A'], ['C', 'B'], ['C']]);
  });

  test('has the payments, those of a bulk or a basket together', async () => {
    const { bank, serve, approve, owner } = await opened();
    const at = bank.now();
    const alone = serve(`POST ${SCT}`, { body: paymentBody() });
    approve(alone, ANNA);
    const bulk = serve(`POST ${BULK}`, {
      body: { payments: [entry('1.00', 'A'), entry('2.00', 'EXECUTE REFUSED')] },
    });
    const basketed = serve(`POST ${SCT}`, { body: paymentBody({ creditorName: 'C' }) });
    const basket = serve('POST /v1/signing-baskets', { body: { paymentIds: [basketed.json.paymentId] } });
    const row = (to: string, amount: number, state: string, more: object = {}) => ({
      ...{ at, account: ANNAS, customer: 'anna', joint: undefined, amount, to, state, ...more },
    });
    const joint = bulk.json.paymentId;
    const nobody = { account: '', customer: '', joint };
    const ofBasket = row('C', 1250, 'RCVD', { joint: basket.json.basketId });
    expect(owner.paid(10)).toEqual([
      row('Beta GmbH', 1250, 'ACSP'),
      row('A', 100, 'RCVD', nobody),
      row('EXECUTE REFUSED', 200, 'RCVD', nobody),
      ofBasket,
    ]);
    approve(bulk, ANNA);
    expect(owner.paid(2)).toEqual([
      row('A', 100, 'ACSP', { joint }),
      row('EXECUTE REFUSED', 200, 'RJCT', { joint }),
      ofBasket,
    ]);
    expect(owner.paid(1)).toEqual([ofBasket]);
  });
});
