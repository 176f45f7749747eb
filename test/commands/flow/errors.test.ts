import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { forFlow, refuseOtherCustomer } from '../../../src/commands/flow/customer.ts';
import { withNext, withWarning } from '../../../src/commands/flow/drive.ts';
import {
  commandThatContinues,
  refuseInJoint,
  withWaysOfBatch,
} from '../../../src/commands/flow/next-command.ts';
import { applyConsentEvent, type ConsentEvent } from '../../../src/domain/consent.ts';
import type { FlowState } from '../../../src/domain/flow-states.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { type ErrorContext, Psd2Error } from '../../../src/errors.ts';
import { begunOperation, begunTransfer } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { lacking } from '../../support/lacking.ts';
import { storeLogin } from '../access.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { openCommand, useFolder } from '../command.ts';
import { ANNA, CREATE, endOf, payerAt, payerWith } from '../payer-here.ts';

const temporary = temporaryFolder();

const flowIn = (state: FlowState) => ({ kind: 'transfer', flow: 'tr-1', state, transactionId: 't' });

it.each<FlowState>(['failed', 'rejected', 'expired', 'cancelled'])(
  'the error of a flow that ended %s names the flow, and advises no resume',
  (state) => {
    const error = new Psd2Error('not_authorised', 'The customer did not authorise the transfer');
    expect(withNext(error, flowIn(state))).toMatchObject({ flow: 'tr-1', context: lacking('next') });
  },
);

it('a fault says no way on', () => {
  const fault = new TypeError('A fault');
  expect(withNext(fault, flowIn('verified'))).toBe(fault);
});

it('an error that names another flow keeps it', () => {
  const error = new Psd2Error('duplicate_reference', 'The reference was used', { flow: 'tr-2' });
  expect(withNext(error, flowIn('cancelled'))).toMatchObject({ flow: 'tr-2' });
});

const RESUME = ['transfer', 'resume', 'tr-1'];

it.each<[string, ErrorContext, ErrorContext]>([
  ['nothing', {}, { hint: 'Continue with:', next: [[...RESUME, '--yes']] }],
  ['a hint', { hint: 'Wait.' }, { hint: 'Wait. Continue with:', next: [[...RESUME, '--yes']] }],
  [
    'another command',
    { hint: 'See it with:', next: [['transfer', 'show', 'tr-1']] },
    {
      hint: 'See it with:',
      next: [
        ['transfer', 'show', 'tr-1'],
        [...RESUME, '--yes'],
      ],
    },
  ],
  ['a command alone', { next: [['log']] }, { next: [['log'], [...RESUME, '--yes']] }],
])('an error that says %s says how to continue the flow, with what was confirmed', (_, said, whole) => {
  const error = withNext(new Psd2Error('config', 'No', said), flowIn('verified'), ['--yes']);
  expect(error instanceof Psd2Error && error.context).toStrictEqual({
    ...whole,
    ...{ flow: 'tr-1', transactionId: 't' },
  });
});

it('an error that says how to continue keeps that, with what was confirmed once', () => {
  const next = [[...RESUME, '--yes'], RESUME, ['transfer', 'resolve', 'tr-1']];
  const error = new Psd2Error('config', 'No', { hint: 'Ask:', next });
  const continued = withNext(error, flowIn('verified'), ['--yes']);
  expect(continued instanceof Psd2Error && continued.context).toStrictEqual({
    ...{ hint: 'Ask:', flow: 'tr-1' },
    next: [
      [...RESUME, '--yes'],
      [...RESUME, '--yes'],
      ['transfer', 'resolve', 'tr-1'],
    ],
  });
  const unconfirmed = withNext(error, flowIn('verified'));
  expect(unconfirmed instanceof Psd2Error && unconfirmed.context).toStrictEqual({
    ...{ hint: 'Ask:', flow: 'tr-1', next },
  });
});

const STATUS = ['transfer', 'status', 'tr-1'];
it.each<[string, ErrorContext, ErrorContext]>([
  ['nothing', {}, {}],
  ['another command', { hint: 'Ask:', next: [STATUS] }, { hint: 'Ask:', next: [STATUS] }],
  [
    'how to continue',
    { hint: 'Ask:', next: [STATUS, RESUME] },
    { hint: 'Ask:', next: [STATUS, [...RESUME, '--yes']] },
  ],
])(
  'of a payment that somebody can still authorise, an error that says %s says nothing more',
  (_, said, whole) => {
    const error = withNext(new Psd2Error('still_open', 'Open', said), flowIn('authorizing'), ['--yes']);
    expect(error instanceof Psd2Error && error.context).toStrictEqual({ ...whole, flow: 'tr-1' });
  },
);

