import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readError } from '../support/errors.ts';
import type { Ended } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { consent, useSecondDoor } from './second-door.ts';

// `psd2 sync` at the second door: who is synced, how often the consent lets psd2 read, and what it stores.

const operator = useSecondDoor(['--transactions', '150', '--variation', 'multiple-consents']);
const out = join(operator.folder, 'out');
const sync = (...args: string[]) => operator.psd2(['sync', '--out', out, ...args, '--json']);
const report = ({ stdout }: Ended) => shapes.syncReport.parse(JSON.parse(stdout));
const succeeded = async (...args: string[]) => {
  const ended = await sync(...args);
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  return report(ended);
};
const rowsOf = (customer: string, account: string) =>
  readFileSync(join(out, customer, 'transactions', `${account}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => stored.parse(JSON.parse(line)));
const stored = z.looseObject({
  ...{ id: z.string(), bookingDate: z.iso.date(), transactionId: z.string(), entryReference: z.string() },
  counterpartyName: z.string().nullable(),
});
const PRESENT = ['--psu-ip', '192.0.2.1'];
const [ACCOUNT, IBAN] = ['0010482620', 'IT89F0999001600000010482620'];
const SAVINGS_IBAN = 'IT31P0999001600000010482638';

describe('a sync', () => {
  beforeAll(() => consent(operator, 'anna'));
  const anna = ['--customer', 'anna'];

  it('stores the accounts, cards and transactions, each once, with the ids of the bank', async () => {
    const first = await succeeded(...anna);
    expect(first.customers).toMatchObject([
      { customerId: 'anna', status: 'synced', accounts: 3, errors: [] },
    ]);
    const rows = rowsOf('anna', ACCOUNT);
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map(({ transactionId }) => transactionId)).size).toBe(rows.length);
    const again = await succeeded(...anna);
    expect(again.totals).toMatchObject({ synced: 1, newTransactions: 0 });
    expect(rowsOf('anna', ACCOUNT)).toEqual(rows);
  });
});

describe('all customers', () => {
  it('have a turn, and one whom the bank does not let psd2 read does not stop the others', async () => {
    await consent(operator, 'anna');
    await consent(operator, 'bert', '--account', IBAN);
    // `ended` has a consent that the bank does not know any more, and `noted` never had one.
    await consent(operator, 'ended', '--account', SAVINGS_IBAN);
    const noted = await operator.psd2(['auth', 'login', '--customer', 'noted']);
    expect(noted, noted.stderr).toMatchObject({ code: 0 });
    const flows = z.array(z.looseObject({ resourceId: z.string(), customerId: z.string() }));
    const [ended] = (await operator.json(flows, ['consent', 'list'])).filter(
      ({ customerId }) => customerId === 'ended',
    );
    const path = `/v1/consents/${ended?.resourceId}`;
    const deleted = await operator.psd2(['api', 'delete', path, '--customer', 'ended', '--yes']);
    expect(deleted, deleted.stderr).toMatchObject({ code: 0 });
    const done = await sync('--all-customers', ...PRESENT);
    expect(readError(done)).toMatchObject({ code: 'not_logged_in', exitCode: 4 });
    // Not the current customer, whose consent it would replace.
    expect(readError(done).next).toEqual([['psd2', 'consent', 'request', '--customer', 'ended']]);
    expect(report(done).customers).toMatchObject([
      { customerId: 'anna', status: 'synced', accounts: 3 },
      { customerId: 'bert', status: 'synced', accounts: 1 },
      { customerId: 'ended', status: 'failed', errors: [{ productId: null, code: 'not_logged_in' }] },
    ]);
  });
});

describe('the reads of a day', () => {
  const carla = ['--customer', 'carla'];

  it('are as many as the consent allows, are not counted with --psu-ip, and a new consent has its own', async () => {
    await consent(operator, 'carla', '--frequency', '1');
    expect((await succeeded(...carla)).totals).toMatchObject({ synced: 1 });
    const second = await sync(...carla);
    expect(readError(second)).toMatchObject({ code: 'reads_used_up', exitCode: 12 });
    expect(second.stderr).toContain('Skipped: 1 customer, read as often as the consent allows today');
    // psd2 knows it, so it did not ask the bank.
    expect(report(second)).toMatchObject({ customers: [{ status: 'waiting' }], totals: { calls: 0 } });
    expect((await succeeded(...carla, ...PRESENT)).totals).toMatchObject({ synced: 1 });
    await consent(operator, 'carla', '--frequency', '2');
    for (const _read of [1, 2]) expect((await succeeded(...carla)).totals).toMatchObject({ synced: 1 });
    expect(readError(await sync(...carla))).toMatchObject({ code: 'reads_used_up' });
  });

  it('that only the bank has counted are used up when it says so, and psd2 asks once', async () => {
    // psd2 knows no list of this customer, so the export reads it.
    const cesar = ['--customer', 'cesar'];
    await consent(operator, 'cesar', '--frequency', '2');
    // It reads the balance before and after the transactions. For psd2 that is one read.
    const file = join(operator.folder, 'export.csv');
    const exported = ['accounts', 'export', ACCOUNT, '--format', 'csv', '--file', file, ...cesar];
    expect(await operator.psd2(exported)).toMatchObject({ code: 0 });
    const partly = await sync(...cesar, '--verbose');
    expect(partly, partly.stderr).toMatchObject({ code: 0 });
    expect(report(partly).customers).toMatchObject([{ status: 'partly', skipped: [ACCOUNT], errors: [] }]);
    expect([...partly.stderr.matchAll(/"outcome":429/g)]).toHaveLength(1);
    // Another psd2 has counted on another machine.
    rmSync(join(operator.config, 'tokens', 'env', 'unattended-reads'), { recursive: true });
    const ended = await sync(...cesar, '--verbose');
    expect(readError(ended)).toMatchObject({ code: 'reads_used_up', exitCode: 12 });
    expect(report(ended)).toMatchObject({
      customers: [{ status: 'waiting', errors: [] }],
      totals: { calls: 1 },
    });
  });
});

describe('a customer who withdraws the consent at the bank', () => {
  it('is reported once, in the round that meets it and in each later one', async () => {
    await consent(operator, 'gone');
    const revoked = await operator.psd2(['sandbox', 'customer', 'revoke-consent', 'anna']);
    expect(revoked, revoked.stderr).toMatchObject({ code: 0 });
    const logged = await operator.json(z.array(z.looseObject({ path: z.string() })), [
      ...['log', '--customer', 'gone'],
    ]);
    expect(logged.map(({ path }) => path)).toContain('/nextgenpsd2/v1/consents');
    for (const round of ['meets it', 'later']) {
      const { customers, totals } = report(await sync('--all-customers', ...PRESENT));
      const names = customers.map(({ customerId }) => customerId);
      expect(new Set(names).size, round).toBe(names.length);
      expect(names, round).toContain('gone');
      expect(totals.customers, round).toBe(names.length);
    }
    const [last] = await operator.json(z.array(z.looseObject({ path: z.string(), status: z.number() })), [
      ...['log', '--customer', 'gone', '--failed'],
    ]);
    expect(last).toMatchObject({ path: '/nextgenpsd2/v1/accounts', status: 401 });
  });
});
