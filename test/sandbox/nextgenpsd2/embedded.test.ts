import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { companyCustomers } from '../../../src/sandbox/customers/seed-customers.ts';
import { type Json, order } from '../tpp.ts';
import {
  askConsent,
  type Bank,
  CALLBACK,
  type DoorReply,
  linkOf,
  newDoor,
  refusalOf,
  START,
  type TestDoor,
} from './door-client.ts';
import {
  authorise,
  embeddedDoor,
  follow,
  method,
  pin,
  readDevice,
  step,
  stepsOf,
  tan,
  tanOf,
} from './embedded-client.ts';
import {
  ANNAS,
  debitsOf,
  INSTANT,
  ibansOf,
  initiate,
  PAYEE,
  paymentBody,
  SCT,
  statusOf,
} from './payment-client.ts';

const AS_ANNA = { headers: { 'psu-id': 'anna' } };
const BULK = '/v1/bulk-payments/sepa-credit-transfers';
const PERIODIC = '/v1/periodic-payments/sepa-credit-transfers';
const FUNDS = '/v2/consents/confirmation-of-funds';
const { debtorAccount: _debtor, ...ENTRY } = paymentBody();

const PAIN001 = `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-20T12:00:00</CreDtTm><NbOfTxs>1</NbOfTxs><InitgPty><Nm>A</Nm></InitgPty></GrpHdr>
<PmtInf><PmtInfId>P1</PmtInfId><PmtMtd>TRF</PmtMtd><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><ReqdExctnDt>2026-11-20</ReqdExctnDt><Dbtr><Nm>Anna</Nm></Dbtr>
<DbtrAcct><Id><IBAN>${ANNAS}</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId/></DbtrAgt><ChrgBr>SLEV</ChrgBr><CdtTrfTxInf><PmtId><EndToEndId>X-1</EndToEndId></PmtId>
<Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt><Cdtr><Nm>Beta GmbH</Nm></Cdtr><CdtrAcct><Id><IBAN>${PAYEE}</IBAN></Id></CdtrAcct></CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn></Document>`;

const FILES: Bank = {
  payments: {
    futureDays: 30,
    debtorAccount: 'optional',
    products: {
      payments: ['sepa-credit-transfers', 'instant-sepa-credit-transfers', 'pain.001-sepa-credit-transfers'],
      'bulk-payments': ['sepa-credit-transfers'],
      'periodic-payments': ['sepa-credit-transfers'],
    },
  },
  funds: { consent: 'auto' },
};

/** Asks for a consent of any kind, as anna. */
const consent = (changes: object) => (at: TestDoor) => askConsent(at, { ...changes }, { 'psu-id': 'anna' });
const send = (path: string, body: object) => (at: TestDoor) =>
  at.client.send({ method: 'POST', path, body, headers: { ...START, 'psu-id': 'anna' } });

