import { error, errors, type Row } from './judged.ts';

// Codes that say what is true of every delivery, each under its condition, and the three cases.

const [proven, unknown, askAgain] = ['nothing began', 'unknown', 'ask again'] as const;
const NEVER = { payments: { executesWithoutSca: 'never' } } satisfies Row['bank'];
const SAME_ANSWER = { payments: { repeat: 'same-answer', repeatMinutes: 60 } } as const;

const coded = (code: string, says: Row['says'], text?: string, more: Partial<Row> = {}): Row => ({
  ...{ name: `${code} ${text ?? ''}`, status: 401, body: errors(error(code, text)), says },
  ...more,
});

const NOT_IN_THE_TABLE = [
  ...[
    'PAYMENT_FAILED',
    'FUNDS_NOT_AVAILABLE',
    'SIGNATURE_INVALID',
    'PSU_CREDENTIALS_INVALID',
    'REQUESTED_FORMATS_INVALID',
  ],
  ...[
    'UNSUPPORTED_MEDIA_TYPE',
    'PARAMETER_NOT_CONSISTENT',
    'PERIOD_INVALID',
    'CERTIFICATE_REVOKED',
    'CERTIFICATE_BLOCKED',
  ],
  ...[
    'TIMESTAMP_INVALID',
    'CONSENT_UNKNOWN',
    'CONSENT_INVALID',
    'CONSENT_EXPIRED',
    'RESOURCE_UNKNOWN',
    'RESOURCE_EXPIRED',
  ],
  ...[
    'RESOURCE_BLOCKED',
    'STATUS_INVALID',
    'SERVICE_BLOCKED',
    'TOKEN_EXPIRED',
    'ACCESS_EXCEEDED',
    'SCA_INVALID',
    'SCA_METHOD_UNKNOWN',
  ],
  ...[
    'SESSIONS_NOT_SUPPORTED',
    'INTERNAL_SERVER_ERROR',
    'SERVICE_UNAVAILABLE',
    'REFERENCE_MIX_INVALID',
    'INVALID_FIELD',
    'product_invalid',
  ],
  ...['constructor', '__proto__', 'FORBIDDEN', 'X'],
];

