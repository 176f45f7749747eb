import * as z from 'zod/mini';
import type { Shape } from '../../terminal/output/shape.ts';
import { flag, list, oneOf, orNull, text, whole } from './fields.ts';

// Shapes that commands of several nouns print.

/** The bank's own data, of an unknown shape. */
export const bankData: Shape<object> = () =>
  z.record(z.string(), z.unknown()).check(z.describe("the bank's own data, unchanged"));

/** A file that a command saved. */
export const saved = () => z.object({ file: text('its path'), bytes: whole('its size') });

/** The fields of a check. */
export const checkFields = () => ({
  name: text('name of the check'),
  status: oneOf(['ok', 'warn', 'fail', 'skip'], 'result of the check'),
  detail: text('the result in words'),
  fix: orNull(text('what to do; null if there is nothing to do')),
});

/** Checks. `ok` is true if none failed. */
export const checks = () =>
  z.object({ ok: flag('true if no check failed'), checks: list(z.object(checkFields()), 'in order') });
