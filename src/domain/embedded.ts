/** A way in which the customer can prove an authorisation, as the bank names it (the standard, "Authentication Object"). */
export interface ScaMethod {
  id: string;
  /** The bank's own word: `SMS_OTP`, `CHIP_OTP`, `PHOTO_OTP`, `PUSH_OTP`, or another. It decides nothing. */
  type: string;
  version?: string;
  name?: string;
  explanation?: string;
}

/** What the customer needs for a TAN (the standard, "Challenge"). Texts are the bank's own, as they came. */
export interface ScaChallenge {
  information?: string;
  data?: string[];
  /** A PNG, in base64. */
  image?: string;
  otpMaxLength?: string;
  otpFormat?: string;
}

/** How a bank that takes credentials from psd2 sees its customers, by its bank file. */
export interface EmbeddedCustomers {
  /** The bank has no other way. */
  isAlone: boolean;
  /** The bank's name for PSU-ID. */
  label?: string | undefined;
  /** The bank's own address. A gateway may stand before it. */
  address?: string | undefined;
}

/** What a bank wants from psd2 of the customer. */
export type Given = 'password' | 'method' | 'code';

/** What the customer gives psd2 next, and what the bank has said for it. Plain data: a flow keeps it. */
export interface EmbeddedStep {
  next: Given;
  /** The bank's link that offers it. Absent: the standard says where. */
  link?: string;
  methods?: ScaMethod[];
  /** The method that the customer, or the bank, has chosen. */
  chosen?: ScaMethod;
  challenge?: ScaChallenge;
}

/** Something of the customer's that psd2 has sent to the bank, or was about to. What it was, nobody keeps. */
export interface SentCredential {
  what: Given;
  /** Who the bank was told that it is from. Null: psd2 names nobody. */
  psuId: string | null;
  /** The bank's word says what became of it. */
  isAnswered: boolean;
  requestId: string;
  /** The log of calls alone knows it, and not whose it is: it may be of anyone. */
  isAnyones?: true;
}

/** What the log of calls has of something of the customer's that was sent, or was about to be. */
export interface LoggedGift {
  what: Given;
  requestId: string;
  /** They authorise the cancellation of the payment. */
  ofCancellation?: true;
}

/** The event that announces it, as the domain reads it. */
interface Sending {
  what: Given;
  requestId: string;
  psuId?: string;
  isFound?: true;
}

/** What a flow keeps of it. */
export function sentBy({ what, requestId, psuId, isFound }: Sending): SentCredential {
  return { what, psuId: psuId ?? null, isAnswered: false, requestId, ...(isFound && { isAnyones: true }) };
}

type Sent = readonly SentCredential[];

/** The last one was answered. */
export function answeredIn(sent: Sent): SentCredential[] {
  return sent.map((each, index) => (index === sent.length - 1 ? { ...each, isAnswered: true } : each));
}

/** What the bank answered to something of the customer's, with success. */
export interface StepAnswer {
  scaStatus: string | null;
  /** What the bank wants next. Null: nothing of psd2. */
  next: Given | null;
  /** The bank has chosen the decoupled approach. */
  isElsewhere: boolean;
}

/** What follows from it. `ask the bank`: the answer does not say what became of what was sent. */
export type AfterStep = 'is over' | 'wait' | 'stop' | 'ask the bank' | Given;

/** What became of a credential, as far as an answer says it. */
export type Became = 'accepted' | 'refused' | 'unknown';

/**
 * What the answer to something of the customer's says (docs/embedded.md). Only a success says it: an error to a right TAN is real.
 *
 * @param answer null: it is lost, or a refusal
 */
export function readStep(what: Given, answer: StepAnswer | null): { next: AfterStep; became: Became } {
  if (!answer) return { next: 'ask the bank', became: 'unknown' };
  const { scaStatus, next, isElsewhere } = answer;
  if (scaStatus !== null && DONE.includes(scaStatus)) return { next: 'is over', became: 'accepted' };
  if (scaStatus === 'failed') return { next: 'ask the bank', became: 'refused' };
  // The code of a page is missing, and nobody has been sent to one.
  if (scaStatus === 'unconfirmed') return { next: 'stop', became: 'accepted' };
  if (isElsewhere) return { next: 'wait', became: 'accepted' };
  if (next !== null) return { next, became: isAfter(next, what) ? 'accepted' : 'refused' };
  if (scaStatus === null) return { next: 'ask the bank', became: 'unknown' };
  return { next: 'wait', became: what === 'code' ? 'unknown' : 'accepted' };
}

const DONE = ['finalised', 'exempted'];
const ORDER: readonly Given[] = ['password', 'method', 'code'];

function isAfter(next: Given, what: Given): boolean {
  return ORDER.indexOf(next) > ORDER.indexOf(what);
}

/** What the bank says, asked after an answer that says nothing. */
export interface AskedAfter {
  /** The bank's word for the authorisation. Null: it does not say. */
  scaStatus: string | null;
  /** What became of what the customer authorises: the bank has accepted it, or it has ended. Null: neither. */
  decided: 'accepted' | 'ended' | null;
}

/** What follows from that. `again`: the same once more, from the customer. `anew`: only another authorisation goes on. */
export type AfterAsking = 'is over' | 'again' | 'anew' | 'stop';

/**
 * What to do after an answer that does not say what became of something of the customer's. The customer is asked again only if the
 * authorisation is unfinished by the bank's word.
 *
 * @param known whether psd2 knows which authorisation it is, and whether the bank itself has refused what was sent
 */
export function readAfterAsking(
  what: Given,
  { scaStatus, decided }: AskedAfter,
  { hasId, isRefused }: { hasId: boolean; isRefused: boolean },
): { next: AfterAsking; became: Became } {
  const unlessTaken = isRefused ? 'refused' : 'unknown';
  if (decided === 'accepted' || (scaStatus !== null && DONE.includes(scaStatus)))
    return { next: 'is over', became: 'accepted' };
  if (decided === 'ended') return { next: 'is over', became: unlessTaken };
  if (scaStatus === 'failed' || scaStatus === 'expired') return { next: 'anew', became: unlessTaken };
  // Without an authorisation there was no TAN, and none that the bank shows goes on with a PIN.
  if (scaStatus === null && what === 'password' && !hasId) return { next: 'anew', became: unlessTaken };
  const waitsFor = WAITS_FOR[scaStatus ?? ''];
  if (waitsFor === undefined) return { next: 'stop', became: 'unknown' };
  if (waitsFor.includes(what)) return { next: 'again', became: unlessTaken };
  // The answer that had the methods, or the challenge, is lost.
  return what === 'code' ? { next: 'stop', became: 'unknown' } : { next: 'anew', became: 'accepted' };
}

/** What an unfinished authorisation still waits for, by the standard's words. */
const WAITS_FOR: Readonly<Record<string, readonly Given[]>> = {
  received: ['password'],
  psuIdentified: ['password'],
  psuAuthenticated: ['method', 'code'],
  scaMethodSelected: ['code'],
  started: ['code'],
};
