import type { BatchLine, BatchSource } from '../domain/batch/line.ts';
import type { BatchProblem, LineRules } from '../domain/batch/read-line.ts';

/** What reading a file finds, one after the other. A line with an error is only a problem. */
export type Finding =
  /** Once, before the lines. A file without it has an error. */
  | { type: 'source'; source: BatchSource }
  | { type: 'line'; line: BatchLine; fileLine: number; group?: GroupPlaces }
  | { type: 'problem'; problem: BatchProblem };

/** A place in a file, as a problem has it. */
export type Place = Pick<BatchProblem, 'place' | 'fileLine'>;

/** Where the group of a payment says what holds for all payments of it. Only pain.001 has groups: each `PmtInf`. */
export interface GroupPlaces {
  debited: Place;
  executionDate: Place;
  /** Null: each payment says its own. */
  type: Place | null;
}

/** What a file is read with. */
export interface ReadRules extends LineRules {
  /** All lines are instant payments, also those whose file does not say so. */
  instant: boolean;
  /** The operator has verified all payees by other means. */
  payeeVerified: boolean;
  /** Characters that SEPA does not allow are replaced in the customary way, with a warning. */
  transliterate: boolean;
}
