import { checkProfileCertificates, neededByConsents } from '../cert/profile-certificates.ts';
import type { Check } from './check.ts';

/** Whether the profile's certificates suit their use, and for how long. Each has a name of its own. */
export const certificates: Check = {
  id: 'certificates',
  needs: ['settings'],
  names: async () => ['QWAC'],
  async run({ context, diagnosis, days }) {
    const profile = await context.unsealed();
    const keys = await context.keys();
    await diagnosis.add('QWAC', async () => {
      const needed = await neededByConsents(context);
      const limits = { now: context.world.now(), days, soon: 'warn' as const, ...needed };
      const checked = await checkProfileCertificates(context, profile, limits, keys);
      return checked.map(({ name, status, detail, fix, notAfter }) => {
        diagnosis.ends.set(name, notAfter);
        return { name, status, detail, fix, code: 'certificate' };
      });
    });
    return undefined;
  },
};
