import {
  type BankDescription,
  type BankFile,
  bankFile,
} from '../../bank/interfaces/nextgenpsd2/description/schema.ts';
import type { Variation } from './variations.ts';

/** How the second door behaves. The options of `sandbox start` set these rules. */
export interface DoorRules {
  /** The bank file that the door plays, with every value in force. */
  description: BankDescription;
  /** What the bank file says, without the standard's defaults. Its words for formats and signatures are exact. */
  own: BankFile;
  /** Whether the door refuses what psd2 never sends, although HTTP and the standard allow it. */
  strict: boolean;
  variations: readonly Variation[];
}

const nothing: BankFile = { interface: 'nextgenpsd2' };

/** A bank with all defaults of the standard. */
export const standardDoor: DoorRules = {
  description: bankFile.parse(nothing),
  own: nothing,
  strict: false,
  variations: [],
};

/**
 * That bank for somebody who learns: the four readings a day would stop them, and salaries are paid together, on a day. `consent request
 * --frequency` asks for fewer readings.
 */
export const learnersDoor = {
  description: bankFile.parse({
    ...nothing,
    consent: { frequencyPerDay: 1000 },
    payments: { futureDays: 365, products: { 'bulk-payments': ['sepa-credit-transfers'] }, bulk: {} },
  }),
};

/** The bank file that the door plays, and gives its clients: what it says, and what the variations make of it. */
export function playedBank({
  description,
  variations,
}: Pick<DoorRules, 'description' | 'variations'>): BankDescription {
  if (!variations.includes('embedded') && !variations.includes('embedded-atruvia')) return description;
  return { ...description, sca: { ...description.sca, approaches: ['embedded'] } };
}

/** Where the door takes one form alone, although HTTP and the standard allow several. */
export interface Exactness {
  accept: boolean;
  contentType: boolean;
  keyId: boolean;
  /** The signature covers these headers, and no other. */
  signedHeaders: boolean;
  /** In their order, and with this spelling of the algorithm. */
  spelling: boolean;
  algorithm: boolean;
  digest: boolean;
  certificate: boolean;
}

/** With `--strict` everything is exact, otherwise what the bank file says. */
export function exactness({ strict, own: { headers, signing } }: DoorRules): Exactness {
  const isExact = (ownValue: unknown): boolean => strict || ownValue !== undefined;
  return {
    accept: isExact(headers?.accept),
    contentType: isExact(headers?.contentType),
    keyId: isExact(signing?.keyId),
    signedHeaders: isExact(signing?.headers ?? signing?.ifSent),
    spelling: strict,
    algorithm: isExact(signing?.algorithm),
    digest: isExact(signing?.digest),
    certificate: isExact(signing?.certificate),
  };
}
