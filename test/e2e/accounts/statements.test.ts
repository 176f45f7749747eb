import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Big from 'big.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { schemaOf } from '../../support/iso-schemas.ts';
import { bankDay } from '../support/bank-days.ts';
import { useChromium } from '../support/customer.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
/** As far back as a bank shows transactions without SCA. */
const DAYS = ['--from', bankDay(-80)];
const operator = keepRunning(useLoggedIn(['--persona', 'lived-in']));
const newCustomer = useChromium();

const file = (name: string) => join(operator.folder, name);

describe('psd2 accounts export', () => {
  let booked: z.infer<typeof shapes.transactions> = [];
  beforeAll(async () => {
    booked = await operator.json(
      shapes.transactions,
      words`accounts transactions ${ACCOUNT} --booked
      ${DAYS} --yes`,
    );
  });

  it('psd2 accounts export writes a valid camt.053, whose balances follow from each other', async () => {
    const path = file('statement.xml');
    const to = bankDay(-10);
    const ended = await operator.succeeds(words`accounts export ${ACCOUNT} --format camt053 ${DAYS} --to ${to}
      --file ${path} --json --yes`);
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
});

it.each([
  [375, 'dark' as const],
  [1200, 'light' as const],
])(
  'psd2 accounts report is one page that loads nothing and fits %i pixels, %s',
  async (width, colorScheme) => {
    const path = file(`report-${width}.html`);
    const ended = await operator.succeeds(['accounts', 'report', ACCOUNT, '--file', path, ...DAYS]);
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
