import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSignatureCertificate } from '../../../../src/sandbox/nextgenpsd2/strict/signature-certificate.ts';
import { rawRequest } from '../../strict/raw.ts';
import { registered, stranger } from '../../strict/registered.ts';
import { answerTo } from '../refused.ts';

const NAME = 'TPP-Signature-Certificate';
const { qwac, qseal } = registered;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const FORMS = ['der', 'pem', 'pem-line'] as const;

/** A certificate in each form. */
const formsOf = (certificate: typeof qseal) => ({
  der: certificate.raw.toString('base64'),
  pem: base64(certificate.toString()),
  'pem-line': certificate.toString().replaceAll('\n', ''),
});

const EXPECTED = {
  der: 'the DER in base64, on one line',
  pem: 'the PEM text in base64, on one line',
  'pem-line': 'the PEM text without line breaks',
};

const check = (value: string, form?: (typeof FORMS)[number]) =>
  answerTo(() => checkSignatureCertificate(rawRequest({ headers: [[NAME, value]] }), form, registered));

const otherForm = (form: (typeof FORMS)[number], received: string) =>
  `401 CERTIFICATE_INVALID ${NAME}: ${NAME} has another form. Expected: ${EXPECTED[form]}. Received: ${received}.`;
const sha256 = (der: Buffer) => `SHA-256 ${createHash('sha256').update(der).digest('hex')}`;
const other = (says: string, der: Buffer) =>
  `401 CERTIFICATE_INVALID ${NAME}: ${NAME} ${says}. Expected: ${sha256(qseal.raw)}. Received: ${sha256(der)}.`;

test.each(FORMS)('the QSealC is right in the form that the bank takes, or in any: %s', (form) => {
  const value = formsOf(qseal)[form];
  expect([check(value, form), check(value)]).toEqual(['taken', 'taken']);
});

test.each([
  ['pem-line', 'der'],
  ['pem-line', 'pem'],
  ['der', 'pem'],
  ['der', 'pem-line'],
  ['pem', 'pem-line'],
] as const)('%s has another form than %s', (form, taken) => {
  const value = formsOf(qseal)[form];
  expect(check(value, taken)).toBe(otherForm(taken, value));
});

test('the PEM in base64 is no DER of the QSealC', () => {
  const { pem } = formsOf(qseal);
  expect(check(pem, 'der')).toBe(other('is not the registered QSealC', Buffer.from(pem, 'base64')));
});

test.each(FORMS)('another certificate is refused with its fingerprint: %s', (form) => {
  const isQwac = 'is the QWAC, but must be the QSealC';
  expect(check(formsOf(qwac)[form], form)).toBe(other(isQwac, qwac.raw));
  expect(check(formsOf(stranger)[form], form)).toBe(other('is not the registered QSealC', stranger.raw));
});

test.each<[what: string, value: string]>([
  ['nothing', ''],
  ['no base64', '%%%'],
  ['a line break in base64', `${formsOf(qseal).der}\n`],
  ['a byte too much in base64', `${formsOf(qseal).der}=`],
  ['base64 for addresses', Buffer.from([255, 255, 254]).toString('base64url')],
])('%s is a certificate in no form', (_, value) => {
  expect(FORMS.map((form) => check(value, form))).toEqual(FORMS.map((form) => otherForm(form, value)));
  expect(check(value)).toBe(otherForm('der', value));
});

test.each<[what: string, value: string]>([
  ['a text before it', `x${formsOf(qseal)['pem-line']}`],
  ['a text after it', `${formsOf(qseal)['pem-line']}x`],
  ['another name', formsOf(qseal)['pem-line'].replaceAll('CERTIFICATE', 'KEY')],
])('a PEM with %s is none', (_, value) => {
  expect(check(value, 'pem-line')).toBe(otherForm('pem-line', value));
  expect(check(base64(value), 'pem')).toBe(otherForm('pem', base64(value)));
});

test.each(['\n', '\r\n'])('the lines of a PEM end with %j', (end) => {
  expect(check(base64(qseal.toString().replaceAll('\n', end)), 'pem')).toBe('taken');
});

test('a request without it is refused', () => {
  expect(answerTo(() => checkSignatureCertificate(rawRequest(), 'der', registered))).toBe(
    `401 CERTIFICATE_MISSING ${NAME}: The request has no ${NAME}.`,
  );
});
