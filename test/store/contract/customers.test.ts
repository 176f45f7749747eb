import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { addDays, bankDay, type IsoDate } from '../../../src/domain/calendar.ts';
import type { Customers, KeptCustomer } from '../../../src/store/ports/customers.ts';
import type { ProfileData } from '../../../src/store/ports/store.ts';
import { named } from '../../support/named.ts';
import { BANK, granted, granting, login } from '../whole-store.ts';
import { type Place, useBackends } from './backends.ts';

const PSU = { id: 'psu-of-ada', idType: 'LOGIN', corporateId: 'ACME', corporateIdType: null };
const NOBODY = { id: null, idType: null, corporateId: null, corporateIdType: null };
/** In the order of the store, with pairs that differ by case, dots, dashes and escapes. */
const NAMES = [
  ...'-rf ... ..a .anna 1 A.B-c_d ANNA a a..b anna anna.json anna.lock con default'.split(' '),
  ...[`x${'Y'.repeat(63)}`, 'yA', 'y_41'],
];

describe.each(named(useBackends()))('what is kept of customers in %s', (_name, { open }) => {
  let place: Place;
  let data: ProfileData;
  let customers: Customers;
  /** The same, as another worker sees it. */
  let others: Customers;
  beforeEach(async () => {
    place = await open();
    data = (await place.worker()).open('bank', BANK);
    customers = data.customers;
    others = (await place.worker()).open('bank', BANK).customers;
  });
  const flowsOf = async (customer: string) =>
    (await others.read(customer))?.consents.map(({ flow }) => flow).sort();

  it('the first change of a customer gets an empty record, and the next one what was kept', async () => {
    expect(await customers.read('ada')).toBeUndefined();
    const seen: KeptCustomer[] = [];
    await customers.change('ada', (before) => {
      seen.push(before);
      return { ...before, psu: PSU };
    });
    await others.change('ada', (before) => {
      seen.push(before);
      return granting('co-1')(before);
    });
    expect(seen).toEqual([
      { psu: NOBODY, consents: [] },
      { psu: PSU, consents: [] },
    ]);
    expect(await customers.read('ada')).toEqual({ psu: PSU, consents: [granted('co-1')] });
  });

  describe('if the bank has a new address', () => {
    const atNew = async () =>
      (await place.worker()).open('bank', new URL('https://new.bank.example')).customers;

    it('records are moved there, and what is there already stays', async () => {
      const there = await atNew();
      const old = { psu: PSU, scaMethod: 'sms' };
      const own = { psu: { ...PSU, id: 'new' }, scaMethod: 'chip' };
      await customers.change('ada', (before) => ({ ...granting('co-1', 1)(before), ...old }));
      await customers.change('bob', (before) => ({ ...granting('co-2', 2)(before), ...old }));
      await customers.change('cy', granting('co-3'));
      await customers.forget('cy');
      await there.change('bob', (before) => ({ ...granting('co-4', 4)(before), ...own }));
      await there.change('dot', granting('co-5'));
      expect(await there.otherBanks()).toEqual([{ baseUrl: BANK.href, customers: 2 }]);
      expect(await customers.otherBanks()).toEqual([{ baseUrl: 'https://new.bank.example/', customers: 2 }]);

      expect(await there.move(BANK.href)).toBe(2);
      expect(await there.list()).toEqual(['ada', 'bob', 'dot']);
      expect(await there.read('ada')).toEqual({ ...old, consents: [granted('co-1', 1)] });
      expect(await there.read('bob')).toEqual({ ...own, consents: [granted('co-4', 4), granted('co-2', 2)] });
      expect(await customers.list()).toEqual([]);
      expect([await there.otherBanks(), await there.move(BANK.href)]).toEqual([[], 0]);
    });

    it('a consent that a worker at the old address adds meanwhile is moved too', async () => {
      const there = await atNew();
      for (let number = 1; number <= 10; number += 1) await customers.change('ada', granting(`co-${number}`));
      const adding = async () => {
        for (let number = 11; number <= 30; number += 1) await others.change('ada', granting(`co-${number}`));
      };
      await Promise.all([adding(), there.move(BANK.href)]);
      await there.move(BANK.href);
      const flows = (await there.read('ada'))?.consents.map(({ flow }) => flow);
      expect(flows?.toSorted()).toEqual(
        Array.from({ length: 30 }, (_, index) => `co-${index + 1}`).toSorted(),
      );
    });

    it('a move that was killed between the two addresses can be repeated', async () => {
      const there = await atNew();
      await customers.change('ada', granting('co-1'));
      // A killed process leaves this.
      await there.change('ada', granting('co-1'));
      expect(await there.move(BANK.href)).toBe(1);
      expect((await there.read('ada'))?.consents).toEqual([granted('co-1')]);
    });
  });

  it('a consent is kept with each value that it may have', async () => {
    const ONCE = { recurring: false, frequencyPerDay: 1 };
    const consents = [
      granted('co-3', 3),
      {
        ...granted('co-2', 2),
        ...{ accounts: null, reads: ['accounts', 'balances', 'transactions'] as const },
        listed: [{ accountId: 'acc-1', iban: 'IT89F0999001600000010482620' }],
      },
      { ...granted('co-1', 1), accounts: [], reads: [], validUntil: null, ...ONCE },
    ];
    await customers.change('ada', (before) => ({ ...before, consents }));
    expect((await others.read('ada'))?.consents).toEqual(consents);
  });

  it('a consent for many readings without a last day ends 180 days after it was granted, and one for one reading has no end', async () => {
    const endless = (flow: string, recurring: boolean) => ({ ...granted(flow), validUntil: null, recurring });
    const consents = [endless('co-1', true), endless('co-2', false)];
    await customers.change('ada', (before) => ({ ...before, consents }));
    const validUntil = addDays(bankDay(new Date(granted('co-1').grantedAt)), 180);
    expect(await others.lasting()).toEqual([{ customer: 'ada', flow: 'co-1', validUntil }]);
  });

  it('the newest consent comes first, whoever wrote first and whatever the zone of the time', async () => {
    await customers.change('ada', granting('co-2', 2));
    await others.change('ada', granting('co-1', 1));
    // An hour earlier by the clock of the Azores.
    const written = new Date(Date.parse(granted('co-3', 3).grantedAt) - 3_600_000).toISOString();
    await customers.change('ada', (before) => ({
      ...before,
      consents: [...before.consents, { ...granted('co-3'), grantedAt: written.replace('Z', '-01:00') }],
    }));
    expect((await others.read('ada'))?.consents.map(({ flow }) => flow)).toEqual(['co-3', 'co-2', 'co-1']);
  });

  it('a consent that has ended is removed', async () => {
    for (const flow of ['co-1', 'co-2']) await customers.change('ada', granting(flow));
    await others.change('ada', ({ psu, consents }) => ({
      psu,
      consents: consents.filter(({ flow }) => flow !== 'co-1'),
    }));
    expect(await flowsOf('ada')).toEqual(['co-2']);
  });

  it('a consent for confirmations of funds is kept beside those for readings, and moves with them', async () => {
    const asked = (flow: string, minute: number, validUntil: IsoDate | null = null) => ({
      ...{ flow, transactionId: `t-${flow}`, consentId: `f-${flow}`, account: 'pan:525412******3241' },
      ...{ validUntil, grantedAt: `2026-11-21T10:0${minute}:00.000Z` },
    });
    const [older, newer] = [asked('co-2', 2, bankDay(new Date('2028-12-31T12:00:00Z'))), asked('co-3', 3)];
    await customers.change('ada', granting('co-1'));
    await customers.change('ada', (before) => ({ ...before, funds: [older] }));
    const lasting = async () => (await customers.lasting()).map(({ flow }) => flow);
    expect(await lasting()).toContain('co-2');
    await customers.change('ada', (before) => ({ ...before, funds: [older, newer] }));
    await others.change('ada', granting('co-4', 4));
    expect((await others.read('ada'))?.funds).toEqual([newer, older]);
    expect(await flowsOf('ada')).toEqual(['co-1', 'co-4']);
    // Of one account the newest counts, and it has no end.
    expect(await lasting()).not.toContain('co-2');
    const moved = (await place.worker()).open('bank', new URL('https://new.example')).customers;
    expect(await moved.move(BANK.href)).toBe(1);
    expect((await moved.read('ada'))?.funds).toEqual([newer, older]);
  });

  it('each customer has a record of their own, whatever letters their name has', async () => {
    for (const name of NAMES) await customers.change(name, granting(`co-${name}`));
    expect(await others.list()).toEqual(NAMES);
    const all = (await others.all()).map(({ customer, kept }) => [customer, kept.consents[0]?.flow]);
    expect(all).toEqual(NAMES.map((name) => [name, `co-${name}`]));
    for (const name of NAMES) expect(await flowsOf(name)).toEqual([`co-${name}`]);
    await others.forget('ANNA');
    expect(await customers.list()).toEqual(NAMES.filter((name) => name !== 'ANNA'));
    expect((await customers.all()).map(({ customer }) => customer)).toEqual(await customers.list());
    expect(await customers.read('anna')).toBeDefined();
  });

  it('other profiles and other banks have customers of their own', async () => {
    await customers.change('ada', granting('co-1'));
    const worker = await place.worker();
    const at = (bank: string | undefined, profile = 'bank') =>
      worker.open(profile, bank === undefined ? undefined : new URL(bank)).customers;
    const otherBanks = [at('https://bank.example/x'), at('https://bank.example:8443'), at(undefined)];
    for (const elsewhere of [at(BANK.href, 'other'), ...otherBanks])
      expect([await elsewhere.list(), await elsewhere.read('ada')]).toEqual([[], undefined]);
    const there = at('https://other.example');
    await there.change('ada', granting('co-2'));
    await there.change('bob', granting('co-3'));
    expect([await flowsOf('ada'), await others.list()]).toEqual([['co-1'], ['ada']]);
    await there.forget('ada');
    expect([await flowsOf('ada'), await there.list()]).toEqual([['co-1'], ['bob']]);
    await expect(at(undefined).change('ada', granting('co-4'))).rejects.toThrow(TypeError);
    await expect(at(undefined).forget('ada')).rejects.toThrow(TypeError);
  });

  it('a customer who is forgotten can come again, without what was kept before', async () => {
    await customers.forget('ada');
    expect(await others.list()).toEqual([]);
    await customers.change('ada', (before) => ({ ...granting('co-1')(before), psu: PSU }));
    await others.forget('ada');
    await others.forget('ada');
    expect([await customers.list(), await customers.read('ada')]).toEqual([[], undefined]);
    await customers.change('ada', granting('co-2'));
    expect(await others.read('ada')).toEqual({ psu: NOBODY, consents: [granted('co-2')] });
  });

  it('all customers of a profile are forgotten together, at any bank', async () => {
    const worker = await place.worker();
    const elsewhere = worker.open('bank', new URL('https://other.example')).customers;
    const another = worker.open('other', BANK).customers;
    for (const each of [customers, elsewhere, another])
      for (const name of ['ada', 'Ada']) await each.change(name, (before) => ({ ...before, psu: PSU }));
    await worker.open('bank').customers.forgetAll();
    for (const each of [customers, elsewhere]) {
      expect(await each.list()).toEqual([]);
      expect(await each.read('ada')).toBeUndefined();
    }
    expect(await another.list()).toEqual(['Ada', 'ada']);
    await another.forgetAll();
    expect(place.everything()).not.toContain(PSU.id);
    await customers.forgetAll();
  });

  it('if a change fails, the record stays as it was, and others can change it', async () => {
    await customers.change('ada', granting('co-1'));
    const mistake = new Error('mistake');
    const failing = customers.change('ada', () => {
      throw mistake;
    });
    await expect(failing).rejects.toBe(mistake);
    await others.change('ada', granting('co-2'));
    expect(await flowsOf('ada')).toEqual(['co-1', 'co-2']);
  });

  it('of changes that several workers make at once, none is lost and none is made twice', async () => {
    const workers = await Promise.all(
      [1, 2, 3, 4].map(async () => (await place.worker()).open('bank', BANK).customers),
    );
    let run = 0;
    const change = fc.record({
      worker: fc.nat({ max: workers.length - 1 }),
      customer: fc.constantFrom('ada', 'Ada'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 12 }), async (changes) => {
        run += 1;
        const flowOf = (index: number) => `co-${run}-${index}`;
        await Promise.all(
          changes.map(({ worker, customer }, index) =>
            workers[worker]?.change(customer, granting(flowOf(index))),
          ),
        );
        for (const customer of ['ada', 'Ada']) {
          const expected = changes.flatMap((each, index) =>
            each.customer === customer ? [flowOf(index)] : [],
          );
          const kept = (await flowsOf(customer)) ?? [];
          expect(kept.filter((flow) => flow.startsWith(`co-${run}-`))).toEqual(expected.sort());
        }
      }),
      { numRuns: 8 },
    );
  });

  it('a customer who has only a record can be the last one, and is not logged in', async () => {
    await customers.change('ada', granting('co-1'));
    await data.tokens.remember('ada');
    const { tokens } = (await place.worker()).open('bank', BANK);
    expect([await tokens.last(), await tokens.customers()]).toEqual(['ada', []]);
    expect([await tokens.read('ada'), await tokens.login('ada')]).toEqual([undefined, undefined]);
    await tokens.forget('ada');
    expect(await flowsOf('ada')).toEqual(['co-1']);
    await tokens.change('ada', (slot) => slot.write(login));
    await others.forget('ada');
    expect(await tokens.customers()).toEqual(['ada']);
  });

  it('the record of a protected profile is in clear text, and needs no passphrase', async () => {
    await place.protect('bank', 'correct horse');
    await others.change('ada', (before) => ({ ...before, psu: PSU }));
    expect((await others.read('ada'))?.psu).toEqual(PSU);
    expect(place.everything()).toContain(PSU.id);
  });
});
