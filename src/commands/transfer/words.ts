import type { StepEvent } from '../../domain/operation.ts';
import type { Transfer } from '../../domain/transfer.ts';

/** The transfer with the bank's own words. What psd2 has recorded of it stays. */
export function withWords(transfer: Transfer, event: StepEvent): Transfer {
  const { transactionStatus, scaStatus } = ('bank' in event && event.bank) || transfer;
  const description = 'description' in event ? event.description : null;
  const reasons = 'reasons' in event ? event.reasons : undefined;
  return {
    ...transfer,
    executionStatusDescription: description ?? transfer.executionStatusDescription,
    reasons: reasons ?? transfer.reasons,
    transactionStatus: transactionStatus ?? transfer.transactionStatus,
    scaStatus: scaStatus ?? transfer.scaStatus,
    authorizationStatus: transactionStatus ?? transfer.authorizationStatus,
  };
}
