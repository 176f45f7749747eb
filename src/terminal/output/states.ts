import chalk from 'chalk';

/** What a state means to whoever reads it. */
type Meaning = 'good' | 'open' | 'bad';

/** States of flows, of logins, of transactions and of checks, as psd2 writes them. What an operator ended has no colour. */
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

/** A state in the colour of what it means: green for good, yellow while it may still change, red for bad; any other text as it is. */
export function paintState(state: string): string {
  const meaning = Object.hasOwn(MEANINGS, state) ? MEANINGS[state] : undefined;
  return meaning === undefined ? state : COLOURS[meaning](state);
}
