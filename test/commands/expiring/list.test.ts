import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import * as z from 'zod';
import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeQualifiedCertificate,
  privateKeyPem,
} from '../../../src/certificates/eidas.ts';
import { allEndings, describeSoon, type Ending } from '../../../src/commands/checks/endings.ts';
import { warnOfEndings } from '../../../src/commands/checks/warn.ts';
import { expiring } from '../../../src/commands/expiring/expiring.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import type { Consent } from '../../../src/domain/consent.ts';
import type { ConsentCategory } from '../../../src/domain/consent-category.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration, type Registration } from '../../../src/sandbox/folder/registration.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { keepConsent, storeConsent, storeConsentFlow, storeLogin } from '../access.ts';
import { type How, openCommand, runIn, useFolder } from '../command.ts';
import { failureIfAny, failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const inDays = (days: number) => new Date(Date.parse(NOW) + days * 24 * 60 * 60 * 1000).toISOString();
const ACCOUNT = parseProductId('0000012345');

const folder = useFolder(temporary);

let files: Registration;
beforeAll(async () => {
  files = await loadOrCreateRegistration(inject('registration'));
});

/** Runs `psd2 expiring`. @returns what it printed and said, and how it failed */
async function run(words: string[] = [], how?: How) {
  const command = openCommand(folder, NOW, how);
  const failure = await failureIfAny(runIn(command.context, 'expiring', ...words));
  return { failure, printed: command.printed(), said: command.said() };
}
const logIn = (customer: string, days: number) =>
  storeLogin(openCommand(folder, NOW).context, customer, { refreshTokenExpiresAt: inDays(days) });
/** What psd2 remembers of the items that the operator's command has got. */
const notified = () =>
  Object.keys(JSON.parse(readFileSync(join(folder.root, 'notified', 'env.json'), 'utf8'))).toSorted();

type Access = NonNullable<NonNullable<Consent['terms']>['access']>;

describe('what ends soon', () => {
  it('a login and a consent stand with the commands that renew them, and the first is the advice', async () => {
    await logIn('1000001', 13);
    const before = openCommand(folder, inDays(-175)).context;
    await storeConsent(before, '1000001', [{ name: 'ACCOUNT_INFO', products: [ACCOUNT] }]);
    const { printed, failure } = await run();
    const data: unknown = JSON.parse(printed);
    expect(expiring.prints?.shape.is(data)).toBe(true);
    const renew = ['psd2', '--customer', '1000001'];
    const consent = ['consent', 'request', '--category', 'ACCOUNT_INFO', '--account', ACCOUNT];
    expect(data).toEqual([
      {
        ...{ kind: 'consent', name: 'ACCOUNT_INFO', customerId: '1000001', endsAt: inDays(5) },
        next: [...renew, ...consent],
      },
      {
        ...{ kind: 'login', name: 'refresh token', customerId: '1000001', endsAt: inDays(13) },
        next: [...renew, 'auth', 'login'],
      },
    ]);
    expect(failure).toEqual({
      ...{ code: 'ends_soon', exitCode: 12, hint: 'Renew the first one with:' },
      message: '2 of 2 certificates, logins and consents end within 14 days',
      next: [['--customer', '1000001', ...consent]],
    });
    await logIn('1000002', 20);
    expect((await run()).failure?.message).toMatch(/^2 of 3 /);
    expect((await run(['--within', '21d'])).failure?.message).toMatch(/^3 of 3 .* end within 21 days$/);
  });

  it('the commands name a stored profile, and the certificates of one are edited', async () => {
    const { context } = openCommand(folder, NOW);
    await context.profiles.write('bank', {
      ...{ baseUrl: 'https://psd2.bank.example', qwacCertificate: { path: files.qwacCertFile } },
      ...{ qsealCertificate: { path: files.qsealCertFile }, ca: { path: files.caFile } },
    });
    const bank = () => openCommand(folder, NOW, { globals: { profile: 'bank' } }).context;
    await storeLogin(bank(), '1000001', { refreshTokenExpiresAt: inDays(1) });
    const edit = ['psd2', 'profile', 'edit', 'bank'];
    expect((await allEndings(bank())).map(({ kind, name, next }) => [kind, name, next])).toEqual([
      ['certificate', 'QWAC', edit],
      ['certificate', 'QSealC', edit],
      ['certificate', 'CA', edit],
      ['login', 'refresh token', ['psd2', '--profile', 'bank', '--customer', '1000001', 'auth', 'login']],
    ]);
    const env = { PSD2_QWAC_CERT: files.qwacCertFile };
    const [qwac] = await allEndings(openCommand(folder, NOW, { env }).context);
    expect(qwac?.next).toEqual(['psd2', 'cert', 'check', '<new certificate>']);
  });

  it('a person reads one line for each, at a narrow terminal without the customer', async () => {
    await logIn('1000001', 13);
    const { printed } = await run([], { format: 'table' });
    expect(printed).toBe(
      `${inDays(13)}\tlogin\trefresh token\t1000001\tpsd2 --customer 1000001 auth login\n`,
    );
    const drawn = async (columns: number) =>
      (await run([], { format: 'table', columns })).printed.split('\n').map((line) => line.trim());
    const [titles, row] = await drawn(120);
    expect(titles?.split(/ {2,}/)).toEqual(['ENDS', 'KIND', 'NAME', 'CUSTOMER', 'RENEW WITH']);
    // In the zone of the operator.
    expect(row).toMatch(/^2026-03-1\d \d\d:\d\d +login +refresh token +1000001 +psd2 /);
    expect((await drawn(70))[0]?.split(/ {2,}/)).toEqual(['ENDS', 'KIND', 'NAME', 'RENEW WITH']);
  });

  it.each([
    ['0d', '0 days'],
    ['1d', '1 day'],
    ['2', '2 days'],
    ['1w', '7 days'],
  ])('within %s nothing ends, and that is no error', async (within, span) => {
    await logIn('1000001', 13);
    expect(await run(['--within', within], { format: 'table' })).toEqual({
      ...{ failure: null, printed: '', said: `Nothing ends within ${span}.\n` },
    });
  });

  it('what ends in this very moment does not end within no time', async () => {
    await logIn('1000001', 0);
    expect((await run(['--within', '0'])).failure).toBeNull();
    await logIn('1000002', -1);
    expect((await run(['--within', '0'])).failure?.message).toBe(
      '1 of 2 certificates, logins and consents end within 0 days',
    );
  });

  it('without a login, here or elsewhere, nothing is said besides', async () => {
    expect(await run()).toEqual({ failure: null, printed: '[]\n', said: '' });
  });

  it('a certificate that cannot be read is named', async () => {
    const file = join(temporary, 'no-certificate.pem');
    writeFileSync(file, 'no certificate', { mode: 0o600 });
    expect((await run([], { env: { PSD2_QWAC_CERT: file } })).failure).toMatchObject({
      ...{ code: 'certificate', exitCode: 3 },
      message: expect.stringContaining('The QWAC certificate'),
    });
  });

  it('logins at another base URL are left out with a warning, if there is none here', async () => {
    const old = { env: { PSD2_BASE_URL: 'https://old.bank.example' } };
    await storeLogin(openCommand(folder, NOW, old).context, '1000001');
    const elsewhere =
      '1 login of this profile belongs to https://old.bank.example/. psd2 expiring leaves them out.\n';
    expect(await run()).toEqual({ failure: null, printed: '[]\n', said: elsewhere });
    expect((await run([], { env: { PSD2_QWAC_CERT: files.qwacCertFile } })).said).toContain(elsewhere);
    await logIn('1000002', 20);
    expect((await run()).said).toBe('');
  });
});

describe("the operator's own command", () => {
  /** A command that keeps what it gets, one line each time. */
  const keeper = () => {
    const file = join(temporary, `got-${Math.random()}`);
    writeFileSync(file, '');
    const lines = (): unknown[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    return { env: { PATH: process.env.PATH, PSD2_NOTIFY: `tee -a ${file}` }, lines };
  };

  it('gets each end once, and again if it changes', async () => {
    const { env, lines } = keeper();
    await logIn('1000001', 13);
    await run([], { env });
    await run([], { env });
    const end = (customerId: string, days: number) => ({
      ...{ profile: 'env', kind: 'login', name: 'refresh token', customerId, endsAt: inDays(days) },
      next: ['psd2', '--customer', customerId, 'auth', 'login'],
    });
    expect(lines()).toEqual([end('1000001', 13)]);
    await logIn('1000001', 12);
    await logIn('1000002', 11);
    await run([], { env });
    expect(lines()).toEqual([end('1000001', 13), end('1000002', 11), end('1000001', 12)]);
  });

  it('gets each consent of a customer, and forgets what is over', async () => {
    const { env, lines } = keeper();
    const other = parseProductId('0000067890');
    await logIn('1000001', 100);
    const consent = (products: (typeof ACCOUNT)[], days: number) =>
      storeConsent(openCommand(folder, inDays(days)).context, '1000001', [
        { name: 'ACCOUNT_INFO', products },
      ]);
    await consent([ACCOUNT], -175);
    await consent([other], -174);
    await run([], { env });
    await run([], { env });
    expect(lines()).toHaveLength(2);
    expect(notified()).toEqual([
      `consent ACCOUNT_INFO 1000001 ${ACCOUNT}`,
      `consent ACCOUNT_INFO 1000001 ${other}`,
    ]);
    const { tokens } = await openCommand(folder, NOW).context.store();
    await tokens.forget('1000001');
    await run([], { env });
    expect(notified()).toEqual([]);
  });

  it('gets each consent of a customer whom the operator names once, with how it is asked for again', async () => {
    const { env, lines } = keeper();
    const { context } = openCommand(folder, NOW);
    const one = { type: 'dedicated' as const, accounts: ['a-1'], balances: [], transactions: [] };
    const both = ['a-1', 'a-2'];
    const asked: [Access, ...string[]][] = [
      [{ ...one, balances: ['a-1'] }, '--account', 'a-1', '--balances'],
      [one, '--account', 'a-1'],
      [{ ...one, transactions: ['a-1'] }, '--account', 'a-1', '--transactions'],
      [{ ...one, accounts: ['a-2'] }, '--account', 'a-2'],
      [{ ...one, accounts: ['pan:525412******3241'] }, '--account', 'pan:@FILE'],
      [
        { ...one, accounts: both, balances: both, transactions: both },
        ...both.flatMap((id) => ['--account', id]),
      ],
      [{ type: 'all-accounts' }, '--all-accounts'],
      [{ type: 'list-only' }, '--list-only'],
      [{ type: 'bank-offered', balances: true, transactions: true }],
    ];
    const keep = async (access: Access, more: Parameters<typeof keepConsent>[3]) => {
      const flow = await storeConsentFlow(context, { customerId: 'ada', terms: { access } });
      await keepConsent(context, 'ada', flow, more);
    };
    for (const [index, [access]] of asked.entries())
      await keep(access, {
        validUntil: bankDay(new Date(inDays(4 + Math.floor(index / 2)))),
        grantedAt: inDays(-index),
      });
    // Nobody renews a consent for one reading.
    await keep(one, { validUntil: bankDay(new Date(inDays(3))), recurring: false });
    await keep(one, { validUntil: null, recurring: false });
    await keep({ ...one, accounts: ['a-3'] }, { validUntil: null, grantedAt: inDays(-177) });
    await run([], { env });
    await run([], { env });
    expect(lines()).toEqual(
      [[one, '--account', 'a-3'], ...asked].map(([, ...options]) => ({
        ...{ profile: 'env', kind: 'consent', name: 'ACCOUNT_INFO', customerId: 'ada' },
        endsAt: expect.stringMatching(/^2026-03-(0[4-9]|10)/),
        next: ['psd2', '--customer', 'ada', 'consent', 'request', ...options],
      })),
    );
  });

  it('gets a certificate once, and forgets it with the profile that had it', async () => {
    const { env, lines } = keeper();
    const late = async (more: How['env']) => {
      const command = openCommand(folder, '2099-01-01T00:00:00.000Z', { env: { ...env, ...more } });
      await failureOf(runIn(command.context, 'expiring'));
    };
    await logIn('1000001', 13);
    await late({ PSD2_QWAC_CERT: files.qwacCertFile });
    await late({ PSD2_QWAC_CERT: files.qwacCertFile });
    const got = z.array(z.object({ kind: z.string(), name: z.string() }));
    expect(got.parse(lines())).toEqual([
      { kind: 'login', name: 'refresh token' },
      { kind: 'certificate', name: 'QWAC' },
    ]);
    expect(notified()).toEqual(['certificate QWAC ', 'login refresh token 1000001']);
    await late({});
    expect(notified()).toEqual(['login refresh token 1000001']);
  });

  it('leaves what it has got of other commands as it is', async () => {
    const { env } = keeper();
    const file = join(folder.root, 'notified', 'env.json');
    const others = { 'sync 1000001': 'a', 'transfer tr-1': 'b', loginless: 'c' };
    mkdirSync(join(folder.root, 'notified'), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ ...others, 'login gone': 'd' }), { mode: 0o600 });
    await logIn('1000001', 13);
    await run([], { env });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      ...others,
      'login refresh token 1000001': inDays(13),
    });
  });
});

