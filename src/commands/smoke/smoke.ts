import type { Account } from '../../bank/ports/bank.ts';
import type { Observation } from '../../bank/ports/call.ts';
import { Psd2Error } from '../../errors.ts';
import type { DriftFinding, Ends, SmokeCall, SmokeWarning } from '../../smoke/result.ts';
import type { StepId } from '../../smoke/steps.ts';
import type { Reply } from '../checks/check.ts';
import type { Diagnosis } from '../checks/diagnosis.ts';
import type { Context, CustomerBank, HeardAnswer } from '../context.ts';
import type { Plan } from './plan.ts';
import type { Made } from './record.ts';

/** What a step found. */
export interface Found {
  detail?: string;
  warnings?: SmokeWarning[];
  /** The step did not run, and why. */
  skipped?: string;
  /**
   * Why the step counts as not done, although nothing was asked of the bank: something is missing (`--fail-on skip` counts it), or
   * today's reads are used up. Without it, there is nothing to do.
   */
  lacks?: 'something' | 'reads';
  /** The time of the step, if it is not that from its beginning to its end. */
  milliseconds?: number;
}

/** A smoke test while it runs: what its steps share. */
export interface Smoke {
  run: string;
  plan: Plan;
  /** Ctrl-C ends what it does. */
  context: Context;
  /** As `context`, with the operator's terminal: it asks and says. */
  asking: Context;
  /** Only a second Ctrl-C ends what it does. */
  cleaning: Context;
  /** What the bank said to the call of the doctor. */
  said: Reply | undefined;
  /** The bank, once a reading has opened it. */
  opened: CustomerBank | undefined;
  accounts: Account[] | undefined;
  /** The account that is read. */
  account: Account | undefined;
  /** Its id, as calls name it. */
  accountId: string | undefined;
  ends: Ends;
  /** The answers so far, as they came. */
  answers: HeardAnswer[];
  /** What is different in the form of the answers. */
  drift: DriftFinding[];
  /** The calls of the step that runs. */
  observed: Observation[];
  /** Why steps failed. */
  thrown: Map<StepId, unknown>;
  /** Notes durably what this run is about to make, or has ended. */
  note(change: (made: readonly Made[]) => Made[]): void;
  made(): readonly Made[];
}

/** A reason why a step did not run, which `--fail-on skip` counts. */
export const missing = (skipped: string): Found => ({ skipped, lacks: 'something' });

/** The bank, for calls while no customer is there. */
export async function bankOf(smoke: Smoke): Promise<CustomerBank> {
  // A login or a consent of this run came after the last opening.
  smoke.opened ??= await smoke.context.within({}).unattendedBank();
  return smoke.opened;
}

/** What the checks of the doctor found, as that of a step. @throws Psd2Error of the first check that failed */
export function foundBy({ checks, failure }: Diagnosis, detail?: string): Found {
  if (failure) throw failure;
  const warnings = checks
    .filter(({ status }) => status === 'warn')
    .map(({ name, detail: what }) => ({ code: name.replaceAll(' ', '_'), message: `${name}: ${what}` }));
  return { warnings, ...(detail !== undefined && { detail }) };
}

/** A call as the reports show it. */
export function callOf({
  method,
  route,
  outcome,
  milliseconds,
  tppRequestId,
  requestId,
}: Observation): SmokeCall {
  const status = typeof outcome === 'number' ? outcome : null;
  return { method, route: route.path, status, milliseconds, tppRequestId, requestId };
}

/** An answer that psd2 can read, but whose content is wrong. */
export function wrongAnswer(what: string): Psd2Error {
  return new Psd2Error('bank_answer', what);
}
