import type * as z from 'zod/mini';
import type { EmbeddedCustomers } from '../domain/embedded.ts';

/** A bank behind an interface. `bic` may have the first characters alone, and `bankCode` has `?` for any character. */
export interface ServedBank {
  name: string;
  bic?: string | undefined;
  /** As in an IBAN of the country. */
  bankCode?: string | undefined;
  country?: string | undefined;
}

/** The head of a bank file: what psd2 knows of a bank whatever its interface. The rest is the interface's own. */
export interface BankHead {
  interface: string;
  name?: string | undefined;
  extends?: string | undefined;
  source?: string | undefined;
  verifiedOn: string | null;
  /** The platform that it extends. */
  platform?: string | undefined;
  banks?: readonly ServedBank[] | undefined;
  api: { baseUrl?: string | undefined };
  /** Headers of calls, anywhere in it. A value `env:NAME` is a secret of the environment. */
  headers: object;
  /** Whether the application has a secret at the OAuth server of the bank. */
  oauth: { mode: string; clientAuth: string };
  signing: { when: string };
}

/** A bank file as an operator writes it: every field of it may be absent, but its interface. */
export type BankFileHead = Pick<BankHead, 'interface'> & Partial<Record<keyof BankHead, unknown>>;

/** Something that is wrong with a bank file. */
export interface BankProblem {
  /** Path of the field, with dots; empty if it is about the whole file. */
  path: string;
  /** A sentence that names the field. It never has a value of the file. */
  message: string;
}

/** How an interface describes its banks. It brings this along (`bank/interfaces/<name>/description/`). */
export interface Description<Bank extends BankHead = BankHead, File extends BankFileHead = BankFileHead> {
  /** The fields. Parsed, a file has a default wherever it says nothing. */
  schema: z.ZodMiniType<Bank, File>;
  /** Finds what does not fit together in a bank whose fields are all valid. */
  inconsistencies(bank: Bank): BankProblem[];
  /** How a customer of the bank logs in or authorises, in a few words. */
  login(bank: Bank): string;
  /** What psd2 may ask of a bank's customers where it has no other way (docs/embedded.md). Null or absent: nothing. */
  credentials?(bank: Bank): EmbeddedCustomers | null;
  /**
   * What a refused payment proves at a bank, and what psd2 assumes of it: sentences for the operator. Absent: it does not depend on the
   * bank file. @param isSaid whether the file, or what it extends, has a field
   */
  proof?(bank: Bank, isSaid: (field: string) => boolean): string[];
  /** Why no bank file can have a field or a value of this name; undefined if psd2 knows no reason. */
  whyNotPossible(word: unknown): string | undefined;
  /** What a file takes over of those that it extends. Absent: all fields. @param own valid */
  inherited?(below: Readonly<Record<string, unknown>>, own: File): Record<string, unknown>;
}

/** Descriptions by the names of their interfaces. The first one reads a file that names none. */
export type Descriptions<
  Bank extends BankHead = BankHead,
  File extends BankFileHead = BankFileHead,
> = Readonly<Record<string, () => Description<Bank, File>>>;

/** The description that reads a file. */
export function descriptionFor<Bank extends BankHead, File extends BankFileHead>(
  descriptions: Descriptions<Bank, File>,
  name: unknown,
): Description<Bank, File> {
  const own = typeof name === 'string' && Object.hasOwn(descriptions, name) ? descriptions[name] : undefined;
  const load = own ?? Object.values(descriptions)[0];
  if (!load) throw new TypeError('No interface describes its banks');
  return load();
}
