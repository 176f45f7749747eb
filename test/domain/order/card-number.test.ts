import { expect, it } from 'vitest';
import { cardNumbersIn, maskedJson, withoutCardNumbers } from '../../../src/domain/order/card-number.ts';

const PAN = '5254121234563241';
const IBANS = 'DE89370400440532013000, DE40 5254 1212 3456 3241 00';
const MASKED = '525412******3241';

it.each([
  [`card ${PAN}.`, `card ${MASKED}.`],
  [`(5254 1212 3456 3241), 5254-1212-3456-3241`, `(${MASKED}), ${MASKED}`],
  ['Amex 3714 496353 98431', 'Amex 371449*****8431'],
  // However it is written, and wherever: in an address, after a day, in an id.
  ...['%20', '%2520', '/', '_', ' - ', '·', '+', ', ', '\u00a0', '%2F'].map((sign): [string, string] => [
    `/x/${['5254', '1212', '3456', '3241'].join(sign)}/y`,
    `/x/${MASKED}/y`,
  ]),
  [[...PAN].join(' '), MASKED],
  [[...PAN].join('/'), MASKED],
  ['52/54/12/12/34/56/32/41', MASKED],
  ['52541-2123/4563 241', MASKED],
  ['3714/496353.98431', '371449*****8431'],
  [`29.11.2026 5254 1212 3456 3241, 10:15`, `29.11.2026 ${MASKED}, 10:15`],
  [`2026-11-29 ${PAN} 12`, `2026-11-29 ${MASKED} 12`],
  [`card-${PAN}-x, acc${PAN}x`, `card-${MASKED}-x, acc${MASKED}x`],
  ['4222 2222 2222 2', '422222***2222'],
  // The digits of others stay: no check digit, a time, an IBAN, a UUID, a longer number.
  ['number 5254121234563242', 'number 5254121234563242'],
  ['at 202611271206', 'at 202611271206'],
  [IBANS, IBANS],
  [`${PAN}0000 5254 1212 3456 3241 0000 0000`, `${PAN}0000 5254 1212 3456 3241 0000 0000`],
  [`a1b2${PAN}aabbcc`, `a1b2${PAN}aabbcc`],
  ['52541212-3456-4324-8123-abc456789012', '52541212-3456-4324-8123-abc456789012'],
  ['29.11.2026 10:15:30, 12.50, 1.234,50', '29.11.2026 10:15:30, 12.50, 1.234,50'],
  [`nothing\n5254 1212\n3456 3241`, `nothing\n5254 1212\n3456 3241`],
])('%s is shown as %s', (text, shown) => {
  expect(withoutCardNumbers(text)).toBe(shown);
});

it('a number that a request names is masked whatever its form', () => {
  const known = cardNumbersIn({
    ...{ account: { pan: 'TOKEN12345' }, cardNumber: '5254121234563242', cardInformation: PAN },
    access: { accounts: [{ pan: '4000-1', iban: 'DE89370400440532013000' }, { maskedPan: MASKED }] },
  });
  expect(known).toEqual(['TOKEN12345', '5254121234563242']);
  expect(withoutCardNumbers('token12345 and 5254.1212%203456/3242', known)).toBe(
    '******2345 and 525412******3242',
  );
});

it.each<[string, (pan: string | number) => object]>([
  ['in the fields of a card', (pan) => ({ pan, PAN: [pan], cardPan: { value: pan }, card_number: pan })],
  ['in any other field', (pan) => ({ maskedPan: pan, other: pan, list: [pan] })],
  ['as the name of a field', (pan) => ({ [pan]: true, deep: [{ pan, currency: 'EUR' }] })],
])('a number is masked %s', (_, having) => {
  for (const pan of [PAN, Number(PAN)]) expect(maskedJson(having(pan))).toEqual(having(MASKED));
});

it('a token in place of a number is masked', () => {
  expect(maskedJson({ cardNo: 'TOKEN12345' })).toEqual({ cardNo: '******2345' });
});

it.each([
  { maskedPan: '525412xxxxxx3241' },
  { maskedPan: MASKED },
  { iban: PAN, bban: PAN, msisdn: PAN, resourceId: PAN, href: `/v1/${PAN}` },
  { companyId: 'company 12345678', panel: 'x', count: 1234, day: '2026-11-27', none: null, yes: true },
])('%j stays', (said) => {
  expect(maskedJson(said)).toEqual(said);
});
