import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sample } from '../../support/sample.ts';
import { readError } from '../support/errors.ts';
import { giveRegistration, keepRunning, useOperator } from '../support/psd2.ts';

// Each field of a bank file alone: psd2 with the field reads at a door that demands it, and psd2 with another value is refused.

const operator = keepRunning(useOperator());
const ACCOUNT = '0010482620';
/** Two transactions on a page: the account has five booked ones. */
const DOOR = ['--transactions', '25', '--page-size', '2'];

/** What a field needs to matter, and further words of `consent request`. */
interface More {
  beside?: Record<string, unknown>;
  request?: string[];
}

const OAUTH: More = { beside: { 'oauth.mode': 'integrated', 'sca.approaches': ['oauth'] } };
/** The door puts its own addresses in their place. */
const LOGIN = {
  'oauth.mode': 'pre-step',
  'oauth.authorizationEndpoint': 'https://idp.example/authorize',
  'oauth.tokenEndpoint': 'https://idp.example/token',
};
const PRE_STEP: More = { beside: LOGIN };
const CLIENT: More = { beside: { ...LOGIN, 'oauth.clientId': 'the-client' } };
const SIGNED = ['digest', 'x-request-id'];
const KEY_ID = /keyId is not that of the certificate/;
const ALGORITHM = /another algorithm/;
const SCOPE = /scope|did not|not finish|refused/i;
const PARAMETER = /parameter|did not|not finish|refused/i;

