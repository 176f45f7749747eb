import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, webcrypto, X509Certificate } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  Extension,
  Pkcs10CertificateRequest,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { readEidasCertificate } from '../../../src/certificates/eidas.ts';
import {
  decodeQcStatements,
  encodeQcStatements,
  QC_STATEMENTS_OID,
  type QcType,
} from '../../../src/certificates/qc-statements.ts';
import { request } from '../../../src/commands/cert/request.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { type How, openCommand, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
const own = (name: string) => join(temporary, name);
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const psd2 = { roles: ['PSP_AI' as const, 'PSP_PI' as const], ncaName: 'Bank of Italy', ncaId: 'IT-BI' };
const ADVICE =
  'Send the request to your certificate authority. Keep the key: it belongs to the new certificate.\n';

const newFolder = () => join(mkdtempSync(own('out-')), 'below', 'new');

/** Makes a certificate with a key on a curve, which costs no time. @param qcType undefined: it is not qualified */
async function certificate(name: string, qcType: QcType | undefined, isAuthority = false): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(EC, false, ['sign', 'verify']);
  const statements = qcType && encodeQcStatements({ qcCompliance: true, qcType, psd2 });
  const made = await X509CertificateGenerator.createSelfSigned({
    name: qcType ? `CN=${name}, 2.5.4.97=PSDIT-BI-12345` : `CN=${name}`,
    keys,
    signingAlgorithm: EC,
    extensions: [
      ...(isAuthority ? [new BasicConstraintsExtension(true)] : []),
      ...(statements ? [new Extension(QC_STATEMENTS_OID, false, Uint8Array.from(statements))] : []),
    ],
  });
  const file = own(`${name}.pem`);
  writeFileSync(file, `${made.toString('pem')}\n`, { mode: 0o600 });
  return file;
}

beforeAll(async () => {
  const qualified = [certificate('web', 'web'), certificate('seal', 'eseal'), certificate('person', 'esign')];
  await Promise.all([
    ...qualified,
    certificate('plain', undefined),
    certificate('authority', undefined, true),
  ]);
  const contents = ['authority', 'plain'].map((name) => readFileSync(own(`${name}.pem`), 'utf8'));
  writeFileSync(own('both.pem'), contents.join(''));
  writeFileSync(own('none.pem'), 'no certificate\n', { mode: 0o600 });
});

const profile = () => ({ PSD2_QWAC_CERT: own('web.pem'), PSD2_QSEAL_CERT: own('seal.pem') });

/** Runs `psd2 cert request` into a folder. */
async function run(words: string[], out: string, how: How = {}) {
  const command = openCommand(newConfigFolder(temporary), new Date().toISOString(), {
    ...how,
    env: { ...profile(), ...how.env },
  });
  await runIn(command.context, 'cert', 'request', ...words, '--out', out);
  return command;
}

const QUALIFIED = {
  ...{ organizationIdentifier: 'PSDIT-BI-12345', roles: ['PSP_AI', 'PSP_PI'] },
  ...{ ncaName: 'Bank of Italy', ncaId: 'IT-BI' },
};
const NONE = { organizationIdentifier: null, roles: [], ncaName: null, ncaId: null };
const KEY = { keyType: 'EC', keyBits: 256, keyEncrypted: false };

