import { createPrivateKey } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import * as z from 'zod';
import { generateRsaKeys, makeCertificateAuthority } from '../../../src/certificates/eidas.ts';
import { check } from '../../../src/commands/cert/check.ts';
import { generate } from '../../../src/commands/cert/generate.ts';
import { inspect } from '../../../src/commands/cert/inspect.ts';
import { neededByConsents } from '../../../src/commands/cert/profile-certificates.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { loadOrCreateRegistration, type Registration } from '../../../src/sandbox/folder/registration.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsent, storeConsentFlow } from '../access.ts';
import { cellsIn, type How, openCommand, ranIn, runIn } from '../command.ts';
import { failureIfAny } from '../failure.ts';

const temporary = temporaryFolder();
const DAY_MS = 24 * 60 * 60 * 1000;
/** The certificates are valid by then. */
const START = new Date(Date.now() + 60_000);
const inDays = (days: number) => new Date(START.getTime() + days * DAY_MS).toISOString();
const own = (name: string) => join(temporary, name);

let files: Registration;
/** When the certificates of the profile end. */
let ends: Date;
beforeAll(async () => {
  files = await loadOrCreateRegistration(inject('registration'));
  const [qwac] = await inspected([files.qwacCertFile]);
  ends = new Date(qwac?.notAfter ?? '');
});

/** The time at which the certificates have some days left, and a second. */
const beforeEnd = (days: number) => new Date(ends.getTime() - days * DAY_MS - 1000).toISOString();

const profile = () => ({
  ...{ PSD2_QWAC_CERT: files.qwacCertFile, PSD2_QWAC_KEY: files.qwacKeyFile },
  ...{ PSD2_QSEAL_CERT: files.qsealCertFile, PSD2_QSEAL_KEY: files.qsealKeyFile },
});
const open = ({ env, ...how }: How = {}, now = START.toISOString(), folder = newConfigFolder(temporary)) =>
  openCommand(folder, now, { ...how, env: { ...profile(), ...env } });

/** Runs `psd2 cert …`. */
async function run(words: string[], how?: How, now?: string) {
  const command = open(how, now);
  const failure = await failureIfAny(runIn(command.context, 'cert', ...words));
  return { failure, printed: command.printed(), said: command.said() };
}

const certificates = z.array(
  z.looseObject({ subject: z.string(), notAfter: z.string(), keyMatches: z.nullable(z.boolean()) }),
);
const inspected = async (words: string[], how?: How) => {
  const { printed } = await run(['inspect', ...words], how);
  const data: unknown = JSON.parse(printed);
  expect(inspect.prints?.shape.is(data)).toBe(true);
  return certificates.parse(data);
};
const checked = z.object({
  ok: z.boolean(),
  checks: z.array(
    z.looseObject({
      ...{ name: z.string(), status: z.string(), detail: z.string(), fix: z.nullable(z.string()) },
      daysLeft: z.int(),
    }),
  ),
});

