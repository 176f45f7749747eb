import { flag, list as listOf, object, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';

/** A profile in a few words. */
const profile = object({
  name: text('name of the profile').as('Profile', { whole: true }),
  baseUrl: text("base URL of the bank's interface").as('Base URL'),
  current: flag('true if psd2 uses it without --profile')
    .as('')
    .written((current) => (current ? '*' : ' ')),
}).inList('current name baseUrl');

/** What `profile add` and `profile use` print. */
export const PROFILE = { what: 'a profile', shape: profile };

export const list = bareVerb(
  { what: 'profiles', shape: listOf(profile) },
  examples('psd2 profile list'),
  listProfiles,
);

async function listProfiles({ profiles: store, output }: Context): Promise<void> {
  const current = store.current();
  const listed = store.list().flatMap((name): ValueOf<typeof profile>[] => {
    const stored = store.read(name);
    // Another psd2 may have removed it since.
    return stored ? [{ name, baseUrl: stored.baseUrl, current: name === current }] : [];
  });
  await output.table(
    listed,
    profile,
    'There are no profiles. Run psd2 profile add <name>, or psd2 sandbox start to try the sandbox.',
  );
}
