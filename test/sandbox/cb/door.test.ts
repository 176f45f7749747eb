import { expect, inject, test } from 'vitest';
import { jsonAnswer } from '../../../src/sandbox/answers/outgoing.ts';
import { Refusal } from '../../../src/sandbox/answers/refusal.ts';
import { openBank } from '../../../src/sandbox/bank.ts';
import { cbDoor } from '../../../src/sandbox/cb/door.ts';
import { type Fault, parseFault } from '../../../src/sandbox/faults/fault.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { type BankRules, defaultRules } from '../../../src/sandbox/rules.ts';
import type { Passage } from '../../../src/sandbox/server/pipeline.ts';
import { rawRequest } from '../strict/raw.ts';

const registration = await loadOrCreateRegistration(inject('registration'));
const NOW = new Date('2026-11-20T11:00:00Z');

async function newDoor(rules: Partial<BankRules> = {}) {
  const bank = await openBank(registration, { ...defaultRules, ...rules }, undefined, new Map());
  return { bank, door: cbDoor(bank) };
}

const passageOf = (request = rawRequest(), faults: Fault[] = []): Passage => ({
  ...{ request, faults, refusal: undefined, caller: undefined, title: undefined, warnings: [] },
});

test.each<[status: number, code: string]>([
  [400, 'PLANNED_FAILURE'],
  [401, 'TOKEN_INVALID'],
  [403, 'PLANNED_FAILURE'],
  [420, 'TOO_MANY_CALLS'],
  [429, 'TOO_MANY_CALLS'],
  [500, 'PLANNED_FAILURE'],
  [503, 'PLANNED_FAILURE'],
])('a fault with the status %i has the code %s', async (status, code) => {
  const { door } = await newDoor();
  const answer = door.fail(status, passageOf(), { message: 'm', detail: 'd' });
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body.toString())).toEqual({
    result: {
      ...{ outcome: 'ERROR', requestId: expect.stringMatching(/^[01]\d{23}$/), flushMessages: true },
      messages: [{ code, message: 'm', type: 'ERROR', detail: 'd' }],
    },
  });
});

test.each<[error: Error, status: number, message: object, more: object, wait: string | null]>([
  [
    new Refusal('TOKEN_INVALID', 'm'),
    ...([401, { code: 'TOKEN_INVALID', message: 'm', detail: '' }, {}, null] as const),
  ],
  [
    new Refusal('PSD2_SCA_REQUIRED', 'm', 'd', { resourceId: 'r' }),
    ...([403, { code: 'PSD2_SCA_REQUIRED', message: 'm', detail: 'd' }] as const),
    ...([{ resources: { resourceId: 'r' } }, null] as const),
  ],
  [
    new Refusal('TOO_MANY_CALLS', 'm', 'd', { retryAfterSeconds: 0 }),
    ...([420, { code: 'TOO_MANY_CALLS', message: 'm', detail: 'd' }, {}, '0'] as const),
  ],
  [
    new TypeError('x is not a function'),
    500,
    { code: 'INTERNAL_ERROR', message: 'The sandbox bank failed', detail: 'x is not a function' },
    ...([{}, null] as const),
  ],
])('%s is told with its status', async (error, status, message, more, wait) => {
  const { door } = await newDoor();
  const answer = door.refuse(error, passageOf());
  const { result, ...rest } = JSON.parse(answer.body.toString());
  expect([answer.status, result.messages, rest, answer.headers.get('retry-after')]).toEqual([
    ...[status, [{ type: 'ERROR', ...message }], more, wait],
  ]);
});

