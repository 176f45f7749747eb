import { writeCommand } from '../../advice.ts';
import { type ErrorCode, Psd2Error } from '../../errors.ts';
import { writeFoot, writeHead, writeStep } from '../../smoke/lines.ts';
import { publicRun } from '../../smoke/reports/public-run.ts';
import { isWarning, type SmokeRun, type SmokeStep } from '../../smoke/result.ts';
import { STEPS, type StepId } from '../../smoke/steps.ts';
import { makePrivateFolder } from '../../store/disk/files.ts';
import { holderOf, withLock } from '../../store/disk/lock.ts';
import { baseUrlOf } from '../../store/machine/settings.ts';
import { list, object, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import type { Verb } from '../declare.ts';
import { givenCredentials } from '../shared/credential-options.ts';
import { newRunId } from '../shared/run-id.ts';
import { foresee, type Ran, runSteps } from './engine.ts';
import { type Plan, readPlan, type SmokeOptions, withOptions } from './plan.ts';
import { printLines } from './print.ts';
import { openRecords, type Records } from './record.ts';
import { pluginCode, writeReports } from './reports.ts';
import { smokeRun } from './shape.ts';
import { verdictOf } from './verdict.ts';

const listed = object({
  step: text('the step').as('Step', { whole: true }),
  calls: text('its calls to the bank').as('Calls', { whole: true }),
  checks: text('what it checks').as('Checks'),
  runs: text('yes, or why it would not run').as('Runs', { whole: true }),
});

const HELP = `
Without options, the steps only read: they need no person and no browser, move no money and leave nothing behind. The steps
of a customer use the login or the consent that is there. Without one they are skipped, unless --account, --customer or
--fail-on skip says that they are wanted. The three readings count against the reads of the day; the steps
settings..signature need none. A profile of a sandbox has no such limit.

--initiate begins a payment and gives it up: no money moves, and nobody sees a link. --pay makes a whole payment. Both need
--to and --name, and in production --yes too. All rules of psd2 transfer hold. Where the customer's SCA commits the payment, the
bank's fees count: amount and fees are at most --pay and --max-fee together, and at most 1.00 without a person.

--login and --consent make a login and a consent of a test customer, through the command in PSD2_BROWSER, and end them.

The exit code is that of the first step that failed. 12 means: nothing failed, but the run took longer than --max, met a
--fail-on, or the form of the answers has changed; what was asked for did not run; or nothing was read, because today's
reads without the customer are used up. The clean-up always runs, also after Ctrl-C.

Examples:
  $ psd2 smoke
  $ psd2 smoke --steps settings..signature --max 10s
  $ psd2 smoke --fail-on slow --json | jq -r '.steps[] | select(.status == "fail") | .id'`;

/** `psd2 smoke run` */
export const run: Verb = {
  prints: { what: 'a smoke test', shape: smokeRun },
  printsWith: {
    '--list': { what: 'the steps', shape: list(listed) },
    '--dry-run': { what: 'the steps', shape: list(listed) },
  },
  declare: (command, start, { version }) =>
    withOptions(command)
      .addHelpText('after', HELP)
      .action((options) =>
        start(
          (context) =>
            options.list || options.dryRun ? showSteps(context, options) : test(context, options, version),
          'diagnosis',
        ),
      ),
};

/** Lists the steps, and which would run. Asks no bank. */
async function showSteps(context: Context, options: SmokeOptions): Promise<void> {
  const plan = readPlan(context, options);
  const not = options.dryRun ? await foresee(context, plan) : new Map<StepId, string>();
  const rows = STEPS.map(({ id, calls, checks }) => ({
    step: id,
    calls,
    checks,
    runs: not.get(id) ?? 'yes',
  }));
  await context.output.table(rows, options.dryRun ? listed : listed.inList('step calls checks'), '');
}

/** Makes a run, prints it, and ends with its exit code. */
async function test(world: Context, options: SmokeOptions, version: string): Promise<void> {
  const plan = readPlan(world, options);
  const context = await givenCredentials(world, options);
  const records = openRecords(context.folder.smoke(context.profileName()));
  await alone(context, records, async () => {
    const { made, shown, error } = await make(context, plan, records, version);
    records.save(shown);
    printLines(context, plan.reports, [writeFoot(made)]);
    if (context.output.format !== 'table') context.output.record(made, smokeRun);
    endWith(context, plan, shown, error);
  });
}

/** Writes the reports, and ends the command with the exit code of the run. */
export function endWith(
  context: Context,
  { reports, slowMs }: Pick<Plan, 'reports' | 'slowMs'>,
  run: SmokeRun,
  error: unknown,
): void {
  try {
    writeReports(context, reports, run, slowMs);
  } catch (unwritten) {
    // What a step found counts more than a report.
    if (error === undefined || run.exitCode === 12) throw unwritten;
    context.terminal.warn(unwritten instanceof Error ? unwritten.message : String(unwritten));
  }
  const code = pluginCode(reports, run);
  if (code !== undefined) {
    if (code !== run.exitCode)
      context.terminal.say(`Exit code ${code} for the monitoring plugin, instead of ${run.exitCode}.`);
    process.exitCode = code;
  } else if (error !== undefined) throw error;
}

/** @throws Psd2Error `smoke_running` if another run of the profile is under way, on this machine or on another one of its store */
async function alone(context: Context, { unendedPath }: Records, work: () => Promise<void>): Promise<void> {
  const name = context.profileName();
  const busy = (holder: string) =>
    new Psd2Error('smoke_running', `Another smoke test of the profile ${name} runs: ${holder}`, {
      hint: 'Wait for it to end.',
    });
  makePrivateFolder(context.folder.smoke(name));
  const holder = await holderOf(unendedPath);
  if (holder !== undefined) throw busy(holder);
  const inStore = async () => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return work();
    };
    try {
      await (await context.store()).smoking(begin, busy);
    } catch (error) {
      // That a store, or the profile, cannot be used is for the first step to say.
      if (hasBegun || !(error instanceof Psd2Error) || NOT_STORES.includes(error.code)) throw error;
      await work();
    }
  };
  // One that was killed loses its lock after some seconds.
  await withLock(unendedPath, 'The smoke test', inStore, DEAD_MS, context.world.signal);
}

