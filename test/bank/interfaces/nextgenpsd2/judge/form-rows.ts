import { error, errors, type Row, type SentParts } from './judged.ts';

// What a bank says of the form of a field: whether it names one, whether that is true of what psd2 sent, and whether it is about its form.

const [proven, unknown] = ['nothing began', 'unknown'] as const;

type Short = readonly [text: string | undefined, path?: string | null | undefined, sent?: SentParts];

const said = (says: Row['says'], [text, path, sent]: Short): Row => ({
  ...{ name: [text, path, sent && JSON.stringify(sent)].filter(Boolean).join(' | '), status: 400 },
  ...{ body: errors(error('FORMAT_ERROR', text, path)), ...(sent && { sent }), says },
});

/** Of a field that was sent, with a word of form. */
const NAMED: readonly Short[] = [
  // In quotes
  ["'creditorName' is wrong"],
  ['"creditorName" is wrong'],
  ['`creditorName` is wrong'],
  ['“creditorName” is wrong'],
  ['„creditorName“ is wrong'],
  ['«creditorName» is wrong'],
  ['‘creditorName’ is wrong'],
  ['&quot;creditorName&quot; is wrong'],
  ['&#39;amount&#39; is wrong'],
  ["'amount' is wrong"],
  ["'currency' is wrong"],
  ["'name' is wrong"],
  ["'creditorname' is wrong"],
  ["'CREDITOR_NAME' is wrong"],
  ["'instructedAmount.amount' is wrong"],
  ["'/creditorAccount/iban' is wrong"],
  ["'creditor name' is wrong"],
  // As one word of several
  ['creditorName is wrong'],
  ['The value of creditorName is wrong'],
  ['CreditorName is wrong'],
  ['creditor-name is wrong'],
  ['creditor_name is wrong'],
  ['instructedAmount.currency is wrong'],
  ['$.creditorName is wrong'],
  ['payments[0].creditorName is wrong', undefined, { service: 'bulk-payments' }],
  ['psu-ip-address is wrong'],
  ['PSU-IP-Address is wrong'],
  ['TPP-Redirect-URI is wrong'],
  ['Header.tpp-redirect-uri is wrong'],
  ['remittanceInformationUnstructured is wrong'],
  // As words
  ['The creditor name is wrong'],
  ['Creditor Name is wrong'],
  ['The debtor account is wrong'],
  ['PSU IP Address is wrong'],
  // In capitals
  ['The IBAN is wrong'],
  ['Both IBANs are wrong'],
  // Before a colon
  ['amount: is wrong'],
  ['currency: is wrong'],
  ['Amount: is wrong'],
  ['payments: wrong', undefined, { service: 'bulk-payments' }],
  ['frequency: wrong', undefined, { service: 'periodic-payments' }],
  // In the path
  ['is wrong', 'creditorName'],
  ['is wrong', 'CREDITORNAME'],
  ['is wrong', 'creditor_name'],
  ['is wrong', 'amount'],
  ['is wrong', 'instructedAmount.amount'],
  ['is wrong', '/instructedAmount/amount'],
  ['is wrong', '$.instructedAmount.amount'],
  ['is wrong', "$['instructedAmount']['amount']"],
  ['is wrong', '#/instructedAmount/amount'],
  ['is wrong', 'Body.instructedAmount.amount'],
  ['is wrong', 'body.creditorAccount.iban'],
  ['is wrong', 'request.body.creditorAccount.iban'],
  ['is wrong', 'Header.PSU-IP-Address'],
  ['is wrong', 'header/psu-ip-address'],
  ['is wrong', 'PSU-IP-Address'],
  ['is wrong', 'Header parameter PSU-IP-Address (OpenAPI: p-ip)'],
  ['is wrong', 'body parameter amount'],
  ['is wrong', 'The field creditorName of the request'],
  ['is wrong', 'creditorName, creditorAccount'],
  ['is wrong', 'payments/1/creditorAccount/iban', { service: 'bulk-payments' }],
  ['is wrong', '/payments/0', { service: 'bulk-payments' }],
  ['is wrong', 'payments', { service: 'bulk-payments' }],
  ['is wrong', 'creditorAddress.city', { with: { creditorAddress: { city: 'Bonn' } } }],
  // Headers and fields of the bank
  ['PSU-ID is wrong', undefined, { with: { 'PSU-ID': 'anna' } }],
  ['PSU-Corporate-ID is wrong', undefined, { with: { 'PSU-Corporate-ID': 'x' } }],
  // Of a text that is a problem of several fields
  ["'creditorName' and 'creditorAccount' are wrong"],
  ['creditorAccount.iban: the IBAN is wrong'],
  ['The BIC is unknown', undefined, { with: { creditorAgent: 'X' } }],
  ['The BBAN is wrong', undefined, { with: { debtorAccount: { bban: '1' } } }],
];

