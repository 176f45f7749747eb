import { join } from 'node:path';
import { beforeAll, describe, it } from 'vitest';
import { useRelay } from '../crash/relay.ts';
import { bankDay } from '../e2e/support/bank-days.ts';
import { readError } from '../e2e/support/errors.ts';
import { keepRunning, type Operator, useLoggedIn } from '../e2e/support/psd2.ts';
import * as shapes from '../e2e/support/shapes.ts';
import { saidBy } from '../e2e/support/verbose.ts';
import { ACCOUNT } from './memory.ts';
import { play, profileOf, rulesOf } from './play.ts';
import type { BankOfRow, Row } from './row.ts';
import { byBank, ROWS } from './rows.ts';

/** The rows that need not wait longer than a test may. */
export const PLAYED = ROWS.filter(({ waits }) => !waits);

/** Plays rows by the built psd2, over mutual TLS, in the real time. */
export function playByProgram(chosen: readonly Row[]): void {
  describe.each(byBank(chosen))('at %s', (_, { bank, rows }) => {
    const stage = useProgram(bank);
    it.each(rows.map((row) => [row.name, row] as const))('%s', async (_name, row) => play(stage(), row));
  });
}

function useProgram(kind: BankOfRow) {
  const operator = keepRunning(useLoggedIn(rulesOf(kind)));
  const relay = useRelay(() => join(operator.config, 'sandbox'));
  let rows = 100;
  // Of the last days, the account has transactions of its own.
  let others: readonly string[] = [];
  beforeAll(async () => {
    if (kind !== 'cb') await allowCredentials(operator);
    others = await paidFrom(operator);
  });
  return () => {
    do rows += 1;
    while (timesIn(others, (rows / 100).toFixed(2)) > 0);
    const amount = (rows / 100).toFixed(2);
    const name = `row${rows}`;
    return {
      ...{ name, relay, config: operator.config, profile: profileOf(kind), amount },
      run: async (words: readonly string[], env: Readonly<Record<string, string>>) => {
        const through = {
          PSD2_PROFILE: profileOf(kind),
          PSD2_BROWSER: '/bin/true',
          ...relay.env(name),
          ...env,
        };
        const ended = await operator.psd2([...words], { env: through });
        return {
          ...{ exitCode: ended.code ?? -1, stdout: ended.stdout, told: saidBy(ended) },
          error: ended.code === 0 ? null : readError(ended),
        };
      },
      booked: async () => timesIn(await paidFrom(operator), amount),
    };
  };
}

/** Rows of embedded SCA take PIN and TAN from files. A variable can only forbid it. */
export async function allowCredentials(operator: Pick<Operator, 'succeeds'>): Promise<void> {
  await operator.succeeds(['profile', 'set', 'sandbox-nextgen', '--embedded', 'files']);
}

/** The amounts of the newest transactions of the account. */
async function paidFrom(operator: Operator): Promise<string[]> {
  const list = ['accounts', 'transactions', ACCOUNT, '--from', bankDay(-2)];
  return (await operator.json(shapes.transactions, list)).map((row) => row.amount);
}

function timesIn(amounts: readonly string[], amount: string): number {
  return amounts.filter((each) => each.startsWith(`-${amount}`)).length;
}
