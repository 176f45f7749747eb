import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readImports, sourceFiles } from '../../scripts/docs/imports.ts';
import { isWithin } from '../../scripts/docs/walls.ts';

// What a third interface costs. test/bank/toy-interface is one: three registers have it.

const OWN = ['bank/interfaces/nextgenpsd2', 'sandbox/nextgenpsd2'];
const isOwn = (file: string) => OWN.some((folder) => isWithin(file, folder));

it('few files outside its folder and the sandbox name NextGenPSD2', () => {
  const others = sourceFiles().filter((file) => !isOwn(file) && !isWithin(file, 'sandbox'));
  const naming = others.filter((file) => /nextgenpsd2|berlin/i.test(readFileSync(join('src', file), 'utf8')));
  expect(naming.length, naming.join(', ')).toBeLessThanOrEqual(15);
});

// Three of them are the registers, which each interface needs. The others do what only NextGenPSD2 has: the toy needs none of them.
it('few files reach into the folders of an interface', () => {
  const reaching = readImports()
    .filter(({ from, to }) => !isOwn(from) && isOwn(to))
    .map(({ from }) => from);
  const files = [...new Set(reaching)].sort();
  expect(files).toEqual(expect.arrayContaining(['bank/descriptions.ts', 'bank/open.ts', 'sandbox/doors.ts']));
  expect(files.length, files.join(', ')).toBeLessThanOrEqual(13);
});
