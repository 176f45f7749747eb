import { describe, expect, it } from 'vitest';
import type { TokenSource } from '../../src/bank/ports/call.ts';
import { Psd2Error } from '../../src/errors.ts';
import type { TokenKeeper } from '../../src/flows/ports.ts';
import { openSession, type SessionSettings, toStoredTokens } from '../../src/flows/session.ts';
import { FileTokens } from '../../src/store/files/tokens.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import type { Holder, StoredTokens, TokenSlot, Tokens } from '../../src/store/ports/tokens.ts';
import { refusal, success, tokens } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { type ScriptedAnswer, useRecordedBank, type WrittenAnswer } from '../bank/recorded-bank.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { lacking } from '../support/lacking.ts';
import { errorOf, fakeWorld } from './doubles.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const temporary = temporaryFolder();

const TOKEN_PATH = '/auth/oauth/v2/token';
const OWNER_PATH = '/private/customers/customerid-info';
const HOUR = 3_600_000;
const NO_TOKENS: StoredTokens = {
  ...{ accessToken: null, accessTokenExpiresAt: null, scope: null },
  ...{ refreshToken: null, refreshTokenExpiresAt: null },
};
const storeIn = (folder: StoreFolder) => new FileTokens(folder, 'sandbox', new URL(recorded.baseUrl));

/** A login whose access token expires after `left` milliseconds, or no login at all. */
async function login(left: number | 'no login', stored: Partial<StoredTokens> = {}) {
  const world = fakeWorld();
  const folder = newConfigFolder(temporary);
  const store = storeIn(folder);
  if (left !== 'no login') {
    await write(store, '1234567', {
      accessToken: 'access-0',
      accessTokenExpiresAt: new Date(world.now().getTime() + left).toISOString(),
      refreshToken: 'refresh-0',
      refreshTokenExpiresAt: '2099-01-01T00:00:00.000Z',
      scope: 'oob',
      ...stored,
    });
  }
  return { world, store, folder, session: sessionOf(folder, world) };
}

function sessionOf(
  folder: StoreFolder,
  world: SessionSettings['world'],
  grantType: SessionSettings['grantType'] = 'authorization_code',
): TokenSource {
  const holder = grantType === 'client_credentials' ? null : '1234567';
  return sessionWith(world, keeperOf(storeIn(folder), holder), grantType);
}

/** Opens a session that uses the tokens of the keeper. */
function sessionWith(
  world: SessionSettings['world'],
  keeper: TokenKeeper,
  grantType: SessionSettings['grantType'] = 'authorization_code',
  calls: Partial<SessionSettings['login']> = {},
): TokenSource {
  return openSession({
    login: { ...openClient({ now: world.now }).bankWith().login, ...calls },
    grantType,
    holder: grantType === 'client_credentials' ? null : '1234567',
    client: () => ({ clientId: 'client-1', clientSecret: 'secret-1' }),
    keeper,
    world,
  });
}

/** Writes the tokens of a new login. */
function write(store: Tokens, holder: Holder, tokens: StoredTokens): Promise<void> {
  return store.change(holder, (slot) => slot.write(tokens));
}

/** @param changed overrides parts of the slot */
function keeperOf(
  store: Tokens,
  holder: Holder = '1234567',
  changed: (slot: TokenSlot) => Partial<TokenSlot> = () => ({}),
): TokenKeeper {
  return {
    whose: 'The login',
    read: () => store.read(holder),
    ready: () => store.ready(),
    change: (work) => store.change(holder, (slot) => work({ ...slot, ...changed(slot) })),
  };
}

/** A session whose slot acts in another way, after a login whose access token has ended. */
async function sessionBeside(
  changed: (slot: TokenSlot, store: Tokens) => Partial<TokenSlot>,
  keeper: Partial<TokenKeeper> = {},
) {
  const { world, store } = await login(0);
  const own = keeperOf(store, '1234567', (slot) => changed(slot, store));
  return { store, session: sessionWith(world, { ...own, ...keeper }) };
}

