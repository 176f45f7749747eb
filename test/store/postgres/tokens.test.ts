import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { addPassphrase, dropOthers, opensOne, storedKeys } from '../../../src/store/postgres/admin.ts';
import { mayKeepPlainTokens, passphraseEntry } from '../../../src/store/postgres/keys.ts';
import { KEY_BYTES, seal } from '../../../src/store/secrets/sealed.ts';
import { thrownBy } from '../../support/thrown.ts';
import { useKeyring } from '../system-keyring.ts';
import { BANK, login } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');
const tokensOf = (more: Parameters<typeof stores.worker>[0] = {}, profile = 'p') =>
  stores.worker(more).open(profile, BANK).tokens;
const plain = () => tokensOf({ isPlain: true });
const secrets = (holder = '42') => stores.sql(`select secrets from psd2.tokens where holder = '${holder}'`);

const refused = (what: string) => ({
  code: 'config',
  message: expect.stringMatching(new RegExp(`^The tokens of customer 42 \\(profile p\\) at .+ ${what}`)),
  next: [['auth', 'login']],
});

describe('PSD2_STORE_PLAIN_TOKENS', () => {
  it.each([
    ['1', true],
    ['true', true],
    ['0', false],
    ['false', false],
    ['', false],
    [undefined, false],
  ])('%j means %s', (value, expected) => {
    expect(mayKeepPlainTokens({ PSD2_STORE_PLAIN_TOKENS: value })).toBe(expected);
  });

  it.each(['yes', 'TRUE', ' 1', '2', 'off'])('%j is refused', (value) => {
    expect(thrownBy(() => mayKeepPlainTokens({ PSD2_STORE_PLAIN_TOKENS: value }))).toMatchObject({
      code: 'config',
      message: expect.stringContaining('PSD2_STORE_PLAIN_TOKENS'),
      hint: expect.stringContaining('With 1, this machine stores tokens in clear text'),
    });
  });
});

describe('a database that says that tokens are in clear text', () => {
  beforeEach(async () => {
    await stores.init({ plainTokens: false });
  });

  it('a machine with a passphrase encrypts, whatever the database says', async () => {
    await tokensOf().change('42', (slot) => slot.write(login));
    stores.sql('update psd2.store set plain_tokens = true');
    await tokensOf().change('42', async (slot) => slot.replace(await slot.read(), login));
    for (const mayBePlain of [true, false])
      await tokensOf({ mayBePlain }).change('43', (slot) => slot.write(login));
    expect(stores.sql('select secrets from psd2.tokens')).not.toContain(login.accessToken);
    expect(await tokensOf().read('42')).toMatchObject(login);
  });

  it('a machine without a passphrase stores nothing in clear text, unless it has chosen so too', async () => {
    const neither = tokensOf({ isPlain: true, mayBePlain: false });
    const missing = { code: 'config', message: expect.stringContaining('is missing') };
    const write = (tokens: ReturnType<typeof plain>) => tokens.change('42', (slot) => slot.write(login));
    await expect(write(plain())).rejects.toMatchObject(missing);
    stores.sql('update psd2.store set plain_tokens = true');
    await expect(write(neither)).rejects.toMatchObject({
      ...missing,
      hint: expect.stringContaining('set PSD2_STORE_PLAIN_TOKENS=1'),
    });
    await write(plain());
    expect(secrets()).toContain(login.accessToken);
    expect(await plain().read('42')).toMatchObject(login);
  });

  it('a machine with a passphrase refuses tokens in clear text, and a new login replaces them', async () => {
    await tokensOf().change('42', (slot) => slot.write(login));
    stores.sql(`update psd2.store set plain_tokens = true;
      update psd2.tokens set secrets = '{"accessToken":"planted","refreshToken":"planted"}'`);
    const tokens = tokensOf();
    await expect(tokens.read('42')).rejects.toMatchObject({
      ...refused('are not encrypted'),
      hint: expect.stringContaining('Someone without the passphrase has written them'),
    });
    await tokens.change('42', (slot) => slot.write(login));
    expect(await tokensOf().read('42')).toMatchObject(login);
    expect(secrets()).not.toContain(login.accessToken);
  });

  it('a machine without a passphrase does not open encrypted tokens', async () => {
    await tokensOf().change('42', (slot) => slot.write(login));
    stores.sql('update psd2.store set plain_tokens = true');
    await expect(plain().read('42')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('are encrypted, and this machine has no passphrase'),
      hint: 'Set PSD2_CONFIG_PASSPHRASE, the same on all machines.',
    });
  });
});

