import type { StoreStatus } from '../../store/ports/store.ts';
import type { Context } from '../context.ts';
import { storeStatus as shape } from './shape.ts';

/** `psd2 store status`: shows the home, what it contains and which workers use it (store page, "Commands"). */
export async function storeStatus(context: Context): Promise<void> {
  const home = await context.home();
  const status = { ...(await home.status()), source: home.source };
  context.output.record(
    status,
    [
      { title: 'Store', value: ({ home }) => (home === 'files' ? 'files' : 'PostgreSQL') },
      { title: 'Place', value: ({ place }) => place },
      { title: 'Set by', value: ({ source }) => SOURCES[source] },
      { title: 'Schema', value: ({ schema }) => schema && writeSchema(schema) },
      { title: 'Size', value: ({ bytes }) => writeBytes(bytes) },
      { title: 'Profiles', value: ({ profiles }) => profiles.map(writeProfile).join('\n') },
      { title: 'At work', value: ({ claims }) => claims.map(writeClaim).join('\n') },
    ],
    shape,
  );
  // The data of the profile may be elsewhere. Other commands refuse this store then.
  for await (const place of home.check(context.profileName())) {
    if (place.status === 'fail') context.terminal.warn(place.detail);
    break;
  }
}

const SOURCES = { environment: 'PSD2_STORE', profile: 'the profile', default: 'default' };

function writeSchema({ version, needed }: NonNullable<StoreStatus['schema']>): string {
  if (version === 0) return 'none: run psd2 store init';
  return version === needed ? `${version}` : `${version}; this psd2 needs ${needed}`;
}

function writeProfile({ profile, customers, flows }: StoreStatus['profiles'][number]): string {
  const counts = flows.map(({ kind, state, count }) => `${count} ${kind} ${state}`);
  return [`${profile}: ${customers} ${customers === 1 ? 'customer' : 'customers'}`, ...counts].join(', ');
}

function writeClaim({ kind, name, worker }: StoreStatus['claims'][number]): string {
  return `${kind} ${name}: ${worker}`;
}

function writeBytes(bytes: number): string {
  return new Intl.NumberFormat('en', {
    style: 'unit',
    unit: bytes < 1_000_000 ? 'kilobyte' : 'megabyte',
    maximumFractionDigits: 1,
  }).format(bytes < 1_000_000 ? bytes / 1000 : bytes / 1_000_000);
}
