import { describe, expect, it } from 'vitest';
import { euros, row } from '../fuzz/plausible-bank.ts';
import { words } from '../support/words.ts';
import { type Behaviour, type PlainAnswer, PRODUCT, useHostileBank, write } from './hostile-bank.ts';
import { ACTED_UPON, useResident } from './resident.ts';

const bank = useHostileBank();
const resident = useResident(bank.operator);

/** One of each: text that moves the cursor, sets the title or the clipboard, forges a link, a column or a line, or hides. */
const ATTACK = [
  ...['\u001b[2J', '\u001b]0;title\u0007', '\u001b]52;c;ZXZpbA==\u0007'],
  ...[
    '\u001b]8;;https://evil.example\u001b\\',
    '\u009b31m',
    '\u009d',
    '\u0085',
    '\u0000',
    '\u0008',
    '\u007f',
  ],
  ...['\r', '\r\n', '\n', '\tFORGED\t', '\v', '\f', '\u202e', '\u2066', '\u200f', '\u200b', '\u200d'],
  ...['\u2060', '\ufeff', '\u2028', '\u2029', '\u00ad', '\u{e0041}', '\ud800'],
].join('x');

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const envelope = (data: Json, more: object = {}) => ({
  result: {
    ...{ outcome: 'SUCCESS', requestId: '012345678901234567890123', flushMessages: true },
    messages: [{ code: 'W1', message: 'A warning', type: 'WARNING', detail: 'more' }],
  },
  data,
  ...more,
});
const failed = (messages: Json) => ({
  result: { outcome: 'ERROR', requestId: '1', messages },
  resources: { resourceId: 'r1' },
});
const error = failed([{ code: 'E1', message: 'An error', type: 'ERROR', detail: 'more' }]);
const approach = envelope({ chosenScaApproach: 'REDIRECT', scaRedirectURL: 'https://bank.example/sca' });
const status = envelope({ authorizationStatus: 'AUTHORIZED', executionStatus: 'PENDING' });
const resources = {
  resources: { resourceId: 'r1' },
  _links: { next: { href: 'r1/execute', method: 'PUT' } },
};
const verified = envelope(
  { totalAmount: euros('6.50'), commissions: { commissions: '0.50', currency: 'EUR' }, bankName: 'A bank' },
  resources,
);
const paid = envelope({ cro: 'CRO1' }, resources);
const transfer = words`transfer create --yes --from ${PRODUCT} --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 6.00`;

interface Case {
  args: string[];
  /** The answers, by the end of their path. */
  answers: Record<string, { status?: number; body: object }>;
  /** The answers to attack, if the others are the same as in another case. */
  attacked?: string[];
  /** The case takes long (each event is synced to the disk), so the test attacks each text in one form only, in turn. */
  slow?: true;
}

