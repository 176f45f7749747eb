import { expect } from 'vitest';
import type * as z from 'zod';
import type { Ended } from './psd2.ts';
import * as shapes from './shapes.ts';

/** Reads the error from the last line of stderr, and checks that its exit code is the process's. */
export function readError({ code, stderr }: Ended): z.infer<typeof shapes.error>['error'] {
  const line = stderr.trimEnd().split('\n').at(-1) ?? '';
  expect(line, stderr).toMatch(/^\{"event":"error","error":/);
  const { error } = shapes.error.parse(JSON.parse(line));
  expect(error.exitCode).toBe(code);
  return error;
}
