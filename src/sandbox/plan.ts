/**
 * Outcomes that an order asks for by the name of its beneficiary, as test cards do by their number
 * (`docs/sandbox.md`, "Magic values").
 */
export interface Plan {
  /** How SCA ends, whatever the customer answers. `PENDING` never ends. */
  sca?: 'NOT_AUTHORIZED' | 'EXPIRED' | 'PENDING';
  /** `warning`: the answer has one. `verify2`: the flow has that step before SCA. */
  verify?: 'warning' | 'verify2';
  execute?: 'refused';
  /** How an instant transfer ends: with `KO`, or after more than the 15 seconds in which it is asked for. */
  settlement?: 'KO' | 'late';
  fault?: CallFault;
}

/** What goes wrong with an answer, apart from its content. */
export type FaultKind = '420' | '500' | '403' | 'EMPTY' | 'LOST';

/** The calls of a flow that can be made to go wrong. */
export type FaultyCall = 'VERIFY' | 'APPROACH' | 'STATUS' | 'EXECUTE' | 'EXECUTION STATUS';

export interface CallFault {
  call: FaultyCall;
  kind: FaultKind;
  /** Only the first such call of the flow goes wrong. */
  once: boolean;
}

const outcomes: ReadonlyMap<string, Plan> = new Map([
  ['SCA REFUSED', { sca: 'NOT_AUTHORIZED' }],
  ['SCA EXPIRED', { sca: 'EXPIRED' }],
  ['SCA PENDING', { sca: 'PENDING' }],
  ['VERIFY WARNING', { verify: 'warning' }],
  ['VERIFY SECOND STEP', { verify: 'verify2' }],
  ['EXECUTE REFUSED', { execute: 'refused' }],
  ['INSTANT KO', { settlement: 'KO' }],
  ['INSTANT PENDING', { settlement: 'late' }],
]);

const calls: readonly FaultyCall[] = ['VERIFY', 'APPROACH', 'STATUS', 'EXECUTE', 'EXECUTION STATUS'];
const kinds: readonly FaultKind[] = ['420', '500', '403', 'EMPTY', 'LOST'];

const faults: ReadonlyMap<string, Plan> = new Map(
  calls.flatMap((call) =>
    kinds.flatMap((kind) => [
      [`${call} ${kind}`, { fault: { call, kind, once: false } }],
      [`${call} ${kind} ONCE`, { fault: { call, kind, once: true } }],
    ]),
  ),
);

/** What the name of a beneficiary plans; nothing for any name that is not magic. Case and blanks don't matter. */
export function planOf(beneficiaryName: string): Plan {
  const name = beneficiaryName.trim().replace(/ +/g, ' ').toUpperCase();
  return outcomes.get(name) ?? faults.get(name) ?? {};
}

/** The magic names that plan an outcome of the flow, for what is written about them. */
export const plannedOutcomes: readonly string[] = [...outcomes.keys()];
