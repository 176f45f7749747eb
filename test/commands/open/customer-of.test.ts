import { beforeEach, describe, expect, it } from 'vitest';
import { customerOf, notLoggedIn } from '../../../src/commands/open/bank.ts';
import {
  describeAtBank,
  describeElsewhere,
  describeLogins,
  recordsAt,
  writeSome,
} from '../../../src/commands/open/other-logins.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
type How = NonNullable<Parameters<typeof openCommand>[2]>;

let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});
const open = (how?: How) => openCommand(folder, NOW, how).context;
const old = (name: string) => open({ env: { PSD2_BASE_URL: `https://${name}.example` } });

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
    await storeLogin(old('old'), '1000001');
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
    await storeLogin(old('old'), '1000001');
    expect(await elsewhere()).toBe('1 login of this profile belongs to https://old.example/');
    await (await old('old').store()).customers.change('ada', (before) => before);
    expect(await elsewhere()).toBe(
      '1 login and the consents of 1 customer of this profile belong to https://old.example/',
    );
    await storeLogin(old('third'), '1000002');
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
    ...{ code: 'usage', exitCode: 2, message: 'The interface of this bank (toy) has no products' },
    ...{ hint: 'See the accounts with:', next: [['accounts', 'list']] },
  });
  const none = open({ find: bankWhere({ has: new Set() }) });
  expect(await failureOf(none.needs('payments'))).toMatchObject({
    hint: 'psd2 has sent nothing. At such a bank, psd2 only reads.',
  });
  expect(await failureOf(none.needs('operations'))).toEqual({
    ...{ code: 'usage', exitCode: 2, message: 'The interface of this bank (toy) has no operations' },
  });
});
