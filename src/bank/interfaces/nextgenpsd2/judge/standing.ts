import { isRecord } from '../../../../domain/json.ts';
import { type GivenAnswer, isEmpty, type OwnErrors } from './own-answer.ts';

// What in an error says that there is something after all: a payment, an authorisation, or another time.

/** The members of an error in the standard's forms, and of CBI Globe's, that have messages. */
const WITH_MESSAGES: readonly string[] = ['tppMessages', 'additionalErrors', 'errorManagement'];
/** Those that have a text. */
const TEXTS: readonly string[] = ['type', 'title', 'status', 'detail', 'code'];

/** Headers with which a bank says where a payment is, how it is authorised, or when to come again. */
const HEADERS = ['location', 'content-location', 'link', 'aspsp-sca-approach', 'retry-after'] as const;

/** Headers with the id of something at the bank. */
const ID_HEADER = /(payment|consent|authori[sz]ation|basket|resource)-?id$/;

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/i;

const TIMES_OF_DAY = [
  // 16:00, 16:00:05, also after a date and a T
  /(?<![\d:])([01]?\d|2[0-4]):[0-5]\d(?!\d)/,
  // 16h30, 16 h, 16.30 Uhr, 4 pm, 4 o'clock
  /(?<!\d)([01]?\d|2[0-4])\s?([h:.]\s?[0-5]\d)?\s?(uhr|h|uur|heures?|hrs?|hours|am|pm|a\.m|p\.m|o'clock|horas)\b/i,
  /(?<!\d)([01]?\d|2[0-4])h[0-5]\d(?!\d)/i,
  // kl. 16, ore 16
  /\b(kl\.?|ore|ora)\s?([01]?\d|2[0-4])(?!\d)/i,
];

/**
 * What says that something stands at the bank, although it refuses.
 *
 * @param texts the texts of the errors, without what psd2 sent
 * @returns what it is, as a part of a sentence: "a link". Null: the answer has nothing but errors
 */
export function standingIn(
  { status, headers }: GivenAnswer,
  { json, messages }: OwnErrors,
  texts: readonly string[],
): string | null {
  const header = HEADERS.find((name) => (headers[name] ?? '').trim() !== '');
  if (header !== undefined) return `the header ${header}`;
  const named = Object.keys(headers).find((name) => ID_HEADER.test(name) && headers[name]?.trim());
  if (named !== undefined) return `the header ${named}`;
  if (/\berror\s*=/i.test(headers['www-authenticate'] ?? '')) return 'an error in WWW-Authenticate';
  const member = Object.keys(json).find((name) => !isOfErrors(name, json[name]));
  if (member !== undefined) return isLinks(member) ? 'a link' : `the member ${member.slice(0, 40)}`;
  if (messages.some(({ hasMore }) => hasMore)) return 'more than the form of the standard in a message';
  if (!isEmpty(json.status) && Number(json.status) !== status) return 'another HTTP status in its text';
  if (texts.some((text) => UUID.test(text))) return 'a UUID in its text';
  if (texts.some((text) => TIMES_OF_DAY.some((time) => time.test(text)))) return 'a time of day in its text';
  return null;
}

/** Whether an answer has a link with which somebody could go on. @param json what the answer has, if it can be read */
export function hasLink({ headers }: Pick<GivenAnswer, 'headers'>, json: Readonly<Record<string, unknown>>) {
  const isInHeaders = [headers.location, headers.link].some((address) => address?.trim());
  return isInHeaders || !areMetadata(json._links) || !areMetadata(json.links);
}

function isOfErrors(name: string, value: unknown): boolean {
  if (WITH_MESSAGES.includes(name) || isEmpty(value)) return true;
  if (TEXTS.includes(name)) return typeof value === 'string' || typeof value === 'number';
  if (name === 'transactionStatus') return value === 'RJCT';
  return isLinks(name) && areMetadata(value);
}

function isLinks(name: string): boolean {
  return name === '_links' || name === 'links';
}

/** Whether links are none, or lead only to the metadata of an authorisation server (RFC 8414): a bank sends them before a login. */
function areMetadata(links: unknown): boolean {
  if (isEmpty(links)) return true;
  return (
    isRecord(links) &&
    Object.entries(links).every(([name, link]) => isEmpty(link) || (name === 'scaOAuth' && isMetadata(link)))
  );
}

/** An address with a query, an id or an operation is more than metadata. */
function isMetadata(link: unknown): boolean {
  const href = isRecord(link) ? link.href : link;
  if (typeof href !== 'string' || /[?#]/.test(href) || UUID.test(href)) return false;
  if (isRecord(link) && Object.keys(link).some((name) => name !== 'href' && !isEmpty(link[name])))
    return false;
  return href.includes('/.well-known/') || !/payments|authori[sz]|consents/i.test(href);
}