const UNNAMED: readonly Short[] = [
  ['amount is wrong'],
  ['The currency is wrong'],
  ['The name is wrong'],
  ['The address is wrong'],
  ['The iban is wrong'],
  ['The bic is wrong'],
  ['creditorname is wrong'],
  ['The creditor is wrong'],
  ['The payment is wrong'],
  ['creditorNameLong is wrong'],
  ['ultimateCreditorName is wrong'],
  ['X-PSU-ID is wrong'],
  ['is wrong', '/v1/payments/sepa-credit-transfers'],
  ['is wrong', '/v1/payments/sepa-credit-transfers?x=1'],
  ['is wrong', 'https://bank.example/v1/payments/sepa-credit-transfers'],
  ['is wrong', '/xs2a/v1/payments/sepa-credit-transfers'],
  ['is wrong', '/payments/sepa-credit-transfers'],
  ['is wrong', '/v1/payments'],
  ['is wrong', '/payments'],
  ['is wrong', '/v1/bulk-payments/sepa-credit-transfers', { service: 'bulk-payments' }],
  ['is wrong', 'body'],
  ['is wrong', '$'],
  ['is wrong', 'foo.bar'],
  ['is wrong', 'creditorAccount.foo'],
  ['is wrong', ''],
  ['is wrong', null],
  // What identifies, and what is about the message
  ["'endToEndIdentification' is wrong"],
  ['is wrong', 'endToEndIdentification'],
  ['is wrong', 'payments[0].endToEndIdentification', { service: 'bulk-payments' }],
  ['is wrong', 'instructionIdentification', { with: { instructionIdentification: 'x' } }],
  ['is wrong', 'paymentInformationId', { with: { paymentInformationId: 'x' } }],
  ['is wrong', 'PmtInfId'],
  ['is wrong', 'X-Request-ID'],
  ['is wrong', 'Date', { with: { Date: 'x' } }],
  ["header 'Date' is wrong", undefined, { with: { Date: 'x' } }],
  ['is wrong', 'Header.Date', { requestedExecutionDate: 9 }],
  ['is wrong', 'Digest'],
  ['is wrong', 'Signature'],
  ['is wrong', 'Content-Type'],
  ['is wrong', 'Consent-ID'],
  ['is wrong', 'TPP-Signature-Certificate'],
  ["'creditorName' or 'Digest' is wrong"],
  ["'creditorName' is wrong, and so is the signature"],
  ["'creditorName' is wrong", 'Digest'],
  ["'creditorName' is wrong", 'X-Request-ID'],
  ["header 'date' is wrong", undefined, { requestedExecutionDate: 9 }],
  ["'date' is wrong", undefined, { requestedExecutionDate: 9, with: { Date: 'x' } }],
];

