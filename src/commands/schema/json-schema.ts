import * as z from 'zod/mini';
import type { Shape } from '../../terminal/output/shape.ts';

/** A JSON Schema, or a part of one. */
export type JsonSchema = Record<string, unknown>;

/**
 * Converts a shape to JSON Schema (2020-12). The schema allows further fields, because a later psd2 may print more.
 *
 * @param title of the schema
 */
export function toJsonSchema(shape: Shape, title: string): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(shape(), { io: 'input', target: 'draft-2020-12' });
  return { $schema, title, ...tidy(schema) };
}

/** Shortens a schema: drops the pattern of a format, and the limits that every JavaScript integer has. */
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

/** Puts null into the type if there is one: `type: ['string', 'null']`. */
function eitherOf(parts: JsonSchema[]): JsonSchema {
  const [part, nothing] = parts;
  const isPlain = typeof part?.type === 'string' && part.enum === undefined && part.const === undefined;
  if (parts.length === 2 && part && nothing?.type === 'null') {
    if (isPlain) return { ...part, type: [part.type, 'null'] };
    // The description is for both alternatives.
    const { description, ...described } = part;
    return { anyOf: [described, nothing], ...(description !== undefined && { description }) };
  }
  return { anyOf: parts };
}

function isPart(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
