import { createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { buildProgram } from '../../../src/cli/program.ts';
import { leaves } from '../../cli/leaves.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, PROGRAM, readDocument, useOperator, useSandbox } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = [
  ...['--from', ACCOUNT, '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'],
  ...['--amount', '3.00', '--yes'],
];
const CONSENT = ['--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS', '--all-accounts'];
const operator = keepRunning(useSandbox());
const certificate = (name: string) => join(operator.config, 'sandbox', 'certificates', name);

let flows: { transfer: string; consent: string };
beforeAll(async () => {
  await operator.json(shapes.login, ['auth', 'login']);
  const consent = await operator.json(shapes.consent, ['consent', 'request', ...CONSENT]);
  const transfer = await operator.json(shapes.transfer, ['transfer', 'create', ...ORDER]);
  flows = { transfer: transfer.flow, consent: consent.flow };
});

const running = z.strictObject({
  baseUrl: z.url(),
  customerSiteUrl: z.url(),
  consoleUrl: z.url(),
  pid: z.int(),
  profile: z.literal('sandbox'),
});
/** With the bank's time. */
const sandboxStatus = z.strictObject({ ...running.shape, time: z.iso.datetime() });
const profile = z.strictObject({ name: z.string(), baseUrl: z.url(), current: z.boolean() });
const source = z.enum(['option', 'environment', 'profile', 'default']);
const setting = z.strictObject({ value: z.string(), source });
const shownProfile = z.strictObject({
  name: z.string(),
  source,
  protected: z.literal('no'),
  settings: z.record(z.string(), setting),
});
const removedProfile = z.strictObject({ name: z.string(), removed: z.literal(true) });
const terms = z.looseObject({
  today: z.iso.date(),
  currencies: z.array(z.looseObject({ code: z.string() })),
});
const anyLogin = z.union([shapes.login, shapes.applicationLogin]);
const jsonSchema = z.looseObject({ $schema: z.literal('https://json-schema.org/draft/2020-12/schema') });
/** Data of the bank whose shape the interface does not show. */
const bankData = z.json();

