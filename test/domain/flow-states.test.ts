import { describe, expect, it } from 'vitest';
import {
  type FlowState,
  isAccepted,
  isBanksToCancel,
  isOpen,
  isOpenAtBank,
  isOver,
  isPlainlyFailed,
  isUntouched,
  maySend,
  needsAttention,
  type Standing,
  standingOf,
} from '../../src/domain/flow-states.ts';
import { OPERATION_STATES, type OperationState } from '../../src/domain/operation.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { begunTransfer, VERIFIED } from './orders.ts';

/**
 * For each state its standing, whether it is final, and whether it needs a person. `reached`: only if a request has reached the
 * bank. `settling`: only if the bank has a later status.
 */
const STATES: Readonly<
  Record<FlowState, [Standing, 'final' | 'not final', 'always' | 'reached' | 'settling' | 'never']>
> = {
  created: ['open', 'not final', 'reached'],
  verified: ['open', 'not final', 'always'],
  requested: ['open', 'not final', 'always'],
  authorizing: ['open', 'not final', 'always'],
  authorized: ['open', 'not final', 'always'],
  executing: ['sent', 'not final', 'always'],
  confirming: ['sent', 'not final', 'always'],
  unknown: ['sent', 'not final', 'always'],
  ordered: ['done', 'not final', 'settling'],
  executed: ['done', 'not final', 'settling'],
  settled: ['done', 'final', 'never'],
  confirmed: ['done', 'final', 'never'],
  failed: ['refused', 'final', 'never'],
  rejected: ['refused', 'final', 'never'],
  expired: ['refused', 'final', 'never'],
  cancelled: ['refused', 'final', 'never'],
  revoked: ['refused', 'final', 'never'],
  ended: ['kept', 'final', 'never'],
};

function isState(name: string): name is FlowState {
  return name in STATES;
}

const ALL = Object.keys(STATES).filter(isState);

describe.each(ALL)('a flow in the state %s', (state) => {
  const [standing, end, when] = STATES[state];

  it(`is ${standing} and ${end}`, () => {
    expect(standingOf({ state, refusedUnconfirmed: false })).toBe(standing);
    expect(isOver({ state })).toBe(end === 'final');
  });

  it('may send the request that cannot be taken back only if it was not sent before', () => {
    expect(maySend({ state })).toBe(standing === 'open');
  });

  it('counts as sent if only a refusal says that it had no effect', () => {
    const refused = { state, refusedUnconfirmed: true };
    expect(standingOf(refused)).toBe('sent');
    expect(isOpen(refused) || isPlainlyFailed(refused)).toBe(false);
  });

  it('counts as sent while the customer can make it run without psd2', () => {
    const running = { state, refusedUnconfirmed: false, mayExecuteWithoutUs: true };
    expect(standingOf(running)).toBe(standing === 'open' ? 'sent' : standing);
    expect(isOpen(running)).toBe(false);
    expect(isPlainlyFailed(running)).toBe(standing === 'refused');
    for (const reached of [true, false])
      if (standing === 'open') expect(needsAttention({ ...running, reached }, false)).toBe(true);
  });

  it('needs a person if its outcome is not known or it can be continued, and then only', () => {
    for (const reached of [true, false])
      for (const settles of [true, false]) {
        const isNeeded =
          when === 'always' || (when === 'reached' && reached) || (when === 'settling' && settles);
        expect(needsAttention({ state, reached, refusedUnconfirmed: false }, settles)).toBe(isNeeded);
      }
  });

  it('has something to resume, or was created and has never reached the bank', () => {
    expect(isUntouched({ state, reached: false })).toBe(state === 'created');
    expect(isUntouched({ state, reached: true })).toBe(false);
  });
});

it('a flow that the bank only refused to execute needs a person, because its reference stays taken', () => {
  expect(needsAttention({ state: 'failed', reached: true, refusedUnconfirmed: true }, false)).toBe(true);
});

describe('a link that may work after the end', () => {
  const link = { refusedUnconfirmed: false, linkUntil: '2031-05-01T09:00:00.000Z' };

  it.each(ALL)('keeps the reference of a payment that is %s only if that is cancelled', (state) => {
    expect(standingOf({ ...link, state })).toBe(state === 'cancelled' ? 'kept' : STATES[state][0]);
    expect(isPlainlyFailed({ ...link, state })).toBe(state !== 'cancelled' && STATES[state][0] === 'refused');
    expect(standingOf({ ...link, state, linkUntil: null })).toBe(STATES[state][0]);
  });

  it('keeps it also where nothing but a refusal speaks', () => {
    expect(standingOf({ ...link, state: 'cancelled', refusedUnconfirmed: true })).toBe('kept');
  });
});

describe('the states of a payment that the customer commits', () => {
  const CUSTOMERS = { commits: 'by the customer', authorises: 'by links', verification: VERIFIED } as const;
  const RESOLVED = { outcome: 'executed', by: 'ada', note: null, at: '2026-11-24T10:00:00Z' } as const;
  const statesWhere = (is: (payment: Transfer) => boolean, changes: Partial<Transfer> = {}) =>
    OPERATION_STATES.filter((state) => is(begunTransfer({ ...CUSTOMERS, ...changes, state })));

  it.each<[string, Partial<Transfer>, OperationState[]]>([
    ['it', {}, ['ordered', 'executed']],
    ['it, and said that it is final', { isFinal: true }, []],
    ['it, and a person has resolved it', { resolution: RESOLVED }, []],
    ['it with execute', { commits: 'on execute' }, []],
  ])('in which the bank has accepted %s', (_, changes, states) => {
    expect(statesWhere(isAccepted, changes)).toEqual(states);
  });

  it.each<[string, Partial<Transfer>, OperationState[]]>([
    ['has had the link', { linkIsOut: true, mayExecuteWithoutUs: true }, ['verified', 'authorizing']],
    ['has had no link', { mayExecuteWithoutUs: true }, []],
    ['has had the link, and only execute runs it', { linkIsOut: true }, []],
    [
      'has had the link, and a refusal alone speaks',
      { linkIsOut: true, refusedUnconfirmed: true },
      ['verified', 'authorizing'],
    ],
  ])('in which a customer can authorise it who %s', (_, changes, states) => {
    expect(statesWhere(isOpenAtBank, changes)).toEqual(states);
  });

  const SENT: OperationState[] = ['executing', 'ordered', 'executed', 'unknown'];
  const OPEN: OperationState[] = ['created', 'verified', 'authorizing', 'authorized'];
  it.each<[string, Partial<Transfer>, OperationState[]]>([
    ['the bank has it', {}, SENT],
    [
      'it may run without psd2',
      { mayExecuteWithoutUs: true },
      OPERATION_STATES.filter((state) => [...SENT, ...OPEN].includes(state)),
    ],
    ['the bank has not got it', { mayExecuteWithoutUs: true, verification: null }, []],
    ['the customer authorises it by a call', { mayExecuteWithoutUs: true, authorises: 'by call' }, []],
    ['only execute runs it', { mayExecuteWithoutUs: true, commits: 'on execute' }, []],
  ])('in which only the bank can cancel it, if %s', (_, changes, states) => {
    expect(statesWhere(isBanksToCancel, changes)).toEqual(states);
  });
});
