import { readFileSync } from 'node:fs';
import { Option } from '@commander-js/extra-typings';
import {
  addDays,
  bankDay,
  bankLocalTime,
  bankTime,
  type IsoDate,
  isIsoDate,
  parseDate,
} from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import type { RollUp } from '../../smoke/roll-up.ts';
import {
  addCounts,
  type Counts,
  errorRate,
  errorsOf,
  noCounts,
  percentile,
  REPLY_MS,
  type StatKind,
  secondsDown,
  uptime,
} from '../../smoke/stats.ts';
import { type KnownCalls, readStats } from '../../store/machine/call-stats.ts';
import {
  flag,
  list,
  number,
  object,
  orNull,
  record,
  seen,
  text,
  time,
  type ValueOf,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { readSince } from '../shared/option-values.ts';

/** Fewer calls a day say little of the bank. */
const FEW = 50;
const percentOf = (what: string) => orNull(number(what));
const writePercent = (value: number | null) => (value === null ? null : `${value.toFixed(2)} %`);
const writeMs = (value: number | null) => (value === null ? null : `${value} ms`);
const RIGHT = { right: true };

const times = (what: string) =>
  object(
    {
      calls: whole('calls'),
      mean: orNull(whole('mean time of the answered calls in milliseconds')),
      p50: orNull(whole('half of them took at most this long')),
      p95: orNull(whole('95 % of them took at most this long')),
      max: orNull(whole('the longest')),
    },
    what,
  );

/** The times of a kind, as far as people see them. */
interface Timed {
  ais: { p50: number | null; p95: number | null };
}

const row = object({
  period: text('the day, the hour, or the route').as('Date', { whole: true }),
  calls: whole('requests, also those that were made again').as('Calls'),
  noReply: whole('requests without a reply').as('No reply'),
  serverErrors: whole('answers with 5xx').as('5xx'),
  unusable: whole('answers that psd2 could not use'),
  clientErrors: whole('answers with 4xx, but 420 and 429').as('4xx'),
  limited: whole('answers with 420 or 429').as('420/429'),
  own: whole('calls that never left for reasons of this machine. Nothing else counts them'),
  errors: whole('noReply, serverErrors and unusable').as('Errors'),
  errorRate: percentOf('errors in percent of the calls').as('Rate').written(writePercent),
  ais: times('account information')
    .as('AIS mean', RIGHT)
    .written(({ mean }) => writeMs(mean)),
  half: seen('P50', ({ ais }: Timed) => ais.p50?.toString(), RIGHT),
  most: seen('P95', ({ ais }: Timed) => ais.p95?.toString(), RIGHT),
  pis: times('payment initiation')
    .as('PIS mean', RIGHT)
    .written(({ mean }) => writeMs(mean)),
  piis: times('confirmation of funds')
    .as('Funds mean', RIGHT)
    .written(({ mean }) => writeMs(mean)),
  secondsDown: orNull(whole('how long the bank was down, as far as this machine can tell; null: not by day'))
    .as('Down')
    .written((seconds) => (seconds === null ? null : `${seconds} s`)),
  uptime: percentOf('at least this share of the day it was up; null: not by day')
    .as('Uptime ≥')
    .shown(({ few, uptime }: { few: boolean; uptime: number | null }) =>
      few ? '(few calls)' : writePercent(uptime),
    ),
  few: flag('fewer than 50 calls: the figures say little'),
});

const published = object({
  date: text('day').as('Date', { whole: true }),
  service: text('ais, pis or piis; empty for all').as('Service'),
  metric: text('uptime_pct, error_rate_pct or mean_ms').as('Metric'),
  theirs: number("the bank's figure").as('Theirs'),
  ours: percentOf('the figure from here').as('Ours'),
  difference: percentOf('ours minus theirs').as('Difference'),
});

const printed = object({
  profile: text('profile'),
  hosts: list(text(), "hosts of the bank's interface"),
  timeZone: text('zone of the days'),
  from: text('first day'),
  to: text('last day'),
  logFrom: orNull(time('before this time, only the daily counts are known')),
  definitions: record(text()),
  notes: list(text(), 'what limits these figures'),
  longestGapSeconds: whole('longest time without a call'),
  rows: list(row, 'by day, hour or route'),
  total: row,
  published: list(published, "the bank's own figures beside these"),
});

type Row = ValueOf<typeof row>;

const DEFINITIONS = {
  requests: 'each attempt, as the log of calls of this machine has it',
  errorRate:
    'answers with HTTP 5xx, requests without a reply after bytes may have left or because the bank refused the connection, and answers that psd2 could not use, in percent of all requests (EBA/GL/2018/07, 2.3 d)',
  mean: 'mean time of the answered requests of the kind, in milliseconds, measured here, with network and connection; a bank measures from the last byte received to the last byte sent (EBA/GL/2018/07, 2.3 a to c)',
  downtime:
    'at least five consecutive requests (AIS, PIS, funds) without a reply within 30 seconds, in the order of their sending, also in parallel: from the sending of the first to the sending of the first that was answered (RTS (EU) 2018/389, article 33 (1); EBA/GL/2018/07, 2.4). HTTP 5xx is a reply',
  uptime: '100 % minus the seconds down in percent of 86 400; a bound: only this machine asked',
};

const HELP = `
Figures of the calls in the log, by day of the bank, in the terms of RTS (EU) 2018/389, article 32, and EBA/GL/2018/07. The log
keeps 50 MiB; of older calls psd2 keeps the daily counts, for 800 days. Times are those of AIS, PIS and funds; consents, SCA and
tokens count in the error rate alone. --published takes a CSV file with date,service,metric,value.

The exit code is 12 if the uptime is below --fail-below, or the error rate above --fail-above-rate.
${examples('psd2 log stats --since 7d', 'psd2 log stats --quarter 2026Q4 --json', 'psd2 log stats --published bank.csv --fail-below 99.5')}`;

/** `psd2 log stats` */
export const stats = verb(
  { prints: { what: 'figures of the calls', shape: printed }, help: HELP },
  (command) =>
    command
      .option('--since <time>', 'first day: 2026-10-01, or 7d ago; default: 30 days before the last one')
      .option('--until <date>', 'last day, YYYY-MM-DD; default: today')
      .option('--quarter <quarter>', 'a quarter: 2026Q4')
      .addOption(
        new Option('--by <what>', 'a row for each')
          .choices(['day', 'hour', 'route'] as const)
          .default('day' as const),
      )
      .addOption(
        new Option('--kind <kind>', 'only these calls').choices([
          'ais',
          'pis',
          'piis',
          'auth',
          'consent',
        ] as const),
      )
      .option('--exclude-smoke', 'without the calls of psd2 smoke')
      .option('--only-smoke', 'only the calls of psd2 smoke')
      .option('--down-5xx', 'count HTTP 5xx as no reply')
      .option('--times-with-consents', 'consents and SCA count in the times of AIS')
      .option('--published <csv>', "the bank's own figures, to show beside these")
      .option(
        '--files <path...>',
        'logs or daily counts of other machines, to add',
        (value: string, all: string[]) => [...all, value],
        [],
      )
      .option('--wide', 'show 4xx and refusals for too many calls, too')
      .option('--fail-below <percent>', 'end with exit code 12 if the uptime is below this')
      .option('--fail-above-rate <percent>', 'end with exit code 12 if the error rate is above this'),
  async (context, options) => showStats(context, options),
);

interface Options {
  since?: string | undefined;
  until?: string | undefined;
  quarter?: string | undefined;
  by: 'day' | 'hour' | 'route';
  kind?: StatKind | undefined;
  excludeSmoke?: true | undefined;
  onlySmoke?: true | undefined;
  down5xx?: true | undefined;
  timesWithConsents?: true | undefined;
  published?: string | undefined;
  files: string[];
  wide?: true | undefined;
  failBelow?: string | undefined;
  failAboveRate?: string | undefined;
}

/** The first and the last day. @throws Psd2Error `usage`, `invalid_date` */
function readPeriod({ since, until, quarter }: Options, now: Date): { from: IsoDate; to: IsoDate } {
  const today = bankDay(now);
  if (quarter === undefined) {
    const to = until === undefined ? today : parseDate('--until', until);
    const from = since === undefined ? addDays(to, -30) : firstDaySince(since, now);
    if (from <= to) return { from, to };
    throw new Psd2Error('invalid_date', `--since ${from} is after --until ${to}`);
  }
  const [, year = '', nth = ''] = /^(\d{4})Q([1-4])$/.exec(quarter) ?? [];
  const begin = `${year}-${String(Number(nth) * 3 - 2).padStart(2, '0')}-01`;
  if (!isIsoDate(begin) || since !== undefined || until !== undefined)
    throw new Psd2Error(
      'usage',
      `--quarter ${JSON.stringify(quarter)} is not a quarter, or stands beside --since or --until`,
      { hint: 'For example --quarter 2026Q4.' },
    );
  const next = bankDay(new Date(Date.UTC(Number(year), Number(nth) * 3, 1, 12)));
  return { from: begin, to: addDays(next, -1) };
}

/** A day is one of the bank's, whatever the zone of this machine. @throws Psd2Error `usage` */
function firstDaySince(since: string, now: Date): IsoDate {
  return isIsoDate(since) ? since : bankDay(new Date(readSince(since, now)));
}

async function showStats(context: Context, options: Options): Promise<void> {
  if (options.excludeSmoke && options.onlySmoke)
    throw new Psd2Error('usage', '--exclude-smoke and --only-smoke cannot be used together', {
      hint: 'Choose one.',
    });
  const { world, folder, output } = context;
  const { from, to } = readPeriod(options, world.now());
  const limits = {
    below: readPercent('--fail-below', options.failBelow),
    above: readPercent('--fail-above-rate', options.failAboveRate),
  };
  const profile = context.profileName();
  const hourOf = (at: string) => bankTime(new Date(at)).slice(0, 13).replace('T', ' ');
  const calls = readStats(folder, (call) => call.profile === profile, {
    files: options.files,
    down5xx: options.down5xx === true,
    ...(options.by === 'hour' && { dayOf: hourOf }),
  });
  const lines = calls.lines.filter((line) => isMeant(line, options, { profile, from, to }));
  const rows = periodRows(lines, calls, options, profile);
  const total = periodRow(
    'total',
    lines.map(({ counts }) => counts),
    lines,
    options,
  );
  const days = rows.filter(({ secondsDown: down }) => down !== null);
  const down = days.reduce((sum, { secondsDown: seconds }) => sum + (seconds ?? 0), 0);
  const whole_ = {
    ...total,
    secondsDown: days.length > 0 ? down : null,
    uptime: days.length > 0 ? rounded(uptime(down, days.length)) : null,
  };
  const data = {
    profile,
    hosts: [...new Set(lines.map(({ host }) => host))],
    timeZone: 'Europe/Rome',
    from,
    to,
    logFrom: calls.logFrom,
    definitions: DEFINITIONS,
    notes: notesOf(context, options),
    longestGapSeconds: Math.round(calls.longestGapMs / 1000),
    rows,
    total: whole_,
    published: publishedBeside(options.published, rows),
  };
  if (output.format === 'table') await printTable(context, data, options);
  else if (output.format === 'json') output.record(data, printed);
  else await output.table(rows, WIDE, '');
  refuseBelow(whole_, limits);
}

function isMeant(
  { day, profile: of, kind, smoke }: RollUp,
  { kind: wanted, excludeSmoke, onlySmoke }: Options,
  { profile, from, to }: { profile: string; from: string; to: string },
): boolean {
  const date = day.slice(0, 10);
  const isKind = wanted === undefined || kind === wanted;
  return (
    of === profile &&
    date >= from &&
    date <= to &&
    isKind &&
    !(smoke && excludeSmoke) &&
    !(onlySmoke && !smoke)
  );
}

function periodRows(lines: readonly RollUp[], calls: KnownCalls, options: Options, profile: string): Row[] {
  const periods = new Map<string, RollUp[]>();
  for (const line of lines) {
    const period = options.by === 'route' ? line.route : line.day;
    periods.set(period, [...(periods.get(period) ?? []), line]);
  }
  const downs = calls.downs.filter((each) => each.profile === profile).map(({ down }) => down);
  return [...periods]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([period, each]) => {
      const row = periodRow(
        period,
        each.map(({ counts }) => counts),
        each,
        options,
      );
      if (options.by !== 'day' || !isIsoDate(period)) return row;
      const begin = Date.parse(bankLocalTime(period, '00:00:00'));
      const end = Date.parse(bankLocalTime(addDays(period, 1), '00:00:00'));
      const seconds = secondsDown(downs, begin, end);
      return { ...row, secondsDown: seconds, uptime: rounded(uptime(seconds)) };
    });
}

