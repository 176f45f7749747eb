import type { ResourceStatus, Sca } from '../../src/bank/ports/customer.ts';
import type { PaymentCalls } from '../../src/bank/ports/payment-calls.ts';
import {
  applyTransferEvent,
  type Transfer,
  type TransferEvent,
  type TransferOrder,
} from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { announcing } from '../../src/flows/announce.ts';
import type { FlowPorts } from '../../src/flows/ports.ts';
import { statusOf } from '../../src/flows/resource-status.ts';
import type { Verifying } from '../../src/flows/verification.ts';
import type { Open } from '../../src/store/ports/flows.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { transferOrder } from '../domain/orders.ts';
import { fakeCustomer, fakeWorld } from './doubles.ts';

// A transfer that the customer commits, with a journal in memory.

const AT = '2026-11-24T10:00:00Z';

type Created = Extract<TransferEvent, { type: 'created' }>;
type Initiation = NonNullable<Created['initiation']>;

export const INITIATION: Initiation = {
  ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'INV-1', body: '{}' },
  ...{ returnAddress: 'http://127.0.0.1:8910/callback?state=s1', returnState: 's1', repeatMinutes: null },
  ...{ needsLink: true, executesWithoutSca: 'never' },
};

/** The event that begins the transfer `tr-1`. */
export function createdTransfer(changes: Partial<Created> = {}): Created {
  return {
    ...{ type: 'created', flow: 'tr-1', transactionId: 't1', commits: 'by the customer' },
    order: transferOrder({ instant: false, type: null, reference: 'INV-1' }),
    initiation: INITIATION,
    ...changes,
  };
}

/** The same at a bank that has `execute`. */
export function createdForExecute(): Created {
  const { initiation: _, ...created } = createdTransfer();
  return { ...created, commits: 'on execute' };
}

/** The bank has it as the resource `p1`. */
export const AT_THE_BANK: Extract<TransferEvent, { nextStep: string }> = {
  ...{ type: 'verified', resourceId: 'p1', totalAmount: null, commissions: null, bankName: null },
  nextStep: 'authorisation',
};

/** Its journal, and what the test finds in it. */
export interface TransferInMemory {
  open: Open<'transfer'>;
  /** What was recorded since the transfer was opened. */
  recorded: TransferEvent[];
  /** How often psd2 made sure that the flow is its own. */
  assertions: () => number;
  /** Called before an event is recorded. It may throw, as a store may. */
  beforeRecord: (record: (event: TransferEvent) => void) => void;
  /** Another psd2 has written these events: this one is overtaken, until it reads the journal again. */
  overtake: (...events: TransferEvent[]) => void;
}

export function transferInMemory(...events: TransferEvent[]): TransferInMemory {
  const fold = (transfer: Transfer | undefined, event: TransferEvent) =>
    applyTransferEvent(transfer, event, AT);
  const [first = createdTransfer(), ...rest] = events;
  let current = rest.reduce<Transfer>(fold, fold(undefined, first));
  let before: (event: TransferEvent) => void = () => {};
  let others: TransferEvent[] = [];
  let assertions = 0;
  const recorded: TransferEvent[] = [];
  const assertOurs = async () => {
    assertions += 1;
    if (others.length > 0) throw new Psd2Error('overtaken', 'Another psd2 has continued tr-1');
  };
  return {
    recorded,
    assertions: () => assertions,
    beforeRecord: (record) => {
      before = record;
    },
    overtake: (...more) => void others.push(...more),
    open: {
      get current() {
        return current;
      },
      async record(event) {
        before(event);
        if (others.length > 0) throw new Psd2Error('overtaken', 'Another psd2 has continued tr-1');
        recorded.push(event);
        current = fold(current, event);
        return current;
      },
      assertOurs,
      async reread() {
        current = others.reduce(fold, current);
        others = [];
        return current;
      },
    },
  };
}

/** A status of a payment, in the bank's word for it. */
export function paymentStatus(
  word: string,
  became: ResourceStatus['became'] = null,
  more: Partial<ResourceStatus> = {},
): ResourceStatus {
  return {
    authorizationStatus: word,
    executionStatus: null,
    authorization: { type: 'authorization', status: 'PENDING', bankStatus: word },
    became,
    ...more,
  };
}

/** SCA with statuses, one for each question; the last one stays. An error is thrown. */
export function scaThatSays(
  ...answers: (ResourceStatus | Error)[]
): Sca & { asked: Parameters<Sca['status']>[] } {
  const asked: Parameters<Sca['status']>[] = [];
  return {
    asked,
    start: () => Promise.reject(new TypeError('The bank has links')),
    async status(...question) {
      const answer = answers[Math.min(asked.length, answers.length - 1)];
      asked.push(question);
      if (answer === undefined) throw new TypeError('The test expects no question');
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

/** The run of a transfer in memory, as its steps need it. */
export function runInMemory(
  { open }: Pick<TransferInMemory, 'open'>,
  {
    sca,
    calls = {},
    ports = {},
  }: { sca?: Sca; calls?: Partial<PaymentCalls>; ports?: Partial<FlowPorts> } = {},
): Verifying<TransferOrder> & { ports: FlowPorts; sleeps: number[] } {
  const { order, transactionId } = open.current;
  const bank = answeringBank(() => ({ data: {} }));
  const world = fakeWorld();
  const run: Verifying<TransferOrder> = {
    open,
    calls: { ...bank.payments.transfer({ order, transactionId }), name: 'transfer', ...calls },
    ports: { bank: { ...bank, sca: sca ?? scaThatSays() }, world, customer: fakeCustomer(), ...ports },
    announcing: (type, revoking) =>
      announcing<Transfer, TransferEvent>(open, (intent) => ({ type, ...intent }), revoking),
    statusOf: (operation) => statusOf(run.ports, operation),
  };
  return { ...run, sleeps: world.sleeps };
}
