import { expect, it } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { ANNA, endOf, payerWith } from '../payer-here.ts';

const temporary = temporaryFolder();

/** @param to JSON, in a pipe or at a terminal of this width; a table in a pipe, or at a terminal */
async function list(details: object, to: 'json' | { json: number } | 'pipe' | number) {
  const bank = new BankHere();
  bank.details = details;
  const { payer } = await payerWith(temporary, bank);
  const { printed, failure, said } = await payer.run(['products', 'list'], {
    format: to === 'json' || typeof to === 'object' ? 'json' : 'table',
    ...(typeof to === 'number' && { stdout: to }),
    ...(typeof to === 'object' && { stdout: to.json }),
  });
  expect([failure, bank.calls]).toEqual([null, [`details products ${ANNA}`]]);
  return { printed, said, lines: printed.split('\n').map((line) => line.trimEnd()) };
}

const CARD = { code: 'CARD', limit: { amount: '500.00' }, old: '' };
const ACCOUNT = { code: 'ACC', name: 'Current account', old: null };

it.each<[string, object]>([
  ['a list', [CARD, ACCOUNT]],
  ['a list in a field', { count: 2, products: [CARD, ACCOUNT], more: [] }],
])(
  '%s of products is a table at a terminal, with a column for each path that has a value',
  async (_, details) => {
    expect((await list(details, 100)).lines).toEqual([
      'code  limit.amount  name',
      'CARD  500.00',
      'ACC                 Current account',
      '',
    ]);
  },
);

it('an empty list says so at a terminal', async () => {
  const { said, printed } = await list({ products: [] }, 100);
  expect([printed, said]).toEqual(['', 'The customer has no products.\n']);
});

it.each<[string, object, number | 'pipe', string[]]>([
  ['an answer without a list', { a: { b: 1 }, c: 'x' }, 100, ['a.b  1', 'c    x', '']],
  [
    'a list in a pipe',
    { products: [CARD] },
    'pipe',
    ['products.0.code\tCARD', 'products.0.limit.amount\t500.00', 'products.0.old', ''],
  ],
])('%s is a line for each value', async (_, details, to, lines) => {
  expect((await list(details, to)).lines).toEqual(lines);
});

it('JSON has the answer unchanged, also at a terminal', async () => {
  const details = { products: [CARD, ACCOUNT], count: 2 };
  for (const to of ['json', { json: 100 }] as const)
    expect(JSON.parse((await list(details, to)).printed)).toEqual(details);
});

it('a bank without products is not asked', async () => {
  const { bank, payer } = await payerWith(temporary, { lacks: ['products'] });
  expect(endOf(await payer.run(['products', 'list']))).toEqual([
    'exit 2, usage: The interface of this bank, here, has no products',
    ...['See the accounts with:', '$ accounts list'],
  ]);
  expect(bank.calls).toEqual([]);
});
