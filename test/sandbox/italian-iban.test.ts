import { isValidIBAN } from 'ibantools';
import { describe, expect, test } from 'vitest';
import { italianIban } from '../../src/sandbox/italian-iban.ts';
import { seedCustomers } from '../../src/sandbox/seed-customers.ts';

describe('an Italian IBAN', () => {
  test.each([
    // The examples of the IBAN registry for Italy and of the Italian banks for the control letter.
    ['05428', '11101', '000000123456', 'IT60X0542811101000000123456'],
    ['03002', '03280', '000400162854', 'IT40S0300203280000400162854'],
  ])('of %s %s %s has the right control letter and check digits', (abi, cab, account, iban) => {
    expect(italianIban(abi, cab, account)).toBe(iban);
  });

  test('of every seeded account is valid', () => {
    const ibans = seedCustomers.flatMap(({ products }) => products.map(({ iban }) => iban));
    expect(ibans).toHaveLength(6);
    for (const iban of ibans) expect([iban, isValidIBAN(iban)]).toEqual([iban, true]);
  });
});
