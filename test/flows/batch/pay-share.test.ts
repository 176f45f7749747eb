import { expect, it } from 'vitest';
import type { BatchLine } from '../../../src/domain/batch/line.ts';
import type { TransferEvent } from '../../../src/domain/transfer.ts';
import { readLines } from '../../../src/flows/batch/known-lines.ts';
import { type Choice, chooseWay, sharesIn } from '../../../src/flows/batch/pay-share.ts';
import { BankHere, initiationOf } from '../../commands/bank-here.ts';
import { beginLine, RUN, storeOf, told, withPayees } from '../../commands/batch/with-batch.ts';
import { batchLine } from '../../domain/batch/lines.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { thrownBy } from '../../support/thrown.ts';
import { AT_THE_BANK } from '../stored-transfers.ts';

const temporary = temporaryFolder();
const WITH_THE_CUSTOMER: TransferEvent[] = [
  { type: 'accepted' },
  { type: 'verify-sent', requestId: 'r', digest: null },
  AT_THE_BANK,
  { type: 'sca-started' },
];
const takes = ({ instant }: { instant: boolean }) => !instant;
const bulk = { maxEntries: 2, batchBooking: 'optional', takes } as const;
const plain = { has: new Set<'signing baskets'>() };
const rich = { bulk, has: new Set(['signing baskets'] as const) };
const usage = (message: string) =>
  expect.objectContaining({
    ...{ code: 'usage', message },
    context: { hint: 'psd2 has sent nothing. Leave out --as.' },
  });

it.each([
  [plain, undefined, { bulk: null }],
  [plain, 'single', { isSingle: true, bulk: null }],
  [rich, undefined, { bulk }],
  [rich, 'single', { isSingle: true, bulk: null }],
  [rich, 'bulk', { isBulkOnly: true, bulk }],
  [rich, 'basket', { isBasket: true, bulk: null }],
] as const)('at a bank with %o, --as %s pays as %o', (bank, as, way) => {
  expect(chooseWay(bank, as)).toEqual({ isBasket: false, isSingle: false, isBulkOnly: false, ...way });
});

it('a bank without baskets or bulk payments pays nothing in this way', () => {
  expect(() => chooseWay(plain, 'basket')).toThrow(usage("This bank's interface has no signing baskets"));
  expect(() => chooseWay(plain, 'bulk')).toThrow(usage('This bank has no bulk payments'));
});

const line = (number: number, more: Partial<BatchLine> = {}) => batchLine({ line: number, ...more });
const numbers = (known: Parameters<typeof sharesIn>[0], lines: BatchLine[], way: Choice) =>
  sharesIn(known, lines, way).map((share) => share.map((each) => each.line));
const lines = [line(1), line(2, { urgent: true }), line(3), line(4, { instant: true }), line(5)];

it('a bulk payment has at most as many lines as the bank takes, and none that is urgent or instant', () => {
  expect(numbers([], lines, chooseWay(rich, undefined))).toEqual([[1, 3], [2], [4], [5]]);
  expect(numbers([], lines, chooseWay(rich, 'single'))).toEqual([[1], [2], [3], [4], [5]]);
  const [one, urgent, three] = lines;
  if (!one || !urgent || !three) throw new TypeError('There are five lines');
  expect(numbers([], [one, three], chooseWay(rich, 'bulk'))).toEqual([[1, 3]]);
  expect(() => sharesIn([], lines, chooseWay(rich, 'bulk'))).toThrow(
    usage('This bank has no bulk payments for payment 2'),
  );
});

it('payments that the bank shall book otherwise are in a bulk payment of their own', () => {
  const booked = [true, false, undefined, true].map((batchBooking, index) =>
    line(index + 1, batchBooking === undefined ? {} : { batchBooking }),
  );
  expect(numbers([], booked, chooseWay(rich, undefined))).toEqual([[1, 4], [2], [3]]);
});