const DEAD_MS = 10_000;
const NOT_STORES: readonly ErrorCode[] = ['smoke_running', 'interrupted'];

/** Makes a run, and prints its lines as the steps end. */
async function make(
  context: Context,
  plan: Plan,
  records: Records,
  version: string,
): Promise<{ made: SmokeRun; shown: SmokeRun; error: unknown }> {
  const { world, repeated } = context;
  const begun = world.now();
  const id = newRunId('sm', world);
  const facts = { run: id, profile: context.profileName(), version, ...(await bankFacts(context)) };
  const isAscii = isAsciiIn(context.env);
  printLines(context, plan.reports, [writeHead(facts)]);
  const ended = (step: SmokeStep) => {
    const next = step.error?.tppRequestId ? writeCommand(['log', '--run', id], repeated) : undefined;
    printLines(context, plan.reports, [writeStep(step, isAscii, next)]);
  };
  const ran = await runSteps(context, id, plan, records, ended);
  const milliseconds = Math.max(0, world.now().getTime() - begun.getTime());
  const { made, error } = assemble(
    ran,
    plan,
    { ...facts, startedAt: begun.toISOString(), milliseconds },
    records.last(),
  );
  return { made, shown: publicRun(made, privateTextsOf(context, ran.smoke)), error };
}

/** What psd2 knows of the customer, which must be in no report. */
function privateTextsOf({ globals }: Context, { accounts = [], opened, plan }: Ran['smoke']): string[] {
  const ofAccounts = accounts.flatMap(({ productId, iban, name }) => [productId, iban, name]);
  const named = [globals.customer, plan.account, plan.to, plan.name, plan.from];
  return [...ofAccounts, opened?.customerId, ...named].filter((text) => typeof text === 'string');
}

function assemble(
  { smoke, steps, wasInterrupted, thrown }: Ran,
  plan: Plan,
  facts: Pick<
    SmokeRun,
    'run' | 'profile' | 'environment' | 'interface' | 'bank' | 'version' | 'startedAt' | 'milliseconds'
  >,
  before: SmokeRun | undefined,
): { made: SmokeRun; error: unknown } {
  const { milliseconds, run: id } = facts;
  const { error, exitCode, next } = verdictOf({ steps, milliseconds, run: id, wasInterrupted, thrown }, plan);
  const hasWarnings = steps.some((step) => isWarning(step) || step.status === 'known' || step.flaky);
  return {
    made: {
      ...facts,
      result: exitCode !== 0 ? 'fail' : hasWarnings ? 'warn' : 'pass',
      exitCode,
      steps,
      drift: smoke.drift,
      ends: smoke.ends,
      lastSuccessAt: exitCode === 0 ? facts.startedAt : (before?.lastSuccessAt ?? null),
      next,
    },
    error,
  };
}

/** What is known of the bank before anything was checked. A profile that cannot be read is the first step's to say. */
async function bankFacts(context: Context): Promise<Pick<SmokeRun, 'environment' | 'interface' | 'bank'>> {
  try {
    const profile = context.profile();
    const { name } = await context.bankInterface();
    return {
      environment: profile.settings.environment ?? null,
      interface: name,
      bank: baseUrlOf(profile).host,
    };
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return { environment: null, interface: null, bank: null };
  }
}

/** Whether the locale has only ASCII. */
export function isAsciiIn(env: Context['env']): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return /^(C|POSIX)$/.test(locale);
}
