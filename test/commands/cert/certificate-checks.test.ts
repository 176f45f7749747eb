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
import { encodeQcStatements, QC_STATEMENTS_OID } from '../../../src/certificates/qc-statements.ts';
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
  { subject = 'CN=tpp.example, 2.5.4.97=PSDIT-BI-12345' } = {},
): Promise<X509Certificate> {
  const statements = encodeQcStatements({
    qcCompliance: true,
    qcType: 'web',
    psd2: { ...psd2, roles: [...psd2.roles] },
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

describe('the extended key usage of a QWAC', () => {
  it.each([
    ['only serverAuth', 'fail', [ExtendedKeyUsage.serverAuth]],
    ['serverAuth and clientAuth', 'ok', [ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]],
    ['only clientAuth', 'ok', [ExtendedKeyUsage.clientAuth]],
  ])('the check of a QWAC with %s is: %s', async (_, status, usages) => {
    expect(checkCertificate(await qwacFor(usages), USE, LIMITS)).toMatchObject({ status });
  });

  it('a missing extended key usage allows everything', async () => {
    expect(checkCertificate(await qwacFor(undefined), USE, LIMITS)).toMatchObject({ status: 'ok' });
  });

  it('the finding about a missing clientAuth says what to do', async () => {
    const { detail, fix } = checkCertificate(await qwacFor([ExtendedKeyUsage.serverAuth]), USE, LIMITS);
    expect(detail).toContain('lacks clientAuth');
    expect(fix?.hint).toContain('Request a new one with clientAuth');
  });

  it("the extended key usage does not matter for a certificate that is not the TPP's", async () => {
    const certificate = await qwacFor([ExtendedKeyUsage.serverAuth]);
    const use = { name: 'CA', qcType: undefined, isTpp: false, keyMatches: null };
    expect(checkCertificate(certificate, use, LIMITS)).toMatchObject({ status: 'ok' });
  });
});

describe('two findings at once', () => {
  const EXPIRED = { ...LIMITS, now: new Date('2027-04-01T00:00:00Z') };
  const SOON = { ...LIMITS, now: new Date('2027-02-20T00:00:00Z') };
  const WITHOUT_KEY = { ...USE, keyMatches: false };
  /** As if a seal were expected: a second failure of the certificate. */
  const AS_SEAL = { ...USE, qcType: 'eseal' as const };
  const noRoles = { subject: 'CN=tpp.example' };

  it.each([
    ['expired, and a warning', USE, EXPIRED, noRoles, 'fail', 'expired on 2027-03-01', 'Register a new'],
    [
      'expired, and a wrong key',
      WITHOUT_KEY,
      EXPIRED,
      {},
      'fail',
      'the key does not match',
      'Register a new',
    ],
    [
      'ends soon, and a wrong key',
      WITHOUT_KEY,
      SOON,
      {},
      'fail',
      'the key does not match',
      'Use the key that',
    ],
    ['ends soon, and of the wrong kind', AS_SEAL, SOON, {}, 'fail', 'it is a QWAC, not a QSealC', 'Use each'],
    ['ends soon, and a warning', USE, SOON, noRoles, 'warn', '9 days left', 'Order a new certificate'],
    ['only a warning', USE, LIMITS, noRoles, 'warn', 'not of the form', undefined],
  ])('%s: the worse one decides, both are named, and its advice is given', async (...row) => {
    const [, use, limits, made, status, detail, hint] = row;
    const check = checkCertificate(await qwacFor(undefined, made), use, limits);
    expect(check).toMatchObject({ status, detail: expect.stringContaining(detail) });
    if (hint === undefined) expect(check.fix).toBeNull();
    else expect(check.fix?.hint).toContain(hint);
  });

  it('a certificate without a fault is ok, and needs nothing', async () => {
    expect(checkCertificate(await qwacFor(undefined), USE, LIMITS)).toMatchObject({
      status: 'ok',
      fix: null,
    });
  });
});

describe('a consent that depends on a certificate', () => {
  const check = async (expiresAt: string, now = NOW) =>
    checkCertificate(await qwacFor(undefined), USE, {
      ...LIMITS,
      now,
      lastConsent: { customerId: '1234567', expiresAt },
    });

  it('psd2 warns if a consent outlasts its certificate', async () => {
    const { status, detail, fix } = await check('2027-03-01T00:00:01Z');
    expect(status).toBe('warn');
    expect(detail).toContain('ends before a consent that depends on it (customer 1234567, until 2027-03-01)');
    expect(fix?.next).toEqual([['profile', 'set']]);
  });

  it('psd2 does not warn if the certificate lasts as long as the consent', async () => {
    expect(await check('2027-03-01T00:00:00Z')).toMatchObject({ status: 'ok' });
  });

  it('an expired certificate hides the warning about a consent', async () => {
    const { detail } = await check('2027-06-01T00:00:00Z', new Date('2027-04-01T00:00:00Z'));
    expect(detail).toContain('expired on 2027-03-01');
    expect(detail).not.toContain('consent');
  });

  it('the warning is about the consent that ends last', () => {
    const consent = (customerId: string, state: Consent['state'], updatedAt: string): Consent => ({
      ...CONSENT,
      customerId,
      state,
      updatedAt,
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
  kind: 'consent',
  flow: 'co-1',
  transactionId: 't1',
  customerId: '1',
  state: 'confirmed',
  resourceId: null,
  reached: true,
  returned: true,
  confirmRequestId: null,
  refusalAlone: false,
  terms: null,
  access: null,
  bankStatus: null,
  grantedAt: null,
  besideOthers: false,
  returnState: null,
  links: null,
  resolution: null,
  categories: [],
  createdAt: '2025-01-01T00:00:00Z',
  updatedAt: '2025-01-01T00:00:00Z',
};
