// The environment that the benches run in, so that a ratio means the same on each machine.

/** What stays: where programs, temporary files and the names of users are, and the language. */
const ALLOWED = ['PATH', 'HOME', 'USER', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'];

/**
 * Removes every variable that could change what is measured. With NODE_EXTRA_CA_CERTS, for example, Node.js 20 parses a file
 * at each start: `node -e 0` then takes three times as long, and each ratio to it looks good.
 *
 * @param env is changed
 * @returns the names of the removed variables
 */
export function keepAllowed(env) {
  const removed = Object.keys(env).filter((name) => !ALLOWED.includes(name));
  for (const name of removed) delete env[name];
  return removed;
}
