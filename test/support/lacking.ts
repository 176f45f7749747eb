import { expect } from 'vitest';
import type { ErrorContext } from '../../src/errors.ts';

/** Matches the context of a `Psd2Error` that has none of these fields. */
export const lacking = (...fields: (keyof ErrorContext)[]): unknown =>
  expect.toSatisfy((context: ErrorContext) => fields.every((field) => !(field in context)));
