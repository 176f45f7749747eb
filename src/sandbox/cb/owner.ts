import type { Bank } from '../bank.ts';
import { endpointNames } from '../faults/target.ts';
import { decimal } from '../ledger/cents.ts';
import type { OwnerSide } from '../server/pipeline.ts';
import type { Resource } from './orders/resource.ts';

/** The first door for the owner of the sandbox: the pending logins, the resources of all flows, and the consents. */
export function ownerSide(bank: Bank): OwnerSide {
  return {
    calls: endpointNames,
    flows: (most) => ({
      logins: bank.logins.open().map(({ id, application, startedAt }) => ({
        id,
        application: application.applicationName,
        startedAt: startedAt.toISOString(),
        url: `${bank.customerSiteUrl}/login?request=${id}`,
      })),
      resources: bank.resources
        .list()
        .slice(-most)
        .toReversed()
        .map((resource) => ({
          id: resource.id,
          kind: resource.kind,
          customer: resource.customer.user,
          about: aboutOf(resource),
          createdAt: resource.createdAt.toISOString(),
          sca: resource.sca ? bank.resources.scaState(resource) : 'not started',
          /** Whether the customer can decide now. */
          open: resource.sca !== undefined && bank.resources.scaState(resource) === 'PENDING',
          execution: executionOf(bank, resource),
        })),
      consents: bank.consents.inForce().map(({ customerId, category, productId, givenAt, endsAt }) => ({
        customer: bank.customers.find(customerId)?.user ?? customerId,
        category,
        productId,
        givenAt: givenAt.toISOString(),
        endsAt: endsAt.toISOString(),
      })),
    }),
    paid: (most) =>
      bank.resources
        .list()
        .slice(-most)
        .flatMap((resource) => {
          if (resource.kind !== 'moneyTransfer') return [];
          const { order, product, customer, createdAt } = resource;
          const { amount, beneficiaryName } = order;
          const about = { account: product.productId, customer: customer.user, to: beneficiaryName };
          return [{ ...about, at: createdAt, joint: undefined, amount, state: executionOf(bank, resource) }];
        }),
    revokeAll: (customerId) => bank.consents.revokeAll(customerId),
  };
}

function aboutOf(resource: Resource): string {
  switch (resource.kind) {
    case 'consent':
      return resource.categories
        .map(({ name, products }) => `${name} for ${products.map(({ productId }) => productId).join(', ')}`)
        .join('; ');
    case 'inquiry':
      return `transactions of ${resource.product.productId} from ${resource.from}`;
    case 'moneyTransfer':
    case 'standingOrder': {
      const { beneficiaryName, beneficiaryIban, amount } = resource.order;
      return `${decimal(amount)} EUR from ${resource.product.productId} to ${beneficiaryName}, ${beneficiaryIban}`;
    }
  }
}

function executionOf(bank: Bank, resource: Resource): string {
  if (resource.kind === 'consent') return resource.finishedAt ? 'confirmed' : 'not confirmed';
  if (resource.kind === 'inquiry') return '';
  const { execution } = resource;
  if (!execution) return resource.nextStep === 'verify2' ? 'verify2 required' : 'not executed';
  if (!('cro' in execution)) return `executed, ${execution.standingOrderId}`;
  const { cro, settlement } = execution;
  if (!settlement) return `executed, CRO ${cro}`;
  return bank.now() < settlement.at ? `pending, CRO ${cro}` : `settled ${settlement.status}, CRO ${cro}`;
}
