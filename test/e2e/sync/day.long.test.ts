import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addDays, bankDay, bankLocalTime } from '../../../src/domain/calendar.ts';
import { giveRegistration, logIn, useOperator, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

// The reads of a day while the customer is absent. The clocks of psd2 and of the bank move together. Each test has a day.

const operator = useOperator();
const ahead = join(operator.folder, 'clock-ahead');
const moved = pathToFileURL(fileURLToPath(new URL('./moved-clock.mjs', import.meta.url))).href;
operator.env.PSD2_PROFILE = 'sandbox';
operator.env.CLOCK_AHEAD = ahead;
operator.env.NODE_OPTIONS = `--import=${moved}`;
const TODAY = bankDay(new Date());

/** Sets the clock to a time at the bank, on a day after today. */
function setClock(day: number, time: string): void {
  const to = Date.parse(bankLocalTime(addDays(TODAY, day), time));
  writeFileSync(`${ahead}.new`, String(to - Date.now()));
  renameSync(`${ahead}.new`, ahead);
}

beforeAll(async () => {
  giveRegistration(operator);
  setClock(1, '12:00');
  const rules = ['--token-ttl', '999999', '--transactions', '20'];
  await operator.succeeds(['sandbox', 'start', '--detach', '--port', '0', ...rules]);
  await logIn(operator);
});
afterAll(async () => {
  await operator.succeeds(['sandbox', 'stop']);
});

/** Node's own clock writes the date of an answer. psd2 would take its day for the bank's, and read too far back. */
const SINCE = ['--since', addDays(TODAY, -30)];

const every = () =>
  operator.start(words`sync --out ${join(operator.folder, 'every')} ${SINCE} --every 1s --json --verbose`);
const times = (text: string, what: RegExp) => [...text.matchAll(new RegExp(what, 'g'))].length;
const SYNCED = 'A round has ended: 1 of 1 customers are completely synced';
const WAITED = 'A round has ended without a read';
const rounds = (...ends: string[]) => new RegExp(ends.join('[^]*'));

it('psd2 sync --every: the reads are spread over the day of the bank, and each day has its own', async () => {
  setClock(6, '17:30');
  const worker = await every();
  // Three turns of the day have begun: none is lost.
  const first = [SYNCED, SYNCED, SYNCED, WAITED, WAITED];
  await worker.prints(rounds(...first));
  setClock(6, '18:00');
  const second = [...first, SYNCED, WAITED, WAITED];
  await worker.prints(rounds(...second));
  setClock(7, '00:00');
  await worker.prints(rounds(...second, SYNCED, WAITED));
  worker.kill('SIGTERM');
  const { code, stdout, stderr } = await worker.ended;
  expect(code, stderr).toBe(0);
  expect(times(stderr, /completely synced/)).toBe(5);
  expect(times(stderr, /"path":"\/private\/customers\/\d+\/accounts"/)).toBe(5);
  // The totals are those of the last round alone.
  expect(shapes.syncReport.parse(JSON.parse(stdout)).totals).toEqual({
    ...{ customers: 1, synced: 0, accounts: 0, newTransactions: 0, pending: 0, calls: 0 },
  });
});
