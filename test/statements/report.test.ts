import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountHistory, type Booking } from '../../src/domain/account-history.ts';
import { addDays } from '../../src/domain/calendar.ts';
import { writeReport } from '../../src/statements/report.ts';
import { booking, dayOf, decimalOf, range } from '../domain/bookings.ts';
import { EXAMPLE, statementOf, TOLD } from './statements.ts';

const report = (...given: Parameters<typeof statementOf>) => writeReport(statementOf(...given));

/** What a person reads on the page, from top to bottom: one line for each text. Thousands are separated by `_`. */
function readIn(page: string): string[] {
  const [, body = ''] = /<main>(.*)<\/main>/s.exec(page) ?? [];
  return body
    .replaceAll('\u202f', '_')
    .replace(/<\/?(span|time)\b[^>]*>/g, '')
    .split(/<[^>]*>/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** The chart's numbers with the height of their lines, the height after each day, and where the days are. */
function chartOf(page: string) {
  const [, chart = ''] = /<svg class="plot"(.*?)<\/svg>/s.exec(page) ?? [];
  const line =
    /<line class="grid" x1="(.*?)" x2="(.*?)" y1="(.*?)" y2="(.*?)"\/><text x="(.*?)" y="[\d.]+">(.*?)<\/text>/g;
  const lines = [...chart.matchAll(line)].map(([, x1, x2, y1, y2, textX, text = '']) => ({
    value: Number(text.replaceAll('\u202f', '').replace('\u2212', '-')),
    left: Number(x1),
    right: Number(x2),
    y: Number(y1),
    isLevel: y1 === y2,
    textX: Number(textX),
  }));
  const path = (name: string) => new RegExp(`<path class="${name}" d="(.*?)"/>`).exec(chart)?.[1] ?? '';
  const steps = [...path('line').matchAll(/H([\d.]+)V([\d.]+)/g)].map(([, x, y]) => ({
    x: Number(x),
    y: Number(y),
  }));
  const marks = [
    ...chart.matchAll(
      /y1="([\d.]+)" y2="([\d.]+)"\/><text x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">([\d-]+)</g,
    ),
  ];
  return {
    lines,
    steps,
    line: path('line'),
    area: path('area'),
    label: /aria-label="(.*?)"/.exec(chart)?.[1]?.replaceAll('\u202f', '_'),
    dates: marks.map(([, from, to, x, anchor, date]) => ({
      date,
      anchor,
      x: Number(x),
      from: Number(from),
      to: Number(to),
    })),
  };
}

/** The chart of an account with these balances in cents, one a day. */
function chartOfBalances(cents: readonly number[]) {
  const first = dayOf('2026-01-01');
  const rows = cents.map((balance, index) => {
    const before = index === 0 ? 0 : (cents[index - 1] ?? 0);
    return booking(addDays(first, index), String(decimalOf(balance - before)));
  });
  const history = accountHistory(
    rows.toReversed(),
    decimalOf(cents.at(-1) ?? 0),
    range(first, addDays(first, cents.length - 1)),
  );
  return chartOf(writeReport({ ...statementOf([]), history }));
}

describe('the report', () => {
  it('the report shows the account, its figures, months and counterparties', () => {
    expect(readIn(report(EXAMPLE).replace(/<svg class="plot".*?<\/svg>/s, ''))).toMatchInlineSnapshot(`
      ["Conto di casa", "IBAN IT89 F099 9001 6000 0001 0482 620 · account 0010482620",
       "2026-01-01 to 2026-03-31, amounts in EUR", "Balance before 2026-01-01", "2_215.50", "Money in",
       "+20.00", "Money out", "−1_235.50", "Balance after 2026-03-31", "1_000.00",
       "Balance at the end of each day", "Money in and out by month", "Month", "In", "Out", "Net",
       "2026-01", "+20.00", "0.00", "+20.00", "2026-02", "0.00", "−1_235.50", "−1_235.50", "2026-03",
       "0.00", "0.00", "0.00", "Largest counterparties", "Money went to", "Name or text", "Times",
       "Total", "L&#39;ARTE &amp; CO &lt;1&gt;", "1", "−1_234.50", "COMMISSIONI", "1", "−1.00",
       "Money came from", "Name or text", "Times", "Total", "STIPENDIO", "1", "+20.00",
       "3 booked transactions; pending ones are not included. Balances are calculated back from the bank's balance at 2026-11-21 11:05:00 +01:00. The bank does not name counterparties. Transactions whose texts differ only in dates and numbers count as one."]
    `);
  });

  it('the report says that a credit line is in the balances', () => {
    const said = (creditLimitIncluded: boolean | null) =>
      writeReport({ ...statementOf(EXAMPLE), creditLimitIncluded }).includes('which has a credit line in it');
    expect([null, false, true].map(said)).toEqual([false, false, true]);
  });

  it('the report has the name of a counterparty, and does not say that the bank names none', () => {
    const lines = readIn(report([TOLD, ...EXAMPLE]));
    expect(lines).toContain('MUSTERLADEN');
    expect(lines.at(-1)).toContain(
      'Where the bank does not name the counterparty, transactions whose texts differ only in dates and numbers count as one.',
    );
    expect(lines.at(-1)).not.toContain('does not name counterparties');
  });

  it.each([
    [[], '0.00', '0.00'],
    [['2.00'], '+2.00', '0.00'],
    [['2.00', '-1.00', '2.00', '-4.00', '8.00'], '+12.00', '−5.00'],
  ])('the report sums up %j', (amounts, income, spent) => {
    const lines = readIn(report(amounts.map((amount) => booking('2026-02-03', amount, 'x'))));
    const at = lines.indexOf('Money in');
    expect(lines.slice(at, at + 4)).toEqual(['Money in', income, 'Money out', spent]);
  });

  it('the report says if no money went out or came in', () => {
    const lines = readIn(report([]));
    for (const title of ['Money went to', 'Money came from']) {
      expect(lines[lines.indexOf(title) + 1]).toBe('None in this period.');
    }
  });

  it('the report of a product without IBAN and name shows the product', () => {
    const page = report(EXAMPLE, undefined, { iban: null, name: null });
    expect(readIn(page).slice(0, 2)).toEqual(['Account', 'account 0010482620']);
    expect(page).toContain('<title>Account, 2026-01-01 to 2026-03-31</title>');
    expect(readIn(report(EXAMPLE, undefined, { name: '' }))[0]).toBe('Account');
  });

  it('without a balance the report shows what came in and went out, and no chart', () => {
    const history = accountHistory(EXAMPLE, null, range('2026-01-01', '2026-03-31'));
    const lines = readIn(writeReport({ ...statementOf([]), history }));
    const at = lines.indexOf('Money in');
    expect(lines.slice(at, at + 6)).toEqual([
      ...['Money in', '+20.00', 'Money out', '−1_235.50'],
      ...['Balance', 'The bank gives no balance for this account.'],
    ]);
    expect(lines.at(-1)).toMatch(/not included\. Written at 2026-/);
  });

  it('the report separates thousands, also in millions and below zero', () => {
    const lines = readIn(report([booking('2026-02-03', '-12345678.90'), booking('2026-02-02', '999.00')]));
    expect(lines).toContain('−12_345_678.90');
    expect(lines).toContain('+999.00');
    expect(lines).toContain('12_345_679.90');
  });

  it('a sum of zero has no sign', () => {
    const lines = readIn(report([booking('2026-02-03', '-5.000'), booking('2026-02-02', '5.00')]));
    const at = lines.indexOf('2026-02');
    expect(lines.slice(at, at + 4)).toEqual(['2026-02', '+5.00', '−5.00', '0.00']);
  });

  it('the report forbids everything but its own style', () => {
    const page = report(EXAMPLE);
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(page) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'">`,
    );
    expect(page).toContain('<meta name="referrer" content="no-referrer">');
  });

  it('the bars of the months show each amount as percent of the largest', () => {
    const barsOf = (rows: Booking[]) =>
      [...report(rows).matchAll(/<rect class="bar-(in|out)" y="\d+" width="([\d.]+)"/g)].map(
        ([, side, width]) => [side, Number(width)],
      );
    const [january, february] = ['2026-01-05', '2026-02-05'];
    const into = [booking(february, '30.00'), booking(january, '200.00'), booking(january, '-50.00')];
    expect(barsOf(into).slice(0, 4)).toEqual([
      ['in', 100],
      ['out', 25],
      ['in', 15],
      ['out', 0],
    ]);
    expect(barsOf([booking(february, '-80.00'), booking(january, '20.00')]).slice(0, 4)).toEqual([
      ['in', 25],
      ['out', 0],
      ['in', 0],
      ['out', 100],
    ]);
    expect(new Set(barsOf([]).map(([, width]) => width))).toEqual(new Set([0]));
  });
});

describe("the report's chart", () => {
  it.each([
    ['100000 221550', '0 500 1000 1500 2000 2500'],
    ['0', '0 0.2'],
    ['1', '0 0.01'],
    ['5', '0 0.01 0.02 0.03 0.04 0.05'],
    ['-40000 -100', '-400 -300 -200 -100 0'],
    ['-5000 120000', '-250 0 250 500 750 1000 1250'],
    ['1250000', '0 2500 5000 7500 10000 12500'],
    ['390000000', '0 1000000 2000000 3000000 4000000'],
  ])('the chart of the balances %s (in cents) has lines at %s', (cents, values) => {
    const { lines } = chartOfBalances(cents.split(' ').map(Number));
    expect(lines.map(({ value }) => value)).toEqual(values.split(' ').map(Number));
  });

  it('the chart draws each balance at its height between the lines, and the days at equal distances', () => {
    const balances = fc.array(fc.integer({ min: -10_000_000, max: 10_000_000 }), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(balances, (cents) => {
        const { lines, steps, line, area } = chartOfBalances(cents);
        const [bottom, top] = [lines.at(0), lines.at(-1)];
        if (!bottom || !top) throw new TypeError('The chart has no lines');
        expect(lines.length).toBeLessThanOrEqual(8);
        for (const { isLevel, left, right, textX, y } of lines) {
          expect([isLevel, left, right]).toEqual([true, bottom.left, bottom.right]);
          expect(textX).toBeGreaterThan(right);
          expect(y).toBeGreaterThanOrEqual(0);
          expect(y).toBeLessThan(300);
        }
        const heightOf = (value: number) =>
          bottom.y + ((top.y - bottom.y) * (value - bottom.value)) / (top.value - bottom.value);
        const width = bottom.right - bottom.left;
        expect(steps).toHaveLength(cents.length);
        for (const [index, { x, y }] of steps.entries()) {
          expect(y).toBeCloseTo(heightOf((cents[index] ?? 0) / 100), 1);
          expect(y).toBeLessThanOrEqual(bottom.y);
          expect(y).toBeGreaterThanOrEqual(top.y);
          const share = cents.length === 1 ? 1 : index / (cents.length - 1);
          expect(x).toBeCloseTo(bottom.left + width * share, 1);
        }
        // The line begins at the left with the first balance. The area below it ends at zero.
        expect(line).toMatch(new RegExp(`^M${bottom.left} ${steps[0]?.y}(H[\\d.]+V[\\d.]+)+$`));
        const [, zero] = new RegExp(`^${line}V([\\d.]+)H${bottom.left}Z$`).exec(area) ?? [];
        expect(Number(zero)).toBeCloseTo(heightOf(0), 1);
      }),
    );
  });

  it('the chart says in words where the balance begins and ends', () => {
    expect(chartOf(report(EXAMPLE)).label).toBe(
      'Balance from 2_215.50 on 2026-01-01 to 1_000.00 on 2026-03-31',
    );
  });

  it('with three first days of months the axis shows them, else as many days as fit', () => {
    const datesOf = (from: string, to: string) =>
      chartOf(report([], [from, to])).dates.map(({ date }) => date);
    const quarter = ['2026-01-01', '2026-02-01', '2026-03-01', '2026-03-31'];
    expect(datesOf('2026-01-01', '2026-03-31')).toEqual(quarter);
    expect(datesOf('2026-01-01', '2026-12-31')).toEqual([
      ...['2026-01-01', '2026-03-01', '2026-05-01', '2026-07-01', '2026-09-01', '2026-11-01'],
      '2026-12-31',
    ]);
    expect(datesOf('2026-01-02', '2026-03-31')).toEqual([
      ...['2026-01-02', '2026-01-16', '2026-01-30', '2026-02-13', '2026-02-27', '2026-03-13', '2026-03-31'],
    ]);
  });

  it('each date of the axis is below its day, and the outermost ones do not leave the chart', () => {
    const { dates, steps, lines } = chartOf(report(EXAMPLE));
    expect(dates.map(({ anchor }) => anchor)).toEqual(['start', 'middle', 'middle', 'end']);
    const days = [0, 31, 59, 89];
    expect(dates.map(({ x }) => x)).toEqual(days.map((day) => steps[day]?.x));
    for (const { from, to } of dates) {
      expect(from).toBe(lines[0]?.y);
      expect(to).toBeGreaterThan(from);
      expect(to).toBeLessThan(300);
    }
    expect(chartOf(report([], ['2026-01-01', '2026-01-01'])).dates.map(({ anchor }) => anchor)).toEqual([
      'end',
    ]);
  });
});
