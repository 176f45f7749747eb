import { describe, expect, test } from 'vitest';
import {
  DoorRefusal,
  isCut,
  refusalBody,
  refusalText,
  unexpected,
} from '../../../src/sandbox/nextgenpsd2/refusal.ts';

const LINKS = { scaStatus: { href: '/x' } };

test.each([
  ['', 'Wrong.'],
  ['Expected: a.', 'Wrong. Expected: a.'],
])('with the detail "%s" a refusal says: %s', (detail, text) => {
  expect(refusalText(new DoorRefusal('FORMAT_ERROR', 'Wrong', detail))).toBe(text);
});

test.each([
  ['x', 'x'],
  ['', ''],
  [undefined, 'nothing'],
])('a value %s that was not expected was "%s"', (received, said) => {
  const { code, status, path, message, detail } = unexpected(
    'PERIOD_INVALID',
    'dateFrom',
    'Wrong',
    'a day',
    received,
  );
  expect([code, status, path, message, detail]).toEqual([
    ...['PERIOD_INVALID', 400, 'dateFrom', 'Wrong', `Expected: a day. Received: ${said}.`],
  ]);
});

test.each([
  [498, false],
  [499, false],
  [500, true],
])('a message of %i characters and its point is cut: %s', (length, cut) => {
  const refusal = new DoorRefusal('FORMAT_ERROR', 'x'.repeat(length));
  expect(isCut(refusal)).toBe(cut);
  const { tppMessages } = refusalBody(refusal, 'tppMessages');
  const text = `${'x'.repeat(length)}.`.slice(0, 500);
  expect(tppMessages).toEqual([{ category: 'ERROR', code: 'FORMAT_ERROR', text }]);
});

describe('the body of a refusal', () => {
  const whole = new DoorRefusal('FORMAT_ERROR', 'Wrong', 'Expected: a.', {
    path: 'Date',
    status: 415,
    links: LINKS,
  });
  const bare = new DoorRefusal('CONSENT_UNKNOWN', 'Unknown');

  test('is tppMessages', () => {
    expect(refusalBody(whole, 'tppMessages')).toStrictEqual({
      tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR', path: 'Date', text: 'Wrong. Expected: a.' }],
      _links: LINKS,
    });
    expect(refusalBody(bare, 'tppMessages')).toStrictEqual({
      tppMessages: [{ category: 'ERROR', code: 'CONSENT_UNKNOWN', text: 'Unknown.' }],
    });
  });

  test('is a problem (RFC 7807)', () => {
    const about = { type: 'https://berlingroup.com/error-codes/FORMAT_ERROR', title: 'Wrong' };
    const detail = 'Wrong. Expected: a.';
    expect(refusalBody(whole, 'problem')).toStrictEqual({
      ...{ ...about, detail, code: 'FORMAT_ERROR', status: 415 },
      additionalErrors: [{ code: 'FORMAT_ERROR', detail, path: 'Date' }],
      _links: LINKS,
    });
    expect(refusalBody(bare, 'problem')).toStrictEqual({
      ...{
        type: 'https://berlingroup.com/error-codes/CONSENT_UNKNOWN',
        title: 'Unknown',
        detail: 'Unknown.',
      },
      ...{ code: 'CONSENT_UNKNOWN', status: 403 },
      additionalErrors: [{ code: 'CONSENT_UNKNOWN', detail: 'Unknown.' }],
    });
  });
});
