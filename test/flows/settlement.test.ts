import { describe, expect, it } from 'vitest';
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
  /** When psd2 made each status call, in milliseconds after execute ended. */
  const asked: number[] = [];
  const run = () => {
    const { bank } = openClient({
      now: transfer.world.now,
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
  it('a status that stays open is named in the bank’s own word', async () => {
    const { run } = await executed();
    for (let polls = 0; polls < 5; polls += 1) script.executionStatus(executionStatus('WORKING'));
    await expect(run()).rejects.toMatchObject({
      ...stillPending,
      message: 'The instant transfer is executed, but its status at the bank is still WORKING',
    });
  });
});

describe('an instant transfer that is resumed later', () => {
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
