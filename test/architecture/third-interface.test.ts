import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readImports, sourceFiles } from '../../scripts/docs/imports.ts';
import { isWithin, WALLS } from '../../scripts/docs/walls.ts';

// What a third interface costs. test/bank/toy-interface is one: three registers have it.

const OWN = ['bank/interfaces/nextgenpsd2', 'sandbox/nextgenpsd2'];
const isOwn = (file: string) => OWN.some((folder) => isWithin(file, folder));

it('few files outside its folder and the sandbox name NextGenPSD2', () => {
  const others = sourceFiles().filter((file) => !isOwn(file) && !isWithin(file, 'sandbox'));
  const naming = others.filter((file) => /nextgenpsd2|berlin/i.test(readFileSync(join('src', file), 'utf8')));
  expect(naming.length, naming.join(', ')).toBeLessThanOrEqual(13);
});

// Three of them are the registers, which each interface needs. The others do what only NextGenPSD2 has: the toy needs none of them.
it('few files reach into the folders of an interface', () => {
  const reaching = readImports()
    .filter(({ from, to }) => !isOwn(from) && isOwn(to))
    .map(({ from }) => from);
  const files = [...new Set(reaching)].sort();
  expect(files).toEqual(expect.arrayContaining(['bank/descriptions.ts', 'bank/open.ts', 'sandbox/doors.ts']));
  expect(files.length, files.join(', ')).toBeLessThanOrEqual(12);
});

// What must be written for one: NextGenPSD2 in the registers and the walls. Lines that follow each other are one edit.
const REGISTERS = ['src/bank/open.ts', 'src/bank/descriptions.ts', 'src/sandbox/doors.ts'];
const CONTRACT = 'test/bank/contract/contract.test.ts';

it('a third interface is few edits outside its folders', () => {
  const edits = [...REGISTERS, CONTRACT].flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const isEdit = (at: number) => /nextgenpsd2/i.test(lines[at] ?? '');
    return lines.flatMap((line, at) => (isEdit(at) && !isEdit(at - 1) ? [`${file}: ${line.trim()}`] : []));
  });
  edits.push(...Object.keys(WALLS).filter(isOwn));
  expect(edits.length, edits.join('\n')).toBeLessThanOrEqual(15);
  // The toy is in these registers and in no other one.
  const toy = readFileSync('test/bank/toy-interface/register.ts', 'utf8');
  const from = [...toy.matchAll(/from '..\/..\/..\/(src[^']+)'/g)].map(([, file]) => file);
  expect(from.toSorted()).toEqual(REGISTERS.toSorted());
});
