import { expect } from 'vitest';
import type { Treatment } from '../../crash/relay.ts';
import { changed, cut, gets, type Row, rejected, type Step, saying, step } from '../row.ts';

// Consents whose grant is the customer's SCA alone (NextGenPSD2).

const ASK = ['consent', 'request', '--json', '--customer', 'REFERENCE'];
const RESUME = ['consent', 'resume', 'FLOW', '--json'];
const STATUS = ['consent', 'status', 'FLOW', '--json'];
const at = (name: string, steps: Step[]): Row => ({
  ...{ name, bank: { file: { sca: { pollSeconds: 1 } } }, steps, paid: 0 },
});
const twice = (each: Step) => [each, each];
const is = (consentStatus: string, more: object = {}): Treatment => saying({ consentStatus, ...more });
const stays = (consentStatus: string) => Array<Treatment>(20).fill(is(consentStatus));
const sca = (scaStatus: string): Treatment => saying({ scaStatus });
/** What the bank says of the consent, and of its authorisation, one after the other. */
const hears = (consent: Treatment[], authorisation: Treatment[] = []) => ({
  meets: { consent, 'sca-status': authorisation },
});
const GRANTED: Step = step(ASK, '0 confirmed');
const READS: Step = step(['accounts', 'list', '--json', '--customer', 'REFERENCE'], '0');
const READS_NOT: Step = { ...READS, ends: '4 not_logged_in' };
const UNDECIDED: Step = step([...ASK, '--sca-timeout', '1'], '13 still_open authorizing', {
  customer: 'stays away',
  says: '$ consent resume FLOW',
});
const ENDED = { prints: { consentStatus: 'terminatedByTpp' } };
/** The bank wants the password in psd2’s hands. */
const EMBEDDED = changed((body) => ({
  ...body,
  _links: { startAuthorisationWithPsuAuthentication: { href: '/v1/consents/c1/authorisations' } },
}));
/** The customer comes back to another machine. */
const ELSEWHERE = { env: { PSD2_REDIRECT_URI: 'https://tpp.example/callback' } };
/** While psd2 waits for the browser, it asks the bank every few seconds. On a busy machine that may be sooner. */
const MAYBE_BACK = '(?: sca-returned)?';
const NO_PAGE = { tells: /^(?![\s\S]*Open this address)/ };

const ENDS = [
  ['rejected', 'rejected', '6 not_authorised', 'The customer did not authorise the consent'],
  ['expired', 'expired', '6 authorisation_expired', 'The consent has expired\nRequest it again.'],
  [
    ...(['revokedByPsu', 'revoked', '6 not_authorised'] as const),
    'The customer has revoked the consent at the bank\nRequest it again.',
  ],
  ['terminatedByTpp', 'cancelled', '2 cancelled', 'was ended by psd2\nRequest it again.'],
] as const;

const EVER = { validUntil: '9999-12-31' };
const MOVED = { validUntil: '2026-12-31' };
const decisions = [
  at('a granted consent is kept for readings, with what the bank says of its terms', [
    {
      ...GRANTED,
      calls: expect.stringMatching(/^request( consent)+ sca-status$/),
      prints: { consentStatus: 'valid', recurring: true, frequencyPerDay: expect.any(Number) },
    },
    { ...READS, events: `created request-sent requested sca-started${MAYBE_BACK} granted noted` },
  ]),
  at('a consent that the bank gives no last day is granted', [
    { ...GRANTED, ...hears([is('valid', EVER)]), prints: EVER },
  ]),
  ...ENDS.flatMap(([word, state, ends, says]) => [
    at(`a consent that the bank calls ${word} is ${state}`, [
      step(ASK, `${ends} ${state}`, { ...hears(stays(word)), prints: { consentStatus: word } }),
      READS_NOT,
    ]),
    at(`a granted consent that the bank calls ${word} is ${state}, and forgotten`, [
      GRANTED,
      ...twice(step(STATUS, `0 ${state}`, { ...hears(stays(word)), prints: { consentStatus: word } })),
      step(RESUME, expect.stringMatching(new RegExp(` ${state}$`)), { says, calls: '' }),
      READS_NOT,
    ]),
  ]),
  at('a consent that the bank has rejected in its answer sends nobody to a page', [
    step(ASK, '6 not_authorised rejected', {
      meets: { request: [is('rejected')], consent: stays('rejected') },
      ...NO_PAGE,
    }),
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
      ends: '13 still_open authorizing',
      says: /waits for another person \(partiallyAuthorised\)[\s\S]*\$ consent resume FLOW/,
      prints: { consentStatus: 'partiallyAuthorised' },
      ...ELSEWHERE,
    },
  ]),
  at('a word that psd2 does not know ends a granted consent, and is kept', [
    GRANTED,
    step(STATUS, '0 revoked', { ...hears(stays('suspended')), prints: { consentStatus: 'suspended' } }),
  ]),
  at('if the authorisation has failed, so has the consent, whatever its own status still says', [
    step(ASK, '6 not_authorised rejected', {
      ...hears(stays('received'), Array(20).fill(sca('failed'))),
      prints: { consentStatus: 'received' },
    }),
  ]),
  ...(
    [
      ['the status of another one', hears([is('rejected'), is('received')])],
      ['the authorisation of another one', hears([is('received')], [sca('failed')])],
      [
        'another one, twice',
        hears([is('received'), is('expired'), is('received')], [sca('failed'), sca('started')]),
      ],
    ] as const
  ).map(([what, meets]) =>
    at(`an end that is ${what} ends nothing: psd2 asks once more`, [{ ...GRANTED, ...meets }]),
  ),
  at('an end without an X-Request-ID decides, also at a bank that sends it elsewhere', [
    {
      ...GRANTED,
      ...hears([is('rejected'), gets(200, { consentStatus: 'rejected' })]),
      ends: '6 not_authorised rejected',
    },
  ]),
  at('a bank that fails while the customer decides is asked again', [
    { ...GRANTED, ...hears([...Array(4).fill(gets(503)), gets(200, '<html>Soon back</html>')]) },
  ]),
  {
    ...at('the bank wants that psd2 starts the authorisation', [
      { ...GRANTED, calls: 'request sca consent sca-status' },
    ]),
    bank: { file: { sca: { start: 'explicit' } } },
  },
];

