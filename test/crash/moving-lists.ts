import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CrashBank, Place } from './bank.ts';
import type { Relay } from './relay.ts';
import { type Followers, newTry, type Tried } from './tried.ts';

const UNREACHABLE = 11;
const DAYS = 80;
const DAY_MS = 86_400_000;

/** Makes the bank add a booking right before it returns a page: a fault of the sandbox. */
const MOVE = { 'x-sandbox-fault': 'booking=1' };

/** A command that reads pages of an account's transactions. */
export interface Reading {
  name: string;
  args(product: string, folder: string): string[];
  /** Finds the rows in what the command wrote. Without it, the test compares the text as a whole. */
  rows?: RegExp;
}

const from = () => new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10);
const list = (product: string, ...more: string[]) => [
  ...['accounts', 'transactions', product, '--from', from(), ...more],
];
const exported = (format: string) => (product: string) => [
  ...['accounts', 'export', product, '--from', from(), '--format', format, '--file', '-'],
];

export const READINGS: Reading[] = [
  {
    name: 'transactions, ndjson',
    args: (product) => list(product, '-o', 'ndjson'),
    rows: /^\{.*\}$/gm,
  },
  { name: 'transactions, json', args: (product) => list(product, '--json'), rows: /\{[^{}]*\}/g },
  {
    name: 'transactions, table',
    args: (product) => list(product, '-o', 'table'),
    rows: /^.+$/gm,
  },
  {
    name: 'transactions, csv',
    args: (product) => list(product, '-o', 'csv'),
    rows: /^.+$/gm,
  },
  { name: 'chart', args: (product) => list(product, '--chart') },
  { name: 'export, csv', args: exported('csv'), rows: /^.+$/gm },
  { name: 'export, ofx', args: exported('ofx'), rows: /<STMTTRN>.*?<\/STMTTRN>/gs },
  { name: 'export, camt.053', args: exported('camt053'), rows: /<Ntry>.*?<\/Ntry>/gs },
  {
    name: 'report',
    args: (product) => ['accounts', 'report', product, '--from', from(), '--file', '-'],
  },
  {
    name: 'sync',
    args: (_, folder) => ['sync', '--unattended-reads', '9999', '--since', from(), '--out', folder],
    rows: /^\{.*\}$/gm,
  },
];

/** Accounts that nobody else reads, and logged-in customers. */
export interface Accounts {
  place: Place;
  /** Gives a reading an account of its own. */
  productOf(reading: Reading): { customer: string; product: string };
  /** Reads through the relay, which counts pages. @param moves whether the list changes before the page with this number */
  read(reading: Reading, moves: (page: number) => boolean): Promise<Read>;
}

interface Read {
  code: number;
  stderr: string;
  /** What the command wrote. */
  text: string;
  /** How many pages the bank returned. */
  pages: number;
}

const READINGS_OF_A_CUSTOMER = 3;
/** How many customers the sandbox has to generate. */
export const CUSTOMERS = Math.ceil(READINGS.length / READINGS_OF_A_CUSTOMER);

