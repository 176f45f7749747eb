import { expect, it } from 'vitest';
import { becameOf, readAuthorization } from '../../../../src/bank/interfaces/cb/consents.ts';
import { settlementOf } from '../../../../src/bank/interfaces/cb/payments.ts';

it.each([
  ['OK', 'executed'],
  ['EXECUTED', 'executed'],
  ['PENDING', null],
  ['KO', 'failed'],
  ['ok', null],
  [null, null],
])('by the execution status %j a resource became %s', (bankStatus, became) => {
  expect(becameOf(bankStatus)).toBe(became);
});

it.each([
  ['OK', 'OK'],
  ['KO', 'KO'],
  ['PENDING', 'PENDING'],
  ['EXECUTED', 'PENDING'],
  ['', 'PENDING'],
])('psd2 reads the execution status %j of an instant transfer as %s', (bankStatus, status) => {
  expect(settlementOf(bankStatus)).toBe(status);
});

it.each([
  ['AUTHORIZED', 'AUTHORIZED'],
  ['NOT_AUTHORIZED', 'NOT_AUTHORIZED'],
  ['EXPIRED', 'EXPIRED'],
  ['PENDING', 'PENDING'],
  ['STARTED', 'PENDING'],
  ['authorized', 'PENDING'],
  ['', 'PENDING'],
])("psd2 reads the bank's authorization status %j as %s", (bankStatus, status) => {
  expect(readAuthorization(bankStatus)).toEqual({ type: 'authorization', status, bankStatus });
});
