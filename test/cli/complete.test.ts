import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { complete } from '../../src/cli/completion/complete.ts';
import { globalOptions } from '../../src/cli/globals.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import { parseProductId } from '../../src/domain/identifiers.ts';
import { OPERATION_STATES } from '../../src/domain/operation.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import { PLATFORMS } from '../bank-file/described.ts';
import { storeLogin, storeTransfer } from '../commands/access.ts';
import { openCommand } from '../commands/command.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';

const temporary = temporaryFolder();
const AT = '2026-11-21T12:34:56.000Z';

let folder: StoreFolder;

/** What psd2 offers after these words. */
async function offer(words: string[], env: Record<string, string> = {}) {
  const program = await buildProgram('0.0.0', { words });
  return complete(program, words, { PSD2_CONFIG_DIR: folder.root, ...env });
}

/** The values of that, without what they are. */
async function namesAfter(...words: string[]): Promise<string[]> {
  const completion = await offer(words);
  return 'files' in completion ? [completion.files] : completion.values.map(([value]) => value);
}

/** Writes the first line of a journal, as an older or a newer psd2 may have written it. */
function begin(profile: string, flow: string, event: unknown, at: unknown = AT) {
  mkdirSync(folder.flows(profile), { recursive: true });
  writeFileSync(join(folder.flows(profile), `${flow}.ndjson`), `${JSON.stringify({ at, event })}\n`);
}

const TRANSFER = 'tr-0mwrl6s6aaaaaa';
const OPERATION = 'op-0mwrl6s6bbbbbb';
const OTHER_OPERATION = 'op-0mwrl6s6cccccc';
const CONSENT = 'co-0mwrl6s6dddddd';
const LINKED_CONSENT = 'co-0mwrl6s6eeeeee';
const IBAN = 'DE89370400440532013000';

beforeAll(() => {
  folder = newConfigFolder(temporary);
  const order = { from: '0000000003', amount: '12.50', currency: 'EUR', name: 'Ada\nKing' };
  begin('env', TRANSFER, { order });
  begin('env', OPERATION, { order: { from: '0000000002', operation: 'standingOrder' } });
  begin('env', OTHER_OPERATION, { order: { from: '0000000003', operation: 'MoneyTransfer' } });
  const categories = [
    { name: 'ACCOUNT_INFO', products: ['0000000001', 7] },
    { name: 'PAYMENTS', products: ['0000000002'] },
    null,
  ];
  begin('env', CONSENT, { categories });
  begin('env', LINKED_CONSENT, { terms: { access: { accounts: [IBAN] } } });
});

describe('a word that is a command', () => {
  it('at the start, each command is offered with what it does', async () => {
    const { commands } = await buildProgram('0.0.0', { words: [''] });
    expect(await offer([''])).toEqual({
      values: commands.map((command) => [command.name(), command.description()]),
    });
    expect(await offer([])).toEqual(await offer(['']));
  });

  it.each([
    [['tr'], ['transfer']],
    [['auth', 're'], ['refresh']],
    [['nothing'], []],
    // The word after an unknown one is an argument, and no command.
    [['nothing', 'tr'], []],
    [['transfer', 'nothing', 'cr'], []],
    [['api', 'GET', ''], []],
  ])('after %j, psd2 offers %j', async (words, names) => {
    expect(await namesAfter(...words)).toEqual(names);
  });

  it('psd2 help offers commands and topics, and below a command its own commands alone', async () => {
    const { commands } = await buildProgram('0.0.0', { words: ['help', 'auth', ''] });
    const list = (group: typeof commands) => group.map((child) => [child.name(), child.description()]);
    const topics = Object.entries(TOPICS).map(([name, { title }]) => [name, title]);
    expect(await offer(['help', ''])).toEqual({ values: [...list(commands), ...topics] });
    expect(await offer(['help', 'exit'])).toEqual({ values: [['exit-codes', 'what each exit code means']] });
    const auth = commands.find((command) => command.name() === 'auth')?.commands ?? [];
    expect(await offer(['help', 'auth', ''])).toEqual({ values: list(auth) });
    expect(await offer(['help', 'auth', 'login', ''])).toEqual({ values: [] });
    expect(await offer(['help', 'exit-codes', ''])).toEqual({ values: [] });
  });
});