const table: readonly Row[] = [
  ...[
    'PRODUCT_UNKNOWN',
    'PRODUCT_INVALID',
    'PARAMETER_NOT_SUPPORTED',
    'ROLE_INVALID',
    'CORPORATE_ID_INVALID',
  ].flatMap((code) => [coded(code, proven), coded(code, proven, 'No', { status: 400 })]),
  ...NOT_IN_THE_TABLE.flatMap((code) => [
    coded(code, unknown, 'No'),
    coded(code, unknown, 'No', { bank: SAME_ANSWER }),
    coded(code, proven, 'No', { bank: NEVER }),
    coded(code, unknown, 'No', { body: errors(error('PRODUCT_INVALID'), error(code, 'No')) }),
  ]),
  coded('SERVICE_INVALID', proven, 'No such service', { status: 405 }),
  coded('SERVICE_INVALID', unknown, 'No such service', { status: 400 }),
  coded('SERVICE_INVALID', proven, 'POST is not possible', { status: 405 }),
  ...[
    ...['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT'].map(
      (method) => `${method} is not possible`,
    ),
    ...["Not with 'get'", 'The method is put', 'Wrong method: put', 'The put method is not there'],
    ...["'Get' is not possible", 'The Method is: Put', 'The Delete Method is not possible'],
  ].map((text) => coded('SERVICE_INVALID', unknown, text, { status: 405 })),
  {
    name: 'it names a field that psd2 did not send, and does not say that it is missing',
    status: 400,
    body: errors(error('FORMAT_ERROR', undefined, 'ultimateCreditor')),
    says: unknown,
  },
  coded('SERVICE_INVALID', proven, 'Get a list of services', { status: 405 }),
  coded('SERVICE_INVALID', proven, undefined, { status: 400, bank: SAME_ANSWER }),
  coded('CERTIFICATE_INVALID', proven, 'Issued by somebody whom nobody trusts'),
  ...[
    ...[
      'It has expired',
      'Expiry',
      'Past its end',
      'Out of date',
      'No longer valid',
      'Valid until 2025',
      'Not yet valid',
      'Check the clock',
      'Abgelaufen',
      'Scaduto',
      'Verlopen',
      'Not valid after 2020',
      'Certificat périmé',
      'Platnost vypršela',
    ],
    ...[
      'The signature is wrong',
      'Not signed',
      'Cannot sign',
      'Signatur falsch',
      'Wrong digest',
      'Wrong hash',
    ],
  ].map((text) => coded('CERTIFICATE_INVALID', unknown, text)),
  coded('CERTIFICATE_INVALID', unknown, undefined, {
    body: { title: 'Expired', code: 'CERTIFICATE_INVALID', detail: 'No' },
  }),
  coded('CERTIFICATE_INVALID', proven, 'It has expired', { bank: SAME_ANSWER }),
  coded('CERTIFICATE_EXPIRED', unknown),
  coded('CERTIFICATE_EXPIRED', proven, undefined, { sent: { certificateExpired: true } }),
  coded('CERTIFICATE_EXPIRED', proven, undefined, { bank: SAME_ANSWER }),
  coded('CERTIFICATE_MISSING', unknown),
  coded('CERTIFICATE_MISSING', proven, 'No certificate', {
    sent: { without: ['TPP-Signature-Certificate'] },
  }),
  coded('CERTIFICATE_MISSING', unknown, 'No TLS client certificate', {
    sent: { without: ['TPP-Signature-Certificate'] },
  }),
  ...['QWAC', 'SSL', 'mTLS', 'Mutual TLS', 'Of the connection'].map((text) =>
    coded('CERTIFICATE_MISSING', unknown, text, { sent: { without: ['TPP-Signature-Certificate'] } }),
  ),
  coded('CERTIFICATE_EXPIRED', unknown, undefined, { sent: { certificateExpired: 'now' } }),
  ...['TOKEN_UNKNOWN', 'TOKEN_INVALID'].map((code) =>
    coded(code, unknown, undefined, {
      sent: { with: { Authorization: 'Bearer abc' } },
      bank: { oauth: { tokenHeader: 'X-Token' } },
    }),
  ),
  coded('SIGNATURE_MISSING', unknown),
  coded('SIGNATURE_MISSING', proven, undefined, { sent: { without: ['Signature'] } }),
  coded('SIGNATURE_MISSING', proven, undefined, { bank: SAME_ANSWER }),
  coded('KID_MISSING', unknown),
  coded('KID_MISSING', proven, undefined, { sent: { without: ['Signature'] } }),
  ...['TOKEN_UNKNOWN', 'TOKEN_INVALID'].flatMap((code) => [
    coded(code, proven),
    coded(code, unknown, undefined, { sent: { with: { Authorization: 'Bearer abc' } } }),
    coded(code, proven, undefined, { sent: { with: { Authorization: 'Bearer abc' } }, bank: SAME_ANSWER }),
    coded(code, unknown, undefined, {
      sent: { with: { 'x-token': 'Bearer abc' } },
      bank: { oauth: { tokenHeader: 'X-Token' } },
    }),
  ]),
  ...(
    [
      [-3, proven],
      [-2, proven],
      [-1, unknown],
      [0, unknown],
      [1, unknown],
      [2, proven],
      [30, proven],
    ] as const
  ).map(([requestedExecutionDate, says]) =>
    coded('EXECUTION_DATE_INVALID', says, 'No bank day', { status: 400, sent: { requestedExecutionDate } }),
  ),
  coded('EXECUTION_DATE_INVALID', unknown, 'No bank day', { status: 400 }),
  coded('EXECUTION_DATE_INVALID', proven, undefined, { status: 400, sent: { requestedExecutionDate: 9 } }),
  coded('EXECUTION_DATE_INVALID', unknown, 'It is missing', {
    status: 400,
    sent: { requestedExecutionDate: 9 },
  }),
  coded('EXECUTION_DATE_INVALID', unknown, 'A day is required', {
    status: 400,
    sent: { requestedExecutionDate: 9 },
  }),
  coded('EXECUTION_DATE_INVALID', proven, 'It is missing', { status: 400, bank: SAME_ANSWER }),
  coded('EXECUTION_DATE_INVALID', proven, 'No bank day', {
    status: 400,
    sent: { service: 'periodic-payments' },
  }),
  coded('EXECUTION_DATE_INVALID', unknown, 'No bank day', {
    status: 400,
    sent: { service: 'periodic-payments', startDate: 1 },
  }),
  coded('EXECUTION_DATE_INVALID', unknown, 'No bank day', {
    status: 400,
    sent: { service: 'periodic-payments', startDate: 9, with: { endDate: '2026-11-28' } },
  }),
  coded('EXECUTION_DATE_INVALID', unknown, 'No bank day', {
    status: 400,
    sent: { with: { requestedExecutionDate: 'soon' } },
  }),
];

