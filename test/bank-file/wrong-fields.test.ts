import { describe, expect, it } from 'vitest';
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

/** Wrong values of each field, each with what psd2 says is allowed. */
const WRONG: Record<string, [value: unknown, allowed: string][]> = {
  interface: [['cb', '"nextgenpsd2"']],
  name: [
    ['', 'must not be empty'],
    [1, 'a text'],
  ],
  extends: [[[], 'a text']],
  source: [[' ', 'must not be empty']],
  verifiedOn: [
    ['2026-02-30', 'a day'],
    ['yesterday', 'a day'],
    [20261123, 'a text'],
  ],
  api: [[null, 'an object']],
  'api.baseUrl': [
    ['http://bank.example', 'https'],
    ['https://user:pin@bank.example', 'https'],
    ['https://bank.example/?a=1', 'https'],
    ['ftp://bank.example', 'https'],
    ['bank.example', 'https'],
  ],
  'api.version': [
    ['/v1', 'a part of a path'],
    ['v1/', 'a part of a path'],
    ['v 1', 'a part of a path'],
  ],
  'api.paths': [
    [{ createConsents: '/v1/consents' }, 'Did you mean createConsent?'],
    [{ createConsent: 'v1/consents' }, 'must be a path'],
    [{ createConsent: '/v1/../consents' }, 'must be a path'],
    [{ createConsent: '/v1/consents?a=b' }, 'must be a path'],
    [{ createConsent: '//other.example/consents' }, 'must be a path'],
    [{ createConsent: '/v1/{consentId}' }, 'no parameters'],
    [{ getConsentStatus: '/v1/status' }, '{consentId}'],
    [{ getConsentStatus: '/v1/{consentId}/{consentId}' }, '{consentId}'],
    [{ getConsentStatus: 7 }, 'a text'],
    [{ __proto__: null, constructor: '/v1' }, 'not an operation'],
  ],
  headers: [['X-A: b', 'an object']],
  'headers.static': [
    [{ 'X A': 'b' }, 'the name of a header'],
    [{ 'X-A': 'b\r\nX-B: c' }, 'without line breaks'],
    [{ 'X-A': 'ü' }, 'ASCII'],
    [{ 'X-A': '' }, 'the value of a header'],
    [{ 'X-A': 'env:' }, 'a variable of the environment'],
    [{ 'X-A': 'env:A B' }, 'a variable of the environment'],
    [{ 'X-A': 'b', 'x-a': 'c' }, 'twice'],
    [{ digest: 'b' }, 'see signing'],
    [{ 'X-Request-ID': 'b' }, 'psd2 makes this header'],
    [{ Authorization: 'Basic b' }, 'a secret'],
  ],
  'headers.perOperation': [
    [{ createConsnt: { 'X-A': 'b' } }, 'Did you mean createConsent?'],
    [{ createConsent: { 'X A': 'b' } }, 'the name of a header'],
    [{ createConsent: { Date: 'b' } }, 'see headers.date'],
    [{ createConsent: 'b' }, 'an object'],
  ],
  'headers.date': [
    ['alway', 'Did you mean always?'],
    [true, '"signed"'],
  ],
  'headers.accept': [['a\nb', 'without line breaks']],
  'headers.contentType': [['', 'the value of a header']],
  psu: [[[], 'an object']],
  'psu.id': [['mandatory', '"required"']],
  'psu.idType': [[1, '"required"']],
  'psu.corporateId': [[false, '"never"']],
  'psu.ip': [
    ['::1', 'an IPv4 address'],
    ['1.2.3.256', 'an IPv4 address'],
    [1, '"own"'],
    [{}, '"required"'],
  ],
  signing: [[true, 'an object']],
  'signing.when': [['with body', 'Did you mean with-body?']],
  'signing.headers': [
    [[], 'at least one element'],
    [['Digest'], 'in lower case'],
    [['digest', 'digest'], 'twice'],
    ['digest', 'a list'],
    [['psu-id'], 'signing.headers already names'],
  ],
  'signing.ifSent': [
    [['a b'], 'the name of a header'],
    [['digest'], 'signing.headers already names'],
  ],
  'signing.keyId': [['sn-ca', 'an object']],
  'signing.keyId.form': [
    ['a"b', 'without quotation marks'],
    ['', 'without quotation marks'],
  ],
  'signing.keyId.serial': [['hexadecimal', '"decimal"']],
  'signing.keyId.case': [['UPPER', '"upper"']],
  'signing.keyId.dn': [['isuer', 'Did you mean issuer?']],
  'signing.keyId.format': [['rfc4514', '"rfc1779"']],
  'signing.keyId.spaces': [[' ', '"strip"']],
  'signing.keyId.separator': [['\n', 'without quotation marks']],
  'signing.algorithm': [
    ['hs2019', '"rsa-sha512"'],
    ['rsa-sha1', '"rsa-sha256"'],
  ],
  'signing.digest': [['MD5', '"SHA-512"']],
  'signing.emptyBodyDigest': [['true', 'true or false']],
  'signing.certificate': [['PEM', '"pem-line"']],
  oauth: [['none', 'an object']],
  'oauth.mode': [
    ['prestep', 'Did you mean pre-step?'],
    ['pre-step', 'oauth.metadata or oauth.authorizationEndpoint and oauth.tokenEndpoint'],
    ['client-credentials', 'oauth.metadata or oauth.tokenEndpoint'],
  ],
  'oauth.metadata': [['http://idp.example/', 'https']],
  'oauth.authorizationEndpoint': [['/authorize', 'https']],
  'oauth.tokenEndpoint': [['https://idp.example/token#a', 'https']],
  'oauth.clientId': [['', 'must not be empty']],
  'oauth.clientAuth': [['MTLS', '"mtls"']],
  'oauth.scope': [['ais', 'an object']],
  'oauth.scope.ais': [
    ['AIS:{consentid}', '{consentId}'],
    ['AIS:{paymentId}', '{consentId}'],
    ['', 'empty'],
  ],
  'oauth.scope.pis': [['PIS:{consentId}', '{paymentId}']],
  'oauth.scope.preStep': [
    ['ais {consentId}', 'no braces'],
    ['aïs', 'ASCII'],
  ],
  'oauth.pkce': [['plain', '"S256"']],
  'oauth.tokenHeader': [['Authorization:', 'the name of a header']],
  sca: [[0, 'an object']],
  'sca.approaches': [
    [[], 'at least one'],
    [['redirect', 'redirect'], 'twice'],
    [['app'], '"decoupled"'],
  ],
  'sca.start': [['implicit', '"follow-links"']],
  'sca.authorisationMinutes': [
    [0, 'at least 1'],
    [10_081, 'at most 10080'],
    [1.5, 'a whole number'],
    ['10', 'a whole number'],
  ],
  'sca.pollSeconds': [[0, 'at least 1']],
  consent: [[1, 'an object']],
  'consent.types': [
    [['all'], '"all-accounts"'],
    [[], 'at least one'],
  ],
  'consent.maxDays': [[0, 'at least 1']],
  'consent.frequencyPerDay': [[-1, 'at least 1']],
  'consent.once': [[1, 'true or false']],
  accounts: [[1, 'an object']],
  'accounts.bookingStatuses': [
    [['information'], '"both"'],
    [[], 'at least one'],
  ],
  'accounts.historyDays': [[0, 'at least 1']],
  'accounts.delta': [['deltaList', '"entryReferenceFrom"']],
  'accounts.withBalance': [['no', 'true or false']],
  'accounts.balances': [[[], 'an object']],
  'accounts.balances.booked': [[[''], 'must not be empty']],
  'accounts.balances.available': [[['expected', 'expected'], 'twice']],
  'accounts.paging': [
    ['links', 'an object with "totalPagesHeader" and "pageParameter"'],
    [{ totalPagesHeader: 'x-pages' }, 'accounts.paging.pageParameter is missing'],
  ],
  'accounts.paging.totalPagesHeader': [['x pages', 'the name of a header']],
  'accounts.paging.pageParameter': [['a&b', 'a query parameter']],
  payments: [[1, 'an object']],
  'payments.products': [[[], 'an object']],
  'payments.products.payments': [
    [['a/b'], 'a payment product'],
    [['..'], 'a payment product'],
  ],
  'payments.products.bulk-payments': [['sepa-credit-transfers', 'a list']],
  'payments.products.periodic-payments': [[[1], 'a text']],
  'payments.required': [[['$.creditorAddress'], 'a path in the body']],
  'payments.allowed': [[['a b'], 'a path in the body']],
  'payments.futureDays': [[-1, 'at least 0']],
  'payments.repeat': [
    ['same answer', 'Did you mean same-answer?'],
    ['same-answer', 'repeatMinutes is missing'],
  ],
  'payments.repeatMinutes': [
    [1440, 'only possible with'],
    [0, 'at least 1'],
  ],
  'payments.executesWithoutSca': [[false, '"never"']],
  'payments.cancel': [['yes', '"direct"']],
  'payments.bulk': [['json', 'an object']],
  'payments.bulk.maxEntries': [[0, 'at least 1']],
  'payments.bulk.format': [['pain.001', '"pain.001.001.09"']],
  'payments.address': [['never', '"optional"']],
  'payments.final': [
    [['RJCT'], '"ACSC"'],
    [[], 'at least one'],
  ],
  errors: [
    [{ X: 'forbiden' }, 'Did you mean forbidden?'],
    [{ X: 'usage' }, '"bank_refused"'],
    [[], 'an object'],
  ],
};

