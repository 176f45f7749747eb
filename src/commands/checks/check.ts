import type { LoginProbe } from '../../bank/ports/customer.ts';
import type { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import type { Diagnosis } from './diagnosis.ts';

/** What psd2 can find out about a profile and its bank. Each is a file of this room, which `docs/troubleshooting.md` names. */
export type CheckId =
  | 'settings'
  | 'store'
  | 'certificates'
  | 'keys'
  | 'redirect'
  | 'connection'
  | 'signature'
  | 'login'
  | 'consent'
  | 'endings';

/** What the bank said to the call of `connection`: a usable answer, or why there is none. */
export type Reply = { answer: LoginProbe } | { answer?: never; refusal: Psd2Error };

/** What the checks of one command are about, and what one of them leaves to the next. */
export interface Subject {
  context: Context;
  /** Gets what they find. */
  diagnosis: Diagnosis;
  /** A certificate with fewer days left is worth a warning. */
  days: number;
  /** Undefined: there was no answer, or nobody asked. */
  reply: Reply | undefined;
  /** The code with which the bank refused that call, empty without one. Undefined: it did not, or psd2 could not ask. */
  refusal: string | undefined;
  /** Why checks could not open what others need. */
  lacks: Map<CheckId, string>;
}

/** One question. Each verb chooses from these, and prints what they find. */
export interface Check {
  readonly id: CheckId;
  /** The checks that open what it needs: a profile, a store, an answer. It cannot run without. */
  readonly needs: readonly CheckId[];
  /** What the diagnosis calls its parts, in their order, if it cannot run. */
  names(subject: Subject): Promise<readonly string[]>;
  /** Finds the answer. It throws no Psd2Error. @returns why nothing can run that needs it. Undefined: there is what they need */
  run(subject: Subject): Promise<string | undefined>;
}

const SOON_DAYS = 30;

/** @param days a certificate with fewer days left is worth a warning */
export function openSubject(context: Context, diagnosis: Diagnosis, days = SOON_DAYS): Subject {
  return { context, diagnosis, days, reply: undefined, refusal: undefined, lacks: new Map() };
}

/** Makes checks in their order. One that cannot run is skipped with the reason, and so are those that need it. */
export async function examine(subject: Subject, checks: readonly Check[]): Promise<void> {
  const { lacks, diagnosis } = subject;
  for (const check of checks) {
    const reason = check.needs.map((id) => lacks.get(id)).find((lack) => lack !== undefined);
    if (reason !== undefined) diagnosis.skip(await check.names(subject), reason);
    const lack = reason ?? (await check.run(subject));
    if (lack !== undefined) lacks.set(check.id, lack);
  }
}
