import * as z from 'zod/mini';
import type { Shape } from '../../terminal/output/shape.ts';
import { flag, list, oneOf, orNull, text, whole } from './fields.ts';

// What commands of several nouns print.

/** What the bank says of something, in a shape of its own. */
export const bankData: Shape<object> = () =>
  z.record(z.string(), z.unknown()).check(z.describe("the bank's own data, as it came"));

/** A file that a command has saved. */
export const saved = () => z.object({ file: text('its path'), bytes: whole('its size') });

/** The fields of a check. */
export const checkFields = () => ({
  name: text('what was checked'),
  status: oneOf(['ok', 'warn', 'fail', 'skip'], 'what was found'),
  detail: text('in words'),
  fix: orNull(text('what to do about it; null where nothing is to be done')),
});

/** Checks: `ok` is whether none has failed. */
export const checks = () =>
  z.object({ ok: flag('whether none has failed'), checks: list(z.object(checkFields()), 'in their order') });
