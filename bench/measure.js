// What the benches share. They time processes in turn, so that a busy machine slows all of them down alike.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs each command in turn, round after round.
 *
 * @param commands name -> [program, ...arguments]
 * @returns `median(name)` of the wall-clock times in milliseconds, and `ratio(name, baseline)`, the median of the ratios of
 *   each round: if the machine is slow for some seconds, it is slow for both
 */
export function timeProcesses(commands, { rounds, env = process.env }) {
  const times = new Map(Object.keys(commands).map((name) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, [program, ...words]] of Object.entries(commands)) {
      const begun = performance.now();
      const { status, stderr } = spawnSync(program, words, { env, maxBuffer: 1e9 });
      const took = performance.now() - begun;
      if (status !== 0) throw new Error(`${name} ended with exit code ${status}: ${stderr}`);
      // The first round is a warm-up.
      if (round >= 0) times.get(name).push(took);
    }
  }
  return {
    median: (name) => median(times.get(name)),
    ratio: (name, baseline) =>
      median(times.get(name).map((time, round) => time / times.get(baseline)[round])),
  };
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
      `import { writeFileSync } from 'node:fs';
       process.on('exit', () => writeFileSync(${JSON.stringify(record)}, JSON.stringify(process.resourceUsage())));`,
    );
    const command = [...prefix, node, '--import', recorder, ...words];
    const quoted = command.map((word) => `'${word}'`).join(' ');
    const begun = performance.now();
    const { status, stdout, stderr } = countLines
      ? spawnSync('bash', ['-c', `set -o pipefail; ${quoted} | wc -l`], { env, encoding: 'utf8' })
      : spawnSync(command[0], command.slice(1), { env, encoding: 'utf8', maxBuffer: 1e9 });
    const seconds = (performance.now() - begun) / 1000;
    if (status !== 0) throw new Error(`${words.join(' ')} ended with exit code ${status}: ${stderr}`);
    const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(readFileSync(record, 'utf8'));
    return { stdout, seconds, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 };
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
