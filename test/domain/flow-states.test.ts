import { describe, expect, it } from 'vitest';
import {
  type FlowState,
  isOpen,
  isOver,
  isPlainlyFailed,
  isUntouched,
  maySend,
  needsAttention,
  type Standing,
  standingOf,
} from '../../src/domain/flow-states.ts';

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
