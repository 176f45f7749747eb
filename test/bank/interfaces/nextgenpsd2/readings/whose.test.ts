import { describe, expect, it } from 'vitest';
import {
  knownIban,
  listedCurrency,
  ownIban,
  refuseOtherCurrency,
  refuseOtherNumber,
  sameIban,
} from '../../../../../src/bank/interfaces/nextgenpsd2/readings/whose.ts';
import type { Calls } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/calls.ts';
import { Psd2Error } from '../../../../../src/errors.ts';
import { aboutAnother, errorOf, failureOf, scriptedCalls, TRANSACTION_ID } from '../scripted.ts';

// Whose account an answer is about: what another account says must never be used, and what says nothing must not stop a reading.

const OWN = 'DE89370400440532013000';
const OTHER = 'DE02100100109307118603';
const ABOUT = { productId: 'a1', transactionId: TRANSACTION_ID };

interface Known {
  /** The IBAN that a list had. Null: none. Undefined: no list had the account. */
  listed?: string | null;
  noted?: string;
  /** What a list says, if psd2 reads one. */
  list?: () => Promise<string | null>;
}

function callsWith({ listed, noted, list }: Known = {}) {
  const { calls } = scriptedCalls(
    [],
    {},
    {
      for: () => Promise.reject(new TypeError('Nothing is read')),
      ibanOf: (account) => (account === 'a1' ? noted : undefined),
    },
  );
  let asked = 0;
  const whole: Calls = {
    ...calls,
    async list() {
      asked += 1;
      const iban = await list?.();
      if (iban !== undefined) calls.ibans.set('a1', iban);
      return [];
    },
  };
  if (listed !== undefined) whole.ibans.set('a1', listed);
  return { calls: whole, asked: () => asked };
}

it.each([
  [OWN, 'de89 3704 0044 0532 0130 00', true],
  [OWN, ` ${OWN}\t`, true],
  [OWN, OTHER, false],
  [OWN, `${OWN}0`, false],
  ['', ' ', true],
])('%j and %j are the same IBAN: %s', (one, other, same) => {
  expect([sameIban(one, other), sameIban(other, one)]).toEqual([same, same]);
});

describe('the IBAN of an account', () => {
  it.each<[string, string, Known, string | null | undefined]>([
    ['is its id, if that is one', OWN, { listed: OTHER }, OWN],
    ['is that of the list', 'a1', { listed: OWN, noted: OTHER }, OWN],
    ['is that of the consent, if no list had it', 'a1', { noted: OWN }, OWN],
    ['is that of the consent, if the list has none', 'a1', { listed: null, noted: OWN }, OWN],
    ['is unknown', 'a1', {}, undefined],
    ['is none that is too short', 'DE8937040044', {}, undefined],
    ['is none in small letters', OWN.toLowerCase(), {}, undefined],
  ])('%s', (_, account, known, iban) => {
    expect(knownIban(callsWith(known).calls, account)).toBe(iban);
  });

  const failing = (code: 'forbidden' | 'interrupted') => () =>
    Promise.reject(new Psd2Error(code, 'The list failed'));
  it.each<[string, Known, string | null, string | null, number]>([
    ['a list had it, and the answer names none', { listed: OWN }, null, OWN, 0],
    ['both have it', { listed: OWN }, 'de89 3704 0044 0532 0130 00', OWN, 0],
    ['the answer alone, after a list without it', { listed: null }, OTHER, OTHER, 0],
    ['nobody has it', {}, null, null, 0],
    ['a list that psd2 reads for it', { list: async () => OWN }, OWN, OWN, 1],
    ['the answer, as a list does not have the account', { list: async () => null }, OTHER, OTHER, 1],
    ['the answer, as no list can be read', { list: failing('forbidden') }, OTHER, OTHER, 1],
  ])('is known if %s', async (_, known, named, iban, lists) => {
    const { calls, asked } = callsWith(known);
    expect(await ownIban(calls, ABOUT, named)).toBe(iban);
    expect(asked()).toBe(lists);
    // The list is read once.
    expect(await ownIban(calls, ABOUT, named)).toBe(iban);
    expect(asked()).toBe(lists);
  });

  it('is not looked for in a list where psd2 may not ask', async () => {
    const { calls, asked } = callsWith({ list: async () => OWN });
    expect([await ownIban(calls, ABOUT, OTHER, false), asked()]).toEqual([OTHER, 0]);
  });

  it.each<[string, Known]>([
    ['a list', { listed: OWN }],
    ['a consent', { noted: OWN }],
    ['a list that psd2 reads', { list: async () => OWN }],
  ])('is another one than the answer names, by %s', async (_, known) => {
    const failure = await failureOf(ownIban(callsWith(known).calls, ABOUT, OTHER));
    expect(failure).toEqual(aboutAnother('account', OTHER, `a1 (${OWN})`));
  });

  it('is not guessed if somebody interrupts psd2, or psd2 has a fault', async () => {
    const interrupted = callsWith({ list: failing('interrupted') }).calls;
    expect(await failureOf(ownIban(interrupted, ABOUT, OTHER))).toMatchObject({ code: 'interrupted' });
    const faulty = callsWith({ list: () => Promise.reject(new TypeError('A fault')) }).calls;
    await expect(ownIban(faulty, ABOUT, OTHER)).rejects.toBeInstanceOf(TypeError);
  });
});

