// What the benches share. They time processes in turn, so that a busy machine slows all of them down alike.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The numbers of rounds, from 0, for as long as there is time for another one.
 *
 * @param seconds what all rounds may take. A round is expected to take as long as the longest one before it
 */
export function* roundsWithin(seconds, { atLeast = 3, atMost }) {
  const begun = performance.now();
  let before = begun;
  let longest = 0;
  for (let round = 0; round < atMost; round += 1) {
    if (round >= atLeast && performance.now() - begun + longest > seconds * 1000) return;
    yield round;
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
  }
}

/**
 * Runs each command in turn, round after round, for as long as there is time.
 *
 * @param commands name -> [program, ...arguments], or { command, env } for one with an environment of its own
 * @param seconds what all rounds may take
 * @returns `median(name)` of the wall-clock times in milliseconds; `ratio(name, baseline)`, the median of the ratios of each
 *   round: if the machine is slow for some seconds, it is slow for both; `ratios(name, baseline)`, all of them
 */
export function timeProcesses(commands, { rounds, atLeast = 5, seconds, env = process.env }) {
  const all = Object.entries(commands).map(([name, each]) => ({
    name,
    ...(Array.isArray(each) ? { command: each, env } : each),
  }));
  const times = new Map(all.map(({ name }) => [name, []]));
  for (const round of roundsWithin(seconds, { atLeast: atLeast + 1, atMost: rounds + 1 })) {
    // Every other round goes backwards, so that no command always follows the same one.
    for (const each of round % 2 === 0 ? all : all.toReversed()) {
      const took = timeOnce(each);
      // The first round is a warm-up.
      if (round > 0) times.get(each.name).push(took);
    }
  }
  const ratios = (name, baseline) => times.get(name).map((time, round) => time / times.get(baseline)[round]);
  return {
    median: (name) => median(times.get(name)),
    ratio: (name, baseline) => median(ratios(name, baseline)),
    ratios,
  };
}

function timeOnce({ name, command: [program, ...words], env }) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(program, words, { env, maxBuffer: 1e9 });
  const took = performance.now() - begun;
  if (status !== 0) throw new Error(`${name} ended with exit code ${status}: ${stderr}`);
  return took;
}

/** With fewer pairs, even the smallest and the largest ratio are no interval of 99 %. */
export const MIN_PAIRS = 8;

/**
 * Where the true median of such ratios lies with a probability of at least 99 %, whatever their distribution: between two of
 * them (the interval of the sign test). The number of ratios below the true median is that of heads among tossed coins.
 *
 * @param ratios of pairs that were measured right after one another
 * @returns `differs` if the interval from `low` to `high` does not contain 1
 */
export function intervalOf(ratios) {
  if (ratios.length < MIN_PAIRS) throw new Error(`${ratios.length} pairs say nothing`);
  const sorted = [...ratios].sort((a, b) => a - b);
  let below = 0;
  let atMostBelow = 0.5 ** sorted.length;
  for (let ways = atMostBelow; atMostBelow <= 0.005; atMostBelow += ways) {
    ways *= (sorted.length - below) / (below + 1);
    below += 1;
  }
  const [low, high] = [sorted[below - 1], sorted[sorted.length - below]];
  return { median: median(ratios), low, high, differs: low > 1 || high < 1 };
}

/**
 * Runs a psd2 command once, to its end.
 *
 * @param prefix the command that starts it, such as `taskset -c 1`
 * @param countLines pipe stdout to `wc -l`, so that nothing keeps it in memory
 * @returns its stdout (or its number of lines), wall-clock time, CPU time and peak memory
 */
export function runRecorded([node, ...words], { env, prefix = [], countLines = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-bench-'));
  try {
    const record = join(folder, 'record');
    const recorder = join(folder, 'recorder.mjs');
    writeFileSync(
      recorder,
      // Linux counts into maxRSS what the process that started this one had in memory; VmHWM is its own peak.
      `import { readFileSync, writeFileSync } from 'node:fs';
       process.on('exit', () => {
         const usage = process.resourceUsage();
         const own = process.platform === 'linux' && /^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
         writeFileSync(${JSON.stringify(record)}, JSON.stringify({ ...usage, peak: own ? Number(own[1]) : usage.maxRSS }));
       });`,
    );
    const command = [...prefix, node, '--import', recorder, ...words];
    const quoted = command.map((word) => `'${word}'`).join(' ');
    const begun = performance.now();
    const { status, stdout, stderr } = countLines
      ? spawnSync('bash', ['-c', `set -o pipefail; ${quoted} | wc -l`], { env, encoding: 'utf8' })
      : spawnSync(command[0], command.slice(1), { env, encoding: 'utf8', maxBuffer: 1e9 });
    const seconds = (performance.now() - begun) / 1000;
    if (status !== 0) throw new Error(`${words.join(' ')} ended with exit code ${status}: ${stderr}`);
    const { peak, userCPUTime, systemCPUTime } = JSON.parse(readFileSync(record, 'utf8'));
    return { stdout, seconds, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: peak / 1024 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The RSA 2048 signatures that a core makes in a second, from `openssl speed`. */
export function signaturesASecond(core) {
  const said = execFileSync('taskset', ['-c', core, 'openssl', 'speed', '-seconds', '2', 'rsa2048'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, rate] = /^rsa\s+2048 bits\s+\S+\s+\S+\s+([\d.]+)/m.exec(said) ?? [];
  if (!rate) throw new Error(`openssl speed said: ${said}`);
  return Number(rate);
}

/** @returns the CPU seconds that a process has used until now */
export function processorSeconds(pid) {
  const [, fields] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user, system] = (fields ?? '').split(' ').slice(11, 13).map(Number);
  return (user + system) / 100;
}

/** @returns the memory that a process has now */
export function residentMegabytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * A figure: a ratio to a baseline, or a plain value.
 *
 * @param limit the maximum. `least` is the minimum
 */
export function figure({ what, ratio, against, limit, least, detail }) {
  const reached = limit !== undefined ? ratio <= limit : least !== undefined ? ratio >= least : null;
  return { what, ratio: Math.round(ratio * 1000) / 1000, against, limit, least, reached, detail };
}
