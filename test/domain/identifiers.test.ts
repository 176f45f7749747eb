import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isAccountId,
  isCustomerId,
  isPaymentHolder,
  parseCustomerId,
  parseProductId,
  paymentHolder,
} from '../../src/domain/identifiers.ts';
import { thrownBy } from '../support/thrown.ts';

describe('a product id', () => {
  it('a product id has ten letters or digits, and keeps its leading zeros and case', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9]{10}$/), (id) => {
        expect(parseProductId(id)).toBe(id);
      }),
    );
    expect(parseProductId('0000012345')).toBe('0000012345');
  });

  it.each([
    ['', 'has 0 characters instead of 10'],
    ['123456789', 'has 9 characters instead of 10'],
    ['12345678901', 'has 11 characters instead of 10'],
    ['12345/7890', 'contains the character "/": only letters and digits are allowed'],
    ['1234567 90', 'contains the character " ": only letters and digits are allowed'],
    ['123456789è', 'contains the character "è": only letters and digits are allowed'],
    ['1234567890\n', 'contains the character "\\n": only letters and digits are allowed'],
  ])('psd2 refuses the product id %j: it %s', (id, what) => {
    expect(thrownBy(() => parseProductId(id))).toMatchObject({
      code: 'invalid_product_id',
      message: `The account id ${JSON.stringify(id)} ${what}`,
      hint: 'Include leading zeros. See the ids with:',
      next: [['accounts', 'list']],
    });
  });

  it.each(['IT89F0999001600000010482620', 'it89 F099 9001 6000 0001 0482 620'])(
    'psd2 says of the IBAN %s that the bank wants an id',
    (iban) => {
      expect(thrownBy(() => parseProductId(iban))).toMatchObject({
        ...{ code: 'invalid_product_id', message: "This bank wants the account's id, not its IBAN" },
        ...{ hint: 'See the ids with:', next: [['accounts', 'list']] },
      });
    },
  );

  it('psd2 refuses every other text as a product id', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/^[A-Za-z0-9]{10}$/.test(text)),
        (text) => {
          expect(thrownBy(() => parseProductId(text))).toMatchObject({ code: 'invalid_product_id' });
        },
      ),
    );
  });
});

describe('a customer id', () => {
  it.each(['0012345', '1', '12345678901234567890'])(
    'a customer id is a number of up to 20 digits and keeps its leading zeros: %s',
    (id) => {
      expect(parseCustomerId(id)).toBe(id);
    },
  );

  it.each(['', '12a', ' 1', '1\n', '-1', '../1', '123456789012345678901'])(
    'psd2 refuses the customer id %j and says where to see it',
    (id) => {
      expect(thrownBy(() => parseCustomerId(id))).toMatchObject({
        code: 'usage',
        message: `The customer id ${JSON.stringify(id)} is not a number`,
        hint: 'See the id of the logged-in customer with:',
        next: [['customer', 'id']],
      });
    },
  );
});

describe('an id at any bank', () => {
  it.each(['1', 'A', 'a.b-c_D', '...', '.a', '-', 'x'.repeat(64)])('%s can be a customer', (id) => {
    expect(isCustomerId(id)).toBe(true);
  });

  it.each(['', '.', '..', 'a/b', 'a b', 'a\n', 'è', 'a:b', 'x'.repeat(65)])(
    '%j cannot be a customer',
    (id) => {
      expect(isCustomerId(id)).toBe(false);
    },
  );

  it.each(['1', '..', '/', 'urn:bank:1', '3dc3d5b3-7023-4848-9853-f5400a64e80f', '~'.repeat(70)])(
    '%s can be an account',
    (id) => {
      expect(isAccountId(id)).toBe(true);
    },
  );

  it.each(['', ' ', 'a b', 'a\n', '\u007f', 'è', '~'.repeat(71)])('%j cannot be an account', (id) => {
    expect(isAccountId(id)).toBe(false);
  });
});

it('the tokens of a payment have a holder that no customer can be', () => {
  expect(paymentHolder('t1')).toBe('payment:t1');
  expect(['payment:t1', 'payment:', 'payment', 't1', 'my payment:t1'].map(isPaymentHolder)).toEqual([
    ...[true, true, false, false, false],
  ]);
});
