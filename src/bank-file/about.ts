import * as z from 'zod/mini';
import { noted, oneOf, text } from './kinds.ts';

/** How sure a value of a platform is, from the most to the least. */
export const SURENESS = ['seen at a server', "bank's own page", "a client's code", 'contested'] as const;
export type Sureness = (typeof SURENESS)[number];

const SOURCE = 'where the value is from';

const fact = z.union([
  z.strictObject({
    source: text(SOURCE),
    sureness: oneOf(
      SURENESS.filter((word) => word !== 'contested'),
      'how sure the value is',
    ),
  }),
  z.strictObject({
    source: text(SOURCE),
    sureness: z.literal('contested'),
    differs: text('what other sources say, as the end of "others say: …"'),
  }),
]);

/**
 * What the file of a platform says beside the fields of a bank file (docs/banks.md, "The platforms"). Facts and notes stand by the path
 * of a field, or of a group of fields. The empty path is about what else the file says.
 */
export const aboutPlatform = z.strictObject({
  behind: z.optional(text('who runs the interface, and whose banks are behind it')),
  says: z.optional(
    noted(
      z.array(z.enum(['readings', 'payments', 'funds'])),
      'what the sources describe; absent: readings and payments',
    ),
  ),
  cannot: z.optional(
    text('what psd2 cannot do there, or only after the operator has done something: "psd2 cannot …"'),
  ),
  notes: z.optional(
    noted(z.record(z.string(), text()), 'words for who changes the file, by field; psd2 shows them nowhere'),
  ),
  facts: z._default(noted(z.record(z.string(), fact), 'where the values are from, by field'), {}),
});

/** What is known of a platform beside the values of its bank file. */
export type AboutPlatform = z.output<typeof aboutPlatform>;

/** Where a value is from, and how sure it is. */
export type Fact = z.output<typeof fact>;

/** What is known of a value that the file of a platform says, or of a default that holds there. */
export function factOf({ facts: factsByPath }: AboutPlatform, path: string): Fact | undefined {
  const facts = Object.entries(factsByPath);
  const about = facts.filter(([field]) => field === path || field === '' || path.startsWith(`${field}.`));
  return about.sort(([one], [other]) => other.length - one.length)[0]?.[1];
}
