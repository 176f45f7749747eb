import * as z from 'zod/mini';
import { ERROR_CODES } from '../../../../bank-file/error-codes.ts';
import {
  address,
  flag,
  headerName,
  headerValue,
  noted,
  oneOf,
  orderedSet,
  PATH_PART,
  parameterValue,
  template,
  text,
  URL_NAME,
  whole,
} from '../../../../bank-file/kinds.ts';
import { didYouMean } from '../../../../did-you-mean.ts';
import { FREQUENCIES } from '../../../../domain/order/terms.ts';

// The fields of a bank file, with the defaults of the standard (NextGenPSD2 1.3). docs/banks.md explains each of them. Each
// object is strict: psd2 would otherwise ignore what the operator meant.

const keyId = z.strictObject({
  form: z._default(
    parameterValue(
      '`sn-ca`: serial and name; `sn`: serial alone; `serial`: without `SN=`; `organization-id` of the certificate; or a fixed text, in which {serial}, {dn} and {organizationId} stand for these parts',
    ).check(
      z.refine(
        (value) => !/[{}]/.test(value.replace(/\{(serial|dn|organizationId)\}/g, '')),
        'must have no braces but those of {serial}, {dn} and {organizationId}',
      ),
    ),
    'sn-ca',
  ),
  serial: z._default(
    oneOf(
      ['hex', 'hex-even', 'hex-der', 'decimal'],
      'how the serial number is written; `hex`: without leading zeros; `hex-even`: two digits for each byte; `hex-der`: with the 00 that some have in the certificate',
    ),
    'hex',
  ),
  case: z._default(oneOf(['lower', 'upper'], 'letters of a hexadecimal serial number'), 'lower'),
  dn: z._default(oneOf(['issuer', 'subject'], 'whose distinguished name stands after `CA=`'), 'issuer'),
  format: z._default(
    oneOf(
      ['rfc2253', 'rfc2253-oid', 'openssl', 'rfc1779', 'java', 'dotnet', 'one-line'],
      'how that name is written',
    ),
    'rfc2253',
  ),
  spaces: z._default(
    oneOf(['keep', 'percent', 'strip'], 'blanks in that name: kept, written as %20, or left out'),
    'keep',
  ),
  separator: z._default(parameterValue('between the serial number and `CA=`'), ','),
});

const api = z.strictObject({
  baseUrl: z.optional(address("the profile's base URL, if the profile has none")),
  version: z._default(
    z
      .string()
      .check(
        z.regex(
          new RegExp(`^(${PATH_PART}(/${PATH_PART})*)?$`),
          'must be a part of a path, for example "v1", or ""',
        ),
        z.describe('what follows the base URL in every path of the standard; empty: nothing'),
      ),
    'v1',
  ),
  paths: z._default(
    noted(
      z.record(z.string(), text('path template after the base URL')),
      'paths that differ from the standard, by operation: the whole template after the base URL',
    ),
    {},
  ),
});

const headers = z.strictObject({
  static: z._default(
    noted(
      z.record(headerName(), headerValue()),
      'headers of every call; `env:PSD2_BANK_NAME` is a secret of the environment',
    ),
    {},
  ),
  perOperation: z._default(
    noted(
      z.record(z.string(), z.record(headerName(), headerValue())),
      'headers of the calls of one operation',
    ),
    {},
  ),
  date: z._default(
    oneOf(['never', 'always', 'signed'], 'when the header Date is sent; `signed`: with every signature'),
    'never',
  ),
  accept: z._default(headerValue('the exact header Accept'), 'application/json'),
  contentType: z._default(headerValue('the exact header Content-Type of a JSON body'), 'application/json'),
  names: z._default(
    noted(
      z.record(headerName(), headerName()),
      "the bank's names for headers of the standard, in requests: `TPP-Request-ID` for `X-Request-ID`",
    ),
    {},
  ),
  requestId: z._default(
    oneOf(
      ['ours', 'any'],
      'X-Request-ID of an answer: that of the request, or none; `any`: the bank writes ids of its own, and psd2 does not compare them',
    ),
    'ours',
  ),
});

const PRESENCE = ['optional', 'required', 'never'] as const;
const presence = (what: string) => z._default(oneOf(PRESENCE, what), 'optional');

