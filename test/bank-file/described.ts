import { nextgenpsd2 } from '../../src/bank/interfaces/nextgenpsd2/description/description.ts';
import * as files from '../../src/bank-file/bank-file.ts';
import * as fields from '../../src/bank-file/fields.ts';
import * as layers from '../../src/bank-file/layers.ts';

// The functions of `bank-file/` with the description of NextGenPSD2 alone: what they give has its types.

const described = { nextgenpsd2: () => nextgenpsd2 };

export const readBankFile = (nameOrPath: string) => files.readBankFile(nameOrPath, described);
export const checkBankFile = (nameOrPath: string) => files.checkBankFile(nameOrPath, described);
export const describeBank = (content: unknown) => files.describeBank(content, described);
export const layersOf = (nameOrPath: string) => layers.layersOf(nameOrPath, described);
export const allFields = () => fields.allFields(nextgenpsd2.schema);
export const fieldsAt = (path: readonly PropertyKey[]) => fields.fieldsAt(nextgenpsd2.schema, path);
export const fieldOf = (path: string) => fields.fieldOf(nextgenpsd2.schema, path);
