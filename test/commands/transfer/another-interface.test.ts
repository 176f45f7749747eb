import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { OWN_ACCOUNT } from '../bank-here.ts';
import { payerWith } from '../payer-here.ts';

// What psd2 leaves to the interface of a bank: whether it can do something, and what an account is called.

const temporary = temporaryFolder();
const ORDER = [
  ...['--from', OWN_ACCOUNT, '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'],
  ...['--amount', '12.50', '--reference', 'INV-1'],
];
const OPERATION = ['standingOrder', '--account', OWN_ACCOUNT];

it.each([
  [['accounts', 'transactions', OWN_ACCOUNT, '--export', 'pdf', '--file', 'x.pdf'], 'documents'],
  [['products', 'list'], 'products'],
  [['customer', 'id'], 'data of the customer'],
  [['customer', 'show'], 'data of the customer'],
  [['api', 'GET', '/anything', '--consent', 'co-1'], 'Consent-ID'],
  [['transfer', 'prepare', OWN_ACCOUNT], 'terms'],
  [['transfer', 'create', '--prepare', ...ORDER], 'terms'],
  [['transfer', 'receipt', 'tr-1', '--file', 'x.pdf'], 'receipts'],
  [['operation', 'prepare', ...OPERATION], 'operations'],
  [['operation', 'run', ...OPERATION], 'operations'],
  [['operation', 'verify', ...OPERATION], 'operations'],
  [['operation', 'sca', ...OPERATION, '--resource', 'op-1'], 'operations'],
  [['operation', 'execute', ...OPERATION, '--resource', 'op-1'], 'operations'],
  [['operation', 'status', ...OPERATION, '--resource', 'op-1'], 'operations'],
] as const)('psd2 %j says what the interface lacks', async (words, capability) => {
  const { bank, payer } = await payerWith(temporary, { lacks: [capability] });
  expect((await payer.run(words)).failure).toMatchObject({
    code: 'usage',
    message: `The interface of this bank, here, has no ${capability}`,
  });
  expect(bank.calls).toEqual([]);
});

it.each([
  [['accounts', 'show', 'no id']],
  [['accounts', 'balance', 'no id']],
  [['accounts', 'transactions', 'no id']],
  [['accounts', 'transactions', 'no id', '--chart']],
  [['accounts', 'report', 'no id', '--file', 'x.html']],
  [['accounts', 'export', 'no id', '--format', 'csv', '--file', 'x.csv']],
  [['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', 'no id']],
  [['transfer', 'prepare', 'no id']],
  [['transfer', 'create', ...ORDER, '--from', 'no id']],
  [['operation', 'prepare', 'standingOrder', '--account', 'no id']],
  [['operation', 'run', 'standingOrder', '--account', 'no id']],
  [['operation', 'verify', 'standingOrder', '--account', 'no id']],
  [['operation', 'sca', 'standingOrder', '--account', 'no id', '--resource', 'op-1']],
])('psd2 %j has the interface read the id of the account', async (words) => {
  const { bank, payer } = await payerWith(temporary);
  const readAccountId = (text: string) => {
    throw new Psd2Error('invalid_product_id', `There is no account ${text} here`);
  };
  Object.assign(bank.interface, { readAccountId });
  expect((await payer.run(words)).failure).toMatchObject({
    code: 'invalid_product_id',
    message: 'There is no account no id here',
  });
  expect(bank.calls).toEqual([]);
});
