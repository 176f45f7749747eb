import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BANK, login } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores();
const WRITING = /insert into psd2\.tokens/;
const tokensOf = (isPlain = true) => stores.worker({ isPlain }).open('p', BANK).tokens;

beforeEach(async () => {
  await stores.init();
});

describe('tokens whose way to the database is lost', () => {
  let { proxy, through } = {} as Awaited<ReturnType<typeof stores.proxied>>;
  beforeEach(async () => {
    ({ proxy, through } = await stores.proxied());
  });
  /** A worker whose statements go through the proxy. */
  const cutOff = () => stores.worker({ address: through, isPlain: true }).open('p', BANK).tokens;

  it('tokens are stored once if only the answer was lost', async () => {
    await cutOff().change('42', (slot) => {
      proxy.cutNext(WRITING);
      return slot.write(login);
    });
    expect(proxy.cuts()).toBe(1);
    expect(await tokensOf().read('42')).toMatchObject({ ...login, generation: 1 });
  });

  it('tokens that never arrived are written again, even if the store has the same ones', async () => {
    const tokens = cutOff();
    await tokens.change('42', (slot) => slot.write(login));
    await tokens.change('42', (slot) => {
      proxy.dropNext(undefined, WRITING);
      return slot.write(login);
    });
    expect(proxy.cuts()).toBe(1);
    expect(await tokensOf().read('42')).toMatchObject({ ...login, generation: 2, origin: 2 });
  });

  it.each([
    ['another access token', { accessToken: 'x', refreshToken: login.refreshToken }],
    ['another refresh token', { accessToken: login.accessToken, refreshToken: 'x' }],
  ])('the tokens of another worker are not taken for those that were lost: %s', async (_, others) => {
    const tokens = cutOff();
    await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'before' }));
    await tokens.change('42', (slot) => {
      const written = `update psd2.tokens set generation = 2, origin = 2, secrets = '${JSON.stringify(others)}'`;
      proxy.dropNext(() => void stores.sql(written), WRITING);
      return slot.write(login);
    });
    expect(await tokensOf().read('42')).toMatchObject({ ...login, generation: 3 });
  });

  it('a logout in the meantime is not taken for the lost tokens', async () => {
    const tokens = cutOff();
    await tokens.change('42', (slot) => slot.write(login));
    await tokens.change('42', (slot) => {
      const ended = 'update psd2.tokens set generation = 2, origin = 2, secrets = null';
      proxy.dropNext(() => void stores.sql(ended), WRITING);
      return slot.write(login);
    });
    expect(await tokensOf().read('42')).toMatchObject({ ...login, generation: 3 });
  });

  it.each([
    ['wait for a database that is away for longer than a command waits', 5_000, 4, 'given'],
    ['are given up once the database has been away for two minutes', 40_000, undefined, login.accessToken],
  ])('tokens that the bank gave %s', async (_what, each, back, accessToken) => {
    const tokens = cutOff();
    await tokens.change('42', (slot) => slot.write(login));
    const begin = performance.now();
    let attempts = 0;
    onTestFinished(() => void vi.restoreAllMocks());
    const giving = tokens.change('42', async (slot) => {
      const spent = await slot.read();
      vi.spyOn(performance, 'now').mockImplementation(() => begin + attempts * each);
      proxy.refuse(() => {
        attempts += 1;
        if (attempts === back) proxy.refuse(undefined);
      });
      await slot.replace(spent, { ...login, accessToken: 'given' });
    });
    if (back === undefined) await expect(giving).rejects.toMatchObject({ code: 'config' });
    else await giving;
    proxy.refuse(undefined);
    expect(attempts).toBeGreaterThanOrEqual(3);
    expect(await tokensOf().read('42')).toMatchObject({ accessToken });
  });
});

it('a database that refuses a write is not asked again', async () => {
  stores.sql(`create function public.refuse() returns trigger language plpgsql as $$ begin raise 'full'; end $$;
    create trigger refuses before insert on psd2.tokens for each row execute function public.refuse()`);
  await expect(tokensOf().change('42', (slot) => slot.write(login))).rejects.toThrow('full');
});

it('tokens without an end have none in the database either', async () => {
  const endless = { ...login, accessTokenExpiresAt: null, scope: null };
  await tokensOf().change('42', (slot) => slot.write(endless));
  expect(await tokensOf().read('42')).toMatchObject(endless);
  expect(await tokensOf().login('42')).toEqual({
    ...{ accessTokenExpiresAt: null, refreshTokenExpiresAt: null, scope: null, apiTrackId: undefined },
  });
});

it('no tokens in a database are damaged files', async () => {
  await tokensOf().change('42', (slot) => slot.write(login));
  expect(await tokensOf().damaged()).toEqual([]);
});

describe('a login that another worker changes', () => {
  it('is claimed by the name of its holder, and the application has none', async () => {
    for (const [holder, name] of [
      ['42', '42'],
      [null, ''],
    ] as const)
      await tokensOf().change(holder, async () => {
        const [claim, ...more] = (await stores.worker().status()).claims ?? [];
        expect([claim?.kind, claim?.name, more]).toEqual(['tokens', name, []]);
      });
  });

  it('is no longer waited for once the command ends', async () => {
    const stop = new AbortController();
    await tokensOf().change('42', async () => {
      const changing = tokensOf().change('42', async () => {}, stop.signal);
      stop.abort(new Error('the end'));
      await expect(changing).rejects.toThrow('the end');
    });
  });
});

it('tokens that end before they are encrypted again stay deleted', async () => {
  const tokens = tokensOf();
  for (const holder of [null, '42']) await tokens.change(holder, (slot) => slot.write(login));
  await tokens.forget('42');
  await tokens.rewrite();
  expect([await tokens.read('42'), (await tokens.read(null))?.generation]).toEqual([undefined, 2]);
});
