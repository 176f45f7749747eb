import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Big from 'big.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { readError } from '../support/errors.ts';
import { CUSTOMER, keepRunning, PROGRAM, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { stepsOf } from '../support/verbose.ts';

type Transaction = z.infer<typeof shapes.transaction>;

const ACCOUNT = '0010482620';
const ORDER = ['--from', ACCOUNT, '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'];
const operator = keepRunning(useLoggedIn());

async function availableBalance(): Promise<Big> {
  const { availableBalance } = await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]);
  return new Big(availableBalance?.amount ?? '');
}

const transactions = (...args: string[]) =>
  operator.json(shapes.transactions, ['accounts', 'transactions', ACCOUNT, ...args]);

describe('reading accounts in a pipeline', () => {
  it('after a consent psd2 reads the accounts and their balances', async () => {
    const consent = await operator.json(
      shapes.consent,
      words`consent request --category ACCOUNT_INFO
      --category PAYMENTS --all-accounts`,
    );
    expect(consent.state).toBe('confirmed');
    const accounts = await operator.json(shapes.accounts, ['accounts', 'list']);
    expect(accounts.map(({ productId }) => productId)).toEqual(['0010482620', '0010482638', '0000093017']);
    expect(accounts[2]).toMatchObject({ iban: accounts[0]?.iban, name: null });
    for (const { productId } of accounts) {
      const balance = await operator.json(shapes.balance, ['accounts', 'balance', productId]);
      expect(balance).toMatchObject({ productId, accountBalance: { currency: 'EUR' } });
    }
  });

  describe('transactions', () => {
    let all: Transaction[] = [];
    const booked = () => all.filter(({ status }) => status === 'booked');
    beforeAll(async () => {
      all = await transactions();
    });

    it('transactions older than 90 days are shown after SCA, to which --yes sends the customer', async () => {
      const from = booked().at(-1)?.bookingDate ?? '';
      const asked = ['accounts', 'transactions', ACCOUNT, '--from', from, '--limit', '1', '--json'];
      const refused = readError(await operator.psd2(asked));
      expect(refused).toMatchObject({ code: 'sca_required', exitCode: 6 });
      expect(refused.hint).toContain('--yes');
      const ended = await operator.succeeds([...asked, '--yes']);
      expect(readDocument(shapes.transactions, ended.stdout)).toHaveLength(1);
      expect((await operator.psd2(asked)).stdout).toBe(ended.stdout);
    });

    it('transactions are printed once each, whichever way they are asked for', async () => {
      const pending = all.filter(({ status }) => status === 'pending');
      expect(booked().length).toBeGreaterThan(100);
      expect(pending.length).toBeGreaterThan(0);

      const { stdout: lines } = await operator.psd2(['accounts', 'transactions', ACCOUNT, '-o', 'ndjson']);
      expect(lines.split('\n').slice(0, -1).map(parseLine)).toEqual(all);
      expect(await transactions('--booked')).toEqual(booked());
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
  });
});

it('psd2 settles an instant transfer, and the balance changes by its total to the cent', async () => {
  const before = await availableBalance();
  const ended = await operator.succeeds(words`transfer --instant --payee-verified --yes --json --verbose
      ${ORDER} --amount 12.34 --reference INV-1234`);
  const transfer = readDocument(shapes.transfer, ended.stdout);
  expect(transfer).toMatchObject({
    state: 'settled',
    instant: true,
    reference: 'INV-1234',
    amount: '12.34',
    executionStatus: 'OK',
    cro: expect.stringMatching(/\S/),
  });
  expect(stepsOf(ended)).toEqual(['verify', 'approach', 'status', 'execute', 'execution/status']);

  const total = new Big(transfer.totalAmount?.amount ?? '');
  expect(total.eq(new Big('12.34').plus(transfer.commissions?.amount ?? ''))).toBe(true);
  expect(before.minus(await availableBalance()).toFixed(2)).toBe(total.toFixed(2));
  expect(await operator.json(shapes.transfer, ['transfer', 'show', transfer.flow])).toEqual(transfer);
  const newest = await transactions('--booked', '--limit', '2');
  expect(newest.map(({ amount }) => amount)).toEqual(['-0.50', '-12.34']);
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
  return shapes.transaction.parse(JSON.parse(line));
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
