import type { Payments } from '../../../ports/bank.ts';
import type { OAuth } from '../access/oauth.ts';
import { askForFunds } from '../consents/funds.ts';
import { type Calls, lackingService } from '../wire/calls.ts';
import { basketsOf } from './baskets.ts';
import { bulkOf } from './bulk.ts';
import { initiationOf, isXmlProduct, productOfPayment, serviceOf } from './initiation.ts';
import { assertOrdered, assertOrderedInXml } from './ordered.ts';
import { isInXml, xmlInitiationOf } from './pain001.ts';
import { paymentCalls } from './payment-calls.ts';

/**
 * The payments of NextGenPSD2 (section 2, "Payment"). The customer's SCA is the point of no return: there is no `execute`, and
 * the initiation is what psd2 sends at most once.
 */
export function paymentsOf(calls: Calls, oauth: OAuth): Payments {
  const bulk = bulkOf(calls, oauth);
  return {
    commits: 'by the customer',
    async initiation(order, back, newId) {
      const product = productOfPayment(calls.description.payments, order, serviceOf(order));
      return (isXmlProduct(product) ? xmlInitiationOf : initiationOf)(calls, order, back, newId);
    },
    transfer({ order, transactionId, initiation, authorisedBy }) {
      if (!initiation) throw new TypeError('A payment of this interface begins with its initiation');
      const payment = paymentCalls({ ...calls, oauth, order, transactionId, initiation, authorisedBy });
      return {
        ...payment,
        async verify(beforeSend, requestId) {
          if (isInXml(initiation))
            await assertOrderedInXml(calls.settings, order, initiation, calls.description.payments);
          else assertOrdered(order, initiation, calls.description.payments);
          return payment.verify(beforeSend, requestId);
        },
      };
    },
    ...(bulk && { bulk }),
    baskets: basketsOf(calls, oauth),
    operation() {
      throw lackingService('operations');
    },
    funds: (question, transactionId) => askForFunds(calls, question, transactionId),
    terms: () => Promise.reject(lackingService('terms of transfers')),
    operationTerms: () => Promise.reject(lackingService('operations')),
    receipt: () => Promise.reject(lackingService('receipts')),
  };
}
