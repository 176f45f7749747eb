import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeQualifiedCertificate,
  privateKeyPem,
} from '../../../src/certificates/eidas.ts';
import { Diagnosis } from '../../../src/commands/checks/diagnosis.ts';
import { finding } from '../../../src/commands/shared/checks.ts';
import { callOf, foundBy } from '../../../src/commands/smoke/smoke.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { NOW, payerAt } from '../payer-here.ts';
import { smokeAt } from './smoke-here.ts';

// What the steps say that need no customer: of certificates that end on different days, and of what the doctor has found.

const temporary = temporaryFolder();
const DAY_MS = 86_400_000;
/** A certificate knows no fractions of a second. */
const AT = NOW.replace(/\.\d+Z$/, '.000Z');
const FROM = new Date(Date.parse(AT) - 2 * DAY_MS);
let keysOf: Awaited<ReturnType<typeof makePairs>>;

/** An authority, and a key that both certificates have. */
async function makePairs() {
  const keys = await generateRsaKeys();
  const authority = await makeCertificateAuthority('Test CA', keys, { from: FROM, days: 900 });
  return { authority, keys, key: await privateKeyPem(keys) };
}
beforeAll(async () => {
  keysOf = await makePairs();
});

const endOf = (days: number) => new Date(Date.parse(AT) + days * DAY_MS);

/** The step of the certificates, where they end in so many days. */
async function certificatesEnding(qwac: number, seal: number, ...options: string[]) {
  const { authority, keys, key } = keysOf;
  const file = (name: string, text: string) => {
    const path = join(temporary, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const subject = {
    ...{ commonName: 'tpp.example', organization: 'TPP', organizationIdentifier: 'PSDIT-BI-12345' },
    psd2: { roles: ['PSP_PI', 'PSP_AI', 'PSP_IC'], ncaName: "Banca d'Italia", ncaId: 'IT-BI' },
  };
  const issued = (type: 'web' | 'eseal', days: number) =>
    makeQualifiedCertificate(authority, type, subject, keys, { from: FROM, days: days + 2 });
  const payer = await payerAt(new BankHere(), temporary, {
    PSD2_QWAC_CERT: file('qwac.pem', await issued('web', qwac)),
    PSD2_QWAC_KEY: file('qwac-key.pem', key),
    PSD2_QSEAL_CERT: file('qseal.pem', await issued('eseal', seal)),
    PSD2_QSEAL_KEY: file('qseal-key.pem', key),
  });
  const { lines, ran } = await smokeAt(payer, ['--steps', 'certificates', ...options], { now: AT });
  return { line: lines[0], ends: ran.data.ends };
}

const [HALF, SECOND] = [0.5, 1 / 86_400];
it.each<[qwac: number, seal: number, options: string[], line: string]>([
  [30, 40, [], 'pass certificates: 30 days left'],
  [40, 30, [], 'pass certificates: 30 days left'],
  [40, 40, [], 'pass certificates: 40 days left'],
  // Whole days count: the 14th has just ended.
  [14, 40, [], 'pass certificates: 14 days left'],
  [14 - SECOND, 40, [], 'warn certificates [certificate_ends]: QWAC ends in 13 days; 13 days left'],
  [40, 14 - SECOND, [], 'warn certificates [certificate_ends]: QSealC ends in 13 days; 13 days left'],
  [1, 40, [], 'warn certificates [certificate_ends]: QWAC ends in 1 day; 1 day left'],
  [40, HALF, [], 'warn certificates [certificate_ends]: QSealC ends in 0 days; 0 days left'],
  [
    2,
    1,
    [],
    'warn certificates [certificate_ends,certificate_ends]: QWAC ends in 2 days; QSealC ends in 1 day; 1 day left',
  ],
  [3, 40, ['--within', '3d'], 'pass certificates: 3 days left'],
  [3, 40, ['--within', '4d'], 'warn certificates [certificate_ends]: QWAC ends in 3 days; 3 days left'],
])('of a QWAC of %d days and a QSealC of %d days, with %j', async (qwac, seal, options, line) => {
  const found = await certificatesEnding(qwac, seal, ...options);
  expect(found.line).toBe(line);
  const whole = (days: number) => endOf(days).toISOString().slice(0, 19);
  expect([found.ends?.qwac, found.ends?.qsealc].map((end) => String(end).slice(0, 19))).toEqual([
    whole(qwac),
    whole(seal),
  ]);
});

it.each([
  ['QWAC', -1, 40],
  ['QSealC', 40, -1],
])('a %s that has ended fails, and is not told of as one that ends soon', async (name, qwac, seal) => {
  const { line } = await certificatesEnding(qwac, seal);
  expect(line).toMatch(new RegExp(`^fail certificates: .*${name}.*exit 3\\)$`));
  expect(line).not.toContain('ends in');
});

/** A diagnosis with these checks. */
async function diagnosed(...checks: [name: string, status: 'ok' | 'warn' | 'fail' | 'skip'][]) {
  const diagnosis = new Diagnosis();
  for (const [name, status] of checks)
    await diagnosis.make(name, async () => finding(status, `${name} says`));
  return diagnosis;
}

it('a step has the warnings of the doctor, each with a code of one word, and fails with its first failure', async () => {
  const some = await diagnosed(
    ['clock', 'ok'],
    ['bank signing certificate', 'warn'],
    ['store', 'skip'],
    ['a b c d', 'warn'],
  );
  const warnings = [
    { code: 'bank_signing_certificate', message: 'bank signing certificate: bank signing certificate says' },
    { code: 'a_b_c_d', message: 'a b c d: a b c d says' },
  ];
  expect(foundBy(some)).toEqual({ warnings });
  expect(foundBy(some, '')).toEqual({ warnings, detail: '' });
  expect(foundBy(await diagnosed(['clock', 'ok']), 'well')).toEqual({ warnings: [], detail: 'well' });
  const failed = await diagnosed(['one', 'warn'], ['two', 'fail'], ['three', 'fail']);
  expect(() => foundBy(failed, 'well')).toThrow(new Psd2Error('config', 'two says'));
});

it.each([
  [200, 200],
  [503, 503],
  ['timeout', null],
])('a call that ended with %j has the status %j in a report', (outcome, status) => {
  const call: Parameters<typeof callOf>[0] = {
    ...{ method: 'GET', path: '/v1/accounts/1?x=2', outcome, at: new Date(NOW), milliseconds: 5 },
    ...{ tppRequestId: 'q', transactionId: 't', requestId: 'r', apiTrackId: undefined, isPrivate: true },
    ...{ mayHaveLeft: true, irrevocable: false, route: { kind: 'ais', path: '/v1/accounts/{account}' } },
  };
  expect(callOf(call)).toEqual({
    ...{ method: 'GET', route: '/v1/accounts/{account}', status, milliseconds: 5 },
    ...{ tppRequestId: 'q', requestId: 'r' },
  });
});
