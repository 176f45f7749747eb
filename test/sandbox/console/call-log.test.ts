import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { OutgoingAnswer } from '../../../src/sandbox/answers/outgoing.ts';
import { CallLog, type Seen } from '../../../src/sandbox/console/call-log.ts';
import { rawRequest } from '../strict/raw.ts';

const AT = new Date('2026-11-20T11:00:00Z');
const sha256 = (body: Buffer) => createHash('sha256').update(body).digest();

const answerOf = (body = ''): OutgoingAnswer => ({
  ...{ status: 200, body: Buffer.from(body), headers: new Headers({ 'content-type': 'text/plain' }) },
});

/** A call to a path. */
const call = (
  target = '/a',
  { answer = answerOf(), ...request }: Parameters<typeof rawRequest>[0] & { answer?: OutgoingAnswer } = {},
) => ({
  ...{ at: AT, milliseconds: 3, faults: [], refusal: undefined, caller: undefined, title: undefined },
  ...{ warnings: [], request: rawRequest({ ...request, target }), answer },
});

/** What a call, a handshake or a change is, in a word. */
const wordOf = (seen: Seen | undefined) => {
  if (seen === undefined) return 'change';
  return 'reason' in seen ? `${seen.id} ${seen.reason}` : `${seen.id} ${seen.request.target}`;
};

test('calls and handshakes stand in their order, each with a number of its own', () => {
  const log = new CallLog();
  log.addCall(call('/a'));
  log.addHandshake(AT, 'no certificate');
  log.addCall(call('/b'));
  expect(log.list().map(wordOf)).toEqual(['1 /a', '2 no certificate', '3 /b']);
  expect([1, 2, 3, 0, 4].map((id) => log.find(id)).map((seen) => seen && wordOf(seen))).toEqual([
    ...['1 /a', '2 no certificate', '3 /b', undefined, undefined],
  ]);
  expect(log.find(2)).toEqual({ id: 2, at: AT, reason: 'no certificate' });
});

test.each([
  [499, 499, 1],
  [500, 500, 1],
  [501, 500, 2],
  [502, 500, 3],
])('of %i calls the log has %i, from number %i on', (count, kept, first) => {
  const log = new CallLog();
  for (let index = 0; index < count; index += 1) log.addHandshake(AT, '');
  expect([log.list().length, log.list()[0]?.id, log.list().at(-1)?.id]).toEqual([kept, first, count]);
  expect(log.find(first - 1)).toBeUndefined();
});

test.each([0, 1, 16_383, 16_384, 16_385, 40_000])(
  'of a body of %i bytes the log has the beginning and the hash of all',
  (length) => {
    const log = new CallLog();
    const body = 'x'.repeat(length);
    log.addCall(call('/a', { body, answer: answerOf(body) }));
    const [seen] = log.list();
    if (seen === undefined || 'reason' in seen) expect.unreachable();
    const bytes = Buffer.from(body.slice(0, 16_384));
    const kept = { bytes, length, sha256: sha256(Buffer.from(body)) };
    expect(seen.body).toEqual(kept);
    expect(seen.request.body).toEqual(bytes);
    expect(seen.answer).toEqual({ status: 200, headers: [['content-type', 'text/plain']], body: kept });
  },
);

test('of a body that is too large, the log says how large it was', () => {
  const log = new CallLog();
  const oversized = { length: 2_000_000, sha256: sha256(Buffer.from('all')) };
  log.addCall(call('/a', { body: 'begin', oversized }));
  const [seen] = log.list();
  expect(seen).toMatchObject({ body: { bytes: Buffer.from('begin'), ...oversized } });
});

test('what is stored does not change with the bytes of the call', () => {
  const log = new CallLog();
  const answer = answerOf('answer');
  log.addCall(call('/a', { answer }));
  answer.body.fill(0);
  answer.headers.set('x-later', '1');
  expect(log.list()[0]).toMatchObject({
    answer: { body: { bytes: Buffer.from('answer') }, headers: [['content-type', 'text/plain']] },
  });
});

describe('who watches', () => {
  /** Watches a log. @returns what was told, and how to stop */
  function watch(log: CallLog) {
    const told: string[] = [];
    return { told, stop: log.watch((seen) => told.push(wordOf(seen))) };
  }

  test('is told of calls, handshakes and changes, and not of what was before', () => {
    const log = new CallLog();
    log.addCall(call('/before'));
    const { told } = watch(log);
    log.addCall(call('/a'));
    log.addHandshake(AT, 'no certificate');
    log.tellChange();
    expect(told).toEqual(['2 /a', '3 no certificate', 'change']);
    expect(log.list()).toHaveLength(3);
  });

  test('is told as long as they watch, each of several alone', () => {
    const log = new CallLog();
    const [one, two, three] = [watch(log), watch(log), watch(log)];
    log.tellChange();
    two.stop();
    log.addCall(call('/a'));
    one.stop();
    one.stop();
    log.tellChange();
    expect([one.told, two.told, three.told]).toEqual([
      ['change', '1 /a'],
      ['change'],
      ['change', '1 /a', 'change'],
    ]);
  });

  test('is told once the log has the call', () => {
    const log = new CallLog();
    const found: (Seen | undefined)[] = [];
    log.watch((seen) => found.push(seen && log.find(seen.id)));
    log.addCall(call('/a'));
    expect(found.map(wordOf)).toEqual(['1 /a']);
  });
});
