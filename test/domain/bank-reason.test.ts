import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  because,
  codeOf,
  REASON_LEVELS,
  ranked,
  refusedBecause,
  toldReasons,
  writeReasons,
} from '../../src/domain/bank-reason.ts';
import { type BankReason, Psd2Error } from '../../src/errors.ts';

/** A reason that says only what is given. */
const reason = (level: BankReason['level'], more: Partial<BankReason> = {}): BankReason => ({
  ...{ level, code: null, proprietary: null, text: null },
  ...more,
});
/** A reason of an answer with a text. */
const text = (words: string | null) => reason('message', { text: words });

it.each<[string | null, boolean]>([
  ['AC01', true],
  ['AM04', true],
  ['9999', true],
  ['ABCD', true],
  ['AC0', false],
  ['AC012', false],
  ['XAC01', false],
  ['ac01', false],
  ['AC-1', false],
  ['AC01 ', false],
  [' AC01', false],
  ['AC01\n', false],
  ['FORMAT_ERROR', false],
  ['', false],
  [null, false],
])('the code %j is one of ISO 20022: %s', (code, isIso) => {
  expect(codeOf(code)).toEqual(isIso ? { code, proprietary: null } : { code: null, proprietary: code });
});

describe('the reasons of a bank', () => {
  it('come by their level, and in the order of the bank within one', () => {
    const [one, other] = [reason('file', { code: 'FF01' }), reason('file', { code: 'AA00' })];
    const all = [
      ...[reason('message', { text: 'm' }), one, reason('payment', { code: 'AC01' }), other],
      reason('group', { code: 'DT01' }),
    ];
    expect(ranked(all).map(({ level, code, text }) => [level, code ?? text])).toEqual([
      ['payment', 'AC01'],
      ['group', 'DT01'],
      ['file', 'FF01'],
      ['file', 'AA00'],
      ['message', 'm'],
    ]);
    expect(all[0]?.level).toBe('message');
  });

  it('rank the same whatever comes first', () => {
    const some = REASON_LEVELS.map((level) => reason(level, { text: level }));
    fc.assert(
      fc.property(fc.shuffledSubarray(some, { minLength: some.length }), (shuffled) => {
        expect(ranked(shuffled)).toEqual(some);
      }),
    );
  });

  it('that say nothing are left out', () => {
    const nothing = [text(null), text(''), reason('payment', { code: '', proprietary: '', text: '' })];
    expect(ranked([...nothing, text('No'), ...nothing])).toEqual([text('No')]);
    expect(ranked(nothing)).toEqual([]);
    expect(ranked([])).toEqual([]);
  });

  it('have null for a part that is empty', () => {
    expect(ranked([reason('group', { code: '', proprietary: 'X9', text: '' })])).toEqual([
      reason('group', { proprietary: 'X9' }),
    ]);
    expect(ranked([reason('group', { code: 'AC01', proprietary: '', text: 'No' })])).toEqual([
      reason('group', { code: 'AC01', text: 'No' }),
    ]);
  });

  it('come once each, at the level that decides', () => {
    expect(ranked([text('No'), reason('payment', { text: 'No' }), text('No'), text('Other')])).toEqual([
      reason('payment', { text: 'No' }),
      text('Other'),
    ]);
    const codes = [reason('file', { code: 'AC01' }), reason('file', { code: 'AC01', text: 'No' })];
    expect(ranked(codes)).toEqual(codes);
  });

  it.each([
    [999, 999],
    [1000, 1000],
    [1001, 1000],
  ])('a text of %i characters keeps %i', (length, left) => {
    const words = `${'a'.repeat(length - 1)}b`;
    const [found] = ranked([reason('message', { proprietary: words, text: words })]);
    expect([found?.proprietary, found?.text]).toEqual([words.slice(0, left), words.slice(0, left)]);
  });

  it.each([19, 20, 21])('%i reasons are at most 20, the first', (count) => {
    const some = Array.from({ length: count }, (_, at) => text(`no ${at}`));
    expect(ranked(some)).toEqual(some.slice(0, 20));
  });
});

it.each<[Parameters<typeof toldReasons>[0], ReturnType<typeof toldReasons>]>([
  [[], {}],
  [[{ code: null, text: null }], { reasons: [] }],
  [[{ code: 'AC01', text: null }], { reasons: [reason('message', { code: 'AC01' })] }],
  [
    [{ code: 'FORMAT_ERROR', text: 'Bad', detail: 'in amount' }],
    { reasons: [reason('message', { proprietary: 'FORMAT_ERROR', text: 'Bad in amount' })] },
  ],
  [[{ code: null, text: 'Bad', detail: null }], { reasons: [text('Bad')] }],
  [[{ code: null, text: null, detail: 'in amount' }], { reasons: [text('in amount')] }],
  [
    [
      { code: 'X', text: 'One' },
      { code: null, text: 'Two' },
      { code: 'X', text: 'One' },
    ],
    { reasons: [reason('message', { proprietary: 'X', text: 'One' }), text('Two')] },
  ],
])('the messages %j of a refusal say %j', (messages, reasons) => {
  expect(toldReasons(messages)).toEqual(reasons);
});

it.each<[BankReason[], string | null]>([
  [[], null],
  [[text(null)], null],
  [[reason('payment', { code: 'AC01', text: 'IBAN does not exist' })], 'AC01: IBAN does not exist'],
  [[reason('file', { code: 'AC01', proprietary: 'X9', text: 'see below' })], 'AC01: X9: see below'],
  [[reason('payment', { code: 'AC01' }), text('no')], 'AC01; no'],
  [[text('x'.repeat(999)), text('y')], `${'x'.repeat(999)};`],
  [[text('x'.repeat(1001))], 'x'.repeat(1000)],
])('the reasons %j are written %j', (reasons, words) => {
  expect(writeReasons(reasons)).toBe(words);
  expect(because(reasons)).toEqual(words === null ? {} : { description: words, reasons });
});

it('an event has no reason where the bank says none', () => {
  expect(because()).toEqual({});
  const given = [text('no')];
  expect(because(given).reasons).not.toBe(given);
});

it('an event of a refusal has its message, and the reasons only if the bank says some', () => {
  const reasons = [text('no')];
  expect(refusedBecause(new Psd2Error('bank_refused', 'Refused', { reasons }))).toStrictEqual({
    description: 'Refused',
    reasons,
  });
  expect(refusedBecause(new Psd2Error('bank_refused', 'Refused'))).toStrictEqual({ description: 'Refused' });
});
