import { describe, expect, it } from 'vitest';
import { bankTime, probeSignature } from '../../../../../src/bank/interfaces/nextgenpsd2/probing/probe.ts';
import { isStepAnswer } from '../../../../../src/bank/interfaces/nextgenpsd2/probing/step-answer.ts';
import { failureOf, type Scripted, said, scriptedCalls, TPP_REQUEST_ID } from '../scripted.ts';

// What a reading with a consent that does not exist tells of the signature: the whole verdict.

const ids = ['transaction', 'consent'];

async function probed(answer: Scripted) {
  const { calls, sent } = scriptedCalls([answer]);
  const left = [...ids];
  const probe = await probeSignature(calls.bank, calls.paths, { newId: () => left.shift() ?? 'no id' });
  return { probe, sent };
}

const refused = (code: string | undefined, status: number) =>
  said({ tppMessages: [{ category: 'ERROR', ...(code !== undefined && { code }), text: 'No' }] }, status);
const page = (status: number): Scripted => ({
  ...{ status, headers: { 'content-type': 'text/html' }, body: '<html>' },
});
const accepted = (code: string) => ({
  says: `the bank accepts the certificates and the signature: it only refused a test's consent (${code})`,
});
const TOKEN = {
  says: 'the bank needs a login before it checks the signature, so the signature is untested',
  isUnsure: 'asks for a token',
};
const unsure = (says: string) => ({ says, isUnsure: 'other' });
const another = (what: string, words = ': "No"') =>
  unsure(`the bank refused a test for another reason (${what})${words}`);
const notBanks = (what: string) => unsure(`what refused a test may not be the bank's interface (${what})`);
const READ = unsure('the bank answers a reading with a consent that does not exist');

