import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import { sample } from '../../support/sample.ts';
import { readError } from '../support/errors.ts';
import { giveRegistration, keepRunning, useOperator } from '../support/psd2.ts';

// Each field of a bank file alone: psd2 with the field reads at a door that demands it, and psd2 with another value is refused.

const operator = keepRunning(useOperator());
const ACCOUNT = '0010482620';
/** Two transactions on a page: the account has five booked ones. */
const DOOR = ['--transactions', '25', '--page-size', '2'];

interface Field {
  /** `signing.keyId.serial` */
  field: string;
  value: unknown;
  /** What psd2 believes instead. */
  other: unknown;
  /** Values that the field needs to matter. */
  beside?: Record<string, unknown>;
  /** Further words of `consent request`. */
  request?: string[];
  /** What the refusal says. */
  says: RegExp;
}

const OAUTH = { 'oauth.mode': 'integrated', 'sca.approaches': ['oauth'] };
/** The door puts its own addresses in their place. */
const PRE_STEP = {
  'oauth.mode': 'pre-step',
  'oauth.authorizationEndpoint': 'https://idp.example/authorize',
  'oauth.tokenEndpoint': 'https://idp.example/token',
};
const KEY_ID = /keyId is not that of the certificate/;

const FIELDS: readonly Field[] = [
  { field: 'api.version', value: 'v2', other: 'v1', says: /no such path/ },
  {
    field: 'api.paths',
    value: { getAccountList: '/own/list' },
    other: {},
    says: /no such path|such method/,
  },
  { field: 'headers.static', value: { 'X-API-Key': 'k1' }, other: {}, says: /needs the header X-API-Key/ },
  {
    field: 'headers.perOperation',
    value: { createConsent: { 'aspsp-product-code': '7' } },
    other: {},
    says: /needs the header aspsp-product-code/,
  },
  { field: 'headers.date', value: 'always', other: 'never', says: /Date/ },
  { field: 'headers.date', value: 'never', other: 'always', says: /does not take the header Date/ },
  { field: 'headers.accept', value: '*/*', other: 'application/json', says: /in this format/ },
  {
    field: 'headers.contentType',
    value: 'application/json;charset=utf-8',
    other: 'application/json',
    says: /Content-Type is not/,
  },
  {
    field: 'psu.id',
    value: 'never',
    other: 'optional',
    request: ['--psu-id', 'P1'],
    says: /not take.*PSU-ID/,
  },
  {
    field: 'psu.idType',
    value: 'never',
    other: 'optional',
    request: ['--psu-id-type', 'T'],
    says: /not take.*PSU-ID-Type/,
  },
  {
    field: 'psu.corporateId',
    value: 'never',
    other: 'optional',
    request: ['--psu-corporate-id', 'C1'],
    says: /not take.*PSU-Corporate-ID/,
  },
  {
    field: 'headers.names',
    value: { 'X-Request-ID': 'TPP-Request-ID' },
    other: {},
    says: /X-Request-ID is not a UUID/,
  },
  { field: 'psu.id', value: 'empty', other: 'never', says: /one PSU-ID alone/ },
  {
    field: 'psu.id',
    value: 'token-sub',
    other: 'never',
    beside: PRE_STEP,
    says: /PSU-ID is not the token's sub/,
  },
  { field: 'psu.idType', value: 'retail', other: 'optional', says: /one PSU-ID-Type alone/ },
  { field: 'psu.ipAbsent', value: '0.0.0.0', other: undefined, says: /needs the header PSU-IP-Address/ },
  { field: 'signing.when', value: 'never', other: 'always', says: /does not take Digest/ },
  { field: 'signing.when', value: 'with-body', other: 'always', says: /does not take Digest/ },
  { field: 'signing.when', value: 'always', other: 'never', says: /has no Signature/ },
  {
    field: 'signing.headers',
    value: ['(request-target)', 'digest', 'x-request-id'],
    other: ['digest', 'x-request-id'],
    says: /covers other headers/,
  },
  { field: 'signing.ifSent', value: [], other: ['tpp-redirect-uri'], says: /covers other headers/ },
  { field: 'signing.keyId.serial', value: 'decimal', other: 'hex', says: KEY_ID },
  { field: 'signing.keyId.case', value: 'upper', other: 'lower', says: KEY_ID },
  { field: 'signing.keyId.dn', value: 'subject', other: 'issuer', says: KEY_ID },
  { field: 'signing.keyId.format', value: 'rfc1779', other: 'rfc2253', says: KEY_ID },
  { field: 'signing.keyId.format', value: 'one-line', other: 'rfc2253', says: KEY_ID },
  { field: 'signing.keyId.form', value: 'SN={serial},DN={dn}', other: 'sn-ca', says: KEY_ID },
  { field: 'signing.algorithm', value: 'SHA256withRSA', other: 'rsa-sha256', says: /another algorithm/ },
  { field: 'signing.keyId.spaces', value: 'percent', other: 'keep', says: KEY_ID },
  { field: 'signing.keyId.spaces', value: 'strip', other: 'keep', says: KEY_ID },
  { field: 'signing.keyId.separator', value: ', ', other: ',', says: KEY_ID },
  { field: 'signing.keyId.form', value: 'sn', other: 'sn-ca', says: KEY_ID },
  { field: 'signing.keyId.form', value: 'organization-id', other: 'sn-ca', says: KEY_ID },
  { field: 'signing.keyId.form', value: 'our-client', other: 'sn-ca', says: KEY_ID },
  { field: 'signing.algorithm', value: 'rsa-sha512', other: 'rsa-sha256', says: /another algorithm/ },
  { field: 'signing.algorithm', value: 'SHA-256', other: 'rsa-sha256', says: /another algorithm/ },
  { field: 'signing.digest', value: 'SHA-512', other: 'SHA-256', says: /Digest does not match/ },
  { field: 'signing.emptyBodyDigest', value: false, other: true, says: /Digest does not match/ },
  { field: 'signing.emptyBody', value: '{}', other: undefined, says: /Digest does not match/ },
  { field: 'signing.certificate', value: 'pem', other: 'der', says: /has another form/ },
  { field: 'signing.certificate', value: 'pem-line', other: 'der', says: /has another form/ },
  { field: 'oauth.mode', value: 'pre-step', other: 'none', beside: PRE_STEP, says: /token|log in/i },
  {
    field: 'oauth.clientAuth',
    value: 'basic',
    other: 'mtls',
    beside: { ...PRE_STEP, 'oauth.clientId': 'the-client' },
    says: /client/,
  },
  {
    field: 'oauth.clientAuth',
    value: 'post',
    other: 'basic',
    beside: { ...PRE_STEP, 'oauth.clientId': 'the-client' },
    says: /client/,
  },
  {
    field: 'oauth.scope.preStep',
    value: 'ais',
    other: 'ais pis',
    beside: PRE_STEP,
    says: /scope|did not|not finish|refused/i,
  },
  {
    field: 'oauth.scope.preStep',
    value: { ais: 'ais', pis: 'pis' },
    other: 'ais pis',
    beside: PRE_STEP,
    says: /scope|did not|not finish|refused/i,
  },
  {
    field: 'oauth.responseType',
    value: 'AuthorizationCode',
    other: 'code',
    beside: PRE_STEP,
    says: /response_type|did not|refused/i,
  },
  {
    field: 'oauth.parameters',
    value: { bic: 'GENODEF1S06' },
    other: {},
    beside: PRE_STEP,
    says: /parameter|did not|refused/i,
  },
  {
    field: 'oauth.parameters',
    value: { consent: '{consentId}' },
    other: { consent: 'no' },
    beside: OAUTH,
    says: /parameter|did not|not finish|refused/i,
  },
  {
    field: 'oauth.names',
    value: { client_id: 'clientId', response_type: 'responseType' },
    other: {},
    beside: PRE_STEP,
    says: /browser/,
  },
  {
    field: 'oauth.scope.ais',
    value: 'AIS: {consentId}',
    other: 'AIS:{consentId}',
    beside: OAUTH,
    says: /scope|did not|not finish|refused/i,
  },
  {
    field: 'oauth.pkce',
    value: 'S256',
    other: 'none',
    beside: PRE_STEP,
    says: /code_challenge|did not|refused/i,
  },
  {
    field: 'oauth.tokenHeader',
    value: 'PSD2-AUTHORIZATION',
    other: 'Authorization',
    beside: PRE_STEP,
    says: /does not take the header authorization/,
  },
  {
    field: 'oauth.applicationToken',
    value: true,
    other: false,
    beside: OAUTH,
    says: /token/i,
  },
  {
    field: 'consent.status',
    value: 'none',
    other: 'call',
    beside: OAUTH,
    says: /does not (say|tell) how/,
  },
  { field: 'consent.types', value: ['all-accounts'], other: ['bank-offered'], says: /access|consent/ },
  {
    field: 'consent.once',
    value: false,
    other: true,
    request: ['--once'],
    says: /recurringIndicator|recurring|one reading/,
  },
  { field: 'consent.frequencyPerDay', value: 2, other: 4, says: /frequencyPerDay/ },
  { field: 'accounts.bookingStatuses', value: ['booked'], other: ['both'], says: /bookingStatus/ },
  {
    field: 'accounts.parameters',
    value: { bookingStatus: 'booking_status', dateFrom: 'date_from' },
    other: {},
    says: /does not take this parameter/,
  },
  { field: 'accounts.reports', value: ['camt'], other: ['mt940'], says: /format/ },
  { field: 'accounts.historyDays', value: 89, other: 90, says: /days|dateFrom|PERIOD/i },
];

