import type { PaymentCalls } from '../../bank/ports/payment-calls.ts';
import { isPending, type Operation, type OrderTarget } from '../../domain/operation.ts';
import { returnAddress } from '../linked-sca.ts';
import { askBank } from '../payment/status.ts';
import type { CustomerPorts, ReturnPorts } from '../ports.ts';
import type { BatchRun, Links, Payer } from './ports.ts';
import type { Sending } from './way.ts';

// What sending a payment of a batch needs of its customer, whatever way it goes.

/**
 * Whether a customer has a link, and has not decided yet: a new link would make the old one useless. If somebody has authorised it, and
 * the operator names the next person, that person gets one.
 */
export async function awaitsCustomer(
  { links, batches, batch, person }: BatchRun,
  { bank }: Payer,
  operation: Operation<OrderTarget>,
  { sca = bank.sca }: PaymentCalls,
): Promise<boolean> {
  if (!links || operation.state !== 'authorizing' || !operation.verification) return false;
  if (!(await batches.find(batch)).linked.has(operation.flow)) return false;
  const { event, partly } = await askBank(sca, operation);
  return isPending(event) && !(person && partly);
}

/**
 * The ports of a payment of a batch.
 *
 * @param link what the customer's link is written out with
 */
export async function payingPorts(
  { links, batches, batch, whileWaiting, person, pins }: BatchRun,
  payer: Payer,
  {
    flow,
    initiation,
    transactionId,
    state,
  }: Pick<Operation<OrderTarget>, 'flow' | 'initiation' | 'transactionId' | 'state'>,
  { link, lines, isNew }: Sending & { link: object },
) {
  const { initiated, ...ports } = payer.ports();
  const near: CustomerPorts = { ...ports.customer, whileWaiting };
  const line = lines[0]?.line.line ?? 0;
  const recordLink = async () => {
    await batches.change(batch, (now) => (now.linked.has(flow) ? null : { type: 'link-given', line, flow }));
  };
  const returns = initiation && pins.watching(await returnsOf(payer, { transactionId, state }, person));
  const whose = returns?.psuId === undefined ? {} : { psuId: returns.psuId };
  return {
    ...ports,
    // The log has nothing of a new flow.
    ...(!isNew && { initiated }),
    customer: links ? byLink(near, links, { ...link, ...whose }, recordLink) : near,
    ...(returns && { returns }),
  };
}

/** Who authorises a payment now: the person whom the operator names, if somebody has begun to, or psd2 does not know the customer's id. */
async function returnsOf(
  payer: Payer,
  { transactionId, state }: Pick<Operation<OrderTarget>, 'transactionId' | 'state'>,
  person: BatchRun['person'],
): Promise<ReturnPorts> {
  if (person && state === 'authorizing') return payer.returns(transactionId, person);
  const customers = await payer.returns(transactionId, undefined);
  if (!person || customers.psuId !== undefined) return customers;
  return { ...(await payer.returns(transactionId, person)), isFirst: true };
}

/**
 * The customer's side of a payment whose link is written out.
 *
 * @param link what is written beside the address
 * @param onSent called once the link is out
 */
function byLink(
  ports: CustomerPorts,
  links: Links,
  link: object,
  onSent: () => Promise<void>,
): CustomerPorts {
  return {
    ...ports,
    atAnotherDevice: true,
    listen: async () => null,
    async sendBrowser(url) {
      await links.give({ ...link, url });
      await onSent();
    },
  };
}

/** Where the customer's browser returns to, with a new state. */
export function newReturn({ ports, world }: Payer): { address: string; state: string } {
  const state = world.newId();
  return { address: returnAddress(ports().customer.redirectUri, state), state };
}
