import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import { bankDay, untilWorkday } from '../../e2e/support/bank-days.ts';
import { cut, doneBut, fault, gets, lost, RESUME, type Row, rejected, type Step, saying } from '../row.ts';

// Payments that the customer commits (NextGenPSD2): what becomes of the initiation, and what the bank says afterwards.

const PAY = [
  ...['transfer', 'create', '--yes', '--json', '--from', 'IT89F0999001600000010482620'],
  ...[
    '--to',
    'DE89370400440532013000',
    '--name',
    'Ada Lovelace',
    '--amount',
    'AMOUNT',
    '--reference',
    'REFERENCE',
  ],
];
type Payments = Record<string, unknown>;
/** The bank may execute what it gets without the customer, or never does. */
const NEVER = { executesWithoutSca: 'never' };
const at = (payments: Payments, name: string, paid: Row['paid'], ...steps: Step[]): Row => ({
  ...{ name, bank: { file: { payments } }, steps, paid },
});
const initiated = (answer: Treatment, ends: string, more: Partial<Step> = {}): Step => ({
  ...{ words: PAY, meets: { initiate: [answer] }, ends, calls: 'initiate', ...more },
});
const again = (ends: string): Step => ({ words: PAY, ends });
const TAKEN: Step[] = [
  {
    words: RESUME,
    ends: expect.stringMatching(/^[79] /),
    says: '$ transfer resolve FLOW --not-executed',
    calls: '',
  },
  again('2 duplicate_reference'),
];

const FREE: [code: string, status: number, ends: string][] = [
  ['FORMAT_ERROR', 400, '7 bank_refused'],
  ['FORMAT_ERROR', 412, '7 bank_refused'],
  ['PARAMETER_NOT_SUPPORTED', 400, '7 bank_refused'],
  ['PARAMETER_NOT_CONSISTENT', 400, '7 bank_refused'],
  ['PRODUCT_INVALID', 403, '7 bank_refused'],
  ['PRODUCT_UNKNOWN', 404, '7 bank_refused'],
  ['SERVICE_INVALID', 405, '7 bank_refused'],
  ['CERTIFICATE_EXPIRED', 401, '3 certificate'],
  ['SIGNATURE_INVALID', 401, '3 config'],
  ['ROLE_INVALID', 401, '5 forbidden'],
  ['TOKEN_EXPIRED', 401, '4 not_logged_in'],
  ['CORPORATE_ID_INVALID', 401, '5 forbidden'],
  ['PSU_CREDENTIALS_INVALID', 401, '5 forbidden'],
  ['CONSENT_UNKNOWN', 403, '4 not_logged_in'],
  ['CONSENT_INVALID', 401, '4 not_logged_in'],
  ['EXECUTION_DATE_INVALID', 400, '7 bank_refused'],
  ['PAYMENT_FAILED', 400, '7 bank_refused'],
  ['FUNDS_NOT_AVAILABLE', 403, '7 bank_refused'],
  ['REQUESTED_FORMATS_INVALID', 406, '7 bank_refused'],
];
const free = [{}, NEVER].flatMap((payments) =>
  FREE.map(([code, status, ends]) =>
    at(
      payments,
      `the bank refuses a payment with ${code} (${status}): it has failed, and its reference is free`,
      1,
      initiated(rejected(status, code), `${ends} failed`),
      { words: RESUME, ends: '7 bank_refused failed', says: 'No money', calls: '' },
      again('0 executed'),
    ),
  ),
);

