import { describe, expect, it } from 'vitest';
import { derOid, derSequence, derUtf8String } from '../../src/certificates/der.ts';
import { decodeQcStatements, encodeQcStatements } from '../../src/certificates/qc-statements.ts';

const NONE = { qcCompliance: false, qcType: undefined, psd2: undefined };
const QC_TYPE = derOid('0.4.0.1862.1.6');
const WEB = derOid('0.4.0.1862.1.6.3');
const PSD2 = derOid('0.4.0.19495.2');
const PISP = derOid('0.4.0.19495.1.2');
const other = derOid('1.2.3.4');

describe('qcStatements', () => {
  it.each([
    ['no statement', NONE, '3000'],
    ['compliance alone', { ...NONE, qcCompliance: true }, '300a3008060604008e460101'],
    ['a type alone', { ...NONE, qcType: 'eseal' as const }, '30153013060604008e4601063009060704008e46010602'],
  ])('%s has the encoding of ETSI EN 319 412-5', (_, statements, encoded) => {
    expect(Buffer.from(encodeQcStatements(statements)).toString('hex')).toBe(encoded);
    expect(decodeQcStatements(Buffer.from(encoded, 'hex'))).toEqual(statements);
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['a text instead of a sequence', derUtf8String('text')],
    ['a text instead of a statement', derSequence(derUtf8String('0\u0003'))],
    ['a statement without a name', derSequence(derSequence())],
    ['a text instead of a name', derSequence(derSequence(derUtf8String('\u0004\u0000')))],
    ['a type without a value', derSequence(derSequence(QC_TYPE))],
    ['a type with a text for its value', derSequence(derSequence(QC_TYPE, derUtf8String('text')))],
    ['a type that psd2 does not know', derSequence(derSequence(QC_TYPE, derSequence(other)))],
  ])('psd2 finds no statement in %s', (_, der) => {
    expect(decodeQcStatements(der)).toEqual(NONE);
  });

  it('psd2 takes the first type that it knows', () => {
    expect(decodeQcStatements(derSequence(derSequence(QC_TYPE, derSequence(other, WEB)))).qcType).toBe('web');
  });

  it.each([
    ['no content', [], { roles: [], ncaName: '', ncaId: '' }],
    [
      'a role that psd2 does not know',
      [derSequence(derSequence(other, derUtf8String('PSP_XX')), derSequence(PISP, derUtf8String('PSP_PI')))],
      { roles: ['PSP_PI'], ncaName: '', ncaId: '' },
    ],
    [
      'a role with another name than its identifier',
      [derSequence(derSequence(PISP, derUtf8String('PSP_AI')))],
      { roles: ['PSP_PI'], ncaName: '', ncaId: '' },
    ],
    [
      'an authority that is no text',
      [derSequence(), derSequence(derUtf8String('BI')), derUtf8String('IT-BI')],
      { roles: [], ncaName: '', ncaId: 'IT-BI' },
    ],
  ])('psd2 reads a PSD2 statement with %s', (_, content, psd2) => {
    const der = derSequence(derSequence(PSD2, derSequence(...content)));
    expect(decodeQcStatements(der)).toEqual({ ...NONE, psd2 });
  });
});
