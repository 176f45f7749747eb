import { expect, it } from 'vitest';
import { useClients } from '../bank/client.ts';
import { useRecordedBank } from '../bank/recorded-bank.ts';
import { VERIFIED } from '../domain/orders.ts';
import { newConfigFolder, temporaryFolder } from '../store/temporary-folder.ts';
import { executionStatus, newTransfer, scriptOf } from './transfers.ts';

const recorded = useRecordedBank();
const openClient = useClients(recorded);
const script = scriptOf(recorded);
const temporary = temporaryFolder();

it.each([4500, 5000])(
  'an instant transfer that is resumed %i ms after execute: psd2 asks for its status at the remaining times',
  async (passed) => {
    const transfer = await newTransfer(newConfigFolder(temporary));
    await transfer.open.record(VERIFIED);
    await transfer.open.record({ type: 'executed', cro: '1' });
    const asked: number[] = [];
    const current = async () => {
      asked.push(transfer.world.elapsed());
      return 'token';
    };
    transfer.world.pass(passed);
    for (let polls = 0; polls < 3; polls += 1) script.executionStatus(executionStatus('WORKING'));
    const tokens = { current, renewed: async () => 'never' };
    const run = transfer.run(openClient({ now: transfer.world.now, tokens }).bank);
    await expect(run).rejects.toMatchObject({
      code: 'outcome_unknown',
      message: 'The instant transfer is executed, but its status at the bank is still WORKING',
    });
    expect(asked).toEqual([8000, 11_500, 15_000]);
  },
);