describe('PIN, method and TAN authorise', () => {
  test.each<[what: string, ask: (at: TestDoor) => Promise<DoorReply>, then: string]>([
    ['a transfer', (at) => initiate(at, {}, AS_ANNA), 'ACSP'],
    [
      'a transfer of which the bank takes the account',
      (at) => initiate(at, { debtorAccount: undefined }, AS_ANNA),
      'ACSP',
    ],
    ['an instant transfer', (at) => initiate(at, {}, { path: INSTANT, ...AS_ANNA }), 'ACSP'],
    ['one for a later day', (at) => initiate(at, { requestedExecutionDate: '2026-11-27' }, AS_ANNA), 'ACTC'],
    ['a bulk payment', send(BULK, { debtorAccount: { iban: ANNAS }, payments: [ENTRY, ENTRY] }), 'ACSP'],
    [
      'a standing order',
      send(PERIODIC, paymentBody({ startDate: '2026-12-01', frequency: 'Monthly' })),
      'ACTC',
    ],
    [
      'a file',
      ({ client }) =>
        client.send({
          ...{ method: 'POST', path: '/v1/payments/pain.001-sepa-credit-transfers', body: PAIN001 },
          headers: { ...START, 'psu-id': 'anna', 'content-type': 'application/xml' },
        }),
      'ACSP',
    ],
    ['a consent to all accounts', consent({}), 'valid'],
    ['a consent to an account', consent({ access: { accounts: [{ iban: ANNAS }] } }), 'valid'],
    ['a consent whose accounts the bank offers', consent({ access: { accounts: [] } }), 'valid'],
    ['a consent to confirmations of funds', send(FUNDS, { account: { iban: ANNAS } }), 'valid'],
  ])('%s', async (_what, ask, then) => {
    const at = await embeddedDoor(FILES, ['funds-consents']);
    const reply = await ask(at);
    expect([reply.status, reply.headers['aspsp-sca-approach'], stepsOf(reply)], reply.text).toEqual([
      ...[201, 'EMBEDDED', ['updatePsuAuthentication']],
    ]);
    const last = await authorise(at, reply);
    expect([last.status, last.json.scaStatus, stepsOf(last)]).toEqual([200, 'finalised', []]);
    const { json } = await at.client.get(linkOf(reply, 'status'));
    expect(json.transactionStatus ?? json.consentStatus).toBe(then);
    const sca = await at.client.get(linkOf(reply, 'scaStatus'));
    expect(sca.json).toEqual({ scaStatus: 'finalised' });
    // It is done once.
    const again = await step(at, linkOf(reply, 'scaStatus'), pin());
    expect(refusalOf(again)).toBe('409 STATUS_INVALID');
  });

  test('a signing basket, with its payments', async () => {
    const at = await embeddedDoor();
    const explicit = { ...AS_ANNA.headers, 'tpp-explicit-authorisation-preferred': 'true' };
    const one = await initiate(at, { endToEndIdentification: 'B-1' }, { headers: explicit });
    const two = await initiate(at, { endToEndIdentification: 'B-2' }, { headers: explicit });
    const body = { paymentIds: [one.json.paymentId, two.json.paymentId] };
    const basket = await initiate(at, {}, { path: '/v1/signing-baskets', body, ...AS_ANNA });
    expect(stepsOf(basket)).toEqual(['updatePsuAuthentication']);
    await authorise(at, basket);
    expect([await statusOf(at, one), await statusOf(at, two), await statusOf(at, basket)]).toEqual([
      ...['ACSP', 'ACSP', 'ACTC'],
    ]);
  });

  test('a cancellation', async () => {
    const at = await embeddedDoor(FILES);
    const reply = await initiate(at, { requestedExecutionDate: '2026-11-27' }, AS_ANNA);
    await authorise(at, reply);
    const path = `${SCT}/${reply.json.paymentId}`;
    const asked = await at.client.send({ method: 'DELETE', path });
    expect([asked.status, stepsOf(asked)]).toEqual([202, ['startAuthorisationWithPsuAuthentication']]);
    const known = await follow(at, asked, 'startAuthorisationWithPsuAuthentication', pin());
    const chosen = await follow(at, known, 'selectAuthenticationMethod', method('901'));
    const device = await readDevice(at);
    expect(device?.text).toContain('the cancellation of 12.50 EUR to Beta GmbH');
    await follow(at, chosen, 'authoriseTransaction', tan(device?.tan ?? ''));
    expect(await statusOf(at, reply)).toBe('CANC');
  });
});

