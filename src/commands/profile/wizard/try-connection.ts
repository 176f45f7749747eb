import { Psd2Error } from '../../../errors.ts';
import { FlowJournal } from '../../../store/files/journal.ts';
import { TokenStore } from '../../../store/files/tokens.ts';
import type { Context } from '../../context.ts';
import { checkConnection } from '../../doctor/connection.ts';
import { Diagnosis } from '../../doctor/diagnosis.ts';
import { checkRedirectPort } from '../../doctor/redirect-port.ts';
import type { KeyRing } from '../../open/keys.ts';
import type { Check } from '../../shared/checks.ts';
import type { Wizard } from './wizard.ts';

/** Makes the checks of the connection that `psd2 doctor` makes. @throws Psd2Error `cancelled` */
export async function tryConnection(
  { context, name, settings }: Wizard,
  baseUrl: URL,
  keys: KeyRing,
): Promise<void> {
  const { folder, world, terminal } = context;
  const profile = { name, settings };
  const opened = {
    profile,
    baseUrl,
    tokens: new TokenStore(folder, name, baseUrl),
    journal: new FlowJournal(folder, name, world.now, world.random),
  };
  const diagnosis = new Diagnosis();
  await terminal.whileWaiting(
    'Trying the connection',
    (async () => {
      await diagnosis.make('redirect port', () => checkRedirectPort(context, profile));
      await checkConnection(context, opened, keys, diagnosis);
    })(),
  );
  showChecks(context, diagnosis.checks);
  if (diagnosis.ok || (await terminal.confirm('Store the profile all the same?', true))) return;
  throw new Psd2Error('cancelled', 'Nothing was stored');
}

/** Shows checks on stderr. @returns whether none has failed */
export function showChecks({ terminal }: Pick<Context, 'terminal'>, checks: Check[]): boolean {
  for (const { name, status, detail, fix } of checks)
    terminal.warn(`  ${status.padEnd(4)}  ${name}: ${detail}${fix === null ? '' : `\n        → ${fix}`}`);
  return checks.every(({ status }) => status !== 'fail');
}
