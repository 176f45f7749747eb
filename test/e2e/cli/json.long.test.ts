import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bankDay } from '../support/bank-days.ts';
import { readError } from '../support/errors.ts';
import { keepRunning, readDocument, useSandbox, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = words`--from ${ACCOUNT} --to DE89370400440532013000 --name ${'Ada Lovelace'} --amount 3.00
  --yes`;
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

/** Commands that print one document, in an order that works. The search after the tests compares all of them with their schemas. */
const COMMANDS = [
  ['schema'],
  ['schema', 'accounts', 'transactions', '--chart'],
  ['sandbox', 'status'],
  ['sandbox', 'env'],
  ['sandbox', 'fault', 'add', 'delay=1', '--on', 'token', '--times', '1'],
  ['sandbox', 'fault', 'list'],
  ['sandbox', 'fault', 'clear'],
  ['sandbox', 'clock'],
  ['auth', 'login'],
  ['auth', 'login', '--client-credentials'],
  ['auth', 'status'],
  ['auth', 'status', '--grant', 'client_credentials'],
  ['auth', 'list'],
  ['auth', 'refresh'],
  ['auth', 'token'],
  ['customer', 'id'],
  ['customer', 'show'],
  ['products', 'list'],
  ['accounts', 'list'],
  ['accounts', 'list', '--grant', 'client_credentials'],
  ['accounts', 'show', ACCOUNT],
  ['accounts', 'balance', ACCOUNT],
  ['accounts', 'transactions', ACCOUNT],
  ['accounts', 'transactions', ACCOUNT, '--to', '2000-01-01'],
  ['accounts', 'transactions', ACCOUNT, '--chart', '--from', bankDay(-80)],
  ['api', 'GET', '/private/customers/customerid-info'],
  ['consent', 'request', ...CONSENT],
  ['consent', 'list'],
  ['consent', 'show', '<consent>'],
  ['consent', 'resume', '<consent>'],
  ['transfer', 'prepare', ACCOUNT],
  ['transfer', 'create', ...ORDER],
  ['transfer', ...ORDER],
  ['transfer', 'list'],
  ['transfer', 'show', '<transfer>'],
  ['transfer', 'status', '<transfer>'],
  ['transfer', 'resume', '<transfer>'],
  ['transfer', 'receipt', '<transfer>', '--file', 'receipt.pdf'],
  ['accounts', 'transactions', ACCOUNT, '--export', 'xls', '--file', 'transactions.xls'],
  ['accounts', 'report', ACCOUNT, '--file', 'report.html'],
  ['accounts', 'export', ACCOUNT, '--format', 'ofx', '--file', 'statement.ofx'],
  ['operation', 'list'],
  ['operation', 'prepare', 'standingOrder', '--account', ACCOUNT],
  ['batch', 'list'],
  ['log', 'list', '--limit', '3'],
  ['log', 'stats'],
  ['log', 'bundle', '--limit', '2', '--file', 'log.json'],
  ['audit'],
  ['status'],
  ['expiring'],
  ['bank', 'list'],
  ['bank', 'find', 'n26'],
  ['bank', 'check', 'standard'],
  ['store', 'status'],
  ['profile', 'list'],
  ['profile', 'show'],
  ['profile', 'use', 'sandbox'],
  ['profile', 'set', 'sandbox', '--cc-daily-limit', '1000'],
  ['cert', 'inspect'],
  ['cert', 'check'],
  ['cert', 'generate', '--out', 'made'],
  ['cert', 'request', '--out', 'requested'],
  ['doctor'],
];

describe('with --json stdout is one document', () => {
  it.each(COMMANDS.map((words) => [words]))('psd2 %j --json prints one document', async (args) => {
    const words = args.map((word) =>
      word === '<transfer>' ? flows.transfer : word === '<consent>' ? flows.consent : word,
    );
    const ended = await operator.succeeds([...words, '--json', '--verbose']);
    readDocument(z.json(), ended.stdout);
    expect(ended.stdout + ended.stderr).not.toMatch(ESCAPES);
  });

  it('psd2 profile add and remove --json print one document each', async () => {
    const added = await operator.json(
      z.json(),
      words`profile add second --base-url https://psd2.bank.example/api --client-id an-id
        --client-secret-stdin --app-name an-app --qwac-cert ${certificate('qwac.pem')} --qwac-key
        ${certificate('qwac-key.pem')}`,
      { input: 'the-secret-of-the-second-profile\n' },
    );
    // The profile in use stays in use.
    expect(added).toEqual({ name: 'second', baseUrl: 'https://psd2.bank.example/api', current: false });
    expect(operator.secrets().map(({ bytes }) => bytes.toString())).toContain(
      'the-secret-of-the-second-profile',
    );
    const settings = z.looseObject({ clientSecret: z.unknown() });
    const shown = await operator.json(z.looseObject({ settings }), ['profile', 'show', 'second']);
    expect(shown.settings.clientSecret).toEqual({ value: 'set', source: 'profile' });
    expect(await operator.json(z.json(), ['profile', 'remove', 'second', '--yes'])).toEqual({
      name: 'second',
      removed: true,
    });
  });
});

it('psd2 counts the calls with client credentials', async () => {
  const grant = ['--grant', 'client_credentials'];
  const status = () => operator.json(shapes.applicationLogin, ['auth', 'status', ...grant]);
  const { callsToday } = await status();
  await operator.succeeds(['accounts', 'list', ...grant]);
  expect((await status()).callsToday).toBe(callsToday + 1);
});

it('an error about a wrong client secret does not repeat it', async () => {
  const env = { PSD2_CLIENT_SECRET: 'a-wrong-client-secret' };
  const ended = await operator.psd2(['auth', 'login', '--json', '--verbose'], { env });
  expect(readError(ended)).toMatchObject({ code: 'bank_refused', exitCode: 7 });
});

it.each<[args: string[], columns: number]>([
  [['accounts', 'list'], 5],
  [['transfer', ...ORDER], 2],
])(
  'psd2 %j prints rows of tab-separated columns in a pipe, without terminal codes',
  async (args, columns) => {
    const ended = await operator.succeeds([...args, '--verbose']);
    const rows = ended.stdout.split('\n');
    expect(rows.pop()).toBe('');
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.split('\t'), row).toHaveLength(columns);
    expect(ended.stdout + ended.stderr).not.toMatch(ESCAPES);
    expect(ended.stdout + ended.stderr).not.toMatch(SPINNER_OR_BOX);
  },
);

it('no command but psd2 auth token prints secrets', () => {
  // There are those of two applications, two profiles, tokens of several logins, and the lines of keys.
  expect(operator.secrets().length).toBeGreaterThan(100);
  expect(operator.history.length).toBeGreaterThan(60);
  expect(operator.leaks()).toEqual([]);
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
const ESCAPES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const SPINNER_OR_BOX = /[\u2500-\u257f\u2800-\u28ff]/;