/** A slot for writes of another process, which has lost its claim. */
function lateSlot(store: Tokens, holder: Holder = '1234567'): Promise<TokenSlot> {
  return store.change(holder, async (slot) => slot);
}

/** The bank grants tokens, and then says whose they are. */
function expectRenewal(granted: WrittenAnswer, owner = '1234567'): void {
  recorded.expect('POST', TOKEN_PATH, granted);
  recorded.expect('GET', OWNER_PATH, success(JSON.stringify({ customerid: owner })));
}

function tokenCalls() {
  return recorded.received.filter(({ method }) => method === 'POST');
}

function sentBodies(): unknown[] {
  return tokenCalls().map(({ body }) => JSON.parse(body.toString()));
}

const spend = (refresh_token: string) => ({
  ...{ grant_type: 'refresh_token', refresh_token, client_id: 'client-1', client_secret: 'secret-1' },
});

describe('an access token', () => {
  it.each<[number, Partial<StoredTokens>]>([
    [HOUR, {}],
    [31_000, {}],
    [0, { accessTokenExpiresAt: null }],
  ])(
    'an access token with %i ms left, or whose expiry is unknown (%j), is used as is',
    async (left, stored) => {
      const { session } = await login(left, stored);
      expect(await session.current()).toBe('access-0');
    },
  );

  it.each([30_000, 0, -HOUR])(
    'an access token with %i ms left is renewed first, and both new tokens are stored',
    async (left) => {
      expectRenewal(tokens('access-1', 'refresh-1'));
      const { session, store, world } = await login(left);
      expect(await session.current()).toBe('access-1');
      expect(sentBodies()).toEqual([spend('refresh-0')]);
      expect(await store.read('1234567')).toMatchObject({
        accessToken: 'access-1',
        accessTokenExpiresAt: new Date(world.now().getTime() + 3_500_000).toISOString(),
        refreshToken: 'refresh-1',
        refreshTokenExpiresAt: new Date(world.now().getTime() + 2_592_000_000).toISOString(),
        scope: 'oob',
      });
      expect(await session.current()).toBe('access-1');
    },
  );

  it('an access token is read once, and reused while it has time left', async () => {
    const { world, store } = await login(HOUR);
    let reads = 0;
    const session = sessionWith(world, {
      ...keeperOf(store),
      read() {
        reads += 1;
        return store.read('1234567');
      },
    });
    expect([await session.current(), await session.current()]).toEqual(['access-0', 'access-0']);
    expect(reads).toBe(1);
  });

  it('an access token that the bank issues for less than 30 s is still used', async () => {
    expectRenewal(tokens('access-1', 'refresh-1', 20));
    const { session } = await login(0);
    expect(await session.current()).toBe('access-1');
  });

  it('an access token that the bank refused is renewed, whatever time it has left', async () => {
    expectRenewal(tokens('access-1', 'refresh-1'));
    const { session } = await login(HOUR);
    expect(await session.renewed('access-0')).toBe('access-1');
  });

  it('an access token that another process has renewed is taken from the store', async () => {
    const { session, store } = await login(HOUR);
    await write(store, '1234567', { ...(await loaded(store)), accessToken: 'access-of-another' });
    expect(await session.renewed('access-0')).toBe('access-of-another');
  });
});

async function loaded(store: Tokens): Promise<StoredTokens> {
  const stored = await store.read('1234567');
  if (!stored) throw new TypeError('no tokens');
  return stored;
}

