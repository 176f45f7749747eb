// What the benches share: processes timed in turn, so that a busy machine is busy for all of them.
import { spawnSync } from 'node:child_process';

/**
 * Runs each command in turn, round after round.
 *
 * @param commands name -> [program, ...arguments]
 * @returns name -> median of the wall-clock times in milliseconds
 */
export function timeProcesses(commands, { rounds, env = process.env }) {
  const times = new Map(Object.keys(commands).map((name) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, [program, ...words]] of Object.entries(commands)) {
      const begun = performance.now();
      const { status, stderr } = spawnSync(program, words, { env, maxBuffer: 1e9 });
      const took = performance.now() - begun;
      if (status !== 0) throw new Error(`${name} ended with exit code ${status}: ${stderr}`);
      // The first round only warms up.
      if (round >= 0) times.get(name).push(took);
    }
  }
  return Object.fromEntries([...times].map(([name, each]) => [name, median(each)]));
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * A figure: a ratio against its baseline, or a value of its own.
 *
 * @param limit the most it may be; with `least` the least
 */
export function figure({ what, ratio, against, limit, least, detail }) {
  const reached = limit !== undefined ? ratio <= limit : least !== undefined ? ratio >= least : null;
  return { what, ratio: Math.round(ratio * 1000) / 1000, against, limit, least, reached, detail };
}
