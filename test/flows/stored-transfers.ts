import { join } from 'node:path';
import type { Sca } from '../../src/bank/ports/customer.ts';
import type { PaymentCalls } from '../../src/bank/ports/payment-calls.ts';
import { transferEvent } from '../../src/domain/events.ts';
import type { OperationStep } from '../../src/domain/next-step.ts';
import type { ResourceStatus } from '../../src/domain/payment-answers.ts';
import type { TransferEvent } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { ifAnswered } from '../../src/flows/payment/outcome.ts';
import { askBank, resourceOf } from '../../src/flows/payment/status.ts';
import type { FlowPorts, Run } from '../../src/flows/ports.ts';
import { readFlowFile } from '../../src/store/files/flows/file.ts';
import type { Flows, Open } from '../../src/store/ports/flows.ts';
import { answeringBank } from '../bank/answering-bank.ts';
import { transferOrder } from '../domain/orders.ts';
import { begun, opened } from '../store/flows.ts';
import { newConfigFolder } from '../store/temporary-folder.ts';
import { disturbed, fakeCustomer, fakeWorld } from './doubles.ts';
import { flowsIn } from './transfers.ts';

// A transfer that the customer commits, with its journal on the disk.

const AT = '2026-11-24T10:00:00Z';
/** The id of the first transfer of that time in a folder. */
export const FLOW = 'tr-0mwuiwxs0iiiii';

type Created = Extract<TransferEvent, { type: 'created' }>;
type Initiation = NonNullable<Created['initiation']>;

export const INITIATION: Initiation = {
  ...{ service: 'payments', product: 'sepa-credit-transfers', endToEndId: 'INV-1', body: '{}' },
  ...{ returnAddress: 'http://127.0.0.1:8910/callback?state=s1', returnState: 's1', repeatMinutes: null },
  ...{ needsLink: true, executesWithoutSca: 'never' },
};

/** The event that begins the transfer {@link FLOW}. */
export function createdTransfer(changes: Partial<Created> = {}): Created {
  return {
    ...{ type: 'created', flow: FLOW, transactionId: 't1', commits: 'by the customer' },
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

export const FAILING = new Psd2Error('bank_failing', 'The bank is away');
export const INTERRUPTED = new Psd2Error('interrupted', 'Ctrl-C');

/** What the operator reads if the outcome of the transfer is unknown. */
export const FIND_OUT = {
  hint: "First ask the bank again, which never pays twice. If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:",
  next: [
    ['transfer', 'resume', FLOW],
    ['transfer', 'resolve', FLOW, '--executed'],
    ['transfer', 'resolve', FLOW, '--not-executed'],
  ],
  flow: FLOW,
  transactionId: 't1',
};

/** For operators who go step by step: psd2 stops before each of these. */
export const EVERY_STEP: OperationStep[] = [
  ...(['verify', 'verify-further', 'accept', 'accept-fees', 'authorize', 'await-authorization'] as const),
  ...(['execute', 'ask-outcome', 'await-settlement', 'done'] as const),
];

/** What a step alone says of that: the loop adds the way out. */
export const OF_A_STEP = { hint: undefined, next: undefined, flow: undefined, transactionId: undefined };

/** A transfer in a folder of its own, and what its test finds there. */
export interface StoredTransfer {
  open: Open<'transfer'>;
  /** The flows of the profile. */
  flows: Flows;
  /** What the journal got since the transfer was opened, whoever wrote it. */
  recorded(): TransferEvent[];
  /** Called before an event is recorded. */
  beforeRecord(happens: (type: TransferEvent['type']) => unknown): void;
  /** Another psd2 takes the transfer and writes these events. */
  overtake(...events: TransferEvent[]): Promise<void>;
}

/** @returns a function that stores a transfer to which these events have happened, each in a new folder in `parent` */
export function transfersIn(parent: string): (...events: TransferEvent[]) => Promise<StoredTransfer> {
  return async (first = createdTransfer(), ...rest) => {
    if (first.type !== 'created') throw new TypeError('The first event is the creation');
    const { type: _type, flow, ...begin } = first;
    const folder = newConfigFolder(parent);
    const worker = () => flowsIn(folder, { now: () => new Date(AT) });
    const flows = worker();
    const stored = await begun(flows, 'transfer', begin);
    for (const event of rest) await stored.record(event);
    const path = join(folder.flows('sandbox'), `${flow}.ndjson`);
    const journal = () =>
      readFlowFile<TransferEvent[], TransferEvent>(path, transferEvent, (all = [], event) => [...all, event])
        ?.current ?? [];
    const before = journal().length;
    let beforeRecord: (type: TransferEvent['type']) => unknown = () => {};
    return {
      flows,
      recorded: () => journal().slice(before),
      beforeRecord: (happens) => {
        beforeRecord = happens;
      },
      async overtake(...events) {
        const theirs = await opened(worker(), 'transfer', flow);
        for (const event of events) await theirs.record(event);
      },
      open: disturbed(stored, (type) => (type === 'the first byte' ? undefined : beforeRecord(type))),
    };
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

/** The run of a transfer, as its steps need it. */
export function runOf(
  { open }: Pick<StoredTransfer, 'open'>,
  {
    sca,
    calls = {},
    ports = {},
  }: { sca?: Sca; calls?: Partial<PaymentCalls>; ports?: Partial<FlowPorts> } = {},
): Run & { sleeps: number[] } {
  const { order, transactionId } = open.current;
  const bank = answeringBank(() => ({ data: {} }));
  const world = fakeWorld();
  const asked = sca ?? scaThatSays();
  const ask: Run['ask'] = (payment, question) => askBank(asked, payment, question);
  const run: Run = {
    open,
    ask,
    askIfAnswered: (payment, question) => ifAnswered(ask(payment, question)),
    resource: resourceOf,
    calls: { ...bank.payments.transfer({ order, transactionId }), name: 'transfer', ...calls },
    ports: {
      ...{ bank: { ...bank, sca: asked }, world, customer: fakeCustomer() },
      accept: async () => true,
      ...ports,
    },
  };
  return { ...run, sleeps: world.sleeps };
}