describe('a refresh token', () => {
  it('a refresh token stays if the answer has no new one', async () => {
    expectRenewal(tokens('access-1', null));
    expectRenewal(tokens('access-2', 'refresh-2'));
    const { session, store } = await login(0);
    await session.current();
    expect(await loaded(store)).toMatchObject({
      accessToken: 'access-1',
      refreshToken: 'refresh-0',
      refreshTokenExpiresAt: '2099-01-01T00:00:00.000Z',
    });
    await session.renewed('access-1');
    expect(sentBodies()).toEqual([spend('refresh-0'), spend('refresh-0')]);
    expect((await loaded(store)).refreshToken).toBe('refresh-2');
  });

  it('a refused refresh token ends the login, and the access token is used until it expires', async () => {
    const body = '{"error":"invalid_grant","error_description":"The refresh token was used"}';
    recorded.expect('POST', TOKEN_PATH, { status: 400, body });
    const { session, store } = await login(HOUR);
    await expect(session.renewed('access-0')).rejects.toMatchObject({
      message: 'The login has ended: the bank no longer accepts its refresh token',
      ...{ code: 'not_logged_in', context: lacking('hint'), next: [['auth', 'login']] },
      bankCode: 'invalid_grant',
    });
    expect(await loaded(store)).toMatchObject({
      ...{ accessToken: 'access-0', refreshToken: null, refreshTokenExpiresAt: null },
    });
    expect(await session.current()).toBe('access-0');
    // psd2 does not spend the refresh token again.
    await expect(session.renewed('access-0')).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(tokenCalls()).toHaveLength(1);
  });

  describe('two processes spend the same refresh token, because one of them stalled', () => {
    const INVALID_GRANT = '{"error":"invalid_grant"}';

    /** A renewal during which another process stores its new tokens. */
    async function overtaken(when: 'before it is sent' | 'once it has left') {
      const { world, store, folder } = await login(0);
      const theirs = await lateSlot(storeIn(folder));
      const granted = {
        accessToken: 'access-of-another',
        refreshToken: 'theirs',
        accessTokenExpiresAt: null,
      };
      const newer = { ...(await loaded(store)), ...granted };
      const another = async () => {
        await theirs.replace(await theirs.read(), newer);
      };
      let stored: Promise<void> | undefined;
      const keeper = keeperOf(store, '1234567', (slot) => ({
        // The last check before the call leaves.
        async isOurs(read) {
          const isOurs = await slot.isOurs(read);
          stored ??= another();
          return isOurs;
        },
        async refuse(refused) {
          await stored;
          await slot.refuse(refused);
        },
        async replace(spent, granted) {
          await stored;
          return slot.replace(spent, granted);
        },
        async read() {
          await stored;
          return slot.read();
        },
      }));
      const session = sessionWith(world, {
        ...keeper,
        async ready() {
          if (when === 'before it is sent') stored ??= another();
          await stored;
          return keeper.ready();
        },
      });
      return { session, store };
    }

    it.each([
      ['refuses it', { status: 400, body: '{"error":"invalid_grant"}' }],
      ['refuses it in another way', { status: 403, body: '{"error":"token_reuse"}' }],
      ['accepts it from both', tokens('access-late', 'refresh-late')],
    ])('if the bank %s, psd2 uses the tokens that the other process stored first', async (_, answer) => {
      recorded.expect('POST', TOKEN_PATH, answer);
      const { session, store } = await overtaken('once it has left');
      expect(await session.current()).toBe('access-of-another');
      expect(await loaded(store)).toMatchObject({ accessToken: 'access-of-another', refreshToken: 'theirs' });
    });

    it('a process that finds newer tokens in the store does not send the refresh token', async () => {
      const { session } = await overtaken('before it is sent');
      expect(await session.current()).toBe('access-of-another');
      expect(recorded.received).toEqual([]);
    });

    const MAY_STORE =
      'Another psd2 was renewing the login and does not respond: process 4711 on host-1. If it continues, the login is valid again.';
    it.each([
      ['refuses the token', 400, { code: 'not_logged_in', hint: MAY_STORE, next: [['auth', 'login']] }],
      ['allows no more calls', 420, { code: 'too_many_calls', hint: 'Wait, then try again.' }],
    ])(
      'if the bank %s, the error says whether the earlier holder of the lock may still store tokens',
      async (_, status, error) => {
        recorded.expect('POST', TOKEN_PATH, { status, ...(status === 400 && { body: INVALID_GRANT }) });
        const { session } = await sessionBeside(() => ({ takenOverFrom: 'process 4711 on host-1' }));
        await expect(session.current()).rejects.toMatchObject(error);
      },
    );

    it('a process that has lost the lock does not send the refresh token', async () => {
      expectRenewal(tokens('access-1', 'refresh-1'));
      const answers = [false];
      const { session } = await sessionBeside((slot) => ({
        isOurs: async (read) => answers.shift() ?? slot.isOurs(read),
      }));
      expect(await session.current()).toBe('access-1');
      expect(tokenCalls()).toHaveLength(1);
    });

    it('a refusal that the other process got does not affect the tokens that this one got', async () => {
      expectRenewal(tokens('access-1', 'refresh-1'));
      const { world, store } = await login(0);
      const theirs = await lateSlot(store);
      const session = sessionWith(
        world,
        keeperOf(store, '1234567', (slot) => ({
          async replace(spent, granted) {
            if (spent) await theirs.refuse(spent);
            return slot.replace(spent, granted);
          },
        })),
      );
      expect(await session.current()).toBe('access-1');
      expect(await loaded(store)).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-1' });
    });

    it('renewed tokens are dropped if the operator has logged out in the meantime', async () => {
      recorded.expect('POST', TOKEN_PATH, tokens('access-1', 'refresh-1'));
      const { world, store } = await login(0);
      const keeper = keeperOf(store);
      const session = sessionWith(world, {
        ...keeper,
        // The claim is lost before the bank has answered.
        async change(work) {
          const slot = await lateSlot(store);
          return work({
            ...slot,
            isOurs: async () => true,
            async replace(spent, granted) {
              await store.forget('1234567');
              return slot.replace(spent, granted);
            },
          });
        },
      });
      await expect(session.current()).rejects.toMatchObject({ code: 'not_logged_in' });
      expect(await store.read('1234567')).toBeUndefined();
    });
  });

  it('after Ctrl-C psd2 does not continue, even if another process has stored new tokens', async () => {
    const { world, store } = await login(0);
    const theirs = await lateSlot(store);
    const session = sessionWith(
      {
        ...world,
        async finish() {
          await theirs.write({ ...(await loaded(store)), accessToken: 'a', accessTokenExpiresAt: null });
          throw new Psd2Error('interrupted', 'Interrupted');
        },
      },
      keeperOf(store),
    );
    await expect(session.current()).rejects.toMatchObject({ code: 'interrupted' });
  });

  it.each([
    ['before it writes the new token', tokens('access-1', 'refresh-1')],
    ['if the bank issues no token', refusal(400, 'E1')],
  ])('psd2 reserves disk space for a renewal, and frees it %s', async (_, answer) => {
    if (answer.status === 200) expectRenewal(answer);
    else recorded.expect('POST', TOKEN_PATH, answer);
    const steps: string[] = [];
    const replace = (slot: TokenSlot): Partial<TokenSlot> => ({
      replace(spent, granted) {
        steps.push('write');
        return slot.replace(spent, granted);
      },
    });
    const { session } = await sessionBeside(replace, {
      async ready() {
        steps.push('reserve');
        return async () => void steps.push('give back');
      },
    });
    await session.current().catch(() => {});
    expect(steps.slice(0, 2)).toEqual(['reserve', 'give back']);
    expect(steps.includes('write')).toBe(answer.status === 200);
  });

  it('psd2 does not spend the refresh token if there is no space for the next one', async () => {
    const ready = () => Promise.reject(new Psd2Error('config', 'The disk is full'));
    const { session } = await sessionBeside(() => ({}), { ready });
    await expect(session.current()).rejects.toMatchObject({ code: 'config' });
    expect(recorded.received).toEqual([]);
  });

  it.each([
    [400, undefined, [['auth', 'login']]],
    [401, 'Check the client id and the client secret of the profile.', undefined],
  ])(
    'a refresh token that the bank refuses for another reason, with %i, is kept',
    async (status, hint, next) => {
      recorded.expect('POST', TOKEN_PATH, { status, body: '{"error":"invalid_client"}' });
      const { session, store } = await login(0);
      await expect(session.current()).rejects.toMatchObject({
        code: 'not_logged_in',
        message: expect.stringContaining('could not be renewed'),
        ...(hint === undefined ? { context: lacking('hint') } : { hint }),
        ...(next === undefined ? { context: lacking('next') } : { next }),
      });
      expect((await loaded(store)).refreshToken).toBe('refresh-0');
    },
  );

  it.each([
    ['is failing', refusal(503), 'bank_failing', 4],
    ['allows no more calls', { status: 420 }, 'too_many_calls', 1],
    ['does not answer', 'cut before the answer', 'bank_unreachable', 1],
  ] as const)('a refresh token is kept if the bank %s', async (_, answer, code, calls) => {
    for (let call = 0; call < calls; call += 1) recorded.expect('POST', TOKEN_PATH, answer);
    const { session, store } = await login(0);
    await expect(session.current()).rejects.toMatchObject({ code });
    expect((await loaded(store)).refreshToken).toBe('refresh-0');
  });

  it('sessions that need a token at the same time spend the refresh token once', async () => {
    expectRenewal(tokens('access-1', 'refresh-1'));
    const { folder, world } = await login(0);
    const all = [1, 2, 3].map(() => sessionOf(folder, world).current());
    expect(await Promise.all(all)).toEqual(['access-1', 'access-1', 'access-1']);
    expect(tokenCalls()).toHaveLength(1);
  });
});

