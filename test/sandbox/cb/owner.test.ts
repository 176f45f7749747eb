import { expect, inject, test } from 'vitest';
import { openBank } from '../../../src/sandbox/bank.ts';
import type { Resource } from '../../../src/sandbox/cb/orders/resource.ts';
import { ownerSide } from '../../../src/sandbox/cb/owner.ts';
import { loadOrCreateRegistration } from '../../../src/sandbox/folder/registration.ts';
import { defaultRules } from '../../../src/sandbox/rules.ts';
import { accountOf, seeded } from '../seeded.ts';
import { TestClock } from '../tpp.ts';

const registration = await loadOrCreateRegistration(inject('registration'));
const anna = seeded('anna');
const [current, savings] = [accountOf(anna), accountOf(anna, 'savings')];
const AT = '2026-11-20T11:00:00.000Z';

async function newBank() {
  const clock = new TestClock(AT);
  const bank = await openBank(registration, { ...defaultRules, now: clock.now }, undefined, new Map());
  bank.customerSiteUrl = 'http://site';
  return { bank, clock };
}

const payee = {
  beneficiaryIban: 'IT60X',
  beneficiaryName: 'Ada',
  description: '',
  amount: 12_50,
  commissions: 50,
};
const transfer = { ...payee, instant: true, executionDay: '2026-11-20' };
const standing = {
  ...payee,
  ...({ frequency: 'MONTHLY', firstDay: '2026-11-30', executions: undefined } as const),
};

type Bank = Awaited<ReturnType<typeof newBank>>['bank'];

const consent = (bank: Bank) =>
  bank.resources.addConsent(anna, [
    { name: 'ACCOUNT_INFO', products: [current, savings], outcome: true },
    { name: 'PAYMENTS', products: [current], outcome: false },
  ]);
const settled = (status: 'OK' | 'KO') => (bank: Bank) => {
  const resource = bank.resources.addTransfer(anna, current, transfer);
  const at = new Date(AT);
  resource.execution = { cro: '7', at, settlement: { at: new Date(at.getTime() + 500), status } };
  return resource;
};

const PAYS = '12.50 EUR from 0010482620 to Ada, IT60X';
test.each<[what: string, make: (bank: Bank) => Resource, about: string, now: string, later: string]>([
  [
    ...(['a consent', consent, 'ACCOUNT_INFO for 0010482620, 0010482638; PAYMENTS for 0010482620'] as const),
    ...(['not confirmed', 'not confirmed'] as const),
  ],
  [
    'a confirmed consent',
    (bank) => Object.assign(consent(bank), { finishedAt: new Date(AT) }),
    'ACCOUNT_INFO for 0010482620, 0010482638; PAYMENTS for 0010482620',
    ...(['confirmed', 'confirmed'] as const),
  ],
  [
    'an inquiry',
    (bank) => {
      const grant = { application: bank.applications.authorizationCode, customerId: anna.customerId };
      return bank.resources.addInquiry(anna, grant, current, '2026-02-01');
    },
    ...(['transactions of 0010482620 from 2026-02-01', '', ''] as const),
  ],
  [
    'a transfer',
    (bank) => bank.resources.addTransfer(anna, current, transfer),
    ...([PAYS, 'not executed', 'not executed'] as const),
  ],
  [
    'a standing order',
    (bank) => bank.resources.addStandingOrder(anna, current, standing),
    ...([PAYS, 'verify2 required', 'verify2 required'] as const),
  ],
  [
    'an executed standing order',
    (bank) => {
      const resource = bank.resources.addStandingOrder(anna, current, standing);
      return Object.assign(resource, { execution: { standingOrderId: '8', at: new Date(AT) } });
    },
    ...([PAYS, 'executed, 8', 'executed, 8'] as const),
  ],
  [
    'an executed transfer',
    (bank) => {
      const resource = bank.resources.addTransfer(anna, current, transfer);
      resource.execution = { cro: '7', at: new Date(AT), settlement: undefined };
      return resource;
    },
    ...([PAYS, 'executed, CRO 7', 'executed, CRO 7'] as const),
  ],
  ['an instant transfer', settled('OK'), PAYS, 'pending, CRO 7', 'settled OK, CRO 7'],
  ['a refused instant transfer', settled('KO'), PAYS, 'pending, CRO 7', 'settled KO, CRO 7'],
])('the owner reads of %s what it is about and how far it is', async (_, make, about, now, later) => {
  const { bank, clock } = await newBank();
  const resource = make(bank);
  const flows = () => Object(ownerSide(bank).flows(9)).resources;
  expect(flows()).toEqual([
    {
      ...{ id: resource.id, kind: resource.kind, customer: 'anna', about, createdAt: AT },
      ...{ sca: 'not started', open: false, execution: now },
    },
  ]);
  clock.advance(499);
  expect(flows()).toMatchObject([{ execution: now }]);
  clock.advance(1);
  expect(flows()).toMatchObject([{ execution: later }]);
});

