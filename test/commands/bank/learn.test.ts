import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type BankDescription,
  type BankFile,
  bankFile,
} from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { checkBankFile } from '../../../src/bank-file/bank-file.ts';
import { valuesIn } from '../../../src/bank-file/values.ts';
import { BegunThings } from '../../../src/commands/bank/learn/begun.ts';
import { ONLY } from '../../../src/commands/bank/learn/draft.ts';
import { addDays, bankDay } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { accountIban } from '../../../src/sandbox/customers/italian-iban.ts';
import type { Variation } from '../../../src/sandbox/nextgenpsd2/variations.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import { type Bank, CURRENT, openDoor, type TestDoor } from '../../sandbox/nextgenpsd2/door-client.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { cellsIn, type How, openCommand } from '../command.ts';
import {
  atSmallBank,
  friendly,
  learnFrom,
  now,
  openLearning,
  type Reply,
  refuses,
  type SmallBank,
  useSmallBanks,
} from './learn/small-bank.ts';

const temporary = temporaryFolder();
const { newFile, newFolder, learnAt } = useSmallBanks();

/** Opens the second door of a sandbox for as long as the work takes. */
async function atDoor<T>(
  work: (door: TestDoor) => Promise<T>,
  bank: Bank = {},
  variations: readonly Variation[] = [],
): Promise<T> {
  const door = await openDoor(bank, variations, { now });
  try {
    return await work(door);
  } finally {
    await door.close();
  }
}

/** Learns the second door of a sandbox. */
const learn = (door: TestDoor, words: string[] = [], file = newFile(), env: Environment = {}) =>
  learnFrom(openLearning(door, newFolder(), env), file, words);

/** What the questions find out. */
const LEARNT = [
  'signing.when headers.date signing.digest signing.emptyBodyDigest signing.certificate',
  'signing.algorithm signing.headers signing.keyId.serial signing.keyId.case signing.keyId.format',
  'signing.keyId.form signing.keyId.spaces signing.keyId.dn signing.keyId.separator consent.types',
  'consent.once consent.maxDays consent.frequencyPerDay consent.status consent.delete sca.start',
  'sca.approaches psu.id oauth.mode oauth.applicationToken oauth.clientAuth',
  'payments.products.payments payments.products.bulk-payments payments.products.periodic-payments',
  'funds.consent',
].flatMap((names) => names.split(' '));

function learntOf(description: BankDescription): Record<string, unknown> {
  const values = new Map(valuesIn(description));
  const sorted = (value: unknown) => (Array.isArray(value) ? [...value].sort() : value);
  return Object.fromEntries(LEARNT.map((field) => [field, sorted(values.get(field))]));
}

const PSU = ['--psu-id', 'anna'];
const ACCOUNT = ['--account', accountIban(CURRENT)];

/** Banks that differ from the standard in one question. `but`: what cannot be seen from outside, or means the same. */
type Row = [name: string, bank: Bank, more?: { words?: string[]; but?: Record<string, unknown> }];
const OAUTH: Bank = { oauth: { mode: 'integrated' }, sca: { approaches: ['oauth'] } };
const METADATA = 'https://idp.example/m';
const LIST_WITH_BALANCES: Bank = { consent: { types: ['bank-offered', 'list-with-balances'] } };
const PRODUCTS = {
  payments: ['sepa-credit-transfers', 'target-2-payments'],
  'periodic-payments': ['sepa-credit-transfers'],
};
const BANKS: Row[] = [
  ['standard', {}, { words: [...ACCOUNT, ...PSU] }],
  ['no signature', { signing: { when: 'never' } }],
  ['bodies signed', { signing: { when: 'with-body' } }],
  ['Date with a signature', { headers: { date: 'signed' } }],
  ['Date signed', { headers: { date: 'signed' }, signing: { headers: ['digest', 'x-request-id', 'date'] } }],
  ['decimal', { signing: { keyId: { serial: 'decimal' } } }],
  ['RFC 1779', { signing: { keyId: { format: 'rfc1779' } } }],
  ['organization id', { signing: { keyId: { form: 'organization-id' } } }],
  ['algorithm', { signing: { algorithm: 'SHA256withRSA' } }],
  ['no digest without a body', { signing: { emptyBodyDigest: false } }],
  ['SHA-512', { signing: { digest: 'SHA-512' } }],
  ['certificate', { signing: { certificate: 'pem-line' } }],
  ['dedicated alone', { consent: { types: ['dedicated'] } }, { words: ACCOUNT }],
  ['all accounts', { consent: { types: ['all-accounts'] } }, { words: ACCOUNT }],
  ['the list with balances', LIST_WITH_BALANCES, { words: ACCOUNT }],
  ['recurring alone', { consent: { once: false } }],
  ['90 days', { consent: { maxDays: 90 } }],
  ['a year', { consent: { maxDays: 365 } }],
  ['two readings', { consent: { frequencyPerDay: 2 } }],
  ['none deleted', { consent: { delete: 'authorised' } }],
  ['explicit', { sca: { start: 'explicit' } }],
  ['decoupled, too', { sca: { approaches: ['redirect', 'decoupled'] } }, { words: PSU }],
  ['decoupled alone', { sca: { approaches: ['decoupled'] } }, { words: PSU, but: { 'psu.id': 'required' } }],
  ['PSU-ID', { psu: { id: 'required' } }, { words: PSU }],
  ['no PSU-ID', { psu: { id: 'never' } }, { words: PSU }],
  ['an empty PSU-ID', { psu: { id: 'empty' } }],
  ['OAuth as SCA', OAUTH],
  ['no status', { ...OAUTH, consent: { status: 'none' } }],
  ['application token', { oauth: { mode: 'client-credentials', metadata: METADATA } }],
  ['both tokens', { ...OAUTH, oauth: { mode: 'integrated', applicationToken: true, metadata: METADATA } }],
  ['products', { payments: { products: PRODUCTS } }],
  ['no instant transfers', { payments: { products: { payments: ['sepa-credit-transfers'] } } }],
  ['no funds consents', { funds: { consent: 'never' } }],
];

