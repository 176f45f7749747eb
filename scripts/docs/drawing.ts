import { type Import, sourceFiles } from './imports.ts';
import type { Walk } from './walks.ts';

/** A room at the top of `src`: a folder, or one of the files beside the folders. */
interface Room {
  name: string;
  /** The walk's files in this room, with their number in the walk. */
  steps: { number: number; file: string }[];
  /** 0 is at the top: no room imports it. */
  floor: number;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const CHARACTER = 6.6;
const LINE = 17;
const PADDING = 10;
const GAP = 26;
const BETWEEN_FLOORS = 46;
const MARGIN = 24;
const TOP = 66;

/**
 * The rooms of the sources and one walk through them, as SVG. A room stands above the rooms that it imports. There is no
 * line between two rooms if other lines already connect them. Files beside the rooms are left out, but for the one where
 * the walk begins.
 */
export function drawRooms(imports: readonly Import[], walk: Walk): string {
  const rooms = roomsOf(imports, walk);
  const lines = linesBetween(rooms, imports);
  const floors = [...new Set(rooms.map(({ floor }) => floor))].sort((one, other) => one - other);
  const rows = floors.map((floor) => rooms.filter((room) => room.floor === floor));
  const width = Math.max(640, ...rows.map(widthOfRow)) + 2 * MARGIN;
  const boxes = new Map<string, Box>();
  let y = TOP;
  for (const row of rows) {
    let x = (width - widthOfRow(row)) / 2;
    for (const room of row) {
      boxes.set(room.name, { x, y, width: widthOf(room), height: heightOf(room) });
      x += widthOf(room) + GAP;
    }
    y += Math.max(...row.map(heightOf)) + BETWEEN_FLOORS;
  }
  const height = y - BETWEEN_FLOORS + MARGIN;
  const drawn = [
    ...lines.map(([above, below]) => drawLine(boxOf(boxes, above), boxOf(boxes, below))),
    ...rooms.map((room) => drawRoom(room, boxOf(boxes, room.name))),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" role="img" aria-labelledby="title">
<title id="title">The rooms of psd2's sources, and the files that psd2 ${escaped(walk.command)} goes through</title>
${STYLE}
<rect class="ground" width="100%" height="100%" rx="8"/>
<text class="head" x="${MARGIN}" y="30">src/: a room imports only what stands below it</text>
<text class="note" x="${MARGIN}" y="48">1 to ${walk.files.length}: the path of psd2 ${escaped(walk.command)} from the arguments to the bank</text>
${drawn.join('\n')}
</svg>
`;
}

const STYLE = `<style>
text { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; }
.head { font-weight: 600; font-size: 14px; }
.name { font-weight: 600; font-size: 12px; }
.note { fill: #59636e; }
.number { fill: #0550ae; font-weight: 600; }
.ground { fill: #ffffff; }
.room { fill: #f6f8fa; stroke: #d1d9e0; }
.walked { stroke: #0969da; stroke-width: 1.5; }
.line { fill: none; stroke: #8c959f; stroke-opacity: 0.7; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.note { fill: #9198a1; }
.number { fill: #79c0ff; }
.ground { fill: #0d1117; }
.room { fill: #161b22; stroke: #3d444d; }
.walked { stroke: #4493f8; }
.line { stroke: #7d8590; }
}
</style>`;

function roomsOf(imports: readonly Import[], walk: Walk): Room[] {
  const numbered = walk.files.map((file, index) => ({ number: index + 1, file }));
  const files = sourceFiles();
  const first = walk.files[0];
  const names = [...new Set(files.map(roomAtTop))].filter((name) => !name.endsWith('.ts') || name === first);
  const edges = edgesBetween(names, imports);
  const floorOf = (name: string, below: readonly string[] = []): number => {
    if (below.includes(name)) throw new Error(`The rooms import each other: ${[...below, name].join(', ')}`);
    const above = edges.filter(([, to]) => to === name).map(([from]) => floorOf(from, [...below, name]));
    return above.length === 0 ? 0 : Math.max(...above) + 1;
  };
  return names.map((name) => ({
    name,
    steps: numbered.filter(({ file }) => roomAtTop(file) === name),
    floor: floorOf(name),
  }));
}

/** The lines to draw. Leaves out a line if a path through another room connects the same two rooms. */
function linesBetween(rooms: readonly Room[], imports: readonly Import[]): [string, string][] {
  const edges = edgesBetween(
    rooms.map(({ name }) => name),
    imports,
  );
  const reaches = (from: string, to: string): boolean =>
    edges.some(([above, below]) => above === from && (below === to || reaches(below, to)));
  return edges.filter(
    ([from, to]) => !edges.some(([above, below]) => above === from && below !== to && reaches(below, to)),
  );
}

function edgesBetween(names: readonly string[], imports: readonly Import[]): [string, string][] {
  const edges = new Map<string, [string, string]>();
  for (const { from, to, isPackage } of imports) {
    const [above, below] = [roomAtTop(from), roomAtTop(to)];
    if (isPackage || above === below || !names.includes(above) || !names.includes(below)) continue;
    edges.set(`${above} ${below}`, [above, below]);
  }
  return [...edges.values()].sort(([a, b], [c, d]) => (`${a} ${b}` < `${c} ${d}` ? -1 : 1));
}

function roomAtTop(file: string): string {
  return file.split('/', 1)[0] ?? file;
}

function textsOf({ name, steps }: Room): { title: string; lines: string[] } {
  const isFile = name.endsWith('.ts');
  return {
    title: isFile ? name : `${name}/`,
    lines: steps.map(({ number, file }) => `${number} ${isFile ? '' : file.slice(name.length + 1)}`),
  };
}

function widthOf(room: Room): number {
  const { title, lines } = textsOf(room);
  const longest = Math.max(
    `${title}  `.length * 1.08,
    ...(room.name.endsWith('.ts') ? [] : lines).map(({ length }) => length + 1),
  );
  return Math.max(96, longest * CHARACTER + 2 * PADDING);
}

function heightOf(room: Room): number {
  return (1 + (room.name.endsWith('.ts') ? 0 : room.steps.length)) * LINE + 2 * PADDING;
}

function widthOfRow(row: readonly Room[]): number {
  return row.reduce((sum, room) => sum + widthOf(room) + GAP, -GAP);
}

function boxOf(boxes: ReadonlyMap<string, Box>, name: string): Box {
  const box = boxes.get(name);
  if (!box) throw new Error(`${name} has no place in the drawing`);
  return box;
}

function drawLine(above: Box, below: Box): string {
  const [x1, y1] = [above.x + above.width / 2, above.y + above.height];
  const [x2, y2] = [below.x + below.width / 2, below.y];
  const middle = (y1 + y2) / 2;
  return `<path class="line" d="M${round(x1)} ${round(y1)} C${round(x1)} ${round(middle)} ${round(x2)} ${round(middle)} ${round(x2)} ${round(y2)}"/>`;
}

function drawRoom(room: Room, { x, y, width, height }: Box): string {
  const { title } = textsOf(room);
  const isFile = room.name.endsWith('.ts');
  const left = x + PADDING;
  const line = (index: number) => round(y + PADDING + LINE * index + 12);
  const number = (step: { number: number }) => `<tspan class="number">${step.number}</tspan>`;
  const head = isFile ? `${room.steps.map(number).join('')} ${escaped(title)}` : escaped(title);
  const steps = isFile
    ? []
    : room.steps.map(
        (step, index) =>
          `<text x="${round(left)}" y="${line(index + 1)}">${number(step)} ${escaped(step.file.slice(room.name.length + 1))}</text>`,
      );
  return [
    `<rect class="room${room.steps.length > 0 ? ' walked' : ''}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="6"/>`,
    `<text class="name" x="${round(left)}" y="${line(0)}">${head}</text>`,
    ...steps,
  ].join('\n');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
