import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import { bankDay, untilWorkday } from '../../e2e/support/bank-days.ts';
import {
  cut,
  doneBut,
  fault,
  gets,
  lost,
  ORDER,
  RESUME,
  type Row,
  rejected,
  type Step,
  saying,
  step,
} from '../row.ts';

// Payments that the customer commits (NextGenPSD2): what becomes of the initiation, and what the bank says afterwards.

const PAY = ORDER.with(5, 'IT89F0999001600000010482620');
type Payments = Record<string, unknown>;
/** The bank may execute what it gets without the customer, or never does. */
const NEVER = { executesWithoutSca: 'never' };
const at = (name: string, paid: Row['paid'], steps: Step[]): Row => ({
  ...{ name, bank: { file: { payments: {} } }, steps, paid },
});
/** The same at a bank with these fields. */
const atBankWith =
  (payments: Payments) =>
  (row: Row): Row => ({ ...row, bank: { file: { payments } } });
const initiated = (answer: Treatment, ends: string, more: Partial<Step> = {}): Step => ({
  ...{ words: PAY, meets: { initiate: [answer] }, ends, calls: 'initiate', ...more },
});
const again = (ends: string): Step => step(PAY, ends);
const TAKEN: Step[] = [
  step(RESUME, '9 outcome_unknown unknown', {
    says: '$ transfer resolve FLOW --not-executed',
    calls: '',
  }),
  again('2 duplicate_reference'),
];

/** Errors with a status, and how psd2 ends. These are true of every delivery. */
const ALWAYS: [ends: string, ...errors: string[]][] = [
  ['7 bank_refused', '400 PARAMETER_NOT_SUPPORTED', '403 PRODUCT_INVALID', '404 PRODUCT_UNKNOWN'],
  ['7 bank_refused', '405 SERVICE_INVALID'],
  ['3 certificate', '401 CERTIFICATE_INVALID'],
  ['5 forbidden', '401 ROLE_INVALID', '401 CORPORATE_ID_INVALID'],
];
/** Another delivery may have begun a payment. */
const ONCE: typeof ALWAYS = [
  ['7 bank_refused', '400 FORMAT_ERROR', '400 PARAMETER_NOT_CONSISTENT', '400 EXECUTION_DATE_INVALID'],
  ['7 bank_refused', '400 PAYMENT_FAILED', '403 FUNDS_NOT_AVAILABLE', '406 REQUESTED_FORMATS_INVALID'],
  ['3 certificate', '401 CERTIFICATE_EXPIRED'],
  ['3 config', '401 SIGNATURE_INVALID', '401 KID_MISSING'],
  ['5 forbidden', '401 PSU_CREDENTIALS_INVALID'],
  ['4 not_logged_in', '401 TOKEN_EXPIRED', '403 CONSENT_UNKNOWN', '401 CONSENT_INVALID'],
];
const refusals = (table: typeof ALWAYS, row: (status: number, code: string, ends: string) => Row) =>
  table.flatMap(([ends, ...errors]) =>
    errors.map((error) => {
      const [status, code = ''] = error.split(' ');
      return row(Number(status), code, ends);
    }),
  );
const freesIt = (status: number, code: string, ends: string): Row =>
  at(`the bank refuses a payment with ${code} (${status}): it has failed, and its reference is free`, 1, [
    initiated(rejected(status, code), `${ends} failed`),
    step(RESUME, '7 bank_refused failed', { says: 'No money', calls: '' }),
    again('0 executed'),
  ]);
const provesNothing = (status: number, code: string): Row =>
  at(`the bank refuses a payment with ${code} (${status}): nobody knows, and its reference stays taken`, 0, [
    initiated(rejected(status, code), '9 outcome_unknown unknown', {
      says: new RegExp(`in spite of its answer.*HTTP ${status}[^]*resolve FLOW --not-executed`),
    }),
    ...TAKEN,
  ]);
const free = [
  ...refusals(ALWAYS, freesIt),
  ...refusals([...ALWAYS, ...ONCE], freesIt).map(atBankWith(NEVER)),
  ...refusals(ONCE, provesNothing),
];