it('the passphrase of the keyring opens tokens, or is named as wrong; a keyring that fails leaves it missing', async () => {
  await stores.init({ plainTokens: false });
  await tokensOf().change('42', (slot) => slot.write(login));
  let works = true;
  useKeyring(() => works || Promise.reject(new Error('locked')));
  const entry = await passphraseEntry(stores.database(), new AbortController().signal);
  const read = () => tokensOf({ isKept: true }).read('42');
  await entry.write('correct horse');
  expect(await read()).toMatchObject(login);
  await entry.write('wrong horse');
  const wrong = /^The passphrase in this machine's keyring does not open the tokens of p /;
  await expect(read()).rejects.toMatchObject({
    ...{ code: 'config', next: [['store', 'init', '--keyring']] },
    message: expect.stringMatching(wrong),
  });
  works = false;
  await expect(read()).rejects.toMatchObject({
    ...{ code: 'config', next: [['store', 'init', '--keyring']] },
    message:
      "The passphrase for the tokens of p is missing: PSD2_CONFIG_PASSPHRASE is not set, and the system's keyring cannot be used: locked",
  });
});

it('encrypted tokens open in their own row alone: at their bank, for their customer, and not after newer ones', async () => {
  await stores.init({ plainTokens: false });
  const tokens = tokensOf();
  await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'first' }));
  await tokens.change('43', (slot) => slot.write({ ...login, accessToken: 'of 43' }));
  const first = secrets();
  stores.sql(`update psd2.tokens set base_url = 'https://evil.example/'`);
  const evil = stores.worker().open('p', new URL('https://evil.example/'));
  await expect(evil.tokens.read('42')).rejects.toMatchObject(refused('are damaged'));
  stores.sql(`update psd2.tokens set base_url = '${BANK.href}'`);
  expect(await tokens.read('42')).toMatchObject({ accessToken: 'first' });

  stores.sql(`update psd2.tokens set secrets = '${secrets('43')}'`);
  await expect(tokens.read('42')).rejects.toMatchObject(refused('are damaged'));
  expect(await tokens.read('43')).toMatchObject({ accessToken: 'of 43' });
  stores.sql(`update psd2.tokens set holder = '' where holder = '43'`);
  const damaged = { code: 'config', message: expect.stringContaining('are damaged') };
  await expect(tokens.read(null)).rejects.toMatchObject(damaged);

  await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'second' }));
  const second = secrets();
  stores.sql(`update psd2.tokens set secrets = '${first}' where holder = '42'`);
  await expect(tokens.read('42')).rejects.toMatchObject({
    ...refused('are damaged'),
    hint: 'Restore them, or log in again:',
  });
  stores.sql(`update psd2.tokens set secrets = '${second}', generation = generation + 1 where holder = '42'`);
  await expect(tokens.read('42')).rejects.toMatchObject(refused('are damaged'));
  stores.sql(`update psd2.tokens set generation = generation - 1 where holder = '42'`);
  expect(await tokens.read('42')).toMatchObject({ accessToken: 'second' });
});

