import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { addPassphrase, dropOthers } from '../../../src/store/postgres/admin.ts';
import { mayKeepPlainTokens, passphraseEntry } from '../../../src/store/postgres/keys.ts';
import { KEY_BYTES, seal } from '../../../src/store/secrets/sealed.ts';
import { thrownBy } from '../../support/thrown.ts';
import { useKeyring } from '../system-keyring.ts';
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

it('the passphrase of the keyring opens tokens, or is named as wrong; a keyring that fails leaves it missing', async () => {
  await stores.init({ plainTokens: false });
  await worker().tokens.change('42', (slot) => slot.write(login));
  let works = true;
  useKeyring(() => works || Promise.reject(new Error('locked')));
  const entry = await passphraseEntry(stores.database(), new AbortController().signal);
  const read = () => stores.worker({ isKept: true }).open('p', BANK).tokens.read('42');
  await entry.write('correct horse');
  expect(await read()).toMatchObject(login);
  await entry.write('wrong horse');
  await expect(read()).rejects.toMatchObject({
    ...{ code: 'config', next: [['store', 'init', '--keyring']] },
    message: expect.stringMatching(
      /^The passphrase in this machine's keyring does not open the tokens of p /,
    ),
  });
  works = false;
  await expect(read()).rejects.toMatchObject({
    ...{ code: 'config', next: [['store', 'init', '--keyring']] },
    message:
      "The passphrase for the tokens of p is missing: PSD2_CONFIG_PASSPHRASE is not set, and the system's keyring cannot be used: locked",
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
  stores.sql('update psd2.tokens set generation = generation - 1');
  expect(await tokens.read('42')).toMatchObject({ accessToken: 'second' });
});

it("the application's tokens are protected too, and their errors name its login", async () => {
  await stores.init({ plainTokens: false });
  const { tokens } = worker();
  await tokens.change(null, (slot) => slot.write(login));
  expect(secrets('')).toContain('"sealed":');
  expect(await worker().tokens.read(null)).toMatchObject(login);
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
    const { tokens } = stores.worker({ address }).open('p', BANK);
    await tokens.change('42', (slot) => slot.write(login));
    expect(await worker().tokens.read('42')).toMatchObject(login);
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
  const old = stores.worker({ passphrase: 'old' }).open('bank', BANK).tokens;
  await old.change('42', (slot) => slot.write(login));
  expect(await addPassphrase(stores.database(), { old: 'old', new: 'new' })).toEqual(['bank']);
  const both = ['old', 'new'].map((passphrase) => stores.worker({ passphrase }).open('bank', BANK).tokens);
  for (const { read } of both.map((tokens) => ({ read: () => tokens.read('42') })))
    expect(await read()).toMatchObject({ refreshToken: 'secret-refresh' });
  expect(await dropOthers(stores.database(), 'new')).toEqual(['bank']);
  await old.change('42', (slot) => slot.write({ ...login, refreshToken: 'renewed' }));
  const next = stores.worker({ passphrase: 'new' }).open('bank', BANK).tokens;
  expect(await next.read('42')).toMatchObject({ refreshToken: 'renewed' });
  const late = stores.worker({ passphrase: 'old' }).open('bank', BANK).tokens;
  await expect(late.read('42')).rejects.toThrow('does not open the tokens of bank');
});

it('the passphrases of all profiles change together or not at all', async () => {
  await stores.init({ plainTokens: false });
  await stores
    .worker({ passphrase: 'old' })
    .open('bank', BANK)
    .tokens.change('42', (slot) => slot.write(login));
  await stores
    .worker({ passphrase: 'other' })
    .open('zoo', BANK)
    .tokens.change('42', (slot) => slot.write(login));
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