describe('tokens that the bank gave for a refresh token', () => {
  const FOREIGN = {
    code: 'not_logged_in',
    message: 'The bank gave the tokens of customer 7654321 for customer 1234567',
    hint: 'psd2 has deleted them, and has used them for nothing else. Log the customer in again:',
    next: [['auth', 'login', '--customer', '1234567']],
  };
  /** The bank grants tokens, and does not say whose they are. */
  const expectSilence = (...answers: ScriptedAnswer[]) => {
    recorded.expect('POST', TOKEN_PATH, tokens('access-1', 'refresh-1'));
    for (const answer of answers) recorded.expect('GET', OWNER_PATH, answer);
  };

  it('the bank is asked once whose they are, with the new token, after they were stored', async () => {
    expectRenewal(tokens('access-1', 'refresh-1'));
    const stored: unknown[] = [];
    const { session, store } = await sessionBeside((slot, kept) => ({
      async prove(read, isOwn) {
        stored.push(await kept.read('1234567'));
        await slot.prove(read, isOwn);
      },
    }));
    expect([await session.current(), await session.current()]).toEqual(['access-1', 'access-1']);
    expect(recorded.last.headers.authorization).toBe('Bearer access-1');
    expect(stored).toMatchObject([{ accessToken: 'access-1', refreshToken: 'refresh-1', unproven: true }]);
    expect(await loaded(store)).not.toHaveProperty('unproven');
    expect(recorded.received).toHaveLength(2);
  });

  it('those of another customer are used for nothing, and are deleted', async () => {
    expectRenewal(tokens('access-1', 'refresh-1'), '7654321');
    const { session, store } = await login(0);
    await expect(session.current()).rejects.toMatchObject(FOREIGN);
    expect(await store.read('1234567')).toBeUndefined();
    await expect(session.current()).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(recorded.received).toHaveLength(2);
  });

  it.each<[what: string, answers: ScriptedAnswer[], code: string]>([
    ['fails', Array.from({ length: 4 }, () => refusal(503)), 'bank_failing'],
    ['cannot be understood', [success('{"customerid":"me"}')], 'bank_answer'],
    ['does not accept the new token', [refusal(401)], 'not_logged_in'],
  ])('if the bank %s, they stay, and the next command asks before it uses them', async (_, answers, code) => {
    expectSilence(...answers);
    const { session, store, folder, world } = await login(0);
    await expect(session.current()).rejects.toMatchObject({ code });
    expect(await loaded(store)).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-1' });
    recorded.expect('GET', OWNER_PATH, success('{"customerid":"7654321"}'));
    await expect(sessionOf(folder, world).current()).rejects.toMatchObject(FOREIGN);
    expect(tokenCalls()).toHaveLength(1);
  });

  it('if the bank no longer accepts the token when the next command asks, psd2 renews it', async () => {
    expectSilence(refusal(401));
    const { session, folder, world } = await login(0);
    await expect(session.current()).rejects.toMatchObject({ code: 'not_logged_in' });
    recorded.expect('GET', OWNER_PATH, refusal(401));
    expectRenewal(tokens('access-2', 'refresh-2'));
    expect(await sessionOf(folder, world).current()).toBe('access-2');
    expect(sentBodies()).toEqual([spend('refresh-0'), spend('refresh-1')]);
  });

  it.each([refusal(400), refusal(403), refusal(404), refusal(412), { status: 405 }, { status: 501 }])(
    'if the bank never tells it (%j), they are used',
    async (answer) => {
      expectSilence(answer);
      const { session, folder, world } = await login(0);
      expect(await session.current()).toBe('access-1');
      expect(await sessionOf(folder, world).current()).toBe('access-1');
    },
  );

  it('a session that finds tokens of another process does not use them before they are proven', async () => {
    const { session, store } = await login(HOUR);
    expect(await session.current()).toBe('access-0');
    await write(store, '1234567', { ...(await loaded(store)), accessToken: 'access-1', unproven: true });
    recorded.expect('GET', OWNER_PATH, success('{"customerid":"1234567"}'));
    expect(await session.renewed('access-0')).toBe('access-1');
  });

  it('a process that was stopped while it asked does not delete the tokens of a new login', async () => {
    expectRenewal(tokens('access-1', 'refresh-1'), '7654321');
    const { session, store } = await sessionBeside((slot) => ({
      async prove(read, isOwn) {
        await slot.write({ ...read, accessToken: 'access-new', unproven: undefined });
        await slot.prove(read, isOwn);
      },
    }));
    await expect(session.current()).rejects.toMatchObject(FOREIGN);
    expect(await loaded(store)).toMatchObject({ accessToken: 'access-new' });
  });
});

