import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { countedApprovals, hasDecided } from '../../../src/domain/batch/batch.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { pseudonymisedEvent } from '../../../src/domain/pseudonymised.ts';
import { copyStore } from '../../../src/store/copy/copy.ts';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { databaseSide } from '../../../src/store/postgres/copy/side.ts';
import { Database } from '../../../src/store/postgres/database.ts';
import { initStore } from '../../../src/store/postgres/init.ts';
import { NO_SOURCES } from '../../../src/store/secrets/vault.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { type Place, usePlaces } from '../contract/backends.ts';
import { begun, opened as reopened, TRANSFER_BEGIN } from '../flows.ts';
import { openDatabases } from '../postgres/databases.ts';
import { BANK, fillStore, foundIn, granted, granting, login, refusal } from '../whole-store.ts';

const PASSPHRASE = 'correct horse';
const places = usePlaces();

const world = {
  signal: new AbortController().signal,
  sleep: (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds)),
  say: () => {},
  onRecord: () => {},
};
const copy = (from: Place, to: Place) => copyStore(from.side(), to.side(), world);

const fill = async (place: Place) => fillStore(await place.worker());
const found = async (place: Place) => foundIn(await place.worker());

/** What a new worker finds. A backend that takes no workers refuses at once, or at the first read. */
async function lastLogin(place: Place): Promise<string | undefined> {
  return (await place.worker()).open('bank', BANK).tokens.last();
}

const BACKENDS = [
  { name: 'files', from: places.files, to: places.PostgreSQL },
  { name: 'PostgreSQL', from: places.PostgreSQL, to: places.files },
];

it('a copy that its user may not make leaves the other backend as it was', async () => {
  const files = await places.files.open();
  const own = openDatabases('roles');
  onTestFinished(() => own.stop());
  own.create('bank');
  const admin = new Database(parseAddress(own.url('bank'), {}), undefined);
  await initStore(admin, { roles: true, plainTokens: true });
  own.sql('bank', 'create role clerk login in role psd2_worker');
  const url = own.url('bank').replace('psd2@', 'clerk@');
  const clerk = new Database(parseAddress(url, {}), undefined, true);
  for (const each of [admin, clerk]) onTestFinished(() => each.close());
  const before = await files.side().mark();
  await expect(copyStore(databaseSide(clerk, NO_SOURCES, false), files.side(), world)).rejects.toThrow(
    'may not copy the store',
  );
  expect(await files.side().mark()).toEqual(before);
});

it.each(BACKENDS)('ids with letters, dots and dashes are copied from $name', async ({ from, to }) => {
  const [source, target] = [await from.open(), await to.open()];
  const day = parseDate('--date', '2026-11-21');
  const customers = ['.ada', 'ADA.B-c_d', 'ada.b-c_d', 'x'.repeat(64)];
  const accounts = ['*', '../x', 'failed:a', 'urn:bank:1', '~'.repeat(70)];
  const { tokens, customers: kept, reads, notes } = (await source.worker()).open('bank', BANK);
  for (const customerId of customers) {
    await tokens.change(customerId, (slot) => slot.write({ ...login, accessToken: `of ${customerId}` }));
    await notes.callRefused(customerId, { ...refusal, message: `to ${customerId}` });
    await kept.change(customerId, granting(`co-${customerId}`));
    for (const productId of accounts) await reads.take({ day, customerId, productId });
  }
  await tokens.remember('ADA.B-c_d');
  expect(await copy(source, target)).toMatchObject({ logins: 4, others: 4 + 4 * 5 + 4 + 1 });
  const copied = (await target.worker()).open('bank', BANK);
  expect(await copied.tokens.customers()).toEqual(customers);
  expect(await copied.tokens.last()).toBe('ADA.B-c_d');
  expect(await copied.customers.list()).toEqual(customers);
  for (const customerId of customers) {
    expect((await copied.tokens.read(customerId))?.accessToken).toBe(`of ${customerId}`);
    expect((await copied.customers.read(customerId))?.consents).toEqual([granted(`co-${customerId}`)]);
    expect((await copied.notes.read(customerId, login)).call?.message).toBe(`to ${customerId}`);
    for (const productId of accounts)
      expect(await copied.reads.take({ day, customerId, productId }, { budget: 1 })).toBe('used-up');
  }
});