it.each(BANKS)('learns a bank: %s', async (_, bank, { words, but = {} } = {}) => {
  const { file, failure, result, left } = await atDoor((door) => learn(door, words), bank);
  const keeps = bank.consent?.delete === 'authorised';
  expect([failure, result?.ok, result?.file, left]).toEqual([null, true, file, keeps]);
  expect(result?.left).toHaveLength(keeps ? 1 : 0);
  const checked = await checkBankFile(file, ONLY);
  expect(checked.problems).toEqual([]);
  const played = bankFile.parse({ interface: 'nextgenpsd2', ...bank });
  expect(checked.bank && learntOf(checked.bank.description)).toEqual({ ...learntOf(played), ...but });
  const written = JSON.parse(readFileSync(file, 'utf8'));
  expect(Object.values(written.learned)).toContain(bankDay(now()));
});

it.each<[string, BankFile['sca']]>([
  ['its links say so', { approaches: ['embedded'] }],
  ['it begins nothing without the password', { approaches: ['embedded'], first: 'password' }],
])('learns a bank with embedded SCA alone, and says that the profile must allow it: %s', async (_, sca) => {
  await atDoor(
    async (door) => {
      const { file, failure, result } = await learn(door);
      expect(failure).toMatchObject({
        ...{ code: 'config', exitCode: 3, message: expect.stringContaining('has embedded SCA alone') },
        next: [['profile', 'set', 'env', '--embedded', 'ask']],
      });
      expect([result?.ok, result?.file, result?.left]).toEqual([true, file, []]);
      const scaOf = () => bankFile.parse(JSON.parse(readFileSync(file, 'utf8'))).sca;
      const learnt = scaOf();
      expect([learnt.approaches, learnt.first]).toEqual([['embedded'], sca?.first]);
      // What was learned holds when it is learned again.
      const again = await learn(door, [], file, { PSD2_EMBEDDED: 'ask' });
      expect([again.failure, scaOf()]).toEqual([null, learnt]);
    },
    { sca },
  );
});

it.each([
  ['paths of the host', []],
  ['whole addresses', ['absolute-links']],
  ['paths below the base URL', ['base-links']],
] as const)('says how the bank writes links: %s', async (form, variations) => {
  const { result } = await atDoor((door) => learn(door), {}, variations);
  const found = result?.findings.find(({ field }) => field === 'links');
  expect(found).toMatchObject({ status: 'said', value: form });
});

const all =
  (reply: Reply): SmallBank =>
  () =>
    reply;

