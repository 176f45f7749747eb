import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { smokeRun } from '../../../src/commands/smoke/shape.ts';
import { freePort } from '../../support/free-port.ts';
import { shiftClock } from '../../support/shift-clock.ts';
import { untilDayOfMonth } from '../support/bank-days.ts';
import { giveRegistration, logIn, useOperator } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

// The form of the answers of whole banks: equal runs find nothing, and a bank that has changed is found out.

const operator = useOperator();
operator.env.PSD2_PROFILE = 'sandbox';
// psd2 and the sandbox are in the middle of a month. At its end the savings account has its only rows, and the bank `lived-in`
// writes the days of that account in another way than those of the others.
Object.assign(operator.env, shiftClock(untilDayOfMonth(15) * 24 * 60 * 60 * 1000));

/** Works while the sandbox plays a bank. @returns what the customer's accounts are */
async function atBank(persona: string, port: number, work: (accounts: string[]) => Promise<void>) {
  giveRegistration(operator);
  const stop = await operator.openSandbox(['--port', String(port), '--persona', persona]);
  await logIn(operator);
  const accounts = await operator.json(shapes.accounts, ['accounts', 'list']);
  await work(accounts.map(({ accountId }) => accountId));
  await stop();
}

/** What a run finds that is worse than new. */
async function findings(account = '') {
  const words = ['smoke', '--json', '--psu-ip', '192.0.2.1', '--steps', 'accounts..shapes'];
  const ended = await operator.psd2([...words, '--account', account]);
  const { drift, steps } = smokeRun.read(JSON.parse(ended.stdout));
  const found = drift.filter(({ severity }) => severity !== 'info');
  return { code: ended.code, found, detail: steps.find(({ id }) => id === 'shapes')?.detail };
}

/** All texts of a document. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

it.each(['clean', 'lived-in'])(
  'at the bank %s, what was learnt of one account holds for others, and no value is in the file',
  async (persona) => {
    await atBank(persona, await freePort(), async (accounts) => {
      await operator.psd2(['smoke', 'shapes', 'forget']);
      for (const nth of [1, 2, 3]) expect((await findings(accounts[0])).detail).toBe(`learning, ${nth} of 3`);
      for (let run = 0; run < 8; run += 1)
        expect((await findings(accounts[run % accounts.length])).found).toEqual([]);
      const file = readFileSync(join(operator.config, 'log', 'shapes', 'sandbox.json'), 'utf8');
      const known = [
        await operator.json(z.unknown(), ['accounts', 'list']),
        ...(await Promise.all(
          accounts.map((account) => operator.json(z.unknown(), ['accounts', 'transactions', account])),
        )),
      ];
      // Shorter ones are words of the interface, such as a currency.
      // The file has the days of its runs, and a row may be of one of them.
      const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);
      const values = new Set(textsIn(known).filter((text) => text.length > 6 && !isDay(text)));
      expect(values.size).toBeGreaterThan(50);
      for (const value of values) expect(file).not.toContain(value);
    });
  },
  120_000,
);

it('a bank that changes between two runs is found out, until that is accepted', async () => {
  const port = await freePort();
  await atBank('clean', port, async ([account]) => {
    await operator.psd2(['smoke', 'shapes', 'forget']);
    for (let run = 0; run < 4; run += 1) expect((await findings(account)).found).toEqual([]);
  });
  await atBank('lived-in', port, async ([account]) => {
    const { code, found } = await findings(account);
    const breaking = found.filter(({ severity }) => severity === 'breaking').map(({ path }) => path);
    expect([code, breaking]).toEqual([12, expect.arrayContaining([expect.stringContaining('date')])]);
    expect((await findings(account)).code).toBe(12);
    await operator.psd2(['smoke', 'shapes', 'accept', '--yes']);
    expect((await findings(account)).code).toBe(0);
  });
}, 120_000);
