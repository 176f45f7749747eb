import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FindInterface } from '../../../src/commands/open/bank.ts';
import { customerOf, notLoggedIn } from '../../../src/commands/open/customer.ts';
import {
  describeAtBank,
  describeElsewhere,
  describeLogins,
  recordsAt,
  writeSome,
} from '../../../src/commands/open/other-logins.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin, storeTransfer } from '../access.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const ADDRESS = { baseUrl: 'https://stored.bank.example' };
const NONE = { PSD2_BASE_URL: undefined };
type How = NonNullable<Parameters<typeof openCommand>[2]>;

let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});
const open = (how?: How) => openCommand(folder, NOW, how).context;
const named = (profile: string): How => ({ globals: { profile } });

describe('the interface of the bank', () => {
  const nameOf = async (how?: How) => (await open(how).bankInterface()).name;
  const stored = JSON.stringify({ interface: 'nextgenpsd2', name: 'Stored' });

  it.each<[string, How | undefined, string]>([
    ['is the first one in the environment alone', undefined, 'cb'],
    ['is the first one without a bank file', named('bank'), 'cb'],
    ['is the first one without an address', { env: NONE }, 'cb'],
    ['is the first one without a profile', named('none'), 'cb'],
    ['comes from PSD2_BANK: the name of a platform', { env: { PSD2_BANK: 'adorsys' } }, 'nextgenpsd2'],
    ['comes from PSD2_BANK: a path', { env: { PSD2_BANK: join(temporary, 'bank.json') } }, 'nextgenpsd2'],
    ['comes from PSD2_BANK, where nothing but blanks counts as nothing', { env: { PSD2_BANK: ' ' } }, 'cb'],
    ['comes from the bank file of the profile, also if PSD2_BANK names none', named('own'), 'nextgenpsd2'],
  ])('%s', async (_, how, name) => {
    writeFileSync(join(temporary, 'bank.json'), stored);
    await open().profiles.write('bank', ADDRESS);
    await open().profiles.write('own', { ...ADDRESS, bank: stored });
    expect(await nameOf(how)).toBe(name);
  });

  it('comes from PSD2_BANK as its file is now: what failed is asked for again, and a changed file counts', async () => {
    const path = join(temporary, 'changing.json');
    const context = open({ env: { PSD2_BANK: path } });
    const again = () => context.forProfile(context.profile()).bankInterface();
    expect(await failureOf(again())).toMatchObject({ code: 'config' });
    writeFileSync(path, stored);
    expect((await again()).consentTerms?.once).toBe(true);
    writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', consent: { once: false } }));
    expect((await again()).consentTerms?.once).toBe(false);
  });

  it('is an error if the profile is damaged, or the bank file', async () => {
    await open().profiles.write('bank', { ...ADDRESS, bank: '{"interface":"other"}' });
    expect(await failureOf(nameOf(named('bank')))).toMatchObject({ code: 'config', exitCode: 3 });
    const profiles = join(folder.root, 'profiles');
    mkdirSync(profiles, { recursive: true });
    writeFileSync(join(profiles, 'damaged.json'), '{', { mode: 0o600 });
    expect(await failureOf(nameOf(named('damaged')))).toMatchObject({ code: 'config', exitCode: 3 });
  });

  it('is looked for once, and an error stays', async () => {
    const find = vi.fn<FindInterface>().mockResolvedValueOnce(new ToyBank().interface);
    const context = open({ find });
    for (const _ of ['first', 'second']) expect((await context.bankInterface()).name).toBe('toy');
    const error = new Psd2Error('config', 'Damaged');
    const failing = open({ find: vi.fn<FindInterface>().mockRejectedValueOnce(error) });
    for (const _ of ['first', 'second']) await expect(failing.bankInterface()).rejects.toBe(error);
  });
});