it('the list of wrong values has every field of a bank file', () => {
  expect(Object.keys(WRONG).sort()).toEqual(allFields().sort());
});

describe('a wrong value is named with its field and what is allowed', () => {
  it.each(
    Object.entries(WRONG).flatMap(([path, values]) =>
      values.map(([value, allowed]) => ({ path, value, allowed })),
    ),
  )('$path: $value', async ({ path, value, allowed }) => {
    const problems = await problemsOf(withField(path, value));
    expect(problems.map(({ message }) => message).join('\n')).toContain(allowed);
    const [name = ''] = path.split('.');
    for (const problem of problems) {
      expect(problem.path.split(/[.[]/)[0]).toBe(name);
      expect(problem.message).toContain(problem.path);
    }
  });
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

it.each([
  ['sca.approaches', ['embedded'], 'never takes one'],
  ['sca.embedded', true, 'never takes one'],
  ['psu.password', 'x', 'never takes one'],
  ['oauth.mode', 'application-token', "ING's application token"],
  ['oauth.appToken', {}, "ING's application token"],
  ['oauth.mode', 'pre-authorisation', "DKB's pre-authorisation"],
  ['oauth.pre_auth', {}, "DKB's pre-authorisation"],
  ['oauth.clientSecret', 'shh', 'a secret does not belong in a bank file'],
])('what needs code is refused with the reason: %s %j', async (path, value, reason) => {
  const [problem, ...more] = await problemsOf(withField(path, value));
  expect(problem?.message).toContain(reason);
  expect(more).toEqual([]);
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
    next: [['bank', 'check', path]],
  });
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