const ok = (body: object) => ({ body });
const AUTHORISED = { '/verify': ok(verified), '/approach': ok(approach), '/status': ok(status) };
const cases: Record<string, Case> = {
  'accounts list': {
    args: words`accounts list`,
    answers: {
      '/accounts': ok(
        envelope({
          accounts: [
            {
              ...{ accountId: PRODUCT, product: { code: 'CA30', description: 'Current account' } },
              ...{ currency: 'EUR', iban: 'IT60X0542811101000000123456', name: 'Mine' },
            },
            { accountId: '0000000002', currency: 'EUR', iban: 'IT60', name: 'Other' },
          ],
        }),
      ),
    },
  },
  'accounts balance': {
    args: words`accounts balance ${PRODUCT}`,
    answers: {
      '/retrieve': ok(envelope({ accountBalance: euros('1.000'), date: '30/06/2024', hour: '10:15' })),
    },
  },
  'accounts transactions': {
    args: words`accounts transactions ${PRODUCT}`,
    answers: {
      '/retrieve': ok(envelope({ transactionsAccounting: [row], transactionsNotAccounting: [row] })),
    },
  },
  'accounts show': {
    args: words`accounts show ${PRODUCT}`,
    answers: { [PRODUCT]: ok(envelope({ name: 'Mine', holders: [{ name: 'Ada' }, 'Eve'] })) },
  },
  'customer id': {
    args: words`customer id`,
    answers: { 'customerid-info': ok(envelope({ customerid: '1048262' })) },
  },
  'auth login': {
    args: words`auth login --client-credentials`,
    answers: {
      '/token': ok(
        envelope({
          ...{ access_token: 'abc', token_type: 'Bearer', expires_in: '600' },
          ...{ scope: 'oob', refresh_token: 'd' },
        }),
      ),
    },
  },
  'transfer prepare': {
    args: words`transfer prepare ${PRODUCT}`,
    answers: {
      '/prepare': ok(
        envelope({
          ...{ abi: '03069', today: '30/06/2024', holidays: ['25/12/2024'] },
          currency: { selected: 'EUR', currencyList: [{ label: 'Euro', value: 'EUR', rate: '1' }] },
          countries: [{ label: 'Italy', value: 'IT' }],
        }),
      ),
    },
  },
  'transfer create': {
    args: transfer,
    slow: true,
    answers: { ...AUTHORISED, '/execute': ok(paid) },
  },
  'transfer create that is KO': {
    args: transfer,
    slow: true,
    attacked: ['/execute'],
    answers: { ...AUTHORISED, '/execute': { status: 422, body: error } },
  },
  'operation run': {
    args: words`operation run topUp --account ${PRODUCT} --data {} --yes`,
    slow: true,
    attacked: ['/verify'],
    answers: { ...AUTHORISED, '/execute': ok(paid) },
  },
  'consent request': {
    args: words`consent request --category PAYMENTS --account ${PRODUCT}`,
    slow: true,
    attacked: ['/request', '/confirm'],
    answers: {
      '/request': ok(envelope({ categoriesOutcome: [{ name: 'PAYMENTS', outcome: true }] }, resources)),
      ...{ '/approach': ok(approach), '/status': ok(status), '/confirm': ok(envelope({})) },
    },
  },
  'an error': {
    args: words`customer id`,
    answers: { 'customerid-info': { status: 400, body: error } },
  },
  'an error of OAuth': {
    args: words`auth login --client-credentials`,
    answers: { '/token': { status: 400, body: { error: 'invalid_client', error_description: 'Who?' } } },
  },
  'an SCA requirement': {
    args: words`api GET /private/x`,
    answers: { '/x': { status: 403, body: failed([{ code: 'PSD2_SCA_REQUIRED', message: 'SCA' }]) } },
  },
  api: { args: words`api GET /private/x`, answers: { '/x': ok(envelope({ name: 'Mine' }, resources)) } },
};

/** The paths to each text of a JSON value, and to each name if `names` are attacked. */
function* leaves(value: Json, way: (string | number)[] = []): Generator<(string | number)[]> {
  if (typeof value === 'string') yield way;
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* leaves(item, [...way, index]);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) yield* leaves(item, [...way, name]);
}

/** The value, with what is at the end of a path replaced by `change`. */
function changed(value: Json, [step, ...way]: (string | number)[], change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item, at) => (at === step ? changed(item, way, change) : item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, name === step ? changed(item, way, change) : item]),
  );
}

function playing(answers: Record<string, PlainAnswer>): Behaviour {
  return (socket, { target }) => {
    const path = target.split('?', 1)[0] ?? '';
    const answer = Object.entries(answers).find(([end]) => path.endsWith(end))?.[1];
    write(socket, answer ?? { status: 404 });
  };
}

const env = { PSD2_REDIRECT_URI: 'https://tpp.example/callback', PSD2_SCA_TIMEOUT: '0.2', PSD2_DEBUG: '1' };
const FORMS: [string[], { columns?: number }][] = [
  [[], { columns: 80 }],
  [[], {}],
  [['--json'], { columns: 120 }],
];

/** The number of columns in each line of plain output. */
const columnsOf = (stdout: string) => stdout.split('\n').map((line) => line.split('\t').length);