describe('the warning beside another command', () => {
  const warned = async (customers: readonly string[] | 'many', how?: How) => {
    const { context, said } = openCommand(folder, NOW, how);
    await warnOfEndings(context, customers);
    return said();
  };

  it('names what ends soon of the customers of the command', async () => {
    await logIn('1000001', 13);
    await logIn('1000002', 12);
    expect(await warned(['1000001'])).toBe(
      `Expiring soon: the login of customer 1000001 ends at ${inDays(13)}. See: psd2 expiring\n`,
    );
    expect(await warned(['1000003'])).toBe('');
  });

  it.each([
    ['many customers', 'many' as const, ''],
    ['a hundred and one customers', Array.from({ length: 101 }, () => '1000001'), ''],
    ['a hundred customers', Array.from({ length: 100 }, () => '1000001'), 'Expiring soon: the login'],
  ])('for %s, psd2 looks at as much as that allows', async (_, customers, said) => {
    await logIn('1000001', 13);
    const found = await warned(customers);
    expect(said === '' ? found : found.slice(0, said.length)).toBe(said);
  });

  it('names consents of the customers, and certificates also for named ones, by what they are', async () => {
    await logIn('1000001', 100);
    await storeConsent(openCommand(folder, inDays(-175)).context, '1000001', [
      { name: 'ACCOUNT_INFO', products: [ACCOUNT] },
    ]);
    expect(await warned(['1000001'])).toContain('the consent ACCOUNT_INFO of customer 1000001 ends at');
    const env = { PSD2_QWAC_CERT: files.qwacCertFile };
    for (const customers of ['many', ['1000003']] as const) {
      const late = openCommand(folder, '2099-01-01T00:00:00.000Z', { env });
      await warnOfEndings(late.context, customers);
      expect(late.said()).toMatch(/^Expiring soon: the QWAC certificate has ended at /);
    }
  });

  it('is silent if something cannot be read, but not if the operator interrupts or psd2 has a fault', async () => {
    expect(await warned('many', { env: { PSD2_QWAC_CERT: join(temporary, 'none.pem') } })).toBe('');
    const { context } = openCommand(folder, NOW);
    const warn = (error: Error) => {
      const store = () => Promise.reject(error);
      return warnOfEndings({ ...context, store }, ['1000001']);
    };
    await warn(new Psd2Error('config', 'It is damaged'));
    for (const error of [new Psd2Error('interrupted', 'Interrupted'), new TypeError('A fault')])
      await expect(warn(error)).rejects.toBe(error);
  });
});

