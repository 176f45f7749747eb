import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Decimal, isDecimal } from '../../../src/domain/decimal.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { hasOrder, mayHaveOrder } from '../../../src/store/flow/order-filter.ts';
import type { OrderFilter } from '../../../src/store/ports/flows.ts';

const decimal = (text: string): Decimal => (isDecimal(text) ? text : expect.unreachable());

const ORDER = {
  name: 'Zoë  "Z" O\'Neill',
  to: parseSepaIban('DE89370400440532013000'),
  amount: decimal('12.50'),
  reference: 'INV-7/2026',
};
const amount = (text: string): OrderFilter => ({ amount: decimal(text) });

/** What a list may ask for, and whether the order above is that. */
const FILTERS: [string, OrderFilter, boolean][] = [
  ['nothing', {}, true],
  ['the whole name', { payee: ORDER.name }, true],
  ['a part of the name, in another case', { payee: "o'NEILL" }, true],
  ['the name with other blanks', { payee: ' Zoë "Z"  ' }, true],
  ['the name with a composed letter of another form', { payee: 'Zoe\u0308' }, true],
  ['the name without its accent', { payee: 'Zoe' }, false],
  ['another name', { payee: 'Ada' }, false],
  ['the IBAN', { payee: ORDER.to }, true],
  ['the IBAN with blanks, in another case', { payee: 'de89 3704 0044 0532 0130 00' }, true],
  ['the end of the IBAN', { payee: '3000' }, true],
  ['another IBAN', { payee: 'DE89370400440532013001' }, false],
  ['the amount', amount('12.50'), true],
  ['the amount with fewer decimals', amount('12.5'), true],
  ['the amount with more zeros', amount('012.500'), true],
  ['a cent more', amount('12.51'), false],
  ['the beginning of the amount', amount('12'), false],
  ['ten times the amount', amount('125.0'), false],
  ['the reference', { reference: 'INV-7/2026' }, true],
  ['the reference in another case, with blanks', { reference: ' inv-7/2026 ' }, true],
  ['a part of the reference', { reference: 'INV-7' }, false],
  ['all of them', { payee: 'Zoë', amount: decimal('12.5'), reference: 'inv-7/2026' }, true],
  ['all of them, another payee', { payee: 'Ada', amount: decimal('12.5'), reference: 'inv-7/2026' }, false],
  ['all of them, another amount', { payee: 'Zoë', amount: decimal('12'), reference: 'inv-7/2026' }, false],
  ['all of them, another reference', { payee: 'Zoë', amount: decimal('12.5'), reference: 'inv-8' }, false],
];

describe('the order of a transfer', () => {
  it.each(FILTERS)('compared with %s', (_, filter, expected) => {
    expect(hasOrder(ORDER, filter)).toBe(expected);
  });

  it('without a reference has none', () => {
    const order = { ...ORDER, reference: null };
    expect(hasOrder(order, {})).toBe(true);
    for (const reference of ['', 'null', 'INV-7/2026']) expect(hasOrder(order, { reference })).toBe(false);
  });
});

describe('the text of a journal', () => {
  const journalOf = (order: object) => JSON.stringify({ n: 1, event: { type: 'created', order } });

  // A part of an amount or of a reference is not told from the whole here: the order itself tells.
  it.each(FILTERS.filter(([, , has]) => has))('compared with %s may have the order', (_, filter) => {
    expect(mayHaveOrder(journalOf(ORDER), filter)).toBe(true);
  });

  it.each<[string, OrderFilter]>([
    ['payee', { payee: 'Ada' }],
    ['IBAN', { payee: 'DE89370400440532013001' }],
    ['amount', amount('12.51')],
    ['smaller amount', amount('2.50')],
    ['reference', { reference: 'INV-8' }],
  ])('with another %s surely has not', (_, filter) => {
    const others = { payee: 'Zoë', amount: decimal('12.5'), reference: 'INV-7/2026' };
    expect(mayHaveOrder(journalOf(ORDER), filter)).toBe(false);
    expect(mayHaveOrder(journalOf(ORDER), { ...others, ...filter })).toBe(false);
    expect(mayHaveOrder(journalOf(ORDER), others)).toBe(true);
  });

  it('never leaves out an order that a list asks for', () => {
    // psd2 writes amounts with two decimals, and no text with tabs or line breaks.
    const text = fc.string({
      unit: fc.constantFrom('a', 'Ä', 'é', 'e\u0301', ' ', '  ', '"', '\\', '/', "'"),
    });
    const order = fc.record({
      ...{ name: text, to: fc.constantFrom(ORDER.to, parseSepaIban('IT60X0542811101000000123456')) },
      amount: fc.constantFrom('1.00', '10.00', '1.50', '0.10').map(decimal),
      reference: fc.option(text),
    });
    const filter = fc.record(
      {
        payee: fc.oneof(text, fc.constantFrom('de89 3704', 'IT60x', '3456')),
        amount: fc
          .constantFrom('1', '1.0', '10', '1.50', '.1')
          .map((each) => decimal(each.replace(/^\./, '0.'))),
        reference: text,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(order, filter, (of, wanted) => {
        if (hasOrder(of, wanted)) expect(mayHaveOrder(journalOf(of), wanted)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