const WEBSITE = { status: 404, body: '<html><title>Not here</title></html>' };
const ELSEWHERE = { status: 302, headers: { location: 'https://elsewhere.example' } };
const ODD: [name: string, bank: SmallBank, code: string, says: RegExp, most: number][] = [
  ['knows nothing', all({ status: 404, body: {} }), 'bank_refused', /404/, 60],
  ['is a website', all(WEBSITE), 'bank_answer', /not the bank's interface/, 1],
  ['redirects', all(ELSEWHERE), 'bank_answer', /interface/, 1],
  ['takes everything', all({ status: 200, body: { accounts: [] } }), 'bank_answer', /show nothing/, 1],
  ['minds at once', all(refuses(429, 'ACCESS_EXCEEDED')), 'too_many_calls', /minds/, 1],
  ['forbids', all(refuses(403, 'FORBIDDEN')), 'forbidden', /minds/, 1],
  ['fails', all({ status: 503, body: {} }), 'bank_failing', /fail/, 1],
  ['hangs up', all(null), 'bank_unreachable', /./, 1],
];

it.each(ODD)('asks little of a bank that %s, and writes no file', async (_, bank, code, says, most) => {
  await atSmallBank(bank, async (env, calls) => {
    const { file, failure, said } = await learnAt(env);
    expect(failure?.code).toBe(code);
    expect(`${failure?.message} ${said}`).toMatch(says);
    expect(calls.length).toBeLessThanOrEqual(most);
    expect(existsSync(file)).toBe(false);
  });
});

const SO_FAR = 'What psd2 found out so far is in the list.';
const beginning =
  (reply: Reply): SmallBank =>
  (method, path, ...of) =>
    method === 'POST' && path === '/v1/consents' ? reply : friendly(method, path, ...of);
const NO_ID = { code: 'bank_answer', exitCode: 11, hint: SO_FAR };
const NOT_TAKEN = { code: 'bank_refused', exitCode: 7, hint: SO_FAR };
const NO_LOGIN = {
  ...{ code: 'not_logged_in', exitCode: 4 },
  hint: 'The bank wants a login first. Store the file in the profile, log a customer in, and ask for a consent.',
};
it.each<[string, Reply, object, string]>([
  [
    'begins one without an id',
    { status: 201, body: {} },
    NO_ID,
    'The answer of the bank has no id of a consent',
  ],
  [
    'refuses it',
    refuses(400, 'FORMAT_ERROR', 'psuData'),
    NOT_TAKEN,
    'The bank does not accept the form of POST /v1/consents (HTTP 400): FORMAT_ERROR (psuData)',
  ],
  [
    'wants a login',
    refuses(401, 'TOKEN_UNKNOWN'),
    NO_LOGIN,
    'The bank does not know the token of POST /v1/consents (HTTP 401): TOKEN_UNKNOWN',
  ],
])('says why a bank has begun no consent, and what to do: it %s', async (_, reply, failure, why) => {
  await atSmallBank(beginning(reply), async (env) => {
    const { failure: said, result } = await learnAt(env);
    expect(said).toEqual({ ...failure, message: `No consent could be begun. ${why}` });
    expect(result?.ok).toBe(false);
  });
});

const missing = { message: 'The path of the bank file is missing', hint: 'For example mybank.json.' };
const NEW_FILE = { hint: 'Leave out --extends, or name a new file.' };
it.each<[string, string[], How['globals'], object]>([
  ['', [], {}, missing],
  ['-', [], {}, missing],
  [
    'sparda',
    [],
    {},
    {
      message: 'sparda looks like the name of a platform, not like a file',
      hint: 'For example ./sparda.json.',
    },
  ],
  ['FILE', ['--extends', 'sparda'], {}, { message: 'FILE extends nothing, not sparda', ...NEW_FILE }],
  [
    'PLATFORM',
    ['--extends', 'sparkassen'],
    {},
    { message: 'PLATFORM extends sparda, not sparkassen', ...NEW_FILE },
  ],
  [
    'NEW',
    ['--extends', '../x.json'],
    {},
    { message: '--extends must name a platform, or a bank file in the folder of the new file' },
  ],
  ['NEW', [], { raw: true }, { message: '--raw works only with the commands that read from the bank' }],
])('asks nothing with the file %j, %j and %j', async (name, words, globals, failure) => {
  const file = /[A-Z]/.test(name) ? newFile() : name;
  const platform = name === 'PLATFORM' ? { extends: 'sparda' } : {};
  if (/FILE|PLATFORM/.test(name))
    writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', ...platform }));
  await atSmallBank(friendly, async (env, calls) => {
    const refused = await learnAt(env, file, undefined, { words, globals: { yes: true, ...globals } });
    const message = refused.failure?.message.replaceAll(file || ' ', name || ' ');
    expect({ ...refused.failure, message }).toEqual({ code: 'usage', exitCode: 2, ...failure });
    expect([refused.said, calls]).toEqual(['', []]);
  });
});

const begun = (calls: readonly string[]) => calls.filter((call) => call === 'POST /v1/consents').length;
const ended = (calls: readonly string[]) => calls.filter((call) => call === 'DELETE /v1/consents/c1').length;

it.each(['PSU-ID', 'psuData.encryptedPassword'])(
  'a bank that begins no SCA for want of %s does not say that it wants the password',
  async (path) => {
    const picky: SmallBank = (method, at, ...of) => {
      if (method !== 'POST' || !at.startsWith('/v1/consents')) return friendly(method, at, ...of);
      if (at !== '/v1/consents') return refuses(400, 'FORMAT_ERROR', path);
      const start = { href: '/v1/consents/c1/authorisations' };
      const body = { consentId: 'c1', consentStatus: 'received', _links: { startAuthorisation: start } };
      return { status: 201, body };
    };
    await atSmallBank(picky, async (env) => {
      const { failure, result } = await learnAt(env);
      const about = result?.findings.filter(({ field }) => /^sca\.(approaches|first)$/.test(field));
      expect([failure, about]).toEqual([null, [expect.objectContaining({ status: 'unknown' })]]);
    });
  },
);

it('deletes every consent that it begins, and begins no other at a bank that deletes none', async () => {
  await atSmallBank(friendly, async (env, calls) => {
    const { failure, result, left } = await learnAt(env);
    expect([failure, result?.ok, result?.left, left]).toEqual([null, true, [], false]);
    expect(begun(calls)).toBeGreaterThan(5);
    expect(ended(calls)).toBe(begun(calls));
  });
  const folder = newFolder();
  let keeps = true;
  const keeping: SmallBank = (method, ...of) =>
    method === 'DELETE' && keeps ? refuses(409, 'STATUS_INVALID') : friendly(method, ...of);
  await atSmallBank(keeping, async (env, calls) => {
    const kept = await learnAt(env, newFile(), folder);
    expect([kept.failure, kept.result?.left, kept.left]).toEqual([
      null,
      [expect.objectContaining({ what: 'bank-offered', id: 'c1' })],
      true,
    ]);
    expect(begun(calls)).toBe(1);
    expect(kept.said).toContain('bank-offered c1 is left');
    // The next run deletes what the last one left.
    keeps = false;
    const again = await learnAt(env, newFile(), folder);
    expect([again.result?.left, again.left]).toEqual([[], false]);
    expect(ended(calls)).toBe(begun(calls) + 2);
  });
});

it('cancels what a bank takes for a payment, and asks no more', async () => {
  const rash: SmallBank = (method, path, ...of) =>
    method === 'POST' && path.startsWith('/v1/payments')
      ? { status: 201, body: { paymentId: 'p1', transactionStatus: 'RCVD' } }
      : friendly(method, path, ...of);
  await atSmallBank(rash, async (env, calls) => {
    const { result } = await learnAt(env);
    expect(result?.left).toEqual([]);
    expect(calls.slice(-2)).toEqual([
      'POST /v1/payments/psd2-no-such-product',
      'DELETE /v1/payments/psd2-no-such-product/p1',
    ]);
    expect(result?.findings.find(({ field }) => field === 'payments.products')?.reason).toMatch(
      /empty object/,
    );
  });
});

const FILE = '/v1/payments/pain.001-psd2-no-such-product';
const OF_FILES = 'pain.001-sepa-credit-transfers';
/** A bank that begins a payment whatever it gets for a product of files. */
const takesFiles =
  (deleted: Reply, status: Reply = { status: 200, body: { transactionStatus: 'RCVD' } }): SmallBank =>
  (method, path, ...of) => {
    if (method === 'POST' && path.includes('/pain.001-'))
      return { status: 201, body: { paymentId: 'p1', transactionStatus: 'RCVD' } };
    if (!path.startsWith(`${FILE}/p1`)) return friendly(method, path, ...of);
    return method === 'DELETE' ? deleted : status;
  };

it('asks for products of files last, with an object, and cancels at once what one of them begins, as any payment', async () => {
  const bodies: string[] = [];
  const back: unknown[] = [];
  const bank = takesFiles({ status: 204 });
  const noting: SmallBank = (method, path, headers, body) => {
    if (path === FILE) bodies.push(body);
    if (method === 'DELETE' && path.startsWith(FILE)) back.push(headers['tpp-redirect-uri']);
    return bank(method, path, headers, body);
  };
  await atSmallBank(noting, async (env, calls) => {
    const { result, left } = await learnAt(env);
    expect([result?.left, left]).toEqual([[], false]);
    expect(calls.slice(-2)).toEqual([`POST ${FILE}`, `DELETE ${FILE}/p1`]);
    expect(calls).toContain('POST /v2/consents/confirmation-of-funds');
    expect([bodies, back]).toEqual([['{}'], [expect.stringContaining('/callback')]]);
    expect(result?.findings.find(({ field }) => field.endsWith('payments: pain.001-…'))?.reason).toMatch(
      /empty object/,
    );
  });
});

it.each<[string, Reply, object, value: string]>([
  ['has no longer', refuses(404, 'PRODUCT_UNKNOWN'), ['sepa-credit-transfers'], '["sepa-credit-transfers"]'],
  [
    'still has',
    refuses(400, 'FORMAT_ERROR'),
    ['sepa-credit-transfers', OF_FILES],
    `["sepa-credit-transfers","${OF_FILES}"]`,
  ],
])(
  'of a product of files that the file names, learns that the bank %s it',
  async (_, reply, inFile, value) => {
    const bank: SmallBank = (method, path, ...of) => {
      if (method === 'POST' && path === `/v1/payments/${OF_FILES}`) return reply;
      if (method === 'POST' && path === SEPA) return refuses(400, 'FORMAT_ERROR');
      return friendly(method, path, ...of);
    };
    await atSmallBank(bank, async (env) => {
      const file = newFile();
      const payments = { products: { payments: ['sepa-credit-transfers', OF_FILES] } };
      writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', payments }));
      const { result } = await learnAt(env, file);
      expect(result?.findings.find(({ field }) => field === 'payments.products.payments')?.value).toBe(value);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
        payments: { products: { payments: inFile } },
      });
    });
  },
);

