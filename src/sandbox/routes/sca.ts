import { Hono } from 'hono';
import { resourceOf } from '../access/from-path.ts';
import { answerSuccess } from '../answers/outgoing.ts';
import type { Bank } from '../bank.ts';
import { bankTimestamp } from '../ledger/bank-time.ts';
import type { Resource } from '../operations/resource.ts';
import type { BankEnv } from '../server/bank-env.ts';
import { requiredHeader } from '../strict/headers.ts';
import { checkRedirectUri } from '../strict/query.ts';

/** SCA of a resource, and the status of its operation (interface specification, "Generic operation flow"). */
export function scaRoutes(bank: Bank): Hono<BankEnv> {
  const routes = new Hono<BankEnv>();

  routes.get('/private/auth/security/sca/:resourceId/approach', (c) => {
    const resource = resourceOf(c, bank);
    const redirectUri = requiredHeader(c.var.request, 'TPP-Redirect-URI');
    checkRedirectUri('TPP-Redirect-URI', redirectUri);
    bank.resources.startSca(resource, redirectUri);
    return answerSuccess(c, bank, {
      data: {
        scaRedirectURL: `${bank.customerSiteUrl}/sca-authorize/?resourceId=${resource.id}`,
        chosenScaApproach: 'REDIRECT',
      },
      resourceId: resource.id,
    });
  });

  routes.get('/private/operations/:resourceId/status', (c) => {
    const resource = resourceOf(c, bank);
    return answerSuccess(c, bank, {
      data: {
        creationTimestamp: bankTimestamp(resource.createdAt),
        authorizationStatus: bank.resources.scaState(resource),
        executionStatus: executionStatusOf(bank, resource),
      },
      resourceId: resource.id,
    });
  });

  return routes;
}

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
