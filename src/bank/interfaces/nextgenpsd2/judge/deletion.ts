import { isPage } from '../../../call/call.ts';
import {
  anotherIn,
  hasOnly,
  isBanksRefusal,
  isSuccess,
  isUnknownThere,
  type JudgedAnswer,
} from './status.ts';

/** What a `DELETE` was about. */
export interface DeletionOf {
  what: 'consent' | 'payment' | 'signing basket';
  /** The bank has taken an earlier `DELETE` of it, by the journal. */
  wasTaken: boolean;
}

/**
 * What the answer to a `DELETE` proves:
 *
 * - `taken`: the bank does it. Of a payment, the status still says whether it was in time
 * - `accepted`: the same, with HTTP 202. The customer may have to authorise it where the standard has it, although no link says so
 * - `to be authorised`: it does it once the customer has authorised it
 * - `is gone`: it is not there any more
 * - `is not known`: the bank does not know it with this certificate, at this minute. It may live
 * - `refused`: the bank itself does not do it
 * - `says nothing`: nobody's word, or not about this
 */
export type DeletionVerdict =
  | 'taken'
  | 'accepted'
  | 'to be authorised'
  | 'is gone'
  | 'is not known'
  | 'refused'
  | 'says nothing';

/** Judges the answer to a `DELETE`. Only `taken`, `accepted` and `is gone` end anything. */
export function judgeDeletion(answer: JudgedAnswer, { what, wasTaken }: DeletionOf): DeletionVerdict {
  if (isSuccess(answer)) {
    if (anotherIn(answer) !== null) return 'says nothing';
    const verdict = judgeDeleted(answer);
    // Nobody authorises the end of a basket: what a link starts there pays.
    return what === 'signing basket' && verdict === 'to be authorised' ? 'says nothing' : verdict;
  }
  // The bank knows that a consent has ended. A payment may have expired because it was executed.
  if (what === 'consent' && isBanksRefusal(answer) && hasOnly(answer, EXPIRED)) return 'is gone';
  if (isUnknownThere(answer)) return wasTaken ? 'is gone' : 'is not known';
  return isBanksRefusal(answer) ? 'refused' : 'says nothing';
}

const EXPIRED = ['CONSENT_EXPIRED', 'RESOURCE_EXPIRED'];

function judgeDeleted(answer: JudgedAnswer): DeletionVerdict {
  const { status, body, reply } = answer;
  if (status === 204) return body.length === 0 ? 'taken' : 'says nothing';
  if (status !== 200 && status !== 202) return 'says nothing';
  if (body.length > 0 && (isPage(answer) || !isJsonObject(reply.json))) return 'says nothing';
  const members = isJsonObject(reply.json) ? reply.json : {};
  if (reply.messages.some(({ isError }) => isError) || hasError(members)) return 'says nothing';
  if (PAYING.includes(statusWord(members.transactionStatus))) return 'says nothing';
  if (wantsAuthorisation(members, answer.headers)) return 'to be authorised';
  if (LIVING.includes(statusWord(members.consentStatus))) return 'says nothing';
  return status === 202 ? 'accepted' : 'taken';
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names that gateways give to an error, also in an answer with a status of success. */
const ERRORS = /^(errors?|fault|exception|error_?(code|message|management)|http_?(code|message))$/i;

/** Such a payment is executed, or about to be. No bank has cancelled it. */
const PAYING = ['ACSP', 'ACSC', 'ACCC', 'ACWC', 'ACWP'];

/** Such a consent is in force, or the customer can still authorise it. */
const LIVING = ['RECEIVED', 'PARTIALLYAUTHORISED', 'PARTIALLYAUTHORIZED', 'VALID'];

/** A status, however the bank writes it: in other case, with blanks around it. */
function statusWord(status: unknown): string {
  return String(status).trim().toUpperCase();
}

function hasError(members: Record<string, unknown>): boolean {
  const isStatusOfError = Number(members.status ?? members.code) >= 300;
  const isGateways = 'message' in members && /^\d+$/.test(String(members.status));
  return (
    isStatusOfError ||
    isGateways ||
    Object.entries(members).some(([name, value]) => ERRORS.test(name) && value !== null && value !== '')
  );
}

/** The links that lead to an authorisation, or to one that has begun. */
const AUTHORISING = /^(scaRedirect|scaOAuth|scaStatus|confirmation|start|update|select|authorise)/;
const IS_AUTHORISED = ['finalised', 'exempted'];

/** Whether the customer must authorise it: the answer says where, or that it asks them elsewhere. */
function wantsAuthorisation(
  { _links: links, scaStatus }: Record<string, unknown>,
  headers: JudgedAnswer['headers'],
): boolean {
  if (typeof scaStatus === 'string' && IS_AUTHORISED.includes(scaStatus)) return false;
  const names = isJsonObject(links) ? Object.keys(links) : [];
  const isElsewhere = /^\s*(decoupled|embedded)\s*$/i.test(headers['aspsp-sca-approach'] ?? '');
  return isElsewhere || names.some((name) => AUTHORISING.test(name));
}
