import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../../support/sample.ts';
import { readError } from '../support/errors.ts';
import { grantedTokens } from '../support/granted-tokens.ts';
import { useSandbox, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

/** Enough customers to make the start of two threads worthwhile. */
const CUSTOMERS = 200;
const operator = useSandbox(words`--customers ${String(CUSTOMERS)} --transactions 5 --no-enforce-consents
  --page-size 100 --token-ttl 86400`);
const IDS = Array.from({ length: CUSTOMERS }, (_, index) => String(5_000_001 + index));

/** Puts the tokens into the store that a login of each customer would put there. */
beforeAll(async () => {
  const { baseUrl, tokens } = await grantedTokens(operator, IDS);
  const folder = join(operator.config, 'tokens', 'sandbox');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const rest = {
    accessTokenExpiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    ...{ refreshToken: null, refreshTokenExpiresAt: null, scope: null, baseUrl },
  };
  for (const { customerId, accessToken } of tokens) {
    const login = join(folder, `customer-${customerId}`);
    mkdirSync(login, { mode: 0o700 });
    writeFileSync(join(login, '1.json'), JSON.stringify({ accessToken, ...rest }), { mode: 0o600 });
  }
}, 240_000);

const PATIENCE_MS = 120_000;
const out = (name: string) => join(operator.folder, name);
const syncing = (folder: string, cores: number) => words`sync --unattended-reads 9999 --out ${folder}
  --all-customers --json --cores ${String(cores)}`;
/** All rows of all customers. */
const rowsOf = (folder: string) =>
  IDS.flatMap((customer) => {
    const transactions = join(folder, customer, 'transactions');
    return readdirSync(transactions)
      .sort()
      .map((file) => [customer, file, readFileSync(join(transactions, file), 'utf8')]);
  });
const wholeReport = async (folder: string, cores: number) => {
  const ended = await operator.succeeds(syncing(folder, cores));
  return shapes.syncReport.parse(JSON.parse(ended.stdout));
};

describe('psd2 sync on two cores', () => {
  it(
    'psd2 sync on two cores writes the same files and the same report as on one',
    async () => {
      const one = await wholeReport(out('one-core'), 1);
      const two = await wholeReport(out('two-cores'), 2);
      expect(two.customers).toEqual(one.customers);
      expect(two.totals).toEqual(one.totals);
      expect(two.customers.map(({ customerId }) => customerId)).toEqual(IDS);
      expect(rowsOf(out('two-cores'))).toEqual(rowsOf(out('one-core')));
      // The runs have removed their locks.
      expect(readdirSync(out('two-cores')).sort()).toEqual(IDS);
    },
    PATIENCE_MS,
  );

  const troubles = sample(['SIGINT', 'SIGTERM', 'a limit'] as const, 1);
  it.each(troubles.filter((trouble) => trouble !== 'a limit'))(
    'after %s psd2 sync starts no new customer, stores what it has read, and exits with 130',
    async (signal) => {
      const folder = out(`stopped-${signal}`);
      const begun = await operator.start([...syncing(folder, 2), '--verbose']);
      await begun.prints(/customers\/5000012\//);
      begun.kill(signal);
      const ended = await begun.ended;
      const error = readError(ended);
      expect(error).toMatchObject({ code: 'interrupted', exitCode: 130 });
      expect(error.message).toMatch(/^Interrupted: \d+ of 200 customers were done$/);
      expect(ended.stdout).toBe('');
      // No lock of a run is left, and each customer that the run began is complete.
      const left = readdirSync(folder);
      expect(left.filter((name) => name.startsWith('sync-'))).toEqual([]);
      expect(left.length).toBeLessThan(CUSTOMERS);
      for (const customer of left) {
        const state =
          readFileSync(join(folder, customer, 'sync-1.ndjson'), 'utf8')
            .split('\n')
            .at(-2) ?? '';
        expect(JSON.parse(state)).toMatchObject({ ended: true });
      }
      await wholeReport(folder, 2);
      expect(rowsOf(folder)).toEqual(rowsOf(out('one-core')));
    },
    PATIENCE_MS,
  );

  it.each(troubles.filter((trouble) => trouble === 'a limit'))(
    'when the bank sets %s to the calls, psd2 sync holds all threads, and still reads everything',
    async () => {
      const fault = ['sandbox', 'fault', 'add', 'status=420', '--times', '3', '--after', '100'];
      await operator.succeeds(fault);
      const report = await wholeReport(out('too-many'), 2);
      await operator.succeeds(['sandbox', 'fault', 'clear']);
      expect(report.totals.synced).toBe(CUSTOMERS);
      expect(rowsOf(out('too-many'))).toEqual(rowsOf(out('one-core')));
    },
    PATIENCE_MS,
  );
});