const psu = z.strictObject({
  id: z._default(
    oneOf(
      [...PRESENCE, 'token-sub', 'empty'],
      "PSU-ID where SCA starts. `token-sub`: the `sub` of the customer's token; `empty`: without a value",
    ),
    'optional',
  ),
  idType: z._default(
    noted(
      z.union([z.enum(PRESENCE), fixedText('a fixed text')]),
      'PSU-ID-Type: may be given, must be given, is not taken; or the one that the bank has for all customers',
    ),
    'optional',
  ),
  corporateId: presence('PSU-Corporate-ID'),
  label: z.optional(text("the bank's name for PSU-ID, as its customers know it: `VR-NetKey or alias`")),
  ip: z._default(
    noted(
      z.union([z.enum(['own', 'required']), noted(z.ipv4(), 'an IPv4 address')]),
      "PSU-IP-Address without --psu-ip where the standard demands one: this machine's; refused; or a fixed IPv4 address",
    ),
    'own',
  ),
  ipAbsent: z.optional(
    noted(
      z.ipv4('must be an IPv4 address'),
      'PSU-IP-Address of a reading while the customer is absent, at a bank that wants one there, too',
    ),
  ),
});

const signing = z.strictObject({
  when: z._default(oneOf(['always', 'never', 'with-body'], 'which requests are signed'), 'always'),
  headers: z._default(orderedSet(signedName(), 'headers that are always signed, in this order', 1), [
    'digest',
    'x-request-id',
  ]),
  ifSent: z._default(
    orderedSet(signedName(), 'headers that are signed after those, each only if it is sent'),
    ['psu-id', 'psu-corporate-id', 'tpp-redirect-uri'],
  ),
  keyId: z.prefault(noted(keyId, 'keyId of the header Signature'), {}),
  algorithm: z._default(
    parameterValue(
      'word for the algorithm in the header Signature, for example `SHA256withRSA`. It has 256, 384 or 512 for the hash, and ECDSA for EC keys',
    ).check(z.regex(/256|384|512/, 'must be a word with the number of its hash: 256, 384 or 512')),
    'rsa-sha256',
  ),
  digest: z._default(oneOf(['SHA-256', 'SHA-512'], 'hash of the header Digest'), 'SHA-256'),
  emptyBodyDigest: z._default(flag('whether a request without a body has a Digest, too'), true),
  emptyBody: z.optional(oneOf(['{}'], 'what that Digest is made of, instead of nothing')),
  certificate: z._default(
    oneOf(
      ['der', 'pem', 'pem-line'],
      'TPP-Signature-Certificate: base64 of DER, base64 of PEM, or PEM on one line',
    ),
    'der',
  ),
});

/** A fixed text beside words. A word that is written wrong is none. */
function fixedText(what: string) {
  return headerValue(what).check(
    z.refine((text) => didYouMean(text, PRESENCE) === '', 'must be another text, or one of the words'),
  );
}

