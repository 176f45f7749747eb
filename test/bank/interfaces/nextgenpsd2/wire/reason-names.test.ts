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
