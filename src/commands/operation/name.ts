import type { Command } from '@commander-js/extra-typings';
import { isMoneyTransfer } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import type { GenericOperation } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { alsoCalled } from '../declare.ts';
import { refuseOtherCustomer } from '../flow/customer.ts';

/** Adds the option for the account. */
export const withAccount = (command: Command) =>
  alsoCalled(
    command.requiredOption('--account <account>', 'account of the operation'),
    '--product <id>',
    'account',
  );

/** @throws Psd2Error `usage`, also for a bank transfer (command contract, "One set of rules") */
export function parseOperationName(name: string): string {
  if (isMoneyTransfer(name))
    throw new Psd2Error('usage', `${name} is a bank transfer, and psd2 operation does not make transfers`, {
      hint: 'Use psd2 transfer, which checks the payee, the amount and the reference:',
      next: [['transfer', '--help']],
    });
  if (/^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name)) return name;
  throw new Psd2Error(
    'usage',
    `The operation name ${JSON.stringify(name)} is not a word of letters and digits`,
    { hint: 'For example standingOrder.' },
  );
}

/** The operation of this profile that a reference names; undefined for a resource that was made elsewhere. */
export async function knownOperation(
  context: Context,
  reference: string,
): Promise<GenericOperation | undefined> {
  try {
    const { flows } = await context.store(reference);
    const stored = await flows.find('operation', reference);
    refuseOtherCustomer(context, stored);
    return stored;
  } catch (error) {
    // The empty text comes from an unset variable of a script, and names no resource either.
    if (error instanceof Psd2Error && error.code === 'flow_not_found' && reference !== '') return undefined;
    throw error;
  }
}

export async function findOperation(
  context: Context,
  operation: string,
  from: string,
  reference: string,
): Promise<GenericOperation> {
  const { flows } = await context.store(reference);
  const stored = await flows.find('operation', reference);
  refuseOtherCustomer(context, stored);
  const { order, flow } = stored;
  if (order.operation === operation && order.from === from) return stored;
  throw new Psd2Error('usage', `${flow} is a ${order.operation} of the account ${order.from}`, {
    hint: 'Use that name and account, or another resource.',
  });
}