describe('psd2 cert inspect', () => {
  it('has the certificates of the profile, each with what it says', async () => {
    const [qwac, qseal, ...more] = await inspected([]);
    expect(more).toEqual([]);
    const issued = {
      ...{ issuer: expect.stringContaining('CN='), serialNumber: expect.stringMatching(/^[0-9a-f]+$/i) },
      ...{ notBefore: expect.stringMatching(/Z$/), notAfter: ends.toISOString() },
      ...{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/i), roles: ['PSP_AI', 'PSP_PI', 'PSP_IC'] },
      organizationIdentifier: expect.stringMatching(/^PSD/),
      ...{ ncaName: expect.any(String), ncaId: expect.any(String), keyMatches: true },
    };
    expect(qwac).toEqual({ ...issued, subject: expect.any(String), qcType: 'web' });
    expect(qseal).toEqual({ ...issued, subject: expect.any(String), qcType: 'eseal' });
  });

  const [NO_QWAC, NO_QSEAL_KEY] = [{ PSD2_QWAC_CERT: own('none.pem') }, { PSD2_QSEAL_KEY: own('none.key') }];
  const WRONG = { PSD2_QWAC_KEY: own('wrong.key') };
  const QWAC_ALONE = { PSD2_QSEAL_CERT: undefined, PSD2_QSEAL_KEY: undefined };
  const NONE = { ...QWAC_ALONE, PSD2_QWAC_CERT: undefined, PSD2_QWAC_KEY: undefined };
  const KEY_ALONE = { PSD2_QSEAL_CERT: undefined };
  it.each<[string, keyof Registration, keyof Registration | undefined, Environment, boolean | null]>([
    ['that of the profile', 'qwacCertFile', undefined, {}, true],
    ['the right one, which is named', 'qwacCertFile', 'qwacKeyFile', {}, true],
    ['another one, which is named', 'qwacCertFile', 'qsealKeyFile', {}, false],
    ['one that nobody has', 'nextQsealCertFile', undefined, NONE, null],
    ['neither of those in the profile', 'nextQsealCertFile', undefined, {}, false],
    ['that of the profile, whose other pair cannot be read', 'qsealCertFile', undefined, NO_QWAC, true],
    ['none that can be read', 'qsealCertFile', undefined, { ...NO_QWAC, ...NO_QSEAL_KEY }, null],
    ['that of the profile, whose other key is none', 'qsealCertFile', undefined, WRONG, true],
    ['perhaps one that psd2 cannot open', 'nextQsealCertFile', undefined, WRONG, null],
    ['another one, and the other pair is not set', 'nextQsealCertFile', undefined, QWAC_ALONE, false],
    ['perhaps one without its certificate', 'nextQsealCertFile', undefined, KEY_ALONE, null],
    ['none here: an authority', 'caFile', undefined, {}, null],
    ['one that is named for an authority', 'caFile', 'qwacKeyFile', {}, false],
  ])('with %s as its key (%s, --key %s, %j): %j', async (_, file, key, env, keyMatches) => {
    writeFileSync(own('wrong.key'), 'no key\n', { mode: 0o600 });
    const words = [String(files[file]), ...(key === undefined ? [] : ['--key', String(files[key])])];
    expect(await inspected(words, { env })).toMatchObject([{ keyMatches }]);
    const { printed } = await run(['inspect', ...words], { env, format: 'table' });
    const said = { true: 'matches', false: 'does not match', null: 'not known' };
    expect(printed.trimEnd().split('\n').at(-1)).toBe(`Key\t${said[`${keyMatches}`]}`);
  });

  it('the key that the operator names must be one', async () => {
    writeFileSync(own('wrong.key'), 'no key\n', { mode: 0o600 });
    expect((await run(['inspect', files.qsealCertFile, '--key', own('wrong.key')])).failure).toEqual({
      ...{ code: 'certificate', exitCode: 3 },
      message: `The ${files.qsealCertFile} key is not a PEM private key`,
      hint: 'A PEM key begins with -----BEGIN PRIVATE KEY----- or -----BEGIN RSA PRIVATE KEY-----.',
    });
  });

  it('the key of the QSealC of an outside signer is not known, and that of the QWAC is', async () => {
    const env = { PSD2_SIGNER: 'a command that this command does not run' };
    expect(await inspected([], { env })).toMatchObject([{ keyMatches: true }, { keyMatches: null }]);
  });

  it('psd2 does not go on if the operator interrupts the question for the passphrase of the profile', async () => {
    const { context, printed } = open();
    const interrupted = new Psd2Error('interrupted', 'Interrupted');
    const asking = { ...context, unsealed: () => Promise.reject(interrupted) };
    await expect(runIn(asking, 'cert', 'inspect', files.qwacCertFile)).rejects.toBe(interrupted);
    expect(printed()).toBe('');
  });

  it.each([
    ['no passphrase', undefined, null],
    ['an empty passphrase', '', null],
    ['a wrong passphrase', 'wrong', null],
    ['the passphrase', 'correct horse', true],
  ])('with %s (%j), whether an encrypted key matches is %j', async (_, passphrase, keyMatches) => {
    const encrypted = own('encrypted.key');
    const key = createPrivateKey(readFileSync(files.qwacKeyFile));
    const protection = { cipher: 'aes-256-cbc', passphrase: 'correct horse' };
    writeFileSync(encrypted, key.export({ type: 'pkcs8', format: 'pem', ...protection }), { mode: 0o600 });
    const env = { PSD2_QWAC_KEY: encrypted, PSD2_KEY_PASSPHRASE: passphrase, PSD2_QSEAL_CERT: undefined };
    for (const words of [[], [files.qwacCertFile], [files.qwacCertFile, '--key', encrypted]])
      expect(await inspected(words, { env })).toMatchObject([{ keyMatches }]);
    const { failure, printed } = await run(['check'], { env });
    expect([failure, printed.includes('the key matches')]).toEqual([null, keyMatches === true]);
  });

  it('an authority has no data of a TPP', async () => {
    expect(await inspected([files.caFile])).toMatchObject([
      { qcType: null, ncaName: null, organizationIdentifier: null, roles: [] },
    ]);
    const { printed } = await run(['inspect', files.caFile], { format: 'table' });
    expect(printed).not.toMatch(/^Authority\t.+$/m);
  });

  it('without a certificate in the profile is an error', async () => {
    const env = { PSD2_QWAC_CERT: undefined, PSD2_QSEAL_CERT: undefined };
    expect((await run(['inspect'], { env })).failure).toMatchObject({ exitCode: 3 });
    const missing = await run(['inspect', own('none.pem')]);
    expect(missing.failure).toMatchObject({ code: 'usage', exitCode: 2 });
  });
});

