import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { importsOf, readImports, sourceFiles } from '../../scripts/docs/imports.ts';
import { crossedBy, isWithin, OWNERS, PURE, WALLS } from '../../scripts/docs/walls.ts';

const imports = readImports();
const crossedIn = (file: string, text: string) =>
  importsOf(file, text).flatMap((each) => crossedBy(each) ?? []);

it('no file imports anything that its room does not allow', () => {
  expect(imports.length).toBeGreaterThan(sourceFiles().length);
  expect(imports.flatMap((each) => crossedBy(each) ?? [])).toEqual([]);
});

it.each([
  ['a value', `import { x } from '../statements/csv.ts';`],
  ['a type', `import type { X } from '../statements/csv.ts';`],
  ['an export', `export { x } from '../statements/csv.ts';`],
  ['everything a file exports', `export * from '../statements/csv.ts';`],
  ['a dynamic import', `const load = () => import('../statements/csv.ts');`],
])('the wall stops %s from another room', (_, text) => {
  for (const room of ['sandbox', 'signature', 'certificates']) {
    expect(crossedIn(`${room}/new.ts`, text)).toEqual([
      `src/${room}/new.ts imports src/statements/csv.ts, which is not allowed in ${room}`,
    ]);
  }
});

it('a wall also holds in subfolders of a room, however deep', () => {
  expect(crossedIn('sandbox/a/b/new.ts', `import '../../../bank/call/json.ts';`)).toHaveLength(1);
  expect(crossedIn('commands/transfer/a/new.ts', `import '../../accounts/list.ts';`)).toHaveLength(1);
  expect(crossedIn('commands/transfer/a/new.ts', `import '../order.ts';`)).toEqual([]);
});

it('only its owner imports an owned package, and a pure room reads no files', () => {
  expect(crossedIn('flows/new.ts', `import undici from 'undici/lib/core/request.js';`)).toHaveLength(1);
  expect(crossedIn('domain/new.ts', `import { readFileSync } from 'node:fs';`)).toHaveLength(1);
});

it('it is an error if only a type names a file, or if the source does not show which file it imports', () => {
  expect(() => importsOf('cli/new.ts', `let x: import('../bank/call/json.ts').X;`)).toThrow(
    'use import type',
  );
  expect(() => importsOf('cli/new.ts', 'await import(name);')).toThrow('does not say what it imports');
});

it('a file outside of all rooms is an error', () => {
  expect(() => crossedIn('new.ts', `import './errors.ts';`)).toThrow('src/new.ts is in no room');
});

it('everything that the walls name exists, and every exception they allow is used', () => {
  const named = [
    ...Object.keys(WALLS),
    ...Object.values(WALLS).flat(),
    ...PURE,
    ...Object.values(OWNERS).flat(),
  ];
  expect(named.filter((path) => !existsSync(`src/${path}`))).toEqual([]);
  const unused = Object.entries(WALLS)
    .filter(([room]) => !isWithin(room, 'commands') && room !== 'store/files' && room !== 'store/postgres')
    .flatMap(([room, allowed]) =>
      allowed
        .filter((to) => !imports.some((each) => isWithin(each.from, room) && isWithin(each.to, to)))
        .map((to) => `${room} does not import ${to}`),
    );
  expect(unused).toEqual([]);
});
