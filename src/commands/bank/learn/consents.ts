import type { BegunConsent, Heard, With } from '../../../bank/ports/questions.ts';
import { isIsoDate } from '../../../domain/calendar.ts';
import type { ConsentTerms, Covered } from '../../../domain/consent.ts';
import { urlFrom } from '../../../domain/url.ts';
import type { Psd2Error } from '../../../errors.ts';
import type { Asker, Taken } from './asker.ts';
import { type Change, over, UNCLEAR } from './draft.ts';
import { learnLists } from './lists.ts';
import { learnTokens, type Remedy } from './oauth.ts';
import { isSignature, wantsToken } from './signature.ts';

type Kind = Exclude<Covered['type'], 'funds'>;

/** The first consent that the bank has taken. */
interface First {
  type: Kind;
  consent: BegunConsent & { validUntil: string };
  id: string;
}

/** Which consents the bank takes, and what its answers say of SCA. @returns why none could be begun; null if one could */
export async function learnConsents(asker: Asker, change: Change): Promise<Psd2Error | null> {
  const { first, last } = await beginOne(asker, change);
  if (!first) {
    const why = `no consent could be begun: ${last.says}`;
    for (const field of FIELDS) asker.draft.lack(field, why, last);
    return last.refusal;
  }
  await lookAt(asker, first);
  await learnLists(asker, first.id);
  const started = await startedBy(asker, first);
  await learnDeletion(asker, first);
  await learnIntegrated(asker, started);
  await learnSca(asker, first, started);
  await learnKinds(asker, first);
  await learnTerms(asker, first);
  await learnCustomer(asker, first);
  return null;
}

/** The fields that these questions are about. */
export const FIELDS = [
  'consent.types',
  'consent.once',
  'consent.maxDays',
  'consent.delete',
  'sca.approaches',
  'psu.id',
];

function accessOf(type: Kind, account: string | undefined): Covered | undefined {
  if (type === 'bank-offered') return { type, balances: true, transactions: true };
  if (type !== 'dedicated') return { type };
  return account === undefined
    ? undefined
    : { type, accounts: [account], balances: [account], transactions: [account] };
}

const KINDS: readonly Kind[] = [
  'bank-offered',
  'all-accounts',
  'dedicated',
  'list-only',
  'list-with-balances',
];

/** Begins the first consent. What the bank misses is added, one thing at a time: what changes its answer stays. */
async function beginOne(asker: Asker, begin: Change): Promise<{ first?: First; last: Heard }> {
  const { draft } = asker;
  const { consent } = await draft.describe();
  asker.taken = { change: over(begin, { psu: { id: 'optional' } }), more: {} };
  let last: Heard | undefined;
  for (const type of new Set([...consent.types, ...KINDS])) {
    const access = accessOf(type, asker.known.account);
    if (!access) continue;
    let heard = await asker.consent(access);
    const tried = new Set<string>();
    const helped: (() => void)[] = [];
    while (heard.refusal) {
      const remedy = (await remediesFor(asker, heard)).find((each) => !tried.has(JSON.stringify(each)));
      if (!remedy) break;
      tried.add(JSON.stringify(remedy));
      const { change, more } = asker.taken;
      const next = { change: over(change, remedy.change), more: { ...more, ...remedy.more } };
      const answer = await asker.consent(access, next);
      if (isSameAnswer(answer, heard)) {
        remedy.otherwise?.();
        continue;
      }
      asker.taken = next;
      const says = `${heard.says}; with it ${answer.says}`;
      helped.push(() => draft.learn(remedy.change, { asked: answer.asked, says }));
      heard = answer;
    }
    last = heard;
    if (heard.id !== null) {
      for (const learn of helped) learn();
      return { first: { type, consent: heard, id: heard.id }, last };
    }
    if (!heard.refusal) break;
    // Another kind of consent helps only if the bank minds the kind.
    if (heard.path !== null && !heard.path.startsWith('access')) break;
    if (isSignature(heard) || wantsToken(heard) || heard.code?.startsWith('CERTIFICATE_')) break;
  }
  if (!last) throw new TypeError('There is a kind of consent that needs no account');
  return { last };
}