const WANTS_CUSTOMER: Reply = {
  status: 202,
  body: { _links: { startAuthorisation: { href: `${FILE}/p1/cancellation-authorisations` } } },
};
it.each<[string, Reply, Reply, isGone: boolean]>([
  ['wants the customer for it', WANTS_CUSTOMER, { status: 200, body: { transactionStatus: 'RCVD' } }, false],
  ['wants the customer, and a page says CANC', WANTS_CUSTOMER, { status: 404, body: '<i>CANC</i>' }, false],
  [
    'wants the customer, and says CANC',
    WANTS_CUSTOMER,
    { status: 200, body: { transactionStatus: 'CANC' } },
    true,
  ],
])('a cancellation of what it began: the bank %s', async (_, deleted, status, isGone) => {
  await atSmallBank(takesFiles(deleted, status), async (env, calls) => {
    const { result } = await learnAt(env);
    expect(calls.slice(-2)).toEqual([`DELETE ${FILE}/p1`, `GET ${FILE}/p1/status`]);
    // What stays is for the next run.
    expect(calls.filter((call) => call === `DELETE ${FILE}/p1`)).toHaveLength(1);
    expect(result?.left.map(({ id }) => id)).toEqual(isGone ? [] : ['p1']);
  });
});

it.each<[string, Reply, staysNoted: boolean]>([
  ['a page', { status: 200, body: '<html></html>' }, true],
  ['a page that does not know it', { status: 404, body: '<html></html>' }, true],
  ['a link for the customer', WANTS_CUSTOMER, true],
  // Nobody can end it: it is said once.
  ['that the bank does not know it', refuses(404, 'RESOURCE_UNKNOWN'), false],
])('a deletion that meets %s leaves the consent, and psd2 says so', async (_, deleted, staysNoted) => {
  const keeping: SmallBank = (method, ...of) => (method === 'DELETE' ? deleted : friendly(method, ...of));
  await atSmallBank(keeping, async (env) => {
    const { result, left, said } = await learnAt(env);
    expect(result?.left).toEqual([expect.objectContaining({ what: 'bank-offered', id: 'c1' })]);
    expect(left).toBe(staysNoted);
    expect(said).toContain(
      staysNoted ? 'tries again to delete it' : 'does not know it with this certificate',
    );
  });
});

it.each([
  ['/v1/consents', 'bank-offered', 'bank_unreachable'],
  ['/v1/payments/psd2-no-such-product', 'payments/psd2-no-such-product', undefined],
])('names what may be left because the answer of %s was lost', async (lost, what, code) => {
  const losing: SmallBank = (method, path, ...of) =>
    method === 'POST' && path === lost ? null : friendly(method, path, ...of);
  await atSmallBank(losing, async (env, calls) => {
    const { failure, result, left, said } = await learnAt(env);
    expect([failure?.code, left]).toEqual([code, false]);
    expect(result?.left).toEqual([expect.objectContaining({ what, id: null })]);
    expect(calls.filter((call) => call === `POST ${lost}`)).toHaveLength(1);
    expect(said).toMatch(/did not say what became of/);
  });
});

const begunAt = (at: string, requestId: string) => ({ what: 'dedicated', id: null, requestId, at, bank: '' });
const [EARLY, LATE] = ['2026-11-30T08:00:00.000Z', '2026-11-30T09:00:00.000Z'];
it.each<[string, string[], string[]]>([
  ['nothing', [], []],
  ['one thing', [`${LATE} a`], ['a']],
  ['two, the names in order', [`${EARLY} a`, `${LATE} b`], ['a', 'b']],
  ['two, the names in the other order', [`${LATE} a`, `${EARLY} b`], ['b', 'a']],
])('what was begun is in the order of its times: %s', (name, things, order) => {
  const begunThings = new BegunThings(join(temporary, `begun ${name}`));
  for (const [at = '', requestId = ''] of things.map((each) => each.split(' ')))
    begunThings.keep(begunAt(at, requestId));
  expect(begunThings.all.map(({ requestId }) => requestId)).toEqual(order);
});

it('keeps what each of two processes has begun for one profile', () => {
  const folder = join(temporary, 'begun');
  const [one, other] = [new BegunThings(folder), new BegunThings(folder)];
  const thing = (requestId: string) => begunAt(requestId, requestId);
  one.keep(thing('1'));
  other.keep(thing('2'));
  one.keep({ ...thing('1'), id: 'c1' });
  expect(other.all.map(({ id }) => id)).toEqual(['c1', null]);
  one.drop(thing('1'));
  expect(other.all).toEqual([thing('2')]);
});

it('stops at a bank that minds, with its consents deleted', async () => {
  let asked = 0;
  const minding: SmallBank = (method, path, ...of) => {
    if (method === 'POST') asked += 1;
    return asked > 3 && method === 'POST' ? refuses(429, 'ACCESS_EXCEEDED') : friendly(method, path, ...of);
  };
  await atSmallBank(minding, async (env, calls) => {
    const { failure, result } = await learnAt(env);
    // What met the 429 may have begun.
    const left = [expect.objectContaining({ what: 'list-only', id: null })];
    expect([failure, result?.left, begun(calls), ended(calls)]).toEqual([null, left, 4, 3]);
  });
});

it('after Ctrl-C deletes what it has begun, and writes nothing', async () => {
  const interruption = new AbortController();
  const interrupted = new Psd2Error('interrupted', 'Interrupted');
  const stopping: SmallBank = (method, path, ...of) => {
    if (path === '/v1/consents/c1' && method === 'GET') interruption.abort(interrupted);
    return friendly(method, path, ...of);
  };
  await atSmallBank(stopping, async (env, calls) => {
    const { signal } = interruption;
    const sleep = async () => signal.throwIfAborted();
    const changes: How['changes'] = ({ world }) => ({ world: { ...world, signal, sleep } });
    const { failure, file, left } = await learnAt(env, undefined, undefined, { changes });
    expect([failure?.exitCode, existsSync(file), left]).toEqual([130, false, false]);
    expect([begun(calls), ended(calls), calls.at(-1)]).toEqual([1, 1, 'DELETE /v1/consents/c1']);
  });
});