describe('whose renewed tokens are', () => {
  /** Tokens that were renewed and not proven, as an earlier process left them. */
  async function unproven(whose: SessionSettings['login']['whose']) {
    const { world, store } = await login(HOUR, { unproven: true });
    return { store, session: sessionWith(world, keeperOf(store), 'authorization_code', { whose }) };
  }

  it('if the bank tells it only with SCA, they are used', async () => {
    const error = new Psd2Error('sca_required', 'The customer must authorise this', { httpStatus: 403 });
    const { session, store } = await unproven(() => Promise.reject(error));
    expect(await session.current()).toBe('access-0');
    expect(await loaded(store)).not.toHaveProperty('unproven');
  });

  it.each([
    new Psd2Error('config', 'The bank does not accept the signature', { httpStatus: 401 }),
    new TypeError('a fault of psd2'),
  ])('after %s, psd2 renews nothing', async (error) => {
    const { session, store } = await unproven(() => Promise.reject(error));
    await expect(session.current()).rejects.toBe(error);
    expect(await loaded(store)).toMatchObject({ refreshToken: 'refresh-0', unproven: true });
    expect(recorded.received).toEqual([]);
  });

  it('is not asked if another process has asked it meanwhile', async () => {
    recorded.expect('POST', TOKEN_PATH, tokens('access-1', 'refresh-1'));
    const { session } = await sessionBeside((slot) => ({
      async replace(spent, granted) {
        const kept = await slot.replace(spent, granted);
        const stored = await slot.read();
        if (stored) await slot.prove(stored, true);
        return kept;
      },
    }));
    expect(await session.current()).toBe('access-1');
    expect(recorded.received).toHaveLength(1);
  });

  it('is not asked if the operator has logged out meanwhile: they are not used', async () => {
    recorded.expect('POST', TOKEN_PATH, tokens('access-1', 'refresh-1'));
    let isOut = false;
    const { session } = await sessionBeside((slot) => ({
      async replace(spent, granted) {
        const kept = await slot.replace(spent, granted);
        isOut = true;
        return kept;
      },
      read: async () => (isOut ? undefined : slot.read()),
    }));
    await expect(session.current()).rejects.toMatchObject({
      ...{ code: 'not_logged_in', message: 'Nobody is logged in with this profile' },
    });
    expect(recorded.received).toHaveLength(1);
  });
});

