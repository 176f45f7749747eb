import { chownSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { checkOwner, storeFolder } from '../../src/store/folder.ts';
import { temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
let warnings: string[];
const warn = (text: string) => warnings.push(text);

beforeEach(() => {
  warnings = [];
});

it('is used by the one whom it belongs to, and where there is none yet', () => {
  const folder = storeFolder(join(temporary, 'own'));
  checkOwner(folder, warn);
  mkdirSync(folder.root);
  checkOwner(folder, warn);
  expect(warnings).toEqual([]);
});

it('is refused when it belongs to another user', () => {
  expect(() => checkOwner(storeFolder('/usr'), warn, 65534)).toThrow(
    expect.objectContaining({
      code: 'config',
      message: 'The configuration folder /usr belongs to root',
      hint: expect.stringContaining('PSD2_CONFIG_DIR'),
    }),
  );
});

it('is used by root with a warning', () => {
  const folder = storeFolder(join(temporary, 'of-another'));
  mkdirSync(folder.root);
  if (process.getuid?.() === 0) chownSync(folder.root, 12345, 12345);
  checkOwner(folder, warn, 0);
  expect(warnings).toEqual([
    `The configuration folder ${folder.root} belongs to another user (${statSync(folder.root).uid}), and psd2 runs as root: what it writes there that user can't read.`,
  ]);
});

it('has its places below one root', () => {
  const folder = storeFolder('/somewhere');
  expect(folder.tokens('bank')).toBe('/somewhere/tokens/bank');
  expect(folder.flows('bank')).toBe('/somewhere/flows/bank');
});
