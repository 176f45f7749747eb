import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pseudonyms } from '../../../src/commands/log/pseudonyms.ts';

/** Collects all texts, and then replaces the ids in each. */
function replaced(...texts: string[]): string[] {
  const pseudonyms = new Pseudonyms();
  for (const text of texts) pseudonyms.collect(text);
  return texts.map((text) => pseudonyms.replace(text));
}

const CUSTOMER = '/private/customers/1048262/products/0010482620';
/** The path of a call that names no customer. */
const NOBODY = '/private/customers/customerid-info';
const IBAN = 'DE89370400440532013000';

describe('the names for customers, accounts and IBANs', () => {
  it.each([
    ['an id in a segment with other text', '/x/acct-0010482620-list', '/x/acct-account-1-list'],
    ['an id in a word', '/x/a1048262b', '/x/acustomer-1b'],
    ['an id in a value', '/x?id=1048262&p=0010482620', '/x?id=customer-1&p=account-1'],
    ['an encoded id', '/x/%31048262', '/x/customer-1'],
    ['an id that is encoded twice', '/x/%2531048262', '/x/customer-1'],
    ['an id in a sentence', 'customer 1048262 is unknown', 'customer customer-1 is unknown'],
    ['an IBAN in a segment', `/x/${IBAN}`, '/x/iban-1'],
    ['an IBAN in a word', `/x/iban${IBAN}x`, '/x/ibaniban-1x'],
    ['an IBAN in lower case', `/x/${IBAN.toLowerCase()}`, '/x/iban-1'],
    ['an IBAN with spaces', 'to DE89 3704 0044 0532 0130 00.', 'to iban-1.'],
    ['an IBAN with encoded spaces', '/x/DE89%203704%200044%200532%200130%2000', '/x/iban-1'],
    ['an IBAN with a blank between its letters and digits', 'DE 8 9370 4004 4053 2013 000', 'iban-1'],
    ['an IBAN in a query', '/x?to=DE+89+3704+0044+0532+0130+00&x=1', '/x?to=iban-1&x=1'],
    ['two IBANs beside each other', `${IBAN} ${IBAN}${IBAN}`, 'iban-1 iban-1iban-1'],
    ['what has one digit too few for an IBAN', 'ID7ABCDEFGHIJK', 'ID7ABCDEFGHIJK'],
    ['what begins as a hexadecimal id', 'ad99370400440532013xyz', 'iban-1'],
    ['an IBAN of a country that has none', 'ZZ89', 'ZZ89'],
    ['an IBAN that is cut off', 'DE8937040044053201', 'iban-1'],
    ['an id after two slashes', '/x/1048262', '/x/customer-1'],
    ['an IBAN with wrong check digits', '/x/DE99370400440532013000/', '/x/iban-1/'],
    ['the path without a customer', NOBODY, NOBODY],
    ['a hexadecimal id', '/x/ad12345678901234567890123456789f', '/x/ad12345678901234567890123456789f'],
    ['what is no encoding', '/x/%zz%ff%31048262', '/x/%zz%ffcustomer-1'],
  ])('psd2 handles %s', (_, text, expected) => {
    // The text comes before the path that shows which numbers are ids.
    expect(replaced(text, CUSTOMER)[0]).toBe(expected);
  });

  const ONE = '/customers/customer-1';
  const BOTH = `${ONE}/products/account-1`;
  it.each([
    // An encoded slash in an id hides neither of its parts.
    ['/customers/10482%2F62000/x|/x/10482/62000|/x/10482', `${ONE}/x|/x/customer-1|/x/customer-2`],
    // A short id is replaced only where it stands alone.
    ['/customers/12/products/345|12 of 1200, 345', `${BOTH}|customer-1 of 1200, account-1`],
    // Upper and lower case name the same, and letters beyond ASCII are letters.
    ['/customers/AbC123/x|abc123 or ABC123', `${ONE}/x|customer-1 or customer-1`],
    ['/customers/caf%C3%A9123/x|/x/café123', `${ONE}/x|/x/customer-1`],
    ['/customers//1048262/x|1048262', '/customers//customer-1/x|customer-1'],
    // The longer of two ids counts where one begins as the other.
    ['/customers/10482/products/1048262|1048262 and 10482', `${BOTH}|account-1 and customer-1`],
    // The same IBAN has the same name in all texts, whatever is around it.
    [`from ${IBAN}|${IBAN.slice(0, 4)} ${IBAN.slice(4)} to x`, 'from iban-1|iban-1 to x'],
  ])('psd2 replaces the ids in the texts %j: %j', (texts, expected) => {
    expect(replaced(...texts.split('|'))).toEqual(expected.split('|'));
  });

  it.each(['/', '?', '#', ' ', '\t', '"', "'", '<', '>', ',', ';', '(', ')'])(
    'the id in a path ends before %j',
    (sign) => {
      const [first, second] = replaced(
        `see /CUSTOMERS/1048262${sign}zz/Products/001048262${sign}yy`,
        '1048262',
      );
      expect([first, second]).toEqual([
        `see /CUSTOMERS/customer-1${sign}zz/Products/account-1${sign}yy`,
        'customer-1',
      ]);
    },
  );

  it.each([...'\\^$.*+?()[]{}|/-'])('an id may have the sign %s, which stands for itself', (sign) => {
    const code = sign.charCodeAt(0).toString(16);
    const texts = [
      `/customers/abc%${code}defgh/x`,
      `no abc${sign}DEFGH here`,
      'abcxdefgh',
      'abcdefgh',
      'abccdefgh',
    ];
    const [, found, ...others] = replaced(...texts);
    expect([found, others]).toEqual(['no customer-1 here', texts.slice(2)]);
  });

  it.each<[string, string]>([
    // An id of five signs is replaced wherever it is, a shorter one alone.
    [
      '/customers/1234/x|1234 x1234 12345 1234-1|/x/1234',
      '/customers/customer-1/x|customer-1 x1234 12345 customer-1-1|/x/customer-1',
    ],
    [
      '/customers/12345/x|x123456 a12345|/x/12345',
      '/customers/customer-1/x|xcustomer-16 acustomer-1|/x/customer-1',
    ],
    [
      '/customers/CustomerID-Info/products/12345|customerid-info',
      '/customers/CustomerID-Info/products/account-1|customerid-info',
    ],
    [
      `/customers/1048262/x|1048262 ${IBAN} 1048262|${IBAN}1048262`,
      '/customers/customer-1/x|customer-1 iban-1 customer-1|iban-1customer-1',
    ],
    // The form of an IBAN has 14 to 34 letters and digits, and stands alone.
    ...[9, 10, 30, 31].map((length): [string, string] => {
      const text = `QX99${'B'.repeat(length)}`;
      const isOne = length === 10 || length === 30;
      return [`to ${text}.|(${text})`, isOne ? 'to iban-1.|(iban-1)' : `to ${text}.|(${text})`];
    }),
    ['qx99BBBBBBBBBB|AQX99BBBBBBBBBC', 'iban-1|AQX99BBBBBBBBBC'],
    ['QXA9BBBBBBBBBB|Q199BBBBBBBBBB', 'QXA9BBBBBBBBBB|Q199BBBBBBBBBB'],
    // Of what is hexadecimal, only small letters are an id of something else.
    ['ad99bbbbbbbbbb|AD99BBBBBBBBBC', 'ad99bbbbbbbbbb|iban-1'],
    // At most one blank may stand between two signs.
    ['to DE89\t3704 0044 0532 0130 00', 'to iban-1'],
    ['to GB29  NWBK 6016 1331 9268 19', 'to GB29  NWBK 6016 1331 9268 19'],
    ['to GB29-NWBK 6016 1331 9268 19', 'to GB29-NWBK 6016 1331 9268 19'],
    ['to GB29 NWBK 6016 1331 9268 1', 'to GB29 NWBK 6016 1331 9268 1'],
    ['GB29 NWBK 6016 1331 9268 19 GB29NWBK60161331926819', 'iban-1 iban-1'],
    // Only what is ASCII is decoded beside a byte that is no UTF-8.
    ['/x/%ff%1f%80%20%7e%2F', '/x/%ff%1f%80 ~/'],
  ])('psd2 replaces in %j: %j', (texts, expected) => {
    expect(replaced(...texts.split('|'))).toEqual(expected.split('|'));
  });

  it('an IBAN that has another one in it is one', () => {
    const bban = 'MALT01100NO9386011117947XYZ';
    const digits = [...`${bban}MT00`].map((sign) => Number.parseInt(sign, 36)).join('');
    const outer = `MT${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${bban}`;
    expect(replaced(`from ${outer} to NO93 8601 1117 947`)).toEqual(['from iban-1 to iban-2']);
  });

  it('what is collected after the first replacement is replaced from then on', () => {
    const pseudonyms = new Pseudonyms();
    pseudonyms.collect('/customers/1048262/x');
    expect(pseudonyms.replace('1048262 and 2073915')).toBe('customer-1 and 2073915');
    pseudonyms.collect('/customers/2073915/x');
    expect(pseudonyms.replace('1048262 and 2073915')).toBe('customer-1 and customer-2');
  });

  const ID = 'acc-77-Z';
  it.each([
    ['/v1/accounts/{account}/balances', `/v1/accounts/${ID}/balances`],
    ['/v1/accounts/{account}', `/psd2/v1/accounts/${ID}?withBalance=true`],
    ['/v1/card-accounts/{account}/transactions', `/v1/card-accounts/${ID}/transactions`],
    ['/konten/{account}/umsaetze/{transactionId}', `/konten/${ID}/umsaetze/t-1`],
    ['/v1/accounts/{account}', '/v1/accounts/acc%2D77-Z'],
    // What psd2 does not know is an account all the same, by its path.
    ['{other}', `/v2/accounts/${ID}/standing-orders`],
    ['{other}', `/card-accounts/${ID}`],
    ['{other}', `/V1/Accounts//${ID}#top`],
    ['{other}', `/v1/accounts/${ID}?accounts/x-1=1`],
    ['/V1/ACCOUNTS/{account}', `/v1/accounts/${ID}`],
    ['/v1.0/{accounts}/{account}', `/v1.0/a/${ID}`],
  ])('psd2 replaces the id of an account in %s: %s', (route, path) => {
    const pseudonyms = new Pseudonyms();
    pseudonyms.collectPath(path, route);
    expect(pseudonyms.replace(path)).toBe(path.replace('%2D', '-').replace(ID, 'account-1'));
    expect(pseudonyms.replace(`no ${ID.toLowerCase()} there`)).toBe('no account-1 there');
  });

  it.each([
    ['/v1/consents/{consentId}/accounts/{id}', '/v1/consents/c-1/accounts/x-1'],
    ['/v1/payments/{payment-product}/{paymentId}', '/v1/payments/sct/p-1'],
    ['/v1/accounts', '/v1/accounts'],
    ['/v1/accounts/{account}', '/v1/accounts/x-1/y-1'],
    ['/v1.0/accounts/{account}', '/v1x0/accounts/x-1'],
    ['{other}', '/v1/my-accounts/x-1'],
    ['{other}', '/v1/accounts?accounts/x-1'],
  ])('what the route %s does not call an account stays: %s', (route, path) => {
    const pseudonyms = new Pseudonyms();
    pseudonyms.collectPath(path, route);
    expect(pseudonyms.replace(path)).toBe(path);
  });

  it.each(['/x/5254%201212%203456%203241/y', '/x/5254/1212/3456/3241/y', '/x/card-5254121234563241/y'])(
    'the number of a card is masked: %s',
    (path) => {
      expect(replaced(path)[0]).toMatch(/^\/x\/(card-)?525412\*{6}3241\/y$/);
    },
  );

  it('without an id a text stays, but for an IBAN that nobody has collected', () => {
    const pseudonyms = new Pseudonyms();
    expect(pseudonyms.replace('no id')).toBe('no id');
    expect(pseudonyms.replace(`to ${IBAN}`)).toBe('to iban-1');
  });

  it.each([
    [[], '0 customers, 0 accounts, 0 IBANs'],
    [[CUSTOMER, IBAN], '1 customer, 1 account, 1 IBAN'],
    [
      ['/customers/1000001/x', '/customers/1000002/x', IBAN, 'FR1420041010050500013M02606'],
      '2 customers, 0 accounts, 2 IBANs',
    ],
  ])('of %j psd2 says that it replaced %s', (texts, summary) => {
    const pseudonyms = new Pseudonyms();
    for (const text of texts) pseudonyms.collect(text);
    // What occurs twice counts once.
    for (const text of [...texts, ...texts]) pseudonyms.replace(text);
    expect(pseudonyms.summary).toBe(summary);
  });

  it('no id in a path and no IBAN is left in any text', () => {
    const id = fc.stringMatching(/^[0-9]{5,12}$/);
    const encoded = (text: string, share: boolean[]) =>
      [...text]
        .map((character, at) =>
          share[at % share.length] ? `%${character.charCodeAt(0).toString(16).padStart(2, '0')}` : character,
        )
        .join('');
    const disguise = fc.tuple(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
      fc.boolean(),
      fc.boolean(),
    );
    const iban = fc.stringMatching(/^[0-9]{18}$/).map((bban) => {
      const check = 98n - (BigInt(`${bban}131400`) % 97n);
      return `DE${String(check).padStart(2, '0')}${bban}`;
    });
    const word = fc.stringMatching(/^[g-z]{0,6}$/);
    fc.assert(
      fc.property(
        id,
        id,
        iban,
        disguise,
        word,
        word,
        (customer, product, account, [share, twice, spaces], left, right) => {
          const disguised = (text: string) => {
            const once = encoded(text, share);
            return `${left}${twice ? once.replaceAll('%', '%25') : once}${right}`;
          };
          const spaced = spaces ? account.replace(/(.{4})(?=.)/g, '$1 ') : account;
          const texts = [
            ...[customer, product, spaced].map((text) => `/x/${disguised(text)}/y`),
            ...[customer, product, spaced].map((text) => `no answer to ${disguised(text)}: lost`),
            `/private/customers/${encoded(customer, share)}/products/${encoded(product, share)}/x`,
          ];
          const all = replaced(...texts)
            .join('\n')
            .replaceAll(' ', '');
          for (const hidden of [customer, product, account]) expect(all).not.toContain(hidden);
        },
      ),
    );
  });
});
