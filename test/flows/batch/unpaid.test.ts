import { expect, it } from 'vitest';
import type { PersonsAuthorisation } from '../../../src/domain/authorisations.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { KnownLine, LineOutcome } from '../../../src/flows/batch/known-lines.ts';
import { isAnyStuck, refuseUnpaid, waitsForOthers } from '../../../src/flows/batch/pay-lines.ts';
import type { Flows, GenericOperation } from '../../../src/store/ports/flows.ts';
import { begunTransfer } from '../../domain/orders.ts';
import { INITIATION } from '../stored-transfers.ts';
import { groupOf } from './groups.ts';

// How the run of a batch ends of which not all is paid: the worst of its payments counts, and what to do about it.

interface End {
  outcome: LineOutcome;
  transfer?: Transfer;
  /** psd2 has refused it before it had a transfer. */
  isOwn?: true;
}

const linesOf = (ends: readonly End[]): KnownLine[] =>
  ends.map(({ outcome, transfer, isOwn = false }) =>
    Object.assign(Object.create({}), {
      ...{ outcome, transfer },
      row: { state: isOwn ? 'failed' : 'cancelled', flow: transfer?.flow ?? null },
    }),
  );
const end = (outcome: LineOutcome): End => ({ outcome });
const having = (outcome: LineOutcome, changes: Partial<Transfer>): End => ({
  outcome,
  transfer: begunTransfer({ commits: 'by the customer', ...changes }),
});

const [PAID, ACCEPTED, ORDERED, UNKNOWN] = [end('paid'), end('accepted'), end('ordered'), end('unknown')];
const [WAITING, REFUSED, KEPT] = [end('unfinished'), end('refused'), end('kept')];
const OWN: End = { outcome: 'not paid', isOwn: true };
const CANCELLED = end('not paid');
const FAILED = having('not paid', { state: 'failed' });
/** The bank refuses its signing basket. */
const LACKING = having('awaited', { state: 'verified' });
const LACKING_UNSAID = having('unknown', { state: 'verified', mayExecuteWithoutUs: true });
const IN_BASKET = having('unknown', { state: 'verified', bulk: 'op-1' });
const HERE = having('awaited', { state: 'authorizing', commits: 'on execute' });
const AT_BANK = having('awaited', { state: 'authorizing' });
const ELSEWHERE = having('awaited', { state: 'authorizing', mayExecuteWithoutUs: true });

type How = Omit<Parameters<typeof refuseUnpaid>[2], 'isBasket' | 'isStuck' | 'alike'>;
interface Run extends How {
  isBasket?: boolean;
  isStuck?: boolean;
  alike?: string;
}

/** How the run ends, in lines. */
function ended(ends: readonly End[], { isBasket = false, isStuck = false, alike, ...how }: Run = {}) {
  const error = failureOf(() =>
    refuseUnpaid('b1', linesOf(ends), { isBasket, isStuck, alike: alike ?? null, ...how }),
  );
  if (!error) return ['all are paid'];
  const { code, message, hint, next = [] } = error;
  return [`${code}: ${message}`, hint, ...next.map((words) => `$ ${words.join(' ')}`)];
}

/** What a run throws. */
function failureOf(work: () => void): Psd2Error | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof Psd2Error) return error;
    throw error;
  }
}

