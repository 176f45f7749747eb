import type * as z from 'zod/mini';
import {
  $ZodArray,
  $ZodDefault,
  $ZodEnum,
  $ZodNullable,
  $ZodObject,
  $ZodOptional,
  $ZodPrefault,
  $ZodRecord,
  $ZodUnion,
  globalRegistry,
} from 'zod/v4/core';

type Field = z.core.$ZodType;
type Path = readonly PropertyKey[];

// Each takes the schema of the bank file first.

/** The fields of an object of the bank file by their names; undefined if there is no object with fields at this path. */
export function fieldsAt(schema: Field, path: Path): string[] | undefined {
  let field: Field | undefined = schema;
  for (const name of path) field = field && memberOf(field, name);
  const object = field && objectOf(field);
  return object && Object.keys(object._zod.def.shape);
}

/** The names that the record at a path can have. None: any. */
export function namesAt(schema: Field, path: Path): string[] {
  let field: Field | undefined = schema;
  for (const name of path) field = field && memberOf(field, name);
  const inner = field && unwrap(field);
  const options = inner instanceof $ZodUnion ? inner._zod.def.options : [inner];
  const key = options.find((each) => each instanceof $ZodRecord)?._zod.def.keyType;
  return key instanceof $ZodEnum ? Object.values(key._zod.def.entries).map(String) : [];
}

/** The paths of all fields, with dots. The names in a record are not fields. */
export function allFields(schema: Field): string[] {
  return [...pathsOf(schema, '')];
}

/** Each field with what it says, and its default if it has one. */
export function describedFields(schema: Field): { path: string; what: string; standard: unknown }[] {
  return allFields(schema).flatMap((path) => {
    let field: Field | undefined = schema;
    for (const name of path.split('.')) field = field && memberOf(field, name);
    const described = field && descriptionOf(field);
    if (field === undefined || described === undefined) return [];
    const standard: unknown = field instanceof $ZodDefault ? field._zod.def.defaultValue : undefined;
    return [{ path, what: described, standard }];
  });
}

/** What a field says, or what it wraps. */
function descriptionOf(field: Field): string | undefined {
  const own = globalRegistry.get(field)?.description;
  if (own !== undefined || !isWrapper(field)) return own;
  return descriptionOf(field._zod.def.innerType);
}

/** The field that a value belongs to: `api.paths` for `api.paths.createConsent`. */
export function fieldOf(schema: Field, path: string): string {
  const above = allFields(schema).filter((field) => path === field || path.startsWith(`${field}.`));
  return above.sort((one, other) => other.length - one.length)[0] ?? path;
}

function* pathsOf(field: Field, path: string): Generator<string> {
  if (path !== '') yield path;
  for (const [name, inner] of Object.entries(objectOf(field)?._zod.def.shape ?? {}))
    yield* pathsOf(inner, path === '' ? name : `${path}.${name}`);
}

/** The words, or kinds of value, of which a field takes one. */
export function alternativesAt(schema: Field, path: Path): Field[] {
  let field: Field | undefined = schema;
  for (const name of path) field = field && memberOf(field, name);
  const inner = field && unwrap(field);
  return inner instanceof $ZodUnion ? [...inner._zod.def.options] : [];
}

function memberOf(field: Field, name: PropertyKey): Field | undefined {
  const list = unwrap(field);
  if (typeof name === 'number') return list instanceof $ZodArray ? list._zod.def.element : undefined;
  const shape = objectOf(field)?._zod.def.shape;
  return shape && typeof name === 'string' && Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** The object of a field: its own, or the one among its alternatives. */
function objectOf(field: Field): $ZodObject | undefined {
  const inner = unwrap(field);
  if (inner instanceof $ZodObject) return inner;
  return inner instanceof $ZodUnion
    ? inner._zod.def.options.find((each) => each instanceof $ZodObject)
    : undefined;
}

function unwrap(field: Field): Field {
  return isWrapper(field) ? unwrap(field._zod.def.innerType) : field;
}

function isWrapper(field: Field): field is $ZodDefault | $ZodPrefault | $ZodOptional | $ZodNullable {
  return (
    field instanceof $ZodDefault ||
    field instanceof $ZodPrefault ||
    field instanceof $ZodOptional ||
    field instanceof $ZodNullable
  );
}
