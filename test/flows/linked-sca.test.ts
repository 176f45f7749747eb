import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Login, Sca, ScaLinks, ScaTurn } from '../../src/bank/ports/customer.ts';
import { isLogin } from '../../src/domain/given-links.ts';
import { type ErrorCode, Psd2Error } from '../../src/errors.ts';
import {
  authoriseByLinks,
  type LinkedRecord,
  type LinkedSubject,
  returnAddress,
} from '../../src/flows/linked-sca.ts';
import type { Callback, ReturnPorts } from '../../src/flows/ports.ts';
import type { StoredTokens } from '../../src/store/ports/tokens.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import {
  customerElsewhere,
  errorOf,
  type FakeCustomer,
  fakeCustomer,
  fakeWorld,
  NO_GIFTS,
  untaken,
} from './doubles.ts';

// SCA as a bank's links say, without a bank: what psd2 asks, in which order, and what the customer's browser may bring back.

const PAGE = 'https://customers.bank.example/sca';
const SERVER = 'https://oauth.bank.example/.well-known/oauth-authorization-server';
const OPEN: ScaTurn = { next: 'open', url: PAGE, links: { approach: 'redirect', redirect: PAGE } };
const LOG_IN: ScaTurn = {
  ...{ next: 'log in', url: PAGE, server: SERVER },
  links: { approach: 'redirect', oauth: SERVER },
};
/** The bank wants a code that the browser brings. */
const WITH_CODE: ScaTurn = { ...OPEN, links: { ...OPEN.links, confirmation: '/confirm' } };

const SUBJECT: LinkedSubject = {
  ...{ kind: 'transfer', flow: 'tr-1', resourceId: 'p1', transactionId: 't1', state: 's1' },
  again: ['transfer', 'resume', 'tr-1'],
  doing: 'authorise the transfer',
  whenLate: { hint: 'Continue with:', next: [['transfer', 'resume', 'tr-1']], flow: 'tr-1' },
};
const announce = async () => undefined;
const announceCode = async () => undefined;

interface Scene {
  turn?: ScaTurn;
  links?: ScaLinks | null;
  customer?: FakeCustomer;
  sca?: Partial<Sca>;
  /** The calls of SCA that the interface does not have. */
  lacks?: ('proceed' | 'confirmCode')[];
  login?: Partial<Login>;
  returns?: Partial<ReturnPorts>;
  record?: Partial<LinkedRecord>;
}

/** Plays a scene. `did` has what happened, in its order. */
function play({ turn = OPEN, links = null, customer = fakeCustomer(), ...more }: Scene = {}) {
  const did: unknown[] = [];
  const asked: Parameters<NonNullable<Sca['proceed']>>[0][] = [];
  const kept: StoredTokens[] = [];
  const world = fakeWorld();
  const bank = answeringBank(() => ({ data: {} }));
  const sca: Sca = {
    ...bank.sca,
    async proceed(request) {
      did.push('asked the bank');
      asked.push(request);
      return turn;
    },
    async confirmCode(confirmation) {
      did.push(confirmation);
      return { scaStatus: 'finalised', means: 'done', message: null };
    },
    ...more.sca,
  };
  for (const name of more.lacks ?? []) delete sca[name];
  const login: Login = {
    ...bank.login,
    async tokens(...request) {
      did.push(request);
      return { accessToken: 'a', expiresIn: 60, refreshToken: 'r', refreshExpiresIn: null, scope: 'PIS' };
    },
    ...more.login,
  };
  const { listen, sendBrowser } = customer;
  const ports = {
    bank: { ...bank, sca, login },
    world: {
      ...world,
      finish<T>(atStake: string, work: () => Promise<T>) {
        did.push(`finishes: ${atStake}`);
        return work();
      },
    },
    customer: {
      ...customer,
      async listen(state: string, purpose: 'login' | 'confirmation' | 'authorisation') {
        did.push(`listens: ${state}, ${purpose}`);
        return listen(state, purpose);
      },
      async sendBrowser(url: string) {
        did.push(`sends: ${url}`);
        await sendBrowser(url);
      },
    },
  };
  const returns: ReturnPorts = {
    client: () => ({ clientId: 'PSDIT-1', clientSecret: 'secret' }),
    async readyToKeep() {},
    async keepTokens(granted) {
      kept.push(await granted());
    },
    askForReturn: undefined,
    credentials: untaken(),
    say: (text) => void did.push(text),
    quote: (words) => void did.push(`The bank says: ${words}`),
    ...more.returns,
  };
  const record: LinkedRecord = {
    approach: announce,
    code: announceCode,
    async started(found) {
      did.push(['started', found]);
    },
    async returned() {
      did.push('returned');
    },
    isDecided: async () => false,
    async refusedLogin(error) {
      did.push(error);
    },
    gifts: NO_GIFTS,
    ...more.record,
  };
  const run = authoriseByLinks(SUBJECT, links, ports, returns, record);
  return { run, did, asked, kept, world, customer };
}

