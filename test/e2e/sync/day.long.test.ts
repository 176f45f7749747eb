import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failedReads } from '../../../src/commands/sync/failed.ts';
import { addDays, bankDay, bankLocalTime } from '../../../src/domain/calendar.ts';
import { readError } from '../support/errors.ts';
import { type Ended, giveRegistration, logIn, useOperator } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

// The reads of a day while the customer is absent. The clocks of psd2 and of the bank move together. Each test has a day.

const operator = useOperator();
const ahead = join(operator.folder, 'clock-ahead');
const moved = pathToFileURL(fileURLToPath(new URL('./moved-clock.mjs', import.meta.url))).href;
operator.env.PSD2_PROFILE = 'sandbox';
operator.env.CLOCK_AHEAD = ahead;
operator.env.NODE_OPTIONS = `--import=${moved}`;
const TODAY = bankDay(new Date());
const PRODUCT = '0010482620';

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
  const started = await operator.psd2(['sandbox', 'start', '--detach', '--port', '0', ...rules]);
  expect(started, started.stderr).toMatchObject({ code: 0 });
  await logIn(operator);
});
afterAll(async () => {
  const stopped = await operator.psd2(['sandbox', 'stop']);
  expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
});

/** Node's own clock writes the date of an answer. psd2 would take its day for the bank's, and read too far back. */
const SINCE = ['--since', addDays(TODAY, -30)];
const sync = (...more: string[]) =>
  operator.psd2([
    'sync',
    '--out',
    join(operator.folder, 'out'),
    ...SINCE,
    '--unattended-reads',
    '4',
    '--json',
    ...more,
  ]);
const report = ({ stdout }: Ended) => shapes.syncReport.parse(JSON.parse(stdout));
const during = async <T>(fault: string[], work: () => Promise<T>): Promise<T> => {
  const added = await operator.psd2(['sandbox', 'fault', 'add', ...fault]);
  expect(added, added.stderr).toMatchObject({ code: 0 });
  try {
    return await work();
  } finally {
    expect(await operator.psd2(['sandbox', 'fault', 'clear'])).toMatchObject({ code: 0 });
  }
};
const LIST = 'GET /private/customers/*/accounts';

describe('the reads of a day', () => {
  it('a sync that got no data is free, and one that may read nothing ends with exit code 12', async () => {
    setClock(2, '08:00');
    for (const fault of ['status=503', 'status=412', 'cut-before-effect'])
      await during([fault, '--on', LIST], async () => expect((await sync()).code).not.toBe(0));
    for (const _read of [1, 2, 3, 4]) expect(report(await sync()).totals).toMatchObject({ synced: 1 });
    const ended = await sync();
    expect(readError(ended)).toMatchObject({ code: 'reads_used_up', exitCode: 12 });
    expect(ended.stderr).toContain('Skipped: 1 customer, read 4 times today without the customer');
    expect(report(ended)).toMatchObject({
      ...{ customers: [{ status: 'waiting' }], totals: { customers: 1, synced: 0, calls: 0 } },
      nextReadsAt: new Date(bankLocalTime(addDays(TODAY, 3), '00:00')).toISOString(),
    });
  });

  it('an account that brought no data is free, and the others count', async () => {
    setClock(3, '08:00');
    const account = `* /private/customers/*/products/${PRODUCT}/*`;
    await during(['status=412', '--on', account], async () => expect((await sync()).code).toBe(7));
    // Now the list and the other accounts were read once, and so is this one.
    const read = await operator.psd2(['accounts', 'balance', PRODUCT]);
    expect(read, read.stderr).toMatchObject({ code: 0 });
    const { customers, totals } = report(await sync('--unattended-reads', '2'));
    expect(customers).toMatchObject([{ status: 'synced', skipped: [] }]);
    expect(totals.synced).toBe(1);
  });

  it('a customer with skipped accounts is not completely synced, and the sync is not a failure', async () => {
    setClock(4, '08:00');
    const read = await operator.psd2(['accounts', 'balance', PRODUCT]);
    expect(read, read.stderr).toMatchObject({ code: 0 });
    const ended = await sync('--unattended-reads', '1');
    expect(ended.code, ended.stderr).toBe(0);
    expect(report(ended)).toMatchObject({
      customers: [{ status: 'partly', accounts: 3, skipped: [PRODUCT] }],
      totals: { customers: 1, synced: 0 },
    });
  });

  it('an export reads the list and its account once, and no other account', async () => {
    setClock(5, '08:00');
    for (const product of [PRODUCT, '0010482638', '0000093017']) {
      const file = join(operator.folder, `${product}.csv`);
      const exported = await operator.psd2([
        'accounts',
        'export',
        product,
        '--format',
        'csv',
        '--file',
        file,
      ]);
      expect(exported, exported.stderr).toMatchObject({ code: 0 });
    }
    expect(report(await sync('--unattended-reads', '3')).customers).toMatchObject([{ status: 'waiting' }]);
    const { customers } = report(await sync('--unattended-reads', '4'));
    expect(customers).toMatchObject([{ status: 'synced', skipped: [] }]);
    expect(report(await sync('--unattended-reads', '5')).customers).toMatchObject([{ skipped: [] }]);
  });
});

