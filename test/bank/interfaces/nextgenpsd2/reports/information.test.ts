import { describe, expect, it } from 'vitest';
import { informationIn } from '../../../../../src/bank/interfaces/nextgenpsd2/reports/mt940-information.ts';
import { filledRow, type ReportRow } from '../../../../../src/bank/interfaces/nextgenpsd2/reports/report.ts';

// What a field :86: of MT940 says, word by word. mt940-shapes.test.ts has the shapes of whole files.

/** What it says, without what it does not have. */
const said = (...fields: string[]) =>
  Object.fromEntries(
    Object.entries(informationIn(fields.map((field) => field.split('\n')))).filter(([, value]) => value),
  );
const remittance = (text: string) => ({ remittanceInformationUnstructured: text });
const KIND = { proprietaryBankTransactionCode: '166' };
const parts = (...texts: string[]) => `166${texts.map((text, at) => `?2${at}${text}`).join('')}`;

it.each([
  ['EREF', { endToEndId: 'A1' }],
  ['KREF', { customerReference: 'A1' }],
  ['MREF', { mandateId: 'A1' }],
  ['CRED', { creditorId: 'A1' }],
  ['PURP', { purposeCode: 'A1' }],
  ['ABWA', { ultimateDebtor: 'A1' }],
  ['ABWE', { ultimateCreditor: 'A1' }],
  ['IBAN', { account: 'A1' }],
  ['OAMT', { original: 'A1' }],
  ['COAM', { charges: 'A1' }],
  ['SVWZ', remittance('A1')],
  ['DEBT', { additionalInformation: 'DEBT+A1' }],
  ['RREF', { additionalInformation: 'RREF+A1' }],
  ['ORDP', { additionalInformation: 'ORDP+A1' }],
  ['BENM', { additionalInformation: 'BENM+A1' }],
  // That of the bank is known by the account.
  ['BIC', {}],
  ['XREF', remittance('XREF+A1')],
])('the word %s+ stands before this: %j', (word, expected) => {
  expect(said(parts(`${word}+A1`))).toEqual({ ...KIND, ...expected });
});

it.each<[string, string[], object]>([
  ['one word in a text', ['a EREF+A1'], { ...remittance('a'), endToEndId: 'A1' }],
  ['one that begins another part', ['a', 'EREF+A1'], { ...remittance('a'), endToEndId: 'A1' }],
  ['one within a word', ['aEREF+A1'], remittance('aEREF+A1')],
  ['two', ['EREF+A1 MREF+B2'], { endToEndId: 'A1', mandateId: 'B2' }],
  ['two in the other order', ['MREF+B2 EREF+A1'], { endToEndId: 'A1', mandateId: 'B2' }],
  ['two ids of one word', ['EREF+A1', 'EREF+B2'], { endToEndId: 'A1' }],
  ['two texts of one word', ['SVWZ+a', 'SVWZ+b'], remittance('a b')],
  ['a text and an empty one', ['SVWZ+a', 'SVWZ+'], remittance('a')],
  ['an empty text and another one', ['SVWZ+', 'SVWZ+b'], remittance('b')],
  ['more than one blank', ['SVWZ+a  b', '  c'], remittance('a b c')],
  [
    'an empty part before a word that follows a full part',
    ['', `EREF+${'1'.repeat(22)}`, 'SVWZ+b'],
    { endToEndId: '1'.repeat(22), ...remittance('b') },
  ],
  ['an empty one before another', ['EREF+', 'EREF+B2'], { endToEndId: 'B2' }],
  [
    'an id with a blank, in a part that is full',
    [`EREF+A1 B2 SVWZ+${'x'.repeat(11)}`],
    { endToEndId: 'A1 B2', ...remittance('x'.repeat(11)) },
  ],
  ['an id with text after it', ['EREF+A1', 'a b'], { endToEndId: 'A1', ...remittance('a b') }],
  ['an id with blanks at a break', ['EREF+A1 ', ' a'], { endToEndId: 'A1', ...remittance('a') }],
  [
    'a word after an id of 35 characters',
    [`EREF+${'1'.repeat(22)}`, `${'1'.repeat(13)}MREF+B2`],
    { endToEndId: '1'.repeat(35), mandateId: 'B2' },
  ],
  [
    'a word after an id of 34 characters',
    [`EREF+${'1'.repeat(22)}`, `${'1'.repeat(12)}MREF+B2`],
    { endToEndId: `${'1'.repeat(34)}M`, ...remittance('REF+B2') },
  ],
  [
    'a long id that ends at a blank',
    [`EREF+${'1'.repeat(22)}`, `${'1'.repeat(8)} abcdefghi`],
    { endToEndId: '1'.repeat(30), ...remittance('abcdefghi') },
  ],
  [
    'an id that is too long',
    [`EREF+${'1'.repeat(22)}`, '1'.repeat(14)],
    { endToEndId: '1'.repeat(35), ...remittance('1') },
  ],
])('has %s', (_, texts, expected) => {
  expect(said(parts(...texts))).toEqual({ ...KIND, ...expected });
});

