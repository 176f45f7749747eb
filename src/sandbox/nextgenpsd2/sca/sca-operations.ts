import type { OperationId } from '../operations.ts';
import type { ScaSubject } from './authorisations.ts';

/** The calls about an authorisation, by what the customer authorises. */
export const SCA_OPERATIONS = {
  consent: {
    start: 'startConsentAuthorisation',
    status: 'getConsentScaStatus',
    update: 'updateConsentsPsuData',
  },
  'funds-consent': {
    start: 'startConsentConfirmationOfFundsAuthorisation',
    status: 'getConsentConfirmationOfFundsScaStatus',
    update: 'updateConsentConfirmationOfFundsPsuData',
  },
  payment: {
    start: 'startPaymentAuthorisation',
    status: 'getPaymentInitiationScaStatus',
    update: 'updatePaymentPsuData',
  },
  cancellation: {
    start: 'startPaymentInitiationCancellationAuthorisation',
    status: 'getPaymentCancellationScaStatus',
    update: 'updatePaymentCancellationPsuData',
  },
  basket: {
    start: 'startSigningBasketAuthorisation',
    status: 'getSigningBasketScaStatus',
    update: 'updateSigningBasketPsuData',
  },
} as const satisfies Record<ScaSubject['kind'], Record<string, OperationId>>;
