import { expect, it } from 'vitest';
import type { Verification } from '../../../src/domain/operation.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { BASKET, mayGoIntoBasket, paymentIdsOf } from '../../../src/flows/batch/basket.ts';
import { BULK } from '../../../src/flows/batch/bulk.ts';
import { AT_THE_BANK, createdTransfer } from '../stored-transfers.ts';
import { fold } from './groups.ts';

const sent: TransferEvent = { type: 'verify-sent', requestId: 'r', digest: null };
const executing: TransferEvent = { type: 'execute-sent', requestId: 'r', digest: null };
const verified = AT_THE_BANK;

const asked: TransferEvent = { type: 'approach-sent', requestId: 'r-2', digest: null };
const linked = (links: NonNullable<Verification['links']>): TransferEvent => ({ ...verified, links });
const LINK = 'https://customers.bank.example/r-1';
const redirect = linked({ approach: null, redirect: LINK });

const { initiation: _, ...withoutInitiation } = createdTransfer();
const after = (...events: TransferEvent[]) => from(createdTransfer(), ...events);
const from = (first: TransferEvent, ...events: TransferEvent[]) =>
  fold(undefined, [first, { type: 'accepted' }, ...events]);

it.each([
  ['that has not been sent', [], true, false],
  ['whose run was stopped before the answer to its initiation', [sent], true, false],
  ['that the bank has', [sent, verified], true, true],
  ['whose customer is at the bank', [sent, verified, { type: 'sca-started' }], false, false],
  ['whose bank has given a link', [sent, redirect], true, true],
  ['whose bank has given a login', [sent, linked({ approach: null, oauth: LINK })], true, true],
  ['that psd2 has begun to authorise', [sent, verified, asked], false, false],
  ['that psd2 began to authorise anew', [sent, redirect, asked], false, false],
  ['that psd2 executes', [sent, verified, executing], false, false],
  ['of which nobody knows whether the bank has it', [sent, { type: 'execute-unanswered' }], false, false],
] satisfies [string, TransferEvent[], boolean, boolean][])(
  'psd2 knows whether a payment %s may go into a signing basket',
  (_, events, may, mayNow) => {
    const transfer = after(...events);
    expect([mayGoIntoBasket(transfer), BASKET.mayJoin(transfer)]).toEqual([may, mayNow]);
  },
);

it('a payment that has no body of its own, or that is in another basket, goes into none', () => {
  const bare = from(withoutInitiation);
  const other = after(sent, verified, { type: 'bulk-joined', bulk: 'op-1' });
  expect([bare, other].flatMap((each) => [mayGoIntoBasket(each), BASKET.mayJoin(each)])).toEqual([
    ...[false, false, false, false],
  ]);
  expect([bare, after(), from(withoutInitiation, sent)].map(BULK.mayJoin)).toEqual([true, false, false]);
});

it('the bank has the ids of the payments that it knows', () => {
  expect(paymentIdsOf([after(), after(sent, verified), after(sent)])).toEqual(['p1']);
});
