import { expect, it } from 'vitest';
import { parseCreditorReference } from '../../../src/domain/order/creditor-reference.ts';
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