describe('the certificate that psd2 cert request renews', () => {
  it.each([
    ['nothing, the QWAC of the profile', [], 'web', 'qwac', QUALIFIED, 'web'],
    ['--qwac, the QWAC of the profile', ['--qwac'], 'web', 'qwac', QUALIFIED, 'web'],
    ['--qseal, the QSealC of the profile', ['--qseal'], 'seal', 'qseal', QUALIFIED, 'eseal'],
    ['a file, that one', ['seal'], 'seal', 'qseal', QUALIFIED, 'eseal'],
    ['one for a person, that one', ['person'], 'person', 'certificate', QUALIFIED, 'esign'],
    ['one that is not qualified, that one', ['plain'], 'plain', 'certificate', NONE, null],
    ['a file with its authority first, that of the TPP', ['both'], 'plain', 'certificate', NONE, null],
  ])('is, with %s', async (_, words, name, file, said, qcType) => {
    const out = newFolder();
    const given = words.map((word) => (word.startsWith('-') ? word : own(`${word}.pem`)));
    const command = await run(given, out);
    const printed: unknown = JSON.parse(command.printed());
    expect(request.prints?.shape.is(printed)).toBe(true);
    const [keyFile, requestFile] = [join(out, `${file}-key.pem`), join(out, `${file}.csr`)];
    const subject = `CN=${name}${qcType === null ? '' : ', 2.5.4.97=PSDIT-BI-12345'}`;
    expect(printed).toEqual({ ...{ subject, qcType }, ...said, ...KEY, keyFile, requestFile });
    expect(command.said()).toBe(ADVICE);
    expect(readdirSync(out).toSorted()).toEqual([`${file}-key.pem`, `${file}.csr`]);
    expect([out, keyFile].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    const key = readFileSync(keyFile);
    const made = new Pkcs10CertificateRequest(readFileSync(requestFile, 'utf8'));
    const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
    expect([made.subject, Buffer.from(made.publicKey.rawData)]).toEqual([subject, publicKey]);
    const statements = made.getExtension(QC_STATEMENTS_OID)?.value;
    expect(statements && decodeQcStatements(new Uint8Array(statements)).qcType).toBe(qcType ?? undefined);
    const old = new X509Certificate(readFileSync(own(`${name}.pem`)));
    expect(old.checkPrivateKey(createPrivateKey(key))).toBe(false);
  });

  it.each(['web --qwac', 'web --qseal', '--qwac --qseal'])('is not %s', async (words) => {
    const out = newFolder();
    const given = words.split(' ').map((word) => (word.startsWith('-') ? word : own(`${word}.pem`)));
    expect(await failureOf(run(given, out))).toEqual({
      ...{ code: 'usage', exitCode: 2, message: 'Give one of these: a file, --qwac or --qseal' },
      hint: 'Each request is for one certificate.',
    });
    expect(() => lstatSync(out)).toThrow('ENOENT');
  });

  it.each([
    ['the file', ['FILE'], {}, (file: string) => file],
    ['the QWAC', [], { PSD2_QWAC_CERT: 'FILE' }, () => 'The QWAC certificate'],
    ['the QSealC', ['--qseal'], { PSD2_QSEAL_CERT: 'FILE' }, () => 'The QSealC certificate'],
  ])('is not one of an authority, nor what is none: %s', async (_, words, env, subject) => {
    const failure = (file: string) => {
      const put = (word: string) => (word === 'FILE' ? file : word);
      const changed = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, put(value)]));
      return failureOf(run(words.map(put), newFolder(), { env: changed }));
    };
    expect(await failure(own('authority.pem'))).toEqual({
      ...{ code: 'certificate', exitCode: 3, hint: 'Give the file with your old certificate.' },
      message: `${subject(own('authority.pem'))} has only certificates of authorities, and none of a TPP`,
    });
    expect(await failure(own('none.pem'))).toEqual({
      ...{ code: 'certificate', exitCode: 3 },
      message: `${subject(own('none.pem'))} has no readable certificate`,
      hint: 'Use a PEM (-----BEGIN CERTIFICATE-----), DER or PKCS#12 file.',
    });
  });
});

it.each([
  ['an empty PSD2_KEY_PASSPHRASE is none', '', false],
  ['a blank one is a passphrase as any other', ' ', true],
  ['one with words encrypts', 'correct horse', true],
])('the new key: %s', async (_, passphrase, isEncrypted) => {
  const out = newFolder();
  const { printed } = await run([], out, { env: { PSD2_KEY_PASSPHRASE: passphrase } });
  expect(JSON.parse(printed())).toMatchObject({ keyEncrypted: isEncrypted });
  const key = readFileSync(join(out, 'qwac-key.pem'), 'utf8');
  expect(key.split('\n')[0]).toBe(`-----BEGIN ${isEncrypted ? 'ENCRYPTED ' : ''}PRIVATE KEY-----`);
  expect(createPrivateKey({ key, passphrase }).asymmetricKeyType).toBe('ec');
});

