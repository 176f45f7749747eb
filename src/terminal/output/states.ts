import chalk from 'chalk';

/** The states of flows, logins, transactions and checks, as psd2 writes them. A flow that an operator ended has no colour. */
const STATES = {
  /** Good. */
  green: ['settled', 'confirmed', 'executed', 'ordered', 'good', 'ok', '✓'],
  /** It may still change. */
  yellow: [
    'created',
    'verified',
    'requested',
    'authorizing',
    'authorized',
    'executing',
    'confirming',
    'pending',
    'waiting',
    'unknown',
    'not known',
    'to be renewed',
    'warn',
    '!',
  ],
  /** Bad. */
  red: ['failed', 'rejected', 'expired', 'refused', 'renewal refused', 'call refused', 'fail', '✗'],
};

/**
 * A state in the colour of its meaning: green for good, yellow if it may still change, red for bad. Any other text is
 * unchanged.
 */
export function paintState(state: string): string {
  const colour = (['green', 'yellow', 'red'] as const).find((each) => STATES[each].includes(state));
  return colour === undefined ? state : chalk[colour](state);
}
