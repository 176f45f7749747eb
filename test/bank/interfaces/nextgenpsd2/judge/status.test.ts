import { expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import {
  anotherIn,
  isBanksRefusal,
  isSuccess,
  judgeStatus,
  mayFree,
  type StatusVerdict,
} from '../../../../../src/bank/interfaces/nextgenpsd2/judge/status.ts';
import { answered, PLAIN_FACTS, refused, type Scripted, said, TRANSACTION_ID } from '../scripted.ts';

// What an answer about a status, an authorisation or a list of them proves.

const ASKING: BankCall = {
  method: 'GET',
  path: '/v1/consents/c1/status',
  facts: PLAIN_FACTS,
  ids: { consentId: 'c1', authorisationId: 'a1' },
  transactionId: TRANSACTION_ID,
};
const HTML = { 'content-type': 'text/html' };
const errors = (...codes: string[]) => ({ tppMessages: codes.map((code) => ({ category: 'ERROR', code })) });
const NOT_KNOWN = { category: 'ERROR', code: 'RESOURCE_UNKNOWN' };
const WARNING = { tppMessages: [{ category: 'WARNING', code: 'X' }] };
const TWO_ERRORS = '{"tppMessages":[{"code":"X"}],"tppMessages":[{"code":"RESOURCE_UNKNOWN"}]}';
const page = (status: number) => ({ status, body: '<html>' });

it.each<[StatusVerdict, string, Scripted]>([
  ['says this about ours', 'a status', said({ consentStatus: 'valid' })],
  ['says this about ours', 'a status that names it', said({ consentId: ' c1 ', authorisationId: 'a1' })],
  ['says this about ours', 'a status that names what is not asked about', said({ paymentId: 'p1' })],
  ['says this about ours', 'a status with empty names', said({ consentId: null, authorisationId: '' })],
  ['says this about ours', 'a list', said({ authorisationIds: [] })],
  ['says nothing', 'the status of another', said({ consentId: 'c2' })],
  ['says nothing', 'the status of another authorisation', said({ consentId: 'c1', authorisationId: 'a2' })],
  ['says nothing', 'the same in American English', said({ authorizationId: 'a2' })],
  ['says nothing', 'the status of another, whose name is a number', said({ consentId: 1 })],
  ['says nothing', 'a text', said('valid')],
  ['says nothing', 'no content', { status: 204 }],
  ['says nothing', 'a page with JSON', { ...said({ consentStatus: 'valid' }), headers: HTML }],
  ...[201, 202, 203, 206].map((status): [StatusVerdict, string, Scripted] => [
    ...(['says nothing', `a status with HTTP ${status}`] as const),
    said({ consentStatus: 'valid' }, status),
  ]),
  ['says nothing', 'null', { body: 'null' }],
  ['says nothing', 'a warning alone', said(WARNING, 404)],
  ['is not known', 'a warning beside it', said({ tppMessages: [...WARNING.tppMessages, NOT_KNOWN] }, 404)],
  ...[200, 301, 403, 404, 500].map((status): [StatusVerdict, string, Scripted] => [
    ...(['says nothing', `a page, ${status}`] as const),
    page(status),
  ]),
  ['says nothing', 'two statuses', { body: '{"consentStatus":"valid","consentStatus":"expired"}' }],
  ['says nothing', 'a code of two answers', { status: 404, body: TWO_ERRORS }],
  ['says nothing', 'a page with a code', { ...refused('RESOURCE_UNKNOWN', 404), headers: HTML }],
  ['says nothing', 'a gateway with a code', said({ code: 'RESOURCE_UNKNOWN', message: 'No' }, 404)],
  ['says nothing', 'an error beside it', said(errors('RESOURCE_UNKNOWN', 'X'), 404)],
  ['is not known', 'one of both', said(errors('RESOURCE_UNKNOWN', 'CONSENT_UNKNOWN'), 404)],
  ['says nothing', 'a gateway', said({ httpCode: '404', httpMessage: 'RESOURCE_UNKNOWN' }, 404)],
  ['says nothing', 'the bank does not have the call', refused('SERVICE_INVALID', 405)],
  ['says nothing', 'the bank fails', refused('RESOURCE_UNKNOWN', 500)],
  ['is not known', 'RESOURCE_UNKNOWN', refused('RESOURCE_UNKNOWN', 404)],
  ['is not known', 'CONSENT_UNKNOWN', refused('CONSENT_UNKNOWN', 403)],
  ['is not known', 'RESOURCE_EXPIRED', refused('RESOURCE_EXPIRED', 410)],
])('%s: %s', async (verdict, _, answer) => {
  expect(judgeStatus(await answered(ASKING, answer))).toBe(verdict);
});

it.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
])('HTTP %i is a success: %s', (status, expected) => {
  expect(isSuccess({ status })).toBe(expected);
});

it.each([
  [399, false],
  [400, true],
  [408, false],
  [425, false],
  [429, false],
  [499, true],
  [500, false],
])('with HTTP %i a bank refuses a call: %s', (status, expected) => {
  const own = { json: {}, messages: [], isBanks: true };
  expect(isBanksRefusal({ status, reply: own })).toBe(expected);
  expect(isBanksRefusal({ status, reply: { ...own, isBanks: false } })).toBe(false);
});

it.each([
  [201, '{"transactionStatus":"RCVD"}', false],
  [201, '{"transactionStatus":"RJCT"}', true],
  [200, '{"transactionStatus":"rjct"}', true],
  [400, '{}', true],
  [302, '', true],
])('after HTTP %i with %s nothing may have begun: %s', (status, body, expected) => {
  expect(mayFree({ status, body: Buffer.from(body) })).toBe(expected);
});

it.each([
  ['paymentId', 'paymentId', 'payment'],
  ['consentId', 'consentId', 'consent'],
  ['basketId', 'basketId', 'signing basket'],
  ['authorisationId', 'authorisationId', 'authorisation'],
  ['authorizationId', 'authorisationId', 'authorisation'],
])('an answer that names another %s', (name, inPath, what) => {
  const about = (json: unknown, ids = { [inPath]: 'x1' }) => anotherIn({ call: { ids }, reply: { json } });
  expect(about({ [name]: 'x2' })).toEqual({ what, named: 'x2', ours: 'x1' });
  expect([about({ [name]: 'x1' }), about({}), about(null), about([])]).toEqual(Array(4).fill(null));
  expect(about({ [name]: 'x2' }, { other: 'x1' })).toBeNull();
  expect(anotherIn({ call: {}, reply: { json: { [name]: 'x2' } } })).toBeNull();
});
