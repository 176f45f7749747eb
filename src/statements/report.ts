import { createHash } from 'node:crypto';
import {
  type AccountHistory,
  type Counterparty,
  largestCounterparties,
  namedCounterparty,
  sumOf,
} from '../domain/account-history.ts';
import { type Decimal, isZero } from '../domain/decimal.ts';
import type { Statement } from './statement.ts';
import { escaped } from './xml.ts';

const COUNTERPARTIES = 10;

const STYLE = `
:root { color-scheme: light dark; --ink: #17202b; --soft: #4b5866; --paper: #f4f6f8; --card: #fff; --edge: #d9dfe5;
  --line: #1f5fbf; --area: #1f5fbf22; --in: #0b6b4f; --out: #a3231f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9eef3; --soft: #a9b5c1; --paper: #10161d; --card: #19222c; --edge: #2d3945;
    --line: #7fb2ff; --area: #7fb2ff2b; --in: #5fd0a8; --out: #ff9a92; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: clamp(1rem, 4vw, 3rem); background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 60rem; margin: 0 auto; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; text-wrap: balance; }
h2 { margin: 0 0 .75rem; font-size: 1.1rem; }
h3 { margin: 0 0 .5rem; font-size: 1rem; }
header p, footer { margin: .25rem 0 0; color: var(--soft); overflow-wrap: anywhere; }
section { margin-top: 1.25rem; padding: clamp(1rem, 3vw, 1.5rem); background: var(--card);
  border: 1px solid var(--edge); border-radius: .75rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; }
svg .area { fill: var(--area); } svg .line { fill: none; stroke: var(--line); stroke-width: 2; stroke-linejoin: round; }
svg .grid { stroke: var(--edge); } svg text { fill: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; }
.bar-in { fill: var(--in); } .bar-out { fill: var(--out); }
.wide { overflow-x: auto; }
/* Scrolls from the right, so the right end shows first. */
.newest { direction: rtl; } .newest > svg { direction: ltr; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .4rem .5rem; text-align: left; border-bottom: 1px solid var(--edge); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } tbody th, .day { white-space: nowrap; } tr:last-child td, tr:last-child th { border-bottom: 0; }
.amount { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.bars { width: 30%; min-width: 6rem; } .bars svg { height: 1.5rem; }
td.in { color: var(--in); } td.out { color: var(--out); }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1.5rem; }
footer { font-size: .875rem; margin-top: 1.25rem; }
@media (max-width: 34rem) {
  .bars { display: none; } .plot { min-width: 44rem; } table { font-size: .875rem; } th, td { padding: .4rem .25rem; }
}
@media print { body { padding: 0; background: none; } section { break-inside: avoid; border: 0; padding: 0; } }
`;

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'`;

/**
 * A self-contained HTML page of an account's history: the balance over time, totals by month, and the counterparties with
 * the largest totals. It loads nothing and runs no scripts.
 */
export function writeReport(statement: Statement): string {
  const { productId, iban, name, currency, history, createdAt, certainFrom, certainThrough, doubt } =
    statement;
  const title = name || 'Account';
  const { paid, received } = largestCounterparties(history.bookings, COUNTERPARTIES);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}, ${history.from} to ${history.to}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${escaped(title)}</h1>