it("the application's tokens are protected too, and their errors name its login", async () => {
  await stores.init({ plainTokens: false });
  const tokens = tokensOf();
  await tokens.change(null, (slot) => slot.write(login));
  expect(secrets('')).toContain('"sealed":');
  expect(await tokensOf().read(null)).toMatchObject(login);
  const plant = (secrets: string) => stores.sql(`update psd2.tokens set secrets = '${secrets}'`);
  const error = (what: string) => ({
    code: 'config',
    message: expect.stringMatching(`^The tokens of the application \\(profile p\\) at .+ ${what}`),
    next: [['auth', 'login', '--client-credentials']],
  });
  plant('{"accessToken":"planted","refreshToken":null}');
  await expect(tokens.read(null)).rejects.toMatchObject(error('are not encrypted'));
  plant(JSON.stringify({ sealed: seal(randomBytes(KEY_BYTES), ['p'], '{}') }));
  await expect(tokens.read(null)).rejects.toMatchObject(error('are damaged'));
});

describe('a worker of the role psd2_worker', () => {
  const clerk = () => {
    stores.sql(`do $$ begin
        if not exists (select from pg_roles where rolname = 'sealing_clerk') then create role sealing_clerk login; end if;
      end $$;
      grant psd2_worker to sealing_clerk`);
    return parseAddress(stores.server().url(stores.name()).replace('psd2@', 'sealing_clerk@'), {});
  };
  beforeEach(async () => {
    await stores.init({ roles: true, plainTokens: false });
  });

  it('makes the first key of a profile, and cannot replace it or choose clear text', async () => {
    const address = clerk();
    const tokens = tokensOf({ address });
    await tokens.change('42', (slot) => slot.write(login));
    expect(await tokensOf().read('42')).toMatchObject(login);
    for (const statement of [
      `update psd2.keys set key = '{}'`,
      'delete from psd2.keys',
      'update psd2.store set plain_tokens = true',
      'delete from psd2.flow_events',
    ])
      expect(() => stores.sql(`set role sealing_clerk; ${statement}`), statement).toThrow(
        'permission denied',
      );
  });

  it('cannot write into a store that was copied, though it says that it copies', async () => {
    clerk();
    stores.sql(`update psd2.store set moved_to = 'elsewhere', moved_to_id = 'x'`);
    const claim = `set psd2.copying = 'on'; insert into psd2.claims (profile, kind, name, number, until)
      values ('p', 'flow', 'tr-1', 1, 'now')`;
    expect(() => stores.sql(`set role sealing_clerk; ${claim}`)).toThrow('elsewhere');
    stores.sql(claim);
  });
});

it('a worker that has opened the key goes on while and after the passphrase changes, and new workers read what it stores', async () => {
  await stores.init({ plainTokens: false });
  const old = tokensOf({ passphrase: 'old' }, 'bank');
  await old.change('42', (slot) => slot.write(login));
  expect(await addPassphrase(stores.database(), { old: 'old', new: 'new' })).toEqual(['bank']);
  const both = ['old', 'new'].map((passphrase) => tokensOf({ passphrase }, 'bank'));
  for (const tokens of both)
    expect(await tokens.read('42')).toMatchObject({ refreshToken: 'secret-refresh' });
  expect(await dropOthers(stores.database(), 'new')).toEqual(['bank']);
  await old.change('42', (slot) => slot.write({ ...login, refreshToken: 'renewed' }));
  const next = tokensOf({ passphrase: 'new' }, 'bank');
  expect(await next.read('42')).toMatchObject({ refreshToken: 'renewed' });
  const late = tokensOf({ passphrase: 'old' }, 'bank');
  await expect(late.read('42')).rejects.toThrow('does not open the tokens of bank');
});

it('of several new passphrases each opens the keys beside the ones before', async () => {
  await stores.init({ plainTokens: false });
  await tokensOf({ passphrase: 'first' }, 'bank').change('42', (slot) => slot.write(login));
  for (const [old, next] of [
    ['first', 'second'],
    ['second', 'third'],
  ] as const)
    expect(await addPassphrase(stores.database(), { old, new: next })).toEqual(['bank']);
  const { keys } = await storedKeys(stores.database());
  for (const passphrase of ['first', 'second', 'third'])
    expect([passphrase, await opensOne(keys, passphrase)]).toEqual([passphrase, true]);
});

