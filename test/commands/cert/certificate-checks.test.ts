import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { generateRsaKeys, type RsaKeyPair } from '../../../src/certificates/eidas.ts';
import {
  encodeQcStatements,
  type Psd2Role,
  QC_STATEMENTS_OID,
  type QcType,
} from '../../../src/certificates/qc-statements.ts';
import { checkCertificate } from '../../../src/commands/cert/certificate-checks.ts';
import { lastToEnd } from '../../../src/commands/cert/profile-certificates.ts';
import type { Consent } from '../../../src/domain/consent.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const ENDS = new Date('2027-03-01T00:00:00Z');
const psd2 = { roles: ['PSP_AI', 'PSP_PI'] as const, ncaName: 'Bank of Italy', ncaId: 'IT-BI' };

let keys: RsaKeyPair;
beforeAll(async () => {
  keys = await generateRsaKeys();
});

/** Makes a QWAC that ends on 1 March 2027. @param usages undefined: without an extended key usage */
async function qwacFor(
  usages: ExtendedKeyUsage[] | undefined,
  {
    subject = 'CN=tpp.example, 2.5.4.97=PSDIT-BI-12345',
    qcType = 'web',
    roles = psd2.roles,
  }: { subject?: string; qcType?: QcType | null; roles?: readonly Psd2Role[] | null } = {},
): Promise<X509Certificate> {
  const statements = encodeQcStatements({
    qcCompliance: true,
    qcType: qcType ?? undefined,
    psd2: roles === null ? undefined : { ...psd2, roles: [...roles] },
  });
  const made = await X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: ENDS,
    signingAlgorithm: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    extensions: [
      ...(usages ? [new ExtendedKeyUsageExtension(usages)] : []),
      new Extension(QC_STATEMENTS_OID, false, Uint8Array.from(statements)),
    ],
  });
  return new X509Certificate(Buffer.from(made.rawData));
}

const USE = { name: 'QWAC', qcType: 'web', isTpp: true, keyMatches: true } as const;
const LIMITS = { now: NOW, days: 30, soon: 'warn' } as const;

const SERVER = [ExtendedKeyUsage.serverAuth];
const SEAL = { ...USE, name: 'QSealC', qcType: 'eseal' } as const;
const BANKS = { name: 'CA', qcType: undefined, isTpp: false, keyMatches: null };
it.each([
  ['a QWAC with only serverAuth', USE, 'fail', SERVER],
  ['a QWAC with serverAuth and clientAuth', USE, 'ok', [...SERVER, ExtendedKeyUsage.clientAuth]],
  ['a QWAC with only clientAuth', USE, 'ok', [ExtendedKeyUsage.clientAuth]],
  ['a QWAC without extended key usage, which allows everything', USE, 'ok', undefined],
  ["a certificate that is not the TPP's", BANKS, 'ok', SERVER],
  ['a QSealC, which no TLS client uses', SEAL, 'ok', [ExtendedKeyUsage.emailProtection]],
] as const)('the extended key usage of %s: %j is %s', async (_, use, status, usages) => {
  const made = await qwacFor(usages && [...usages], { qcType: use.qcType ?? 'web' });
  const check = checkCertificate(made, use, LIMITS);
  expect(check).toMatchObject(
    status === 'ok'
      ? { status, fix: null }
      : {
          ...{ status, detail: expect.stringContaining('lacks clientAuth') },
          fix: { hint: expect.stringContaining('Request a new one with clientAuth') },
        },
  );
});

const EXPIRED = { ...LIMITS, now: new Date('2027-04-01T00:00:00Z') };
const SOON = { ...LIMITS, now: new Date('2027-02-20T00:00:00Z') };
const WITHOUT_KEY = { ...USE, keyMatches: false };
/** As if a seal were expected: a second failure of the certificate. */
const AS_SEAL = { ...USE, qcType: 'eseal' as const };
const noRoles = { subject: 'CN=tpp.example' };
const NO_MATCH = 'the key does not match';

it.each([
  ['expired, and a warning', USE, EXPIRED, noRoles, 'fail', 'expired on 2027-03-01', 'Register a new'],
  ['expired, and a wrong key', WITHOUT_KEY, EXPIRED, {}, 'fail', NO_MATCH, 'Register a new'],
  ['ends soon, and a wrong key', WITHOUT_KEY, SOON, {}, 'fail', NO_MATCH, 'Use the key that'],
  ['ends soon, and of the wrong kind', AS_SEAL, SOON, {}, 'fail', 'it is a QWAC, not a QSealC', 'Use each'],
  ['ends soon, and a warning', USE, SOON, noRoles, 'warn', '9 days left', 'Order a new certificate'],
  ['only a warning', USE, LIMITS, noRoles, 'warn', 'not of the form', undefined],
])(
  'two findings at once: %s: the worse one decides, both are named, and its advice is given',
  async (...row) => {
    const [, use, limits, made, status, detail, hint] = row;
    const check = checkCertificate(await qwacFor(undefined, made), use, limits);
    expect(check).toMatchObject({ status, detail: expect.stringContaining(detail) });
    if (hint === undefined) expect(check.fix).toBeNull();
    else expect(check.fix?.hint).toContain(hint);
  },
);