<p>${[iban && `IBAN ${escaped(iban.replace(/(.{4})(?=.)/g, '$1 '))}`, `account ${escaped(productId)}`].filter(Boolean).join(' · ')}</p>
<p>${history.from} to ${history.to}, amounts in ${escaped(currency)}</p>
</header>
${
  certainFrom === null
    ? ''
    : `<p><strong>Not complete: the bank's list is certain only from ${certainFrom} on.</strong></p>
`
}${
  certainThrough === undefined
    ? ''
    : `<p><strong>Not complete: the bank's list is certain only up to ${certainThrough}.</strong></p>\n`
}${doubt === null ? '' : `<p><strong>Not certain: ${escaped(doubt.message)}.</strong></p>\n`}${writeFigures(history)}
${writeBalances(statement)}
${writeMonths(history)}
<section aria-labelledby="counterparties">
<h2 id="counterparties">Largest counterparties</h2>
<div class="sides">
${writeCounterparties('Money went to', 'out', paid)}
${writeCounterparties('Money came from', 'in', received)}
</div>
</section>
<footer>${history.bookings.length} booked transactions; pending ones are not included. ${history.balances.length === 0 ? 'Written' : `Balances are calculated back from the bank's balance${statement.creditLimitIncluded ? ', which has a credit line in it,' : ''}`} at <time class="day" datetime="${escaped(createdAt)}">${escaped(createdAt.replace(/T|(?=[+-]\d\d:)/g, ' '))}</time>. ${history.bookings.some((booking) => namedCounterparty(booking)) ? 'Where the bank does not name the counterparty, transactions' : 'The bank does not name counterparties. Transactions'} whose texts differ only in dates and numbers count as one.</footer>
</main>
</body>
</html>
`;
}

function writeFigures({ bookings, opening, closing, from, to }: AccountHistory): string {
  const isOut = ({ amount }: { amount: string }) => amount.startsWith('-');
  const figures: [string, string | null][] = [
    [`Balance before <span class="day">${from}</span>`, opening && grouped(opening)],
    ['Money in', signedText(sumOf(bookings.filter((booking) => !isOut(booking))))],
    ['Money out', signedText(sumOf(bookings.filter(isOut)))],
    [`Balance after <span class="day">${to}</span>`, closing && grouped(closing)],
  ];
  const shown = figures.flatMap(([term, value]) =>
    value === null ? [] : [`<div><dt>${term}</dt><dd>${value}</dd></div>`],
  );
  return `<section aria-label="Summary"><dl>${shown.join('')}</dl></section>`;
}

/** The scale is at the right, next to the newest days, because a narrow window shows that end first. */
const [WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM, TOP] = [900, 300, 8, 810, 28, 12];
/** The minimum distance between two dates on the axis. */
const DATES_APART = 120;

function writeBalances({ history: { balances }, noBalance }: Statement): string {
  const [first, last] = [balances.at(0), balances.at(-1)];
  if (!first || !last)
    return `<section><h2>Balance</h2><p>${noBalance === null ? 'The bank gives no balance for this account.' : `The balances are not known: ${escaped(noBalance)}.`}</p></section>`;
  const values = balances.map(({ balance }) => Number(balance));
  const ticks = niceTicks(Math.min(0, ...values), Math.max(0, ...values));
  const [low, high] = [ticks.at(0) ?? 0, ticks.at(-1) ?? 1];
  const x = (index: number) =>
    LEFT + ((RIGHT - LEFT) * (index + (values.length === 1 ? 1 : 0))) / Math.max(1, values.length - 1);
  const y = (value: number) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - value)) / (high - low);
  // One step a day: the balance is constant until the next day.
  const line = values
    .map(
      (value, index) =>
        `${index === 0 ? `M${LEFT} ${round(y(value))}` : ''}H${round(x(index))}V${round(y(value))}`,
    )
    .join('');
  const grid = ticks.map(
    (tick) =>
      `<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${round(y(tick))}" y2="${round(y(tick))}"/><text x="${RIGHT + 8}" y="${round(y(tick) + 4)}">${grouped(String(tick))}</text>`,
  );
  const label = `Balance from ${grouped(first.balance)} on ${first.date} to ${grouped(last.balance)} on ${last.date}`;
  return `<section aria-labelledby="balance">
<h2 id="balance">Balance at the end of each day</h2>
<div class="wide newest" tabindex="0"><svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(label)}">
${grid.join('\n')}
<path class="area" d="${line}V${round(y(0))}H${LEFT}Z"/>
<path class="line" d="${line}"/>
${writeDates(
  balances.map(({ date }) => date),
  x,
)}
</svg></div>
</section>`;
}

