import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import {
  always,
  anything,
  described,
  list,
  object,
  oneOf,
  orNull,
  text,
  time,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import { recordExport } from '../shared/record-in-audit.ts';
import { requireNewFile, saveDocument } from '../shared/save-document.ts';
import { requireSyncFolder } from '../shared/sync-folder.ts';
import { type Collected, collectFor, hasNothing } from './collected.ts';

/** A stored event or line, as psd2 wrote it. */
const asStored = described(() => z.looseObject({}));
const rows = (what: string) => list(asStored, what);

const syncFolders = list(
  object({
    folder: text('folder of psd2 sync --out'),
    files: list(
      object({ name: text('file'), rows: list(anything(), 'its lines') }),
      'files of the customer in it',
    ),
  }),
  'files that psd2 sync has written',
);

/** The document of `psd2 customer export` (privacy page). */
const customerDocument = object({
  format: always('psd2-customer'),
  version: always(1),
  profile: text('profile of psd2'),
  customerId: text('the customer'),
  exportedAt: time('when'),
  store: oneOf(['files', 'postgres'], 'where the data is'),
  logins: list(
    object({
      baseUrl: text('base URL of the bank'),
      accessTokenExpiresAt: orNull(text('ISO 8601; null if the bank did not say')),
      refreshTokenExpiresAt: orNull(text('ISO 8601; null if the bank did not say')),
      scope: orNull(text('scope that the bank granted')),
    }),
    'logins of the customer, without their tokens',
  ),
  accounts: list(text(), 'ids and IBANs of accounts that psd2 has seen'),
  flows: list(
    object({
      flow: text('local id'),
      kind: oneOf(['transfer', 'operation', 'consent'], 'kind of flow'),
      events: list(
        object({ at: text('when, ISO 8601'), event: asStored }),
        'the journal: what happened, in its order',
      ),
    }),
    'payments, operations and consents',
  ),
  batches: list(
    object({
      batch: text('id of the batch'),
      addedAt: text('when the batch was added, ISO 8601'),
      lines: rows('the lines that pay for the customer'),
    }),
    'payments in batches',
  ),
  damagedBatches: list(
    text(),
    'ids of batches that psd2 cannot read: payments of the customer in them may be missing here',
  ),
  audit: rows('who did what for the customer: the fields of psd2 audit'),
  rows: list(
    object({
      name: text('name of the table or file'),
      rows: list(anything(), 'its rows, as they are stored'),
    }),
    'all else that the store has: synced accounts, balances and transactions, consents, counts of reads, refusals',
  ),
  folders: syncFolders,
  calls: rows("calls to the bank in this machine's log, the newest first: the fields of psd2 log"),
});

const counts = object({
  file: text('its path'),
  bytes: whole('its size'),
  flows: whole('number of flows in it'),
  rows: whole('number of rows in it'),
});

export const exportCustomer = verb(
  {
    prints: { what: 'all that psd2 has stored about a customer', shape: customerDocument },
    printsWith: { '--file': { what: 'the file that was saved, and how much is in it', shape: counts } },
    help: `
psd2 prints or saves one JSON document with all that psd2 has stored about the customer: logins (never tokens), consents, payments
with their journals, audit log, synced accounts and transactions, counts, and calls in the log of this machine.
psd2 schema customer export prints its JSON Schema. Only you can read the file.

psd2 remembers the folders of psd2 sync --out on this machine. Name others with --sync-folder. It does not know the files that psd2
accounts export, accounts report and other commands have saved for you.

If psd2 cannot read a batch, or somebody has changed it, the document has its id in damagedBatches, and the exit code is 12.
${examples('psd2 customer export 1048262 --file customer-1048262.json')}`,
  },
  (command) =>
    command
      .argument('<customer>')
      .option('--file <path>', 'path of a new file; without it, psd2 prints the document')
      .option(
        '--sync-folder <folder>',
        'also look in this folder of psd2 sync --out; may be repeated',
        collect,
        [],
      ),
  async (context, customer, { file, syncFolder }) => {
    for (const folder of syncFolder) requireSyncFolder(folder);
    const path = file === undefined ? '-' : requireNewFile(context, file);
    const customerId = (await context.bankInterface()).readCustomerId(customer);
    const collected = await collectFor(context, customerId, syncFolder);
    const document = await exportedDocument(context, collected);
    if (hasNothing(collected))
      context.terminal.warn(`psd2 has nothing stored about customer ${customerId} of ${document.profile}.`);
    else await recordExport(context, customerId, 'customer');
    if (path === '-') context.output.json(document);
    else await saveExport(context, path, document, collected);
    refuseIncomplete(collected);
  },
);

async function saveExport(
  context: Context,
  path: string,
  document: Awaited<ReturnType<typeof exportedDocument>>,
  collected: Collected,
): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(document, null, 2)}\n`, 'utf8');
  await saveDocument(context, path, bytes);
  const rowsIn = [...collected.rows, ...collected.folders.flatMap(({ files }) => files)];
  const result = {
    file: path,
    bytes: bytes.length,
    flows: collected.flows.length,
    rows: rowsIn.reduce((sum, each) => sum + each.rows.length, 0),
  };
  if (context.output.format !== 'table') context.output.record(result, counts);
}

/** @throws Psd2Error `needs_attention` if a batch could not be read, after everything else was written */
function refuseIncomplete({ damagedBatches: [first, ...others], customerId }: Collected): void {
  if (!first) return;
  const more =
    others.length === 0 ? '' : ` ${others.length} more ${others.length === 1 ? 'is' : 'are'} damaged.`;
  throw new Psd2Error(
    'needs_attention',
    `The document may lack payments of customer ${customerId}. ${first.damage.message}.${more}`,
    { hint: 'It has all else. Restore the batch from a backup, and export again.' },
  );
}

async function exportedDocument(context: Context, collected: Collected) {
  const { home } = await context.wholeStore();
  const {
    logins,
    accounts,
    flows,
    batches,
    damagedBatches,
    audit,
    rows: stored,
    folders,
    calls,
    customerId,
  } = collected;
  return {
    format: 'psd2-customer',
    version: 1,
    profile: context.profile().name,
    customerId,
    exportedAt: context.world.now().toISOString(),
    store: home,
    logins,
    accounts,
    flows: flows.map((flow) => ({ ...flow, events: flow.events.map(withoutLinks) })),
    batches: batches.map(({ batch, lines }) => ({ batch: batch.batch, addedAt: batch.addedAt, lines })),
    damagedBatches: damagedBatches.map(({ batch }) => batch),
    audit,
    rows: stored,
    folders,
    calls,
  };
}

/** An event without the bank's links, and what it says for a PIN or TAN: they lead into an authorisation, and say nothing of the customer. */
function withoutLinks({ at, event }: { at: string; event: unknown }): { at: string; event: unknown } {
  if (typeof event !== 'object' || event === null) return { at, event };
  const { links: _links, ...others }: { links?: unknown } = event;
  return { at, event: others };
}
