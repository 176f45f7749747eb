import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay, type IsoDate, parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { useOperatorHere } from '../operator.ts';

const operator = useOperatorHere();
const temporary = temporaryFolder();
const out = join(temporary, 'banking');
const [ACCOUNT, SAVINGS, CARD] = ['0010482620', '0010482638', '0000093017'];
const BALANCE = z.looseObject({ asOf: z.string() });

let anna: string;
let today: IsoDate;
const daysAgo = (days: number) => addDays(today, -days);

const calls = async () => (await operator.json(z.array(z.unknown()), ['log', '--limit', '100000'])).length;

beforeAll(async () => {
  anna = await operator.logIn('anna');
  today = bankDay(operator.bank.clock.now());
  await operator.run(['sync', '--out', out, '--since', daysAgo(80)]);
});

const nothing = (what: string) =>
  new Psd2Error('usage', `No sync has stored ${what}`, {
    hint: 'Run a sync first, or leave out --from-store.',
  });

/** Exports an account as CSV. @returns the text of the file, and what psd2 said */
async function exported(...words: string[]) {
  const file = join(temporary, 'export.csv');
  const command = ['accounts', 'export', ACCOUNT, '--format', 'csv', '--file', file];
  const { said } = await operator.run([...command, ...words]);
  return { text: readFileSync(file, 'utf8'), said: said() };
}

describe('with --from-store', () => {
  it('the balance is the one that the bank gave to the sync', async () => {
    const { asOf: _, ...live } = await operator.json(BALANCE, ['accounts', 'balance', ACCOUNT]);
    const before = await calls();
    for (const where of [[], ['--sync-folder', out]]) {
      const { asOf: __, ...stored } = await operator.json(BALANCE, [
        ...['accounts', 'balance', ACCOUNT, '--from-store', ...where],
      ]);
      expect(stored).toEqual(live);
    }
    expect(await calls()).toBe(before);
  });

  it('a statement has the same transactions, with the same ids, as one from the bank', async () => {
    const range = ['--from', daysAgo(60), '--to', daysAgo(5)];
    const live = await exported(...range);
    const before = await calls();
    const stored = await exported(...range, '--from-store');
    expect(await calls()).toBe(before);
    expect(stored.text).toBe(live.text);
    expect(stored.said).toBe(live.said);
  });

  it('a statement has only days that are stored, and a warning says which', async () => {
    const warning = `The store has ${ACCOUNT} from ${daysAgo(80)} to ${today}. The last sync may not have seen the whole last day.`;
    const warnings = async (...range: string[]) =>
      (await exported('--from-store', ...range)).said
        .split('\n')
        .filter((line) => line.startsWith('The store'));
    expect(await warnings()).toEqual([]);
    expect(await warnings('--from', daysAgo(80), '--to', daysAgo(1))).toEqual([]);
    expect(await warnings('--from', daysAgo(81), '--to', daysAgo(1))).toEqual([warning]);
    expect(await warnings('--from', daysAgo(80), '--to', today)).toEqual([warning]);
    const { said } = await exported('--from-store', '--from', daysAgo(100), '--to', addDays(today, 5));
    expect(said).toMatch(new RegExp(` booked transactions from ${daysAgo(80)} to ${today}\n$`));
  });

  it('days that are not stored are refused', async () => {
    const error = new Psd2Error('usage', `The store has ${ACCOUNT} from ${daysAgo(80)} to ${today} only`, {
      hint: 'Choose days within this range, or leave out --from-store.',
    });
    await expect(exported('--from-store', '--to', daysAgo(81))).rejects.toThrow(error);
    await expect(exported('--from-store', '--from', addDays(today, 1))).rejects.toThrow(error);
  });

  it('a report is one page, and is noted in the audit log', async () => {
    const file = join(temporary, 'report.html');
    const before = await calls();
    await operator.run(['accounts', 'report', ACCOUNT, '--from-store', '--file', file]);
    expect(await calls()).toBe(before);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/i);
    expect(await operator.json(z.array(z.unknown()), ['audit'])).toContainEqual(
      expect.objectContaining({ action: 'exported', customerId: anna, about: `report ${ACCOUNT}` }),
    );
  });

  const OF_NOBODY = nothing('the accounts of customer 7777777');
  const MISSING = join(temporary, 'missing');
  const NO_ACCOUNT = expect.objectContaining({
    ...{ code: 'usage', message: 'The customer has no account 0000000001' },
  });
  const NO_FOLDER = new Psd2Error('usage', `--sync-folder names ${MISSING}, which does not exist`, {
    hint: 'Give the folder of psd2 sync --out.',
  });
  it.each<[string, string | undefined, string[], unknown]>([
    ['an account that the customer does not have', undefined, ['balance', '0000000001'], NO_ACCOUNT],
    ['the balance of a customer whom no sync has read', '7777777', ['balance', ACCOUNT], OF_NOBODY],
    ['their report', '7777777', ['report', ACCOUNT, '--file', MISSING], OF_NOBODY],
    ['a missing folder', undefined, ['balance', ACCOUNT, '--sync-folder', MISSING], NO_FOLDER],
  ])('%s is refused', async (_, customer, words, error) => {
    const globals = customer === undefined ? {} : { customer };
    const work = operator.run(['accounts', ...words, '--from-store'], { globals });
    await expect(work).rejects.toThrow(error);
  });
});