const MAY = '2026-05-01T00:00:00.000Z';
const [A, B] = [ACCOUNT, parseProductId('0000067890')];

it('of several CAs in one file, psd2 expiring names the last one to end: an old one beside a new one does no harm', async () => {
  const keys = await generateRsaKeys();
  const pem = async (days: number) =>
    (await makeCertificateAuthority('CA', keys, { from: new Date(NOW), days })).certificatePem;
  const ca = join(temporary, 'ca.pem');
  writeFileSync(ca, (await pem(61)) + (await pem(10)), { mode: 0o600 });
  const { context } = openCommand(folder, NOW, { env: { PSD2_CA: ca } });
  expect(await allEndings(context)).toMatchObject([{ kind: 'certificate', name: 'CA', endsAt: MAY }]);
});

it('of several certificates in the file of a QWAC, psd2 expiring names the one that psd2 uses', async () => {
  const [keys, otherKeys] = [await generateRsaKeys(), await generateRsaKeys()];
  const authority = await makeCertificateAuthority('CA', otherKeys, { from: new Date(NOW), days: 100 });
  const tpp = { organization: 'TPP', organizationIdentifier: 'PSDIT-BI-1', commonName: 'tpp.test' };
  const psd2 = { roles: ['PSP_AI' as const], ncaName: 'BI', ncaId: 'IT-BI' };
  const own = (days: number, from = NOW, of = keys) =>
    makeQualifiedCertificate(authority, 'web', { ...tpp, psd2 }, of, { from: new Date(from), days });
  const [old, next] = [await own(10), await own(61)];
  const [later, others] = [await own(61, inDays(1)), await own(61, NOW, otherKeys)];
  const key = join(temporary, 'several-key.pem');
  writeFileSync(key, await privateKeyPem(keys), { mode: 0o600 });
  const WITH_KEY = { PSD2_QWAC_KEY: key };
  for (const [what, pems, env, days] of [
    ['the issuer stands first', [authority.certificatePem, old], WITH_KEY, 10],
    ['the newer one stands last', [old, next], WITH_KEY, 61],
    ['the newer one stands first', [next, old], WITH_KEY, 61],
    ['the newer one is not valid yet', [later, old], WITH_KEY, 10],
    ['the newer one has another key', [others, old], WITH_KEY, 10],
    ['nobody knows the key', [others, old], {}, 61],
    ['the key is not there', [others, old], { PSD2_QWAC_KEY: join(temporary, 'no-key.pem') }, 61],
  ] as const) {
    const file = join(temporary, 'several.pem');
    writeFileSync(file, pems.join(''), { mode: 0o600 });
    const { context } = openCommand(folder, NOW, { env: { PSD2_QWAC_CERT: file, ...env } });
    const found = (await allEndings(context)).map(({ name, endsAt }) => [name, endsAt]);
    expect(found, what).toEqual([['QWAC', inDays(days)]]);
  }
});

