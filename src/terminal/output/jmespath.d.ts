declare module 'jmespath' {
  /** What an expression consists of; `start` counts from 0. @throws Error where a character fits nowhere */
  export function tokenize(expression: string): { type: string; start: number }[];
  /** The tree of an expression. @throws Error */
  export function compile(expression: string): object;
  /** @throws Error when the expression does not fit the data */
  export function search(data: unknown, expression: string): unknown;
}