describe('no text of the bank acts on a terminal, or forges a line or a column', () => {
  it.each(Object.entries(cases))(
    'no text of the bank acts on a terminal or forges a column: %s',
    async (_, { args, answers, attacked = Object.keys(answers), slow }) => {
      let attacks = 0;
      for (const [end, { body }] of Object.entries(answers).filter(([name]) => attacked.includes(name))) {
        const parsed: Json = JSON.parse(JSON.stringify(body));
        for (const way of leaves(parsed)) {
          for (const [more, terminal] of slow ? FORMS.slice(attacks % 3).slice(0, 1) : FORMS) {
            const run = (change: (text: string) => string) => {
              const written = Object.entries(answers).map(([name, answer]) => {
                const content = name === end ? changed(parsed, way, change) : answer.body;
                return [name, { status: answer.status ?? 200, body: JSON.stringify(content) }] as const;
              });
              bank.behave(playing(Object.fromEntries(written)));
              return resident.run([...args, ...more], { env, ...terminal });
            };
            const ended = await run((text) => text + ATTACK);
            attacks += 1;
            const where = `${end} ${way.join('.')}\n${JSON.stringify(ended.stdout + ended.stderr)}`;
            expect(ended.crash, where).toBeUndefined();
            expect(ended.code, where).not.toBe(1);
            expect(ended.stdout, where).not.toMatch(ACTED_UPON);
            expect(ended.stderr, where).not.toMatch(ACTED_UPON);
            expect(ended.stderr, where).not.toContain('\t');
            expect(ended.stdout + ended.stderr, where).not.toMatch(/^\s*FORGED/m);
            if (more.includes('--json') && ended.code === 0) JSON.parse(ended.stdout);
            else if (terminal.columns !== undefined) expect(ended.stdout, where).not.toContain('\t');
            else {
              const tame = await run((text) => `${text}x`);
              if (ended.code === tame.code)
                expect(columnsOf(ended.stdout), where).toEqual(columnsOf(tame.stdout));
            }
          }
        }
      }
      expect(attacks).toBeGreaterThan(3);
    },
  );

  it('no field name of the bank acts on a terminal or forges a column', async () => {
    const body = JSON.stringify(envelope({ [`name${ATTACK}`]: { [ATTACK]: 'value' }, other: '1' }));
    bank.behave(playing({ [PRODUCT]: { body } }));
    for (const [more, terminal] of FORMS) {
      const { code, stdout } = await resident.run(['accounts', 'show', PRODUCT, ...more], {
        env,
        ...terminal,
      });
      expect(code).toBe(0);
      expect(stdout).not.toMatch(ACTED_UPON);
      if (more.length === 0) expect(stdout.trimEnd().split('\n')).toHaveLength(2);
      if (more.length === 0 && terminal.columns === undefined) expect(columnsOf(stdout)).toEqual([2, 2, 1]);
    }
  });

  it('no header of the bank acts on a terminal', async () => {
    const odd = 'text/\u009b31m\u0085\u00ad';
    for (const status of [200, 302, 400, 401, 420]) {
      const headers = { 'content-type': odd, 'cb-apitrack-id': odd, 'retry-after': odd, location: odd };
      bank.behave((socket) => {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(
          Buffer.from(`HTTP/1.1 ${status} OK\r\n${lines.join('')}Content-Length: 1\r\n\r\nx`, 'latin1'),
        );
      });
      const { code, stdout, stderr } = await resident.run(['api', 'PUT', '/x', '--data', '{}'], { env });
      expect(code).not.toBe(1);
      expect(stdout + stderr).not.toMatch(ACTED_UPON);
    }
  });

  it('--raw gives a pipe the exact bytes, and a terminal nothing that it acts on', async () => {
    const body = JSON.stringify({ x: '\u009b31m' }).concat('\u001b[2J\r\n');
    bank.behave(playing({ '/x': { body } }));
    const raw = ['api', 'GET', '/x', '--raw'];
    expect((await resident.run(raw, { env })).stdout).toBe(body);
    const shown = (await resident.run(raw, { env, columns: 80 })).stdout;
    expect(shown).not.toMatch(ACTED_UPON);
    expect(shown).toContain('31m');
  });
});

it('JSON keeps every character, for a pipe and for a terminal', async () => {
  const name = ATTACK.replace('\ud800', '');
  bank.behave(
    playing({
      '/accounts': { body: JSON.stringify(envelope({ accounts: [{ accountId: PRODUCT, name }] })) },
    }),
  );
  for (const columns of [undefined, 80]) {
    const options = columns === undefined ? { env } : { env, columns };
    const { stdout } = await resident.run(['accounts', 'list', '--json'], options);
    expect(JSON.parse(stdout)).toMatchObject([{ productId: PRODUCT, name }]);
  }
});
