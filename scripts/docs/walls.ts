import type { Import } from './imports.ts';

/** What every command folder may import. */
const NOUN = [
  'bank/call',
  'bank/endpoints',
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

/** What each home of the store may import. */
const HOME = [
  'domain',
  'errors.ts',
  'store/copy',
  'store/disk',
  'store/flow',
  'store/machine',
  'store/open.ts',
  'store/ports',
  'store/secrets',
];

/**
 * The rooms of `src`, and what each may import besides its own files: a whole room, or single files of one. Type imports
 * count. A file belongs to the room with the longest name that its path begins with.
 */
export const WALLS: Record<string, readonly string[]> = {
  'main.ts': ['cli'],
  'sync-thread.ts': ['cli'],
  cli: [
    'advice.ts',
    'commands',
    'did-you-mean.ts',
    'domain',
    'errors.ts',
    'store/machine',
    'store/open.ts',
    'store/ports',
    'terminal',
  ],

  'commands/context.ts': [
    'advice.ts',
    'bank/call',
    'commands/open',
    'errors.ts',
    'flows',
    'store/machine',
    'store/open.ts',
    'store/ports',
    'terminal',
  ],
  'commands/declare.ts': ['commands/context.ts', 'commands/flow'],
  'commands/shared': [
    'advice.ts',
    'commands/context.ts',
    'domain',
    'errors.ts',
    'store/disk',
    'store/machine',
    'terminal',
  ],
  'commands/flow': [
    'advice.ts',
    'bank/call',
    'callback',
    'commands/context.ts',
    'commands/shared',
    'domain',
    'errors.ts',
    'flows',
    'store/machine',
    'store/ports',
    'terminal',
  ],
  'commands/open': [
    'bank',
    'certificates',
    'commands/context.ts',
    'commands/flow',
    'commands/sandbox/profile.ts',
    'commands/shared',
    'domain',
    'errors.ts',
    'flows',
    'sandbox/folder',
    'signature',
    'store/disk',
    'store/machine',
    'store/ports',
    'terminal',
  ],
  'commands/accounts': [...NOUN, 'statements'],
  'commands/api': [...NOUN, 'bank/transport', 'quote-for-shell.ts'],
  'commands/auth': [...NOUN, 'advice.ts'],
  'commands/cert': [...NOUN, 'certificates', 'store/disk'],
  'commands/consent': NOUN,
  'commands/customer': NOUN,
  'commands/demo': NOUN,
  'commands/doctor': [
    ...NOUN,
    'advice.ts',
    'bank/transport',
    'callback',
    'certificates',
    'commands/cert',
    'commands/expiring',
  ],
  'commands/expiring': [...NOUN, 'certificates', 'store/disk'],
  'commands/log': NOUN,
  'commands/operation': NOUN,
  'commands/products': NOUN,
  'commands/profile': [
    ...NOUN,
    'advice.ts',
    'certificates',
    'commands/cert',
    'commands/doctor',
    'commands/sandbox',
    'sandbox/folder',
    'store/disk',
    'store/open.ts',
    'store/secrets/vault.ts',
  ],
  'commands/sandbox': [
    ...NOUN,
    'quote-for-shell.ts',
    'sandbox/control',
    'sandbox/faults',
    'sandbox/folder',
    'sandbox/player',
    'sandbox/server',
    'store/disk',
  ],
  // It describes what each command prints.
  'commands/schema': [...NOUN, 'commands'],
  'commands/store': [...NOUN, 'store/copy', 'store/disk', 'store/files/copy/side.ts', 'store/postgres'],
  'commands/sync': [...NOUN, 'commands/expiring'],
  'commands/transfer': [...NOUN, 'advice.ts'],

  flows: ['bank/call', 'bank/endpoints', 'domain', 'errors.ts', 'store/ports'],
  'bank/endpoints': ['bank/call', 'domain', 'errors.ts', 'wire'],
  'bank/call': ['bank/transport', 'certificates', 'errors.ts', 'signature', 'wire'],
  'bank/transport': ['certificates', 'errors.ts'],
  wire: ['domain/calendar.ts', 'domain/decimal.ts'],
  signature: [],
  certificates: ['errors.ts', 'quote-for-shell.ts'],
  callback: ['certificates', 'domain', 'errors.ts'],
  terminal: ['advice.ts', 'did-you-mean.ts', 'domain', 'errors.ts'],
  statements: ['domain', 'terminal/output/csv.ts'],
  domain: ['errors.ts'],

  'store/ports': ['domain', 'errors.ts'],
  'store/open.ts': ['errors.ts', 'store'],
  'store/copy': ['errors.ts', 'store/ports'],
  'store/files': [...HOME, 'store/listed-round.ts'],
  // With --out, sync also writes files.
  'store/postgres': [
    ...HOME,
    'store/files/sync',
    'store/listed-round.ts',
    'store/sync-into-both.ts',
    'quote-for-shell.ts',
  ],
  'store/listed-round.ts': ['store/ports'],
  'store/sync-into-both.ts': ['store/ports'],
  'store/flow': ['domain', 'errors.ts', 'store/ports'],
  'store/machine': ['did-you-mean.ts', 'domain', 'errors.ts', 'store/disk', 'store/secrets'],
  'store/secrets': ['errors.ts', 'store/disk', 'store/machine/folder.ts'],
  'store/disk': ['errors.ts', 'quote-for-shell.ts'],

  // The sandbox shares no code with psd2 in which one mistake could hide in both.
  sandbox: ['certificates', 'domain/blocked-ports.ts', 'domain/loopback.ts', 'errors.ts'],

  'advice.ts': ['errors.ts', 'quote-for-shell.ts'],
  'did-you-mean.ts': [],
  'errors.ts': [],
  'quote-for-shell.ts': [],
};

/** Packages that only one room may import. */
export const OWNERS: Record<string, string> = {
  '@hono/node-server': 'sandbox',
  '@inquirer/core': 'terminal',
  '@inquirer/prompts': 'terminal',
  '@napi-rs/keyring': 'store/secrets',
  '@peculiar/x509': 'certificates',
  conf: 'store/disk',
  hono: 'sandbox',
  'lossless-json': 'wire',
  pg: 'store/postgres',
  'pg-connection-string': 'store/postgres',
  undici: 'bank/transport',
};

/** Rooms that only compute. Of Node's modules they may import only node:crypto, for hashes. */
export const PURE = ['domain', 'wire', 'signature', 'statements', 'flows', 'store/flow'];

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
  const owner = Object.entries(OWNERS).find(([owned]) => isWithin(name, owned))?.[1];
  if (owner !== undefined && !isWithin(from, owner))
    return `src/${from} imports ${name}, which only ${owner} may import`;
  return PURE.includes(room) && name.startsWith('node:') && name !== 'node:crypto'
    ? `src/${from} imports ${name}, but ${room} only computes`
    : null;
}

/** Whether a path is this file or folder, or is inside it. */
export function isWithin(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`);
}
