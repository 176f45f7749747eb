import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { inCurrency } from '../../../src/domain/decimal.ts';
import { bankDay } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

// The bank books something before it gives a page, for each command that reads pages.

const ACCOUNT = '0010482620';
const DAYS = ['--from', bankDay(-80)];
const operator = keepRunning(useLoggedIn());
afterEach(() => operator.succeeds(['sandbox', 'fault', 'clear']));

const file = (name: string) => join(operator.folder, name);
const move = (fault: string, ...when: string[]) =>
  operator.succeeds(['sandbox', 'fault', 'add', fault, '--on', `GET /*${ACCOUNT}/transactions/*`, ...when]);
const LIST = ['accounts', 'transactions', ACCOUNT, '--booked', ...DAYS];
const EXPORT = ['accounts', 'export', ACCOUNT, '--format', 'csv', ...DAYS];
const textsOf = (rows: z.infer<typeof shapes.transactions>) =>
  rows.map(({ bookingDate, details, amount }) => [bookingDate, amount, details].join(' '));
const ndjson = (text: string): unknown[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
/** All rows that are booked now. */
const listed = async () => textsOf(await operator.json(shapes.transactions, LIST));

describe.each([1, 2, 3])('with a booking before page %i + 1', (page) => {
  const before = ['--after', String(page), '--times', '1'];

  it('psd2 accounts transactions -o ndjson prints the list as it was, and says how many were booked', async () => {
    const start = await listed();
    await move('booking=2', ...before);
    const ended = await operator.succeeds([...LIST, '-o', 'ndjson']);
    expect(textsOf(shapes.transactions.parse(ndjson(ended.stdout)))).toEqual(start);
    expect(ended.stderr).toContain('2 transactions booked while psd2 read the list: not included.');
  });

  it('psd2 accounts transactions --json prints the list with the new row', async () => {
    const start = await listed();
    await move('booking=1', ...before);
    const texts = await listed();
    expect(texts.slice(1)).toEqual(start);
    expect(texts[0]).toContain('BOOKED MEANWHILE');
  });

  it('psd2 sync writes each row once', async () => {
    await move('booking=1', ...before);
    const folder = file(`synced-${page}`);
    await operator.succeeds(words`sync --unattended-reads 9999 --out ${folder} --since
      ${bankDay(-80)}`);
    const rows = ndjson(readFileSync(join(folder, '1048262', 'transactions', `${ACCOUNT}.ndjson`), 'utf8'));
    const texts = z
      .array(shapes.syncedRow)
      .parse(rows)
      // The files keep the bank's decimals.
      .map(({ bookingDate, details, amount, currency }) =>
        [bookingDate, inCurrency(amount, currency ?? ''), details].join(' '),
      );
    expect(texts.toSorted()).toEqual((await listed()).toSorted());
  });
});

describe('with a booking before each page', () => {
  it.each([
    ['accounts transactions --json', [...LIST, '--json']],
    ['accounts export', [...EXPORT, '--file', '-']],
    ['accounts report', ['accounts', 'report', ACCOUNT, '--file', file('never.html'), ...DAYS]],
    ['accounts transactions --chart', ['accounts', 'transactions', ACCOUNT, '--chart', ...DAYS]],
  ])('psd2 %s ends with exit code 11', async (_name, args) => {
    await move('booking=1');
    const ended = await operator.psd2(args);
    expect(ended.stdout).toBe('');
    expect(ended.code).toBe(11);
    expect(ended.stderr).toContain('changed during each of 3 readings');
    expect(ended.stderr).toContain('Run the command again');
  });

  it('psd2 sync writes nothing of that product and everything of the others, and is complete the next time', async () => {
    await move('booking=1');
    const sync = words`sync --unattended-reads 9999 --out ${file('later')} --since ${bankDay(-80)} --json`;
    const ended = await operator.psd2(sync);
    expect(readError(ended)).toMatchObject({ code: 'list_changed', exitCode: 11 });
    const [customer] = shapes.syncReport.parse(JSON.parse(ended.stdout)).customers;
    expect(customer?.errors).toMatchObject([{ productId: ACCOUNT, code: 'list_changed' }]);
    expect(customer?.newTransactions).toBeGreaterThan(0);
    await operator.succeeds(['sandbox', 'fault', 'clear']);
    await operator.succeeds(sync);
    const rows = ndjson(
      readFileSync(join(file('later'), '1048262', 'transactions', `${ACCOUNT}.ndjson`), 'utf8'),
    );
    expect(rows).toHaveLength((await listed()).length);
  });

  it('psd2 accounts transactions -o ndjson prints each row of the list once', async () => {
    const start = await listed();
    await move('booking=1', '--after', '1');
    const ended = await operator.succeeds([...LIST, '-o', 'ndjson']);
    expect(textsOf(shapes.transactions.parse(ndjson(ended.stdout)))).toEqual(start);
  });
});

it('a pending transaction that is booked in the meantime is listed once', async () => {
  await move('settling=1', '--after', '1', '--times', '1');
  const all = ['accounts', 'transactions', ACCOUNT, ...DAYS];
  const rows = await operator.json(shapes.transactions, all);
  expect(rows).toEqual(await operator.json(shapes.transactions, all));
});
