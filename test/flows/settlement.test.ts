import { describe, expect, it } from 'vitest';
import { refusal } from '../bank/answers.ts';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { executionStatus, newTransfer, scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

/** An instant transfer that the bank executed just now. */
async function executed() {
  const transfer = await newTransfer(newConfigFolder(temporary));
  await transfer.open.record(VERIFIED);
  await transfer.open.record({ type: 'executed', cro: '1' });
  /** When psd2 made each status call, in milliseconds after execute ended. Each answer takes `slow`. */
  const asked: number[] = [];
  const run = (slow: (poll: number) => number = () => 0) => {
    const { bank } = openClient({
      now: transfer.world.now,
      observe: async () => {
        transfer.world.pass(slow(asked.length));
      },
      tokens: {
        async current() {
          asked.push(transfer.world.elapsed());
          return 'token';
        },
        renewed: async () => 'never',
      },
    });
    return transfer.run(bank);
  };
  return { transfer, asked, run };
}

const stillPending = {
  code: 'outcome_unknown',
  message: 'The instant transfer is executed, but its status at the bank is still PENDING',
};

describe('the status of an instant transfer', () => {
  it('psd2 asks for the status after 1 s, then every 3 to 5 s, and last after 15 s', async () => {
    const { transfer, asked, run } = await executed();
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(executionStatus('PENDING'));
    await expect(run()).rejects.toMatchObject(stillPending);
    expect(asked[0]).toBeGreaterThanOrEqual(1000);
    expect(asked.at(-1)).toBe(15_000);
    asked.slice(1).forEach((time, index) => {
      const gap = time - (asked[index] ?? 0);
      // A call may start 0.5 s late.
      expect(gap).toBeGreaterThanOrEqual(3500);
      expect(gap).toBeLessThanOrEqual(4500);
    });
    expect([await transfer.stored()]).toMatchObject([{ state: 'executed', executionStatus: 'PENDING' }]);
  });

  it.each([1, 2, 5])('psd2 stops asking for the status once it is final, at poll %i', async (final) => {
    const { asked, run } = await executed();
    for (let polls = 1; polls < final; polls += 1) script.executionStatus(executionStatus('PENDING'));
    script.executionStatus(executionStatus('OK'));
    expect(await run()).toMatchObject({ state: 'settled', cro: '1' });
    expect(asked).toHaveLength(final);
  });

  it('a status that psd2 does not know counts as pending', async () => {
    const { run } = await executed();
    script.executionStatus(executionStatus('WORKING'));
    script.executionStatus(executionStatus('OK'));
    expect(await run()).toMatchObject({ state: 'settled' });
  });

  it('a status that stays open is named in the bank’s own word', async () => {
    const { run } = await executed();
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(executionStatus('WORKING'));
    await expect(run()).rejects.toMatchObject({
      ...stillPending,
      message: 'The instant transfer is executed, but its status at the bank is still WORKING',
    });
  });

  it('psd2 does not catch up on missed polls after a slow answer', async () => {
    const { asked, run } = await executed();
    for (let polls = 0; polls < 3; polls += 1) script.executionStatus(executionStatus('PENDING'));
    // The first answer comes at 8.5 s, after the polls planned for 4.5 and 8 s.
    await expect(run((poll) => (poll === 1 ? 7500 : 0))).rejects.toMatchObject(stillPending);
    expect(asked).toEqual([1000, 11_500, 15_000]);
  });

  it('psd2 asks at once if the previous answer takes until then', async () => {
    const { asked, run } = await executed();
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(executionStatus('PENDING'));
    await expect(run(() => 3500)).rejects.toMatchObject(stillPending);
    expect(asked).toEqual([1000, 4500, 8000, 11_500, 15_000]);
  });

  it('psd2 does not ask after 15 s if the first answer took longer', async () => {
    const { asked, run } = await executed();
    script.executionStatus(executionStatus('PENDING'));
    await expect(run(() => 20_000)).rejects.toMatchObject(stillPending);
    expect(asked).toEqual([1000]);
  });

  it('if the status cannot be read, the transfer stays executed', async () => {
    const { transfer, run } = await executed();
    script.executionStatus(refusal(412, 'PSD2_E1', 'Not now'));
    await expect(run()).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringContaining('is executed, but psd2 could not get its status: The bank refused'),
    });
    expect([await transfer.stored()]).toMatchObject([{ state: 'executed' }]);
  });
});

describe('an instant transfer that is resumed later', () => {
  it('psd2 asks for the status at once if the transfer is resumed after the 15 s', async () => {
    const { transfer, asked, run } = await executed();
    transfer.world.pass(100_000);
    script.executionStatus(executionStatus('OK'));
    expect(await run()).toMatchObject({ state: 'settled' });
    expect(asked).toEqual([100_000]);
  });

  it.each([4500, 5000])(
    'psd2 asks for the status at the remaining times if the transfer is resumed after %i ms',
    async (passed) => {
      const { transfer, asked, run } = await executed();
      transfer.world.pass(passed);
      for (let polls = 0; polls < 3; polls += 1) script.executionStatus(executionStatus('PENDING'));
      await expect(run()).rejects.toMatchObject(stillPending);
      expect(asked).toEqual([8000, 11_500, 15_000]);
    },
  );
});
