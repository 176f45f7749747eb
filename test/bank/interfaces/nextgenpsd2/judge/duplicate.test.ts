import { expect, it } from 'vitest';
import { speaksOfDuplicate } from '../../../../../src/bank/interfaces/nextgenpsd2/judge/duplicate.ts';
import type { BankReason } from '../../../../../src/errors.ts';

const reason = (more: Partial<BankReason>): BankReason => ({
  ...{ level: 'payment', code: null, proprietary: null, text: null },
  ...more,
});

it.each<[Partial<BankReason>[], boolean]>([
  ...['AM05', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05'].map((code): [Partial<BankReason>[], boolean] => [
    [{ code }],
    true,
  ]),
  [[{ code: 'AC04' }, { code: 'AM05' }], true],
  [[{ proprietary: ' DU01 ' }], true],
  [[{ proprietary: 'DUPLICATE_PAYMENT' }], true],
  [[{ proprietary: 'paymentAlreadyExists' }], true],
  [[{ code: 'NARR', text: 'Payment was sent twice' }], true],
  [[{ text: 'Auftrag wurde bereits ausgef&uuml;hrt' }], true],
  [[{ text: 'Doppelte Einreichung' }], true],
  [[{ text: 'Virement d&eacute;j&agrave; re&ccedil;u' }], true],
  [[{ text: 'Betaling bestaat al' }], true],
  [[{ text: 'Pagamento gi\u00e0 inserito' }], true],
  [[], false],
  [[{}], false],
  ...['AC01', 'AC04', 'AM04', 'DU06', 'MS03', 'AG01'].map((code): [Partial<BankReason>[], boolean] => [
    [{ code }],
    false,
  ]),
  [[{ code: 'AC04', text: 'Account closed' }], false],
  [[{ text: 'Insufficient funds' }], false],
  [[{ text: 'The account does not exist' }], false],
  [[{ text: 'Das Konto existiert nicht' }], false],
  [[{ proprietary: 'FUNDS_NOT_AVAILABLE', text: 'No funds' }], false],
  [[{ text: 'Ask your branch' }], false],
])('%j: %s', (reasons, expected) => {
  expect(speaksOfDuplicate(reasons.map(reason))).toBe(expected);
});
