import { expect, it } from 'vitest';
import { needsOf, sumOfFlows } from '../../../src/commands/status/needs.ts';
import { applyOperationEvent, type StepEvent } from '../../../src/domain/operation.ts';
import { applyTransferEvent, type Transfer, type TransferEvent } from '../../../src/domain/transfer.ts';
import type { GenericOperation } from '../../../src/store/ports/flows.ts';
import { transferOrder, VERIFIED } from '../../domain/orders.ts';

const AT = '2026-11-22T10:00:00.000Z';
const BATCH = 'b'.repeat(64);
const initiation = {
  ...({ service: 'bulk-payments', product: 'p', endToEndId: 'E', body: '{}', returnState: 's' } as const),
  ...{ returnAddress: 'http://127.0.0.1/', repeatMinutes: null, needsLink: true },
  executesWithoutSca: 'never' as const,
};
const created = { type: 'created', transactionId: 't', commits: 'by the customer' } as const;

/** A line of the batch, after these events. */
function line(number: number, events: readonly TransferEvent[], more: object = {}): Transfer {
  const order = transferOrder({ batch: { batch: BATCH, line: number }, ...more });
  const begun: TransferEvent = { ...created, flow: `tr-${number}`, order, initiation };
  return (
    [begun, ...events].reduce<Transfer | undefined>(
      (now, event) => applyTransferEvent(now, event, AT),
      undefined,
    ) ?? expect.unreachable()
  );
}

/** The bulk payment of the batch, after these events. */
function bulk(...events: StepEvent[]): GenericOperation {
  const order = {
    customerId: '1',
    from: null,
    operation: 'bulk-payments',
    data: JSON.stringify({ batch: BATCH }),
  };
  const begun = applyOperationEvent(
    'operation',
    undefined,
    { ...created, flow: 'op-1', order, initiation },
    AT,
  );
  return events.reduce((now, event) => applyOperationEvent('operation', now, event, AT), begun);
}

const started = (id: string, psuId: string): StepEvent => ({
  ...{ type: 'sca-started', psuId, links: { approach: null, id, redirect: `https://x/${id}` } },
});
const says = (scaStatus: string): StepEvent => ({
  ...{ type: 'authorization', status: 'PENDING', bankStatus: 'PATC' },
  bank: { transactionStatus: 'PATC', scaStatus },
});
const BY_DORA = [
  { ...VERIFIED, links: { approach: null, id: 'a1' } },
  started('a1', 'dora'),
  says('finalised'),
];
const IN_BULK: TransferEvent[] = [{ type: 'bulk-joined', bulk: 'op-1' }, { type: 'sca-started' }];
const WAITS = { authorisedBy: ['dora'], refusedBy: [], waitsFor: [] };

/** What each need is about, whom it waits for, and the next command. */
const told = (flows: Parameters<typeof needsOf>[0]) =>
  needsOf(flows).map(({ flows: all, persons, next }) => [
    all.map(({ flow }) => flow).join(' '),
    persons,
    next.join(' '),
  ]);

it('a bulk payment that waits for one person is one need, with the sum of its payments', () => {
  const lines = [1, 2, 3].map((number) => line(number, IN_BULK));
  const flows = [...lines, bulk(...BY_DORA)];
  expect(told(flows)).toEqual([['tr-1 tr-2 tr-3', WAITS, `batch run ${BATCH} --psu-id ID`]]);
  expect(sumOfFlows(lines)).toEqual({ amount: '37.50', currency: 'EUR' });
  expect(sumOfFlows([...lines, line(4, IN_BULK, { currency: 'PLN' })])).toBeNull();
  expect(sumOfFlows([bulk()])).toBeNull();
});

it('payments of a batch that are authorised alone are one need if they wait for the same', () => {
  const byEmil = [...BY_DORA, started('a2', 'emil')];
  const flows = [
    line(1, BY_DORA),
    line(2, byEmil),
    line(3, BY_DORA),
    line(4, byEmil),
    line(5, [...byEmil, says('failed')]),
  ];
  expect(told(flows)).toEqual([
    ['tr-1 tr-3', WAITS, `batch run ${BATCH} --psu-id ID`],
    ['tr-2 tr-4', { ...WAITS, waitsFor: ['emil'] }, `batch run ${BATCH} --psu-id emil`],
    ['tr-5', { ...WAITS, refusedBy: ['emil'] }, 'transfer resume tr-5 --psu-id ID'],
  ]);
});

