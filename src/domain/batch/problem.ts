/** What is wrong with a file of payments, or what a person should know about it. */
export interface BatchProblem {
  /** An error stops the batch. A warning does not. */
  severity: 'error' | 'warning';
  /** The line's number in the batch. Null: it is about no line alone. */
  line: number | null;
  /** Where it is in the file: `line 7` in CSV, the path of the element in XML. Empty: the file as a whole. */
  place: string;
  /** A sentence without a full stop. */
  message: string;
}

/** Reports what is wrong with a field of a line. */
export type ReportField<Field extends string> = (field: Field, message: string) => void;
