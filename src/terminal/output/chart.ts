import type { AccountHistory } from '../../domain/account-history.ts';
import { widthOf } from '../cells.ts';

/** The space for a chart. */
interface Canvas {
  width: number;
  /** Whether the terminal can show block characters. Otherwise the chart uses ASCII. */
  blocks: boolean;
}

const CHART_ROWS = 10;
/** The width of a day in cells, if there are few days. */
const WIDEST_DAY = 4;
const EIGHTHS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const GAP = 2;

/**
 * Draws an account's balance over time, and money in and out by month, as lines of text. Signs distinguish money in and
 * out. It uses no colour.
 */
export function drawAccountChart(history: AccountHistory, currency: string, canvas: Canvas): string[] {
  return [...drawBalances(history, currency, canvas), '', ...drawMonths(history, currency, canvas)];
}

/** Each column shows the balance at the end of a day. If it stands for several days, it shows the last one. */
function drawBalances({ balances }: AccountHistory, currency: string, { width, blocks }: Canvas): string[] {
  const [first, last] = [balances.at(0), balances.at(-1)];
  if (!first || !last) return ['The bank gives no balance of this product.'];
  const values = balances.map(({ balance }) => Number(balance));
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const labels = [high, low].map((value) => value.toFixed(0));
  const margin = Math.max(...labels.map((label) => label.length)) + 1;
  const room = Math.max(1, width - margin - 2);
  const columnsPerDay = Math.max(1, Math.min(WIDEST_DAY, Math.floor(room / values.length)));
  const columns = Math.min(room, values.length * columnsPerDay);
  const samples = Array.from(
    { length: columns },
    (_, column) => values[Math.ceil(((column + 1) * values.length) / columns) - 1] ?? 0,
  );
  const height = (value: number) => (high === low ? 0 : ((value - low) / (high - low)) * CHART_ROWS);
  const zero = height(0);
  const rows = Array.from({ length: CHART_ROWS }, (_, index) => {
    const floor = CHART_ROWS - 1 - index;
    const bar = samples.map((value) => cellOf(height(value), zero, floor, blocks)).join('');
    const label = index === 0 ? labels[0] : index === CHART_ROWS - 1 ? labels[1] : '';
    return `${(label ?? '').padStart(margin - 1)} ${blocks ? '│' : '|'}${bar}`.trimEnd();
  });
  const dates =
    columns < 22
      ? last.date.padStart(columns)
      : `${first.date}${last.date.padStart(columns - first.date.length)}`;
  return [
    `Balance in ${currency}: ${first.balance} to ${last.balance}`,
    '',
    ...rows,
    `${' '.repeat(margin)}${(blocks ? '└' : '+') + (blocks ? '─' : '-').repeat(columns)}`,
    `${' '.repeat(margin + 1)}${dates}`,
  ];
}

/** The character for the cell between `floor` and `floor + 1` of a bar from `zero` to `top`. */
function cellOf(top: number, zero: number, floor: number, blocks: boolean): string {
  const [from, to] = [Math.min(top, zero), Math.max(top, zero)];
  const filled = Math.min(to, floor + 1) - Math.max(from, floor);
  if (filled <= 0) return ' ';
  if (!blocks) return filled >= 0.5 ? '#' : '.';
  // Block characters grow from below. A bar that hangs from above is rounded to whole cells.
  if (from > floor) return filled >= 0.5 ? '█' : '▔';
  return EIGHTHS[Math.max(1, Math.round(filled * 8))] ?? '█';
}

function drawMonths({ months }: AccountHistory, currency: string, { width, blocks }: Canvas): string[] {
  const sides = months.flatMap((month) => [
    { label: month.month, amount: `+${month.in}`, value: Number(month.in) },
    { label: '', amount: month.out.startsWith('-') ? month.out : `-${month.out}`, value: -Number(month.out) },
  ]);
  const amountWidth = Math.max(...sides.map(({ amount }) => widthOf(amount)));
  const longest = Math.max(1, width - '2026-11'.length - amountWidth - 2 * GAP);
  const max = Math.max(...sides.map(({ value }) => value));
  return [
    `Money in and out by month in ${currency}:`,
    '',
    ...sides.map(({ label, amount, value }) => {
      const cells = max === 0 ? 0 : Math.round((value / max) * longest);
      const sign = amount.startsWith('-') ? (blocks ? '░' : '-') : blocks ? '█' : '+';
      const bar = sign.repeat(value > 0 ? Math.max(1, cells) : 0);
      return `${label.padEnd(7)}${' '.repeat(GAP)}${amount.padStart(amountWidth)}${' '.repeat(GAP)}${bar}`.trimEnd();
    }),
  ];
}
