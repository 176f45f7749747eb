import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Psd2Error } from '../../errors.ts';

/** The values of a sync's metrics. */
export interface SyncMetrics {
  profile: string;
  calls: number;
  /** The number of errors by error code. */
  errors: ReadonlyMap<string, number>;
  /** The number of customers who had their turn, by result. */
  done: Readonly<Record<string, number>>;
  /** Customers of the round who had no turn yet. Null if psd2 has not counted them yet. */
  due: number | null;
  secondsWaited: number;
  renewals: number;
  startedAt: Date;
  /** When this process last finished a round. */
  roundEndedAt: Date | null;
}

type Sample = [labels: Record<string, string>, value: number];

/** Prometheus' text format, version 0.0.4. */
export function writeMetrics(metrics: SyncMetrics): string {
  const { profile, errors, done, due, startedAt, roundEndedAt } = metrics;
  const one = (value: number): Sample[] => [[{ profile }, value]];
  const by = (label: string, values: Iterable<[string, number]>): Sample[] =>
    [...values].map(([name, value]) => [{ profile, [label]: name }, value]);
  return [
    family(
      'psd2_sync_calls_total',
      'counter',
      'Calls that this sync has made to the bank.',
      one(metrics.calls),
    ),
    family(
      'psd2_sync_errors_total',
      'counter',
      'Customers and accounts that could not be synced, by error code.',
      by('code', errors),
    ),
    family(
      'psd2_sync_customers_done_total',
      'counter',
      'Customers who had their turn, by result.',
      by('status', Object.entries(done)),
    ),
    family(
      'psd2_sync_customers_due',
      'gauge',
      'Customers of the round who had no turn yet.',
      due === null ? [] : one(due),
    ),
    family(
      'psd2_sync_pace_wait_seconds_total',
      'counter',
      'Seconds that calls have waited for their turn.',
      one(metrics.secondsWaited),
    ),
    family(
      'psd2_sync_token_renewals_total',
      'counter',
      'Access tokens that were renewed.',
      one(metrics.renewals),
    ),
    family(
      'psd2_sync_start_time_seconds',
      'gauge',
      'When this sync started, in seconds since 1970.',
      one(startedAt.getTime() / 1000),
    ),
    family(
      'psd2_sync_round_end_time_seconds',
      'gauge',
      'When the last round ended, in seconds since 1970.',
      roundEndedAt ? one(roundEndedAt.getTime() / 1000) : [],
    ),
  ].join('');
}

function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}{${pairs.join(',')}} ${value}`;
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/**
 * Replaces a file atomically: a reader finds the old text or the new one. Others may read it, since the collector is
 * another user. The temporary file does not end in `.prom`, so no collector reads it.
 *
 * @throws Psd2Error `config`
 */
export function replaceMetricsFile(path: string, text: string): void {
  const beside = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  try {
    writeFileSync(beside, text, { mode: 0o644 });
    // The umask may have removed these bits.
    chmodSync(beside, 0o644);
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw new Psd2Error('config', `The metrics file ${path} cannot be written (${reason})`, {
      hint: 'Give a file in an existing folder that this user can write to.',
      cause,
    });
  }
}
