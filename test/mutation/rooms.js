import { existsSync } from 'node:fs';

/** What each command's help says, and what it prints. */
const HELP = 'test/docs/help.test.ts';

/** A room of commands, by the nouns. @returns {{ least: number, mutate: string[], tests: string[] }} */
function commands(least, ...nouns) {
  const tests = nouns.map((noun) => `test/commands/${noun}`);
  return {
    least,
    mutate: nouns.map((noun) => `src/commands/${noun}/**`),
    tests: [HELP, ...tests.filter((path) => existsSync(path))],
  };
}

/** The rows of test/scenarios in memory: logins, consents, payments, batches. */
const ROWS = 'test/scenarios/memory.test.ts';

/** The commands that pay. */
const PAYING = commands(95, 'transfer', 'operation', 'batch', 'flow', 'funds');
const LOGINS = commands(90, 'auth', 'customer', 'open', 'cert', 'checks', 'doctor', 'expiring', 'status');
const READING = commands(90, 'accounts', 'sync', 'consent', 'products', 'api');

/**
 * The rooms of the mutation tests. Each has the score that it must reach (percent), its sources, and its tests. What
 * moves money is a room of its own and must reach more. If two rooms name a source, it belongs to the first one. `left` says why
 * the tests do not notice the rest. A room that misses its score must not fall below what it has `reached`.
 *
 * @type {Record<string, { least: number, reached?: number, mutate: string[], tests: string[], left?: string }>}
 */