describe('how an authorisation begins', () => {
  const explicit = { 'tpp-explicit-authorisation-preferred': 'true' };
  const named = { 'psu-id': 'anna' };

  test.each<
    [what: string, headers: Record<string, string>, more: Parameters<typeof embeddedDoor>, link: string]
  >([
    ['with the payment', named, [], 'updatePsuAuthentication'],
    ['with the payment, of nobody yet', {}, [], 'updatePsuIdentification'],
    ['by a call', { ...named, ...explicit }, [], 'startAuthorisationWithPsuAuthentication'],
    ['by a call, of nobody yet', explicit, [], 'startAuthorisationWithPsuIdentification'],
    ['by a plain call', named, [{}, ['start-link']], 'startAuthorisation'],
    [
      'by a plain call with the PIN',
      { ...named, ...explicit },
      [{ sca: { approaches: ['embedded'], first: 'password' } }],
      'startAuthorisation',
    ],
    ['as Atruvia has it', named, [{}, ['embedded-atruvia']], 'startAuthorisationWithPsuAuthentication'],
  ])('%s', async (_what, headers, more, link) => {
    const at = await embeddedDoor(...more);
    const reply = await initiate(at, {}, { headers });
    expect(stepsOf(reply)).toEqual([link]);
    const known = await follow(at, reply, link, link.endsWith('Identification') ? {} : pin());
    const next = link.endsWith('Identification') ? 'updatePsuAuthentication' : 'selectAuthenticationMethod';
    expect(stepsOf(known)).toEqual([next]);
    expect(known.headers['aspsp-sca-approach']).toBe('EMBEDDED');
  });

  test('a bank that shows it only after a plain start says how to go on', async () => {
    const at = await embeddedDoor({}, ['start-link']);
    const reply = await initiate(at, {}, { headers: named });
    expect(reply.headers).not.toHaveProperty('aspsp-sca-approach');
    const started = await follow(at, reply, 'startAuthorisation', {});
    expect([started.status, started.headers['aspsp-sca-approach'], stepsOf(started)]).toEqual([
      ...[201, 'EMBEDDED', ['updatePsuAuthentication']],
    ]);
  });

  test('a bank that wants the PIN first takes no other start', async () => {
    const at = await embeddedDoor({ sca: { approaches: ['embedded'], first: 'password' } });
    const reply = await initiate(at, {}, { headers: { ...named, ...explicit } });
    const started = await follow(at, reply, 'startAuthorisation', {});
    expect(refusalOf(started)).toBe('400 FORMAT_ERROR psuData.password');
  });

  test.each([
    ['anna', 'startAuthorisationWithAuthenticationMethodSelection', 'scaMethods'],
    ['bruno', 'startAuthorisationWithTransactionAuthorisation', 'challengeData'],
  ])('%s is known by an access token: %s', async (user, link, field) => {
    const at = await embeddedDoor({ oauth: { mode: 'pre-step' } });
    const token = { authorization: `Bearer ${await tokenOf(at, user)}` };
    const [iban] = ibansOf(user);
    const body = { debtorAccount: { iban } };
    const reply = await initiate(at, body, { headers: { ...token, ...explicit } });
    expect([stepsOf(reply), Object.keys(reply.json)]).toEqual([[link], expect.arrayContaining([field])]);
    const start = linkOf(reply, link);
    const chosen = field === 'scaMethods' ? await step(at, start, method('901'), null, token) : undefined;
    const listed = await at.client.get(start, undefined, token);
    expect(listed.json.authorisationIds).toHaveLength(chosen ? 1 : 0);
    const code = tan(await tanOf(at, user));
    const last = chosen
      ? await follow(at, chosen, 'authoriseTransaction', code, null, token)
      : await step(at, start, code, null, token);
    expect([last.status, last.json.scaStatus]).toEqual([chosen ? 200 : 201, 'finalised']);
  });

  test('the approach is the one that the TPP prefers: without redirect it is embedded', async () => {
    const at = await newDoor({ sca: { approaches: ['redirect', 'embedded'] } });
    const approach = async (headers: Record<string, string>) =>
      (await initiate(at, {}, { headers: { ...named, ...headers } })).headers['aspsp-sca-approach'];
    expect(await approach({})).toBe('REDIRECT');
    expect(await approach({ 'tpp-redirect-preferred': 'true' })).toBe('REDIRECT');
    expect(await approach({ 'tpp-redirect-preferred': 'false' })).toBe('EMBEDDED');
  });

  test('--variation embedded makes any bank one of embedded SCA, and its bank file says so', async () => {
    const at = await newDoor({ sca: { approaches: ['redirect', 'decoupled'] } }, ['embedded']);
    const reply = await askConsent(at, {}, named);
    expect(reply.headers['aspsp-sca-approach']).toBe('EMBEDDED');
  });
});

/** An access token of a customer, by OAuth before everything. */
async function tokenOf(at: TestDoor, user: string): Promise<unknown> {
  const { json } = await at.client.get('/.well-known/oauth-authorization-server');
  const verifier = 'a-verifier-of-forty-three-characters-or-more-0';
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'PSDIT-BI-12345', redirect_uri: CALLBACK, scope: 'ais pis' },
    ...{ code_challenge: createHash('sha256').update(verifier).digest('base64url'), state: 'x' },
    code_challenge_method: 'S256',
  });
  const { headers } = await fetch(`${String(json.authorization_endpoint)}?${query}`, { redirect: 'manual' });
  const id = new URL(headers.get('location') ?? '').searchParams.get('request') ?? '';
  const customer = at.sandbox.customers.logins().find((login) => login.user === user);
  const back = at.sandbox.access.approve(id, customer?.customerId ?? '').returnTo;
  const form = {
    ...{ grant_type: 'authorization_code', client_id: 'PSDIT-BI-12345', redirect_uri: CALLBACK },
    ...{ code: back?.searchParams.get('code') ?? '', code_verifier: verifier },
  };
  return (await at.client.form('/oauth/token', form)).json.access_token;
}