it('a payment whose outcome nobody knows counts more than all others', () => {
  expect([
    ended([PAID, ACCEPTED, ORDERED]),
    ended([UNKNOWN, WAITING, REFUSED, OWN, LACKING, ELSEWHERE]),
    ended([PAID, UNKNOWN, UNKNOWN], { isStuck: true }),
    ended([UNKNOWN, PAID], { alike: 'HTTP 401' }),
    ended([UNKNOWN, WAITING, OWN], { alike: 'HTTP 401', isStuck: true }),
    ended([UNKNOWN, WAITING, WAITING], { alike: 'no answer' }),
  ]).toMatchInlineSnapshot(`
    [["all are paid"],
     ["outcome_unknown: The outcome of 1 of 6 payments is not known",
      "Do not make them again. psd2 asks the bank with run. If their outcome stays unknown, look at the account statement, and record with resolve that they were not executed:",
      "$ batch run b1", "$ batch resolve b1 --not-executed"],
     ["outcome_unknown: The outcome of 2 of 3 payments is not known",
      "Do not make them again. The bank may have their signing basket, and nobody has its link. Ask the bank again, have each payment authorised alone, or cancel them at the bank, with:",
      "$ batch run b1", "$ batch run b1 --as single", "$ batch cancel b1"],
     ["outcome_unknown: The outcome of 1 of 2 payments is not known. psd2 has stopped, because three initiations in a row ended in the same way: HTTP 401",
      "Find out first what is wrong. Do not make the unknown ones again. Look at the account statement, and record with resolve that they were not executed:",
      "$ batch run b1", "$ batch resolve b1 --not-executed"],
     ["outcome_unknown: The outcome of 1 of 3 payments is not known. psd2 has stopped, because three initiations in a row ended in the same way: HTTP 401",
      "Find out first what is wrong. psd2 has sent nothing of the other 1, and goes on with them with run. Do not make the unknown ones again. Look at the account statement, and record with resolve that they were not executed:",
      "$ batch run b1", "$ batch resolve b1 --not-executed"],
     ["outcome_unknown: The outcome of 1 of 3 payments is not known. psd2 has stopped, because three initiations in a row ended in the same way: no answer",
      "Find out first what is wrong. psd2 has sent nothing of the other 2, and goes on with them with run. Do not make the unknown ones again. Look at the account statement, and record with resolve that they were not executed:",
      "$ batch run b1", "$ batch resolve b1 --not-executed"]]
  `);
});

it('of what is not made, it says why, and what can be done', () => {
  expect([
    ended([WAITING, PAID]),
    ended([WAITING, WAITING, OWN, REFUSED, KEPT]),
    ended([OWN, PAID]),
    ended([OWN, OWN]),
    ended([OWN, CANCELLED]),
    ended([CANCELLED]),
    ended([FAILED, PAID]),
    ended([REFUSED, PAID]),
    ended([REFUSED, OWN]),
    ended([KEPT]),
    ended([KEPT, KEPT, FAILED]),
    ended([KEPT, OWN]),
    ended([REFUSED, KEPT]),
    ended([REFUSED, REFUSED, KEPT, CANCELLED, ELSEWHERE]),
    ended([OWN, LACKING], { isBasket: true }),
  ]).toMatchInlineSnapshot(`
    [["payment_failed: 1 of 2 payments was not made", "Go on with:", "$ batch run b1"],
     ["payment_failed: 5 of 5 payments were not made", "Go on with:", "$ batch run b1"],
     ["payment_failed: 1 of 2 payments was not made",
      "psd2 refused them and sent nothing: their reasons say what to correct. See them with:",
      "$ batch report b1"],
     ["payment_failed: 2 of 2 payments were not made",
      "psd2 refused them and sent nothing: their reasons say what to correct. See them with:",
      "$ batch report b1"],
     ["payment_failed: 2 of 2 payments were not made",
      "Make a new batch of those that are known not to be paid with:", "$ batch retry b1"],
     ["payment_failed: 1 of 1 payments was not made",
      "Make a new batch of those that are known not to be paid with:", "$ batch retry b1"],
     ["payment_failed: 1 of 2 payments was not made",
      "Make a new batch of those that are known not to be paid with:", "$ batch retry b1"],
     ["payment_failed: 1 of 2 payments was not made",
      "The bank refused 1 without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve. psd2 asks the bank again with:",
      "$ batch run b1"],
     ["payment_failed: 2 of 2 payments were not made",
      "The bank refused 1 without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve. Make a new batch of those that are known not to be paid with:",
      "$ batch retry b1"],
     ["payment_failed: 1 of 1 payments was not made",
      "The bank has cancelled 1 whose customer has a link that may work. Each reference stays reserved until its time is over. psd2 asks the bank again with:",
      "$ batch status b1"],
     ["payment_failed: 3 of 3 payments were not made",
      "The bank has cancelled 2 whose customer has a link that may work. Each reference stays reserved until its time is over. Make a new batch of those that are known not to be paid with:",
      "$ batch retry b1"],
     ["payment_failed: 2 of 2 payments were not made",
      "The bank has cancelled 1 whose customer has a link that may work. Each reference stays reserved until its time is over. Make a new batch of those that are known not to be paid with:",
      "$ batch retry b1"],
     ["payment_failed: 2 of 2 payments were not made",
      "The bank refused 1 without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve. The bank has cancelled 1 whose customer has a link that may work. Each reference stays reserved until its time is over. psd2 asks the bank again with:",
      "$ batch run b1"],
     ["payment_failed: 4 of 5 payments were not made",
      "The bank refused 2 without confirming that no money moved. Each reference stays reserved until you run psd2 transfer resolve. The bank has cancelled 1 whose customer has a link that may work. Each reference stays reserved until its time is over. Make a new batch of those that are known not to be paid with:",
      "$ batch retry b1"],
     ["payment_failed: 1 of 2 payments was not made",
      "psd2 refused them and sent nothing: their reasons say what to correct. See them with:",
      "$ batch report b1"]]
  `);
});

