import { expect, it } from 'vitest';
import { checkBankFile, readBankFile } from '../../src/bank-file/bank-file.ts';
import { allFields, fieldsAt } from '../../src/bank-file/fields.ts';
import { bankFolder, LEAST } from './folder.ts';

const { write } = bankFolder();

/** A bank file with one field. */
function withField(path: string, value: unknown): object {
  return { ...LEAST, ...nested(path.split('.'), value) };
}

function nested([first = '', ...rest]: string[], value: unknown): Record<string, unknown> {
  return { [first]: rest.length === 0 ? value : nested(rest, value) };
}

async function problemsOf(content: unknown) {
  const { problems, bank } = await checkBankFile(write('bank.json', content));
  expect(bank === undefined).toBe(problems.length > 0);
  return problems;
}

/** Wrong values of each field. */
const WRONG: Record<string, unknown[]> = {
  interface: ['cb'],
  name: ['', 1],
  extends: [[]],
  source: [' '],
  verifiedOn: ['2026-02-30', 'yesterday', '2026-11-23, ', '2026-11-23 its server', 20261123],
  api: [null],
  'api.baseUrl': [
    'http://bank.example',
    'https://user:pin@bank.example',
    'https://bank.example/?a=1',
    'ftp://bank.example',
    'bank.example',
    'https://user@bank.example',
    'https://:pin@bank.example',
    'https://bank.example/a b',
    'http://localhost.example',
    '',
  ],
  links: ['path', ''],
  'api.version': ['/v1', 'v1/', 'v 1', 'v1//v2', '.v 1', 'v1?', '../../x', 'v1/..', '.', 'v1/./x'],
  'api.paths': [
    { createConsents: '/v1/consents' },
    { createConsent: 'v1/consents' },
    { createConsent: '/v1/../consents' },
    { createConsent: '/v1/consents?a=b' },
    { createConsent: '//other.example/consents' },
    { createConsent: '/v1/{consentId}' },
    { getConsentStatus: '/v1/status' },
    { getConsentStatus: '/v1/{consentId}/{consentId}' },
    { getConsentStatus: 7 },
    { __proto__: null, constructor: '/v1' },
    { createConsent: '/v1/consents/' },
    { createConsent: 'x/v1/consents' },
    { createConsent: '/v1/./consents' },
    { createConsent: '/v1/..' },
    { createConsent: '' },
    { initiatePayment: '/v1/{payment-product}' },
    { getConsentStatus: '/v1/.{consentId}' },
    { initiatePayment: '/v1/{payment-product}{payment-service}' },
  ],
  headers: ['X-A: b'],
  'headers.static': [
    { 'X A': 'b' },
    { 'X-A': 'b\r\nX-B: c' },
    { 'X-A': 'ü' },
    { 'X-A': '' },
    { 'X-A': 'env:' },
    { 'X-A': 'env:A B' },
    { 'X-A': 'b', 'x-a': 'c' },
    { digest: 'b' },
    { 'X-Request-ID': 'b' },
    { Authorization: 'Basic b' },
    { Signature: 'b' },
    { 'TPP-Signature-Certificate': 'b' },
    { 'Consent-ID': 'b' },
    { 'PSU-IP-Address': 'b' },
    { date: 'b' },
    { Host: 'b' },
    { Connection: 'b' },
    { 'Content-Length': 'b' },
    { 'Transfer-Encoding': 'b' },
    { 'X-A': ' b' },
    { 'X-A': 'b ' },
    { 'X-A': 'b\t' },
    { 'X-A': 'env:PGPASSWORD' },
    { 'X-A': 'env:PSD2_CONFIG_PASSPHRASE' },
    { 'X-A': 'env:PSD2_BANK_' },
    { 'X-A': 'env:psd2_bank_key' },
    { 'X-A': 'env:A-B' },
    { '': 'b' },
    { 'X-A:': 'b' },
    { authorization: 'env' },
    { 'X-A': 1 },
  ],
  'headers.perOperation': [
    { createConsnt: { 'X-A': 'b' } },
    { createConsent: { 'X A': 'b' } },
    { createConsent: { Date: 'b' } },
    { createConsent: 'b' },
    { createConsent: { AUTHORIZATION: 'b' }, getConsentInformation: { 'X-A': 'b', 'x-A': 'c' } },
  ],
  'headers.date': ['alway', true],
  'headers.accept': ['a\nb'],
  'headers.contentType': [''],
  psu: [[]],
  'psu.id': ['mandatory', 'token-subject'],
  'psu.idType': [1, 'requird', ''],
  'psu.corporateId': [false],
  'psu.ip': ['::1', '1.2.3.256', 1, {}],
  'headers.names': [{ 'X-Request-ID': 'x id' }, { 'X-Request-ID': 'Digest' }, 'TPP-Request-ID'],
  'psu.ipAbsent': ['own', '::1'],
  signing: [true],
  'signing.when': ['with body'],
  'signing.headers': [
    [],
    ['Digest'],
    ['digest', 'digest'],
    'digest',
    ['psu-id'],
    ['(request-target'],
    ['xdigest '],
    [''],
  ],
  'signing.ifSent': [['a b'], ['digest'], ['psu-id', 'psu-id'], ['digest', 'x-request-id', 'psu-id']],
  'signing.keyId': ['sn-ca'],
  'signing.keyId.form': ['a"b', '', 'a\\b', 'ü'],
  'signing.keyId.serial': ['hexadecimal'],
  'signing.keyId.case': ['UPPER'],
  'signing.keyId.dn': ['isuer'],
  'signing.keyId.format': ['rfc4514'],
  'signing.keyId.spaces': [' '],
  'signing.keyId.separator': ['\n'],
  'signing.algorithm': ['hs2019', 'rsa-sha1'],
  'signing.digest': ['MD5'],
  'signing.emptyBodyDigest': ['true'],
  'signing.emptyBody': ['', '[]'],
  'signing.certificate': ['PEM'],
  oauth: ['none'],
  'oauth.mode': ['prestep', 'pre-step', 'client-credentials', 'none '],
  'oauth.metadata': ['http://idp.example/'],
  'oauth.authorizationEndpoint': ['/authorize'],
  'oauth.tokenEndpoint': ['https://idp.example/token#a'],
  'oauth.clientId': [''],
  'oauth.clientAuth': ['MTLS'],
  'oauth.scope': ['ais'],
  'oauth.scope.ais': ['AIS:{consentid}', 'AIS:{paymentId}', '', 'AIS:{consentId}}'],
  'oauth.scope.pis': ['PIS:{consentId}'],
  'oauth.scope.preStep': [
    'ais {consentId}',
    'aïs',
    '{',
    '}',
    { ais: 'a' },
    { ais: 'a', pis: 'b', piis: 'c' },
  ],
  'oauth.responseType': ['a"b', 7],
  'oauth.parameters': [{ bic: '{bic}' }, { 'a b': 'c' }, { bic: '' }],
  'oauth.names': [{ clientId: 'client_id' }, { client_id: 'a b' }],
  'oauth.pkce': ['plain'],
  'oauth.tokenHeader': ['Authorization:'],
  sca: [0],
  'sca.approaches': [[], ['redirect', 'redirect'], ['app']],
  'sca.start': ['implicit'],
  'sca.authorisationMinutes': [0, 10_081, 1.5, '10', { payments: 5 }, { payments: 5, consents: 0 }],
  'sca.pollSeconds': [0, 3601],
  consent: [1],
  'consent.types': [['all'], []],
  'consent.maxDays': [0, 36_501],
  'consent.frequencyPerDay': [-1, 0, 1001],
  'consent.once': [1],
  funds: [1],
  'funds.consent': ['always'],
  accounts: [1],
  'accounts.bookingStatuses': [['information'], []],
  'accounts.historyDays': [0, 36_501],
  'accounts.delta': ['deltaList'],
  'accounts.amounts': ['none', true],
  'accounts.withBalance': ['no'],
  'accounts.parameters': [{ booking_status: 'bookingStatus' }, { bookingStatus: 'a&b' }],
  'accounts.cards': ['always'],
  'accounts.reports': [[], ['pdf']],
  'accounts.balances': [[]],
  'accounts.balances.booked': [['']],
  'accounts.balances.available': [['expected', 'expected']],
  'accounts.paging': ['links', { totalPagesHeader: 'x-pages' }],
  'accounts.paging.totalPagesHeader': ['x pages'],
  'accounts.paging.pageParameter': ['a&b', '-a', 'a b', ''],
  transactions: [1],
  'transactions.id': ['id'],
  payments: [1],
  'payments.products': [[]],
  'payments.products.payments': [['a/b'], ['..']],
  'payments.products.bulk-payments': ['sepa-credit-transfers'],
  'payments.products.periodic-payments': [[1]],
  'payments.required': [['$.creditorAddress'], ['a.'], ['.a'], ['1a'], ['a.1'], ['a..b'], ['a', 'a']],
  'payments.allowed': [['a b']],
  'payments.futureDays': [-1, 3651],
  'payments.repeat': ['same answer', 'same-answer'],
  'payments.repeatMinutes': [1440, 0, 10_081],
  'payments.executesWithoutSca': [false],
  'payments.cancel': ['yes', { payments: 'yes' }, { baskets: 'none' }],
  'payments.bulk': ['json'],
  'payments.bulk.maxEntries': [0, 1_000_001],
  'payments.bulk.format': ['pain.001'],
  'payments.bulk.batchBooking': [true],
  'payments.constant': [
    { 'instructedAmount.amount': '1' },
    { creditorName: 'Me' },
    { purposeCode: 'env:PSD2_BANK_X' },
  ],
  'payments.days': ['2'],
  'payments.address': ['never'],
  'payments.debtorAccount': ['no'],
  'payments.final': [['RJCT'], []],
  errors: [{ X: 'forbiden' }, { X: 'usage' }, []],
};