describe('the PIN', () => {
  test('three wrong ones block it, at every payment, until the customer is reset', async () => {
    const at = await embeddedDoor();
    const wrong = async () => {
      const reply = await initiate(at, {}, AS_ANNA);
      return follow(at, reply, 'updatePsuAuthentication', pin('pin-carla'));
    };
    const first = await wrong();
    expect([refusalOf(first), stepsOf(first)]).toEqual([
      ...['401 PSU_CREDENTIALS_INVALID', ['updatePsuAuthentication']],
    ]);
    // The same authorisation takes the right one, which begins to count anew.
    expect((await follow(at, first, 'updatePsuAuthentication', pin())).status).toBe(200);
    for (const links of [['updatePsuAuthentication'], ['updatePsuAuthentication'], []])
      expect(stepsOf(await wrong())).toEqual(links);
    const blocked = await initiate(at, {}, AS_ANNA);
    const right = await follow(at, blocked, 'updatePsuAuthentication', pin());
    expect([refusalOf(right), await statusOf(at, blocked)]).toEqual(['401 PSU_CREDENTIALS_INVALID', 'RJCT']);
    await order(at.sandbox, 'POST', '/customers/anna/reset');
    expect((await authorise(at, await initiate(at, {}, AS_ANNA))).status).toBe(200);
  });

  test.each([
    ['another customer than the one of the payment', 'bruno', '401 PSU_CREDENTIALS_INVALID PSU-ID'],
    ['nobody', null, '200'],
  ])('a step for %s: %s', async (_what, psuId, answer) => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const known = await follow(at, reply, 'updatePsuAuthentication', pin(), psuId);
    expect(refusalOf(known)).toBe(answer);
  });

  test('a customer who does not hold the account, and nobody at all, are refused', async () => {
    const at = await embeddedDoor();
    const reply = await initiate(at);
    const link = linkOf(reply, 'updatePsuIdentification');
    expect(refusalOf(await step(at, link, {}, null))).toBe('400 FORMAT_ERROR PSU-ID');
    expect(refusalOf(await step(at, link, pin('pin-bruno'), 'bruno'))).toBe('400 FORMAT_ERROR PSU-ID');
  });

  test('no refusal has what was sent', async () => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const mark = 'mark-4711-mark';
    for (const body of [pin(mark), { psuData: { password: mark, more: mark } }, method(mark), tan(mark)]) {
      const refused = await follow(at, reply, 'updatePsuAuthentication', body);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.text).not.toContain('4711');
    }
  });
});