describe('psd2 sync --every', () => {
  const every = () =>
    operator.start([
      'sync',
      '--out',
      join(operator.folder, 'every'),
      ...SINCE,
      '--every',
      '1s',
      '--json',
      '--verbose',
    ]);
  const times = (text: string, what: RegExp) => [...text.matchAll(new RegExp(what, 'g'))].length;
  const SYNCED = 'A round has ended: 1 of 1 customers are completely synced';
  const WAITED = 'A round has ended without a read';
  const rounds = (...ends: string[]) => new RegExp(ends.join('[^]*'));

  it('the reads are spread over the day of the bank, and each day has its own', async () => {
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

  it('after a failed read psd2 pauses, and a plain sync does not', async () => {
    setClock(8, '08:00');
    const FAILED = 'A round has ended: 0 of 1 customers are completely synced';
    const both = [FAILED, WAITED, WAITED, FAILED, WAITED, WAITED];
    const worker = await during(['status=412', '--on', LIST], async () => {
      const failing = await every();
      await failing.prints(rounds(FAILED, WAITED, WAITED));
      setClock(8, '08:06');
      await failing.prints(rounds(...both));
      return failing;
    });
    // The second pause is longer.
    setClock(8, '08:12');
    await worker.prints(rounds(...both, WAITED, WAITED));
    setClock(8, '08:17');
    await worker.prints(rounds(...both, WAITED, WAITED, SYNCED));
    worker.kill('SIGTERM');
    const { stderr } = await worker.ended;
    expect(times(stderr, /0 of 1 customers are completely synced/)).toBe(2);
    await during(['status=412', '--on', LIST], async () => {
      for (const _try of [1, 2]) expect((await sync()).code).toBe(7);
    });
    expect(report(await sync()).totals).toMatchObject({ synced: 1 });
  });
});

describe('psd2 sync status --failed', () => {
  it('what a sync could not read is listed with why, how often and the last success, also after it was read again', async () => {
    setClock(9, '08:00');
    const failed = async (...more: string[]) => {
      const ended = await operator.psd2(['sync', 'status', '--failed', '--json', ...more]);
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
      return failedReads.read(JSON.parse(ended.stdout));
    };
    const ofProduct = async () => (await failed('--since', '1h')).filter((row) => row.productId === PRODUCT);
    expect(report(await sync()).totals).toMatchObject({ synced: 1 });
    const balance = `GET /private/customers/*/products/${PRODUCT}/balance/*`;
    for (const _time of [1, 2])
      await during(['status=412', '--on', balance], async () => expect((await sync()).code).toBe(7));
    const [row] = await ofProduct();
    expect(row).toMatchObject({ customerId: '1048262', code: 'bank_refused', failures: 2, readAgain: false });
    expect(row?.next).toEqual([
      'psd2',
      '--customer',
      '1048262',
      'sync',
      '--out',
      join(operator.folder, 'out'),
    ]);
    expect(row?.lastSuccess).not.toBeNull();
    expect((row?.lastSuccess ?? '') < (row?.since ?? '')).toBe(true);
    expect(report(await sync()).totals).toMatchObject({ synced: 1 });
    expect(await ofProduct()).toMatchObject([{ failures: 2, readAgain: true }]);
    setClock(9, '10:00');
    expect(await ofProduct()).toEqual([]);
    expect((await failed()).filter(({ productId }) => productId === PRODUCT)).toHaveLength(1);
  });
});

it('an account whose balance failed has brought its rows, and counts', async () => {
  setClock(10, '08:00');
  const balance = `GET /private/customers/*/products/${PRODUCT}/balance/*`;
  const failed = await during(['status=412', '--on', balance], () => sync());
  expect(readError(failed).message).toContain('The balance could not be read');
  const read = await operator.psd2(['accounts', 'balance', PRODUCT]);
  expect(read, read.stderr).toMatchObject({ code: 0 });
  // Now the list and the other accounts were read once, and this one twice.
  const { customers } = report(await sync('--unattended-reads', '2'));
  expect(customers).toMatchObject([{ status: 'partly', skipped: [PRODUCT], errors: [] }]);
});
