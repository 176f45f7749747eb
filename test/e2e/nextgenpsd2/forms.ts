import type { Differing } from './standard.ts';

// How each platform that comes with psd2 is asked: these tests do not read the bank files. What a platform wants to be signed, and
// how, is in test/bank/interfaces/nextgenpsd2/description/platform-figures.test.ts. The sandbox's door refuses anything else.

/** One platform, where it is not as the standard. */
export interface Platform extends Differing {
  /** Whether `auth login` takes a customer, or the application, to an OAuth server. */
  logsIn?: true;
  /** No token has the scopes of readings and of payments. */
  paysWith?: readonly string[];
  /** What `consent request` needs. */
  request?: string[];
  env?: Record<string, string>;
  /** The bank has one list of transactions only. */
  onlyBooked?: true;
  /** All transactions come in one document. */
  onePage?: true;
  /** The bank tells nobody how a consent is. */
  untold?: true;
  /** The customer authorises at a device of their own: no browser of the tests gets there. */
  decoupled?: true;
  /** The customer gives psd2 PIN and TAN: embedded.test.ts plays that. */
  embedded?: true;
}

/** An account of the sandbox, for banks that want to know which. */
export const IBAN = 'IT89F0999001600000010482620';
const ACCOUNT = ['--account', IBAN];

const TRANSILVANIA: Platform = {
  ...{ onlyBooked: true, request: ACCOUNT, version: '/bt-psd2-aisp-prd/v1' },
};

export const PLATFORMS: Readonly<Record<string, Platform>> = {
  standard: {},
  adorsys: {},
  atruvia: { embedded: true, onlyBooked: true, request: ACCOUNT },
  argenta: { env: { PSD2_BANK_ARGENTA_API_KEY: 'key-of-the-application' }, headers: ['apikey'] },
  'banca-transilvania': TRANSILVANIA,
  'banca-transilvania-sandbox': TRANSILVANIA,
  'bank-verlag': {},
  bankdata: { env: { PSD2_BANK_BANKDATA_API_KEY: 'key-of-the-application' }, headers: ['x-api-key'] },
  'cbi-globe': {
    version: /^\/platform\/enabler\/psd2orchestrator\/[ap]is\/[\d.]+/,
    logsIn: true,
    request: ACCOUNT,
    env: { PSD2_BANK_CBI_ASPSP_CODE: '01234', PSD2_BANK_CBI_ASPSP_PRODUCT_CODE: '56789' },
    headers: ['aspsp-code', 'aspsp-product-code'],
    parameters: ['offset'],
    renamed: { booking_status: 'bookingStatus', date_from: 'dateFrom', date_to: 'dateTo' },
  },
  comdirect: {},
  commerzbank: {},
  'commerzbank-sandbox': {},
  consorsbank: {},
  'deutsche-bank': {
    version: '/ais/DE/DB/v1',
    request: ['--psu-id', 'anna', '--psu-id-type', 'DE_ONLB_DB'],
  },
  fabrick: { moved: ['/scaStatus/', '/consents/c/authorisations/'] },
  kbc: { untold: true, onlyBooked: true, version: '/v2', request: ACCOUNT },
  n26: { decoupled: true, logsIn: true, onlyBooked: true },
  paysera: {},
  'raiffeisen-austria': { logsIn: true, request: ACCOUNT },
  'raiffeisen-romania': {
    request: ['--psu-id', 'anna', ...ACCOUNT],
    version: /^\/psd2-(bgs-consent|accounts)-api-1\.3\.2-rbro\/v1/,
    env: { PSD2_BANK_RBRO_CLIENT_ID: 'rbro-client' },
    headers: ['client_id'],
  },
  redsys: { onlyBooked: true },
  'salt-edge': {},
  'santander-consumer': {},
  sparda: { logsIn: true, paysWith: ['--payments'] },
  sparkassen: { onePage: true, request: ACCOUNT },
  unicredit: { request: ['--psu-id-type', 'HVB_ONLINEBANKING', '--psu-ip', '203.0.113.9'] },
  'volksbank-nl': {
    ...{ untold: true, onlyBooked: true, version: /^\/v1(\.1)?/ },
    env: { PSD2_BANK_VOLKSBANK_CLIENT_ID: 'volksbank-client' },
  },
  worldline: {},
  wso2: {},
};
