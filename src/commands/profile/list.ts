import type { Context } from '../context.ts';

interface ListedProfile {
  name: string;
  baseUrl: string;
  current: boolean;
}

/** `psd2 profile list` */
export async function profileList({ profiles, output }: Context): Promise<void> {
  const current = profiles.current();
  const listed = profiles.list().map(
    (name): ListedProfile => ({
      name,
      baseUrl: profiles.read(name)?.baseUrl ?? '',
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
    ['name', 'baseUrl', 'current'],
  );
}
