import { type Command, Option } from '@commander-js/extra-typings';
import { bankDay, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { readStep, readSteps, STEP_IDS, type StepId } from '../../smoke/steps.ts';
import type { Context } from '../context.ts';
import { collect, type OptionsOf } from '../declare.ts';
import { readDuration } from '../shared/duration.ts';
import { readWholeNumber } from '../shared/whole-number.ts';
import { readReports, type Wanted } from './reports.ts';

const FAIL_ON = ['slow', 'drift', 'flaky', 'skip'] as const;
const DAY_MS = 86_400_000;
/** The limit of a step, in a run that is shown again. */
export const USUAL_SLOW_MS = 2_000;
export const REPORT_HELP =
  'write a report: junit, tap, github, prometheus, nagios, markdown or json; - is stdout; may be repeated';

/** Adds the options of a smoke test. */
export function withOptions(command: Command) {
  return command
    .option('--steps <list>', 'only these steps: ids and ranges, for example settings..signature,accounts')
    .option('--skip <list>', 'all steps but these')
    .option('--login', 'log a test customer in, and end that login afterwards')
    .option('--no-login', 'use no login: only the steps that need no customer')
    .option('--consent', 'ask a test customer for a consent, and end it afterwards')
    .option('--account <id>', 'id or IBAN of the account to read; default: the first one')
    .option('--slow <duration>', 'warn about a step that takes longer', '2s')
    .option('--max <duration>', 'the run ends with exit code 12 if it takes longer')
    .option('--retry <n>', 'try a reading step that failed again, at most this often', '0')
    .option('--within <days>', 'warn about what ends within this many days', '14')
    .option('--known <step[=date]>', 'this step may fail, until this day; may be repeated', collect, [])
    .addOption(
      new Option('--fail-on <what>', 'end with exit code 12 for this too; may be repeated')
        .choices(FAIL_ON)
        .argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]),
    )
    .option('--report <form=file>', REPORT_HELP, collect, [])
    .option('--list', 'list the steps, and run none')
    .option('--dry-run', 'say which steps would run, and run none');
}

export type SmokeOptions = OptionsOf<typeof withOptions>;

/** The parsed options. */
export interface Plan {
  steps: ReadonlySet<StepId>;
  login: 'new' | 'kept' | 'none';
  consent: 'new' | 'kept';
  account: string | undefined;
  /** The operator wants the steps of a customer: without a login they fail. */
  isWanted: boolean;
  slowMs: number;
  maxMs: number | undefined;
  retries: number;
  withinDays: number;
  /** The steps that may fail, and until when. */
  known: ReadonlyMap<StepId, IsoDate | null>;
  failOn: ReadonlySet<(typeof FAIL_ON)[number]>;
  reports: Wanted[];
}

/** Reads the options. @throws Psd2Error `usage`, `invalid_date` */
export function readPlan(context: Context, options: SmokeOptions): Plan {
  const chosen = options.steps === undefined ? new Set(STEP_IDS) : readSteps('--steps', options.steps);
  const left = options.skip === undefined ? new Set<StepId>() : readSteps('--skip', options.skip);
  const failOn = new Set(FAIL_ON.filter((each) => options.failOn?.includes(each)));
  const unknown = options.failOn?.find((each) => !FAIL_ON.some((known) => known === each));
  if (unknown !== undefined)
    throw new Psd2Error('usage', `--fail-on ${JSON.stringify(unknown)} is not known`, {
      hint: `Use one of ${FAIL_ON.join(', ')}.`,
    });
  const namesCustomer = context.sourceOf('customer') === 'option';
  return {
    steps: new Set(STEP_IDS.filter((id) => id === 'clean-up' || (chosen.has(id) && !left.has(id)))),
    login: options.login === undefined ? 'kept' : options.login ? 'new' : 'none',
    consent: options.consent ? 'new' : 'kept',
    account: options.account,
    isWanted: options.account !== undefined || namesCustomer || failOn.has('skip'),
    slowMs: readDuration('--slow', options.slow, DAY_MS),
    maxMs: options.max === undefined ? undefined : readDuration('--max', options.max, DAY_MS),
    retries: readWholeNumber('--retry', options.retry, 0, 10),
    withinDays: readWholeNumber('--within', options.within.replace(/d$/, ''), 0, 9999),
    known: new Map(options.known.map(readKnown)),
    failOn,
    reports: readReports(context, options.report),
  };
}

function readKnown(text: string): [StepId, IsoDate | null] {
  const [step = '', day] = text.split('=', 2);
  return [readStep('--known', step), day === undefined ? null : parseDate('--known', day)];
}

/** Whether a step may fail today. */
export function isKnown({ known }: Plan, step: StepId, now: Date): boolean {
  const until = known.get(step);
  return until !== undefined && (until === null || until >= bankDay(now));
}
