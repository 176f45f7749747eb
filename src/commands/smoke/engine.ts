import type { Observation } from '../../bank/ports/call.ts';
import { Psd2Error } from '../../errors.ts';
import { isUndone, type SmokeStep } from '../../smoke/result.ts';
import { blockedBy, READINGS, STEP_IDS, type StepId } from '../../smoke/steps.ts';
import { silentOutput } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { errorData } from '../shared/error-data.ts';
import { capital, lackOfConsent, lackOfLogin, testConsent, testLogin } from './access.ts';
import { endMade } from './clean-up.ts';
import { funds, NO_FUNDS } from './funds.ts';
import { testCertificates, testConnection, testSettings, testSignature } from './local.ts';
import { initiate, pay, refusedToBegin } from './payments.ts';
import { isKnown, type Plan } from './plan.ts';
import { accounts, balance, transactions } from './readings.ts';
import type { Made, Records } from './record.ts';
import { shapes } from './shapes.ts';
import { callOf, type Found, missing, type Smoke } from './smoke.ts';

const WORK: Readonly<Partial<Record<StepId, (smoke: Smoke) => Promise<Found>>>> = {
  settings: testSettings,
  certificates: testCertificates,
  connection: testConnection,
  signature: testSignature,
  login: testLogin,
  consent: testConsent,
  accounts,
  balance,
  transactions,
  funds,
  initiate,
  pay,
  shapes,
};
/** The steps that may be tried again: they only read. */
const REPEATABLE: readonly StepId[] = ['accounts', 'balance', 'transactions', 'funds'];
/** The steps that make something wait for a person, so their time says nothing of the bank. */
const PERSONS: readonly StepId[] = ['pay'];

/** What a run has found. */
export interface Ran {
  smoke: Smoke;
  steps: SmokeStep[];
  wasInterrupted: boolean;
  /** Why each step failed. */
  thrown: ReadonlyMap<StepId, unknown>;
}

/**
 * Makes a smoke test: the steps in their order, and at the end always the clean-up.
 *
 * @param ended is told of each step that has ended
 */
export async function runSteps(
  base: Context,
  run: string,
  plan: Plan,
  records: Records,
  ended: (step: SmokeStep) => void,
): Promise<Ran> {
  const gentle = base.stopGently();
  const left = records.unended();
  const smoke = openSmoke(base, { run, plan, records, gentle, left: left.made });
  const steps: SmokeStep[] = [];
  /** The steps that could not show what others need. */
  const failed = new Map<StepId, StepId>();
  const add = (step: SmokeStep) => {
    steps.push(step);
    ended(step);
    return step;
  };
  let earlier: { ended: Found } | { error: unknown } | undefined;
  for (const id of STEP_IDS.filter((each) => each !== 'clean-up')) {
    if (id === 'login' && left.made.length > 0 && !failed.has('connection') && !gentle.aborted)
      earlier = await endMade(smoke, left.made, false).then(
        (result) => ({ ended: result }),
        (error: unknown) => ({ error }),
      );
    // A consent for the list alone has shown one form, which can be compared.
    const isListed = id === 'shapes' && steps.some((step) => step.id === 'accounts' && isDone(step));
    const blocking = blockedBy(id, isListed ? failuresOf(steps) : failed, plan.from !== undefined);
    const why = whyNot(id, plan, gentle.aborted, blocking);
    const isBlocked = why?.startsWith('after') === true;
    const outcome = why ? skippedStep(id, why) : await runStep(smoke, id);
    const isMissing = outcome.warnings.some(({ code }) => code === 'skipped' || code === 'not_read');
    const step = add(gentle.aborted ? outcome : orUndone(smoke, outcome, isMissing || isBlocked, steps));
    if (isMissing || step.status === 'fail' || step.status === 'known' || isBlocked)
      failed.set(id, isBlocked && blocking !== undefined ? blocking : id);
  }
  const cleaned = await cleanUp(smoke, left, earlier);
  add(cleaned);
  return { smoke, steps, wasInterrupted: gentle.aborted, thrown: smoke.thrown };
}

/**
 * What was asked for and not done is a failure, and so is a run that has read nothing because today's reads are used up: no report
 * is green without a look.
 *
 * @param lacks the step was skipped because it, or one before it, lacks something
 */