describe('a method', () => {
  test.each([
    ['901', { otpFormat: 'characters' }, /^[a-z2-9]{10}$/, 'The TAN was sent to your telephone.<br>'],
    ['902', { otpFormat: 'Integer', otpMaxLength: '6' }, /^\d{6}$/, 'Start code '],
    ['903', { otpFormat: 'Integer', otpMaxLength: '6' }, /^\d{6}$/, 'Hold the TAN generator'],
    ['904', { otpFormat: 'integer', otpMaxLength: 7 }, /^\d{7}$/, 'Scan the picture'],
    ['905', { otpFormat: 'characters' }, /^[a-z2-9]{10}$/, 'The TAN stands in your app.<br>'],
  ])('%s has its challenge, and a TAN on the customer’s device alone', async (id, fields, form, words) => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const known = await follow(at, reply, 'updatePsuAuthentication', pin());
    const chosen = await follow(at, known, 'selectAuthenticationMethod', method(id));
    expect(chosen.json).toMatchObject({
      ...{ scaStatus: 'scaMethodSelected', chosenScaMethod: { authenticationMethodId: id } },
      challengeData: { ...fields, additionalInformation: expect.stringContaining(words) },
    });
    const device = await readDevice(at);
    expect([device?.tan, device?.text]).toEqual([expect.stringMatching(form), expect.stringContaining('12')]);
    expect(chosen.text).not.toContain(device?.tan);
    const last = await follow(at, chosen, 'authoriseTransaction', tan(device?.tan ?? ''));
    expect([last.json.scaStatus, await debitsOf(at, 'E2E-1')]).toEqual(['finalised', 1]);
  });

  test('a TAN generator has start code, the end of the IBAN and the amount, in the form of HHD', async () => {
    const at = await embeddedDoor();
    const known = await follow(at, await initiate(at, {}, AS_ANNA), 'updatePsuAuthentication', pin());
    const { json } = await follow(at, known, 'selectAuthenticationMethod', method('902'));
    const [code = ''] = [json.challengeData?.data?.[0]].map(String);
    expect(code).toMatch(/^2908\d{8}10000020205105 *12,50$/);
    expect(String(json.challengeData?.additionalInformation)).toContain(code.slice(4, 12));
  });

  test('the only one is taken by the bank', async () => {
    const at = await embeddedDoor();
    const [iban] = ibansOf('bruno');
    const reply = await initiate(at, { debtorAccount: { iban } }, { headers: { 'psu-id': 'bruno' } });
    const known = await follow(at, reply, 'updatePsuAuthentication', pin('pin-bruno'), 'bruno');
    expect([known.json.scaStatus, stepsOf(known)]).toEqual(['scaMethodSelected', ['authoriseTransaction']]);
    expect(
      (
        await authorise(
          at,
          await initiate(at, { debtorAccount: { iban } }, { headers: { 'psu-id': 'bruno' } }),
          'bruno',
        )
      ).json.scaStatus,
    ).toBe('finalised');
  });

  test('one that the customer does not have, and a step out of its order, are refused', async () => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const path = linkOf(reply, 'updatePsuAuthentication');
    expect(refusalOf(await step(at, path, method('901')))).toBe('409 STATUS_INVALID');
    expect(refusalOf(await step(at, path, tan('x')))).toBe('409 STATUS_INVALID');
    await step(at, path, pin());
    expect(refusalOf(await step(at, path, pin()))).toBe('409 STATUS_INVALID');
    expect(refusalOf(await step(at, path, method('none')))).toBe(
      '400 SCA_METHOD_UNKNOWN authenticationMethodId',
    );
  });

  test('the app makes it decoupled: the customer approves there', async () => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const known = await follow(at, reply, 'updatePsuAuthentication', pin());
    expect(at.sandbox.access.open()).toEqual([]);
    const chosen = await follow(at, known, 'selectAuthenticationMethod', method('906'));
    expect([chosen.headers['aspsp-sca-approach'], stepsOf(chosen)]).toEqual(['DECOUPLED', []]);
    const [waiting] = at.sandbox.access.waiting('anna');
    at.sandbox.access.approve(waiting?.id ?? '', '1048262');
    expect((await at.client.get(linkOf(chosen, 'scaStatus'))).json.scaStatus).toBe('finalised');
    expect(await debitsOf(at, 'E2E-1')).toBe(1);
  });

  test.each([
    ['901', '906'],
    ['905', '902'],
    ['904', '906'],
    ['904', '901'],
    ['901', '904'],
    ['902', '903'],
  ])('%s leaves nothing in the answer to %s that is chosen after it', async (one, other) => {
    const at = await embeddedDoor();
    const chosen = async (...ids: string[]) => {
      const reply = await initiate(at, { endToEndIdentification: ids.join('-') }, AS_ANNA);
      const known = await follow(at, reply, 'updatePsuAuthentication', pin());
      let last = known;
      for (const id of ids) last = await follow(at, known, 'selectAuthenticationMethod', method(id));
      const { headers, json } = last;
      return {
        ...{ approach: headers['aspsp-sca-approach'], links: Object.keys(json._links ?? {}) },
        ...{ status: json.scaStatus, method: json.chosenScaMethod, fields: Object.keys(json).toSorted() },
        challenge: Object.keys(json.challengeData ?? {}).toSorted(),
      };
    };
    expect(await chosen(one, other)).toEqual(await chosen(other));
  });

  test('without one a payment is executed at the PIN, and a consent is refused', async () => {
    const at = await embeddedDoor();
    const headers = { 'psu-id': 'carla' };
    const [iban] = ibansOf('carla');
    const reply = await initiate(at, { debtorAccount: { iban } }, { headers });
    const done = await follow(at, reply, 'updatePsuAuthentication', pin('pin-carla'), 'carla');
    expect([done.json.scaStatus, await statusOf(at, reply)]).toEqual(['exempted', 'ACSP']);
    const asked = await askConsent(at, {}, headers);
    const refused = await follow(at, asked, 'updatePsuAuthentication', pin('pin-carla'), 'carla');
    expect(refusalOf(refused)).toBe('400 SCA_METHOD_UNKNOWN');
    expect((await at.client.get(linkOf(asked, 'status'))).json.consentStatus).toBe('rejected');
  });
});

