import { describe, expect, it } from 'vitest';
import { watchTransfer } from '../../../src/commands/transfer/watch.ts';
import type { TransferEvent, TransferOrder } from '../../../src/domain/transfer.ts';
import { operationStatus } from '../../bank/answers.ts';
import { useClients } from '../../bank/client.ts';
import { useRecordedBank } from '../../bank/recorded-bank.ts';
import { VERIFIED } from '../../domain/orders.ts';
import { executionStatus, newTransfer, scriptOf } from '../../flows/transfers.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

const INTENT = { requestId: 'request-1', digest: null };
const AT_SCA: TransferEvent[] = [VERIFIED, { type: 'accepted' }, { type: 'sca-started' }];
const EXECUTED: TransferEvent[] = [
  ...AT_SCA,
  { type: 'authorization', status: 'AUTHORIZED', bankStatus: 'AUTHORIZED' },
  { type: 'execute-sent', ...INTENT },
  { type: 'executed', cro: '0012345678' },
];

/** A transfer with these events, and the function that watches it. */
async function watched(order: Partial<TransferOrder>, events: TransferEvent[], isAtWork = async () => false) {
  const { world, stored, open } = await newTransfer(newConfigFolder(temporary), { order });
  for (const event of events) await open.record(event);
  const written = open.current;
  const { bank } = openClient({ now: world.now });
  const seen: string[] = [];
  const watch = () =>
    watchTransfer({
      world,
      bank: async () => bank,
      read: stored,
      isAtWork,
      seen: ({ state }) => void seen.push(state),
    });
  return { world, open, written, watch, seen, now: stored };
}

const SCT = { instant: false, type: null };

describe('watching a transfer', () => {
  it.each<[string, Partial<TransferOrder>, TransferEvent[]]>([
    ['was executed', SCT, EXECUTED],
    ['was cancelled', SCT, [VERIFIED, { type: 'cancelled' }]],
    ['waits for the operator', SCT, [VERIFIED]],
    ['waits for further data of the operator', SCT, [{ ...VERIFIED, nextStep: 'verify2' }]],
    ['was confirmed and not yet shown to the customer', SCT, [VERIFIED, { type: 'accepted' }]],
    ['has not reached the bank', SCT, []],
  ])('a watched transfer that %s is reported at once, without a call', async (_, order, events) => {
    const { watch, world, written } = await watched(order, events);
    expect(await watch()).toEqual(written);
    expect(world.sleeps).toEqual([]);
    expect(recorded.received).toEqual([]);
  });

  it.each(['AUTHORIZED', 'NOT_AUTHORIZED', 'EXPIRED'])(
    'a transfer at SCA is polled with growing pauses until the bank says %s, and nothing is recorded',
    async (decision) => {
      const { watch, world, written, now } = await watched(SCT, AT_SCA);
      for (let pending = 0; pending < 9; pending += 1) script.status(operationStatus('PENDING'));
      script.status(operationStatus(decision));
      expect(await watch()).toMatchObject({ state: 'authorizing', authorizationStatus: decision });
      expect(world.sleeps).toEqual([
        3_000, 4_500, 6_750, 10_125, 15_187.5, 22_781.25, 30_000, 30_000, 30_000,
      ]);
      expect(await now()).toEqual(written);
    },
  );

  it('while another psd2 works on the transfer, the watcher follows its journal and does not call the bank', async () => {
    let looks = 0;
    const { watch, open, seen, world } = await watched({}, AT_SCA, async () => {
      looks += 1;
      if (looks === 2) for (const event of EXECUTED.slice(AT_SCA.length)) await open.record(event);
      if (looks === 3) await open.record({ type: 'settlement', status: 'OK', description: null });
      return true;
    });
    expect(await watch()).toMatchObject({ state: 'settled' });
    expect(seen).toEqual(['authorizing', 'authorizing', 'executed', 'settled']);
    expect(world.sleeps).toEqual([3_000, 4_500, 6_750]);
    expect(recorded.received).toEqual([]);
  });

  it('an instant transfer is polled at the times for instant transfers until it is settled', async () => {
    const { watch, world, written, now } = await watched({}, EXECUTED);
    for (const status of ['PENDING', 'PENDING']) script.executionStatus(executionStatus(status));
    script.executionStatus(executionStatus('KO', 'Account closed'));
    expect(await watch()).toEqual({
      ...written,
      executionStatus: 'KO',
      executionStatusDescription: 'Account closed',
      reasons: [{ level: 'payment', code: null, proprietary: null, text: 'Account closed' }],
    });
    expect(world.sleeps).toEqual([1_000, 3_500, 3_500]);
    expect(await now()).toEqual(written);
  });

  it('watching a transfer that is PENDING 15 s after execute ends with the commands to continue', async () => {
    const { watch, world, written } = await watched({}, EXECUTED);
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(executionStatus('PENDING'));
    await expect(watch()).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: 'The bank still calls the status of the instant transfer PENDING',
      context: {
        flow: written.flow,
        next: [
          ['transfer', 'resume', written.flow],
          ['transfer', 'resolve', written.flow, '--executed'],
          ['transfer', 'resolve', written.flow, '--not-executed'],
        ],
      },
    });
    expect(world.elapsed()).toBe(15_000);
  });

  it('the time of the people before execute is not a part of these 15 s', async () => {
    const { watch, world, open } = await watched({}, AT_SCA);
    await world.sleep(60_000);
    for (const event of EXECUTED.slice(AT_SCA.length)) await open.record(event);
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(executionStatus('PENDING'));
    await expect(watch()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(world.elapsed()).toBe(75_000);
  });

  it('a transfer whose execute had no answer is not over when the bank calls it authorised', async () => {
    const { watch } = await watched(SCT, [...EXECUTED.slice(0, -1), { type: 'execute-unanswered' }]);
    script.status(operationStatus('AUTHORIZED'));
    script.status(operationStatus('AUTHORIZED', 'EXECUTED'));
    expect(await watch()).toMatchObject({ state: 'unknown', executionStatus: 'EXECUTED' });
  });
});
