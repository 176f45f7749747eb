import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  generateRsaKeys,
  makeCertificateAuthority,
  makeTppCertificates,
  readEidasCertificate,
} from '../../src/certificates/eidas.ts';

it('a TPP gets a QWAC for its host and a QSealC, of one authority, each with its own key', async () => {
  const validity = { from: new Date('2026-11-21T12:00:00Z'), days: 30 };
  const authority = await makeCertificateAuthority('Test CA', await generateRsaKeys(), validity);
  const { qwac, qseal } = await makeTppCertificates(
    authority,
    {
      organization: 'Test TPP',
      organizationIdentifier: 'PSDIT-BI-12345',
      psd2: { roles: ['PSP_PI'], ncaName: "Banca d'Italia", ncaId: 'IT-BI' },
      host: 'tpp.example',
      sealName: 'Test TPP seal',
    },
    validity,
  );
  const both = {
    issuer: 'C=IT, CN=Test CA',
    organizationIdentifier: 'PSDIT-BI-12345',
    roles: ['PSP_PI'],
    ncaName: "Banca d'Italia",
    ncaId: 'IT-BI',
    notAfter: new Date('2026-12-21T12:00:00Z'),
  };
  expect(readEidasCertificate(qwac.certificate)).toMatchObject({
    ...both,
    qcType: 'web',
    subject: 'C=IT, O=Test TPP, 2.5.4.97=PSDIT-BI-12345, CN=tpp.example',
  });
  expect(readEidasCertificate(qseal.certificate)).toMatchObject({
    ...both,
    qcType: 'eseal',
    subject: 'C=IT, O=Test TPP, 2.5.4.97=PSDIT-BI-12345, CN=Test TPP seal',
  });
  for (const { certificate, key } of [qwac, qseal]) {
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))).toBe(true);
  }
  expect(qwac.key).not.toBe(qseal.key);
});
