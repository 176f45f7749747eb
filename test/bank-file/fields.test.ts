import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import * as fields from '../../src/bank-file/fields.ts';
import { problemsIn, withoutProblems } from '../../src/bank-file/problems.ts';

// The fields of a schema that no interface has, so that each form of a field is there once.

const inner = z.object({ x: z.number().check(z.describe('an x')), y: z.optional(z.string()) });
const SCHEMA = z.strictObject({
  plain: z.string().check(z.describe('a text')),
  group: z._default(z.strictObject({ deep: z.optional(z.strictObject({ er: z.boolean() })) }), {}),
  either: z.optional(z.union([z.enum(['a', 'b']), z.string().check(z.describe('a fixed text')), inner])),
  words: z.nullable(z.record(z.enum(['one', 'two']), z.string())),
  any: z.prefault(z.record(z.string(), z.string()), {}),
  list: z._default(z.array(z.strictObject({ name: z.string() })), []),
  named: z._default(z.optional(z.int().check(z.describe('a number'))), 7),
  mixed: z.union([z.string(), z.record(z.enum(['three']), z.string())]),
  longer: z.string(),
  long: z.string(),
});

const ALL = [
  ...['plain', 'group', 'group.deep', 'group.deep.er', 'either', 'either.x', 'either.y', 'words', 'any'],
  ...['list', 'named', 'mixed', 'longer', 'long'],
];

it('all fields are those of objects, also in a default, an optional one or an alternative', () => {
  expect(fields.allFields(SCHEMA)).toEqual(ALL);
});

it.each<[path: PropertyKey[], string[] | undefined]>([
  [[], ALL.filter((path) => !path.includes('.'))],
  [['group'], ['deep']],
  [['group', 'deep'], ['er']],
  [['either'], ['x', 'y']],
  [['list', 0], ['name']],
  [['list', 7], ['name']],
  [['list'], undefined],
  [['list', 'name'], undefined],
  [['group', 0], undefined],
  [['plain'], undefined],
  [['words'], undefined],
  [['none'], undefined],
  [['none', 'deep'], undefined],
  [['toString'], undefined],
])('at %j, the fields are %j', (path, names) => {
  expect(fields.fieldsAt(SCHEMA, path)).toEqual(names);
});

it.each<[path: PropertyKey[], string[]]>([
  [['words'], ['one', 'two']],
  [['mixed'], ['three']],
  [['any'], []],
  [['group'], []],
  [['none'], []],
])('the names in the record at %j are %j', (path, names) => {
  expect(fields.namesAt(SCHEMA, path)).toEqual(names);
});

it.each<[path: PropertyKey[], number]>([
  [['either'], 3],
  [['mixed'], 2],
  [['plain'], 0],
  [['none'], 0],
])('at %j there are %j alternatives', (path, count) => {
  expect(fields.alternativesAt(SCHEMA, path)).toHaveLength(count);
});

it.each([
  ['plain', 'plain'],
  ['any.of.these', 'any'],
  ['group.deep.er', 'group.deep.er'],
  ['group.deep.other', 'group.deep'],
  ['group.deeper', 'group'],
  ['long', 'long'],
  ['longer', 'longer'],
  ['longest', 'longest'],
  ['words.one', 'words'],
])('the value %s belongs to the field %s', (path, field) => {
  expect(fields.fieldOf(SCHEMA, path)).toBe(field);
});

it('each field with words has them, its own before those that it wraps, and its default', () => {
  expect(fields.describedFields(SCHEMA)).toEqual([
    { path: 'plain', what: 'a text', standard: undefined },
    { path: 'either.x', what: 'an x', standard: undefined },
    { path: 'named', what: 'a number', standard: 7 },
  ]);
});

