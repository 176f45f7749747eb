import { describe, expect, it } from 'vitest';
import type { Sca, ScaLinks } from '../../src/bank/ports/customer.ts';
import type { PaymentCalls } from '../../src/bank/ports/payment-calls.ts';
import { transferEvent } from '../../src/domain/events.ts';
import { NO_END } from '../../src/domain/given-links.ts';
import type { OperationStep } from '../../src/domain/next-step.ts';
import type { ScaProgress } from '../../src/domain/payment-answers.ts';
import type { TransferEvent, TransferOrder } from '../../src/domain/transfer.ts';
import { Psd2Error } from '../../src/errors.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { OperationPorts } from '../../src/flows/ports.ts';
import { transferOrder } from '../domain/orders.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, fakeWorld, returnsTo } from './doubles.ts';
import {
  AT_THE_BANK,
  createdForExecute,
  createdTransfer,
  FAILING,
  FLOW,
  INITIATION,
  paymentStatus,
  runOf,
  scaThatSays,
  transfersIn,
} from './stored-transfers.ts';

// What psd2 asks and records if it continues a transfer, and what it does without ports that are not there.

const transferAfter = transfersIn(temporaryFolder());
const LOGIN: ScaLinks = { approach: 'redirect', oauth: 'https://oauth.bank.example' };
const INSTANT = transferOrder({ instant: true, type: 'SCT_INST', reference: 'INV-1' });
const ACCEPTED: TransferEvent = { type: 'accepted' };
const SENT: TransferEvent = { type: 'verify-sent', requestId: 'q1', digest: null };
const STARTED: TransferEvent = { type: 'sca-started' };
const AUTHORIZED: TransferEvent = { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'ACTC' };
const EXECUTED: TransferEvent = { type: 'executed', cro: null };
const WITH_CUSTOMER = [ACCEPTED, SENT, AT_THE_BANK, STARTED];
const allowed = (word: string) =>
  paymentStatus(word, null, {
    authorization: { type: 'authorization', status: 'AUTHORIZED', bankStatus: word },
  });
const refusedToken = new Psd2Error('not_logged_in', 'The bank does not accept the token', {
  ...{ httpStatus: 401, refusal: 'unread', isBanks: true },
});

type Stored = Awaited<ReturnType<typeof transferAfter>>;
interface Setting {
  sca?: ReturnType<typeof scaThatSays>;
  calls?: Partial<PaymentCalls>;
  ports?: Partial<OperationPorts<TransferOrder>>;
  until?: OperationStep[];
}

/** Continues a transfer right after its last change, with an operator who confirms it. */
async function resume(stored: Stored, { sca = scaThatSays(), calls = {}, ports = {}, until }: Setting = {}) {
  const run = runOf(stored, { sca, calls });
  const world = fakeWorld();
  const last = Date.parse(stored.open.current.updatedAt);
  const own = { accept: async () => true, world: { ...world, now: () => new Date(last + world.elapsed()) } };
  const work = runOperation(stored.open, run.calls, { ...run.ports, ...own, ...ports }, until);
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, work, types: stored.recorded().map(({ type }) => type), sleeps: world.sleeps };
}

/** What psd2 asked an instant transfer's status for, and the answers. The last one stays. */
function settling(...statuses: string[]) {
  const asked: string[] = [];
  const executionStatus = async (resourceId: string) => {
    const executionStatus = statuses[Math.min(asked.length, statuses.length - 1)] ?? '';
    asked.push(resourceId);
    const status = executionStatus === 'OK' ? ('OK' as const) : ('PENDING' as const);
    return { status, executionStatus, executionStatusDescription: null };
  };
  return { asked, executionStatus };
}

describe('a transfer that the bank has accepted, and that is continued', () => {
  it.each([
    ['says the same', paymentStatus('ACSC', 'executed')],
    ['says only that the customer has authorised it', allowed('ACTC')],
    ['says that it waits', paymentStatus('PDNG')],
    ['does not answer', FAILING],
  ])('if the bank %s, it stays executed, and nothing is recorded', async (_, said) => {
    const stored = await transferAfter(createdTransfer(), ...WITH_CUSTOMER, AUTHORIZED, EXECUTED);
    const sca = scaThatSays(said);
    expect(await resume(stored, { sca })).toMatchObject({ error: null, types: [] });
    expect(sca.asked.map(([resourceId]) => resourceId)).toEqual(['p1']);
    expect(stored.open.current.state).toBe('executed');
  });

  it('if it is instant, psd2 asks only whether it is settled', async () => {
    const created = createdTransfer({ order: INSTANT });
    const stored = await transferAfter(created, ...WITH_CUSTOMER, AUTHORIZED, EXECUTED);
    const { asked, executionStatus } = settling('OK');
    const sca = scaThatSays(paymentStatus('ACSC', 'executed'));
    expect(await resume(stored, { sca, calls: { executionStatus } })).toMatchObject({
      types: ['settlement'],
    });
    expect([asked, sca.asked]).toEqual([['p1'], []]);
  });

  it('if it had failed, psd2 asks nothing', async () => {
    const failed: TransferEvent = { type: 'settlement', status: 'KO', description: 'No funds' };
    const stored = await transferAfter(createdTransfer(), ...WITH_CUSTOMER, failed);
    const sca = scaThatSays(paymentStatus('CANC', 'cancelled'));
    const { error, types } = await resume(stored, { sca });
    expect(error).toMatchObject({ code: 'payment_failed', message: 'The payment failed: No funds' });
    expect([types, sca.asked]).toEqual([[], []]);
  });
});

