/** In place of a value: a list of two members of which every name is noted. */
export const LIST = Symbol('list');

/**
 * The names of members that readers look at in the JSON of an answer. Each reader gets an answer that notes the names it is asked for
 * and has nothing readable, so it goes on to every name that it would take instead.
 *
 * @param readers read an answer, and may throw
 * @param readable what a reader needs before it goes on, by its name
 */
export function namesReadBy(
  readers: readonly ((answer: object) => unknown)[],
  readable: Readonly<Record<string, unknown>>,
): Set<string> {
  const names = new Set<string>();
  /** An object with a member that says nothing: what is empty counts as missing. */
  const noting = (): object =>
    new Proxy<Record<string, unknown>>(
      { '': null },
      {
        has: (own, name) => hasOwnName(own, name) || typeof name === 'string',
        get(own, name) {
          if (typeof name !== 'string' || hasOwnName(own, name)) return Reflect.get(own, name);
          names.add(name);
          const value = Object.hasOwn(readable, name) ? readable[name] : noting();
          return value === LIST ? [noting(), noting()] : value;
        },
      },
    );
  for (const read of readers) {
    try {
      read(noting());
    } catch {
      // It cannot read the answer. What it looked at is noted.
    }
  }
  return names;
}

/** Whether JavaScript looks for the name in every object: `toString` is no member of an answer. */
function hasOwnName(object: object, name: PropertyKey): boolean {
  return name === 'toJSON' || Reflect.has(object, name);
}