it('of what waits for somebody, it says whether they can authorise it without psd2, and how the bank is asked', () => {
  expect([
    ended([HERE, PAID]),
    ended([HERE, HERE]),
    ended([AT_BANK]),
    ended([AT_BANK, AT_BANK]),
    ended([HERE, AT_BANK, ELSEWHERE]),
    ended([ELSEWHERE]),
    ended([ELSEWHERE, PAID], { isForOthers: true }),
    ended([HERE], { isForOthers: true }),
  ]).toMatchInlineSnapshot(`
    [["not_authorised: 1 of 2 payments awaits its customer",
      "psd2 asks the bank for their decisions with:", "$ batch run b1"],
     ["not_authorised: 2 of 2 payments await their customer",
      "psd2 asks the bank for their decisions with:", "$ batch run b1"],
     ["still_open: 1 of 1 payments awaits its customer. The payment is not over",
      "Ask the bank for their decisions, or cancel what is not paid:", "$ batch run b1",
      "$ batch cancel b1"],
     ["still_open: 2 of 2 payments await their customer. These payments are not over",
      "Ask the bank for their decisions, or cancel what is not paid:", "$ batch run b1",
      "$ batch cancel b1"],
     ["still_open: 3 of 3 payments await their customer. These payments are not over: somebody can still authorise them",
      "Ask the bank for their decisions, or cancel what is not paid:", "$ batch run b1",
      "$ batch cancel b1"],
     ["still_open: 1 of 1 payments awaits its customer. The payment is not over: somebody can still authorise it",
      "Ask the bank for their decisions, or cancel what is not paid:", "$ batch run b1",
      "$ batch cancel b1"],
     ["still_open: 1 of 2 payments awaits its customer. The payment is not over: somebody can still authorise it",
      "Ask the bank for their decisions, or cancel what is not paid:", "$ batch run b1",
      "$ batch run b1 --psu-id ID", "$ batch cancel b1"],
     ["not_authorised: 1 of 1 payments awaits its customer",
      "psd2 asks the bank for their decisions with:", "$ batch run b1"]]
  `);
});

it('of a signing basket that the bank refuses, its payments wait alone, and the others count as ever', () => {
  expect([
    ended([LACKING, PAID], { isBasket: true }),
    ended([LACKING, LACKING_UNSAID, ELSEWHERE], { isBasket: true }),
    ended([LACKING_UNSAID, IN_BASKET], { isBasket: true }),
    ended([LACKING_UNSAID, PAID]),
    ended([LACKING, PAID]),
  ]).toMatchInlineSnapshot(`
    [["still_open: The customer could not be asked for 1 of 2 payments. The payment is not over",
      "The bank has the payments, but not the signing basket. Have each payment authorised alone, or cancel them:",
      "$ batch run b1 --as single", "$ batch cancel b1"],
     ["still_open: The customer could not be asked for 2 of 3 payments. These payments are not over",
      "The bank has the payments, but not the signing basket. Have each payment authorised alone, or cancel them:",
      "$ batch run b1 --as single", "$ batch cancel b1"],
     ["outcome_unknown: The outcome of 1 of 2 payments is not known",
      "Do not make them again. psd2 asks the bank with run. If their outcome stays unknown, look at the account statement, and record with resolve that they were not executed:",
      "$ batch run b1", "$ batch resolve b1 --not-executed"],
     ["outcome_unknown: The outcome of 1 of 2 payments is not known",
      "Do not make them again. psd2 asks the bank with run. If their outcome stays unknown, look at the account statement, and record with resolve that they were not executed:",
      "$ batch run b1", "$ batch resolve b1 --not-executed"],
     ["still_open: 1 of 2 payments awaits its customer. The payment is not over",
      "Ask the bank for their decisions, or cancel what is not paid:", "$ batch run b1",
      "$ batch cancel b1"]]
  `);
});

