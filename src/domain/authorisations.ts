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
export function begunBy(known: Known, psuId: string | undefined, at: string): PersonsAuthorisation[] {
  return [...known, { id: null, psuId: psuId ?? null, scaStatus: null, at }];
}

/** The customer, or another person, gets the links of the last one. */
export function startedBy(
  known: Known,
  id: string | undefined,
  psuId: string | undefined,
  at: string,
): PersonsAuthorisation[] {
  // An id names one authorisation, whoever takes its links to the bank again.
  if (id !== undefined && known.some((each) => each.id === id))
    return known.map((each) => (each.id === id ? { ...each, psuId: each.psuId ?? psuId ?? null } : each));
  const last = known.at(-1);
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
  return [...(isSame ? known.slice(0, -1) : known), named];
}

/** The bank has said how far one of them is. @param id of that one. Undefined: the last one */
export function saidOf(known: Known, id: string | undefined, scaStatus: string): PersonsAuthorisation[] {
  const found = known.findLastIndex((each) => each.id === (id ?? null));
  const index = found < 0 ? known.length - 1 : found;
  return known.map((each, at) => (at === index ? { ...each, scaStatus } : each));
}

/** The bank has refused to begin the last one. It takes no other one's place. */
export function withoutRefused(known: Known): Known {
  return known.at(-1)?.id === null ? known.slice(0, -1) : known;
}

/** Whether the person has authorised it. */
export function isAuthorised({ scaStatus }: Pick<PersonsAuthorisation, 'scaStatus'>): boolean {
  return scaStatus === 'finalised' || scaStatus === 'exempted';
}

/** The persons who have authorised, as far as psd2 knows who they are. */
export function whoAuthorised(known: Known): string[] {
  const done = known.filter(isAuthorised);
  return [...new Set(done.flatMap(({ psuId }) => psuId ?? []))];
}

/** What a flow that somebody still authorises waits for, as far as psd2 knows who it is. */
export interface Waiting {
  /** Who has authorised it. */
  authorisedBy: string[];
  /** Whose authorisation has begun. Empty: nobody's, or psd2 names nobody. */
  waitsFor: string[];
}

/** Who has authorised it, and whose authorisation goes on. */
export function waitingIn(known: Known): Waiting {
  const authorisedBy = whoAuthorised(known);
  const goesOn = known.filter(({ scaStatus }) => scaStatus !== 'failed' && scaStatus !== 'finalised');
  const begun = new Set(goesOn.flatMap(({ psuId }) => psuId ?? []));
  return { authorisedBy, waitsFor: [...begun].filter((each) => !authorisedBy.includes(each)) };
}

/** The same in words. Empty: psd2 knows nobody. */
export function describeWaiting({ authorisedBy, waitsFor }: Waiting): string {
  const whom = waitsFor.length > 0 ? waitsFor.join(', ') : authorisedBy.length > 0 ? 'another person' : '';
  return [
    ...(authorisedBy.length > 0 ? [`authorised by ${authorisedBy.join(', ')}`] : []),
    ...(whom === '' ? [] : [`waits for ${whom}`]),
  ].join(', ');
}