describe('psd2 accounts export --all-customers', () => {
  const ENTRY = z.strictObject({
    ...{ customerId: z.string(), productId: z.nullable(z.string()), iban: z.nullable(z.string()) },
    ...{ file: z.nullable(z.string()), rows: z.number(), days: z.number() },
    gaps: z.array(z.strictObject({ from: z.string(), to: z.string() })),
    ...{ sha256: z.nullable(z.string()), problem: z.nullable(z.string()), doubt: z.nullable(z.string()) },
  });
  const MANIFEST = z.strictObject({
    ...{ profile: z.literal('env'), month: z.string(), format: z.string(), createdAt: z.iso.datetime() },
    accounts: z.array(ENTRY),
  });
  const command = (month: string, format: string, folder: string) => [
    ...['accounts', 'export', '--all-customers', '--month', month, '--format', format, '--out', folder],
  ];
  const monthBefore = () => addDays(parseDate('--date', `${today.slice(0, 7)}-01`), -1).slice(0, 7);

  async function exportMonth(month: string, format: string) {
    const folder = join(temporary, `${month}-${format}`);
    const failure = await operator
      .run(command(month, format, folder))
      .then(() => undefined)
      .catch((error: unknown) => error);
    const manifest = MANIFEST.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));
    return { folder, failure, manifest };
  }

  it.each([
    ['csv', 'csv'],
    ['ofx', 'ofx'],
    ['camt053', 'xml'],
  ])('as %s writes each account of a whole month, with what is in it', async (format, ending) => {
    const month = monthBefore();
    const { folder, failure, manifest } = await exportMonth(month, format);
    expect(failure).toBeUndefined();
    expect([manifest.month, manifest.format]).toEqual([month, format]);
    expect(manifest.accounts.map(({ productId }) => productId).toSorted()).toEqual(
      [CARD, ACCOUNT, SAVINGS].toSorted(),
    );
    for (const { customerId, productId, file, sha256, gaps, days, problem } of manifest.accounts) {
      expect([customerId, file, gaps, problem]).toEqual([
        ...[anna, join(anna, `${productId}-${month}.${ending}`), [], null],
      ]);
      expect(days).toBe(
        new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate(),
      );
      const content = readFileSync(join(folder, file ?? ''));
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await operator.json(z.array(z.unknown()), ['audit'])).toContainEqual(
      expect.objectContaining({ action: 'exported', customerId: anna, about: `${format} ${month}` }),
    );
  });

  it('names the days that are missing, and then someone has to look', async () => {
    const month = today.slice(0, 7);
    const { folder, failure, manifest } = await exportMonth(month, 'csv');
    expect(failure).toEqual(
      new Psd2Error('needs_attention', `3 of 3 accounts are not complete for ${month}`, {
        hint: `The manifest in ${folder} has the missing days. See what syncs could not read with:`,
        next: [['sync', 'status', '--failed']],
      }),
    );
    for (const { gaps, days } of manifest.accounts) {
      expect(gaps.map(({ from }) => from)).toEqual([today]);
      expect(days).toBe(Number(today.slice(8)) - 1);
    }
  });

  it('lists a customer whom no sync has read yet', async () => {
    const bruno = await operator.logIn('bruno');
    const month = monthBefore();
    const { failure, manifest } = await exportMonth(month, 'ofx');
    expect(failure).toMatchObject({ message: `1 of 4 accounts are not complete for ${month}` });
    expect(manifest.accounts.filter(({ customerId }) => customerId === bruno)).toEqual([
      {
        ...{ customerId: bruno, productId: null, iban: null, file: null, rows: 0, days: 0, sha256: null },
        ...{ doubt: null, gaps: [{ from: `${month}-01`, to: expect.stringContaining(month) }] },
        problem: 'no sync has stored any account of the customer',
      },
    ]);
  });

  it.each([
    ['2026-13', '--month "2026-13" is not a month', { hint: 'For example 2026-10.' }],
    ['2026-1', '--month "2026-1" is not a month', { hint: 'For example 2026-10.' }],
    ['2026-10-01', '--month "2026-10-01" is not a month', { hint: 'For example 2026-10.' }],
    ['x2026-10', '--month "x2026-10" is not a month', { hint: 'For example 2026-10.' }],
    ['9999-01', 'The month 9999-01 has not begun yet', {}],
  ])('the month %s is refused', async (month, message, advice) => {
    await expect(operator.run(command(month, 'csv', join(temporary, 'refused')))).rejects.toThrow(
      new Psd2Error('usage', message, advice),
    );
  });
});

it('without a sync there is nothing to read from, and psd2 says how to begin', async () => {
  const { folder } = operator;
  operator.folder = newConfigFolder(temporary);
  await operator.logIn('anna');
  const work = operator.run(['accounts', 'balance', ACCOUNT, '--from-store']);
  operator.folder = folder;
  await expect(work).rejects.toThrow(
    new Psd2Error('usage', 'No sync has stored anything yet, or psd2 does not know its folder', {
      hint: 'Name the folder of psd2 sync --out with --sync-folder <folder>, or run a sync first:',
      next: [['sync', '--out', 'banking']],
    }),
  );
});