/** The customer whom the operator has named. */
function psuOf({ known: { psuId } }: Asker): With {
  return psuId === undefined ? {} : { psu: { id: psuId, idType: undefined, corporateId: undefined } };
}

function isSameAnswer(one: Heard, other: Heard): boolean {
  return one.brief === other.brief && one.path === other.path;
}

const namesPsu = ({ code, about }: Heard) => code === 'PSU_CREDENTIALS_INVALID' || /psu-id(?!-)/.test(about);

/** What may help after a refusal, the likeliest first. */
async function remediesFor(asker: Asker, heard: Heard): Promise<Remedy[]> {
  const { change, more } = asker.taken;
  const { signing, consent, headers } = await asker.draft.describe(change);
  const { about } = heard;
  const named = psuOf(asker);
  const fewer = [3, 2, 1].filter((each) => each < consent.frequencyPerDay);
  const days = [179, 90, 89, 30].filter((each) => each < consent.maxDays);
  return [
    ...(isSignature(heard) && signing.when === 'never'
      ? [{ change: { signing: { when: 'with-body' as const } } }]
      : []),
    ...(wantsToken(heard) && more.bearer === undefined ? await learnTokens(asker) : []),
    ...(about.includes('tpp-explicit-') ? [{ change: { sca: { start: 'explicit' as const } } }] : []),
    ...(namesPsu(heard)
      ? [
          named.psu
            ? { change: { psu: { id: 'required' as const } }, more: named }
            : { change: { psu: { id: 'empty' as const } } },
        ]
      : []),
    ...(heard.path === 'date' && headers.date === 'never'
      ? [{ change: { headers: { date: 'always' as const } } }]
      : []),
    ...(about.includes('frequencyperday')
      ? fewer.map((frequencyPerDay) => ({ change: { consent: { frequencyPerDay } } }))
      : []),
    ...(about.includes('validuntil') ? days.map((maxDays) => ({ change: { consent: { maxDays } } })) : []),
  ];
}

/** Reads the consent: whether that must be signed, and what the bank has made of it. */
async function lookAt(asker: Asker, { id, consent }: First): Promise<void> {
  const { draft } = asker;
  const read = () => asker.ask((bank, more) => bank.details(id, more));
  const { when } = (await draft.describe(asker.taken.change)).signing;
  let now = await read();
  if (isSignature(now) && when !== 'always') {
    asker.change({ signing: { when: 'always' } });
    now = await read();
  }
  const description = await draft.describe(asker.taken.change);
  const signing = { when: description.signing.when };
  if (!draft.knows('signing.when') && signing.when !== 'always')
    draft.learn({ signing }, { ...now, says: `${now.says}, without a signature` });
  else if (signing.when !== when) draft.learn({ signing }, now);
  const { details } = now;
  if (details) {
    draft.learn({ consent: { status: 'call' } }, now);
    learnDays(asker, consent.validUntil, details.validUntil, now);
    const { frequencyPerDay } = details;
    if (
      frequencyPerDay !== null &&
      frequencyPerDay > 0 &&
      frequencyPerDay <= description.consent.frequencyPerDay
    )
      draft.learn({ consent: { frequencyPerDay } }, now);
    return;
  }
  const status = await asker.ask((bank, more) => bank.status(id, more));
  const isLacking = [now, status].every(({ verdict }) => verdict === 'is not there');
  draft.conclude(
    status,
    [
      [status.verdict === 'takes it', { consent: { status: 'call' } }],
      [
        isLacking && consent.links?.oauth !== undefined,
        { consent: { status: 'none' }, oauth: { mode: 'integrated' } },
      ],
    ],
    'consent.status',
    'the bank tells in no call how a consent is, and psd2 can do without that only where the customer logs in with OAuth',
  );
}

