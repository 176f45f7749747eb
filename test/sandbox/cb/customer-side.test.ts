import { describe, expect, inject, test } from 'vitest';
import { type Bank, openBank } from '../../../src/sandbox/bank.ts';
import { customerSide } from '../../../src/sandbox/cb/customer-side.ts';
import type { Resource } from '../../../src/sandbox/cb/orders/resource.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { accountOf, seeded } from '../seeded.ts';
import { TestClock } from '../tpp.ts';

// What the pages of the customer know of the first door.

const registration = await loadOrCreateRegistration(inject('registration'));
const anna = seeded('anna');
const [current, savings] = [accountOf(anna), accountOf(anna, 'savings')];
const BACK = 'https://tpp.example/back';

/** A bank, and what its customer reads of a resource whose SCA has begun. */
async function opened(at = '2026-11-20T11:00:00Z') {
  const clock = new TestClock(at);
  const bank = await openBank(registration, { ...defaultRules, now: clock.now }, undefined, new Map());
  const side = customerSide(bank);
  const shown = (resource: Resource) => {
    expect(side.scaRequest(resource.id)).toBeUndefined();
    bank.resources.startSca(resource, BACK);
    return side.scaRequest(resource.id)?.request;
  };
  return { bank, clock, side, shown };
}

const asProduct = ({ productId, description, iban }: typeof current) => ({ productId, description, iban });
const [CURRENT, SAVINGS] = [asProduct(current), asProduct(savings)];

describe('a consent shows what the bank offers of it', () => {
  test.each<[outcomes: boolean[], shown: number[]]>([
    [[true], [0]],
    [
      [true, true],
      [0, 1],
    ],
    [[true, false], [0]],
    [[false, true], [1]],
    [
      [true, false, true],
      [0, 2],
    ],
    [[false], []],
  ])('of categories with the outcomes %j', async (outcomes, places) => {
    const { bank, shown } = await opened();
    const names = ['ACCOUNT_INFO', 'FUNDS_AVAILABILITY', 'PAYMENTS'];
    const categories = outcomes.map((outcome, index) => ({
      ...{ name: names[index] ?? '', outcome },
      products: index === 1 ? [savings] : [current, savings],
    }));
    const all = names.map((name, index) => ({
      name,
      products: index === 1 ? [SAVINGS] : [CURRENT, SAVINGS],
    }));
    const consent = bank.resources.addConsent(anna, categories);
    expect(shown(consent)).toEqual({
      ...{ kind: 'consent', resourceId: consent.id, tppName: 'Sandbox TPP', customerName: 'Anna Esposito' },
      ...{ until: '2027-05-19', categories: places.map((place) => all[place]) },
    });
  });

  // 180 days later it is summer in Rome.
  test.each([
    ['2026-11-20T21:59:59Z', '2027-05-19'],
    ['2026-11-20T22:00:00Z', '2027-05-20'],
    ['2026-11-20T23:00:00Z', '2027-05-20'],
  ])('at %s it would end on %s', async (at, until) => {
    const { bank, shown } = await opened(at);
    expect(shown(bank.resources.addConsent(anna, []))).toMatchObject({ until });
  });
});

const order = {
  ...{ beneficiaryIban: 'DE02120300000000202051', beneficiaryName: 'Beta', description: 'Invoice 7' },
  ...{ amount: 12_50, commissions: 50 },
};
const standing = {
  ...order,
  ...({ frequency: 'MONTHLY', firstDay: '2026-11-30', executions: undefined } as const),
};
const transfer = (instant: boolean) => (bank: Bank) =>
  bank.resources.addTransfer(anna, savings, { ...order, instant, executionDay: '2026-11-24' });
const standingOrder = (executions?: number) => (bank: Bank) => {
  const resource = bank.resources.addStandingOrder(anna, savings, { ...standing, executions });
  return Object.assign(resource, { nextStep: 'execute' as const });
};