describe('a TAN', () => {
  /** A payment whose TAN is on its way. */
  async function waiting(at: TestDoor, changes: object = {}): Promise<DoorReply> {
    const known = await follow(
      at,
      await initiate(at, { ...changes }, AS_ANNA),
      'updatePsuAuthentication',
      pin(),
    );
    return follow(at, known, 'selectAuthenticationMethod', method('901'));
  }

  test('is for its own payment and amount, which its text names', async () => {
    const at = await embeddedDoor();
    const one = await waiting(at, { endToEndIdentification: 'ONE' });
    const device = await readDevice(at);
    expect(device?.text).toContain('for 12.50 EUR to Beta GmbH, DE02 1203 0000 0000 2020 51');
    const two = await waiting(at, { endToEndIdentification: 'TWO' });
    const stolen = await follow(at, two, 'authoriseTransaction', tan(device?.tan ?? ''));
    expect([refusalOf(stolen), stolen.json.tppMessages?.[0]?.text]).toEqual([
      ...['401 PSU_CREDENTIALS_INVALID', 'The TAN belongs to another authorisation.'],
    ]);
    await follow(at, one, 'authoriseTransaction', tan(device?.tan ?? ''));
    expect([await debitsOf(at, 'ONE'), await debitsOf(at, 'TWO')]).toEqual([1, 0]);
  });

  test('is valid once, and not after another one was asked for', async () => {
    const at = await embeddedDoor();
    const first = await waiting(at);
    const old = await tanOf(at);
    const path = linkOf(first, 'authoriseTransaction');
    await step(at, path, method('905'));
    expect((await step(at, path, tan(old))).json.tppMessages?.[0]?.text).toBe(
      'The TAN is not valid any more.',
    );
    const fresh = await tanOf(at);
    expect((await step(at, path, tan(fresh))).status).toBe(200);
    expect(refusalOf(await step(at, path, tan(fresh)))).toBe('409 STATUS_INVALID');
    expect(await debitsOf(at, 'E2E-1')).toBe(1);
  });

  test('three wrong ones end the authorisation', async () => {
    const at = await embeddedDoor();
    const chosen = await waiting(at);
    const links: string[][] = [];
    for (let count = 0; count < 3; count += 1)
      links.push(stepsOf(await follow(at, chosen, 'authoriseTransaction', tan('wrong'))));
    expect(links.slice(0, 2)).toEqual([['authoriseTransaction'], ['authoriseTransaction']]);
    expect((await at.client.get(linkOf(chosen, 'scaStatus'))).json.scaStatus).toBe('failed');
    const late = await follow(at, chosen, 'authoriseTransaction', tan(await tanOf(at)));
    expect(refusalOf(late)).toBe('409 STATUS_INVALID');
  });

  test.each([
    ['SCA REFUSED', 'failed', 'RJCT'],
    ['SCA EXPIRED', 'failed', 'RJCT'],
    ['SCA PENDING', 'scaMethodSelected', 'RCVD'],
  ])('of a payee %s: %s', async (creditorName, scaStatus, status) => {
    const at = await embeddedDoor();
    const reply = await initiate(at, { creditorName }, AS_ANNA);
    expect((await authorise(at, reply)).json.scaStatus).toBe(scaStatus);
    expect(await statusOf(at, reply)).toBe(status);
  });
});

test('two persons authorise a company account, each with their own PIN and TAN', async () => {
  const at = await embeddedDoor({}, ['company-account']);
  const iban = companyCustomers[0]?.products[0]?.iban;
  const reply = await initiate(at, { debtorAccount: { iban } }, { headers: { 'psu-id': 'dora' } });
  expect((await authorise(at, reply, 'dora')).json.scaStatus).toBe('finalised');
  expect(await statusOf(at, reply)).toBe('PATC');
  const begun = await step(at, `${SCT}/${reply.json.paymentId}/authorisations`, {}, 'emil');
  expect((await authorise(at, begun, 'emil')).json.scaStatus).toBe('finalised');
  expect(await statusOf(at, reply)).toBe('ACSP');
});

