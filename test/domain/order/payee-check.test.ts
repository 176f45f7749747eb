import { expect, it } from 'vitest';
import { describePayeeCheck, type PayeeCheck } from '../../../src/domain/order/payee-check.ts';

it.each<[PayeeCheck, string]>([
  [{ result: 'match', name: null, problem: null }, 'match'],
  [
    { result: 'close', name: 'Ada Lovelace', problem: null },
    'close match, the account is held by Ada Lovelace',
  ],
  [{ result: 'close', name: null, problem: null }, 'close match'],
  [{ result: 'none', name: null, problem: null }, 'no match'],
  [{ result: 'none', name: 'Acme Srl', problem: null }, 'no match, the account is held by Acme Srl'],
  [
    { result: 'unavailable', name: null, problem: 'payee-check ended with 3' },
    'not possible: payee-check ended with 3',
  ],
])('the operator reads about the payee check %j: %s', (check, words) => {
  expect(describePayeeCheck(check)).toBe(words);
});