describe('psd2 cert check', () => {
  const examine = async (words: string[], how?: How, now?: string) => {
    const { failure, printed } = await run(['check', ...words], how, now);
    const data: unknown = JSON.parse(printed);
    expect(check.prints?.shape.is(data)).toBe(true);
    return { failure, ...checked.parse(data) };
  };

  it('the certificates of the profile are good', async () => {
    const env = { PSD2_CA: files.caFile, PSD2_BANK_SIGNING_CERT: files.bankSigningCertFile };
    const { ok, checks, failure } = await examine([], { env });
    expect([ok, failure]).toEqual([true, null]);
    expect(checks.map(({ name }) => name)).toEqual(['QWAC', 'QSealC', 'CA', 'bank signing certificate']);
    for (const each of checks) expect(each).toMatchObject({ status: 'ok', fix: null });
    const days = Math.floor((ends.getTime() - START.getTime()) / DAY_MS);
    const until = `valid until ${ends.toISOString().slice(0, 10)}, ${days} days left`;
    expect(checks[0]?.detail.split('; ').slice(0, 4)).toEqual([
      ...[until, 'the key matches', 'it is a QWAC', 'roles PSP_AI PSP_PI PSP_IC'],
    ]);
    expect(checks[1]?.detail).toContain('; it is a QSealC; ');
    expect(checks[2]?.detail).toBe(until);
  });

  it('of several CAs in one file, the last one to end is judged', async () => {
    const keys = await generateRsaKeys();
    const pem = async (days: number) =>
      (await makeCertificateAuthority('CA', keys, { from: new Date(), days })).certificatePem;
    writeFileSync(own('cas.pem'), (await pem(10)) + (await pem(100)), { mode: 0o600 });
    const { checks } = await examine([], { env: { PSD2_CA: own('cas.pem') } });
    expect(checks.find(({ name }) => name === 'CA')).toMatchObject({ status: 'ok' });
  });

  it('without a certificate in the profile is an error', async () => {
    const env = { PSD2_QWAC_CERT: undefined, PSD2_QSEAL_CERT: undefined };
    expect((await run(['check'], { env })).failure).toMatchObject({
      ...{ code: 'config', message: 'The profile "env" has no QWAC certificate' },
    });
  });

  it.each<[number, string, string]>([
    [0, 'ok', '20 days left'],
    [20, 'ok', '20 days left'],
    [21, 'fail', '20 days left'],
  ])('with --days %i, a certificate with 20 days left is %s', async (days, status, detail) => {
    const { checks } = await examine([files.qwacCertFile, '--days', String(days)], undefined, beforeEnd(20));
    expect(checks).toMatchObject([{ status, detail: expect.stringContaining(detail) }]);
  });

  it('one with another key fails beside one that is good', async () => {
    const { ok, checks, failure } = await examine([], { env: { PSD2_QSEAL_KEY: files.qwacKeyFile } });
    expect([ok, checks.map(({ status }) => status)]).toEqual([false, ['ok', 'fail']]);
    const hint = 'Use the key that the certificate was requested with.';
    expect(checks[1]).toMatchObject({ name: 'QSealC', fix: hint });
    expect(failure).toEqual({
      ...{ code: 'certificate', exitCode: 3, hint },
      message: '1 of 2 certificates needs attention: QSealC',
    });
  });

  it('of several that fail, the advice is that of the first', async () => {
    const env = {
      PSD2_QWAC_KEY: files.nextQsealKeyFile,
      PSD2_QSEAL_CERT: files.qwacCertFile,
      PSD2_QSEAL_KEY: files.qwacKeyFile,
    };
    const { checks, failure } = await examine([], { env });
    const [first, second] = checks.map(({ fix }) => fix);
    expect(new Set([first, second, null]).size).toBe(3);
    expect(failure).toMatchObject({
      hint: first,
      message: '2 of 2 certificates need attention: QWAC, QSealC',
    });
  });

  it('of a profile with a QSealC alone, that one is checked, and what has no key besides', async () => {
    const env = { PSD2_QWAC_CERT: undefined, PSD2_QWAC_KEY: undefined, PSD2_CA: files.caFile };
    const { ok, checks, failure } = await examine([], { env });
    expect([ok, failure]).toEqual([true, null]);
    expect(checks.map(({ name, status }) => `${name} ${status}`)).toEqual(['QSealC ok', 'CA ok']);
  });

  it('one that ends before a consent that depends on it is a warning, and no failure', async () => {
    const folder = newConfigFolder(temporary);
    const now = beforeEnd(20);
    const { context } = open({}, now, folder);
    await storeConsent(context, '1000001', [{ name: 'ACCOUNT_INFO', products: [] }]);
    const { data } = await ranIn(open({}, now, folder), 'cert', 'check', '--days', '5');
    const { ok, checks } = checked.parse(data);
    const until = new Date(Date.parse(now) + 180 * DAY_MS).toISOString().slice(0, 10);
    const detail = `20 days left; ends before a consent that depends on it (customer 1000001, until ${until})`;
    expect([ok, checks[0]]).toMatchObject([
      true,
      {
        ...{ status: 'warn', detail: expect.stringContaining(detail) },
        fix: expect.stringContaining('psd2 profile set'),
      },
    ]);
  });

  const READING = { terms: { access: { type: 'list-only' } as const } };
  const FUNDS = { terms: { access: { type: 'funds', account: 'DE89370400440532013000' } as const } };
  const REQUESTED: ConsentEvent = { type: 'requested', resourceId: 'FLOW', outcomes: [] };
  const GRANTED: ConsentEvent = {
    ...{ type: 'granted', bankStatus: 'valid', validUntil: null, frequencyPerDay: null, recurring: true },
  };
  const ENDED: ConsentEvent = { type: 'ended', state: 'rejected', bankStatus: 'rejected' };
  const REVOKED: ConsentEvent = { type: 'ended', state: 'revoked', bankStatus: 'revokedByPsu' };
  it.each<[string, [typeof READING | typeof FUNDS, ...ConsentEvent[]][], boolean]>([
    ['none', [], false],
    ['one for readings', [[READING, REQUESTED, GRANTED]], false],
    ['one for funds that nobody has authorised yet', [[FUNDS, REQUESTED]], true],
    ['one for funds', [[FUNDS, REQUESTED, GRANTED]], true],
    ['one for funds that the customer has rejected', [[FUNDS, REQUESTED, ENDED]], false],
    ['one for funds that was withdrawn', [[FUNDS, REQUESTED, GRANTED, REVOKED]], false],
    [
      'one for funds beside a rejected one',
      [
        [FUNDS, REQUESTED, GRANTED],
        [FUNDS, REQUESTED, ENDED],
      ],
      true,
    ],
    [
      'one for funds before one for readings',
      [
        [FUNDS, REQUESTED, GRANTED],
        [READING, REQUESTED],
      ],
      true,
    ],
  ])('with this consent the certificates need the role for funds: %s', async (_, consents, confirmsFunds) => {
    const folder = newConfigFolder(temporary);
    for (const [begin, ...events] of consents)
      await storeConsentFlow(open({}, undefined, folder).context, begin, ...events);
    expect(await neededByConsents(open({}, undefined, folder).context)).toMatchObject({ confirmsFunds });
  });

  it('journals that cannot be read say nothing of the certificates, and an interruption ends the check', async () => {
    const { context } = open();
    const failing = (error: Error) => neededByConsents({ ...context, store: () => Promise.reject(error) });
    expect(await failing(new Psd2Error('config', 'The journal is damaged'))).toEqual({});
    for (const error of [new Psd2Error('interrupted', 'Interrupted'), new TypeError('A fault')])
      await expect(failing(error)).rejects.toBe(error);
  });

  it.each(['', '-1', '10000', '1.5', 'many'])('refuses --days %j', async (days) => {
    const { failure, printed } = await run(['check', `--days=${days}`]);
    expect(printed).toBe('');
    expect(failure).toEqual({
      ...{ code: 'usage', exitCode: 2 },
      message: `--days ${JSON.stringify(days)} is not a whole number from 0 to 9999`,
    });
  });

  it('a file with several certificates has a check for each, by its name', async () => {
    const both = own('both.pem');
    writeFileSync(both, readFileSync(files.nextQsealCertFile, 'utf8') + readFileSync(files.caFile, 'utf8'));
    const { checks, failure } = await examine([both]);
    expect(checks.map(({ status }) => status)).toEqual(['fail', 'ok']);
    expect(failure?.message).toBe(`1 of 2 certificates needs attention: ${checks[0]?.name}`);
    expect(checks[0]?.name).not.toMatch(/CN=/);
  });
});

