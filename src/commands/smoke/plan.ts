import { type Command, Option } from '@commander-js/extra-typings';
import Big from 'big.js';
import { bankDay, type IsoDate, parseDate } from '../../domain/calendar.ts';
import { parseSepaIban } from '../../domain/order/iban.ts';
import { parsePaymentAmount } from '../../domain/order/payment-amount.ts';
import { parsePlainName } from '../../domain/order/sepa-text.ts';
import { Psd2Error } from '../../errors.ts';
import { READINGS, readStepId, readSteps, STEP_IDS, type StepId, singleSteps } from '../../smoke/steps.ts';
import type { Context } from '../context.ts';
import { collect, type OptionsOf, where } from '../declare.ts';
import { UNATTENDED_LIMIT } from '../shared/cost-limit.ts';
import { withCredentialOptions } from '../shared/credential-options.ts';
import { readDays, readDuration, readWholeNumber } from '../shared/option-values.ts';
import { readReports, type Wanted } from './reports.ts';

const FAIL_ON = ['slow', 'drift', 'flaky', 'skip'] as const;
const DAY_MS = 86_400_000;
const NO_FEE = '0.00';
/** The limit of a step, in a run that is shown again. */
export const USUAL_SLOW_MS = 2_000;
export const REPORT_HELP =
  'write a report: junit, tap, github, prometheus, nagios, markdown or json; - is stdout; may be repeated';

/** Adds the options of a smoke test. */
export function withOptions(command: Command) {
  return withCredentialOptions(command)
    .option('--steps <list>', 'only these steps: ids and ranges, for example settings..signature,accounts')
    .option('--skip <list>', 'all steps but these')
    .option('--login', 'log a test customer in, and end that login afterwards')
    .option('--no-login', 'use no login: only the steps that need no customer')
    .option('--consent', 'ask a test customer for a consent, and end it afterwards')
    .option('--account <id>', 'id or IBAN of the account to read; default: the first one')
    .option('--funds', where('confirmation of funds', 'ask whether the account has one cent'))
    .option('--initiate', 'begin a payment of 0.01 to --to and give it up: no money moves')
    .option('--pay <amount>', 'make a whole payment to --to, with the SCA of a test customer')
    .option('--max-fee <amount>', 'with --pay, the largest fees that the bank may take; default: 0.00')
    .option('--to <iban>', "the payee's IBAN, for --initiate and --pay")
    .option('--name <text>', "the payee's name, for --initiate and --pay")
    .option('--from <id>', 'account to debit; default: the account that is read')
    .option('--slow <duration>', 'warn about a step that takes longer', '2s')
    .option('--max <duration>', 'the run ends with exit code 12 if it takes longer')
    .option('--retry <n>', 'try a reading step that failed again, at most this often', '0')
    .option('--within <days>', 'warn about what ends within this many days or weeks', '14d')
    .option('--known <step[=date]>', 'this step may fail, until this day; may be repeated', collect, [])
    .addOption(
      new Option('--fail-on <what>', 'end with exit code 12 for this too; may be repeated')
        .choices(FAIL_ON)
        .argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]),
    )
    .addOption(
      new Option('--shapes <how>', 'compare the form of the answers with that of earlier runs')
        .choices(['off', 'check', 'learn', 'accept'] as const)
        .default('check' as const),
    )
    .option('--shapes-file <path>', 'file of the shapes, for example in a repository')
    .option('--report <form=file>', REPORT_HELP, collect, [])
    .option('--list', 'list the steps, and run none')
    .option('--dry-run', 'say which steps would run, and run none');
}

export type SmokeOptions = OptionsOf<typeof withOptions>;

/** What `--pay` pays. */
export interface PlannedPayment {
  amount: string;
  /** The largest fees that the bank may take for it. Null: the operator has named none. */
  maxFee: string | null;
}

/** The parsed options. */
export interface Plan {
  steps: ReadonlySet<StepId>;
  login: 'new' | 'kept' | 'none';
  consent: 'new' | 'kept';
  account: string | undefined;
  shapes: 'off' | 'check' | 'learn' | 'accept';
  shapesFile: string | undefined;
  funds: boolean;
  initiate: boolean;
  pay: PlannedPayment | undefined;
  to: string | undefined;
  name: string | undefined;
  from: string | undefined;
  /** What the operator asks for by an option, and the option: it must not be left out quietly. */
  wanted: ReadonlyMap<StepId, string>;
  /** The operator has chosen the steps. One that lacks something is then not left out quietly. */
  isChosen: boolean;
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
  const unknown = options.failOn?.find((each) => !FAIL_ON.some((one) => one === each));
  if (unknown !== undefined)
    throw new Psd2Error('usage', `--fail-on ${JSON.stringify(unknown)} is not known`, {
      hint: `Use one of ${FAIL_ON.join(', ')}.`,
    });
  const namesCustomer = context.sourceOf('customer') === 'option';
  const steps = new Set(STEP_IDS.filter((id) => id === 'clean-up' || (chosen.has(id) && !left.has(id))));
  return {
    steps,
    wanted: wantedBy(options, steps),
    isChosen: options.steps !== undefined,
    login: options.login === undefined ? 'kept' : options.login ? 'new' : 'none',
    consent: options.consent ? 'new' : 'kept',
    account: options.account,
    shapes: options.shapes,
    shapesFile: options.shapesFile,
    ...readPayment(context, options),
    isWanted: options.account !== undefined || namesCustomer || failOn.has('skip'),
    slowMs: readDuration('--slow', options.slow, DAY_MS),
    maxMs: options.max === undefined ? undefined : readDuration('--max', options.max, DAY_MS),
    retries: readWholeNumber('--retry', options.retry, 0, 10),
    withinDays: readDays('--within', options.within),
    known: new Map(options.known.map(readKnown)),
    failOn,
    reports: readReports(context, options.report),
  };
}