function orUndone(smoke: Smoke, step: SmokeStep, lacks: boolean, before: readonly SmokeStep[]): SmokeStep {
  if (step.status !== 'skip') return step;
  const { id, reason, warnings } = step;
  const { plan, context } = smoke;
  // The failure before it says it.
  if (before.some((each) => reason === `after ${each.id}` && each.status === 'fail' && !isUndone(each)))
    return step;
  const option =
    plan.wanted.get(id) ?? (lacks && plan.isChosen && plan.steps.has(id) ? '--steps' : undefined);
  const fail = (error: Psd2Error): SmokeStep => {
    smoke.thrown.set(id, error);
    return { ...step, status: 'fail', error: errorData(error, context.repeated), reason: null, warnings: [] };
  };
  const isUnread = warnings.some(({ code }) => code === 'not_read');
  const hasRead = before.some((each) => READINGS.includes(each.id) && (isDone(each) || each.error !== null));
  if (isUnread && !hasRead) return fail(new Psd2Error('not_read', capital(reason ?? ''), WAY_OUT));
  const isNothing = !lacks && id === 'login' && plan.steps.has(id);
  const countsSkips = plan.failOn.has('skip') && warnings.length > 0;
  if ((option === undefined || isNothing) && !countsSkips) return step;
  const undone = option === undefined ? 'did not run' : `asked for with ${option}, and did not run`;
  const says = `${capital(undone)}: ${reason}`;
  return fail(isUnread ? new Psd2Error('not_read', says, WAY_OUT) : new Psd2Error('skipped', says));
}

/** What to do if today's reads are used up. */
const WAY_OUT = {
  hint: 'Pass --psu-ip <address> if the customer is present, run it on another day, or give it a consent of its own.',
};

function isDone({ status }: Pick<SmokeStep, 'status'>): boolean {
  return status === 'pass' || status === 'warn';
}

function failuresOf(steps: readonly SmokeStep[]): Map<StepId, StepId> {
  return new Map(
    steps.filter(({ status }) => status === 'fail' || status === 'known').map(({ id }) => [id, id]),
  );
}

/** The steps that only an option asks for. */
const ASKED_FOR: readonly [StepId, option: string, isAsked: (plan: Plan) => boolean][] = [
  ['funds', '--funds', ({ funds: isAsked }) => isAsked],
  ['initiate', '--initiate', ({ initiate: isAsked, pay: amount }) => isAsked || amount !== undefined],
  ['pay', '--pay', ({ pay: amount }) => amount !== undefined],
];

/** The steps that need a customer. */
const CUSTOMERS: readonly StepId[] = [
  'login',
  'consent',
  'accounts',
  'balance',
  'transactions',
  'initiate',
  'pay',
];

/** Why a step does not run. Undefined: it does. */
function whyNot(
  id: StepId,
  plan: Plan,
  isInterrupted: boolean,
  blocking: StepId | undefined,
): string | undefined {
  if (isInterrupted) return 'interrupted';
  if (!plan.steps.has(id)) return 'not chosen';
  const option = ASKED_FOR.find(([step]) => step === id);
  if (option?.[2](plan) === false) return `not asked for (${option[1]})`;
  if (!WORK[id]) return 'not asked for';
  if (id === 'shapes' && plan.shapes === 'off') return 'not asked for (--shapes)';
  if (plan.login === 'none' && CUSTOMERS.includes(id)) return 'no login is wanted (--no-login)';
  return blocking === undefined ? undefined : `after ${blocking}`;
}

/** Why steps would not run, as far as psd2 knows without the bank. Makes no call. */
export async function foresee(context: Context, plan: Plan): Promise<Map<StepId, string>> {
  const not = new Map<StepId, string>();
  const failed = new Map<StepId, StepId>();
  for (const id of STEP_IDS.filter((each) => each !== 'clean-up')) {
    const blocking = blockedBy(id, failed, plan.from !== undefined);
    const why = whyNot(id, plan, false, blocking);
    const { skipped, lacks } = why ? { skipped: why } : await lackOf(id, { context, plan });
    if (skipped !== undefined) not.set(id, skipped);
    const isBlocked = blocking !== undefined && skipped === `after ${blocking}`;
    if (lacks || isBlocked) failed.set(id, isBlocked ? blocking : id);
  }
  return not;
}

