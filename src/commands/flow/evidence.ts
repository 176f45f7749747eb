import type { FlowPorts } from '../../flows/ports.ts';
import type { LoggedCall } from '../../store/machine/call-log.ts';
import type { Context } from '../context.ts';

/** What the log of calls knows of a flow. It stays with the machine, so it may know more than a store that was restored. */
export function evidenceIn({ folder }: Context): Required<Pick<FlowPorts, 'neverLeft' | 'hasSent'>> {
  /** The calls that mention an id, the newest first. */
  async function* calls(id: string): AsyncGenerator<LoggedCall> {
    const { readCalls } = await import('../../store/machine/read-call-log.ts');
    yield* readCalls(folder.log, id);
  }
  return {
    // psd2 logs this even if the store cannot be reached. The log only ever says so of a request that will never leave.
    async neverLeft(tppRequestId) {
      for await (const call of calls(tppRequestId))
        if (call.tppRequestId === tppRequestId) return call.neverLeft === true;
      return false;
    },
    async hasSent(transactionId) {
      for await (const call of calls(transactionId))
        if (call.transactionId === transactionId && call.irrevocable && !call.neverLeft) return true;
      return false;
    },
  };
}