it('a transfer without execute, whose customer has authorised it, asks for its settlement once a question', async () => {
  const stored = await transferAfter(createdTransfer({ order: INSTANT }), ...WITH_CUSTOMER, AUTHORIZED);
  const { asked, executionStatus } = settling('PENDING', 'PENDING', 'OK');
  const sca = scaThatSays(allowed('ACTC'));
  const { types } = await resume(stored, { sca, calls: { executionStatus } });
  expect(types).toEqual(['executed', 'settlement']);
  expect([asked.length, sca.asked.length]).toEqual([3, 0]);
});

it('a transfer that the customer authorised, without the line with its resource, is not initiated again', async () => {
  const stored = await transferAfter(createdTransfer(), ACCEPTED, SENT, STARTED, AUTHORIZED);
  const { work, types } = await resume(stored);
  expect(await errorOf(work)).toMatchObject({
    code: 'config',
    message: `The journal of ${FLOW} does not have the line with its resource at the bank`,
    hint: 'The journal is the record of a flow. Restore it from a backup.',
  });
  expect(types).toEqual([]);
});

describe('fees in the answer to an initiation', () => {
  const withFees = transferEvent.parse({ ...AT_THE_BANK, commissions: { amount: '1.20', currency: 'EUR' } });

  it('need no answer where nobody asks for one', async () => {
    const stored = await transferAfter(createdTransfer(), ACCEPTED, SENT, withFees);
    expect(await resume(stored, { until: ['authorize'] })).toMatchObject({
      ...{ error: null, types: ['fees-accepted'] },
    });
  });

  it('that the operator refuses, of a payment that may run without its customer, leave it at the bank', async () => {
    const initiation = { ...INITIATION, executesWithoutSca: 'possible' } as const;
    const stored = await transferAfter(createdTransfer({ initiation }), ACCEPTED, SENT, withFees);
    const { work, types } = await resume(stored, { ports: { acceptFees: async () => false } });
    expect(await errorOf(work)).toEqual({
      code: 'cancelled',
      message: 'The customer was not asked to authorise the transfer, but the bank has it',
      hint: 'Cancel it at the bank with:',
      next: [['transfer', 'cancel', FLOW]],
      flow: FLOW,
      transactionId: 't1',
    });
    expect([types, stored.open.current.state]).toEqual([[], 'verified']);
  });
});

it('a customer whose login for a transfer has a token that the bank does not accept logs in again', async () => {
  const verified = { ...AT_THE_BANK, links: LOGIN };
  const stored = await transferAfter(createdTransfer(), ACCEPTED, SENT, verified, STARTED);
  const ended = await resume(stored, { sca: scaThatSays(refusedToken), until: ['authorize'] });
  expect(ended).toMatchObject({ error: null, types: ['sca-again'] });
});

it('an initiation that is sent again needs nobody to say it to', async () => {
  const stored = await transferAfter(createdTransfer(), ACCEPTED, SENT, { type: 'execute-unanswered' });
  const initiated = async () => ({ answer: 'lost' as const, announced: [SENT.requestId] });
  const ended = await resume(stored, { until: ['verify'], ports: { initiated } });
  expect(ended).toMatchObject({ error: null, types: ['initiate-again'] });
});

