import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import {
  type Actor,
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditEntry,
  type AuditHead,
  type AuditLine,
} from '../ports/audit.ts';
import type { IsForgotten } from '../ports/personal.ts';

/** The fields of a line. A newer psd2 may write more of them. */
export const auditLine = z.object({
  n: z.int().check(z.gte(1)),
  at: z.iso.datetime({ offset: true }),
  profile: z.string(),
  action: z.enum(AUDIT_ACTIONS),
  operator: z.nullable(z.string()),
  /** The operating system's user, and the database's role. Null: it is not known, or there is none. */
  user: z.nullable(z.string()),
  role: z.nullable(z.string()),
  machine: z.nullable(z.string()),
  version: z.nullable(z.string()),
  customerId: z.nullable(z.string()),
  flow: z.nullable(z.string()),
  about: z.nullable(z.string()),
  /** SHA-256 of the line before; null in the first one. */
  previous: z.nullable(z.string()),
});
export type AuditFields = z.infer<typeof auditLine>;

/** The SHA-256 of a line without its line break, in hexadecimal. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The next line. @param head the line before; undefined for the first line */
export function nextLine(
  head: AuditHead | undefined,
  { action, customerId = null, flow = null, about = null }: Omit<AuditEntry, 'account'>,
  { operator, user, machine, version }: Actor,
  { profile, at }: { profile: string; at: string },
): AuditLine {
  const n = (head?.n ?? 0) + 1;
  const fields: AuditFields = {
    n,
    at,
    profile,
    action,
    operator,
    user,
    role: null,
    machine,
    version,
    customerId,
    flow,
    about,
    previous: head?.sha256 ?? null,
  };
  return { n, text: JSON.stringify(fields) };
}

/** What a command says of a customer whom psd2 has forgotten since the command began: their pseudonyms are not made again. */
export function withoutForgotten(
  { account, ...entry }: AuditEntry,
  profile: string,
  isForgotten: IsForgotten | undefined,
): AuditEntry {
  if (entry.customerId && isForgotten?.(profile, entry.customerId)) return { ...entry, customerId: null };
  return account === undefined ? entry : { ...entry, account };
}

/** Why a chain is broken, as the end of a sentence, with the number of the first line that shows it. */
export interface Break {
  n: number;
  why: string;
}

/** What a check of the chain has found. */
export interface Checked {
  lines: number;
  /** The last line; null if there is none. */
  head: AuditHead | null;
  broken: Break | null;
  /** The flows that somebody began. */
  began: Set<string>;
}

/**
 * Checks that no line was removed, changed or added.
 *
 * @param recorded the head that is kept beside the lines. A process that was killed may have written one line more
 * @param beginning SHA-256 of the first line that was ever written
 */
export async function checkChain(
  lines: AsyncIterable<AuditLine>,
  recorded: AuditHead | undefined,
  beginning?: string,
): Promise<Checked> {
  const checked: Checked = { lines: 0, head: null, broken: null, began: new Set() };
  let first: string | undefined;
  let isHeadThere = recorded === undefined;
  for await (const { text } of lines) {
    checked.lines += 1;
    const line = parseAuditLine(text);
    checked.broken ??= breakAt(line, checked.head);
    if (line?.action === 'began' && line.flow !== null) checked.began.add(line.flow);
    checked.head = { n: (checked.head?.n ?? 0) + 1, sha256: sha256Of(text) };
    first ??= checked.head.sha256;
    isHeadThere ||= checked.head.sha256 === recorded?.sha256;
  }
  const count = checked.head?.n ?? 0;
  if (!isHeadThere && recorded)
    checked.broken ??= {
      n: Math.min(count + 1, recorded.n),
      why: `the line ${recorded.n}, the last one, was removed or changed`,
    };
  if (count > (recorded?.n ?? 0) + 1)
    checked.broken ??= {
      n: (recorded?.n ?? 0) + 1,
      why: 'the record of the last line was removed or changed',
    };
  if (first !== undefined && beginning !== undefined && first !== beginning)
    checked.broken ??= { n: 1, why: 'all lines before the first one were removed' };
  return checked;
}

function breakAt(line: AuditFields | undefined, before: AuditHead | null): Break | null {
  const n = (before?.n ?? 0) + 1;
  if (!line) return { n, why: `line ${n} was changed` };
  if (line.n !== n) return { n, why: `line ${n} was removed` };
  if (line.previous === (before?.sha256 ?? null)) return null;
  return n === 1 ? { n, why: 'line 1 was changed' } : { n: n - 1, why: `line ${n - 1} was changed` };
}

/** The fields of a line; undefined if it is damaged. */
export function parseAuditLine(text: string): AuditFields | undefined {
  try {
    return auditLine.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * The line that a destination of `store copy` has in the place of a copied one; undefined if the copied one continues its chain.
 *
 * @param own its line with this number
 * @param head its last line
 */
export function lineInstead(
  line: AuditLine,
  own: AuditLine | undefined,
  head: AuditHead | undefined,
): AuditLine | undefined {
  const continues = head === undefined ? line.n === 1 : parseAuditLine(line.text)?.previous === head.sha256;
  return own ?? (continues ? undefined : { n: line.n, text: '' });
}

/** The events of flows that an audit asks for. The rest is the bank's word, or follows from these. */
const ACTION_OF: Readonly<Record<string, AuditAction>> = {
  created: 'began',
  accepted: 'confirmed',
  'execute-sent': 'executed',
  'confirm-sent': 'executed',
  cancelled: 'cancelled',
  resolved: 'resolved',
};

/** What the audit log says of an event of a flow; undefined if it says nothing. */
export function auditOf(
  kind: string,
  flow: string,
  customerId: string,
  event: { type: string; outcome?: unknown },
): AuditEntry | undefined {
  const action = Object.hasOwn(ACTION_OF, event.type) ? ACTION_OF[event.type] : undefined;
  if (action === undefined) return undefined;
  const outcome = typeof event.outcome === 'string' ? ` ${event.outcome}` : '';
  return { action, customerId, flow, about: `${kind}${outcome}` };
}
