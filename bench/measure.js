// What the benches share: processes timed in turn, so that a busy machine is busy for all of them.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs each command in turn, round after round.
 *
 * @param commands name -> [program, ...arguments]
 * @returns `median(name)` of the wall-clock times in milliseconds, and `ratio(name, baseline)`, the median of the rounds' own
 *   ratios: a machine that is slow for some seconds is so for both
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
  return {
    median: (name) => median(times.get(name)),
    ratio: (name, baseline) =>
      median(times.get(name).map((time, round) => time / times.get(baseline)[round])),
  };
}

/**
 * Runs a command of psd2 once, to its end.
 *
 * @param prefix what it is started by, as `taskset -c 1`
 * @param countLines stdout goes through `wc -l`, so that nobody has to hold it
 * @returns its stdout (or how many lines), the wall-clock time, its time on a processor, and its peak memory
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

/** How many RSA 2048 signatures a core makes in a second, by `openssl speed`. */
export function signaturesASecond(core) {
  const said = execFileSync('taskset', ['-c', core, 'openssl', 'speed', '-seconds', '2', 'rsa2048'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, rate] = /^rsa\s+2048 bits\s+\S+\s+\S+\s+([\d.]+)/m.exec(said) ?? [];
  if (!rate) throw new Error(`openssl speed said: ${said}`);
  return Number(rate);
}

/** @returns seconds that a process has had on a processor until now */
export function processorSeconds(pid) {
  const [, fields] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user, system] = (fields ?? '').split(' ').slice(11, 13).map(Number);
  return (user + system) / 100;
}

/** @returns what a process holds in memory now */
export function residentMegabytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
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
