import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { useMemory } from './memory.ts';
import { meet, type Stage } from './play.ts';
import { cut, gets, INSTANT, ORDER, orderTo, refused, type Step } from './row.ts';

// What psd2 status names works: each of its commands does what it is named for, and status asks no more for what has ended.

const shape = z.object({
  attention: z.array(z.object({ kind: z.string(), state: z.string(), next: z.array(z.string()) })),
});

type Mess = Pick<Step, 'words' | 'meets' | 'customer' | 'env'>;
interface Row {
  steps: Mess[];
  /** What needs a person then, as kind and state. */
  needs: string[];
  /** The days that pass before. */
  days?: number;
  /** The environment of the person who runs what status names. */
  env?: Record<string, string>;
  /** The exit code of what it names, if that only says more: then the error names the commands that end it. */
  ends?: number;
}

const CONSENT = ['consent', 'request', '--json', '--category', 'ACCOUNT_INFO', '--all-accounts'];
const LIMIT = ['--sca-timeout', '1'];
const away = { customer: 'stays away' } as const;
const many = <T>(each: T) => Array.from({ length: 30 }, () => each);

const needing = (what: string, needs: string[], steps: Mess[], more: Partial<Row> = {}): [string, Row] => [
  what,
  { steps, needs, ...more },
];

const AT_CB = [
  needing(
    'a transfer that is not verified',
    ['transfer created'],
    [{ words: ORDER, meets: { verify: many(cut) } }],
  ),
  needing('a transfer that waits', ['transfer authorizing'], [{ words: [...ORDER, ...LIMIT], ...away }]),
  needing(
    'a transfer that the bank puts off',
    ['transfer authorized'],
    [{ words: ORDER, meets: { execute: many(refused(420, 'TOO_MANY_CALLS')) } }],
  ),
  needing(
    'an unknown transfer',
    ['transfer unknown'],
    [{ words: ORDER, meets: { execute: many(gets(500)) } }],
    { ends: 9 },
  ),
  needing(
    'an instant transfer that is not settled',
    ['transfer executed'],
    [{ words: INSTANT, meets: { settlement: many(cut) } }],
  ),
  needing('a refused transfer', ['transfer failed'], [{ words: orderTo('EXECUTE REFUSED') }], { ends: 7 }),
  needing('a consent that waits', ['consent authorizing'], [{ words: [...CONSENT, ...LIMIT], ...away }]),
  needing(
    'an unknown consent',
    ['consent unknown'],
    [{ words: CONSENT, meets: { confirm: [refused(500)] } }],
    { ends: 9 },
  ),
  needing(
    'a login that the bank does not renew',
    ['login refused'],
    [{ words: ['auth', 'refresh'], meets: { token: many(refused(401)) } }],
  ),
  needing(
    'a login and a consent that have ended',
    ['login ended', 'consent ended'],
    [{ words: ['auth', 'login'] }, { words: CONSENT }],
    { days: 200 },
  ),
  needing(
    'a batch that another person must approve',
    ['batch added'],
    [{ words: ['batch', 'add', 'FILE', '--from', '0010482620'] }],
    { env: { PSD2_APPROVALS: '1', PSD2_OPERATOR: 'bob' } },
  ),
];

describe('at cb', () => {
  const stage = useMemory('cb');
  it.each(AT_CB)('%s: psd2 status names a command that works', async (_name, row) =>
    check(await stage(), row),
  );
});

async function check(at: Stage & { pass(milliseconds: number): void }, row: Row): Promise<void> {
  const file = join(at.config, 'payments.csv');
  writeFileSync(file, `name,iban,amount\nAda,DE89370400440532013000,${at.amount}\n`);
  const names: Record<string, string> = { FILE: file, AMOUNT: at.amount, REFERENCE: at.name };
  for (const { words, env = {}, ...how } of row.steps) {
    meet(at, how);
    await at.run(
      words.map((word) => names[word] ?? word),
      env,
    );
  }
  if (row.days !== undefined) at.pass(row.days * 24 * 60 * 60 * 1000);
  meet(at, {});
  const needs = async () => {
    const { stdout } = await at.run(['status', '--json'], row.env ?? {});
    return shape.parse(JSON.parse(stdout)).attention;
  };
  const found = await needs();
  expect(found.map(({ kind, state }) => `${kind} ${state}`)).toEqual(row.needs);
  for (const { next } of found) {
    const run = (words: readonly string[]) => at.run([...words.slice(1), '--yes', '--json'], row.env ?? {});
    const { exitCode, error } = await run(next);
    expect(exitCode, `${next.join(' ')}: ${error?.message}`).toBe(row.ends ?? 0);
    const last = error?.next?.at(-1);
    if (last) expect((await run(['psd2', ...last])).exitCode, last.join(' ')).toBe(0);
  }
  expect(await needs()).toEqual([]);
}
