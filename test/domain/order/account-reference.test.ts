import { describe, expect, it } from 'vitest';
import {
  accountReferenceOf,
  isMaskedReference,
  maskedAccess,
  maskedReference,
  numberSource,
  parseAccountReference,
  referenceToAsk,
} from '../../../src/domain/order/account-reference.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { thrownBy } from '../../support/thrown.ts';

const IBAN = 'DE89370400440532013000';
const PAN = '5254121234563241';
const MASKED = '525412******3241';

describe('a reference to an account', () => {
  it.each([
    ['de89 3704 0044 0532 0130 00', IBAN, ['iban', IBAN, null]],
    [`${IBAN}:usd`, `${IBAN}:USD`, ['iban', IBAN, 'USD']],
    [` ${IBAN}:usd\n`, `${IBAN}:USD`, ['iban', IBAN, 'USD']],
    [` BBAN: 12-3 :chf `, 'bban:123:CHF', ['bban', '123', 'CHF']],
    ['MSISDN:123456', 'msisdn:123456', ['msisdn', '123456', null]],
    // Three letters after the kind are its id.
    ['bban:ABC', 'bban:ABC', ['bban', 'ABC', null]],
    ['bban:ABC:EUR', 'bban:ABC:EUR', ['bban', 'ABC', 'EUR']],
    ['bban:3704 0044-0532013000', 'bban:370400440532013000', ['bban', '370400440532013000', null]],
    ['maskedpan:5254 12** **** 3241', 'maskedPan:525412******3241', ['maskedPan', '525412******3241', null]],
    ['msisdn:+49 170 1234567:EUR', 'msisdn:+491701234567:EUR', ['msisdn', '+491701234567', 'EUR']],
  ] as const)('%s is written %s', (text, written, [kind, id, currency]) => {
    expect(parseAccountReference(text)).toBe(written);
    expect(accountReferenceOf(written)).toEqual({ kind, id, currency });
  });

  it.each([
    ['DE00370400440532013000', /check digits/],
    ['iban:DE89370400440532013000', /knows no account "iban:"/],
    ['bban:', /1 to 30 letters and digits/],
    ['msisdn:call me', /6 to 15 digits/],
    ['maskedPan:***', /8 to 35 digits/],
    // A currency has three letters, and follows an account.
    [`${IBAN}:EURO`, /./],
    [`${IBAN}:E1R`, /./],
    ['bban:12:EURO', /1 to 30 letters and digits/],
    [':EUR', /IBAN/],
    ['xbban:1', /knows no account "xbban:"/],
    ['bban:12_3', /1 to 30 letters and digits/],
    ['maskedPan:12345678', /of which some are/],
    ['maskedPan:1234abcd', /of which some are/],
    ['msisdn:49+170123', /6 to 15 digits/],
    ['msisdn:++49170123', /6 to 15 digits/],
    ['pan:5254121234563241', /full card number/],
    ['5254 1212-3456 3241', /full card number/],
    ['5254.1212.3456.3241', /full card number/],
    ['pan=5254121234563241', /full card number/],
    ['pan :5254121234563241', /full card number/],
    ['Card number: 5254121234563241', /full card number/],
    ['visa 5254121234563241', /525412\*{6}3241/],
    ['maskedPan:5254121234563241', /full card number/],
  ])('%s is refused in words of its own', (text, message) => {
    const refused = () => parseAccountReference(text);
    expect(refused).toThrow(Psd2Error);
    expect(refused).toThrow(message);
    expect(thrownBy(refused)).toMatchObject({
      context: expect.objectContaining({ hint: expect.not.stringContaining('payee') }),
    });
    expect(refused).not.toThrow(/5254.?1212/);
  });
});

describe('the length of a reference', () => {
  it.each([
    ['bban', 'a', 1, 30],
    ['maskedPan', 'x', 8, 35],
    ['msisdn', '1', 6, 15],
  ] as const)('of the kind %s, of characters like %s, is from %i to %i', (kind, sign, least, most) => {
    const read = (length: number) => parseAccountReference(`${kind}:${sign.repeat(length)}`);
    for (const length of [least, most]) expect(read(length)).toBe(`${kind}:${sign.repeat(length)}`);
    for (const length of [least - 1, most + 1])
      expect(() => read(length)).toThrow(`"${kind}:" has ${least} to`);
  });

  it('of the number of a card is from 8 to 35, and a plus makes the number of a phone no longer', () => {
    const read = (number: string) => numberSource('pan:-')?.read(number);
    for (const length of [8, 35]) expect(read('a'.repeat(length))).toBe(`pan:${'a'.repeat(length)}`);
    for (const length of [0, 7, 36]) expect(() => read('a'.repeat(length))).toThrow('8 to 35 digits');
    expect(() => read('TOKEN_12345')).toThrow('8 to 35 digits or letters');
    expect(parseAccountReference(`msisdn:+${'1'.repeat(15)}`)).toBe(`msisdn:+${'1'.repeat(15)}`);
    expect(() => parseAccountReference('msisdn:+12345')).toThrow('6 to 15 digits');
  });
});

