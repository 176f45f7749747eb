import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import { changed, cut, gets, type Row, rejected, type Step, saying } from '../row.ts';

// Consents whose grant is the customer's SCA alone (NextGenPSD2).

const ASK = ['consent', 'request', '--json', '--customer', 'REFERENCE'];
const RESUME = ['consent', 'resume', 'FLOW', '--json'];
const STATUS = ['consent', 'status', 'FLOW', '--json'];
const at = (name: string, steps: Step[], more: Partial<Row> = {}): Row => ({
  ...{ name, bank: { file: { sca: { pollSeconds: 1 } } }, steps, paid: 0, ...more },
});
const is = (consentStatus: string, more: object = {}): Treatment => saying({ consentStatus, ...more });
const stays = (consentStatus: string) => Array<Treatment>(20).fill(is(consentStatus));
const sca = (scaStatus: string): Treatment => saying({ scaStatus });
/** What the bank says of the consent, and of its authorisation, one after the other. */
const hears = (consent: Treatment[], authorisation: Treatment[] = []) => ({
  meets: { consent, 'sca-status': authorisation },
});
const GRANTED: Step = { words: ASK, ends: '0 confirmed' };
const READS: Step = { words: ['accounts', 'list', '--json', '--customer', 'REFERENCE'], ends: '0' };
const READS_NOT: Step = { ...READS, ends: '4 not_logged_in' };
const UNDECIDED: Step = {
  ...{ words: [...ASK, '--sca-timeout', '1'], customer: 'stays away' },
  ...{ ends: '6 authorisation_timeout authorizing', says: '$ consent resume FLOW' },
};
const linking = (links: object, more: object = {}): Treatment =>
  changed((body) => ({ ...body, ...more, _links: links }));

const ENDS = [
  ['rejected', 'rejected', '6 not_authorised', 'The customer did not authorise the consent'],
  ['expired', 'expired', '6 authorisation_expired', 'The consent has expired\nRequest it again.'],
  [
    ...(['revokedByPsu', 'revoked', '6 not_authorised'] as const),
    'The customer has revoked the consent at the bank\nRequest it again.',
  ],
  ['terminatedByTpp', 'cancelled', '2 cancelled', 'was ended by psd2\nRequest it again.'],
] as const;

const decisions = [
  at(
    'a granted consent is kept for readings, with what the bank says of its terms',
    [
      {
        ...{ ...GRANTED, calls: 'request consent' },
        prints: { consentStatus: 'valid', recurring: true, frequencyPerDay: expect.any(Number) },
      },
      READS,
    ],
    { events: 'created request-sent requested sca-started sca-returned granted' },
  ),
  at('a consent that the bank gives no last day is granted', [
    {
      ...GRANTED,
      ...hears([is('valid', { validUntil: '9999-12-31' })]),
      prints: { validUntil: '9999-12-31' },
    },
  ]),
  ...ENDS.flatMap(([word, state, ends, says]) => [
    at(`a consent that the bank calls ${word} is ${state}`, [
      { words: ASK, ...hears(stays(word)), ends: `${ends} ${state}`, prints: { consentStatus: word } },
      READS_NOT,
    ]),
    at(`a granted consent that the bank calls ${word} is ${state}, and forgotten`, [
      GRANTED,
      ...['psd2 asks', 'psd2 asks again'].map(() => ({
        ...{ words: STATUS, ...hears(stays(word)), ends: `0 ${state}`, prints: { consentStatus: word } },
      })),
      { words: RESUME, ends: expect.stringMatching(new RegExp(` ${state}$`)), says, calls: '' },
      READS_NOT,
    ]),
  ]),
  at('a consent that the bank has rejected in its answer sends nobody to a page', [
    {
      words: ASK,
      meets: { request: [is('rejected')], consent: stays('rejected') },
      ends: '6 not_authorised rejected',
      tells: /^(?![\s\S]*Open this address)/,
    },
  ]),
  at('psd2 asks until the bank knows the decision, also if another person must authorise too', [
    {
      ...GRANTED,
      ...hears([is('received'), is('partiallyAuthorised')], [sca('finalised'), sca('finalised')]),
    },
  ]),
  at('the word of the bank is kept while the customer decides', [
    {
      ...{ ...UNDECIDED, ...hears(stays('partiallyAuthorised'), Array(20).fill(sca('finalised'))) },
      ends: '6 partly_authorised authorizing',
      says: /waits for another person \(partiallyAuthorised\)[\s\S]*\$ consent resume FLOW/,
      prints: { consentStatus: 'partiallyAuthorised' },
      // The customer comes back to another machine.
      env: { PSD2_REDIRECT_URI: 'https://tpp.example/callback' },
    },
  ]),
  at('a word that psd2 does not know ends a granted consent, and is kept', [
    GRANTED,
    {
      words: STATUS,
      ...hears(stays('suspended')),
      ends: '0 revoked',
      prints: { consentStatus: 'suspended' },
    },
  ]),
  at('if the authorisation has failed, so has the consent, whatever its own status still says', [
    {
      ...{ words: ASK, ...hears(stays('received'), Array(20).fill(sca('failed'))) },
      ...{ ends: '6 not_authorised rejected', prints: { consentStatus: 'received' } },
    },
  ]),
  ...(
    [
      ['the status of another one', hears([is('rejected'), is('received')])],
      ['the authorisation of another one', hears([is('received')], [sca('failed')])],
      [
        'another one, twice',
        hears([is('received'), is('expired'), is('received')], [sca('failed'), sca('started')]),
      ],
      [
        'without the X-Request-ID that the bank sends',
        hears([is('rejected'), gets(200, { consentStatus: 'rejected' })]),
      ],
    ] as const
  ).map(([what, meets]) =>
    at(`an end that is ${what} ends nothing: psd2 asks once more`, [{ ...GRANTED, ...meets }]),
  ),
  at('a bank that fails while the customer decides is asked again', [
    { ...GRANTED, ...hears([...Array(4).fill(gets(503)), gets(200, '<html>Soon back</html>')]) },
  ]),
  {
    ...at('the bank wants that psd2 starts the authorisation', [
      { ...GRANTED, calls: 'request sca consent' },
    ]),
    bank: { file: { sca: { start: 'explicit' } } },
  },
];

