import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { WireSettings } from '../../../../../src/bank/call/call.ts';
import { authorizationUrl } from '../../../../../src/bank/interfaces/nextgenpsd2/access/oauth.ts';
import type { BankDescription } from '../../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { composer } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/compose.ts';
import { callOf, pathsOf } from '../../../../../src/bank/interfaces/nextgenpsd2/wire/paths.ts';
import { keySigner } from '../../../../../src/signature/http-signature.ts';
import { PLATFORMS, readBankFile } from '../../../../bank-file/described.ts';
import { issuedCertificate } from '../identified.ts';

// What the public source of each platform shows of a first consent and a first reading: written down from there, and not read from
// psd2's own bank files. The issuer of the certificate has an organizationIdentifier and an e-mail address.

const KEY = readFileSync('test/vectors/cavage-test-key.pem', 'utf8');
const CERTIFICATE = issuedCertificate(
  '/C=DE/O=Trust/organizationIdentifier=NTRDE-1/emailAddress=ca@trust.example/CN=Seal CA',
  '/C=IT/O=The App/organizationIdentifier=PSDIT-BI-12345/CN=app.example',
  '0x0A1B2C3D',
);

const CONSENT = [
  ...['accept', 'content-type', 'psu-id', 'psu-id-type', 'psu-ip-address'],
  ...['tpp-nok-redirect-uri', 'tpp-redirect-preferred', 'tpp-redirect-uri', 'x-request-id'],
];
const READING = ['accept', 'accept-encoding', 'consent-id', 'x-request-id'];
const SIGNED = ['digest', 'signature', 'tpp-signature-certificate'];
const PKCE = 'client_id code_challenge code_challenge_method redirect_uri response_type scope state';

const EMAIL = '1.2.840.113549.1.9.1';
const OIDS = `${EMAIL}=#161063614074727573742e6578616d706c65,2.5.4.97=#0c074e545244452d31`;
const RFC_2253 = `CN=Seal CA,${OIDS.replaceAll(/#\w+/g, (hex) => hex.toUpperCase())},O=Trust,C=DE`;
const RFC_1779 = `CN=Seal CA, OID.${EMAIL}=ca@trust.example, OID.2.5.4.97=NTRDE-1, O=Trust, C=DE`;
const SHA_256 = 'SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';

interface Figures {
  /** The paths of `POST consents` and of the transactions, where they are not the standard's. */
  paths?: [consent: string, reading: string];
  /** Headers of a consent, and of a reading, beside the usual ones. With "-": not sent there. */
  headers?: [consent: string, reading: string];
  /** What is signed, and the keyId. Absent: no request has a signature. */
  signs?: [consent: string, reading: string, keyId: string];
  /** The word for the algorithm, and the digest of a reading. */
  algorithm?: [word: string, digest: string];
  /** The first address of the customer's browser: address, scope, names of its parameters. Absent: the bank's link names it. */
  opens?: [address: string, scope: string, parameters: string];
}

const ISSUED = 'https://login.bank.example/authorize';
const usual = ['digest x-request-id psu-id tpp-redirect-uri', 'digest x-request-id'] as const;
const standard: Figures = { signs: [...usual, `SN=a1b2c3d,CA=${RFC_2253}`] };
const worldline: Figures = { opens: [ISSUED, 'AIS:c1', PKCE] };
const deutsche = '/ais/DE/DB/v1';
const transilvania: Figures = {
  paths: ['/bt-psd2-aisp-prd/v1/consents', '/bt-psd2-aisp-prd/v1/accounts/a1/transactions'],
  opens: [ISSUED, 'AIS:c1', PKCE],
};

