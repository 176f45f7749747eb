import { readFile } from 'node:fs/promises';
import { writePath } from '../../bank-file/problems.ts';
import { Psd2Error } from '../../errors.ts';
import { Customers } from '../customers/customers.ts';
import { defaultRules, type SeededCustomer } from '../rules.ts';
import { seedOf } from './seed.ts';
import { BadSeed } from './seed-fields.ts';
import { seedFile } from './seed-schema.ts';

/**
 * Reads the file of `sandbox start --seed`.
 *
 * @param generated the number of generated customers, whose names and ids it must not use
 * @throws Psd2Error `usage` that names the file and the path in it
 */
export async function readSeed(path: string, generated: number | undefined): Promise<SeededCustomer[]> {
  const content = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Psd2Error('usage', `--seed ${path} cannot be read`, {
      hint: 'Name a file of JSON. See its form with:',
      next: [['schema', 'seed']],
      cause,
    });
  });
  const read = seedFile().safeParse(parseSeed(path, content));
  if (!read.success) throw bad(path, read.error.issues.map(sentenceOf).join('; '));
  try {
    return seedOf(read.data.customers, new Customers({ ...defaultRules, customers: generated ?? 0 }));
  } catch (error) {
    throw error instanceof BadSeed ? bad(path, error.message) : error;
  }
}

function parseSeed(path: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (cause) {
    throw bad(path, `it is not valid JSON: ${cause instanceof Error ? cause.message : ''}`);
  }
}

function sentenceOf(issue: Issue): string {
  const at = writePath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const fields = (issue.keys ?? []).map((key) => writePath([...issue.path, key]));
    return `${fields.join(' and ')} is not a field of a seed`;
  }
  return `${at === '' ? 'the file' : at}: ${requirement(issue, at === '')}`;
}

interface Issue {
  code?: string;
  keys?: string[];
  expected?: string;
  values?: unknown[];
  path: PropertyKey[];
  message: string;
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
};

/** What a part of the file must be. zod itself says only "Invalid input". */
function requirement({ code, expected = '', values, message }: Issue, isFile: boolean): string {
  if (isFile) return 'must be an object with a list "customers"';
  if (code === 'invalid_type') return `must be ${KINDS[expected] ?? expected}`;
  if (code === 'invalid_value' && values)
    return `must be ${values.map((value) => `"${value}"`).join(' or ')}`;
  return message;
}

function bad(path: string, what: string): Psd2Error {
  return new Psd2Error('usage', `The seed ${path} is not valid: ${what.replace(/\.$/, '')}`, {
    hint: 'See its form with:',
    next: [['schema', 'seed']],
  });
}
