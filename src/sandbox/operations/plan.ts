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
  /**
   * How an instant transfer ends: with `KO`, at once, between the first and the second time that it is asked for, or after
   * more than the 15 seconds in which it is asked for.
   */
  settlement?: 'KO' | 'at once' | 'slow' | 'late';
  fault?: CallFault;
}

/** `204`, `EMPTY` and `LOST` do what was asked, and answer without saying so; the others do nothing. */
export const magicFaultKinds = ['204', '401', '403', '420', '500', 'EMPTY', 'LOST'] as const;

/** What goes wrong with an answer, apart from its content. */
export type MagicFault = (typeof magicFaultKinds)[number];

/** The calls of a flow that can be made to go wrong. */
export const faultyCalls = ['VERIFY', 'APPROACH', 'STATUS', 'EXECUTE', 'EXECUTION STATUS'] as const;

export type FaultyCall = (typeof faultyCalls)[number];

export interface CallFault {
  call: FaultyCall;
  kind: MagicFault;
  /** Only the first such call of the flow goes wrong. */
  once: boolean;
}

const outcomes: ReadonlyMap<string, Plan> = new Map<string, Plan>([
  ['SCA REFUSED', { sca: 'NOT_AUTHORIZED' }],
  ['SCA EXPIRED', { sca: 'EXPIRED' }],
  ['SCA PENDING', { sca: 'PENDING' }],
  ['VERIFY WARNING', { verify: 'warning' }],
  ['VERIFY SECOND STEP', { verify: 'verify2' }],
  ['EXECUTE REFUSED', { execute: 'refused' }],
  ['INSTANT KO', { settlement: 'KO' }],
  ['INSTANT NOW', { settlement: 'at once' }],
  ['INSTANT SLOW', { settlement: 'slow' }],
  ['INSTANT PENDING', { settlement: 'late' }],
]);

/** What the name of a beneficiary plans; nothing for any name that is not magic. Case and blanks don't matter. */
export function planOf(beneficiaryName: string): Plan {
  const name = beneficiaryName.trim().replace(/ +/g, ' ').toUpperCase();
  const fault = faultOf(name);
  return outcomes.get(name) ?? (fault ? { fault } : {});
}

/** `<CALL> <KIND>`, and `ONCE` after it where only the first call goes wrong. */
function faultOf(name: string): CallFault | undefined {
  const once = name.endsWith(' ONCE');
  const words = once ? name.slice(0, -' ONCE'.length) : name;
  for (const call of faultyCalls) {
    const kind = magicFaultKinds.find((candidate) => words === `${call} ${candidate}`);
    if (kind) return { call, kind, once };
  }
  return undefined;
}

/** The magic names that plan an outcome of the flow, for what is written about them. */
export const plannedOutcomes: readonly string[] = [...outcomes.keys()];
