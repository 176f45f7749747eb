import { describe, expect, it } from 'vitest';
import { reasonsIn } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/reasons.ts';

// The names under which banks write why a payment was rejected. What is not read, the operator never learns.

const NONE = { level: 'payment', code: null, proprietary: null, text: null };
const reasons = (json: object) => reasonsIn(json, 'payment', []);

it.each([
  'reason',
  'rsn',
  'reasonCode',
  'reason_code',
  'reasonText',
  'reasonInfo',
  'reasonInformation',
  'rsnInf',
  'StsRsnInf',
  'stsRsn',
  'statusReason',
  'status_reason',
  'statusReasonInformation',
  'transactionStatusReason',
  'rejectReason',
  'rejectionReason',
  'rejection_reason_code',
  'returnReason',
])('a reason stands in %s', (name) => {
  expect(reasons({ [name]: 'AC04' })).toMatchObject([{ code: 'AC04' }]);
  expect(reasons({ transaction: { [name]: 'AC04' } })).toMatchObject([{ code: 'AC04' }]);
});

it.each([
  'xreason',
  'reasonX',
  'reasons',
  'reasonCodes',
  'noreason',
  'myStatusReason',
  'reasonable',
  'cause',
  'tppMessages',
  '_links',
])('and none in %s', (name) => {
  expect(reasons({ [name]: 'AC04' })).toEqual([]);
  expect(reasons({ [name]: { code: 'AC04' } })).toEqual([]);
});

it('and none in messages and links, whatever they have', () => {
  for (const name of ['tppMessages', '_links'])
    for (const inner of ['reason', 'statusReason', { reason: 'AC04' }])
      expect(reasons({ [name]: { reason: inner } })).toEqual([]);
  expect(reasons({ transaction: { _links: { reason: 'AC04' } } })).toEqual([]);
  expect(reasons({ links: { reason: 'AC04' } })).toMatchObject([{ code: 'AC04' }]);
});

describe('in a reason', () => {
  it.each([
    'addtlInf',
    'AddtlInfo',
    'addlInf',
    'additionalInformation',
    'additional_information',
    'addInfo',
    'text',
    'texts',
    'description',
    'message',
    'messages',
    'reason',
  ])('words stand in %s', (name) => {
    expect(reasons({ reason: { code: 'AC04', [name]: 'Account closed' } })).toMatchObject([
      { code: 'AC04', text: 'Account closed' },
    ]);
  });

  it.each(['addtlText', 'xtext', 'textX', 'descriptive', 'note'])('and none in %s', (name) => {
    expect(reasons({ reason: { code: 'AC04', [name]: 'Account closed' } })).toMatchObject([
      { code: 'AC04', text: null },
    ]);
  });

  it.each([
    ['cd', { code: 'AC04' }],
    ['code', { code: 'AC04' }],
    ['reasonCode', { code: 'AC04' }],
    ['anything', { code: 'AC04' }],
    ['prtry', { proprietary: 'AC04' }],
    ['proprietary', { proprietary: 'AC04' }],
    ['PRTRY', { proprietary: 'AC04' }],
    ['prtryX', { code: 'AC04', proprietary: null }],
    ['xprtry', { code: 'AC04', proprietary: null }],
    ['proprietaryX', { code: 'AC04', proprietary: null }],
    ['CD', { code: 'AC04' }],
  ])('a code in %s is %o', (name, read) => {
    expect(reasons({ reason: { [name]: 'AC04' } })).toMatchObject([read]);
  });

  it('of several codes the first counts, and the others are words', () => {
    expect(reasons({ reason: { cd: ['AC04', 'AM05'], prtry: ['X1', 'X2'] } })).toMatchObject([
      { code: 'AC04', proprietary: 'X1', text: 'AM05 X2' },
    ]);
  });
});

it('what is deeper than six levels is no answer about a payment', () => {
  const within = (levels: number, value: unknown): unknown =>
    levels === 0 ? value : { below: within(levels - 1, value) };
  const at = (levels: number) => reasonsIn(within(levels, { reason: 'AC04' }), 'payment', []);
  expect([at(6).length, at(7).length]).toEqual([1, 0]);
});

it('what the bank tells the customer is one, and what is no object has none', () => {
  expect(reasons({ psuMessage: 'Call us' })).toEqual([{ ...NONE, level: 'message', text: 'Call us' }]);
  for (const json of [null, undefined, 'x', 7, { psuMessage: 7 }])
    expect(reasonsIn(json, 'payment', [])).toEqual([]);
});

