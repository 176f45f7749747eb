import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import {
  OPERATIONS,
  parametersOf,
  pathOfOperation,
} from '../../src/bank/interfaces/nextgenpsd2/description/operations.ts';
import { aboutPlatform } from '../../src/bank-file/about.ts';
import { valuesIn } from '../../src/bank-file/values.ts';
import { allFields, fieldOf, fieldsAt, PLATFORMS, readBankFile } from './described.ts';

const names = Object.keys(PLATFORMS);
const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(
  JSON.parse(readFileSync('banks/platform.schema.json', 'utf8')),
);
const SAID = { source: 'https://bank.example' };

/** No public page says these of a platform: they belong to one bank, and the operator writes them. */
const OF_ONE_BANK = [
  ...['platform', 'learned', 'api.baseUrl', 'links', 'headers.names', 'headers.requestId', 'psu.ipAbsent'],
  ...['oauth.responseType', 'oauth.parameters', 'sca.first', 'consent.delete', 'funds.consent'],
  ...['accounts.history.afterSca.minutes', 'accounts.history.afterSca.days'],
  ...['accounts.amounts', 'accounts.zone', 'accounts.cards', 'accounts.download', 'transactions.id'],
  ...['payments.repeatMinutes', 'payments.bulk.maxEntries', 'payments.bulk.batchBooking'],
  ...['payments.constant', 'payments.days', 'payments.debtorAccount'],
];

it('the standard and at least twelve more platforms come with psd2', () => {
  expect(names).toContain('standard');
  expect(names.length).toBeGreaterThan(12);
});

it.each(names)(
  'the platform %s is valid, says where its facts are from, and claims no check',
  async (name) => {
    const { file, description } = await readBankFile(name);
    expect(description.source).toMatch(/^https:\/\/\S/);
    expect(description.name).toMatch(/\S/);
    expect(PLATFORMS[name]?.verifiedOn ?? 'not a bank').toMatch(/not a bank$/);
    expect(file.api?.baseUrl).toBeUndefined();
    expect(name).toMatch(/^[a-z0-9-]+$/);
  },
);

it.each(names)('the schema for editors takes the file of the platform %s', (name) => {
  const file: unknown = JSON.parse(readFileSync(`banks/${name}.json`, 'utf8'));
  expect(isValid(file), JSON.stringify(isValid.errors)).toBe(true);
});

it('the schema for editors refuses a field that there is not', () => {
  const file = { $schema: './platform.schema.json', interface: 'nextgenpsd2' };
  expect(isValid({ ...file, consents: {} })).toBe(false);
});

const SURE = "a client's code";
it.each<[string, isRight: boolean, fact: object]>([
  ['a source and how sure it is', true, { ...SAID, sureness: SURE }],
  ['a contested value, with what others say', true, { ...SAID, sureness: 'contested', differs: 'x' }],
  ['no source', false, { sureness: SURE }],
  ['an empty source', false, { source: ' ', sureness: SURE }],
  ['no word on how sure it is', false, SAID],
  ['another word on how sure it is', false, { ...SAID, sureness: 'sure' }],
  ['a contested value that says nothing of others', false, { ...SAID, sureness: 'contested' }],
  ['a sure value that others contest', false, { ...SAID, sureness: SURE, differs: 'x' }],
  ['another field', false, { ...SAID, sureness: SURE, since: '2026' }],
])('the file of a platform may have a fact with %s: %s', (_, isRight, fact) => {
  const about = { facts: { 'psu.id': fact } };
  expect(aboutPlatform.safeParse(about).success).toBe(isRight);
  expect(isValid({ $schema: './platform.schema.json', interface: 'nextgenpsd2', about })).toBe(isRight);
});

it('the standard has no value but the defaults', async () => {
  const { description, defaults } = await readBankFile('standard');
  const said = [...valuesIn(description)].map(([path]) => path).filter((path) => !defaults.includes(path));
  expect(said.sort()).toEqual(['interface', 'name', 'source', 'verifiedOn']);
});

it('the platforms between them use every field that is not of one bank alone', () => {
  const used = new Set(
    Object.values(PLATFORMS).flatMap((file) => [...valuesIn(file)].map(([path]) => fieldOf(path))),
  );
  const isGroup = (path: string) => fieldsAt(path.split('.')) !== undefined && path !== 'accounts.paging';
  const unused = allFields().filter(
    (path) => !isGroup(path) && path !== 'accounts.paging' && !used.has(path),
  );
  expect(unused).toEqual(OF_ONE_BANK);
});

it('no platform has a secret: what a bank gives to one application is a variable of the environment', async () => {
  for (const name of names) {
    const { headers } = (await readBankFile(name)).description;
    for (const value of [headers.static, ...Object.values(headers.perOperation)].flatMap(Object.values))
      expect(value).toMatch(/^env:\w+$/);
  }
});

it('the standard has 38 operations and the extended service 8, each with its own method and path', () => {
  const all = Object.values(OPERATIONS).map(({ method, path }) => `${method} ${path}`);
  expect(all).toHaveLength(46);
  expect(new Set(all).size).toBe(46);
  for (const each of all)
    expect(each).toMatch(/^(GET|POST|PUT|DELETE) \/v[12](\/([a-z-]+|\{[A-Za-z-]+\}))+$/);
});

it('the path of an operation has the version of the bank, or is the bank’s own', () => {
  expect(pathOfOperation({ version: 'v1', paths: {} }, 'getBalances')).toBe(
    '/v1/accounts/{account-id}/balances',
  );
  expect(pathOfOperation({ version: '1.3/v2', paths: {} }, 'createConsent')).toBe('/1.3/v2/consents');
  expect(pathOfOperation({ version: '', paths: {} }, 'createConsent')).toBe('/consents');
  const funds = '/v2/consents/confirmation-of-funds';
  expect(pathOfOperation({ version: 'v3', paths: {} }, 'createConsentConfirmationOfFunds')).toBe(funds);
  expect(pathOfOperation({ version: 'v2', paths: { createConsent: '/v9/c' } }, 'createConsent')).toBe(
    '/v9/c',
  );
});

it('an operation without a path of its own is below the one that makes or lists the resource', () => {
  const paths = {
    ...{ createConsent: '/ais/3.0/consents', getConsentStatus: '/ais/2.3/consents/{consentId}/status' },
    initiatePayment: '/pis/x/{payment-service}/{payment-product}',
  };
  const at = (operation: Parameters<typeof pathOfOperation>[1]) =>
    pathOfOperation({ version: 'v2', paths }, operation);
  expect([at('startConsentAuthorisation'), at('getConsentStatus'), at('getBalances')]).toEqual([
    ...['/ais/3.0/consents/{consentId}/authorisations', '/ais/2.3/consents/{consentId}/status'],
    '/v2/accounts/{account-id}/balances',
  ]);
  expect(at('cancelPayment')).toBe('/pis/x/{payment-service}/{payment-product}/{paymentId}');
  expect(at('createConsentConfirmationOfFunds')).toBe('/v2/consents/confirmation-of-funds');
});

it('the parameters of a template are sorted, with those that stand twice', () => {
  expect(parametersOf('/v1/{b}/x/{a}/{b}')).toEqual(['{a}', '{b}', '{b}']);
  expect(parametersOf('/v1')).toEqual([]);
});
