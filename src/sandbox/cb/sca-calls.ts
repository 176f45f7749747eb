import type { Bank } from '../bank.ts';
import { bankTimestamp } from '../ledger/bank-time.ts';
import { requiredHeader } from '../strict/headers.ts';
import { checkRedirectUri } from '../strict/query.ts';
import type { Calls } from './bank-call.ts';
import { success } from './envelope.ts';
import { resourceOf } from './from-path.ts';
import type { Resource } from './orders/resource.ts';

/** SCA of a resource, and the status of its operation (interface specification, "Generic operation flow"). */
export const scaCalls: Calls = {
  'GET /private/auth/security/sca/{resourceId}/approach': (bank, call) => {
    const resource = resourceOf(bank, call);
    const redirectUri = requiredHeader(call.request, 'TPP-Redirect-URI');
    checkRedirectUri('TPP-Redirect-URI', redirectUri);
    bank.resources.startSca(resource, redirectUri);
    return success(bank, {
      data: {
        scaRedirectURL: `${bank.customerSiteUrl}/sca-authorize/?resourceId=${resource.id}`,
        chosenScaApproach: 'REDIRECT',
      },
      resourceId: resource.id,
    });
  },

  'GET /private/operations/{resourceId}/status': (bank, call) => {
    const resource = resourceOf(bank, call);
    return success(bank, {
      data: {
        creationTimestamp: bankTimestamp(resource.createdAt),
        authorizationStatus: bank.resources.scaState(resource),
        executionStatus: executionStatusOf(bank, resource),
      },
      resourceId: resource.id,
    });
  },
};

/** The execution status of what the customer authorised. */
function executionStatusOf(bank: Bank, resource: Resource): 'PENDING' | 'OK' | 'KO' {
  switch (resource.kind) {
    case 'consent':
      return resource.finishedAt ? 'OK' : 'PENDING';
    case 'inquiry':
      return bank.resources.scaState(resource) === 'AUTHORIZED' ? 'OK' : 'PENDING';
    case 'standingOrder':
      return resource.execution ? 'OK' : 'PENDING';
    case 'moneyTransfer': {
      const { execution } = resource;
      if (!execution) return 'PENDING';
      if (execution.settlement?.status !== 'KO') return 'OK';
      return bank.now() < execution.settlement.at ? 'PENDING' : 'KO';
    }
  }
}