/** What a step would find missing on this machine. A failure is one, too. */
async function lackOf(id: StepId, seen: Pick<Smoke, 'context' | 'plan'>): Promise<Found> {
  try {
    const bank = await seen.context.bankInterface();
    if (id === 'initiate') return refusedToBegin(seen, bank) ?? {};
    if (id === 'funds' && !bank.has.has('confirmation of funds')) return NO_FUNDS;
    const lack = id === 'login' ? lackOfLogin(seen) : id === 'consent' ? lackOfConsent(seen) : undefined;
    return (await lack) ?? {};
  } catch (error) {
    if (error instanceof Psd2Error) return missing(`fails: ${error.message}`);
    throw error;
  }
}

/** Opens what the steps share. */
function openSmoke(
  base: Context,
  {
    run,
    plan,
    records,
    gentle,
    left,
  }: { run: string; plan: Plan; records: Records; gentle: AbortSignal; left: Made[] },
): Smoke {
  let made = left;
  const smoke: Omit<Smoke, 'context' | 'asking' | 'cleaning'> = {
    run,
    plan,
    said: undefined,
    opened: undefined,
    accounts: undefined,
    account: undefined,
    accountId: undefined,
    ends: { qwac: null, qsealc: null, bank: null, consent: null },
    answers: [],
    drift: [],
    observed: [],
    thrown: new Map(),
    note(change) {
      made = change(made);
      records.noteUnended(run, made);
    },
    made: () => made,
  };
  const calls = {
    run,
    heard: (call: Observation) => void smoke.observed.push(call),
    answered: (answer: Smoke['answers'][number]) => void smoke.answers.push(answer),
  };
  const ending = endingWith(base.world, gentle);
  const quiet = { output: silentOutput('table'), isForPerson: false, terminal: quietTerminal(base), calls };
  return Object.assign(smoke, {
    context: base.within({ ...quiet, ...ending }),
    asking: base.within({ ...quiet, terminal: base.terminal, ...ending }),
    cleaning: base.within({ ...quiet, globals: { ...base.globals, yes: true } }),
  });
}

/** Says nothing but what the customer's browser must open: the steps say the rest. */
function quietTerminal({ terminal }: Context): Context['terminal'] {
  return {
    ...terminal,
    canAsk: false,
    say: () => {},
    warn: () => {},
    tell: (event, text) => (event.event === 'open' ? terminal.tell(event, text) : undefined),
    whileWaiting: (_, work) => work,
  };
}

/** The world of the steps, which the first Ctrl-C ends, or a browser that fails. The clean-up goes on in that of the command. */
function endingWith(world: Context['world'], gentle: AbortSignal): Pick<Context, 'world' | 'interrupt'> {
  const ending = new AbortController();
  const end = () => ending.abort(new Psd2Error('interrupted', 'Interrupted'));
  for (const signal of [world.signal, gentle]) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
  }
  const { signal } = ending;
  const stepsWorld: Context['world'] = {
    ...world,
    signal,
    async sleep(milliseconds, early) {
      await world.sleep(milliseconds, early ? AbortSignal.any([early, signal]) : signal);
      signal.throwIfAborted();
    },
    async finish(atStake, work) {
      const result = await world.finish(atStake, work);
      signal.throwIfAborted();
      return result;
    },
  };
  return { world: stepsWorld, interrupt: (reason) => ending.abort(reason) };
}

function skippedStep(id: StepId, reason: string): SmokeStep {
  return {
    id,
    status: 'skip',
    flaky: false,
    milliseconds: 0,
    calls: [],
    error: null,
    warnings: [],
    detail: null,
    reason,
  };
}

