/** An object of an answer, whose fields the persona takes away and changes. */
export type JsonObject = Record<string, unknown>;

/** Whether a value of JSON is an object, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; none where it is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Takes fields away that a client can do without. */
export function drop(object: JsonObject, ...names: string[]): void {
  for (const name of names) delete object[name];
}
