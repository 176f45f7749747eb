import { expect, test } from 'vitest';
import { Resources } from '../../../../src/sandbox/cb/orders/resources.ts';
import { accountOf, seeded } from '../../seeded.ts';
import { answerTo } from '../../strict/raw.ts';
import { TestClock } from '../../tpp.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const [anna, bruno] = [seeded('anna'), seeded('bruno')];
const current = accountOf(anna);
const order = {
  ...{ beneficiaryIban: 'IT60X', beneficiaryName: 'Ada', description: '', amount: 1, commissions: 1 },
  ...{ instant: true, executionDay: '2026-11-20' },
};
const application = { clientId: 'a', clientSecret: 'b', applicationName: 'c' };
const grant = { application, customerId: anna.customerId };

function newBank() {
  const clock = new TestClock('2026-11-20T11:00:00Z');
  const resources = new Resources(clock.now);
  const add = (beneficiaryName = 'Ada') =>
    resources.addTransfer(anna, current, { ...order, beneficiaryName });
  return { clock, resources, add };
}

test.each<[after: number, isKnown: boolean]>([
  [DAY, true],
  [DAY + 1, false],
])('an unfinished resource is known after %i ms: %s', (after, isKnown) => {
  const { clock, resources, add } = newBank();
  const { id } = add();
  clock.advance(after);
  // The bank forgets as it keeps another one.
  const next = add();
  expect(resources.find(id) !== undefined).toBe(isKnown);
  expect(resources.list().map((one) => one.id)).toEqual(isKnown ? [id, next.id] : [next.id]);
});

test.each<[after: number, isKnown: boolean]>([
  [15 * MINUTE, true],
  [15 * MINUTE + 1, false],
])('a finished resource is known after %i ms: %s', (after, isKnown) => {
  const { clock, resources, add } = newBank();
  const [finished, open] = [add(), add()];
  finished.finishedAt = clock.now();
  clock.advance(after);
  expect(resources.find(finished.id) !== undefined).toBe(isKnown);
  expect(resources.find(open.id.toUpperCase())).toBe(open);
  expect(resources.list()).toEqual(isKnown ? [finished, open] : [open]);
});

test.each<[after: number, state: string]>([
  [10 * MINUTE, 'PENDING'],
  [10 * MINUTE + 1, 'EXPIRED'],
])('SCA after %i ms is %s, whether it was started or not', (after, state) => {
  const { clock, resources, add } = newBank();
  const [waiting, started, endless] = [add(), add(), add('SCA PENDING')];
  clock.advance(MINUTE);
  resources.startSca(started, 'https://tpp.example/');
  clock.advance(after - MINUTE);
  expect([waiting, started, endless].map((one) => resources.scaState(one))).toEqual([
    ...[state, 'PENDING', 'PENDING'],
  ]);
  clock.advance(MINUTE);
  expect([started, endless].map((one) => resources.scaState(one))).toEqual([state, 'PENDING']);
});

test.each<[name: string, decision: 'AUTHORIZED' | 'NOT_AUTHORIZED', state: string]>([
  ['Ada', 'AUTHORIZED', 'AUTHORIZED'],
  ['Ada', 'NOT_AUTHORIZED', 'NOT_AUTHORIZED'],
  ['SCA REFUSED', 'AUTHORIZED', 'NOT_AUTHORIZED'],
  ['SCA EXPIRED', 'AUTHORIZED', 'EXPIRED'],
  ['SCA PENDING', 'AUTHORIZED', 'PENDING'],
])('a payment to %s with the decision %s is %s, and stays so', (name, decision, state) => {
  const { resources, add } = newBank();
  const resource = add(name);
  expect(() => resources.decide(resource.id, decision)).toThrow(
    new RangeError(`No SCA was started for the resource ${resource.id}`),
  );
  resources.startSca(resource, 'https://tpp.example/back?a=b');
  expect(resources.decide(resource.id, decision).href).toBe('https://tpp.example/back?a=b');
  const other = decision === 'AUTHORIZED' ? 'NOT_AUTHORIZED' : 'AUTHORIZED';
  resources.decide(resource.id, other);
  expect(resources.scaState(resource)).toBe(state);
  expect(answerTo(() => resources.startSca(resource, 'https://tpp.example/'))).toEqual(
    state === 'PENDING' ? 'accepted' : ['SCA_FINISHED', `SCA of this resource has ended: it is ${state}`, ''],
  );
});

test('an inquiry is lifted for the login that asked, once the customer authorised it', () => {
  const { resources } = newBank();
  const inquiry = resources.addInquiry(anna, grant, current, '2026-01-01');
  resources.addInquiry(anna, { ...grant }, current, '2026-01-01');
  expect(resources.isLifted(grant)).toBe(false);
  resources.startSca(inquiry, 'https://tpp.example/');
  expect(resources.isLifted(grant)).toBe(false);
  resources.decide(inquiry.id, 'AUTHORIZED');
  expect([resources.isLifted(grant), resources.isLifted({ ...grant })]).toEqual([true, false]);
});

test('each kind of resource begins with its own step, and a forgotten customer has none', () => {
  const { resources, add } = newBank();
  const standing = resources.addStandingOrder(bruno, current, {
    ...{ ...order, frequency: 'WEEKLY', firstDay: '2026-11-30', executions: undefined },
  });
  const consent = resources.addConsent(anna, []);
  const [transfer, second] = [add(), add('VERIFY SECOND STEP')];
  expect([standing, transfer, second].map(({ nextStep }) => nextStep)).toEqual([
    'verify2',
    'execute',
    'verify2',
  ]);
  expect([consent.kind, consent.finishedAt, consent.sca, consent.plan]).toEqual([
    ...['consent', undefined, undefined, {}],
  ]);
  resources.forgetCustomer(anna);
  expect(resources.list()).toEqual([standing]);
});
