import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completePath, typedPath } from '../../src/terminal/complete-path.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const folder = temporaryFolder();
const at = (...path: string[]) => join(folder, ...path);
for (const name of ['qwac.pem', 'qwac-key.pem', 'seal.p12', '.hidden', 'bad\nname'])
  writeFileSync(at(name), '');
mkdirSync(at('keys', 'old'), { recursive: true });
for (const name of ['doubles', 'double']) writeFileSync(at(name), '');
symlinkSync('/nowhere/at/all', at('link'));

describe('the Tab key', () => {
  it.each([
    ['s', 'seal.p12', []],
    ['k', 'keys/', []],
    ['keys/', 'keys/old/', []],
    ['q', 'qwac', ['qwac-key.pem', 'qwac.pem']],
    ['.', '.hidden', []],
    ['x', 'x', []],
    ['b', 'b', []],
    ['nowhere/q', 'nowhere/q', []],
    ['seal.p12/', 'seal.p12/', []],
    // A link that leads nowhere is no folder.
    ['l', 'link', []],
    ['x.', 'x.', []],
    ['doub', 'double', ['double', 'doubles']],
    // A dot at the end is not one at the beginning.
    ['hidden.', 'hidden.', []],
  ])('the Tab key turns %j into %j', (begun, completed, choices) => {
    expect(completePath(at('').concat('/', begun))).toEqual({ text: `${folder}/${completed}`, choices });
  });

  it('the Tab key offers all names in a folder that do not begin with a dot', () => {
    const names = ['double', 'doubles', 'keys/', 'link', 'qwac-key.pem', 'qwac.pem', 'seal.p12'];
    expect(completePath(`${folder}/`)).toEqual({ text: `${folder}/`, choices: names });
  });

  it('the Tab key turns ~ into the home folder, and offers nothing yet', () => {
    expect(completePath('~')).toEqual({ text: '~/', choices: [] });
  });

  it('the Tab key removes nothing that was typed, and offers only names that continue it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z./~-]{0,12}$/), (typed) => {
        const begun = typed === '~' ? typed : `${folder}/${typed}`;
        const { text, choices } = completePath(begun);
        expect(text.startsWith(begun)).toBe(true);
        const stem = text.slice(text.lastIndexOf('/') + 1);
        for (const choice of choices) expect(choice.startsWith(stem)).toBe(true);
      }),
    );
  });
});

it.each([
  ['~', homedir()],
  ['~/keys/a.pem', join(homedir(), 'keys', 'a.pem')],
  [' /etc/qwac.pem ', '/etc/qwac.pem'],
  ['/keys/~', '/keys/~'],
  ['~user/a', join(process.cwd(), '~user/a')],
])('the path %j is %s', (typed, path) => {
  expect(typedPath(typed)).toBe(path);
});
