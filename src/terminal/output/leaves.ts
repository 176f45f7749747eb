/** Each value in data with its path, for example `totalAmount.amount`. A missing value is ''. */
export function* leavesOf(value: unknown, path = ''): Generator<[path: string, value: string]> {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      yield* leavesOf(inner, path === '' ? key : `${path}.${key}`);
  } else yield [path, value === null || value === undefined ? '' : String(value)];
}