describe('a word that is an option', () => {
  const GLOBAL = globalOptions().map(({ long, description }) => [long, description]);
  const HELP = ['--help', 'show how the command is used'];

  it('after the options of the command come those of every command', async () => {
    const program = await buildProgram('0.0.0', { words: ['transfer', 'resume'] });
    const transfer = program.commands.find((command) => command.name() === 'transfer');
    const resume = transfer?.commands.find((command) => command.name() === 'resume');
    const own = resume?.options.map(({ long, description }) => [long, description]) ?? [];
    expect(await offer(['transfer', 'resume', '-'])).toEqual({ values: [...own, ...GLOBAL, HELP] });
    expect(await offer(['consent', 'show', '-'])).toEqual({
      values: [...GLOBAL, HELP],
    });
  });

  it('the version is an option of psd2 alone', async () => {
    expect(await namesAfter('--ver')).toEqual(['--version', '--verbose']);
    expect(await namesAfter('auth', '--ver')).toEqual(['--verbose']);
  });

  it.each([
    ['a standard command gives its options to its group', ['transfer', '--amo'], ['--amount']],
    ['which has them itself too', ['transfer', 'create', '--amo'], ['--amount']],
    ['another command of the group does not', ['transfer', 'resume', '--amo'], []],
    ['a group without a standard command has none', ['accounts', '--mon'], []],
    ['a hidden option is not offered', ['consent', 'cancel', '--pas'], []],
    ['one that is given with its value is not offered again', ['--lang=it', '--la'], []],
    ['nor one given by its letter', ['-q', '--qui'], []],
    ['nor one whose value is the next word', ['--lang', 'it', '--la'], []],
    ['nor one without a value', ['accounts', 'list', '--json', '--js'], []],
    ['one that may be repeated is', ['consent', 'request', '--account', '1', '--acc'], ['--account']],
    ['an option that is only a value is', ['--trace', '--lang', '--la'], ['--lang']],
    ['an unknown option takes no value', ['--nothing', 'auth', 'log'], ['login', 'logout']],
    ['an option without a value neither', ['--json', 'auth', 'log'], ['login', 'logout']],
    ['an option with its value takes no other word', ['--lang=it', 'auth', 'log'], ['login', 'logout']],
    ['the value of an option is no command', ['--trace', 'auth', 'tr'], ['transfer']],
    ['a dash is an argument, and no option', ['-', 'auth', 'log'], []],
    ['after two dashes each word is an argument', ['--', '--json', '--js'], []],
    ['after two dashes a second pair is an argument', ['--', '--', 'tr'], []],
    ['after two dashes no value is an option', ['--', '--output=c'], []],
  ])('%s', async (_, words, names) => {
    expect(await namesAfter(...words)).toEqual(names);
  });
});