it.each<
  [
    string,
    days: number | null,
    frequency: number | null,
    maxDays: string | null,
    frequencyPerDay: string | null,
  ]
>([
  ['neither', null, null, null, null],
  ['what was asked for', 180, 4, null, '4'],
  ['a day less', 179, 3, '179', '3'],
  ['more', 181, 5, null, null],
  ['tomorrow', 1, 1, '1', '1'],
  ['today', 0, 0, null, null],
  ['yesterday', -1, -1, null, null],
])('of the first consent, the bank makes %s', async (_, days, frequency, maxDays, frequencyPerDay) => {
  let reads = 0;
  const at = now();
  const terms = {
    ...(days !== null && { validUntil: addDays(bankDay(at), days) }),
    ...(frequency !== null && { frequencyPerDay: frequency }),
  };
  const bank: SmallBank = (method, path, ...of) => {
    if (method !== 'GET' || path !== '/v1/consents/c1') return friendly(method, path, ...of);
    reads += 1;
    // The last consent is asked for ever, and this bank does not say what it made of that.
    return { status: 200, body: { consentStatus: 'received', ...(reads === 1 && terms) } };
  };
  await atSmallBank(bank, async (env) => {
    const changes: How['changes'] = ({ world }) => ({ world: { ...world, now: () => at } });
    const { result } = await learnAt(env, undefined, undefined, { changes });
    const found = (field: string) => result?.findings.find((each) => each.field === field)?.value ?? null;
    expect([found('consent.maxDays'), found('consent.frequencyPerDay')]).toEqual([maxDays, frequencyPerDay]);
  });
});

/** A bank that looks at the lists before it looks at the consent. */
const givingLists =
  (taken: readonly string[], text = 'bookingStatus is not supported'): SmallBank =>
  (method, path, ...of) => {
    const [, status] = /[?&]bookingStatus=(\w+)/.exec(path) ?? [];
    if (status === undefined) return friendly(method, path, ...of);
    if (taken.includes(status)) return refuses(401, 'CONSENT_INVALID');
    return { status: 400, body: { tppMessages: [{ category: 'ERROR', code: 'FORMAT_ERROR', text }] } };
  };

it.each<[string, SmallBank, string | null]>([
  ['not both', givingLists(['booked', 'pending']), '["booked","pending"]'],
  ['booked alone', givingLists(['booked']), '["booked"]'],
  ['all, or looks at the consent first', givingLists(['booked', 'pending', 'both']), null],
  ['none, so that it means something else', givingLists([]), null],
  ['booked alone, but names another field', givingLists(['booked'], 'dateFrom is missing'), null],
])('finds out which lists of transactions a bank gives: %s', async (_, bank, value) => {
  await atSmallBank(bank, async (env, calls) => {
    const { result } = await learnAt(env);
    const found = result?.findings.find(({ field }) => field === 'accounts.bookingStatuses');
    expect(found).toMatchObject({ value, status: value === null ? 'unknown' : 'differs' });
    const asked = calls.filter((call) => call.includes('bookingStatus='));
    expect(asked.every((call) => /^GET \/v1\/accounts\/[0-9a-f-]{36}\/transactions\?/.test(call))).toBe(true);
    expect(asked).toHaveLength(3);
  });
});

it.each<[string, isShown: boolean]>([
  ['psuData', false],
  ['access.allPsd2', true],
])('of a kind of consent, an error about %s shows something: %s', async (path, isShown) => {
  const bank: SmallBank = (method, at, headers, body) =>
    at === '/v1/consents' && body.includes('allPsd2')
      ? refuses(400, 'FORMAT_ERROR', path)
      : friendly(method, at, headers, body);
  await atSmallBank(bank, async (env) => {
    const { result } = await learnAt(env);
    const named = (field: string) => result?.findings.find((finding) => finding.field === field);
    expect(named('consent.types')?.value?.includes('all-accounts')).toBe(!isShown);
    expect(named('consent.types: all-accounts')?.status).toBe(isShown ? undefined : 'unknown');
  });
});

it.each<[string, isShown: boolean]>([
  ['SERVICE_INVALID', true],
  ['PARAMETER_NOT_SUPPORTED', true],
  ['PARAMETER_NOT_CONSISTENT', true],
  ['FORMAT_ERROR', true],
  ['PERIOD_INVALID', false],
  ['CONSENT_INVALID', false],
])(
  'a refusal with %s shows that a bank lacks a kind of consent, or one for one reading: %s',
  async (code, isShown) => {
    const bank: SmallBank = (method, at, headers, body) =>
      at === '/v1/consents' && (body.includes('allPsd2') || once(body))
        ? refuses(400, code)
        : friendly(method, at, headers, body);
    await atSmallBank(bank, async (env) => {
      const { result } = await learnAt(env);
      const named = (field: string) => result?.findings.find((finding) => finding.field === field);
      expect(named('consent.types')?.value?.includes('all-accounts')).toBe(!isShown);
      expect(named('consent.types: all-accounts')?.status).toBe(isShown ? undefined : 'unknown');
      expect(named('consent.once')).toMatchObject({ value: isShown ? 'false' : null });
    });
  },
);

it('asks for each kind of consent, of the account that is named', async () => {
  const asked = new Set<string>();
  const noting: SmallBank = (method, path, headers, body) => {
    if (method === 'POST' && path === '/v1/consents') asked.add(JSON.stringify(JSON.parse(body).access));
    return friendly(method, path, headers, body);
  };
  await atSmallBank(noting, async (env) => {
    await learnAt(env, undefined, undefined, { words: ACCOUNT });
  });
  const accounts = [{ iban: accountIban(CURRENT) }];
  expect([...asked].map((access) => JSON.parse(access))).toEqual([
    { accounts, balances: accounts, transactions: accounts },
    { accounts: [], balances: [], transactions: [] },
    { allPsd2: 'allAccounts' },
    { availableAccounts: 'allAccounts' },
  ]);
});

/** Another answer to one call of a friendly bank. */
const butAt =
  (
    call: string,
    reply: Reply,
    isMeant: (body: string, headers: IncomingHttpHeaders) => boolean = () => true,
  ): SmallBank =>
  (method, path, headers, body) =>
    call === `${method} ${path}` && isMeant(body, headers) ? reply : friendly(method, path, headers, body);
