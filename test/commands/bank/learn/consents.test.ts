import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Finding } from '../../../../src/commands/bank/learn/draft.ts';
import { addDays, bankDay } from '../../../../src/domain/calendar.ts';
import { accountIban } from '../../../../src/sandbox/customers/italian-iban.ts';
import { CURRENT } from '../../../sandbox/nextgenpsd2/door-client.ts';
import { atSmallBank, now, type Reply, refuses, type SmallBank, useSmallBanks } from './small-bank.ts';

// What bank learn asks a bank for, one consent after another, and what it concludes from each answer.

const { learnAt, newFile } = useSmallBanks();

/** Of all these commands. */
const AT = now();
const TODAY = bankDay(AT);
const days = (day: string) => (Date.parse(day) - Date.parse(TODAY)) / 86_400_000;
/** Days as the distance from today. */
const withoutDays = (text: string) =>
  text.replace(/\d{4}-\d\d-\d\d/g, (day) => `{${day === '9999-12-31' ? 'ever' : days(day)}}`);

const KINDS = [
  ['allPsd2', 'all accounts'],
  ['availableAccounts', 'list'],
  ['availableAccountsWithBalance', 'list with balances'],
] as const;

/** A consent as psd2 asks for it: the kind, and what is not usual. */
function askedFor(headers: IncomingHttpHeaders, body: string): string {
  const { access, recurringIndicator, validUntil, frequencyPerDay } = JSON.parse(body);
  const kind =
    KINDS.find(([name]) => name in access)?.[1] ?? (access.accounts.length > 0 ? 'account' : 'chosen');
  return [
    kind,
    ...(recurringIndicator ? [] : ['once']),
    ...(frequencyPerDay === 4 ? [] : [`${frequencyPerDay} a day`]),
    ...(days(validUntil) === 180 ? [] : [withoutDays(validUntil)]),
    ...(headers['psu-id'] === undefined ? [] : [`for ${JSON.stringify(headers['psu-id'])}`]),
    ...(headers['tpp-explicit-authorisation-preferred'] === 'true' ? ['explicit'] : []),
    ...(headers['tpp-redirect-preferred'] === 'false' ? ['not redirect'] : []),
    ...(headers.signature === undefined ? [] : ['signed']),
    ...(headers.date === undefined ? [] : ['with Date']),
    ...(headers.authorization === undefined ? [] : ['with a token']),
  ].join(', ');
}

/** Fields that other questions are about. */
const OTHERS = /^(accounts|payments|funds|oauth\.(names|scope|clientAuth))\b/;

/** What psd2 says of a field. */
function lineOf({ field, status, value, was, asked, answered, reason }: Finding): string {
  const isNew = status === 'differs' && was !== null;
  return withoutDays(
    [
      `${field} ${status} ${value}${isNew ? ` for ${was}` : ''}`,
      ...(asked === null ? [] : [`${asked}: ${answered}`]),
      ...(reason === null ? [] : [reason]),
    ].join(' | '),
  );
}

const SCA = { href: 'https://bank.example/sca' };
const begun = (links: object = { scaRedirect: SCA }, headers: Record<string, string> = {}): Reply => ({
  status: 201,
  body: { consentId: 'c1', consentStatus: 'received', _links: links },
  headers,
});

/** An answer, or one that depends on the request. */
type Answer = Reply | ((headers: IncomingHttpHeaders) => Reply | undefined);
/** The answer to a consent, as {@link askedFor} calls it. */
type Consent = (asked: string, headers: IncomingHttpHeaders) => Reply | undefined;
interface Says {
  /** Default: the bank takes every consent. */
  consent?: Consent;
  /** The answers to other calls. */
  others?: Record<string, Answer>;
}

/** A bank without signature, and with nothing but consents, that grants what psd2 asks for. @param noted what it is asked */
function consentsOf({ consent = () => undefined, others = {} }: Says, noted: string[]): SmallBank {
  let granted = {};
  return (method, path, headers, body) => {
    const call = `${method} ${path}`;
    if (call === 'POST /v1/consents') {
      const asked = askedFor(headers, body);
      noted.push(asked);
      const { validUntil, frequencyPerDay } = JSON.parse(body);
      granted = { validUntil, frequencyPerDay };
      return consent(asked, headers) ?? begun();
    }
    if (/^\/(v1\/consents|m\b)/.test(path))
      noted.push(`${call}${headers.signature === undefined ? '' : ', signed'}`);
    const other = others[call];
    const answer = typeof other === 'function' ? other(headers) : other;
    if (answer !== undefined) return answer;
    if (path === '/v1/accounts') return refuses(403, 'CONSENT_UNKNOWN');
    if (call === 'GET /v1/consents/c1')
      return { status: 200, body: { consentStatus: 'received', ...granted } };
    if (call === 'DELETE /v1/consents/c1') return { status: 204 };
    return refuses(405, 'SERVICE_BLOCKED');
  };
}

interface How {
  words?: string[];
  /** What the file says before. */
  own?: Omit<BankFile, 'interface'>;
}

