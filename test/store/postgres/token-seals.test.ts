import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { mayKeepPlainTokens } from '../../../src/store/postgres/keys.ts';
import { STEPS } from '../../../src/store/postgres/schema.ts';
import { KEY_BYTES, seal } from '../../../src/store/secrets/sealed.ts';
import { deriveKey } from '../../../src/store/secrets/vault.ts';
import { BANK, login } from '../whole-store.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');
const worker = () => stores.worker().open('p', BANK);
const plainWorker = () => stores.worker({ isPlain: true }).open('p', BANK);
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
    expect(() => mayKeepPlainTokens({ PSD2_STORE_PLAIN_TOKENS: value })).toThrow(
      expect.objectContaining({
        code: 'config',
        message: expect.stringContaining('PSD2_STORE_PLAIN_TOKENS'),
        hint: expect.stringContaining('With 1, this machine stores tokens in clear text'),
      }),
    );
  });
});

describe('a database that says that tokens are in clear text', () => {
  beforeEach(async () => {
    await stores.init({ plainTokens: false });
  });

  it('a machine with a passphrase encrypts, whatever the database says', async () => {
    await worker().tokens.change('42', (slot) => slot.write(login));
    stores.sql('update psd2.store set plain_tokens = true');
    await worker().tokens.change('42', async (slot) => slot.replace(await slot.read(), login));
    for (const mayBePlain of [true, false]) {
      const { tokens } = stores.worker({ mayBePlain }).open('p', BANK);
      await tokens.change('43', (slot) => slot.write(login));
    }
    expect(stores.sql('select secrets from psd2.tokens')).not.toContain(login.accessToken);
    expect(await worker().tokens.read('42')).toMatchObject(login);
  });

  it('a machine without a passphrase stores nothing in clear text, unless it has chosen so too', async () => {
    const neither = stores.worker({ isPlain: true, mayBePlain: false }).open('p', BANK);
    const missing = { code: 'config', message: expect.stringContaining('is missing') };
    const write = (at: ReturnType<typeof worker>) => at.tokens.change('42', (slot) => slot.write(login));
    await expect(write(plainWorker())).rejects.toMatchObject(missing);
    stores.sql('update psd2.store set plain_tokens = true');
    await expect(write(neither)).rejects.toMatchObject({
      ...missing,
      hint: expect.stringContaining('set PSD2_STORE_PLAIN_TOKENS=1'),
    });
    await write(plainWorker());
    expect(secrets()).toContain(login.accessToken);
    expect(await plainWorker().tokens.read('42')).toMatchObject(login);
  });

  it('a machine with a passphrase refuses tokens in clear text, and a new login replaces them', async () => {
    await worker().tokens.change('42', (slot) => slot.write(login));
    stores.sql(`update psd2.store set plain_tokens = true;
      update psd2.tokens set secrets = '{"accessToken":"planted","refreshToken":"planted"}'`);
    const { tokens } = worker();
    await expect(tokens.read('42')).rejects.toMatchObject({
      ...refused('are not encrypted'),
      hint: expect.stringContaining('Someone without the passphrase has written them'),
    });
    await tokens.change('42', (slot) => slot.write(login));
    expect(await worker().tokens.read('42')).toMatchObject(login);
    expect(secrets()).not.toContain(login.accessToken);
  });

  it('a machine without a passphrase does not open encrypted tokens', async () => {
    await worker().tokens.change('42', (slot) => slot.write(login));
    stores.sql('update psd2.store set plain_tokens = true');
    await expect(plainWorker().tokens.read('42')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('are encrypted, and this machine has no passphrase'),
      hint: 'Set PSD2_CONFIG_PASSPHRASE, the same on all machines.',
    });
  });
});

it('older encrypted tokens that someone puts back into a newer row do not open', async () => {
  await stores.init({ plainTokens: false });
  const { tokens } = worker();
  await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'first' }));
  const first = secrets();
  await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'second' }));
  const second = secrets();
  stores.sql(`update psd2.tokens set secrets = '${first}'`);
  await expect(tokens.read('42')).rejects.toMatchObject({
    ...refused('are damaged'),
    hint: 'Restore them, or log in again:',
  });
  stores.sql(`update psd2.tokens set secrets = '${second}', generation = generation + 1`);
  await expect(tokens.read('42')).rejects.toMatchObject(refused('are damaged'));
  // Without its version it would be a row of psd2 0.2.
  stores.sql(`update psd2.tokens set secrets = (secrets::jsonb - 'v')::json, generation = generation - 1`);
  await expect(tokens.read('42')).rejects.toMatchObject(refused('are damaged'));
  stores.sql(`update psd2.tokens set secrets = '${second}'`);
  expect(await tokens.read('42')).toMatchObject({ accessToken: 'second' });
});