it('a valid token of another process is read once, and used', async () => {
  const { world, store } = await login(HOUR);
  let reads = 0;
  const keeper = keeperOf(store, '1234567', (slot) => ({
    read() {
      reads += 1;
      return slot.read();
    },
  }));
  expect(await sessionWith(world, keeper).renewed('access-of-earlier')).toBe('access-0');
  expect(reads).toBe(1);
});

it('a session with a valid token waits for no other process', async () => {
  const { world, store } = await login(HOUR);
  const change = () => Promise.reject(new TypeError('Another process holds the tokens'));
  expect(await sessionWith(world, { ...keeperOf(store), change }).current()).toBe('access-0');
});

it.each([undefined, 'https://oauth.bank.example/metadata'])(
  'tokens of the OAuth server %s are renewed there, and the new ones are of that server too',
  async (server) => {
    const { world, store } = await login(0, server === undefined ? {} : { server });
    const asked: unknown[] = [];
    const session = sessionWith(world, keeperOf(store), 'authorization_code', {
      async tokens(client) {
        asked.push(client);
        const granted = { accessToken: 'access-1', expiresIn: 60, refreshToken: 'refresh-1' };
        return { ...granted, refreshExpiresIn: null, scope: null };
      },
      whose: async () => '1234567',
    });
    expect(await session.current()).toBe('access-1');
    const named = server === undefined ? {} : { server };
    expect(asked).toEqual([{ clientId: 'client-1', clientSecret: 'secret-1', ...named }]);
    expect((await loaded(store)).server).toBe(server);
  },
);

