import { describe, expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import {
  type DeletionOf,
  type DeletionVerdict,
  judgeDeletion,
} from '../../../../../src/bank/interfaces/nextgenpsd2/judge/deletion.ts';
import { answered, PLAIN_FACTS, refused, type Scripted, said, TRANSACTION_ID } from '../scripted.ts';

// What the answer to a `DELETE` proves.

const DELETING: BankCall = {
  method: 'DELETE',
  path: '/v1/consents/c1',
  facts: PLAIN_FACTS,
  ids: { consentId: 'c1', paymentId: 'p1' },
  transactionId: TRANSACTION_ID,
};
const CONSENT: DeletionOf = { what: 'consent', wasTaken: false };
const PAYMENT: DeletionOf = { what: 'payment', wasTaken: false };
const taken = (of: DeletionOf): DeletionOf => ({ ...of, wasTaken: true });
const EACH = [CONSENT, PAYMENT, taken(CONSENT), taken(PAYMENT)];

const judged = async (answer: Scripted, of: DeletionOf) =>
  judgeDeletion(await answered(DELETING, answer), of);

const HTML = { headers: { 'content-type': 'text/html' }, body: '<html><title>Soon back</title></html>' };
const PAGE = (status: number) => ({ status, ...HTML });
const gateway = (status: number) => said({ httpCode: String(status), httpMessage: 'No' }, status);
const links = (...names: string[]) => ({
  _links: Object.fromEntries(names.map((name) => [name, { href: '/v1/x' }])),
});
const errors = (...codes: string[]) => ({
  tppMessages: codes.map((code) => ({ category: 'ERROR', code, text: 'No' })),
});
const empty = (status: number, headers = {}) => ({ status, headers });
const ELSEWHERE = { 'aspsp-sca-approach': 'DECOUPLED' };

/** Whatever the `DELETE` is about, and whatever was taken before. */
const ALWAYS: [DeletionVerdict, string, Scripted][] = [
  ['taken', '204 without a body', empty(204)],
  ['taken', '200 without a body', empty(200)],
  ['taken', '200 in JSON', said({ transactionStatus: 'CANC' })],
  ['taken', '200 with a warning', said({ tppMessages: [{ category: 'WARNING', code: 'X', text: 'Soon' }] })],
  ['taken', '200 with words for people', said({ message: 'Deleted', status: 'OK', errors: null })],
  ...[{ error: null }, { fault: '' }, { status: 200 }, { errorsSeen: 0 }, { lastError: 'none' }].map(
    (body): [DeletionVerdict, string, Scripted] => ['taken', `200 with ${JSON.stringify(body)}`, said(body)],
  ),
  ...['decoupled embedded', 'not embedded', 'embedded2'].map(
    (approach): [DeletionVerdict, string, Scripted] => [
      ...(['accepted', `202 with the approach ${approach}`] as const),
      empty(202, { 'aspsp-sca-approach': approach }),
    ],
  ),
  ['accepted', '202 with a link that starts nothing', said(links('restart'), 202)],
  ...['finalised', 'exempted'].map((scaStatus): [DeletionVerdict, string, Scripted] => [
    ...(['accepted', `202 with a link, ${scaStatus}`] as const),
    said({ scaStatus, ...links('startAuthorisation') }, 202),
  ]),
  ['to be authorised', '202 with a link, begun', said({ scaStatus: 'received', ...links('scaStatus') }, 202)],
  ['to be authorised', '202, in the page of psd2', empty(202, { 'aspsp-sca-approach': ' Embedded ' })],
  ...[
    { error: true },
    { errorCode: 'X' },
    { error_message: 'X' },
    { fault: {} },
    { status: 300 },
    { code: 300 },
  ].map((body): [DeletionVerdict, string, Scripted] => [
    ...(['says nothing', `200 with ${JSON.stringify(body)}`] as const),
    said(body),
  ]),
  ['accepted', '202 without a body', empty(202)],
  ['accepted', '202 in JSON without a link', said({}, 202)],
  ['accepted', '202 with links that lead to no authorisation', said(links('self', 'status'), 202)],
  [
    'accepted',
    '202 of a bank that says how it asks, and asks nobody',
    empty(202, { 'aspsp-sca-approach': 'REDIRECT' }),
  ],
  [
    ...(['accepted', '202, authorised already'] as const),
    said({ scaStatus: 'exempted', ...links('scaStatus') }, 202),
  ],
  ...[
    ...['scaRedirect', 'scaOAuth', 'scaStatus', 'startAuthorisation', 'confirmation', 'authoriseTransaction'],
    ...['startAuthorisationWithPsuIdentification', 'updatePsuAuthentication', 'selectAuthenticationMethod'],
  ].map((name): [DeletionVerdict, string, Scripted] => [
    ...(['to be authorised', `202 with ${name}`] as const),
    said(links(name), 202),
  ]),
  ['to be authorised', '200 with a link', said(links('startAuthorisation'))],
  ['to be authorised', 'a link that is a text', said({ _links: { startAuthorisation: '/v1/x' } }, 202)],
  ['to be authorised', '202, on the phone', empty(202, ELSEWHERE)],
  ['says nothing', 'a page, 200', PAGE(200)],
  ['says nothing', 'a page, 202', PAGE(202)],
  ['says nothing', 'a page with JSON', { ...said({}), headers: HTML.headers }],
  ...['ACSP', 'ACSC', 'ACCC', 'ACWC', 'ACWP', 'acsc '].map(
    (transactionStatus): [DeletionVerdict, string, Scripted] => [
      ...(['says nothing', `200 of a payment that is ${transactionStatus}`] as const),
      said({ transactionStatus }),
    ],
  ),
  ...['received', 'partiallyAuthorised', 'partiallyAuthorized', 'valid', ' VALID '].map(
    (consentStatus): [DeletionVerdict, string, Scripted] => [
      ...(['says nothing', `200 of a consent that is ${consentStatus}`] as const),
      said({ consentStatus }),
    ],
  ),
  ...['terminatedByTpp', 'revokedByPsu', 'expired', 'rejected'].map(
    (consentStatus): [DeletionVerdict, string, Scripted] => [
      ...(['taken', `200 of a consent that is ${consentStatus}`] as const),
      said({ consentStatus }),
    ],
  ),
  [
    'to be authorised',
    '202 of a consent in force',
    said({ consentStatus: 'valid', ...links('scaRedirect') }, 202),
  ],
  ['taken', '200 that names it', said({ consentId: 'c1', paymentId: 'p1' })],
  ['says nothing', '200 about another consent', said({ consentId: 'c2', paymentId: 'p1' })],
  ['says nothing', '200 about another payment', said({ paymentId: 'p2', transactionStatus: 'CANC' })],
  [
    'says nothing',
    '202 about another payment',
    said({ paymentId: 'p2', ...links('startAuthorisation') }, 202),
  ],
  [
    'says nothing',
    '200 with a status of HTTP in a gateway’s form',
    said({ status: 200, message: 'accepted' }),
  ],
  ['says nothing', '204 with a body', PAGE(204)],
  ['says nothing', '200 that is no object', said([])],
  ['says nothing', '200 that is null', { body: 'null' }],
  ['says nothing', '200 with an error', said(errors('SERVICE_UNAVAILABLE'))],
  ['says nothing', '200 of a gateway', gateway(200)],
  ['says nothing', '200 with a status of an error', said({ status: 503, message: 'Down' })],
  ['says nothing', '200 with errors', said({ errors: ['x'] })],
  ['says nothing', '200 with an error of OAuth', said({ error: 'x' })],
  ['says nothing', '200 that can be read in two ways', { body: '{"status":"OK","status":"FAILED"}' }],
  ['says nothing', '201', empty(201)],
  ['says nothing', '206', said({}, 206)],
  ['says nothing', 'a redirect', empty(302, { location: 'https://elsewhere.example' })],
  ...[400, 403, 404, 405, 410, 500, 503].flatMap((status): [DeletionVerdict, string, Scripted][] => [
    ['says nothing', `a page, ${status}`, PAGE(status)],
    ['says nothing', `a gateway, ${status}`, gateway(status)],
    ['says nothing', `nothing, ${status}`, empty(status)],
  ]),
  ['says nothing', 'a gateway that knows the word', said({ error: 'RESOURCE_UNKNOWN' }, 404)],
  ['says nothing', '500 with the word', refused('RESOURCE_UNKNOWN', 500)],
  ...[408, 425, 429].map((status): [DeletionVerdict, string, Scripted] => [
    ...(['says nothing', `${status} with the word`] as const),
    refused('CONSENT_UNKNOWN', status),
  ]),
  ['refused', 'the bank does not cancel it', refused('CANCELLATION_INVALID', 405)],
  ['refused', 'in its present state', refused('STATUS_INVALID', 409)],
  ['refused', 'to this token', refused('TOKEN_INVALID', 401)],
  ['refused', 'the word beside another error', said(errors('RESOURCE_UNKNOWN', 'STATUS_INVALID'), 400)],
];

it('nobody authorises that a signing basket is deleted: a link to an authorisation says nothing', async () => {
  const of: DeletionOf = { what: 'signing basket', wasTaken: false };
  for (const status of [200, 202])
    expect(await judged(said(links('startAuthorisation'), status), of)).toBe('says nothing');
  expect(await judged(empty(204), of)).toBe('taken');
});

describe.each(EACH)('the answer to a DELETE of a $what (taken before: $wasTaken)', (of) => {
  it.each(ALWAYS)('%s: %s', async (verdict, _, answer) => {
    expect(await judged(answer, of)).toBe(verdict);
  });

  it.each([
    ...[400, 403, 404, 410].map((status) => refused('RESOURCE_UNKNOWN', status)),
    ...[400, 401, 403, 404].map((status) => refused('CONSENT_UNKNOWN', status)),
    said(errors('CONSENT_UNKNOWN', 'RESOURCE_UNKNOWN'), 404),
  ])('unknown is gone only after one that was taken: %j', async (answer) => {
    expect(await judged(answer, of)).toBe(of.wasTaken ? 'is gone' : 'is not known');
  });

  it.each([refused('RESOURCE_EXPIRED', 403), refused('RESOURCE_EXPIRED', 410)])(
    'expired is the end of a consent, but not of a payment: %j',
    async (answer) => {
      expect(await judged(answer, of)).toBe(
        of.what === 'consent' || of.wasTaken ? 'is gone' : 'is not known',
      );
    },
  );
});

it('a consent that has expired is gone', async () => {
  expect(await judged(refused('CONSENT_EXPIRED', 401), CONSENT)).toBe('is gone');
});
