import { expect } from 'vitest';
import type * as z from 'zod';
import type { Ended } from './psd2.ts';
import * as shapes from './shapes.ts';

/** The one line of JSON on stderr that says what went wrong; its exit code is the process's. */
export function readError({ code, stderr }: Ended): z.infer<typeof shapes.error>['error'] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  expect(lines, stderr).toHaveLength(1);
  const { error } = shapes.error.parse(JSON.parse(lines[0] ?? ''));
  expect(error.exitCode).toBe(code);
  return error;
}