describe('what the check of a certificate says', () => {
  const UNTIL = 'valid until 2027-03-01, 98 days left';
  const WHO = 'authority Bank of Italy (IT-BI); PSDIT-BI-12345';
  const GOOD = `${UNTIL}; the key matches; it is a QWAC; roles PSP_AI PSP_PI; ${WHO}`;
  const seal = { ...USE, name: 'QSealC', qcType: 'eseal' as const };
  const before = (ms: number) => ({ ...LIMITS, now: new Date(ENDS.getTime() - ms), days: 0 });
  const DAY = 24 * 60 * 60 * 1000;
  const READS = 'without the role PSP_AI, needed for reading accounts';
  const PAYS = 'without the role PSP_PI, needed for making transfers';
  const NO_TYPE = 'not a qualified certificate: it has no QcType';
  const ESEAL = { qcType: 'eseal' as const };
  const OF_BANK = `${UNTIL}; the key matches; it is a QSealC`;
  const PERSON = "it is a certificate for a person's signatures, not a QWAC";

  it.each([
    ['a good QWAC', USE, {}, GOOD],
    ['a good QSealC', seal, ESEAL, GOOD.replace('QWAC', 'QSealC')],
    ['one whose key is not known', { ...USE, keyMatches: null }, {}, GOOD.replace('the key matches; ', '')],
    ['one whose use needs no kind', { ...USE, qcType: undefined }, {}, `${UNTIL}; the key matches`],
    ["the bank's, with no roles", { ...seal, isTpp: false }, { ...ESEAL, roles: null }, OF_BANK],
  ])('of %s: all that is right', async (_, use, made, detail) => {
    const certificate = await qwacFor(undefined, made);
    expect(checkCertificate(certificate, use, LIMITS)).toEqual({
      ...{ name: use.name, status: 'ok', detail, fix: null, daysLeft: 98 },
      subject: 'CN=tpp.example, 2.5.4.97=PSDIT-BI-12345',
      sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      notAfter: ENDS.toISOString(),
    });
  });

  it.each([
    ['without a kind', null, 'warn', NO_TYPE, 'Banks accept it at most in a sandbox.'],
    ['for a person', 'esign' as const, 'fail', PERSON, 'Use each certificate for its own setting.'],
  ])('of one %s: what banks do with it', async (_, qcType, status, detail, hint) => {
    expect(checkCertificate(await qwacFor(undefined, { qcType }), USE, LIMITS)).toMatchObject({
      ...{ status, fix: { hint } },
      detail: GOOD.replace('it is a QWAC', detail),
    });
  });

  it.each([
    [['PSP_PI' as const], `roles PSP_PI; ${READS}`],
    [['PSP_AI' as const], `roles PSP_AI; ${PAYS}`],
    [['PSP_IC' as const], `roles PSP_IC; ${READS}, ${PAYS}`],
    // Without a PSD2 statement there is no authority either.
    [null, `${READS}, ${PAYS}`],
  ])('of one with the roles %j: what it cannot do', async (roles, detail) => {
    expect(checkCertificate(await qwacFor(undefined, { roles }), USE, LIMITS)).toMatchObject({
      status: 'warn',
      detail: `${UNTIL}; the key matches; it is a QWAC; ${detail}; ${roles === null ? 'PSDIT-BI-12345' : WHO}`,
      fix: { hint: 'The bank refuses calls that the roles do not cover.' },
    });
  });

  it.each([
    ['missing', ''],
    ['after something else', ', 2.5.4.97=xPSDIT-BI-12345'],
    ['without a number', ', 2.5.4.97=PSDIT-BI-'],
    ['of a tax number', ', 2.5.4.97=VATIT-12345678'],
  ])('of one whose organizationIdentifier is %s: the form', async (_, identifier) => {
    const certificate = await qwacFor(undefined, { subject: `CN=tpp.example${identifier}` });
    expect(checkCertificate(certificate, USE, LIMITS)).toMatchObject({
      ...{ status: 'warn', fix: null },
      detail: GOOD.replace('PSDIT-BI-12345', 'its organizationIdentifier is not of the form PSDIT-BI-12345'),
    });
  });

  it('of one for a TPP with two warnings: the advice of the first that has any', async () => {
    const certificate = await qwacFor(undefined, { subject: 'CN=tpp.example', roles: ['PSP_PI'] });
    expect(checkCertificate(certificate, USE, LIMITS).fix).toEqual({
      hint: 'The bank refuses calls that the roles do not cover.',
    });
    const late = { ...LIMITS, now: new Date(ENDS.getTime() + 1) };
    const ended = checkCertificate(await qwacFor(undefined), { ...USE, keyMatches: false }, late);
    expect(ended.detail).toMatch(/^expired on 2027-03-01; the key does not match the certificate; /);
    const hint = 'Register a new certificate at the bank and store it in the profile.';
    expect(ended.fix).toEqual({ hint });
  });

  it.each([
    [2 * DAY - 1, 1, 'ok', 'valid until 2027-03-01, 1 day left'],
    [2 * DAY, 2, 'ok', 'valid until 2027-03-01, 2 days left'],
    [DAY - 1, 0, 'ok', 'valid until 2027-03-01, 0 days left'],
    [0, 0, 'ok', 'valid until 2027-03-01, 0 days left'],
    [-1, -1, 'fail', 'expired on 2027-03-01'],
  ])('%i ms before its end, %i days: %s', async (ms, days, status, detail) => {
    const check = checkCertificate(await qwacFor(undefined), USE, before(ms));
    expect([check.daysLeft, check.status, check.detail.split(';')[0]]).toEqual([days, status, detail]);
  });

  it('in the moment in which it begins, it is valid', async () => {
    const begins = new Date('2026-01-01T00:00:00Z');
    const at = async (now: Date) => checkCertificate(await qwacFor(undefined), USE, { ...LIMITS, now });
    expect((await at(begins)).status).toBe('ok');
    expect(await at(new Date(begins.getTime() - 1))).toMatchObject({
      ...{ status: 'fail', detail: expect.stringMatching(/^valid only from 2026-01-01/) },
      fix: { hint: "Check this computer's clock." },
    });
  });
});

