/** The values of an object with the paths of their fields. Lists and empty objects count as values. */
export function* valuesIn(value: unknown, path = ''): Generator<[path: string, value: unknown]> {
  if (!isObject(value) || (Object.keys(value).length === 0 && path !== '')) yield [path, value];
  else
    for (const [name, inner] of Object.entries(value))
      yield* valuesIn(inner, path === '' ? name : `${path}.${name}`);
}

/** Whether a value of JSON is an object, not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
