// Writes bench/results.json into the tables and the chart of docs/performance.md, and test/mutation/results.json into
// test/mutation/README.md.
//   node bench/figures.js [folder]   the folder of these pages; default: docs and test/mutation
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutantsPage } from '../test/mutation/table.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = fileURLToPath(new URL('results.json', import.meta.url));
const DOCS = fileURLToPath(new URL('../docs', import.meta.url));
const BEGIN = '<!-- figures -->\n';
const END = '<!-- end of figures -->';

/**
 * The figures of the chart, in its order. An entry chooses the figures with this `section` whose `what` and `against` begin
 * with these texts. Each Node.js that was measured has a bar. A figure that was not measured is left out.
 */
const CHARTED = [
  {
    section: 'start',
    what: 'psd2 --version',
    against: 'node -e 0',
    label: 'psd2 --version',
    unit: 'node -e 0',
  },
  { section: 'start', what: 'psd2 --help', against: 'node -e 0', label: 'psd2 --help', unit: 'node -e 0' },
  {
    section: 'start',
    what: 'psd2 profile list',
    against: 'node -e 0',
    label: 'psd2 profile list',
    unit: 'node -e 0',
  },
  {
    section: 'one-call',
    what: 'psd2 accounts list',
    against: 'the bash script',
    label: 'psd2 accounts list',
    unit: 'openssl and curl',
  },
  {
    section: 'one-call',
    what: 'psd2 accounts list',
    against: 'a minimal script with node:https',
    label: 'psd2 accounts list',
    unit: 'a minimal script with node:https',
  },
  {
    section: 'one-call',
    what: 'psd2 accounts list',
    against: 'a minimal script with undici',
    label: 'psd2 accounts list',
    unit: 'a minimal script with undici',
  },
  {
    section: 'many-calls',
    what: 'psd2 sync of 300 customers',
    against: 'RSA',
    label: 'psd2 sync, 300 customers',
    unit: 'calls as fast as the core signs',
  },
  {
    section: 'many-calls',
    what: 'psd2 sync of 3000 customers',
    against: 'RSA',
    label: 'psd2 sync, 3 000 customers',
    unit: 'calls as fast as the core signs',
  },
  {
    section: 'many-calls',
    what: 'calls a second with --cores 2',
    against: 'with --cores 1',
    label: 'psd2 sync on two cores',
    unit: 'calls on one core',
  },
  {
    section: 'fleet',
    what: 'calls a second of 2 workers',
    against: 'one worker',
    label: 'psd2 sync, two workers',
    unit: 'one worker, PostgreSQL',
  },
  {
    section: 'big-answers',
    what: 'peak memory with 1 000 000 transactions by psd2 sync',
    against: '',
    label: 'memory, 1 000 000 transactions',
    unit: '10 000',
  },
  {
    section: 'waiting',
    what: 'approval to printed result',
    against: '',
    label: 'instant transfer, from approval on',
    unit: 'the wait that the bank demands',
  },
  {
    section: 'sandbox',
    what: 'psd2 sandbox start',
    against: 'node -e 0',
    label: 'psd2 sandbox start',
    unit: 'node -e 0',
  },
];

/**
 * Writes the figures into docs/performance.md and docs/performance.svg.
 *
 * @param results the figures of bench/results.json
 * @param folder the folder of the two files
 */
export function writeFigures(results, folder = DOCS) {
  const page = join(folder, 'performance.md');
  const text = readFileSync(page, 'utf8');
  const head = text.slice(0, text.indexOf(BEGIN) + BEGIN.length);
  writeFileSync(page, `${head}\n${tablesOf(results)}\n${text.slice(text.indexOf(END))}`);
  writeFileSync(join(folder, 'performance.svg'), chartOf(results));
}

const MUTANTS_BEGIN = '<!-- mutants -->\n';
const MUTANTS_END = '<!-- end of mutants -->';

/**
 * Writes the results of mutation testing into test/mutation/README.md.
 *
 * @param folder the folder of that page
 */
function writeMutants(folder = join(ROOT, 'test/mutation')) {
  const page = join(folder, 'README.md');
  const text = readFileSync(page, 'utf8');
  const head = text.slice(0, text.indexOf(MUTANTS_BEGIN) + MUTANTS_BEGIN.length);
  const read = (file) => JSON.parse(readFileSync(join(ROOT, 'test/mutation', file), 'utf8'));
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true })
    .map((file) => `src/${file}`)
    .filter((file) => file.endsWith('.ts'));
  const mutants = mutantsPage(read('results.json'), sources);
  writeFileSync(page, `${head}\n${mutants}\n${text.slice(text.indexOf(MUTANTS_END))}`);
}

/** The figures in Markdown: a table for each section. */
export function tablesOf(results) {
  return [...new Set(results.map(({ section }) => section))]
    .map((section) => `### ${section}\n\n${tableOf(results.filter((each) => each.section === section))}`)
    .join('\n');
}

