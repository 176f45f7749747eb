import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type IsoDate, isIsoDate } from '../../../src/domain/calendar.ts';
import { nameOfCustomer } from '../../../src/store/files/file-names.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import type { Dealt } from '../../../src/store/ports/sync.ts';
import { consentCategories, transferOrder } from '../../domain/orders.ts';
import { named } from '../../support/named.ts';
import { begun, begunTransfer } from '../flows.ts';
import { put } from '../temporary-folder.ts';
import { BANK, granting, login, refusal } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

// What psd2 keeps of a customer is found and goes, all of it, and nothing of anybody else: ids may begin with each other, or look like
// other things.

const day = (text: string): IsoDate => (isIsoDate(text) ? text : expect.unreachable());
const ANNA = '1048262';
/** Customers whose data must stay. */
const OTHERS = ['10482', '11048262', '1048262-2', 'a.1048262'];
const DAY = day('2026-11-21');

/** What is kept of a customer beside flows. */
const KINDS: Record<string, (data: ProfileData, customer: string, text: string) => Promise<unknown>> = {
  'the record of a customer': ({ customers }, customer, text) =>
    customers.change(customer, (before) => ({ ...before, psu: { ...before.psu, corporateId: text } })),
  'a refused call': ({ notes }, customer, text) => notes.callRefused(customer, { ...refusal, message: text }),
  'a refused renewal': ({ notes }, customer, text) =>
    notes.refreshRefused(customer, login, { ...refusal, message: text }),
  'reads without the customer': async ({ reads }, customer, text) => {
    await reads.take({ day: DAY, customerId: customer, productId: null });
    await reads.take({ day: DAY, customerId: customer, productId: text });
    await reads.take({ day: day('2026-11-22'), customerId: customer, productId: text });
  },
  'what a sync could not know': ({ results }, customer, text) =>
    results.add([
      {
        ...{ customerId: customer, at: refusal.at, skipped: [], doubts: [] },
        failures: [{ productId: 'A', code: 'forbidden', message: text }],
      },
    ]),
};