describe('psd2 cert generate', () => {
  const out = (name: string) => own(`out-${name}`);

  it('writes five files for their owner alone, which the profile can use', async () => {
    const folder = out('all');
    const { printed, said } = await run(['generate', '--out', folder]);
    const data: unknown = JSON.parse(printed);
    expect(generate.prints?.shape.is(data)).toBe(true);
    const written = {
      ...{ ca: join(folder, 'ca.pem'), qwacCertificate: join(folder, 'qwac.pem') },
      ...{ qwacKey: join(folder, 'qwac-key.pem'), qsealCertificate: join(folder, 'qseal.pem') },
      qsealKey: join(folder, 'qseal-key.pem'),
    };
    expect(data).toEqual({
      ...{ organizationIdentifier: 'PSDIT-BI-00000', roles: ['PSP_AI', 'PSP_PI', 'PSP_IC'] },
      ...{ notAfter: inDays(90), files: written },
    });
    expect(said).toBe('These certificates are for tests. No bank accepts them in production.\n');
    for (const file of Object.values(written)) expect(statSync(file).mode & 0o777).toBe(0o600);
    const [qwac] = await inspected([written.qwacCertificate, '--key', written.qwacKey]);
    expect(qwac).toMatchObject({
      ...{ keyMatches: true, qcType: 'web', ncaName: 'TEST authority IT-BI', ncaId: 'IT-BI' },
      subject: expect.stringContaining('Test TPP TEST'),
    });
    const [qseal] = await inspected([written.qsealCertificate, '--key', written.qsealKey]);
    expect(qseal).toMatchObject({ keyMatches: true, qcType: 'eseal' });
  });

  it('takes the words of the operator, each role once', async () => {
    const folder = out('words');
    const words = ['--roles', ' aisp,PSP_AI ,pisp', '--days', '1', '--name', "D'Arcy & Co.-1"];
    const given = ['--out', folder, ...words, '--organization-identifier', 'PSDDE-BAFIN-123456'];
    const { printed } = await run(['generate', ...given], { format: 'table' });
    expect(cellsIn(printed)).toEqual([
      ['Organization', 'PSDDE-BAFIN-123456'],
      ['Roles', 'PSP_AI PSP_PI'],
      ['Valid until', inDays(1)],
      ['Authority', join(folder, 'ca.pem')],
      ['QWAC', join(folder, 'qwac.pem')],
      ['QWAC key', join(folder, 'qwac-key.pem')],
      ['QSealC', join(folder, 'qseal.pem')],
      ['QSealC key', join(folder, 'qseal-key.pem')],
    ]);
  });

  const WHOLE = 'is not a whole number from 1 to 3650';
  const NAME = 'is not a name of 1 to 30 letters, digits and spaces';
  const TOO_LONG = `PSDIT-BI-${'1'.repeat(41)}`;
  const IDENTIFIER = 'is not of the form PSD<country>-<authority>-<number>';
  it.each([
    ['--days', WHOLE, ['', '0', '3651']],
    ['--name', NAME, ['', ' a', 'a/b', 'a'.repeat(31)]],
    ['--organization-identifier', IDENTIFIER, ['IT-BI-1', 'xPSDIT-BI-1', 'PSDIT-BI-', 'PSDIT-BI-1 2']],
    ['--organization-identifier', IDENTIFIER, ['PSDIT-B-1', 'PSDIT-ABCDEFGHI-1', TOO_LONG]],
  ])('a value of %s that %s writes nothing: %j', async (option, message, values) => {
    const folder = out('none');
    for (const value of values) {
      const { failure } = await run(['generate', '--out', folder, option, value]);
      expect(failure).toEqual({
        ...{ code: 'usage', exitCode: 2, message: `${option} "${value}" ${message}` },
        ...(message === IDENTIFIER && { hint: 'For example PSDIT-BI-12345.' }),
      });
    }
    expect(existsSync(folder)).toBe(false);
  });

  it.each(['', 'boss'])('the role %j is unknown, and psd2 says which there are', async (role) => {
    const folder = out('none');
    expect((await run(['generate', '--out', folder, '--roles', `AISP,${role}`])).failure).toEqual({
      ...{ code: 'usage', exitCode: 2, message: `Unknown role "${role}"` },
      hint: 'Use one or more of PSP_AI, PSP_PI, PSP_IC and PSP_AS (or AISP, PISP, PIISP, ASPSP), PSP_CB, PSP_PA, VOP_RS and VOP_VS, separated by commas.',
    });
    expect(existsSync(folder)).toBe(false);
  });

  it.each([
    ['what is longest', `PSDDE-ABCDEFGH-${'1'.repeat(40)}`, 'Ä'.repeat(30), '3650', 'DE-ABCDEFGH'],
    ['what is shortest, and hyphens in the number', 'PSDDE-BA-1-2', 'Ä', '1', 'DE-BA'],
  ])('takes %s, and each role by its short name', async (_, id, name, days, ncaId) => {
    const folder = out(ncaId);
    const words = ['--organization-identifier', id, '--name', name, '--days', days];
    const roles = ['--roles', 'AISP,PISP,PIISP,ASPSP'];
    const { printed } = await run(['generate', '--out', folder, ...words, ...roles]);
    expect(JSON.parse(printed)).toMatchObject({ roles: ['PSP_AI', 'PSP_PI', 'PSP_IC', 'PSP_AS'] });
    expect(await inspected([join(folder, 'qwac.pem')])).toMatchObject([
      { ncaId, ncaName: `TEST authority ${ncaId}`, organizationIdentifier: id },
    ]);
  });
});

