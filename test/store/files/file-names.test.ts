import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAccountId, isCustomerId } from '../../../src/domain/identifiers.ts';
import {
  accountOfName,
  customerOfName,
  holderOfName,
  nameOfAccount,
  nameOfCustomer,
  nameOfHolder,
} from '../../../src/store/files/file-names.ts';

const customerId = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/).filter(isCustomerId);
const accountId = fc.stringMatching(/^[!-~]{1,70}$/).filter(isAccountId);
/** Few characters, so that ids often differ only by case or by an escape. */
const similar = fc.stringMatching(/^[aA._24-]{1,5}$/).filter(isCustomerId);
const OWN_NAME = /^[A-Za-z0-9]{1,35}$/;

describe('the file name of an id', () => {
  it('a name leads back to its customer, and to its account', () => {
    fc.assert(fc.property(customerId, (id) => void expect(customerOfName(nameOfCustomer(id))).toBe(id)));
    fc.assert(
      fc.property(fc.option(customerId), (id) => void expect(holderOfName(nameOfHolder(id))).toBe(id)),
    );
    fc.assert(fc.property(accountId, (id) => void expect(accountOfName(nameOfAccount(id))).toBe(id)));
  });

  it('two customers have different names, also where upper and lower case are the same', () => {
    const differ = (one: string, other: string) => {
      fc.pre(one !== other);
      expect(nameOfCustomer(one).toLowerCase()).not.toBe(nameOfCustomer(other).toLowerCase());
    };
    fc.assert(fc.property(similar, similar, differ), { numRuns: 2000 });
    fc.assert(fc.property(customerId, (id) => differ(id, id.toLowerCase())));
    fc.assert(fc.property(customerId, (id) => differ(id, id.toUpperCase())));
  });

  it('two accounts have different names where case does not count, unless both have the old form', () => {
    fc.assert(
      fc.property(fc.oneof(similar, accountId), fc.oneof(similar, accountId), (one, other) => {
        fc.pre(one !== other && !(OWN_NAME.test(one) && OWN_NAME.test(other)));
        expect(nameOfAccount(one).toLowerCase()).not.toBe(nameOfAccount(other).toLowerCase());
      }),
      { numRuns: 2000 },
    );
  });

  it('a name has only characters that every file system takes, and fits with every ending', () => {
    fc.assert(
      fc.property(customerId, (id) => {
        expect(nameOfCustomer(id)).toMatch(/^[a-z0-9_][a-z0-9_-]{0,191}$/);
      }),
    );
    fc.assert(
      fc.property(accountId, (id) => {
        expect(nameOfAccount(id)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,209}$/);
      }),
    );
    expect(nameOfCustomer('A'.repeat(64))).toHaveLength(192);
    expect(nameOfAccount('~'.repeat(70))).toHaveLength(210);
  });

  it('ids of digits are their own names', () => {
    fc.assert(fc.property(fc.stringMatching(/^\d{1,20}$/), (id) => nameOfCustomer(id) === id));
    fc.assert(fc.property(fc.stringMatching(OWN_NAME), (id) => nameOfAccount(id) === id));
    expect([nameOfHolder('1000001'), nameOfHolder(null)]).toEqual(['customer-1000001', 'client-credentials']);
  });

  it.each([
    ['Anna', '_41nna'],
    ['.anna', '_2eanna'],
    ['anna.json.lock', 'anna_2ejson_2elock'],
    ['-rf', '_2drf'],
    ['a-b_c', 'a-b_5fc'],
    ['con', '_63on'],
    ['lpt1', '_6cpt1'],
    ['console', 'console'],
    ['index', 'index'],
  ])('the customer %s has the name %s', (id, name) => {
    expect(nameOfCustomer(id)).toBe(name);
  });

  it.each(['', 'Anna', '_61nna', 'anna.json', '_2E', '_zz', '_', 'con', '.anna', '-rf'])(
    'psd2 made no name %j for a customer',
    (name) => {
      expect(customerOfName(name)).toBeUndefined();
    },
  );

  it.each(['', 'A-', '_61-', 'a.ndjson', '_2E', 'a_', `${'A'.repeat(36)}`])(
    'psd2 made no name %j for an account',
    (name) => {
      expect(accountOfName(name)).toBeUndefined();
    },
  );

  it('names of other programs are of no holder', () => {
    for (const name of 'customer- customer-Anna customer-1.json last-login.json access-notes 1'.split(' '))
      expect(holderOfName(name)).toBeUndefined();
  });
});