const CONSENT = '/v1/consents/c1';
const GONE = refuses(404, 'RESOURCE_UNKNOWN');
const once = (body: string) => body.includes('"recurringIndicator":false');
const hasPsu = (_: string, headers: IncomingHttpHeaders) => headers['psu-id'] !== undefined;
const begunWith = (links: object | undefined): Reply => ({
  status: 201,
  body: { consentId: 'c1', consentStatus: 'received', ...(links && { _links: links }) },
});
/** The last of these answers counts that is not the friendly one. */
const atAll =
  (...banks: SmallBank[]): SmallBank =>
  (...of) =>
    banks
      .map((bank) => bank(...of))
      .findLast((reply) => JSON.stringify(reply) !== JSON.stringify(friendly(...of))) ?? friendly(...of);
const noRead = butAt(`GET ${CONSENT}`, GONE);
const noStatus = butAt(`GET ${CONSENT}/status`, GONE);
const oauthLink = butAt('POST /v1/consents', begunWith({ scaOAuth: { href: 'https://idp.example/m' } }));
const [SEPA, FUNDS] = ['/v1/payments/sepa-credit-transfers', '/v2/consents/confirmation-of-funds'];
const UNCLEAR = 'the answer may be about something else';
const OF_CUSTOMER = 'the bank takes a consent without PSU-ID; with it, the answer may be about the customer';
it.each<[string, SmallBank, field: string, value: string | null, reason: string | null]>([
  ['reads no consent, but its status', noRead, 'consent.status', '"call"', null],
  [
    'reads neither',
    atAll(noRead, noStatus),
    'consent.status',
    null,
    'the bank tells in no call how a consent is, and psd2 can do without that only where the customer logs in with OAuth',
  ],
  ['reads neither, and has OAuth', atAll(noRead, noStatus, oauthLink), 'consent.status', '"none"', null],
  ['deletes', friendly, 'consent.delete', '"any"', null],
  [
    'deletes none yet',
    butAt(`DELETE ${CONSENT}`, refuses(409, 'STATUS_INVALID')),
    'consent.delete',
    '"authorised"',
    null,
  ],
  [
    'deletes none',
    butAt(`DELETE ${CONSENT}`, refuses(400, 'FORMAT_ERROR')),
    'consent.delete',
    null,
    'the bank refused to delete a consent',
  ],
  [
    'names no way',
    butAt('POST /v1/consents', begunWith({})),
    'sca.approaches',
    null,
    'the answer names no way for the customer',
  ],
  [
    'has no links',
    butAt('POST /v1/consents', begunWith(undefined)),
    'sca.approaches',
    null,
    'the answer names no way for the customer',
  ],
  [
    'has no link to a call',
    butAt('POST /v1/consents', begunWith(undefined)),
    'links',
    null,
    'the answers have no link to a call',
  ],
  ['takes a PSU-ID', friendly, 'psu.id', '"optional"', null],
  [
    'takes no PSU-ID',
    butAt('POST /v1/consents', refuses(400, 'FORMAT_ERROR', 'PSU-ID'), hasPsu),
    'psu.id',
    '"never"',
    null,
  ],
  [
    'does not know it',
    butAt('POST /v1/consents', refuses(401, 'PSU_CREDENTIALS_INVALID'), hasPsu),
    'psu.id',
    null,
    OF_CUSTOMER,
  ],
  [
    'minds more with it',
    butAt('POST /v1/consents', refuses(400, 'FORMAT_ERROR', 'PSU-ID-Type'), hasPsu),
    'psu.id',
    null,
    OF_CUSTOMER,
  ],
  ['takes one reading', friendly, 'consent.once', 'true', null],
  [
    'takes no one reading',
    butAt('POST /v1/consents', refuses(400, 'FORMAT_ERROR', 'recurringIndicator'), once),
    'consent.once',
    'false',
    null,
  ],
  [
    'takes no one reading, and says not why',
    butAt('POST /v1/consents', refuses(400, 'FORMAT_ERROR'), once),
    'consent.once',
    'false',
    null,
  ],
  [
    'minds another field then',
    butAt('POST /v1/consents', refuses(400, 'FORMAT_ERROR', 'validUntil'), once),
    'consent.once',
    null,
    UNCLEAR,
  ],
  [
    'minds something else then',
    butAt('POST /v1/consents', refuses(400, 'PERIOD_INVALID'), once),
    'consent.once',
    null,
    UNCLEAR,
  ],
  [
    'has a product',
    butAt(`POST ${SEPA}`, refuses(400, 'FORMAT_ERROR', 'instructedAmount')),
    'payments.products.payments',
    '["sepa-credit-transfers"]',
    null,
  ],
  [
    'wants the account of the payer',
    butAt(`POST ${SEPA}`, refuses(400, 'FORMAT_ERROR', 'debtorAccount')),
    'payments.debtorAccount',
    '"required"',
    null,
  ],
  [
    'minds a header of a product',
    butAt(`POST ${SEPA}`, refuses(400, 'FORMAT_ERROR', 'PSU-IP-Address')),
    'payments.products.payments: sepa-credit-transfers',
    null,
    UNCLEAR,
  ],
  [
    'minds a header of a signature',
    butAt(`POST ${SEPA}`, refuses(400, 'FORMAT_ERROR', 'Digest')),
    'payments.products.payments: sepa-credit-transfers',
    null,
    UNCLEAR,
  ],
  [
    'takes a header for a product',
    butAt('POST /v1/payments/psd2-no-such-product', refuses(400, 'FORMAT_ERROR')),
    'payments.products.payments',
    null,
    'the answer says nothing of the product: one that no bank has gets it, too',
  ],
  [
    'knows no address',
    (method, path, ...of) =>
      method === 'POST' && path.startsWith('/v1/payments/') ? GONE : friendly(method, path, ...of),
    'payments.products.payments',
    null,
    'the bank says the same of every product',
  ],
  ['has no consents for funds', butAt(`POST ${FUNDS}`, GONE), 'funds.consent', '"never"', null],
  [
    'has no consents for funds, nor begins one for readings: nobody knows whether it is the path',
    atAll(butAt(`POST ${FUNDS}`, GONE), butAt('POST /v1/consents', refuses(400, 'FORMAT_ERROR', 'psuData'))),
    'funds.consent',
    null,
    UNCLEAR,
  ],
  [
    'wants the account of funds, and begins no consent for readings',
    atAll(
      butAt(`POST ${FUNDS}`, refuses(400, 'FORMAT_ERROR', 'account')),
      butAt('POST /v1/consents', refuses(400, 'FORMAT_ERROR', 'psuData')),
    ),
    'funds.consent',
    '"auto"',
    null,
  ],
  [
    'wants the account of funds',
    butAt(`POST ${FUNDS}`, refuses(400, 'FORMAT_ERROR', 'account')),
    'funds.consent',
    '"auto"',
    null,
  ],
  [
    'minds a header of funds',
    butAt(`POST ${FUNDS}`, refuses(400, 'FORMAT_ERROR', 'TPP-Redirect-URI')),
    'funds.consent',
    null,
    UNCLEAR,
  ],
  [
    'takes nothing for a consent for funds',
    butAt(`POST ${FUNDS}`, { status: 201, body: { consentId: 'f1', consentStatus: 'received' } }),
    'funds.consent',
    null,
    'the bank took an empty object for a consent',
  ],
])('what it means that a bank %s', async (_, bank, field, value, reason) => {
  await atSmallBank(bank, async (env) => {
    const words = field === 'psu.id' ? PSU : [];
    const { result } = await learnAt(env, undefined, undefined, { words });
    const found = result?.findings.find((each) => each.field === field);
    expect(found).toMatchObject({ value, reason });
  });
});

