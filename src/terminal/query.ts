import {
  compile,
  getRegisteredFunctions,
  type JSONValue,
  search,
  tokenize,
} from '@jmespath-community/jmespath';
import { Psd2Error } from '../errors.ts';

/** Takes what `--json` would print and gives what the expression makes of it. @throws Psd2Error `usage` */
export type Query = (data: unknown) => unknown;

/**
 * Reads a JMESPath expression (https://jmespath.site), before anything is done whose output it filters.
 *
 * @throws Psd2Error `usage`, naming where the expression goes wrong
 */
export function compileQuery(expression: string): Query {
  let tree: object;
  try {
    tree = compile(expression);
  } catch (error) {
    const at = positionOfError(expression);
    const where = `at character ${at}${at > expression.length ? ', its end' : ''}`;
    throw new Psd2Error('usage', `--query ${JSON.stringify(expression)} is not JMESPath ${where}`, {
      hint: `${reason(error)}. See https://jmespath.site`,
    });
  }
  const known = new Set(getRegisteredFunctions());
  for (const name of calledFunctions(tree)) {
    if (known.has(name)) continue;
    throw new Psd2Error(
      'usage',
      `--query calls ${name}() at character ${expression.search(new RegExp(`\\b${name}\\s*\\(`)) + 1}, and JMESPath has no such function`,
      { hint: `It has ${[...known].sort().join(', ')}` },
    );
  }
  return (data) => {
    // What is undefined or has a toJSON is not what is printed.
    const printed: JSONValue = JSON.parse(JSON.stringify(data));
    try {
      return search(printed, expression);
    } catch (error) {
      throw new Psd2Error('usage', `--query could not be applied to the data: ${reason(error)}`, {
        hint: 'The command itself was carried out; only its output is missing. -o json shows the data',
        cause: error,
      });
    }
  };
}

/**
 * Where the parser stopped, counted from 1; the package does not tell. It reads from left to right, so it is the first
 * token that can't follow those before it: cut off behind them, the expression is only unfinished.
 */
function positionOfError(expression: string): number {
  let starts: number[];
  try {
    starts = tokenize(expression).map(({ start }) => start);
  } catch {
    return lengthOfReadable(expression) + 1;
  }
  const ends = [...starts.slice(1), expression.length];
  for (const [index, start] of starts.entries()) {
    if (!isUnfinished(expression.slice(0, ends[index]))) return start + 1;
  }
  return expression.length + 1;
}

function isUnfinished(expression: string): boolean {
  try {
    compile(expression);
    return true;
  } catch (error) {
    return reason(error).includes('EOF');
  }
}

/** How much of it can be split into tokens: up to a quote that is not closed, or a character that is none. */
function lengthOfReadable(expression: string): number {
  for (let length = expression.length - 1; length > 0; length -= 1) {
    try {
      tokenize(expression.slice(0, length));
      return length;
    } catch {}
  }
  return 0;
}

function* calledFunctions(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && node.type === 'Function' && 'name' in node && typeof node.name === 'string') {
    yield node.name;
  }
  for (const child of Object.values(node)) yield* calledFunctions(child);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace(/[.\s]+$/, '') : String(error);
}