it("the application's tokens are protected too, and their errors name its login", async () => {
  await stores.init({ plainTokens: false });
  const { tokens } = worker();
  await tokens.change(null, (slot) => slot.write(login));
  expect(secrets('')).toContain('"v":2');
  expect(await worker().tokens.read(null)).toMatchObject(login);
  const plant = (secrets: string) => stores.sql(`update psd2.tokens set secrets = '${secrets}'`);
  const error = (what: string) => ({
    code: 'config',
    message: expect.stringMatching(`^The tokens of the application \\(profile p\\) at .+ ${what}`),
    next: [['auth', 'login', '--client-credentials']],
  });
  plant('{"accessToken":"planted","refreshToken":null}');
  await expect(tokens.read(null)).rejects.toMatchObject(error('are not encrypted'));
  plant(JSON.stringify({ sealed: seal(randomBytes(KEY_BYTES), ['p'], '{}'), v: 2 }));
  await expect(tokens.read(null)).rejects.toMatchObject(error('are damaged'));
});

describe('a store of psd2 0.2 that is brought up to date', () => {
  /** Tokens as psd2 0.2 sealed them. */
  async function oldStore(): Promise<(accessToken: string, holder?: string) => string> {
    const salt = randomBytes(16).toString('base64');
    const key = randomBytes(KEY_BYTES);
    const wrapped = seal(await deriveKey('correct horse', salt), ['p', 'id', 'key'], key.toString('base64'));
    stores.sql(`${STEPS[0]}
      insert into psd2.store (version, plain_tokens) values (1, false);
      insert into psd2.keys (profile, key) values ('p', '${JSON.stringify({ v: 1, id: 'id', salt, key: wrapped })}')`);
    return (accessToken, holder = 'customer-42') => {
      const text = JSON.stringify({ accessToken, refreshToken: 'secret-refresh' });
      return JSON.stringify({ sealed: seal(key, ['p', 'id', 'tokens', holder, BANK.href], text) });
    };
  }
  const insert = (secrets: string, holder = '42') =>
    stores.sql(`insert into psd2.tokens (profile, holder, generation, origin, base_url, secrets)
      values ('p', '${holder}', 7, 5, '${BANK.href}', '${secrets}')`);

  it('its tokens are read as before, and new ones are sealed with their generation', async () => {
    const old = await oldStore();
    insert(old('from-0.2'));
    await expect(worker().tokens.read('42')).rejects.toThrow('this psd2 needs schema 5');
    expect(await stores.init({ plainTokens: false })).toBe(1);
    const { tokens } = worker();
    expect(await tokens.read('42')).toMatchObject({ accessToken: 'from-0.2', generation: 7, origin: 5 });
    await tokens.rewrite();
    expect(await tokens.read('42')).toMatchObject({ accessToken: 'from-0.2', generation: 8, origin: 5 });
    expect(secrets()).toContain('"v":2');
  });

  it("the application's tokens are read as before", async () => {
    const old = await oldStore();
    insert(old('of-the-application', 'client-credentials'), '');
    await stores.init({ plainTokens: false });
    expect(await worker().tokens.read(null)).toMatchObject({ accessToken: 'of-the-application' });
  });

  it('a worker cannot pass off other tokens as those of psd2 0.2', async () => {
    const old = await oldStore();
    insert(old('from-0.2'));
    await stores.init({ plainTokens: false });
    for (const generation of [6, 8]) {
      stores.sql(`update psd2.tokens set generation = ${generation}`);
      await expect(worker().tokens.read('42')).rejects.toMatchObject(refused('are damaged'));
    }
  });

  it('a role of the workers that was there before gets the rights of the new tables, and no more', async () => {
    await oldStore();
    stores.sql(`do $$ begin
        if not exists (select from pg_roles where rolname = 'psd2_worker') then create role psd2_worker nologin; end if;
      end $$;
      grant select, insert, update, delete on all tables in schema psd2 to psd2_worker`);
    await stores.init({ plainTokens: false });
    const may = (table: string, rights: string) =>
      stores.sql(`select has_table_privilege('psd2_worker', 'psd2.${table}', '${rights}')`);
    expect(may('tokens_of_schema_1', 'select')).toBe('t');
    expect(may('tokens_of_schema_1', 'insert, update, delete')).toBe('f');
    expect([may('keys', 'insert'), may('keys', 'update, delete')]).toEqual(['t', 'f']);
    expect([may('flow_events', 'insert'), may('flow_events', 'update, delete')]).toEqual(['t', 'f']);
  });
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
    const { tokens } = stores.worker({ address }).open('p', BANK);
    await tokens.change('42', (slot) => slot.write(login));
    expect(await worker().tokens.read('42')).toMatchObject(login);
    for (const statement of [
      `update psd2.keys set key = '{}'`,
      'delete from psd2.keys',
      'update psd2.store set plain_tokens = true',
      `insert into psd2.tokens_of_schema_1 values ('p', '42', 1)`,
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