describe('a value', () => {
  it.each([
    ['a format, after the letter', '-o ', ['table', 'json', 'ndjson', 'csv']],
    ['a format that is begun', '--output n', ['ndjson']],
    ['a format after an equals sign', '--output=j', ['json']],
    ['nothing for an unknown option', '--nothing=j', []],
    ['nothing for a free text', '--trace ', []],
    ['a choice', '--grant auth', ['authorization_code']],
    ['a choice of an argument', 'completion z', ['zsh']],
    ['nothing for the argument after the last one', 'completion bash ', []],
    ['the states', 'transfer list --state ', [...OPERATION_STATES]],
    ['the categories', 'consent request --category ', ['ACCOUNT_INFO', 'FUNDS_AVAILABILITY', 'PAYMENTS']],
    ['an account to pay from', 'transfer --from 0000000002', ['0000000002']],
    ['an account for an option that takes several', 'consent request --account D', [IBAN]],
    ['an account of a consent', 'funds check --account DE', [IBAN]],
    ['each account once, in order', 'accounts balance ', ['0000000001', '0000000002', '0000000003', IBAN]],
    ['an operation that is no transfer', 'operation status ', ['standingOrder']],
    ['each operation for --resource', 'operation status x 1 --resource ', [OTHER_OPERATION, OPERATION]],
    ['each consent for --consent', 'api GET / --consent ', [LINKED_CONSENT, CONSENT]],
    [
      'each flow for --transaction',
      'log --transaction ',
      [LINKED_CONSENT, CONSENT, OTHER_OPERATION, OPERATION, TRANSFER],
    ],
    ['files', 'accounts export --file ', ['files']],
    ['files for an argument', 'batch add ', ['files']],
    ['folders', 'sync --out /', ['folders']],
  ])('psd2 offers %s: %j', async (_, line, names) => {
    expect(await namesAfter(...line.split(' '))).toEqual(names);
  });

  it('beside a flow is what it is about, in one line', async () => {
    const values = async (...words: string[]) => offer([...words, '']);
    expect(await values('transfer', 'show')).toEqual({
      values: [[TRANSFER, '12.50 EUR to Ada King, 2026-11-21 12:34']],
    });
    expect(await values('operation', 'show')).toEqual({
      values: [
        [OTHER_OPERATION, 'MoneyTransfer, 2026-11-21 12:34'],
        [OPERATION, 'standingOrder, 2026-11-21 12:34'],
      ],
    });
    expect(await values('consent', 'show')).toEqual({
      values: [
        [LINKED_CONSENT, ', 2026-11-21 12:34'],
        [CONSENT, 'ACCOUNT_INFO, PAYMENTS, 2026-11-21 12:34'],
      ],
    });
  });

  it('a bank is a platform that comes with psd2, or a file', async () => {
    const files = join(temporary, 'banks');
    mkdirSync(join(files, 'more'), { recursive: true });
    for (const name of ['one.json', '.hidden', 'more/two.json']) writeFileSync(join(files, name), '');
    const platforms = Object.entries(PLATFORMS).map(([name, { name: bank }]) => [name, bank ?? '']);
    expect(await offer(['bank', 'show', 'adorsys'])).toEqual({
      values: platforms.filter(([name]) => name === 'adorsys'),
    });
    expect(await offer(['bank', 'show', ''])).toEqual({
      values: expect.arrayContaining([...platforms, ['package.json', ''], ['src/', '']]),
    });
    expect(await offer(['bank', 'show', `${files}/`])).toEqual({
      values: [
        [`${files}/more/`, ''],
        [`${files}/one.json`, ''],
      ],
    });
    expect(await namesAfter('bank', 'show', `${files}/o`)).toEqual([`${files}/one.json`]);
    expect(await namesAfter('bank', 'show', `${files}/.`)).toEqual([`${files}/.hidden`]);
    expect(await namesAfter('bank', 'show', `${files}/nowhere/`)).toEqual([]);
  });

  it('JSON is a file after an at sign, and nothing without one', async () => {
    const data = join(temporary, 'data');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'order.json'), '');
    const words = ['operation', 'run', 'x', '--data'];
    expect(await offer([...words, `@${data}/`])).toEqual({ values: [[`@${data}/order.json`, '']] });
    expect(await namesAfter(...words, `${data}/`)).toEqual([]);
    expect(await namesAfter(...words, '@nowhere/')).toEqual([]);
  });
});

describe('odd data', () => {
  const NUMBERED = { from: 5, amount: '1.00', currency: 'EUR', name: 'Ada' };
  const FORGOTTEN = { order: { ...NUMBERED, from: 'pseudonym-0123456789abcdef' } };
  const NOTED = { count: 3, by: 'Ada', note: 'wages\nof May' };
  it.each([
    ['nothing', {}, ', 2026-11-21 12:34'],
    ['no order', { order: null }, ', 2026-11-21 12:34'],
    ['an order of another kind', { order: 'pay', categories: 'all' }, ', 2026-11-21 12:34'],
    ['an account of another kind', { order: NUMBERED }, '1.00 EUR to Ada, 2026-11-21 12:34'],
    ['an account of a customer whom psd2 has forgotten', FORGOTTEN, '1.00 EUR to Ada, 2026-11-21 12:34'],
    ['accounts of another kind', { terms: { access: { accounts: 'all' } } }, ', 2026-11-21 12:34'],
    ['terms without access', { terms: { access: null } }, ', 2026-11-21 12:34'],
    ['categories that are no objects', { categories: ['all', 5] }, ', 2026-11-21 12:34'],
  ])('a flow with %s is offered, and no account of it', async (name, event, what) => {
    const profile = name.replaceAll(' ', '-');
    begin(profile, TRANSFER, event);
    expect(await offer(['transfer', 'show', ''], { PSD2_PROFILE: profile })).toEqual({
      values: [[TRANSFER, what]],
    });
    expect(await offer(['accounts', 'balance', ''], { PSD2_PROFILE: profile })).toEqual({ values: [] });
  });

  it.each([
    ['nothing', {}, '? payments by ?, 2026-11-21 12:34'],
    ['an empty note', { count: 0, by: 'Ada', note: '' }, '0 payments by Ada, 2026-11-21 12:34'],
    ['a count that is a text', { count: '3', by: 3, note: 3 }, '? payments by ?, 2026-11-21 12:34'],
    ['a note', NOTED, '3 payments by Ada, wages of May, 2026-11-21 12:34'],
  ])('a batch with %s is described as far as it is known', async (name, event, what) => {
    const profile = `batch-${name.replaceAll(' ', '-')}`;
    const id = 'a'.repeat(64);
    const events = join(folder.flows(profile), 'batches', id, 'events');
    mkdirSync(events, { recursive: true });
    writeFileSync(join(events, '1'), JSON.stringify({ at: AT, event }));
    expect(await offer(['batch', 'show', ''], { PSD2_PROFILE: profile })).toEqual({ values: [[id, what]] });
  });

  it('without a profile, psd2 offers what the profile of the environment has', async () => {
    const empty = newConfigFolder(temporary);
    expect(await offer(['accounts', 'balance', ''], { PSD2_CONFIG_DIR: empty.root })).toEqual({ values: [] });
    expect(await namesAfter('--profile', '', 'accounts', 'balance', '0000000001')).toEqual(['0000000001']);
  });
});

