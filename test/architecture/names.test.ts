import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/docs/imports.ts';

// What hinders a reader: names that do not say of what they are (`found` and `known`; `storedRow` does), one name for several
// functions, and lists that are made to be copied at once.

/** These words are the whole name of no value: a variable, a parameter, or what is taken out of an object. */
const WORDS = new Set(['found', 'known', 'kept', 'asked', 'given', 'said', 'told', 'taken']);

/** Functions that may have one name three times: they do the same on the two sides of a wall. At most twenty. */
const TWINS: Readonly<Record<string, string>> = {
  percentDecoded:
    'psd2, its connections and the sandbox decode for themselves: the sandbox imports none of the others',
};

interface Node {
  type: string;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function* nodesIn(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const each of value) yield* nodesIn(each);
  else if (isNode(value)) {
    yield value;
    for (const field in value) yield* nodesIn(value[field]);
  }
}

/** The names that a pattern binds. */
function* boundBy(pattern: unknown): Generator<string> {
  if (Array.isArray(pattern)) for (const each of pattern) yield* boundBy(each);
  if (!isNode(pattern)) return;
  if (pattern.type === 'Identifier') yield String(pattern.name);
  const { properties, value, elements, left, argument } = pattern;
  if (pattern.type === 'ObjectPattern') yield* boundBy(properties);
  if (pattern.type === 'Property') yield* boundBy(value);
  if (pattern.type === 'ArrayPattern') yield* boundBy(elements);
  if (pattern.type === 'AssignmentPattern') yield* boundBy(left);
  if (pattern.type === 'RestElement') yield* boundBy(argument);
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** The names of values that a node declares. */
function* valuesOf({ type, id, params, param }: Node): Generator<string> {
  if (type === 'VariableDeclarator') yield* boundBy(id);
  if (FUNCTIONS.has(type)) yield* boundBy(params);
  if (type === 'CatchClause') yield* boundBy(param);
}

/** What is written in brackets, without what says its type. */
function withoutType(node: unknown): unknown {
  const says = /^(TSAsExpression|TSSatisfiesExpression|ParenthesizedExpression)$/;
  return isNode(node) && says.test(node.type) ? withoutType(node.expression) : node;
}

/** Whether fields or elements are written as a list of their own, and copied at once: `{ ...{ a, b }, c }`. */
function isPacked({ type, argument }: Node): boolean {
  const copied = withoutType(argument);
  return type === 'SpreadElement' && isNode(copied) && /^(Object|Array)Expression$/.test(copied.type);
}

const sources = sourceFiles().map((file) => {
  const { program } = parseSync(file, readFileSync(join('src', file), 'utf8'));
  return { file, nodes: [...nodesIn(program)] };
});

const names = sources.map(({ file, nodes }) => {
  const functions = nodes.filter(({ type }) => type === 'FunctionDeclaration');
  return {
    file,
    values: nodes.flatMap((node) => [...valuesOf(node)]),
    functions: functions.flatMap(({ id }) => [...boundBy(id)]),
  };
});

it('the name of a value says of what it is', () => {
  const wordsAlone = names.flatMap(({ file, values }) =>
    values.filter((name) => WORDS.has(name)).map((name) => `${file}: ${name}`),
  );
  expect(wordsAlone).toEqual([]);
});

it('no name of a function stands for three things', () => {
  const files = new Map<string, string[]>();
  for (const { file, functions } of names)
    for (const name of functions) files.set(name, [...(files.get(name) ?? []), file]);
  const often = [...files].filter(([, all]) => all.length > 2);
  expect(often.filter(([name]) => !Object.hasOwn(TWINS, name))).toEqual([]);
  expect(often.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(TWINS)));
  expect(Object.keys(TWINS).length).toBeLessThanOrEqual(20);
});

it('no list is made to be copied at once', () => {
  const packed = sources.flatMap(({ file, nodes }) =>
    nodes.filter(isPacked).map(({ start }) => `${file}: at character ${start}`),
  );
  expect(packed).toEqual([]);
});
