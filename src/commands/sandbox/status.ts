import type { Context } from '../context.ts';
import { addressesOf, SANDBOX_FIELDS } from './addresses.ts';
import { requireRunning } from './running.ts';

/** `psd2 sandbox status`. @throws Psd2Error `sandbox` if it is not running */
export async function sandboxStatus(context: Context): Promise<void> {
  context.output.record(addressesOf(await requireRunning(context)), SANDBOX_FIELDS);
}