it('what a renewal does not repeat stays: the scope, and the session at the bank', async () => {
  const answer = { status: 200, body: '{"access_token":"access-1","token_type":"Bearer","expires_in":3600}' };
  expectRenewal(answer);
  const { session, store } = await login(0, { apiTrackId: '0123456789' });
  expect(await session.current()).toBe('access-1');
  expect(await loaded(store)).toMatchObject({
    ...{ accessToken: 'access-1', refreshToken: 'refresh-0', scope: 'oob', apiTrackId: '0123456789' },
  });
});

it.each([
  ['refresh token', 3600, null, '2026-11-22T13:00:00.000Z', null],
  // psd2 uses it until the bank refuses it.
  ['access token', null, 60, null, '2026-11-22T12:01:00.000Z'],
])(
  'a first login without a scope and without the lifetime of its %s is stored without them',
  (_, expiresIn, refreshExpiresIn, accessTokenExpiresAt, refreshTokenExpiresAt) => {
    const granted = { accessToken: 'access-1', refreshToken: 'refresh-1', scope: null };
    const all = { ...granted, expiresIn, refreshExpiresIn };
    expect(toStoredTokens(all, new Date('2026-11-22T12:00:00Z'))).toEqual({
      ...{ ...granted, accessTokenExpiresAt, refreshTokenExpiresAt, apiTrackId: undefined },
    });
  },
);

it('psd2 does not use a refused token again, even if it could not be renewed at once', async () => {
  recorded.expect('POST', TOKEN_PATH, refusal(400, 'E1'));
  const { session, store } = await login(HOUR);
  expect(await session.current()).toBe('access-0');
  await expect(session.renewed('access-0')).rejects.toMatchObject({ code: 'not_logged_in' });
  await write(store, '1234567', { ...(await loaded(store)), accessToken: 'access-of-another' });
  expect(await session.current()).toBe('access-of-another');
});

describe('tokens that cannot be stored', () => {
  const lost = new Psd2Error('config', 'The disk is full', { hint: 'Check the free space.' });
  it.each([
    ['and there is other advice', lost, /^ .*Check the free space\. Then log in again:$/],
    ['and there is none', new Psd2Error('config', 'The disk is full'), /^ Then log in again:$/],
  ])(
    'if a customer’s tokens cannot be stored %s, the error asks for a new login',
    async (_, error, advice) => {
      recorded.expect('POST', TOKEN_PATH, tokens('access-1', 'refresh-1'));
      const { session } = await sessionBeside(() => ({ replace: () => Promise.reject(error) }));
      const { hint = '', ...said } = await errorOf(session.current());
      expect(said).toMatchObject({ code: 'config', message: 'The disk is full', next: [['auth', 'login']] });
      const [start, rest] = hint.split(/(?<=could not store it\.)/);
      expect(start).toBe('The bank has renewed the login, but psd2 could not store it.');
      expect(rest).toMatch(advice);
    },
  );

  it('if the application’s token cannot be stored, the error asks for nothing else', async () => {
    recorded.expect('POST', TOKEN_PATH, tokens('access-1', null));
    const { world, store } = await login('no login');
    await write(store, null, NO_TOKENS);
    const keeper = keeperOf(store, null, () => ({ replace: () => Promise.reject(lost) }));
    await expect(sessionWith(world, keeper, 'client_credentials').current()).rejects.toBe(lost);
  });
});

