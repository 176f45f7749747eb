import chalk from 'chalk';

/** What a state means to its reader. */
type Meaning = 'good' | 'open' | 'bad';

/** The states of flows, logins, transactions and checks, as psd2 writes them. A flow that an operator ended has no colour. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  settled: 'good',
  confirmed: 'good',
  executed: 'good',
  good: 'good',
  ok: 'good',
  created: 'open',
  verified: 'open',
  requested: 'open',
  authorizing: 'open',
  authorized: 'open',
  executing: 'open',
  confirming: 'open',
  pending: 'open',
  waiting: 'open',
  unknown: 'open',
  'not known': 'open',
  'to be renewed': 'open',
  warn: 'open',
  failed: 'bad',
  rejected: 'bad',
  expired: 'bad',
  refused: 'bad',
  'renewal refused': 'bad',
  'call refused': 'bad',
  fail: 'bad',
};

const COLOURS: Readonly<Record<Meaning, (text: string) => string>> = {
  good: chalk.green,
  open: chalk.yellow,
  bad: chalk.red,
};

/**
 * A state in the colour of its meaning: green for good, yellow if it may still change, red for bad. Any other text is
 * unchanged.
 */
export function paintState(state: string): string {
  const meaning = Object.hasOwn(MEANINGS, state) ? MEANINGS[state] : undefined;
  return meaning === undefined ? state : COLOURS[meaning](state);
}
