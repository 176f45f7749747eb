import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import {
  type Bank,
  type DoorState,
  giveSeeded,
  openBank,
  resetBank,
  resetCustomer,
} from '../../src/sandbox/bank.ts';
import { DOORS } from '../../src/sandbox/doors.ts';
import { loadOrCreateRegistration } from '../../src/sandbox/folder/registration.ts';
import { doorOf } from '../../src/sandbox/nextgenpsd2/door-state.ts';
import { type BankRules, defaultRules } from '../../src/sandbox/rules.ts';
import { accountOf, seeded } from './seeded.ts';
import { TestClock } from './tpp.ts';

const registration = await loadOrCreateRegistration(inject('registration'));
const [anna, bruno] = [seeded('anna'), seeded('bruno')];
const current = accountOf(anna);
const other = accountOf(bruno);
const START = '2026-11-20T11:00:00.000Z';

async function newBank(rules: Partial<BankRules> = {}, doors: Bank['doors'] = DOORS) {
  const clock = new TestClock(START);
  const bank = await openBank(registration, { ...defaultRules, now: clock.now, ...rules }, undefined, doors);
  return { bank, clock };
}

const order = {
  ...{ beneficiaryIban: 'IT60X', beneficiaryName: 'Ada', description: '', amount: 1, commissions: 1 },
  ...{ instant: true, executionDay: '2026-11-20' },
};

/** Gives the bank something of each of two customers, and of nobody. */
function fill(bank: Bank) {
  const application = bank.applications.authorizationCode;
  const now = bank.now();
  const of = [anna, bruno].map((customer) => {
    const { customerId } = customer;
    const product = accountOf(customer);
    const grant = { application, customerId };
    const login = bank.logins.start({ application, redirectUri: 'https://tpp/', state: undefined });
    bank.consents.give({ customerId, category: 'PAYMENTS', productId: product.productId });
    bank.ledger.bookUnasked(product, 1, now);
    bank.faults.add({ fault: 'empty' }, now, customerId);
    return {
      code: bank.logins.allow(login, grant).searchParams.get('code') ?? '',
      token: bank.tokens.issue(grant).accessToken,
      resource: bank.resources.addTransfer(customer, product, order).id,
    };
  });
  const token = bank.tokens.issue({ application, customerId: undefined }).accessToken;
  bank.faults.add({ fault: 'delay=5' }, now);
  bank.usedMagic.use('EXECUTE a');
  bank.clock.moveTo(new Date(now.getTime() + 5000));
  return { of, token };
}

/** What the bank still has of the two customers, and of nobody. */
function left(bank: Bank, { of, token }: ReturnType<typeof fill>) {
  const booked = [current, other].map((product) => {
    const rows = bank.ledger.entries(product, { from: '2026-11-20', to: undefined }, bank.now()).booked;
    return rows.count;
  });
  return {
    codes: of.map(({ code }) => bank.logins.code(code) !== undefined),
    tokens: [...of.map((one) => one.token), token].map((one) => bank.tokens.find(one) !== undefined),
    resources: of.map(({ resource }) => bank.resources.find(resource) !== undefined),
    consents: bank.consents.inForce().map(({ customerId }) => customerId),
    faults: bank.faults.list(bank.now()).length,
    booked,
    magic: !bank.usedMagic.use('EXECUTE a'),
    ahead: bank.clock.aheadSeconds,
  };
}

const [ANNA, BRUNO] = [anna.customerId, bruno.customerId];

test('a reset of a customer takes what is theirs from each part, and from nobody else', async () => {
  const { bank } = await newBank();
  const made = fill(bank);
  const all = {
    ...{ codes: [true, true], tokens: [true, true, true], resources: [true, true] },
    ...{ consents: [ANNA, BRUNO], faults: 3, booked: [1, 1], magic: true, ahead: 5 },
  };
  expect(left(bank, made)).toEqual(all);
  resetCustomer(bank, anna);
  expect(left(bank, made)).toEqual({
    ...all,
    ...{ codes: [false, true], tokens: [false, true, true], resources: [false, true] },
    ...{ consents: [BRUNO], faults: 2, booked: [0, 1] },
  });
});