it.each<[string, ReturnType<typeof accountReferenceOf>]>([
  [IBAN, { kind: 'iban', id: IBAN, currency: null }],
  ['0000012345', { kind: 'iban', id: '0000012345', currency: null }],
  ['xbban:12345', { kind: 'iban', id: 'xbban:12345', currency: null }],
  ['BBAN:12345', { kind: 'iban', id: 'BBAN:12345', currency: null }],
  ['bban:12:34', { kind: 'bban', id: '12:34', currency: null }],
  ['bban:', { kind: 'bban', id: '', currency: null }],
  [`${IBAN}:EURO`, { kind: 'iban', id: `${IBAN}:EURO`, currency: null }],
])('what is stored as %s names %j', (written, reference) => {
  expect(accountReferenceOf(written)).toEqual(reference);
});

it('what a consent covers is shown without the whole numbers of cards', () => {
  const access = {
    type: 'detailed',
    ...{ accounts: [IBAN, `pan:${PAN}`], balances: [`pan:${PAN}:EUR`], transactions: [] },
    ...{ account: `pan:${PAN}`, cardNumber: PAN, cardExpiryDate: '2027-01-31' },
    // A text that is no account stays, and what is no text.
    ...{ cardInformation: `pan:${PAN}`, registrationInformation: null, additional: { account: PAN } },
  };
  expect(maskedAccess(access)).toEqual({
    ...{ ...access, accounts: [IBAN, `pan:${MASKED}`], balances: [`pan:${MASKED}:EUR`] },
    ...{ account: `pan:${MASKED}`, cardNumber: MASKED },
  });
  const plain = { account: `maskedPan:${MASKED}`, type: 'funds' };
  expect(maskedAccess(plain)).toEqual(plain);
});

it.each([
  [`pan:${MASKED}`, 'pan:@FILE'],
  [`pan:${MASKED}:EUR`, 'pan:@FILE:EUR'],
  [IBAN, IBAN],
  [`${IBAN}:EUR`, `${IBAN}:EUR`],
  [`maskedPan:${MASKED}`, `maskedPan:${MASKED}`],
])('a command that asks for %s again has %s', (written, asked) => {
  expect(referenceToAsk(written)).toBe(asked);
});

describe('the number of a card', () => {
  it.each([
    ['pan:-', '-', '5254 1212-3456 3241', `pan:${PAN}`, `pan:${MASKED}`],
    [' PAN:@/run/card:eur', '@/run/card', `${PAN}\n`, `pan:${PAN}:EUR`, `pan:${MASKED}:EUR`],
    ['pan:@card', '@card', 'token12345', 'pan:token12345', 'pan:******2345'],
  ])('%s comes from %s, and is kept without the middle', (text, source, number, written, kept) => {
    const found = numberSource(text);
    expect([found?.source, found?.read(number)]).toEqual([source, written]);
    expect([maskedReference(written), maskedReference(kept)]).toEqual([kept, kept]);
    expect([isMaskedReference(written), isMaskedReference(kept)]).toEqual([false, true]);
    expect(accountReferenceOf(kept).kind).toBe('pan');
  });

  it.each([
    ...[
      'pan:5254121234563241',
      'bban:1',
      IBAN,
      'pan:',
      'pan:@',
      'xpan:-',
      'pan:-x',
      'pan:-:EU',
      'pan:-:EURO',
    ],
    ...['pan:-:EUR x', '@card', 'maskedPan:-'],
  ])('%s names no place', (text) => {
    expect(numberSource(text)).toBeUndefined();
    expect(maskedReference('bban:1')).toBe('bban:1');
  });

  it('a number that cannot be one is refused without being shown', () => {
    expect(() => numberSource('pan:-')?.read('5254 **** 3241')).toThrow(
      'What follows "pan:" has 8 to 35 digits or letters',
    );
  });
});

it('only the number of a card that is masked counts as such', () => {
  expect(isMaskedReference(`maskedPan:${MASKED}`)).toBe(false);
  expect(isMaskedReference('bban:12*3')).toBe(false);
  expect(isMaskedReference(`pan:${MASKED}:EUR`)).toBe(true);
});
