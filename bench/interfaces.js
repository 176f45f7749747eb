// Compares what a call of psd2 sync costs at both interfaces and in both homes of the store. The customer's account is the same.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CB, NEXTGENPSD2, openHomes, SANDBOX_OF_HOMES } from './homes.js';
import { figure, median, roundsWithin, runRecorded } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';
import { startPostgres } from './postgres.js';

/** A page has few rows, so that calls cost more than rows. */
export const RULES = [...SANDBOX_OF_HOMES, '--transactions', '6000', '--page-size', '5'];
const CLIENT_CORE = '1';
export const BANK_CORE = '0';

/** @param seconds what it may take */
export async function interfaces(node, version, seconds) {
  const operator = openOperator(RULES, BANK_CORE);
  const server = await startPostgres();
  try {
    const homes = openHomes(operator, server);
    const rounds = [];
    for (const round of roundsWithin(seconds, { atMost: 10 }))
      rounds.push(
        Object.fromEntries(
          homes.map(({ id, env }, at) => [id, timeSync([node, PROGRAM], operator, `${at}-${round}`, env)]),
        ),
      );
    const of = (value) => median(rounds.map(value));
    const ms = (id) => `${of((round) => round[id].own * 1000).toFixed(2)} ms`;
    return homes
      .filter(({ id }) => id !== CB)
      .map(({ id, what }) =>
        figure({
          what: `CPU time of a call of psd2 sync at ${what}, Node ${version}`,
          ratio: of((round) => round[id].own / round[CB].own),
          against: 'the same at cb, with files',
          limit: id === NEXTGENPSD2 ? 1.1 : 1.2,
          detail: `${ms(id)} against ${ms(CB)}; ${of((round) => round[id].calls)} calls against ${of((round) => round[CB].calls)}`,
        }),
      );
  } finally {
    server.stop();
    operator.close();
  }
}

/**
 * Syncs a customer who was never synced to this place.
 *
 * @param program Node.js and psd2
 * @param name of the place
 * @returns `own`, the CPU seconds of a call, and the number of `calls`
 */
export function timeSync(program, operator, name, env) {
  const out = join(operator.folder, name);
  const words = ['sync', '--unattended-reads', '9999', '--out', out, '--cores', '1', '--json'];
  const { stdout, cpuSeconds } = runRecorded([...program, ...words, '--psu-ip', '203.0.113.7'], {
    env,
    prefix: ['taskset', '-c', CLIENT_CORE],
  });
  rmSync(out, { recursive: true, force: true });
  const { calls } = JSON.parse(stdout).totals;
  return { own: cpuSeconds / calls, calls };
}
