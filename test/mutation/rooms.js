/**
 * The rooms of the mutation tests. Each has the score that it must reach (percent), its sources, and its tests. What
 * moves money is a room of its own and must reach more. If two rooms name a source, it belongs to the first one.
 *
 * @type {Record<string, { least: number, mutate: string[], tests: string[] }>}
 */
export const ROOMS = {
  money: {
    least: 95,
    mutate: [
      'src/flows/operation.ts',
      'src/flows/session.ts',
      'src/flows/outcome/execute-outcome.ts',
      'src/domain/operation.ts',
      'src/domain/transfer.ts',
    ],
    tests: ['test/flows', 'test/domain'],
  },
  exchange: {
    least: 95,
    mutate: ['src/bank/call/exchange.ts', 'src/bank/call/failure.ts'],
    tests: ['test/bank'],
  },
  journal: {
    least: 95,
    mutate: [
      'src/store/files/flows/flows.ts',
      'src/store/files/flows/file.ts',
      'src/store/disk/lock.ts',
      'src/store/disk/lock-beat.ts',
    ],
    tests: [
      'test/store/journal.test.ts',
      'test/store/lock.test.ts',
      'test/store/lock-beat.test.ts',
      'test/store/durable-writes.test.ts',
      'test/store/no-links.test.ts',
      'test/store/reference-claims.test.ts',
      'test/store/journal-durability.test.ts',
      'test/store/contract/flows.test.ts',
      'test/store/contract/older-journal.test.ts',
      'test/store/contract/resources.test.ts',
      'test/store/left-behind.test.ts',
      'test/store/flow-file.test.ts',
      'test/store/flow-index.test.ts',
      'test/store/references.test.ts',
    ],
  },
  flows: { least: 90, mutate: ['src/flows/**'], tests: ['test/flows'] },
  domain: { least: 90, mutate: ['src/domain/**'], tests: ['test/domain'] },
  bank: { least: 90, mutate: ['src/bank/**'], tests: ['test/bank', 'test/wire'] },
  signature: { least: 90, mutate: ['src/signature/**'], tests: ['test/signature'] },
  // Few of the tests of the room `store` are about these two.
  secrets: {
    least: 90,
    mutate: [
      'src/store/secrets/**',
      'src/store/machine/key-file.ts',
      'src/store/machine/profiles.ts',
      'src/store/files/tokens.ts',
      'src/store/files/token-file.ts',
    ],
    tests: [
      'keyring',
      'stored-protection',
      'vault-keyring',
      'sealed',
      'profiles',
      'protected-profile',
      'settings',
      'tokens',
      'token-files',
      'token-records',
      'copy-folders',
      'contract/tokens',
    ].map((name) => `test/store/${name}.test.ts`),
  },
  copy: {
    least: 90,
    mutate: [
      'src/store/copy/**',
      'src/store/files/copy/**',
      'src/store/files/access-notes.ts',
      'src/store/files/mark.ts',
    ],
    tests: ['compare-records', 'copy-steps', 'copy-folders', 'copy-flow-files', 'contract/access'].map(
      (name) => `test/store/${name}.test.ts`,
    ),
  },
  // The tests of the room `store` that start a server reach these, but few of them are about them.
  guard: {
    least: 90,
    mutate: [
      'src/store/machine/store-choice.ts',
      'src/store/machine/store-guard.ts',
      'src/store/machine/store-memory.ts',
      'src/store/files/data.ts',
      'src/store/files/read-lines.ts',
    ],
    tests: ['store-choice', 'store-guard', 'store-memory', 'data-in-files', 'read-lines'].map(
      (name) => `test/store/${name}.test.ts`,
    ),
  },
  index: {
    least: 90,
    mutate: [
      ...['flow-index', 'learnt', 'lookup', 'reference-claims', 'references', 'resources'].map(
        (name) => `src/store/files/flows/${name}.ts`,
      ),
      ...['events', 'kinds', 'lost-journal', 'reference-used', 'resource-used'].map(
        (name) => `src/store/flow/${name}.ts`,
      ),
    ],
    tests: [
      ...['find-flow', 'flow-index', 'flow-resources', 'journal', 'kinds', 'left-behind', 'lost-journal'],
      ...['reference-claims', 'reference-used', 'references', 'stored-events'],
    ].map((name) => `test/store/${name}.test.ts`),
  },
  // A server that stays serves these tests (test/store/postgres/shared-server.ts).
  postgres: {
    least: 85,
    mutate: [
      'access.ts',
      'address.ts',
      'calls.ts',
      'claims.ts',
      'find.ts',
      'flows/**',
      'plain-tokens.ts',
      'token-secrets.ts',
      'tokens.ts',
    ].map((name) => `src/store/postgres/${name}`),
    tests: [
      ...['address', 'attention', 'database', 'find', 'home', 'journal', 'left-behind'].map(
        (name) => `postgres/${name}`,
      ),
      ...['state', 'token-seals', 'tokens', 'upgrade', 'workers'].map((name) => `postgres/${name}`),
      ...['access', 'flows', 'older-journal', 'resources', 'rounds', 'sync-and-calls', 'tokens'].map(
        (name) => `contract/${name}`,
      ),
      'copy',
    ].map((name) => `test/store/${name}.test.ts`),
  },
  store: { least: 90, mutate: ['src/store/**'], tests: ['test/store'] },
  certificates: { least: 90, mutate: ['src/certificates/**'], tests: ['test/certificates'] },
  statements: { least: 90, mutate: ['src/statements/**'], tests: ['test/statements'] },
  callback: {
    least: 90,
    mutate: ['src/callback/**', 'src/terminal/clean.ts'],
    tests: ['test/callback', 'test/terminal/clean.test.ts'],
  },
  strict: {
    least: 90,
    mutate: ['src/sandbox/strict/**'],
    // Every test of the sandbox passes these checks, but these test the checks themselves, without a bank.
    tests: ['strict', 'signature.test.ts', 'explain-signature.test.ts', 'seen-request-ids.test.ts'].map(
      (name) => `test/sandbox/${name}`,
    ),
  },
};