/** Of what was not sent, said to be missing. */
const MISSING: readonly Short[] = [
  ...[
    'missing',
    'required',
    'mandatory',
    'null',
    'empty',
    'blank',
    'not present',
    'not found',
    'not given',
    'not provided',
    'not specified',
  ].map((word): Short => [`'ultimateCreditor' is ${word}`]),
  ["There is nothing in 'ultimateCreditor'"],
  ["'ultimateCreditor' must have at least 1 sign"],
  ["The length of 'ultimateCreditor' must be between 1 and 70"],
  ["The length of 'ultimateCreditor' must be greater than 0"],
  ['PSU-ID is mandatory'],
  ['is missing', 'PSU-ID'],
  ['is missing', 'Header.PSU-Corporate-ID'],
  ['is missing', 'creditorAddress.townName'],
  ['creditorAddress is required'],
  ['BIC is missing'],
  ['BBAN is missing'],
  ["'creditorAccount.currency' is missing"],
  ['creditorAccount.currency is missing'],
  ["'frequency' is missing"],
  ['fehlt: invalid', 'ultimateCreditor'],
];

const NOT_TRUE: readonly Short[] = [
  // Said to be missing, and sent
  ...[
    'missing',
    'required',
    'mandatory',
    'null',
    'empty',
    'blank',
    'not present',
    'not found',
    'not given',
    'not provided',
    'not specified',
    'absent',
    'not set',
  ].map((word): Short => [`'creditorName' is ${word}`]),
  ["There is nothing valid in 'creditorName'"],
  ["'creditorName' must have at least 1 sign"],
  ["The length of 'creditorName' must be between 1 and 70 signs"],
  ["The digits of 'creditorName' must be greater than 0"],
  ["'creditorName' has no valid value: null"],
  ["[NotNull] 'creditorName' is invalid"],
  ["There is no 'creditorName'"],
  ["Wrong: no 'creditorName'"],
  ["'creditorName' is too short, wrong"],
  ["'creditorName': minimum 1 sign"],
  ['creditorName fehlt: invalid'],
  ["'currency' is missing"],
  ["'iban' is missing"],
  ['IBAN is missing'],
  ['is missing', 'currency'],
  ['PSU-IP-Address is missing'],
  ['is missing', 'payments[0].creditorName', { service: 'bulk-payments' }],
  ["'Cdtr/Nm' is missing"],
  ['is missing', '/Document/CstmrCdtTrfInitn/PmtInf/Dbtr/Nm'],
  // Of one that was not sent, anything else
  ["'ultimateCreditor' is wrong"],
  ['PSU-ID is wrong'],
  ['is wrong', 'PSU-ID'],
  ['BIC is wrong'],
  ['BBAN is wrong'],
  ["'frequency' is wrong"],
  ["'payments' is wrong"],
  ['is wrong', 'creditorAccount.currency'],
  ['is wrong', 'ultimateCreditor.name'],
  ['is wrong', 'CdtTrfTxInf/Cdtr/Nm'],
  ["'city' is wrong"],
  // One of several
  ["'creditorName' and 'ultimateCreditor' are wrong"],
  ["'creditorName' and 'ultimateCreditor' are missing"],
  ['ultimate creditor name is wrong'],
  ["'creditorName' is wrong", 'ultimateCreditor'],
];

const FORMS = [
  ...[
    'is too long',
    'has more than 70 signs',
    'is above the maximum',
    'has a bad format',
    'does not follow the pattern',
    'does not match',
  ],
  ...[
    'is malformed',
    'is not well formed',
    'is not well-formed',
    'is no valid text',
    'is not valid',
    'is not a valid text',
    'is invalid',
    'is wrong',
  ],
  ...[
    'has check digits that do not fit',
    'has signs',
    'has letters',
    'has characters',
    'has digits',
    'is no text',
    'must be a text',
    'must be an ASCII text',
  ],
  ...['does not exist', 'is unknown', 'is not supported', 'must fit the rule', 'must match [0-9]'],
];

