import { type BankCall, type Caller, type Notice, openCaller } from '../../../src/bank/call/call.ts';

/** What the bank does with a call: it answers with this status, or the call throws. */
export type Outcome = number | Error;

/** Calls to a bank in the memory of the test. Each call has the next outcome; without one, the bank answers with 200. */
export function callsTo(outcomes: Outcome[] = []): { made: BankCall[]; caller: Caller } {
  const made: BankCall[] = [];
  const caller = openCaller(
    async (call) => {
      made.push(call);
      const outcome = outcomes.shift() ?? 200;
      if (typeof outcome !== 'number') throw outcome;
      const said = { json: {}, requestId: null, asksForSca: false, turnedAway: false };
      const route = { path: '{other}', kind: 'other' } as const;
      return {
        status: outcome,
        headers: {},
        body: Buffer.from('{}'),
        call,
        route,
        tppRequestId: 'q',
        reply: said,
      };
    },
    () => {},
  );
  return { made, caller };
}

/** A call that reads something. */
export function reading(reads: BankCall['facts']['reads'], more: Partial<BankCall> = {}): BankCall {
  const facts = { reads, needsConsent: true, login: false };
  return { method: 'GET', path: '/v1/accounts', transactionId: 't1', facts, ...more };
}

/** Reads nothing of an answer but its status. */
export const statusOf = ({ status }: { status: number }): { notices: Notice[]; status: number } => ({
  notices: [],
  status,
});
