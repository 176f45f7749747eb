import { expect, it } from 'vitest';
import {
  cardNumbersIn,
  isWholeCardNumber,
  looksLikeCardNumber,
  maskedCardNumber,
  maskedJson,
  surelyMasked,
  withoutCardNumbers,
} from '../../../src/domain/order/card-number.ts';

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

/** Nothing but its place says that it is the number of a card: its check digit is wrong. */
const ODD = '5254121234563242';
const ODD_MASKED = '525412******3242';
const CARDS: Record<string, (pan: string) => object> = {
  'the field itself': (pan) => ({ pan }),
  'a list': (pan) => ({ pans: ['', pan] }),
  'an object': (pan) => ({ pan: { value: pan } }),
  'an object in an object': (pan) => ({ card_number: { given: { text: pan } } }),
  'a list of objects': (pan) => ({ pan: [{ value: '' }, { value: pan }] }),
  'a list in a list': (pan) => ({ pan: [[pan]] }),
  'an object of another name': (pan) => ({ account: { currency: 'EUR', pan } }),
};

it.each(Object.entries(CARDS))('a number that is known by its field alone is masked in %s', (_, having) => {
  expect(maskedJson(having(ODD))).toEqual(having(ODD_MASKED));
});

it.each<[string, (pan: string) => object]>([
  ...Object.entries(CARDS),
  ['a field of another name', (pan) => ({ other: pan })],
  ['a list of another name', (pan) => ({ others: [pan], deep: [{ other: pan }] })],
  ['a field for another number', (pan) => ({ iban: pan, bban: [pan] })],
  ['the name of a field', (pan) => ({ [pan]: true, deep: { [pan]: { deeper: [pan] } } })],
])('a number that the request has named is masked in %s', (_, having) => {
  expect(maskedJson(having(ODD), [ODD])).toEqual(having(ODD_MASKED));
});

it.each([{ other: [ODD] }, { other: { pans: 'none', value: ODD } }, { pan: '', after: ODD }, [ODD]])(
  'a number that nothing names stays: %j',
  (said) => {
    expect(maskedJson(said)).toEqual(said);
  },
);

it('between ids of the same digits each number is masked', () => {
  const id = `a1b2${PAN}aabbcc`;
  for (const [text, shown] of [
    [`${id} ${PAN} ${id}`, `${id} ${MASKED} ${id}`],
    [`${PAN} ${id} ${id} ${PAN}`, `${MASKED} ${id} ${id} ${MASKED}`],
    [`${PAN}; ${id}; ${PAN}`, `${MASKED}; ${id}; ${MASKED}`],
  ] as const)
    expect(withoutCardNumbers(text)).toBe(shown);
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

/** As many digits. */
const digits = (count: number) => '4'.repeat(count);

it.each<[string, boolean]>([
  [digits(11), false],
  [digits(12), true],
  [digits(19), true],
  [digits(20), false],
  ['5254 1212-3456.3241', true],
  [` ${PAN}\n`, true],
  [`x${PAN}`, false],
  [`${PAN}x`, false],
  ['5254_1212_3456_3241', false],
  [MASKED, false],
  ['', false],
])('%s is nothing but the number of a card: %s', (text, isOne) => {
  expect(isWholeCardNumber(text)).toBe(isOne);
});

it.each<[string, boolean]>([
  ...[
    '',
    'pan',
    'PAN:',
    'card',
    'Card number: ',
    'card no. ',
    'CardNr ',
    'masked pan=',
    'card-pan ',
    '#',
  ].map((word): [string, boolean] => [`${word}${PAN}`, true]),
  ...['5254 1212 3456 3241', '5254_1212/3456.3241', `"${PAN}"`, `${digits(12)}`, `${digits(19)} `].map(
    (text): [string, boolean] => [text, true],
  ),
  ...[
    digits(11),
    digits(20),
    `visa ${PAN}`,
    `card of ${PAN}`,
    `${PAN} card`,
    'DE89370400440532013000',
    '',
  ].map((text): [string, boolean] => [text, false]),
])('%s seems to name a card by its number: %s', (text, isOne) => {
  expect(looksLikeCardNumber(text)).toBe(isOne);
});

it.each([
  ['1234567890123', '123456***0123'],
  ['123456789012', '********9012'],
  ['12345', '*2345'],
  ['1234', '1234'],
  ['5254 1212-3456.3241', MASKED],
  // The bank has masked it.
  ['5254 12** **** 3241', MASKED],
  ['****', '****'],
])('%s is kept as %s', (number, kept) => {
  expect(maskedCardNumber(number)).toBe(kept);
});

it.each([
  ['525412xxxxxx3241', '525412xxxxxx3241'],
  ['5254 123x xxxx 3241', '5254 123x xxxx 3241'],
  ['5254 1234 xxxx 3241', '525412******3241'],
  ['xxxx1234567', 'xxxx1234567'],
  ['xxxx12345678', '********5678'],
])('%s, which the bank should have masked, is kept as %s', (number, kept) => {
  expect(surelyMasked(number)).toBe(kept);
});

it.each<[unknown, string[]]>([
  [undefined, []],
  [null, []],
  [PAN, []],
  [{}, []],
  [{ pan: 'A234567' }, []],
  [{ pan: 'A2345678' }, ['A2345678']],
  [{ pan: 'A234567-' }, []],
  [{ pan: '5254 1212' }, []],
  [{ pan: 52_541_212 }, []],
  [{ other: PAN }, []],
  [{ card_no: PAN, 'card-nr': digits(12), cardNumber: digits(13) }, [PAN, digits(12), digits(13)]],
  [{ cardNote: PAN, company: PAN, panel: PAN }, []],
  [[{ list: [{ pan: PAN }, null, { deep: { pan: digits(16) } }] }], [PAN, digits(16)]],
])('the request %j names the cards %j', (body, numbers) => {
  expect(cardNumbersIn(body)).toEqual(numbers);
});
