/** How sure a value of a platform is, from the most to the least. */
export const SURENESS = ['seen at a server', "bank's own page", "a client's code", 'contested'] as const;
export type Sureness = (typeof SURENESS)[number];

/** Where a value is from, and how sure it is. Of a contested one: what others say, as the end of "others say: …". */
export type Fact =
  | readonly [source: string, sureness: Exclude<Sureness, 'contested'>]
  | readonly [source: string, sureness: 'contested', differs: string];

/** What is known of a platform beside the values of its bank file (docs/banks.md, "The platforms"). */
export interface PlatformFacts {
  /** Who runs the interface, and whose banks are behind it. */
  behind: string;
  /** What the sources describe. Absent: readings and payments. */
  says?: readonly ('readings' | 'payments' | 'funds')[];
  /** What psd2 cannot do there, or only after the operator has done something. */
  cannot?: string;
  /** By the path of a field, or of a group of fields. The empty path: what else the platform's file says. */
  facts: Readonly<Record<string, Fact>>;
}

/** What is known of a value that the file of a platform says, or of a default that holds there. */
export function factOf({ facts: known }: PlatformFacts, path: string): Fact | undefined {
  const facts = Object.entries(known);
  const about = facts.filter(([field]) => field === path || field === '' || path.startsWith(`${field}.`));
  return about.sort(([one], [other]) => other.length - one.length)[0]?.[1];
}
