import type { BeforeSend } from '../bank/ports/call.ts';
import type { Sca, ScaLinks } from '../bank/ports/customer.ts';
import type { AskedAfter, Given, SentCredential } from '../domain/embedded.ts';
import type { StepEvent } from '../domain/operation.ts';
import type { Psd2Error } from '../errors.ts';
import type { OpenFlow } from '../store/ports/flows.ts';
import { announcing } from './once.ts';
import type { CredentialQuestion, FlowPorts, ReturnPorts } from './ports.ts';
import type { Told } from './refusals.ts';
import { stillOpen } from './still-open.ts';

// What a customer gives psd2 (embedded SCA, docs/embedded.md), as the flows know it: whether psd2 may take it, and what is recorded of it.

/** The journal's side of it, and the questions to the bank. */
export interface GiftRecord {
  /** Of what the customer is asked for. */
  subject: CredentialQuestion['subject'];
  /** What was sent before, for this subject. */
  sent(): readonly SentCredential[];
  /** Announces that something of the customer's leaves. */
  announce(what: Given, begins: boolean): BeforeSend;
  /** The bank has said what became of it. */
  answered(said: { links: ScaLinks; scaStatus: string | null }): Promise<void>;
  /** An answer that decides nothing has other links. */
  kept(links: ScaLinks): Promise<void>;
  /** Asks the bank how far the authorisation is, and what became of what the customer authorises. */
  look(): Promise<AskedAfter>;
  /** The bank refuses it because the customer has no method. Absent: that decides nothing. */
  lacksMethod?(): Promise<void>;
  /** The error if psd2 stops here: the authorisation stays open. */
  stop(why: Psd2Error | string): Psd2Error;
}

/** The events of what a customer gives psd2, of any flow. */
type GiftEvent = Extract<StepEvent, { type: 'credential-sent' | 'credential-not-begun' }>;
type AnswerEvent = Extract<StepEvent, { type: 'credential-answered' | 'links-left' }>;

/** What is recorded of what a customer gives psd2 for a payment or a consent. */
export function recordedGifts(
  open: Pick<OpenFlow<WithGifts & Told, GiftEvent | AnswerEvent>, 'record' | 'assertOurs' | 'current'>,
  ports: Pick<FlowPorts, 'announces'>,
  { psuId }: Pick<ReturnPorts, 'psuId'>,
): Pick<GiftRecord, 'sent' | 'announce' | 'answered' | 'kept' | 'stop'> {
  return {
    sent: () => open.current.credentials,
    announce: (what, begins) =>
      announcingGift(open, ports, {
        what,
        ...(begins && { begins }),
        ...(psuId !== undefined && { psuId }),
      }),
    async answered({ links, scaStatus }) {
      await open.record({ type: 'credential-answered', links, scaStatus });
    },
    async kept(links) {
      await open.record({ type: 'links-left', links });
    },
    stop: (why) => stillOpen(open.current, why, psuId === undefined ? {} : { who: psuId }),
  };
}

/** Announces what a customer gives psd2. Nothing of it is in the journal, nor its digest. */
export function announcingGift(
  open: Pick<OpenFlow<{ transactionId: string }, GiftEvent>, 'record' | 'assertOurs' | 'current'>,
  { announces }: Pick<FlowPorts, 'announces'>,
  sent: Pick<Extract<GiftEvent, { what: Given }>, 'what' | 'begins' | 'psuId' | 'ofCancellation'>,
): BeforeSend {
  const { what, ofCancellation } = sent;
  const announce = announcing<GiftEvent>(
    open,
    ({ requestId }) => ({ type: 'credential-sent', requestId, digest: null, ...sent }),
    {
      notBegun: {
        type: 'credential-not-begun',
        ...(ofCancellation && { ofCancellation }),
      },
    },
  );
  return async (intent) => {
    const announced = await announce(intent);
    const { transactionId } = open.current;
    const gives = { what, ...(ofCancellation && { ofCancellation }) };
    await announces?.({ requestId: intent.requestId, transactionId, gives });
    return announced;
  };
}

/**
 * Records what the log of calls alone knows that psd2 has given the bank of the customer's: a journal that was restored from an older
 * state has lost it. From here on it counts as sent, and not answered.
 */
export async function recordLoggedGifts(
  open: Pick<OpenFlow<WithGifts, GiftEvent>, 'record' | 'current'>,
  { bank, given: loggedGifts }: Pick<FlowPorts, 'bank' | 'given'>,
): Promise<void> {
  if (!bank.sca.hasEmbedded) return;
  const { transactionId, credentials, cancellationCredentials = [] } = open.current;
  const recorded = new Set([...credentials, ...cancellationCredentials].map(({ requestId }) => requestId));
  for (const gift of (await loggedGifts?.(transactionId)) ?? [])
    if (!recorded.has(gift.requestId))
      await open.record({ type: 'credential-sent', digest: null, ...gift, isFound: true });
}

/** A flow for which customers give psd2 something. */
interface WithGifts {
  transactionId: string;
  credentials: readonly SentCredential[];
  cancellationCredentials?: readonly SentCredential[];
}

/** @throws Psd2Error if the bank has no other way, and psd2 must take no credentials: before anything is sent */
export function refuseBeforehand(
  { isEmbeddedAlone }: Pick<Sca, 'isEmbeddedAlone'>,
  { credentials }: Pick<ReturnPorts, 'credentials'>,
): void {
  const why = isEmbeddedAlone ? credentials.refusal() : null;
  // Nothing is at the bank: the flow ends, and its reference is free.
  if (why) throw why.with({ isDeadEnd: true });
}

/** @throws Psd2Error if psd2 must take no credentials: then nothing goes on, and nobody has a link. After the first of them, somebody may */
export function refuseUntaken({ credentials }: Pick<ReturnPorts, 'credentials'>, gifts: GiftRecord): void {
  const why = credentials.refusal();
  if (!why) return;
  throw gifts.sent().length > 0 ? gifts.stop(why) : why.with({ isDeadEnd: true });
}
