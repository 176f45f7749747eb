import { expect, it } from 'vitest';
import { type BankCall, openExchange, type Said, type Wire } from '../../src/bank/call/call.ts';
import type { Observation, Verdict } from '../../src/bank/ports/call.ts';
import type { WireAnswer, WireRequest } from '../../src/bank/transport/line.ts';

const ANSWER: WireAnswer = { status: 400, headers: {}, body: Buffer.of() };
const INITIATION: BankCall = {
  method: 'POST',
  path: '/v1/payments',
  facts: { reads: null, needsConsent: false, login: false },
  transactionId: 't1',
  irrevocable: true,
  judged: 'payment',
};

/** What the log of calls gets of an initiation whose answer has this verdict. */
async function logged(call: BankCall, says: Verdict['says']): Promise<Observation['verdict'][]> {
  const seen: Observation['verdict'][] = [];
  const request: WireRequest = { method: 'POST', target: call.path, headers: {}, body: undefined };
  const verdict: Verdict = says === 'began' ? { says } : { says, why: 'so' };
  const wire: Wire = {
    compose: async () => ({ request, tppRequestId: 'q1', digest: null, signingString: '' }),
    check: () => {},
    understand: async (): Promise<Said> => ({
      ...{ json: null, requestId: null, asksForSca: false, turnedAway: false, verdict },
    }),
    routeOf: ({ path }) => ({ path, kind: 'pis' }),
  };
  const exchange = openExchange({
    connection: { send: async () => ANSWER, close: async () => {} },
    wire,
    session: { apiTrackId: undefined },
    timeoutMs: 1000,
    pace: { turn: async () => {}, slowDown: async () => {}, goOn: async () => {} },
    signal: new AbortController().signal,
    now: () => new Date(),
    random: () => 0,
    sleep: async () => {},
    observe: async (observation) => void seen.push(observation.verdict),
  });
  await exchange(call);
  return seen;
}

it.each<[string, Partial<BankCall>, Verdict['says'], Verdict['says']]>([
  ['a first attempt', {}, 'nothing began', 'nothing began'],
  ['one that is asked for again', { requestId: 'q1', earlier: [ANSWER] }, 'nothing began', 'nothing began'],
  ['a repetition of another run', { requestId: 'q1' }, 'nothing began', 'unknown'],
  ['a repetition of another run', { requestId: 'q1' }, 'ask again', 'unknown'],
  ['a repetition of another run', { requestId: 'q1' }, 'began', 'began'],
])('the log has of %s (%o, %s) that it is: %s', async (_, more, says, expected) => {
  expect(await logged({ ...INITIATION, ...more }, says)).toEqual([expected]);
});
