import { endSentence, Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';

/**
 * Records a change of a profile in the audit log of its store. A store that cannot be used must not prevent the change that
 * repairs it, so a failure is a warning.
 *
 * @param about what changes: the names of settings, never their values
 */
export async function recordProfileChange(context: Context, profile: string, about: string): Promise<void> {
  try {
    const store = await context.forProfile(profile).wholeStore();
    await store.open(profile).audit.append({ action: 'profile-changed', about });
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    context.terminal.warn(`The change is not in the audit log: ${endSentence(error.message)}`);
  }
}

/** Records an export of a customer's data, before it is written. @throws Psd2Error `config` if that is not possible */
export async function recordExport(
  context: Context,
  customerId: string,
  about: string,
  account?: string,
): Promise<void> {
  const entry = { action: 'exported', customerId, about, ...(account !== undefined && { account }) } as const;
  await (await context.store()).audit.append(entry);
}