describe('the profile of a command', () => {
  it.each([
    ['production', 'PRODUCTION bank'],
    ['sandbox', undefined],
    [undefined, undefined],
  ] as const)('with the environment %j marks each question with %j', async (environment, mark) => {
    await open().profiles.write('bank', { ...ADDRESS, ...(environment && { environment }) });
    const marked = vi.fn();
    const changes: How['changes'] = ({ terminal }) => ({ terminal: { ...terminal, mark: marked } });
    const context = open({ ...named('bank'), changes });
    for (const _ of ['first', 'second']) context.profile();
    expect(marked.mock.calls).toEqual(mark === undefined ? [] : [[mark]]);
  });

  it('has a name even if its settings are missing: that of the option, else the chosen one, else env', async () => {
    expect(open().profileName()).toBe('env');
    expect(open({ env: NONE }).profileName()).toBe('env');
    const { profiles } = open();
    await profiles.write('bank', ADDRESS);
    await profiles.use('bank');
    expect(open({ env: NONE }).profileName()).toBe('bank');
    expect(open({ env: NONE, ...named('none') }).profileName()).toBe('none');
    await profiles.remove('bank');
    expect(open({ env: NONE, ...named('none') }).profileName()).toBe('none');
  });

  it('that fails for another reason than its settings has no name', () => {
    const fault = new TypeError('A fault');
    const { profiles } = open();
    vi.spyOn(profiles, 'current').mockImplementationOnce(() => {
      throw fault;
    });
    const broken = open({ env: NONE, changes: () => ({ profiles }) });
    expect(() => broken.profileName()).toThrow(fault);
  });

  it('without settings is asked for again, and the settings that there are then count', async () => {
    const context = open({ env: NONE, ...named('bank') });
    expect(() => context.profile()).toThrow('There is no profile "bank"');
    await context.profiles.write('bank', ADDRESS);
    expect(context.profile().settings.baseUrl).toBe(ADDRESS.baseUrl);
    await context.profiles.write('bank', { baseUrl: 'https://other.bank.example' });
    expect(context.profile().settings.baseUrl).toBe(ADDRESS.baseUrl);
  });
});

describe('a context for something else', () => {
  it('for another customer shares everything but the customer', async () => {
    const context = open({ globals: { customer: 'ada', verbose: true } });
    const other = context.forCustomer('bob');
    expect(context.globals.customer).toBe('ada');
    expect(other.globals).toMatchObject({ customer: 'bob', verbose: true });
    expect(await other.store()).toBe(await context.store());
    expect(other.repeated).toBe(context.repeated);
  });

  it('for look-ups prints nothing raw, and is the same if nothing is raw', () => {
    const context = open();
    expect(context.forLookups()).toBe(context);
    const raw = open({ globals: { raw: true, verbose: true } });
    const lookups = raw.forLookups();
    expect([lookups.globals.raw, lookups.globals.verbose, raw.globals.raw]).toEqual([false, true, true]);
  });

  it('for another profile by its name has its settings, and repeats the name', async () => {
    const { profiles } = open();
    await profiles.write('first', { baseUrl: 'https://first.bank.example' });
    await profiles.write('bank', ADDRESS);
    const context = open({ env: NONE, ...named('first') });
    const other = context.forProfile('bank');
    expect(other.profile()).toEqual({ name: 'bank', settings: ADDRESS });
    expect([other.globals.profile, other.repeated.profile]).toEqual(['bank', 'bank']);
    expect([context.profile().name, context.repeated.profile]).toEqual(['first', undefined]);
    expect(await other.store()).not.toBe(await context.store());
  });

  it('for a profile as it is given reads none', () => {
    const context = open(named('none'));
    const given = { name: 'given', settings: ADDRESS };
    const other = context.forProfile(given);
    expect([other.profile(), other.profileName(), other.globals.profile]).toEqual([given, 'given', 'none']);
  });

  it('with the keys of a fresh profile keeps the store, and opens the keys anew', async () => {
    const context = open();
    const shared = { pace: new SharedArrayBuffer(64), tally: new SharedArrayBuffer(64) };
    const fresh = { name: 'env', settings: { ...ADDRESS, qwacCertificate: { pem: 'new' } } };
    const other = context.withKeysOf(fresh, shared);
    expect(await other.store()).toBe(await context.store());
    expect(await other.wholeStore()).toBe(await context.wholeStore());
    expect(await other.bankInterface()).toBe(await context.bankInterface());
    expect(await other.keys()).not.toBe(await context.keys());
    expect((await (await other.keys()).read('QWAC')).certificate).toBe('new');
    expect(other.tally).toBe(shared.tally);
  });
});