/** Learns a bank. @returns what the bank was asked, and what psd2 says of each field */
async function learnConsents(says: Says, { words = [], own }: How = {}) {
  const asked: string[] = [];
  const file = newFile();
  if (own) writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', ...own }));
  let found: string[] = [];
  await atSmallBank(consentsOf(says, asked), async (env) => {
    const learnt = await learnAt(env, file, undefined, {
      words,
      changes: ({ world }) => ({ world: { ...world, now: () => AT } }),
    });
    found = (learnt.result?.findings ?? []).filter(({ field }) => !OTHERS.test(field)).map(lineOf);
  });
  return { asked, found };
}

/** What psd2 finds out of a bank that minds nothing. */
const USUAL = [
  'sca.approaches same ["redirect"] | POST /v1/consents: 201, with scaRedirect',
  'signing.when differs "never" for "always" | GET /v1/consents/c1: 200, without a signature',
  'consent.status same "call" | GET /v1/consents/c1: 200',
  'consent.frequencyPerDay same 4 | GET /v1/consents/c1: 200',
  'consent.delete same "any" | DELETE /v1/consents/c1: 204, the answer is empty',
  'sca.start same "follow-links" | POST /v1/consents: 201, with scaRedirect',
  'consent.types same ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 201; list-only: 201',
  'consent.once same true | POST /v1/consents: 201',
  'links unknown null | POST /v1/consents: 201 | the answers have no link to a call',
  'sca.approaches: decoupled unknown null | POST /v1/consents: 201 | the bank did not choose it when psd2 preferred it',
  'consent.types: dedicated unknown null | this kind is for an account: name one of a customer with --account',
  'consent.maxDays unknown null | POST /v1/consents: 201 | the bank takes {180}, and does not say how long it takes',
  'psu.id unknown null | POST /v1/consents: 201 | the bank takes a consent without PSU-ID. Whether it takes one with it: say --psu-id',
];
/** How findings differ from the usual ones. */
const unusual = (found: readonly string[]) => [
  ...found.filter((line) => !USUAL.includes(line)),
  ...USUAL.map(fieldOf)
    .filter((field) => !found.map(fieldOf).includes(field))
    .map((field) => `no ${field}`),
];
const fieldOf = (line: string) => line.split(/ (?:same|differs|said|unknown) /)[0];

const PSU = ['--psu-id', 'anna'];
const ACCOUNT = ['--account', accountIban(CURRENT)];

it('asks for consents one after another, deletes each at once, and says what each answer shows', async () => {
  const { asked, found } = await learnConsents({});
  const begins = ['chosen, not redirect', 'all accounts', 'list', 'chosen, once, 1 a day', 'chosen, {ever}'];
  const ends = 'DELETE /v1/consents/c1';
  expect(asked).toEqual([
    ...['chosen', 'GET /v1/consents/c1', ends],
    ...begins.flatMap((each) => [each, ...(each.includes('ever') ? ['GET /v1/consents/c1'] : []), ends]),
  ]);
  expect(found).toEqual(USUAL);
});

/** A bank that takes a consent only as a pattern says. */
const wants =
  (pattern: RegExp, ...refusal: Parameters<typeof refuses>) =>
  (asked: string) =>
    pattern.test(asked) ? undefined : refuses(...refusal);
