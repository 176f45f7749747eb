/** Something that is wrong with a bank file. */
export interface BankProblem {
  /** Path of the field, with dots; empty if it is about the whole file. */
  path: string;
  /** A sentence that names the field. It never has a value of the file. */
  message: string;
}

/** `a`, `a or b`, `a, b or c` */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