describe('what a person reads of a request', () => {
  const env = { PSD2_KEY_PASSPHRASE: 'correct horse' };
  const rows = (out: string) => [
    ['Subject', 'CN=web, 2.5.4.97=PSDIT-BI-12345'],
    ['Organization', 'PSDIT-BI-12345'],
    ['QcType', 'web'],
    ['Roles', 'PSP_AI PSP_PI'],
    ['Authority', 'Bank of Italy (IT-BI)'],
    ['Key type', 'EC 256, encrypted'],
    ['Key', join(out, 'qwac-key.pem')],
    ['Request', join(out, 'qwac.csr')],
  ];

  it('is a value a line: in a pipe after a tab, at a terminal below each other', async () => {
    const [out, drawnOut] = [newFolder(), newFolder()];
    const { printed, said } = await run([], out, { env, format: 'table' });
    expect(printed().split('\n')).toEqual([...rows(out).map((row) => row.join('\t')), '']);
    expect(said()).toBe(ADVICE);
    const drawn = await run([], drawnOut, { env, format: 'table', columns: 300 });
    const lines = rows(drawnOut).map(([title = '', value]) => title.padEnd(14) + value);
    expect(drawn.printed().split('\n')).toEqual([...lines, '']);
  });

  it('of a certificate that is not qualified says what there is', async () => {
    const out = newFolder();
    const { printed } = await run([own('plain.pem')], out, { format: 'table' });
    expect(printed().split('\n')).toEqual([
      ...['Subject\tCN=plain', 'Organization\t', 'QcType\t', 'Roles\t', 'Authority\t'],
      ...['Key type\tEC 256, not encrypted', `Key\t${join(out, 'certificate-key.pem')}`],
      ...[`Request\t${join(out, 'certificate.csr')}`, ''],
    ]);
  });
});

describe('what a person reads of psd2 cert check', () => {
  const check = async (words: string[], how: How) => {
    const now = new Date(Date.now() + 1000).toISOString();
    const command = openCommand(newConfigFolder(temporary), now, { ...how, format: 'table' });
    const failure = await failureOf(runIn(command.context, 'cert', 'check', ...words, '--days', '9999'));
    return { failure, printed: command.printed() };
  };
  const until = (name: string) => {
    const { validTo } = new X509Certificate(readFileSync(own(`${name}.pem`)));
    const days = Math.floor((Date.parse(validTo) - Date.now() - 1000) / (24 * 60 * 60 * 1000));
    return `valid until ${new Date(validTo).toISOString().slice(0, 10)}, ${days} days left: it ends within 9999 days`;
  };
  const hint = 'Order a new certificate and register it at the bank in time.';

  it('is a certificate a line in a pipe, also of one that fails, and at a terminal with what to do below', async () => {
    const { failure, printed } = await check([own('both.pem')], {});
    expect(printed).toBe(
      `fail\tauthority\t${until('authority')}\t${hint}\nfail\tplain\t${until('plain')}\t${hint}\n`,
    );
    expect(failure).toEqual({
      ...{ code: 'certificate', exitCode: 3, hint },
      message: '2 of 2 certificates need attention: authority, plain',
    });
    const drawn = await check([own('both.pem')], { columns: 200 });
    const below = `${' '.repeat(17)}→ ${hint}\n`;
    expect(drawn.printed).toBe(
      `fail  authority  ${until('authority')}\n${below}fail  plain      ${until('plain')}\n${below}`,
    );
  });

  it('names a certificate without a common name by its whole subject', async () => {
    const file = own('nameless.pem');
    const keys = await webcrypto.subtle.generateKey(EC, false, ['sign', 'verify']);
    const name = [{ O: ['CN=no name'] }, { C: ['IT'] }];
    const made = await X509CertificateGenerator.createSelfSigned({ name, keys, signingAlgorithm: EC });
    writeFileSync(file, made.toString('pem'));
    const { failure } = await check([file], {});
    expect(failure.message).toBe('1 of 1 certificates needs attention: O=CN=no name, C=IT');
  });
});

