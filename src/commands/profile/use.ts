import type { Context } from '../context.ts';
import { noSuchProfile } from './no-such-profile.ts';
import { profile } from './shape.ts';

/** `psd2 profile use <name>` */
export async function profileUse({ profiles, terminal, output }: Context, name: string): Promise<void> {
  const chosen = profiles.read(name);
  if (!chosen) throw noSuchProfile(name, profiles.list());
  await profiles.use(name);
  if (output.format === 'table') terminal.say(`psd2 now uses the profile ${name} by default.`);
  else output.record({ name, baseUrl: chosen.baseUrl, current: true }, [], profile);
}