/** What the bank made of the last day that was asked for. */
function learnDays({ draft }: Asker, wantedDay: string, grantedDay: string | null, heard: Heard): void {
  if (grantedDay === null || grantedDay >= wantedDay || !isIsoDate(grantedDay)) return;
  const maxDays = Math.round((Date.parse(grantedDay) - Date.parse(draft.today)) / 86_400_000);
  if (maxDays >= 1 && maxDays <= 36_500)
    draft.learn(
      { consent: { maxDays } },
      { ...heard, says: `${heard.says}, validUntil ${grantedDay} for ${wantedDay}` },
    );
}

/** What the bank says of SCA, and where. */
interface Started {
  links: BegunConsent['links'];
  heard: Heard;
  /** The bank waits to be asked. */
  isExplicit: boolean;
}

/** The links for the customer. If the bank waits for that, psd2 starts an authorisation. */
async function startedBy(asker: Asker, { consent, id }: First): Promise<Started> {
  const { links } = consent;
  const hasWay = links?.redirect ?? links?.oauth ?? (links?.approach === 'decoupled' ? '' : undefined);
  if (links?.start === undefined || hasWay !== undefined) return { links, heard: consent, isExplicit: false };
  const started = await asker.ask((bank, more) => bank.authorisation(id, more));
  return { links: started.links, heard: started, isExplicit: true };
}

/** How SCA begins, and in which ways. */
async function learnSca(asker: Asker, first: First, { links, heard, isExplicit }: Started): Promise<void> {
  const { draft } = asker;
  const { consent } = first;
  const { sca } = await draft.describe(asker.taken.change);
  const link = consent.links?.start ?? consent.links?.status;
  if (link === undefined) draft.lack('links', 'the answers have no link to a call', heard);
  else
    draft.say('links', formOfLink(link, asker.bank), {
      ...heard,
      says: `${heard.says}, with ${link.split('?', 1)[0]}`,
    });
  if (isExplicit) {
    const start: Change = { sca: { start: 'explicit' } };
    const answer = sca.start === 'explicit' ? consent : await beginAndEnd(asker, first, { change: start });
    const says = `${consent.says}, with startAuthorisation`;
    if (answer.id !== null) draft.learn(start, { ...consent, says });
  }
  const isPasswordFirst = isExplicit && wantsPassword(heard);
  const ways = [
    ['redirect', links?.redirect !== undefined],
    ['oauth', links?.oauth !== undefined],
    ['decoupled', links?.approach === 'decoupled'],
    ['embedded', links?.approach === 'embedded' || isPasswordFirst],
  ] as const;
  const seen = ways.flatMap(([way, isSeen]) => (isSeen ? [way] : []));
  if (seen.length === 0)
    return draft.lack('sca.approaches', links?.unusable ?? 'the answer names no way for the customer', heard);
  const says = `${heard.says}, with ${linkNames(links)}`;
  // A bank that refuses a consent without the wish for an explicit start may offer its links all the same.
  if (!isExplicit && asker.taken.change.sca?.start === undefined)
    draft.learn({ sca: { start: 'follow-links' } }, { ...consent, says });
  // What the file says of a way that was not seen stays. But a browser has one way, and none if another was chosen in its place.
  const isBrowsers = seen.some((each) => each !== 'decoupled') || sca.approaches[0] !== 'decoupled';
  const others = sca.approaches.filter(
    (each) => !seen.includes(each) && (each === 'decoupled' || each === 'embedded' || !isBrowsers),
  );
  const isAsked = ![...seen, ...others].includes('decoupled');
  const decoupled = isAsked ? await asksDecoupled(asker, first) : undefined;
  const all = [...seen, ...others, ...(decoupled ? (['decoupled'] as const) : [])];
  // A customer gives psd2 a credential only where the bank has no other way.
  const approaches = all.toSorted((one, other) => Number(one === 'embedded') - Number(other === 'embedded'));
  draft.learn(
    { sca: { approaches, ...(isPasswordFirst && { first: 'password' }) } },
    { ...heard, says: decoupled ? `${says}; preferred: ${decoupled.says}` : says },
  );
}

/** Whether a bank refuses to begin SCA without the customer's password. At another one, a link of its answer says where that goes. */
function wantsPassword({ verdict, about }: Heard): boolean {
  const isOther = /encrypted|additional/.test(about);
  return verdict === 'minds the content' && /\b(psudata|password)\b/.test(about) && !isOther;
}