test('of many resources the newest are shown, newest first', async () => {
  const { bank } = await newBank();
  const made = [1, 2, 3].map(() => bank.resources.addTransfer(anna, current, transfer).id);
  const shown = (most: number) => Object(ownerSide(bank).flows(most)).resources.map(({ id }: Resource) => id);
  expect(shown(9)).toEqual(made.toReversed());
  expect(shown(2)).toEqual(made.toReversed().slice(0, 2));
});

test('while SCA is pending, a resource is open', async () => {
  const { bank } = await newBank();
  const resource = bank.resources.addTransfer(anna, current, transfer);
  const state = () => {
    const [{ sca, open }] = Object(ownerSide(bank).flows(9)).resources;
    return [sca, open];
  };
  bank.resources.startSca(resource, 'https://tpp/');
  expect(state()).toEqual(['PENDING', true]);
  bank.resources.decide(resource.id, 'NOT_AUTHORIZED');
  expect(state()).toEqual(['NOT_AUTHORIZED', false]);
});

test('logins that wait and consents in force are shown, of a customer without a name by the id', async () => {
  const { bank } = await newBank();
  const application = bank.applications.authorizationCode;
  const { id } = bank.logins.start({ application, redirectUri: 'https://tpp/', state: undefined });
  for (const customerId of [anna.customerId, '9999999'])
    bank.consents.give({ customerId, category: 'PAYMENTS', productId: '0010482620' });
  const given = {
    ...{ category: 'PAYMENTS', productId: '0010482620', givenAt: AT },
    endsAt: '2027-05-19T11:00:00.000Z',
  };
  expect(ownerSide(bank).flows(9)).toEqual({
    logins: [{ id, application: 'psd2-sandbox', startedAt: AT, url: `http://site/login?request=${id}` }],
    resources: [],
    consents: [
      { customer: 'anna', ...given },
      { customer: '9999999', ...given },
    ],
  });
  expect([ownerSide(bank).revokeAll('9999999'), ownerSide(bank).revokeAll('9999999')]).toEqual([1, 0]);
});

test('the payments are the transfers alone, the newest of them, oldest first', async () => {
  const { bank } = await newBank();
  consent(bank);
  for (const amount of [1_00, 2_00, 3_00]) bank.resources.addTransfer(anna, current, { ...transfer, amount });
  bank.resources.addStandingOrder(anna, current, standing);
  const paid = (most: number) => ownerSide(bank).paid(most);
  expect(paid(9).map(({ amount }) => amount)).toEqual([1_00, 2_00, 3_00]);
  expect(paid(2)).toEqual([
    {
      ...{ account: '0010482620', customer: 'anna', to: 'Ada', at: new Date(AT), joint: undefined },
      ...{ amount: 3_00, state: 'not executed' },
    },
  ]);
});