const NO_FORMS: readonly (string | undefined)[] = [
  ...[
    undefined,
    'Bad Request',
    'Not accepted',
    'is refused',
    'Something is not right',
    'ist ungültig',
    'Účet neexistuje',
    'non è valido',
  ],
  ...[
    'Format error',
    'FORMAT_ERROR',
    'Invalid request',
    'The request is not valid',
    'The request body is malformed',
    'unknown error',
  ],
  ...['Format of certain request fields does not match', 'is good', 'valid'],
];

const AMOUNTS: [string, Row['says']][] = [
  ["'instructedAmount' has more than 2 decimals", proven],
  ["'instructedAmount' is more than the maximum", unknown],
  ["'amount' has more than 18 digits", proven],
  ["'amount' is invalid", proven],
];

const days: readonly Row[] = [
  ...(
    [
      [-3, proven],
      [-1, unknown],
      [0, unknown],
      [1, unknown],
      [2, proven],
    ] as const
  ).map(([day, says]) =>
    said(says, ["'requestedExecutionDate' has a wrong format", undefined, { requestedExecutionDate: day }]),
  ),
  said(unknown, ["'requestedExecutionDate' is missing"]),
  said(proven, ["'date' has a wrong format", undefined, { requestedExecutionDate: 9 }]),
  said(unknown, ["'date' has a wrong format", undefined, { requestedExecutionDate: 1 }]),
  said(proven, ['has a wrong format', 'startDate', { service: 'periodic-payments' }]),
  said(proven, ["'creditorName' has a wrong format", undefined, { requestedExecutionDate: 0 }]),
];

const several: readonly Row[] = [
  {
    name: 'two errors of fields',
    status: 400,
    body: errors(
      error('FORMAT_ERROR', "'creditorName' is wrong"),
      error('FORMAT_ERROR', 'is wrong', 'creditorAccount'),
    ),
    says: proven,
  },
  {
    name: 'a summary before an error of a field',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'Bad Request'), error('FORMAT_ERROR', "'creditorName' is wrong")),
    says: proven,
  },
  {
    name: 'a summary beside another code',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'Bad Request'), error('PRODUCT_INVALID')),
    says: unknown,
  },
  {
    name: 'an error of a field beside another code of the table',
    status: 400,
    body: errors(error('FORMAT_ERROR', "'creditorName' is wrong"), error('PRODUCT_INVALID')),
    says: proven,
  },
  {
    name: 'one error that is not about form',
    status: 400,
    body: errors(
      error('FORMAT_ERROR', "'creditorName' is wrong"),
      error('FORMAT_ERROR', 'Bad Request', 'creditorAccount'),
    ),
    says: unknown,
  },
  {
    name: 'one missing that was not sent, one wrong',
    status: 400,
    body: errors(
      error('FORMAT_ERROR', "'creditorName' is wrong"),
      error('FORMAT_ERROR', "'ultimateCreditor' is missing"),
    ),
    says: proven,
  },
  {
    name: 'a title that calls the field missing',
    status: 400,
    body: { title: 'Missing', code: 'FORMAT_ERROR', detail: "'creditorName' is wrong" },
    says: unknown,
  },
  {
    name: 'a title that is general',
    status: 400,
    body: { title: 'Format error', code: 'FORMAT_ERROR', detail: 'creditorAccount: Bad Request' },
    says: unknown,
  },
  {
    name: 'a title alone',
    status: 400,
    body: { title: "'creditorName' is wrong", code: 'FORMAT_ERROR' },
    says: proven,
  },
  {
    name: 'a title that names a field',
    status: 400,
    body: { title: 'creditorName', code: 'FORMAT_ERROR', detail: 'is wrong' },
    says: proven,
  },
  {
    name: 'a field of the bank',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'ownField is wrong')),
    sent: { with: { ownField: 'x' } },
    bank: { payments: { constant: { ownField: 'x' } } },
    says: proven,
  },
  {
    name: 'a field that the bank demands, and that was not sent',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'ownField is missing')),
    bank: { payments: { required: ['ownField'] } },
    says: proven,
  },
  {
    name: 'a field that the bank takes, and that was not sent',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'is missing', 'own.field')),
    bank: { payments: { allowed: ['own.field'] } },
    says: proven,
  },
  {
    name: 'a field of no bank',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'ownField is missing')),
    says: unknown,
  },
  {
    name: "a header under the bank's name",
    status: 400,
    body: errors(error('FORMAT_ERROR', 'TPP-Customer is wrong')),
    sent: { with: { 'TPP-Customer': 'x' } },
    bank: { headers: { names: { 'PSU-ID': 'TPP-Customer' } } },
    says: proven,
  },
];