const minding = (text: string): Reply => ({
  status: 400,
  body: { tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR', text }] },
});
/** A bank that grants at most so many readings, or days. */
const grants = (unit: 'frequencyPerDay' | 'validUntil', most: number) => (asked: string) => {
  const [pattern, usual] = unit === 'validUntil' ? [/\{(\d+)\}/, 180] : [/(\d) a day/, 4];
  const [, found = usual] = pattern.exec(asked) ?? [];
  return Number(found) > most && !asked.includes('ever') ? refuses(400, 'FORMAT_ERROR', unit) : undefined;
};

/** `found`: what differs from the usual findings; or the answer with which the bank began none. */
type Row = [name: string, consent: Consent, how: How, asked: string[], found: string[] | string];
it.each<Row>([
  [
    'a signature',
    wants(/signed/, 401, 'SIGNATURE_MISSING'),
    {},
    ['chosen', 'chosen, signed'],
    [
      'signing.when differs "with-body" for "always" | POST /v1/consents: 401 SIGNATURE_MISSING, "SIGNATURE_MISSING"; with it 201',
    ],
  ],
  [
    'an explicit start',
    wants(/explicit/, 400, 'FORMAT_ERROR', 'TPP-Explicit-Authorisation-Preferred'),
    {},
    ['chosen', 'chosen, explicit'],
    [
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR"; with it 201',
    ],
  ],
  [
    'a PSU-ID',
    wants(/for/, 400, 'FORMAT_ERROR', 'PSU-ID'),
    {},
    ['chosen', 'chosen, for ""'],
    [
      'psu.id differs "empty" for "optional" | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR"; with it 201',
    ],
  ],
  [
    'a customer',
    wants(/anna/, 400, 'FORMAT_ERROR', 'PSU-ID'),
    {},
    ['chosen', 'chosen, for ""'],
    '400 FORMAT_ERROR, "FORMAT_ERROR"',
  ],
  [
    'a customer, who is named',
    wants(/anna/, 400, 'FORMAT_ERROR', 'PSU-ID'),
    { words: PSU },
    ['chosen', 'chosen, for "anna"'],
    [
      'psu.id differs "required" for "optional" | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR"; with it 201',
    ],
  ],
  [
    'credentials',
    wants(/for/, 401, 'PSU_CREDENTIALS_INVALID'),
    {},
    ['chosen', 'chosen, for ""'],
    [
      'psu.id differs "empty" for "optional" | POST /v1/consents: 401 PSU_CREDENTIALS_INVALID, "PSU_CREDENTIALS_INVALID"; with it 201',
    ],
  ],
  [
    'a PSU-ID, in its words',
    (asked) => (asked.includes('for') ? undefined : minding('the header PSU-ID, please')),
    {},
    ['chosen', 'chosen, for ""'],
    [
      'psu.id differs "empty" for "optional" | POST /v1/consents: 400 FORMAT_ERROR, "the header PSU-ID, please"; with it 201',
    ],
  ],
  [
    'a type of PSU-ID',
    wants(/for/, 400, 'FORMAT_ERROR', 'PSU-ID-Type'),
    {},
    ['chosen'],
    '400 FORMAT_ERROR, "FORMAT_ERROR"',
  ],
  [
    'a Date',
    wants(/Date/, 400, 'FORMAT_ERROR', 'Date'),
    {},
    ['chosen', 'chosen, with Date'],
    [
      'headers.date differs "always" for "never" | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR"; with it 201',
    ],
  ],
  [
    'another Date',
    wants(/never/, 400, 'FORMAT_ERROR', 'Date'),
    { own: { headers: { date: 'always' } } },
    ['chosen, with Date'],
    '400 FORMAT_ERROR, "FORMAT_ERROR"',
  ],
  [
    'two readings',
    grants('frequencyPerDay', 2),
    {},
    ['chosen', 'chosen, 3 a day', 'chosen, 2 a day'],
    ['consent.frequencyPerDay differs 2 for 4 | GET /v1/consents/c1: 200'],
  ],
  [
    'no readings',
    grants('frequencyPerDay', 0),
    {},
    ['chosen', 'chosen, 3 a day', 'chosen, 2 a day', 'chosen, 1 a day'],
    '400 FORMAT_ERROR, "FORMAT_ERROR"',
  ],
  [
    'two readings, not three',
    grants('frequencyPerDay', 2),
    { own: { consent: { frequencyPerDay: 3 } } },
    ['chosen, 3 a day', 'chosen, 2 a day'],
    ['consent.frequencyPerDay differs 2 for 3 | GET /v1/consents/c1: 200'],
  ],
  [
    '178 days',
    grants('validUntil', 178),
    {},
    ['chosen', 'chosen, {179}', 'chosen, {90}'],
    ['consent.maxDays differs 90 for 180 | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR"; with it 201'],
  ],
  [
    '29 days',
    grants('validUntil', 29),
    {},
    ['chosen', 'chosen, {179}', 'chosen, {90}', 'chosen, {89}', 'chosen, {30}'],
    '400 FORMAT_ERROR, "FORMAT_ERROR"',
  ],
  [
    '89 days, not 90',
    grants('validUntil', 89),
    { own: { consent: { maxDays: 90 } } },
    ['chosen, {90}', 'chosen, {89}'],
    ['consent.maxDays differs 89 for 90 | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR"; with it 201'],
  ],
  [
    'a customer, then two readings',
    (asked) =>
      asked.includes('for') ? grants('frequencyPerDay', 2)(asked) : refuses(400, 'FORMAT_ERROR', 'PSU-ID'),
    { words: PSU },
    ['chosen', 'chosen, for "anna"', 'chosen, 3 a day, for "anna"', 'chosen, 2 a day, for "anna"'],
    [
      'psu.id differs "required" for "optional" | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR"; with it 400 FORMAT_ERROR, "FORMAT_ERROR"',
      'consent.frequencyPerDay differs 2 for 4 | GET /v1/consents/c1: 200',
    ],
  ],
  [
    '90 days, and names readings, too',
    (asked) => grants('validUntil', 90)(asked) && minding('frequencyPerDay or validUntil'),
    {},
    ['chosen', 'chosen, 3 a day', 'chosen, 2 a day', 'chosen, 1 a day', 'chosen, {179}', 'chosen, {90}'],
    [
      'consent.maxDays differs 90 for 180 | POST /v1/consents: 400 FORMAT_ERROR, "frequencyPerDay or validUntil"; with it 201',
    ],
  ],
  [
    'a PSU-ID, then what psd2 does not know',
    (asked) => refuses(400, 'FORMAT_ERROR', asked.includes('for') ? 'psuData' : 'PSU-ID'),
    {},
    ['chosen', 'chosen, for ""'],
    '400 FORMAT_ERROR, "FORMAT_ERROR"',
  ],
])('of the first consent, a bank wants %s', async (_, consent, how, asked, found) => {
  const learnt = await learnConsents({ consent }, how);
  const read = learnt.asked.indexOf('GET /v1/consents/c1');
  expect(read < 0 ? learnt.asked : learnt.asked.slice(0, read)).toEqual(asked);
  if (typeof found !== 'string') expect(unusual(learnt.found)).toEqual(found);
  else
    expect(learnt.found.toSorted()).toEqual(
      ['consent.delete', 'consent.maxDays', 'consent.once', 'consent.types', 'psu.id', 'sca.approaches'].map(
        (field) =>
          `${field} unknown null | POST /v1/consents: ${found} | no consent could be begun: ${found}`,
      ),
    );
});

const EVERY_KIND = ['chosen', 'all accounts', 'list', 'list with balances'];
it.each<[string, Reply, asked: string[]]>([
  ['names nothing', refuses(400, 'FORMAT_ERROR'), EVERY_KIND],
  ['names the access', refuses(400, 'FORMAT_ERROR', 'access'), EVERY_KIND],
  ['names a part of the access', refuses(400, 'FORMAT_ERROR', 'access.accounts'), EVERY_KIND],
  ['does not have it', refuses(404, 'SERVICE_INVALID'), EVERY_KIND],
  ['names another field', refuses(400, 'FORMAT_ERROR', 'psuData'), ['chosen']],
  ['minds the signature', refuses(401, 'SIGNATURE_INVALID'), ['chosen', 'chosen, signed']],
  ['wants a token', refuses(401, 'TOKEN_UNKNOWN'), ['chosen']],
  ['minds the certificate', refuses(401, 'CERTIFICATE_INVALID'), ['chosen']],
  ['takes it, and names no id', { status: 201, body: {} }, ['chosen']],
])('tries another kind of consent only where that may help: the bank %s', async (_, reply, asked) => {
  const learnt = await learnConsents({ consent: () => reply });
  expect(learnt.asked).toEqual(asked);
});

const MISSING = refuses(401, 'SIGNATURE_MISSING');
const GET = 'GET /v1/consents/c1';
const unlessSigned = (headers: IncomingHttpHeaders) =>
  headers.signature === undefined ? MISSING : undefined;
it.each<[string, Says, How, read: string[], found: string[]]>([
  [
    'signed readings',
    { others: { [GET]: unlessSigned } },
    {},
    ['chosen', 'GET /v1/consents/c1', 'GET /v1/consents/c1, signed'],
    ['signing.when same "always" | GET /v1/consents/c1: 200'],
  ],
  [
    'all signed',
    { consent: wants(/signed/, 401, 'SIGNATURE_MISSING'), others: { [GET]: unlessSigned } },
    {},
    ['chosen', 'chosen, signed', 'GET /v1/consents/c1', 'GET /v1/consents/c1, signed'],
    ['signing.when same "always" | GET /v1/consents/c1: 200'],
  ],
  [
    'no reading',
    { others: { [GET]: () => MISSING } },
    {},
    ['chosen', 'GET /v1/consents/c1', 'GET /v1/consents/c1, signed', 'GET /v1/consents/c1/status, signed'],
    [
      'signing.when same "always" | GET /v1/consents/c1: 401 SIGNATURE_MISSING, "SIGNATURE_MISSING"',
      'consent.status unknown null | GET /v1/consents/c1/status: 405 SERVICE_BLOCKED, "SERVICE_BLOCKED" | the bank tells in no call how a consent is, and psd2 can do without that only where the customer logs in with OAuth',
      'no consent.frequencyPerDay',
    ],
  ],
  [
    'no signature, as the file says',
    {},
    { own: { signing: { when: 'never' } } },
    ['chosen', 'GET /v1/consents/c1'],
    ['signing.when same "never" | GET /v1/consents/c1: 200, without a signature'],
  ],
  [
    'no signature, and the file wants it of bodies',
    {},
    { own: { signing: { when: 'with-body' } } },
    ['chosen', 'GET /v1/consents/c1'],
    ['signing.when differs "never" for "with-body" | GET /v1/consents/c1: 200, without a signature'],
  ],
])('of a consent that is read, a bank wants %s', async (_, says, how, read, found) => {
  const learnt = await learnConsents(says, how);
  const end = learnt.asked.findIndex((call) => call.startsWith('DELETE'));
  expect(learnt.asked.slice(0, end)).toEqual(read);
  expect(unusual(learnt.found)).toEqual(found);
});

const AUTHORISATIONS = '/v1/consents/c1/authorisations';
const START = { startAuthorisation: { href: AUTHORISATIONS } };
const [PAGE, OAUTH] = [{ scaRedirect: SCA }, { scaOAuth: SCA }];
const approach = (name: string) => ({ 'aspsp-sca-approach': name });
/** The answer to each consent. */
const offers = (...of: Parameters<typeof begun>): Says => ({ consent: () => begun(...of) });
/** A bank that waits for the start of an authorisation, and answers that. */
const afterStart = (reply: Reply, explicit = begun(START)): Says => ({
  consent: (asked) => (asked.includes('explicit') ? explicit : begun(START)),
  others: { [`POST ${AUTHORISATIONS}`]: reply },
});
const started = (links: object, headers: Record<string, string> = {}): Reply => ({
  status: 201,
  body: { scaStatus: 'received', authorisationId: 'a1', _links: links },
  headers,
});
const file = (...approaches: NonNullable<NonNullable<BankFile['sca']>['approaches']>): How => ({
  own: { sca: { approaches } },
});

it.each<[string, Says, how: How, found: string[]]>([
  [
    'a start',
    afterStart(started(PAGE)),
    {},
    [
      'sca.approaches same ["redirect"] | POST /v1/consents/c1/authorisations: 201, with scaRedirect',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 201, with /v1/consents/c1/authorisations',
    ],
  ],
  [
    'a start, and a page with the header',
    afterStart(started(PAGE), begun()),
    {},
    [
      'sca.approaches same ["redirect"] | POST /v1/consents/c1/authorisations: 201, with scaRedirect',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 201, with /v1/consents/c1/authorisations',
    ],
  ],
  [
    'a start, and none with the header',
    afterStart(started(PAGE), refuses(400, 'FORMAT_ERROR')),
    {},
    [
      'sca.approaches same ["redirect"] | POST /v1/consents/c1/authorisations: 201, with scaRedirect',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 201, with /v1/consents/c1/authorisations',
      'no sca.start',
    ],
  ],
  [
    'a start, as the file says',
    afterStart(started(PAGE)),
    { own: { sca: { start: 'explicit' } } },
    [
      'sca.approaches same ["redirect"] | POST /v1/consents/c1/authorisations: 201, with scaRedirect',
      'sca.start same "explicit" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 201, with /v1/consents/c1/authorisations',
    ],
  ],
  [
    'a page and a start',
    offers({ ...PAGE, ...START }),
    {},
    [
      'sca.approaches same ["redirect"] | POST /v1/consents: 201, with scaRedirect, startAuthorisation',
      'sca.start same "follow-links" | POST /v1/consents: 201, with scaRedirect, startAuthorisation',
      'links said paths of the host | POST /v1/consents: 201, with /v1/consents/c1/authorisations',
    ],
  ],
  [
    'OAuth and a start',
    offers({ ...OAUTH, ...START }),
    {},
    [
      'sca.approaches differs ["oauth"] for ["redirect"] | POST /v1/consents: 201, with scaOAuth, startAuthorisation',
      'oauth.mode differs "integrated" for "none" | POST /v1/consents: 201, with scaOAuth',
      'sca.start same "follow-links" | POST /v1/consents: 201, with scaOAuth, startAuthorisation',
      'links said paths of the host | POST /v1/consents: 201, with /v1/consents/c1/authorisations',
      "oauth.metadata unknown null | the bank names its OAuth server at https://bank.example/sca. psd2 asks only the host of the base URL. If the address is the bank's, write it into oauth.metadata",
    ],
  ],
  [
    'a page and OAuth',
    offers({ ...PAGE, ...OAUTH }),
    {},
    [
      'sca.approaches differs ["redirect","oauth"] for ["redirect"] | POST /v1/consents: 201, with scaRedirect, scaOAuth',
      'oauth.mode differs "integrated" for "none" | POST /v1/consents: 201, with scaOAuth',
      'sca.start same "follow-links" | POST /v1/consents: 201, with scaRedirect, scaOAuth',
      "oauth.metadata unknown null | the bank names its OAuth server at https://bank.example/sca. psd2 asks only the host of the base URL. If the address is the bank's, write it into oauth.metadata",
    ],
  ],
  [
    'its app, and a start',
    offers(START, approach('DECOUPLED')),
    {},
    [
      'sca.approaches differs ["decoupled"] for ["redirect"] | POST /v1/consents: 201, with startAuthorisation, the approach decoupled',
      'sca.start same "follow-links" | POST /v1/consents: 201, with startAuthorisation, the approach decoupled',
      'links said paths of the host | POST /v1/consents: 201, with /v1/consents/c1/authorisations',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'its app after a start',
    afterStart(started({}, approach('DECOUPLED'))),
    {},
    [
      'sca.approaches differs ["decoupled"] for ["redirect"] | POST /v1/consents/c1/authorisations: 201, with the approach decoupled',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 201, with /v1/consents/c1/authorisations',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'nothing after a start',
    afterStart(started({})),
    {},
    [
      'sca.approaches unknown null | POST /v1/consents/c1/authorisations: 201 | the answer names no way for the customer',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 201, with /v1/consents/c1/authorisations',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'a password after a start',
    afterStart(started({ updatePsuAuthentication: { href: `${AUTHORISATIONS}/a1` } })),
    {},
    [
      'sca.approaches differs ["embedded"] for ["redirect"] | POST /v1/consents/c1/authorisations: 201, with the approach embedded: the bank wants the PIN from psd2',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 201, with /v1/consents/c1/authorisations',
    ],
  ],
  [
    'no start without a password',
    afterStart(refuses(400, 'FORMAT_ERROR', 'psuData.password')),
    {},
    [
      'sca.approaches differs ["embedded"] for ["redirect"] | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "FORMAT_ERROR", with no link for the customer',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'sca.first differs "password" | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "FORMAT_ERROR", with no link for the customer',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "FORMAT_ERROR", with /v1/consents/c1/authorisations',
    ],
  ],
  [
    'no start, since the password lacks',
    afterStart(minding('no password')),
    {},
    [
      'sca.approaches differs ["embedded"] for ["redirect"] | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "no password", with no link for the customer',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'sca.first differs "password" | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "no password", with no link for the customer',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "no password", with /v1/consents/c1/authorisations',
    ],
  ],
  [
    'no start, and says passwords',
    afterStart(minding('no passwords')),
    {},
    [
      'sca.approaches unknown null | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "no passwords" | the answer names no way for the customer',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "no passwords", with /v1/consents/c1/authorisations',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'no start without a second one',
    afterStart(refuses(400, 'FORMAT_ERROR', 'psuData.additionalPassword')),
    {},
    [
      'sca.approaches unknown null | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "FORMAT_ERROR" | the answer names no way for the customer',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 400 FORMAT_ERROR, "FORMAT_ERROR", with /v1/consents/c1/authorisations',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'no start without credentials',
    afterStart(refuses(401, 'PSU_CREDENTIALS_INVALID', 'psuData')),
    {},
    [
      'sca.approaches unknown null | POST /v1/consents/c1/authorisations: 401 PSU_CREDENTIALS_INVALID, "PSU_CREDENTIALS_INVALID" | the answer names no way for the customer',
      'sca.start differs "explicit" for "follow-links" | POST /v1/consents: 201, with startAuthorisation',
      'links said paths of the host | POST /v1/consents/c1/authorisations: 401 PSU_CREDENTIALS_INVALID, "PSU_CREDENTIALS_INVALID", with /v1/consents/c1/authorisations',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'an encrypted password',
    offers({ startAuthorisationWithEncryptedPsuAuthentication: { href: AUTHORISATIONS } }),
    {},
    [
      "sca.approaches unknown null | POST /v1/consents: 201 | The bank wants the customer's password encrypted from psd2 (startAuthorisationWithEncryptedPsuAuthentication), which psd2 does not send",
      'no sca.start',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'a page, and the file OAuth',
    {},
    file('oauth', 'redirect'),
    [
      'sca.approaches differs ["redirect"] for ["oauth","redirect"] | POST /v1/consents: 201, with scaRedirect',
    ],
  ],
  [
    'a page, and the file an app first',
    {},
    file('decoupled', 'redirect'),
    [
      'sca.approaches differs ["redirect","decoupled"] for ["decoupled","redirect"] | POST /v1/consents: 201, with scaRedirect',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'a page, and the file an app alone',
    {},
    file('decoupled'),
    [
      'sca.approaches differs ["redirect","decoupled"] for ["decoupled"] | POST /v1/consents: 201, with scaRedirect',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'a page, and the file credentials',
    {},
    file('embedded'),
    [
      'sca.approaches differs ["redirect","embedded"] for ["embedded"] | POST /v1/consents: 201, with scaRedirect',
    ],
  ],
  [
    'its app, and the file a page',
    offers({}, approach('DECOUPLED')),
    {},
    [
      'sca.approaches differs ["decoupled"] for ["redirect"] | POST /v1/consents: 201, with the approach decoupled',
      'sca.start same "follow-links" | POST /v1/consents: 201, with the approach decoupled',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'its app, and the file, too',
    offers({}, approach('DECOUPLED')),
    file('decoupled', 'redirect'),
    [
      'sca.approaches same ["decoupled","redirect"] | POST /v1/consents: 201, with the approach decoupled',
      'sca.start same "follow-links" | POST /v1/consents: 201, with the approach decoupled',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'a page, or its app if that is preferred',
    { consent: (asked) => (asked.includes('not redirect') ? begun({}, approach('DECOUPLED')) : undefined) },
    { words: PSU },
    [
      'sca.approaches differs ["redirect","decoupled"] for ["redirect"] | POST /v1/consents: 201, with scaRedirect; preferred: 201',
      'psu.id same "optional" | POST /v1/consents: 201',
      'no sca.approaches: decoupled',
    ],
  ],
  [
    'the status of an authorisation, at an address',
    offers({ ...PAGE, scaStatus: { href: 'HTTPS://bank.example/a1?b=c' } }),
    {},
    ['links said whole addresses | POST /v1/consents: 201, with HTTPS://bank.example/a1'],
  ],
  [
    'the status of an authorisation whose id has a colon',
    offers({ ...PAGE, scaStatus: { href: `${AUTHORISATIONS}/a:1` } }),
    {},
    ['links said paths of the host | POST /v1/consents: 201, with /v1/consents/c1/authorisations/a:1'],
  ],
  [
    'the status, and a start',
    offers({ ...PAGE, ...START, scaStatus: { href: `${AUTHORISATIONS}/a1` } }),
    {},
    [
      'sca.approaches same ["redirect"] | POST /v1/consents: 201, with scaRedirect, startAuthorisation',
      'sca.start same "follow-links" | POST /v1/consents: 201, with scaRedirect, startAuthorisation',
      'links said paths of the host | POST /v1/consents: 201, with /v1/consents/c1/authorisations',
    ],
  ],
])('of SCA, a bank offers %s', async (_, says, how, found) => {
  const learnt = await learnConsents(says, how);
  expect(unusual(learnt.found)).toEqual(found);
});

/** Where a bank says that its OAuth server is. */
const oauthAt = (address: string, server?: Answer): Says => ({
  consent: (_, { host }) => begun({ scaOAuth: { href: address.replace('HERE', `http://${host}`) } }),
  ...(server !== undefined && { others: { 'GET /m': server } }),
});
const metadata = ({ host }: IncomingHttpHeaders): Reply => ({
  status: 200,
  body: { issuer: `http://${host}`, token_endpoint: `http://${host}/token` },
});
it.each<[string, Says, asks: number, at: string | null]>([
  ['where it is', oauthAt('HERE/m', metadata), 1, null],
  ['where nothing is', oauthAt('HERE/m'), 1, 'HERE/m'],
  ['at another host', oauthAt('https://idp.example/m'), 0, 'https://idp.example/m'],
  ['at no address', oauthAt('idp'), 0, 'idp'],
])('a bank names its OAuth server %s', async (_, says, asks, at) => {
  const { asked, found } = await learnConsents(says);
  expect(asked.filter((call) => call === 'GET /m')).toHaveLength(asks);
  const why = `the bank names its OAuth server at ${at}. psd2 asks only the host of the base URL. If the address is the bank's, write it into oauth.metadata`;
  expect(unusual(found).map((line) => line.replace(/http:\/\/127\.0\.0\.1:\d+/g, 'HERE'))).toEqual([
    'sca.approaches differs ["oauth"] for ["redirect"] | POST /v1/consents: 201, with scaOAuth',
    'oauth.mode differs "integrated" for "none" | POST /v1/consents: 201, with scaOAuth',
    'sca.start same "follow-links" | POST /v1/consents: 201, with scaOAuth',
    at === null ? 'OAuth server said HERE/m | GET /m: 200' : `oauth.metadata unknown null | ${why}`,
  ]);
});

/** A bank that refuses one kind of consent. */
const refusing =
  (kind: string, ...refusal: Parameters<typeof refuses>): Consent =>
  (asked) =>
    asked.split(', ')[0] === kind ? refuses(...refusal) : undefined;
const BALANCES: How = { own: { consent: { types: ['bank-offered', 'list-with-balances'] } } };
it.each<[string, Consent, How, found: string[]]>([
  [
    'all, also of an account',
    () => undefined,
    { words: ACCOUNT },
    [
      'consent.types same ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: dedicated: 201; bank-offered: 201; all-accounts: 201; list-only: 201',
      'no consent.types: dedicated',
    ],
  ],
  [
    'all, and the file has the list with balances',
    () => undefined,
    BALANCES,
    [
      'consent.types differs ["bank-offered","list-with-balances","all-accounts","list-only"] for ["bank-offered","list-with-balances"] | POST /v1/consents: bank-offered: 201; all-accounts: 201; list-only: 201; list-with-balances: 201',
    ],
  ],
  ...['SERVICE_INVALID', 'PARAMETER_NOT_SUPPORTED', 'PARAMETER_NOT_CONSISTENT', 'FORMAT_ERROR'].map(
    (code): [string, Consent, How, string[]] => [
      `not one: ${code}`,
      refusing('all accounts', 400, code),
      {},
      [
        `consent.types differs ["dedicated","bank-offered","list-only"] for ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 400 ${code}; list-only: 201`,
      ],
    ],
  ),
  [
    'not one: CONSENT_INVALID',
    refusing('all accounts', 401, 'CONSENT_INVALID'),
    {},
    [
      'consent.types same ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 401 CONSENT_INVALID; list-only: 201',
      'consent.types: all-accounts unknown null | POST /v1/consents: 401 CONSENT_INVALID, "CONSENT_INVALID" | the answer may be about something else',
    ],
  ],
  [
    'not one: a status alone',
    (asked) => (asked === 'all accounts' ? { status: 400, body: {} } : undefined),
    {},
    [
      'consent.types same ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 400; list-only: 201',
      'consent.types: all-accounts unknown null | POST /v1/consents: 400 | the answer may be about something else',
    ],
  ],
  [
    'not one: another field',
    refusing('all accounts', 400, 'FORMAT_ERROR', 'accessible'),
    {},
    [
      'consent.types same ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 400 FORMAT_ERROR; list-only: 201',
      'consent.types: all-accounts unknown null | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR" | the answer may be about something else',
    ],
  ],
  [
    'no list',
    refusing('list', 400, 'SERVICE_INVALID'),
    {},
    [
      'consent.types differs ["dedicated","bank-offered","all-accounts","list-with-balances"] for ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 201; list-only: 400 SERVICE_INVALID; list-with-balances: 201',
    ],
  ],
  [
    'no account: FORMAT_ERROR',
    refusing('account', 400, 'FORMAT_ERROR'),
    { words: ACCOUNT },
    [
      'consent.types same ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 201; dedicated: 400 FORMAT_ERROR; list-only: 201',
      'consent.types: dedicated unknown null | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR" | the answer may be about something else',
    ],
  ],
  [
    'no account: access',
    refusing('account', 400, 'FORMAT_ERROR', 'access'),
    { words: ACCOUNT },
    [
      'consent.types differs ["bank-offered","all-accounts","list-only"] for ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 201; dedicated: 400 FORMAT_ERROR; list-only: 201',
      'no consent.types: dedicated',
    ],
  ],
  [
    'no account: a part of access',
    refusing('account', 400, 'FORMAT_ERROR', 'access.accounts'),
    { words: ACCOUNT },
    [
      'consent.types same ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 201; dedicated: 400 FORMAT_ERROR; list-only: 201',
      'consent.types: dedicated unknown null | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR" | the answer may be about something else',
    ],
  ],
  [
    'no account: SERVICE_INVALID',
    refusing('account', 400, 'SERVICE_INVALID'),
    { words: ACCOUNT },
    [
      'consent.types differs ["bank-offered","all-accounts","list-only"] for ["dedicated","bank-offered","all-accounts","list-only"] | POST /v1/consents: bank-offered: 201; all-accounts: 201; dedicated: 400 SERVICE_INVALID; list-only: 201',
      'no consent.types: dedicated',
    ],
  ],
])('of the kinds of consent, a bank takes %s', async (_, consent, how, found) => {
  const learnt = await learnConsents({ consent }, how);
  expect(unusual(learnt.found)).toEqual(found);
});

/** A bank that makes something else of a consent for ever. */
function makesOfEver(granted: object): Says {
  let isEver = false;
  return {
    consent: (asked) => {
      isEver = asked.includes('ever');
      return undefined;
    },
    others: {
      [GET]: () => (isEver ? { status: 200, body: { consentStatus: 'received', ...granted } } : undefined),
    },
  };
}
const inDays = (count: number) => ({ validUntil: addDays(TODAY, count) });
const noEver: Consent = (asked) =>
  asked.includes('ever') ? refuses(400, 'FORMAT_ERROR', 'validUntil') : undefined;
it.each<[string, Says, found: string[]]>([
  ['what it does not say', makesOfEver({}), []],
  ['no day', makesOfEver(inDays(0)), []],
  [
    'a day',
    makesOfEver(inDays(1)),
    ['consent.maxDays differs 1 for 180 | GET /v1/consents/c1: 200, validUntil {1} for {ever}'],
  ],
  [
    '100 years',
    makesOfEver(inDays(36_500)),
    ['consent.maxDays differs 36500 for 180 | GET /v1/consents/c1: 200, validUntil {36500} for {ever}'],
  ],
  ['more', makesOfEver(inDays(36_501)), []],
  [
    'nothing',
    { consent: noEver },
    [
      'consent.maxDays unknown null | POST /v1/consents: 400 FORMAT_ERROR, "FORMAT_ERROR" | the bank takes {180}, and does not say how long it takes',
    ],
  ],
])('of a consent for ever, a bank makes %s', async (_, says, found) => {
  const learnt = await learnConsents(says);
  const isBegun = says.consent !== noEver;
  expect(learnt.asked.slice(learnt.asked.indexOf('chosen, {ever}') + 1)).toEqual(
    isBegun ? [GET, 'DELETE /v1/consents/c1'] : [],
  );
  expect(unusual(learnt.found)).toEqual(found);
});

it.each<['optional' | 'never' | 'required' | 'empty', string[], string[]]>([
  ['never', [], []],
  ['required', [], ['psu.id differs "optional" for "required" | POST /v1/consents: 201']],
  ['empty', [], ['psu.id differs "optional" for "empty" | POST /v1/consents: 201']],
  ['optional', PSU, ['psu.id same "optional" | POST /v1/consents: 201']],
  ['never', PSU, ['psu.id differs "optional" for "never" | POST /v1/consents: 201']],
])('of a bank that takes any PSU-ID where the file says %s, with %j', async (id, words, found) => {
  const learnt = await learnConsents({}, { words, own: { psu: { id } } });
  expect(unusual(learnt.found)).toEqual(found);
});
