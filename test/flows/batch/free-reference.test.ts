import { expect, it } from 'vitest';
import type { Bank } from '../../../src/bank/ports/bank.ts';
import type { Sca } from '../../../src/bank/ports/customer.ts';
import type { StepEvent } from '../../../src/domain/operation.ts';
import type { ResourceStatus, ScaProgress } from '../../../src/domain/payment-answers.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { beginTransferFlow } from '../../../src/flows/batch/free-reference.ts';
import type { Begin, Flows } from '../../../src/store/ports/flows.ts';
import { transferOrder } from '../../domain/orders.ts';
import { begun } from '../../store/flows.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { fakeWorld } from '../doubles.ts';
import { AT_THE_BANK, FAILING, INITIATION, INTERRUPTED, paymentStatus } from '../stored-transfers.ts';
import { flowsIn } from '../transfers.ts';

// A payment that the bank has cancelled keeps its reference as long as a customer's link of it may work.

const temporary = temporaryFolder();
const LATE = '9999-12-31T00:00:00.000Z';
const SENT: StepEvent = { type: 'verify-sent', requestId: 'q1', digest: null };
const LINK: StepEvent = {
  type: 'sca-started',
  links: { approach: 'redirect', id: 'a1', redirect: 'https://b/a1' },
};
const KEPT: StepEvent = { type: 'cancelled', linkUntil: LATE };
const WITH_LINK: StepEvent[] = [SENT, AT_THE_BANK, LINK, KEPT];

const CANCELLED = paymentStatus('CANC', 'cancelled');
const GOING_ON: ScaProgress = { scaStatus: 'started', means: 'going on', message: null };
const OVER: ScaProgress = { scaStatus: 'failed', means: 'failed', message: null };

const BEGIN: Begin<'transfer'> = {
  ...{ transactionId: 't9', commits: 'by the customer', initiation: INITIATION },
  order: transferOrder({ instant: false, type: null, reference: 'INV-1' }),
};

/** The bank, which says this of each payment and each link. @param bulk whether it has bulk payments */
function bankSaying(status: ResourceStatus | Error, progress: ScaProgress | Error, hasBulk: boolean): Bank {
  const said = <T>(answer: T | Error) =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  const sca: Sca = {
    timing: { pollSeconds: 1, authorisationMinutes: 10 },
    start: () => Promise.reject(new TypeError('Nothing is started')),
    status: () => said(status),
    progress: () => said(progress),
  };
  const bulk = hasBulk ? { calls: () => ({ sca }) } : undefined;
  const unasked: Sca = { ...sca, status: () => Promise.reject(new TypeError('These are not its calls')) };
  return Object.create({ sca: hasBulk ? unasked : sca, payments: { transfer: () => ({ sca }), bulk } });
}

/** Stores the transfer that holds the reference, and its bulk payment if it has one. */
async function hold(flows: Flows, own: readonly TransferEvent[], bulk: readonly StepEvent[] | null) {
  const { customerId, from } = BEGIN.order;
  let joined: TransferEvent[] = [];
  if (bulk) {
    const operation = await begun(flows, 'operation', {
      ...{ transactionId: 't2', commits: 'by the customer', initiation: INITIATION },
      order: { customerId, from, operation: 'bulk-payments', data: '{}' },
    });
    for (const event of bulk) await operation.record(event);
    joined = [{ type: 'bulk-joined', bulk: operation.current.flow }];
  }
  const holder = await begun(flows, 'transfer', { ...BEGIN, transactionId: 't1' });
  for (const event of [...joined, ...own]) await holder.record(event);
  return holder.current.flow;
}

interface Case {
  own?: readonly TransferEvent[];
  /** The events of its bulk payment. */
  bulk?: readonly StepEvent[];
  status?: ResourceStatus | Error;
  progress?: ScaProgress | Error;
  /** The bank has no calls for such a payment any more. */
  hasNoCalls?: true;
}

