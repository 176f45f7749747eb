import { expect, it } from 'vitest';
import { describePayeeCheck, type PayeeCheck } from '../../../src/domain/order/payee-check.ts';

it.each<[PayeeCheck['result'], name: string | null, problem: string | null, string]>([
  ['match', null, null, 'match'],
  ['close', 'Ada Lovelace', null, 'close match, the account is held by Ada Lovelace'],
  ['close', null, null, 'close match'],
  ['none', null, null, 'no match'],
  ['none', 'Acme Srl', null, 'no match, the account is held by Acme Srl'],
  ['unavailable', null, 'payee-check ended with 3', 'not possible: payee-check ended with 3'],
])('the operator reads about the payee check %s of %s (%s): %s', (result, name, problem, words) => {
  expect(describePayeeCheck({ result, name, problem })).toBe(words);
});
