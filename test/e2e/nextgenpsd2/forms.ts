import { createPublicKey, X509Certificate } from 'node:crypto';
import { withOpenssl } from '../../certificates/openssl.ts';
import { digestProblem, signatureProblem } from '../../signature/independent-verifier.ts';
import type { Recorded } from './recorder.ts';
import type { Differing } from './standard.ts';

// What each platform that comes with psd2 demands, written down a second time: these tests do not read the bank files.

type KeyId = (serial: bigint, issuer: string, subject: string) => string;

interface Signing {
  headers: string[];
  ifSent: string[];
  keyId: KeyId;
  digest: 'SHA-256' | 'SHA-512';
  /** The bank's word for the algorithm, if it is not rsa-sha256. */
  algorithm?: string;
  /** What the digest of a request without a body is made of. */
  emptyBody?: string;
  certificate: (pem: string) => string;
}

/** One platform: how it is asked, and what each request must have. */
export interface Platform extends Differing {
  /** Null: no request is signed. */
  signing: Signing | null;
  date: 'with a signature' | 'always' | 'never';
  /** Whether `auth login` takes a customer, or the application, to an OAuth server. */
  logsIn?: true;
  /** No token has the scopes of readings and of payments. */
  paysWith?: readonly string[];
  /** What `consent request` needs. */
  request?: string[];
  env?: Record<string, string>;
  /** Headers that every request has. */
  always?: Record<string, string>;
  /** The bank has one list of transactions only. */
  onlyBooked?: true;
  /** All transactions come in one document. */
  onePage?: true;
  /** The bank tells nobody how a consent is. */
  untold?: true;
  /** The customer authorises at a device of their own: no browser of the tests gets there. */
  decoupled?: true;
  /** The header with the token, where readings need one. */
  bearer?: true;
}

const der = (pem: string) => new X509Certificate(pem).raw.toString('base64');
const lowerHex = (serial: bigint, issuer: string) => `SN=${serial.toString(16)},CA=${issuer}`;
/** RFC 1779 separates with a comma and a blank, and quotes a value with a comma, where RFC 2253 has a backslash. */
const rfc1779 = (issuer: string) =>
  issuer
    .split(/(?<!\\),/)
    .map((part) => (part.includes('\\,') ? part.replace(/=(.*)$/, '="$1"').replaceAll('\\,', ',') : part))
    .join(', ');

const standard: Signing = {
  headers: ['digest', 'x-request-id'],
  ifSent: ['psu-id', 'psu-corporate-id', 'tpp-redirect-uri'],
  keyId: lowerHex,
  digest: 'SHA-256',
  certificate: der,
};
const signed: Platform = { signing: standard, date: 'never' };
const unsigned: Platform = { signing: null, date: 'never' };
/** An account of the sandbox, for banks that want to know which. */
export const IBAN = 'IT89F0999001600000010482620';

const TRANSILVANIA: Platform = {
  ...unsigned,
  ...{ bearer: true, onlyBooked: true, request: ['--account', IBAN], version: '/bt-psd2-aisp-prd/v1' },
};

