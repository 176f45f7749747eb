import { beforeEach, expect, it, vi } from 'vitest';
import type { OperationState } from '../../../src/domain/operation.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { OpenFlow } from '../../../src/store/ports/flows.ts';
import { useCommands } from '../../cli/in-process.ts';
import { begunTransfer, transferOrder } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { openCommand, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { endOf, payerAt } from '../payer-here.ts';

const temporary = temporaryFolder();
const CREATE = [
  ...['transfer', 'create', '--from', '0000012345', '--to', 'IT60X0542811101000000123456'],
  ...['--name', 'Mario Rossi', '--amount', '12.50', '--reference', 'INV-1'],
];
const CANCEL = ['transfer', 'cancel', 'tr-1'];
it('an operation that the customer has authorised can be cancelled as long as execute was not sent', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const named = ['standingOrder', '--account', '0000012345'];
  await payer.run(['operation', 'verify', ...named]);
  expect((await payer.run(['operation', 'sca', ...named, '--resource', 'op-1'])).data.state).toBe(
    'authorized',
  );
  const { said, data, failure } = await payer.run(['operation', 'cancel', 'op-1']);
  expect([said.split('\n'), data.state, failure]).toEqual([
    [
      'The operation op-1 is authorized:',
      '  Name               standingOrder',
      '  Account            0000012345',
      '  Data               {}',
      '  Begun              NOW',
      '  Last change        NOW',
      'The customer can still answer at the bank, but it has no effect: psd2 will not send execute.',
      '',
    ],
    ...['cancelled', null],
  ]);
});

it('where the customer commits, what they have refused is not cancelled again', async () => {
  const bank = new BankHere({ commits: 'by the customer' });
  const payer = await payerAt(bank, temporary);
  bank.next = { decision: 'NOT_AUTHORIZED' };
  await payer.run(CREATE);
  bank.calls.length = 0;
  expect([endOf(await payer.run(CANCEL)), bank.calls]).toEqual([
    [
      'exit 2, usage of tr-1: The transfer tr-1 is rejected, so there is nothing to cancel',
      ...['See it with:', '$ transfer show tr-1', 'transactionId: "an-id"'],
    ],
    [],
  ]);
});

it('where the customer commits, what they were never sent to is given up without the bank', async () => {
  const bank = new BankHere({ commits: 'by the customer' });
  const payer = await payerAt(bank, temporary);
  bank.verified = { commissions: { amount: parsePaymentAmount('1'), currency: 'EUR' } };
  const confirm = async (question: string) => {
    if (question.includes('fees')) throw new Psd2Error('interrupted', 'Interrupted');
    return true;
  };
  const begun = await payer.run(CREATE, {
    ...{ yes: false, answers: [] },
    changes: ({ terminal }) => ({ terminal: { ...terminal, canAsk: true, confirm } }),
  });
  expect([begun.data.state, begun.failure?.code]).toEqual(['verified', 'interrupted']);
  const { data, said } = await payer.run(CANCEL);
  expect([data.state, said.split('\n').slice(-2), bank.sent]).toEqual([
    ...['cancelled', ['You can use the reference "INV-1" again.', ''], ['verify transfer']],
  ]);
});

it('a cancellation that never began changes nothing, and leads to no question about its outcome', async () => {
  const bank = new BankHere({ commits: 'by the customer' });
  const payer = await payerAt(bank, temporary);
  bank.customersAgree = false;
  await payer.run(CREATE, { globals: { scaTimeout: '1' } });
  const sent = [...bank.sent];
  const pasted = await payer.run([...CANCEL, '--paste']);
  bank.meets('prepare', new Psd2Error('interrupted', 'Interrupted'));
  const interrupted = await payer.run(CANCEL);
  expect([pasted.printed, endOf(pasted), interrupted.printed, endOf(interrupted)]).toEqual([
    '',
    [
      'exit 2, usage: --paste asks for an address, and psd2 cannot ask without a terminal',
      'Use a redirect URI on this machine instead (PSD2_REDIRECT_URI).',
    ],
    '',
    ['exit 130, interrupted: Interrupted'],
  ]);
  expect(bank.sent).toEqual(sent);
});

