import * as z from 'zod/mini';

// The kinds of field that commands print. `psd2 schema` and docs/output.md show each field's description.

/** A text. */
export function text(what: string) {
  return z.string().check(z.describe(what));
}

/** A time, ISO 8601 with zone. */
export function time(what: string) {
  return z.iso.datetime({ offset: true }).check(z.describe(what));
}

/** A day, `2026-11-21`. */
export function day(what: string) {
  return z.iso.date().check(z.describe(what));
}

/** An exact decimal number, as a string. */
export function decimal(what: string) {
  return z.string().check(z.regex(/^[+-]?\d+(\.\d+)?$/), z.describe(what));
}

/** An amount of money. */
export function money(what: string) {
  return z.object({ amount: decimal('exact'), currency: text('ISO 4217 code') }).check(z.describe(what));
}

/** A whole number. */
export function whole(what: string) {
  return z.int().check(z.describe(what));
}

/** A number of something that is measured. */
export function number(what: string) {
  return z.number().check(z.describe(what));
}

/** True or false. */
export function flag(what: string) {
  return z.boolean().check(z.describe(what));
}

/** One of a few words. */
export function oneOf<const Word extends string>(words: readonly Word[], what: string) {
  return z.enum(words).check(z.describe(what));
}

/** A list. */
export function list<Of extends z.ZodMiniType>(of: Of, what?: string) {
  return what === undefined ? z.array(of) : z.array(of).check(z.describe(what));
}

/** A field that may be null. */
export function orNull<Of extends z.ZodMiniType>(field: Of) {
  return z.nullable(field);
}