/** The steps that options ask for, with the option of each. @throws Psd2Error `usage` */
function wantedBy(
  { steps: chosen, login, consent, account, funds, initiate, pay }: SmokeOptions,
  steps: ReadonlySet<StepId>,
): Map<StepId, string> {
  const named = chosen === undefined ? [] : singleSteps('--steps', chosen);
  const readings = account === undefined ? [] : READINGS.filter((id) => steps.has(id));
  const byOption: readonly [StepId, string, boolean][] = [
    ['login', '--login', login === true],
    ['consent', '--consent', consent === true],
    ['funds', '--funds', funds === true],
    ['initiate', '--initiate', initiate === true],
    ['pay', '--pay', pay !== undefined],
  ];
  return new Map([
    ...named.map((id): [StepId, string] => [id, '--steps']),
    ...readings.map((id): [StepId, string] => [id, '--account']),
    ...byOption.flatMap(([id, option, isGiven]): [StepId, string][] => (isGiven ? [[id, option]] : [])),
  ]);
}

/** Reads what is to be begun or paid. Nothing is sent if something is missing. @throws Psd2Error */
function readPayment(
  context: Context,
  { funds, initiate, pay, maxFee, to, name, from }: SmokeOptions,
): Pick<Plan, 'funds' | 'initiate' | 'pay' | 'to' | 'name' | 'from'> {
  if (initiate && pay !== undefined)
    throw new Psd2Error('usage', '--initiate and --pay cannot be used together', { hint: 'Choose one.' });
  const option = initiate ? '--initiate' : pay !== undefined ? '--pay' : undefined;
  const [foreign] = Object.entries({ to, name, from }).filter(([, value]) => value !== undefined);
  if (option === undefined && foreign)
    throw new Psd2Error('usage', `--${foreign[0]} needs --initiate or --pay`);
  if (maxFee !== undefined && pay === undefined) throw new Psd2Error('usage', '--max-fee needs --pay');
  let planned: PlannedPayment | undefined;
  if (option !== undefined) {
    if (to === undefined || name === undefined)
      throw new Psd2Error('usage', `${option} needs --to and --name: there is no default payee`);
    parseSepaIban(to);
    parsePlainName(name);
    if (pay !== undefined)
      planned = {
        amount: readAmountOption('--pay', pay),
        maxFee: maxFee === undefined ? null : readAmountOption('--max-fee', maxFee),
      };
    if (planned) refuseUnattended(context, planned.amount);
    refuseInProduction(context, option);
  }
  return { funds: funds === true, initiate: initiate === true, pay: planned, to, name, from };
}

/** Reads an amount that the operator has typed: what looks like a slip is none. @throws Psd2Error `usage`, `invalid_amount` */
function readAmountOption(option: '--pay' | '--max-fee', text: string): string {
  if (/^0\d/.test(text.trim()))
    throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} begins with a zero too many`, {
      hint: 'psd2 has sent nothing. Write the amount as 1.00.',
    });
  return option === '--max-fee' && /^0(\.00?)?$/.test(text) ? NO_FEE : parsePaymentAmount(text);
}

/** A larger payment needs a person at the terminal, whatever was confirmed in advance. @throws Psd2Error `confirmation_needed` */
function refuseUnattended({ terminal }: Context, amount: string): void {
  if (terminal.canAsk || new Big(amount).lte(UNATTENDED_LIMIT)) return;
  throw new Psd2Error(
    'confirmation_needed',
    `--pay ${amount} is more than ${UNATTENDED_LIMIT} EUR, so a person must confirm it`,
    { hint: 'psd2 has sent nothing. Run it at a terminal, or pay at most 1.00.' },
  );
}

/** @throws Psd2Error `confirmation_needed` in production without --yes */
function refuseInProduction(context: Context, option: string): void {
  if (context.globals.yes || context.profile().settings.environment !== 'production') return;
  throw new Psd2Error('confirmation_needed', `${option} in production needs --yes`, {
    hint: 'psd2 has sent nothing.',
  });
}

function readKnown(text: string): [StepId, IsoDate | null] {
  const [step = '', day] = text.split('=', 2);
  return [readStepId('--known', step), day === undefined ? null : parseDate('--known', day)];
}

/** Whether a step may fail today. */
export function isKnown({ known: knownFailures }: Plan, step: StepId, now: Date): boolean {
  const until = knownFailures.get(step);
  return until !== undefined && (until === null || until >= bankDay(now));
}
