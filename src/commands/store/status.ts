import type { StoreStatus } from '../../store/ports/store.ts';
import { list, object, oneOf, orNull, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';

/** What the store contains, and which workers use it. */
const storeStatus = object({
  home: oneOf(['files', 'postgres'], 'kind of store')
    .as('Store')
    .written((home) => (home === 'files' ? 'files' : 'PostgreSQL')),
  place: text('the folder; or host, port and database').as('Place'),
  source: oneOf(['environment', 'profile', 'default'], 'where the choice of this store comes from')
    .as('Set by')
    .written((source) => SOURCES[source]),
  schema: orNull(
    object(
      {
        version: whole('version of the tables; 0 if there are none'),
        needed: whole('version that this psd2 needs'),
      },
      'schema of a database; null for files',
    ),
  )
    .as('Schema')
    .written((schema) => schema && writeSchema(schema)),
  profiles: list(
    object({
      profile: text('its name'),
      customers: whole('customers who are logged in'),
      flows: list(
        object({
          kind: text('transfer, operation or consent'),
          state: text('its state'),
          count: whole('number of flows'),
        }),
        'number of flows of each kind in each state',
      ),
      batches: whole('number of batches'),
    }),
    'data of each profile',
  )
    .as('Profiles')
    .written((profiles) => profiles.map(writeProfile)),
  claims: list(
    object({
      profile: text('its name'),
      kind: text('what is claimed: tokens, flow, sync or begin'),
      name: text('the customer or the flow'),
      worker: text('worker that holds the claim'),
      until: orNull(text('ISO 8601 with zone; null if the claim does not expire')),
    }),
    'claims that workers hold now',
  )
    .as('At work')
    .written((claims) => claims.map(writeClaim)),
  bytes: whole('size on the disk').as('Size').written(writeBytes),
}).inRecord('home place source schema bytes profiles claims');

/** `psd2 store status`: shows where the store is, what it contains and which workers use it (store page, "Commands"). */
export const status = bareVerb(
  { what: 'contents of the store', shape: storeStatus },
  examples('psd2 store status', "psd2 store status --json --query 'claims[].worker'"),
  showStores,
);

async function showStores(context: Context): Promise<void> {
  const store = await context.wholeStore();
  context.output.record({ ...(await store.status()), source: store.source }, storeStatus);
  // The data of the profile may be elsewhere. Other commands refuse this store then.
  for await (const place of store.check(context.profileName())) {
    if (place.status === 'fail') context.terminal.warn(place.detail);
    break;
  }
}

const SOURCES = { environment: 'PSD2_STORE', profile: 'the profile', default: 'default' };

function writeSchema({ version, needed }: NonNullable<StoreStatus['schema']>): string {
  if (version === 0) return 'none: run psd2 store init';
  return version === needed ? `${version}` : `${version}; this psd2 needs ${needed}`;
}

function writeProfile({ profile, customers, flows, batches }: StoreStatus['profiles'][number]): string {
  const counts = flows.map(({ kind, state, count }) => `${count} ${kind} ${state}`);
  const head = `${profile}: ${customers} ${customers === 1 ? 'customer' : 'customers'}`;
  const stored = batches === 0 ? [] : [`${batches} ${batches === 1 ? 'batch' : 'batches'}`];
  return [head, ...counts, ...stored].join(', ');
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