const VALID = { plain: 'p', words: null, mixed: 'm', longer: 'l', long: 'l' };
const KNOWN = {
  schema: SCHEMA,
  whyNotPossible: (word: unknown) => (word === 'odd' ? 'a reason' : undefined),
};
const issuesOf = (content: unknown) => SCHEMA.safeParse(content).error?.issues ?? [];

it.each<[string, object, string[]]>([
  ['nothing', {}, []],
  ['another type', { plain: 7 }, ['plain must be a text']],
  ['another type of a group', { group: 7 }, ['group must be an object']],
  ['another type of a list', { list: {} }, ['list must be a list']],
  ['a fraction', { named: 1.5 }, ['named must be a whole number']],
  ['a text for a flag', { group: { deep: { er: 'x' } } }, ['group.deep.er must be true or false']],
  ['one without its field', { list: [{ name: 'a' }, {}] }, ['list[1].name is missing']],
  ['no alternative', { either: 7 }, ['either must be "a", "b", a fixed text or an object with "x" and "y"']],
  ['a wrong alternative', { either: { x: 'a' } }, ['either.x must be a whole number']],
  ['two wrong parts of one', { either: { y: 1 } }, ['either.x is missing', 'either.y must be a text']],
  [
    'a list for an alternative',
    { either: [] },
    ['either must be "a", "b", a fixed text or an object with "x" and "y"'],
  ],
  ['an alternative without words', { mixed: 7 }, ['mixed must be another value or another value']],
  ['a word with a reason', { plain: 7, group: 'odd' }, ['plain must be a text', 'group: a reason']],
  ['a field with a reason', { odd: 1 }, ['odd: a reason']],
  ['a field that is near', { plan: 1 }, ['plan is not a field of a bank file. Did you mean plain?']],
  ['one of another place', { er: 1 }, ['er is not a field of a bank file. Did you mean group.deep.er?']],
  ['one that is nowhere', { qqqqqq: 1 }, ['qqqqqq is not a field of a bank file']],
  [
    'two',
    { qqqqqq: 1, wwwwww: 1 },
    ['qqqqqq is not a field of a bank file', 'wwwwww is not a field of a bank file'],
  ],
  [
    'one in a list',
    { list: [{ name: 'a', nam: 1 }] },
    ['list[0].nam is not a field of a bank file. Did you mean name?'],
  ],
])('psd2 says what is wrong with a file that has %s', (_, more, messages) => {
  const content = { ...VALID, ...more };
  const problems = problemsIn(issuesOf(content), content, KNOWN);
  expect(problems.map(({ message }) => message).sort()).toEqual(messages.toSorted());
  for (const { path, message } of problems) expect(message.startsWith(path)).toBe(true);
});

it.each<[string, object, object]>([
  ['nothing is wrong', {}, VALID],
  ['a field is wrong', { named: 'x' }, VALID],
  ['a field in a group is wrong', { group: { deep: { er: 1 } } }, { ...VALID, group: { deep: {} } }],
  ['a group has a field more', { group: { other: 1 } }, { ...VALID, group: {} }],
  ['the file has two fields more', { other: 1, more: 2 }, VALID],
  ['one of a list is wrong', { list: [{ name: 'a' }, { name: 7 }] }, VALID],
  ['one of a list has a field more', { list: [{ name: 'a', b: 1 }, { name: 'c' }] }, VALID],
  ['two are wrong', { named: 'x', plain: 7 }, { words: null, mixed: 'm', longer: 'l', long: 'l' }],
])('what is right of a file where %s', (_, more, right) => {
  const content = { ...VALID, ...more };
  const before = structuredClone(content);
  expect(withoutProblems(issuesOf(content), content)).toEqual(right);
  expect(content).toEqual(before);
});

it.each([7, null, []])('nothing is left of a file that is %j', (content) => {
  expect(withoutProblems(issuesOf(content), content)).toEqual(content);
  expect(problemsIn(issuesOf(content), content, KNOWN)).toEqual([
    { path: '', message: 'The file must be an object' },
  ]);
});
