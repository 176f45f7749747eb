import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import * as shapes from '../support/shapes.ts';
import { useSecondDoor } from './second-door-customer.ts';

// A bank that gives what it has booked after a row (`accounts.delta`), three rows on a page.

const operator = useSecondDoor(['--transactions', '60', '--page-size', '3'], {
  accounts: { delta: 'entryReferenceFrom' },
});
const ACCOUNT = '0010482620';
const row = z.looseObject({
  bookingDate: z.iso.date(),
  entryReference: z.string(),
  transactionId: z.string(),
});

it('the next sync asks each account once for what is new, and has every row once', async () => {
  await operator.request();
  const out = join(operator.folder, 'synced');
  // The bank's history moves with its clock.
  const from = addDays(bankDay(new Date()), -80);
  const sync = async () => operator.json(shapes.syncReport, ['sync', '--out', out, '--psu-ip', '192.0.2.1']);
  const synced = () =>
    readFileSync(join(out, 'default', 'transactions', `${ACCOUNT}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => row.parse(JSON.parse(line)))
      .flatMap(({ bookingDate, transactionId }) => (bookingDate >= from ? [transactionId] : []));
  const first = await sync();
  expect(first.customers).toMatchObject([{ status: 'synced', errors: [] }]);
  expect(synced().length).toBeGreaterThan(7);

  const clock = await operator.psd2(['sandbox', 'clock', '+2d']);
  expect(clock, clock.stderr).toMatchObject({ code: 0 });
  const second = await sync();
  expect(second.customers).toMatchObject([{ status: 'synced', accounts: 3, errors: [] }]);
  expect(second.totals.newTransactions).toBeGreaterThan(0);
  // Two lists; the balance of two accounts, and what came after a row; and a card, whose rows have no reference.
  expect(second.totals.calls).toBeLessThan(first.totals.calls);
  const rows = await operator.json(z.array(row), [
    ...['accounts', 'transactions', ACCOUNT, '--booked', '--from', from],
  ]);
  expect(synced().toSorted()).toEqual(rows.map(({ transactionId }) => transactionId).toSorted());
});
