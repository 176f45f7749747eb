import * as z from 'zod/mini';
import { flag, list, oneOf, orNull, text, time, whole } from '../shared/fields.ts';
import { checkFields } from '../shared/shapes.ts';

export const certificate = () =>
  z.object({
    subject: text('distinguished name'),
    issuer: text('distinguished name'),
    serialNumber: text('hexadecimal'),
    notBefore: time('valid from'),
    notAfter: time('valid until'),
    sha256: text('fingerprint, hexadecimal'),
    organizationIdentifier: orNull(text('PSD<country>-<authority>-<number>')),
    qcType: orNull(oneOf(['web', 'eseal', 'esign'], 'web: a QWAC; eseal: a QSealC')),
    roles: list(z.string(), 'PSP_AI, PSP_PI, PSP_IC, PSP_AS'),
    ncaName: orNull(text('name of the competent authority')),
    ncaId: orNull(text('id of the competent authority')),
    keyMatches: orNull(flag('true if the key fits; null if the key is not known')),
  });

export const certificates = () => list(certificate());

export const certificateChecks = () =>
  z.object({
    ok: flag('true if no check failed'),
    checks: list(
      z.object({
        ...checkFields(),
        subject: text('distinguished name'),
        sha256: text('fingerprint, hexadecimal'),
        notAfter: time('valid until'),
        daysLeft: whole('whole days until notAfter; negative if it has passed'),
      }),
      'one for each certificate',
    ),
  });

/** The certificates that `cert generate` has made. */
export const generated = () =>
  z.object({
    organizationIdentifier: text('PSD<country>-<authority>-<number>'),
    roles: list(z.string(), 'PSP_AI, PSP_PI, PSP_IC, PSP_AS'),
    notAfter: time('valid until'),
    files: z.object({
      ca: text('certificate of the authority'),
      qwacCertificate: text('QWAC, for mutual TLS'),
      qwacKey: text('key of the QWAC'),
      qsealCertificate: text('QSealC, for signatures'),
      qsealKey: text('key of the QSealC'),
    }),
  });