/**
 * Sources that are not measured. Most of their tests run the built program, or several processes. `schema`, `tokens-version-2`
 * and `flows/upgrade` have only SQL.
 */
const LEFT_OUT = [
  'admin',
  'database',
  'failure',
  'flows/upgrade',
  'glance',
  'home',
  'init',
  'keys',
  'schema',
  'service',
  'status',
  'tokens-version-2',
]
  .map((name) => `src/store/postgres/${name}.ts`)
  .concat('src/store/postgres/copy/**', 'src/store/postgres/sync/**');

/** Tests that run other processes, where no mutant is switched on, and slow ones. Only a room that names the file has them. */
const TESTS_LEFT_OUT = [
  'test/store/copy.test.ts',
  'test/store/journal-durability.test.ts',
  'test/store/vault.test.ts',
  'test/store/lock-processes.test.ts',
  'test/store/sync-stall.test.ts',
  'test/store/postgres/**',
];

/**
 * @param {string} file a path in this repository
 * @returns {string | undefined} the room that a source belongs to
 */
export function roomOf(file) {
  if (!file.endsWith('.ts') || file.endsWith('.d.ts') || isAmong(LEFT_OUT, file)) return undefined;
  return Object.keys(ROOMS).find((name) => isAmong(ROOMS[name].mutate, file));
}

/**
 * @param {string} name a room
 * @param {string[]} files every file of the tests
 * @returns {string[]} the files with tests of the room
 */
export function testsOf(name, files) {
  const { tests } = ROOMS[name];
  return files.filter(
    (file) =>
      file.endsWith('.test.ts') &&
      (tests.includes(file) || (isAmong(tests, file) && !isAmong(TESTS_LEFT_OUT, file))),
  );
}

/** Whether a file is in the list, or in one of the folders of the list. */
function isAmong(paths, file) {
  return paths.some((path) => file === path || file.startsWith(`${path.replace(/\/\*\*$/, '')}/`));
}
