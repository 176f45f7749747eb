import { expect, it } from 'vitest';
import type { BankCall } from '../../../../../src/bank/call/call.ts';
import {
  judgeStatus,
  type StatusVerdict,
} from '../../../../../src/bank/interfaces/nextgenpsd2/judge/status.ts';
import { answered, PLAIN_FACTS, refused, type Scripted, said, TRANSACTION_ID } from '../scripted.ts';

// What an answer about a status, an authorisation or a list of them proves.

const ASKING: BankCall = {
  method: 'GET',
  path: '/v1/consents/c1/status',
  facts: PLAIN_FACTS,
  transactionId: TRANSACTION_ID,
};
const ABOUT = { asked: 'c1', named: null };
const page = (status: number) => ({ status, body: '<html>' });

it.each<[StatusVerdict, string, Scripted, { asked: string; named: string | null }?]>([
  ['says this about ours', 'a status', said({ consentStatus: 'valid' }), ABOUT],
  ['says this about ours', 'a status that names it', said({}), { asked: 'c1', named: 'c1' }],
  ['says this about ours', 'a list', said({ authorisationIds: [] })],
  ['says nothing', 'the status of another', said({}), { asked: 'c1', named: 'c2' }],
  ['says nothing', 'a text', said('valid'), ABOUT],
  ['says nothing', 'no content', { status: 204 }, ABOUT],
  ...[200, 301, 403, 404, 500].map((status): [StatusVerdict, string, Scripted] => [
    ...(['says nothing', `a page, ${status}`] as const),
    page(status),
  ]),
  ['says nothing', 'a gateway', said({ httpCode: '404', httpMessage: 'RESOURCE_UNKNOWN' }, 404)],
  ['says nothing', 'the bank does not have the call', refused('SERVICE_INVALID', 405)],
  ['says nothing', 'the bank fails', refused('RESOURCE_UNKNOWN', 500)],
  ['is not known', 'RESOURCE_UNKNOWN', refused('RESOURCE_UNKNOWN', 404), ABOUT],
  ['is not known', 'CONSENT_UNKNOWN', refused('CONSENT_UNKNOWN', 403), ABOUT],
  ['is not known', 'RESOURCE_EXPIRED', refused('RESOURCE_EXPIRED', 410), ABOUT],
])('%s: %s', async (verdict, _, answer, about) => {
  expect(judgeStatus(await answered(ASKING, answer), about)).toBe(verdict);
});
