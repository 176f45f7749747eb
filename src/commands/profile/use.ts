import { examples, verb } from '../declare.ts';
import { noSuchProfile } from './change.ts';
import { PROFILE } from './list.ts';

export const use = verb(
  { prints: PROFILE, help: examples('psd2 profile use mybank') },
  (command) => command.argument('<profile>'),
  async ({ profiles, terminal, output }, name) => {
    const chosen = profiles.read(name);
    if (!chosen) throw noSuchProfile(name, profiles.list());
    await profiles.use(name);
    if (output.format === 'table') terminal.say(`psd2 now uses the profile ${name} by default.`);
    else output.record({ name, baseUrl: chosen.baseUrl, current: true }, PROFILE.shape);
  },
);