it('what needs something else stands alone: another state, reason, customer or batch, and each that the bank has accepted', () => {
  const unknown = (description: string): TransferEvent => ({ type: 'execute-unanswered', description });
  const executed: TransferEvent = { type: 'executed', cro: null };
  const flows = [
    ...[line(1, BY_DORA), line(2, [...BY_DORA, unknown('A')]), line(3, [...BY_DORA, unknown('B')])],
    ...[line(4, BY_DORA, { customerId: '2' }), line(5, BY_DORA, { batch: undefined })],
    ...[line(6, [...BY_DORA, executed]), line(7, [...BY_DORA, executed])],
  ];
  expect(told(flows).map(([all]) => all)).toEqual(['tr-1', 'tr-2', 'tr-3', 'tr-4', 'tr-5', 'tr-6', 'tr-7']);
});

it('payments that nobody is asked about are one need only in the same state', () => {
  const states: TransferEvent[][] = [[], [VERIFIED], [VERIFIED, { type: 'execute-unanswered' }]];
  const flows = states.flatMap((events, index) => [line(2 * index + 1, events), line(2 * index + 2, events)]);
  expect(new Set(flows.map(({ state }) => state)).size).toBe(states.length);
  expect(told(flows).map(([all]) => all)).toEqual(['tr-1 tr-2', 'tr-3 tr-4', 'tr-5 tr-6']);
});

it.each([
  ['nobody whom psd2 knows', [], 'ID'],
  ['one person', ['emil'], 'emil'],
  ['two persons', ['emil', 'fred'], 'ID'],
  ['three persons', ['emil', 'fred', 'gina'], 'ID'],
])('a payment that waits for %s after the first one is continued by --psu-id', (_, others, person) => {
  const begun = others.map((psuId) => started(`of ${psuId}`, psuId));
  const [told] = needsOf([line(1, [...BY_DORA, ...begun], { batch: undefined })]);
  expect([told?.persons, told?.next.slice(-2)]).toEqual([
    { ...WAITS, waitsFor: others },
    ['--psu-id', person],
  ]);
});

it('the customer alone is taken there again by the plain command', () => {
  const [verified] = BY_DORA;
  const flows = [line(1, [...(verified ? [verified] : []), started('a1', 'dora')])];
  expect(told(flows)).toEqual([
    ['tr-1', { ...WAITS, authorisedBy: [], waitsFor: ['dora'] }, 'transfer resume tr-1'],
  ]);
});

it('a cancellation under way counts, alone and of a whole batch', () => {
  const asked: StepEvent[] = [
    { type: 'cancel-begun' },
    { type: 'cancel-sca-started', id: 'c1', psuId: 'emil' },
  ];
  const noted = (scaStatus: string): StepEvent => ({ type: 'cancel-noted', id: 'c1', scaStatus });
  const signed = [...BY_DORA, ...asked, noted('finalised')];
  const single = { batch: undefined };
  const ofBatch = [line(1, IN_BULK), line(2, IN_BULK), bulk(...signed)];
  const byEmil = { ...WAITS, authorisedBy: ['emil'] };
  expect(told([line(1, signed, single)])).toEqual([['tr-1', byEmil, 'transfer cancel tr-1 --psu-id ID']]);
  expect(told([line(1, [...BY_DORA, ...asked, noted('failed')], single)])).toEqual([
    ['tr-1', WAITS, 'transfer resume tr-1 --psu-id ID'],
  ]);
  const cancels = `batch cancel ${BATCH} --psu-id ID`;
  expect(told(ofBatch)).toEqual([['tr-1 tr-2', byEmil, cancels]]);
  // The bank has accepted them, for a later day.
  const ordered = [...BY_DORA, { type: 'ordered' } as const, ...asked, noted('finalised')];
  expect(told([line(1, ordered), line(2, ordered)])).toEqual([['tr-1 tr-2', byEmil, cancels]]);
});
