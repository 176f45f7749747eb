import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const told = () => join(operator.folder, 'told');
const notified = () => join(operator.config, 'notified', 'sandbox.json');
const ORDER = [
  ...['--from', '0010482620', '--to', 'DE89370400440532013000', '--name', 'EXECUTE 403'],
  ...['--amount', '3.00', '--yes', '--json'],
];

beforeAll(() => {
  const script = join(operator.folder, 'tell.mjs');
  writeFileSync(
    script,
    `import { appendFileSync, readFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(told())}, readFileSync(0));`,
  );
  operator.env.PSD2_NOTIFY = `"${process.execPath}" "${script}"`;
});

/** What the command has got since the last call. */
function news(): unknown[] {
  const lines = existsSync(told()) ? readFileSync(told(), 'utf8').trimEnd().split('\n') : [];
  writeFileSync(told(), '');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

describe('PSD2_NOTIFY', () => {
  it('gets a payment whose outcome is not known once, until a person has ended it', async () => {
    const paid = await operator.psd2(['transfer', 'create', ...ORDER]);
    expect(paid.code, paid.stderr).toBe(9);
    const { flow } = shapes.transfer.parse(JSON.parse(paid.stdout));
    expect(news()).toEqual([
      {
        ...{ profile: 'sandbox', kind: 'transfer', id: flow, state: 'unknown', since: expect.any(String) },
        ...{ customerId: '1048262', amount: '3.00', currency: 'EUR', message: expect.any(String) },
        next: ['psd2', '--profile', 'sandbox', 'transfer', 'resume', flow],
      },
    ]);
    // What another command or a newer psd2 has noted stays.
    const known = JSON.parse(readFileSync(notified(), 'utf8'));
    writeFileSync(notified(), JSON.stringify({ ...known, 'newer thing': 'x' }));
    for (const args of [['transfer', 'resume', flow], ['status'], ['expiring']])
      await operator.psd2([...args, '--json']);
    expect(news()).toEqual([]);
    const resolved = await operator.psd2(['transfer', 'resolve', flow, '--not-executed', '--yes', '--json']);
    expect(resolved, resolved.stderr).toMatchObject({ code: 0 });
    await operator.psd2(['status', '--json']);
    expect(JSON.parse(readFileSync(notified(), 'utf8'))).toEqual({ 'newer thing': 'x' });
  });

  it('gets a failed sync once, and again after one that went well', async () => {
    const sync = () =>
      operator.psd2([
        ...['sync', '--all-customers', '--unattended-reads', '9999'],
        ...['--out', join(operator.folder, 'synced'), '--json'],
      ]);
    const fault = (verb: string, ...more: string[]) => operator.psd2(['sandbox', 'fault', verb, ...more]);
    const failed = {
      ...{ profile: 'sandbox', kind: 'sync', customerId: null, failed: 1, customers: 1 },
      ...{ code: 'bank_refused', next: ['psd2', '--profile', 'sandbox', 'sync', 'status', '--failed'] },
    };
    for (const _ of [1, 2]) {
      await fault('add', 'status=400', '--on', 'GET /private/*');
      for (const __ of [1, 2]) expect((await sync()).code).toBe(7);
      expect(news()).toMatchObject([failed]);
      await fault('clear');
      const good = await sync();
      expect(good, good.stderr).toMatchObject({ code: 0 });
      expect(news()).toEqual([]);
    }
  });
});
