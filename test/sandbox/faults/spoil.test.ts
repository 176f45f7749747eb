import { expect, test } from 'vitest';
import { jsonAnswer } from '../../../src/sandbox/answers/outgoing.ts';
import { Refusal } from '../../../src/sandbox/answers/refusal.ts';
import { type Fault, parseFault } from '../../../src/sandbox/faults/fault.ts';
import { applyContentFaults, clockOf, find, ownFaults } from '../../../src/sandbox/faults/spoil.ts';
import { rawRequest } from '../strict/raw.ts';

const faults = (text: string): Fault[] => (text === '' ? [] : text.split(',').map(parseFault));
const asked = (value: string) => ownFaults(rawRequest({ headers: [['x-sandbox-FAULT', value]] }));

test.each<[value: string, kinds: string]>([
  ['empty', 'empty 0'],
  ['delay=5, status=503', 'delay 5, status 503'],
  ['delay=5,status=503', 'delay 5, status 503'],
])('a request asks for its faults: %s', (value, kinds) => {
  expect(
    asked(value)
      .map(({ kind, value: number }) => `${kind} ${number}`)
      .join(', '),
  ).toBe(kinds);
});

test('a request without the header has no faults, and a wrong one is refused with what is right', () => {
  expect(ownFaults(rawRequest())).toEqual([]);
  for (const [value, said, hint] of [
    [
      'empty, delay',
      'The fault delay needs its milliseconds, a whole number from 1 to 600000',
      'For example delay=500.',
    ],
    ['empty=1', 'The fault empty has no value', 'Write empty alone.'],
  ] as const)
    expect(() => asked(value)).toThrow(new Refusal('HEADER_MALFORMED', `X-Sandbox-Fault: ${said}`, hint));
  expect(() => asked('')).toThrow('X-Sandbox-Fault: There is no fault ""');
});

test.each<[text: string, seconds: number]>([
  ['', 0],
  ['empty', 0],
  ['clock=7', 420],
  ['empty,clock=-7', -420],
])('with the faults "%s" the clock of a call is %i seconds ahead', (text, seconds) => {
  const now = new Date('2026-11-20T11:00:00Z');
  expect(clockOf(now, faults(text)).getTime() - now.getTime()).toBe(seconds * 1000);
});

test('of several faults of a kind the first counts', () => {
  expect(find(faults('delay=5,delay=6'), 'delay')).toEqual({ kind: 'delay', value: 5 });
  expect(find(faults('delay=5'), 'empty')).toBeUndefined();
});

const BODY = '{"name":"A B","or":"Anna A"}';
const LATIN = '{"name":"À B","or":"Anna A"}';
const JSON_TYPE = 'application/json';

test.each<[text: string, status: number, becomes: [status: number, type: string | null, body: string]]>([
  ['', 200, [200, JSON_TYPE, BODY]],
  ['delay=5', 200, [200, JSON_TYPE, BODY]],
  ['empty', 200, [200, null, '']],
  ['empty', 201, [200, null, '']],
  ['empty', 299, [200, null, '']],
  ['empty', 199, [199, JSON_TYPE, BODY]],
  ['empty', 300, [300, JSON_TYPE, BODY]],
  ['empty', 400, [400, JSON_TYPE, BODY]],
  ['no-content', 200, [204, null, '']],
  ['no-content', 400, [400, JSON_TYPE, BODY]],
  ['empty,no-content', 200, [204, null, '']],
  ['latin1', 200, [200, `${JSON_TYPE}; charset=ISO-8859-1`, LATIN]],
  ['latin1', 400, [400, `${JSON_TYPE}; charset=ISO-8859-1`, LATIN]],
  ['latin1-undeclared', 200, [200, JSON_TYPE, LATIN]],
  ['empty,latin1', 200, [200, `${JSON_TYPE}; charset=ISO-8859-1`, '']],
  ['truncated-json', 200, [200, JSON_TYPE, BODY.slice(0, 14)]],
  ['truncated-json', 400, [400, JSON_TYPE, BODY.slice(0, 14)]],
  ['latin1-undeclared,truncated-json', 200, [200, JSON_TYPE, LATIN.slice(0, 14)]],
])('the faults "%s" make of an answer %i: %j', (text, status, becomes) => {
  const answer = { ...jsonAnswer(status, {}), body: Buffer.from(BODY) };
  applyContentFaults(answer, faults(text));
  const body = answer.body.toString('latin1');
  expect([answer.status, answer.headers.get('content-type'), body]).toEqual(becomes);
});