export const ROOMS = {
  money: {
    left: 'an initiation without a return of the browser, which no command begins, and the end of a journal that changes at that moment',
    least: 95,
    mutate: [
      ...['loop', 'begin', 'authorise', 'execute', 'outcome', 'initiation', 'end'].map(
        (step) => `src/flows/payment/${step}.ts`,
      ),
      ...['once', 'session'].map((name) => `src/flows/${name}.ts`),
    ],
    // Commands that pay and log in go through these flows at a bank in the process of the test.
    tests: [
      'test/flows',
      'test/domain',
      ROWS,
      'test/commands/transfer',
      'test/commands/operation',
      'test/commands/auth',
      'test/commands/batch',
    ],
  },
  // The states of payments, and the next step from each.
  states: {
    left: 'two events with the effect of others beside them, and messages that an old journal lacks',
    least: 95,
    mutate: ['next-step', 'operation', 'transfer', 'flow-states', 'flow'].map(
      (name) => `src/domain/${name}.ts`,
    ),
    // What a state means to an operator shows in the flows and in the commands.
    tests: ['test/domain', 'test/flows', ROWS, 'test/commands/transfer', 'test/commands/operation'],
  },
  exchange: {
    left: 'the name of an event, and what the log says of a payment that began with a call that did not leave',
    least: 95,
    mutate: ['src/bank/call/call.ts', 'src/bank/call/retries.ts', 'src/flows/refusals.ts'],
    tests: ['test/bank', 'test/flows'],
  },
  journal: {
    least: 95,
    mutate: ['src/store/files/flows/flows.ts', 'src/store/files/flows/file.ts', 'src/store/disk/lock.ts'],
    tests: [
      'test/store/files/journal.test.ts',
      'test/store/disk/lock.test.ts',
      'test/store/disk/durable-writes.test.ts',
      'test/store/files/journal-durability.test.ts',
      'test/store/contract/flows.test.ts',
      'test/store/contract/left-behind.test.ts',
      'test/store/contract/older-journal.test.ts',
      'test/store/files/left-behind.test.ts',
      'test/store/files/flow-file.test.ts',
      'test/store/files/flow-index.test.ts',
      'test/store/files/references.test.ts',
    ],
  },
  // What was sent, what became of it, and payments at a bank that has no execute.
  payments: {
    left: 'two conditions that seem to have no effect',
    least: 95,
    mutate: [
      'src/domain/payment-answers.ts',
      ...['linked-sca', 'payment/cancel', 'payment/status'].map((name) => `src/flows/${name}.ts`),
    ],
    // What an answer means is tested as a table, without a bank.
    tests: ['test/flows', 'test/domain/payment-answers.test.ts', ROWS],
  },
  batches: {
    left: 'a case of a basket that falls through to the same answer',
    least: 95,
    mutate: ['src/flows/batch/**'],
    tests: ['test/flows/batch', 'test/commands/batch', ROWS],
  },
  flows: {
    left: 'logins and readings, which the tests of their commands cover more than those of this room, and guards against faults of psd2 itself',
    least: 90,
    mutate: ['src/flows/**'],
    tests: ['test/flows', ROWS],
  },
  domain: {
    left: 'guards against faults of psd2 itself, and fields that a later condition leaves out',
    least: 90,
    mutate: ['src/domain/**'],
    tests: ['test/domain'],
  },
  // The second interface: what an answer proves, what pays, and the rest.
  judge: {
    least: 95,
    mutate: ['src/bank/interfaces/nextgenpsd2/judge/**'],
    tests: ['test/bank/interfaces/nextgenpsd2/judge'],
  },
  initiations: {
    left: 'a null that no body has, and defaults that nothing reads',
    least: 95,
    mutate: ['payments', 'initiation', 'payment-status'].map(
      (name) => `src/bank/interfaces/nextgenpsd2/payments/${name}.ts`,
    ),
    tests: [...['test/bank/interfaces/nextgenpsd2', 'test/flows/linked-payment.test.ts'], ROWS],
  },
  'bank-file': {
    left: 'the quick parser of JSON gives the same as the slow one, and guards that no file reaches',
    least: 90,
    mutate: ['src/bank-file/**', 'src/bank/interfaces/nextgenpsd2/description/**'],
    // What a bank file means is tested at the interface, what is wrong in one in the commands, and what each field says in the help.
    tests: [
      ...[HELP, 'test/bank-file'],
      'test/docs/banks-page.test.ts',
      'test/bank/interfaces/nextgenpsd2/description',
      'test/commands/bank/bank.test.ts',
      'test/commands/open/bank-file.test.ts',
    ],
  },
  nextgenpsd2: {
    left: 'defaults of values that the schemas always give, texts about faults of psd2 itself, and what the rows and the tests of `bank learn` reach, which did not run then',
    least: 90,
    reached: 79,
    mutate: ['src/bank/interfaces/nextgenpsd2/**'],
    // What begins, resumes and gives up at such a bank is a row; what `bank learn` asks, a test of that command.
    tests: [
      ...['test/bank/interfaces/nextgenpsd2', 'test/bank/interfaces/fields-read.test.ts'],
      ...['test/commands/bank/learn.test.ts', ROWS],
    ],
  },
  bank: { least: 90, mutate: ['src/bank/**'], tests: ['test/bank'] },
  signature: {
    least: 90,
    mutate: ['src/signature/**'],
    // What an answer's signature proves is tested at both interfaces.
    tests: [
      'test/signature',
      ...['cb', 'nextgenpsd2/wire'].map((place) => `test/bank/interfaces/${place}/answer-check.test.ts`),
    ],
  },
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
      'secrets/vault-keyring',
      'secrets/sealed',
      'machine/profiles',
      'machine/settings',
      'files/tokens',
      'files/copy-folders',
      'contract/tokens',
    ].map((name) => `test/store/${name}.test.ts`),
  },
  copy: {
    least: 90,
    mutate: ['src/store/copy/**', 'src/store/files/copy/**', 'src/store/files/access.ts'],
    tests: [
      'copy/compare-records',
      'copy/copy-steps',
      'files/copy-folders',
      'files/copy-flow-files',
      'contract/access',
      'contract/copied-records',
    ].map((name) => `test/store/${name}.test.ts`),
  },
  // The tests of the room `store` that start a server reach these, but few of them are about them.
  guard: {
    least: 90,
    mutate: ['src/store/machine/store-choice.ts', 'src/store/files/data.ts', 'src/store/files/has-data.ts'],
    tests: ['machine/store-choice', 'files/backend', 'files/access'].map(
      (name) => `test/store/${name}.test.ts`,
    ),
  },
  index: {
    least: 90,
    mutate: [
      ...['lookup', 'references'].map((name) => `src/store/files/flows/${name}.ts`),
      'src/domain/events.ts',
      ...['kinds', 'refusals'].map((name) => `src/store/flow/${name}.ts`),
    ],
    tests: [
      'test/domain/events.test.ts',
      ...[
        'flow/find-flow',
        'files/flow-index',
        'files/journal',
        'flow/kinds',
        'files/left-behind',
        'contract/left-behind',
      ],
      ...['flow/refusals', 'files/references'],
    ].map((name) => (name.startsWith('test/') ? name : `test/store/${name}.test.ts`)),
  },
  // A server that stays serves the tests of the rooms whose names begin so (test/store/postgres/shared-server.ts).
  postgres: {
    least: 85,
    reached: 84,
    mutate: ['access.ts', 'address.ts', 'claims.ts', 'flows/**', 'tokens.ts'].map(
      (name) => `src/store/postgres/${name}`,
    ),
    tests: [
      ...['address', 'backend', 'database', 'journal'].map((name) => `postgres/${name}`),
      ...['state', 'tokens', 'workers'].map((name) => `postgres/${name}`),
      ...['access', 'flows', 'left-behind', 'older-journal', 'rounds', 'sync-and-calls', 'tokens'].map(
        (name) => `contract/${name}`,
      ),
      'copy/copy.programs',
    ].map((name) => `test/store/${name}.test.ts`),
  },
  'postgres-rows': {
    left: 'what the page of the store says of columns, pauses and limits at equality, and second guards of what another statement ensures',
    least: 90,
    reached: 81,
    mutate: [
      ...['audit.ts', 'batches.ts', 'customers.ts', 'personal.ts', 'pins.ts', 'read-results.ts', 'sync/**'],
      'transaction-columns.ts',
    ].map((name) => `src/store/postgres/${name}`),
    tests: [
      ...['audit', 'batches', 'customers', 'personal', 'pins', 'read-results', 'rounds'].map(
        (name) => `contract/${name}`,
      ),
      ...['copied-records', 'steps', 'sync-and-calls', 'synced', 'told-apart', 'written-twice'].map(
        (name) => `contract/${name}`,
      ),
      ...['batches', 'customers', 'journal', 'pages', 'workers'].map((name) => `postgres/${name}`),
      'copy/copy.programs',
    ].map((name) => `test/store/${name}.test.ts`),
  },
  // What the log of calls has counted, and what a bank file meant, shows in the commands; which rows are known, in syncs.
  store: {
    least: 90,
    mutate: ['src/store/**'],
    tests: [
      'test/store',
      ...['log/stats', 'open/bank-file', 'profile/setting-table'].map(
        (name) => `test/commands/${name}.test.ts`,
      ),
      ...['any-accounts', 'sync-histories', 'sync-replaced'].map((name) => `test/flows/${name}.test.ts`),
    ],
  },
  certificates: {
    left: 'names of algorithms that the key itself says',
    least: 90,
    mutate: ['src/certificates/**'],
    tests: ['test/certificates'],
  },
  statements: {
    left: 'the look of the report: the places, distances and classes of its drawing',
    least: 90,
    mutate: ['src/statements/**'],
    tests: ['test/statements'],
  },
  callback: {
    left: 'the look of the page, and which of several idle connections ends first',
    least: 90,
    mutate: ['src/callback/**', 'src/terminal/clean.ts'],
    tests: ['test/callback', 'test/terminal/clean.test.ts'],
  },
  'batch-file': {
    left: 'limits that take too long to reach: a million payments, 50 million characters',
    least: 95,
    mutate: ['src/batch-file/**'],
    tests: ['test/batch-file'],
  },
  terminal: {
    left: 'what a question draws between two keys, the options of the spinner, and defaults of cells that always exist',
    least: 90,
    mutate: ['src/terminal/**'],
    tests: ['test/terminal'],
  },
  cli: {
    left: 'defaults of values that always exist, and words that only a terminal or another program tells apart',
    least: 90,
    mutate: ['src/cli/**'],
    tests: ['test/cli', HELP],
  },
  // Commands in the tests' own process (test/commands/operator.ts). Those that pay are a room of their own.
  paying: {
    ...PAYING,
    tests: [
      ...[...PAYING.tests, ROWS],
      // The questions about an order, and consents, which are flows too.
      'test/domain/order/read-order.test.ts',
      ...['confirmed', 'linked'].map((name) => `test/commands/consent/${name}.test.ts`),
    ],
    left: 'columns of tables, guards against faults of psd2 itself, and conditions whose case another one catches',
  },
  reading: {
    ...READING,
    tests: [...READING.tests, ROWS],
    left: 'defaults of values that always exist, which columns of a table stay whole, and comparisons at equality with the same result',
  },
  logins: {
    ...LOGINS,
    // Who opens the account of a payment sees what is wrong with it, and which profile serves it.
    tests: [
      ...[...LOGINS.tests, ROWS, 'test/commands/transfer/standing.test.ts', 'test/commands/funds'],
      'test/commands/bank/find.test.ts',
    ],
    left: 'second guards for what is missing, double filters, when a connection is closed, and texts of guards against faults of psd2',
  },
  settings: {
    left: 'questions of the wizard that depend on two settings, columns of tables, and guards against faults of psd2 itself',
    ...commands(90, 'profile', 'store', 'bank', 'sandbox', 'log', 'audit', 'schema', 'completion'),
  },
  shared: {
    left: 'titles that no terminal shows, a user without a name, how an outside command is ended, and defaults that every caller replaces',
    least: 90,
    mutate: ['src/commands/shared/**'],
    // What several commands share shows in them.
    tests: [
      ...[HELP, 'test/cli'],
      ...['shared', 'accounts', 'auth', 'batch', 'consent', 'customer', 'sync', 'transfer'].map(
        (noun) => `test/commands/${noun}`,
      ),
      // What files of credentials may have.
      'test/commands/open/credentials.test.ts',
    ],
  },
  strict: {
    least: 90,
    mutate: ['src/sandbox/strict/**'],
    // Every test of the sandbox passes these checks, but these test the checks themselves, without a bank.
    tests: ['strict', 'signature.test.ts', 'explain-signature.test.ts', 'seen-request-ids.test.ts'].map(
      (name) => `test/sandbox/${name}`,
    ),
  },
  // The bank that judges the others.
  sandbox: { least: 85, mutate: ['src/sandbox/**'], tests: ['test/sandbox'] },
  smoke: {
    least: 85,
    mutate: ['src/smoke/**', 'src/commands/smoke/**'],
    tests: [HELP, 'test/smoke', 'test/commands/smoke'],
  },
  // What every room needs.
  basics: {
    least: 85,
    mutate: [
      ...[
        'advice',
        'did-you-mean',
        'errors',
        'exit-codes',
        'make-folder',
        'quote-for-shell',
        'secret',
        'time-limit',
      ].map((name) => `src/${name}.ts`),
      'src/commands/declare.ts',
    ],
    tests: [
      ...['advice', 'make-folder', 'time-limit'].map((name) => `test/${name}.test.ts`),
      ...['bank/hidden-value', 'flows/embedded', 'flows/error-codes'].map((name) => `test/${name}.test.ts`),
      'test/cli',
      HELP,
    ],
  },
};

