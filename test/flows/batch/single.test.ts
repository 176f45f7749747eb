import { expect, it } from 'vitest';
import type { Transfer, TransferEvent } from '../../../src/domain/transfer.ts';
import { SINGLE } from '../../../src/flows/batch/single.ts';
import type { Open } from '../../../src/store/ports/flows.ts';
import { begunTransfer } from '../../domain/orders.ts';

it.each<[string, Partial<Transfer>, boolean]>([
  ['has begun', {}, true],
  ['the bank has', { state: 'verified' }, true],
  ['is cancelled', { state: 'cancelled' }, false],
  ['is paid', { state: 'executed' }, false],
  ['nobody knows of', { state: 'unknown' }, false],
])('a payment that %s and is left alone is cancelled: %s', async (_, changes, isCancelled) => {
  const recorded: TransferEvent['type'][] = [];
  const open: Open<'transfer'> = Object.create({
    current: begunTransfer(changes),
    record: async ({ type }: TransferEvent) => void recorded.push(type),
  });
  await SINGLE.leave(open);
  expect(recorded).toEqual(isCancelled ? ['cancelled'] : []);
});