const FIGURES: Record<string, Figures> = {
  standard,
  adorsys: {
    headers: ['date', 'date'],
    signs: [
      ...(['digest x-request-id psu-id date tpp-redirect-uri', 'digest x-request-id date'] as const),
      `SN=a1b2c3d,CA=CN=Seal%20CA,${OIDS},O=Trust,C=DE`,
    ],
  },
  argenta: {
    headers: ['apikey', 'apikey'],
    signs: ['digest x-request-id', 'digest x-request-id', `SN=a1b2c3d,CA=${RFC_1779}`],
    opens: [ISSUED, 'AIS:c1', PKCE],
  },
  atruvia: {
    signs: ['digest x-request-id psu-id', usual[1], `SN=169552957,CA=${RFC_1779.replaceAll(' ', '')}`],
  },
  'banca-transilvania': transilvania,
  'banca-transilvania-sandbox': transilvania,
  'bank-verlag': {},
  bankdata: { ...standard, headers: ['tpp-explicit-authorisation-preferred x-api-key', 'x-api-key'] },
  'cbi-globe': {
    paths: [
      '/platform/enabler/psd2orchestrator/ais/3.0.0/consents',
      '/platform/enabler/psd2orchestrator/ais/2.4.0/accounts/a1/transactions',
    ],
    headers: ['aspsp-code aspsp-product-code date', 'aspsp-code date'],
    signs: [
      ...(['digest x-request-id date psu-id tpp-redirect-uri', 'digest x-request-id date'] as const),
      `SN=a1b2c3d,CA=${RFC_2253}`,
    ],
    algorithm: [
      'rsa-sha512',
      'SHA-512=z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
    ],
  },
  comdirect: worldline,
  commerzbank: worldline,
  'commerzbank-sandbox': worldline,
  consorsbank: { headers: ['-psu-id', ''] },
  'deutsche-bank': {
    paths: [`${deutsche}/consents`, `${deutsche}/accounts/a1/transactions`],
    headers: ['date', 'date'],
  },
  fabrick: {},
  kbc: {
    paths: ['/v2/consents', '/v2/accounts/a1/transactions'],
    opens: ['https://idp.kbc.com/ASK/oauth/authorize/1', 'AIS:c1', PKCE],
  },
  n26: {
    headers: ['tpp-decoupled-preferred', ''],
    opens: ['https://xs2a.tech26.de/oauth2/authorize', 'DEDICATED_AISP', PKCE],
  },
  paysera: { ...standard, opens: [ISSUED, 'AIS:c1', PKCE] },
  'raiffeisen-austria': {},
  'raiffeisen-romania': {
    paths: [
      '/psd2-bgs-consent-api-1.3.2-rbro/v1/consents',
      '/psd2-accounts-api-1.3.2-rbro/v1/accounts/a1/transactions',
    ],
    headers: ['client_id', 'client_id'],
    opens: [
      'https://api-auth.raiffeisen.ro/psd2-rbro-oauth2-api/aisp/oauth2/authorize',
      ...(['AISP', 'client_id redirect_uri response_type scope state'] as const),
    ],
  },
  redsys: {
    signs: [
      ...(['digest x-request-id tpp-redirect-uri', 'digest x-request-id'] as const),
      'SN=169552957,CA=CN=app.example,OID.2.5.4.97=PSDIT-BI-12345,O=TheApp,C=IT',
    ],
    algorithm: ['SHA-256', SHA_256],
  },
  'salt-edge': {
    headers: ['date', 'date'],
    signs: [
      ...(['digest date x-request-id psu-id tpp-redirect-uri', 'digest date x-request-id'] as const),
      'SN=169552957,DN=/C=DE/O=Trust/organizationIdentifier=NTRDE-1/emailAddress=ca@trust.example/CN=Seal CA',
    ],
  },
  'santander-consumer': { headers: ['-psu-id', ''], opens: [ISSUED, 'AIS:c1', PKCE] },
  sparda: {
    headers: ['authorization', ''],
    opens: ['https://idp.sparda-n.de/oauth2/authorize', 'ais', PKCE],
  },
  sparkassen: {
    opens: [
      ...([ISSUED, 'AIS: c1'] as const),
      'clientId code_challenge code_challenge_method redirect_uri responseType scope state',
    ],
  },
  unicredit: {},
  'volksbank-nl': {
    paths: ['/v1/consents', '/v1.1/accounts/a1/transactions'],
    headers: ['authorization', ''],
    opens: [ISSUED, 'AIS', 'client_id redirect_uri response_type scope state'],
  },
  worldline,
  wso2: {
    headers: ['date', 'date'],
    signs: [
      ...(['digest x-request-id date psu-id tpp-redirect-uri', 'digest x-request-id date'] as const),
      `SN=a1b2c3d,CA=CN=Seal CA,${OIDS},O=Trust,C=DE`,
    ],
    // Its server reads no body as an empty object.
    algorithm: ['rsa-sha256', 'SHA-256=RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o='],
    opens: [ISSUED, 'ais:c1', PKCE],
  },
};

it('each platform has figures', () => {
  expect(Object.keys(FIGURES).toSorted()).toEqual(Object.keys(PLATFORMS).toSorted());
});

/** A token whose `sub` is the customer. */
const TOKEN = `e30.${Buffer.from('{"sub":"P1"}').toString('base64url')}.s`;
const BACK = 'http://127.0.0.1:8910/callback';

