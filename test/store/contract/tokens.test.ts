import { beforeEach, describe, expect, it } from 'vitest';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import type { ReadTokens, StoredTokens, TokenSlot, Tokens } from '../../../src/store/ports/tokens.ts';
import { named } from '../../support/named.ts';
import { LINKED, login as plainLogin } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';
import { orderOf } from './overlap.ts';

const BANK = new URL('https://bank.example/psd2');
const CUSTOMER = '1234567';
const login: StoredTokens = {
  ...{ ...plainLogin, accessToken: 'secret-access-1', refreshToken: 'secret-refresh-1' },
  ...{ ...LINKED, apiTrackId: '0123456789' },
};
const renewed: StoredTokens = { ...login, accessToken: 'secret-access-2', refreshToken: 'secret-refresh-2' };

describe.each(named(useBackends()))('the tokens in %s', (_name, { open }) => {
  let place: Place;
  let tokens: Tokens;
  /** The same tokens, as another worker sees them. */
  let others: Tokens;
  beforeEach(async () => {
    place = await open();
    tokens = (await place.worker()).open('bank', BANK).tokens;
    others = (await place.worker()).open('bank', BANK).tokens;
  });
  const write = (store: Tokens, of: StoredTokens) => store.change(CUSTOMER, (slot) => slot.write(of));
  const read = async (store: Tokens): Promise<ReadTokens> => {
    const found = await store.read(CUSTOMER);
    if (!found) throw new TypeError('There are no tokens');
    return found;
  };

  it('the store counts the logins at other banks, without those that have ended or are of another profile', async () => {
    const [here, there] = ['https://a.example/', 'https://b.example/'];
    const worker = await place.worker();
    const at = (bank?: string, profile = 'bank') =>
      worker.open(profile, bank ? new URL(bank) : undefined).tokens;
    await at(here).change('1', (slot) => slot.write(login));
    for (const holder of ['2', null, '3']) await at(there).change(holder, (slot) => slot.write(login));
    await at(there).forget('3');
    await at(there, 'other').change('4', (slot) => slot.write(login));
    const one = { baseUrl: here, logins: 1 };
    const two = { baseUrl: there, logins: 2 };
    expect(await at(here).otherBanks()).toEqual([two]);
    expect(await at(there).otherBanks()).toEqual([one]);
    expect(await at().otherBanks()).toEqual([two, one]);
    expect(await tokens.otherBanks()).toEqual([two, one]);
    expect(await at(here, 'nobody').otherBanks()).toEqual([]);
  });

  describe('if the bank has a new address', () => {
    const NEW = new URL('https://new.bank.example/psd2');
    const atNew = async (passphrase?: string) => (await place.worker(passphrase)).open('bank', NEW).tokens;

    it.each([false, true])(
      'logins are moved there with all that belongs to them, and others stay (protected: %s)',
      async (isProtected) => {
        if (isProtected) await place.protect('bank', 'correct horse');
        const pass = isProtected ? 'correct horse' : undefined;
        const old = (await place.worker(pass)).open('bank', BANK).tokens;
        const there = await atNew(pass);
        await write(old, { ...login, unproven: true });
        await old.change(null, (slot) => slot.write(login));
        await old.change('gone', (slot) => slot.write(login));
        await old.forget('gone');
        await there.change('7654321', (slot) => slot.write(renewed));
        const third = (await place.worker(pass)).open('bank', new URL('https://third.example')).tokens;
        await third.change('third', (slot) => slot.write(login));

        expect(await there.move(BANK.href)).toBe(2);
        expect(await there.read(CUSTOMER)).toMatchObject({ ...login, unproven: true });
        expect(await there.read(null)).toMatchObject(login);
        expect(await there.read('7654321')).toMatchObject(renewed);
        expect(await there.read('gone')).toBeUndefined();
        expect(await there.otherBanks()).toEqual([{ baseUrl: 'https://third.example/', logins: 1 }]);
        expect(await old.read(CUSTOMER)).toBeUndefined();
        expect(await there.move(BANK.href)).toBe(0);
      },
    );

    it('a renewal that was stopped at the old address stores its tokens at the new one', async () => {
      await write(tokens, login);
      const there = await atNew();
      const spent = await read(tokens);
      expect(await there.move(BANK.href)).toBe(1);
      await tokens.change(CUSTOMER, async (slot) => {
        expect(await slot.isOurs(spent)).toBe(false);
        expect(await slot.replace(spent, renewed)).toMatchObject(renewed);
      });
      expect(await there.read(CUSTOMER)).toMatchObject(renewed);
      // A refusal of the spent ones does not count for the new ones.
      await tokens.change(CUSTOMER, (slot) => slot.refuse(spent));
      expect(await there.read(CUSTOMER)).toMatchObject(renewed);
    });

    it.each<[string, (slot: TokenSlot) => Promise<unknown>]>([
      ['a login', (slot) => slot.write(renewed)],
      ['tokens that the bank gave for none', (slot) => slot.replace(undefined, renewed)],
    ])('%s at the new address counts there, and not at the old one', async (_, change) => {
      const there = await atNew();
      for (const holder of [CUSTOMER, null]) {
        await tokens.change(holder, (slot) => slot.write(login));
        expect(await there.read(holder)).toBeUndefined();
        await there.change(holder, change);
        expect(await there.read(holder)).toMatchObject(renewed);
        expect(await tokens.read(holder)).toBeUndefined();
      }
      expect([await there.otherBanks(), await tokens.otherBanks()]).toEqual([
        [],
        [{ baseUrl: NEW.href, logins: 2 }],
      ]);
    });

    it('logins are moved after a renewal that is under way', async () => {
      await write(tokens, login);
      const there = await atNew();
      let moving: Promise<number> | undefined;
      await tokens.change(CUSTOMER, async (slot) => {
        moving = there.move(BANK.href);
        const spent = await slot.read();
        expect(await slot.isOurs(spent)).toBe(true);
        await slot.replace(spent, renewed);
      });
      expect(await moving).toBe(1);
      expect(await there.read(CUSTOMER)).toMatchObject(renewed);
    });
  });

  it('the tokens of a payment are no login of a customer, and leave nothing when they are erased', async () => {
    const holder = paymentHolder('3f2b8a10-0000-4000-8000-000000000001');
    await write(tokens, login);
    await tokens.change(holder, (slot) => slot.write(renewed));
    expect(await others.read(holder)).toMatchObject(renewed);
    expect(await others.customers()).toEqual([CUSTOMER]);
    expect((await others.logins()).map(({ customerId }) => customerId)).toEqual([CUSTOMER]);
    await others.rewrite();
    expect(await tokens.read(holder)).toMatchObject(renewed);
    await others.erase(holder);
    await others.erase(holder);
    expect(await tokens.read(holder)).toBeUndefined();
    await tokens.change(holder, (slot) => slot.write(login));
    expect((await others.read(holder))?.generation).toBe(1);
    await tokens.forgetAll();
    expect(await others.read(holder)).toBeUndefined();
  });

  it('other workers find tokens only for their holder at their bank', async () => {
    await write(tokens, login);
    expect(await others.read(CUSTOMER)).toMatchObject(login);
    expect(await others.read(null)).toBeUndefined();
    const worker = await place.worker();
    // The server is sealed with the tokens.
    const { accessToken: _, refreshToken: __, server: ___, consent: ____, ...ends } = login;
    expect(await others.login(CUSTOMER)).toMatchObject(ends);
    expect(await others.login(null)).toBeUndefined();
    for (const bank of ['other.example/psd2', 'bank.example/', 'bank.example:8443/psd2']) {
      const elsewhere = worker.open('bank', new URL(`https://${bank}`)).tokens;
      const found = [await elsewhere.read(CUSTOMER), await elsewhere.login(CUSTOMER)];
      expect(found).toEqual([undefined, undefined]);
    }
    expect(await worker.open('other', BANK).tokens.read(CUSTOMER)).toBeUndefined();
    await others.forget(CUSTOMER);
    expect(await tokens.login(CUSTOMER)).toBeUndefined();
  });

  it('without a bank no login counts, and no tokens are written', async () => {
    await write(tokens, login);
    const { tokens: anywhere } = (await place.worker()).open('bank');
    expect([await anywhere.read(CUSTOMER), await anywhere.login(CUSTOMER)]).toEqual([undefined, undefined]);
    await expect(anywhere.change('7654321', (slot) => slot.write(login))).rejects.toThrow(TypeError);
    expect(await tokens.customers()).toEqual([CUSTOMER]);
  });

  it('before the first login, a worker has the login to itself, and stores nothing for spent tokens', async () => {
    await tokens.change(CUSTOMER, async (slot) => {
      expect(await slot.read()).toBeUndefined();
      expect(await slot.isOurs(undefined)).toBe(true);
      expect(await slot.replace(undefined, login)).toMatchObject(login);
      expect(await slot.isOurs(await slot.read())).toBe(true);
    });
    const spent = await read(others);
    await tokens.forget(CUSTOMER);
    expect(await others.change(CUSTOMER, (slot) => slot.replace(spent, renewed))).toBeUndefined();
    await others.change(null, async (slot) => {
      expect(await slot.replace(spent, renewed)).toBeUndefined();
      expect(await slot.read()).toBeUndefined();
      expect(await slot.replace(undefined, login)).toMatchObject(login);
      expect(await slot.replace(undefined, renewed)).toMatchObject(renewed);
    });
    expect(await tokens.read(null)).toMatchObject(renewed);
  });

  it.each<[string, (holder: string | null) => Promise<unknown>]>([
    ['were never there', async () => {}],
    [
      'were deleted',
      async (holder) => {
        await tokens.change(holder, (slot) => slot.write(login));
        await tokens.forget(holder);
      },
    ],
    [
      "are another bank's",
      async (holder) => {
        const elsewhere = (await place.worker()).open('bank', new URL('https://old.example')).tokens;
        await elsewhere.change(holder, (slot) => slot.write(login));
      },
    ],
  ])('tokens that %s are none, and a worker that found none stores the first', async (_, before) => {
    for (const holder of [null, CUSTOMER]) {
      await before(holder);
      await tokens.change(holder, async (slot) => {
        const none = await slot.read();
        expect([none, await slot.isOurs(none)]).toEqual([undefined, true]);
        // Not what a worker read that stalled: another one has stored tokens meanwhile.
        await slot.replace(none, login);
        expect(await slot.isOurs(none)).toBe(false);
        expect(await slot.isOurs(await slot.read())).toBe(true);
      });
      expect(await others.read(holder)).toMatchObject(login);
    }
  });

  it('the tokens of each customer and of the application are stored and deleted separately', async () => {
    await write(tokens, login);
    await tokens.change('7654321', (slot) => slot.write({ ...login, accessToken: 'secret-access-2' }));
    await tokens.change(null, (slot) => slot.write({ ...login, accessToken: 'secret-application' }));
    const kept = () =>
      Promise.all(
        [CUSTOMER, '7654321', null].map(async (holder) => (await others.read(holder))?.accessToken),
      );
    expect(await kept()).toEqual(['secret-access-1', 'secret-access-2', 'secret-application']);
    await tokens.forget(CUSTOMER);
    await tokens.forget(CUSTOMER);
    expect(await kept()).toEqual([undefined, 'secret-access-2', 'secret-application']);
  });

  it('the store remembers the customer who logged in last', async () => {
    expect(await tokens.last()).toBeUndefined();
    await tokens.remember(CUSTOMER);
    await tokens.remember('7654321');
    expect(await others.last()).toBe('7654321');
  });

  it.each([
    ['were encrypted again meanwhile', true, false],
    ['were encrypted again meanwhile, and refused then', true, true],
    ['were read after they were encrypted again', false, false],
  ])('renewed tokens replace the spent ones, even if those %s', async (_, isReadBefore, isRefused) => {
    await write(tokens, login);
    const before = await read(tokens);
    await others.rewrite();
    if (isRefused) await others.change(CUSTOMER, async (slot) => slot.refuse(await read(others)));
    const spent = isReadBefore ? before : await read(tokens);
    await tokens.change(CUSTOMER, (slot) => slot.replace(spent, renewed));
    expect(await others.read(CUSTOMER)).toMatchObject(renewed);
  });

  it.each([false, true])(
    'tokens that are not proven stay so, also when they are encrypted again (protected: %s)',
    async (isProtected) => {
      if (isProtected) await place.protect('bank', 'correct horse');
      const worker = async () => (await place.worker('correct horse')).open('bank', BANK).tokens;
      const [one, other] = [await worker(), await worker()];
      await write(one, login);
      const spent = await read(one);
      await one.change(CUSTOMER, (slot) => slot.replace(spent, { ...renewed, unproven: true }));
      await other.rewrite();
      expect(await read(other)).toMatchObject({ ...renewed, unproven: true });
      await other.change(CUSTOMER, async (slot) => slot.prove(await read(other), true));
      expect(await read(one)).toMatchObject(renewed);
      expect(await read(one)).not.toHaveProperty('unproven');
    },
  );

  it("another customer's tokens are forgotten, but not newer ones", async () => {
    await write(tokens, { ...renewed, unproven: true });
    const unproven = await read(tokens);
    await others.change(CUSTOMER, (slot) => slot.prove(unproven, false));
    expect(await tokens.read(CUSTOMER)).toBeUndefined();
    expect(await tokens.customers()).toEqual([]);
    await write(tokens, login);
    for (const isOwn of [false, true]) await others.change(CUSTOMER, (slot) => slot.prove(unproven, isOwn));
    expect(await read(tokens)).toMatchObject(login);
  });

  it('one worker at a time changes tokens', async () => {
    const work = (store: Tokens) => (atWork: () => Promise<void>) => store.change(CUSTOMER, atWork);
    const steps = await orderOf([work(tokens), work(others)], () => others.read(CUSTOMER));
    expect(steps).toEqual(['begins', 'ends', 'begins', 'ends']);
  });

  it.each([
    ['do not replace newer ones, which it gets instead', 'secret-newer'],
    ['are not stored after a logout', undefined],
  ])('the late tokens of a worker that stalled %s', async (_, newer) => {
    await write(tokens, login);
    const late = await tokens.change(CUSTOMER, async (slot) => ({ slot, spent: await slot.read() }));
    if (newer === undefined) await others.forget(CUSTOMER);
    else await write(others, { ...login, accessToken: newer });
    const kept = newer && expect.objectContaining({ accessToken: newer });
    expect(await late.slot.replace(late.spent, renewed)).toEqual(kept);
    expect(await tokens.read(CUSTOMER)).toEqual(kept);
  });

  it('after another worker renewed tokens, those read before are no longer current', async () => {
    await write(tokens, login);
    const before = await read(tokens);
    await others.change(CUSTOMER, async (slot) => {
      expect(await slot.isOurs(before)).toBe(true);
      await slot.replace(before, renewed);
      expect(await slot.isOurs(before)).toBe(false);
    });
    expect((await read(tokens)).generation).toBeGreaterThan(before.generation);
  });

  it('renewed tokens are stored even if the bank refused the same refresh token to another worker', async () => {
    await write(tokens, login);
    const spent = await read(tokens);
    await others.change(CUSTOMER, (slot) => slot.refuse(spent));
    expect((await read(tokens)).refreshToken).toBeNull();
    await tokens.change(CUSTOMER, (slot) => slot.replace(spent, renewed));
    expect(await others.read(CUSTOMER)).toMatchObject(renewed);
  });

  it('tokens stay if the step before their deletion fails', async () => {
    await write(tokens, login);
    const unreachable = new Error('The bank cannot be reached');
    await expect(tokens.forget(CUSTOMER, () => Promise.reject(unreachable))).rejects.toBe(unreachable);
    expect(await others.read(CUSTOMER)).toMatchObject(login);
  });

  it('deleting all tokens deletes those of every customer and of the application', async () => {
    await tokens.change('7654321', (slot) => slot.write(login));
    await write(tokens, login);
    await tokens.remember(CUSTOMER);
    await tokens.change(null, (slot) => slot.write(login));
    expect([await others.customers(), await others.last()]).toEqual([[CUSTOMER, '7654321'], CUSTOMER]);
    await others.forgetAll();
    expect([await tokens.customers(), await tokens.last()]).toEqual([[], undefined]);
    expect([await tokens.read(CUSTOMER), await tokens.read(null)]).toEqual([undefined, undefined]);
  });

  it('the tokens of a protected profile are encrypted, and readable only with the passphrase', async () => {
    await place.protect('bank', 'correct horse');
    const knowing = (await place.worker('correct horse')).open('bank', BANK).tokens;
    await write(knowing, login);
    expect(place.everything()).not.toContain('secret-');
    expect(await knowing.read(CUSTOMER)).toMatchObject(login);
    expect(await others.login(CUSTOMER)).toMatchObject({ scope: 'oob' });
    await expect(others.read(CUSTOMER)).rejects.toMatchObject({ code: 'config' });
    // psd2 must not spend a refresh token if it could not store the new tokens.
    await expect(write(others, renewed)).rejects.toMatchObject({ code: 'config' });
  });
});
