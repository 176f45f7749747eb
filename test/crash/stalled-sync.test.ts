import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useProgram } from '../store/process.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { sample } from '../support/sample.ts';

const folder = temporaryFolder();
const program = useProgram(new URL('../store/sync-once.ts', import.meta.url));
const [EARLIER, YESTERDAY, TODAY] = ['2026-11-03', '2026-11-05', '2026-11-06'];
const PATIENCE_MS = 300_000;
/** How many tries run at once. Most of the time they wait for a process that stalls. */
const AT_ONCE = 12;

function start(out: string, through: string, env?: Record<string, string>) {
  return program([out, through], join(out, '7'), env);
}

const newFolder = () => join(folder, randomUUID());
/** A copy of a folder in the state that others left it in. */
function copyOf(left: string): string {
  const out = newFolder();
  cpSync(left, out, { recursive: true });
  return out;
}

/** The ids in the rows file of a product. */
function idsIn(out: string, productId: string): string[] {
  return readFileSync(join(out, '7', 'transactions', `${productId}.ndjson`), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line): string => JSON.parse(line).id);
}

const expected = (productId: string) =>
  Array.from({ length: 6 }, (_, index) => index + 1).flatMap((at) =>
    [1, 2].map((number) => `${productId} 2026-11-0${at} ${number}`),
  );

/** Everything that is wrong after all processes have ended. */
function problemsIn(out: string): string[] {
  const problems: string[] = [];
  for (const productId of ['A1', 'B2']) {
    const ids = idsIn(out, productId);
    if (ids.join() !== expected(productId).join()) problems.push(`${productId} has ${ids.join()}`);
  }
  const claims = readdirSync(join(out, '7')).filter((name) => name.startsWith('sync-'));
  const numberOf = (name: string) => Number(/\d+/.exec(name)?.[0]);
  const [highest = ''] = claims.sort((a, b) => numberOf(b) - numberOf(a));
  const state = JSON.parse(
    readFileSync(join(out, '7', highest), 'utf8')
      .split('\n')
      .at(-2) ?? '',
  );
  if (!state.ended) problems.push(`${highest} has not ended`);
  for (const productId of ['A1', 'B2'])
    if (state.products[productId]?.through !== TODAY)
      problems.push(`${productId} is not synced until ${TODAY}`);
  return problems;
}

/** Stops a sync at a point, lets another one do the same work, and then lets the first one continue. */
async function stallAt(left: string, point: string): Promise<string[]> {
  const out = copyOf(left);
  const first = start(out, YESTERDAY, { STOP_AT: point });
  await first.stands(point);
  const second = await start(out, TODAY).ended;
  const problems = second.code === 0 ? [] : [`the second ended with ${second.code}: ${second.said}`];
  if (second.code === 0)
    problems.push(...problemsIn(out).map((problem) => `before the first continues: ${problem}`));
  first.child.kill('SIGCONT');
  const { code, said } = await first.ended;
  if (code !== 0 && !/^Another psd2 sync has taken over the folder/.test(said))
    problems.push(`the first ended with ${code}: ${said}`);
  problems.push(...problemsIn(out));
  // If the first had not begun when it was stopped, it syncs after the second. Otherwise it may not undo what the second wrote.
  if (code !== 0 && readFileSync(join(out, '7', 'current.ndjson'), 'utf8').includes(YESTERDAY))
    problems.push('current.ndjson is the older one');
  return problems.map((problem) => `${point}: ${problem}`);
}

async function stallAtAll(left: string, points: readonly string[]): Promise<string[]> {
  const waiting = [...points];
  const problems: string[] = [];
  const work = async () => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift())
      problems.push(...(await stallAt(left, point)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return problems;
}

describe('a sync stalls while another takes over its folder, and then continues', () => {
  const [empty, synced, killed] = [newFolder(), newFolder(), newFolder()];

  beforeAll(async () => {
    mkdirSync(empty);
    expect((await start(synced, EARLIER).ended).code).toBe(0);
    cpSync(synced, killed, { recursive: true });
    const stopAt = 'after writeFile transactions/B2.ndjson #1';
    const died = start(killed, TODAY, { STOP_AT: stopAt, STOP_HOW: 'SIGKILL' });
    expect((await died.ended).points).toContain(stopAt);
  }, PATIENCE_MS);

  it.each([
    ['in a new folder', empty],
    ['in a folder that was synced before', synced],
    ['while it takes over from one that was killed', killed],
  ])(
    '%s: wherever a sync stalled, each row is there once, and the newest progress counts',
    async (_what, left) => {
      const { code, points } = await start(copyOf(left), YESTERDAY).ended;
      expect(code).toBe(0);
      expect(points.length).toBeGreaterThan(30);
      // The point after one step is the point before the next.
      const stops = points.filter((point, index) => /^before/.test(point) || index === points.length - 1);
      expect(await stallAtAll(left, sample(stops, 6))).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'rows of a sync that was killed are on disk before progress is stored beyond them',
    async () => {
      const { code, points } = await start(copyOf(killed), EARLIER).ended;
      expect(code).toBe(0);
      const flushed = /^after fdatasync transactions\/A1\.ndjson(?:\.new-3)? #/;
      const flushedAt = points.findIndex((point) => flushed.test(point));
      expect(flushedAt).toBeGreaterThan(-1);
      // The first line only repeats what was known.
      expect(points.indexOf('before writeFile sync-3.ndjson #2')).toBeGreaterThan(flushedAt);
    },
    PATIENCE_MS,
  );

  it('a new run in a healthy folder makes no copy, and waits for the disk only for new rows', async () => {
    const { points } = await start(copyOf(synced), EARLIER).ended;
    expect(points.filter((point) => /copyFile|fdatasync/.test(point))).toEqual([]);
    expect(points).toContain('after link sync-1.ndjson #1');
  });
});
