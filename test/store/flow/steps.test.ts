import { describe, expect, it } from 'vitest';
import type { EmbeddedStep } from '../../../src/domain/embedded.ts';
import type { FlowState } from '../../../src/domain/flow-states.ts';
import { type Stepping, stepsOf, withoutStep, withSteps } from '../../../src/store/flow/steps.ts';

const step = (link: string): EmbeddedStep => ({ next: 'code', link });
const OWN = { step: step('/own') };
const CANCELLING = { step: step('/cancelling') };

/** What is held in each state, if both authorisations have a step. */
const HELD: Record<FlowState, 'both' | 'that of the cancellation' | 'nothing'> = {
  ...{ created: 'both', verified: 'both', requested: 'both', authorizing: 'both', executing: 'both' },
  ...{ confirming: 'both', unknown: 'both', authorized: 'that of the cancellation' },
  ...{ executed: 'that of the cancellation', ordered: 'that of the cancellation' },
  ...{ settled: 'nothing', confirmed: 'nothing', failed: 'nothing', rejected: 'nothing' },
  ...{ expired: 'nothing', cancelled: 'nothing', revoked: 'nothing', ended: 'nothing' },
};
const STEPS = {
  both: { links: OWN.step, cancellationLinks: CANCELLING.step },
  'that of the cancellation': { cancellationLinks: CANCELLING.step },
  nothing: null,
};
const states = Object.entries(HELD).map(([state, held]) => ({ state: state as keyof typeof HELD, held }));

describe('what is held of the steps of a flow', () => {
  it.each(states)('that is $state is $held', ({ state, held }) => {
    expect(stepsOf({ state, links: OWN, cancellationLinks: CANCELLING })).toEqual(STEPS[held]);
    const own = stepsOf({ state, links: OWN, cancellationLinks: null });
    expect(own).toEqual(held === 'both' ? { links: OWN.step } : null);
    const cancelling = stepsOf({ state, links: null, cancellationLinks: CANCELLING });
    expect(cancelling).toEqual(held === 'nothing' ? null : STEPS['that of the cancellation']);
    expect(stepsOf({ state, links: {}, cancellationLinks: {} })).toBeNull();
  });

  it.each([
    ['both', { links: step('/1'), cancellationLinks: step('/2') }, '/1', '/2'],
    ['the own one', { links: step('/1') }, '/1', undefined],
    ['that of the cancellation', { cancellationLinks: step('/2') }, undefined, '/2'],
    [
      'a later one, which the journal does not know',
      { links: { ...step('/1'), next: 'password' as const } },
      undefined,
      undefined,
    ],
  ])('a flow gets back %s, each for its own authorisation', (_, held, own, cancelling) => {
    const journal = { step: { next: 'code' as const } };
    const flow: Stepping = { state: 'authorizing', links: journal, cancellationLinks: journal };
    const { links, cancellationLinks } = withSteps(flow, held);
    expect([links?.step?.link, cancellationLinks?.step?.link]).toEqual([own, cancelling]);
  });

  it('an event keeps of a step only what is next, and an event without one stays as it is', () => {
    expect(withoutStep({ type: 'x', links: { id: 'a1', step: OWN.step } })).toEqual({
      ...{ type: 'x', links: { id: 'a1', step: { next: 'code' } } },
    });
    for (const event of [{ type: 'x' }, { type: 'x', links: null }, { type: 'x', links: { id: 'a1' } }])
      expect(withoutStep(event)).toBe(event);
  });
});