it('a program that follows the events reads which flow psd2 has begun', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  const events: unknown[] = [];
  const tell = (event: unknown, text: string) => void events.push([event, text]);
  await payer.run(['operation', 'run', 'standingOrder', '--account', OWN_ACCOUNT], {
    changes: ({ terminal }) => ({ terminal: { ...terminal, tell } }),
  });
  expect(events).toEqual([
    [
      { event: 'flow', flow: expect.stringMatching(/^op-/), kind: 'operation', state: 'created' },
      expect.stringMatching(/^Operation op-/),
    ],
    [
      { event: 'open', url: 'https://customers.bank.example/pay-1' },
      "Open this address in the customer's browser:\n  https://customers.bank.example/pay-1",
    ],
  ]);
});

const interrupted = () => new Psd2Error('interrupted', 'Interrupted');

it.each<[FlowState, string]>([
  ['verified', 'Interrupted'],
  ['authorized', 'Interrupted'],
  ['executing', 'Interrupted. The standingOrder may have been executed: do not make it again'],
  ['unknown', 'Interrupted. The standingOrder may have been executed: do not make it again'],
  ['executed', 'Interrupted. The standingOrder was executed: do not make it again'],
  ['rejected', 'Interrupted'],
])('after an interruption in the state %s the operator reads: %s', (state, message) => {
  expect(withWarning(interrupted(), { state, refusedUnconfirmed: false }, 'standingOrder')).toMatchObject({
    code: 'interrupted',
    message,
  });
});

it('if psd2 is interrupted, or the browser fails, the operator reads that the customer can still make the payment run', () => {
  const flow = { state: 'authorizing', refusedUnconfirmed: false, mayExecuteWithoutUs: true } as const;
  const may = 'The payment may be executed without psd2: do not make it again';
  expect(withWarning(interrupted(), flow, 'payment')).toMatchObject({ message: `Interrupted. ${may}` });
  const error = new Psd2Error('config', 'The browser ended with code 1', { hint: 'Check PSD2_BROWSER.' });
  expect(withWarning(error, flow, 'payment')).toMatchObject({
    ...{ code: 'config', hint: 'Check PSD2_BROWSER.', message: `The browser ended with code 1. ${may}` },
  });
  expect(withWarning(error, { ...flow, mayExecuteWithoutUs: false }, 'payment')).toBe(error);
});

it('any other error stays as it is', () => {
  const error = new Psd2Error('bank_unreachable', 'The bank could not be reached');
  expect(withWarning(error, { state: 'executing', refusedUnconfirmed: false }, 'payment')).toBe(error);
});

type Initiation = NonNullable<Transfer['initiation']>;
const INITIATION: Initiation = {
  ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'E', body: '{}' },
  ...{ returnAddress: 'http://127.0.0.1/', returnState: 's', repeatMinutes: null, needsLink: true },
  executesWithoutSca: 'never',
};
const AT = '2026-11-26T10:00:00Z';
const BATCH = 'b'.repeat(64);
const inBatch = { batch: { batch: BATCH, line: 1 } } as const;

const operation = (name: string, data: string, initiation: Initiation | null = INITIATION) =>
  begunOperation({ initiation }, { operation: name, data });

const RUN = ['batch', 'run', BATCH];
const RESUME_OPERATION = ['operation', 'resume', 'op-1'];
const batchIn = (batch: unknown) => JSON.stringify({ batch });