describe('what a reason says', () => {
  const one = (reason: unknown) => reasons({ reason })[0] ?? null;
  it.each<[string, unknown, object | null]>([
    ['a text', 'Closed', { ...NONE, text: 'Closed' }],
    ['a text with blanks', ' Closed ', { ...NONE, text: 'Closed' }],
    ['blanks alone', '  ', null],
    ['a code', 'AC04', { ...NONE, code: 'AC04' }],
    ['a code with blanks', ' AC04 ', { ...NONE, code: 'AC04' }],
    ['what is too short for a code', 'AC4', { ...NONE, text: 'AC4' }],
    ['what is too long for a code', 'AC041', { ...NONE, text: 'AC041' }],
    ['small letters', 'ac04', { ...NONE, text: 'ac04' }],
    ['another word of four letters', 'NOPE', { ...NONE, text: 'NOPE' }],
    ['a number', 7, null],
    ['nothing', null, null],
    ['an empty list', [], null],
    ['a list of lines', { text: ['One', 'two'] }, { ...NONE, text: 'One two' }],
    ['a list of lines in a list', { text: [['One'], ['two']] }, { ...NONE, text: 'One two' }],
    ['lists of both', { cd: ['AC04'], text: ['One'] }, { ...NONE, code: 'AC04', text: 'One' }],
    ['an object in it', { rsn: { cd: 'AC04' }, addtlInf: 'x' }, { ...NONE, code: 'AC04', text: 'x' }],
    ["a code of the bank's own", { code: 'OWN-1', text: 'x' }, { ...NONE, proprietary: 'OWN-1', text: 'x' }],
    [
      "a code of the bank's own, and another field for it",
      { code: 'OWN-1', prtry: 'P' },
      { ...NONE, proprietary: 'P' },
    ],
    ['both kinds of codes', { code: 'AC04', prtry: 'P' }, { ...NONE, code: 'AC04', proprietary: 'P' }],
    ['all words in their order', { text: 'b', message: 'a', info: 'c' }, { ...NONE, text: 'b a' }],
  ])('%s', (_, reason, expected) => {
    expect(one(reason)).toEqual(expected);
  });

  const within = (levels: number, value: unknown): unknown =>
    levels === 0 ? value : { x: within(levels - 1, value) };
  it.each([
    [3, 'AC04'],
    [4, null],
  ])('with a code %i levels below', (levels, code) => {
    expect(one({ text: 'y', x: within(levels, { cd: 'AC04' }) })).toMatchObject({ code });
  });
});

it.each([
  ['cd', true],
  ['code', true],
  ['reasonCode', true],
  ['cdx', false],
  ['xcd', false],
  ['codes', false],
  ['anything', false],
])('any word in %s is a code: %s', (name, isCode) => {
  const [found] = reasons({ reason: { [name]: 'OWN-1', text: 'x' } });
  expect(found?.proprietary).toBe(isCode ? 'OWN-1' : null);
});

describe('several fields of a reason beside each other', () => {
  it.each<[string, object, object[]]>([
    [
      'are one',
      { reasonCode: 'AC04', reasonText: 'Closed', other: 'x' },
      [{ ...NONE, code: 'AC04', text: 'Closed' }],
    ],
    [
      'are one, in the other order',
      { reasonText: 'Closed', reasonCode: 'AC04' },
      [{ ...NONE, code: 'AC04', text: 'Closed' }],
    ],
    [
      'are several, if one is an object',
      { reason: { cd: 'AC04' }, statusReason: 'Closed' },
      [
        { ...NONE, code: 'AC04' },
        { ...NONE, text: 'Closed' },
      ],
    ],
    [
      'are as many as a list has',
      { stsRsnInf: [{ cd: 'AC04' }, { cd: 'AM05' }] },
      [
        { ...NONE, code: 'AC04' },
        { ...NONE, code: 'AM05' },
      ],
    ],
    [
      'stand after those below',
      { reason: 'Above', inner: { reason: 'Below' } },
      [
        { ...NONE, text: 'Below' },
        { ...NONE, text: 'Above' },
      ],
    ],
  ])('%s', (_, json, expected) => {
    expect(reasons(json)).toEqual(expected);
  });
});

describe('what a reason is about', () => {
  it.each<['payment' | 'group' | 'file', unknown, string[]]>([
    ['payment', { reason: 'x' }, ['payment']],
    ['group', { reason: 'x' }, ['group']],
    ['file', { reason: 'x' }, ['file']],
    ['file', { inner: { reason: 'x' } }, ['file']],
    // A list has single payments, and the reasons of these come first.
    ['file', { reason: 'x', payments: [{ reason: 'y' }] }, ['payment', 'file']],
    ['group', { payments: [{ inner: { reason: 'y' } }] }, ['payment']],
    ['file', [{ reason: 'x' }], ['payment']],
    // A list of reasons is none of payments.
    ['file', { reason: [{ cd: 'AC04' }] }, ['file']],
  ])('of a %s in %j', (level, json, levels) => {
    expect(reasonsIn(json, level, []).map((reason) => reason.level)).toEqual(levels);
  });

  it('is that of a message last, and errors come before warnings', () => {
    const message = (code: string, isError: boolean) => ({
      ...{ code, isError, text: null, path: null },
    });
    const messages = [message('W1', false), message('E1', true), message('W2', false), message('E2', true)];
    const json = { reason: 'AC04', psuMessage: 'Call us' };
    expect(reasonsIn(json, 'file', messages)).toEqual([
      { ...NONE, level: 'file', code: 'AC04' },
      ...['E1', 'E2', 'W1', 'W2'].map((proprietary) => ({ ...NONE, level: 'message', proprietary })),
      { ...NONE, level: 'message', text: 'Call us' },
    ]);
  });

  it.each([['No'], [{ message: 'No' }], [['No']]])(
    'is none in words of no form of the standard: %j',
    (json) => {
      expect(reasonsIn(json, 'payment')).toEqual([]);
    },
  );

  it('is that of the messages in the answer, if nobody has read them before', () => {
    const tppMessages = [{ category: 'ERROR', code: 'NO_FUNDS', text: 'None left' }];
    expect(reasonsIn({ tppMessages }, 'payment')).toEqual([
      { ...NONE, level: 'message', proprietary: 'NO_FUNDS', text: 'None left' },
    ]);
  });
});