const errors = (...codes: string[]) => ({ tppMessages: codes.map((code) => ({ category: 'ERROR', code })) });
const OTHER_REQUEST = { 'X-Request-ID': '7f0c1b7e-6c1d-4a5c-9f53-0f5a2f4c9a11' };
const said = (text: string) => rejected(400, 'FORMAT_ERROR', text);
const taken = (
  [
    ...[408, 409, 425, 429, 500, 503].map((status) => [`HTTP ${status}`, rejected(status, 'FORMAT_ERROR')]),
    ['STATUS_INVALID', rejected(400, 'STATUS_INVALID')],
    ['RESOURCE_BLOCKED', rejected(400, 'RESOURCE_BLOCKED')],
    ['an error that psd2 does not know', rejected(400, 'OWN_CODE')],
    ['one of two errors that may mean more', gets(400, errors('FORMAT_ERROR', 'STATUS_INVALID'))],
    ['an error that is not of the standard', gets(400, { message: 'FORMAT_ERROR' })],
    ['the id of another request', gets(400, errors('FORMAT_ERROR'), OTHER_REQUEST)],
    ...[
      ...['Duplicate request', 'The payment already exists', 'Auftrag bereits vorhanden'],
      ...['Doppelte Einreichung', 'Ce paiement existe déjà', 'Doublon', 'Pagamento già inserito'],
      ...['Pago duplicado', 'El pago ya existe', 'Plata există deja', 'Betaling bestaat reeds'],
      ...['Płatność już istnieje', 'Platba již existuje', 'Betalingen findes allerede'],
      ...['Betalningen finns redan', 'X-Request-ID has been used before', 'Reference must be unique'],
      ...['not unique endToEndIdentification', 'Referenz nicht eindeutig', 'Referencia no es única'],
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
  at(`an initiation ends with ${what}: nobody knows, and its reference stays taken`, 0, [
    initiated(answer, '9 outcome_unknown unknown', {
      says: '$ transfer resolve FLOW --not-executed',
    }),
    ...TAKEN,
  ]),
);

const plain = [
  ...['The IBAN does not exist', 'Das Konto existiert nicht', 'Ce compte n’existe pas'],
  ...['Il conto non esiste', 'La cuenta no existe', 'Contul nu există'],
].map((text) =>
  at(`"${text}" speaks of nothing that the bank has already`, 1, [
    initiated(said(text), '7 bank_refused failed'),
    again('0 executed'),
  ]),
);

/** Nobody can have authorised what the bank did not take, so psd2 may send it again. */
const sentAgain = [429, 412].map((status) =>
  at(`the bank refuses the initiation with ${status}, and nobody has a link: it can be sent again`, 1, [
    initiated(rejected(status, 'FORMAT_ERROR'), '9 outcome_unknown unknown'),
    step(RESUME, '0 executed'),
  ]),
);

const status = (transactionStatus: string, more: object = {}) =>
  Array<Treatment>(8).fill(saying({ transactionStatus, ...more }));
/** The status of the payment, or of its authorisation, whatever it is at the bank. */
const is = (transactionStatus: string, more: object = {}) => ({ status: status(transactionStatus, more) });
const BRIEFLY = [...PAY, '--sca-timeout', '1'];

const IBAN_IS_WRONG = { category: 'ERROR', code: 'AC01', text: 'The IBAN is wrong' };
const CLOSED = { StsRsnInf: [{ Rsn: { Cd: 'AC04' }, AddtlInf: ['Closed', 'in May'] }] };
const TWO_LEVELS = { stsRsnInf: { code: 'MS03' }, payment: { stsRsnInf: [{ Rsn: { Cd: 'AC01' } }] } };
const ALL = { psuMessage: 'Ask your branch', tppMessages: [IBAN_IS_WRONG], rejectionReason: 'AC06' };
const reasons = (
  [
    ['nothing', {}, null],
    ['a field as in pain.002', CLOSED, 'AC04: Closed in May'],
    ['a code and a text', { reasonCode: 'AM04', reason: 'Not enough' }, 'AM04: Not enough'],
    ['a code of its own', { statusReasonInformation: { reason: { proprietary: 'X-17' } } }, 'X-17'],
    ['reasons at two levels, of which the lower counts', TWO_LEVELS, 'AC01; MS03'],
    ['a message', { tppMessages: [IBAN_IS_WRONG] }, 'AC01: The IBAN is wrong'],
    ['a text for the customer', { psuMessage: 'Ask your branch' }, 'Ask your branch'],
    ['all of these', ALL, 'AC06; AC01: The IBAN is wrong; Ask your branch'],
  ] as const
).flatMap(([what, reason, why]) => {
  const says = (sentence: string) => new RegExp(`^${sentence}${why === null ? '' : `: ${why}`}\n`);
  const failed = { says: says('The payment failed'), prints: { executionStatusDescription: why } };
  return [
    at(`the bank rejects a payment that was authorised, and says why by ${what}`, 1, [
      step(PAY, '8 payment_failed failed', { meets: is('RJCT', reason), ...failed }),
    ]),
    at(`the bank rejects a payment that was refused, and says why by ${what}`, 0, [
      step(PAY, '6 not_authorised rejected', {
        customer: 'refuses',
        meets: is('RJCT', reason),
        says: says('The customer did not authorise the transfer'),
      }),
    ]),
    at(`the bank rejects a payment at once, and says why by ${what}`, 0, [
      initiated(saying({ transactionStatus: 'RJCT', ...reason }), '8 payment_failed failed', {
        customer: 'stays away',
        ...failed,
      }),
    ]),
  ];
});

const takingLaterDays = atBankWith({
  futureDays: 30,
  products: { 'periodic-payments': ['sepa-credit-transfers'] },
});
const statuses = [
  at('a payment is initiated, authorised and executed', 1, [
    step(PAY, '0 executed', {
      prints: { transactionStatus: 'ACSP', scaStatus: 'finalised' },
      calls: expect.stringMatching(/^initiate( sca-status status)+$/),
    }),
  ]),
  at('the customer refuses a payment: it has ended unpaid, and its reference is free', 1, [
    step(PAY, '6 not_authorised rejected', { customer: 'refuses' }),
    again('0 executed'),
  ]),
  at('SCA has failed, but the bank has executed it', 0, [
    step(PAY, '0 executed', { customer: 'refuses', meets: is('ACSC') }),
  ]),
  at('SCA has failed, and the status is in no list: it is shown, and decides nothing', 0, [
    step(PAY, '6 not_authorised rejected', {
      customer: 'refuses',
      meets: { status: status('XXXX').slice(0, 2) },
    }),
  ]),
  at(
    'the customer refuses it, but somebody else has authorised it (PATC): nothing has ended, and its reference stays taken',
    0,
    [
      step(PAY, '13 still_open authorizing', { customer: 'refuses', meets: is('PATC') }),
      again('2 duplicate_reference'),
      step(RESUME, '0 executed', { meets: is('ACSC') }),
    ],
  ),
  ...(
    [
      ['PATC', '13 still_open authorizing'],
      ['WXYZ', '9 outcome_unknown unknown'],
    ] as const
  )
    .map(([word, ends]) =>
      at(`the customer has authorised it, and the bank says ${word}: it may be executed yet`, 1, [
        step(BRIEFLY, ends, { meets: is(word), prints: { transactionStatus: word, scaStatus: 'finalised' } }),
        again('2 duplicate_reference'),
        step(RESUME, '0 executed'),
      ]),
    )
    .map(atBankWith(NEVER)),
  ...['ACTC', 'ACCP', 'ACFC'].map((word) =>
    at(`the customer has authorised it, and the bank has checked it (${word}): it is ordered, at once`, 1, [
      step(PAY, '0 ordered', { meets: is(word), prints: { transactionStatus: word } }),
      again('2 duplicate_reference'),
      step(RESUME, '0 executed', { meets: is('ACSP') }),
      step(RESUME, '0 executed', { meets: is('ACSC') }),
      // Nothing is left to ask.
      step(RESUME, '0 executed', { calls: '' }),
    ]),
  ),
  ...(
    [
      ['RJCT', '8 payment_failed failed'],
      ['CANC', '2 cancelled cancelled'],
    ] as const
  ).flatMap(([word, ends]) => [
    at(`the bank says ${word} while the customer decides: it has ended unpaid`, 0, [
      step(BRIEFLY, ends, { customer: 'stays away', meets: is(word), prints: { transactionStatus: word } }),
    ]),
    at(`the bank says ${word} of one that it had accepted: its reference is free`, 2, [
      step(PAY, '0 executed'),
      step(RESUME, ends, { meets: is(word) }),
      again('0 executed'),
    ]),
    takingLaterDays(
      at(`the bank says ${word} on the day of one that was ordered: its reference is free`, 2, [
        step(PAY, '0 ordered', { meets: is('ACTC') }),
        step(RESUME, '0 ordered', { meets: is('ACTC') }),
        step(RESUME, ends, { meets: is(word) }),
        again('0 executed'),
      ]),
    ),
  ]),
  at('the bank says RJCT of one that it had accepted: its status is a failure each time', 1, [
    step(PAY, '0 executed'),
    ...[is('RJCT'), is('RJCT'), { status: [gets(404)] }].map((meets) =>
      step(['transfer', 'status', 'FLOW', '--json'], '8 payment_failed failed', { meets }),
    ),
    // Who reads "no money moved" pays again.
    step(['transfer', 'status', 'FLOW', '--json'], '0 failed', { meets: is('ACSC') }),
  ]),
  at('the bank says CANC of one that it had accepted, unasked: its status says so each time', 1, [
    step(PAY, '0 executed'),
    ...[is('CANC'), is('CANC')].map((meets) =>
      step(['transfer', 'status', 'FLOW', '--json'], '2 cancelled cancelled', { meets }),
    ),
  ]),
  ...(
    [
      ['RESOURCE_UNKNOWN', 404],
      ['FORMAT_ERROR', 400],
      ['SERVICE_BLOCKED', 403],
      ['TOKEN_EXPIRED', 401],
      ['CERTIFICATE_EXPIRED', 401],
      ['nothing', 401, gets(401)],
      ['no code', 401, gets(401, { message: 'No key' })],
    ] as const
  ).map(([code, http, says = rejected(http, code)]) => ({
    ...at(
      `the customer has the link, and the bank refuses to say its status (${code}): nobody knows`,
      1,
      [PAY, RESUME].map((words) =>
        step(words, '9 outcome_unknown authorizing', {
          meets: { status: Array<Treatment>(8).fill(says), 'sca-status': Array<Treatment>(8).fill(says) },
          says: new RegExp(`\\(HTTP ${http}\\)[^]*\\$ transfer resume FLOW`),
        }),
      ),
    ),
    waits: true as const,
  })),
];

const UNANSWERED = { calls: expect.stringMatching(/initiate$/) };
/** An initiation that psd2 sends twice in one run. */
const twice = (answers: readonly Treatment[], ends: string): Step =>
  step(PAY, ends, { meets: { initiate: answers }, calls: expect.stringMatching(/initiate initiate/) });
const refusing = (error: string): Treatment => {
  const [status = '', code = ''] = error.split(' ');
  return rejected(Number(status), code);
};
const repeated = [
  at('the bank repeats its answer: resume sends the same again, and there is one payment', 1, [
    initiated(lost, '9 outcome_unknown unknown', UNANSWERED),
    step(RESUME, '0 executed', { calls: expect.stringMatching(/initiate( sca-status status)+$/) }),
  ]),
  at('a refusal of the repetition says nothing of the first attempt', 1, [
    initiated(lost, '9 outcome_unknown unknown', UNANSWERED),
    step(RESUME, '9 outcome_unknown unknown', {
      meets: { initiate: [rejected(400, 'FORMAT_ERROR'), rejected(400, 'FORMAT_ERROR')] },
    }),
    again('2 duplicate_reference'),
    step(RESUME, '0 executed'),
  ]),
  at('the bank does not read it, but repeats its answers: resume sends it again', 1, [
    initiated(rejected(429, 'ACCESS_EXCEEDED'), '9 outcome_unknown unknown', UNANSWERED),
    step(RESUME, '0 executed'),
  ]),
  ...[
    ['401 CERTIFICATE_EXPIRED', '3 certificate failed'],
    ['401 KID_MISSING', '3 config failed'],
    ['400 EXECUTION_DATE_INVALID', '7 bank_refused failed'],
  ].map(([error = '', ends = '']) =>
    at(`the bank refuses it twice with ${error}, which nobody but the bank says: its reference is free`, 1, [
      twice([refusing(error), refusing(error)], ends),
      again('0 executed'),
    ]),
  ),
  ...(
    [
      [
        'refuses it twice with PAYMENT_FAILED, as a bank that has stored it',
        '400 PAYMENT_FAILED',
        '400 PAYMENT_FAILED',
      ],
      [
        'refuses it twice with FORMAT_ERROR, as a gateway may that emptied both',
        '400 FORMAT_ERROR',
        '400 FORMAT_ERROR',
      ],
      ['refuses it in two ways', '401 CERTIFICATE_EXPIRED', '401 KID_MISSING'],
    ] as const
  ).map(([what, one, other]) =>
    at(`the bank ${what}: nobody knows, and its reference stays taken`, 0, [
      twice([refusing(one), refusing(other)], '9 outcome_unknown unknown'),
      again('2 duplicate_reference'),
    ]),
  ),
  at('the bank refuses what it has begun: asked again, it gives its own answer', 1, [
    twice([doneBut(refusing('401 CERTIFICATE_EXPIRED'))], '0 executed'),
    again('2 duplicate_reference'),
  ]),
  at('the bank refuses it, and does not answer when asked again: nobody knows', 1, [
    twice([refusing('401 CERTIFICATE_EXPIRED'), lost], '9 outcome_unknown unknown'),
    step(RESUME, '0 executed'),
  ]),
].map(atBankWith({ repeat: 'same-answer', repeatMinutes: 60 }));

const NO_PRODUCT = /no product target-2-payments in payments\.products\.payments/;
const BERLIN = ['--payee-town', 'Berlin'];
const BLANK_TOWN = ['--payee-town', ' ', '--payee-country', 'DE'];
const LIMIT = { PSD2_MAX_AMOUNT: '12.49' };
/** Orders that the guards or the bank file do not take: nothing is sent. */
const GUARDED: [what: string, more: string[], code: string, says: RegExp, env?: Step['env']][] = [
  ['a product', ['--type', 'target-2-payments'], 'usage', NO_PRODUCT],
  ['data of further steps', ['--verify-data', '{}'], 'usage', /has no --verify-data/],
  ['a date', ['--date', bankDay(30)], 'invalid_date', /takes no execution date/],
  ['a text that is too long', ['--description', 'x'.repeat(141)], 'invalid_text', /141 characters/],
  ['a text outside of SEPA', ['--description', 'Zażółć 漢'], 'invalid_text', /character/],
  ['an address without a town', ['--payee-country', 'DE', '--payee-street', 'Ring'], 'usage', /town/],
  ['an address without a country', BERLIN, 'usage', /country/],
  ['an address with a blank town', BLANK_TOWN, 'invalid_text', /town is empty/],
  ['an address in no country', [...BERLIN, '--payee-country', 'ZZ'], 'usage', /code of a country/],
  ['an amount above the limit', ['--amount', '12.50'], 'invalid_amount', /12\.49/, LIMIT],
  ['an instant transfer to a payee whom nobody has checked', ['--instant'], 'confirmation_needed', /payee/i],
];
const guarded = GUARDED.map(([what, more, code, says, env = {}]) =>
  at(`${what}: nothing is sent`, 0, [step([...PAY, ...more], `2 ${code}`, { env, says, calls: '' })]),
);

/** What becomes of a cancellation. The bank has executed the payment, unless it waits for its customer or its day. */
const CANCEL = ['transfer', 'cancel', 'FLOW', '--yes', '--json', '--sca-timeout', '1'];
const LATER = [...PAY, '--date', bankDay(untilWorkday() + 7)];
const STANDING = [
  ...['transfer', 'standing', ...PAY.slice(2)],
  ...['--frequency', 'Monthly', '--start', bankDay(untilWorkday() + 7)],
];
const TAKEN_BACK = gets(204);
const WAITS: Step = step(BRIEFLY, '13 still_open authorizing', { customer: 'stays away' });
const UNKNOWN = rejected(404, 'RESOURCE_UNKNOWN');
const FINALISED = Array<Treatment>(8).fill(saying({ scaStatus: 'finalised' }));
type Cancels = [cancel: Treatment, status: Treatment[], ends: string, more?: Partial<Step>];
type Cancelled = [what: string, ...Cancels];
const REFUSED = rejected(405, 'CANCELLATION_INVALID');
const EMBEDDED = gets(202, {
  _links: { startAuthorisationWithPsuAuthentication: { href: '/v1/payments/x' } },
});
/** Its refusal to say what became of the payment. */
const SILENT: [what: string, said: Treatment[]][] = [
  ['is not its own', [gets(404), ...status('ACSP')]],
  ['does not come again', [UNKNOWN, ...status('ACSP')]],
  ['is another', Array(8).fill(rejected(405, 'SERVICE_INVALID'))],
];
/** The payment may be executed, although the bank does not know it with this certificate. */
const MAY_BE_EXECUTED =
  /does not know the transfer FLOW with this certificate[\s\S]*may execute it[\s\S]*\$ transfer status FLOW/;
const PAGE = '<html><title>Soon back</title></html>';
const NO_SUCH_PAGE = Array<Treatment>(8).fill(gets(404, PAGE));
const GONE = Array(2).fill(rejected(410, 'RESOURCE_UNKNOWN'));
const CANCELLATIONS: Cancelled[] = [
  ['takes it, and says CANC', TAKEN_BACK, status('CANC'), '0 cancelled'],
  ['gives no answer, and says CANC', cut, status('CANC'), '0 cancelled'],
  ['answers without content, and says CANC', gets(202), status('CANC'), '0 cancelled'],
  ['takes it, but its answer alone ends nothing', TAKEN_BACK, status('ACSP'), '9 outcome_unknown executed'],
  ['takes it, and does not know the payment then', TAKEN_BACK, [UNKNOWN, UNKNOWN], '0 cancelled'],
  ['takes it, and does not know the payment then (410)', TAKEN_BACK, GONE, '0 cancelled'],
  ...SILENT.map(
    ([what, said]): Cancelled => [
      `takes it, and its refusal to say what became of it ${what}: nobody knows`,
      ...([TAKEN_BACK, said, '9 outcome_unknown executed', { says: '$ transfer resume FLOW' }] as const),
    ],
  ),
  [
    'does not know a payment whose cancellation it has not taken: nobody knows',
    ...([UNKNOWN, Array(8).fill(UNKNOWN), '9 outcome_unknown executed'] as const),
    { says: MAY_BE_EXECUTED },
  ],
  [
    'answers with a page, and pages do not know the payment then: nobody knows',
    ...([gets(200, PAGE), NO_SUCH_PAGE, '11 bank_answer executed'] as const),
  ],
  ...(
    [
      ['answers with a page that has JSON', gets(200, {}, { 'content-type': 'text/html' })],
      ['says that it executes the payment', gets(200, { transactionStatus: 'ACSC' })],
      ['is hidden by a gateway', gets(200, { status: 200, message: 'accepted' })],
    ] as const
  ).map(([what, answer]): Cancelled => {
    const says = `${what}, and does not know the payment then: nobody knows`;
    return [says, answer, Array(8).fill(UNKNOWN), '11 bank_answer executed'];
  }),
  [
    'takes it, and pages do not know the payment then',
    TAKEN_BACK,
    NO_SUCH_PAGE,
    '9 outcome_unknown executed',
  ],
  [
    'is silent behind a page that does not know it',
    gets(404, PAGE),
    NO_SUCH_PAGE,
    '9 outcome_unknown executed',
  ],
  [
    'is silent behind a redirect',
    gets(302, '', { location: 'https://x.example' }),
    NO_SUCH_PAGE,
    '11 bank_answer executed',
  ],
  ['refuses it', REFUSED, status('ACSP'), '7 bank_refused executed', { says: '$ transfer status FLOW' }],
  [
    'wants the customer’s password for it (embedded SCA): nothing leads there again',
    ...([EMBEDDED, status('ACSP'), '2 usage executed'] as const),
    { says: /embedded SCA(?![\s\S]*transfer cancel)/ },
  ],
];
const cancels = (first: Step, ...[cancel, said, ends, more]: Cancels) => [
  first,
  step(CANCEL, ends, { meets: { cancel: [cancel], status: said, 'sca-status': FINALISED }, ...more }),
];
const cancelled = [
  ...CANCELLATIONS.map(([what, ...how]) =>
    at(`a cancellation: the bank ${what}`, 1, cancels(step(PAY, '0 executed'), ...how)),
  ),
  ...(
    [
      ['takes it', TAKEN_BACK, {}],
      ['refuses it', REFUSED, { says: 'too late' }],
    ] as const
  ).map(([what, cancel, more]) =>
    at(
      `a cancellation: the bank ${what}, but has executed the payment meanwhile: the journal has that`,
      0,
      cancels(WAITS, cancel, status('ACSC'), '7 bank_refused executed', {
        ...{ ...more, prints: { transactionStatus: 'ACSC' } },
      }),
    ),
  ),
  ...[
    at('a cancellation: the customer authorises it, and the reference is free', 0, [
      step(LATER, '0 ordered'),
      step(CANCEL, '0 cancelled', { prints: { transactionStatus: 'CANC' } }),
      step(LATER, '0 ordered'),
    ]),
    at('a cancellation without content in its answer: the customer authorises it all the same', 0, [
      step(LATER, '0 ordered'),
      step(CANCEL, '0 cancelled', {
        meets: { cancel: [doneBut(gets(202))] },
        calls: expect.stringMatching(/^cancel sca-status status sca /),
      }),
    ]),
    at('the cancellation of a standing order meets a page, and then is taken: unknown is gone only then', 0, [
      step(STANDING, '0 ordered'),
      step(CANCEL, '9 outcome_unknown ordered', {
        meets: { cancel: [UNKNOWN], status: NO_SUCH_PAGE },
        says: MAY_BE_EXECUTED,
      }),
      step(CANCEL, '0 cancelled', { meets: { cancel: [TAKEN_BACK], status: [UNKNOWN, UNKNOWN] } }),
    ]),
    at('a payment that the bank does not know may be executed: nothing ends', 0, [
      step(LATER, '0 ordered'),
      step(['transfer', 'status', 'FLOW', '--json'], '9 outcome_unknown', {
        meets: { status: Array(8).fill(UNKNOWN) },
        says: MAY_BE_EXECUTED,
      }),
      step(['transfer', 'status', 'FLOW', '--json'], '0 ordered'),
    ]),
    at(
      'a cancellation that the bank has taken, and said so: what it does not know the next time is gone',
      0,
      [
        step(LATER, '0 ordered'),
        step(CANCEL, '9 outcome_unknown ordered', {
          meets: { cancel: [TAKEN_BACK], status: status('ACTC') },
          events: 'cancel-sent cancel-taken',
        }),
        step(CANCEL, '0 cancelled', { meets: { cancel: [UNKNOWN], status: [UNKNOWN, UNKNOWN] } }),
        step(LATER, '0 ordered'),
      ],
    ),
    at('a cancellation: the customer refuses to authorise it, and the payment stays as it is', 0, [
      step(LATER, '0 ordered'),
      step(CANCEL, '6 not_authorised ordered', { customer: 'refuses', says: '$ transfer cancel FLOW' }),
    ]),
  ].map(takingLaterDays),
];

/** The authorisation that psd2 knows has failed, and whether there is another one is asked. */
const hasFailed = (list: Treatment[]): Step =>
  step(BRIEFLY, '?', {
    customer: 'stays away',
    meets: {
      status: status('RCVD'),
      'sca-status': Array(20).fill(saying({ scaStatus: 'failed' })),
      authorisations: list,
    },
  });
const failedAlone = [
  ...[gets(404, PAGE), gets(403, PAGE), gets(404), gets(404, { httpCode: '404' })].map((list) =>
    at('the list of authorisations is not the bank’s: nobody knows whether there is another one', 0, [
      { ...hasFailed(Array(20).fill(list)), ends: expect.stringMatching(/ authorizing$/) },
    ]),
  ),
  ...[rejected(405, 'SERVICE_INVALID'), saying({ authorisationIds: [] })].map((list) =>
    at('the bank has no other authorisation, or no list of them: the customer has refused', 0, [
      { ...hasFailed(Array(20).fill(list)), ends: '6 not_authorised rejected' },
    ]),
  ),
];

export const LINKED: Row[] = [
  ...[...free, ...taken, ...[...plain, ...sentAgain].map(atBankWith(NEVER))],
  ...[...reasons, ...statuses, ...repeated, ...cancelled, ...failedAlone, ...guarded],
];
