import { describe, expect, it } from 'vitest';
import {
  accountReferenceOf,
  isMaskedReference,
  maskedReference,
  numberSource,
  parseAccountReference,
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

  it.each(['pan:5254121234563241', 'bban:1', IBAN, 'pan:'])('%s names no place', (text) => {
    expect(numberSource(text)).toBeUndefined();
    expect(maskedReference('bban:1')).toBe('bban:1');
  });

  it('a number that cannot be one is refused without being shown', () => {
    expect(() => numberSource('pan:-')?.read('5254 **** 3241')).toThrow(
      'What follows "pan:" has 8 to 35 digits or letters',
    );
  });
});
