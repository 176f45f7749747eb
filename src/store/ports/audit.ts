/** What people do that an audit asks for. `added`, `rejected` and `paid`: a batch; `paid`: somebody let psd2 pay it. `authenticated`: psd2 passed a customer's PIN or TAN on to the bank. `executed`: psd2 was about to send `execute` (for a consent, `confirm`). */
export const AUDIT_ACTIONS = [
  'added',
  'rejected',
  'paid',
  'began',
  'approved',
  'confirmed',
  'executed',
  'cancelled',
  'resolved',
  'logged-in',
  'logged-out',
  'exported',
  'forgot',
  'profile-changed',
  'authenticated',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who runs psd2, where, and which psd2. Every event of a journal has it, and every line of the audit log. */
export interface Actor {
  /** `PSD2_OPERATOR`, else the operating system's user. */
  operator: string;
  /** The operating system's user, whatever `PSD2_OPERATOR` says. */
  user: string;
  /** The host's name. */
  machine: string;
  version: string;
}

/**
 * Something that somebody has done. It contains ids, and no names, amounts or accounts of payees. The store writes pseudonyms in
 * place of the customer and the account, because lines never change, and psd2 must be able to forget the customer.
 */
export interface AuditEntry {
  action: AuditAction;
  customerId?: string | null;
  flow?: string | null;
  /** What it is about: the kind of a flow, a batch and the person's name, the outcome, the format of an export, the changed settings, what a PIN or TAN was for. */
  about?: string | null;
  /** The customer's account, or their id at the bank, that it is about. It follows `about` in the line. */
  account?: string;
}

/** A line of the audit log, as it was written: JSON, with pseudonyms of customers and accounts. */
export interface AuditLine {
  n: number;
  text: string;
}

/** The last line that was written. */
export interface AuditHead {
  n: number;
  /** SHA-256 of the line, in hexadecimal. */
  sha256: string;
}

/**
 * The audit log of one profile. psd2 only appends to it. Each line has the SHA-256 of the line before, and the head is kept
 * beside the lines, so a line that was removed or changed shows. So does a log that was removed as a whole: its first line is
 * known elsewhere. The store itself adds what happens to flows.
 */
export interface Audit {
  /** Adds a line, durably. @throws Psd2Error `config` if it cannot be written */
  append(entry: AuditEntry): Promise<void>;
  /** All lines, the oldest first, unchecked. @throws Psd2Error `config` */
  lines(): AsyncIterable<AuditLine>;
  /** Undefined if nothing was written yet. @throws Psd2Error `config` */
  head(): Promise<AuditHead | undefined>;
  /** SHA-256 of the first line that was ever written, kept apart from the lines. Undefined: none was. @throws Psd2Error `config` */
  beginning(): Promise<string | undefined>;
  /** Whether `store copy` may have brought flows without their lines: a destination with a log of its own keeps it. */
  mayLackCopied(): Promise<boolean>;
}
