/** Rows for `it.each`. The name comes first, so that a title prints it with `%s`. */
export function named<Case extends { name: string }>(cases: readonly Case[]): (readonly [string, Case])[] {
  return cases.map((each) => [each.name, each] as const);
}