it('a login ends with its refresh token, or with its access token if it has no other', async () => {
  const { context } = openCommand(folder, NOW);
  const accessTokenExpiresAt = '2026-03-01T01:00:00.000Z';
  await storeLogin(context, '1000001', { accessTokenExpiresAt, refreshTokenExpiresAt: MAY });
  await storeLogin(context, '1000002', { accessTokenExpiresAt, refreshToken: null });
  // The bank did not say how long the refresh token lasts.
  await storeLogin(context, '1000003', { accessTokenExpiresAt });
  expect((await allEndings(context)).map(({ customerId, endsAt }) => [customerId, endsAt])).toEqual([
    ['1000001', MAY],
    ['1000002', accessTokenExpiresAt],
  ]);
});

it('psd2 expiring has the newest consent of each customer, category and product, if the bank granted it', async () => {
  const category = (name: ConsentCategory, ...products: (typeof A)[]) => ({ name, products });
  const { context: before } = openCommand(folder, NOW);
  for (const customerId of ['1000001', '1000002']) await storeLogin(before, customerId);
  await storeConsent(before, '1000001', [category('ACCOUNT_INFO', A, B)]);
  await storeConsent(before, '1000002', [category('ACCOUNT_INFO', A), category('PAYMENTS', A)]);
  await storeConsent(before, '1000003', [category('ACCOUNT_INFO', A)]);
  const { context } = openCommand(folder, MAY);
  // A category that the bank refused, or that a newer consent has, hides none of those after it.
  const asked = [category('FUNDS_AVAILABILITY', A), category('ACCOUNT_INFO', A)];
  await storeConsent(context, '1000001', asked, ['FUNDS_AVAILABILITY']);
  await storeConsent(context, '1000002', [category('ACCOUNT_INFO', A)]);
  // One with terms counts elsewhere.
  await storeConsentFlow(
    context,
    {
      ...{ customerId: '1000001', terms: { access: { type: 'list-only' } } },
      categories: [category('ACCOUNT_INFO', B)],
    },
    { type: 'requested', resourceId: 'r', outcomes: [{ name: 'ACCOUNT_INFO', outcome: true }] },
    { type: 'confirmed' },
  );
  const found = (await allEndings(context)).map(({ customerId, name, endsAt, next }) => [
    customerId,
    name,
    endsAt.slice(0, 10),
    next.slice(next.indexOf('--account')).join(' '),
  ]);
  expect(found.sort()).toEqual([
    ['1000001', 'ACCOUNT_INFO', '2026-08-28', `--account ${B}`],
    ['1000001', 'ACCOUNT_INFO', '2026-10-28', `--account ${A}`],
    ['1000002', 'ACCOUNT_INFO', '2026-10-28', `--account ${A}`],
    ['1000002', 'PAYMENTS', '2026-08-28', `--account ${A}`],
  ]);
});

