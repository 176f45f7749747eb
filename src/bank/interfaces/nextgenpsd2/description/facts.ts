import type { Fact, PlatformFacts } from '../../../../bank-file/facts.ts';

const ADAPTERS = 'https://github.com/adorsys/xs2a-adapter/tree/develop/adapters';
const CLIENT = 'https://github.com/roodje/bespoke-providers';
const byAdapter = (bank: string): Fact => [`${ADAPTERS}/${bank}-adapter`, "a client's code"];
const byClient = (folder: string): Fact => [`${CLIENT}, ${folder}`, "a client's code"];
const byPage = (address: string): Fact => [address, "bank's own page"];
const contested = (source: string, differs: string): Fact => [source, 'contested', differs];

const XS2A = 'https://github.com/adorsys/xs2a, bank_profile.yml';
const ATRUVIA = `${CLIENT}, monorepo-group, atruviagroup; and ${ADAPTERS}/fiducia-adapter`;
const BY_EMBEDDED = 'embedded SCA alone, with a PSU-ID: psd2 may not be able to authorise there';
const PAYSERA = 'https://developers.paysera.com/en/open-banking/v1.3/';
const WORLDLINE = byPage('https://devportal.tpp.europabank.be/content/howto/build-authorize-url');
const TRANSILVANIA = byPage('https://apistorebt.ro/bt/sb/');
const WSO2 =
  'https://github.com/wso2/reference-implementation-nextgenpsd2, and https://github.com/wso2/docs-ob-toolkit-berlin';
const CBI = `${CLIENT}, bespoke-cbiglobe/swagger`;
const VOLKSBANK = `${CLIENT}, bespoke-volksbank/swagger/volksbank`;
const KEY = 'call anything before the application has its key there';
const OWN_TOKEN = 'call anything before your file names oauth.tokenEndpoint';

