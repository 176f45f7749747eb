import type { FlowPorts } from '../../flows/ports.ts';
import type { Context } from '../context.ts';

/**
 * Looks into the log of calls whether a request never left. psd2 writes this there even if the store cannot be reached, so
 * that the flow does not stay unknown. The log only ever says so of a request that will never leave.
 */
export function neverLeftBy({ folder }: Context): NonNullable<FlowPorts['neverLeft']> {
  return async (tppRequestId) => {
    const { readCalls } = await import('../../store/machine/read-call-log.ts');
    for (const call of readCalls(folder.log, tppRequestId))
      if (call.tppRequestId === tppRequestId) return call.neverLeft === true;
    return false;
  };
}