describe('the command that continues', () => {
  it.each([
    ['a transfer', begunTransfer(), ['transfer', 'resume', 'tr-1']],
    ['a transfer of a batch', begunTransfer({}, inBatch), ['transfer', 'resume', 'tr-1']],
    ['a transfer of a batch in a bulk payment', begunTransfer({ bulk: 'op-1' }, inBatch), RUN],
    ['a transfer in a group of no batch', begunTransfer({ bulk: 'op-1' }), ['transfer', 'resume', 'tr-1']],
    ['a bulk payment', operation('bulk-payments', batchIn(BATCH)), RUN],
    ['a signing basket', operation('signing-baskets', batchIn(BATCH)), RUN],
    ['one that a bank calls so', operation('bulk-payments', batchIn(BATCH), null), RESUME_OPERATION],
    ['another operation', operation('standingOrder', batchIn(BATCH)), RESUME_OPERATION],
    ['a bulk payment that names no batch', operation('bulk-payments', '{}'), RESUME_OPERATION],
    ['one whose batch is no text', operation('bulk-payments', batchIn(7)), RESUME_OPERATION],
    ['one without data', operation('bulk-payments', 'null'), RESUME_OPERATION],
    ['one whose data is a text', operation('bulk-payments', '"batch"'), RESUME_OPERATION],
  ])('%s', (_, flow, words) => {
    expect(commandThatContinues(flow)).toEqual(words);
  });

  it('a consent', () => {
    const created: ConsentEvent = {
      ...{ type: 'created', flow: 'co-1', transactionId: 't', customerId: '1', categories: [] },
    };
    const consent = applyConsentEvent(undefined, created, AT);
    expect(commandThatContinues(consent)).toEqual(['consent', 'resume', 'co-1']);
  });
});

describe('a transfer that the customer authorises with others', () => {
  it.each([
    ['a bulk payment', begunTransfer({ bulk: 'op-1' }, inBatch), 'bulk payment'],
    ['a signing basket', begunTransfer({ bulk: 'op-1', initiation: INITIATION }, inBatch), 'signing basket'],
  ])('in %s is not continued alone', (_, flow, what) => {
    expect(() => refuseInJoint(flow)).toThrow(
      new Psd2Error('usage', `The transfer tr-1 is one of the ${what} op-1`, {
        hint: 'The customer authorises all of them together. psd2 goes on with all, and asks what became of each, with:',
        next: [RUN],
        flow: 'tr-1',
      }),
    );
  });

  it('any other one is', () => {
    expect(() => refuseInJoint(begunTransfer({}, inBatch))).not.toThrow();
    expect(() => refuseInJoint(begunTransfer({ bulk: 'op-1' }))).not.toThrow();
  });
});

describe('the ways on from an error about a bulk payment', () => {
  const [BULK, OTHER] = [
    ['operation', 'op-1'],
    ['operation', 'op-2'],
  ];
  const of = (verb: string, [noun = '', flow = '']: string[], ...more: string[]) => [
    noun,
    verb,
    flow,
    ...more,
  ];
  const YES = '--yes';
  it.each<[string, string[], alone: string[], whole: string[]]>([
    ['continue it', of('resume', BULK), RUN, RUN],
    ['continue it, confirmed', of('resume', BULK, YES), [...RUN, YES], [...RUN, YES]],
    ['cancel it', of('cancel', BULK), of('cancel', BULK), ['batch', 'cancel', BATCH]],
    [
      'cancel it, confirmed',
      of('cancel', BULK, YES),
      of('cancel', BULK, YES),
      ['batch', 'cancel', BATCH, YES],
    ],
    ['ask for its status', of('status', BULK), ['batch', 'status', BATCH], ['batch', 'status', BATCH]],
    ['show it', of('show', BULK), of('show', BULK), of('show', BULK)],
    ['continue another', of('resume', OTHER), of('resume', OTHER), of('resume', OTHER)],
    ['run a batch', RUN, RUN, RUN],
  ])('%s', (_, words, alone, whole) => {
    const flow = operation('bulk-payments', batchIn(BATCH));
    const error = new Psd2Error('config', 'No', { next: [words] });
    const ways = (...how: ['with the batch'] | []) => {
      const found = withWaysOfBatch(error, flow, ...how);
      return found instanceof Psd2Error ? found.next : undefined;
    };
    expect([ways(), ways('with the batch')]).toEqual([[alone], [whole]]);
    expect(withWaysOfBatch(error, begunTransfer({}))).toBe(error);
  });
});

const NOW = '2026-11-21T12:00:00.000Z';
const FLOW = begunTransfer({}, { customerId: '1000001' });

const folder = useFolder(temporary);
/** A command with this customer, as an option or from the environment. */
function commandOf(customer: string | undefined, source: 'option' | 'environment' = 'option'): Context {
  const { context } = openCommand(folder, NOW, { globals: { customer } });
  return { ...context, sourceOf: () => source };
}

