import { words } from '../../../support/words.ts';

/**
 * A small OpenAPI description of the calls that a client of another hand makes. It states facts of the standard (NextGenPSD2
 * 1.3.11) in words of its own: which parameters a call has, and what an answer may have. A client is made of it, and each
 * answer of the sandbox is held against it.
 */

type Schema = Record<string, unknown>;

const text = (maxLength: number): Schema => ({ type: 'string', minLength: 1, maxLength });
const oneOf = (...values: string[]): Schema => ({ type: 'string', enum: values });
const day: Schema = { type: 'string', format: 'date' };
const flag: Schema = { type: 'boolean' };
const listOf = (items: Schema): Schema => ({ type: 'array', items });

/** An object with these fields and no others. A name with `!` is mandatory. */
function record(fields: Record<string, Schema>): Schema {
  const entries = Object.entries(fields);
  return {
    type: 'object',
    additionalProperties: false,
    required: entries.flatMap(([name]) => (name.endsWith('!') ? [name.slice(0, -1)] : [])),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace('!', ''), schema])),
  };
}

const currency: Schema = { type: 'string', pattern: '^[A-Z]{3}$' };
const amount = record({
  'currency!': currency,
  'amount!': { type: 'string', pattern: '^-?\\d{1,14}(\\.\\d{1,3})?$' },
});
const reference = record({
  iban: { type: 'string', pattern: '^[A-Z]{2}\\d{2}[a-zA-Z0-9]{1,30}$' },
  maskedPan: text(35),
  currency,
});
const links: Schema = { type: 'object', additionalProperties: record({ 'href!': text(2000) }) };
const messages = (category: string): Schema => ({
  ...listOf(record({ 'category!': oneOf(category), 'code!': text(70), path: text(500), text: text(500) })),
  minItems: 1,
});
const notice = { psuMessage: text(500), tppMessages: messages('WARNING') };

const consentStatus = oneOf(
  ...words`received rejected valid revokedByPsu expired terminatedByTpp partiallyAuthorised`,
);
const scaStatus = oneOf(
  ...words`received psuIdentified psuAuthenticated scaMethodSelected started unconfirmed finalised failed exempted`,
);
const transactionStatus = oneOf(
  ...words`ACCC ACCP ACSC ACSP ACTC ACWC ACWP RCVD PDNG RJCT CANC ACFC PATC PART`,
);

const balance = record({
  'balanceAmount!': amount,
  'balanceType!': oneOf(
    ...words`closingBooked expected openingBooked interimAvailable interimBooked forwardAvailable nonInvoiced`,
  ),
  creditLimitIncluded: flag,
  lastChangeDateTime: { type: 'string', format: 'date-time' },
  referenceDate: day,
  lastCommittedTransaction: text(35),
});
const account = record({
  resourceId: text(100),
  iban: { type: 'string' },
  'currency!': currency,
  ownerName: text(140),
  name: text(70),
  displayName: text(70),
  product: text(35),
  cashAccountType: { type: 'string', pattern: '^[A-Z]{4}$' },
  status: oneOf('enabled', 'deleted', 'blocked'),
  usage: oneOf('PRIV', 'ORGA'),
  balances: listOf(balance),
  _links: links,
});
const transaction = record({
  transactionId: text(100),
  entryReference: text(35),
  endToEndId: text(35),
  bookingDate: day,
  valueDate: day,
  'transactionAmount!': amount,
  creditorName: text(70),
  creditorAccount: reference,
  debtorName: text(70),
  debtorAccount: reference,
  remittanceInformationUnstructured: text(140),
  additionalInformation: text(500),
  bankTransactionCode: { type: 'string', pattern: '^[A-Z]{4}-[A-Z]{4}-[A-Z]{4}$' },
  proprietaryBankTransactionCode: text(35),
});

const report = record({ booked: listOf(transaction), pending: listOf(transaction), '_links!': links });

const json = (description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
});
const parameter = (place: 'header' | 'path' | 'query', name: string, required: boolean) => ({
  in: place,
  name,
  required,
  schema: { type: 'string' as const },
});

interface Described {
  path: string;
  method: 'get' | 'post';
  headers?: string[];
  query?: string[];
  /** The status and the body of success. */
  answers: [status: string, schema: Schema];
}

const SCA = ['PSU-IP-Address', 'PSU-ID', 'TPP-Redirect-URI', 'TPP-Redirect-Preferred'];

/** The calls of the description, by their operationId. */
export const CALLS: Record<string, Described> = {
  createConsent: {
    ...{ path: '/v1/consents', method: 'post', headers: SCA },
    answers: [
      '201',
      record({ 'consentStatus!': consentStatus, 'consentId!': text(100), '_links!': links, ...notice }),
    ],
  },
  getConsentStatus: {
    ...{ path: '/v1/consents/{consentId}/status', method: 'get' },
    answers: ['200', record({ 'consentStatus!': consentStatus, ...notice })],
  },
  getAccountList: {
    ...{ path: '/v1/accounts', method: 'get', headers: ['Consent-ID', 'PSU-ID'], query: ['withBalance'] },
    answers: ['200', record({ 'accounts!': listOf(account) })],
  },
  getBalances: {
    ...{ path: '/v1/accounts/{account-id}/balances', method: 'get', headers: ['Consent-ID'] },
    answers: ['200', record({ account: reference, 'balances!': listOf(balance) })],
  },
  getTransactionList: {
    ...{ path: '/v1/accounts/{account-id}/transactions', method: 'get', headers: ['Consent-ID'] },
    query: ['bookingStatus', 'dateFrom'],
    answers: ['200', record({ account: reference, 'transactions!': report, balances: listOf(balance) })],
  },
  initiatePayment: {
    ...{ path: '/v1/payments/{payment-product}', method: 'post', headers: SCA },
    answers: [
      '201',
      record({
        ...{ 'transactionStatus!': transactionStatus, 'paymentId!': text(100), '_links!': links },
        ...{ transactionFees: amount, transactionFeeIndicator: flag, scaStatus, ...notice },
      }),
    ],
  },
  getPaymentInitiationStatus: {
    ...{ path: '/v1/payments/{payment-product}/{paymentId}/status', method: 'get' },
    answers: ['200', record({ 'transactionStatus!': transactionStatus, fundsAvailable: flag, ...notice })],
  },
  getPaymentInitiationScaStatus: {
    path: '/v1/payments/{payment-product}/{paymentId}/authorisations/{authorisationId}',
    method: 'get',
    answers: ['200', record({ 'scaStatus!': scaStatus, _links: links, ...notice })],
  },
};

/** The body of a refusal. */
export const REFUSAL = record({ 'tppMessages!': messages('ERROR'), _links: links });

/** The description as OpenAPI 3.0. @param server the base URL */
export function descriptionAt(server: string) {
  const paths: Record<string, Record<string, object>> = {};
  for (const [operationId, { path, method, headers = [], query = [], answers }] of Object.entries(CALLS)) {
    const [status, schema] = answers;
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
    paths[path] = {
      [method]: {
        operationId,
        parameters: [
          ...inPath.map((name) => parameter('path', name, true)),
          ...query.map((name) => parameter('query', name, false)),
          ...['X-Request-ID', ...headers].map((name) => parameter('header', name, false)),
        ],
        ...(method === 'post' && {
          requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
        }),
        responses: { [status]: json('Success', schema), default: json('A refusal', REFUSAL) },
      },
    };
  }
  return {
    openapi: '3.0.3',
    info: { title: 'NextGenPSD2, some calls', version: '1.3.11' },
    servers: [{ url: server }],
    paths,
  };
}
