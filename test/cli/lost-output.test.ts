import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { endOverLostOutput } from '../../src/cli/report-error.ts';

let said = '';
const exit = vi.fn<(code?: string | number | null) => never>();

beforeEach(() => {
  const before = process.exitCode;
  exit.mockReset();
  vi.spyOn(process, 'exit').mockImplementation(exit);
  said = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += text;
    return true;
  });
  onTestFinished(() => {
    process.exitCode = before;
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
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

it.each([
  ['ENOSPC', 'ENOSPC'],
  [undefined, 'unknown reason'],
])('output that is lost for the reason %s says so, and where the outcome of a payment is', (code, reason) => {
  vi.stubEnv('PSD2_OUTPUT', '');
  endOverLostOutput(Object.assign(new Error('no space'), { code }));
  expect(said).toBe(
    `psd2: Standard output could not be written (${reason}).\n` +
      '  Check the free space of its disk. See the outcome of a payment with: psd2 transfer list\n',
  );
});

it('for a program the error is JSON', () => {
  vi.stubEnv('PSD2_OUTPUT', 'json');
  endOverLostOutput(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
  expect(JSON.parse(said).error).toMatchObject({
    code: 'config',
    message: 'Standard output could not be written (ENOSPC)',
    exitCode: 3,
    next: [['psd2', 'transfer', 'list']],
  });
});

it('a reader that has read enough is no error, and the exit code of the command stays', () => {
  const ended = new Error('the process ends');
  exit.mockImplementation(() => {
    throw ended;
  });
  process.exitCode = 9;
  expect(() => endOverLostOutput(Object.assign(new Error('gone'), { code: 'EPIPE' }))).toThrow(ended);
  expect(exit).toHaveBeenCalledExactlyOnceWith();
  expect([process.exitCode, said]).toEqual([9, '']);
});
