import type { Import } from './imports.ts';

/** What every command folder may import. */
const NOUN = [
  'bank/ports',
  'commands/context.ts',
  'commands/declare.ts',
  'commands/flow',
  'commands/open',
  'commands/shared',
  'did-you-mean.ts',
  'domain',
  'errors.ts',
  'flows',
  'store/machine',
  'store/ports',
  'terminal',
];

/** What each backend of the store may import. */
const BACKEND = [
  'store/audit',
  'domain',
  'errors.ts',
  'store/batch',
  'store/copy',
  'store/disk',
  'store/flow',
  'store/kept-customer.ts',
  'store/machine',
  'store/open.ts',
  'store/pin-key.ts',
  'store/ports',
  'store/known-rows.ts',
  'store/placed-accounts.ts',
  'store/read-results.ts',
  'store/secrets',
  'store/synced-rows.ts',
];

/** What each door of the sandbox may import: the bank, and what doors share. */
const DOOR = [
  'sandbox/access',
  'sandbox/answers',
  'sandbox/bank.ts',
  'sandbox/customer-site',
  'sandbox/customers',
  'sandbox/faults',
  'sandbox/ledger',
  'sandbox/operations',
  'sandbox/rules.ts',
  'sandbox/same-secret.ts',
  'sandbox/seed/seed-fields.ts',
  'sandbox/server',
  'sandbox/shelf.ts',
  'sandbox/state-part.ts',
  'sandbox/strict',
];

/**
 * The rooms of `src`, and what each may import besides its own files: a whole room, or single files of one. Type imports
 * count. A file belongs to the room with the longest name that its path begins with.
 */