describe('what was interrupted', () => {
  const opened = async (how?: How) => {
    const command = openCommand(folder, NOW, how);
    const store = await command.context.wholeStore();
    const data = store.open('env');
    const leftBehind = vi.spyOn(data.flows, 'leftBehind').mockResolvedValue({ flows: [], more: 0 });
    const open = vi.spyOn(store, 'open').mockReturnValue(data);
    return { ...command, leftBehind, open };
  };
  const PERSON = { format: 'table', columns: 100 } as const;

  it('is looked for once for a person, but for the flow that the command continues', async () => {
    const { context, leftBehind, open } = await opened(PERSON);
    await context.store('tr-1');
    await context.store();
    expect(leftBehind.mock.calls).toEqual([[3, 'tr-1']]);
    expect(open.mock.calls).toEqual([['env', new URL('https://psd2.bank.example')]]);
  });

  it('is named, with the command that continues it', async () => {
    const flow = await storeTransfer(open(), {});
    const { context, leftBehind, said } = await opened(PERSON);
    const left = { kind: 'transfer', flow, state: 'created', resourceId: null } as const;
    leftBehind.mockResolvedValue({ flows: [left], more: 0 });
    await context.store();
    expect(said()).toBe(
      `Interrupted: transfer ${flow} (created). Continue with:\n  psd2 transfer resume ${flow}\n`,
    );
  });

  it('is not what only waits for its customer: both together are unfinished', async () => {
    const flows = [await storeTransfer(open(), {}), await storeTransfer(open(), { reference: 'R2' })];
    const { context, leftBehind, said } = await opened(PERSON);
    const left = flows.map((flow, at) => ({
      ...({ kind: 'transfer', resourceId: null } as const),
      ...{ flow, state: at === 0 ? ('created' as const) : ('authorizing' as const) },
    }));
    leftBehind.mockResolvedValue({ flows: left, more: 0 });
    await context.store();
    expect(said()).toMatch(/^Unfinished: 2 flows\. Continue with:\n {2}psd2 transfer resume /);
  });

  it('is no concern of a program', async () => {
    const { context, leftBehind } = await opened();
    await context.store();
    expect(leftBehind).not.toHaveBeenCalled();
  });
});

const commandAt = (name: string) => open({ env: { PSD2_BASE_URL: `https://${name}.example` } });

const NOBODY = { code: 'not_logged_in', exitCode: 4, message: 'Nobody is logged in with the profile "env"' };
const LOGIN = ['--profile', 'env', 'auth', 'login'];

describe('the customer of a command', () => {
  it('is that of the option, else the one of the last login', async () => {
    await storeLogin(open(), '1000001');
    await storeLogin(open(), '1000002');
    expect(await customerOf(open())).toBe('1000002');
    expect(await customerOf(open({ globals: { customer: '1000001' } }))).toBe('1000001');
    expect(await failureOf(customerOf(open({ globals: { customer: 'anna' } })))).toMatchObject({
      code: 'usage',
    });
  });

  it('at a bank where the operator names the customers is the default one, if nobody else is known', async () => {
    const find = bankWhere({ customers: 'named by the operator' });
    expect(await customerOf(open({ find }))).toBe('default');
    await storeLogin(open(), 'ada');
    expect(await customerOf(open({ find }))).toBe('ada');
  });

  it('is unknown before the first login, also if only the application is logged in', async () => {
    const nobody = { ...NOBODY, next: [LOGIN] };
    const application = { globals: { grant: 'client_credentials' } } as const;
    expect(await failureOf(customerOf(open()))).toEqual(nobody);
    expect(await failureOf(customerOf(open(application)))).toEqual(nobody);
    await storeLogin(open(), null);
    expect(await failureOf(customerOf(open(application)))).toEqual({
      ...{ code: 'not_logged_in', exitCode: 4, message: 'No customer has logged in yet' },
      hint: 'Name one with --customer <id>.',
    });
    expect(await failureOf(customerOf(open()))).toEqual(nobody);
  });
});

