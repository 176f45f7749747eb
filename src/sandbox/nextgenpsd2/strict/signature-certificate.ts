import type { BankDescription } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import { certificateFingerprint, type TppCertificates } from '../../strict/signature.ts';
import { DoorRefusal, unexpected } from '../refusal.ts';

type CertificateForm = BankDescription['signing']['certificate'];

const NAME = 'TPP-Signature-Certificate';

const EXPECTED: Record<CertificateForm, string> = {
  der: 'the DER in base64, on one line',
  pem: 'the PEM text in base64, on one line',
  'pem-line': 'the PEM text without line breaks',
};

const FORMS = ['der', 'pem', 'pem-line'] as const;

const PEM = /^-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=]+)-----END CERTIFICATE-----$/;

/**
 * Checks that `TPP-Signature-Certificate` is the registered QSealC, in the form of the bank file.
 *
 * @param form undefined: in any of the forms
 * @throws DoorRefusal `CERTIFICATE_MISSING`, `CERTIFICATE_INVALID`
 */
export function checkSignatureCertificate(
  request: RawRequest,
  form: CertificateForm | undefined,
  { qseal, qwac }: TppCertificates,
): void {
  const value = header(request, NAME.toLowerCase());
  if (value === undefined)
    throw new DoorRefusal('CERTIFICATE_MISSING', `The request has no ${NAME}`, '', { path: NAME });
  const forms = form === undefined ? FORMS : [form];
  const ders = forms.flatMap((one) => readCertificate(one, value) ?? []);
  const [der] = ders.some((one) => one.equals(qseal.raw)) ? [qseal.raw] : ders;
  if (der === undefined)
    throw unexpected(
      'CERTIFICATE_INVALID',
      NAME,
      `${NAME} has another form`,
      EXPECTED[forms[0] ?? 'der'],
      value,
    );
  if (der.equals(qseal.raw)) return;
  throw unexpected(
    'CERTIFICATE_INVALID',
    NAME,
    der.equals(qwac.raw)
      ? `${NAME} is the QWAC, but must be the QSealC`
      : `${NAME} is not the registered QSealC`,
    `SHA-256 ${certificateFingerprint(qseal.raw)}`,
    `SHA-256 ${certificateFingerprint(der)}`,
  );
}

/** The DER. Undefined if the header has another form. */
function readCertificate(form: CertificateForm, value: string): Buffer | undefined {
  switch (form) {
    case 'der':
      return fromBase64(value);
    case 'pem-line':
      return fromBase64(PEM.exec(value)?.[1] ?? '');
    case 'pem': {
      const pem = fromBase64(value)?.toString('latin1') ?? '';
      return fromBase64(PEM.exec(pem.replace(/\r?\n/g, ''))?.[1] ?? '');
    }
  }
}

function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined;
}
