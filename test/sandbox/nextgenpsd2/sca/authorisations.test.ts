import { describe, expect, test } from 'vitest';
import type { BankFile } from '../../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import {
  type Approach,
  Authorisations,
  isOver,
  lifetimeMs,
  type ScaStatus,
  type ScaSubject,
} from '../../../../src/sandbox/nextgenpsd2/sca/authorisations.ts';
import type { Variation } from '../../../../src/sandbox/nextgenpsd2/variations.ts';
import { TestClock } from '../../tpp.ts';
import { bankOf } from '../refused.ts';

const BY = { customerId: '1', chosen: undefined };
const subject = (kind: ScaSubject['kind'] = 'payment', id = 'p'): ScaSubject => ({ kind, id, path: {} });

function opened(sca: BankFile['sca'] = { authorisationMinutes: 5 }, variations: Variation[] = []) {
  const clock = new TestClock('2026-11-20T11:00:00Z');
  const own = { interface: 'nextgenpsd2' } as const;
  const all = new Authorisations({
    now: clock.now,
    description: bankOf({ sca }),
    own,
    strict: true,
    variations,
  });
  const start = (
    of = subject(),
    { approach = 'redirect', psuId }: { approach?: Approach; psuId?: string } = {},
  ) => all.start(of, { approach, psuId, redirectUri: 'r', nokRedirectUri: undefined });
  return { clock, all, start };
}

const STATUSES: [status: ScaStatus, over: boolean][] = [
  ['received', false],
  ['psuIdentified', false],
  ['psuAuthenticated', false],
  ['scaMethodSelected', false],
  ['started', false],
  ['unconfirmed', false],
  ['finalised', true],
  ['exempted', true],
  ['failed', true],
];

test.each(STATUSES)('an authorisation that is %s is over: %s', (status, over) => {
  expect(isOver(status)).toBe(over);
});

test.each<
  [minutes: number | { consents: number; payments: number }, kind: ScaSubject['kind'], minutesOf: number]
>([
  [5, 'consent', 5],
  [5, 'payment', 5],
  [{ consents: 5, payments: 3 }, 'consent', 5],
  [{ consents: 5, payments: 3 }, 'funds-consent', 3],
  [{ consents: 5, payments: 3 }, 'payment', 3],
  [{ consents: 5, payments: 3 }, 'cancellation', 3],
  [{ consents: 5, payments: 3 }, 'basket', 3],
])('with authorisationMinutes %j, that of a %s lives for %i minutes', (minutes, kind, minutesOf) => {
  expect(lifetimeMs(minutes, kind)).toBe(minutesOf * 60_000);
});

test.each(STATUSES)('one that is %s lapses after its time, unless it is done', (status, over) => {
  const { clock, all, start } = opened();
  const one = start();
  one.status = status;
  const isDone = over && status !== 'failed';
  clock.advance(5 * 60_000);
  expect([all.statusOf(one), all.isOpen(one)]).toEqual([status, !over && status !== 'unconfirmed']);
  clock.advance(1);
  expect([all.statusOf(one), all.isOpen(one)]).toEqual([isDone ? status : 'failed', false]);
});

test.each([
  [undefined, 'received'],
  ['anna', 'psuIdentified'],
])('one that begins for %s is %s', (psuId, status) => {
  const { start } = opened();
  expect(start(subject(), { ...(psuId !== undefined && { psuId }) })).toMatchObject({
    ...{
      status,
      psuId,
      subject: subject(),
      redirectUri: 'r',
      confirmationCode: undefined,
      approvedBy: undefined,
    },
    embedded: { wrongTans: 0, tan: undefined, isPrepared: false, leavesOpen: false },
  });
});

test('those of one subject are of its kind and id, oldest first', () => {
  const { all, start } = opened();
  const [one, , , two] = [start(), start(subject('cancellation')), start(subject('payment', 'q')), start()];
  expect(all.of(subject())).toEqual([one, two]);
  expect(all.of(subject('basket'))).toEqual([]);
});