describe('the test of the signature', () => {
  it('reads the accounts once, with a consent that does not exist', async () => {
    const { probe, sent } = await probed(said({ accounts: [] }, 200, { date: 'today' }));
    expect(sent).toEqual([
      {
        ...{ method: 'GET', path: '/v1/accounts', transactionId: 'transaction', once: true },
        ...{ headers: { 'consent-id': 'consent' } },
        facts: { reads: 'list', needsConsent: true, login: false },
      },
    ]);
    expect(probe.date).toBe('today');
  });

  it.each<[string, Scripted, object]>([
    ['an unknown consent', refused('CONSENT_UNKNOWN', 400), accepted('CONSENT_UNKNOWN')],
    ['an invalid consent', refused('CONSENT_INVALID', 401), accepted('CONSENT_INVALID')],
    ['an expired consent', refused('CONSENT_EXPIRED', 401), accepted('CONSENT_EXPIRED')],
    ['an unknown token', refused('TOKEN_UNKNOWN', 401), TOKEN],
    ['an invalid token, whatever the status', refused('TOKEN_INVALID', 400), TOKEN],
    ['HTTP 401 without a code', page(401), TOKEN],
    ['a success', said({ accounts: [] }), READ],
    ['a success with a message', refused('W1', 200), READ],
    ['another code', refused('FORMAT_ERROR', 400), another('HTTP 400, FORMAT_ERROR')],
    ['a blocked service', refused('SERVICE_BLOCKED', 403), another('HTTP 403, SERVICE_BLOCKED')],
    ['a code of its own with 401', refused('OWN', 401), another('HTTP 401, OWN')],
    ['a text without a code', refused(undefined, 404), another('HTTP 404')],
    ['JSON without a message', said({}, 404), another('HTTP 404', '')],
    ['a page', page(404), notBanks('HTTP 404: the answer is text/html')],
    ['null', { status: 403, body: 'null' }, notBanks('HTTP 403')],
    ['a number', { status: 403, body: '1' }, notBanks('HTTP 403')],
  ])('%s', async (_name, answer, verdict) => {
    const { code: _, ...said } = await (await probed(answer)).probe.judge();
    expect(said).toEqual(verdict);
  });

  it.each([
    ['another', 'other', true],
    ['its own', TPP_REQUEST_ID, false],
    ['its own in capitals', ` ${TPP_REQUEST_ID.toUpperCase()}`, false],
    ['no', ' ', false],
  ])('says that the answer has another id than the request: %s', async (_, id, isOther) => {
    const answer = { ...refused('FORMAT_ERROR', 400), headers: { 'x-request-id': id } };
    const { says } = another('HTTP 400, FORMAT_ERROR');
    const own =
      'Its answer has another X-Request-ID than the request: if all answers have, headers.requestId of the bank file must be "any"';
    const { probe } = await probed(answer);
    expect((await probe.judge()).says).toBe(isOther ? `${says}. ${own}` : says);
  });

  it.each([
    [refused('FORMAT_ERROR', 400), 'FORMAT_ERROR'],
    [said({}, 404), ''],
    [page(404), undefined],
  ])('names the code of another refusal: %#', async (answer, code) => {
    expect((await (await probed(answer)).probe.judge()).code).toBe(code);
  });

  it.each<[string, Scripted, string]>([
    ['JSON without accounts', said({}), ''],
    ['null', { body: 'null' }, ''],
    ['a text', { body: '"accounts"' }, ''],
  ])('%s is no answer of a bank', async (_, answer, kind) => {
    expect(await failureOf((await probed(answer)).probe.judge())).toEqual({
      code: 'bank_answer',
      message: `What answered is not the bank's interface: HTTP 200 without a list of accounts${kind}`,
      hint: 'Check the base URL, and api.version and api.paths of the bank file. A gateway or proxy on the way may have answered, too.',
    });
  });

  it('a page of a website is no answer of a bank, and psd2 doubts the base URL', async () => {
    expect(await failureOf((await probed(page(200))).probe.judge())).toMatchObject({
      message: expect.stringContaining('without a list of accounts: the answer is text/html'),
      hint: 'A website answered. Is the base URL that of the interface?',
    });
  });

  it('recognises a bank with the step interface by its envelope', async () => {
    const envelope = { result: { outcome: 'ERROR', messages: [] }, requestId: 'r' };
    expect(await failureOf((await probed(said(envelope, 404))).probe.judge())).toMatchObject({
      message: 'This bank answers as the step interface (cb) does, not as NextGenPSD2',
      next: [['profile', 'set', '--unset', 'bank']],
    });
  });

  it.each<[Scripted, string]>([
    [refused('SIGNATURE_INVALID', 401), 'config'],
    [refused('CERTIFICATE_EXPIRED', 401), 'certificate'],
    [{ status: 503 }, 'bank_failing'],
    [{ status: 429 }, 'too_many_calls'],
  ])('%j is an error: %s', async (answer, code) => {
    expect(await failureOf((await probed(answer)).probe.judge())).toMatchObject({
      ...{ code, httpStatus: answer.status, tppRequestId: TPP_REQUEST_ID, transactionId: 'transaction' },
    });
  });
});

const DATE = 'Sat, 21 Nov 2026 10:00:00 GMT';
it.each<[Record<string, string>, Date | null]>([
  [{}, null],
  [{ date: DATE }, new Date(DATE)],
  [{ date: 'today' }, null],
  // What was stored on the way has the time of then.
  [{ date: DATE, age: '7' }, null],
])("the bank's clock by the headers %j is at %j", async (headers, time) => {
  const { calls, sent } = scriptedCalls([{ status: 401, headers }]);
  const left = [...ids];
  expect(await bankTime(calls.bank, calls.paths, { newId: () => left.shift() ?? 'no id' })).toEqual(time);
  expect(sent).toEqual([
    {
      ...{ method: 'GET', path: '/v1/accounts', transactionId: 'transaction', once: true, decides: true },
      ...{ headers: { 'consent-id': 'consent' } },
      facts: { reads: null, needsConsent: false, login: false },
    },
  ]);
});

it.each<[unknown, boolean]>([
  [{ result: { outcome: 'OK' } }, true],
  [{ result: { outcome: '' }, data: null }, true],
  [{ result: { outcome: 7 } }, false],
  [{ result: {} }, false],
  [{ result: { outcome: 'OK' }, tppMessages: [] }, false],
  [{ result: {}, tppMessages: [] }, false],
  [{ result: 'OK' }, false],
  [{ result: [] }, false],
  [{ outcome: 'OK' }, false],
  [{}, false],
  [[{ result: { outcome: 'OK' } }], false],
  [null, false],
  ['OK', false],
  [undefined, false],
])('%j is an answer of the step interface: %j', (json, isOne) => {
  expect(isStepAnswer(json)).toBe(isOne);
});
