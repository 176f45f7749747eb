/**
 * The outcome that an order gets from the name of its payee, like a test card from its number (`docs/sandbox.md`,
 * "Magic values").
 */
export interface Plan {
  /** How SCA ends, whatever the customer decides. `PENDING` never ends. */
  sca?: 'NOT_AUTHORIZED' | 'EXPIRED' | 'PENDING';
  /** `warning`: the answer has a warning. `verify2`: the flow has this step before SCA. */
  verify?: 'warning' | 'verify2';
  execute?: 'refused';
  /**
   * How an instant transfer ends: with `KO`, at once (`at once`), after the client's first status call (`slow`), or after the
   * 15 seconds in which a client asks (`late`).
   */
  settlement?: 'KO' | 'at once' | 'slow' | 'late';
  fault?: CallFault;
}

/** With `204`, `EMPTY` and `LOST` the bank processes the call but the answer does not say so. With the others it does nothing. */
export const magicFaultKinds = ['204', '401', '403', '420', '500', 'EMPTY', 'LOST'] as const;

/** The fault that a magic value causes. */
export type MagicFault = (typeof magicFaultKinds)[number];

/** The calls of a flow that a magic value can make fail. */
export const faultyCalls = ['VERIFY', 'APPROACH', 'STATUS', 'EXECUTE', 'EXECUTION STATUS'] as const;

export type FaultyCall = (typeof faultyCalls)[number];

export interface CallFault {
  call: FaultyCall;
  kind: MagicFault;
  /** Only the first such call of the flow fails. */
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

/** The plan of a payee's name. Empty if the name is not magic. Case and extra spaces are ignored. */
export function planOf(beneficiaryName: string): Plan {
  const name = beneficiaryName.trim().replace(/ +/g, ' ').toUpperCase();
  const fault = faultOf(name);
  return outcomes.get(name) ?? (fault ? { fault } : {});
}

/** Reads `<CALL> <KIND>`, or `<CALL> <KIND> ONCE` if only the first call fails. */
function faultOf(name: string): CallFault | undefined {
  const once = name.endsWith(' ONCE');
  const words = once ? name.slice(0, -' ONCE'.length) : name;
  for (const call of faultyCalls) {
    const kind = magicFaultKinds.find((candidate) => words === `${call} ${candidate}`);
    if (kind) return { call, kind, once };
  }
  return undefined;
}

/** The magic names that plan an outcome of the flow, for the documentation. */
export const plannedOutcomes: readonly string[] = [...outcomes.keys()];
