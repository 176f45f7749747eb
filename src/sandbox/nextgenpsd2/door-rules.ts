import { type BankDescription, bankFile } from '../../bank-file/schema.ts';
import type { Variation } from './variations.ts';

/** How the second door behaves. The options of `sandbox start` set these rules. */
export interface DoorRules {
  /** The bank file that the door plays, with every value in force. */
  description: BankDescription;
  variations: readonly Variation[];
}

/** A bank with all defaults of the standard. */
export const standardDoor: DoorRules = {
  description: bankFile.parse({ interface: 'nextgenpsd2' }),
  variations: [],
};