it.each([
  ['was granted', [{ name: 'ACCOUNT_INFO' as const, outcome: true }], ['ACCOUNT_INFO']],
  ['was refused', [{ name: 'ACCOUNT_INFO' as const, outcome: false }], []],
  ['is not known, because the answer to the request was lost', null, ['ACCOUNT_INFO']],
])('of a consent that a person has resolved, a category that %s: %j', async (_, outcomes, names) => {
  const { context } = openCommand(folder, NOW);
  await storeLogin(context, '1000001');
  const categories = [{ name: 'ACCOUNT_INFO' as const, products: [ACCOUNT] }];
  const requested = outcomes === null ? [] : [{ type: 'requested' as const, resourceId: 'FLOW', outcomes }];
  const resolved = { type: 'resolved', outcome: 'executed', by: 'ada', note: null } as const;
  await storeConsentFlow(context, { categories }, ...requested, resolved);
  expect((await allEndings(context)).map(({ name, endsAt }) => [name, endsAt])).toEqual(
    names.map((name) => [name, inDays(180)]),
  );
});

it('the consents whose journals are missing cost one pass over the journals, and of those that are there psd2 knows what was asked for', async () => {
  const { context } = openCommand(folder, NOW);
  const { flows } = await context.store();
  const ids = ['a-1'];
  const access: Access = { type: 'dedicated', accounts: ids, balances: ids, transactions: ids };
  const expired = await storeConsentFlow(
    context,
    { customerId: 'ada', terms: { access } },
    { type: 'ended', state: 'revoked', bankStatus: 'revokedByPsu' },
  );
  const validUntil = bankDay(new Date(MAY));
  for (const [customer, flow] of Object.entries({ ada: expired, bob: 'co-1', eve: 'co-2' }))
    await keepConsent(context, customer, flow, { validUntil });
  const [find, list] = [vi.spyOn(flows, 'find'), vi.spyOn(flows, 'list')];
  expect((await allEndings(context)).map(({ customerId, next }) => [customerId, next.slice(-2)])).toEqual([
    ['ada', ['--account', 'a-1']],
    ['bob', ['consent', 'request']],
    ['eve', ['consent', 'request']],
  ]);
  expect([find.mock.calls.length, list.mock.calls.length]).toEqual([0, 2]);
});