test.each<[what: string, make: (bank: Bank) => Resource, says: object]>([
  [
    'a transfer',
    transfer(false),
    { operation: 'moneyTransfer', instant: false, executionDate: '2026-11-24' },
  ],
  [
    'an instant transfer',
    transfer(true),
    { operation: 'moneyTransfer', instant: true, executionDate: '2026-11-24' },
  ],
  [
    'a standing order',
    standingOrder(3),
    {
      ...{ operation: 'standingOrder', instant: false, executionDate: '2026-11-30' },
      schedule: 'MONTHLY, 3 times, until 30/01/2027',
    },
  ],
  [
    'a standing order for one payment',
    standingOrder(1),
    {
      ...{ operation: 'standingOrder', instant: false, executionDate: '2026-11-30' },
      schedule: 'MONTHLY, once, until 30/11/2026',
    },
  ],
])('%s shows payee, sums, account and day', async (_, make, says) => {
  const { bank, shown } = await opened();
  const resource = make(bank);
  const euros = (amount: string) => ({ amount, currency: 'EUR' });
  expect(shown(resource)).toEqual({
    ...{ kind: 'payment', resourceId: resource.id, tppName: 'Sandbox TPP', customerName: 'Anna Esposito' },
    ...{ beneficiaryName: 'Beta', beneficiaryIban: 'DE02120300000000202051', description: 'Invoice 7' },
    ...{ amount: euros('12.50'), commissions: euros('0.50'), total: euros('13.00') },
    ...{ debitAccount: { productId: SAVINGS.productId, iban: SAVINGS.iban }, ...says },
  });
});

test('an inquiry shows the account and the first day', async () => {
  const { bank, shown } = await opened();
  const grant = { application: bank.applications.authorizationCode, customerId: anna.customerId };
  const inquiry = bank.resources.addInquiry(anna, grant, savings, '2026-01-31');
  expect(shown(inquiry)).toEqual({
    ...{ kind: 'inquiry', resourceId: inquiry.id, tppName: 'Sandbox TPP', customerName: 'Anna Esposito' },
    ...{ product: SAVINGS, from: '2026-01-31' },
  });
});

test('a decision leads back, tells the console, and stays', async () => {
  const { bank, side } = await opened();
  const [given, refused] = [transfer(false)(bank), transfer(false)(bank)];
  for (const resource of [given, refused]) bank.resources.startSca(resource, BACK);
  let changes = 0;
  bank.calls.watch(() => {
    changes += 1;
  });
  expect([side.approveSca(given.id).href, side.refuseSca(refused.id).href, changes]).toEqual([BACK, BACK, 2]);
  side.refuseSca(given.id);
  expect([given, refused].map(({ id }) => side.scaRequest(id)?.state)).toEqual([
    ...['AUTHORIZED', 'NOT_AUTHORIZED'],
  ]);
});

test('a login is of who knows the password, for one decision', async () => {
  const { bank, side } = await opened();
  const application = bank.applications.authorizationCode;
  const start = () => bank.logins.start({ application, redirectUri: BACK, state: 's' }).id;
  const [allowed, refused] = [start(), start()];
  expect(side.loginRequest(allowed)).toEqual({
    ...{ id: allowed, tppName: 'Sandbox TPP', applicationName: 'psd2-sandbox' },
  });
  const annas = { user: 'anna', password: 'anna-sandbox', name: 'Anna Esposito', customerId: '1048262' };
  expect([
    ...[side.authenticate('anna', 'anna-sandbox'), side.authenticate('anna', 'bruno-sandbox')],
    ...[side.authenticate('nobody', 'anna-sandbox'), side.logins()[0]],
  ]).toEqual([annas, undefined, undefined, annas]);
  const { searchParams } = side.allowLogin(allowed, anna.customerId);
  expect([...searchParams.keys(), searchParams.get('state')]).toEqual(['code', 'state', 's']);
  expect(bank.logins.code(searchParams.get('code') ?? '')?.grant).toEqual({
    ...{ application, customerId: anna.customerId },
  });
  expect(side.refuseLogin(refused).search).toBe('?error=access_denied&state=s');
  expect([side.loginRequest(allowed), side.loginRequest(refused), side.loginRequest('x')]).toEqual([
    ...[undefined, undefined, undefined],
  ]);
});
