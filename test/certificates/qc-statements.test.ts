import {
  type AsnType,
  BmpString,
  Constructed,
  ObjectIdentifier,
  Primitive,
  PrintableString,
  Sequence,
  Utf8String,
} from 'asn1js';
import { describe, expect, it } from 'vitest';
import {
  decodeQcStatements,
  encodeQcStatements,
  keptStatements,
} from '../../src/certificates/qc-statements.ts';
import { thrownBy } from '../support/thrown.ts';

const oid = (value: string) => new ObjectIdentifier({ value });
const utf8 = (value: string) => new Utf8String({ value });
const sequence = (...value: AsnType[]) => new Sequence({ value });
const encoded = (value: AsnType) => new Uint8Array(value.toBER());

const NONE = { qcCompliance: false, qcType: undefined, psd2: undefined };
const QC_TYPE = oid('0.4.0.1862.1.6');
const WEB = oid('0.4.0.1862.1.6.3');
const PSD2 = oid('0.4.0.19495.2');
const PISP = oid('0.4.0.19495.1.2');
const other = oid('1.2.3.4');
const tagged = (value: AsnType) =>
  new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [value] });

describe('qcStatements', () => {
  it.each([
    ['no statement', NONE, '3000'],
    ['compliance alone', { ...NONE, qcCompliance: true }, '300a3008060604008e460101'],
    ['a type alone', { ...NONE, qcType: 'eseal' as const }, '30153013060604008e4601063009060704008e46010602'],
  ])('%s has the encoding of ETSI EN 319 412-5', (_, statements, encoded) => {
    expect(Buffer.from(encodeQcStatements(statements)).toString('hex')).toBe(encoded);
    expect(decodeQcStatements(Buffer.from(encoded, 'hex'))).toEqual(statements);
  });

  it('all roles and a long name of an authority are read as they were written, and no beginning of their bytes is', () => {
    const roles: ('PSP_AS' | 'PSP_PI' | 'PSP_AI' | 'PSP_IC')[] = ['PSP_AS', 'PSP_PI', 'PSP_AI', 'PSP_IC'];
    const psd2 = { roles, ncaName: 'N'.repeat(300), ncaId: 'DE-BAFIN' };
    const statements = { qcCompliance: true, qcType: 'esign' as const, psd2 };
    const whole = encodeQcStatements(statements);
    expect(decodeQcStatements(whole)).toEqual(statements);
    for (let length = 1; length < whole.length; length += 1)
      expect(() => decodeQcStatements(whole.subarray(0, length))).toThrow('are not valid DER');
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['a text instead of a sequence', utf8('text')],
    ['a text instead of a statement', sequence(utf8('0\u0003'))],
    ['a statement without a name', sequence(sequence())],
    ['a text instead of a name', sequence(sequence(utf8('\u0004\u0000')))],
    ['a type without a value', sequence(sequence(QC_TYPE))],
    ['a type with a text for its value', sequence(sequence(QC_TYPE, utf8('text')))],
    ['a statement of another kind', sequence(sequence(oid('0.4.0.1862.1.4')))],
    ['a type that psd2 does not know', sequence(sequence(QC_TYPE, sequence(other)))],
  ])('psd2 finds no statement in %s', (_, der) => {
    expect(decodeQcStatements(der instanceof Uint8Array ? der : encoded(der))).toEqual(NONE);
  });

  it('a request keeps the statements about the TPP as they are, and no other', () => {
    const type = sequence(QC_TYPE, sequence(WEB));
    const roles = sequence(sequence(other, new PrintableString({ value: 'PSP_XX' })));
    const psd2 = sequence(PSD2, sequence(roles, tagged(utf8('BI')), utf8('IT-BI')));
    const der = encoded(sequence(type, sequence(oid('0.4.0.1862.1.4')), psd2));
    expect(Buffer.from(keptStatements(der))).toEqual(Buffer.from(encoded(sequence(type, psd2))));
  });

  it('psd2 takes the first type that it knows', () => {
    expect(decodeQcStatements(encoded(sequence(sequence(QC_TYPE, sequence(other, WEB))))).qcType).toBe('web');
  });

  const roles = (...named: [AsnType, string][]) =>
    sequence(...named.map(([role, name]) => sequence(role, utf8(name))));
  const [BMP, PRINTABLE] = [new BmpString({ value: 'Bank \u00e8' }), new PrintableString({ value: 'IT-BI' })];
  const implicit = new Primitive({
    idBlock: { tagClass: 3, tagNumber: 1 },
    valueHex: Uint8Array.from(Buffer.from('B\u00e8')).buffer,
  });
  const explicit = [tagged(sequence(tagged(sequence(tagged(PISP), utf8('PSP_PI'))))), tagged(utf8('BI'))];
  const later = ['5', '6', '51', '52', '7'].map((n): [AsnType, string] => [oid(`0.4.0.19495.1.${n}`), 'x']);
  const LATER = ['PSP_CB', 'PSP_PA', 'VOP_RS', 'VOP_VS', '0.4.0.19495.1.7'];
  it.each<[string, AsnType[], string[], ncaName: string, ncaId: string]>([
    ['no content', [], [], '', ''],
    ['an unknown role', [roles([other, 'PSP_XX'], [PISP, 'PSP_PI'])], ['1.2.3.4', 'PSP_PI'], '', ''],
    ['texts of other kinds', [sequence(), BMP, PRINTABLE], [], 'Bank \u00e8', 'IT-BI'],
    ['explicit tags', [...explicit, tagged(tagged(utf8('IT-BI')))], ['PSP_PI'], 'BI', 'IT-BI'],
    ['an implicit tag', [sequence(), implicit, utf8('IT-BI')], [], 'B\u00e8', 'IT-BI'],
    ['the roles that came later', [roles(...later)], LATER, '', ''],
    ['a role with another name than its identifier', [roles([PISP, 'PSP_AI'])], ['PSP_PI'], '', ''],
    ['an authority that is no text', [sequence(), sequence(utf8('BI')), utf8('IT-BI')], [], '', 'IT-BI'],
  ])('psd2 reads a PSD2 statement with %s', (_, content, found, ncaName, ncaId) => {
    const der = encoded(sequence(sequence(PSD2, sequence(...content))));
    expect(decodeQcStatements(der)).toEqual({ ...NONE, psd2: { roles: found, ncaName, ncaId } });
  });

  it.each([
    ['an indefinite length', '30800000'],
    ['an indefinite length of a statement', '300c3080060604008e4601010000'],
    ['an indefinite length before 128 octets', `3080${'00'.repeat(128)}`],
    ['a length of nine octets', '3089000000000000000001'],
    ['a tag without a length', '30'],
    ['a length that is cut off', '308201'],
    ['less content than its length says', '300230'],
    ['a good statement before a bad one', '30043000300c'],
  ])('psd2 refuses %s', (_, der) => {
    expect(thrownBy(() => decodeQcStatements(Buffer.from(der, 'hex')))).toMatchObject({
      code: 'certificate',
      message: 'The qcStatements of the certificate are not valid DER',
      hint: 'Ask the certificate authority for a correct certificate.',
    });
  });

  it('psd2 reads lengths of four octets and names with accents', () => {
    const name = `0c84${'00000003'}${Buffer.from('\u00e8!').toString('hex')}`;
    const content = Buffer.concat([Buffer.from('3000', 'hex'), Buffer.from(name, 'hex')]);
    const info = Buffer.concat([Buffer.from([0x30, content.length]), content]);
    const statement = Buffer.concat([encoded(PSD2), info]);
    const list = Buffer.concat([
      Buffer.from([0x30, statement.length + 2, 0x30, statement.length]),
      statement,
    ]);
    expect(decodeQcStatements(list).psd2).toEqual({ roles: [], ncaName: '\u00e8!', ncaId: '' });
  });
});