it('the passphrases of all profiles change together or not at all', async () => {
  await stores.init({ plainTokens: false });
  await tokensOf({ passphrase: 'old' }, 'bank').change('42', (slot) => slot.write(login));
  await tokensOf({ passphrase: 'other' }, 'zoo').change('42', (slot) => slot.write(login));
  const before = stores.sql('select key from psd2.keys order by profile');
  await expect(addPassphrase(stores.database(), { old: 'old', new: 'new' })).rejects.toThrow(
    'PSD2_CONFIG_PASSPHRASE does not open the tokens of zoo',
  );
  expect(stores.sql('select key from psd2.keys order by profile')).toBe(before);
  await expect(addPassphrase(stores.database(), { old: undefined, new: 'new' })).rejects.toThrow(
    'does not open the tokens of bank',
  );
  expect(await dropOthers(stores.database(), 'old')).toEqual([]);
});

it('workers that encrypt the first tokens of a profile at once use one key', async () => {
  await stores.init({ plainTokens: false });
  // Both find no key, and make one.
  const other = await stores.holding('lock table psd2.keys in share mode');
  const writing = Promise.all(
    ['1', '2'].map((customerId) => tokensOf().change(customerId, (slot) => slot.write(login))),
  );
  expect(await stores.waits(writing, 2)).toBe(true);
  await other.end();
  await writing;
  const tokens = tokensOf();
  for (const customerId of ['1', '2']) expect(await tokens.read(customerId)).toMatchObject(login);
});