test.each<[sent: string | undefined, isKept: boolean]>([
  ['0123456789', true],
  ['012345678', false],
  ['01234567890', false],
  ['012345678x', false],
  ['', false],
  [undefined, false],
])('the session %s that a client sends is kept: %s', async (sent, isKept) => {
  const { door } = await newDoor();
  const headers: [string, string][] = sent === undefined ? [] : [['CB-ApiTrack-Id', sent]];
  const session = () => {
    const answer = jsonAnswer(200, {});
    door.shape?.(answer, passageOf(rawRequest({ headers })));
    expect(answer.body.toString()).toBe('{}');
    return answer.headers.get('cb-apitrack-id');
  };
  const [one, other] = [session(), session()];
  if (isKept) expect([one, other]).toEqual([sent, sent]);
  else expect(one).not.toBe(other);
  expect(one).toMatch(/^\d{10}$/);
});

test('only the lived-in bank reshapes an answer', async () => {
  const { door } = await newDoor({ persona: 'lived-in' });
  const answer = jsonAnswer(200, { result: { flushMessages: true } });
  door.shape?.(answer, passageOf());
  expect(answer.body.toString()).toBe('{"result":{}}');
});

test.each<[method: string, status: number, faults: string, sealed: string | null]>([
  ['GET', 200, '', null],
  ['DELETE', 200, '', null],
  ['POST', 200, '', '(request-target) digest cb-response-id date'],
  ['PUT', 400, '', '(request-target) digest cb-response-id date'],
  ['GET', 302, '', '(request-target) cb-response-id date'],
  ['POST', 302, '', '(request-target) cb-response-id date'],
  ['GET', 200, 'wrong-digest', '(request-target) digest cb-response-id date'],
  ['GET', 200, 'wrong-signature', '(request-target) digest cb-response-id date'],
  ['GET', 200, 'empty', null],
])('%s %i with the fault "%s" is sealed over %s', async (method, status, fault, sealed) => {
  const { door } = await newDoor();
  const answer = jsonAnswer(status, {});
  const faults = fault === '' ? [] : [parseFault(fault)];
  door.seal(answer, passageOf(rawRequest({ method, target: '/a?b' }), faults), NOW);
  const signature = answer.headers.get('signature');
  const headers = signature && /headers="([^"]*)"/.exec(signature)?.[1];
  expect(headers).toBe(sealed);
  if (signature === null) return;
  expect(signature).toMatch(
    /^keyId="sandbox-bank",algorithm="rsa-sha256",headers="[^"]*",signature="[\w+/]+=*"$/,
  );
  expect(answer.headers.get('date')).toBe('Fri, 20 Nov 2026 11:00:00 GMT');
  expect(answer.headers.has('digest')).toBe(headers?.includes('digest'));
});

test.each<[target: string, token: string | undefined, customerId: string | undefined]>([
  ['/private/customers/2073915/accounts', undefined, '2073915'],
  ['/private/customers/2073915', undefined, '2073915'],
  ['/private/customers/2073915?a', undefined, '2073915'],
  ['/private/customers/207391/accounts', undefined, undefined],
  ['/private/customers/20739150/accounts', undefined, undefined],
  ['/private/a?customers/2073915/', undefined, undefined],
  ['/auth/customers/2073915/a', undefined, undefined],
  ['/private/customers/2073915/accounts', 'anna', '2073915'],
  ['/private/a', 'anna', '1048262'],
  ['/private/a', 'application', undefined],
  ['/private/a', 'unknown', undefined],
  ['/private/a', undefined, undefined],
])('the call %s with the token of %s is of the customer %s', async (target, token, customerId) => {
  const { bank, door } = await newDoor();
  const application = bank.applications.authorizationCode;
  const issued = new Map([
    ['anna', bank.tokens.issue({ application, customerId: '1048262' }).accessToken],
    ['application', bank.tokens.issue({ application, customerId: undefined }).accessToken],
  ]);
  const headers: [string, string][] =
    token === undefined ? [] : [['Authorization', `Bearer ${issued.get(token) ?? token}`]];
  const met = door.meet(passageOf(rawRequest({ target, headers })));
  expect([met.customerId, met.operation]).toEqual([customerId, undefined]);
  expect(door.isFor(target)).toBe(true);
});