/** Nothing is read with them: psd2 itself refuses what they exclude. */
const REFUSED_WITH_FIELD = new Set(['consent.once']);
/** Fields that only say something to psd2 or that the door obeys: psd2 with another value is not refused, but reads less. */
const READS: readonly Omit<Field, 'says' | 'other'>[] = [
  { field: 'accounts.paging', value: 'page-index' },
  { field: 'accounts.paging', value: { totalPagesHeader: 'cpaas-total-pages', pageParameter: 'offset' } },
  { field: 'sca.start', value: 'explicit' },
  { field: 'accounts.withBalance', value: false },
  { field: 'accounts.amounts', value: 'unsigned' },
  {
    field: 'accounts.history',
    value: { afterSca: { minutes: 60, days: 90 } },
    beside: { 'accounts.historyDays': 1 },
  },
  { field: 'links', value: 'host' },
  { field: 'links', value: 'base' },
  { field: 'accounts.reports', value: ['camt', 'json'] },
  { field: 'accounts.reports', value: ['mt940'] },
  { field: 'accounts.delta', value: 'entryReferenceFrom' },
];

const shown = (each: Pick<Field, 'field' | 'value'>) => `${each.field} ${JSON.stringify(each.value)}`;
let closeDoor = async () => {};
afterEach(() => closeDoor());