it('the list of wrong values has every field of a bank file', () => {
  expect(Object.keys(WRONG).sort()).toEqual(allFields().sort());
});

it('a wrong value is named with its field and what is allowed', async () => {
  const said: string[] = [];
  for (const [path, values] of Object.entries(WRONG))
    for (const value of values) {
      const problems = await problemsOf(withField(path, value));
      said.push(`${JSON.stringify(value)}: ${problems.map(({ message }) => message).join('; ')}`);
      for (const problem of problems) {
        expect(problem.path.split(/[.[]/)[0]).toBe(path.split('.')[0]);
        expect(problem.message).toContain(problem.path);
      }
    }
  expect(said).toMatchInlineSnapshot(`
    [
      ""cb": interface must be "nextgenpsd2"",
      """: name must not be empty",
      "1: name must be a text",
      "[]: extends must be a text",
      "" ": source must not be empty",
      ""2026-02-30": verifiedOn must be a day, also with words, for example "2026-11-23, its test server", or null",
      ""yesterday": verifiedOn must be a day, also with words, for example "2026-11-23, its test server", or null",
      ""2026-11-23, ": verifiedOn must be a day, also with words, for example "2026-11-23, its test server", or null",
      ""2026-11-23 its server": verifiedOn must be a day, also with words, for example "2026-11-23, its test server", or null",
      "20261123: verifiedOn must be a text",
      "null: api must be an object",
      ""http://bank.example": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""https://user:pin@bank.example": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""https://bank.example/?a=1": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""ftp://bank.example": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""bank.example": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""https://user@bank.example": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""https://:pin@bank.example": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""https://bank.example/a b": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""http://localhost.example": api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      """: api.baseUrl must be an https address without user, query and fragment; http only on this computer",
      ""path": links must be "auto", "host" or "base"",
      """: links must be "auto", "host" or "base"",
      ""/v1": api.version must be a part of a path, for example "v1", or """,
      ""v1/": api.version must be a part of a path, for example "v1", or """,
      ""v 1": api.version must be a part of a path, for example "v1", or """,
      ""v1//v2": api.version must be a part of a path, for example "v1", or """,
      "".v 1": api.version must be a part of a path, for example "v1", or """,
      ""v1?": api.version must be a part of a path, for example "v1", or """,
      ""../../x": api.version must be a part of a path, for example "v1", or """,
      ""v1/..": api.version must be a part of a path, for example "v1", or """,
      "".": api.version must be a part of a path, for example "v1", or """,
      ""v1/./x": api.version must be a part of a path, for example "v1", or """,
      "{"createConsents":"/v1/consents"}: api.paths.createConsents is not an operation of the standard. Did you mean createConsent?",
      "{"createConsent":"v1/consents"}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":"/v1/../consents"}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":"/v1/consents?a=b"}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":"//other.example/consents"}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":"/v1/{consentId}"}: api.paths.createConsent must have no parameters",
      "{"getConsentStatus":"/v1/status"}: api.paths.getConsentStatus must have each of {consentId} once, and no other parameter",
      "{"getConsentStatus":"/v1/{consentId}/{consentId}"}: api.paths.getConsentStatus must have each of {consentId} once, and no other parameter",
      "{"getConsentStatus":7}: api.paths.getConsentStatus must be a text",
      "{"constructor":"/v1"}: api.paths.constructor is not an operation of the standard",
      "{"createConsent":"/v1/consents/"}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":"x/v1/consents"}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":"/v1/./consents"}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":"/v1/.."}: api.paths.createConsent must be a path: parts that each begin with "/", without a query",
      "{"createConsent":""}: api.paths.createConsent must not be empty",
      "{"initiatePayment":"/v1/{payment-product}"}: api.paths.initiatePayment must have each of {payment-product}, {payment-service} once, and no other parameter",
      "{"getConsentStatus":"/v1/.{consentId}"}: api.paths.getConsentStatus must be a path: parts that each begin with "/", without a query",
      "{"initiatePayment":"/v1/{payment-product}{payment-service}"}: api.paths.initiatePayment must be a path: parts that each begin with "/", without a query",
      ""X-A: b": headers must be an object",
      "{"X A":"b"}: headers.static.X A must be the name of a header",
      "{"X-A":"b\\r\\nX-B: c"}: headers.static.X-A must be the value of a header: ASCII, without line breaks",
      "{"X-A":"ü"}: headers.static.X-A must be the value of a header: ASCII, without line breaks",
      "{"X-A":""}: headers.static.X-A must be the value of a header: ASCII, without line breaks",
      "{"X-A":"env:"}: headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"",
      "{"X-A":"env:A B"}: headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"",
      "{"X-A":"b","x-a":"c"}: headers.static.x-a is there twice: headers have no upper and lower case",
      "{"digest":"b"}: headers.static.digest: psd2 makes this header; see signing",
      "{"X-Request-ID":"b"}: headers.static.X-Request-ID: psd2 makes this header",
      "{"Authorization":"Basic b"}: headers.static.Authorization is a secret: name a variable of the environment, as "env:PSD2_BANK_NAME"",
      "{"Signature":"b"}: headers.static.Signature: psd2 makes this header; see signing",
      "{"TPP-Signature-Certificate":"b"}: headers.static.TPP-Signature-Certificate: psd2 makes this header; see signing.certificate",
      "{"Consent-ID":"b"}: headers.static.Consent-ID: psd2 makes this header",
      "{"PSU-IP-Address":"b"}: headers.static.PSU-IP-Address: psd2 makes this header; see psu.ip",
      "{"date":"b"}: headers.static.date: psd2 makes this header; see headers.date",
      "{"Host":"b"}: headers.static.Host: psd2 makes this header",
      "{"Connection":"b"}: headers.static.Connection: psd2 makes this header",
      "{"Content-Length":"b"}: headers.static.Content-Length: psd2 makes this header",
      "{"Transfer-Encoding":"b"}: headers.static.Transfer-Encoding: psd2 makes this header",
      "{"X-A":" b"}: headers.static.X-A must be the value of a header: ASCII, without line breaks",
      "{"X-A":"b "}: headers.static.X-A must be the value of a header: ASCII, without line breaks",
      "{"X-A":"b\\t"}: headers.static.X-A must be the value of a header: ASCII, without line breaks",
      "{"X-A":"env:PGPASSWORD"}: headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"",
      "{"X-A":"env:PSD2_CONFIG_PASSPHRASE"}: headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"",
      "{"X-A":"env:PSD2_BANK_"}: headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"",
      "{"X-A":"env:psd2_bank_key"}: headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"",
      "{"X-A":"env:A-B"}: headers.static.X-A must name a variable that begins with PSD2_BANK_ after "env:", for example "env:PSD2_BANK_API_KEY"",
      "{"":"b"}: headers.static. must be the name of a header",
      "{"X-A:":"b"}: headers.static.X-A: must be the name of a header",
      "{"authorization":"env"}: headers.static.authorization is a secret: name a variable of the environment, as "env:PSD2_BANK_NAME"",
      "{"X-A":1}: headers.static.X-A must be a text",
      "{"createConsnt":{"X-A":"b"}}: headers.perOperation.createConsnt is not an operation of the standard. Did you mean createConsent?",
      "{"createConsent":{"X A":"b"}}: headers.perOperation.createConsent.X A must be the name of a header",
      "{"createConsent":{"Date":"b"}}: headers.perOperation.createConsent.Date: psd2 makes this header; see headers.date",
      "{"createConsent":"b"}: headers.perOperation.createConsent must be an object",
      "{"createConsent":{"AUTHORIZATION":"b"},"getConsentInformation":{"X-A":"b","x-A":"c"}}: headers.perOperation.createConsent.AUTHORIZATION is a secret: name a variable of the environment, as "env:PSD2_BANK_NAME"; headers.perOperation.getConsentInformation.x-A is there twice: headers have no upper and lower case",
      ""alway": headers.date must be "never", "always" or "signed". Did you mean always?",
      "true: headers.date must be "never", "always" or "signed"",
      ""a\\nb": headers.accept must be the value of a header: ASCII, without line breaks",
      """: headers.contentType must be the value of a header: ASCII, without line breaks",
      "[]: psu must be an object",
      ""mandatory": psu.id must be "optional", "required", "never", "token-sub" or "empty"",
      ""token-subject": psu.id must be "optional", "required", "never", "token-sub" or "empty"",
      "1: psu.idType must be "optional", "required", "never" or a fixed text",
      ""requird": psu.idType must be "optional", "required", "never" or a fixed text",
      """: psu.idType must be "optional", "required", "never" or a fixed text",
      "false: psu.corporateId must be "optional", "required" or "never"",
      ""::1": psu.ip must be "own", "required" or an IPv4 address",
      ""1.2.3.256": psu.ip must be "own", "required" or an IPv4 address",
      "1: psu.ip must be "own", "required" or an IPv4 address",
      "{}: psu.ip must be "own", "required" or an IPv4 address",
      "{"X-Request-ID":"x id"}: headers.names.X-Request-ID must be the name of a header",
      "{"X-Request-ID":"Digest"}: headers.names.Digest: psd2 makes this header; see signing",
      ""TPP-Request-ID": headers.names must be an object",
      ""own": psu.ipAbsent must be an IPv4 address",
      ""::1": psu.ipAbsent must be an IPv4 address",
      "true: signing must be an object",
      ""with body": signing.when must be "always", "never" or "with-body". Did you mean with-body?",
      "[]: signing.headers must have at least one element",
      "["Digest"]: signing.headers[0] must be the name of a header in lower case, or "(request-target)"",
      "["digest","digest"]: signing.headers must not name the same thing twice",
      ""digest": signing.headers must be a list",
      "["psu-id"]: signing.ifSent names psu-id, which signing.headers already names",
      "["(request-target"]: signing.headers[0] must be the name of a header in lower case, or "(request-target)"",
      "["xdigest "]: signing.headers[0] must be the name of a header in lower case, or "(request-target)"",
      "[""]: signing.headers[0] must be the name of a header in lower case, or "(request-target)"",
      "["a b"]: signing.ifSent[0] must be the name of a header in lower case, or "(request-target)"",
      "["digest"]: signing.ifSent names digest, which signing.headers already names",
      "["psu-id","psu-id"]: signing.ifSent must not name the same thing twice",
      "["digest","x-request-id","psu-id"]: signing.ifSent names digest, which signing.headers already names; signing.ifSent names x-request-id, which signing.headers already names",
      ""sn-ca": signing.keyId must be an object",
      ""a\\"b": signing.keyId.form must be ASCII text without quotation marks and backslashes",
      """: signing.keyId.form must be ASCII text without quotation marks and backslashes",
      ""a\\\\b": signing.keyId.form must be ASCII text without quotation marks and backslashes",
      ""ü": signing.keyId.form must be ASCII text without quotation marks and backslashes",
      ""hexadecimal": signing.keyId.serial must be "hex", "hex-even", "hex-der" or "decimal"",
      ""UPPER": signing.keyId.case must be "lower" or "upper"",
      ""isuer": signing.keyId.dn must be "issuer" or "subject". Did you mean issuer?",
      ""rfc4514": signing.keyId.format must be "rfc2253", "rfc2253-oid", "openssl", "rfc1779", "java", "dotnet" or "one-line"",
      "" ": signing.keyId.spaces must be "keep", "percent" or "strip"",
      ""\\n": signing.keyId.separator must be ASCII text without quotation marks and backslashes",
      ""hs2019": signing.algorithm must be a word with the number of its hash: 256, 384 or 512",
      ""rsa-sha1": signing.algorithm must be a word with the number of its hash: 256, 384 or 512",
      ""MD5": signing.digest must be "SHA-256" or "SHA-512"",
      ""true": signing.emptyBodyDigest must be true or false",
      """: signing.emptyBody must be "{}"",
      ""[]": signing.emptyBody must be "{}"",
      ""PEM": signing.certificate must be "der", "pem" or "pem-line"",
      ""none": oauth must be an object",
      ""prestep": oauth.mode must be "none", "integrated", "pre-step" or "client-credentials". Did you mean pre-step?",
      ""pre-step": oauth.authorizationEndpoint is missing: with oauth.mode "pre-step", psd2 needs oauth.metadata or oauth.authorizationEndpoint and oauth.tokenEndpoint; oauth.tokenEndpoint is missing: with oauth.mode "pre-step", psd2 needs oauth.metadata or oauth.authorizationEndpoint and oauth.tokenEndpoint",
      ""client-credentials": oauth.tokenEndpoint is missing: with oauth.mode "client-credentials", psd2 needs oauth.metadata or oauth.tokenEndpoint",
      ""none ": oauth.mode must be "none", "integrated", "pre-step" or "client-credentials". Did you mean none?",
      ""http://idp.example/": oauth.metadata must be an https address without user, query and fragment; http only on this computer",
      ""/authorize": oauth.authorizationEndpoint must be an https address without user, query and fragment; http only on this computer",
      ""https://idp.example/token#a": oauth.tokenEndpoint must be an https address without user and fragment; http only on this computer",
      """: oauth.clientId must not be empty",
      ""MTLS": oauth.clientAuth must be "mtls", "basic" or "post"",
      ""ais": oauth.scope must be an object",
      ""AIS:{consentid}": oauth.scope.ais must have no braces but those of {consentId}",
      ""AIS:{paymentId}": oauth.scope.ais must have no braces but those of {consentId}",
      """: oauth.scope.ais must not be empty",
      ""AIS:{consentId}}": oauth.scope.ais must have no braces but those of {consentId}",
      ""PIS:{consentId}": oauth.scope.pis must have no braces but those of {paymentId}",
      ""ais {consentId}": oauth.scope.preStep must be ASCII text without braces or an object with "ais" and "pis"",
      ""aïs": oauth.scope.preStep must be ASCII text without braces or an object with "ais" and "pis"",
      ""{": oauth.scope.preStep must be ASCII text without braces or an object with "ais" and "pis"",
      ""}": oauth.scope.preStep must be ASCII text without braces or an object with "ais" and "pis"",
      "{"ais":"a"}: oauth.scope.preStep.pis is missing",
      "{"ais":"a","pis":"b","piis":"c"}: oauth.scope.preStep.piis is not a field of a bank file. Did you mean pis?",
      ""a\\"b": oauth.responseType must be ASCII text without quotation marks and backslashes",
      "7: oauth.responseType must be a text",
      "{"bic":"{bic}"}: oauth.parameters.bic must have no braces but those of {consentId} and {paymentId}",
      "{"a b":"c"}: oauth.parameters.a b must be the name of a query parameter",
      "{"bic":""}: oauth.parameters.bic must not be empty",
      "{"clientId":"client_id"}: oauth.names.clientId is not a field of a bank file. Did you mean client_id?",
      "{"client_id":"a b"}: oauth.names.client_id must be the name of a query parameter",
      ""plain": oauth.pkce must be "S256" or "none"",
      ""Authorization:": oauth.tokenHeader must be the name of a header",
      "0: sca must be an object",
      "[]: sca.approaches must have at least one element",
      "["redirect","redirect"]: sca.approaches must not name the same thing twice",
      "["app"]: sca.approaches[0] must be "redirect", "oauth" or "decoupled"",
      ""implicit": sca.start must be "follow-links" or "explicit". Did you mean explicit?",
      "0: sca.authorisationMinutes must be a whole number from 1 to 10080 or an object with "payments" and "consents"",
      "10081: sca.authorisationMinutes must be a whole number from 1 to 10080 or an object with "payments" and "consents"",
      "1.5: sca.authorisationMinutes must be a whole number from 1 to 10080 or an object with "payments" and "consents"",
      ""10": sca.authorisationMinutes must be a whole number from 1 to 10080 or an object with "payments" and "consents"",
      "{"payments":5}: sca.authorisationMinutes.consents is missing",
      "{"payments":5,"consents":0}: sca.authorisationMinutes.consents must be at least 1",
      "0: sca.pollSeconds must be at least 1",
      "3601: sca.pollSeconds must be at most 3600",
      "1: consent must be an object",
      "["all"]: consent.types[0] must be "dedicated", "bank-offered", "all-accounts" or "list-only"",
      "[]: consent.types must have at least one element",
      "0: consent.maxDays must be at least 1",
      "36501: consent.maxDays must be at most 36500",
      "-1: consent.frequencyPerDay must be at least 1",
      "0: consent.frequencyPerDay must be at least 1",
      "1001: consent.frequencyPerDay must be at most 1000",
      "1: consent.once must be true or false",
      "1: funds must be an object",
      ""always": funds.consent must be "auto" or "never"",
      "1: accounts must be an object",
      "["information"]: accounts.bookingStatuses[0] must be "booked", "pending" or "both"",
      "[]: accounts.bookingStatuses must have at least one element",
      "0: accounts.historyDays must be at least 1",
      "36501: accounts.historyDays must be at most 36500",
      ""deltaList": accounts.delta must be "none" or "entryReferenceFrom"",
      ""none": accounts.amounts must be "signed" or "unsigned"",
      "true: accounts.amounts must be "signed" or "unsigned"",
      ""no": accounts.withBalance must be true or false",
      "{"booking_status":"bookingStatus"}: accounts.parameters.booking_status is not a field of a bank file. Did you mean bookingStatus?",
      "{"bookingStatus":"a&b"}: accounts.parameters.bookingStatus must be the name of a query parameter",
      ""always": accounts.cards must be "auto" or "never"",
      "[]: accounts.reports must have at least one element",
      "["pdf"]: accounts.reports[0] must be "json", "camt" or "mt940"",
      "[]: accounts.balances must be an object",
      "[""]: accounts.balances.booked[0] must not be empty",
      "["expected","expected"]: accounts.balances.available must not name the same thing twice",
      ""links": accounts.paging must be "link", "page-index" or an object with "totalPagesHeader" and "pageParameter"",
      "{"totalPagesHeader":"x-pages"}: accounts.paging.pageParameter is missing",
      ""x pages": accounts.paging.totalPagesHeader must be the name of a header; accounts.paging.pageParameter is missing",
      ""a&b": accounts.paging.totalPagesHeader is missing; accounts.paging.pageParameter must be the name of a query parameter",
      ""-a": accounts.paging.totalPagesHeader is missing; accounts.paging.pageParameter must be the name of a query parameter",
      ""a b": accounts.paging.totalPagesHeader is missing; accounts.paging.pageParameter must be the name of a query parameter",
      """: accounts.paging.totalPagesHeader is missing; accounts.paging.pageParameter must be the name of a query parameter",
      "1: transactions must be an object",
      ""id": transactions.id must be "auto", "transactionId", "entryReference", "internalTransactionId" or "content"",
      "1: payments must be an object",
      "[]: payments.products must be an object",
      "["a/b"]: payments.products.payments[0] must be the name of a payment product",
      "[".."]: payments.products.payments[0] must be the name of a payment product",
      ""sepa-credit-transfers": payments.products.bulk-payments must be a list",
      "[1]: payments.products.periodic-payments[0] must be a text",
      "["$.creditorAddress"]: payments.required[0] must be a path in the body, for example "creditorAddress.townName"",
      "["a."]: payments.required[0] must be a path in the body, for example "creditorAddress.townName"",
      "[".a"]: payments.required[0] must be a path in the body, for example "creditorAddress.townName"",
      "["1a"]: payments.required[0] must be a path in the body, for example "creditorAddress.townName"",
      "["a.1"]: payments.required[0] must be a path in the body, for example "creditorAddress.townName"",
      "["a..b"]: payments.required[0] must be a path in the body, for example "creditorAddress.townName"",
      "["a","a"]: payments.required must not name the same thing twice",
      "["a b"]: payments.allowed[0] must be a path in the body, for example "creditorAddress.townName"",
      "-1: payments.futureDays must be at least 0",
      "3651: payments.futureDays must be at most 3650",
      ""same answer": payments.repeat must be "unknown" or "same-answer". Did you mean same-answer?",
      ""same-answer": payments.repeatMinutes is missing: payments.repeat "same-answer" needs it",
      "1440: payments.repeatMinutes is only possible with payments.repeat "same-answer"",
      "0: payments.repeatMinutes must be at least 1",
      "10081: payments.repeatMinutes must be at most 10080",
      "false: payments.executesWithoutSca must be "possible" or "never"",
      ""yes": payments.cancel must be "authorised", "direct", "none" or an object with such a word for services",
      "{"payments":"yes"}: payments.cancel.payments must be "authorised", "direct" or "none"",
      "{"baskets":"none"}: payments.cancel.baskets is not a field of a bank file",
      ""json": payments.bulk must be an object",
      "0: payments.bulk.maxEntries must be at least 1",
      "1000001: payments.bulk.maxEntries must be at most 1000000",
      ""pain.001": payments.bulk.format must be "json", "pain.001.001.03" or "pain.001.001.09"",
      "true: payments.bulk.batchBooking must be "optional", "required" or "never"",
      "{"instructedAmount.amount":"1"}: payments.constant.instructedAmount.amount is a part of the order, so it cannot be the same in every payment",
      "{"creditorName":"Me"}: payments.constant.creditorName is a part of the order, so it cannot be the same in every payment",
      "{"purposeCode":"env:PSD2_BANK_X"}: payments.constant.purposeCode must be a text: psd2 keeps payments, and no secrets in them",
      ""2": payments.days must be "plain" or "two-digits"",
      ""never": payments.address must be "optional", "required" or "country"",
      ""no": payments.debtorAccount must be "required", "optional" or "never"",
      "["RJCT"]: payments.final[0] must be "ACCC", "ACSC", "ACSP", "ACWC", "ACCP", "ACFC" or "ACTC"",
      "[]: payments.final must have at least one element",
      "{"X":"forbiden"}: errors.X must be "invalid_iban", "invalid_amount", "invalid_date", "invalid_product_id", "invalid_text", "duplicate_reference", "further_data_needed", "certificate", "not_logged_in", "forbidden", "login_refused", "not_authorised", "authorisation_expired", "sca_required", "bank_refused", "bank_answer", "payment_failed", "outcome_unknown", "too_many_calls", "reads_used_up" or "bank_failing". Did you mean forbidden?",
      "{"X":"usage"}: errors.X must be "invalid_iban", "invalid_amount", "invalid_date", "invalid_product_id", "invalid_text", "duplicate_reference", "further_data_needed", "certificate", "not_logged_in", "forbidden", "login_refused", "not_authorised", "authorisation_expired", "sca_required", "bank_refused", "bank_answer", "payment_failed", "outcome_unknown", "too_many_calls", "reads_used_up" or "bank_failing"",
      "[]: errors must be an object",
    ]
  `);
});

it.each(['', ...allFields().filter((path) => fieldsAt(path.split('.')))])(
  'an unknown field of "%s" is refused with its path and the nearest known field',
  async (path) => {
    const within = path === '' ? [] : path.split('.');
    for (const known of fieldsAt(within) ?? []) {
      const unknown = `${known}x`;
      const full = [...within, unknown].join('.');
      const problem = (await problemsOf(withField(full, 1))).find((each) => each.path === full);
      expect(problem?.message).toBe(`${full} is not a field of a bank file. Did you mean ${known}?`);
    }
  },
);

it('a field in the wrong place is refused with the path of the right one', async () => {
  expect(await problemsOf({ ...LEAST, keyId: {} })).toEqual([
    { path: 'keyId', message: 'keyId is not a field of a bank file. Did you mean signing.keyId?' },
  ]);
});

it('a field named __proto__ is refused, and changes nothing', async () => {
  const problems = await problemsOf(
    '{"__proto__": {"interface": "nextgenpsd2"}, "interface": "nextgenpsd2"}',
  );
  expect(problems.map(({ path }) => path)).toEqual(['__proto__']);
});

const EMBEDDED =
  'embedded SCA is not possible: psd2 would need the password of the customer, and never takes one';
const APP_TOKEN =
  "ING's application token is not possible: the bank wants a signature of another form for it";
const PRE_AUTHORISATION =
  "DKB's pre-authorisation is not possible: psd2 would need the password of the customer, and never takes one";
const SECRET =
  'a secret does not belong in a bank file: give it to the profile, or name a variable as env:PSD2_BANK_NAME';

it.each([
  ['sca.approaches', ['embedded'], 'sca.approaches[0]', EMBEDDED],
  ['sca.embedded', true, 'sca.embedded', EMBEDDED],
  ['psu.password', 'x', 'psu.password', EMBEDDED],
  ['psu.PSU-Password', 'x', 'psu.PSU-Password', EMBEDDED],
  ['psuData', {}, 'psuData', EMBEDDED],
  ['scaAuthenticationData', 'x', 'scaAuthenticationData', EMBEDDED],
  ['updatePsuAuthentication', 'x', 'updatePsuAuthentication', EMBEDDED],
  ['oauth.mode', 'application-token', 'oauth.mode', APP_TOKEN],
  ['oauth.appToken', {}, 'oauth.appToken', APP_TOKEN],
  ['oauth.application access token', {}, 'oauth.application access token', APP_TOKEN],
  ['oauth.mode', 'pre-authorisation', 'oauth.mode', PRE_AUTHORISATION],
  ['oauth.mode', 'Pre-Authorization', 'oauth.mode', PRE_AUTHORISATION],
  ['oauth.pre_auth', {}, 'oauth.pre_auth', PRE_AUTHORISATION],
  ['oauth.clientSecret', 'shh', 'oauth.clientSecret', SECRET],
  ['secret', 'shh', 'secret', SECRET],
])('what needs code is refused with the reason: %s %j', async (path, value, at, reason) => {
  expect(await problemsOf(withField(path, value))).toEqual([{ path: at, message: `${at}: ${reason}` }]);
});

it('everything that is wrong is named at once, and a value of the file never is', async () => {
  const problems = await problemsOf({
    sgining: {},
    psu: { id: 'top-secret' },
    headers: { static: { 'X-Key': 'top-secret\n' } },
  });
  expect(problems.map(({ path }) => path).sort()).toEqual([
    'headers.static.X-Key',
    'interface',
    'psu.id',
    'sgining',
  ]);
  expect(JSON.stringify(problems)).not.toContain('top-secret');
});

it('readBankFile says the first problem, how many there are, and how to see all', async () => {
  const path = write('bank.json', { ...LEAST, a: 1, b: 2 });
  await expect(readBankFile(path)).rejects.toMatchObject({
    code: 'config',
    message: `The bank ${path} is not right: a is not a field of a bank file (and 1 more)`,
    hint: 'See everything that is wrong with it:',
    next: [['bank', 'check', path]],
  });
  const one = write('bank.json', { ...LEAST, a: 1 });
  await expect(readBankFile(one)).rejects.toThrow(
    /^The bank \S+ is not right: a is not a field of a bank file$/,
  );
});

/** Values of a field at the edge of what is allowed. */
const RIGHT: Record<string, unknown[]> = {
  name: ['x'],
  verifiedOn: ['2026-02-28', '2026-11-23, its server, not a bank', null],
  'api.version': ['', 'v1', '1.3/v2', 'a~b_c-d.e/F', '.../.a'],
  'api.paths': [
    { createConsent: '/consents' },
    { createConsent: '/v1/.../A-b_c~d' },
    { getConsentStatus: '/x/{consentId}/y' },
    { initiatePayment: '/{payment-product}/{payment-service}' },
  ],
  'headers.static': [
    { 'X-A': 'b', 'X-B': 'b' },
    { "!#$%&'*+.^_`|~-9": '!' },
    { 'X-A': 'a b~' },
    { 'X-A': 'env:PSD2_BANK__a1', Authorization: 'env:PSD2_BANK_KEY' },
    { 'X-A': 'environment' },
  ],
  'headers.perOperation': [{ createConsent: { 'X-A': 'b' }, getConsentInformation: { 'x-a': 'c' } }],
  'psu.ip': ['own', 'required', '1.2.3.4'],
  'signing.headers': [['(request-target)', "!#$%&'*+.^_`|~-9", 'a']],
  'signing.ifSent': [[], ['date']],
  'signing.keyId.form': ['a b!#[]~', 'sn'],
  'oauth.mode': ['none', 'integrated'],
  'oauth.scope.ais': ['AIS', '{consentId} {consentId}', ' a~'],
  'oauth.scope.pis': ['{paymentId}'],
  'oauth.scope.preStep': ['a'],
  'sca.authorisationMinutes': [1, 10_080],
  'sca.pollSeconds': [1, 3600],
  'consent.maxDays': [1, 36_500],
  'consent.frequencyPerDay': [1, 1000],
  'accounts.historyDays': [1, 36_500],
  'accounts.balances.booked': [[], ['x']],
  'accounts.paging': [
    'link',
    'page-index',
    { totalPagesHeader: 'X-Pages', pageParameter: 'a' },
    { totalPagesHeader: 'x', pageParameter: '9._~-' },
  ],
  'payments.products.payments': [[], ['a', '0-b']],
  'payments.required': [['a', 'Ab_1.c2']],
  'payments.futureDays': [0, 3650],
  'payments.bulk.maxEntries': [1, 1_000_000],
  payments: [
    { repeat: 'same-answer', repeatMinutes: 1 },
    { repeat: 'same-answer', repeatMinutes: 10_080 },
  ],
  oauth: [
    { mode: 'pre-step', metadata: 'https://idp.example' },
    {
      ...{ mode: 'pre-step', authorizationEndpoint: 'https://idp.example/a' },
      tokenEndpoint: 'https://idp.example/t',
    },
    { mode: 'client-credentials', tokenEndpoint: 'https://idp.example/t' },
    { mode: 'client-credentials', metadata: 'https://idp.example' },
  ],
  errors: [{ X: 'forbidden', 'Y 1': 'bank_refused' }],
};

it.each(Object.entries(RIGHT))(
  'a value at the edge of what is allowed is right: %s',
  async (path, values) => {
    for (const value of values)
      expect(await problemsOf(withField(path, value)), JSON.stringify(value)).toEqual([]);
  },
);

it('of two endpoints that the bank file needs, only the missing one is a problem', async () => {
  expect(
    await problemsOf({ ...LEAST, oauth: { mode: 'pre-step', tokenEndpoint: 'https://idp.example/t' } }),
  ).toEqual([
    {
      path: 'oauth.authorizationEndpoint',
      message:
        'oauth.authorizationEndpoint is missing: with oauth.mode "pre-step", psd2 needs oauth.metadata or oauth.authorizationEndpoint and oauth.tokenEndpoint',
    },
  ]);
});

it('addresses on this computer may be http, and every other address must be https', async () => {
  const right = [
    'https://bank.example/xs2a',
    'http://127.0.0.1:8800/nextgenpsd2',
    'http://localhost',
    'http://[::1]:1/',
  ];
  for (const baseUrl of right) expect(await problemsOf({ ...LEAST, api: { baseUrl } })).toEqual([]);
});