/** How the bank writes the address of a call. psd2 reads each form. */
function formOfLink(link: string, bank: string): string {
  if (/^[a-z][a-z\d+.-]*:/i.test(link)) return 'whole addresses';
  const { pathname } = new URL(bank);
  return pathname === '/' || link.startsWith(`${pathname}/`)
    ? 'paths of the host'
    : 'paths below the base URL';
}

function linkNames(links: BegunConsent['links']): string {
  const names = [
    links?.redirect === undefined ? [] : 'scaRedirect',
    links?.oauth === undefined ? [] : 'scaOAuth',
    links?.start === undefined ? [] : 'startAuthorisation',
    links?.approach === 'decoupled' ? 'the approach decoupled' : [],
    links?.approach === 'embedded' ? 'the approach embedded: the bank wants the PIN from psd2' : [],
  ].flat();
  return names.join(', ') || 'no link for the customer';
}

/** Only a customer that the operator has named can be asked. @returns the answer of a bank that would ask one */
async function asksDecoupled(asker: Asker, first: First): Promise<Heard | undefined> {
  // A file with sca.first must have embedded SCA, too.
  const change: Change = { sca: { approaches: ['decoupled', 'redirect', 'embedded'] } };
  const heard = await beginAndEnd(asker, first, { change, more: psuOf(asker) });
  if (heard.links?.approach === 'decoupled') return heard;
  asker.draft.lack('sca.approaches: decoupled', 'the bank did not choose it when psd2 preferred it', heard);
  return undefined;
}

/** The bank's OAuth server, if the customer logs in there with the consent. */
async function learnIntegrated(asker: Asker, { links, heard }: Started): Promise<void> {
  const { draft, taken: accepted } = asker;
  const link = links?.oauth;
  if (link === undefined) return;
  const hasToken = accepted.more.bearer !== undefined;
  const integrated: Change = { oauth: { mode: 'integrated', ...(hasToken && { applicationToken: true }) } };
  asker.change(integrated);
  draft.learn(integrated, { ...heard, says: `${heard.says}, with scaOAuth` });
  const reply = urlFrom(link) ? await asker.ask((bank) => bank.oauthServer(link)) : null;
  if (reply?.server) draft.say('OAuth server', link, reply);
  else
    draft.lack(
      'oauth.metadata',
      `the bank names its OAuth server at ${link}. psd2 asks only the host of the base URL. If the address is the bank's, write it into oauth.metadata`,
    );
}

async function learnDeletion(asker: Asker, { id }: First): Promise<void> {
  const heard = await asker.end(id);
  asker.draft.conclude(
    heard,
    [
      [heard.isGone, { consent: { delete: 'any' } }],
      [heard.verdict === 'minds the state', { consent: { delete: 'authorised' } }],
    ],
    'consent.delete',
    'the bank refused to delete a consent',
  );
}

/** Begins another consent that differs from the first in one thing, and ends it at once. */
async function beginAndEnd(
  asker: Asker,
  first: First,
  { type = first.type, terms, change, more }: Partial<Taken> & { type?: Kind; terms?: Partial<ConsentTerms> },
) {
  const access = accessOf(type, asker.known.account);
  if (!access) throw new TypeError('Only a dedicated consent needs an account');
  const tried = { change: over(asker.taken.change, change), more: { ...asker.taken.more, ...more } };
  const heard = await asker.consent(access, { ...tried, ...(terms && { terms }) });
  if (heard.id !== null) await asker.end(heard.id, tried);
  return heard;
}

/** Refusals that mean the kind of consent, since nothing else differs from one that the bank has taken. */
const OF_KIND = ['SERVICE_INVALID', 'PARAMETER_NOT_SUPPORTED', 'PARAMETER_NOT_CONSISTENT', 'FORMAT_ERROR'];