/**
 * The dates on the axis: the first and the last day, and between them the first days of months if there are at least three,
 * or else any days, as many as fit.
 */
function writeDates(dates: readonly string[], x: (index: number) => number): string {
  const last = dates.length - 1;
  const firsts = dates.flatMap((date, index) => (date.endsWith('-01') ? [index] : []));
  const shown = [0];
  for (const index of firsts.length >= 3 ? firsts : dates.keys()) {
    const before = shown.at(-1) ?? 0;
    if (x(index) - x(before) >= DATES_APART && x(last) - x(index) >= DATES_APART) shown.push(index);
  }
  if (last > 0) shown.push(last);
  return shown
    .map((index) => {
      const anchor = index === last ? 'end' : index === 0 ? 'start' : 'middle';
      const at = round(x(index));
      return `<line class="grid" x1="${at}" x2="${at}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM + 6}"/><text x="${at}" y="${HEIGHT - 6}" text-anchor="${anchor}">${dates[index]}</text>`;
    })
    .join('\n');
}

function writeMonths({ months }: AccountHistory): string {
  const max = Math.max(...months.flatMap((month) => [Number(month.in), -Number(month.out)]), 0);
  const share = (value: number) => (max === 0 ? 0 : round((value / max) * 100));
  const rows = months.map(
    (month) =>
      `<tr><th scope="row">${month.month}</th><td class="amount in">${signedText(month.in)}</td><td class="amount out">${signedText(month.out)}</td><td class="amount">${signedText(month.net)}</td><td class="bars" aria-hidden="true"><svg viewBox="0 0 100 20" preserveAspectRatio="none"><rect class="bar-in" y="1" width="${share(Number(month.in))}" height="8"/><rect class="bar-out" y="11" width="${share(-Number(month.out))}" height="8"/></svg></td></tr>`,
  );
  return `<section aria-labelledby="months">
<h2 id="months">Money in and out by month</h2>
<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">Month</th><th scope="col" class="amount">In</th><th scope="col" class="amount">Out</th><th scope="col" class="amount">Net</th><th class="bars" aria-hidden="true"></th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>
</section>`;
}

function writeCounterparties(title: string, side: 'in' | 'out', counterparties: Counterparty[]): string {
  if (counterparties.length === 0) return `<div><h3>${title}</h3><p>None in this period.</p></div>`;
  const rows = counterparties.map(
    ({ name, total, count }) =>
      `<tr><td>${escaped(name)}</td><td class="amount">${count}</td><td class="amount ${side}">${signedText(total)}</td></tr>`,
  );
  return `<div><h3>${title}</h3><div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">Name or text</th><th scope="col" class="amount">Times</th><th scope="col" class="amount">Total</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div></div>`;
}

/** Round numbers around a range, at most eight. They differ by a cent or more. */
function niceTicks(low: number, high: number): number[] {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const factor = [1, 2, 2.5, 5].find((each) => span / (each * power) <= 5) ?? 10;
  const step = Math.max(0.01, factor * power);
  const count = Math.ceil(high / step) - Math.floor(low / step) || 1;
  return Array.from({ length: count + 1 }, (_, index) => round((Math.floor(low / step) + index) * step));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** `+1 234.50`, `−20.00`: with a sign for money in and money out. */
function signedText(amount: Decimal): string {
  return amount.startsWith('-') || isZero(amount) ? grouped(amount) : `+${grouped(amount)}`;
}

/** Separates thousands by a narrow no-break space, and uses a minus sign as wide as the plus. */
function grouped(amount: string): string {
  const [whole = '', decimals] = amount.split('.');
  const digits = whole.replace('-', '\u2212').replace(/\d(?=(\d{3})+$)/g, '$&\u202f');
  return decimals === undefined ? digits : `${digits}.${decimals}`;
}