describe('the structure of German banks', () => {
  it.each(['059', '108', '109', '159', '058', '160', '166'])(
    '%s is a return if a number of the bank says so',
    (kind) => {
      const isReturn = ['059', '108', '109', '159'].includes(kind);
      const reason = isReturn ? { returnReason: '901' } : {};
      expect(said(`${kind}?34901`)).toEqual({ proprietaryBankTransactionCode: kind, ...reason });
      expect(said(`${kind}?34000`)).toEqual({ proprietaryBankTransactionCode: kind });
    },
  );

  it.each<[string, string, object]>([
    ['a kind', '166?00TRANSFER', { ...KIND, additionalInformation: 'TRANSFER' }],
    [
      'another character between its fields',
      '166+00TRANSFER+32Ann',
      { ...KIND, additionalInformation: 'TRANSFER', name: 'Ann' },
    ],
    ['a name in two parts', '166?32Ann?33Smith', { ...KIND, name: 'Ann Smith' }],
    ['a name that fills its part', `166?32${'a'.repeat(27)}?33b`, { ...KIND, name: `${'a'.repeat(27)}b` }],
    ['a name that does not', `166?32${'a'.repeat(26)}?33b`, { ...KIND, name: `${'a'.repeat(26)} b` }],
    ['an account', '166?3112345', { ...KIND, account: '12345' }],
    ['an IBAN beside it', '166?3112345?20IBAN+DE1', { ...KIND, account: 'DE1' }],
    ['texts from 20 to 29, and from 60 to 63', '166?20a?29b?60c?63d', { ...KIND, ...remittance('a b c d') }],
    ['no texts beside them', '166?19a?30b?59c?64d', KIND],
    ['a field without a number', '166?20a?xxb', { ...KIND, ...remittance('a') }],
  ])('has %s', (_, field, expected) => {
    expect(said(field)).toEqual(expected);
  });

  // The tag counts to the first line: SWIFT allows 65 characters with it.
  it.each<[string, string[], string]>([
    ['a first line that is full', ['a'.repeat(61), 'b'], `${'a'.repeat(61)}b`],
    ['a first line that is longer', ['a'.repeat(62), 'b'], `${'a'.repeat(62)}b`],
    ['a first line with place for more', ['a'.repeat(60), 'b'], `${'a'.repeat(60)} b`],
    ['a second line that is full', ['a', 'b'.repeat(65), 'c'], `a ${'b'.repeat(65)}c`],
    ['a second line that is longer', ['a', 'b'.repeat(66), 'c'], `a ${'b'.repeat(66)}c`],
    ['a second line with place for more', ['a', 'b'.repeat(64), 'c'], `a ${'b'.repeat(64)} c`],
    ['blanks between two lines', ['a ', ' b'], 'a b'],
  ])('of a plain text joins %s', (_, lines, text) => {
    expect(said(lines.join('\n'))).toEqual(remittance(text));
  });

  it('of no field says nothing', () => {
    expect(said()).toEqual({});
  });

  it.each<[string, string]>([
    ['a number alone', '166'],
    ['two digits before it', '16?00a'],
    ['a letter for its character', '166x00a'],
    ['a point for its character', '166.00a'],
    ['no number after its character', '166?aa'],
  ])('is not there with %s: all of it is text', (_, field) => {
    expect(said(field)).toEqual(remittance(field));
  });

  it.each<[string, string[], object]>([
    ['goes on', ['166?20a', '?21b'], { ...KIND, ...remittance('a b') }],
    ['is text', ['166?20a', 'more'], { ...KIND, ...remittance('a more') }],
    ['begins with another character', ['166?20a', '+21b'], { ...KIND, ...remittance('a +21b') }],
    ['has a number later', ['166?20a', '?b 12'], { ...KIND, ...remittance('a ?b 12') }],
    ['has no number', ['166?20a', '?b'], { ...KIND, ...remittance('a ?b') }],
    ['goes on before a text', ['166?20a', '?21b', 'c'], { ...KIND, ...remittance('a b c') }],
    ['goes on after a text', ['166?20a', 'c', '?21b'], { ...KIND, ...remittance('a b c') }],
    ['is text after a text', ['a', 'b'], remittance('a b')],
  ])('the second field %s', (_, fields, expected) => {
    expect(said(...fields)).toEqual(expected);
  });
});

it('a row has no field with nothing in it', () => {
  const transactionAmount = { amount: '1', currency: 'EUR' };
  const row: ReportRow = { transactionAmount, a: undefined, b: '', c: null, d: 0, e: ' ', f: [], g: 'x' };
  const filled = filledRow(row);
  expect(Object.keys(filled)).toEqual(['transactionAmount', 'c', 'd', 'e', 'f', 'g']);
  expect(filled).toEqual({ transactionAmount, c: null, d: 0, e: ' ', f: [], g: 'x' });
});
