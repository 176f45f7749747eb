import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand, runIn } from '../command.ts';

// A bank whose customers commit, of the tests' own, behind the real commands, flows and store.

const temporary = temporaryFolder();
/** The certificates are valid by then. */
const NOW = new Date(Date.now() + 60_000).toISOString();
const keys = await loadOrCreateRegistration(inject('registration'));

const printedFlow = z.object({
  flow: z.string(),
  state: z.string(),
  authorizationStatus: z.nullable(z.string()),
});

/** An operator with a login at a toy bank. */
async function operatorAt(bank: ToyBank) {
  const folder = newConfigFolder(temporary);
  const env = {
    PSD2_BASE_URL: 'https://toy.example',
    PSD2_APP_NAME: 'Toy Application',
    PSD2_QWAC_CERT: keys.qwacCertFile,
    PSD2_QWAC_KEY: keys.qwacKeyFile,
    PSD2_QSEAL_CERT: keys.qsealCertFile,
    PSD2_QSEAL_KEY: keys.qsealKeyFile,
  };
  const open = () =>
    openCommand(folder, NOW, { env, globals: { yes: true, qr: true }, find: async () => bank.interface });
  const { tokens } = await open().context.store();
  await tokens.change('anna.b', (slot) =>
    slot.write({
      accessToken: 'toy-token',
      accessTokenExpiresAt: null,
      refreshToken: null,
      refreshTokenExpiresAt: null,
      scope: null,
    }),
  );
  await tokens.remember('anna.b');
  /** Runs a command in this process. @returns what it printed */
  const run = async (...words: string[]): Promise<string> => {
    const command = open();
    try {
      await runIn(command.context, ...words);
    } catch (error) {
      if (error instanceof Psd2Error) throw Object.assign(error, { printed: command.printed() });
      throw error;
    }
    return command.printed();
  };
  const journal = (flow: string) =>
    readFileSync(join(folder.flows('env'), `${flow}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).event);
  return { run, journal };
}

const ORDER = [
  ...['--from', 'anna-current', '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'],
  ...['--amount', '12.50', '--reference', 'INV-1'],
];
const create = ['transfer', 'create', ...ORDER];
const OPERATION = ['standingOrder', '--account', 'anna-current'];

async function failureOf(work: Promise<string>): Promise<Psd2Error & { printed: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Psd2Error && 'printed' in error && typeof error.printed === 'string')
    return Object.assign(error, { printed: error.printed });
  throw error ?? new TypeError('The command succeeded');
}

describe('a transfer at a bank whose customers commit', () => {
  it('psd2 sends the customer to the bank, asks until the payment has run, and sends no execute', async () => {
    const bank = new ToyBank();
    const { run, journal } = await operatorAt(bank);
    const paid = printedFlow.parse(JSON.parse(await run(...create)));
    expect(paid).toMatchObject({ state: 'executed', authorizationStatus: 'yes' });
    expect(bank.payments).toHaveLength(1);
    expect(bank.links).toHaveLength(1);
    const events = journal(paid.flow);
    expect(events[0]).toMatchObject({ type: 'created', commits: 'by the customer' });
    expect(events.map(({ type }) => type)).not.toContain('execute-sent');
    expect((await failureOf(run(...create))).code).toBe('duplicate_reference');
    expect(JSON.parse(await run('transfer', 'list'))).toHaveLength(1);
  });

  it('a payment that the customer can still authorise is not cancelled here, and keeps its reference', async () => {
    const bank = new ToyBank();
    bank.words = ['open'];
    const { run } = await operatorAt(bank);
    const late = await failureOf(run(...create));
    expect(late.code).toBe('authorisation_timeout');
    const { flow } = printedFlow.parse(JSON.parse(late.printed));
    expect(JSON.parse(await run('transfer', 'list', '--attention'))).toMatchObject([
      { flow, state: 'authorizing' },
    ]);
    expect(await failureOf(run('transfer', 'cancel', flow))).toMatchObject({ code: 'usage' });
    expect((await failureOf(run(...create))).code).toBe('duplicate_reference');

    // An hour later the customer authorises it, without psd2.
    for (const payment of bank.payments) payment.words = ['paid'];
    expect(JSON.parse(await run('transfer', 'resume', flow))).toMatchObject({ flow, state: 'executed' });
    expect(bank.payments).toHaveLength(1);
  });

  it('the customer refuses, so the payment is over and its reference is free', async () => {
    const bank = new ToyBank();
    bank.words = ['no'];
    const { run } = await operatorAt(bank);
    expect((await failureOf(run(...create))).code).toBe('not_authorised');
    bank.words = ['paid'];
    expect(JSON.parse(await run(...create))).toMatchObject({ state: 'executed' });
    expect(bank.payments).toHaveLength(2);
  });

  it('an initiation without an answer may have begun a payment, so psd2 never sends it again', async () => {
    const bank = new ToyBank();
    bank.fates.push('lost');
    const { run } = await operatorAt(bank);
    const lost = await failureOf(run(...create));
    expect(lost.code).toBe('outcome_unknown');
    const { flow } = printedFlow.parse(JSON.parse(lost.printed));
    expect((await failureOf(run('transfer', 'resume', flow))).code).toBe('outcome_unknown');
    expect((await failureOf(run(...create))).code).toBe('duplicate_reference');
    expect(bank.payments).toHaveLength(1);
    await run('transfer', 'resolve', flow, '--not-executed');
    expect(JSON.parse(await run(...create))).toMatchObject({ state: 'executed' });
  });

  it.each([
    [['accounts', 'transactions', 'anna-current', '--export', 'pdf', '--file', 'x.pdf'], 'documents'],
    [['products', 'list'], 'products'],
    [['customer', 'id'], 'data of the customer'],
    [['customer', 'show'], 'data of the customer'],
    [['api', 'GET', '/anything', '--consent', 'co-1'], 'Consent-ID'],
    [['transfer', 'prepare', 'anna-current'], 'terms'],
    [['transfer', 'create', '--prepare', ...ORDER], 'terms'],
    [['transfer', 'receipt', 'tr-1', '--file', 'x.pdf'], 'receipts'],
    [['operation', 'prepare', ...OPERATION], 'operations'],
    [['operation', 'run', ...OPERATION], 'operations'],
    [['operation', 'verify', ...OPERATION], 'operations'],
    [['operation', 'sca', ...OPERATION, '--resource', 'op-1'], 'operations'],
    [['operation', 'execute', ...OPERATION, '--resource', 'op-1'], 'operations'],
    [['operation', 'status', ...OPERATION, '--resource', 'op-1'], 'operations'],
  ])('psd2 %j says what the interface lacks', async (words, capability) => {
    const bank = new ToyBank();
    const { run } = await operatorAt(bank);
    expect(await failureOf(run(...words))).toMatchObject({
      code: 'usage',
      message: `The interface of this bank (toy) has no ${capability}`,
    });
    expect(bank.payments).toEqual([]);
  });

  it.each([
    [['accounts', 'show', 'no id']],
    [['accounts', 'balance', 'no id']],
    [['accounts', 'transactions', 'no id']],
    [['accounts', 'transactions', 'no id', '--chart']],
    [['accounts', 'report', 'no id', '--file', 'x.html']],
    [['accounts', 'export', 'no id', '--format', 'csv', '--file', 'x.csv']],
    [['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', 'no id']],
    [['transfer', 'prepare', 'no id']],
    [['transfer', 'create', ...ORDER, '--from', 'no id']],
    [['operation', 'prepare', 'standingOrder', '--account', 'no id']],
    [['operation', 'run', 'standingOrder', '--account', 'no id']],
    [['operation', 'verify', 'standingOrder', '--account', 'no id']],
    [['operation', 'sca', 'standingOrder', '--account', 'no id', '--resource', 'op-1']],
  ])('psd2 %j has the interface read the id of the account', async (words) => {
    const bank = new ToyBank();
    Object.assign(bank.interface, { has: new Set(['payments', 'terms', 'operations']) });
    const { run } = await operatorAt(bank);
    expect(await failureOf(run(...words))).toMatchObject({
      code: 'invalid_product_id',
      message: 'The toy has no account "no id"',
    });
  });
});
