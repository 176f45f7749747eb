import type { ProfileState } from './profile-state.ts';

/** The values of a sync's metrics. */
export interface SyncMetrics {
  profile: string;
  calls: number;
  errors: ReadonlyMap<string, number>;
  /** The number of customers processed, by result. */
  done: Readonly<Record<string, number>>;
  /** Customers of the round not processed yet. Null if psd2 has not counted them yet. */
  due: number | null;
  secondsWaited: number;
  renewals: number;
  startedAt: Date;
  /** When this process last finished a round. */
  roundEndedAt: Date | null;
  /** The calls by result: `2xx`, ..., or `none` without an answer. */
  callsByResult: ReadonlyMap<string, number>;
  /** Absent if psd2 could not read it yet. */
  state?: ProfileState | undefined;
  now: Date;
}

type Sample = [labels: Record<string, string>, value: number];

/** Prometheus' text format, version 0.0.4. */
export function writeMetrics(metrics: SyncMetrics): string {
  const { profile, errors, done, due, startedAt, roundEndedAt, state, now } = metrics;
  const one = (value: number | null): Sample[] => (value === null ? [] : [[{ profile }, value]]);
  const at = (time: Date | null) => one(time && time.getTime() / 1000);
  const by = (label: string, values: Iterable<[string, number]>): Sample[] =>
    [...values].map(([name, value]) => [{ profile, [label]: name }, value]);
  return [
    family('calls_total', 'Calls that this sync has made to the bank.', one(metrics.calls)),
    family(
      'errors_total',
      'Customers and accounts that could not be synced, by error code.',
      by('code', errors),
    ),
    family('customers_done_total', 'Customers processed, by result.', by('status', Object.entries(done))),
    family('customers_due', 'Customers of the round not processed yet.', one(due)),
    family(
      'pace_wait_seconds_total',
      'Seconds that calls waited because the bank limits their rate.',
      one(metrics.secondsWaited),
    ),
    family('token_renewals_total', 'Access tokens that were renewed.', one(metrics.renewals)),
    family('start_time_seconds', 'When this sync started, in seconds since 1970.', at(startedAt)),
    family('round_end_time_seconds', 'When the last round ended, in seconds since 1970.', at(roundEndedAt)),
    family(
      'calls_by_result_total',
      'Calls to the bank, by the class of the HTTP status; none: without an answer.',
      by('result', metrics.callsByResult),
    ),
    ...(state ? stateFamilies(state) : []),
  ].join('');

  function stateFamilies({ payments, oldestReadAt, endings }: ProfileState): string[] {
    const age = oldestReadAt && Math.max(0, (now.getTime() - oldestReadAt.getTime()) / 1000);
    return [
      family('payments', 'Payments that need a person, by state.', by('state', payments), 'psd2_'),
      family('oldest_sync_age_seconds', 'Age of the oldest data of a customer.', one(age), 'psd2_'),
      family(
        'ending',
        'Certificates, logins and consents that end within 14 days or have ended, by kind.',
        by('kind', endings),
        'psd2_',
      ),
    ];
  }
}

/** A metric with its samples. The name of a counter ends with `_total`; any other metric is a gauge. */
function family(end: string, help: string, samples: readonly Sample[], begin = 'psd2_sync_'): string {
  const name = `${begin}${end}`;
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}{${pairs.join(',')}} ${value}`;
  });
  const type = end.endsWith('_total') ? 'counter' : 'gauge';
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
