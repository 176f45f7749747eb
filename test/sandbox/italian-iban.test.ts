import { isValidIBAN } from 'ibantools';
import { describe, expect, test } from 'vitest';
import { italianIban } from '../../src/sandbox/customers/italian-iban.ts';
import { seedCustomers } from '../../src/sandbox/customers/seed-customers.ts';

describe('an Italian IBAN', () => {
  test("an Italian IBAN has the check digits and the control letter of the IBAN registry's example", () => {
    expect(italianIban('05428', '11101', '000000123456')).toBe('IT60X0542811101000000123456');
  });

  test("the control letter matches the registry's example for San Marino, which uses the Italian form", () => {
    expect(italianIban('03225', '09800', '000000270100').slice(4)).toBe(
      'SM86U0322509800000000270100'.slice(4),
    );
  });

  test('the IBAN of every seeded account is valid', () => {
    const ibans = seedCustomers.flatMap(({ products }) => products.map(({ iban }) => iban));
    expect(ibans).toHaveLength(14);
    for (const iban of ibans) expect([iban, isValidIBAN(iban)]).toEqual([iban, true]);
  });
});