const said = (text: string) => rejected(400, 'FORMAT_ERROR', text);
const taken = (
  [
    ...[408, 409, 425, 429, 500, 503].map((status) => [`HTTP ${status}`, rejected(status, 'FORMAT_ERROR')]),
    ['STATUS_INVALID', rejected(400, 'STATUS_INVALID')],
    ['RESOURCE_BLOCKED', rejected(400, 'RESOURCE_BLOCKED')],
    ['an error that psd2 does not know', rejected(400, 'OWN_CODE')],
    [
      'one of two errors that may mean more',
      gets(400, {
        tppMessages: ['FORMAT_ERROR', 'STATUS_INVALID'].map((code) => ({ category: 'ERROR', code })),
      }),
    ],
    ['an error that is not of the standard', gets(400, { message: 'FORMAT_ERROR' })],
    [
      'the id of another request',
      gets(
        400,
        { tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR' }] },
        {
          'X-Request-ID': '7f0c1b7e-6c1d-4a5c-9f53-0f5a2f4c9a11',
        },
      ),
    ],
    ...[
      ...[
        'Duplicate request',
        'The payment already exists',
        'Auftrag bereits vorhanden',
        'Doppelte Einreichung',
      ],
      ...[
        'Ce paiement existe déjà',
        'Doublon',
        'Pagamento già inserito',
        'Pago duplicado',
        'El pago ya existe',
      ],
      ...['Plata există deja', 'Betaling bestaat reeds', 'Płatność już istnieje', 'Platba již existuje'],
      ...['Betalingen findes allerede', 'Betalningen finns redan'],
    ].map((text) => [text, said(text)]),
    ['STATUS_INVALID, 409', rejected(409, 'STATUS_INVALID')],
    ['RESOURCE_UNKNOWN, 403', rejected(403, 'RESOURCE_UNKNOWN')],
    ["a refusal that is not the bank's", gets(400, '<html>')],
    ['a bank that fails', gets(503)],
    ['an answer that is cut', fault('cut-in-the-middle')],
    ['no answer', cut],
    ['an answer that is lost', lost],
    ['a success without an id', doneBut(gets(201, { transactionStatus: 'RCVD' }))],
    ['an error in the form of OAuth, which gateways use', gets(400, { error: 'invalid_request' })],
  ] as [string, Treatment][]
).map(([what, answer]) =>
  at(
    {},
    `an initiation ends with ${what}: nobody knows, and its reference stays taken`,
    0,
    initiated(answer, expect.stringMatching(/^[79] (bank_refused|outcome_unknown) /), {
      says: '$ transfer resolve FLOW --not-executed',
    }),
    ...TAKEN,
  ),
);

const plain = [
  ...['The IBAN does not exist', 'Das Konto existiert nicht', 'Ce compte n’existe pas'],
  ...['Il conto non esiste', 'La cuenta no existe', 'Contul nu există'],
].map((text) =>
  at(
    {},
    `"${text}" speaks of nothing that the bank has already`,
    1,
    initiated(said(text), '7 bank_refused failed'),
    again('0 executed'),
  ),
);

/** Refusals of what the bank has not read. */
const unread = (
  [
    ['KID_MISSING', 401, '3 config created'],
    ['ACCESS_EXCEEDED', 429, '10 too_many_calls created'],
  ] as const
).flatMap(([code, status, ends]) => [
  at(
    NEVER,
    `the bank does not read the initiation (${code}), and nobody has a link: it can be sent again`,
    1,
    initiated(rejected(status, code), ends),
    { words: RESUME, ends: '0 executed' },
  ),
  at(
    {},
    `the bank does not read the initiation (${code}), but may have executed another delivery: it is never sent again`,
    0,
    initiated(rejected(status, code), '9 outcome_unknown unknown', {
      says: new RegExp(`^The bank turned the initiation away.*HTTP ${status}[^]*resolve FLOW --not-executed`),
    }),
    ...TAKEN,
  ),
]);

const status = (transactionStatus: string, more: object = {}) =>
  Array<Treatment>(8).fill(saying({ transactionStatus, ...more }));
/** The status of the payment, or of its authorisation, whatever it is at the bank. */
const is = (transactionStatus: string, more: object = {}) => ({ status: status(transactionStatus, more) });
const BRIEFLY = [...PAY, '--sca-timeout', '1'];

const IBAN_IS_WRONG = { category: 'ERROR', code: 'AC01', text: 'The IBAN is wrong' };
const reasons = (
  [
    ['nothing', {}, null],
    [
      'a field as in pain.002',
      { StsRsnInf: [{ Rsn: { Cd: 'AC04' }, AddtlInf: ['Closed', 'in May'] }] },
      'AC04: Closed in May',
    ],
    ['a code and a text', { reasonCode: 'AM04', reason: 'Not enough' }, 'AM04: Not enough'],
    ['a code of its own', { statusReasonInformation: { reason: { proprietary: 'X-17' } } }, 'X-17'],
    [
      'reasons at two levels, of which the lower counts',
      { stsRsnInf: { code: 'MS03' }, payment: { stsRsnInf: [{ Rsn: { Cd: 'AC01' } }] } },
      'AC01; MS03',
    ],
    ['a message', { tppMessages: [IBAN_IS_WRONG] }, 'AC01: The IBAN is wrong'],
    ['a text for the customer', { psuMessage: 'Ask your branch' }, 'Ask your branch'],
    [
      'all of these',
      { psuMessage: 'Ask your branch', tppMessages: [IBAN_IS_WRONG], rejectionReason: 'AC06' },
      'AC06; AC01: The IBAN is wrong; Ask your branch',
    ],
  ] as const
).flatMap(([what, reason, why]) => {
  const says = (sentence: string) => new RegExp(`^${sentence}${why === null ? '' : `: ${why}`}\n`);
  const prints = { executionStatusDescription: why };
  return [
    at({}, `the bank rejects a payment that was authorised, and says why by ${what}`, 1, {
      words: PAY,
      meets: is('RJCT', reason),
      ends: '8 payment_failed failed',
      ...{ says: says('The payment failed'), prints },
    }),
    at({}, `the bank rejects a payment that was refused, and says why by ${what}`, 0, {
      words: PAY,
      customer: 'refuses',
      meets: is('RJCT', reason),
      ends: '6 not_authorised rejected',
      says: says('The customer did not authorise the transfer'),
    }),
    at(
      {},
      `the bank rejects a payment at once, and says why by ${what}`,
      0,
      initiated(saying({ transactionStatus: 'RJCT', ...reason }), '8 payment_failed failed', {
        customer: 'stays away',
        ...{ says: says('The payment failed'), prints },
      }),
    ),
  ];
});

const statuses = [
  at({}, 'a payment is initiated, authorised and executed', 1, {
    words: PAY,
    ends: '0 executed',
    prints: { transactionStatus: 'ACSP', scaStatus: 'finalised' },
    calls: expect.stringMatching(/^initiate( sca-status status)+$/),
  }),
  at(
    {},
    'the customer refuses a payment: it has ended unpaid, and its reference is free',
    1,
    { words: PAY, customer: 'refuses', ends: '6 not_authorised rejected' },
    again('0 executed'),
  ),
  at({}, 'SCA has failed, but the bank has executed it', 0, {
    ...{ words: PAY, customer: 'refuses', meets: is('ACSC'), ends: '0 executed' },
  }),
  at({}, 'SCA has failed, and the status is in no list: it is shown, and decides nothing', 0, {
    words: PAY,
    customer: 'refuses',
    meets: { status: status('XXXX').slice(0, 2) },
    ends: '6 not_authorised rejected',
  }),
  at(
    {},
    'the customer refuses it, but somebody else has authorised it (PATC): nothing has ended, and its reference stays taken',
    0,
    { words: PAY, customer: 'refuses', meets: is('PATC'), ends: '6 partly_authorised authorizing' },
    again('2 duplicate_reference'),
    { words: RESUME, meets: is('ACSC'), ends: '0 executed' },
  ),
  ...(
    [
      ['PATC', '6 partly_authorised authorizing'],
      ['WXYZ', '9 outcome_unknown unknown'],
    ] as const
  ).map(([word, ends]) =>
    at(
      NEVER,
      `the customer has authorised it, and the bank says ${word}: it may be executed yet`,
      1,
      { words: BRIEFLY, meets: is(word), ends, prints: { transactionStatus: word, scaStatus: 'finalised' } },
      again('2 duplicate_reference'),
      { words: RESUME, ends: '0 executed' },
    ),
  ),
  ...['ACTC', 'ACCP', 'ACFC'].map((word) =>
    at(
      {},
      `the customer has authorised it, and the bank has checked it (${word}): it is ordered, at once`,
      1,
      { words: PAY, meets: is(word), ends: '0 ordered', prints: { transactionStatus: word } },
      again('2 duplicate_reference'),
      { words: RESUME, meets: is('ACSP'), ends: '0 executed' },
      { words: RESUME, meets: is('ACSC'), ends: '0 executed' },
      // Nothing is left to ask.
      { words: RESUME, ends: '0 executed', calls: '' },
    ),
  ),
  ...(
    [
      ['RJCT', '8 payment_failed failed'],
      ['CANC', '2 cancelled cancelled'],
    ] as const
  ).flatMap(([word, ends]) => [
    at({}, `the bank says ${word} while the customer decides: it has ended unpaid`, 0, {
      words: BRIEFLY,
      customer: 'stays away',
      meets: is(word),
      ends,
      prints: { transactionStatus: word },
    }),
    at(
      {},
      `the bank says ${word} of one that it had accepted: its reference is free`,
      2,
      { words: PAY, ends: '0 executed' },
      { words: RESUME, meets: is(word), ends },
      again('0 executed'),
    ),
    at(
      { futureDays: 30 },
      `the bank says ${word} on the day of one that was ordered: its reference is free`,
      2,
      { words: PAY, meets: is('ACTC'), ends: '0 ordered' },
      { words: RESUME, meets: is('ACTC'), ends: '0 ordered' },
      { words: RESUME, meets: is(word), ends },
      again('0 executed'),
    ),
  ]),
  ...(
    [
      ['RESOURCE_UNKNOWN', 404],
      ['FORMAT_ERROR', 400],
      ['SERVICE_BLOCKED', 403],
    ] as const
  ).map(([code, http]) => ({
    ...at(
      {},
      `the customer has the link, and the bank refuses to say its status (${code}): nobody knows`,
      1,
      ...[PAY, RESUME].map((words) => ({
        words,
        meets: { status: Array<Treatment>(8).fill(rejected(http, code)) },
        ends: '9 outcome_unknown authorizing',
        says: new RegExp(`\\(HTTP ${http}\\)[^]*\\$ transfer resume FLOW`),
      })),
    ),
    waits: true as const,
  })),
];

const REPEATS = { repeat: 'same-answer', repeatMinutes: 60 };
const repeated = [
  at(
    REPEATS,
    'the bank repeats its answer: resume sends the same again, and there is one payment',
    1,
    initiated(lost, '9 outcome_unknown unknown', { calls: expect.stringMatching(/initiate$/) }),
    { words: RESUME, ends: '0 executed', calls: expect.stringMatching(/initiate( sca-status status)+$/) },
  ),
  at(
    REPEATS,
    'a refusal of the repetition says nothing of the first attempt',
    1,
    initiated(lost, '9 outcome_unknown unknown', { calls: expect.stringMatching(/initiate$/) }),
    {
      words: RESUME,
      meets: { initiate: [rejected(400, 'FORMAT_ERROR')] },
      ends: '9 outcome_unknown unknown',
    },
    again('2 duplicate_reference'),
    { words: RESUME, ends: '0 executed' },
  ),
  at(
    REPEATS,
    'the bank does not read it, but repeats its answers: resume sends it again',
    1,
    initiated(rejected(429, 'ACCESS_EXCEEDED'), '9 outcome_unknown unknown', {
      calls: expect.stringMatching(/initiate$/),
    }),
    { words: RESUME, ends: '0 executed' },
  ),
];

/** Orders that the guards or the bank file do not take: nothing is sent. */
const guarded = (
  [
    [
      'a product',
      ['--type', 'target-2-payments'],
      'usage',
      /no product target-2-payments in payments\.products\.payments/,
    ],
    ['data of further steps', ['--verify-data', '{}'], 'usage', /has no --verify-data/],
    ['a date', ['--date', bankDay(30)], 'invalid_date', /takes no execution date/],
    ['a text that is too long', ['--description', 'x'.repeat(141)], 'invalid_text', /141 characters/],
    ['a text outside of SEPA', ['--description', 'Zażółć 漢'], 'invalid_text', /character/],
    ['an address without a town', ['--payee-country', 'DE', '--payee-street', 'Ring'], 'usage', /town/],
    ['an address without a country', ['--payee-town', 'Berlin'], 'usage', /country/],
    [
      'an address with a blank town',
      ['--payee-town', ' ', '--payee-country', 'DE'],
      'invalid_text',
      /town is empty/,
    ],
    [
      'an address in no country',
      ['--payee-town', 'Berlin', '--payee-country', 'ZZ'],
      'usage',
      /code of a country/,
    ],
    [
      'an amount above the limit',
      ['--amount', '12.50'],
      'invalid_amount',
      /12\.49/,
      { PSD2_MAX_AMOUNT: '12.49' },
    ],
    [
      'an instant transfer to a payee whom nobody has checked',
      ['--instant'],
      'confirmation_needed',
      /payee/i,
    ],
  ] as [string, string[], string, RegExp, Record<string, string>?][]
).map(([what, more, code, says, env = {}]) =>
  at({}, `${what}: nothing is sent`, 0, {
    words: [...PAY, ...more],
    ends: `2 ${code}`,
    ...{ env, says, calls: '' },
  }),
);

/** What becomes of a cancellation. The bank has executed the payment, unless it waits for its customer or its day. */
const CANCEL = ['transfer', 'cancel', 'FLOW', '--yes', '--json', '--sca-timeout', '1'];
const LATER = [...PAY, '--date', bankDay(untilWorkday() + 7)];
const TAKEN_BACK = gets(204);
const WAITS: Step = { words: BRIEFLY, customer: 'stays away', ends: '6 authorisation_timeout authorizing' };
const UNKNOWN = rejected(404, 'RESOURCE_UNKNOWN');
const FINALISED = Array<Treatment>(8).fill(saying({ scaStatus: 'finalised' }));
type Cancelled = [what: string, cancel: Treatment, status: Treatment[], ends: string, more?: Partial<Step>];
const cancels = (
  first: Step,
  cancel: Treatment,
  said: Treatment[],
  ends: string,
  more: Partial<Step> = {},
) => [
  first,
  { words: CANCEL, meets: { cancel: [cancel], status: said, 'sca-status': FINALISED }, ends, ...more },
];
const cancelled = [
  ...(
    [
      ['takes it, and says CANC', TAKEN_BACK, status('CANC'), '0 cancelled'],
      ['gives no answer, and says CANC', cut, status('CANC'), '0 cancelled'],
      ['answers without content, and says CANC', gets(202), status('CANC'), '0 cancelled'],
      [
        'takes it, but its answer alone ends nothing',
        TAKEN_BACK,
        status('ACSP'),
        '9 outcome_unknown executed',
      ],
      ['takes it, and does not know the payment then', TAKEN_BACK, [UNKNOWN, UNKNOWN], '0 cancelled'],
      [
        'takes it, and does not know the payment then (410)',
        TAKEN_BACK,
        Array(2).fill(rejected(410, 'RESOURCE_UNKNOWN')),
        '0 cancelled',
      ],
      ...(
        [
          ['is not its own', [gets(404), ...status('ACSP')]],
          ['does not come again', [UNKNOWN, ...status('ACSP')]],
          ['is another', Array(8).fill(rejected(405, 'SERVICE_INVALID'))],
        ] as [string, Treatment[]][]
      ).map(
        ([what, said]): Cancelled => [
          `takes it, and its refusal to say what became of it ${what}: nobody knows`,
          ...([TAKEN_BACK, said, '9 outcome_unknown executed', { says: '$ transfer resume FLOW' }] as const),
        ],
      ),
      [
        'does not know a payment whose cancellation it has not taken: nobody knows',
        ...([UNKNOWN, Array(8).fill(UNKNOWN), expect.stringMatching(/ executed$/)] as const),
      ],
      [
        'refuses it',
        ...([rejected(405, 'CANCELLATION_INVALID'), status('ACSP'), '7 bank_refused executed'] as const),
        { says: '$ transfer status FLOW' },
      ],
      [
        'wants the customer’s password for it (embedded SCA): nothing leads there again',
        gets(202, { _links: { updatePsuAuthentication: { href: '/v1/payments/x' } } }),
        ...([
          status('ACSP'),
          '11 bank_answer executed',
          { says: /embedded SCA(?![\s\S]*transfer cancel)/ },
        ] as const),
      ],
    ] as Cancelled[]
  ).map(([what, ...how]) =>
    at({}, `a cancellation: the bank ${what}`, 1, ...cancels({ words: PAY, ends: '0 executed' }, ...how)),
  ),
  ...(
    [
      ['takes it', TAKEN_BACK, {}],
      ['refuses it', rejected(405, 'CANCELLATION_INVALID'), { says: 'too late' }],
    ] as const
  ).map(([what, cancel, more]) =>
    at(
      {},
      `a cancellation: the bank ${what}, but has executed the payment meanwhile: the journal has that`,
      0,
      ...cancels(WAITS, cancel, status('ACSC'), '7 bank_refused executed', {
        ...{ ...more, prints: { transactionStatus: 'ACSC' } },
      }),
    ),
  ),
  at(
    { futureDays: 30 },
    'a cancellation: the customer authorises it, and the reference is free',
    0,
    { words: LATER, ends: '0 ordered' },
    { words: CANCEL, ends: '0 cancelled', prints: { transactionStatus: 'CANC' } },
    { words: LATER, ends: '0 ordered' },
  ),
  at(
    { futureDays: 30 },
    'a cancellation: the customer refuses to authorise it, and the payment stays as it is',
    0,
    { words: LATER, ends: '0 ordered' },
    { words: CANCEL, customer: 'refuses', ends: '6 not_authorised ordered', says: '$ transfer cancel FLOW' },
  ),
];

export const LINKED: Row[] = [
  ...[...free, ...taken, ...plain, ...unread],
  ...[...reasons, ...statuses, ...repeated, ...cancelled, ...guarded],
];
