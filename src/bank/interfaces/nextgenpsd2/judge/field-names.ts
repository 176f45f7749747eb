// The names of what an initiation has, as the standard writes them (NextGenPSD2 1.3, section 5.3; ISO 20022, pain.001).

const ACCOUNT = ['iban', 'bban', 'pan', 'maskedPan', 'msisdn', 'other', 'currency', 'cashAccountType'];
const AMOUNT = ['currency', 'amount'];
const ADDRESS = [
  'streetName',
  'buildingNumber',
  'townName',
  'postCode',
  'country',
  // Earlier versions
  'street',
  'city',
  'postalCode',
];
const REFERENCE = ['reference', 'referenceType', 'referenceIssuer'];

/** The fields of a body in JSON, and the fields in them. Not those that identify it. */
export const JSON_FIELDS: Readonly<Record<string, readonly string[]>> = {
  debtorAccount: ACCOUNT,
  creditorAccount: ACCOUNT,
  instructedAmount: AMOUNT,
  creditorAddress: ADDRESS,
  remittanceInformationStructured: REFERENCE,
  remittanceInformationStructuredArray: REFERENCE,
  ...Object.fromEntries(
    [
      'debtorName',
      'debtorId',
      'debtorAgent',
      'ultimateDebtor',
      'creditorName',
      'creditorId',
      'creditorAgent',
      'creditorAgentName',
      'ultimateCreditor',
      'purposeCode',
      'chargeBearer',
      'remittanceInformationUnstructured',
      'remittanceInformationUnstructuredArray',
      'requestedExecutionDate',
      'requestedExecutionTime',
      'startDate',
      'endDate',
      'executionRule',
      'frequency',
      'dayOfExecution',
      'monthsOfExecution',
      'batchBookingPreferred',
      'payments',
      'serviceLevel',
      'currencyOfTransfer',
      'exchangeRateInformation',
      'creditorNameAndAddress',
    ].map((name) => [name, []]),
  ),
};

/** The fields that are a day. */
export const DAYS: readonly string[] = ['requestedExecutionDate', 'startDate', 'endDate', 'ReqdExctnDt'];

/** The fields of which a bank may say "more than" about money, and not about a form. */
export const AMOUNTS: readonly string[] = ['instructedAmount', 'amount', 'InstdAmt', 'Amt', 'CtrlSum'];

/** Words for fields, with what they may mean. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  name: ['creditorName', 'debtorName', 'ultimateCreditor', 'ultimateDebtor', 'creditorAgentName'],
  address: ['creditorAddress'],
  city: ['city', 'townName'],
  date: ['requestedExecutionDate', 'startDate', 'endDate'],
  bic: ['creditorAgent', 'debtorAgent', 'BIC', 'BICFI'],
  iban: ['iban', 'IBAN'],
  bban: ['bban'],
};

/** Fields whose names are ordinary words. In a text, they are names only in quotes or before a colon. */
export const ORDINARY: readonly string[] = [
  'amount',
  'currency',
  'name',
  'date',
  'country',
  'city',
  'address',
  'reference',
  'frequency',
  'payments',
  'street',
];

/** The elements of a pain.001 that psd2 writes, and others that banks name. Not those that identify it. */
export const XML_FIELDS: readonly string[] = [
  'GrpHdr',
  'CreDtTm',
  'NbOfTxs',
  'CtrlSum',
  'InitgPty',
  'PmtInf',
  'PmtMtd',
  'BtchBookg',
  'PmtTpInf',
  'SvcLvl',
  'LclInstrm',
  'CtgyPurp',
  'ReqdExctnDt',
  'Dbtr',
  'DbtrAcct',
  'DbtrAgt',
  'UltmtDbtr',
  'ChrgBr',
  'CdtTrfTxInf',
  'Amt',
  'InstdAmt',
  'Ccy',
  'CdtrAgt',
  'Cdtr',
  'CdtrAcct',
  'UltmtCdtr',
  'Purp',
  'RmtInf',
  'Ustrd',
  'Strd',
  'CdtrRefInf',
  'Ref',
  'Nm',
  'PstlAdr',
  'Ctry',
  'TwnNm',
  'PstCd',
  'StrtNm',
  'BldgNb',
  'AdrLine',
  'IBAN',
  'BIC',
  'BICFI',
  'FinInstnId',
  'Cd',
  'Dt',
  'Prtry',
];

/** What identifies a request or a payment, or is about the message and not about the payment. Such a name names no field. */
export const NO_FIELDS: readonly string[] = [
  'X-Request-ID',
  'Request-ID',
  'TPP-Request-ID',
  'TPP-Transaction-ID',
  'endToEndIdentification',
  'endToEndId',
  'instructionIdentification',
  'instructionId',
  'instrId',
  'paymentInformationId',
  'pmtInfId',
  'msgId',
  'messageId',
  'paymentId',
  'uetr',
  'pmtId',
  'Date-Header',
  'Digest',
  'Signature',
  'Content-Type',
  'Consent-ID',
  'Authorization',
  'TPP-Signature-Certificate',
  'Accept',
  'Content-Length',
];

/** The headers about the customer and the TPP, but for the certificate. */
export const HEADERS: readonly string[] = [
  'PSU-ID',
  'PSU-ID-Type',
  'PSU-Corporate-ID',
  'PSU-Corporate-ID-Type',
  'PSU-IP-Address',
  'PSU-IP-Port',
  'PSU-Accept',
  'PSU-Accept-Charset',
  'PSU-Accept-Encoding',
  'PSU-Accept-Language',
  'PSU-User-Agent',
  'PSU-Http-Method',
  'PSU-Device-ID',
  'PSU-Geo-Location',
  'TPP-Redirect-Preferred',
  'TPP-Redirect-URI',
  'TPP-Nok-Redirect-URI',
  'TPP-Decoupled-Preferred',
  'TPP-Explicit-Authorisation-Preferred',
  'TPP-Rejection-NoFunds-Preferred',
  'TPP-Notification-URI',
  'TPP-Notification-Content-Preferred',
  'TPP-Brand-Logging-Information',
];