function signedName() {
  return z
    .string()
    .check(
      z.regex(
        /^(\(request-target\)|[a-z0-9!#$%&'*+.^_`|~-]+)$/,
        'must be the name of a header in lower case, or "(request-target)"',
      ),
    );
}

const scope = z.strictObject({
  ais: z._default(
    template('{consentId}', 'scope for a consent; {consentId} stands for its id'),
    'AIS:{consentId}',
  ),
  pis: z._default(
    template('{paymentId}', 'scope for a payment; {paymentId} stands for its id'),
    'PIS:{paymentId}',
  ),
  preStep: z._default(
    noted(
      z.union([
        template(undefined, 'ASCII text without braces'),
        noted(
          z.record(z.enum(['ais', 'pis']), template(undefined, 'ASCII text without braces')),
          'an object with "ais" and "pis"',
        ),
      ]),
      'scope of a token that is needed before everything; or one for readings (`ais`) and one for payments (`pis`), where no token has both',
    ),
    'ais pis',
  ),
});

/** The parameters of an authorization request (RFC 6749, section 4.1.1; RFC 7636, section 4.3). */
const OAUTH_PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;

function oauthValue() {
  return text().check(
    z.regex(/^[\x20-\x7e]*$/, 'must be ASCII text'),
    z.refine(
      (value) => !/[{}]/.test(value.replaceAll(/\{(consentId|paymentId)\}/g, '')),
      'must have no braces but those of {consentId} and {paymentId}',
    ),
  );
}

function urlName(what: string) {
  return z.string().check(z.regex(URL_NAME, `must be the name of ${what}`));
}

const oauth = z.strictObject({
  mode: z._default(
    oneOf(
      ['none', 'integrated', 'pre-step', 'client-credentials'],
      "OAuth: none; as SCA (the answer has scaOAuth); the customer's token before everything; the application's token",
    ),
    'none',
  ),
  metadata: z.optional(address('RFC 8414 metadata of the authorisation server')),
  authorizationEndpoint: z.optional(address('authorisation endpoint, instead of that in the metadata')),
  tokenEndpoint: z.optional(address('token endpoint, instead of that in the metadata', 'with query')),
  clientId: z._default(
    text('`organization-id` of the QWAC, or the id that the bank gave'),
    'organization-id',
  ),
  clientAuth: z._default(
    oneOf(['mtls', 'basic', 'post'], 'how the application proves who it is at the token endpoint'),
    'mtls',
  ),
  scope: z.prefault(noted(scope, 'scopes of the tokens'), {}),
  responseType: z._default(parameterValue('response_type at the authorisation endpoint'), 'code'),
  parameters: z._default(
    noted(
      z.record(urlName('a query parameter'), oauthValue()),
      'further parameters at the authorisation endpoint; {consentId} and {paymentId} stand for the id of what is authorised',
    ),
    {},
  ),
  names: z._default(
    noted(
      z.partialRecord(z.enum(OAUTH_PARAMETERS), urlName('a query parameter')),
      "the bank's names for parameters at the authorisation endpoint: `clientId` for `client_id`",
    ),
    {},
  ),
  pkce: z._default(oneOf(['S256', 'none'], 'PKCE'), 'S256'),
  applicationToken: z._default(
    flag(
      'with `integrated`: whether calls that are not readings carry a token of the application (client credentials, with the scope of preStep)',
    ),
    false,
  ),
  tokenHeader: z._default(headerName('header that has the token'), 'Authorization'),
});

const sca = z.strictObject({
  approaches: z._default(
    orderedSet(
      z.enum(['redirect', 'oauth', 'decoupled', 'embedded']),
      'SCA approaches that the bank has, the preferred one first. `embedded` comes last: psd2 takes credentials only where the bank offers nothing else',
      1,
    ),
    ['redirect'],
  ),
  first: z.optional(
    oneOf(
      ['password'],
      'with `embedded`: what the bank wants first where its link is a plain startAuthorisation; else an authorisation without a credential begins',
    ),
  ),
  start: z._default(
    oneOf(['follow-links', 'explicit'], '`explicit`: psd2 asks for an authorisation that it starts itself'),
    'follow-links',
  ),
  authorisationMinutes: z._default(
    noted(
      z.union([
        whole('a whole number from 1 to 10080', 1, 10_080),
        noted(
          z.record(z.enum(['payments', 'consents']), whole('minutes', 1, 10_080)),
          'an object with "payments" and "consents"',
        ),
      ]),
      'how long a customer can authorise; or how long a payment and how long a consent',
    ),
    10,
  ),
  pollSeconds: z._default(whole('pause between two questions for the status of SCA', 1, 3600), 3),
});

const consent = z.strictObject({
  types: z._default(
    orderedSet(
      z.enum(['dedicated', 'bank-offered', 'all-accounts', 'list-only', 'list-with-balances']),
      'kinds of consent that the bank takes, the usual one first',
      1,
    ),
    ['dedicated', 'bank-offered', 'all-accounts', 'list-only'],
  ),
  maxDays: z._default(whole('longest validity of a consent', 1, 36_500), 180),
  frequencyPerDay: z._default(whole('readings a day without the customer', 1, 1000), 4),
  once: z._default(flag('whether the bank takes a consent for one reading (recurringIndicator false)'), true),
  status: z._default(
    oneOf(
      ['call', 'none'],
      "how psd2 learns the status of a consent; `none`: by no call. The tokens of the customer's login say that it is granted",
    ),
    'call',
  ),
  delete: z._default(
    oneOf(
      ['any', 'authorised'],
      'which consents the bank deletes; `authorised`: not one that nobody has authorised',
    ),
    'any',
  ),
});

const funds = z.strictObject({
  consent: z._default(
    oneOf(
      ['auto', 'never'],
      "the customer's consent to confirmations of funds: sent if there is one; or the bank has no such consents",
    ),
    'auto',
  ),
});

const balances = z.strictObject({
  booked: z._default(orderedSet(text(), 'balance types that psd2 shows as booked, the best first'), [
    'closingBooked',
    'interimBooked',
  ]),
  available: z._default(orderedSet(text(), 'balance types that psd2 shows as available, the best first'), [
    'interimAvailable',
    'expected',
    'forwardAvailable',
  ]),
});

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const pagesByHeader = z.strictObject({
  totalPagesHeader: headerName('header of the answer with the number of pages'),
  pageParameter: noted(urlName('a query parameter'), 'parameter that asks for a page'),
});

/** The parameters of the standard that psd2 sends with a reading. */
const READING_PARAMETERS = [
  'bookingStatus',
  'dateFrom',
  'dateTo',
  'entryReferenceFrom',
  'withBalance',
  'pageIndex',
  'itemsPerPage',
] as const;

const accounts = z.strictObject({
  bookingStatuses: z._default(
    orderedSet(z.enum(['booked', 'pending', 'both']), 'values of bookingStatus that the bank takes', 1),
    ['booked', 'pending', 'both'],
  ),
  historyDays: z._default(whole('days that the bank looks back', 1, 36_500), 90),
  history: z.optional(
    noted(
      z.strictObject({
        afterSca: noted(
          z.strictObject({
            minutes: whole('minutes after the customer has authorised the consent', 1, 10_080),
            days: whole('days that the bank looks back then', 1, 36_500),
          }),
          'how far the bank looks back just after SCA',
        ),
      }),
      'where the bank looks back further than historyDays',
    ),
  ),
  delta: z._default(oneOf(['none', 'entryReferenceFrom'], 'how the bank gives only what is new'), 'none'),
  amounts: z._default(
    oneOf(
      ['signed', 'unsigned'],
      '`unsigned`: the amounts of transactions have no sign; debtor and creditor say the direction',
    ),
    'signed',
  ),
  zone: z.optional(
    text(
      "the bank's time zone: times in UTC are days there; without it that of the capital of the account's country (IBAN), else of the bank's, else Europe/Rome",
    ).check(z.refine(isTimeZone, 'must be a time zone, for example "Europe/Helsinki"')),
  ),
  withBalance: z._default(flag('whether the bank takes withBalance'), true),
  parameters: z._default(
    noted(
      z.partialRecord(z.enum(READING_PARAMETERS), urlName('a query parameter')),
      "the bank's names for parameters of readings: `booking_status` for `bookingStatus`",
    ),
    {},
  ),
  cards: z._default(
    oneOf(['auto', 'never'], 'card accounts: psd2 asks once for each consent; or the bank has none'),
    'auto',
  ),
  reports: z._default(
    orderedSet(
      z.enum(['json', 'camt', 'mt940']),
      'formats of account reports that psd2 asks for, one after the other, until the bank has one: JSON, camt.052 or camt.053, MT940 or MT942',
      1,
    ),
    ['json', 'camt', 'mt940'],
  ),
  download: z._default(
    oneOf(
      ['follow', 'never'],
      'a list without rows that has a link to a document: psd2 reads the document; or it is never a report',
    ),
    'follow',
  ),
  balances: z.prefault(noted(balances, 'which balances psd2 calls booked and available'), {}),
  paging: z._default(
    noted(
      z.union([z.enum(['link', 'page-index']), pagesByHeader]),
      'how pages follow: by `_links.next`; by pageIndex and itemsPerPage; or by a header and a parameter',
    ),
    'link',
  ),
});

const transactions = z.strictObject({
  id: z._default(
    oneOf(
      ['auto', 'transactionId', 'entryReference', 'internalTransactionId', 'content'],
      'what names a booked transaction: an id that the bank never gives to another one, its content, or what is seen to hold',
    ),
    'auto',
  ),
});

const product = () => urlName('a payment product');

/** The payment services of the standard. */
const SERVICES = ['payments', 'bulk-payments', 'periodic-payments'] as const;
const CANCEL = ['authorised', 'direct', 'none'] as const;

const products = z.strictObject({
  payments: z._default(orderedSet(product(), 'products of single payments'), [
    'sepa-credit-transfers',
    'instant-sepa-credit-transfers',
  ]),
  'bulk-payments': z._default(orderedSet(product(), 'products of bulk payments'), []),
  'periodic-payments': z._default(orderedSet(product(), 'products of standing orders'), []),
});

const bulk = z.strictObject({
  maxEntries: z.optional(whole('most payments in a bulk', 1, 1_000_000)),
  format: z._default(
    oneOf(
      ['json', 'pain.001.001.03', 'pain.001.001.09', 'pain.001.001.11'],
      'form of the body; its version of pain.001 is that of all payments in XML',
    ),
    'json',
  ),
  batchBooking: z._default(
    oneOf(
      ['optional', 'required', 'never'],
      'whether the bank is told how to book it: the sum, or each payment (batchBookingPreferred, BtchBookg)',
    ),
    'optional',
  ),
});

function bodyPath() {
  return z
    .string()
    .check(
      z.regex(
        /^[A-Za-z]\w*(\.[A-Za-z]\w*)*$/,
        'must be a path in the body, for example "creditorAddress.townName"',
      ),
    );
}

const refusal = z.strictObject({
  code: text('code of the bank, or what follows its last dot'),
  text: z.optional(text('the whole text beside it; absent: any')),
});

const payments = z.strictObject({
  products: z.prefault(noted(products, 'payment products, by payment service'), {}),
  required: z._default(
    orderedSet(
      bodyPath(),
      'fields that the bank demands beyond the standard: `dayOfExecution` of a standing order, for example',
    ),
    [],
  ),
  allowed: z._default(
    orderedSet(
      bodyPath(),
      'fields that the bank takes beyond the standard. If one is optional in the standard, the bank takes no other optional one',
    ),
    [],
  ),
  futureDays: z._default(whole('days that requestedExecutionDate may lie ahead; 0: not taken', 0, 3650), 0),
  repeat: z._default(
    oneOf(
      ['unknown', 'same-answer'],
      '`same-answer`: the same bytes with the same X-Request-ID give the same payment; psd2 may send them again',
    ),
    'unknown',
  ),
  repeatMinutes: z.optional(whole('how long that holds; only with `same-answer`', 1, 10_080)),
  executesWithoutSca: z._default(
    oneOf(['possible', 'never'], 'whether the bank may execute a payment that nobody authorised'),
    'possible',
  ),
  refusals: z._default(
    noted(
      z.array(refusal),
      'errors that the bank gives for what is in an initiation alone, and never for a payment that it has: after one, the reference is free',
    ),
    [],
  ),
  cancel: z._default(
    noted(
      z.union([
        z.enum(CANCEL),
        noted(z.partialRecord(z.enum(SERVICES), z.enum(CANCEL)), 'an object with such a word for services'),
      ]),
      'cancelling: with SCA, without, or not at all; or one of these for each payment service. One that is absent is `authorised`',
    ),
    'authorised',
  ),
  bulk: z.optional(noted(bulk, 'bulk payments')),
  constant: z._default(
    noted(
      z.record(bodyPath(), headerValue()),
      'fields with a value that is the same in every payment. None of them says who is paid, or what',
    ),
    {},
  ),
  frequencies: z._default(
    noted(
      z.partialRecord(z.enum(FREQUENCIES), text()),
      "the bank's words for how often a standing order pays: `MNTH` for `Monthly`",
    ),
    {},
  ),
  days: z._default(
    oneOf(['plain', 'two-digits'], 'how dayOfExecution of a standing order is written: `1` or `01`'),
    'plain',
  ),
  address: z._default(
    oneOf(
      ['optional', 'required', 'country'],
      "the payee's address; `country`: it is demanded, and a country alone is enough",
    ),
    'optional',
  ),
  debtorAccount: z._default(
    oneOf(
      ['required', 'optional', 'never'],
      'whether a payment names the account to debit. If it does not, the customer chooses it at the bank',
    ),
    'required',
  ),
  final: z._default(
    orderedSet(
      z.enum(['ACCC', 'ACSC', 'ACSP', 'ACWC', 'ACCP', 'ACFC', 'ACTC']),
      'transaction statuses that settle an instant transfer',
      1,
    ),
    ['ACSC', 'ACCC'],
  ),
});

const servedBank = z.strictObject({
  name: text('name of the bank'),
  bic: z.optional(
    z
      .string()
      .check(
        z.regex(/^[A-Z]{6}([A-Z0-9]{2}([A-Z0-9]{3})?)?$/, 'must be a BIC, or its first 6 or 8 characters'),
      ),
  ),
  bankCode: z.optional(
    z
      .string()
      .check(
        z.regex(/^[A-Z0-9?]{2,11}$/, 'must be the code of a bank in an IBAN; "?" stands for any character'),
      ),
  ),
  country: z.optional(z.string().check(z.regex(/^[A-Z]{2}$/, 'must be a country, for example "DE"'))),
});

const VERIFIED_ON = 'must be a day, also with words, for example "2026-11-23, its test server", or null';

function isDayWithWords(value: string): boolean {
  const [day, ...words] = value.split(/,(.*)/s, 2);
  return z.iso.date().safeParse(day).success && words.every((part) => part.trim() !== '');
}

/** A bank file. Parsed, it has the standard's default wherever it says nothing. */
export const bankFile = z.strictObject({
  interface: z.literal('nextgenpsd2').check(z.describe('the interface of the bank')),
  name: z.optional(text('name of the bank')),
  extends: z.optional(
    text('platform of psd2, or file beside this one, whose values hold where this file has none'),
  ),
  source: z.optional(text('where the facts are from')),
  verifiedOn: z._default(
    noted(
      z.nullable(z.string().check(z.refine(isDayWithWords, VERIFIED_ON))),
      'day on which somebody saw the facts hold at the bank, and after a comma words about it; null: nobody did',
    ),
    null,
  ),
  platform: z.optional(
    text('platform of psd2 whose contested facts hold for this bank; psd2 writes it into what extends one'),
  ),
  banks: z._default(
    noted(
      z.array(servedBank),
      'banks behind this interface, for `psd2 bank find`: name, and as far as known bic, bankCode (as in an IBAN) and country',
    ),
    [],
  ),
  learned: z.optional(
    noted(
      z.record(z.string(), z.iso.date('must be a day')),
      'fields whose values psd2 bank learn has seen in the answers of the bank, each with the day',
    ),
  ),
  api: z.prefault(noted(api, 'addresses'), {}),
  links: z._default(
    oneOf(
      ['auto', 'host', 'base'],
      'what the absolute path of a link to the browser or to OAuth is relative to: the base URL if it begins with the version, else the host; always the host; always the base URL',
    ),
    'auto',
  ),
  headers: z.prefault(noted(headers, 'headers beside those of the standard'), {}),
  psu: z.prefault(noted(psu, 'headers about the customer (PSU)'), {}),
  signing: z.prefault(noted(signing, 'signature of a request'), {}),
  oauth: z.prefault(noted(oauth, 'access tokens'), {}),
  sca: z.prefault(noted(sca, 'how the customer authorises'), {}),
  consent: z.prefault(noted(consent, 'consents'), {}),
  funds: z.prefault(noted(funds, 'confirmations of funds'), {}),
  accounts: z.prefault(noted(accounts, 'reading accounts'), {}),
  transactions: z.prefault(noted(transactions, 'booked transactions'), {}),
  payments: z.prefault(noted(payments, 'payments'), {}),
  errors: z._default(
    noted(z.record(text(), z.enum(ERROR_CODES)), "psd2's error code for a code of the bank"),
    {},
  ),
});

/** The fields as an operator writes them: all but `interface` may be absent. */
export type BankFile = z.input<typeof bankFile>;

/** A bank with every value in force: its own, its platform's, or the standard's. */
export type BankDescription = z.output<typeof bankFile>;