export async function openAccounts(bank: CrashBank, relay: Relay, followers: Followers): Promise<Accounts> {
  const place = bank.newPlace(relay.env);
  const plans = new Map<string, { page: number; moves(page: number): boolean }>();
  relay.treat(place.name, async ({ path }, toBank) => {
    const product = /\/products\/(\d+)\/transactions\/retrieve$/.exec(path)?.[1];
    const plan = plans.get(product ?? '');
    if (!plan) return toBank();
    plan.page += 1;
    return toBank(plan.moves(plan.page) ? MOVE : {});
  });
  for (let number = 1; number <= CUSTOMERS; number += 1) {
    const env = {
      PSD2_BROWSER: `${bank.operator.env.PSD2_BROWSER} --user customer-${String(number).padStart(6, '0')}`,
    };
    const { code, stderr } = await followers.psd2(place, ['auth', 'login'], env);
    if (code !== 0) throw new Error(`customer ${number} could not log in: ${stderr}`);
  }

  const productOf = (reading: Reading) => {
    const index = READINGS.indexOf(reading);
    const customer = String(5_000_001 + Math.floor(index / READINGS_OF_A_CUSTOMER));
    const product = [`00${customer}0`, `01${customer}5`, `00${customer}8`][index % READINGS_OF_A_CUSTOMER];
    return { customer, product: product ?? '' };
  };
  return {
    place,
    productOf,
    read: async (reading, moves) => {
      const { customer, product } = productOf(reading);
      const plan = { page: 0, moves };
      plans.set(product, plan);
      const folder = `${place.config}-${product}`;
      const args = [...reading.args(product, folder), '--customer', customer];
      const ended = await followers.psd2(place, args, relay.env(place.name));
      const text = reading.name === 'sync' ? syncedRows(folder, product) : ended.stdout;
      rmSync(folder, { recursive: true, force: true });
      return { code: ended.code, stderr: ended.stderr, text: withoutTimes(text), pages: plan.page };
    },
  };
}

/** Reads while the list changes. No row may be doubled or missing, unless the command ends with exit code 11. */
export async function tryMoving(
  accounts: Accounts,
  reading: Reading,
  at: string,
  moves: (page: number) => boolean,
): Promise<Tried> {
  const tried = newTry('moving lists', reading.name, 'booked meanwhile', at, '');
  const { problems } = tried;
  const still = () => false;
  const before = await accounts.read(reading, still);
  const read = await accounts.read(reading, moves);
  const after = await accounts.read(reading, still);
  for (const { code, stderr } of [before, after]) {
    if (code !== 0) problems.push(`without a change it ended with ${code}: ${stderr}`);
  }
  tried.ends = [`exit code ${read.code}`];
  if (read.code === UNREACHABLE) return tried;
  if (read.code !== 0) {
    problems.push(`it ended with ${read.code}: ${read.stderr}`);
    return tried;
  }
  const wrong = wrongRows(reading, [before, read, after]);
  tried.rows = wrong.length > 0;
  problems.push(...wrong);
  return tried;
}

function wrongRows({ rows }: Reading, [before, read, after]: [Read, Read, Read]): string[] {
  if ([before.text, after.text].includes(read.text)) return [];
  if (rows === undefined) return ['it is neither of what the bank had before nor of what it had after'];
  const [old, given, now] = [before, read, after].map(({ text }) => countRows(text, rows));
  const missing = less(old, given);
  const more = less(given, now);
  // If the list changed several times, the result may show a moment between two changes.
  return [
    ...(more.length > 0 ? [`${more.length} rows are there too often: ${more[0]}`] : []),
    ...(missing.length > 0 ? [`${missing.length} rows are missing: ${missing[0]}`] : []),
  ];
}

/** Counts each row. Its number in the list is left out, and so is an id that only counts equal rows. */
function countRows(text: string, rows: RegExp): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [row] of text.matchAll(rows)) {
    const plain = row.replace(/"index":"\w+",?/, '').replace(/^A\d+(?=[\t,])/, '');
    counts.set(plain, (counts.get(plain) ?? 0) + 1);
  }
  return counts;
}

/** Returns the rows that are in `some` more often than in `others`. */
function less(some = new Map<string, number>(), others = new Map<string, number>()): string[] {
  return [...some].filter(([row, count]) => count > (others.get(row) ?? 0)).map(([row]) => row);
}

function syncedRows(folder: string, product: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith(join('transactions', `${product}.ndjson`)))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trimEnd().split('\n'))
    .sort()
    .join('\n');
}

/** Removes times, because documents contain the time of their creation. */
function withoutTimes(text: string): string {
  return text.replace(
    /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?|\b\d{14}\b|\b\d\d:\d\d(?::\d\d)?\b/g,
    '<time>',
  );
}