const PASSWORD = { updatePsuAuthentication: { href: '/v1/consents/c1/authorisations/a1' } };
const requests = [
  at(
    'the bank wants the password in psd2’s hands: psd2 ends the consent, and names nothing that leads there again',
    [
      {
        ...{ words: ASK, meets: { request: [linking(PASSWORD)] }, ends: '11 bank_answer cancelled' },
        ...{ calls: 'request cancel', says: /psd2 has ended the consent at the bank\.$/ },
        prints: { consentStatus: 'terminatedByTpp' },
      },
    ],
  ),
  at(
    'the bank wants the password in psd2’s hands, and does not end the consent: the command is named that does',
    [
      {
        ...{
          words: ASK,
          ends: '11 bank_answer cancelled',
          says: /embedded SCA[\s\S]*\$ consent delete FLOW$/,
        },
        meets: { request: [linking(PASSWORD)], cancel: [rejected(405, 'SERVICE_INVALID')] },
      },
    ],
  ),
  at('a refused request ends the consent', [
    { words: ASK, meets: { request: [rejected(400, 'FORMAT_ERROR')] }, ends: '7 bank_refused failed' },
  ]),
  at('a request without an answer is made again by the same flow', [
    { words: ASK, meets: { request: [cut] }, ends: '11 bank_unreachable created' },
    { ...GRANTED, words: RESUME },
    READS,
  ]),
];

const resumed = [
  at('the customer has decided after psd2 had gone', [
    {
      ...UNDECIDED,
      env: { PSD2_REDIRECT_URI: 'https://tpp.example/callback' },
      says: 'The bank calls it received. Continue with:\n$ consent resume FLOW',
    },
    { words: RESUME, ...hears([is('valid')]), ends: '0 confirmed', calls: 'consent' },
  ]),
  at('a page that is over is replaced by a new authorisation', [
    UNDECIDED,
    {
      ...{ words: RESUME, ...hears([is('received')], [sca('failed')]), ends: '0 confirmed' },
      calls: expect.stringContaining('consent sca-status sca consent'),
    },
  ]),
  at('a customer who has done everything is sent nowhere', [
    UNDECIDED,
    {
      ...{ words: RESUME, ...hears([is('received'), is('valid')], [sca('finalised')]), ends: '0 confirmed' },
      calls: 'consent sca-status consent',
      tells: /^(?![\s\S]*Open this address)/,
    },
  ]),
  at('a consent that was granted and then taken back is not kept', [
    UNDECIDED,
    { words: RESUME, ...hears(stays('revokedByPsu')), ends: '6 not_authorised revoked' },
    READS_NOT,
  ]),
  at(
    'a last day that the bank has moved is in the journal, once',
    [
      GRANTED,
      ...['psd2 asks', 'psd2 asks again'].map(() => ({
        words: STATUS,
        ...hears([is('valid', { validUntil: '2026-12-31' })]),
        ...{ ends: '0 confirmed', prints: { validUntil: '2026-12-31' } },
      })),
    ],
    { events: 'sca-returned granted granted' },
  ),
  at('a consent that was given up here stays unused, even if the customer grants it', [
    UNDECIDED,
    {
      words: ['consent', 'cancel', 'FLOW', '--yes', '--json'],
      ...{ ends: '0 cancelled', calls: '' },
      tells:
        'The customer can still grant it at the bank. psd2 does not use it. End it there with:\n  psd2 consent delete FLOW',
    },
    { words: STATUS, ...hears([is('valid')]), ends: '0 cancelled' },
    READS_NOT,
  ]),
  at('a consent is deleted at the bank, twice without harm', [
    GRANTED,
    ...['once', 'twice'].map(() => ({
      words: ['consent', 'delete', 'FLOW', '--json'],
      ...{ ends: '0 cancelled', prints: { consentStatus: 'terminatedByTpp' } },
    })),
    { words: STATUS, ends: '0 cancelled', prints: { consentStatus: 'terminatedByTpp' } },
    READS_NOT,
  ]),
  at('the customer refuses a consent', [
    {
      words: ASK,
      customer: 'refuses',
      ends: '6 not_authorised rejected',
      prints: { consentStatus: 'rejected' },
    },
    { words: RESUME, ends: '6 not_authorised rejected', calls: '' },
  ]),
];

const wrong = (
  [
    [[...ASK, '--category', 'PAYMENTS'], 'no category PAYMENTS'],
    [[...ASK, '--account', 'IT31P0999001600000010482638', '--list-only'], 'cannot be used together'],
    [[...ASK, '--once', '--frequency', '2'], '--once is for one reading'],
    [[...ASK, '--paste'], 'cannot ask without a terminal'],
    [[...ASK, '--grant', 'client_credentials'], 'authorization_code'],
    [[...ASK, '--customer', '..'], 'other characters'],
    [['auth', 'login', '--json', '--customer', '.'], 'other characters'],
  ] as const
).map(([words, says]) =>
  at(`psd2 ${words.join(' ')} is refused before anything is sent`, [
    { words, ends: expect.stringMatching(/^2 /), says, calls: '' },
  ]),
);

export const LINKED_CONSENTS: Row[] = [...decisions, ...requests, ...resumed, ...wrong];