function periodRow(
  period: string,
  all: readonly Counts[],
  lines: readonly RollUp[],
  { timesWithConsents }: Options,
): Row {
  const sum = noCounts();
  for (const counts of all) addCounts(sum, counts);
  const of = (...kinds: StatKind[]) => {
    const counts = noCounts();
    for (const line of lines) if (kinds.includes(line.kind)) addCounts(counts, line.counts);
    const { calls, answered, max } = counts;
    return {
      calls,
      mean: answered === 0 ? null : Math.round(counts.sum / answered),
      p50: percentile(counts, 0.5),
      p95: percentile(counts, 0.95),
      max: answered === 0 ? null : max,
    };
  };
  const { calls, noReply, serverErrors, unusable, clientErrors, limited, own } = sum;
  return {
    period,
    calls,
    noReply,
    serverErrors,
    unusable,
    clientErrors,
    limited,
    own,
    errors: errorsOf(sum),
    errorRate: rounded(errorRate(sum)),
    ais: timesWithConsents ? of('ais', 'consent') : of('ais'),
    pis: of('pis'),
    piis: of('piis'),
    secondsDown: null,
    uptime: null,
    few: calls < FEW,
  };
}

function rounded(percent: number | null): number | null {
  return percent === null ? null : Math.round(percent * 1000) / 1000;
}

