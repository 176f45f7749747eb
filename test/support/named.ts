/** Rows for `it.each`. The name comes first, so `%s` in a title prints it. */
export function named<Case extends { name: string }>(cases: readonly Case[]): (readonly [string, Case])[] {
  return cases.map((each) => [each.name, each] as const);
}