describe('psd2 with the field reads, and psd2 without it is refused', () => {
  it.each(
    sample(
      FIELDS.map((each) => [shown(each), each] as const),
      8,
      ([name]) => name,
    ),
  )('%s', async (_, each) => {
    const door = await openDoor(each);
    if (!REFUSED_WITH_FIELD.has(each.field))
      expect(await readAll(door, each.field, each.value, each)).toEqual({ booked: 5 });
    const refused = await readAll(door, each.field, each.other, each);
    expect(refused).toMatchObject({ error: expect.stringMatching(each.says) });
  });

  it.each(
    sample(
      READS.map((each) => [shown(each), each] as const),
      2,
      ([name]) => name,
    ),
  )('%s reads all', async (_, each) => {
    const door = await openDoor(each);
    expect(await readAll(door, each.field, each.value, each)).toEqual({ booked: 5 });
  });
});

describe('psd2 itself obeys', () => {
  /** The environment of a psd2 that has other fields than a door of the standard. */
  const beside = async (fields: Record<string, unknown>) => {
    const door = await openDoor({ field: 'name', value: 'A bank' });
    return { ...door, PSD2_PROFILE: 'env', PSD2_BANK: bankFile('psd2.json', fields) };
  };
  const request = (env: Record<string, string>, ...words: string[]) =>
    operator.psd2(['consent', 'request', '--yes', '--json', ...words], { env });

  it('api.baseUrl, if nothing else names the address', async () => {
    const { PSD2_BASE_URL: address = '', ...env }: Record<string, string> = await beside({});
    const withAddress = { ...env, PSD2_BANK: bankFile('psd2.json', { 'api.baseUrl': address }) };
    expect(await request(withAddress)).toMatchObject({ code: 0 });
    const list = ['accounts', 'list', '--json'];
    expect(JSON.parse((await operator.psd2(list, { env: withAddress })).stdout)).toHaveLength(3);
    const without = await operator.psd2(list, { env: { ...env, PSD2_BANK: bankFile('psd2.json', {}) } });
    expect(readError(without)).toMatchObject({ code: 'no_profile', exitCode: 3 });
    // PSD2_BASE_URL goes first.
    const elsewhere = { ...withAddress, PSD2_BASE_URL: 'https://127.0.0.1:9' };
    expect(readError(await operator.psd2(list, { env: elsewhere }))).toMatchObject({ exitCode: 4 });
  });

  it('psu.ip: the address of this machine, that of the customer, or a fixed one', async () => {
    const sent = async (ip: string | undefined, ...words: string[]) => {
      const env = await beside(ip === undefined ? {} : { 'psu.ip': ip });
      const body = ['--data', '{}', '--dry-run', ...words];
      const ended = await operator.psd2(['api', 'POST', '/v1/consents', ...body, '--json'], { env });
      await closeDoor();
      return ended.code === 0 ? /PSU-IP-Address"?: *"?([\d.]+)/i.exec(ended.stdout)?.[1] : readError(ended);
    };
    expect(await sent(undefined)).toBe('127.0.0.1');
    expect(await sent('203.0.113.5')).toBe('203.0.113.5');
    expect(await sent('203.0.113.5', '--psu-ip', '203.0.113.9')).toBe('203.0.113.9');
    expect(await sent('required', '--psu-ip', '203.0.113.9')).toBe('203.0.113.9');
    expect(await sent('required')).toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('--psu-ip'),
    });
  });

  it('consent.maxDays: a consent lasts as long without a date, and no longer with one', async () => {
    const env = await beside({ 'consent.maxDays': 30 });
    const lastDay = (days: number) => addDays(bankDay(new Date()), days);
    const late = readError(await request(env, '--valid-until', lastDay(31)));
    expect(late).toMatchObject({ exitCode: 2, hint: expect.stringContaining(lastDay(30)), flow: null });
    expect(JSON.parse((await request(env)).stdout)).toMatchObject({ validUntil: lastDay(30) });
  });

  it('accounts.balances: what psd2 calls booked and available', async () => {
    const balanceOf = async (fields: Record<string, unknown>) => {
      const env = await beside(fields);
      expect(await request(env)).toMatchObject({ code: 0 });
      const ended = await operator.psd2(['accounts', 'balance', ACCOUNT, '--json'], { env });
      await closeDoor();
      return balances.parse(JSON.parse(ended.stdout));
    };
    const standard = await balanceOf({});
    const [booked, available] = ['closingBooked', 'interimAvailable'].map(
      (name) => standard.balances.find(({ type }) => type === name)?.amount,
    );
    expect(booked).not.toBe(available);
    expect(standard).toMatchObject({
      accountBalance: { amount: booked },
      availableBalance: { amount: available },
    });
    expect(
      await balanceOf({
        'accounts.balances': { booked: ['interimAvailable'], available: ['closingBooked'] },
      }),
    ).toMatchObject({ accountBalance: { amount: available }, availableBalance: { amount: booked } });
  });

  it('errors: what a code of the bank means', async () => {
    const env = await beside({ errors: { RESOURCE_UNKNOWN: 'too_many_calls' } });
    expect(await request(env)).toMatchObject({ code: 0 });
    const read = (bank: Record<string, string>) =>
      operator.psd2(['accounts', 'balance', 'nosuchaccount', '--json'], { env: bank });
    expect(readError(await read(env))).toMatchObject({
      ...{ code: 'too_many_calls', exitCode: 10, bankCode: 'RESOURCE_UNKNOWN' },
    });
    const plain = { ...env, PSD2_BANK: bankFile('psd2.json', {}) };
    expect(readError(await read(plain))).toMatchObject({ exitCode: 7, bankCode: 'RESOURCE_UNKNOWN' });
  });
});