it('tokens are encrypted for the backend that they are copied to, and can be copied back', async () => {
  const [source, target] = [await places.files.open(), await places.PostgreSQL.open()];
  for (const place of [source, target]) await place.protect('bank', PASSPHRASE);
  const tokensOf = async (place: Place) => (await place.worker(PASSPHRASE)).open('bank', BANK).tokens;
  await (await tokensOf(source)).change('42', (slot) => slot.write(login));
  await copyStore(source.side(PASSPHRASE), target.side(PASSPHRASE), world);
  expect(target.everything()).not.toContain('secret-');
  const tokens = await tokensOf(target);
  expect(await tokens.read('42')).toMatchObject(login);
  await tokens.change('42', (slot) => slot.write({ ...login, accessToken: 'secret-2' }));
  await copyStore(target.side(PASSPHRASE), source.side(PASSPHRASE), world);
  expect(await (await tokensOf(source)).read('42')).toMatchObject({ accessToken: 'secret-2' });
});

it('an approval counts in the store in which it was given, and the same person can give it again after a copy', async () => {
  const [source, files] = [await places.files.open(), await places.files.open()];
  const target = await places.PostgreSQL.open();
  await fill(source);
  const counted = async (backend: Place) => {
    const found = [];
    for await (const batch of (await backend.worker()).open('bank', BANK).batches.list())
      found.push(countedApprovals(batch).map(({ by }) => by));
    return found;
  };
  expect(await counted(source)).toEqual([['bob']]);
  await copy(source, target);
  expect(await counted(target)).toEqual([[]]);
  await copy(target, files);
  expect(await counted(files)).toEqual([[]]);
  const { batches } = (await files.worker()).open('bank', BANK);
  const bob = { by: 'Bob', user: 'bob', machine: 'm' };
  for await (const { batch, sha256 } of batches.list())
    await batches.change(batch, (now, role) =>
      hasDecided(now, { ...bob, role }) ? null : { type: 'approved', sha256, ...bob },
    );
  expect(await counted(files)).toEqual([['Bob']]);
  // What was given in files is given once, and only copied again if it is new.
  await copy(target, files);
  expect(await counted(files)).toEqual([['Bob']]);
});

