import { expect, it } from 'vitest';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { choose, recordFlow, SIDE_BY_SIDE, tryFlows } from './matrix.ts';
import { CONSENT, TRANSFER } from './scenarios.ts';
import { useFollowers } from './tried.ts';

// Every run stops these two at every point where money is at risk. stops.test.ts has the other flows and ways, and the logins.

const bank = useCrashBank();
const followers = useFollowers(bank, Math.ceil(SIDE_BY_SIDE / 2));

const execution = { from: /half .* execute-sent/, to: /half .* executed/ };
const confirmation = { from: /half .* confirm-sent/, to: /half .* confirmed/ };

it.each([
  [TRANSFER.name, { scenario: TRANSFER, core: execution, rest: 8 }],
  [CONSENT.name, { scenario: CONSENT, core: confirmation, rest: 6 }],
] as const)(
  '%s: if SIGKILL hits psd2 between any two steps, it loses no flow and pays once',
  async (_name, { scenario, core, rest }) => {
    const points = choose(await recordFlow(bank, scenario), core, rest);
    expect(await tryFlows(bank, followers, scenario, 'SIGKILL', points)).toEqual([]);
  },
  PATIENCE_MS,
);