const listed: readonly Row[] = [
  ...['PAYMENT_FAILED', 'RESOURCE_UNKNOWN', 'X', 'constructor'].map((code) =>
    coded(code, proven, 'No', { bank: { payments: { refusals: [{ code }] } } }),
  ),
  ...['A0003', 'A0004', 'A0008', 'A0016', 'A0020', 'A0031'].map(
    (code): Row => ({
      name: `CBI Globe says ${code}`,
      status: 400,
      body: {
        errorManagement: { errorCode: `PSD2_01.000.${code}\t`, errorDescription: 'Wrong header' },
        ...errors(error('400', 'Wrong header', '/v1/payments/sepa-credit-transfers')),
      },
      bank: { payments: { refusals: [{ code }] } },
      says: proven,
    }),
  ),
  {
    name: 'the error of CBI Globe alone',
    status: 400,
    body: { errorManagement: { errorCode: 'PSD2_01.000.A0003' } },
    bank: { payments: { refusals: [{ code: 'A0003' }] } },
    says: proven,
  },
  {
    name: 'the error of CBI Globe with more',
    status: 400,
    body: { errorManagement: { errorCode: 'PSD2_01.000.A0003', paymentId: '1' } },
    bank: { payments: { refusals: [{ code: 'A0003' }] } },
    says: unknown,
  },
  {
    name: 'another error of CBI Globe',
    status: 400,
    body: { errorManagement: { errorCode: 'PSD2_01.000.A0005' } },
    bank: { payments: { refusals: [{ code: 'A0003' }] } },
    says: unknown,
  },
  {
    name: 'the error of CBI Globe is no text',
    status: 400,
    body: { errorManagement: 'PSD2_01.000.A0003' },
    bank: NEVER,
    says: unknown,
  },
  {
    name: 'another error of CBI Globe beside one of the table',
    status: 403,
    body: { ...errors(error('PRODUCT_INVALID')), errorManagement: { errorCode: 'PSD2_01.000.A0005' } },
    says: unknown,
  },
  {
    name: 'a listed code, whole',
    status: 400,
    body: errors(error('MY.OWN')),
    bank: { payments: { refusals: [{ code: 'MY.OWN' }] } },
    says: proven,
  },
  {
    name: 'a listed code is not the middle of one',
    status: 400,
    body: errors(error('MY.OWN.CODE')),
    bank: { payments: { refusals: [{ code: 'OWN' }, { code: 'OWN.CODE' }, { code: 'MY' }] } },
    says: unknown,
  },
  {
    name: 'a listed code with its text',
    status: 400,
    body: errors(error('OWN', ' Wrong   form ')),
    bank: { payments: { refusals: [{ code: 'OWN', text: 'Wrong form' }] } },
    says: proven,
  },
  {
    name: 'a listed code with more text',
    status: 400,
    body: errors(error('OWN', 'Wrong form of all')),
    bank: { payments: { refusals: [{ code: 'OWN', text: 'Wrong form' }] } },
    says: unknown,
  },
  {
    name: 'a listed code without its text',
    status: 400,
    body: errors(error('OWN')),
    bank: { payments: { refusals: [{ code: 'OWN', text: 'Wrong form' }] } },
    says: unknown,
  },
  {
    name: 'a listed text with another code',
    status: 400,
    body: errors(error('OTHERS', 'Wrong form')),
    bank: { payments: { refusals: [{ code: 'OWN', text: 'Wrong form' }] } },
    says: unknown,
  },
  {
    name: 'a listed sentence in another language',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'Účet neexistuje', 'creditorAccount')),
    bank: { payments: { refusals: [{ code: 'FORMAT_ERROR', text: 'Účet neexistuje' }] } },
    says: proven,
  },
  {
    name: 'a listed sentence of a problem',
    status: 400,
    body: { title: 'No', code: 'FORMAT_ERROR', detail: 'Wrong form' },
    bank: { payments: { refusals: [{ code: 'FORMAT_ERROR', text: 'Wrong form' }] } },
    says: proven,
  },
  {
    name: 'a listed sentence beside another error',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'Wrong form'), error('PAYMENT_FAILED')),
    bank: { payments: { refusals: [{ code: 'FORMAT_ERROR', text: 'Wrong form' }] } },
    says: unknown,
  },
  {
    name: 'the status as a listed code',
    status: 400,
    body: errors(error('400', 'Wrong form')),
    bank: { payments: { refusals: [{ code: '400', text: 'Wrong form' }] } },
    says: proven,
  },
  {
    name: 'a listed sentence with a status that refuses nothing',
    status: 422,
    body: errors(error('OWN')),
    bank: { payments: { refusals: [{ code: 'OWN' }] } },
    says: unknown,
  },
];

