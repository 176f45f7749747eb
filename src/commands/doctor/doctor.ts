import { certificates } from '../checks/certificates.ts';
import { examine, openSubject } from '../checks/check.ts';
import { connection } from '../checks/connection.ts';
import { consent } from '../checks/consent.ts';
import { sayContested } from '../checks/contested.ts';
import { Diagnosis } from '../checks/diagnosis.ts';
import { endings } from '../checks/endings.ts';
import { sayLearn } from '../checks/key-id.ts';
import { keys } from '../checks/keys.ts';
import { login } from '../checks/login.ts';
import { redirect } from '../checks/redirect.ts';
import { settings } from '../checks/settings.ts';
import { signature } from '../checks/signature.ts';
import { store } from '../checks/store.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { CHECKS, printChecks } from '../shared/checks.ts';
import { newRunId } from '../shared/run-id.ts';

export const doctor = bareVerb(
  CHECKS,
  `
Each check is ok, warn, fail or skip, and says what to do. The command sends one request, the authorize call that begins
a login, and uses no token. Where nobody logs in beforehand, it is a reading with a consent that does not exist. If such a bank
refuses the signature, psd2 bank learn finds out what it wants. The exit code is that of the first check that failed. A warning is not a failure.
${examples('psd2 doctor', 'psd2 --profile mybank doctor --json | jq -r \'.checks[] | select(.status != "ok") | .name\'')}`,
  diagnose,
  'diagnosis',
);

/**
 * Checks each thing that must be right before a call can succeed, in order. It sends one request, as `connection` says, and uses no
 * token.
 *
 * @throws Psd2Error of the first check that failed
 */
async function diagnose(outer: Context): Promise<void> {
  // PSD2_RUN may name the run of a script.
  const context = outer.env.PSD2_RUN ? outer : outer.within({ calls: { run: newRunId('do', outer.world) } });
  const diagnosis = new Diagnosis();
  const subject = openSubject(context, diagnosis);
  // In here, so that only a run loads them.
  await examine(subject, [settings, store, certificates, keys, redirect, connection, signature]);
  await sayLearn(diagnosis, subject.refusal);
  await sayContested(subject);
  await examine(subject, [login, consent, endings]);
  if (await printChecks(context, diagnosis.checks)) return;
  diagnosis.fail();
}
