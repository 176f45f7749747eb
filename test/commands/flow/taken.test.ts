import { beforeEach, expect, it, vi } from 'vitest';
import type { OperationState } from '../../../src/domain/operation.ts';
import { applyTransferEvent, type Transfer } from '../../../src/domain/transfer.ts';
import type { OpenFlow } from '../../../src/store/ports/flows.ts';
import { useCommands } from '../../cli/in-process.ts';
import { transferOrder } from '../../domain/orders.ts';
import { runIn } from '../command.ts';

// Another psd2 may finish a flow after a command has read it and before the command has it for itself.

const { run, said } = useCommands();

beforeEach(() => {
  vi.stubEnv('PSD2_BASE_URL', 'https://bank.example');
});

const BEGUN = applyTransferEvent(
  undefined,
  { type: 'created', flow: 'tr-1', transactionId: 't', commits: 'on execute', order: transferOrder() },
  '2026-11-22T10:00:00.000Z',
);
const flowIn = (state: OperationState, changes: Partial<Transfer> = {}): Transfer => ({
  ...BEGUN,
  state,
  ...changes,
});

/** A flow that is in one state when it is read, and in another once no other psd2 works on it. */
function flowThat(was: OperationState, is: OperationState, changes: Partial<Transfer> = {}) {
  const recorded: unknown[] = [];
  const open: OpenFlow<Transfer, unknown> = {
    current: flowIn(is, changes),
    record: async (event) => {
      recorded.push(event);
      return flowIn(is);
    },
    assertOurs: async () => {},
    reread: async () => flowIn(is),
  };
  /** Runs a command whose store has this flow. */
  const command = (...words: string[]) =>
    run(
      async (context) => {
        const data = await context.store();
        const flows = Object.assign(Object.create(data.flows), {
          find: async () => flowIn(was, changes),
          resume: (_kind: string, _flow: string, work: (of: typeof open) => Promise<void>) => work(open),
        });
        await runIn({ ...context, store: async () => ({ ...data, flows }) }, ...words);
      },
      { yes: true },
    );
  return { recorded, command };
}

it('psd2 does not cancel a transfer for which another psd2 has meanwhile sent execute', async () => {
  const { command, recorded } = flowThat('authorized', 'executing');
  await command('transfer', 'cancel', 'tr-1');
  expect(said()).toContain('psd2 has sent execute, so it can no longer cancel the transfer');
  expect(process.exitCode).toBe(2);
  expect(recorded).toEqual([]);
});

it.each([
  [
    'verified',
    true,
    'The transfer tr-1 is verified. The bank may execute it without psd2, so psd2 can no longer cancel it',
  ],
  ['authorizing', true, 'transfer resolve tr-1 --not-executed'],
  ['verified', false, undefined],
] as const)(
  'a transfer that the customer commits is %s, and may run: %s. psd2 refuses to cancel it: %j',
  async (state, mayExecuteWithoutUs, refusal) => {
    const { command, recorded } = flowThat(state, state, { commits: 'by the customer', mayExecuteWithoutUs });
    await command('transfer', 'cancel', 'tr-1');
    if (refusal !== undefined) expect(said()).toContain(refusal);
    expect(process.exitCode).toBe(refusal === undefined ? undefined : 2);
    expect(recorded).toEqual(refusal === undefined ? [{ type: 'cancelled' }] : []);
  },
);

it('psd2 does not resolve a transfer whose outcome another psd2 has meanwhile found', async () => {
  const { command, recorded } = flowThat('unknown', 'executed', {
    order: transferOrder({ instant: false }),
  });
  await command('transfer', 'resolve', 'tr-1', '--not-executed');
  expect(said()).toContain('The transfer tr-1 is executed, so its outcome is not unknown');
  expect(process.exitCode).toBe(2);
  expect(recorded).toEqual([]);
});