describe.each(named(useBackends()))('what is kept of a customer in %s', (_name, { open }) => {
  let place: Place;
  beforeEach(async () => {
    place = await open();
  });
  const worker = async () => (await place.worker()).open('bank', BANK);
  const collected = async (customer: string) => (await worker()).personal.collect(customer);

  it.each(Object.entries(KINDS))('%s: is found, and goes, as that of nobody else', async (_kind, write) => {
    const data = await worker();
    for (const customer of OTHERS) await write(data, customer, `of${OTHERS.indexOf(customer)}`);
    const before = await Promise.all(OTHERS.map(collected));
    expect(await collected(ANNA)).toEqual({ logins: [], flows: [], rows: [] });
    expect(await data.personal.removeRows(ANNA)).toEqual([]);
    await write(data, ANNA, 'ofanna');
    const { logins, flows, rows } = await collected(ANNA);
    expect([logins, flows, rows.length > 0]).toEqual([[], [], true]);
    expect(JSON.stringify(rows)).toMatch(/ofanna/);
    expect(JSON.stringify(rows)).not.toMatch(/of\d/);
    const counts = rows.map(({ name, rows: { length: count } }) => ({ name, count }));
    expect(await (await worker()).personal.removeRows(ANNA)).toEqual(counts);
    expect(await collected(ANNA)).toEqual({ logins: [], flows: [], rows: [] });
    expect(place.everything()).not.toMatch(/ofanna/);
    expect(await Promise.all(OTHERS.map(collected))).toEqual(before);
    expect(before.every((each) => each.rows.length > 0)).toBe(true);
    // It can be repeated.
    expect(await (await worker()).personal.removeRows(ANNA)).toEqual([]);
  });

  it('a login is shown without its tokens, and goes with them', async () => {
    const { tokens, personal } = await worker();
    for (const customer of [ANNA, ...OTHERS]) await tokens.change(customer, (slot) => slot.write(login));
    const shown = {
      ...{ baseUrl: BANK.href, accessTokenExpiresAt: login.accessTokenExpiresAt },
      ...{ refreshTokenExpiresAt: null, scope: 'oob' },
    };
    const found = await collected(ANNA);
    expect(found.logins).toEqual([shown]);
    expect(JSON.stringify(found)).not.toContain('secret');
    expect(await personal.removeRows(ANNA)).toEqual([{ name: 'tokens', count: 1 }]);
    expect((await collected(ANNA)).logins).toEqual([]);
    for (const customer of OTHERS) expect((await collected(customer)).logins).toEqual([shown]);
    expect((await tokens.customers()).toSorted()).toEqual(OTHERS.toSorted());
  });

  it('a login without times has none, and after a logout there is none', async () => {
    const { tokens, personal } = await worker();
    const bare = { ...login, accessTokenExpiresAt: null, refreshTokenExpiresAt: '2026-12-01T10:00:00.000Z' };
    await tokens.change(ANNA, (slot) => slot.write({ ...bare, scope: null }));
    expect((await collected(ANNA)).logins).toEqual([
      {
        ...{ baseUrl: BANK.href, accessTokenExpiresAt: null, scope: null },
        refreshTokenExpiresAt: '2026-12-01T10:00:00.000Z',
      },
    ]);
    await tokens.forget(ANNA);
    expect((await collected(ANNA)).logins).toEqual([]);
    await personal.removeRows(ANNA);
    expect(await personal.removeRows(ANNA)).toEqual([]);
  });

  it('who logged in last is known, and forgotten only as that customer', async () => {
    const { tokens, personal } = await worker();
    await tokens.remember(ANNA);
    expect((await collected(ANNA)).rows).toHaveLength(1);
    await personal.removeRows('10482');
    expect(await tokens.last()).toBe(ANNA);
    await personal.removeRows(ANNA);
    expect(await (await worker()).tokens.last()).toBeUndefined();
    expect((await collected(ANNA)).rows).toEqual([]);
  });

  it.each<[string, string[], { customers: number; customerId: string }[]]>([
    ['they alone had', [ANNA], []],
    ['others had after them', [ANNA, '1048262-2', 'a.1048262'], [{ customers: 2, customerId: '1048262-2' }]],
    ['another had before them', ['10482', ANNA], [{ customers: 1, customerId: '10482' }]],
    ['only others had', OTHERS.toSorted(), [{ customers: 4, customerId: '10482' }]],
  ])('the last round does not name who was forgotten, of a failure that %s', async (_, failing, left) => {
    const { tokens, personal, rounds } = await worker();
    for (const customer of [ANNA, ...OTHERS]) await tokens.change(customer, (slot) => slot.write(login));
    const round = await (await rounds()).join();
    if ('dueIn' in round) return expect.unreachable();
    const dealt = new Map<string, Dealt>();
    for (let next = await round.next(5); typeof next !== 'string'; next = await round.next(5))
      dealt.set(next.customerId, next);
    const rest = [ANNA, ...OTHERS].filter((customer) => !failing.includes(customer));
    for (const customerId of [...failing, ...rest]) {
      const code = failing.includes(customerId) ? 'forbidden' : 'sca_required';
      const end = { status: 'failed' as const, code, message: `No to ${customerId}` };
      await dealt.get(customerId)?.finish(end);
      await round.note({ calls: 1, ends: [{ customerId, ...end }], isOver: false });
    }
    await personal.removeRows(ANNA);
    const status = await (await (await worker()).rounds()).status();
    expect(status?.needSca.toSorted()).toEqual(rest.filter((customer) => customer !== ANNA).toSorted());
    expect(status?.failures.filter(({ code }) => code === 'forbidden')).toEqual(
      left.map((each) => ({ ...each, code: 'forbidden', message: `No to ${each.customerId}` })),
    );
    expect(JSON.stringify(status)).not.toMatch(new RegExp(`["\\s]${ANNA}"`));
  });

  it('a sync that goes on after a customer was forgotten does not name them again', async () => {
    const { tokens, personal, rounds } = await worker();
    for (const customer of [ANNA, ...OTHERS]) await tokens.change(customer, (slot) => slot.write(login));
    const round = await (await rounds()).join();
    if ('dueIn' in round) return expect.unreachable();
    const note = async (customerId: string, code: string) => {
      const end = { status: 'failed' as const, code, message: `No to ${customerId}` };
      await round.note({ calls: 1, ends: [{ customerId, ...end }], isOver: false });
    };
    for (const code of ['sca_required', 'forbidden']) await note(ANNA, code);
    await personal.removeRows(ANNA);
    await place.forget('bank', ANNA);
    await note(ANNA, 'network');
    expect(place.everything()).not.toContain(`"${ANNA}"`);
    expect(place.everything()).not.toContain(`No to ${ANNA}`);
  });

  it('flows are found as they were written, in their order, also under the pseudonym', async () => {
    const { flows, personal } = await worker();
    const made = async (customerId: string, reference: string) => {
      const open = await begunTransfer(flows, { customerId, reference });
      await open.record({ type: 'verify-sent', requestId: 'q', digest: null });
      return open.current.flow;
    };
    const [one, two] = [await made(ANNA, 'one'), await made(ANNA, 'two')];
    for (const customer of OTHERS) await made(customer, `of ${customer} for ${ANNA}`);
    const found = await collected(ANNA);
    expect(found.flows.map(({ flow, kind }) => [flow, kind])).toEqual([
      [one, 'transfer'],
      [two, 'transfer'],
    ]);
    const [{ events: [created, sent] = [] } = { events: [] }] = found.flows;
    expect(created?.event).toMatchObject({ type: 'created', order: { customerId: ANNA, reference: 'one' } });
    expect(sent?.event).toMatchObject({ type: 'verify-sent', requestId: 'q' });
    for (const each of [created, sent]) expect(new Date(each?.at ?? '').toISOString()).toBe(each?.at);

    const others = await Promise.all(OTHERS.map(collected));
    const pseudonym = await personal.pseudonymOf(ANNA, ANNA);
    await personal.rewriteFlow(one, (event) => JSON.parse(JSON.stringify(event).replaceAll(ANNA, pseudonym)));
    const after = await collected(ANNA);
    expect(after.flows.map(({ flow }) => flow)).toEqual([one, two]);
    expect(JSON.stringify(after.flows[0])).not.toContain(ANNA);
    // Times stay, and so does what was not to change.
    expect(after.flows[0]?.events.map(({ at }) => at)).toEqual([created?.at, sent?.at]);
    expect(after.flows[0]?.events[1]).toEqual(sent);
    expect(after.flows[1]).toEqual(found.flows[1]);
    expect(await Promise.all(OTHERS.map(collected))).toEqual(others);
    // A worker goes on with it.
    expect((await (await worker()).flows.find('transfer', one)).order).toMatchObject({
      customerId: pseudonym,
    });

    await personal.forgetPseudonyms(ANNA);
    expect((await collected(ANNA)).flows.map(({ flow }) => flow)).toEqual([two]);
  });

  it('flows of each kind are found, and nobody else has them', async () => {
    const { flows, personal } = await worker();
    const make = async (customerId: string) => {
      const transactionId = `t of ${customerId}`;
      const made = [
        await begunTransfer(flows, { customerId, reference: customerId }),
        await begun(flows, 'operation', {
          ...{ transactionId, commits: 'on execute' },
          order: { ...transferOrder({ customerId }), operation: 'standingOrder', data: '{}' },
        }),
        await begun(flows, 'consent', { transactionId, customerId, categories: consentCategories() }),
      ];
      return made.map(({ current: { flow } }) => flow).toSorted();
    };
    const made = new Map<string, string[]>();
    for (const customer of [ANNA, ...OTHERS]) made.set(customer, await make(customer));
    const found = async (customer: string) =>
      (await collected(customer)).flows.map(({ flow, kind }) => [flow, kind]).toSorted();
    for (const [customer, [consent, operation, transfer]] of made)
      expect(await found(customer)).toEqual([
        [consent, 'consent'],
        [operation, 'operation'],
        [transfer, 'transfer'],
      ]);
    const pseudonym = await personal.pseudonymOf(ANNA, ANNA);
    for (const flow of made.get(ANNA) ?? [])
      await personal.rewriteFlow(flow, (event) =>
        JSON.parse(JSON.stringify(event).replaceAll(`"${ANNA}"`, `"${pseudonym}"`)),
      );
    expect((await found(ANNA)).map(([flow]) => flow)).toEqual(made.get(ANNA));
    for (const customer of OTHERS) expect(await found(customer)).toHaveLength(3);
  });

  it('a flow whose journal is lost is not rewritten', async () => {
    const { flows, personal } = await worker();
    const { flow } = (await begunTransfer(flows, { customerId: ANNA })).current;
    place.restore('bank', flow, 0);
    await expect(personal.rewriteFlow(flow, (event) => event)).rejects.toMatchObject({
      ...{
        code: 'config',
        message: expect.stringMatching(`journal .*${flow}.* is damaged at (line|event) 1$`),
      },
    });
    expect((await collected(ANNA)).flows).toEqual([]);
  });

  it('pseudonyms are random, the same for the same word of the same customer, and go with the customer', async () => {
    const [one, other] = [(await worker()).personal, (await worker()).personal];
    const words = [
      [ANNA, ANNA],
      [ANNA, 'ACC'],
      ['10482', 'ACC'],
      ['10482', ANNA],
    ] as const;
    const made: string[] = [];
    for (const [customer, word] of words) made.push(await one.pseudonymOf(customer, word));
    expect(new Set(made).size).toBe(4);
    for (const each of made) expect(each).toMatch(/^pseudonym-[0-9a-f]{16}$/);
    for (const [index, [customer, word]] of words.entries())
      expect(await other.pseudonymOf(customer, word)).toBe(made[index]);
    const all = async () =>
      (await one.pseudonyms()).map(({ pseudonym, customerId, word }) => [pseudonym, customerId, word]);
    expect((await all()).toSorted()).toEqual(words.map((each, index) => [made[index], ...each]).toSorted());
    // Whoever is not there has none to lose.
    await other.forgetPseudonyms('ACC');
    expect(await all()).toHaveLength(4);
    await other.forgetPseudonyms(ANNA);
    expect((await all()).map(([, customer]) => customer)).toEqual(['10482', '10482']);
    expect(await one.pseudonymOf('10482', 'ACC')).toBe(made[2]);
    expect(made).not.toContain(await one.pseudonymOf(ANNA, 'ACC'));
  });

  it('what a sync has written into a folder is found and removed, and that of another customer stays', async () => {
    const { personal } = await worker();
    const folder = personal.syncedInto(place.folder);
    expect([await folder.rows(ANNA), await folder.remove(ANNA)]).toEqual([[], 0]);
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    const below = (customer: string, name: string) => join(place.folder, nameOfCustomer(customer), name);
    for (const customer of [ANNA, ...OTHERS]) {
      put(below(customer, 'current.ndjson'), '{"kind":"account"}\n{"kind":"bal');
      put(
        below(customer, 'transactions/A1.ndjson'),
        `{"id":"1"}\n{"id":"2","of":${JSON.stringify(customer)}}\n`,
      );
    }
    writeFileSync(join(place.folder, 'notes'), 'mine');
    const rows = (customer: string) => [
      { name: join(nameOfCustomer(customer), 'current.ndjson'), rows: [{ kind: 'account' }] },
      {
        name: join(nameOfCustomer(customer), 'transactions/A1.ndjson'),
        rows: [{ id: '1' }, { id: '2', of: customer }],
      },
    ];
    expect(await folder.rows(ANNA)).toEqual(rows(ANNA));
    expect(await folder.remove(ANNA)).toBe(2);
    expect([await folder.rows(ANNA), await folder.remove(ANNA)]).toEqual([[], 0]);
    for (const customer of OTHERS) expect(await folder.rows(customer)).toEqual(rows(customer));
  });

  it('the owner of the store may forget a customer', async () => {
    await expect((await worker()).personal.assertMayForget()).resolves.toBeUndefined();
  });

  it('a whole customer is found once, and gone', async () => {
    const data = await worker();
    for (const customer of [ANNA, '10482']) {
      for (const write of Object.values(KINDS)) await write(data, customer, 'text');
      await data.tokens.change(customer, (slot) => slot.write(login));
      await data.customers.change(customer, granting(`co-${customer}`));
    }
    const other = await collected('10482');
    const { rows } = await collected(ANNA);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    const removed = await data.personal.removeRows(ANNA);
    expect(removed.map(({ name }) => name).toSorted()).toEqual(
      ['tokens', ...rows.map(({ name }) => name)].toSorted(),
    );
    expect(place.everything().replaceAll('co-1048262', '')).not.toContain(ANNA);
    expect(await collected('10482')).toEqual(other);
  });
});
