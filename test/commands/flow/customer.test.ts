import { beforeEach, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { forFlow, refuseOtherCustomer } from '../../../src/commands/flow/customer.ts';
import { applyTransferEvent } from '../../../src/domain/transfer.ts';
import { transferOrder } from '../../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-21T12:00:00.000Z';
const FLOW = applyTransferEvent(
  undefined,
  {
    type: 'created',
    flow: 'tr-1',
    transactionId: 't',
    commits: 'on execute',
    order: transferOrder({ customerId: '1000001' }),
  },
  NOW,
);

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