export const WALLS: Record<string, readonly string[]> = {
  'main.ts': ['cli', 'commands/completion'],
  'sync-thread.ts': ['cli', 'commands', 'errors.ts', 'store/machine', 'terminal'],
  cli: [
    'bank/descriptions.ts',
    'advice.ts',
    'bank-file',
    'commands',
    'did-you-mean.ts',
    'domain',
    'errors.ts',
    'exit-codes.ts',
    'store/machine',
    'store/open.ts',
    'store/ports',
    'terminal',
  ],

  // Types only.
  'commands/context.ts': [
    'advice.ts',
    'bank/ports',
    'bank/transport/connection.ts',
    'certificates',
    'commands/open/call-records.ts',
    'flows',
    'store/machine',
    'store/ports',
    'terminal',
  ],
  'commands/declare.ts': ['bank/ports', 'commands/context.ts', 'terminal/output'],
  'commands/shared': [
    'bank/ports',
    'advice.ts',
    'commands/context.ts',
    'commands/declare.ts',
    'domain',
    'errors.ts',
    'exit-codes.ts',
    'store/disk',
    'store/machine',
    'store/ports',
    'terminal',
    'time-limit.ts',
  ],
  'commands/flow': [
    'advice.ts',
    'bank/ports',
    'callback',
    'commands/context.ts',
    'commands/declare.ts',
    'commands/shared',
    'domain',
    'errors.ts',
    'flows',
    'store/machine',
    'store/ports',
    'terminal',
  ],
  // It puts the bank together: an interface, the calls, the connection, and what wraps them.
  'commands/open': [
    'bank/descriptions.ts',
    'advice.ts',
    'bank-file',
    'bank/call',
    'bank/interfaces/nextgenpsd2/description',
    'bank/open.ts',
    'bank/ports',
    'bank/transport',
    'certificates',
    'commands/context.ts',
    'commands/flow',
    'commands/sandbox/profile.ts',
    'commands/shared',
    'domain',
    'errors.ts',
    'flows',
    'sandbox/folder',
    'secret.ts',
    'signature',
    'store/disk',
    'store/machine',
    'store/open.ts',
    'store/ports',
    'terminal',
  ],
  'commands/accounts': [...NOUN, 'statements', 'store/disk'],
  'commands/api': [...NOUN, 'quote-for-shell.ts'],
  'commands/auth': [...NOUN, 'advice.ts'],
  'commands/audit': [...NOUN, 'store/audit'],
  'commands/batch': [
    ...NOUN,
    'advice.ts',
    'batch-file',
    'commands/transfer',
    'store/disk',
    'store/flow/order-filter.ts',
    'store/batch/refusals.ts',
  ],
  'commands/bank': [
    ...NOUN,
    'advice.ts',
    'bank-file',
    'bank/descriptions.ts',
    'bank/interfaces/nextgenpsd2/description',
    'commands/checks',
    'store/disk',
  ],
  'commands/cert': [...NOUN, 'certificates', 'make-folder.ts', 'store/disk'],
  'commands/completion': ['commands/declare.ts'],
  'commands/consent': NOUN,
  'commands/customer': [...NOUN, 'store/audit', 'store/batch'],
  'commands/demo': [...NOUN, 'commands/sandbox/profile.ts'],
  // What the verbs that check something have in common. They choose from it, and print.
  'commands/checks': [
    ...NOUN,
    'advice.ts',
    'bank/interfaces/nextgenpsd2/description/description.ts',
    'bank/interfaces/nextgenpsd2/description/schema.ts',
    'bank/transport',
    'bank-file/values.ts',
    'callback',
    'certificates',
    'commands/cert',
    'quote-for-shell.ts',
  ],
  'commands/doctor': [...NOUN, 'commands/checks'],
  'commands/expiring': [...NOUN, 'commands/checks'],
  'commands/log': [...NOUN, 'smoke'],
  'commands/operation': [...NOUN, 'commands/batch/follow-group.ts'],
  'commands/products': NOUN,
  'commands/profile': [
    'bank-file/description.ts',
    'bank/descriptions.ts',
    ...NOUN,
    'advice.ts',
    'certificates',
    'commands/cert',
    'commands/checks',
    'commands/sandbox',
    'sandbox/folder',
    'store/disk',
    'store/open.ts',
    'store/secrets/vault.ts',
  ],
  'commands/sandbox': [
    'bank/interfaces/nextgenpsd2/description/description.ts',
    ...NOUN,
    'bank-file',
    'quote-for-shell.ts',
    'sandbox/control',
    'sandbox/faults',
    'sandbox/folder',
    'sandbox/nextgenpsd2',
    'sandbox/player',
    'sandbox/rules.ts',
    'sandbox/seed',
    'sandbox/server',
    'store/disk',
  ],
  // It describes what each command prints.
  'commands/schema': [
    ...NOUN,
    'bank-file',
    'bank/descriptions.ts',
    'commands',
    'sandbox/seed/seed-schema.ts',
  ],
  'commands/store': [...NOUN, 'store/copy', 'store/disk', 'store/files/copy/side.ts', 'store/postgres'],
  'commands/funds': NOUN,
  // It runs what other commands have: their checks, readings, logins, consents and payments.
  'commands/smoke': [
    ...NOUN,
    'advice.ts',
    'commands/accounts/account.ts',
    'commands/auth',
    'commands/checks',
    'commands/consent',
    'commands/transfer',
    'exit-codes.ts',
    'smoke',
    'store/disk',
  ],
  'commands/status': [
    ...NOUN,
    'advice.ts',
    'commands/checks',
    'commands/sync/failed.ts',
    'quote-for-shell.ts',
  ],
  'commands/sync': [...NOUN, 'advice.ts', 'commands/checks', 'quote-for-shell.ts', 'store/disk/replace.ts'],
  'commands/transfer': [...NOUN, 'advice.ts', 'commands/batch/ask-accepted.ts', 'store/flow/order-filter.ts'],

  flows: ['bank/ports', 'domain', 'errors.ts', 'secret.ts', 'store/ports', 'time-limit.ts'],
  // The payments of a file: the flows of single payments, and what is said of a batch alone.
  'flows/batch': [
    'bank/ports',
    'batch-file/finding.ts',
    'domain',
    'errors.ts',
    'flows',
    'store/batch/refusals.ts',
    'store/ports',
  ],
  // What the rest of psd2 knows of a bank. Types only.
  'bank/ports': ['certificates', 'domain', 'errors.ts', 'secret.ts', 'signature'],
  'bank/open.ts': ['bank-file', 'bank/call', 'bank/interfaces'],
  // No word of any bank.
  'bank/call': ['bank/ports', 'bank/transport', 'domain/json.ts', 'errors.ts', 'secret.ts'],
  'bank/interfaces/cb': [
    'bank/call',
    'bank/ports',
    'bank/transport/line.ts',
    'certificates',
    'domain',
    'errors.ts',
    'signature',
  ],
  'bank/interfaces/nextgenpsd2': [
    'bank/interfaces/nextgenpsd2/description',
    'bank-file',
    // A bulk payment may be a pain.001, and its status a pain.002.
    'batch-file/pain001/write.ts',
    'batch-file/pain002',
    'bank/call',
    'bank/ports',
    'bank/transport/line.ts',
    'domain',
    'errors.ts',
    'signature',
  ],
  // Banks described as data: fields, rules, operations. Neither a call is made here, nor a request composed.
  'bank/interfaces/nextgenpsd2/description': [
    'bank-file',
    'did-you-mean.ts',
    'domain/embedded.ts',
    'domain/order/terms.ts',
  ],
  'bank/descriptions.ts': ['bank-file', 'bank/interfaces'],
  'bank/transport': ['certificates', 'domain/url.ts', 'errors.ts'],
  // Banks described as data: reading and checking their files, and the platforms in banks/. An interface brings its fields.
  'bank-file': [
    'did-you-mean.ts',
    'domain/embedded.ts',
    'domain/local-address.ts',
    'domain/url.ts',
    'errors.ts',
    'store/disk/permissions.ts',
  ],
  // Files of payments: reading them, and writing them and their reports. No file is opened here.
  'batch-file': ['did-you-mean.ts', 'domain', 'errors.ts', 'statements', 'terminal/output/csv.ts'],
  signature: ['errors.ts'],
  certificates: ['errors.ts', 'quote-for-shell.ts'],
  callback: ['certificates', 'domain', 'errors.ts'],
  terminal: ['advice.ts', 'did-you-mean.ts', 'domain', 'errors.ts'],
  statements: ['domain', 'terminal/output/csv.ts'],
  'secret.ts': [],
  domain: ['errors.ts'],

  'store/ports': ['domain', 'errors.ts'],
  'store/open.ts': ['errors.ts', 'store'],
  'store/copy': ['errors.ts', 'store/audit', 'store/ports'],
  'store/files': [...BACKEND, 'store/listed-round.ts'],
  // With --out, sync also writes files.
  'store/pin-key.ts': [],
  'store/postgres': [
    ...BACKEND,
    'store/files/sync',
    'store/listed-round.ts',
    'store/sync-into-both.ts',
    'quote-for-shell.ts',
  ],
  'store/kept-customer.ts': ['domain', 'errors.ts', 'store/ports'],
  'store/known-rows.ts': ['domain', 'store/ports'],
  'store/placed-accounts.ts': ['domain', 'store/ports'],
  'store/read-results.ts': ['store/ports'],
  'store/synced-rows.ts': ['domain', 'store/ports'],
  'store/listed-round.ts': ['store/ports'],
  'store/sync-into-both.ts': ['store/ports'],
  'store/audit': ['store/ports'],
  'store/batch': ['domain', 'errors.ts', 'store/ports'],
  'store/flow': ['domain', 'errors.ts', 'store/ports'],
  'store/machine': [
    ...[
      'did-you-mean.ts',
      'domain',
      'errors.ts',
      'store/disk',
      'smoke',
      'store/ports/audit.ts',
      'store/secrets',
    ],
  ],
  'store/secrets': ['errors.ts', 'store/disk', 'store/machine/folder.ts'],
  'store/disk': ['errors.ts', 'make-folder.ts', 'quote-for-shell.ts'],

  // Steps, reports and shapes of smoke tests, and figures of calls. No file is opened here, and no call is made.
  smoke: ['domain/interface-name.ts', 'errors.ts'],

  // The sandbox shares no code with psd2 in which one mistake could hide in both.
  sandbox: [
    'bank/interfaces/nextgenpsd2/description/schema.ts',
    'sandbox',
    'bank-file',
    'certificates',
    'domain/local-address.ts',
    'domain/url.ts',
    'errors.ts',
    'make-folder.ts',
    'time-limit.ts',
  ],
  // The bank of the sandbox, which knows no door.
  'sandbox/access': ['sandbox/customers', 'sandbox/rules.ts', 'sandbox/state-part.ts'],
  'sandbox/customers': [
    'sandbox/ledger',
    'sandbox/operations',
    'sandbox/rules.ts',
    'sandbox/seeded-random.ts',
    'sandbox/state-part.ts',
  ],
  'sandbox/ledger': ['sandbox/customers', 'sandbox/seeded-random.ts', 'sandbox/state-part.ts'],
  'sandbox/operations': ['sandbox/customers', 'sandbox/ledger'],
  'sandbox/customer-site': ['domain/local-address.ts', 'sandbox/same-secret.ts'],
  // Its doors, which do not know each other.
  'sandbox/cb': [...DOOR, 'sandbox/documents', 'sandbox/folder'],
  'sandbox/nextgenpsd2': [
    ...DOOR,
    'bank-file',
    'bank/interfaces/nextgenpsd2/description',
    'sandbox/control/order.ts',
  ],

  'advice.ts': ['errors.ts', 'quote-for-shell.ts'],
  'did-you-mean.ts': [],
  'errors.ts': [],
  'exit-codes.ts': ['errors.ts'],
  'make-folder.ts': [],
  'quote-for-shell.ts': [],
  'time-limit.ts': [],
};

