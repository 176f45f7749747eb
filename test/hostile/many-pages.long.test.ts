import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay } from '../../src/domain/calendar.ts';
import { CUSTOMER_ID, type Heard, type PlainAnswer, useHostileBank, write } from './hostile-bank.ts';

// A NextGenPSD2 account with 100 000 transactions. psd2 has a heap that holds the program and some pages, but not all rows.

const bank = useHostileBank();
const ACCOUNT = 'a1';
const [PAGES, ROWS] = [200, 500];
/** All rows would take more than twice as much. */
const SMALL = { NODE_OPTIONS: '--max-old-space-size=40' };

const json = (body: unknown, status = 200): PlainAnswer => ({ status, body: JSON.stringify(body) });
const LAST_DAYS = Array.from({ length: 90 }, (_, back) => addDays(bankDay(new Date()), -back));
/** The day of each row. The newest row is the first one, and each of the last 90 days has as many. */
const DAYS = Array.from(
  { length: PAGES * ROWS },
  (_, index) => LAST_DAYS[Math.floor((index * LAST_DAYS.length) / (PAGES * ROWS))] ?? '',
);

/** A page of the rows from `dateFrom` to `dateTo`. */
function pageOf(target: string): PlainAnswer {
  const { searchParams: query } = new URL(target, 'https://bank.example');
  const [from, to] = [query.get('dateFrom') ?? '', query.get('dateTo') ?? '9'];
  const [newest, oldest] = [DAYS.findIndex((day) => day <= to), DAYS.findLastIndex((day) => day >= from)];
  const page = Number(query.get('page') ?? 0);
  const first = newest + page * ROWS;
  const next = Math.min(first + ROWS, oldest + 1);
  const booked = DAYS.slice(first, next).map((bookingDate, row) => ({
    ...{ transactionId: `t${first + row}`, bookingDate },
    transactionAmount: { amount: '-1.00', currency: 'EUR' },
    remittanceInformationUnstructured: `${first + row} ${'x'.repeat(200)}`,
  }));
  query.set('page', String(page + 1));
  const href = `/v1/accounts/${ACCOUNT}/transactions?${query}`;
  return json({ transactions: { booked, _links: next <= oldest ? { next: { href } } : {} } });
}

function answerOf({ method, target }: Heard): PlainAnswer {
  const [path = ''] = target.split('?', 1);
  const consent = { consentId: 'c1', consentStatus: 'valid' };
  if (method === 'POST' && path === '/v1/consents') return json({ ...consent, _links: {} }, 201);
  if (path.startsWith('/v1/consents/')) return json({ ...consent, access: {} });
  if (path.endsWith('/transactions')) return pageOf(target);
  if (path.endsWith('/balances'))
    return json({
      balances: [{ balanceType: 'closingBooked', balanceAmount: { amount: '1.00', currency: 'EUR' } }],
    });
  if (path === '/v1/accounts') return json({ accounts: [{ resourceId: ACCOUNT, currency: 'EUR' }] });
  return json({ tppMessages: [{ category: 'ERROR', code: 'RESOURCE_UNKNOWN' }] }, 404);
}

const operator = bank.operator;
const PRESENT = ['--psu-ip', '203.0.113.7'];

beforeAll(async () => {
  const file = join(operator.folder, 'bank.json');
  writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', psu: { ip: '203.0.113.1' } }));
  operator.env.PSD2_BANK = file;
  bank.behave((socket, heard) => write(socket, answerOf(heard)));
  await operator.succeeds(['consent', 'request', '--yes', '--json']);
});

describe('in a small heap', () => {
  it('psd2 prints all rows of the account, each once', async () => {
    const read = ['accounts', 'transactions', ACCOUNT, '-o', 'ndjson', ...PRESENT];
    const { stdout } = await operator.succeeds(read, { env: SMALL });
    expectAll(stdout);
  });

  it('psd2 sync stores all rows of the account, each once', async () => {
    const out = join(operator.folder, 'out');
    await operator.succeeds(['sync', '--out', out, ...PRESENT], { env: SMALL });
    expectAll(readFileSync(join(out, CUSTOMER_ID, 'transactions', `${ACCOUNT}.ndjson`), 'utf8'));
  });
});

const rowId = z.object({ transactionId: z.string() });

function expectAll(text: string): void {
  const lines = text.trimEnd().split('\n');
  const ids = lines.map((line) => rowId.parse(JSON.parse(line)).transactionId);
  expect(ids).toHaveLength(PAGES * ROWS);
  expect(new Set(ids).size).toBe(PAGES * ROWS);
}
