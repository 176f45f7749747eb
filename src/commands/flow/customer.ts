import { Psd2Error } from '../../errors.ts';
import type { FlowOf, Kind } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';

/** The customer of a flow of any kind. */
export function customerIdOf(flow: FlowOf<Kind>): string {
  return 'order' in flow ? flow.order.customerId : flow.customerId;
}

/** The customer whose flows or calls a list shows; undefined for those of all customers. @throws Psd2Error `usage` */
export async function chosenCustomer(context: Context): Promise<string | undefined> {
  const { customer } = context.globals;
  return customer === undefined ? undefined : (await context.bankInterface()).readCustomerId(customer);
}

/**
 * Refuses a `--customer` that is not the flow's. The variable PSD2_CUSTOMER is only a default, and a flow that the operator
 * names counts more.
 *
 * @throws Psd2Error `usage`
 */
export function refuseOtherCustomer(
  { globals, sourceOf }: Pick<Context, 'globals' | 'sourceOf'>,
  flow: FlowOf<Kind>,
): void {
  const own = customerIdOf(flow);
  if (sourceOf('customer') !== 'option' || globals.customer === own) return;
  throw new Psd2Error(
    'usage',
    `The ${flow.kind} ${flow.flow} belongs to customer ${own}, not to ${JSON.stringify(globals.customer)}`,
    {
      hint: 'psd2 acts for the customer of the flow. Leave out --customer.',
      flow: flow.flow,
    },
  );
}

/**
 * A context that acts for the customer of a flow. If other commands would act for another customer by default, the commands in
 * messages name this one from now on.
 */
export async function forFlow(context: Context, flow: FlowOf<Kind>): Promise<Context> {
  const own = customerIdOf(flow);
  const { globals, repeated } = context;
  if (globals.customer !== undefined || (await lastLogin(context)) !== own) repeated.customer = own;
  return context.forCustomer(own);
}

/** The customer who logged in last; undefined if nobody did, or if psd2 cannot find out. */
async function lastLogin(context: Context): Promise<string | undefined> {
  const { tokens } = await context.store();
  try {
    return await tokens.last();
  } catch (error) {
    // Advice must not stop a payment.
    if (error instanceof Psd2Error) return undefined;
    throw error;
  }
}