/** Commands with the shape of their one document, in an order that works. */
const COMMANDS: [args: string[], shape: z.ZodType][] = [
  [['schema'], z.array(z.strictObject({ command: z.string(), what: z.string(), schema: jsonSchema }))],
  [['schema', 'accounts', 'transactions', '--chart'], jsonSchema],
  [['sandbox', 'status'], sandboxStatus],
  [['auth', 'login'], shapes.login],
  [['auth', 'login', '--client-credentials'], shapes.applicationLogin],
  [['auth', 'status'], shapes.login],
  [['auth', 'status', '--grant', 'client_credentials'], shapes.applicationLogin],
  [['auth', 'list'], z.array(anyLogin).length(2)],
  [['auth', 'refresh'], shapes.login],
  [['auth', 'token'], shapes.token],
  [['customer', 'id'], shapes.customer],
  [['customer', 'show'], bankData],
  [['products', 'list'], bankData],
  [['accounts', 'list'], shapes.accounts],
  [['accounts', 'list', '--grant', 'client_credentials'], shapes.accounts],
  [['accounts', 'show', ACCOUNT], bankData],
  [['accounts', 'balance', ACCOUNT], shapes.balance],
  [['accounts', 'transactions', ACCOUNT], shapes.transactions.min(1)],
  [['accounts', 'transactions', ACCOUNT, '--to', '2000-01-01'], shapes.transactions.length(0)],
  [['api', 'GET', '/private/customers/customerid-info'], bankData],
  [['consent', 'request', ...CONSENT], shapes.consent],
  [['consent', 'list'], shapes.consents.min(2)],
  [['consent', 'show', '<consent>'], shapes.consent],
  [['consent', 'resume', '<consent>'], shapes.consent],
  [['transfer', 'prepare', ACCOUNT], terms],
  [['transfer', 'create', ...ORDER], shapes.transfer],
  [['transfer', ...ORDER], shapes.transfer],
  [['transfer', 'list'], shapes.transfers.length(3)],
  [['transfer', 'show', '<transfer>'], shapes.transfer],
  [['transfer', 'status', '<transfer>'], shapes.transfer],
  [['transfer', 'resume', '<transfer>'], shapes.transfer],
  [['transfer', 'receipt', '<transfer>', '--file', 'receipt.pdf'], shapes.saved],
  [['accounts', 'transactions', ACCOUNT, '--export', 'xls', '--file', 'transactions.xls'], shapes.saved],
  [['accounts', 'report', ACCOUNT, '--file', 'report.html'], shapes.saved],
  [['accounts', 'export', ACCOUNT, '--format', 'ofx', '--file', 'statement.ofx'], shapes.saved],
  [['log', 'list', '--limit', '3'], shapes.log.length(3)],
  [['log', 'bundle', '--limit', '2', '--file', 'log.json'], shapes.logBundle],
  [['profile', 'list'], z.array(profile).length(2)],
  [['profile', 'show'], shownProfile],
  [['profile', 'use', 'sandbox'], profile],
  [['profile', 'set', 'sandbox', '--cc-daily-limit', '1000'], shownProfile],
  [['cert', 'inspect'], z.array(shapes.certificate).length(2)],
  [['cert', 'check'], shapes.certificateChecks],
  [['cert', 'generate', '--out', 'made'], shapes.generated],
  [['cert', 'request', '--out', 'requested'], shapes.requested],
  [['doctor'], shapes.checks],
];
/** Commands whose document other tests read: below, or in the named file. */
const ELSEWHERE = [
  ...['prepare', 'verify', 'sca', 'status', 'execute', 'resume', 'run'].map((step) => `operation ${step}`),
  ...['operation list', 'operation show'], // operation/operation.test.ts
  ...['transfer', 'operation', 'consent'].map((kind) => `${kind} resolve`), // resolve.test.ts
  ...['transfer', 'operation', 'consent'].map((kind) => `${kind} cancel`), // cancel.test.ts
  ...['consent status', 'consent delete'], // nextgenpsd2/consents.long.test.ts
  ...['check', 'find', 'list', 'show'].map((step) => `bank ${step}`), // bank/bank-files.test.ts
  'bank learn', // commands/bank/learn.test.ts
  ...['transfer standing', 'funds check'], // nextgenpsd2/transfers.test.ts
  'batch check', // commands/batch/check.test.ts
  ...['add', 'approve', 'reject', 'run', 'list', 'show', 'status', 'report', 'retry', 'cancel'].map(
    (step) => `batch ${step}`, // batch/batch.test.ts
  ),
  'log stats', // commands/log/stats.test.ts
  ...['smoke run', 'smoke show'], // smoke/smoke.test.ts
  ...['list', 'show', 'accept', 'forget'].map((step) => `smoke shapes ${step}`), // smoke/smoke.test.ts
  'auth logout',
  'auth move', // profile/other-base-url.test.ts
  'profile add',
  'profile edit', // profile-wizard.test.ts
  'profile protect', // protection.test.ts
  'profile remove',
  'profile unprotect', // protection.test.ts
  'sandbox console', // sandbox/control.test.ts
  'sandbox customer play',
  ...['add', 'reset', 'revoke-consent'].map((order) => `sandbox customer ${order}`), // sandbox/control.test.ts
  'sandbox clock', // sandbox/control.test.ts
  'store copy', // store.test.ts
  'store init', // store.test.ts
  'store status', // store.test.ts
  ...['customer export', 'customer forget'], // customer/forget.test.ts
  'store rekey', // crash/rekey.test.ts
  ...['add', 'list', 'clear'].map((step) => `sandbox fault ${step}`),
  'sandbox reset',
  'sandbox env',
  'sandbox start',
  'sandbox stop',
  ...['sandbox reset', 'sandbox fault add', 'sandbox fault list', 'sandbox fault clear'], // sandbox/control.test.ts
  'audit', // commands/audit/audit.test.ts
  'status', // commands/status/status.test.ts
  'expiring', // expiring.test.ts
  'sync run', // sync.test.ts
  'sync status', // fleet.test.ts
  'demo', // demo.test.ts
  'completion', // prints a script
];

