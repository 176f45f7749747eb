import { describe, expect, it } from 'vitest';
import { LIST, namesReadBy } from '../../../src/bank/call/names-read.ts';
import { fieldsRead as readByCb } from '../../../src/bank/interfaces/cb/fields-read.ts';
import { fieldsRead as readByNextGen } from '../../../src/bank/interfaces/nextgenpsd2/probing/fields-read.ts';

const list = (names: ReadonlySet<string>) => [...names].sort().join(' ');

describe('the names that readers look at', () => {
  const read = (json: object) => Reflect.get(json, 'a') ?? Reflect.get(json, 'b');

  it('are noted also below others, and those that are taken instead', () => {
    const deep = (json: object) => {
      const value: unknown = Reflect.get(json, 'rows');
      return Array.isArray(value) && value.length === 2 && read(value[1]);
    };
    expect(list(namesReadBy([deep, (json) => JSON.stringify(json) + String(json)], { rows: LIST }))).toBe(
      'a rows',
    );
    expect(list(namesReadBy([read], { a: null }))).toBe('a b');
  });

  it('are noted up to where a reader gives up', () => {
    const refusing = (json: object) => {
      read(json);
      throw new Error('No');
    };
    expect(list(namesReadBy([refusing], {}))).toBe('a');
  });
});

/** Some of each reader's: those of the envelope, of rows, of what is deep in them, and of what is read in place of another. */
it.each([
  [
    'cb',
    readByCb(),
    'result messages code accounts accountId hour accountAvailability index isFeeCharge',
    'totalEnter curies',
  ],
  [
    'cb',
    readByCb(),
    'amountTransaction dateLiquidationValue commissions cro scaRedirectURL currencyList rate',
    'self',
  ],
  [
    'NextGenPSD2',
    readByNextGen(),
    'tppMessages text accounts maskedPan creditLimitIncluded booked',
    'ownerName invoiced',
  ],
  [
    'NextGenPSD2',
    readByNextGen(),
    'mandateId creditorId originalAmount instructedAmount markupFee',
    'standingOrderDetails',
  ],
  [
    'NextGenPSD2',
    readByNextGen(),
    'transactionFees transactionDetails entryDetails reference identification',
    'checkId',
  ],
  [
    'NextGenPSD2',
    readByNextGen(),
    'remittanceInformationUnstructuredArray cardTransactionId href',
    'toString toJSON',
  ],
  [
    'NextGenPSD2',
    readByNextGen(),
    'scaRedirect authorisationId scaMethods fundsAvailable validUntil paymentId',
    'imageLink',
  ],
])('of the fields of %s, psd2 reads these and not others: %3$s, %4$s', (_, read, names, others) => {
  expect(names.split(' ').filter((name) => !read.has(name))).toEqual([]);
  expect(others.split(' ').filter((name) => read.has(name))).toEqual([]);
});