describe('what nobody has authorised', () => {
  test.each<[statuses: ScaStatus[], hasFailed: boolean]>([
    [[], false],
    [['failed'], true],
    [['received'], false],
    [['failed', 'received'], false],
    [['received', 'failed'], false],
    [['failed', 'failed'], true],
    [['failed', 'finalised'], false],
  ])('with authorisations that are %j: failed %s', (statuses, hasFailed) => {
    const { all, start } = opened();
    for (const status of statuses) start().status = status;
    start(subject('payment', 'q')).status = 'received';
    expect(all.haveFailed(subject())).toBe(hasFailed);
  });

  test('has not failed if a fault left it open', () => {
    const { all, start } = opened();
    const one = start();
    one.status = 'failed';
    one.embedded.leavesOpen = true;
    expect(all.haveFailed(subject())).toBe(false);
  });

  test('has failed once all have lapsed', () => {
    const { clock, all, start } = opened();
    start();
    clock.advance(60_000);
    start();
    clock.advance(4 * 60_000 + 1);
    expect(all.haveFailed(subject())).toBe(false);
    clock.advance(60_000);
    expect(all.haveFailed(subject())).toBe(true);
  });
});

test('who has authorised is who finished one, with SCA or without', () => {
  const { all, start } = opened();
  const approvedBy = (customerId: string) => ({ customerId, chosen: undefined });
  all.approve(start(), approvedBy('1'));
  all.exempt(start(), approvedBy('2'));
  const failed = start();
  all.approve(failed, approvedBy('3'));
  failed.status = 'failed';
  all.approve(start(subject('payment', 'q')), approvedBy('4'));
  expect(all.approvedBy(subject())).toEqual(['1', '2']);
});

describe('a confirmation code', () => {
  test.each<[approach: Approach, variations: Variation[], isFinished: boolean]>([
    ['redirect', [], true],
    ['redirect', ['confirmation-codes'], false],
    ['oauth', ['confirmation-codes'], true],
    ['decoupled', ['confirmation-codes'], true],
  ])('after %s, with %j: finished without one %s', (approach, variations, isFinished) => {
    const { all, start } = opened(undefined, variations);
    const one = start(subject(), { approach });
    expect(all.approve(one, BY)).toBe(isFinished);
    expect([one.status, one.approvedBy]).toEqual([isFinished ? 'finalised' : 'unconfirmed', BY]);
    expect(one.confirmationCode).toEqual(isFinished ? undefined : expect.stringMatching(/^[0-9a-f]{12}$/));
  });

  test('is right once, and a wrong one ends it', () => {
    const { all, start } = opened(undefined, ['confirmation-codes']);
    const [one, other] = [start(), start()];
    for (const each of [one, other]) all.approve(each, BY);
    expect(one.confirmationCode).not.toBe(other.confirmationCode);
    expect([all.confirm(one, one.confirmationCode ?? ''), one.status]).toEqual([true, 'finalised']);
    expect([all.confirm(other, one.confirmationCode ?? ''), other.status]).toEqual([false, 'failed']);
  });
});

test('the newest that was prepared and is open is taken, once', () => {
  const { clock, all, start } = opened();
  const [one, two, three] = [start(), start(), start()];
  start(subject('payment', 'q')).embedded.isPrepared = true;
  expect(all.takePrepared(subject())).toBeUndefined();
  for (const each of [one, two, three]) each.embedded.isPrepared = true;
  three.status = 'failed';
  expect([all.takePrepared(subject()), all.takePrepared(subject()), all.takePrepared(subject())]).toEqual([
    ...[two, one, undefined],
  ]);
  one.embedded.isPrepared = true;
  clock.advance(5 * 60_000 + 1);
  expect(all.takePrepared(subject())).toBeUndefined();
});

test('those of a customer who is forgotten are gone', () => {
  const { all, start } = opened();
  const [theirs, others, nobodys] = [start(), start(), start()];
  all.approve(theirs, BY);
  all.approve(others, { ...BY, customerId: '2' });
  const customer = { customerId: '1', user: 'a', password: '', firstName: '', lastName: '' };
  all.forgetCustomer({ ...customer, monthly: { salary: 0, rent: 0, saving: 0 }, products: [] });
  expect(all.list()).toEqual([others, nobodys]);
});
