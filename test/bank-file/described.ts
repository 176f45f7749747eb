import { nextgenpsd2 } from '../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import type { BankFile } from '../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import * as files from '../../src/bank-file/bank-file.ts';
import * as fields from '../../src/bank-file/fields.ts';
import { platformNames, readPlatform } from '../../src/bank-file/platforms.ts';

// The functions of `bank-file/` with the description of NextGenPSD2 alone: what they give has its types.

const described = { nextgenpsd2: () => nextgenpsd2 };

export const readBankFile = (nameOrPath: string) => files.readBankFile(nameOrPath, described);
export const checkBankFile = (nameOrPath: string) => files.checkBankFile(nameOrPath, described);
export const describeBank = (content: unknown) => files.describeBank(content, described);
export const allFields = () => fields.allFields(nextgenpsd2.schema);
export const fieldsAt = (path: readonly PropertyKey[]) => fields.fieldsAt(nextgenpsd2.schema, path);
export const fieldOf = (path: string) => fields.fieldOf(nextgenpsd2.schema, path);

/** The platforms that come with psd2, by name: bank files, without what is said about them. */
export const PLATFORMS: Readonly<Record<string, BankFile>> = Object.fromEntries(
  platformNames().map((name) => [name, bankFileOf(name)]),
);

function bankFileOf(name: string): BankFile {
  const { content } = readPlatform(name);
  if (!files.isBankFile(content, nextgenpsd2)) throw new TypeError(`banks/${name}.json is no bank file`);
  return content;
}