/**
 * Sources that are not measured, each with the reason.
 *
 * @type {Record<string, string>}
 */
export const LEFT_OUT = {
  'src/main.ts': 'the start of the built program',
  'src/sync-thread.ts': 'the start of a thread of the built program',
  'src/commands/demo/**': 'it runs the built program',
  'src/commands/context.ts': 'types alone',
  ...Object.fromEntries(
    ['schema', 'schema-audit', 'schema-rows'].map((name) => [`src/store/postgres/${name}.ts`, 'SQL alone']),
  ),
  ...Object.fromEntries(
    ['admin', 'backend', 'database', 'failure', 'init', 'keys', 'copy/**'].map((name) => [
      `src/store/postgres/${name}${name.includes('*') ? '' : '.ts'}`,
      'most of its tests run the built program, or several processes',
    ]),
  ),
};

/**
 * Tests that run other processes, where no mutant is switched on, and slow ones. Only a room that names the file has them, and those
 * that need a browser or another program (`*.programs.test.ts`).
 */
const TESTS_LEFT_OUT = [
  'test/store/files/journal-durability.test.ts',
  'test/store/secrets/vault.test.ts',
  'test/store/disk/lock-processes.test.ts',
  'test/store/postgres/**',
];

/**
 * @param {string} file a path in this repository
 * @returns {string | undefined} the room that a source belongs to
 */
export function roomOf(file) {
  if (!file.endsWith('.ts') || file.endsWith('.d.ts') || isAmong(Object.keys(LEFT_OUT), file))
    return undefined;
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
      (tests.includes(file) ||
        (isAmong(tests, file) && !file.endsWith('.programs.test.ts') && !isAmong(TESTS_LEFT_OUT, file))),
  );
}

/** Whether a file is in the list, or in one of the folders of the list. */
function isAmong(paths, file) {
  return paths.some((path) => file === path || file.startsWith(`${path.replace(/\/\*\*$/, '')}/`));
}