describe('the error without a login', () => {
  const failure = (holder: string | null | undefined, how?: How) =>
    failureOf(notLoggedIn(open(how), holder).then((error) => Promise.reject(error)));

  it('names who else is logged in', async () => {
    await storeLogin(open(), '1000001');
    expect(await failure('1000002')).toEqual({
      ...{ code: 'not_logged_in', exitCode: 4 },
      message: 'The customer 1000002 is not logged in with the profile "env"',
      ...{ hint: 'Logged in: 1000001. Or run:', next: [LOGIN] },
    });
    expect(await failure(undefined)).toMatchObject({
      message: 'psd2 has forgotten who logged in last with the profile "env"',
      hint: 'Logged in: 1000001. Name one with --customer, or run:',
    });
    // The application's login is nobody's else.
    expect(await failure(null)).toEqual({ ...NOBODY, next: [[...LOGIN, '--client-credentials']] });
  });

  it('says where the logins belong, if there is none here', async () => {
    await storeLogin(commandAt('old'), '1000001');
    expect(await failure('1000001')).toEqual({
      ...NOBODY,
      hint: '1 login of this profile belongs to https://old.example/. Set that base URL again, take the logins along if the same bank has a new address (psd2 auth move), or log in at this one:',
      next: [LOGIN],
    });
  });

  it('at a bank where customers log in with a consent leads to the consent', async () => {
    const how = { find: bankWhere({ logsIn: 'with a consent' }) };
    expect((await failure('ada', how)).next).toEqual([['--profile', 'env', 'consent', 'request']]);
    expect((await failure(null, how)).next).toEqual([[...LOGIN, '--client-credentials']]);
  });
});

describe('what belongs to other base URLs', () => {
  const elsewhere = async () => describeElsewhere(await open().store());

  it('is counted over all of them, and one is named', async () => {
    expect(await elsewhere()).toBeUndefined();
    await storeLogin(commandAt('old'), '1000001');
    expect(await elsewhere()).toBe('1 login of this profile belongs to https://old.example/');
    await (await commandAt('old').store()).customers.change('ada', (before) => before);
    expect(await elsewhere()).toBe(
      '1 login and the consents of 1 customer of this profile belong to https://old.example/',
    );
    await storeLogin(commandAt('third'), '1000002');
    expect(await elsewhere()).toMatch(
      /^2 logins and the consents of 1 customer of this profile belong to https:\/\/(old|third)\.example\/ and 1 more base URLs$/,
    );
    const there = async (bank: string) => recordsAt(await open().store(), bank);
    expect(await there('https://old.example/')).toEqual({ logins: 1, customers: 1 });
    expect(await there('https://none.example/')).toEqual({ logins: 0, customers: 0 });
  });

  it.each([
    [0, 0, '0 logins'],
    [1, 0, '1 login'],
    [0, 1, 'the consents of 1 customer'],
    [2, 2, '2 logins and the consents of 2 customers'],
  ])('of %i logins and %i records it says: %s', (logins, customers, text) => {
    expect(describeAtBank({ logins, customers })).toBe(text);
  });
});

it('those who are logged in are named, the first five of many', async () => {
  expect(await describeLogins(await open().store())).toBeUndefined();
  await storeLogin(open(), '1000001');
  expect(await describeLogins(await open().store())).toBe('Logged in: 1000001');
  expect(writeSome(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c, d, e');
  expect(writeSome(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('a, b, c, d, e and 2 more');
});

it('what the interface of a bank lacks is refused, with what to do instead', async () => {
  const context = open({ find: bankWhere({ has: new Set(['payments']) }) });
  await context.needs('payments');
  expect(await failureOf(context.needs('products'))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: 'The interface of this bank, toy, has no products' },
    ...{ hint: 'See the accounts with:', next: [['accounts', 'list']] },
  });
  const none = open({ find: bankWhere({ has: new Set() }) });
  expect(await failureOf(none.needs('payments'))).toMatchObject({
    hint: 'psd2 has sent nothing. At such a bank, psd2 only reads.',
  });
  expect(await failureOf(none.needs('operations'))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: 'The interface of this bank, toy, has no operations' },
  });
});
