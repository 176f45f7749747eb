import { Psd2Error } from '../../../errors.ts';
import type { Context } from '../../context.ts';
import { checkConnection } from '../../doctor/connection.ts';
import { Diagnosis } from '../../doctor/diagnosis.ts';
import { checkRedirectPort } from '../../doctor/redirect-port.ts';
import { type Check, writeFix } from '../../shared/checks.ts';

/**
 * Makes the connection checks of `psd2 doctor` with the profile of a context.
 *
 * @throws Psd2Error `cancelled` if a check fails and the operator does not want to store the profile
 */
export async function tryConnection(context: Context): Promise<void> {
  const { terminal } = context;
  const diagnosis = new Diagnosis();
  await terminal.whileWaiting(
    'Trying the connection',
    (async () => {
      await diagnosis.make('redirect port', () => checkRedirectPort(context, context.profile()));
      await checkConnection(context, diagnosis);
    })(),
  );
  showChecks(context, diagnosis.checks);
  if (diagnosis.ok || (await terminal.confirm('Store the profile anyway?'))) return;
  throw new Psd2Error('cancelled', 'Nothing was stored');
}

/** Shows checks on stderr. @returns whether no check failed */
export function showChecks(context: Pick<Context, 'terminal' | 'repeated'>, checks: Check[]): boolean {
  for (const check of checks) {
    const { name, status, detail } = check;
    const fix = writeFix(check, context);
    context.terminal.warn(
      `  ${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : `\n        → ${fix}`}`,
    );
  }
  return checks.every(({ status }) => status !== 'fail');
}