it('a consent that another one will renew waits for the other person', async () => {
  const { context } = openCommand(folder, NOW);
  const { customers } = await context.store();
  const partly = { type: 'noted', bankStatus: 'partly', scaStatus: 'finalised' } as const;
  const begin = (access: Access, ...persons: string[]) =>
    storeConsentFlow(
      context,
      { customerId: 'shop', terms: { access } },
      { type: 'requested', resourceId: 'FLOW', outcomes: [] },
      ...persons.flatMap((psuId, index) => [
        { type: 'sca-started', links: { approach: null, id: psuId }, psuId } as const,
        ...(index === 0 ? [partly] : []),
      ]),
    );
  const funds = { type: 'funds', account: 'pan:525412******3241' } as const;
  const day = bankDay(new Date(MAY));
  const card = { cardNumber: '525412******3241', cardExpiryDate: day, cardInformation: 'Gold' };
  const [reading, asked] = [await begin({ type: 'list-only' }), await begin({ ...funds, ...card })];
  await keepConsent(context, 'shop', reading, { validUntil: day });
  const confirmed = { flow: asked, consentId: 'f', transactionId: 't', account: funds.account };
  await customers.change('shop', (before) => ({
    ...before,
    funds: [{ ...confirmed, validUntil: day, grantedAt: NOW }],
  }));
  const found = async () =>
    (await allEndings(context)).map(({ name, next, ...more }) => [
      name,
      next.slice(3),
      more.authorisedBy,
      more.waitsFor,
    ]);
  const FUNDS = ['consent', 'request', '--category', 'FUNDS_AVAILABILITY', '--account', 'pan:@FILE'];
  const CARD = ['--card-number', '@FILE', '--card-expiry-date', 'DATE', '--card-information', 'Gold'];
  expect(await found()).toEqual([
    ['ACCOUNT_INFO', ['consent', 'request', '--list-only'], undefined, undefined],
    ['FUNDS_AVAILABILITY', [...FUNDS, ...CARD], undefined, undefined],
  ]);
  // Another account is another consent.
  await begin({ type: 'funds', account: 'DE89370400440532013000' }, 'dora');
  expect((await found())[1]?.[1]).toEqual([...FUNDS, ...CARD]);
  // Of two that wait, the newer one counts.
  for (const access of [{ type: 'list-only' } as const, funds]) await begin(access, 'anna', 'ben');
  const [renewal, other] = [await begin({ type: 'list-only' }, 'dora', 'emil'), await begin(funds, 'dora')];
  // One that has ended renews nothing, whoever has authorised it.
  const { flows } = await context.store();
  for (const access of [{ type: 'list-only' } as const, funds])
    await flows.resume('consent', await begin(access, 'fritz', 'gina'), (open) =>
      open.record({ type: 'ended', state: 'rejected', bankStatus: 'rejected' }),
    );
  expect(await found()).toEqual([
    ['ACCOUNT_INFO', ['consent', 'resume', renewal], ['dora'], ['emil']],
    ['FUNDS_AVAILABILITY', ['consent', 'resume', other], ['dora'], []],
  ]);
});

