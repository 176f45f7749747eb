import type { Printed } from '../../terminal/output/shape.ts';
import type { Context } from '../context.ts';
import { type profile, profiles } from './shape.ts';

type ListedProfile = Printed<typeof profile>;

/** `psd2 profile list` */
export async function profileList({ profiles: store, output }: Context): Promise<void> {
  const current = store.current();
  const listed = store.list().map(
    (name): ListedProfile => ({
      name,
      baseUrl: store.read(name)?.baseUrl ?? '',
      current: name === current,
    }),
  );
  await output.table(
    listed,
    [
      { title: '', value: (profile) => (profile.current ? '*' : ' ') },
      { title: 'PROFILE', value: ({ name }) => name, whole: true },
      { title: 'BASE URL', value: ({ baseUrl }) => baseUrl },
    ],
    'There are no profiles. Run psd2 profile add <name>, or psd2 sandbox start to try the sandbox.',
    profiles,
  );
}
