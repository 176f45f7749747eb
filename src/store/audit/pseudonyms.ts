import { randomBytes } from 'node:crypto';
import type { Pseudonym } from '../ports/personal.ts';
import type { AuditFields } from './chain.ts';

/** A random pseudonym. It says nothing about whom or what it stands for. PostgreSQL makes its own (`psd2.pseudonym_of`). */
export function newPseudonym(): string {
  return `pseudonym-${randomBytes(8).toString('hex')}`;
}

/** A line of the audit log with the words that its pseudonyms stand for. Those of a forgotten customer stay. */
export function withWords(fields: AuditFields, words: ReadonlyMap<string, string>): AuditFields {
  const wordOf = (text: string) => words.get(text) ?? text;
  const { customerId, about } = fields;
  return {
    ...fields,
    customerId: customerId && wordOf(customerId),
    about: about === null ? null : about.split(' ').map(wordOf).join(' '),
  };
}

/** The pseudonym in a record of `store copy`. */
export function pseudonymIn({ pseudonym, customerId, word }: Pseudonym): Pseudonym {
  return { pseudonym, customerId, word };
}

/** The words by their pseudonyms. */
export function wordsOf(pseudonyms: Iterable<Pseudonym>): Map<string, string> {
  return new Map([...pseudonyms].map(({ pseudonym, word }) => [pseudonym, word]));
}