describe('with --json stdout is one document', () => {
  it.each(COMMANDS)('psd2 %j --json prints one document of its shape', async (args, shape) => {
    const words = args.map((word) =>
      word === '<transfer>' ? flows.transfer : word === '<consent>' ? flows.consent : word,
    );
    const ended = await operator.psd2([...words, '--json', '--verbose']);
    expect(ended.code, ended.stderr).toBe(0);
    readDocument(shape, ended.stdout);
    expect(ended.stdout + ended.stderr).not.toMatch(ESCAPES);
  });

  it('psd2 profile add and remove --json print one document each', async () => {
    const added = await operator.json(
      profile,
      [
        ...['profile', 'add', 'second', '--base-url', 'https://psd2.bank.example/api'],
        ...['--client-id', 'an-id', '--client-secret-stdin', '--app-name', 'an-app'],
        ...['--qwac-cert', certificate('qwac.pem'), '--qwac-key', certificate('qwac-key.pem')],
      ],
      { input: 'the-secret-of-the-second-profile\n' },
    );
    // The profile in use stays in use.
    expect(added).toEqual({ name: 'second', baseUrl: 'https://psd2.bank.example/api', current: false });
    expect(operator.secrets().map(({ bytes }) => bytes.toString())).toContain(
      'the-secret-of-the-second-profile',
    );
    const shown = await operator.json(shownProfile, ['profile', 'show', 'second']);
    expect(shown.settings.clientSecret).toEqual({ value: 'set', source: 'profile' });
    await operator.json(removedProfile, ['profile', 'remove', 'second', '--yes']);
  });

  it('these tests cover every command', async () => {
    const tested = COMMANDS.map(([args]) => args.join(' ')).concat(ELSEWHERE);
    const untested = leaves(await buildProgram('0.0.0')).filter(
      (name) => name !== 'help' && !tested.some((each) => each === name || each.startsWith(`${name} `)),
    );
    expect(untested).toEqual([]);
  });
});

describe('psd2 sandbox start and stop with --json', () => {
  const other = useOperator();

  it('psd2 sandbox start and stop print one document each', async () => {
    const started = await other.json(running, ['sandbox', 'start', '--detach', '--port', '0']);
    const [again, elsewhere] = await Promise.all([
      other.json(sandboxStatus, ['sandbox', 'status']),
      other.psd2(['sandbox', 'start', '--port', '0', '--json']),
    ]);
    expect(again).toMatchObject(started);
    expect(readError(elsewhere)).toMatchObject({ code: 'sandbox', exitCode: 3 });
    const stopped = z.strictObject({ stopped: z.boolean() });
    expect(await other.json(stopped, ['sandbox', 'stop'])).toEqual({ stopped: true });
    expect(await other.json(stopped, ['sandbox', 'stop'])).toEqual({ stopped: false });
    expect(readError(await other.psd2(['sandbox', 'status', '--json']))).toMatchObject({ exitCode: 3 });
  });
});

