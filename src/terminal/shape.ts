import * as z from 'zod/mini';

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
  if (type instanceof z.core.$ZodNullable || type instanceof z.core.$ZodOptional) {
    yield* paths(type._zod.def.innerType, path);
  } else if (type instanceof z.core.$ZodObject) {
    for (const [name, field] of Object.entries(type._zod.def.shape))
      yield* paths(field, path === '' ? name : `${path}.${name}`);
  } else if (path === '' && type instanceof z.core.$ZodArray) {
    yield* paths(type._zod.def.element, path);
  } else if (path === '' || type instanceof z.core.$ZodRecord) yield undefined;
  else yield path;
}