const TO_THE_PAGE = [
  'asked the bank',
  'listens: s1, authorisation',
  ['started', OPEN.links],
  `sends: ${PAGE}`,
];

describe('what psd2 asks the bank', () => {
  it('has the address with the state, and another secret each time', async () => {
    const links = { approach: null, start: '/authorisations' };
    const customer = fakeCustomer({ redirectUri: 'https://tpp.example/back?to=psd2' });
    const scenes = [play({ links, customer }), play({ links, customer })];
    const secrets: string[] = [];
    for (const { run, asked } of scenes) {
      expect(await run).toBe(false);
      const [request, second] = asked;
      const codeVerifier = request?.login.codeVerifier ?? '';
      expect(codeVerifier).toMatch(/^[\w-]{43}$/);
      secrets.push(codeVerifier);
      expect(request).toEqual({
        ...{ resourceId: 'p1', links, transactionId: 't1' },
        redirectUri: 'https://tpp.example/back?to=psd2&state=s1',
        login: {
          ...{ clientId: 'PSDIT-1', state: 's1', codeVerifier },
          redirectUri: 'https://tpp.example/back?to=psd2',
        },
        beforeSend: announce,
      });
      expect(second).toBeUndefined();
    }
    expect(new Set(secrets).size).toBe(2);
  });

  it('cannot be asked at an interface without links', async () => {
    const { run, did } = play({ lacks: ['proceed'] });
    await expect(run).rejects.toThrow(new TypeError('This interface has no links for SCA'));
    expect(did).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1:8910/callback', 's1', 'http://127.0.0.1:8910/callback?state=s1'],
    ['https://tpp.example/?state=old', 'a b', 'https://tpp.example/?state=a+b'],
  ])('%s with the state %s is %s', (redirectUri, state, expected) => {
    expect(returnAddress(redirectUri, state)).toBe(expected);
  });

  it.each([
    [{ oauth: SERVER }, true],
    [{ oauth: SERVER, redirect: PAGE }, false],
    [{ redirect: PAGE }, false],
    [{}, false],
  ])('with the links %o it is a login: %s', (links, expected) => {
    expect(isLogin({ approach: null, ...links })).toBe(expected);
  });
});

