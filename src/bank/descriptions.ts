import * as z from 'zod/mini';
import type { BankFileHead, BankHead, Descriptions } from '../bank-file/description.ts';
import { nextgenpsd2 } from './interfaces/nextgenpsd2/description/description.ts';

/** The interfaces whose banks are described by bank files, by their names. The first one reads a file that names none. */
export const DESCRIPTIONS: Record<string, Descriptions[string]> = { nextgenpsd2: () => nextgenpsd2 };

/** The schema of every bank file. */
export function anyBankFile(): z.ZodMiniType<BankHead, BankFileHead> {
  const [first, ...others] = Object.values(DESCRIPTIONS).map((description) => description().schema);
  if (!first) throw new TypeError('No interface describes its banks');
  return others.length === 0 ? first : z.union([first, ...others]);
}