const person = (scaStatus: string | null): PersonsAuthorisation => ({
  ...{ id: 'a1', psuId: null, scaStatus, at: '2026-11-24T10:00:00Z' },
});
const finder = (groups: Record<string, Partial<GenericOperation>>) => {
  const asked: string[] = [];
  const flows: Flows = Object.create({
    find: async (_: string, flow: string) => {
      asked.push(flow);
      const group = groups[flow];
      if (!group) throw new Psd2Error('config', 'It is damaged');
      return groupOf('signing-baskets', group);
    },
  });
  return { flows, asked };
};

const [DONE, BEGUN] = [[person('finalised')], [person('started')]];
const alone = (authorisations: PersonsAuthorisation[]) => having('awaited', { authorisations });
const inGroup = (bulk: string, outcome: LineOutcome = 'awaited') => having(outcome, { bulk });
it.each<[string, End[], boolean, string[]]>([
  ['that nobody has authorised', [alone([]), alone(BEGUN)], false, []],
  ['that somebody has authorised', [alone(BEGUN), alone([person('exempted')])], true, []],
  ['that several have, one of them to its end', [alone([...BEGUN, ...DONE])], true, []],
  ['that is over', [having('paid', { authorisations: DONE }), end('awaited')], false, []],
  ['in a basket that somebody has authorised', [inGroup('op-1'), inGroup('op-2')], true, ['op-1', 'op-2']],
  ['in one that nobody has', [inGroup('op-1'), inGroup('op-1')], false, ['op-1']],
  ['beside one in a basket', [inGroup('op-1'), alone([]), alone(DONE)], true, ['op-1']],
  ['that is over in a basket', [inGroup('op-2', 'paid')], false, []],
])('payments %s wait for another person: %#', async (_, ends, expected, asks) => {
  const { flows, asked } = finder({ 'op-1': { authorisations: BEGUN }, 'op-2': { authorisations: DONE } });
  expect([await waitsForOthers(flows, linesOf(ends)), asked]).toEqual([expected, asks]);
});

const UNSEEN = { ...INITIATION, executesWithoutSca: 'possible' } as const;
const inBasket = (bulk: string | null, outcome: LineOutcome = 'unknown') =>
  having(outcome, { bulk, initiation: INITIATION });
it.each<[string, End[], boolean]>([
  ['whose basket may be executed by itself', [inBasket('op-1')], true],
  ['after one whose basket may not', [inBasket('op-2'), inBasket('op-1')], true],
  ['whose basket is not executed without its customer', [inBasket('op-2')], false],
  ['whose basket has a link', [inBasket('op-3')], false],
  ['whose basket cannot be read', [inBasket('op-4'), inBasket(null)], false],
  ['of a bulk payment', [having('unknown', { bulk: 'op-1', initiation: null })], false],
  ['that is awaited', [inBasket('op-1', 'awaited')], false],
  ['without a transfer', [UNKNOWN], false],
])('a payment %s needs a person to give its basket up: %s', async (_, ends, expected) => {
  const own = { commits: 'by the customer', mayExecuteWithoutUs: true, initiation: UNSEEN } as const;
  const { flows } = finder({
    'op-1': { ...own, state: 'created' },
    'op-2': { ...own, state: 'created', initiation: INITIATION },
    'op-3': { ...own, state: 'authorizing' },
  });
  expect(await isAnyStuck(flows, linesOf(ends))).toBe(expected);
});