const requests = [
  at('embedded SCA: psd2 ends the consent, and names nothing that leads there again', [
    step(ASK, '2 usage cancelled', {
      meets: { request: [EMBEDDED] },
      calls: 'request cancel status',
      says: /psd2 has ended the consent at the bank\.$/,
      ...ENDED,
    }),
  ]),
  at('embedded SCA, and the bank does not end the consent: the command is named that does', [
    step(ASK, '2 usage cancelled', {
      says: /embedded SCA[\s\S]*\$ consent delete FLOW$/,
      meets: { request: [EMBEDDED], cancel: [rejected(405, 'SERVICE_INVALID')] },
    }),
  ]),
  at('a refused request ends the consent', [
    step(ASK, '7 bank_refused failed', { meets: { request: [rejected(400, 'FORMAT_ERROR')] } }),
  ]),
  at('a request without an answer is made again by the same flow', [
    step(ASK, '11 bank_unreachable created', { meets: { request: [cut] } }),
    { ...GRANTED, words: RESUME },
    READS,
  ]),
];

const resumed = [
  at('the customer has decided after psd2 had gone', [
    {
      ...UNDECIDED,
      ...ELSEWHERE,
      says: /\(received\)[\s\S]*The consent is not over: [\s\S]*\$ consent resume FLOW\n\$ consent delete FLOW$/,
    },
    step(RESUME, '0 confirmed', { ...hears([is('valid')]), calls: 'consent sca-status' }),
  ]),
  at('a page that is over is replaced by a new authorisation', [
    UNDECIDED,
    step(RESUME, '0 confirmed', {
      ...hears([is('received')], [sca('failed')]),
      calls: expect.stringContaining('consent sca-status sca consent'),
    }),
  ]),
  at('a customer who has done everything is sent nowhere', [
    UNDECIDED,
    step(RESUME, '0 confirmed', {
      ...hears([is('received'), is('valid')], [sca('finalised')]),
      calls: 'consent sca-status consent sca-status',
      ...NO_PAGE,
    }),
  ]),
  at('a consent that was granted and then taken back is not kept', [
    UNDECIDED,
    step(RESUME, '6 not_authorised revoked', { ...hears(stays('revokedByPsu')) }),
    READS_NOT,
  ]),
  at('a last day that the bank has moved is in the journal, once', [
    GRANTED,
    ...twice(
      step(STATUS, '0 confirmed', {
        ...{ ...hears([is('valid', MOVED)]), prints: MOVED },
        events: `sca-started${MAYBE_BACK} granted noted granted`,
      }),
    ),
  ]),
  at('a consent that was given up here stays unused, even if the customer grants it', [
    UNDECIDED,
    step(['consent', 'cancel', 'FLOW', '--yes', '--json'], '0 cancelled', {
      calls: '',
      tells:
        'The customer can still grant it at the bank. psd2 does not use it. End it there with:\n  psd2 consent delete FLOW',
    }),
    step(STATUS, '0 cancelled', { ...hears([is('valid')]) }),
    READS_NOT,
  ]),
  at('a consent is deleted at the bank, twice without harm', [
    GRANTED,
    ...twice(step(['consent', 'delete', 'FLOW', '--json'], '0 cancelled', ENDED)),
    step(STATUS, '0 cancelled', ENDED),
    READS_NOT,
  ]),
  at('the customer refuses a consent', [
    step(ASK, '6 not_authorised rejected', { customer: 'refuses', prints: { consentStatus: 'rejected' } }),
    step(RESUME, '6 not_authorised rejected', { calls: '' }),
  ]),
];

