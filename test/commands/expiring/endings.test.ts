import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { generateRsaKeys, makeCertificateAuthority } from '../../../src/certificates/eidas.ts';
import { allEndings, type Ending } from '../../../src/commands/expiring/endings.ts';
import { describeSoon } from '../../../src/commands/expiring/warn.ts';
import { bankDay } from '../../../src/domain/calendar.ts';
import type { Consent } from '../../../src/domain/consent.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsent, storeLogin } from '../access.ts';
import { openCommand, runIn } from '../command.ts';

const temporary = temporaryFolder();
const MARCH = '2026-03-01T00:00:00.000Z';
const MAY = '2026-05-01T00:00:00.000Z';
const [A, B] = [parseProductId('0000012345'), parseProductId('0000067890')];

it('of several CAs in one file, psd2 expiring names the last one to end: an old one beside a new one does no harm', async () => {
  const keys = await generateRsaKeys();
  const pem = async (days: number) =>
    (await makeCertificateAuthority('CA', keys, { from: new Date(MARCH), days })).certificatePem;
  const ca = join(temporary, 'ca.pem');
  writeFileSync(ca, (await pem(61)) + (await pem(10)), { mode: 0o600 });
  const { context } = openCommand(newConfigFolder(temporary), MARCH, { env: { PSD2_CA: ca } });
  expect(await allEndings(context)).toMatchObject([{ kind: 'certificate', name: 'CA', endsAt: MAY }]);
});

it('a login ends with its refresh token, or with its access token if it has no other', async () => {
  const { context } = openCommand(newConfigFolder(temporary), MARCH);
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
  const folder = newConfigFolder(temporary);
  const { context: before } = openCommand(folder, MARCH);
  for (const customerId of ['1000001', '1000002']) await storeLogin(before, customerId);
  await storeConsent(before, '1000001', [{ name: 'ACCOUNT_INFO', products: [A, B] }]);
  await storeConsent(before, '1000002', [{ name: 'ACCOUNT_INFO', products: [A] }]);
  await storeConsent(before, '1000003', [{ name: 'ACCOUNT_INFO', products: [A] }]);
  const { context } = openCommand(folder, MAY);
  const asked = [
    { name: 'ACCOUNT_INFO' as const, products: [A] },
    { name: 'FUNDS_AVAILABILITY' as const, products: [A] },
  ];
  await storeConsent(context, '1000001', asked, ['FUNDS_AVAILABILITY']);
  const found = (await allEndings(context)).map(({ customerId, name, endsAt, next }) => [
    customerId,
    name,
    endsAt.slice(0, 10),
    next.slice(next.indexOf('--account')).join(' '),
  ]);
  expect(found.sort()).toEqual([
    ['1000001', 'ACCOUNT_INFO', '2026-08-28', `--account ${B}`],
    ['1000001', 'ACCOUNT_INFO', '2026-10-28', `--account ${A}`],
    ['1000002', 'ACCOUNT_INFO', '2026-08-28', `--account ${A}`],
  ]);
});

it('the consents whose journals are missing cost one pass over the journals, and of those that are there psd2 knows what was asked for', async () => {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, MARCH);
  const { customers, flows } = await context.store();
  const ids = ['a-1'];
  const access = { type: 'dedicated', accounts: ids, balances: ids, transactions: ids } as const;
  let expired = '';
  await flows.begin(
    'consent',
    { transactionId: context.world.newId(), customerId: 'ada', categories: [], terms: { access } },
    async (open) => {
      expired = open.current.flow;
      await open.record({ type: 'ended', state: 'revoked', bankStatus: 'revokedByPsu' });
    },
  );
  const record = { consentId: 'c', accounts: null, reads: [], recurring: true, frequencyPerDay: 4 } as const;
  const validUntil = bankDay(new Date(MAY));
  for (const [customer, flow] of [
    ['ada', expired],
    ['bob', 'co-1'],
    ['eve', 'co-2'],
  ] as const)
    await customers.change(customer, (before) => ({
      ...before,
      consents: [{ ...record, flow, validUntil, grantedAt: MARCH }],
    }));
  const [find, list] = [vi.spyOn(flows, 'find'), vi.spyOn(flows, 'list')];
  expect((await allEndings(context)).map(({ customerId, next }) => [customerId, next.slice(-2)])).toEqual([
    ['ada', ['--account', 'a-1']],
    ['bob', ['consent', 'request']],
    ['eve', ['consent', 'request']],
  ]);
  expect([find.mock.calls.length, list.mock.calls.length]).toEqual([0, 2]);
});