const PAIN = `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>m1</MsgId></GrpHdr><PmtInf><ReqdExctnDt><Dt>2026-12-24</Dt></ReqdExctnDt><DbtrAcct><Id><IBAN>DE1</IBAN></Id></DbtrAcct><CdtTrfTxInf><PmtId><EndToEndId>e1</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1.00</InstdAmt></Amt><Cdtr><Nm>A &amp; Another</Nm></Cdtr></CdtTrfTxInf></PmtInf></CstmrCdtTrfInitn></Document>`;
const STANDING = `--b\r\nContent-Disposition: form-data; name="xml_sct"\r\n\r\n${PAIN}\r\n--b\r\n\r\n{"startDate":"2026-12-24","frequency":"Monthly"}\r\n--b--\r\n`;

const inXml: readonly Row[] = [
  ...(
    [
      ["'Cdtr/Nm' is wrong", undefined, proven],
      ['is wrong', '/Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[1]/Cdtr/Nm', proven],
      ['is wrong', '/ns:Document/ns:CstmrCdtTrfInitn/ns:PmtInf/ns:CdtTrfTxInf/ns:Cdtr/ns:Nm', proven],
      ['InstdAmt is wrong', undefined, proven],
      ['The IBAN is wrong', undefined, proven],
      ['is wrong', 'InstdAmt@Ccy', proven],
      ['is wrong', 'ReqdExctnDt', proven],
      ["'A & Another' is no valid Nm:", undefined, proven],
      ['is wrong', 'Dbtr/Nm', unknown],
      ['is wrong', 'CdtrAgt', unknown],
      ['is wrong', 'MsgId', unknown],
      ['is wrong', 'EndToEndId', unknown],
      ['InstdAmt is missing', undefined, unknown],
      ['is missing', 'CdtrAgt', proven],
      ['creditorName is missing', undefined, unknown],
      ['creditorName is wrong', undefined, unknown],
    ] as const
  ).map(([text, path, says]) => said(says, [text, path, { xml: PAIN }])),
  ...(
    [
      ["'startDate' is wrong", proven],
      ["'endDate' is wrong", unknown],
      ["'frequency' is wrong", proven],
      ['InstdAmt is wrong', proven],
    ] as const
  ).map(([text, says]) => said(says, [text, undefined, { xml: STANDING, service: 'periodic-payments' }])),
  {
    name: 'the day of a pain.001',
    status: 400,
    body: errors(error('EXECUTION_DATE_INVALID')),
    sent: { xml: PAIN },
    says: proven,
  },
  {
    name: 'a day of a pain.001 that is near',
    status: 400,
    body: errors(error('EXECUTION_DATE_INVALID')),
    sent: { xml: PAIN.replace('12-24', '11-28').replace('2026-12', '2026-11') },
    says: unknown,
  },
];

export const FORM: readonly Row[] = [
  ...NAMED.map((row) => said(proven, row)),
  ...UNNAMED.map((row) => said(unknown, row)),
  ...MISSING.map((row) => said(proven, row)),
  ...NOT_TRUE.map((row) => said(unknown, row)),
  ...FORMS.map((words) => said(proven, [words, 'creditorName'])),
  ...NO_FORMS.map((words) => said(unknown, [words, 'creditorName'])),
  ...AMOUNTS.map(([text, says]) => said(says, [text])),
  ...days,
  ...several,
  ...inXml,
];