describe('a transfer at a bank with execute', () => {
  const READY = [AT_THE_BANK, ACCEPTED, STARTED, AUTHORIZED];
  const TURNED_AWAY: TransferEvent[] = [
    { type: 'execute-sent', requestId: 'q2', digest: null },
    { type: 'execute-turned-away' },
  ];

  it('its customer goes to SCA in the way of that bank, whatever psd2 could do at another one', async () => {
    const stored = await transferAfter(createdForExecute(), AT_THE_BANK, ACCEPTED);
    const sca = { ...scaThatSays(), start: async () => 'https://customers.bank.example/sca' };
    expect(
      await resume(stored, { sca, ports: { returns: returnsTo() }, until: ['await-authorization'] }),
    ).toMatchObject({
      ...{ error: null, types: ['sca-started', 'sca-returned'] },
    });
  });

  it('if it was turned away, psd2 asks once whether it is settled, and then executes it', async () => {
    const stored = await transferAfter({ ...createdForExecute(), order: INSTANT }, ...READY, ...TURNED_AWAY);
    const { asked, executionStatus } = settling('PENDING', 'OK');
    const execute = async () => {
      expect(asked).toEqual(['p1']);
      return { cro: null };
    };
    const { error, types } = await resume(stored, {
      ...{ sca: scaThatSays(allowed('AUTHORIZED')), calls: { executionStatus, execute } },
    });
    expect([error, types]).toEqual([null, ['authorization', 'executed', 'settlement']]);
  });

  it('is not executed by calls that have no execute', async () => {
    const stored = await transferAfter(createdForExecute(), ...READY);
    const { error, types } = await resume(stored, {
      ...{ sca: scaThatSays(allowed('AUTHORIZED')), calls: { execute: null } },
    });
    expect([String(error), types]).toEqual([`TypeError: The bank has no execute for ${FLOW}`, []]);
  });
});

describe('a transfer that the bank has cancelled while its customer had a link that may work', () => {
  const LINKS: ScaLinks = {
    approach: 'redirect',
    id: 'a1',
    redirect: 'https://bank.example/a1',
    status: '/a1',
  };
  const KEPT: TransferEvent[] = [
    ...[ACCEPTED, SENT, AT_THE_BANK],
    ...[{ type: 'sca-started', links: LINKS } as const, { type: 'cancel-taken' } as const],
    { type: 'cancelled', linkUntil: NO_END },
  ];
  const cancelled = paymentStatus('CANC', 'cancelled');
  const being = (means: ScaProgress['means']) => async () => ({ scaStatus: means, means, message: null });

  it.each<[string, Parameters<typeof scaThatSays>[0], Pick<Sca, 'progress'>, types: string[], code: string]>([
    ['does not answer', FAILING, {}, [], 'cancelled'],
    ['says that it waits', paymentStatus('RCVD'), {}, [], 'cancelled'],
    ['says the same, and nothing of the link', cancelled, {}, [], 'cancelled'],
    ['says that the link still works', cancelled, { progress: being('going on') }, [], 'cancelled'],
    ['says that the link is over', cancelled, { progress: being('failed') }, ['link-over'], 'cancelled'],
    [
      'says that they have authorised it',
      cancelled,
      { progress: being('done') },
      ['execute-unanswered'],
      'outcome_unknown',
    ],
    ['has executed it', paymentStatus('ACSC', 'executed'), {}, ['executed'], 'null'],
  ])('is asked about again, and the bank %s', async (_, says, progress, types, code) => {
    const stored = await transferAfter(createdTransfer(), ...KEPT);
    const { error, types: recorded } = await resume(stored, { sca: { ...scaThatSays(says), ...progress } });
    expect([recorded, error instanceof Psd2Error ? error.code : String(error)]).toEqual([types, code]);
  });
});

describe('the status of a transfer that waits is asked for as one that decides', () => {
  const EXECUTE_SENT: TransferEvent = { type: 'execute-sent', requestId: 'q2', digest: null };
  const TURNED_AWAY: TransferEvent = { type: 'execute-turned-away' };
  const PENDING: TransferEvent = { type: 'authorization', status: 'PENDING', bankStatus: 'STARTED' };
  const BEFORE = [AT_THE_BANK, ACCEPTED, STARTED];
  const ONCE_AUTHORIZED = [...BEFORE, AUTHORIZED];
  const REFUSED = [...ONCE_AUTHORIZED, EXECUTE_SENT, TURNED_AWAY];
  const UNTIL: OperationStep[] = ['authorize', 'execute'];

  it.each<[string, TransferEvent[], ReturnType<typeof paymentStatus>, boolean]>([
    ['nobody has authorised it', BEFORE, paymentStatus('STARTED'), false],
    ['it is authorised', ONCE_AUTHORIZED, allowed('AUTHORIZED'), false],
    ['its execute was turned away', REFUSED, allowed('AUTHORIZED'), true],
    [
      'its execute was turned away, and it waits again',
      [...REFUSED, PENDING],
      paymentStatus('STARTED'),
      true,
    ],
  ])('only after a refusal: %s', async (_, events, says, decides) => {
    const stored = await transferAfter(createdForExecute(), ...events);
    const sca = scaThatSays(says);
    await (await resume(stored, { sca, until: UNTIL })).work;
    expect(sca.asked).toEqual([['p1', 't1', decides]]);
  });
});
