import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSignatureHeader } from '../../../src/sandbox/strict/signature-header.ts';
import { answerTo } from './raw.ts';

const PARTS = [
  'keyId="app"',
  'algorithm="rsa-sha256"',
  'headers="(request-target) date"',
  'signature="AAEC/w=="',
];
const RIGHT = PARTS.join(',');
const EXPECTED = 'keyId="<application name>",algorithm="rsa-sha256",headers="...",signature="<base64>"';

describe('the Signature header', () => {
  it('the bank reads the four parts in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(PARTS, { minLength: PARTS.length }), (parts) => {
        expect(parseSignatureHeader(parts.join(','))).toEqual({
          keyId: 'app',
          algorithm: 'rsa-sha256',
          headers: '(request-target) date',
          signature: Buffer.from([0, 1, 2, 255]),
        });
      }),
    );
  });

  it.each(['keyId', 'algorithm', 'headers', 'signature'])(
    'the header must have %s, and not empty',
    (name) => {
      const without = PARTS.filter((part) => !part.startsWith(name)).join(',');
      for (const value of [without, `${without},${name}=""`])
        expect(answerTo(() => parseSignatureHeader(value))).toEqual([
          'SIGNATURE_MALFORMED',
          `The Signature header has no ${name}`,
          `Expected: ${EXPECTED}. Received: ${value}.`,
        ]);
    },
  );

  it.each([
    [`${RIGHT},created="1"`, 'The Signature header has the unknown part created', undefined],
    [`${RIGHT},keyId="app"`, 'The Signature header has keyId twice', undefined],
    [RIGHT.replace('AAEC/w==', 'AAEC/w='), 'The signature is not base64', 'AAEC/w='],
    [RIGHT.replace('AAEC/w==', 'AAEC_w=='), 'The signature is not base64', 'AAEC_w=='],
    [RIGHT.replace('AAEC/w==', 'AAEC /w=='), 'The signature is not base64', 'AAEC /w=='],
  ])('the bank refuses %s', (value, message, received = value) => {
    expect(answerTo(() => parseSignatureHeader(value))).toEqual([
      'SIGNATURE_MALFORMED',
      message,
      `Expected: ${EXPECTED}. Received: ${received}.`,
    ]);
  });

  const [first = '', ...others] = PARTS;
  it.each([
    ['spaces after commas', PARTS.join(', '), ` ${others.join(', ')}`],
    ['a comma at the end', `${RIGHT},`, 'signature="AAEC/w==",'],
    ['no quotes', RIGHT.replace('"app"', 'app'), RIGHT.replace('"app"', 'app')],
    ['the scheme in front', `Signature ${RIGHT}`, `Signature ${RIGHT}`],
    ['a semicolon', `${first},${others.join(';')}`, others.join(';')],
    ['a part without a name', `${RIGHT},="x"`, '="x"'],
    ['a digit in a name', `${RIGHT},key1="x"`, 'key1="x"'],
  ])('the bank shows where the list ends that it can read: %s', (_, value, rest) => {
    expect(answerTo(() => parseSignatureHeader(value))).toEqual([
      'SIGNATURE_MALFORMED',
      'The Signature header is not a list of name="value", separated by commas without spaces',
      `Expected: ${EXPECTED}. Received: ${rest}.`,
    ]);
  });
});