function tableOf(some) {
  const rows = some.map(({ what, ratio, against, limit, least, reached, detail }) => [
    what,
    `${ratio.toFixed(2)} × ${against}`,
    limit !== undefined ? `at most ${limit}` : least !== undefined ? `at least ${least}` : '',
    reached === null ? '' : reached ? 'reached' : '**missed**',
    detail,
  ]);
  const lines = [['', 'Figure', 'Limit', '', 'Measured'], Array(5).fill('---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const WIDTH = 860;
/** Where the bars begin, and where the longest bar ends. The numbers stand to its right. */
const LEFT = 340;
const RIGHT = WIDTH - 150;
const MARGIN = 20;
const BAR = 14;
const STEP = 19;

/** A bar for each main ratio and each Node.js, as SVG. It has its own background, since a page may be light or dark. */
function chartOf(results) {
  const groups = CHARTED.map((row) => ({ ...row, bars: results.filter((each) => isOf(each, row)) })).filter(
    ({ bars }) => bars.length > 0,
  );
  const most = Math.max(
    ...groups.flatMap(({ bars }) => bars.flatMap((bar) => [bar.ratio, limitOf(bar) ?? 0])),
  );
  const scale = (RIGHT - LEFT) / Math.max(2, most);
  const x = (ratio) => (LEFT + ratio * scale).toFixed(1);
  let y = 74;
  const parts = groups.map(({ label, unit, bars }) => {
    const top = y;
    y += Math.max(bars.length * STEP, 32) + 14;
    return [
      `<text x="${MARGIN}" y="${top + 11}" class="label">${escapeXml(label)}</text>`,
      `<text x="${MARGIN}" y="${top + 26}" class="unit">1 × ${escapeXml(unit)}</text>`,
      ...bars.map((bar, index) => drawBar(bar, top + index * STEP, x)),
    ].join('\n');
  });
  const height = y + 4;
  const limited = groups.flatMap(({ bars }) => bars).filter(({ reached }) => reached !== null);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Main ratios of psd2 to their baselines; the tables of docs/performance.md have the same numbers">
<title>psd2 against its baselines</title>
<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 }
.label { font-weight: 600 }
.unit, .node { font-size: 11px; fill: #59636e }
.reached { fill: #2da44e }
.missed { fill: #bc4c00 }
.measured { fill: #8c959f }
.one { stroke: #d1d9e0 }
.limit { stroke: #1f2328; stroke-width: 2 }
</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>
<text x="${MARGIN}" y="30" class="title">psd2 against its baselines</text>
<text x="${MARGIN}" y="50" class="unit">${escapeXml(legendOf(limited))}</text>
<line x1="${x(1)}" y1="62" x2="${x(1)}" y2="${y - 8}" class="one"/>
${parts.join('\n')}
</svg>
`;
}

/** What the bars mean. @param limited those with a limit */
function legendOf(limited) {
  const missed = limited.filter(({ reached }) => !reached);
  const within = 'The vertical lines are limits that psd2 sets itself. Green: within the limit.';
  if (missed.length === 0) return within;
  const excess = missed.map(
    ({ ratio, limit, least }) => (least === undefined ? ratio / limit : least / ratio) - 1,
  );
  const most = Math.ceil(Math.max(...excess) * 100);
  return `${within} Orange: ${missed.length} of ${limited.length} miss theirs, by at most ${most} %.`;
}

function isOf({ section, what, against }, row) {
  return section === row.section && what.startsWith(row.what) && against.startsWith(row.against);
}

const limitOf = ({ limit, least }) => limit ?? least;

function drawBar(bar, top, x) {
  const { what, ratio, least, reached } = bar;
  const limit = limitOf(bar);
  const [, node] = /, Node (\d+)\./.exec(what) ?? [];
  const kind = reached === null ? 'measured' : reached ? 'reached' : 'missed';
  const width = (Number(x(ratio)) - LEFT).toFixed(1);
  // The text stands to the right of the bar and its limit.
  const end = Number(x(Math.max(ratio, limit ?? 0))) + 8;
  const middle = top + BAR - 3;
  const bound = least === undefined ? 'at most' : 'at least';
  return [
    `<text x="${LEFT - 8}" y="${middle}" class="node" text-anchor="end">${node ? `Node ${node}` : ''}</text>`,
    `<rect x="${LEFT}" y="${top}" width="${width}" height="${BAR}" rx="2" class="${kind}"/>`,
    ...(limit === undefined
      ? []
      : [`<line x1="${x(limit)}" y1="${top - 2}" x2="${x(limit)}" y2="${top + BAR + 2}" class="limit"/>`]),
    `<text x="${end.toFixed(1)}" y="${middle}">${ratio.toFixed(2)}`,
    ...(limit === undefined ? [] : [` <tspan class="node">${bound} ${limit}</tspan>`]),
    '</text>',
  ].join('');
}

const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  writeFigures(JSON.parse(readFileSync(RESULTS, 'utf8')).results, process.argv[2]);
  writeMutants(process.argv[2]);
}
