import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type * as z from 'zod';
import { CUSTOMER, keepRunning, PROGRAM, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

type Transaction = z.infer<typeof shapes.transactions>[number];

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());

const transactions = (...args: string[]) =>
  operator.json(shapes.transactions, ['accounts', 'transactions', ACCOUNT, ...args]);

it('transactions are printed once each, whichever way they are asked for', async () => {
  const all = await transactions();
  const [booked, pending] = ['booked', 'pending'].map((wanted) =>
    all.filter(({ status }) => status === wanted),
  );
  expect(booked?.length).toBeGreaterThan(100);
  expect(pending?.length).toBeGreaterThan(0);

  const { stdout: lines } = await operator.psd2(['accounts', 'transactions', ACCOUNT, '-o', 'ndjson']);
  expect(lines.split('\n').slice(0, -1).map(parseLine)).toEqual(all);
  expect(await transactions('--booked')).toEqual(booked);
  expect(await transactions('--pending')).toEqual(pending);
  const { stdout: rows } = await operator.psd2(['accounts', 'transactions', ACCOUNT]);
  expect(rows.split('\n')).toHaveLength(all.length + 1);

  // The longer way: range by range, each with its own pages.
  const days = all.flatMap(({ bookingDate, valueDate }) => bookingDate ?? valueDate ?? []).sort();
  const ranged: Transaction[] = [];
  for (const [from, to] of quarters(days.at(0), days.at(-1))) {
    ranged.push(...(await transactions('--from', from, '--to', to, '--yes')));
  }
  expect(ranged.map(withoutIndex).sort()).toEqual(all.map(withoutIndex).sort());
});

it('the environment alone makes the profile "env", which psd2 does not store', async () => {
  const config = join(operator.folder, 'env-config');
  const script = `
      set -euo pipefail
      psd2() { "$NODE" "$PROGRAM" "$@"; }
      eval "$(psd2 sandbox env)"
      unset PSD2_PROFILE
      export PSD2_CONFIG_DIR=$ELSEWHERE
      psd2 auth login --json
      psd2 accounts list --json
      psd2 auth login --client-credentials --json
      psd2 accounts list --grant client_credentials --json`;
  const bash = await operator.startProgram('bash', ['-c', script], {
    NODE: process.execPath,
    PROGRAM,
    ELSEWHERE: config,
    PSD2_BROWSER: CUSTOMER,
  });
  const ended = await bash.ended;
  expect(ended.code, ended.stderr).toBe(0);
  const [login = '', accounts = '', ownLogin = '', ownAccounts = ''] = ended.stdout.split('\n');
  expect(readDocument(shapes.login, `${login}\n`)).toMatchObject({
    profile: 'env',
    customerId: '1048262',
  });
  expect(readDocument(shapes.accounts, `${accounts}\n`)).toHaveLength(3);
  expect(readDocument(shapes.applicationLogin, `${ownLogin}\n`)).toMatchObject({
    profile: 'env',
    grantType: 'client_credentials',
    refreshTokenExpiresAt: null,
  });
  expect(ownAccounts).toBe(accounts);
  expect(readdirSync(config)).not.toContain('profiles');
  expect(readdirSync(join(config, 'tokens'))).toEqual(['env']);
});

function parseLine(line: string): Transaction {
  return shapes.transactions.element.parse(JSON.parse(line));
}

/** A row as text, to be sorted, without its index, which restarts with every query. */
function withoutIndex({ index: _index, ...row }: Transaction): string {
  return JSON.stringify(row);
}

/** Ranges of three months, from the month of the first day to the month of the last. */
function quarters(first = '', last = ''): [from: string, to: string][] {
  const ranges: [string, string][] = [];
  const start = new Date(`${first.slice(0, 7)}-01T00:00:00Z`);
  while (start.toISOString().slice(0, 10) <= last) {
    const from = start.toISOString().slice(0, 10);
    start.setUTCMonth(start.getUTCMonth() + 3);
    const to = new Date(start.getTime() - 86_400_000).toISOString().slice(0, 10);
    ranges.push([from, to]);
  }
  return ranges;
}
