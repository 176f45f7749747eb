import type { Account, Bank } from '../../bank/ports/bank.ts';
import type { PsuIdentification } from '../../bank/ports/call.ts';
import type { Batch } from '../../domain/batch/batch.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { Initiation } from '../../domain/operation.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows, GenericOperation, Open } from '../../store/ports/flows.ts';
import type { FlowPorts, ReturnPorts, WorldPorts } from '../ports.ts';

/** A customer who pays lines of a batch: their bank, and what a run must know of their orders. */
export interface Payer {
  bank: Bank;
  world: WorldPorts;
  /** Their accounts. The bank is asked once. */
  accounts(): Promise<Account[]>;
  /** What a line orders, by the rules of a transfer. @throws Psd2Error for what psd2 does not pay, and if it cannot read the accounts */
  orderOf(batch: Batch, line: BatchLine): Promise<TransferOrder>;
  /** What a transfer of its own keeps of its payment, at a bank where the customer commits. @throws Psd2Error `usage`, `invalid_…` */
  initiationOf(order: TransferOrder): { initiation?: Initiation };
  /** The operator's payee check. Null: there is none. */
  checkPayee: ((line: BatchLine) => Promise<PayeeCheck>) | null;
  /** Cancels a payment at the bank, which may have the customer authorise that. */
  cancelAtBank(open: Open<'transfer'>): Promise<void>;
  /** The ports of one flow. */
  ports(): Required<FlowPorts>;
  /** For SCA that the bank's links lead. @param person who authorises it now, if it is not the customer */
  returns(transactionId: string, person: PsuIdentification | undefined): Promise<ReturnPorts>;
}

/** Where the customers' links go, instead of to a browser on this machine. */
export interface Links {
  give(link: object): Promise<void>;
}

/** The batch whose payments are followed, and the tokens of what has ended. */
export interface BatchStore {
  batches: Batches;
  flows: Flows;
  /** Its id. */
  batch: string;
  /** Removes the tokens of a transfer that has ended. */
  tidy(transfer: Transfer): Promise<void>;
  /** The same of what its customer has authorised for many. */
  tidyGroup(group: GenericOperation): Promise<void>;
}

/** What the run of a batch needs. */
export interface BatchRun extends BatchStore {
  links: Links | null;
  acceptsClose: boolean;
  /** Who authorises now what somebody has authorised. */
  person: PsuIdentification | undefined;
  payerOf(line: Pick<BatchLine, 'customer'>): Promise<Payer>;
  /** Shows how far the run is while `work` runs. */
  whileWaiting: FlowPorts['customer']['whileWaiting'];
}