describe('a consent that depends on a certificate', () => {
  const LATER = new Date('2027-04-01T00:00:00Z');
  const OUTLASTS = 'ends before a consent that depends on it';
  it.each([
    ['outlasts it', '2027-03-01T00:00:01Z', NOW, '1', `${OUTLASTS} (customer 1, until 2027-03-01)`],
    ['lasts as long', '2027-03-01T00:00:00Z', NOW, '1', 'the key matches'],
    ['is for no customer', '2027-04-01T00:00:00Z', NOW, null, `${OUTLASTS} (until 2027-04-01)`],
    ['outlasts it at its very end', '2027-04-01T00:00:00Z', ENDS, null, `${OUTLASTS} (until 2027-04-01)`],
    ['outlasts an expired one', '2027-06-01T00:00:00Z', LATER, '1', 'the key matches'],
  ])('if the consent %s: %s', async (_, expiresAt, now, customerId, said) => {
    const lastConsent = { customerId, expiresAt };
    const limits = { ...LIMITS, days: 0, now, lastConsent };
    const { detail, fix } = checkCertificate(await qwacFor(undefined), USE, limits);
    expect(detail.split('; ')[1]).toBe(said);
    if (said.startsWith(OUTLASTS))
      expect(fix).toEqual({
        hint: 'Before that, register a new certificate at the bank and store it with:',
        next: [['profile', 'set']],
      });
  });

  it('a consent for confirmations of funds needs a role of its own', async () => {
    const at = async (confirmsFunds: boolean) => {
      const certificate = await qwacFor(undefined, { roles: ['PSP_AI', 'PSP_PI'] });
      return checkCertificate(certificate, USE, { ...LIMITS, confirmsFunds });
    };
    expect((await at(false)).detail).not.toContain('PSP_IC');
    expect(await at(true)).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('without the role PSP_IC, needed for confirmations of funds'),
    });
  });

  it('the warning is about the consent that ends last', () => {
    const consent = (customerId: string, state: Consent['state'], updatedAt: string): Consent => ({
      ...{ ...CONSENT, customerId, state, updatedAt },
    });
    const consents = [
      consent('1', 'confirmed', '2026-10-01T00:00:00Z'),
      consent('2', 'confirmed', '2026-11-01T00:00:00Z'),
      consent('3', 'requested', '2026-11-20T00:00:00Z'),
      consent('4', 'confirmed', '2025-11-01T00:00:00Z'),
    ];
    expect(lastToEnd(consents, NOW)).toEqual({ customerId: '2', expiresAt: '2027-04-30T00:00:00.000Z' });
    expect(lastToEnd(consents.slice(2), NOW)).toBeUndefined();
  });
});

const CONSENT: Consent = {
  ...{ kind: 'consent', flow: 'co-1', transactionId: 't1', customerId: '1', state: 'confirmed' },
  categories: [],
  ...{ resourceId: null, reached: true, returned: true, confirmRequestId: null, refusedUnconfirmed: false },
  ...{
    terms: null,
    access: null,
    bankStatus: null,
    messages: [],
    grantedAt: null,
    besideOthers: false,
    returnState: null,
  },
  ...{
    links: null,
    authorisations: [],
    credentials: [],
    resolution: null,
    certificate: null,
    isDeletionTaken: false,
  },
  ...{ createdAt: '2025-01-01T00:00:00Z', updatedAt: '2025-01-01T00:00:00Z' },
};