describe('the customer', () => {
  it('gets the link only after it is durable, and their return is recorded', async () => {
    const { run, did, customer } = play();
    expect(await run).toBe(false);
    expect(did).toEqual([...TO_THE_PAGE, 'returned']);
    expect(customer.listeners).toEqual([{ state: 's1', purpose: 'authorisation', closed: true }]);
  });

  it.each(['nothing', 'wait'] as const)(
    'has no link to open (%s), and reads what the bank says',
    async (next) => {
      const links: ScaLinks = { approach: 'decoupled', message: 'Open the app' };
      for (const askForReturn of [undefined, async () => new URLSearchParams({ code: 'c' })]) {
        const { run, did, customer } = play({ turn: { next, links }, returns: { askForReturn } });
        expect(await run).toBe(false);
        expect(did).toEqual(['asked the bank', ['started', links], 'The bank says: Open the app']);
        expect(customer.listeners).toEqual([]);
      }
    },
  );

  it.each([
    ['at another device', fakeCustomer({ atAnotherDevice: true }), []],
    ['sent back to another machine', customerElsewhere(), ['listens: s1, authorisation']],
  ])('is %s: psd2 does not wait for their browser', async (_where, customer, listens) => {
    const { run, did } = play({ customer, turn: WITH_CODE });
    expect(await run).toBe(false);
    const waits = listens.map(() => 'listens: s1, confirmation');
    expect(did).toEqual(['asked the bank', ...waits, ['started', WITH_CODE.links], `sends: ${PAGE}`]);
  });

  it.each([
    ['at another device', fakeCustomer({ atAnotherDevice: true })],
    ['sent back to another machine', customerElsewhere()],
  ])('must log in, and is %s: psd2 says so before they do anything', async (_where, customer) => {
    const { run, did } = play({ customer, turn: LOG_IN });
    expect(await errorOf(run)).toEqual({
      code: 'usage',
      message: 'The customer logs in with this transfer, and psd2 cannot see their return',
      hint: 'Paste the final address of the browser:',
      next: [['transfer', 'resume', 'tr-1', '--paste']],
      flow: undefined,
      transactionId: 't1',
    });
    expect(did.filter((each) => each !== 'listens: s1, login')).toEqual(['asked the bank']);
  });

  it('must log in, and the tokens cannot be stored: psd2 says so before they do anything', async () => {
    const cannot = new Psd2Error('config', 'The passphrase is missing');
    const returns = { readyToKeep: () => Promise.reject(cannot) };
    const { run, did } = play({ turn: LOG_IN, returns });
    await expect(run).rejects.toBe(cannot);
    expect(did).toEqual(['asked the bank']);
    const page = play({ returns });
    expect(await page.run).toBe(false);
    expect(page.did).toContain(`sends: ${PAGE}`);
  });

  it.each<[string, Scene]>([
    [
      'the browser cannot be opened',
      { customer: fakeCustomer({ sendBrowser: () => Promise.reject(new Error('x')) }) },
    ],
    ['the start cannot be recorded', { record: { started: () => Promise.reject(new Error('x')) } }],
    ['the return cannot be recorded', { record: { returned: () => Promise.reject(new Error('x')) } }],
  ])('%s: psd2 no longer listens', async (_what, scene) => {
    const { run, customer } = play(scene);
    await expect(run).rejects.toThrow('x');
    expect(customer.listeners.map(({ closed }) => closed)).toEqual([true]);
  });

  it('pastes the address: psd2 does not listen, and takes the code from it', async () => {
    const states: string[] = [];
    const askForReturn = async (state: string) => {
      states.push(state);
      return new URLSearchParams({ state, code: 'c1' });
    };
    for (const turn of [WITH_CODE, LOG_IN]) {
      const { run, did, customer } = play({ turn, returns: { askForReturn } });
      expect(await run).toBe(turn === WITH_CODE);
      expect(did).toContain('returned');
      expect(customer.listeners).toEqual([]);
    }
    expect(states).toEqual(['s1', 's1']);
  });
});