test('Atruvia: links alone, seven methods, words alone, and an authorisation that is over is unknown', async () => {
  const at = await embeddedDoor({ psu: { id: 'required' } }, ['embedded-atruvia']);
  const reply = await initiate(at, {}, AS_ANNA);
  expect([reply.headers['aspsp-sca-approach'], Object.keys(reply.json._links ?? {})]).toEqual([
    ...['EMBEDDED', ['startAuthorisationWithPsuAuthentication', 'self', 'status']],
  ]);
  const known = await follow(at, reply, 'startAuthorisationWithPsuAuthentication', pin());
  const path = linkOf(known, 'selectAuthenticationMethod');
  expect(Object.keys(known.json).sort()).toEqual(['_links', 'scaMethods', 'scaStatus']);
  expect([known.status, known.json.scaMethods]).toMatchObject([201, { length: 7 }]);
  const chosen = await step(at, path, method('962'));
  expect(chosen.json).toEqual({
    ...{ scaStatus: 'started', _links: { authoriseTransaction: { href: path } } },
    challengeData: { additionalInformation: expect.stringMatching(/^Start code \d{8}/) },
  });
  const last = await step(at, path, tan(await tanOf(at)));
  expect([last.status, last.json]).toEqual([200, { scaStatus: 'finalised' }]);
  expect(refusalOf(await at.client.get(path))).toBe('403 RESOURCE_UNKNOWN');
  expect(await statusOf(at, reply)).toBe('ACSP');

  const other = await follow(
    at,
    await initiate(at, {}, AS_ANNA),
    'startAuthorisationWithPsuAuthentication',
    pin(),
  );
  const push = await follow(at, other, 'selectAuthenticationMethod', method('907'));
  expect([push.headers['aspsp-sca-approach'], push.json]).toEqual([
    'DECOUPLED',
    {
      ...{ scaStatus: 'started', psuMessage: expect.stringContaining('/requests') },
      _links: { scaStatus: { href: linkOf(other, 'selectAuthenticationMethod') } },
    },
  ]);
});