const OWN: Readonly<Record<string, PlatformFacts>> = {
  adorsys: {
    behind: 'adorsys: the server of many banks in Germany and Austria',
    says: ['readings', 'payments', 'funds'],
    cannot: 'rely on these values alone: the profile of each bank decides',
    facts: {
      '': ['https://github.com/adorsys/xs2a, server 14.10, run on 2026-11-26', 'seen at a server'],
      'signing.when': contested(XS2A, 'the default profile has no signature'),
      'consent.types': contested(XS2A, 'the default profile has dedicated and list-only'),
      'accounts.bookingStatuses': contested(XS2A, 'the default profile has booked and pending'),
      'payments.products': contested(XS2A, 'the default profile has single payments alone'),
      'payments.cancel': contested(XS2A, 'the default profile cancels without SCA'),
      'payments.futureDays': contested(
        'https://github.com/adorsys/xs2a, SinglePaymentTypeValidatorImpl and BulkPaymentTypeValidatorImpl',
        'what the connector of each bank takes: the server refuses only days of the past',
      ),
    },
  },
  argenta: {
    behind: 'Argenta',
    says: ['readings'],
    cannot: KEY,
    facts: { '': byPage('https://api.payments.argenta.be/berlingroup/v1/consents, OpenAPI 1.5') },
  },
  atruvia: {
    behind: 'Atruvia: Volksbanken, Raiffeisenbanken and other cooperative banks',
    cannot: 'authorise, if the bank has embedded SCA alone',
    facts: {
      '': byClient('monorepo-group, atruviagroup'),
      'signing.keyId': contested(ATRUVIA, 'a hexadecimal serial number, RFC 2253 and %20'),
      'signing.algorithm': contested(ATRUVIA, 'SHA256withRSA'),
      'sca.approaches': contested(ATRUVIA, BY_EMBEDDED),
      'psu.id': contested(ATRUVIA, BY_EMBEDDED),
    },
  },
  'banca-transilvania': { behind: 'Banca Transilvania', facts: { '': TRANSILVANIA } },
  'banca-transilvania-sandbox': { behind: 'Banca Transilvania, its sandbox', facts: { '': TRANSILVANIA } },
  'bank-verlag': {
    behind: 'Bank-Verlag: private banks in Germany',
    facts: {
      '': byAdapter('verlag'),
      'accounts.reports': contested(`${ADAPTERS}/verlag-adapter`, 'MT940 as text alone, in its sandbox'),
      'sca.approaches': contested(`${ADAPTERS}/verlag-adapter`, 'embedded SCA, in recordings'),
    },
  },
  bankdata: {
    behind: 'Bankdata: Jyske Bank and other banks in Denmark',
    cannot: `${KEY}, and your file names oauth.mode "client-credentials" and oauth.tokenEndpoint`,
    facts: {
      '': byPage('https://developers.bankdata.dk/how_it_works/security'),
      'signing.when': contested(
        'https://developers.bankdata.dk/how_it_works/security',
        'mutual TLS and the key of the application are enough, without a signature',
      ),
    },
  },
  'cbi-globe': {
    behind: 'CBI S.c.p.a. and Nexi: the gateway of most banks in Italy',
    cannot: 'cancel payments',
    facts: {
      '': [`${CBI}, the OpenAPI files of the gateway`, "bank's own page"],
      headers: byClient('bespoke-cbiglobe'),
      oauth: byClient('bespoke-cbiglobe'),
      'consent.types': byClient('bespoke-cbiglobe'),
      'payments.refusals': [`${CBI}, the OpenAPI files of the gateway`, "bank's own page"],
      'signing.algorithm': contested(CBI, 'RSA with SHA-256'),
      'signing.digest': contested(CBI, 'SHA-256'),
    },
  },
  comdirect: {
    behind: 'comdirect, a brand of Commerzbank, at Worldline',
    cannot: OWN_TOKEN,
    facts: { '': byPage('https://xs2a-developer.comdirect.de/content/howto/ais-manage-consents') },
  },
  commerzbank: {
    behind: 'Commerzbank, at Worldline',
    cannot: OWN_TOKEN,
    facts: { '': byPage('https://psd2.developer.commerzbank.com/content/howto/ais-manage-consents') },
  },
  'commerzbank-sandbox': {
    behind: 'Commerzbank, its sandbox',
    facts: { '': byAdapter('commerzbank') },
  },
  consorsbank: {
    behind: 'BNP Paribas in Germany: Consorsbank',
    facts: {
      '': byAdapter('consors-bank'),
      'payments.futureDays': [
        `${CLIENT}, bespoke-consorsbank/swagger, the bank's OpenAPI file`,
        "bank's own page",
      ],
    },
  },
  'deutsche-bank': {
    behind: 'Deutsche Bank in Germany, with the brands Postbank and norisbank',
    says: ['readings', 'payments', 'funds'],
    facts: {
      '': byAdapter('deutsche-bank'),
      'consent.types': byClient('bespoke-deutsche-bank'),
      'psu.id': byClient('bespoke-deutsche-bank'),
    },
  },
  fabrick: {
    behind: 'Fabrick: Banca Sella and other banks in Italy',
    says: ['readings'],
    facts: { '': byClient('bespoke-fabric') },
  },
  kbc: {
    behind: 'KBC and CBC',
    says: ['readings'],
    cannot: 'ask how a consent is: no call tells it',
    facts: { '': byPage('https://developer.kbc.be/'), 'consent.status': byClient('bespoke-kbc') },
  },
  n26: {
    behind: 'N26',
    cannot: 'pay with the login for readings: a file for payments has another oauth.scope.preStep',
    facts: {
      '': byPage('https://github.com/n26/psd2-tpp-docs/blob/main/doc/dedicated-aisp.md'),
      payments: byPage('https://github.com/n26/psd2-tpp-docs/blob/main/doc/dedicated-pisp.md'),
      'oauth.mode': contested(
        'https://github.com/n26/psd2-tpp-docs',
        'a token of the application (client credentials) in the place of the login, in a newer version',
      ),
    },
  },
  paysera: {
    behind: 'Paysera',
    facts: {
      '': byPage(PAYSERA),
      'signing.when': contested(PAYSERA, 'mutual TLS with the QWAC, and no signature'),
      'payments.products': contested(PAYSERA, 'the products aspsp, domestic and foreign'),
      'consent.types': contested(PAYSERA, 'dedicated, global and bank-offered, without list-only'),
      'sca.authorisationMinutes': contested(PAYSERA, '15 minutes for a payment, a day for a consent'),
    },
  },
  'raiffeisen-austria': {
    behind: 'Raiffeisen banks in Austria',
    cannot: 'call anything before the bank has given an id (API-…), and your file names it as oauth.clientId',
    facts: {
      '': byPage('https://developer.raiffeisen.at/en/faq.html'),
      'signing.when': byClient('monorepo-group, raiffeisenatgroup'),
      'consent.types': byClient('monorepo-group, raiffeisenatgroup'),
    },
  },
  'raiffeisen-romania': {
    behind: 'Raiffeisen Bank Romania',
    says: ['readings'],
    cannot: 'call anything before the bank has given a client id',
    facts: { '': byPage('https://developer.raiffeisen.ro/aisp_flow') },
  },
  redsys: {
    behind: 'Redsys: the gateway of banks in Spain',
    cannot: 'log anybody in before your file names oauth.mode "pre-step" and the two endpoints of the bank',
    facts: {
      '': byPage('https://market.apis-i.redsys.es/psd2/xs2a/node/4577'),
      'signing.keyId': byClient('bespoke-redsys'),
      accounts: byClient('bespoke-redsys'),
    },
  },
  'salt-edge': {
    behind: 'Salt Edge: more than a hundred smaller banks',
    facts: { '': byPage('https://priora.saltedge.com/docs/berlingroup/ais') },
  },
  'santander-consumer': {
    behind: 'Santander Consumer Bank in Germany',
    cannot: 'call anything before your file names oauth.tokenEndpoint and oauth.metadata',
    facts: {
      '': byAdapter('santander'),
      'oauth.applicationToken': contested(
        `${ADAPTERS}/santander-adapter`,
        "the application's token to begin consents and payments, and the customer's from then on",
      ),
    },
  },
  sparda: {
    behind: 'the Sparda banks in Germany',
    cannot: 'log anybody in before your file names the bank: oauth.parameters {"bic": "…"}',
    facts: { '': byAdapter('sparda-bank') },
  },
  sparkassen: {
    behind: 'Finanz Informatik and S-Payment: savings banks in Germany',
    facts: {
      '': byAdapter('sparkasse'),
      'accounts.reports': byClient('bespoke-sparkassen-and-landesbanks'),
      'consent.types': contested(
        `${ADAPTERS}/sparkasse-adapter, and ${CLIENT}, bespoke-sparkassen-and-landesbanks`,
        'one has dedicated consents, the other has lists with balances',
      ),
    },
  },
  unicredit: {
    behind: 'UniCredit: HypoVereinsbank in Germany, and its banks in other countries',
    facts: {
      '': byAdapter('unicredit'),
      'payments.required': contested(`${ADAPTERS}/unicredit-adapter`, 'a country alone; in Italy none'),
      'payments.address': contested(`${ADAPTERS}/unicredit-adapter`, 'a country alone; in Italy none'),
    },
  },
  'volksbank-nl': {
    behind: 'de Volksbank: ASN, SNS and RegioBank',
    cannot: 'ask how a consent is: no call tells it; cancel payments',
    facts: {
      '': byClient('bespoke-volksbank'),
      'api.paths': [`${VOLKSBANK}, the bank's OpenAPI files`, "bank's own page"],
      'payments.futureDays': [`${VOLKSBANK}, the bank's OpenAPI files`, "bank's own page"],
    },
  },
  worldline: {
    behind:
      'Worldline: Crelan, Keytrade, Nagelmackers, Europabank, Bank Van Breda, Commerzbank and comdirect',
    cannot: OWN_TOKEN,
    facts: { '': WORLDLINE },
  },
  wso2: {
    behind: 'WSO2: the server of some banks',
    cannot: 'cancel single payments',
    facts: {
      '': byPage(WSO2),
      'oauth.applicationToken': contested(
        WSO2,
        "the customer's token for payments, once the customer has logged in",
      ),
      'payments.futureDays': contested(WSO2, 'no limit, unless an installation sets max_future_payment_days'),
    },
  },
};

/** Which banks a platform serves is known from lists of banks. */
const BANKS: Fact = [
  'https://github.com/adorsys/xs2a-adapter, aspsp-adapter-config.csv, and https://github.com/mdomke/schwifty, bank_registry',
  "a client's code",
];

/** The facts of each platform, by its name. Those of a parent hold where the platform's own file says nothing. */
export const FACTS: Readonly<Record<string, PlatformFacts>> = Object.fromEntries(
  Object.entries(OWN).map(([name, known]) => [name, { ...known, facts: { ...known.facts, banks: BANKS } }]),
);