/** @returns what another transfer with the reference meets, and what became of the one that holds it */
async function taking({ own = WITH_LINK, bulk, hasNoCalls, status = CANCELLED, progress = OVER }: Case) {
  const flows = flowsIn(newConfigFolder(temporary), fakeWorld());
  const holder = await hold(flows, own, bulk ?? null);
  const bank = bankSaying(status, progress, bulk !== undefined);
  if (hasNoCalls)
    bank.payments.transfer = () => {
      throw FAILING;
    };
  let began = 0;
  const work = beginTransferFlow(flows, bank, BEGIN, async () => {
    began += 1;
  });
  const end = await work.then(
    () => 'begun',
    (error: Error) => ('code' in error ? String(error.code) : error.message),
  );
  const { state, linkUntil } = await flows.find('transfer', holder);
  return [end, began, state, linkUntil];
}

const IN_BULK: TransferEvent[] = [{ type: 'sca-started' }, KEPT];
const TAKEN = ['duplicate_reference', 0];
it.each<[string, Case, unknown[]]>([
  ['the bank says that the link is over', {}, ['begun', 1, 'cancelled', null]],
  ['the link may still work', { progress: GOING_ON }, [...TAKEN, 'cancelled', LATE]],
  ['the bank cannot be asked', { status: FAILING }, [...TAKEN, 'cancelled', LATE]],
  ['the bank has no calls for it', { hasNoCalls: true }, [...TAKEN, 'cancelled', LATE]],
  ['Ctrl-C ends the question', { status: INTERRUPTED }, ['interrupted', 0, 'cancelled', LATE]],
  [
    'the customer has paid with it',
    { status: paymentStatus('ACSC', 'executed') },
    [...TAKEN, 'executed', LATE],
  ],
  ['it waits for its customer', { own: [SENT, AT_THE_BANK, LINK] }, [...TAKEN, 'authorizing', null]],
  [
    'the link of its bulk payment is over',
    { own: IN_BULK, bulk: WITH_LINK },
    ['begun', 1, 'cancelled', null],
  ],
  [
    'that of its bulk payment may still work',
    { own: IN_BULK, bulk: WITH_LINK, progress: GOING_ON },
    [...TAKEN, 'cancelled', LATE],
  ],
  [
    'the bulk payment cannot be asked about',
    { own: IN_BULK, bulk: WITH_LINK, status: FAILING },
    [...TAKEN, 'cancelled', LATE],
  ],
  [
    'the bulk payment has ended, and its link is over',
    { own: IN_BULK, bulk: [...WITH_LINK, { type: 'link-over' }] },
    ['begun', 1, 'cancelled', null],
  ],
  [
    'the bank has executed the bulk payment after its link was over',
    { own: IN_BULK, bulk: [...WITH_LINK, { type: 'link-over' }, { type: 'executed', cro: null }] },
    [...TAKEN, 'cancelled', LATE],
  ],
  [
    'nobody knows what became of the bulk payment after its link was over',
    { own: IN_BULK, bulk: [...WITH_LINK, { type: 'link-over' }, { type: 'execute-unanswered' }] },
    [...TAKEN, 'cancelled', LATE],
  ],
  [
    'the customer has paid the bulk payment with it',
    { own: IN_BULK, bulk: WITH_LINK, status: paymentStatus('ACSC', 'executed') },
    [...TAKEN, 'cancelled', LATE],
  ],
])('a reference that a cancelled payment holds: %s', async (_, stored, result) => {
  expect(await taking(stored)).toEqual(result);
});

it('the refusal says what the payment has become that holds the reference', async () => {
  const flows = flowsIn(newConfigFolder(temporary), fakeWorld());
  await hold(flows, WITH_LINK, null);
  const bank = bankSaying(paymentStatus('ACSC', 'executed'), OVER, false);
  await expect(beginTransferFlow(flows, bank, BEGIN, async () => {})).rejects.toMatchObject({
    ...{ code: 'duplicate_reference', message: expect.stringMatching(/, which is executed$/) },
  });
});

it('what the work of the new transfer throws is no reason to begin it again', async () => {
  const flows = flowsIn(newConfigFolder(temporary), fakeWorld());
  let began = 0;
  const work = beginTransferFlow(flows, bankSaying(CANCELLED, OVER, false), BEGIN, async () => {
    began += 1;
    throw FAILING;
  });
  await expect(work).rejects.toBe(FAILING);
  expect(began).toBe(1);
});