const endings = (...days: number[]): Ending[] =>
  days.map((each, index) => ({
    kind: 'login',
    name: 'refresh token',
    customerId: String(index + 1),
    endsAt: inDays(each),
    next: [],
  }));

it.each([
  ['nothing', [20, 14], undefined],
  ['one', [20, 13], 'the login of customer 2 ends'],
  ['the sooner one of two, and that there is another', [13, 5], 'the login of customer 2 ends'],
  ['what has ended before what will end', [5, -1, 13], 'the login of customer 2 has ended'],
  ['what ends in this very moment', [0], 'the login of customer 1 has ended'],
])('psd2 warns of %s', (_, days, text) => {
  const said = describeSoon(endings(...days), new Date(NOW), 14, (time) => time);
  const within = days.filter((each) => each < 14);
  const more = within.length > 1 ? `, and ${within.length - 1} more` : '';
  expect(said).toBe(text && `${text} at ${inDays(Math.min(...days))}${more}`);
});

it.each(['', ' ', '14 d', '-1d', '1.5d', '2 w', '2m', 'false', '99999d', 'soon'])(
  '--within %j says how to write it',
  async (within) => {
    expect((await run([`--within=${within}`])).failure).toEqual({
      ...{ code: 'usage', exitCode: 2, message: `--within "${within}" is not a number of days` },
      hint: 'For example --within 14, --within 14d or --within 2w.',
    });
  },
);

it('a damaged consent hides nothing else that ends, and psd2 expiring does not end well because of it', async () => {
  const { context: before } = openCommand(folder, NOW);
  await storeLogin(before, '1000001', { refreshTokenExpiresAt: inDays(13) });
  await storeConsent(before, '1000001', [{ name: 'ACCOUNT_INFO', products: [] }]);
  const flows = folder.flows('env');
  const [journal = ''] = readdirSync(flows).filter((name) => name.endsWith('.ndjson'));
  writeFileSync(join(flows, journal), 'no event\nand no other\n');

  const { context, printed, said } = openCommand(folder, NOW);
  await expect(runIn(context, 'expiring')).rejects.toMatchObject({ code: 'ends_soon' });
  expect(JSON.parse(printed())).toMatchObject([{ kind: 'login', customerId: '1000001' }]);
  expect(said()).toContain(`psd2 cannot show ${journal.replace('.ndjson', '')}`);
  const later = openCommand(folder, NOW);
  const none = runIn(later.context, 'expiring', '--within', '1d');
  await expect(none).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(journal) });

  const status = openCommand(folder, inDays(14));
  await expect(runIn(status.context, 'status')).rejects.toMatchObject({ code: 'needs_attention' });
  expect(JSON.parse(status.printed()).attention).toMatchObject([
    { kind: 'consent', state: 'damaged' },
    { kind: 'login', state: 'ended' },
  ]);
});