/** Runs a step, again if it failed and may be tried again. */
async function runStep(smoke: Smoke, id: StepId): Promise<SmokeStep> {
  const work = WORK[id] ?? (async () => ({}));
  const { plan, context } = smoke;
  let calls: SmokeStep['calls'] = [];
  for (let tries = 0; ; tries += 1) {
    // The call of the connection is that of the signature, too.
    if (id !== 'signature') smoke.observed = [];
    const step = await timed(smoke, id, () => work(smoke));
    calls = [...calls, ...step.calls];
    const again =
      step.error !== null &&
      tries < plan.retries &&
      REPEATABLE.includes(id) &&
      step.error.code !== 'interrupted';
    if (again) continue;
    const flaky = tries > 0 && step.error === null;
    const mayFail = isKnown(plan, id, context.world.now());
    return { ...step, calls, flaky, ...judged(step, plan, mayFail, flaky) };
  }
}

/** The status of a step, with the warnings that its time, its luck and `--known` give. */
function judged(
  { id, status, warnings, milliseconds }: SmokeStep,
  { slowMs, login, consent: wantedConsent, known: knownFailures }: Plan,
  mayFail: boolean,
  flaky: boolean,
): Pick<SmokeStep, 'status' | 'warnings'> {
  if (status === 'fail' && mayFail) return { status: 'known', warnings };
  const isPersons =
    PERSONS.includes(id) ||
    (id === 'login' && login === 'new') ||
    (id === 'consent' && wantedConsent === 'new');
  const hasPassed = isDone({ status });
  const more = [
    ...(hasPassed && milliseconds > slowMs && !isPersons
      ? [{ code: 'slow', message: `slower than ${slowMs / 1000} s` }]
      : []),
    ...(flaky ? [{ code: 'flaky', message: 'passed only when it was tried again' }] : []),
    ...(hasPassed && knownFailures.has(id)
      ? [{ code: 'known_passes', message: 'it passes, although --known names it' }]
      : []),
  ];
  const all = [...more, ...warnings];
  return { status: hasPassed && all.length > 0 ? 'warn' : status, warnings: all };
}

async function timed(smoke: Smoke, id: StepId, work: () => Promise<Found>): Promise<SmokeStep> {
  const { context } = smoke;
  const begun = context.world.now().getTime();
  const took = () => Math.max(0, context.world.now().getTime() - begun);
  try {
    const { skipped, warnings = [], detail = null, milliseconds = took(), lacks } = await work();
    if (skipped !== undefined)
      return {
        ...skippedStep(id, skipped),
        ...(lacks && { warnings: [{ code: lacks === 'reads' ? 'not_read' : 'skipped', message: skipped }] }),
        calls: callsOf(smoke, id),
      };
    return {
      id,
      status: warnings.length > 0 ? 'warn' : 'pass',
      flaky: false,
      milliseconds,
      calls: callsOf(smoke, id),
      error: null,
      warnings,
      detail,
      reason: null,
    };
  } catch (error) {
    smoke.thrown.set(id, error);
    return {
      id,
      status: 'fail',
      flaky: false,
      milliseconds: took(),
      calls: callsOf(smoke, id),
      error: errorData(error, smoke.context.repeated),
      warnings: [],
      detail: null,
      reason: null,
    };
  }
}

/** The calls of a step. That of the connection belongs to the next step, unless it had no answer at all. */
function callsOf({ observed, said: firstAnswer }: Smoke, id: StepId): SmokeStep['calls'] {
  return id === 'connection' && firstAnswer ? [] : observed.map(callOf);
}

/** The last step: ends what this run has made, also after Ctrl-C, and says what became of what an earlier run left. */
async function cleanUp(
  smoke: Smoke,
  left: { run: string; made: Made[] },
  earlier: { ended: Found } | { error: unknown } | undefined,
): Promise<SmokeStep> {
  smoke.observed = [];
  return timed(smoke, 'clean-up', async () => {
    const { opened } = smoke;
    await opened?.reads.giveBack(opened.customerId);
    const own = smoke.made().filter((each) => !left.made.includes(each));
    const result =
      own.length > 0 ? await endMade(smoke, own, true) : { detail: 'nothing to end', warnings: [] };
    if (!earlier) return result;
    if ('error' in earlier) throw earlier.error;
    const { detail, warnings = [] } = earlier.ended;
    return {
      detail: `${result.detail}; of ${left.run}: ${detail}`,
      warnings: [...(result.warnings ?? []), ...warnings],
    };
  });
}
