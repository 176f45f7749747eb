import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { forFlow, refuseOtherCustomer } from '../../../src/commands/flow/customer.ts';
import { commandThatContinues, refuseInJoint } from '../../../src/commands/flow/next-command.ts';
import { applyConsentEvent, type ConsentEvent } from '../../../src/domain/consent.ts';
import type { Transfer } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { begunOperation, begunTransfer } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

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
const RESUME = ['operation', 'resume', 'op-1'];
const batchIn = (batch: unknown) => JSON.stringify({ batch });

describe('the command that continues', () => {
  it.each([
    ['a transfer', begunTransfer(), ['transfer', 'resume', 'tr-1']],
    ['a transfer of a batch', begunTransfer({}, inBatch), ['transfer', 'resume', 'tr-1']],
    ['a transfer of a batch in a bulk payment', begunTransfer({ bulk: 'op-1' }, inBatch), RUN],
    [
      'a transfer in a bulk payment of no batch',
      begunTransfer({ bulk: 'op-1' }),
      ['transfer', 'resume', 'tr-1'],
    ],
    ['a bulk payment', operation('bulk-payments', batchIn(BATCH)), RUN],
    ['a signing basket', operation('signing-baskets', batchIn(BATCH)), RUN],
    ['one that a bank calls so', operation('bulk-payments', batchIn(BATCH), null), RESUME],
    ['another operation', operation('standingOrder', batchIn(BATCH)), RESUME],
    ['a bulk payment that names no batch', operation('bulk-payments', '{}'), RESUME],
    ['one whose batch is no text', operation('bulk-payments', batchIn(7)), RESUME],
    ['one without data', operation('bulk-payments', 'null'), RESUME],
    ['one whose data is a text', operation('bulk-payments', '"batch"'), RESUME],
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

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const FLOW = begunTransfer({}, { customerId: '1000001' });

let folder: ReturnType<typeof newConfigFolder>;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});
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
])(
  'after a login of %s and with PSD2_CUSTOMER=%s, messages name the customer %s of the flow',
  async (login, customer, said) => {
    const context = commandOf(customer, 'environment');
    if (login !== undefined) await storeLogin(context, login);
    const acting = await forFlow(context, FLOW);
    expect(acting.globals.customer).toBe('1000001');
    expect(context.repeated.customer).toBe(said);
  },
);
