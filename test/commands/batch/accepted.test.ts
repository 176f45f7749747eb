import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { endOf, NOW } from '../payer-here.ts';
import { RUN, withPayees } from './with-batch.ts';

// What a bank has accepted and may still reject: who asks again, what they say, and how a person ends it at a bank that never does.

const temporary = temporaryFolder();
const STATUS = ['batch', 'status', 'batch-1'];
const ALL = ['transfer', 'resume', '--all'];
const LATER = new Date(Date.parse(NOW) + 5 * 24 * 60 * 60_000).toISOString();

/** An operator whose bank has accepted two payments of a batch, alone or as one, and has not called them final. */
async function accepted(way: 'single' | 'bulk') {
  const bank = new BankHere({ commits: 'by the customer', bulk: { maxEntries: null } });
  bank.isFinal = false;
  const here = await withPayees(temporary, bank, ['Ada', 'Bea']);
  const ran = await here.payer.run([...RUN, '--as', way]);
  expect([ran.failure, ran.said]).toEqual([null, expect.stringContaining('0 of 2 paid, 2 accepted.')]);
  const { payer } = here;
  const stateOfBatch = async () => (await payer.run(['batch', 'show', 'batch-1'])).data.state;
  const asked = async (words: string[]) => {
    bank.calls.length = 0;
    const { failure, data } = await payer.run(words);
    return { failure, data, calls: bank.calls.length };
  };
  return { bank, payer, stateOfBatch, asked };
}

describe.each(['single', 'bulk'] as const)('payments that the bank has accepted (--as %s)', (way) => {
  it.each([
    ['batch status', STATUS],
    ['transfer resume --all', ALL],
    ['batch run', [...RUN, '--as', way]],
  ])('%s asks the bank again, and stays as it is until the bank says more', async (_, words) => {
    const { bank, stateOfBatch, asked } = await accepted(way);
    for (const round of [1, 2]) {
      const { failure, data, calls } = await asked(words);
      expect([round, failure, data.length, calls > 0]).toEqual([round, null, 2, true]);
    }
    expect(await stateOfBatch()).toBe('running');
    bank.isFinal = true;
    for (const reference of ['R-1', 'R-2'])
      bank.entries.set(reference, { transactionStatus: 'ACSC', means: 'paid', isFinal: true });
    expect((await asked(words)).failure).toBeNull();
    expect(await stateOfBatch()).toBe('done');
    expect((await asked(words)).calls).toBe(0);
  });

  it.each([
    ['batch status', STATUS, 'batch retry batch-1'],
    ['transfer resume --all', ALL, 'transfer list --attention'],
    ['batch run', [...RUN, '--as', way], 'batch retry batch-1'],
  ])('%s exits 8 if the bank rejects them then', async (_, words, next) => {
    const { bank, payer, stateOfBatch, asked } = await accepted(way);
    for (const payment of bank.payments) payment.became = 'failed';
    const { failure } = await asked(words);
    expect([failure?.exitCode, failure?.next]).toEqual([8, [next.split(' ')]]);
    expect(await stateOfBatch()).toBe('done');
    expect((await payer.run(['batch', 'retry', 'batch-1'])).data.lines).toBe(2);
  });

  it('at a bank that never calls them final a person ends them, and status no longer names them', async () => {
    const { payer, bank, stateOfBatch, asked } = await accepted(way);
    const { data } = await payer.run(STATUS);
    expect((await payer.run(['status'])).data.attention).toEqual([]);
    const overdue = await payer.run(['status'], { now: LATER });
    const items = JSON.parse(overdue.printed).attention;
    expect([overdue.failure?.exitCode, items.map(({ id }: { id: string }) => id)]).toEqual([
      ...[12, expect.arrayContaining(['tr-1', 'tr-2'])],
    ]);
    expect(endOf(await payer.run(['transfer', 'resolve', 'tr-1', '--not-executed']))).toEqual([
      'exit 2, usage of tr-1: The bank has accepted the transfer tr-1, and may still execute it',
      'Only the bank can end it unpaid. Ask for that with:',
      '$ transfer cancel tr-1',
      expect.any(String),
    ]);
    for (const { flow } of Object.values(data)) {
      const resolved = await payer.run([
        'transfer',
        'resolve',
        `${flow}`,
        '--executed',
        '--note',
        'Statement',
      ]);
      expect([resolved.failure, resolved.data.state]).toEqual([null, 'executed']);
    }
    expect(await stateOfBatch()).toBe('done');
    const left = await payer.run(['status'], { now: LATER });
    expect(left.data.attention).toEqual([]);
    bank.calls.length = 0;
    for (const words of [STATUS, ALL, [...RUN, '--as', way]])
      expect(await asked(words)).toMatchObject({ calls: 0 });
    const { data: rows } = await payer.run(['batch', 'report', 'batch-1', '--format', 'json']);
    for (const { paidAt } of Object.values(rows)) expect(paidAt).not.toBeNull();
  });
});
