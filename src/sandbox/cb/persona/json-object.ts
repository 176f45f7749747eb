/** An object of an answer. The persona changes and removes its fields. */
export type JsonObject = Record<string, unknown>;

/** Whether a JSON value is an object and not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in an array. Empty if the value is not an array. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Removes fields from an object. */
export function drop(object: JsonObject, ...names: string[]): void {
  for (const name of names) delete object[name];
}
