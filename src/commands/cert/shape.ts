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
    ncaName: orNull(text('the competent authority')),
    ncaId: orNull(text('its id')),
    keyMatches: orNull(flag('whether the key fits; null where it is not known')),
  });

export const certificates = () => list(certificate());

export const certificateChecks = () =>
  z.object({
    ok: flag('whether none has failed'),
    checks: list(
      z.object({
        ...checkFields(),
        subject: text('distinguished name'),
        sha256: text('fingerprint, hexadecimal'),
        notAfter: time('valid until'),
        daysLeft: whole('whole days until then; negative when it has expired'),
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
      ca: text('the authority that issued them'),
      qwacCertificate: text('for mutual TLS'),
      qwacKey: text('its key'),
      qsealCertificate: text('for signatures'),
      qsealKey: text('its key'),
    }),
  });
