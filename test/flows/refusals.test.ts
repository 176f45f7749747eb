import { describe, expect, it } from 'vitest';
import type { FlowState } from '../../src/domain/flow-states.ts';
import { type ErrorCode, type ErrorContext, Psd2Error } from '../../src/errors.ts';
import { endIfUntouched } from '../../src/flows/once.ts';
import {
  isAboutContent,
  isBanksRefusal,
  isInterruption,
  isOvertaken,
  isRefusal,
  isTrouble,
  isTurningAway,
  NobodyKnows,
  outcomeUnknown,
  unconfirmedRefusal,
  withWayOut,
} from '../../src/flows/refusals.ts';

// What an error says about a call that may have moved money: whether it had no effect, and who says so.

const error = (context: ErrorContext) => new Psd2Error('bank_refused', 'The bank refused it', context);

describe('an error of a call', () => {
  type Says = [isRefusal: boolean, isBanks: boolean, isTurningAway: boolean, isAboutContent: boolean];
  it.each<[string, ErrorContext, ...Says]>([
    ['the bank refused the content', { refusal: 'content', isBanks: true }, true, true, false, true],
    ['somebody refused the content', { refusal: 'content' }, true, false, false, true],
    ['the bank refused it for another reason', { refusal: 'other', isBanks: true }, true, true, false, false],
    ['somebody refused it for another reason', { refusal: 'other' }, true, false, false, false],
    ['the bank turned it away', { refusal: 'unread', isBanks: true }, false, false, true, false],
    ['somebody turned it away', { refusal: 'unread' }, false, false, false, false],
    ['the bank failed', { isBanks: true }, false, false, false, false],
    ['nobody knows', {}, false, false, false, false],
  ])('%s', (_, context, ...says) => {
    const failed = error(context);
    expect([isRefusal, isBanksRefusal, isTurningAway, isAboutContent].map((is) => is(failed))).toEqual(says);
  });

  it.each([
    new TypeError('A fault'),
    { refusal: 'content', isBanks: true },
    { refusal: 'unread', isBanks: true },
    { code: 'overtaken' },
    undefined,
  ])('%o is no refusal, and nobody has taken over the flow', (other) => {
    expect([isRefusal, isBanksRefusal, isTurningAway, isOvertaken].map((is) => is(other))).toEqual([
      ...[false, false, false, false],
    ]);
  });

  it('another psd2 has taken over the flow, and nothing else has happened to it', () => {
    const overtaken = new Psd2Error('overtaken', 'Another psd2 works on it');
    expect([isOvertaken(overtaken), isOvertaken(error({})), isRefusal(overtaken)]).toEqual([
      ...[true, false, false],
    ]);
  });

  it('Ctrl-C, and a fault that nobody expected, say nothing about the bank', () => {
    const errors = [
      new Psd2Error('interrupted', 'Ctrl-C'),
      new Error('no turn any more'),
      'a text',
      new Psd2Error('bank_unreachable', 'Nobody listens'),
      error({ refusal: 'content' }),
    ];
    expect(errors.map(isInterruption)).toEqual([true, true, true, false, false]);
  });
});

it.each<[Error, boolean]>([
  [new Psd2Error('bank_unreachable', 'Nobody listens'), true],
  [new Psd2Error('bank_failing', 'It is away'), true],
  [new Psd2Error('bank_answer', 'No JSON'), true],
  [new Psd2Error('too_many_calls', 'Slower'), true],
  [error({ refusal: 'other' }), true],
  [error({ refusal: 'other', isBanks: true }), false],
  [error({ refusal: 'unread' }), false],
  [new Psd2Error('overtaken', 'Another psd2 works on it'), false],
  [new TypeError('A fault'), false],
])('a question after %o may have an answer a moment later: %s', (failed, may) => {
  expect(isTrouble(failed)).toBe(may);
});

describe('an outcome that nobody knows', () => {
  const told = (kind: string) => ({ kind, flow: 'x-1', transactionId: 't1' });
  const ACCOUNTS = /^First ask the bank again\. Also check whether you can read the accounts\./;
  it.each([
    [
      'transfer',
      /^First ask the bank again, which never pays twice\./,
      /^The bank may have received .* twice/,
    ],
    ['consent', ACCOUNTS, ACCOUNTS],
  ])('of a %s says how to find it out', (kind, hint, afterRefusal) => {
    expect(outcomeUnknown(told(kind), 'No answer').hint).toMatch(hint);
    expect(unconfirmedRefusal(told(kind), error({})).hint).toMatch(afterRefusal);
  });

  it('of a step gets the way out from the loop, after what the step says itself', () => {
    const step = new NobodyKnows('No answer', undefined, { hint: 'Look.', next: [['auth', 'login']] });
    expect(withWayOut(told('transfer'), step)).toMatchObject({
      ...{ code: 'outcome_unknown', flow: 'x-1', transactionId: 't1' },
      hint: expect.stringMatching(/^Look\. First ask the bank again/),
      next: [
        ['auth', 'login'],
        ['transfer', 'resume', 'x-1'],
        ['transfer', 'resolve', 'x-1', '--executed'],
        ['transfer', 'resolve', 'x-1', '--not-executed'],
      ],
    });
    const other = error({});
    expect(withWayOut(told('transfer'), other)).toBe(other);
  });

  it('has what the bank said of it, and no more', () => {
    const ids = { httpStatus: 503, bankCode: 'X', requestId: 'r', tppRequestId: 'q' };
    for (const said of [ids, {}] as const) {
      const cause = error(said);
      const {
        hint: _,
        next: __,
        flow: ___,
        ...context
      } = outcomeUnknown(told('transfer'), 'No', cause).context;
      expect(context).toStrictEqual({ ...said, transactionId: 't1', cause });
    }
  });
});

/** A flow, and the types of what is recorded of it. */
function openFlow(reached: boolean, state: FlowState = 'created') {
  const recorded: string[] = [];
  const current = { state, reached };
  const record = async ({ type }: { type: string }) => {
    recorded.push(type);
    return current;
  };
  return { current, record, recorded, assertOurs: async () => {}, reread: async () => current };
}

const refused = new Psd2Error('bank_refused', 'It failed');

it.each<[ErrorCode, string[]]>([
  ['bank_refused', ['cancelled']],
  ['bank_unreachable', ['cancelled']],
  ['interrupted', []],
  ['overtaken', []],
  ['too_many_calls', []],
  ['config', []],
])(
  'a flow that has not reached the bank can be resumed after some errors: %s writes %j',
  async (code, events) => {
    const open = openFlow(false);
    await endIfUntouched(open, new Psd2Error(code, 'It failed'));
    expect(open.recorded).toEqual(events);
  },
);

it.each<FlowState>(['created', 'requested'])(
  'a flow that the bank may know (%s) is not ended by an error',
  async (state) => {
    const open = openFlow(true, state);
    await endIfUntouched(open, refused);
    expect(open.recorded).toEqual([]);
  },
);

it('an error that is no error of psd2 ends no flow, so it can be resumed', async () => {
  const open = openFlow(false);
  await endIfUntouched(open, new TypeError('A fault'));
  expect(open.recorded).toEqual([]);
});

it('a flow that cannot be ended hides no error of the command, except a fault', async () => {
  const failing = (problem: Error) => ({ ...openFlow(false), record: () => Promise.reject(problem) });
  await expect(endIfUntouched(failing(new Psd2Error('config', 'The disk is full')), refused)).resolves.toBe(
    undefined,
  );
  await expect(endIfUntouched(failing(new TypeError('A fault')), refused)).rejects.toThrow(TypeError);
});