const FAILED = errors(error('PAYMENT_FAILED'));
const DECOUPLED = { ...NEVER, sca: { approaches: ['redirect', 'decoupled'] } } satisfies Row['bank'];
const body = (value: unknown) => Buffer.from(JSON.stringify(value));
/** What proves something once the same bank has said it twice. */
const LIMIT = errors(error('FORMAT_ERROR', "'instructedAmount' exceeds the limit"));
const REFUSED = { status: 400, body: body(LIMIT) };
const PAGE = { status: 502, body: Buffer.from('<html>') };

const cases: readonly Row[] = [
  { name: 'nobody can have authorised it', status: 400, body: FAILED, bank: NEVER, says: proven },
  { name: 'the bank asks by phone', status: 400, body: FAILED, bank: DECOUPLED, says: unknown },
  {
    name: 'the bank may execute it without SCA',
    status: 400,
    body: FAILED,
    bank: { payments: { executesWithoutSca: 'possible' } },
    says: unknown,
  },
  {
    name: 'an answer before had a link',
    status: 400,
    body: FAILED,
    before: [{ status: 500, body: body({ _links: { scaRedirect: { href: 'https://bank.example' } } }) }],
    bank: NEVER,
    says: unknown,
  },
  {
    name: 'an answer before had a link without an underscore',
    status: 400,
    body: FAILED,
    before: [{ status: 500, body: body({ links: { scaRedirect: { href: 'https://bank.example' } } }) }],
    bank: NEVER,
    says: unknown,
  },
  {
    name: 'an answer before was a redirect',
    status: 400,
    body: FAILED,
    before: [{ status: 302, headers: { location: 'https://bank.example/sca' }, body: Buffer.from('') }],
    bank: NEVER,
    says: unknown,
  },
  {
    name: 'an answer before had a link in a header',
    status: 400,
    body: FAILED,
    before: [{ status: 502, headers: { link: '</sca>' }, body: Buffer.from('') }],
    bank: NEVER,
    says: unknown,
  },
  {
    name: 'an answer before was a page',
    status: 400,
    body: FAILED,
    before: [{ status: 502, body: Buffer.from('<html>') }],
    bank: NEVER,
    says: proven,
  },
  {
    name: 'an answer before was a 500 of the bank',
    status: 400,
    body: FAILED,
    before: [{ status: 500, body: body(errors(error('INTERNAL_SERVER_ERROR'))) }],
    bank: NEVER,
    says: unknown,
  },
  {
    name: 'nobody can have authorised it, and the bank promises the same answer',
    status: 400,
    body: FAILED,
    before: [],
    bank: { payments: { ...NEVER.payments, ...SAME_ANSWER.payments } },
    says: proven,
  },
  {
    name: 'the bank promises the same answer, and has answered once',
    status: 400,
    body: FAILED,
    before: [],
    bank: SAME_ANSWER,
    says: askAgain,
  },
  {
    name: 'so of a field that is missing',
    status: 400,
    body: errors(error('FORMAT_ERROR', "'creditorAccount' must not be null")),
    before: [],
    bank: SAME_ANSWER,
    says: askAgain,
  },
  {
    name: 'what is proof by itself is not asked again',
    status: 400,
    body: errors(error('PRODUCT_INVALID')),
    before: [],
    bank: SAME_ANSWER,
    says: proven,
  },
  {
    name: 'a word of a duplicate is not asked again',
    status: 400,
    body: errors(error('PAYMENT_FAILED', 'already')),
    before: [],
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'a page is not asked again',
    status: 502,
    bytes: '<html>',
    before: [],
    bank: SAME_ANSWER,
    says: unknown,
  },
  // A gateway may have sent it before. What is lost among the answers may be that of a payment.
  ...[
    [PAGE, REFUSED],
    [REFUSED, PAGE],
    [REFUSED, { status: 502, body: Buffer.from('') }],
  ].map(
    (before, index): Row => ({
      name: `refused twice, and a third answer is nobody's: ${index}`,
      status: 400,
      body: LIMIT,
      before,
      bank: SAME_ANSWER,
      says: unknown,
    }),
  ),
  {
    name: 'refused three times',
    status: 400,
    body: LIMIT,
    before: [REFUSED, REFUSED],
    bank: SAME_ANSWER,
    says: proven,
  },
  {
    name: 'the second answer has the payment',
    status: 201,
    body: { paymentId: '8f2c' },
    before: [{ status: 400, body: body(FAILED) }],
    bank: SAME_ANSWER,
    says: 'began',
  },
  {
    name: 'the first answer had the payment',
    status: 400,
    body: FAILED,
    before: [{ status: 201, body: body({ paymentId: '8f2c' }) }],
    bank: SAME_ANSWER,
    says: 'began',
  },
  {
    name: 'the second answer has rejected it',
    status: 201,
    body: { transactionStatus: 'RJCT' },
    before: [{ status: 400, body: body(FAILED) }],
    bank: SAME_ANSWER,
    says: proven,
  },
  {
    name: 'the first answer was a success without an id',
    status: 400,
    body: errors(error('PRODUCT_INVALID')),
    before: [{ status: 201, body: body({}) }],
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'twice, with a state',
    status: 400,
    body: LIMIT,
    bank: SAME_ANSWER,
    says: proven,
  },
  {
    name: 'twice, of a field that was not sent',
    status: 400,
    body: errors(error('FORMAT_ERROR', "'endDate' is wrong")),
    bank: SAME_ANSWER,
    says: proven,
  },
  {
    name: 'twice, without a word of form',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'Bad Request', 'creditorAccount')),
    bank: SAME_ANSWER,
    says: proven,
  },
  {
    name: 'twice, without a text',
    status: 400,
    body: errors(error('FORMAT_ERROR', undefined, 'creditorAccount')),
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'twice, of no field',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'Bad Request')),
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'twice, of what is no field',
    status: 400,
    body: errors(error('FORMAT_ERROR', 'is wrong', 'Digest')),
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'twice, of a field and another code',
    status: 400,
    body: errors(error('FORMAT_ERROR', "'creditorName' is wrong"), error('PAYMENT_FAILED')),
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'twice, of a field and a summary',
    status: 400,
    body: errors(error('FORMAT_ERROR', "'endDate' is wrong"), error('FORMAT_ERROR', 'Bad Request')),
    bank: SAME_ANSWER,
    says: proven,
  },
  {
    name: 'twice, of a field and an error without a code',
    status: 400,
    body: errors(error('FORMAT_ERROR', "'endDate' is wrong"), error(null, 'Bad Request')),
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'twice the status alone',
    status: 400,
    body: errors(error('400')),
    bank: SAME_ANSWER,
    says: unknown,
  },
  ...[
    { body: body(errors(error('CERTIFICATE_EXPIRED', 'No'))) },
    { body: body(errors(error('SIGNATURE_MISSING'))) },
    { status: 403 },
    { status: 502, body: Buffer.from('<html>') },
    { headers: { 'x-request-id': '11111111-1111-4111-8111-111111111111' } },
  ].map(
    (first): Row => ({
      name: 'not twice the same',
      status: 401,
      body: errors(error('CERTIFICATE_EXPIRED')),
      before: [first],
      bank: SAME_ANSWER,
      says: unknown,
    }),
  ),
  ...(['path', 'text', 'code'] as const).map(
    (part): Row => ({
      name: `not twice the same ${part}`,
      status: 401,
      body: errors({ ...error('CERTIFICATE_EXPIRED', 'No'), path: 'a' }),
      before: [
        {
          body: body(
            errors({
              ...{ ...error('CERTIFICATE_EXPIRED', 'No'), path: 'a' },
              ...{ path: { path: 'b' }, text: { text: 'Yes' }, code: { code: 'SIGNATURE_MISSING' } }[part],
            }),
          ),
        },
      ],
      bank: SAME_ANSWER,
      says: unknown,
    }),
  ),
  {
    name: 'the bank does not promise it',
    status: 401,
    body: errors(error('CERTIFICATE_EXPIRED')),
    before: [{}],
    says: unknown,
  },
  {
    name: 'a page, then what is true of every delivery',
    status: 403,
    body: errors(error('PRODUCT_INVALID')),
    before: [{ status: 502, body: Buffer.from('<html>') }],
    says: proven,
  },
  {
    name: 'more on the first connection, then what is true of every delivery',
    status: 403,
    body: errors(error('PRODUCT_INVALID')),
    before: [{ more: true }],
    says: unknown,
  },
  {
    name: 'a refusal that proves nothing, then what is true of every delivery',
    status: 403,
    body: errors(error('PRODUCT_INVALID')),
    before: [{ status: 400, body: body(FAILED) }],
    bank: SAME_ANSWER,
    says: unknown,
  },
  {
    name: 'a duplicate, then what is true of every delivery',
    status: 403,
    body: errors(error('PRODUCT_INVALID')),
    before: [{ status: 409 }],
    bank: SAME_ANSWER,
    says: unknown,
  },
];

export const CODES: readonly Row[] = [...table, ...listed, ...cases];
