import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay, type IsoDate, parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';
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

  it('a statement has the same transactions, with the same ids, as one from the bank, and a report is one page', async () => {
    const range = ['--from', daysAgo(60), '--to', daysAgo(5)];
    const live = await exported(...range);
    const before = await calls();
    expect(await exported(...range, '--from-store')).toEqual(live);
    const file = join(temporary, 'report.html');
    await operator.run(['accounts', 'report', ACCOUNT, '--from-store', '--file', file]);
    expect(await calls()).toBe(before);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/i);
    expect(await operator.json(z.array(z.unknown()), ['audit'])).toContainEqual(
      expect.objectContaining({ action: 'exported', customerId: anna, about: `report ${ACCOUNT}` }),
    );
  });

  it('a statement has only days that are stored, and a warning says which', async () => {
    const warning = `The store has ${ACCOUNT} from ${daysAgo(80)} to ${today}. The last sync may not have seen the whole last day.`;
    const warned = async (...range: string[]) =>
      (await exported('--from-store', ...range)).said.match(/^The store.*$/m)?.[0];
    expect(await warned()).toBeUndefined();
    expect(await warned('--from', daysAgo(80), '--to', daysAgo(1))).toBeUndefined();
    expect(await warned('--from', daysAgo(81), '--to', daysAgo(1))).toBe(warning);
    expect(await warned('--from', daysAgo(80), '--to', today)).toBe(warning);
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

  const OF_NOBODY = new Psd2Error('usage', 'No sync has stored the accounts of customer 7777777', {
    hint: 'Run a sync first, or leave out --from-store.',
  });
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

it('psd2 accounts export --all-customers writes a whole month, and lists a customer whom no sync has read', async () => {
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
  const bruno = await operator.logIn('bruno');
  const lastDay = addDays(parseDate('--date', `${today.slice(0, 7)}-01`), -1);
  const month = lastDay.slice(0, 7);
  const folder = join(temporary, 'month');
  const command = ['accounts', 'export', '--all-customers', '--month', month, '--format', 'camt053'];
  const message = `1 of 4 accounts are not complete for ${month}`;
  await expect(operator.run([...command, '--out', folder])).rejects.toMatchObject({ message });
  const manifest = MANIFEST.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));
  expect([manifest.month, manifest.format]).toEqual([month, 'camt053']);
  const ofAnna = manifest.accounts.filter(({ customerId }) => customerId === anna);
  expect(ofAnna.map(({ productId }) => productId).toSorted()).toEqual([CARD, ACCOUNT, SAVINGS].toSorted());
  for (const { productId, file, sha256, gaps, days, problem } of ofAnna) {
    const expected = { file: join(anna, `${productId}-${month}.xml`), gaps: [], problem: null };
    expect({ file, gaps, problem, days }).toEqual({ ...expected, days: Number(lastDay.slice(8)) });
    const content = readFileSync(join(folder, file ?? ''));
    expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
  }
  expect(manifest.accounts.filter(({ customerId }) => customerId === bruno)).toEqual([
    {
      ...{ customerId: bruno, productId: null, iban: null, file: null, rows: 0, days: 0, sha256: null },
      ...{ doubt: null, gaps: [{ from: `${month}-01`, to: lastDay }] },
      problem: 'no sync has stored any account of the customer',
    },
  ]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(await operator.json(z.array(z.unknown()), ['audit'])).toContainEqual(
    expect.objectContaining({ action: 'exported', customerId: anna, about: `camt053 ${month}` }),
  );
});

it('without a sync there is nothing to read from, and psd2 says how to begin', async () => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z');
  await expect(runIn(context, 'accounts', 'balance', ACCOUNT, '--from-store')).rejects.toThrow(
    new Psd2Error('usage', 'No sync has stored anything yet, or psd2 does not know its folder', {
      hint: 'Name the folder of psd2 sync --out with --sync-folder <folder>, or run a sync first:',
      next: [['sync', '--out', 'banking']],
    }),
  );
});
