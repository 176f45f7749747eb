import { describe, expect, test } from 'vitest';
import { accessSide } from '../../../../src/sandbox/nextgenpsd2/access-side.ts';
import { doorOf } from '../../../../src/sandbox/nextgenpsd2/door-state.ts';
import type { Json } from '../../tpp.ts';
import { type BankHere, bankHere } from '../bank-here.ts';
import { ANNA, consentBody } from '../door-client.ts';
import { ANNAS, paymentBody, SCT } from '../payment-client.ts';

// Authorisations of what needs none any more, and the codes with which a TPP confirms them.

const FUNDS = '/v2/consents/confirmation-of-funds';
const BASKETS = '/v1/signing-baskets';
const EXPLICIT = { 'tpp-explicit-authorisation-preferred': 'true' };
const MINUTE = 60_000;
const late = paymentBody({ requestedExecutionDate: '2026-11-27' });

/** The path below the base URL of an authorisation. */
const pathOf = ({ json }: { json: Json }) => String(json._links?.scaStatus?.href).replace('/nextgenpsd2', '');
const idOf = (reply: { json: Json }) => pathOf(reply).split('/').at(-1) ?? '';

/** Asks for something that the TPP begins the authorisation of. @returns its path */
const asked = ({ serve }: BankHere, path: string, body: object) => {
  const { json } = serve(`POST ${path}`, { body, headers: EXPLICIT });
  return `${path}/${json.paymentId ?? json.basketId ?? json.consentId}`;
};
const basketOf = (here: BankHere) =>
  asked(here, BASKETS, { paymentIds: [asked(here, SCT, late).split('/').at(-1)] });

describe('an authorisation begins as long as it is waited for', () => {
  const OWN = 'authorisations';
  const consent = (here: BankHere) => `${asked(here, '/v1/consents', consentBody())}/${OWN}`;
  const funds = (here: BankHere) => `${asked(here, FUNDS, { account: { iban: ANNAS } })}/${OWN}`;
  const payment = (here: BankHere) => `${asked(here, SCT, late)}/${OWN}`;
  const cancellation = (here: BankHere) => `${asked(here, SCT, late)}/cancellation-authorisations`;
  const basket = (here: BankHere) => `${basketOf(here)}/${OWN}`;
  test.each<[kind: string, over: 'authorised' | 'DELETE' | 'time', ask: (here: BankHere) => string]>([
    ['consent', 'authorised', consent],
    ['consent', 'DELETE', consent],
    ['funds-consent', 'authorised', funds],
    ['funds-consent', 'DELETE', funds],
    ['payment', 'authorised', payment],
    ['payment', 'DELETE', payment],
    ['payment', 'time', payment],
    ['cancellation', 'authorised', cancellation],
    ['cancellation', 'DELETE', cancellation],
    ['basket', 'authorised', basket],
    ['basket', 'DELETE', basket],
  ])('%s: until %s', async (kind, over, ask) => {
    const here = await bankHere({ payments: { futureDays: 30, cancel: 'direct' } });
    const path = ask(here);
    const begin = `POST ${path}`;
    const first = here.serve(begin);
    expect(here.answer(begin)).toBe('taken');
    if (over === 'DELETE') here.serve(`DELETE ${path.slice(0, path.lastIndexOf('/'))}`);
    else if (over === 'time') here.clock.advance(10 * MINUTE + 1);
    else here.approve(first, ANNA);
    expect(here.answer(begin)).toBe(`409 STATUS_INVALID: The ${kind} does not wait for an authorisation.`);
    expect(here.serve(`GET ${path}`).json.authorisationIds).toHaveLength(2);
  });
});