export const PLATFORMS: Readonly<Record<string, Platform>> = {
  standard: signed,
  adorsys: {
    date: 'with a signature',
    signing: {
      ...standard,
      ifSent: ['psu-id', 'psu-corporate-id', 'date', 'tpp-redirect-uri'],
      keyId: (serial, issuer) => lowerHex(serial, issuer.replaceAll(' ', '%20')),
      certificate: (pem) => pem.trim().replaceAll('\n', ''),
    },
  },
  atruvia: {
    date: 'never',
    onlyBooked: true,
    request: ['--account', IBAN],
    signing: {
      ...standard,
      ifSent: ['psu-id'],
      keyId: (serial, issuer) => `SN=${serial},CA=${rfc1779(issuer).replaceAll(' ', '')}`,
    },
  },
  argenta: {
    date: 'never',
    bearer: true,
    env: { PSD2_BANK_ARGENTA_API_KEY: 'key-of-the-application' },
    headers: ['apikey'],
    always: { apikey: 'key-of-the-application' },
    signing: {
      ...standard,
      ifSent: [],
      keyId: (serial, issuer) => lowerHex(serial, rfc1779(issuer)),
      certificate: (pem) => pem.trim().replaceAll('\n', ''),
    },
  },
  'banca-transilvania': { ...TRANSILVANIA },
  'banca-transilvania-sandbox': { ...TRANSILVANIA },
  'bank-verlag': unsigned,
  bankdata: {
    ...signed,
    env: { PSD2_BANK_BANKDATA_API_KEY: 'key-of-the-application' },
    headers: ['x-api-key'],
    always: { 'x-api-key': 'key-of-the-application' },
  },
  'cbi-globe': {
    version: /^\/platform\/enabler\/psd2orchestrator\/[ap]is\/[\d.]+/,
    date: 'always',
    logsIn: true,
    bearer: true,
    request: ['--account', IBAN],
    env: { PSD2_BANK_CBI_ASPSP_CODE: '01234', PSD2_BANK_CBI_ASPSP_PRODUCT_CODE: '56789' },
    headers: ['aspsp-code', 'aspsp-product-code'],
    always: { 'aspsp-code': '01234' },
    parameters: ['offset'],
    renamed: { booking_status: 'bookingStatus', date_from: 'dateFrom', date_to: 'dateTo' },
    signing: {
      ...standard,
      headers: ['digest', 'x-request-id', 'date'],
      algorithm: 'rsa-sha512',
      digest: 'SHA-512',
    },
  },
  comdirect: { ...unsigned, bearer: true },
  commerzbank: { ...unsigned, bearer: true },
  'commerzbank-sandbox': { ...unsigned, bearer: true },
  consorsbank: unsigned,
  'deutsche-bank': {
    signing: null,
    date: 'always',
    version: '/ais/DE/DB/v1',
    request: ['--psu-id', 'anna', '--psu-id-type', 'DE_ONLB_DB'],
  },
  fabrick: unsigned,
  kbc: {
    ...unsigned,
    bearer: true,
    untold: true,
    onlyBooked: true,
    version: '/v2',
    request: ['--account', IBAN],
  },
  n26: { ...unsigned, decoupled: true, logsIn: true, bearer: true, onlyBooked: true },
  paysera: { ...signed, bearer: true },
  'raiffeisen-austria': { ...unsigned, logsIn: true, bearer: true, request: ['--account', IBAN] },
  'raiffeisen-romania': {
    ...unsigned,
    ...{ bearer: true, request: ['--psu-id', 'anna', '--account', IBAN] },
    version: /^\/psd2-(bgs-consent|accounts)-api-1\.3\.2-rbro\/v1/,
    env: { PSD2_BANK_RBRO_CLIENT_ID: 'rbro-client' },
    headers: ['client_id'],
    always: { client_id: 'rbro-client' },
  },
  redsys: {
    date: 'never',
    onlyBooked: true,
    signing: {
      ...standard,
      ifSent: ['tpp-redirect-uri'],
      algorithm: 'SHA-256',
      keyId: (serial, _, subject) =>
        `SN=${serial},CA=${rfc1779(subject).replaceAll(' ', '').replace('organizationIdentifier', 'OID.2.5.4.97')}`,
    },
  },
  'salt-edge': {
    date: 'always',
    signing: {
      ...standard,
      headers: ['digest', 'date', 'x-request-id'],
      keyId: (serial, issuer) => `SN=${serial},DN=/${issuer.split(',').toReversed().join('/')}`,
      certificate: (pem) => Buffer.from(pem).toString('base64'),
    },
  },
  'santander-consumer': { ...unsigned, bearer: true },
  sparda: { ...unsigned, logsIn: true, bearer: true, paysWith: ['--payments'] },
  sparkassen: { ...unsigned, bearer: true, onePage: true, request: ['--account', IBAN] },
  unicredit: {
    ...unsigned,
    request: ['--psu-id-type', 'HVB_ONLINEBANKING', '--psu-ip', '203.0.113.9'],
  },
  'volksbank-nl': {
    ...unsigned,
    ...{ bearer: true, untold: true, onlyBooked: true },
    version: /^\/v1(\.1)?/,
    env: { PSD2_BANK_VOLKSBANK_CLIENT_ID: 'volksbank-client' },
  },
  worldline: { ...unsigned, bearer: true },
  wso2: {
    date: 'with a signature',
    bearer: true,
    signing: { ...standard, headers: ['digest', 'x-request-id', 'date'], emptyBody: '{}' },
  },
};