const SETTINGS: WireSettings = {
  ...{ origin: 'https://bank.example', pathPrefix: '', bankSigningCertificate: undefined },
  identity: {
    ...{ applicationName: 'app', tppCertificate: 'none', signer: keySigner(createPrivateKey(KEY)) },
    ...{ signingCertificate: CERTIFICATE, qwacCertificate: CERTIFICATE },
  },
  ...{ session: { apiTrackId: undefined }, language: undefined, traceComponent: undefined },
  ...{
    psuIpAddress: '203.0.113.9',
    psu: { id: 'P1', idType: 'T1', corporateId: undefined },
    consents: undefined,
  },
  ownAddress: async () => '192.0.2.1',
  now: () => new Date('2026-11-23T10:00:00Z'),
  newId: () => '5b0a4c0e-5f6e-4c3d-9a57-6d1f0a6f1b11',
};

async function requestsOf(bank: BankDescription) {
  const paths = pathsOf(bank);
  const begun = { ...callOf(paths, 'createConsent', {}, 't'), body: { a: 1 }, redirectUri: BACK };
  const bearer = bank.psu.id === 'token-sub' ? { bearer: TOKEN } : {};
  const reading = callOf(paths, 'getTransactionList', { 'account-id': 'a1' }, 't');
  const absent = { ...SETTINGS, psuIpAddress: undefined };
  return {
    consent: (await composer(bank, paths, SETTINGS)({ ...begun, ...bearer })).request,
    reading: (await composer(bank, paths, absent)({ ...reading, headers: { 'consent-id': 'c1' } })).request,
  };
}

/** The usual headers with more, and without those after a hyphen. */
function named(usualNames: string[], words: string, signing: string[]): string[] {
  const given = words.split(' ').filter(Boolean);
  const all = [...usualNames, ...signing, ...given.filter((name) => !name.startsWith('-'))];
  return [...new Set(all)].filter((name) => !given.includes(`-${name}`)).toSorted();
}

/** What a signature says of itself. */
function saidBy(signature: string | undefined) {
  const [, keyId, algorithm, headers] =
    /^keyId="(.*)",algorithm="(.*)",headers="(.*)",signature=/.exec(signature ?? '') ?? [];
  return { keyId, algorithm, headers };
}

describe.each(Object.entries(FIGURES))('%s', (name, figures) => {
  const [consentPath, readingPath] = figures.paths ?? ['/v1/consents', '/v1/accounts/a1/transactions'];
  const [inConsent, inReading] = figures.headers ?? ['', ''];

  it('a first consent and a first reading have the headers of its source', async () => {
    const { consent, reading } = await requestsOf((await readBankFile(name)).description);
    expect([consent.target, reading.target]).toEqual([consentPath, readingPath]);
    const signing = figures.signs ? SIGNED : [];
    expect(Object.keys(consent.headers).toSorted()).toEqual(named(CONSENT, inConsent, signing));
    expect(Object.keys(reading.headers).toSorted()).toEqual(named(READING, inReading, signing));
    if (name === 'sparda') expect(consent.headers['psu-id']).toBe('P1');
  });

  it('a signature has the names, the word and the keyId of its source', async () => {
    const { consent, reading } = await requestsOf((await readBankFile(name)).description);
    const [ofConsent, ofReading, keyId] = figures.signs ?? [];
    const [algorithm, digest] = figures.algorithm ?? (figures.signs ? ['rsa-sha256', SHA_256] : []);
    expect(saidBy(consent.headers.signature)).toEqual({ keyId, algorithm, headers: ofConsent });
    expect(saidBy(reading.headers.signature)).toEqual({ keyId, algorithm, headers: ofReading });
    expect(reading.headers.digest).toBe(digest);
  });

  it('the first address of the browser is that of its source', async () => {
    const { description } = await readBankFile(name);
    const { mode, scope, authorizationEndpoint } = description.oauth;
    if (figures.opens === undefined) return expect(['integrated', 'pre-step']).not.toContain(mode);
    const [address, asked, parameters] = figures.opens;
    const { preStep } = scope;
    const before = typeof preStep === 'string' ? preStep : preStep.ais;
    const server = {
      ...{ issuer: null, namesItself: false, revocation: null },
      token: { path: '/t', origin: 'https://bank.example' },
    };
    const request = {
      ...{ clientId: 'PSDIT-BI-12345', redirectUri: BACK, state: 's1', codeVerifier: 'v'.repeat(43) },
      scope: mode === 'pre-step' ? before : scope.ais.replace('{consentId}', 'c1'),
    };
    const authorization = authorizationEndpoint ?? ISSUED;
    const url = new URL(authorizationUrl({ ...server, authorization }, request, description));
    const sent = [...url.searchParams.keys()].toSorted().join(' ');
    expect([`${url.origin}${url.pathname}`, url.searchParams.get('scope'), sent]).toEqual([
      address,
      asked,
      parameters,
    ]);
  });
});
