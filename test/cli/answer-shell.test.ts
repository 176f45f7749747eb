import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { answerShell } from '../../src/cli/completion/complete.ts';

let printed = '';

// Other test files load this module too, so it is reloaded.
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
vi.mock(import('../../src/cli/print-at-once.ts'), () => ({
  printAtOnce: (text: string) => {
    printed += text;
  },
}));

beforeEach(() => {
  printed = '';
});

it.each([
  [['words', 'compl'], 'values\ncompletion\tprint a script for completion with the Tab key\n'],
  [['words'], expect.stringMatching(/^values\nauth\tlog customers in and out\nprofile\t/)],
  [['words', 'nothing', ''], 'values\n'],
  [['words', 'accounts', 'export', '--file', ''], 'files\n'],
  [['words', 'sync', '--out', ''], 'folders\n'],
  [['line', 'psd2 completion b'], 'values\nbash\t\n'],
  [['line', 'psd2  completion  '], 'values\nbash\t\nzsh\t\nfish\t\n'],
  // The shell's line may end within a word that has a quote.
  [['line', 'psd2 completion "b'], 'values\nbash\t\n'],
  [['line', "psd2 completion 'z"], 'values\nzsh\t\n'],
  [['line', 'psd2 completion "z"'], 'values\nzsh\t\n'],
  [['line', 'psd2 "transfer'], expect.stringMatching(/^values\ntransfer\t[^\n]+\n$/)],
  [['line', 'psd2'], expect.stringMatching(/^values\nauth\t/)],
  [['line'], expect.stringMatching(/^values\nauth\t/)],
  [[], expect.stringMatching(/^values\nauth\t/)],
])('psd2 __complete with %j answers %j', async (args, answer) => {
  await answerShell(args);
  expect(printed).toEqual(answer);
});