const balance = z.object({ amount: z.string() }).nullable();
const balances = z.object({
  ...{ accountBalance: balance, availableBalance: balance },
  balances: z.array(z.object({ type: z.string(), amount: z.string() })),
});
const environment = z.record(z.string(), z.string());

/** Starts a sandbox whose second door has the field. @returns the environment of its clients */
async function openDoor({ field, value, beside }: Pick<Field, 'field' | 'value' | 'beside'>) {
  giveRegistration(operator);
  const file = bankFile('door.json', { ...beside, [field]: value });
  closeDoor = await operator.openSandbox(['--bank', file, ...DOOR]);
  return operator.json(environment, ['sandbox', 'env', '--interface', 'nextgenpsd2']);
}

let customers = 0;

/** Logs in, asks for a consent and reads, as far as the bank lets psd2. */
async function readAll(
  door: Record<string, string>,
  field: string,
  value: unknown,
  { request = [] }: Pick<Field, 'request'>,
): Promise<{ booked: number } | { error: string }> {
  const described: unknown = JSON.parse(readFileSync(door.PSD2_BANK ?? '', 'utf8'));
  const file = join(operator.folder, 'psd2.json');
  writeFileSync(file, JSON.stringify(withField(described, field.split('.'), value)));
  const env = { ...door, PSD2_PROFILE: 'env', PSD2_BANK: file };
  customers += 1;
  const customer = ['--customer', `c${customers}`, '--json'];
  for (const args of [
    ['auth', 'login'],
    ['consent', 'request', '--yes', ...request],
    ['accounts', 'list'],
  ]) {
    const ended = await operator.psd2([...args, ...customer], { env });
    if (ended.code !== 0) return { error: readError(ended).message };
  }
  const ended = await operator.psd2(['accounts', 'transactions', ACCOUNT, '--booked', ...customer], { env });
  if (ended.code !== 0) return { error: readError(ended).message };
  return { booked: z.array(z.unknown()).parse(JSON.parse(ended.stdout)).length };
}

function bankFile(name: string, fields: Record<string, unknown>): string {
  const file = join(operator.folder, name);
  const described = Object.entries(fields).reduce<unknown>(
    (whole, [field, value]) => withField(whole, field.split('.'), value),
    { interface: 'nextgenpsd2' },
  );
  writeFileSync(file, JSON.stringify(described));
  return file;
}

/** The same object with a value at a path. */
function withField(whole: unknown, [first = '', ...rest]: string[], value: unknown): unknown {
  const object = z.record(z.string(), z.unknown()).catch({}).parse(whole);
  return { ...object, [first]: rest.length === 0 ? value : withField(object[first], rest, value) };
}