describe('nobody is logged in', () => {
  it('without tokens, or without a way to new ones, psd2 asks for a login', async () => {
    const message = 'Nobody is logged in with this profile';
    const nobody = { code: 'not_logged_in', message, next: [['auth', 'login']] };
    await expect((await login('no login')).session.current()).rejects.toMatchObject(nobody);
    await expect((await login('no login')).session.renewed('x')).rejects.toMatchObject(nobody);
    await expect((await login(0, { refreshToken: null })).session.current()).rejects.toMatchObject({
      ...nobody,
      message: 'The login has ended, and the bank gave no refresh token to renew it',
    });
    expect(recorded.received).toEqual([]);
  });

  it('nobody needs to log in if another process has just done so', async () => {
    const { world, store } = await login('no login');
    const theirs = await lateSlot(store);
    const session = sessionWith(world, {
      ...keeperOf(store),
      async ready() {
        await theirs.write({ ...NO_TOKENS, accessToken: 'access-of-another' });
        return async () => {};
      },
    });
    await expect(session.renewed('x')).resolves.toBe('access-of-another');
  });
});

describe('the application alone', () => {
  it('the application gets a new token with its own credentials, and no refresh token', async () => {
    recorded.expect('POST', TOKEN_PATH, tokens('access-1', null));
    const { world, folder, store } = await login('no login');
    const accessTokenExpiresAt = world.now().toISOString();
    await write(store, null, { ...NO_TOKENS, accessToken: 'access-0', accessTokenExpiresAt });
    expect(await sessionOf(folder, world, 'client_credentials').current()).toBe('access-1');
    expect(sentBodies()).toEqual([
      { grant_type: 'client_credentials', client_id: 'client-1', client_secret: 'secret-1' },
    ]);
    expect(await store.read(null)).toMatchObject({ accessToken: 'access-1', refreshToken: null });
  });

  it.each<[string, number | null, sent: number, token: string]>([
    ['without a token gets its first one', null, 1, 'access-1'],
    ['with a token uses it', HOUR, 0, 'access-0'],
    ['whose token has ended gets another one', 0, 1, 'access-1'],
  ])('an application that logs in by itself %s', async (_, left, sent, token) => {
    const world = fakeWorld();
    const store = storeIn(newConfigFolder(temporary));
    if (left !== null)
      await write(store, null, {
        ...{ ...NO_TOKENS, accessToken: 'access-0' },
        accessTokenExpiresAt: new Date(world.now().getTime() + left).toISOString(),
      });
    for (let call = 0; call < sent; call += 1) recorded.expect('POST', TOKEN_PATH, tokens('access-1', null));
    const session = openSession({
      ...{ begins: true, login: openClient({ now: world.now }).bankWith().login },
      ...{ grantType: 'client_credentials', holder: null, world, keeper: keeperOf(store, null) },
      client: () => ({ clientId: 'client-1', clientSecret: 'secret-1' }),
    });
    for (const _call of ['first', 'second']) expect(await session.current()).toBe(token);
    expect(recorded.received).toHaveLength(sent);
  });

  it('the error of an application without a token says how to log in', async () => {
    const session = sessionOf(newConfigFolder(temporary), fakeWorld(), 'client_credentials');
    await expect(session.current()).rejects.toMatchObject({
      code: 'not_logged_in',
      next: [['auth', 'login', '--client-credentials']],
    });
  });
});