describe('a login', () => {
  const back = (parameters: Record<string, string>) => fakeCustomer({}, parameters);
  const asksForTokens = (more: object = {}) => [
    { clientId: 'PSDIT-1', clientSecret: 'secret', server: SERVER },
    {
      ...{ grant_type: 'authorization_code', code: 'c1' },
      ...{ redirect_uri: 'http://127.0.0.1:8910/callback', ...more },
    },
    't1',
  ];
  const before = ['asked the bank', 'listens: s1, login', ['started', LOG_IN.links], `sends: ${PAGE}`];

  it('gives the tokens of the server that the bank named, and its code is never a confirmation code', async () => {
    const turn = { ...LOG_IN, links: { ...LOG_IN.links, confirmation: '/confirm' } };
    const { run, did, kept, world, customer } = play({ turn, customer: back({ code: 'c1' }) });
    expect(await run).toBe(false);
    expect(did).toEqual([
      ...before.with(2, ['started', turn.links]),
      ...['finishes: The new login', asksForTokens(), 'returned'],
    ]);
    expect(kept).toEqual([
      {
        accessToken: 'a',
        accessTokenExpiresAt: new Date(world.now().getTime() + 60_000).toISOString(),
        refreshToken: 'r',
        refreshTokenExpiresAt: null,
        scope: 'PIS',
        server: SERVER,
      },
    ]);
    expect(customer.listeners).toEqual([{ state: 's1', purpose: 'login', closed: true }]);
  });

  it('has the secret of its start, at a bank that ties codes to it', async () => {
    const { run, did, asked } = play({
      ...{ turn: LOG_IN, login: { tiesCodes: true }, customer: back({ code: 'c1' }) },
    });
    await run;
    expect(did).toContainEqual(asksForTokens({ code_verifier: asked[0]?.login.codeVerifier }));
  });

  it.each([
    [{ code: 'c1', iss: 'https://oauth.bank.example' }, 'https://oauth.bank.example'],
    [{ code: 'c1' }, null],
  ])('first makes sure who sent the customer back: %o', async (parameters, iss) => {
    const checked: unknown[] = [];
    const wrong = new Psd2Error('login_refused', 'Another server has sent the customer back');
    const assertIssuer = async (...of: unknown[]) => {
      checked.push(of);
      throw wrong;
    };
    const { run, did, kept } = play({ turn: LOG_IN, login: { assertIssuer }, customer: back(parameters) });
    expect(await run).toBe(false);
    expect(checked).toEqual([[iss, SERVER, 't1']]);
    expect(did).toEqual([...before, wrong]);
    expect(kept).toEqual([]);
  });

  it('is refused by the customer: the flow decides what that means', async () => {
    const customer = back({ error: 'access_denied', error_description: 'No, thanks' });
    const { run, did } = play({ turn: LOG_IN, customer });
    expect(await run).toBe(false);
    expect(did.slice(0, -1)).toEqual(before);
    const refused = did.at(-1);
    expect(await errorOf(Promise.reject(refused))).toEqual({
      code: 'login_refused',
      message: 'The customer refused the login: No, thanks',
      hint: 'When the customer is ready to try again:',
      next: [['transfer', 'resume', 'tr-1']],
      flow: undefined,
      transactionId: undefined,
    });
  });

  it.each([
    [{ error: 'access_denied', state: 's1' }, true],
    [{ error: 'access_denied' }, false],
    [{ error: 'server_error', state: 's1' }, false],
  ])(
    'is refused by the customer themselves if the bank says so with its state: %o',
    async (back, expected) => {
      const told: boolean[] = [];
      const { run } = play({
        turn: LOG_IN,
        returns: { askForReturn: async () => new URLSearchParams(Object.entries(back)) },
        record: { refusedLogin: async (_, isCustomers) => void told.push(isCustomers) },
      });
      await run;
      expect(told).toEqual([expected]);
    },
  );

  it.each([
    new Psd2Error('bank_failing', 'The bank is away'),
    Object.assign(new Error('A bug'), { code: 'login_refused' }),
  ])('ends with an error that is no refusal: %s', async (error) => {
    const { run, did } = play({
      ...{ turn: LOG_IN, customer: back({ code: 'c1' }), login: { tokens: () => Promise.reject(error) } },
    });
    await expect(run).rejects.toBe(error);
    expect(did).toEqual([...before, 'finishes: The new login']);
  });

  it('brings no code back: nothing is asked for, and the command that goes on is named', async () => {
    const { run, did } = play({ turn: LOG_IN, customer: back({}) });
    expect(await run).toBe(false);
    expect(did.at(-1)).toMatchObject({ code: 'login_refused', next: [['transfer', 'resume', 'tr-1']] });
    expect(did.slice(0, -1)).toEqual(before);
  });
});

describe('a confirmation code', () => {
  const sent = (code: string) => [
    'asked the bank',
    'listens: s1, confirmation',
    ['started', WITH_CODE.links],
    `sends: ${PAGE}`,
    'returned',
    { resourceId: 'p1', links: WITH_CODE.links, code, transactionId: 't1', beforeSend: announceCode },
  ];

  it.each([
    [{ confirmationCode: 'c1' }],
    [{ confirmation_code: 'c1' }],
    [{ 'psu-confirmation-CODE': 'c1' }],
    [{ code: 'c1' }],
    [{ CODE: 'c1' }],
    [{ authCode: 'c1' }],
    [{ auth_code: 'c1' }],
    [{ authorisationCode: 'c1' }],
    [{ 'authorization-code': 'c1' }],
    [{ scaCode: 'c1' }],
    [{ code: 'of the login', confirmationCode: 'c1' }],
    [{ authCode: 'of something else', code: 'c1' }],
  ])('comes back as %o: the bank gets it', async (parameters) => {
    const { run, did } = play({ turn: WITH_CODE, customer: fakeCustomer({}, parameters) });
    expect(await run).toBe(true);
    expect(did).toEqual(sent('c1'));
  });

  const OTHERS = { confirmationCodes: '1', scaCodeOf: '2', confirmation__code: '3' };
  it.each<[string, Record<string, string>, Scene]>([
    ['the browser brings no code', { zipcode: '1', codes: '2', myAuthCode: '3', authCodeOf: '4' }, {}],
    ['the browser brings another one', OTHERS, {}],
    ['the code is empty', { code: '' }, {}],
    ['the bank has no link for it', { code: 'c1' }, { turn: OPEN }],
    ['the interface has no call for it', { code: 'c1' }, { lacks: ['confirmCode'] }],
  ])('%s: none is sent', async (_what, parameters, scene) => {
    const { run, did } = play({ turn: WITH_CODE, customer: fakeCustomer({}, parameters), ...scene });
    expect(await run).toBe(false);
    expect(did.at(-1)).toBe('returned');
  });
});