/** @param qseal PEM of the certificate of signatures. @returns what the platform has against a request */
export function objectionsOf(platform: Platform, qseal: string): (request: Recorded) => string[] {
  const nameOf = (whose: 'issuer' | 'subject') =>
    withOpenssl((openssl) => {
      const file = openssl.write('cert.pem', qseal);
      const said = openssl.run('x509', '-in', file, '-noout', `-${whose}`, '-nameopt', 'RFC2253');
      return said.replace(/^(issuer|subject)=/, '').trim();
    });
  const [issuer, subject] = [nameOf('issuer'), nameOf('subject')];
  const { serialNumber, publicKey } = new X509Certificate(qseal);
  const key = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }))
    .export({ type: 'spki', format: 'pem' })
    .toString();
  return (request) => [
    ...signingObjections(
      request,
      platform.signing,
      (form) => form(BigInt(`0x${serialNumber}`), issuer, subject),
      {
        pem: qseal,
        key,
      },
    ),
    ...otherObjections(request, platform),
  ];
}

function signingObjections(
  { method, url, headers, body }: Recorded,
  signing: Signing | null,
  named: (form: KeyId) => string,
  { pem, key }: { pem: string; key: string },
): string[] {
  if (signing === null) {
    const sent = ['digest', 'signature', 'tpp-signature-certificate'].filter((name) => name in headers);
    return sent.map((name) => `has ${name}`);
  }
  const names = [...signing.headers, ...signing.ifSent.filter((name) => headers[name] !== undefined)];
  // A name in the form of RFC 1779 can have quotes, which are escaped. The library knows no escapes.
  const { algorithm = 'rsa-sha256' } = signing;
  // Neither does it know a bank's own word for an algorithm.
  const usual = algorithm.includes('512') ? 'rsa-sha512' : 'rsa-sha256';
  const written = headers.signature?.replaceAll('\\"', "'") ?? '';
  const signature = written.replace(`algorithm="${algorithm}"`, `algorithm="${usual}"`);
  const plain = { ...headers, signature };
  const keyId = named(signing.keyId).replaceAll('"', "'");
  const problems = [
    signatureProblem({ method, url, headers: plain }, names, keyId, key, usual),
    digestProblem(
      headers.digest,
      body.length === 0 ? Buffer.from(signing.emptyBody ?? '') : body,
      signing.digest,
    ),
    headers['tpp-signature-certificate'] === signing.certificate(pem) ? null : 'has another certificate',
  ];
  return problems.flatMap((problem) => problem ?? []);
}

function otherObjections({ method, target, headers }: Recorded, platform: Platform): string[] {
  const isDated = platform.date === 'always' || (platform.date === 'with a signature' && platform.signing);
  const isReading = /\/(card-)?accounts/.test(target);
  const isCreated = method === 'POST' && /\/(consents|payments\/[^/]+)$/.test(target);
  return [
    ...(Boolean(headers.date) === Boolean(isDated) ? [] : [`has the date ${headers.date}`]),
    ...(isReading && Boolean(headers.authorization) !== Boolean(platform.bearer)
      ? [`has ${headers.authorization ? 'a' : 'no'} token`]
      : []),
    ...Object.entries(platform.always ?? {})
      .filter(([name, value]) => headers[name] !== value)
      .map(([name]) => `has another ${name}`),
    ...('aspsp-product-code' in headers && !isCreated ? ['has aspsp-product-code'] : []),
  ];
}
