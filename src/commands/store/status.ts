import type { StoreStatus } from '../../store/ports/store.ts';
import type { Context } from '../context.ts';
import { storeStatus as shape } from './shape.ts';

/** `psd2 store status`: shows the home, what it contains and which workers use it (store page, "Commands"). */
export async function storeStatus(context: Context): Promise<void> {
  const status = await (await context.home()).status();
  context.output.record(
    status,
    [
      { title: 'Store', value: ({ home }) => (home === 'files' ? 'files' : 'PostgreSQL') },
      { title: 'Place', value: ({ place }) => place },
      { title: 'Schema', value: ({ schema }) => schema && writeSchema(schema) },
      { title: 'Size', value: ({ bytes }) => writeBytes(bytes) },
      { title: 'Profiles', value: ({ profiles }) => profiles.map(writeProfile).join('\n') },
      { title: 'At work', value: ({ claims }) => claims.map(writeClaim).join('\n') },
    ],
    shape,
  );
}

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
