declare module 'jmespath' {
  /** The tokens of an expression. `start` counts from 0. @throws Error if a character belongs to no token */
  export function tokenize(expression: string): { type: string; start: number }[];
  /** The tree of an expression. @throws Error */
  export function compile(expression: string): object;
  /** @throws Error if the expression does not match the data */
  export function search(data: unknown, expression: string): unknown;
}
