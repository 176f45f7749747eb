import { bankFile } from '../../bank-file/schema.ts';
import { seedFile } from '../../sandbox/seed/seed-schema.ts';
import type { Printed } from '../declare.ts';

/** The files that an operator writes, by the word that names them for `psd2 schema`. */
export const FILES: Readonly<Record<string, Printed>> = {
  seed: { what: 'a seed file of the sandbox', shape: () => seedFile },
  bank: { what: 'a bank file', shape: () => bankFile },
};