it('a bank that wants to know how it books a bulk payment gets none of which nobody said it', () => {
  const wants = { ...rich, bulk: { ...bulk, batchBooking: 'required' } } as const;
  const unsaid = [line(1), line(2)];
  expect(thrownBy(() => sharesIn([], unsaid, chooseWay(wants, undefined)))).toMatchObject({
    code: 'usage',
    message: 'This bank wants to know whether it books a bulk payment as one sum, and payment 1 does not say',
    context: {
      hint: 'psd2 has sent nothing. Pay with --as single, or cancel the batch and add its file with --batch-booking yes or no.',
    },
  });
  const [alone = line(1)] = unsaid;
  expect(numbers([], [alone], chooseWay(wants, undefined))).toEqual([[1]]);
  expect(() => sharesIn([], [alone], chooseWay(wants, 'bulk'))).toThrow(/payment 1 does not say/);
  expect(numbers([], unsaid, chooseWay(wants, 'single'))).toEqual([[1], [2]]);
  const said = unsaid.map((each) => ({ ...each, batchBooking: false }));
  expect(numbers([], said, chooseWay(wants, undefined))).toEqual([[1, 2]]);
});

it('a basket has lines of any number, but none that is urgent, and instant ones in one of their own', () => {
  expect(numbers([], lines, chooseWay(rich, 'basket'))).toEqual([[1, 3, 5], [2], [4]]);
});

it('with --as bulk, one line alone is a bulk payment too, and an instant one is refused before anything is sent', async () => {
  const terms = { commits: 'by the customer', bulk: { maxEntries: null } } as const;
  const { bank, payer } = await withPayees(temporary, new BankHere(terms), ['Ada', 'Bea']);
  expect(told(await payer.run([...RUN, '--as', 'bulk', '--only', '1']))).toEqual([
    '1 executed tr-1 ',
    '1 of 1 paid (10.00 EUR).',
    'done',
  ]);
  expect(bank.sent).toEqual(['verify bulk payment', 'sca pay-1']);
  expect(told(await payer.run([...RUN, '--as', 'single']))).toEqual([
    '1 executed tr-1 ',
    '2 executed tr-2 ',
    '2 of 2 paid (21.00 EUR).',
    'done',
  ]);
  expect(bank.sent.slice(2)).toEqual(['verify transfer', 'sca pay-2']);
});

it('a payment that an earlier run has begun alone stays alone, and what had only a reference does not', async () => {
  const bank = new BankHere({ commits: 'by the customer', bulk: { maxEntries: null }, hasBaskets: true });
  const names = ['Ada', 'Bea', 'Cleo'];
  const { payer } = await withPayees(temporary, bank, names);
  const store = await storeOf(payer);
  const initiation = initiationOf('payments', 'x', { address: 'https://tpp.example/callback', state: 's' });
  const [TOGETHER, APART] = [[[1, 2, 3]], [[1, 3], [2]]];
  const ended = { initiation, events: [{ type: 'cancelled' } as const] };
  const joined = { events: [{ type: 'bulk-joined', bulk: 'op-0mwuiwxs0iiiii' } as const] };
  const begun: [string, Parameters<typeof beginLine>[2], inBulk: number[][], inBasket: number[][]][] = [
    ['only its reference is taken', {}, TOGETHER, TOGETHER],
    ['it ended before anything was sent', ended, TOGETHER, TOGETHER],
    ['it has not been sent', { initiation }, APART, TOGETHER],
    ['its customer is at the bank', { initiation, events: WITH_THE_CUSTOMER }, APART, APART],
    ['the bank executes it on demand', { commits: 'on execute' }, APART, APART],
    ['it is in a bulk payment', joined, TOGETHER, TOGETHER],
  ];
  for (const [what, how, inBulk, inBasket] of begun) {
    await beginLine(store, 2, { ...how, order: { reference: `${what}`.slice(0, 30) } });
    const batch = await store.read();
    const all = await store.batches.lines(batch);
    const known = await readLines(store.flows, batch, all);
    const shares = [undefined, 'basket' as const].map((as) =>
      numbers(known, all, chooseWay(bank.interface, as)),
    );
    expect([what, ...shares]).toEqual([what, inBulk, inBasket]);
  }
});