describe('faults', () => {
  const fault = (name: string) => ({ 'x-sandbox-fault': name });
  const PIN = 'updatePsuAuthentication';

  test.each([
    ['the PIN of a customer without a method', 'carla', 'ACSP'],
    ['the TAN', 'anna', 'ACSP'],
  ])('credentials-invalid: 401 after the execution, at %s', async (_what, user, status) => {
    const at = await embeddedDoor();
    const headers = { 'psu-id': user };
    const [iban] = ibansOf(user);
    const reply = await initiate(at, { debtorAccount: { iban } }, { headers });
    await order(at.sandbox, 'POST', '/faults', {
      fault: 'credentials-invalid',
      on: user === 'carla' ? 'pin' : 'tan',
    });
    const last =
      user === 'carla' ? await follow(at, reply, PIN, pin('pin-carla'), user) : await authorise(at, reply);
    expect(refusalOf(last)).toBe('401 PSU_CREDENTIALS_INVALID');
    expect(await statusOf(at, reply)).toBe(status);
  });

  test.each([
    ['pin', ['lost'], 'psuAuthenticated'],
    ['method', ['psuAuthenticated', 'lost'], 'scaMethodSelected'],
    ['tan', ['psuAuthenticated', 'scaMethodSelected', 'lost'], 'finalised'],
  ])('cut-after-effect --on %s: that answer is lost, and the step was taken', async (on, answers, now) => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const path = linkOf(reply, PIN);
    await order(at.sandbox, 'POST', '/faults', { fault: 'cut-after-effect', on });
    const seen: unknown[] = [];
    for (const body of [pin(), method('901'), undefined]) {
      if (seen.includes('lost')) break;
      const answer = await step(at, path, body ?? tan(await tanOf(at))).catch(() => undefined);
      seen.push(answer?.json.scaStatus ?? 'lost');
    }
    expect(seen).toEqual(answers);
    expect((await at.client.get(path)).json.scaStatus).toBe(now);
  });

  test('sca-fails: the TAN is answered with failed, and the payment stays RCVD', async () => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    await order(at.sandbox, 'POST', '/faults', { fault: 'sca-fails', on: 'tan' });
    expect((await authorise(at, reply)).json.scaStatus).toBe('failed');
    expect(await statusOf(at, reply)).toBe('RCVD');
  });

  test.each([
    ['no-sca', 'exempted', 'ACSP'],
    ['one-method', 'psuAuthenticated', 'RCVD'],
  ])('%s at the PIN: %s', async (name, scaStatus, status) => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const known = await follow(at, reply, PIN, pin(), 'anna', fault(name));
    expect([known.json.scaStatus, await statusOf(at, reply)]).toEqual([scaStatus, status]);
  });

  test('no-sca at the method: executed there', async () => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const known = await follow(at, reply, PIN, pin());
    const done = await follow(
      at,
      known,
      'selectAuthenticationMethod',
      method('901'),
      'anna',
      fault('no-sca'),
    );
    expect([done.json.scaStatus, await statusOf(at, reply)]).toEqual(['exempted', 'ACSP']);
  });

  test('one-method: the second one is refused', async () => {
    const at = await embeddedDoor();
    await order(at.sandbox, 'POST', '/faults', { fault: 'one-method' });
    const known = await follow(at, await initiate(at, {}, AS_ANNA), PIN, pin());
    const path = linkOf(known, 'selectAuthenticationMethod');
    expect((await step(at, path, method('901'))).status).toBe(200);
    expect(refusalOf(await step(at, path, method('905')))).toBe('409 STATUS_INVALID');
  });

  test.each([
    ['encrypted-pin', ['updateEncryptedPsuAuthentication']],
    ['second-password', ['updatePsuAuthentication']],
  ])('%s: with the payment %s', async (name, links) => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, { headers: { ...AS_ANNA.headers, ...fault(name) } });
    expect(stepsOf(reply)).toEqual(links);
  });

  test('encrypted-pin at a start, and second-password after the PIN', async () => {
    const at = await embeddedDoor();
    const explicit = { ...AS_ANNA.headers, 'tpp-explicit-authorisation-preferred': 'true' };
    const reply = await initiate(at, {}, { headers: { ...explicit, ...fault('encrypted-pin') } });
    expect(stepsOf(reply)).toEqual(['startAuthorisationWithEncryptedPsuAuthentication']);
    const other = await initiate(at, {}, AS_ANNA);
    const known = await follow(at, other, PIN, pin(), 'anna', fault('second-password'));
    expect(stepsOf(known)).toEqual(['updateAdditionalPsuAuthentication']);
  });

  test('sca-fee: a fee comes with the method', async () => {
    const at = await embeddedDoor();
    const known = await follow(at, await initiate(at, {}, AS_ANNA), PIN, pin());
    const link = 'selectAuthenticationMethod';
    const chosen = await follow(at, known, link, method('901'), 'anna', fault('sca-fee=150'));
    expect(chosen.json.transactionFees).toEqual({ currency: 'EUR', amount: '1.50' });
  });

  test.each([
    ['no-sca-status', '200', '200'],
    ['finished-unknown=404', '200', '404 RESOURCE_UNKNOWN'],
  ])('%s: before and after the end', async (name, before, after) => {
    const at = await embeddedDoor();
    const reply = await initiate(at, {}, AS_ANNA);
    const ask = () => at.client.get(linkOf(reply, 'scaStatus'), undefined, fault(name));
    const first = await ask();
    await authorise(at, reply);
    const last = await ask();
    expect([refusalOf(first), refusalOf(last)]).toEqual([before, after]);
    if (name === 'no-sca-status') expect([first.json, last.json]).toEqual([{}, {}]);
  });
});

test('the console shows texts with TANs, and neither PIN nor TAN in a call', async () => {
  const at = await embeddedDoor();
  const last = await authorise(at, await initiate(at, {}, AS_ANNA));
  expect(last.status).toBe(200);
  const site = `${at.sandbox.customerSiteUrl}/console`;
  const flows: Json = JSON.parse(await (await fetch(`${site}/flows`)).text());
  const device = flows.doors?.nextgenpsd2?.devices?.[0];
  expect(device).toMatchObject({ user: 'anna', method: 'SMS to *** 4711', isOpen: false, image: null });
  for (let id = 1; id <= 4; id += 1) {
    const detail = await (await fetch(`${site}/calls/${id}`)).text();
    expect(detail).toContain('nextgenpsd2');
    expect(detail).not.toContain('pin-anna');
    expect(detail).not.toContain(String(device?.tan));
  }
});