describe.each(named(BACKENDS))('a store copied from %s', (_name, { from, to }) => {
  let source: Place;
  let target: Place;
  let left: string;
  beforeEach(async () => {
    source = await from.open();
    target = await to.open();
    left = await fill(source);
  });

  it('a copied store is complete in the other backend, with interrupted flows, references and logouts', async () => {
    const before = await found(source);
    const result = await copy(source, target);
    expect(result).toMatchObject({ profiles: 1, logins: 2, flows: 2, events: 4, newer: 0 });
    expect(await found(target)).toEqual(before);
    expect(before.login).toMatchObject(login);
    const { flows } = (await target.worker()).open('bank', BANK);
    expect((await flows.leftBehind(5)).flows.map(({ flow }) => flow)).toEqual([left]);
    await expect(flows.begin('transfer', TRANSFER_BEGIN(' rent '), async () => {})).rejects.toMatchObject({
      code: 'duplicate_reference',
    });
  });

  it('after a copy the old backend refuses workers, even those that were there before', async () => {
    const worker = (await source.worker()).open('bank', BANK);
    expect(await worker.tokens.last()).toBe('42');
    await copy(source, target);
    const refused = { code: 'config', message: expect.stringMatching(/^The store in .+ was copied to .+$/) };
    await expect(worker.tokens.change('42', async () => {})).rejects.toMatchObject(refused);
    const beginning = worker.flows.begin('transfer', TRANSFER_BEGIN('x'), async () => {});
    await expect(beginning).rejects.toMatchObject(refused);
    await expect(worker.flows.resume('transfer', left, async () => {})).rejects.toMatchObject(refused);
    await expect(worker.flows.exclusively(async () => {})).rejects.toMatchObject(refused);
    await expect(lastLogin(source)).rejects.toMatchObject(refused);
  });

  it('after a copy the old backend refuses a worker that stalled in the middle of a flow', async () => {
    const { flows } = (await source.worker()).open('bank', BANK);
    const stopped = await begun(flows, 'transfer', TRANSFER_BEGIN('stopped'));
    await copy(source, target);
    const refused = { code: 'config', message: expect.stringMatching(/^The store in .+ was copied to .+$/) };
    await expect(stopped.assertOurs()).rejects.toMatchObject(refused);
    await expect(stopped.record({ type: 'cancelled' })).rejects.toMatchObject(refused);
    expect(stopped.current.state).toBe('created');
    // The source is unchanged, so another copy finds no difference.
    expect(await copy(source, target)).toMatchObject({ written: 0, newer: 0 });
  });

  it('a copy can be stopped at every record and continued, and from its marks on neither backend takes a worker', async () => {
    let isMarked = false;
    let seenBefore = 0;
    for (let stop = 1; ; stop += 1) {
      const stopped = new AbortController();
      let looked = 0;
      const onRecord = () => {
        looked += 1;
        if (looked === stop) stopped.abort(new Error('stopped'));
      };
      const copying = copyStore(source.side(), target.side(), { ...world, onRecord, signal: stopped.signal });
      const ended = await copying.then(
        (result) => result,
        (error: Error) => error.message,
      );
      if (typeof ended !== 'string') {
        expect(ended).toMatchObject({ logins: 2, flows: 2, events: 4 });
        break;
      }
      expect(ended).toBe('stopped');
      // First it checks everything, and the source goes on to work.
      isMarked ||= (await lastLogin(source).catch(() => 'marked')) === 'marked';
      if (!isMarked) {
        seenBefore += 1;
        continue;
      }
      await expect(lastLogin(target)).rejects.toThrow('is not complete');
      await expect(lastLogin(source)).rejects.toThrow('was copied to');
    }
    expect([isMarked, seenBefore > 1]).toEqual([true, true]);
    expect((await found(target)).login).toMatchObject(login);
  });

  it('a copy in the other direction brings back the store with all changes, and its backend takes workers again', async () => {
    await copy(source, target);
    const { tokens, flows, notes } = (await target.worker()).open('bank', BANK);
    await tokens.change('42', async (slot) =>
      slot.replace(await slot.read(), { ...login, accessToken: 'secret-2' }),
    );
    await flows.resume('transfer', left, (open) => open.record({ type: 'cancelled' }));
    await flows.begin('transfer', TRANSFER_BEGIN('Gas'), async () => {});
    await notes.callRefused('42', { ...refusal, at: '2026-11-21T12:00:00.000Z' });
    const there = await found(target);
    expect(await copy(source, target)).toMatchObject({ written: 0, newer: 3 });
    await copy(target, source);
    expect(await found(source)).toEqual(there);
    await expect(lastLogin(target)).rejects.toThrow('was copied to');
    const again = (await source.worker()).open('bank', BANK);
    await again.tokens.change('42', (slot) => slot.write(login));
    expect(await copy(source, target)).toMatchObject({ flows: 3, newer: 0 });
  });

  it('a customer whom psd2 has forgotten in the copy stays forgotten there, and a copy back says who still has their data', async () => {
    // What a login writes into the audit log.
    const loggedIn = { action: 'logged-in', customerId: '42' } as const;
    await (await source.worker()).open('bank', BANK).audit.append(loggedIn);
    await copy(source, target);
    const { personal, flows, results, audit } = (await target.worker()).open('bank', BANK);
    await audit.append({ action: 'forgot', customerId: '42' });
    const pseudonym = await personal.pseudonymOf('42', '42');
    const nameOf = (word: string) => (word === '42' ? pseudonym : undefined);
    const begins = ({ flow }: { flow: string }) =>
      personal.rewriteFlow(flow, (event) => pseudonymisedEvent(event, nameOf));
    for await (const flow of flows.list('transfer')) await begins(flow);
    await personal.removeRows('42');
    await results.forget('42');
    await personal.forgetPseudonyms('42');
    // To look takes a reading.
    const { mayRead: _, ...forgotten } = await found(target);
    expect(JSON.stringify(forgotten)).not.toContain('"42"');
    expect(await copy(source, target)).toMatchObject({ written: 0 });
    expect(await found(target)).toMatchObject(forgotten);
    await expect(copy(target, source)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(
        /^psd2 has forgotten the customer of the flow tr-\S+ of bank in .+ still has/,
      ),
    });
  });

  it('a copy waits for a busy worker, and copies the tokens that it stores', async () => {
    const worker = (await source.worker()).open('bank', BANK);
    const waited: string[] = [];
    let copied: Promise<unknown> | undefined;
    await worker.tokens.change('42', async (slot) => {
      const spent = await slot.read();
      await new Promise<void>((resolve, reject) => {
        const say = (text: string) => {
          waited.push(text);
          resolve();
        };
        copied = copyStore(source.side(), target.side(), { ...world, say });
        copied.catch(reject);
      });
      await slot.replace(spent, { ...login, accessToken: 'secret-late' });
    });
    await copied;
    expect(waited[0]).toMatch(/^Waiting for process \d+ on/);
    expect((await found(target)).login).toMatchObject({ accessToken: 'secret-late' });
  });
});