describe.each([
  ['generate', ['ca.pem', 'qwac.pem', 'qwac-key.pem', 'qseal.pem', 'qseal-key.pem'], 'the certificates'],
  ['request', ['qwac-key.pem', 'qwac.csr'], 'the key and the request'],
])('psd2 cert %s', (verb, names, what) => {
  it.each(names)('does not overwrite %s, and writes nothing beside it', async (name) => {
    const folder = own(`${verb}-with-${name}`);
    const file = join(folder, name);
    mkdirSync(folder);
    writeFileSync(file, 'mine');
    expect((await run([verb, '--out', folder])).failure).toEqual({
      ...{ code: 'usage', exitCode: 2, hint: 'Choose another folder with --out.' },
      message: `${file} already exists, and psd2 does not overwrite it`,
    });
    expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([[name], 'mine']);
  });

  it('leaves nothing behind if one file cannot be written, and what was there stays', async () => {
    const folder = own(`${verb}-link`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'a-file'), '');
    // A link to nowhere is no file yet, but no new one can be made in its place.
    const name = names.findLast((file) => !file.endsWith('-key.pem')) ?? '';
    symlinkSync(join(folder, 'nowhere'), join(folder, name));
    expect((await run([verb, '--out', folder])).failure).toEqual({
      ...{ code: 'config', exitCode: 3, hint: 'Check the folder and the free space.' },
      message: `psd2 cannot write ${what} to ${folder}: something else has that name`,
    });
    expect(readdirSync(folder).toSorted()).toEqual(['a-file', name]);
    expect(lstatSync(join(folder, name)).isSymbolicLink()).toBe(true);
    const below = join(folder, 'a-file', 'x');
    expect((await run([verb, '--out', below])).failure).toEqual({
      ...{ code: 'config', exitCode: 3, hint: 'Check the folder and the free space.' },
      message: expect.stringMatching(new RegExp(`^psd2 cannot write ${what} to ${below}: .`)),
    });
  });
});
