import { flag, list as listOf, object, text, type ValueOf } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';

/** A profile in a few words. */
const profile = object({
  name: text('name of the profile'),
  baseUrl: text("base URL of the bank's interface"),
  current: flag('true if psd2 uses it without --profile'),
});

/** What `profile add` and `profile use` print. */
export const PROFILE = { what: 'a profile', shape: profile };

const shape = listOf(PROFILE.shape);

type ListedProfile = ValueOf<typeof shape>[number];

export const list = bareVerb({ what: 'profiles', shape }, examples('psd2 profile list'), listProfiles);

async function listProfiles({ profiles: store, output }: Context): Promise<void> {
  const current = store.current();
  const listed = store.list().flatMap((name): ListedProfile[] => {
    const stored = store.read(name);
    // Another psd2 may have removed it since.
    return stored ? [{ name, baseUrl: stored.baseUrl, current: name === current }] : [];
  });
  await output.table(
    listed,
    [
      { title: '', value: (profile) => (profile.current ? '*' : ' ') },
      { title: 'PROFILE', value: ({ name }) => name, whole: true },
      { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
    ],
    'There are no profiles. Run psd2 profile add <name>, or psd2 sandbox start to try the sandbox.',
    shape,
  );
}