it('a category that the bank refused, or that a newer consent has, hides none of those after it', async () => {
  const folder = newConfigFolder(temporary);
  const { context: before } = openCommand(folder, MARCH);
  await storeLogin(before, '1000001');
  const category = (name: 'ACCOUNT_INFO' | 'FUNDS_AVAILABILITY' | 'PAYMENTS') => ({ name, products: [A] });
  const [info, funds, payments] = [
    category('ACCOUNT_INFO'),
    category('FUNDS_AVAILABILITY'),
    category('PAYMENTS'),
  ];
  await storeConsent(before, '1000001', [info, payments]);
  const { context } = openCommand(folder, MAY);
  await storeConsent(context, '1000001', [funds, info], ['FUNDS_AVAILABILITY']);
  // One with terms counts elsewhere.
  const { flows } = await context.store();
  const terms = { access: { type: 'list-only' as const } };
  await flows.begin(
    'consent',
    { transactionId: 't', customerId: 'ada', categories: [], terms },
    async (open) => {
      await open.record({ type: 'requested', resourceId: 'r', outcomes: [] });
      await open.record({ type: 'confirmed' });
    },
  );
  const found = (await allEndings(context)).map(({ name, endsAt }) => [name, endsAt.slice(0, 10)]);
  expect(found).toEqual([
    ['ACCOUNT_INFO', '2026-10-28'],
    ['PAYMENTS', '2026-08-28'],
  ]);
});

it('a consent that another one will renew waits for the other person', async () => {
  const folder = newConfigFolder(temporary);
  const { context } = openCommand(folder, MARCH);
  const { customers, flows } = await context.store();
  const begin = (access: NonNullable<NonNullable<Consent['terms']>['access']>, ...persons: string[]) =>
    flows.begin(
      'consent',
      { transactionId: 't', customerId: 'shop', categories: [], terms: { access } },
      async (open) => {
        await open.record({ type: 'requested', resourceId: open.current.flow, outcomes: [] });
        for (const [index, psuId] of persons.entries()) {
          await open.record({ type: 'sca-started', links: { approach: null, id: psuId }, psuId });
          if (index === 0) await open.record({ type: 'noted', bankStatus: 'partly', scaStatus: 'finalised' });
        }
        return open.current.flow;
      },
    );
  const funds = { type: 'funds', account: 'pan:525412******3241' } as const;
  const card = {
    cardNumber: '525412******3241',
    cardExpiryDate: bankDay(new Date(MAY)),
    cardInformation: 'Gold',
  };
  const ends = { validUntil: bankDay(new Date(MAY)), grantedAt: MARCH };
  const record = { consentId: 'c', accounts: null, reads: [], recurring: true, frequencyPerDay: 4 } as const;
  const [reading, asked] = [await begin({ type: 'list-only' }), await begin({ ...funds, ...card })];
  await customers.change('shop', (before) => ({
    ...before,
    consents: [{ ...record, ...ends, flow: reading }],
    funds: [{ ...ends, flow: asked, consentId: 'f', transactionId: 't', account: funds.account }],
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
  const [renewal, other] = [await begin({ type: 'list-only' }, 'dora', 'emil'), await begin(funds, 'dora')];
  expect(await found()).toEqual([
    ['ACCOUNT_INFO', ['consent', 'resume', renewal], ['dora'], ['emil']],
    ['FUNDS_AVAILABILITY', ['consent', 'resume', other], ['dora'], []],
  ]);
});

const NOW = '2026-03-01T00:00:00.000Z';
const inDays = (days: number) => new Date(Date.parse(NOW) + days * 24 * 60 * 60 * 1000).toISOString();
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
])('psd2 warns of %s', (_, days, text) => {
  const said = describeSoon(endings(...days), new Date(NOW), 14, (time) => time);
  const within = days.filter((each) => each < 14);
  const more = within.length > 1 ? `, and ${within.length - 1} more` : '';
  expect(said).toBe(text && `${text} at ${inDays(Math.min(...days))}${more}`);
});

/** `psd2 expiring` for two logins that end in 13 and 20 days. */
async function expiring(...words: string[]) {
  const folder = newConfigFolder(temporary);
  const { context, printed } = openCommand(folder, NOW);
  for (const [customer, days] of [
    ['1000001', 20],
    ['1000002', 13],
  ] as const)
    await storeLogin(context, customer, { refreshTokenExpiresAt: inDays(days) });
  const error = await runIn(context, 'expiring', ...words).then(
    () => undefined,
    (thrown: { code: string; message: string }) => thrown,
  );
  return { error, ended: JSON.parse(printed() || '[]').map((each: Ending) => each.customerId) };
}

it.each([
  [[], ['1000002'], '1 of 2'],
  [['--within', '21d'], ['1000002', '1000001'], '2 of 2'],
  [['--within', '21'], ['1000002', '1000001'], '2 of 2'],
])('psd2 expiring %j names the sooner end first, and ends with an error', async (words, customers, count) => {
  const { error, ended } = await expiring(...words);
  expect(ended).toEqual(customers);
  expect(error).toMatchObject({ code: 'ends_soon', message: expect.stringContaining(count) });
});

it.each(['', ' ', '14 d', '-1d', '1.5d', '2w', 'false', '99999d'])(
  '--within %j is refused',
  async (within) => {
    expect((await expiring(`--within=${within}`)).error).toMatchObject({ code: 'usage' });
  },
);

it('a damaged consent hides nothing else that ends, and psd2 expiring does not end well because of it', async () => {
  const folder = newConfigFolder(temporary);
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
