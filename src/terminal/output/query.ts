import { compile, search, tokenize } from 'jmespath';
import { Psd2Error } from '../../errors.ts';

/**
 * The functions of JMESPath (https://jmespath.org/specification.html). The package reports an unknown one only when it
 * calls it.
 */
const FUNCTIONS = new Set(
  (
    'abs avg ceil contains ends_with floor join keys length map max max_by merge min ' +
    'min_by not_null reverse sort sort_by starts_with sum to_array to_number to_string type values'
  ).split(' '),
);

/** Applies the expression to what `--json` would print. @throws Psd2Error `usage` */
export type Query = (data: unknown) => unknown;

/**
 * Parses a JMESPath expression (https://jmespath.org) before the command does anything.
 *
 * @throws Psd2Error `usage` that names the position of the error
 */
export function compileQuery(expression: string): Query {
  let tree: object;
  try {
    readTokens(expression);
    tree = compile(expression);
  } catch (error) {
    const at = positionOfError(expression);
    const where = `at character ${at}${at > expression.length ? ', its end' : ''}`;
    throw new Psd2Error('usage', `--query ${JSON.stringify(expression)} is not JMESPath ${where}`, {
      hint: `${reason(error)}. See https://jmespath.org`,
    });
  }
  for (const name of calledFunctions(tree)) {
    if (FUNCTIONS.has(name)) continue;
    throw new Psd2Error(
      'usage',
      `--query calls ${name}() at character ${expression.search(new RegExp(`\\b${name}\\s*\\(`)) + 1}, and JMESPath has no such function`,
      { hint: `It has ${[...FUNCTIONS].join(', ')}.` },
    );
  }
  return (data) => {
    // The printed JSON leaves out undefined fields and applies toJSON, so the query must too.
    const printed: unknown = JSON.parse(JSON.stringify(data));
    try {
      return search(printed, expression);
    } catch (error) {
      throw new Psd2Error('usage', `--query could not be applied to the data: ${reason(error)}`, {
        hint: 'The command has done its work. Only its output is missing. -o json shows the data.',
        cause: error,
      });
    }
  };
}

/**
 * Where the parser stopped, counted from 1, which the package does not say. The parser reads from left to right, so the
 * error is the first token after which even the expression up to there is wrong, and not only unfinished.
 */
function positionOfError(expression: string): number {
  let starts: number[];
  try {
    starts = readTokens(expression).map(({ start }) => start);
  } catch {
    return lengthOfReadable(expression) + 1;
  }
  const ends = [...starts.slice(1), expression.length];
  for (const [index, start] of starts.entries()) {
    if (!isUnfinished(expression.slice(0, ends[index]))) return start + 1;
  }
  return expression.length + 1;
}

/** The package accepts a last literal that is not closed. This does not. @throws Error */
function readTokens(expression: string): { start: number }[] {
  const tokens = tokenize(expression);
  const last = tokens.at(-1);
  const text = expression.slice(last?.start).trimEnd();
  if (last?.type === 'Literal' && !/^'(?:[^'\\]|\\.)*'$|^`(?:[^`\\]|\\.)*`$/s.test(text))
    throw new Error('The literal at the end is not closed');
  return tokens;
}

function isUnfinished(expression: string): boolean {
  try {
    compile(expression);
    return true;
  } catch (error) {
    return reason(error).includes('EOF');
  }
}

/** The length of the part that can be split into tokens: up to an unclosed quote, or a character that belongs to no token. */
function lengthOfReadable(expression: string): number {
  for (let length = expression.length - 1; length > 0; length -= 1) {
    try {
      readTokens(expression.slice(0, length));
      return length;
    } catch {}
  }
  return 0;
}

function* calledFunctions(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && node.type === 'Function' && 'name' in node && typeof node.name === 'string')
    yield node.name;
  for (const child of Object.values(node)) yield* calledFunctions(child);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace(/[.\s]+$/, '') : String(error);
}
