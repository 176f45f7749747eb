import type { Account, Bank, BankInterface } from '../../bank/ports/bank.ts';
import type { PsuIdentification } from '../../bank/ports/call.ts';
import type { BatchLine } from '../../domain/batch/line.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import type { Transfer, TransferOrder } from '../../domain/transfer.ts';
import type { Batches } from '../../store/ports/batches.ts';
import type { Flows, GenericOperation, Open } from '../../store/ports/flows.ts';
import type { FlowPorts, ReturnPorts, WorldPorts } from '../ports.ts';
import type { Initiations } from './initiations.ts';
import type { PinsOfRun } from './pins.ts';

/** A customer who pays lines of a batch: their bank, and what a run must know of their orders. */
export interface Payer {
  bank: Bank;
  customerId: string;
  world: WorldPorts;
  /** Their accounts. The bank is asked once. */
  accounts(): Promise<Account[]>;
  /** What psd2 knows of the bank's interface. */
  bankInterface: BankInterface;
  /** @throws Psd2Error `invalid_amount` if the operator allows no such amount */
  refuseAboveLimit(order: Pick<TransferOrder, 'amount' | 'currency'>): void;
  /** The order with the IBAN of the debited account, at a bank whose payments name it. @throws Psd2Error `usage`, `invalid_iban` */
  withDebtor(order: TransferOrder): Promise<TransferOrder>;
  /** The operator's payee check. Null: there is none. */
  checkPayee: ((line: BatchLine) => Promise<PayeeCheck>) | null;
  /** Cancels a payment at the bank, which may have the customer authorise that. */
  cancelAtBank(open: Open<'transfer'>): Promise<void>;
  /** The same of a bulk payment, and of a signing basket. @param person who authorises that now, if it is not the customer */
  cancelGroupAtBank(open: Open<'operation'>, person: PsuIdentification | undefined): Promise<void>;
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

/** What following a bulk payment or a signing basket needs. */
export interface Following extends BatchStore {
  links: Links | null;
  /** Shows how far the command is while `work` runs. */
  whileWaiting: FlowPorts['customer']['whileWaiting'];
}

/** What the run of a batch needs. */
export interface BatchRun extends Following {
  acceptsClose: boolean;
  /** Who authorises now what somebody has authorised, or what psd2 knows no customer's id for. */
  person: PsuIdentification | undefined;
  payerOf(line: Pick<BatchLine, 'customer'>): Promise<Payer>;
  /** What this run has initiated. */
  initiations: Initiations;
  /** What became of the PINs that it has passed on. */
  pins: PinsOfRun;
}