it('a product that the bank says it has not, also with 501, stops nothing', async () => {
  const lacking: SmallBank = (method, path, ...of) =>
    method === 'POST' && path.startsWith('/v1/bulk-payments')
      ? refuses(501, 'SERVICE_INVALID')
      : friendly(method, path, ...of);
  await atSmallBank(lacking, async (env, calls) => {
    const { result } = await learnAt(env);
    expect(calls).toContain('POST /v1/periodic-payments/psd2-no-such-product');
    expect(result?.findings.find(({ field }) => field.endsWith('bulk-payments'))).toMatchObject({
      value: '[]',
    });
  });
});

it('names what a page may have begun, and believes no page that a product is not there', async () => {
  const gateway: SmallBank = (method, path, ...of) =>
    method === 'POST' && path.startsWith('/v1/payments/')
      ? { status: 400, body: '<html><title>Bad request</title></html>' }
      : friendly(method, path, ...of);
  await atSmallBank(gateway, async (env) => {
    const { result, said } = await learnAt(env);
    const what = 'payments/psd2-no-such-product';
    expect(result?.left).toContainEqual(expect.objectContaining({ what, id: null }));
    expect(said).toContain(`did not say what became of ${what}`);
    expect(result?.findings.find(({ field }) => field === 'payments.products.payments')).toMatchObject({
      status: 'unknown',
    });
  });
});

it('leads with the two fields that decide what a refused payment proves, and says what psd2 assumes', async () => {
  await atSmallBank(friendly, async (env) => {
    const { result, said } = await learnAt(env);
    const first = result?.findings.slice(0, 2).map(({ field, status }) => `${field} ${status}`);
    expect(first).toEqual(['sca.approaches same', 'payments.executesWithoutSca unknown']);
    expect(said).toContain(
      'payments.executesWithoutSca is not known: nobody has said it. psd2 assumes possible.',
    );
    expect(said).toContain('sca.approaches is redirect.');
    const file = newFile();
    writeFileSync(
      file,
      JSON.stringify({ interface: 'nextgenpsd2', payments: { executesWithoutSca: 'never' } }),
    );
    expect((await learnAt(env, file)).said).toContain('payments.executesWithoutSca is never.');
  });
});

it('keeps what a file says, says what has changed, and overwrites nothing else', async () => {
  await atSmallBank(friendly, async (env, calls) => {
    const file = newFile();
    const stays = { name: 'Mine', source: 'us', payments: { futureDays: 30 } };
    writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', consent: { once: false }, ...stays }));
    const { result } = await learnAt(env, file);
    expect(result?.findings.find(({ field }) => field === 'consent.once')).toMatchObject({
      ...{ status: 'differs', value: 'true', was: 'false' },
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ ...stays, consent: { once: true } });
    const asked = calls.length;
    const other = newFile();
    writeFileSync(other, '{"some": "thing"}');
    expect((await learnAt(env, other)).failure?.code).toBe('config');
    expect([readFileSync(other, 'utf8'), calls.length]).toEqual(['{"some": "thing"}', asked]);
  });
});

it('says of each field what the bank has shown, or why nothing has shown it', async () => {
  await atSmallBank(friendly, async (env) => {
    const { result } = await learnAt(env);
    const lines = (result?.findings ?? []).map(
      ({ field, status, value, reason }) => `${field} ${status} ${value}: ${reason}`,
    );
    // The consent of this bank ends on a day of the calendar.
    expect(lines.join('\n').replace(/maxDays differs \d+/, 'maxDays differs DAYS')).toMatchInlineSnapshot(`
      "sca.approaches same ["redirect"]: null
      payments.executesWithoutSca unknown null: psd2 cannot ask for it: the bank's documentation says it. Unless the file has it, psd2 assumes possible
      signing.when differs "never": null
      consent.maxDays differs DAYS: null
      payments.products.payments differs []: null
      funds.consent differs "never": null
      consent.status same "call": null
      consent.frequencyPerDay same 4: null
      consent.delete same "any": null
      sca.start same "follow-links": null
      consent.types same ["dedicated","bank-offered","all-accounts","list-only"]: null
      consent.once same true: null
      payments.products.bulk-payments same []: null
      payments.products.periodic-payments same []: null
      accounts.bookingStatuses unknown null: the bank refuses no list before a customer has consented. At a reading, psd2 asks for each list if the bank refuses both
      links unknown null: the answers have no link to a call
      sca.approaches: decoupled unknown null: the bank did not choose it when psd2 preferred it
      consent.types: dedicated unknown null: this kind is for an account: name one of a customer with --account
      psu.id unknown null: the bank takes a consent without PSU-ID. Whether it takes one with it: say --psu-id
      oauth.names unknown null: psd2 cannot ask for it: it shows only when a customer logs in
      oauth.scope unknown null: psd2 cannot ask for it: it shows only when a customer logs in
      oauth.clientAuth unknown null: psd2 cannot ask for it: it shows only when a customer logs in"
    `);
  });
});

