import type * as z from 'zod/mini';
// By their names: the namespace `z.core` would bring all of zod, with its texts in fifty languages, to every command.
import { $ZodArray, $ZodNullable, $ZodObject, $ZodOptional, $ZodRecord } from 'zod/v4/core';

/**
 * What a command prints for programs: the fields in their order, each with a description. The columns of CSV and the JSON Schema
 * of `psd2 schema` are read from it. A function, since it is made only where one of the two is wanted.
 */
export type Shape<Printed = unknown> = () => z.ZodMiniType<Printed>;

/** What has a shape. */
export type Printed<Of extends Shape> = z.output<ReturnType<Of>>;

/**
 * The columns of CSV: the fields in their order, those of objects within with their path.
 *
 * @returns undefined where the shape does not tell them: the data does
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
