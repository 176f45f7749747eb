/** The outcomes that a person can give to a flow, if the bank does not tell. */
export type ResolvedOutcome = 'executed' | 'not-executed';

/** A person resolved a flow (command contract, "A person can end an unknown"). The journal's line has the time. */
export interface ResolvedEvent {
  type: 'resolved';
  /** For a consent, `executed` means confirmed. */
  outcome: ResolvedOutcome;
  /** The operating system's user and the host's name: `ada@pisp-1`. */
  by: string;
  /** The reason, in the person's own words. */
  note: string | null;
}

/** How a person resolved a flow. */
export interface Resolution {
  outcome: ResolvedOutcome;
  by: string;
  /** ISO 8601 with zone. */
  at: string;
  note: string | null;
}

/** @param at when the person resolved it, ISO 8601 with zone */
export function resolutionOf({ outcome, by, note }: ResolvedEvent, at: string): Resolution {
  return { outcome, by, at, note };
}