describe('while psd2 waits for the browser', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** A customer who never comes back. `looks` has the second of each question to the bank. */
  function waits(
    answers: (boolean | Error)[],
    { pollSeconds, turn = OPEN }: { pollSeconds?: number; turn?: ScaTurn } = {},
  ) {
    const looks: number[] = [];
    let seconds = 0;
    const timing = pollSeconds === undefined ? undefined : { pollSeconds, authorisationMinutes: 5 };
    const scene = play({
      ...{ turn, customer: fakeCustomer({ scaTimeoutMs: 60_000 }, null) },
      sca: { ...(timing && { timing }) },
      record: {
        async isDecided() {
          looks.push(seconds);
          const answer = answers.shift() ?? false;
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
    });
    const end = scene.run.then(
      (value) => value,
      (error: unknown) => error,
    );
    const pass = async (to: number) => {
      for (; seconds < to; ) {
        seconds += 1;
        await vi.advanceTimersByTimeAsync(1_000);
      }
    };
    return { ...scene, end, looks, pass };
  }
  const late = {
    code: 'authorisation_timeout',
    message: 'The customer did not authorise the transfer and come back within 60 s',
    hint: 'Continue with:',
    next: [['transfer', 'resume', 'tr-1']],
    flow: 'tr-1',
    transactionId: 't1',
  };

  it.each([
    [undefined, [9, 18, 27]],
    [1, [3, 6, 9]],
    [5, [15, 30, 45]],
  ])(
    'it asks the bank at times (its pause is %s s), until the customer has decided',
    async (pollSeconds, at) => {
      const { end, looks, pass, did, customer } = waits([false, false, true], {
        ...(pollSeconds !== undefined && { pollSeconds }),
      });
      await pass(60);
      expect(await end).toBe(false);
      expect(looks).toEqual(at);
      expect(did).toEqual(TO_THE_PAGE);
      expect(customer.listeners.map(({ closed }) => closed)).toEqual([true]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it.each<ErrorCode>(['bank_unreachable', 'bank_failing', 'too_many_calls'])(
    'the bank does not answer (%s): the browser can still return',
    async (code) => {
      const { end, looks, pass } = waits([new Psd2Error(code, 'Not now'), true]);
      await pass(18);
      expect(await end).toBe(false);
      expect(looks).toEqual([9, 18]);
    },
  );

  it.each([
    ['a code', WITH_CODE, [60]],
    ['a login', LOG_IN, [60]],
    ['nothing', OPEN, [9, 18, 27, 36, 45, 54, 60]],
  ])(
    'the customer’s time is over, and the browser was to bring %s: it asks once more',
    async (_what, turn, at) => {
      const decided = waits(
        at.map((second) => second === 60),
        { turn },
      );
      await decided.pass(60);
      expect(await decided.end).toBe(false);
      expect(decided.looks).toEqual(at);
      const undecided = waits([], { turn });
      await undecided.pass(60);
      expect(await errorOf(undecided.run)).toEqual(late);
      expect(undecided.looks).toEqual(at);
    },
  );

  it('Ctrl-C ends it at once, without a question', async () => {
    const { end, looks, world } = waits([true]);
    await vi.advanceTimersByTimeAsync(0);
    const interrupted = new Psd2Error('interrupted', 'Ctrl-C');
    world.interrupt.abort(interrupted);
    expect(await end).toBe(interrupted);
    expect(looks).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    new Psd2Error('callback_port_busy', 'The port was taken'),
    new DOMException('It was closed', 'AbortError'),
  ])('the listener fails: %s', async (error) => {
    const received: Callback['received'] = () => Promise.reject(error);
    const customer = fakeCustomer({ listen: async () => ({ received, close: async () => {} }) });
    const looks: unknown[] = [];
    const isDecided = async () => looks.push('asked') > 0;
    await expect(play({ customer, record: { isDecided } }).run).rejects.toBe(error);
    expect(looks).toEqual([]);
  });
});