it.each<
  [
    string,
    string[],
    profile: string | undefined,
    isThere: boolean,
    SmallBank,
    before: string[],
    after: string[],
  ]
>([
  [
    'a new file',
    [],
    undefined,
    false,
    friendly,
    ['It names no customer, so the bank can ask nobody.', 'The result goes into the new file FILE.'],
    [
      'Next, name the file in the environment, as PSD2_BANK: FILE',
      'Then ask a customer for a consent: psd2 consent request',
    ],
  ],
  [
    'a file that is there, with a customer, for a profile',
    ['--psu-id', 'ada'],
    'mine',
    true,
    friendly,
    ['It names the customer ada, whom the bank may ask.', 'What has changed since goes into FILE.'],
    [
      'Next, store it in the profile: psd2 profile set mine --bank FILE',
      'Then ask a customer for a consent: psd2 --profile mine consent request',
    ],
  ],
  [
    'a bank that wants a login',
    [],
    'mine',
    false,
    beginning(refuses(401, 'TOKEN_UNKNOWN')),
    ['It names no customer, so the bank can ask nobody.', 'The result goes into the new file FILE.'],
    [
      'Next, store it in the profile: psd2 profile set mine --bank FILE',
      'Then look at what is left: psd2 --profile mine doctor',
    ],
  ],
])('says what it will ask, and how to go on: %s', async (_, words, profile, isThere, bank, before, after) => {
  await atSmallBank(bank, async (env) => {
    const folder = newFolder();
    const { profiles } = openCommand(folder, now).context;
    await profiles.write('mine', { baseUrl: env.PSD2_BASE_URL ?? '' });
    const file = newFile();
    if (isThere) writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2' }));
    const globals = { yes: true, ...(profile !== undefined && { profile }) } as const;
    const { said } = await learnAt(env, file, folder, { words, globals });
    const lines = said.replaceAll(file, 'FILE').trimEnd().split('\n');
    expect(lines.slice(0, 8)).toEqual([
      `psd2 asks ${env.PSD2_BASE_URL}, slowly, and stops if the bank minds:`,
      ...lines.slice(1, 6),
      ...before,
    ]);
    expect(lines.slice(1, 6).map((line) => line.split(':')[0])).toEqual([
      '- which signature',
      '- which consents, and how customers authorise',
      '- which lists of transactions',
      '- which payment products',
      '- whether there is an OAuth server',
    ]);
    expect(lines.slice(-2)).toEqual(after);
  });
});

it('a person reads the values by heading, each with what the bank answered, and in a pipe a line each', async () => {
  const linking: SmallBank = (method, path, ...of) => {
    const reply = friendly(method, path, ...of);
    if (method !== 'POST' || path !== '/v1/consents' || reply === null) return reply;
    const links = {
      scaRedirect: { href: 'https://bank.example/sca' },
      scaStatus: { href: '/v1/consents/c1/x' },
    };
    return { ...reply, body: { consentId: 'c1', consentStatus: 'received', _links: links } };
  };
  await atSmallBank(linking, async (env) => {
    const file = newFile();
    writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', consent: { once: false } }));
    const { printed } = await learnAt(env, file, undefined, { format: 'table', columns: 60 });
    const clear = printed.replace(/\d{4}-\d\d-\d\d/g, 'DAY').replace(/Days: \d+/, 'Days: DAYS');
    const beginnings = clear.split('\n\n').map((part) => part.split('\n').slice(0, 9).join('\n'));
    expect(beginnings.join('\n\n')).toMatchInlineSnapshot(`
      "Differs from standard
        signing.when: "never" (before: "always")
            GET /v1/consents/c1: 200, without a signature
        consent.once: true (before: false)
            POST /v1/consents: 201
        consent.maxDays: DAYS (before: 180)
            GET /v1/consents/c1: 200, validUntil DAY for
            DAY
        payments.products.payments: [] (before:

      As standard says
        sca.approaches: ["redirect"]
            POST /v1/consents: 201, with scaRedirect
        consent.status: "call"
            GET /v1/consents/c1: 200
        consent.frequencyPerDay: 4
            GET /v1/consents/c1: 200
        consent.delete: "any"
            DELETE /v1/consents/c1: 204, the answer is empty

      Seen, and no field says it
        links: paths of the host
            POST /v1/consents: 201, with /v1/consents/c1/x

      Not found out
        payments.executesWithoutSca
            psd2 cannot ask for it: the bank's documentation says
            it. Unless the file has it, psd2 assumes possible
        accounts.bookingStatuses
            the bank refuses no list before a customer has
            consented. At a reading, psd2 asks for each list if
            the bank refuses both
            GET

      "
    `);
    const piped = await learnAt(env, newFile(), undefined, { format: 'table' });
    const row = ['same', 'consent.once', 'true', 'true', 'POST /v1/consents', '201', ''];
    expect(cellsIn(piped.printed)).toContainEqual(row);
  });
});

it('asks at the address of what the file extends, and takes its platform by name', async () => {
  await atSmallBank(friendly, async (env, calls) => {
    const [base, file] = [newFile(), newFile()];
    const api = { baseUrl: env.PSD2_BASE_URL };
    writeFileSync(base, JSON.stringify({ interface: 'nextgenpsd2', api }));
    writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', extends: basename(base) }));
    const { failure } = await learnAt({ PSD2_BASE_URL: 'http://127.0.0.1:9' }, file);
    expect([failure, begun(calls) > 0]).toEqual([null, true]);
    const again = await learnAt(env, base, undefined, { words: ['--extends', 'standard'] });
    expect([again.failure, again.result?.file]).toEqual([null, base]);
  });
});

it('asks at the address that the file names, whatever the profile has', async () => {
  await atSmallBank(friendly, async (env, calls) => {
    const file = newFile();
    const api = { baseUrl: env.PSD2_BASE_URL };
    writeFileSync(file, JSON.stringify({ interface: 'nextgenpsd2', api }));
    const { failure } = await learnAt({ PSD2_BASE_URL: 'http://127.0.0.1:9' }, file);
    expect([failure, begun(calls) > 0]).toEqual([null, true]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ api });
  });
});

it('learns that the bank wants a signature from its refusal of a request without one', async () => {
  const { result } = await atDoor((door) => learn(door));
  expect(result?.findings.find(({ field }) => field === 'signing.when')).toMatchObject({
    ...{ status: 'same', value: '"always"' },
  });
});