it.each([
  ['in a pipe, one after the other', undefined, (title: string) => `${title}\t`, '\n'],
  ['at a terminal, with a line between them', 300, (title: string) => title.padEnd(15), '\n\n'],
])('psd2 cert inspect shows two certificates %s', async (_, columns, titled, between) => {
  const rows = (name: string, qcType: string) => {
    const read = new X509Certificate(readFileSync(own(`${name}.pem`)));
    const subject = `CN=${name}, 2.5.4.97=PSDIT-BI-12345`;
    const date = (text: string) => new Date(text).toISOString();
    return [
      ...[titled('Subject') + subject, titled('Issuer') + subject],
      titled('Serial number') + readEidasCertificate(read.raw).serialNumber,
      ...[titled('Valid from') + date(read.validFrom), titled('Valid until') + date(read.validTo)],
      titled('SHA-256') + read.fingerprint256.replaceAll(':', '').toLowerCase(),
      ...[`${titled('Organization')}PSDIT-BI-12345`, titled('QcType') + qcType],
      ...[`${titled('Roles')}PSP_AI PSP_PI`, `${titled('Authority')}Bank of Italy (IT-BI)`],
      `${titled('Key')}not known`,
    ].join('\n');
  };
  const how = { env: profile(), format: 'table' as const, ...(columns !== undefined && { columns }) };
  const command = openCommand(newConfigFolder(temporary), new Date().toISOString(), how);
  await runIn(command.context, 'cert', 'inspect');
  const written = [rows('web', 'web (QWAC)'), rows('seal', 'eseal (QSealC)')].join(between);
  if (columns === undefined) expect(command.printed()).toBe(`${written}\n`);
  else expect(withoutTimes(command.printed())).toBe(withoutTimes(`${written}\n`));
});

/** A terminal shows times in the time zone of the reader. */
const withoutTimes = (text: string) => text.replace(/^(Valid \w+ +).*$/gm, '$1');

describe('a request and the old certificate', () => {
  it('have the same subject, with the types of its strings, as OpenSSL finds', async () => {
    const old = selfSigned('p384.pem', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384');
    const out = newFolder();
    await run([old], out);
    expect(subjectOf('req', join(out, 'certificate.csr'))).toBe(subjectOf('x509', old));
  });

  const NO_QSEAL = { PSD2_QSEAL_CERT: undefined };
  it.each<[string, () => string[], string, RegExp]>([
    ['a file that is missing', () => ['missing.pem'], 'usage', /missing\.pem/],
    ['a key of an unknown kind', () => [selfSigned('ed', '-newkey', 'ed25519')], 'certificate', /ed25519/],
    ['the QSealC that it lacks', () => ['--qseal'], 'config', /no QSealC/],
  ])('%s ends with one sentence, and leaves no files', async (_, words, code, message) => {
    const out = newFolder();
    expect(await failureOf(run(words(), out, { env: NO_QSEAL }))).toMatchObject({
      ...{ code, message: expect.stringMatching(message) },
    });
    expect(() => lstatSync(out)).toThrow('ENOENT');
  });
});

const subjectOf = (kind: 'req' | 'x509', file: string) =>
  execFileSync('openssl', [kind, '-in', file, '-noout', '-subject', '-nameopt', 'multiline,show_type'], {
    encoding: 'utf8',
  });

/** Makes a self-signed certificate with OpenSSL. */
function selfSigned(name: string, ...newKey: string[]): string {
  const file = own(name);
  const words = ['req', '-x509', '-nodes', '-subj', '/C=DE/O=Old/OU=A/OU=B/CN=old.example', '-days', '2'];
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  execFileSync('openssl', [...words, ...leaf, ...newKey, '-keyout', `${file}.key`, '-out', file], {
    stdio: 'pipe',
  });
  return file;
}