/** The field, its value, what psd2 believes instead, and what the refusal says. */
type Field = [field: string, value: unknown, other: unknown, says: RegExp, more?: More];
const FIELDS: readonly Field[] = [
  ['api.version', 'v2', 'v1', /no such path/],
  ['api.paths', { getAccountList: '/own/list' }, {}, /no such path|such method/],
  ['headers.static', { 'X-API-Key': 'k1' }, {}, /needs the header X-API-Key/],
  ['headers.perOperation', { createConsent: { 'aspsp-product-code': '7' } }, {}, /needs the header aspsp-p/],
  ['headers.date', 'always', 'never', /Date/],
  ['headers.date', 'never', 'always', /does not take the header Date/],
  ['headers.accept', '*/*', 'application/json', /in this format/],
  ['headers.contentType', 'application/json;charset=utf-8', 'application/json', /Content-Type is not/],
  ['psu.id', 'never', 'optional', /not take.*PSU-ID/, { request: ['--psu-id', 'P1'] }],
  ['psu.idType', 'never', 'optional', /not take.*PSU-ID-Type/, { request: ['--psu-id-type', 'T'] }],
  ['psu.corporateId', 'never', 'optional', /not take.*PSU-Corp/, { request: ['--psu-corporate-id', 'C1'] }],
  ['headers.names', { 'X-Request-ID': 'TPP-Request-ID' }, {}, /X-Request-ID is not a UUID/],
  ['psu.id', 'empty', 'never', /one PSU-ID alone/],
  ['psu.id', 'token-sub', 'never', /PSU-ID is not the token's sub/, PRE_STEP],
  ['psu.idType', 'retail', 'optional', /one PSU-ID-Type alone/],
  ['psu.ipAbsent', '0.0.0.0', undefined, /needs the header PSU-IP-Address/],
  ['signing.when', 'never', 'always', /does not take Digest/],
  ['signing.when', 'with-body', 'always', /does not take Digest/],
  ['signing.when', 'always', 'never', /has no Signature/],
  ['signing.headers', ['(request-target)', ...SIGNED], SIGNED, /covers other headers/],
  ['signing.ifSent', [], ['tpp-redirect-uri'], /covers other headers/],
  ['signing.keyId.serial', 'decimal', 'hex', KEY_ID],
  ['signing.keyId.case', 'upper', 'lower', KEY_ID],
  ['signing.keyId.dn', 'subject', 'issuer', KEY_ID],
  ['signing.keyId.format', 'rfc1779', 'rfc2253', KEY_ID],
  ['signing.keyId.format', 'one-line', 'rfc2253', KEY_ID],
  ['signing.keyId.form', 'SN={serial},DN={dn}', 'sn-ca', KEY_ID],
  ['signing.algorithm', 'SHA256withRSA', 'rsa-sha256', ALGORITHM],
  ['signing.keyId.spaces', 'percent', 'keep', KEY_ID],
  ['signing.keyId.spaces', 'strip', 'keep', KEY_ID],
  ['signing.keyId.separator', ', ', ',', KEY_ID],
  ['signing.keyId.form', 'sn', 'sn-ca', KEY_ID],
  ['signing.keyId.form', 'organization-id', 'sn-ca', KEY_ID],
  ['signing.keyId.form', 'our-client', 'sn-ca', KEY_ID],
  ['signing.algorithm', 'rsa-sha512', 'rsa-sha256', ALGORITHM],
  ['signing.algorithm', 'SHA-256', 'rsa-sha256', ALGORITHM],
  ['signing.digest', 'SHA-512', 'SHA-256', /Digest does not match/],
  ['signing.emptyBodyDigest', false, true, /Digest does not match/],
  ['signing.emptyBody', '{}', undefined, /Digest does not match/],
  ['signing.certificate', 'pem', 'der', /has another form/],
  ['signing.certificate', 'pem-line', 'der', /has another form/],
  ['oauth.mode', 'pre-step', 'none', /token|log in/i, PRE_STEP],
  ['oauth.clientAuth', 'basic', 'mtls', /client/, CLIENT],
  ['oauth.clientAuth', 'post', 'basic', /client/, CLIENT],
  ['oauth.scope.preStep', 'ais', 'ais pis', SCOPE, PRE_STEP],
  ['oauth.scope.preStep', { ais: 'ais', pis: 'pis' }, 'ais pis', SCOPE, PRE_STEP],
  ['oauth.responseType', 'AuthorizationCode', 'code', /response_type|did not|refused/i, PRE_STEP],
  ['oauth.parameters', { bic: 'GENODEF1S06' }, {}, PARAMETER, PRE_STEP],
  ['oauth.parameters', { consent: '{consentId}' }, { consent: 'no' }, PARAMETER, OAUTH],
  ['oauth.names', { client_id: 'clientId', response_type: 'responseType' }, {}, /browser/, PRE_STEP],
  ['oauth.scope.ais', 'AIS: {consentId}', 'AIS:{consentId}', SCOPE, OAUTH],
  ['oauth.pkce', 'S256', 'none', /code_challenge|did not|refused/i, PRE_STEP],
  ['oauth.tokenHeader', 'PSD2-AUTHORIZATION', 'Authorization', /take the header authorization/, PRE_STEP],
  ['oauth.applicationToken', true, false, /token/i, OAUTH],
  ['consent.status', 'none', 'call', /does not (say|tell) how/, OAUTH],
  ['consent.types', ['all-accounts'], ['bank-offered'], /access|consent/],
  ['consent.once', false, true, /recurringIndicator|recurring|one reading/, { request: ['--once'] }],
  ['consent.frequencyPerDay', 2, 4, /frequencyPerDay/],
  [
    'accounts.parameters',
    { bookingStatus: 'booking_status', dateFrom: 'date_from' },
    {},
    /take this parameter/,
  ],
  ['accounts.reports', ['camt'], ['mt940'], /format/],
  ['accounts.historyDays', 89, 90, /days|dateFrom|PERIOD/i],
];

/** Nothing is read with them: psd2 itself refuses what they exclude. */
const REFUSED_WITH_FIELD = new Set(['consent.once']);
/** Fields that only say something to psd2 or that the door obeys: psd2 with another value is not refused, but reads less. */
const READS: readonly (readonly [field: string, value: unknown, more?: More])[] = [
  ['accounts.bookingStatuses', ['booked']],
  ['accounts.paging', 'page-index'],
  ['accounts.paging', { totalPagesHeader: 'cpaas-total-pages', pageParameter: 'offset' }],
  ['sca.start', 'explicit'],
  ['accounts.withBalance', false],
  ['accounts.amounts', 'unsigned'],
  ['accounts.zone', 'Europe/Helsinki'],
  ['accounts.history', { afterSca: { minutes: 60, days: 90 } }, { beside: { 'accounts.historyDays': 1 } }],
  ['links', 'host'],
  ['links', 'base'],
  ['accounts.reports', ['camt', 'json']],
  ['accounts.reports', ['mt940']],
  ['accounts.delta', 'entryReferenceFrom'],
];

/** A few of these rows, each with its name. */
const few = <Row extends readonly [string, unknown, ...unknown[]]>(rows: readonly Row[], count: number) =>
  sample(
    rows.map((row) => [`${row[0]} ${JSON.stringify(row[1])}`, row] as const),
    count,
    ([name]) => name,
  );
let closeDoor = async () => {};
afterEach(() => closeDoor());

describe('psd2 with the field reads, and psd2 without it is refused', () => {
  it.each(few(FIELDS, 8))('%s', async (_, [field, value, other, says, more]) => {
    const door = await openDoor(field, value, more);
    if (!REFUSED_WITH_FIELD.has(field))
      expect(await readAll(door, field, value, more)).toEqual({ booked: 5 });
    const refused = await readAll(door, field, other, more);
    expect(refused).toMatchObject({ error: expect.stringMatching(says) });
  });

  it.each(few(READS, 2))('%s reads all', async (_, [field, value, more]) => {
    const door = await openDoor(field, value, more);
    expect(await readAll(door, field, value, more)).toEqual({ booked: 5 });
  });
});

const environment = z.record(z.string(), z.string());

/** Starts a sandbox whose second door has the field. @returns the environment of its clients */
async function openDoor(field: string, value: unknown, { beside }: More = {}) {
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
  { request = [] }: More = {},
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