describe('the number of an account', () => {
  const AUSTRIAN = 'AT611904300234573201';
  const FRENCH = 'FR1420041010050500013M02606';
  const refused = async (own: string, named: string | null) => {
    const error = await refuseOtherNumber(callsWith({ listed: own }).calls, ABOUT, named).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error !== null) expect(error).toMatchObject({ code: 'bank_answer' });
    return error !== null;
  };

  it.each<[string, string | null]>([
    [OWN, null],
    [OWN, ''],
    [OWN, 'KONTO-1'],
    [OWN, '0532013000'],
    [OWN, '532013000'],
    [OWN, '37040044/0532013000'],
    [OWN, '37040044/532013000'],
    [OWN, '37040044 0532 013000 EUR'],
    [OWN, '37040044/0532013000/EUR'],
    [OWN, 'EUR0532013000'],
    // Without the sub-account 00, and what is too long for a number.
    [OWN, '5320130'],
    [OWN, '99999999999'],
    [OWN, '370400440532013001'.padEnd(19, '0')],
    // Of another country: shorter than its numbers.
    [AUSTRIAN, '00234573201'],
    [AUSTRIAN, '234573201'],
    [AUSTRIAN, '1904300234573201'],
    [AUSTRIAN, '9999'],
    [FRENCH, '123'],
  ])('of %s can be %j', async (own, named) => {
    expect(await refused(own, named)).toBe(false);
  });

  it.each<[string, string]>([
    [OWN, '0532013001'],
    [OWN, '532013001'],
    [OWN, '1'],
    [OWN, '9999999999'],
    [OWN, '37040044/0532013001'],
    [OWN, '37040044/532013001'],
    [OWN, '37040045/0532013000'],
    [OWN, '370400440532013001'],
    [OWN, 'EUR0532013001'],
    [AUSTRIAN, '1904300234573202'],
  ])('of %s cannot be %j', async (own, named) => {
    expect(await refused(own, named)).toBe(true);
  });

  it('says nothing of an account whose IBAN nobody knows', async () => {
    const { calls, asked } = callsWith({ list: async () => null });
    await refuseOtherNumber(calls, ABOUT, '0532013001');
    expect(asked()).toBe(1);
    const unasked = callsWith({ list: async () => OWN });
    for (const named of [null, '', '-/-']) await refuseOtherNumber(unasked.calls, ABOUT, named);
    expect(unasked.asked()).toBe(0);
  });

  it('is looked for in a list, if no list had the account', async () => {
    const { calls } = callsWith({ list: async () => OWN });
    expect(await failureOf(refuseOtherNumber(calls, ABOUT, '0532013001'))).toEqual(
      aboutAnother('account', '0532013001', `a1 (${OWN})`),
    );
  });
});

describe('the currency of an account', () => {
  const inCurrency = (listed: string | undefined, noted?: string) => {
    const { calls } = callsWith();
    if (listed !== undefined) calls.currencies.set('a1', listed);
    const consents = calls.settings.consents;
    if (!consents) throw new TypeError('There are consents here');
    return {
      ...calls,
      settings: { ...calls.settings, consents: { ...consents, currencyOf: () => noted ?? '' } },
    };
  };

  it.each<[string | undefined, string | undefined, string | undefined]>([
    ['EUR', 'USD', 'EUR'],
    ['', 'USD', 'USD'],
    [undefined, 'USD', 'USD'],
    ['', undefined, undefined],
    [undefined, undefined, undefined],
  ])('in a list %j, and by the consent %j, is %j', (listed, noted, currency) => {
    expect(listedCurrency(inCurrency(listed, noted), 'a1')).toBe(currency);
  });

  it.each<[string | undefined, string | null]>([
    ['EUR', null],
    ['EUR', 'EUR'],
    ['EUR', 'XXX'],
    ['EUR', 'EURO'],
    ['EUR', ''],
    ['XXX', 'USD'],
    ['', 'USD'],
    [undefined, 'USD'],
  ])('that is listed as %j does not contradict %j', (listed, named) => {
    expect(() => refuseOtherCurrency(inCurrency(listed), ABOUT, named, OWN)).not.toThrow();
  });

  it('that is another one is refused, with the IBAN if it is known', () => {
    expect(errorOf(() => refuseOtherCurrency(inCurrency('EUR'), ABOUT, 'USD', OWN))).toEqual(
      aboutAnother('account', `${OWN}:USD`, `a1 (${OWN}:EUR)`),
    );
    expect(errorOf(() => refuseOtherCurrency(inCurrency('EUR'), ABOUT, 'USD', null))).toEqual(
      aboutAnother('account', 'a1:USD', 'a1 (a1:EUR)'),
    );
  });
});
