/** An authorisation of a payment or a consent, at a bank whose links lead it. There may be several persons, each with one. */
export interface PersonsAuthorisation {
  /** The bank's id. Null: the bank has not said it, or its answer was lost. */
  id: string | null;
  /** Who the bank was told that it is. Null: psd2 names nobody. */
  psuId: string | null;
  /** The bank's own word, as last recorded. */
  scaStatus: string | null;
  /** When psd2 began it, or learnt of it, ISO 8601 with zone. */
  at: string;
}

type Known = readonly PersonsAuthorisation[];

/** One has begun, or may have: its answer can be lost. */
export function begunBy(
  authorisations: Known,
  psuId: string | undefined,
  at: string,
): PersonsAuthorisation[] {
  return [...authorisations, { id: null, psuId: psuId ?? null, scaStatus: null, at }];
}

/** The customer, or another person, gets the links of the last one. */
export function startedBy(
  authorisations: Known,
  id: string | undefined,
  psuId: string | undefined,
  at: string,
): PersonsAuthorisation[] {
  // An id names one authorisation, whoever takes its links to the bank again.
  if (id !== undefined && authorisations.some((each) => each.id === id))
    return authorisations.map((each) =>
      each.id === id ? { ...each, psuId: each.psuId ?? psuId ?? null } : each,
    );
  const last = authorisations.at(-1);
  const isSame =
    last !== undefined &&
    (last.id === null || id === undefined) &&
    (last.psuId === null || psuId === undefined || last.psuId === psuId);
  const { scaStatus = null, at: begun = at } = isSame ? last : {};
  const named = {
    id: id ?? (isSame ? last.id : null),
    psuId: psuId ?? (isSame ? last.psuId : null),
    scaStatus,
    at: begun,
  };
  return [...(isSame ? authorisations.slice(0, -1) : authorisations), named];
}

/** The bank has said how far one of them is. @param id of that one. Undefined: the last one */
export function saidOf(
  authorisations: Known,
  id: string | undefined,
  scaStatus: string,
): PersonsAuthorisation[] {
  const byId = authorisations.findLastIndex((each) => each.id === (id ?? null));
  const index = byId < 0 ? authorisations.length - 1 : byId;
  return authorisations.map((each, at) => (at === index ? { ...each, scaStatus } : each));
}

/** The bank has refused to begin the last one. It takes no other one's place. */
export function withoutRefused(authorisations: Known): Known {
  return authorisations.at(-1)?.id === null ? authorisations.slice(0, -1) : authorisations;
}

/** Whether the person has authorised it. */
export function isAuthorised({ scaStatus }: Pick<PersonsAuthorisation, 'scaStatus'>): boolean {
  return scaStatus === 'finalised' || scaStatus === 'exempted';
}

/** Who did what for a flow that several persons must authorise, by the bank's word, as far as psd2 knows who they are. */
export interface Persons {
  authorisedBy: string[];
  /** Whose authorisation has failed: they refused, or did not authorise it in time. */
  refusedBy: string[];
  /** Whose authorisation has begun. Empty: nobody's, or psd2 names nobody. */
  waitsFor: string[];
}

/**
 * The entry of each person: the authorisation that is done, else the last one. Who has no name is the customer, so all entries
 * without a name are of one person.
 */
export function entriesOfPersons(authorisations: Known): PersonsAuthorisation[] {
  const entries = new Map<string | null, PersonsAuthorisation>();
  for (const each of authorisations) {
    const before = entries.get(each.psuId);
    if (!before || !isAuthorised(before)) entries.set(each.psuId, each);
  }
  return [...entries.values()];
}

/** Whether the bank says that a person has authorised it: their part is over. */
export function hasAuthorised(authorisations: Known, psuId: string | undefined): boolean {
  return authorisations.some(
    (each) => each.psuId === (psuId ?? null) && each.id !== null && isAuthorised(each),
  );
}

/** Who has authorised it, who has refused it, and whose authorisation goes on. */
export function personsIn(authorisations: Known): Persons {
  const persons: Persons = { authorisedBy: [], refusedBy: [], waitsFor: [] };
  for (const entry of entriesOfPersons(authorisations)) {
    if (entry.psuId === null) continue;
    const does = isAuthorised(entry)
      ? 'authorisedBy'
      : entry.scaStatus === 'failed'
        ? 'refusedBy'
        : 'waitsFor';
    persons[does].push(entry.psuId);
  }
  return persons;
}

/** Whom it waits for, in words. Null: psd2 knows nobody. */
export function whomItWaitsFor({ authorisedBy, waitsFor }: Persons): string | null {
  if (waitsFor.length > 0) return waitsFor.join(', ');
  return authorisedBy.length > 0 ? 'another person' : null;
}

/** Who did what, in words. Empty: psd2 knows nobody. @param isOpen whether it still waits for somebody */
export function describePersons(persons: Persons, isOpen = true): string {
  const { authorisedBy, refusedBy } = persons;
  const whom = isOpen ? whomItWaitsFor(persons) : null;
  return [
    ...(authorisedBy.length > 0 ? [`authorised by ${authorisedBy.join(', ')}`] : []),
    ...(refusedBy.length > 0 ? [`refused by ${refusedBy.join(', ')}`] : []),
    ...(whom === null ? [] : [`waits for ${whom}`]),
  ].join(', ');
}

/** Whether somebody has authorised the cancellation of a payment, or still may. */
export function isUnderWay(cancellation: Known | null): boolean {
  return cancellation?.some(({ scaStatus }) => scaStatus !== 'failed') ?? false;
}
