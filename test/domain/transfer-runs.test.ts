import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OperationStep } from '../../src/domain/next-step.ts';
import { applyTransferEvent, type Transfer, type TransferEvent } from '../../src/domain/transfer.ts';
import { nextTransferStep, transferOrder, VERIFIED } from './orders.ts';

const intent = { requestId: 'request-1', digest: null };
const VERIFY: TransferEvent = { type: 'verify-sent', ...intent };
const FURTHER: TransferEvent = { type: 'further-verify-sent', ...intent };
const EXECUTE: TransferEvent = { type: 'execute-sent', ...intent };
const executed = { type: 'executed', cro: '1' } as const;
const settlement = (status: 'OK' | 'KO' | 'PENDING') =>
  ({ type: 'settlement', status, description: null }) as const;
const resolved = (outcome: 'executed' | 'not-executed') =>
  ({ type: 'resolved', outcome, by: 'ada@pisp-1', note: null }) as const;
const authorization = (status: 'AUTHORIZED' | 'NOT_AUTHORIZED' | 'EXPIRED' | 'PENDING') =>
  ({ type: 'authorization', status, bankStatus: status }) as const;

/** All the ways in which a run can do a step, with the events that it writes. A run can be killed after each event. */
const WAYS: Record<OperationStep, TransferEvent[][]> = {
  verify: [
    [VERIFY, VERIFIED],
    [VERIFY, { ...VERIFIED, nextStep: 'verify2' }],
    [VERIFY, { type: 'verify-refused' }],
  ],
  accept: [[{ type: 'accepted' }], [{ type: 'accepted' }], [{ type: 'cancelled' }]],
  // Only at a bank where the customer commits: `lost-initiation.test.ts` and its neighbours.
  'accept-fees': [[{ type: 'fees-accepted' }]],
  authorize: [[{ type: 'approach-sent', ...intent }, { type: 'sca-started' }, { type: 'sca-returned' }]],
  'await-authorization': [
    [authorization('AUTHORIZED')],
    [authorization('AUTHORIZED')],
    [authorization('NOT_AUTHORIZED')],
    [authorization('EXPIRED')],
    [authorization('PENDING')],
    [{ type: 'sca-again' }],
  ],
  execute: [
    [EXECUTE, executed],
    [EXECUTE, { type: 'execute-unanswered' }],
    [EXECUTE, { type: 'execute-refused', description: 'no' }],
    [EXECUTE, { type: 'execute-not-begun' }],
    // A resumed run first asks the bank.
    [authorization('AUTHORIZED')],
    [authorization('PENDING')],
    [authorization('EXPIRED')],
    [executed],
    [{ type: 'execute-refused', description: 'KO' }],
    // After a 401 the run executes again with a new token.
    [EXECUTE, { type: 'execute-not-begun' }, EXECUTE, executed],
  ],
  'verify-further': [
    [FURTHER, { ...VERIFIED, type: 'further-verified' }],
    [FURTHER, { ...VERIFIED, type: 'further-verified', nextStep: 'verify3' }],
    [FURTHER, { type: 'verify-refused' }],
    [{ type: 'further-data', data: ['{}'] }],
    // The run resumes after a further step without an answer.
    [{ type: 'verify-again' }],
  ],
  'ask-outcome': [
    [{ type: 'execute-unanswered' }],
    [executed],
    [executed, settlement('OK')],
    [executed, settlement('KO')],
    [executed, settlement('PENDING')],
    [{ type: 'execute-refused', description: 'KO' }],
    [authorization('NOT_AUTHORIZED')],
    [resolved('executed')],
    [resolved('not-executed')],
    // The bank says that the transfer was executed, but not whether it settled.
    [executed, resolved('executed')],
  ],
  'await-settlement': [
    [settlement('OK')],
    [settlement('KO')],
    [settlement('PENDING')],
    [resolved('executed')],
    [resolved('not-executed')],
  ],
  done: [],
};

const choices = fc.array(fc.record({ way: fc.nat(), killedAfter: fc.nat({ max: 6 }) }), {
  maxLength: 40,
  size: 'max',
});

/** Returns the events of runs that make these choices. Each run resumes where the one before was killed. */
function eventsOf(made: { way: number; killedAfter: number }[], instant: boolean): TransferEvent[] {
  const order = transferOrder({ instant });
  const events: TransferEvent[] = [
    { type: 'created', flow: 'tr-1', transactionId: 't1', commits: 'on execute', order },
  ];
  for (const { way, killedAfter } of made) {
    // Only an instant transfer has a settlement.
    const ways = WAYS[nextTransferStep(foldOf(events))].filter(
      (way) => instant || !way.some(({ type }) => type === 'settlement'),
    );
    if (ways.length === 0) break;
    events.push(...(ways[way % ways.length] ?? []).slice(0, killedAfter + 1));
  }
  return events;
}

function foldOf(events: TransferEvent[]): Transfer {
  const transfer = events.reduce<Transfer | undefined>(
    (folded, event) => applyTransferEvent(folded, event, '2026-11-21T10:00:00.000Z'),
    undefined,
  );
  if (!transfer) throw new TypeError('There is no event');
  return transfer;
}

it('a transfer never pays twice or without confirmation and SCA, however often it is killed and resumed', () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(choices, fc.boolean(), (made, instant) => {
      const events = eventsOf(made, instant);
      let mayHaveLeft = false;
      let ended: string | undefined;
      events.forEach((event, index) => {
        if (event.type === 'execute-sent') mayHaveLeft = true;
        if (event.type === 'execute-not-begun') mayHaveLeft = false;
        const transfer = foldOf(events.slice(0, index + 1));
        const step = nextTransferStep(transfer);
        reached.add(transfer.state);

        if (step === 'execute') {
          expect(mayHaveLeft).toBe(false);
          expect(transfer).toMatchObject({ accepted: true, authorizationStatus: 'AUTHORIZED' });
          expect(transfer.verification?.nextStep).toBe('execute');
          expect(ended).toBeUndefined();
        }
        if (ended !== undefined) expect(transfer.state).toBe(ended);
        if (step === 'done') ended = transfer.state;
        if (event.type === 'resolved') expect(step).toBe('done');
      });
    }),
    { numRuns: 2000 },
  );
  expect([...reached].sort()).toEqual(
    ['authorized', 'authorizing', 'cancelled', 'created', 'executed', 'executing', 'expired', 'failed']
      .concat(['rejected', 'settled', 'unknown', 'verified'])
      .sort(),
  );
});

it('late events do not cause the execution of a transfer that has ended', () => {
  const late: TransferEvent[] = [
    VERIFY,
    FURTHER,
    { type: 'approach-sent', ...intent },
    { type: 'sca-returned' },
    { type: 'accepted' },
  ];
  fc.assert(
    fc.property(choices, fc.shuffledSubarray(late), (made, after) => {
      const events = eventsOf(made, true);
      fc.pre(nextTransferStep(foldOf(events)) === 'done');
      expect(nextTransferStep(foldOf([...events, ...after]))).toBe('done');
    }),
  );
});
