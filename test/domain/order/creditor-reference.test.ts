import { expect, it } from 'vitest';
import {
  type CreditorReference,
  isSameReference,
  parseCreditorReference,
} from '../../../src/domain/order/creditor-reference.ts';
import { Psd2Error } from '../../../src/errors.ts';

const read = (reference: string, type = 'SCOR', issuer: string | null = null) => {
  try {
    return parseCreditorReference({ reference, type, issuer }, 'It');
  } catch (error) {
    if (error instanceof Psd2Error) return error.message;
    throw error;
  }
};

it.each<[string, ReturnType<typeof read>, string?, string?]>([
  ['RF18539007547034', { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' }],
  ['rf18 5390 0754\u00a07034', { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' }],
  ['RF712348231', { reference: 'RF712348231', type: 'SCOR', issuer: 'ISO' }],
  ['RF45G72UUR', { reference: 'RF45G72UUR', type: 'SCOR', issuer: 'ISO' }],
  ['RF19539007547034', 'It "RF19539007547034" is not a reference of ISO 11649: its check digits are wrong'],
  // At least one character, at most 21.
  ['RF635', { reference: 'RF635', type: 'SCOR', issuer: 'ISO' }],
  ['RF25a', { reference: 'RF25A', type: 'SCOR', issuer: 'ISO' }],
  ['RF09ZZZZZZZZZZZZZZZZZZZZZ', { reference: 'RF09ZZZZZZZZZZZZZZZZZZZZZ', type: 'SCOR', issuer: 'ISO' }],
  [
    'RF73539007547034ABCDEFGHIJ',
    'It "RF73539007547034ABCDEFGHIJ" is not a reference of ISO 11649: its check digits are wrong',
  ],
  // One within a longer text, whose check digits are right.
  [
    'RF53AAAAAAAAAARF12BBBBBBBBBB',
    'It "RF53AAAAAAAAAARF12BBBBBBBBBB" is not a reference of ISO 11649: its check digits are wrong',
  ],
  ['RF18539007547034+', 'It "RF18539007547034+" is not a reference of ISO 11649: its check digits are wrong'],
  // Not at the beginning, or without digits: no reference of ISO 11649.
  ['XRF18539007547034', { reference: 'XRF18539007547034', type: 'SCOR', issuer: null }],
  ['RF1X539007547034', { reference: 'RF1X539007547034', type: 'SCOR', issuer: null }],
  ['RF18539007547034', { reference: 'RF18539007547034', type: 'SCOR', issuer: 'BBA' }, 'SCOR', 'BBA'],
  ['RF18', 'It "RF18" is not a reference of ISO 11649: its check digits are wrong'],
  ['13', { reference: '13', type: 'SCOR', issuer: null }],
  ['090933755493', { reference: '090933755493', type: 'SCOR', issuer: 'BBA' }, 'SCOR', 'BBA'],
  ['RF-7', { reference: 'RF-7', type: 'OCR', issuer: null }, 'OCR'],
  ['x'.repeat(36), 'It has 36 characters, but at most 35 are allowed'],
  ['Ü', 'It contains the character "Ü" at position 1, which SEPA does not allow'],
  [' ', 'It is empty'],
])('the reference %j of a payee', (reference, expected, type, issuer = '') => {
  expect(read(reference, type, issuer || null)).toEqual(expected);
});

it('the type and the issuer are checked too', () => {
  expect(read('13', ' ')).toBe('The type is empty');
  expect(read('13', 'SCOR', ' ')).toBe('The issuer is empty');
  expect(read('13', 'x'.repeat(36))).toBe('The type has 36 characters, but at most 35 are allowed');
});

const ONE: CreditorReference = { reference: 'RF18539007547034', type: 'SCOR', issuer: 'ISO' };
it.each<[CreditorReference | undefined, CreditorReference | undefined, boolean]>([
  [undefined, undefined, true],
  [ONE, undefined, false],
  [ONE, { ...ONE }, true],
  [ONE, { ...ONE, reference: 'RF712348231' }, false],
  [ONE, { ...ONE, type: 'OCR' }, false],
  [ONE, { ...ONE, issuer: 'BBA' }, false],
  [ONE, { ...ONE, issuer: null }, false],
])('the references %j and %j are the same: %s', (one, other, areSame) => {
  expect(isSameReference(one, other)).toBe(areSame);
  expect(isSameReference(other, one)).toBe(areSame);
});
