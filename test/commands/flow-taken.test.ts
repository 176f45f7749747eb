import { beforeEach, expect, it, vi } from 'vitest';
import { cancelFlow } from '../../src/commands/flow/cancel.ts';
import { resolve } from '../../src/commands/flow/resolve.ts';
import type { OperationState } from '../../src/domain/operation.ts';
import { applyTransferEvent, type Transfer } from '../../src/domain/transfer.ts';
import type { Flows, OpenFlow } from '../../src/store/ports/flows.ts';
import { useCommands } from '../cli/in-process.ts';
import { transferOrder } from '../domain/orders.ts';

// Another psd2 may finish a flow after a command has read it and before the command has it for itself.

const { run, said } = useCommands();

beforeEach(() => {
  vi.stubEnv('PSD2_BASE_URL', 'https://bank.example');
});

const BEGUN = applyTransferEvent(
  undefined,
  { type: 'created', flow: 'tr-1', transactionId: 't', order: transferOrder() },
  '2026-11-22T10:00:00.000Z',
);
const flowIn = (state: OperationState): Transfer => ({ ...BEGUN, state });

/** A flow that is in one state when it is read, and in another once no other psd2 works on it. */
function flowThat(was: OperationState, is: OperationState) {
  const recorded: unknown[] = [];
  const open: OpenFlow<Transfer, unknown> = {
    current: flowIn(is),
    record: async (event) => {
      recorded.push(event);
      return flowIn(is);
    },
    assertOurs: async () => {},
    reread: async () => flowIn(is),
  };
  return {
    recorded,
    find: async () => flowIn(was),
    resume: (_flows: Flows, _flow: string, work: (of: typeof open) => Promise<void>) => work(open),
    describe: () => [],
    print: () => {},
    referenceOf: () => null,
  };
}

it('psd2 does not cancel a transfer for which another psd2 has meanwhile sent execute', async () => {
  const flow = flowThat('authorized', 'executing');
  await run((context) => cancelFlow<Transfer>(context, 'tr-1', { ...flow, sent: 'execute' }), { yes: true });
  expect(said()).toContain("psd2 has sent execute, so it can't cancel the transfer any more");
  expect(process.exitCode).toBe(2);
  expect(flow.recorded).toEqual([]);
});

it('psd2 does not resolve a transfer whose outcome another psd2 has meanwhile found', async () => {
  const flow = flowThat('unknown', 'executed');
  const given = { executed: false, notExecuted: true, note: undefined };
  await run(
    (context) =>
      resolve<Transfer, { type: string }>(context, 'tr-1', given, {
        ...flow,
        isOpen: ({ state }) => state === 'unknown',
        isEnded: ({ state }) => state === 'executed',
        askBank: () => {
          throw new TypeError('psd2 asked the bank');
        },
        done: 'executed',
      }),
    { yes: true },
  );
  expect(said()).toContain('The transfer tr-1 is executed, so its outcome is not unknown');
  expect(process.exitCode).toBe(2);
  expect(flow.recorded).toEqual([]);
});
