import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { embeddedPart } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/embedded.ts';

// What a bank says of methods and challenges: all of it may be missing or odd, and the rest is read all the same.

const part = z.object(embeddedPart);
const challenge = (data: unknown) => part.parse({ challengeData: data }).challengeData;
const methods = (list: unknown) => part.parse({ scaMethods: list }).scaMethods;

const LONGEST = 700_000;

it.each<[string, unknown, unknown]>([
  ['a text', { additionalInformation: 'Enter it' }, { information: 'Enter it' }],
  ['its lines', { additionalInformation: ' a\r\nb\rc\u0007d\n' }, { information: 'a\nb\nc d' }],
  ['a number', { additionalInformation: 12 }, { information: '12' }],
  ['no text', { additionalInformation: {} }, {}],
  ['an empty text', { additionalInformation: ' \r\n' }, {}],
  ['the longest text', { additionalInformation: 'x'.repeat(10_001) }, { information: 'x'.repeat(10_000) }],
  ['data', { data: 'a' }, { data: ['a'] }],
  ['several data', { data: ['a', null, 'b', ''] }, { data: ['a', 'b'] }],
  ['no data', { data: [] }, {}],
  ['a picture', { image: 'iVBO\nRw0=' }, { image: 'iVBORw0=' }],
  ['the largest picture', { image: 'A'.repeat(LONGEST) }, { image: 'A'.repeat(LONGEST) }],
  ['a larger one', { image: 'A'.repeat(LONGEST + 1) }, {}],
  ['no picture', { image: 'https://bank.example/x.png' }, {}],
  ['an empty picture', { image: ' ' }, {}],
  ['a picture that is no text', { image: 7 }, {}],
  [
    'a length and a form',
    { otpMaxLength: 6, otpFormat: 'integer' },
    { otpMaxLength: '6', otpFormat: 'integer' },
  ],
  ['nothing', {}, {}],
  ['no object', 'x', null],
  ['nothing at all', undefined, undefined],
])('a challenge with %s', (_, said, read) => {
  expect(challenge(said)).toEqual(read);
});

const SMS = { authenticationMethodId: '1', authenticationType: 'SMS_OTP' };
it.each<[string, unknown, unknown]>([
  ['one', [SMS], [{ id: '1', type: 'SMS_OTP' }]],
  [
    'one with all',
    [{ ...SMS, authenticationVersion: 'v2', name: 'Phone', explanation: 'A text' }],
    [{ id: '1', type: 'SMS_OTP', version: 'v2', name: 'Phone', explanation: 'A text' }],
  ],
  ['one without a type', [{ authenticationMethodId: '1' }], [{ id: '1', type: '' }]],
  ['one without an id beside another', [{ name: 'x' }, SMS], [{ id: '1', type: 'SMS_OTP' }]],
  ['none', [], []],
  ['no list', 'x', null],
])('methods: %s', (_, said, read) => {
  expect(methods(said)).toEqual(read);
});

it('the method that was chosen is read, or is none', () => {
  const chosen = (value: unknown) => part.parse({ chosenScaMethod: value }).chosenScaMethod;
  expect([chosen(SMS), chosen({ name: 'x' }), chosen(undefined)]).toEqual([
    { id: '1', type: 'SMS_OTP' },
    null,
    undefined,
  ]);
});
