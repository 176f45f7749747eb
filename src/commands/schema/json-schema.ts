import * as z from 'zod/mini';
import type { Shape } from '../../terminal/output/shape.ts';

/** A JSON Schema, or a part of one. */
export type JsonSchema = Record<string, unknown>;

/**
 * The JSON Schema (2020-12) of what has a shape. Further fields are allowed, since a later psd2 may print more.
 *
 * @param title what it is the schema of
 */
export function toJsonSchema(shape: Shape, title: string): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(shape(), { io: 'input', target: 'draft-2020-12' });
  return { $schema, title, ...tidy(schema) };
}

/** Says the same in fewer words: formats without their pattern, no limits that every whole number of JavaScript has. */
function tidy(part: JsonSchema): JsonSchema {
  const { pattern, minimum, maximum, propertyNames, anyOf, ...rest } = part;
  const tidied: JsonSchema = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, isPart(value) ? tidyValue(name, value) : value]),
  );
  if (rest.format === undefined && pattern !== undefined) tidied.pattern = pattern;
  if (minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER) tidied.minimum = minimum;
  if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) tidied.maximum = maximum;
  return Array.isArray(anyOf) ? { ...eitherOf(anyOf.filter(isPart).map(tidy)), ...tidied } : tidied;
}

function tidyValue(name: string, value: JsonSchema): JsonSchema {
  if (name !== 'properties') return tidy(value);
  return Object.fromEntries(
    Object.entries(value).map(([field, part]) => [field, isPart(part) ? tidy(part) : part]),
  );
}

/** What may be null says so in its type, where it has one. */
function eitherOf(parts: JsonSchema[]): JsonSchema {
  const [part, nothing] = parts;
  const isPlain = typeof part?.type === 'string' && part.enum === undefined && part.const === undefined;
  if (parts.length === 2 && part && nothing?.type === 'null') {
    if (isPlain) return { ...part, type: [part.type, 'null'] };
    // Of something that is described, the description stands outside.
    const { description, ...described } = part;
    return { anyOf: [described, nothing], ...(description !== undefined && { description }) };
  }
  return { anyOf: parts };
}

function isPart(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