test('a reset of the bank takes everything but what it is', async () => {
  const { bank } = await newBank();
  bank.baseUrl = 'https://bank';
  const made = fill(bank);
  const before = { ...bank };
  const door = doorOf(bank);
  resetBank(bank);
  expect(left(bank, made)).toEqual({
    ...{ codes: [false, false], tokens: [false, false, false], resources: [false, false] },
    ...{ consents: [], faults: 0, booked: [0, 0], magic: false, ahead: 0 },
  });
  for (const [name, part] of Object.entries(bank.parts))
    expect([name, before.parts[name] === part]).toEqual([name, false]);
  expect(Object.keys(bank.parts)).toEqual(Object.keys(before.parts));
  expect(doorOf(bank)).not.toBe(door);
  for (const kept of [
    'baseUrl',
    'applications',
    'calls',
    'seal',
    'rules',
    'doors',
    'tppCertificates',
  ] as const)
    expect(bank[kept]).toBe(before[kept]);
  expect(bank.now()).toEqual(new Date(START));
});

test('the bank has a time of its own for what it does, and the real one for the rest', async () => {
  const { bank, clock } = await newBank();
  clock.advance(1000);
  bank.clock.moveTo(new Date('2027-01-01T00:00:00Z'));
  expect([bank.now(), bank.wallNow()]).toEqual([new Date('2027-01-01T00:00:00Z'), clock.now()]);
  const { accessToken } = bank.tokens.issue({
    application: bank.applications.authorizationCode,
    customerId: ANNA,
  });
  expect(bank.tokens.find(accessToken)?.expiresAt).toEqual(new Date('2027-01-01T00:58:20Z'));
});

test('the bank has the certificates, applications and names of its registration', async () => {
  const { bank } = await newBank();
  expect([bank.tppName, bank.baseUrl, bank.customerSiteUrl]).toEqual(['Sandbox TPP', '', '']);
  expect(bank.applications).toEqual(registration.applications);
  const files = {
    ...{ qwac: registration.qwacCertFile, qseal: registration.qsealCertFile },
    ...{ nextQwac: registration.nextQwacCertFile, nextQseal: registration.nextQsealCertFile },
  };
  const { tppCertificates: first, nextTppCertificates: next } = bank;
  const held = { qwac: first.qwac, qseal: first.qseal, nextQwac: next.qwac, nextQseal: next.qseal };
  for (const [name, certificate] of Object.entries(held))
    expect([name, certificate.toString().trim()]).toEqual([
      ...[name, readFileSync(Object(files)[name], 'utf8').trim()],
    ]);
});

test('each seeded customer is given at each door, at the start and after a reset', async () => {
  const given: string[] = [];
  const door = (name: string): DoorState => ({
    seed: {
      fields: {},
      check: () => {},
      give: (bank, customer, record) => {
        given.push(`${name} ${customer.user} ${JSON.stringify(record)}`);
        bank.consents.give({ customerId: customer.customerId, category: name, productId: 'p' });
      },
    },
  });
  const doors = new Map([
    ['a', door('a')],
    ['b', door('b')],
  ]);
  const seed = [
    { customer: anna, record: { x: 1 } },
    { customer: bruno, record: { y: 2 } },
  ];
  const { bank } = await newBank({ seed }, doors);
  const all = ['a anna {"x":1}', 'b anna {"x":1}', 'a bruno {"y":2}', 'b bruno {"y":2}'];
  expect([given, bank.consents.inForce().length]).toEqual([all, 4]);
  resetBank(bank);
  expect([given, bank.consents.inForce().length]).toEqual([[...all, ...all], 4]);
  giveSeeded(bank, { customer: anna, record: { z: 3 } });
  expect(given.slice(8)).toEqual(['a anna {"z":3}', 'b anna {"z":3}']);
});

test('the parts of a door stand under its name', async () => {
  const { bank } = await newBank();
  const own = Object.keys(bank.parts).filter((name) => !name.includes('.'));
  expect(own.toSorted()).toEqual([
    ...['clock', 'consents', 'customers', 'faults', 'ledger', 'limits', 'logins', 'resources'],
    ...['seenRequestIds', 'tokens', 'usedMagic'],
  ]);
  const doors = new Set(
    Object.keys(bank.parts)
      .filter((name) => name.includes('.'))
      .map((name) => name.split('.')[0]),
  );
  expect([...doors]).toEqual(['nextgenpsd2']);
  expect([...DOORS.keys()]).toEqual(['cb', 'nextgenpsd2']);
});
