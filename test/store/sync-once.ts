// Syncs one customer into a folder, with a list of rows in place of a bank. argv[2] is the folder. test/crash/stalled-sync.test.ts
// bundles and starts this program.
import { addDays, type IsoDate, isIsoDate } from '../../src/domain/calendar.ts';
import { Psd2Error } from '../../src/errors.ts';
import { type SyncFolder, SyncRun } from '../../src/store/files/sync/folder.ts';

const PRODUCTS = ['A1', 'B2'];
const [, , out = '', last = ''] = process.argv;

function day(text: string): IsoDate {
  if (!isIsoDate(text)) throw new TypeError(text);
  return text;
}

const FIRST = day('2026-11-01');
const through = day(last);

async function syncProduct(folder: SyncFolder, productId: string): Promise<void> {
  const before = folder.progressOf(productId);
  const rows = folder.booked(productId, before?.settled ?? 0);
  const from = before ? addDays(before.through, -2) : FIRST;
  let isFirst = true;
  for (let at = from; at <= through; at = addDays(at, 1)) {
    if (at < FIRST) continue;
    rows.append([1, 2].map((number) => ({ id: `${productId} ${at} ${number}`, bookingDate: at })));
    folder.remember(productId, {
      from: before?.from ?? FIRST,
      through: before && before.through > at ? before.through : at,
      settled: rows.settle(addDays(at, -4)),
    });
    // A commit in the middle of an account, as for one that is too long for one window.
    if (isFirst) await folder.commit();
    isFirst = false;
  }
  folder.replace(`pending/${productId}`, [{ details: last }]);
}

try {
  await SyncRun.within(out, new AbortController().signal, (run) =>
    run.customer('7', async (folder) => {
      folder.replace(
        'accounts',
        PRODUCTS.map((productId) => ({ productId })),
      );
      for (const productId of PRODUCTS) await syncProduct(folder, productId);
      folder.replace(
        'balances',
        PRODUCTS.map((productId) => ({ productId, asOf: last })),
      );
    }),
  );
} catch (error) {
  if (!(error instanceof Psd2Error)) throw error;
  process.stdout.write(error.message);
  process.exitCode = 3;
}
