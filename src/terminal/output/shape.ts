import type * as z from 'zod/mini';
// Imported by name: the namespace `z.core` would load all of zod, with its texts in fifty languages, for every command.
import { $ZodArray, $ZodNullable, $ZodObject, $ZodOptional, $ZodRecord } from 'zod/v4/core';

/**
 * What a command prints for programs: the fields in their order, each with a description. It gives the columns of CSV and
 * the JSON Schema of `psd2 schema`. It is a function, so that it is built only if one of the two is needed.
 */
export type Shape<Printed = unknown> = () => z.ZodMiniType<Printed>;

/** The type of the data that has a shape. */
export type Printed<Of extends Shape> = z.output<ReturnType<Of>>;

/**
 * The columns of CSV: the fields in their order. A field of a nested object has its path as name.
 *
 * @returns undefined if the shape does not show the columns. The data does then
 */
export function columnsOf(shape: Shape): string[] | undefined {
  const columns = [...paths(shape(), '')];
  return columns.every((column) => column !== undefined) ? columns : undefined;
}

function* paths(type: z.core.$ZodType, path: string): Generator<string | undefined> {
  if (type instanceof $ZodNullable || type instanceof $ZodOptional) {
    yield* paths(type._zod.def.innerType, path);
  } else if (type instanceof $ZodObject) {
    for (const [name, field] of Object.entries(type._zod.def.shape))
      yield* paths(field, path === '' ? name : `${path}.${name}`);
  } else if (path === '' && type instanceof $ZodArray) {
    yield* paths(type._zod.def.element, path);
  } else if (path === '' || type instanceof $ZodRecord) yield undefined;
  else yield path;
}