it("psd2 refuses a --customer that is not the flow's, and takes PSD2_CUSTOMER as a mere default", () => {
  expect(() => refuseOtherCustomer(commandOf('1000002'), FLOW)).toThrow(
    'The transfer tr-1 belongs to customer 1000001, not to "1000002"',
  );
  for (const command of [commandOf('1000001'), commandOf('1000002', 'environment')])
    refuseOtherCustomer(command, FLOW);
});

it.each([
  ['1000001', undefined, undefined],
  ['1000002', undefined, '1000001'],
  [undefined, undefined, '1000001'],
  ['1000001', '1000002', '1000001'],
  ['1000001', '1000001', '1000001'],
])('logged in: %s, PSD2_CUSTOMER: %s; messages name the customer %s', async (login, customer, said) => {
  const context = commandOf(customer, 'environment');
  if (login !== undefined) await storeLogin(context, login);
  const acting = await forFlow(context, FLOW);
  expect(acting.globals.customer).toBe('1000001');
  expect(context.repeated.customer).toBe(said);
});

// Which flow psd2 continues if the operator names none.

const RUN_ORDER = ['operation', 'run', 'standingOrder', '--account', OWN_ACCOUNT];
const RESUME_ANY = ['operation', 'resume'];

/** An operator with so many operations, and with a transfer, that wait for their customer. */
async function withUnfinished(operations: number) {
  const { bank, payer } = await payerWith(temporary);
  bank.customersAgree = false;
  const globals = { scaTimeout: '1' };
  await payer.run(CREATE, { globals });
  for (let made = 0; made < operations; made += 1) await payer.run(RUN_ORDER, { globals });
  bank.customersAgree = true;
  payer.leaveBehind();
  return payer;
}

it.each([
  ['of all customers', {}],
  ['of the customer that is named', { globals: { customer: ANNA } }],
])('psd2 continues the only operation %s, and leaves an unfinished transfer alone', async (_, how) => {
  const payer = await withUnfinished(1);
  const ran = await payer.run(RESUME_ANY, how);
  expect([ran.data.state, ran.data.flow, endOf(ran)]).toEqual(['executed', 'op-1', ['done']]);
  expect((await payer.run(['transfer', 'list'])).data[0]?.state).toBe('authorizing');
});

it('psd2 continues no operation of another customer than the one that is named', async () => {
  const payer = await withUnfinished(1);
  expect(endOf(await payer.run(RESUME_ANY, { globals: { customer: '1000001' } }))).toEqual([
    'exit 2, usage: There is no unfinished operation of customer 1000001',
    'See all of them with:',
    '$ operation list',
  ]);
  expect((await payer.run(['operation', 'show', 'op-1'])).data.state).toBe('authorizing');
});

it('the unfinished operations of another customer are not counted', async () => {
  const { bank, payer } = await payerWith(temporary);
  await payer.logIn('1000001');
  bank.customersAgree = false;
  for (const customer of [ANNA, '1000001', ANNA])
    await payer.run(RUN_ORDER, { globals: { customer, scaTimeout: '1' } });
  payer.leaveBehind();
  const [message, ...next] = endOf(await payer.run(RESUME_ANY, { globals: { customer: ANNA } }));
  expect(message).toBe('exit 2, usage: There are 2 unfinished operations. Name the one to continue');
  expect(next).toHaveLength(2);
});

it('without a terminal, psd2 names five of the unfinished operations, the newest first', async () => {
  const payer = await withUnfinished(6);
  expect(endOf(await payer.run(RESUME_ANY))).toEqual([
    'exit 2, usage: There are 6 unfinished operations. Name the one to continue',
    ...[1, 2, 3, 4, 5].map((number) => `$ operation resume op-${7 - number}`),
  ]);
});

it('at a terminal, the choice is not preceded by a note of what is interrupted', async () => {
  const payer = await withUnfinished(2);
  const terminal = { answers: ['op-'], format: 'table', stdout: 200 } as const;
  const { said, failure } = await payer.run(RESUME_ANY, terminal);
  expect(failure).toBeNull();
  expect(said).not.toContain('Waiting');
  const shown = await payer.run(['operation', 'show', 'op-1'], { format: 'table', stdout: 200 });
  expect(shown.said).toContain('Waiting: ');
});