function notesOf({ globals }: Context, { by }: Options): string[] {
  return [
    'Measured here, with network and connection; a bank measures from the last byte received to the last byte sent.',
    ...(globals.timeoutMs < REPLY_MS
      ? [
          '--timeout is below 30 s, so the rule of 30 seconds cannot be applied: psd2 counts what did not answer until then.',
        ]
      : []),
    ...(by === 'hour' ? ['Of days that the log has no more, only the whole days are known.'] : []),
  ];
}

const SHOWN = row.inList(
  'period calls noReply serverErrors errors errorRate ais half most pis piis secondsDown uptime',
);
const WIDE = row.inList(
  'period calls noReply serverErrors errors errorRate ais half most pis piis secondsDown uptime clientErrors limited',
);

async function printTable(
  { output, terminal }: Context,
  data: ValueOf<typeof printed>,
  { wide }: Options,
): Promise<void> {
  const { rows, notes, logFrom, hosts, from, to } = data;
  terminal.say(
    `Calls to ${hosts.join(', ') || 'no bank'}, this machine's, days in Europe/Rome, ${from} to ${to}`,
  );
  await output.table(rows, wide ? WIDE : SHOWN, 'No call in the log matches.');
  if (data.published.length > 0) await output.table(data.published, published, '');
  for (const note of notes) terminal.say(note);
  if (logFrom !== null)
    terminal.say(`The log is whole from ${terminal.writeTime(logFrom)}. Before, the daily counts are known.`);
}

