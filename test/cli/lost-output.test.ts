import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { endOverLostOutput } from '../../src/cli/report-error.ts';

const exit = vi.fn<(code?: string | number | null) => never>();

beforeEach(() => {
  const before = process.exitCode;
  exit.mockReset();
  vi.spyOn(process, 'exit').mockImplementation(exit);
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  onTestFinished(() => {
    process.exitCode = before;
    vi.restoreAllMocks();
  });
});

it.each([
  [undefined, 3],
  [0, 3],
  [9, 9],
])('a full disk for the output of a command whose exit code is %s ends psd2 with %i', (own, code) => {
  process.exitCode = own;
  endOverLostOutput(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
  expect(exit).toHaveBeenCalledExactlyOnceWith(code);
});
