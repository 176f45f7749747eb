import type { BatchLine } from '../../domain/batch/line.ts';
import type { PayeeCheck } from '../../domain/order/payee-check.ts';
import type { FlowOf, Open } from '../../store/ports/flows.ts';
import type { BatchRun, Payer } from './ports.ts';
import type { Share } from './run.ts';

/**
 * How a customer authorises payments: each alone, many in one bulk payment, or many in one signing basket. What they authorise has a
 * journal of its own: the transfer of the line, or an operation that the transfers of many lines go with.
 */
export interface Way<K extends 'transfer' | 'operation'> {
  /**
   * Gives lines transfers, which hold their references, and sends what pays them. Before a byte is sent that can pay, the transfers, what is
   * sent, and that the batch is paid with it are durable.
   *
   * @throws Psd2Error what stopped it
   */
  take(run: BatchRun, share: Share): Promise<void>;
  /** Sends what is open, as far as possible now. @throws Psd2Error what stopped it */
  send(run: BatchRun, payer: Payer, open: Open<K>, sending: Sending): Promise<void>;
  /** Writes into the transfers what became of them. @throws Psd2Error `interrupted` and what the store throws */
  follow(run: BatchRun, payer: Payer, flow: FlowOf<K>): Promise<void>;
  /** Ends what nobody can pay with yet, so that its lines can go another way. */
  leave(open: Open<K>): Promise<void>;
}

/** What is sent, and for which lines. */
export interface Sending {
  lines: readonly Going[];
  /** This run has begun it, so the log of calls has nothing of it. */
  isNew: boolean;
}

/** A line on its way to the bank. */
export interface Going {
  line: Pick<BatchLine, 'line'>;
  /** Its transfer. */
  flow: string;
  /** What the payee check of this run says. Null: it is in the journal already, or there is none. */
  checked: PayeeCheck | null;
}
