import { describe, expect, it } from 'vitest';
import {
  type FlowState,
  isOpen,
  isOver,
  isPlainlyFailed,
  isUntouched,
  type Standing,
  standingOf,
} from '../../src/domain/flow-states.ts';

/** For each state its standing, and whether it is final. */
const STATES: Readonly<Record<FlowState, [Standing, 'final' | 'not final']>> = {
  created: ['open', 'not final'],
  verified: ['open', 'not final'],
  requested: ['open', 'not final'],
  authorizing: ['open', 'not final'],
  authorized: ['open', 'not final'],
  executing: ['sent', 'not final'],
  confirming: ['sent', 'not final'],
  unknown: ['sent', 'not final'],
  executed: ['done', 'not final'],
  settled: ['done', 'final'],
  confirmed: ['done', 'final'],
  failed: ['refused', 'final'],
  rejected: ['refused', 'final'],
  expired: ['refused', 'final'],
  cancelled: ['refused', 'final'],
};

function isState(name: string): name is FlowState {
  return name in STATES;
}

const ALL = Object.keys(STATES).filter(isState);

describe.each(ALL)('a flow in the state %s', (state) => {
  const [standing, end] = STATES[state];

  it(`is ${standing} and ${end}`, () => {
    expect({ standing: standingOf({ state, refusalAlone: false }), isOver: isOver({ state }) }).toEqual({
      standing,
      isOver: end === 'final',
    });
  });

  it('can be cancelled only before the request that cannot be taken back', () => {
    expect(isOpen({ state, refusalAlone: false })).toBe(standing === 'open');
  });

  it('frees its reference only if it certainly had no effect', () => {
    expect(isPlainlyFailed({ state, refusalAlone: false })).toBe(standing === 'refused');
  });

  it('has something to resume, or was created and has never reached the bank', () => {
    expect(isUntouched({ state, reached: false })).toBe(state === 'created');
    expect(isUntouched({ state, reached: true })).toBe(false);
  });
});