describe('tokens in clear text', () => {
  const WRITING = /insert into psd2\.tokens/;

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
      expect(await plain().read('42')).toMatchObject({ ...login, generation: 1 });
    });

    it('tokens that never arrived are written again, even if the store has the same ones', async () => {
      const tokens = cutOff();
      await tokens.change('42', (slot) => slot.write(login));
      await tokens.change('42', (slot) => {
        proxy.dropNext(undefined, WRITING);
        return slot.write(login);
      });
      expect(proxy.cuts()).toBe(1);
      expect(await plain().read('42')).toMatchObject({ ...login, generation: 2, origin: 2 });
    });

    it.each([
      ['another access token', { accessToken: 'x', refreshToken: login.refreshToken }],
      ['another refresh token', { accessToken: login.accessToken, refreshToken: 'x' }],
      ['a logout', null],
    ])('what another worker wrote is not taken for the tokens that were lost: %s', async (_, others) => {
      const tokens = cutOff();
      await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'before' }));
      const secrets = others && `'${JSON.stringify(others)}'`;
      const written = `update psd2.tokens set generation = 2, origin = 2, secrets = ${secrets}`;
      await tokens.change('42', (slot) => {
        proxy.dropNext(() => void stores.sql(written), WRITING);
        return slot.write(login);
      });
      expect(await plain().read('42')).toMatchObject({ ...login, generation: 3 });
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
      expect(await plain().read('42')).toMatchObject({ accessToken });
    });
  });

  it('a database that refuses a write is not asked again', async () => {
    stores.sql(`create function public.refuse() returns trigger language plpgsql as $$ begin raise 'full'; end $$;
      create trigger refuses before insert on psd2.tokens for each row execute function public.refuse()`);
    await expect(plain().change('42', (slot) => slot.write(login))).rejects.toThrow('full');
  });

  it('tokens without an end have none in the database either', async () => {
    const endless = { ...login, accessTokenExpiresAt: null, scope: null };
    await plain().change('42', (slot) => slot.write(endless));
    expect(await plain().read('42')).toMatchObject(endless);
    expect(await plain().login('42')).toEqual({
      ...{ accessTokenExpiresAt: null, refreshTokenExpiresAt: null, scope: null, apiTrackId: undefined },
    });
    // Files can be damaged, and rows of a database are read when they are needed.
    expect(await plain().damaged()).toEqual([]);
  });

  describe('a login that another worker changes', () => {
    it('is claimed by the name of its holder, and the application has none', async () => {
      for (const holder of ['42', null])
        await plain().change(holder, async () => {
          const [claim, ...more] = (await stores.worker().status()).claims ?? [];
          expect([claim?.kind, claim?.name, more]).toEqual(['tokens', holder ?? '', []]);
        });
    });

    it('is no longer waited for once the command ends', async () => {
      const stop = new AbortController();
      await plain().change('42', async () => {
        const changing = plain().change('42', async () => {}, stop.signal);
        stop.abort(new Error('the end'));
        await expect(changing).rejects.toThrow('the end');
      });
    });
  });

  it('tokens that end before they are encrypted again stay deleted', async () => {
    const tokens = plain();
    for (const holder of [null, '42']) await tokens.change(holder, (slot) => slot.write(login));
    await tokens.forget('42');
    await tokens.rewrite();
    expect([await tokens.read('42'), (await tokens.read(null))?.generation]).toEqual([undefined, 2]);
  });

  it('tokens that the bank gave are not held back by a database that can never store them', async () => {
    const tokens = plain();
    await tokens.change('42', (slot) => slot.write(login));
    const late = await tokens.change('42', async (slot) => ({ slot, spent: await slot.read() }));
    stores.sql('alter table psd2.tokens rename to gone');
    await expect(late.slot.replace(late.spent, login)).rejects.toMatchObject({ code: 'config' });
  });

  it('tokens that another worker stores at the same moment are not replaced by late ones', async () => {
    const tokens = plain();
    await tokens.change('42', (slot) => slot.write(login));
    const late = await tokens.change('42', async (slot) => ({ slot, spent: await slot.read() }));
    const other = await stores.holding(
      `update psd2.tokens set generation = 2, origin = 2, secrets = '{"accessToken":"newer","refreshToken":null}'`,
    );
    const replacing = late.slot.replace(late.spent, { ...login, accessToken: 'late' });
    expect(await stores.waits(replacing)).toBe(true);
    await other.end();
    expect(await replacing).toMatchObject({ accessToken: 'newer' });
    expect(await tokens.read('42')).toMatchObject({ accessToken: 'newer' });
  });

  it('psd2 profile protect encrypts the tokens of customers and of the application, and they stay the same', async () => {
    const tokens = plain();
    for (const holder of ['42', null])
      await tokens.change(holder, (slot) => slot.write({ ...login, accessToken: `secret of ${holder}` }));
    await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'secret of 42' }));
    const generations = () =>
      stores.sql('select holder, generation, origin from psd2.tokens order by holder');
    expect(generations()).toBe('|1|1\n42|2|2');
    await expect(tokensOf().rewrite()).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining('run psd2 profile protect with PSD2_STORE_PLAIN_TOKENS=1'),
    });
    await tokensOf({ mayBePlain: true }).rewrite();
    expect(generations()).toBe('|2|1\n42|3|2');
    expect(stores.sql('select secrets from psd2.tokens')).not.toContain('secret of');
    for (const holder of ['42', null])
      expect(await tokensOf().read(holder)).toMatchObject({ accessToken: `secret of ${holder}` });
  });

  it('what the bank issued is stored even after Ctrl-C', async () => {
    const interrupted = new AbortController();
    const tokens = tokensOf({ isPlain: true, signal: interrupted.signal });
    await tokens.change('42', (slot) => slot.write(login));
    await tokens.change('42', async (slot) => {
      const spent = await slot.read();
      interrupted.abort(new Error('interrupted'));
      await slot.replace(spent, { ...login, accessToken: 'given' });
    });
    expect(await plain().read('42')).toMatchObject({ accessToken: 'given' });
  });
});