/** Whether a refusal is about the kind of consent. One that names another field, or an account that the bank may not know, shows nothing of it. */
function mindsKind({ code, path }: Heard, type: Kind): boolean {
  const isOther = path === null ? false : !/^access\b/.test(path);
  const isAccount = type === 'dedicated' && code === 'FORMAT_ERROR' && path !== 'access';
  return OF_KIND.includes(code ?? '') && !isOther && !isAccount;
}

async function learnKinds(asker: Asker, first: First): Promise<void> {
  const { draft, known: named } = asker;
  const { consent } = await draft.describe();
  const acceptedKinds = new Map<Kind, boolean | undefined>([[first.type, true]]);
  const says = [`${first.type}: ${first.consent.brief}`];
  for (const type of KINDS) {
    if (acceptedKinds.has(type)) continue;
    // A bank with the list alone has no need of the other one.
    if (type === 'list-with-balances' && acceptedKinds.get('list-only') && !consent.types.includes(type))
      continue;
    if (type === 'dedicated' && named.account === undefined) {
      draft.lack(
        'consent.types: dedicated',
        'this kind is for an account: name one of a customer with --account',
      );
      continue;
    }
    const heard = await beginAndEnd(asker, first, { type });
    acceptedKinds.set(type, heard.id !== null ? true : mindsKind(heard, type) ? false : undefined);
    if (acceptedKinds.get(type) === undefined) draft.lack(`consent.types: ${type}`, UNCLEAR, heard);
    says.push(`${type}: ${heard.brief}`);
  }
  const all = [...new Set([...consent.types, ...KINDS])];
  // What no answer has shown stays as the file has it.
  const types = all.filter((type) => acceptedKinds.get(type) ?? consent.types.includes(type));
  draft.learn({ consent: { types } }, { asked: first.consent.asked, says: says.join('; ') });
}

/** Whether a refusal names no other field than those that a consent for one reading has differently. */
function isOfTerms({ path }: Heard): boolean {
  return path === null || /recurringindicator|frequencyperday/.test(path);
}

async function learnTerms(asker: Asker, first: First): Promise<void> {
  const { draft } = asker;
  const single = await beginAndEnd(asker, first, { terms: { recurring: false, frequencyPerDay: 1 } });
  draft.conclude(
    single,
    [
      [single.id !== null, { consent: { once: true } }],
      [OF_KIND.includes(single.code ?? '') && isOfTerms(single), { consent: { once: false } }],
    ],
    'consent.once',
    UNCLEAR,
  );
  const access = accessOf(first.type, asker.known.account);
  if (draft.knows('consent.maxDays') || !access || !isIsoDate(FOR_EVER)) return;
  const longest = await asker.consent(access, { ...asker.taken, terms: { validUntil: FOR_EVER } });
  const { id } = longest;
  if (id !== null) {
    const now = await asker.ask((bank, more) => bank.details(id, more));
    learnDays(asker, FOR_EVER, now.details?.validUntil ?? null, now);
    await asker.end(id);
  }
  draft.lack(
    'consent.maxDays',
    `the bank takes ${first.consent.validUntil}, and does not say how long it takes`,
    longest,
  );
}
const FOR_EVER = '9999-12-31';

/** Whether the bank takes, or wants, the id of the customer. */
async function learnCustomer(asker: Asker, first: First): Promise<void> {
  const { draft, known: named } = asker;
  if (draft.knows('psu.id')) return;
  if (named.psuId !== undefined) {
    const heard = await beginAndEnd(asker, first, { more: psuOf(asker) });
    return draft.conclude(
      heard,
      [
        [heard.id !== null, { psu: { id: 'optional' } }],
        [heard.code === 'FORMAT_ERROR' && namesPsu(heard), { psu: { id: 'never' } }],
      ],
      'psu.id',
      'the bank takes a consent without PSU-ID; with it, the answer may be about the customer',
    );
  }
  const { psu } = await draft.describe();
  draft.conclude(
    first.consent,
    [[psu.id !== 'optional' && psu.id !== 'never', { psu: { id: 'optional' } }]],
    'psu.id',
    'the bank takes a consent without PSU-ID. Whether it takes one with it: say --psu-id',
  );
}
