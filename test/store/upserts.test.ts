import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

// In PostgreSQL, what is written again is `insert … on conflict … do update`. A column that only the insert names keeps its first value.

const FOLDER = 'src/store/postgres';
const UPSERT =
  /insert into psd2\.(\w+)(?: as \w+)? \(([^)]*)\)(?:(?!insert into).)*?on conflict \(([^)]*)\)\s+do update(.*?)(?:`|\bwhere\b|\breturning\b)/gs;

/** Columns that keep their first value, by table, with the reason. */
const KEPT: Record<string, readonly string[]> = {
  // A worker's next turn is later; how fast the others are is theirs.
  pace: ['gap_ms', 'held_until', 'holds'],
  // `upgrade` alone changes it.
  store: ['version'],
  // Each worker makes its own, once.
  sync_workers: ['name'],
  // They are of the first event, which nothing changes.
  flows: ['kind', 'transaction_id', 'reference', 'created_at'],
};

const columnsIn = (list: string) => list.split(',').map((each) => each.trim());

const upserts = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(join(FOLDER, file), 'utf8').matchAll(UPSERT)].map(
      ([, table = '', inserted = '', key = '', update = '']) => {
        const isSet = new Set([...update.matchAll(/(\w+)\s*=/g)].map(([, column]) => column));
        const others = columnsIn(inserted).filter((column) => !columnsIn(key).includes(column));
        // A list of columns that stands elsewhere is compared by its own test.
        const named = others.filter((column) => /^\w+$/.test(column));
        return { table, file, forgotten: named.filter((column) => !isSet.has(column)) };
      },
    ),
  );

it('the upserts are found', () => {
  expect(upserts.length).toBeGreaterThan(15);
});

it.each(upserts)('a second writing of $table in $file writes every column', ({ table, forgotten }) => {
  const kept = KEPT[table] ?? [];
  expect(forgotten.filter((column) => !kept.includes(column))).toEqual([]);
});