describe('an error with --json', () => {
  const verbose = (args: string[], env = {}) => operator.psd2([...args, '--json', '--verbose'], { env });

  it('an error from the bank carries what its support asks for', async () => {
    const error = readError(await verbose(['accounts', 'balance', '9999999999']));
    expect(error).toMatchObject({
      code: 'bank_refused',
      exitCode: 7,
      httpStatus: 412,
      bankCode: 'PRODUCT_UNKNOWN',
      requestId: expect.stringMatching(/^\d{24}$/),
      tppRequestId: expect.any(String),
      transactionId: expect.any(String),
    });
  });

  it('an error about a wrong client secret does not repeat it', async () => {
    const ended = await verbose(['auth', 'login'], { PSD2_CLIENT_SECRET: 'a-wrong-client-secret' });
    expect(readError(ended)).toMatchObject({ code: 'bank_refused', exitCode: 7 });
  });

  it('an error about a wrong passphrase does not repeat it, and the right one opens the key', async () => {
    const passphrase = 'correct horse battery staple';
    const key = createPrivateKey(readFileSync(certificate('qseal-key.pem')));
    const encrypted = join(operator.folder, 'encrypted-key.pem');
    const pem = key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase });
    writeFileSync(encrypted, pem, { mode: 0o600 });
    const env = { PSD2_QSEAL_KEY: encrypted, PSD2_KEY_PASSPHRASE: passphrase };
    expect(await verbose(['accounts', 'list'], env)).toMatchObject({ code: 0 });
    const refused = await verbose(['accounts', 'list'], {
      ...env,
      PSD2_KEY_PASSPHRASE: 'a wrong passphrase',
    });
    expect(readError(refused)).toMatchObject({ code: 'certificate', exitCode: 3 });
  });
});

describe('in a pipe without --json', () => {
  it.each<[args: string[], columns: number]>([
    [['accounts', 'list'], 5],
    [['accounts', 'transactions', ACCOUNT, '--limit', '30'], 6],
    [['accounts', 'balance', ACCOUNT], 2],
    [['consent', 'request', ...CONSENT], 2],
    [['transfer', ...ORDER], 2],
    [['transfer', 'list'], 9],
    [['profile', 'list'], 3],
    [['auth', 'status'], 2],
  ])('psd2 %j prints rows of tab-separated columns, without terminal codes', async (args, columns) => {
    const ended = await operator.psd2([...args, '--verbose']);
    expect(ended.code, ended.stderr).toBe(0);
    const rows = ended.stdout.split('\n');
    expect(rows.pop()).toBe('');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.split('\t'), row).toHaveLength(columns);
    expect(ended.stdout + ended.stderr).not.toMatch(ESCAPES);
    expect(ended.stdout + ended.stderr).not.toMatch(SPINNER_OR_BOX);
  });

  it('in a pipe psd2 explains an error in a sentence on stderr', async () => {
    const ended = await operator.psd2(['accounts', 'balance', '9999999999']);
    expect(ended).toMatchObject({ code: 7, stdout: '' });
    expect(ended.stderr).toMatch(/^psd2: .+\.\n/m);
    expect(ended.stderr).not.toMatch(ESCAPES);
  });

  it('psd2 ends quietly if its reader stops reading', async () => {
    const script = 'set -o pipefail; "$0" "$1" accounts transactions 0010482620 -o ndjson | head -n 1';
    const bash = await operator.startProgram('bash', ['-c', script, process.execPath, PROGRAM]);
    const ended = await bash.ended;
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    readDocument(shapes.transaction, ended.stdout);
  });
});

describe('secrets', () => {
  it('psd2 auth token prints secrets', async () => {
    const { accessToken } = await operator.json(shapes.token, ['auth', 'token']);
    const bare = await operator.psd2(['auth', 'token']);
    expect(bare.stdout).toBe(`${accessToken}\n`);
  });

  it('no other command prints secrets', () => {
    // There are those of two applications, two profiles, passphrases, tokens of several logins, and the lines of keys.
    expect(operator.secrets().length).toBeGreaterThan(100);
    expect(operator.history.length).toBeGreaterThan(60);
    expect(operator.leaks()).toEqual([]);
  });

  it('secrets are in files that only their owner can read', async () => {
    const listed = await operator.startProgram('find', [operator.config, '-perm', '/077']);
    expect(await listed.ended).toMatchObject({ code: 0, stdout: '' });
  });
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
const ESCAPES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const SPINNER_OR_BOX = /[\u2500-\u257f\u2800-\u28ff]/;