describe('of several profiles', () => {
  let profiles: StoreFolder;
  const flows: Record<string, string> = {};

  /** Three profiles with data of their own. `current` is the chosen one. */
  beforeAll(async () => {
    profiles = newConfigFolder(temporary);
    for (const [index, profile] of ['current', 'named', 'other'].entries()) {
      const { context } = openCommand(profiles, AT, {
        env: { PSD2_BASE_URL: undefined },
        globals: { profile },
      });
      await context.profiles.write(profile, { baseUrl: 'https://psd2.bank.example', clientSecret: 'hush' });
      const [customerId, from] = [`100000${index}`, parseProductId(`000000100${index}`)];
      await storeLogin(context, customerId);
      flows[profile] = await storeTransfer(context, { customerId, from });
      const events = join(profiles.flows(profile), 'batches', String(index).repeat(64), 'events');
      mkdirSync(events, { recursive: true });
      writeFileSync(join(events, '1'), JSON.stringify({ at: AT, event: { type: 'added', count: 2 } }));
    }
    await openCommand(profiles, AT).context.profiles.use('current');
  });

  it.each([
    ['the chosen profile', [], {}, 'current', 0],
    ['--profile', ['--profile', 'named'], {}, 'named', 1],
    ['--profile=', ['--profile=named'], {}, 'named', 1],
    ['PSD2_PROFILE', [], { PSD2_PROFILE: 'other' }, 'other', 2],
    ['--profile beside PSD2_PROFILE', ['--profile', 'named'], { PSD2_PROFILE: 'other' }, 'named', 1],
    ['the last --profile', ['--profile', 'other', '--profile', 'named'], {}, 'named', 1],
    ['an empty PSD2_PROFILE', [], { PSD2_PROFILE: '' }, 'current', 0],
  ])(
    'with %s, Tab offers the ids of that profile, and of no other',
    async (_, words, env, profile, index) => {
      const idsFor = async (...more: string[]) => {
        const completion = await offer([...words, ...more, ''], { PSD2_CONFIG_DIR: profiles.root, ...env });
        return 'files' in completion ? [] : completion.values.map(([value]) => value);
      };
      expect(await idsFor('transfer', 'show')).toEqual([flows[profile]]);
      expect(await idsFor('--customer')).toEqual([`100000${index}`]);
      expect(await idsFor('customer', 'export')).toEqual([`100000${index}`]);
      expect(await idsFor('batch', 'show')).toEqual([String(index).repeat(64)]);
      expect(await idsFor('audit', '--flow')).toEqual([flows[profile]]);
      expect(await idsFor('api', 'GET', '/v1/accounts', '--consent')).toEqual([]);
      expect(await idsFor('accounts', 'balance')).toEqual([`000000100${index}`]);
    },
  );

  it('a flow is described as its journal begins', async () => {
    expect(await offer(['transfer', 'show', ''], { PSD2_CONFIG_DIR: profiles.root })).toEqual({
      values: [[flows.current, expect.stringContaining('EUR to ')]],
    });
  });
});