/** What banks call the confirmation of funds. */
const FUNDS = ['piis', 'funds', 'fcs', 'cof', 'cbpii'];
const METRICS = ['uptime_pct', 'error_rate_pct', 'mean_ms'] as const;

/** The bank's own figures, beside those from here. No verdict. @throws Psd2Error `usage` */
function publishedBeside(path: string | undefined, rows: readonly Row[]) {
  if (path === undefined) return [];
  const [head, ...lines] = readNamed(path)
    .split(/\r?\n/)
    .flatMap((written, index) => (written === '' ? [] : [{ written, at: index + 1 }]));
  if (head?.written.replaceAll(' ', '') !== 'date,service,metric,value')
    throw new Psd2Error('usage', `${path} does not begin with date,service,metric,value`, {
      hint: 'Write these names in its first line.',
    });
  return lines.map(({ written, at }) => {
    const [date = '', service = '', metric = '', value = ''] = written.split(',').map((cell) => cell.trim());
    const theirs = Number(value);
    if (!isIsoDate(date) || !METRICS.some((each) => each === metric) || value === '' || Number.isNaN(theirs))
      throw new Psd2Error('usage', `Line ${at} of ${path} is not date,service,metric,value`, {
        hint: `For example 2026-11-25,ais,mean_ms,180. The metrics are ${METRICS.join(', ')}.`,
      });
    const row = rows.find(({ period }) => period === date);
    const ours = row ? oursOf(row, service.toLowerCase(), metric) : null;
    return { date, service, metric, theirs, ours, difference: ours === null ? null : rounded(ours - theirs) };
  });
}

function oursOf(row: Row, service: string, metric: string): number | null {
  if (metric === 'uptime_pct') return row.uptime;
  if (metric === 'error_rate_pct') return row.errorRate;
  if (service === 'ais' || service === 'pis') return row[service].mean;
  return FUNDS.includes(service) ? row.piis.mean : null;
}

function readNamed(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Psd2Error('usage', `The file ${path} cannot be read`, { hint: 'Check its path.', cause });
  }
}

/** @throws Psd2Error `usage` */
function readPercent(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,3}(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (value <= 100) return value;
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a percentage`, {
    hint: 'For example 99.5.',
  });
}

/** @throws Psd2Error `below_target` */
function refuseBelow(
  { uptime: up, errorRate: rate }: Row,
  { below, above }: { below: number | undefined; above: number | undefined },
): void {
  if (below !== undefined && up !== null && up < below)
    throw new Psd2Error('below_target', `The uptime is ${up.toFixed(3)} %, below ${below} %`);
  if (above !== undefined && rate !== null && rate > above)
    throw new Psd2Error('below_target', `The error rate is ${rate} %, above ${above} %`);
}