it('a cancellation that another error stopped has no other way on than that of the error', async () => {
  const bank = new BankHere({ commits: 'by the customer' });
  const payer = await payerAt(bank, temporary);
  bank.customersAgree = false;
  await payer.run(CREATE, { globals: { scaTimeout: '1' } });
  bank.meets('cancel', new Psd2Error('bank_failing', 'The bank is failing'));
  const ran = await payer.run(CANCEL);
  expect([ran.data.state, ran.said.split('\n'), endOf(ran)]).toMatchInlineSnapshot(`
    ["authorizing",
     ["The transfer tr-1 is authorizing:", "  From               DE02100100109307118603 (0000012345)",
      "  Payee              Mario Rossi", "  IBAN               IT60 X054 2811 1010 0000 0123 456",
      "  Amount             12.50 EUR", "  Execution          TODAY", "  Reference          INV-1",
      "  Begun              NOW", "  Last change        NOW", ""],
     ["exit 11, bank_failing of tr-1: The bank is failing", "$ transfer cancel tr-1"]]
  `);
});

/** What the command says of a transfer with this state. */
async function refusalOf(changes: Partial<Transfer>) {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-22T12:00:00.000Z', {
    globals: { yes: true },
  });
  const data = await context.store();
  const transfer = begunTransfer(changes);
  const flows = Object.assign(Object.create(data.flows), { find: async () => transfer });
  const within = { ...context, store: async () => ({ ...data, flows }) };
  return failureOf(runIn(within, ...CANCEL));
}

const BATCH = 'b'.repeat(64);

it('what the customer may make run, alone or with others, is not cancelled, and the error says what finds out', async () => {
  const mayExecuteWithoutUs = {
    state: 'authorizing',
    commits: 'by the customer',
    mayExecuteWithoutUs: true,
  } as const;
  const order = transferOrder({ batch: { batch: BATCH, line: 1 } });
  expect([
    await refusalOf(mayExecuteWithoutUs),
    await refusalOf({ ...mayExecuteWithoutUs, bulk: 'op-1', order }),
  ]).toMatchInlineSnapshot(`
    [{ code: "usage", exitCode: 2, flow: "tr-1",
       hint: "First ask the bank for the outcome, which never pays twice. If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:",
       message: "The transfer tr-1 is authorizing. The bank may execute it without psd2, so psd2 can no longer cancel it",
       next: [["transfer", "resume", "tr-1"], ["transfer", "resolve", "tr-1", "--executed"],
        ["transfer", "resolve", "tr-1", "--not-executed"]] },
     { code: "usage", exitCode: 2, flow: "tr-1",
       hint: "The customer authorises it with others. psd2 goes on with all, and never pays twice, with:",
       message: "The transfer tr-1 is authorizing. The bank may execute it without psd2, so psd2 can no longer cancel it",
       next: [["batch", "run", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]] }]
  `);
});

// Another psd2 may finish a flow after a command has read it and before the command has it for itself.

const { run, said } = useCommands();

beforeEach(() => {
  vi.stubEnv('PSD2_BASE_URL', 'https://bank.example');
});

const flowIn = (state: OperationState, changes: Partial<Transfer> = {}) =>
  begunTransfer({ state, ...changes });

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
  const { command, recorded } = flowThat('unknown', 'executed', { order: transferOrder({ instant: false }) });
  await command('transfer', 'resolve', 'tr-1', '--not-executed');
  expect(said()).toContain('The transfer tr-1 is executed, so its outcome is not unknown');
  expect(process.exitCode).toBe(2);
  expect(recorded).toEqual([]);
});