describe.each(named(BACKENDS))('customers that are copied from %s', (_name, { from, to }) => {
  const OTHER = new URL('https://other.example');
  let source: Place;
  let target: Place;
  beforeEach(async () => {
    [source, target] = [await from.open(), await to.open()];
  });
  const customersOf = async (backend: Place, bank = BANK) =>
    (await backend.worker()).open('bank', bank).customers;

  it('a profile that has nothing but customers is copied, with those of each bank and those who were forgotten', async () => {
    await (await customersOf(source)).change('ada', granting('co-1'));
    await (await customersOf(source)).change('ada', granting('co-2', 1));
    await (await customersOf(source, OTHER)).change('ada', granting('co-3'));
    await (await customersOf(source)).change('bob', granting('co-4'));
    await (await customersOf(source)).forget('bob');
    const { tokens, customers: worker } = (await source.worker()).open('bank', BANK);
    await tokens.remember('ada');
    expect(await copy(source, target)).toMatchObject({ profiles: 1, others: 4, written: 4, newer: 0 });
    for (const [bank, consents] of [
      [BANK, [granted('co-2', 1), granted('co-1')]],
      [OTHER, [granted('co-3')]],
    ] as const) {
      const copied = await customersOf(target, bank);
      expect([await copied.list(), (await copied.read('ada'))?.consents]).toEqual([['ada'], consents]);
    }
    expect(await lastLogin(target)).toBe('ada');
    await expect(worker.change('ada', granting('co-5'))).rejects.toThrow('was copied to');
  });

  it('what is newer in the copy stays there, also a customer who was forgotten, and comes back with a copy back', async () => {
    for (const name of ['ada', 'bob']) await (await customersOf(source)).change(name, granting('co-1'));
    await copy(source, target);
    await (await customersOf(target)).change('ada', granting('co-2', 1));
    await (await customersOf(target)).forget('bob');
    expect(await copy(source, target)).toMatchObject({ written: 0, newer: 2 });
    await copy(target, source);
    expect(await (await customersOf(source)).list()).toEqual(['ada']);
    expect((await (await customersOf(source)).read('ada'))?.consents).toHaveLength(2);
    await (await customersOf(source)).change('bob', granting('co-3'));
    expect(await copy(source, target)).toMatchObject({ written: 1, newer: 0 });
  });

  it('a customer who was changed in both is named, and neither is overwritten', async () => {
    await (await customersOf(source)).change('ada', granting('co-1'));
    const record = { kind: 'customer', baseUrl: BANK.href, customer: 'ada', kept: null } as const;
    await copy(source, target);
    await (await customersOf(target)).change('ada', granting('co-2'));
    const second = { ...record, generation: 2 };
    await source.side().open('bank').put(second);
    await expect(copy(source, target)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^The record of customer ada of bank differs in .+ and in .+$/),
    });
    const kept = { consents: [{}, {}] };
    expect(await target.side().open('bank').counterpart(second)).toMatchObject({ kept });
  });
});

const SENT = { requestId: 'r', digest: null };
const EXECUTE = [
  { type: 'verify-sent', ...SENT },
  { ...VERIFIED, resourceId: 'R1' },
  { type: 'accepted' },
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
  { type: 'execute-sent', ...SENT },
] as const;

describe.each(named(BACKENDS))('payments that are copied from %s', (_name, { from, to }) => {
  const flowsOf = async (backend: Place) => (await backend.worker()).open('bank', BANK).flows;
  async function executed(backend: Place): Promise<string> {
    const open = await begun(await flowsOf(backend), 'transfer', TRANSFER_BEGIN('Rent'));
    for (const event of EXECUTE) await open.record(event);
    await open.record({ type: 'executed', cro: '1' });
    return open.current.flow;
  }

  it('the copy knows their resources, and that execute was sent', async () => {
    const [source, copied] = [await from.open(), await to.open()];
    const flow = await executed(source);
    await copy(source, copied);
    const second = await begun(await flowsOf(copied), 'transfer', TRANSFER_BEGIN('Power'));
    await expect(second.record({ ...VERIFIED, resourceId: 'r1' })).rejects.toMatchObject({
      code: 'bank_answer',
      message: expect.stringContaining(`belongs to ${flow}`),
    });
    copied.restore('bank', flow, 5);
    expect((await reopened(await flowsOf(copied), 'transfer', flow)).current.state).toBe('unknown');
  });

  it.each([
    [5, 'is older than what psd2 knows'],
    [0, ''],
  ])(
    'a journal with only %i of its events is not copied, because the copy would forget the rest',
    async (events, what) => {
      const [source, copied] = [await from.open(), await to.open()];
      const flow = await executed(source);
      source.restore('bank', flow, events);
      await expect(copy(source, copied)).rejects.toMatchObject({
        code: 'config',
        message: expect.stringMatching(`^The journal .*${flow}.*${what}`),
      });
    },
  );
});

it('of two payments that were sent with one reference, a database takes the first', async () => {
  const side = (await places.PostgreSQL.open()).side().open('bank');
  const at = new Date().toISOString();
  const put = (flow: string) => {
    const events = [{ type: 'created', flow, ...TRANSFER_BEGIN('Rent') }, ...EXECUTE];
    return side.put({ kind: 'flow', flow, underWay: false, events: events.map((event) => ({ at, event })) });
  };
  await put('tr-0mi7x7x8x00001');
  await expect(put('tr-0mi7x7x8x00002')).rejects.toMatchObject({
    code: 'config',
    message: 'Two flows have the reference of tr-0mi7x7x8x00002',
  });
});
