import { expect, it } from 'vitest';
import { endIfUntouched } from '../../../src/commands/flow/drive.ts';
import type { FlowState } from '../../../src/domain/flow-states.ts';
import { type ErrorCode, Psd2Error } from '../../../src/errors.ts';

/** The events that are written when a command ends with an error. */
async function endedBy(code: ErrorCode, current: { state: FlowState; reached: boolean }): Promise<string[]> {
  const events: string[] = [];
  const open = {
    current,
    record: async ({ type }: { type: string }) => {
      events.push(type);
      return current;
    },
    assertOurs: async () => {},
    reread: async () => current,
  };
  await endIfUntouched(open, new Psd2Error(code, 'It failed'));
  return events;
}

it.each<[ErrorCode, string[]]>([
  ['bank_refused', ['cancelled']],
  ['bank_unreachable', ['cancelled']],
  ['interrupted', []],
  ['overtaken', []],
  ['too_many_calls', []],
  ['config', []],
])(
  'a flow of which nothing reached the bank can continue after some errors: %s writes %j',
  async (code, events) => {
    expect(await endedBy(code, { state: 'created', reached: false })).toEqual(events);
  },
);

it('a flow that the bank may know is not ended by an error', async () => {
  expect(await endedBy('bank_refused', { state: 'created', reached: true })).toEqual([]);
  expect(await endedBy('bank_refused', { state: 'requested', reached: true })).toEqual([]);
});