const OTHER_REQUEST = { 'X-Request-ID': '7f0c1b7e-6c1d-4a5c-9f53-0f5a2f4c9a11' };
const FUNDED = 'IT89F0999001600000010482620';
const DELETE = ['consent', 'delete', 'FLOW', '--json'];
/** It is unknown to this certificate, at this minute. */
const UNKNOWN = [rejected(404, 'RESOURCE_UNKNOWN'), rejected(403, 'CONSENT_UNKNOWN')] as const;
const MAY_BE_IN_FORCE =
  /does not know the consent FLOW with this certificate[\s\S]*may be in force[\s\S]*\$ consent status FLOW/;
/** Answers that are not the bank's word about the consent. */
const NOBODYS: [what: string, answer: Treatment, ends: string][] = [
  ['a page', gets(200, '<html>Soon back</html>'), '11 bank_answer'],
  ['a page that accepts it', gets(202, '<html>Soon back</html>'), '11 bank_answer'],
  ['a page that does not know it', gets(404, '<html>Not found</html>'), '9 outcome_unknown'],
  ['a page that forbids it', gets(403, '<html>Forbidden</html>'), '9 outcome_unknown'],
  ['a gateway’s JSON', gets(404, { httpCode: '404', httpMessage: 'Not Found' }), '9 outcome_unknown'],
  [
    'a gateway’s JSON with a status of success',
    gets(200, { httpCode: '503', httpMessage: 'Down' }),
    '11 bank_answer',
  ],
  ['a redirect', gets(302, '', { location: 'https://elsewhere.example' }), '11 bank_answer'],
  ['nothing', gets(404), '9 outcome_unknown'],
  ['the answer to another request', gets(204, '', OTHER_REQUEST), '11 bank_answer'],
];
const AT_BANK = 'https://customers.bank.example/end';
/** The customer authorises the end of the consent there. */
const AT_PAGE = gets(202, { _links: { scaRedirect: { href: AT_BANK } } });
const AT_PHONE: Treatment = (call, toBank) => {
  const status = { href: `${call.path}/authorisations/a-1` };
  const body = { _links: { scaStatus: status }, psuMessage: 'Look at your phone' };
  return gets(202, body, { 'ASPSP-SCA-Approach': 'DECOUPLED' })(call, toBank);
};
const FINALISED = gets(200, { scaStatus: 'finalised' });
const SMOKE = ['smoke', 'run', '--json', '--consent', '--steps', 'consent'];
const STAYS = expect.objectContaining({
  code: 'consent_stays',
  message: expect.stringContaining('may be in force'),
});
const deletions = [
  at('a smoke test says that its consent stays if the bank does not know it with this certificate', [
    step(SMOKE, '0', {
      meets: { cancel: [rejected(404, 'RESOURCE_UNKNOWN')] },
      prints: {
        steps: expect.arrayContaining([
          expect.objectContaining({ id: 'clean-up', status: 'warn', warnings: [STAYS] }),
        ]),
      },
    }),
  ]),
  ...NOBODYS.map(([what, answer, ends]) =>
    at(`a deletion that meets ${what} ends nothing, and psd2 reads on`, [
      GRANTED,
      step(DELETE, ends, {
        meets: { cancel: [answer] },
        ...(ends.startsWith('9') && { says: "is not the bank's own word" }),
      }),
      step(STATUS, '0 confirmed'),
      READS,
      step(DELETE, '0 cancelled', ENDED),
    ]),
  ),
  ...UNKNOWN.map((unknown) =>
    at('a consent that the bank does not know may be in force: nothing ends', [
      GRANTED,
      step(DELETE, '9 outcome_unknown', { meets: { cancel: [unknown] }, says: MAY_BE_IN_FORCE }),
      step(STATUS, '9 outcome_unknown', {
        ...{ meets: { consent: [unknown], status: [unknown] }, says: MAY_BE_IN_FORCE },
      }),
      step(STATUS, '0 confirmed'),
      READS,
    ]),
  ),
  ...UNKNOWN.map((unknown) =>
    at('a consent that the bank does not know after its deletion is gone', [
      GRANTED,
      step(DELETE, '0 cancelled', { meets: { cancel: [gets(204)] }, ...ENDED, events: 'delete-taken ended' }),
      step(STATUS, '0 cancelled', { meets: { consent: [unknown, unknown] }, ...ENDED }),
      step(DELETE, '0 cancelled', { meets: { cancel: [unknown] }, ...ENDED }),
    ]),
  ),
  {
    ...at('a consent for confirmations of funds ends as any other', [
      step([...ASK, '--category', 'FUNDS_AVAILABILITY', '--account', FUNDED], '0 confirmed'),
      step(DELETE, '11 bank_answer', { meets: { cancel: [gets(200, '<html>Soon back</html>')] } }),
      step(DELETE, '9 outcome_unknown', { meets: { cancel: [UNKNOWN[0]] }, says: MAY_BE_IN_FORCE }),
      step(DELETE, '0 cancelled', ENDED),
      step(DELETE, '0 cancelled', { meets: { cancel: [UNKNOWN[1]] }, ...ENDED }),
    ]),
    bank: { file: { funds: { consent: 'auto' } } },
  },
  ...[
    { answers: [is('expired')], consentStatus: 'expired' },
    { answers: [is('valid')], consentStatus: 'terminatedByTpp' },
    { answers: [gets(500), gets(500)], consentStatus: 'terminatedByTpp' },
  ].map(({ answers, consentStatus }) =>
    at(`a consent that the bank has deleted has its last word, if it ended before: ${consentStatus}`, [
      GRANTED,
      step(DELETE, '0 cancelled', {
        meets: { cancel: [gets(204)], status: answers },
        ...{ events: 'delete-taken ended', prints: { consentStatus } },
      }),
    ]),
  ),
  at('a deletion that the customer must authorise ends the consent once the bank says so', [
    GRANTED,
    step([...DELETE, '--sca-timeout', '1'], '13 still_open', {
      meets: { cancel: [AT_PAGE] },
      ...{ customer: 'stays away', tells: AT_BANK },
      says: /did not authorise the end of the consent within 1 s[\s\S]*The deletion is not over: [\s\S]*\$ consent status FLOW\n\$ consent delete FLOW$/,
    }),
    READS,
    step(DELETE, '0 cancelled', {
      meets: { cancel: [AT_PAGE], status: [is('valid'), is('terminatedByTpp')] },
      ...{ customer: 'stays away', calls: 'cancel status status', events: 'delete-taken ended' },
      ...ENDED,
    }),
    READS_NOT,
  ]),
  at('a deletion that the customer has authorised is taken, whatever the bank knows of the consent then', [
    GRANTED,
    step(DELETE, '0 cancelled', {
      meets: { cancel: [AT_PHONE], 'sca-status': [gets(200, { scaStatus: 'started' }), FINALISED] },
      ...{ calls: 'cancel sca-status status sca-status', ...ENDED },
    }),
  ]),
  at('a deletion that the customer refuses ends nothing', [
    GRANTED,
    step(DELETE, '6 not_authorised', {
      meets: { cancel: [AT_PHONE], 'sca-status': [gets(200, { scaStatus: 'failed' })] },
      says: 'It stays in force',
    }),
    READS,
  ]),
  at('nobody knows whether a consent has ended if the bank could not be asked when the time was over', [
    GRANTED,
    step([...DELETE, '--sca-timeout', '2'], '9 outcome_unknown', {
      meets: { cancel: [AT_PAGE], status: Array<Treatment>(40).fill(gets(503)) },
      customer: 'stays away',
    }),
    READS,
  ]),
  // The standard has no authorisation of a deletion: psd2 begins none, and gives no credential for it.
  ...['startAuthorisation', 'startAuthorisationWithPsuAuthentication', 'updatePsuAuthentication'].map(
    (link) =>
      at(`a deletion that the customer must authorise elsewhere ends nothing (${link})`, [
        GRANTED,
        step(DELETE, '9 outcome_unknown', {
          meets: { cancel: [gets(202, { _links: { [link]: { href: '/v1/x' } } })] },
          ...{ env: { PSD2_EMBEDDED: 'ask' }, calls: 'cancel' },
          says: 'wants the customer to authorise the end',
        }),
        READS,
      ]),
  ),
  at('a reading that does not know the consent ends nothing of it', [
    GRANTED,
    { ...READS_NOT, meets: { accounts: [rejected(403, 'CONSENT_UNKNOWN')], consent: [...UNKNOWN] } },
    READS,
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
    step(words, expect.stringMatching(/^2 /), { says, calls: '' }),
  ]),
);

export const LINKED_CONSENTS: Row[] = [...decisions, ...requests, ...resumed, ...deletions, ...wrong];
