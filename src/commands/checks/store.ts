import type { Check, Subject } from './check.ts';
import type { Finding } from './diagnosis.ts';
import { UNTRUSTED } from './settings.ts';

/** What the store says about itself, and whether it is the one with the data of the profile. */
export const store: Check = {
  id: 'store',
  // Without a profile, too, the store says what it is.
  needs: [],
  names: async () => ['store'],
  async run(subject) {
    const { diagnosis, lacks } = subject;
    if (lacks.get('settings') === UNTRUSTED) return UNTRUSTED;
    await diagnosis.add('store', () => findingsOf(subject));
    return diagnosis.hasFailed('store') ? 'the store cannot be used' : undefined;
  },
};

async function findingsOf({ context, lacks }: Subject): Promise<(Finding & { name: string })[]> {
  const profile = lacks.has('settings') ? undefined : (await context.unsealed()).name;
  const findings: (Finding & { name: string })[] = [];
  for await (const check of (await context.wholeStore()).check(profile)) findings.push(check);
  return findings;
}
