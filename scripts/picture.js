// Draws the README's pictures from a real run of the demo: npm run picture [-- <folder>]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COLUMNS = 100;
/** More rows than the demo prints, so that nothing scrolls away. */
const ROWS = 300;
/** What a picture shows: the lines from one to another. Login and consent are in none. */
const PICTURES = [
  {
    name: 'demo',
    title: 'psd2 accounts, and an instant transfer',
    ...{ first: '$ psd2 accounts list', end: '$ psd2 smoke' },
    shows: 'lists accounts and makes an instant transfer',
  },
  {
    name: 'smoke',
    title: 'psd2 smoke',
    ...{ first: '$ psd2 smoke', end: 'The instant transfer is settled' },
    shows: 'tests the interface of a bank, step by step',
  },
];

const CELL = { width: 8.4, height: 19 };
const MARGIN = 20;
const BAR = 34;
const COLOURS = { text: '#e6edf3', dim: '#7d8590', command: '#79c0ff', bold: '#ffffff', window: '#0d1117' };
const EDGE = '#30363d';
/** The colours of a terminal that psd2 uses, by their number. */
const PALETTE = { 1: '#ff7b72', 2: '#3fb950', 3: '#d29922', 6: '#39c5cf', 8: COLOURS.dim };

/** Runs the demo in a terminal of its own (`script` of util-linux). Returns what it prints. */
async function runDemo() {
  const command = `stty cols ${COLUMNS} rows ${ROWS}; exec '${process.execPath}' bin/psd2.js demo`;
  const env = { ...process.env, TERM: 'xterm-256color', NO_COLOR: '' };
  const demo = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [bytes, [code]] = await Promise.all([buffer(demo.stdout), once(demo, 'close')]);
  if (code !== 0) throw new Error(`The demo ended with ${code}:\n${bytes}`);
  return bytes;
}

/** Reads the screen at the end: for each line, its pieces of one look. */
async function readScreen(bytes) {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  await new Promise((resolve) => terminal.write(bytes, resolve));
  const lines = [];
  for (let row = 0; row < ROWS; row += 1) {
    const line = terminal.buffer.active.getLine(row);
    const pieces = [];
    for (let column = 0; column < COLUMNS; column += 1) {
      const cell = line?.getCell(column);
      const colour = cell?.isFgPalette() ? PALETTE[cell.getFgColor()] : undefined;
      const look = cell?.isBold() ? ' class="bold"' : colour ? ` fill="${colour}"` : '';
      const last = pieces.at(-1);
      if (last?.look === look) last.text += cell?.getChars() || ' ';
      else pieces.push({ look, column, text: cell?.getChars() || ' ' });
    }
    lines.push({ text: line?.translateToString(true) ?? '', wrapped: line?.isWrapped ?? false, pieces });
  }
  return lines;
}

/** The lines of a picture. */
function linesOf(lines, { first, end }) {
  const [from, to] = [first, end].map((begin) => lines.findIndex(({ text }) => text.startsWith(begin)));
  if (from === -1 || to === -1) throw new Error(`The demo does not go from "${first}" to "${end}"`);
  const shown = lines.slice(from, to);
  return shown.slice(0, shown.findLastIndex(({ text }) => text !== '') + 1);
}

const escapeXml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function draw(lines, { title, shows }) {
  const width = Math.round(COLUMNS * CELL.width + 2 * MARGIN);
  const height = BAR + lines.length * CELL.height + MARGIN;
  let command = false;
  const texts = lines.flatMap(({ text, wrapped, pieces }, row) => {
    // A long command goes on after a backslash.
    const goesOn = wrapped || lines[row - 1]?.text.endsWith('\\');
    command = text.startsWith('$ ') || (command && goesOn);
    return pieces.flatMap(({ look, column, text: piece }) => {
      const shown = piece.trimEnd();
      if (shown.trim() === '') return [];
      const indent = shown.length - shown.trimStart().length;
      const x = (MARGIN + (column + indent) * CELL.width).toFixed(1);
      const y = BAR + (row + 0.75) * CELL.height;
      const length = ((shown.length - indent) * CELL.width).toFixed(1);
      const kind = command ? ' class="command"' : look;
      // textLength keeps the columns aligned in every font.
      return `<text x="${x}" y="${y}" textLength="${length}"${kind}>${escapeXml(shown.trimStart())}</text>`;
    });
  });
  const dots = [0, 1, 2].map(
    (index) => `<circle cx="${MARGIN + 5 + index * 18}" cy="${BAR / 2}" r="5" fill="${EDGE}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal in which psd2 ${shows}">
<title>${escapeXml(title)}</title>
<style>
svg { fill: ${COLOURS.text} }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.command { fill: ${COLOURS.command} }
.bold { font-weight: 600; fill: ${COLOURS.bold} }
.title { fill: ${COLOURS.dim}; text-anchor: middle }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${COLOURS.window}" stroke="${EDGE}"/>
${dots.join('')}
<text x="${width / 2}" y="${BAR / 2 + 5}" class="title">${escapeXml(title)}</text>
${texts.join('\n')}
</svg>
`;
}

const folder = process.argv[2] ?? `${ROOT}docs`;
const screen = await readScreen(await runDemo());
for (const picture of PICTURES)
  writeFileSync(`${folder}/${picture.name}.svg`, draw(linesOf(screen, picture), picture));
