import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Big from 'big.js';
import { parse as parseCsv } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { schemaOf } from '../../support/iso-schemas.ts';
import { bankDay } from '../support/bank-days.ts';
import { useChromium } from '../support/customer.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
/** As far back as a bank shows transactions without SCA. */
const DAYS = ['--from', bankDay(-80)];
const operator = keepRunning(useLoggedIn(['--persona', 'lived-in']));
const newCustomer = useChromium();

const file = (name: string) => join(operator.folder, name);
const exported = async (format: string, ...args: string[]) => {
  const ended = await operator.psd2([
    ...['accounts', 'export', ACCOUNT, '--format', format, '--file', '-', '--yes', ...args],
  ]);
  expect(ended.code, ended.stderr).toBe(0);
  return ended.stdout;
};
const rowsOf = (csv: string) => {
  const row = z.record(z.string(), z.string());
  return z.array(row).parse(parseCsv(csv, { columns: true, record_delimiter: '\r\n' }));
};

describe('psd2 accounts export', () => {
  let booked: z.infer<typeof shapes.transactions> = [];
  beforeAll(async () => {
    booked = await operator.json(shapes.transactions, [
      ...['accounts', 'transactions', ACCOUNT, '--booked', ...DAYS, '--yes'],
    ]);
  });

  it('psd2 accounts export writes booked transactions and no pending ones, oldest first', async () => {
    const rows = rowsOf(await exported('csv', ...DAYS));
    expect(rows.length).toBe(booked.length);
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.map(({ bookingDate }) => bookingDate)).toEqual(
      booked.map(({ bookingDate }) => bookingDate).reverse(),
    );
    const sum = (amounts: (string | undefined)[]) =>
      amounts.reduce((total, amount) => total.plus(amount ?? ''), new Big(0)).toFixed(2);
    expect(sum(rows.map(({ amount }) => amount))).toBe(sum(booked.map(({ amount }) => amount)));
  });

  it('a transaction has the same id in every format and range', async () => {
    const ids = rowsOf(await exported('csv', ...DAYS)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const middle = bankDay(-40);
    const [early, late] = [
      rowsOf(await exported('csv', ...DAYS, '--to', middle)),
      rowsOf(await exported('csv', '--from', middle)),
    ];
    // Both ranges include the day in the middle.
    expect(early.length + late.length).toBeGreaterThanOrEqual(ids.length);
    expect(new Set([...early, ...late].map(({ id }) => id))).toEqual(new Set(ids));
    const found = (text: string, element: string) =>
      [...text.matchAll(new RegExp(`<${element}>([^<]+)`, 'g'))].map(([, id]) => id);
    expect(found(await exported('ofx', ...DAYS), 'FITID')).toEqual(ids);
    expect(found(await exported('camt053', ...DAYS), 'NtryRef')).toEqual(ids);
  });

  it('an exported transaction has the id that psd2 sync gives it', async () => {
    // The exports before have used up the account's reads for the day.
    const ended = await operator.psd2([
      ...['sync', '--unattended-reads', '9999', '--out', file('synced'), '--since', bankDay(-80)],
    ]);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    const [customer = ''] = readdirSync(file('synced'));
    const synced = readFileSync(join(file('synced'), customer, 'transactions', `${ACCOUNT}.ndjson`), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => shapes.syncedRow.parse(JSON.parse(line)));
    const exportedRows = rowsOf(await exported('csv', ...DAYS));
    expect(exportedRows.length).toBeGreaterThan(20);
    expect(exportedRows.map(({ id, bookingDate, details }) => [id, bookingDate, details])).toEqual(
      synced.map(({ id, bookingDate, details }) => [id, bookingDate, details]),
    );
  });

  it('psd2 accounts export writes a valid camt.053, whose balances follow from each other', async () => {
    const path = file('statement.xml');
    const to = bankDay(-10);
    const ended = await operator.psd2([
      ...[
        'accounts',
        'export',
        ACCOUNT,
        '--format',
        'camt053',
        ...DAYS,
        '--to',
        to,
        '--file',
        path,
        '--json',
        '--yes',
      ],
    ]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(shapes.saved.parse(JSON.parse(ended.stdout)).bytes).toBe(statSync(path).size);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    execFileSync('xmllint', ['--nonet', '--noout', '--schema', schemaOf('camt.053.001.08'), path], {
      stdio: 'pipe',
    });

    const text = readFileSync(path, 'utf8');
    const signed = [
      ...text.matchAll(/<Amt Ccy="EUR">([\d.]+)<\/Amt><CdtDbtInd>(\w+)<\/CdtDbtInd>(<Sts>|<Dt>)/g),
    ].map(([, amount, side]) => new Big(amount ?? '').times(side === 'DBIT' ? -1 : 1));
    const [opening, closing, ...entries] = signed;
    expect(entries.length).toBeGreaterThan(10);
    expect(entries.reduce((total, entry) => total.plus(entry), opening ?? new Big(0)).toFixed(2)).toBe(
      closing?.toFixed(2),
    );
    const later = booked.filter(({ bookingDate }) => (bookingDate ?? '') > to);
    const { accountBalance } = await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]);
    const now = later.reduce((total, { amount }) => total.plus(amount), closing ?? new Big(0));
    expect(now.toFixed(2)).toBe(new Big(accountBalance?.amount ?? '').toFixed(2));
  });

  it.each<[string[], string]>([
    [['--format', 'csv', '--from', '2026-13-01'], 'invalid_date'],
    [['--format', 'csv', '--from', bankDay(2)], 'invalid_date'],
    [['--format', 'qif'], 'usage'],
    [[], 'usage'],
  ])('psd2 accounts export refuses %j', async (args, code) => {
    const path = file('never');
    const ended = await operator.psd2(['accounts', 'export', ACCOUNT, '--file', path, '--json', ...args]);
    expect(readError(ended)).toMatchObject({ code, exitCode: 2 });
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('psd2 accounts export does not overwrite a pipe or a folder', async () => {
    const pipe = file('pipe');
    execFileSync('mkfifo', [pipe]);
    for (const [path, what] of [
      [pipe, 'a pipe'],
      [operator.folder, 'a folder'],
    ] as const) {
      for (const args of [
        ['export', ACCOUNT, '--format', 'csv'],
        ['report', ACCOUNT],
      ]) {
        const ended = await operator.psd2(['accounts', ...args, '--file', path, '--json']);
        expect(readError(ended)).toMatchObject({
          code: 'usage',
          message: `${path} is ${what}, but the document needs a file`,
        });
      }
      const bundle = await operator.psd2(['log', 'bundle', '--file', path, '--json']);
      expect(readError(bundle).code).toBe('usage');
    }
    expect(statSync(pipe).isFIFO()).toBe(true);
  });

  it('psd2 accounts export refuses a product that the customer does not have', async () => {
    const args = ['accounts', 'export', '0010482629', '--format', 'csv', '--file', file('never'), '--json'];
    expect(readError(await operator.psd2(args))).toMatchObject({ code: 'usage', exitCode: 2 });
  });
});

describe('psd2 accounts transactions --chart', () => {
  const chart = z.strictObject({
    productId: z.literal(ACCOUNT),
    currency: z.literal('EUR'),
    from: z.iso.date(),
    to: z.iso.date(),
    opening: z.strictObject({ amount: z.string(), currency: z.string() }),
    closing: z.strictObject({ amount: z.string(), currency: z.string() }),
    balances: z.array(z.strictObject({ date: z.iso.date(), balance: z.string() })),
    months: z.array(z.strictObject({ month: z.string(), in: z.string(), out: z.string(), net: z.string() })),
    ...{ noBalance: z.null(), complete: z.literal(true), certainFrom: z.null() },
  });

  it('--chart draws in plain ASCII if stdout is not a terminal', async () => {
    const ended = await operator.psd2(['accounts', 'transactions', ACCOUNT, '--chart', ...DAYS]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(/^[ -~\n]+$/);
    for (const line of ended.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(ended.stdout).toMatch(/^\d{4}-\d{2} +\+\d+\.\d{2} +\++$/m);
  });

  it('--chart --json prints the numbers, and the last one is the balance', async () => {
    const { closing, balances, months } = await operator.json(chart, [
      ...['accounts', 'transactions', ACCOUNT, '--chart', ...DAYS],
    ]);
    const { accountBalance } = await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]);
    expect(new Big(closing.amount).eq(accountBalance?.amount ?? '')).toBe(true);
    expect(balances).toHaveLength(81);
    expect(months.length).toBeGreaterThanOrEqual(3);
  });

  it.each([['--limit=3'], ['--pending'], ['--export=pdf'], ['--raw']])(
    '--chart cannot be combined with %s',
    async (option) => {
      const ended = await operator.psd2(['accounts', 'transactions', ACCOUNT, '--chart', option, '--json']);
      expect(readError(ended)).toMatchObject({ code: 'usage', exitCode: 2 });
    },
  );
});

describe('psd2 accounts report', () => {
  it.each([
    [375, 'dark' as const],
    [1200, 'light' as const],
  ])(
    'psd2 accounts report is one page that loads nothing and fits %i pixels, %s',
    async (width, colorScheme) => {
      const path = file(`report-${width}.html`);
      const ended = await operator.psd2(['accounts', 'report', ACCOUNT, '--file', path, ...DAYS]);
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stdout).toBe('');

      const { page } = await newCustomer({ viewport: { width, height: 900 }, colorScheme });
      const told: string[] = [];
      page.on('console', (message) => told.push(message.text()));
      page.on('request', (request) => told.push(request.url()));
      await page.goto(`file://${path}`);
      expect(told).toEqual([`file://${path}`]);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Conto di casa');
      expect(await page.getByRole('img', { name: /^Balance from / }).count()).toBe(1);
      expect(await page.getByRole('rowheader').first().textContent()).toMatch(/^\d{4}-\d{2}$/);
      const counterparties = page.getByRole('region', { name: 'Largest counterparties' });
      expect(await counterparties.getByRole('row').count()).toBeGreaterThan(4);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      // The page has its own style, which its policy must allow.
      expect(await page.evaluate("getComputedStyle(document.querySelector('.amount')).textAlign")).toBe(
        'right',
      );
    },
  );
});
