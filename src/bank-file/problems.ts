import * as z from 'zod/mini';
import { $ZodEnum, $ZodObject } from 'zod/v4/core';
import { didYouMean } from '../did-you-mean.ts';
import type { BankProblem, Description } from './description.ts';
import { allFields, alternativesAt, fieldsAt, namesAt } from './fields.ts';
import { isObject } from './values.ts';

type Issue = z.core.$ZodIssue;

/** Writes a path for people: `signing.headers[0]`. */
export function writePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (before, part) =>
      typeof part === 'number' ? `${before}[${part}]` : `${before}${before === '' ? '' : '.'}${String(part)}`,
    '',
  );
}

/** What is known of the fields: where a suggestion comes from. */
type Known = Pick<Description, 'whyNotPossible'> & { schema: z.core.$ZodType };

/** What zod says is wrong, as sentences. @param content of the file, for suggestions */
export function problemsIn(issues: readonly Issue[], content: unknown, reader: Known): BankProblem[] {
  return issues.flatMap((issue) => problemsOf(issue, content, reader));
}

function problemsOf(issue: Issue, content: unknown, reader: Known): BankProblem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownField(issue.path, key, reader));
  const value = valueAt(content, issue.path);
  const path = writePath(issue.path);
  if (issue.code === 'invalid_union') {
    // An object can only be meant as the alternative that is an object.
    const chosen = isObject(value) && issue.errors.find((errors) => !errors.some(isAboutType));
    if (chosen)
      return problemsIn(
        chosen.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })),
        content,
        reader,
      );
  }
  const reason = reader.whyNotPossible(value);
  if (reason !== undefined) return [{ path, message: `${path}: ${reason}` }];
  return [{ path, message: `${path === '' ? 'The file' : path} ${requirement(issue, value, reader)}` }];
}

function isAboutType({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

function unknownField(within: readonly PropertyKey[], name: string, reader: Known): BankProblem {
  const path = writePath([...within, name]);
  const reason = reader.whyNotPossible(name);
  if (reason !== undefined) return { path, message: `${path}: ${reason}` };
  const near = didYouMean(name, fieldsAt(reader.schema, within) ?? namesAt(reader.schema, within)).trim();
  const elsewhere = allFields(reader.schema).find((field) => field.endsWith(`.${name}`));
  const meant = near || (elsewhere === undefined ? '' : `Did you mean ${elsewhere}?`);
  return { path, message: [`${path} is not a field of a bank file`, meant].filter(Boolean).join('. ') };
}

/** What a field must be, as the rest of a sentence. */
function requirement(issue: Issue, value: unknown, { schema }: Known): string {
  if (value === undefined && issue.code === 'invalid_type') return 'is missing';
  const alternatives = alternativesAt(schema, issue.path);
  if (alternatives.length > 0) return `must be ${listed(alternatives.flatMap(describeField))}`;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value': {
      const words = issue.values.map(String);
      const meant = typeof value === 'string' ? didYouMean(value, words) : '';
      return [`must be ${listed(words.map(quoted))}`, meant].filter(Boolean).join('. ').trim();
    }
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'has a wrong name';
    case 'too_small':
      return issue.origin === 'array'
        ? 'must have at least one element'
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** An alternative of a field. */
function describeField(field: z.core.$ZodType): string[] {
  if (field instanceof $ZodEnum)
    return Object.values(field._zod.def.entries).map((word) => quoted(String(word)));
  if (field instanceof $ZodObject)
    return [`an object with ${Object.keys(field._zod.def.shape).map(quoted).join(' and ')}`];
  return [z.globalRegistry.get(field)?.description ?? 'another value'];
}

const quoted = (word: string) => JSON.stringify(word);

/** The value at a path of JSON. */
function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? Reflect.get(value, part)
        : undefined,
    content,
  );
}

/** `a`, `a or b`, `a, b or c` */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** A file without the fields that are wrong: of a list, all of it. */
export function withoutProblems(issues: readonly Issue[], content: unknown): unknown {
  const copy: unknown = structuredClone(content);
  for (const issue of issues) {
    const list = issue.path.findIndex((part) => typeof part === 'number');
    const path = list < 0 ? issue.path : issue.path.slice(0, list);
    const paths =
      issue.code === 'unrecognized_keys' && list < 0 ? issue.keys.map((key) => [...path, key]) : [path];
    for (const each of paths) {
      const [name, within] = [each.at(-1), valueAt(copy, each.slice(0, -1))];
      if (name !== undefined && isObject(within)) Reflect.deleteProperty(within, name);
    }
  }
  return copy;
}