/** Packages that only one room, or a few, may import. */
export const OWNERS: Record<string, string | readonly string[]> = {
  '@hono/node-server': 'sandbox',
  '@inquirer/core': 'terminal',
  '@inquirer/prompts': 'terminal',
  '@napi-rs/keyring': 'store/secrets',
  '@peculiar/x509': 'certificates',
  conf: 'store/disk',
  hono: 'sandbox',
  'csv-parse': 'batch-file',
  'lossless-json': ['bank/call', 'bank-file'],
  pg: 'store/postgres',
  pngjs: 'terminal',
  'pg-connection-string': 'store/postgres',
  saxes: [
    'bank/interfaces/nextgenpsd2/reports',
    'batch-file/pain001',
    'batch-file/pain002',
    'sandbox/nextgenpsd2/payments',
  ],
  undici: 'bank/transport',
};

/** Rooms that only compute. Of Node's modules they may import only node:crypto, for hashes. */
export const PURE = [
  'domain',
  'signature',
  'smoke',
  'statements',
  'flows',
  'flows/batch',
  'store/audit',
  'store/flow',
];

/** The room of a file. @throws Error if the file is in no room */
export function roomOf(file: string): string {
  const rooms = Object.keys(WALLS).filter((room) => isWithin(file, room));
  const room = rooms.sort((one, other) => other.length - one.length)[0];
  if (room === undefined) throw new Error(`src/${file} is in no room: add it to scripts/docs/walls.ts`);
  return room;
}

/** Describes how an import breaks the rules, or null if it does not. */
export function crossedBy({ from, to, isPackage }: Import): string | null {
  const room = roomOf(from);
  if (isPackage) return packageCrossedBy(room, from, to);
  if (roomOf(to) === room || (WALLS[room] ?? []).some((allowed) => isWithin(to, allowed))) return null;
  return `src/${from} imports src/${to}, which is not allowed in ${room}`;
}

function packageCrossedBy(room: string, from: string, name: string): string | null {
  const owners = [Object.entries(OWNERS).find(([owned]) => isWithin(name, owned))?.[1] ?? []].flat();
  if (owners.length > 0 && !owners.some((owner) => isWithin(from, owner)))
    return `src/${from} imports ${name}, which only ${owners.join(' and ')} may import`;
  return PURE.includes(room) && name.startsWith('node:') && name !== 'node:crypto'
    ? `src/${from} imports ${name}, but ${room} only computes`
    : null;
}

/** Whether a path is this file or folder, or is inside it. */
export function isWithin(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`);
}