describe('with confirmation codes', () => {
  async function opened() {
    const here = await bankHere({ payments: { futureDays: 30 } }, ['confirmation-codes']);
    const access = accessSide(here.bank);
    /** The customer approves. @returns the code that their browser takes to the TPP */
    const codeOf = (reply: { json: Json }): string => {
      const url = access.approve(idOf(reply), ANNA).returnTo;
      return url?.searchParams.get('confirmationCode') ?? expect.unreachable();
    };
    const confirm = (reply: { json: Json }, confirmationCode: string) =>
      here.answer(`PUT ${pathOf(reply)}`, { body: { confirmationCode } });
    const scaStatus = (reply: { json: Json }) => here.serve(`GET ${pathOf(reply)}`).json.scaStatus;
    return { ...here, codeOf, confirm, scaStatus };
  }
  const over = (status: string) =>
    `409 STATUS_INVALID: The authorisation is ${status}, and waits for no confirmation code.`;
  const WRONG =
    '400 SCA_INVALID confirmationCode: The confirmation code is wrong. The authorisation has failed. Expected: the code in the query of the redirect. Received: another one.';

  test('a payment is authorised by its code, once', async () => {
    const { serve, codeOf, confirm, scaStatus } = await opened();
    const payment = serve(`POST ${SCT}`, { body: late });
    const status = () => serve(`GET ${SCT}/${payment.json.paymentId}/status`).json.transactionStatus;
    expect(confirm(payment, 'x')).toBe(over('received'));
    const code = codeOf(payment);
    expect([scaStatus(payment), status()]).toEqual(['unconfirmed', 'RCVD']);
    expect([confirm(payment, code), scaStatus(payment), status()]).toEqual(['taken', 'finalised', 'ACTC']);
    expect(confirm(payment, code)).toBe(over('finalised'));
  });

  test('a wrong code ends the authorisation, and the code of another one is wrong', async () => {
    const { serve, codeOf, confirm, scaStatus } = await opened();
    const [one, other] = [1, 2].map(() => serve(`POST ${SCT}`, { body: late }));
    if (!one || !other) expect.unreachable();
    const [code, others] = [codeOf(one), codeOf(other)];
    expect([confirm(one, others), scaStatus(one), confirm(one, code)]).toEqual([
      ...[WRONG, 'failed', over('failed')],
    ]);
    expect([confirm(other, others), scaStatus(other)]).toEqual(['taken', 'finalised']);
  });

  test('a code is too late with the time of its authorisation', async () => {
    const { serve, codeOf, confirm, clock } = await opened();
    const [one, other] = [1, 2].map(() => serve(`POST ${SCT}`, { body: late }));
    if (!one || !other) expect.unreachable();
    const codes = [codeOf(one), codeOf(other)];
    clock.advance(10 * MINUTE);
    expect(confirm(one, codes[0] ?? '')).toBe('taken');
    clock.advance(1);
    expect(confirm(other, codes[1] ?? '')).toBe(over('failed'));
  });

  test('a code is for nothing, once another authorisation has paid', async () => {
    const { bank, serve, codeOf, confirm, scaStatus } = await opened();
    const first = serve(`POST ${SCT}`, { body: late });
    const second = serve(`POST ${SCT}/${first.json.paymentId}/authorisations`);
    const [code, secondCode] = [codeOf(first), codeOf(second)];
    expect(confirm(first, code)).toBe('taken');
    expect([confirm(second, secondCode), scaStatus(second)]).toEqual([over('unconfirmed'), 'unconfirmed']);
    const payment = doorOf(bank).payments.find(String(first.json.paymentId));
    expect(payment?.authorisedAt).toEqual(bank.now());
  });

  test('a code is for nothing, once the TPP has ended the consent', async () => {
    const { serve, codeOf, confirm } = await opened();
    const consent = serve('POST /v1/consents', { body: consentBody() });
    const code = codeOf(consent);
    serve(`DELETE /v1/consents/${consent.json.consentId}`);
    expect(confirm(consent, code)).toBe(over('unconfirmed'));
    expect(serve(`GET /v1/consents/${consent.json.consentId}/status`).json).toEqual({
      consentStatus: 'terminatedByTpp',
    });
  });
});

test('other-sca-status is that of the authorisation before, of the first that of the second, of the only one its own', async () => {
  const here = await bankHere();
  const { serve, approve } = here;
  const other = (reply: { json: Json }) =>
    serve(`GET ${pathOf(reply)}`, { faults: ['other-sca-status'] }).json.scaStatus;
  const own = (reply: { json: Json }) => serve(`GET ${pathOf(reply)}`).json.scaStatus;
  const first = serve('POST /v1/consents', { body: consentBody(), headers: { 'psu-id': 'anna' } });
  expect([own(first), other(first)]).toEqual(['psuIdentified', 'psuIdentified']);
  const [second, third] = [1, 2].map(() => serve('POST /v1/consents', { body: consentBody() }));
  if (!second || !third) expect.unreachable();
  approve(third, ANNA);
  expect([first, second, third].map(own)).toEqual(['psuIdentified', 'received', 'finalised']);
  expect([first, second, third].map(other)).toEqual(['received', 'psuIdentified', 'received']);
});
