import { addDays, bankDay, isIsoDate } from '../../../../domain/calendar.ts';
import { saysForm, saysMissing } from './claims.ts';
import { DAYS } from './field-names.ts';
import { type Lookup, type NamedField, namedFields } from './named-fields.ts';
import { hasHeader, type SentContent } from './sent.ts';
import { plain } from './texts.ts';
import { hasWord } from './word-search.ts';
import { CONNECTION, EXPIRY } from './words.ts';

// Which codes say of an initiation what is true of every delivery of its bytes: then nothing came of any of them, also if a gateway has
// delivered it twice, or without its body.

/** An error as the judge reads it: with its texts decoded, and without what psd2 sent. */
export interface ReadError {
  code: string;
  /** What it says of what it names. Empty: nothing. */
  text: string;
  title: string;
  path: string | null;
  /** The text as the bank wrote it. */
  whole: string;
}

/** Why an error proves nothing, as a part of a sentence: "FORMAT_ERROR names no field". */
export type Objection = string;

interface Rule {
  /** @returns why the error proves nothing. Null: it is true of every delivery */
  objection: (error: ReadError, lookup: Lookup & { status: number }) => Objection | null;
}

const ALWAYS: Rule = { objection: () => null };

/** By the standard's codes. Any other code is said of a state, or of one delivery. */
const RULES: Readonly<Record<string, Rule>> = {
  PRODUCT_UNKNOWN: ALWAYS,
  PRODUCT_INVALID: ALWAYS,
  PARAMETER_NOT_SUPPORTED: ALWAYS,
  ROLE_INVALID: ALWAYS,
  CORPORATE_ID_INVALID: ALWAYS,
  SERVICE_INVALID: {
    objection: ({ text, title }, { status }) => {
      if (status === 400) return 'SERVICE_INVALID with HTTP 400 may be about what the bank has';
      return namesOtherMethod(`${title} ${text}`) ? 'SERVICE_INVALID names another method than POST' : null;
    },
  },
  CERTIFICATE_INVALID: {
    objection: ({ text, title }) =>
      hasWord(plain(`${title} ${text}`), EXPIRY)
        ? 'CERTIFICATE_INVALID may be about the clock, or the signature of one delivery'
        : null,
  },
  CERTIFICATE_EXPIRED: {
    objection: (_, { sent }) =>
      sent.certificateEnds < sent.firstByteAt ? null : 'the certificate that psd2 sent had not expired',
  },
  CERTIFICATE_MISSING: {
    objection: ({ text, title }, { sent, bank }) =>
      hasHeader(sent, 'tpp-signature-certificate', bank) || hasWord(plain(`${title} ${text}`), CONNECTION)
        ? 'psd2 sent a certificate'
        : null,
  },
  SIGNATURE_MISSING: {
    objection: (_, { sent, bank }) => (hasHeader(sent, 'signature', bank) ? 'psd2 sent a signature' : null),
  },
  KID_MISSING: {
    objection: (_, { sent, bank }) => (hasHeader(sent, 'signature', bank) ? 'psd2 sent a keyId' : null),
  },
  TOKEN_UNKNOWN: { objection: sentToken },
  TOKEN_INVALID: { objection: sentToken },
  EXECUTION_DATE_INVALID: {
    objection: ({ text, title }, { content, sent }) => {
      if (saysMissing(`${title} ${text}`)) return 'EXECUTION_DATE_INVALID calls the day missing';
      return isFar(orderedDays(content), sent.firstByteAt) ? null : TOO_NEAR;
    },
  },
  FORMAT_ERROR: { objection: (error, lookup) => objectionOfFormat(namedBy(error, lookup), error, lookup) },
};

const TOO_NEAR = 'the day of execution is so near that two deliveries may differ';

function sentToken(_: ReadError, { sent, bank }: Lookup): Objection | null {
  const names = ['authorization', bank.oauth.tokenHeader.toLowerCase()];
  return names.some((name) => hasHeader(sent, name, bank)) ? 'psd2 sent a token' : null;
}

const METHODS = 'get|head|put|delete|patch|options|trace|connect';

/** In capitals, in quotes, or beside the word "method". */
function namesOtherMethod(text: string): boolean {
  const [inCapitals, named, naming] = [
    new RegExp(`\\b(${METHODS.toUpperCase()})\\b`),
    new RegExp(`(['"]|\\bmethod\\W+(is\\W+)?)(${METHODS})\\b`, 'i'),
    new RegExp(`\\b(${METHODS})\\W+method\\b`, 'i'),
  ];
  return inCapitals.test(text) || named.test(text) || naming.test(text);
}

/** Whether a code is one of those that are true of every delivery under a condition. */
export function isInTable(code: string): boolean {
  return Object.hasOwn(RULES, code);
}

/** Why an error does not prove that nothing began. Null: it does. */
export function objectionTo(error: ReadError, lookup: Lookup & { status: number }): Objection | null {
  const rule = isInTable(error.code) ? RULES[error.code] : undefined;
  return rule ? rule.objection(error, lookup) : `${error.code} may be said of a payment that the bank has`;
}

/** The fields that an error of form names. */
export function namedBy({ text, title, path }: ReadError, lookup: Lookup): NamedField[] {
  return namedFields({ text: `${text} ${title}`, path }, lookup);
}

/** Whether an error calls what it names missing, or says nothing of it. */
export function callsMissing({ text, title }: ReadError, named: readonly NamedField[]): boolean {
  return (
    text === '' ||
    saysMissing(
      `${title} ${text}`,
      named.map(({ name }) => name),
    )
  );
}

function objectionOfFormat(
  named: readonly NamedField[],
  error: ReadError,
  { sent }: Lookup,
): Objection | null {
  if (named.length === 0) return 'FORMAT_ERROR names no field of the payment';
  const unclear = named.find((field) => field.sent === 'unclear');
  if (unclear) return `the bank names ${unclear.name}, which is no field of the payment that psd2 sent`;
  if (error.text === '') return 'FORMAT_ERROR does not say what is wrong, so the field may have been missing';
  const isMissing = callsMissing(error, named);
  const other = named.find((field) => (field.sent === 'yes') === isMissing);
  if (other)
    return isMissing ? `psd2 sent ${other.name}, which the bank misses` : `psd2 sent no ${other.name}`;
  const days = named.filter(({ isDay }) => isDay);
  if (
    days.length > 0 &&
    !isFar(
      days.flatMap((each) => each.days),
      sent.firstByteAt,
    )
  )
    return TOO_NEAR;
  if (isMissing) return null;
  const isAmount = named.some((field) => field.isAmount);
  return saysForm(error.text, isAmount) ? null : 'the bank says nothing of the form of a field';
}

/** The days of execution that were sent. */
function orderedDays({ fields }: SentContent): string[] {
  return [...fields].flatMap(([path, values]) =>
    path.split('.').some((part) => DAYS.includes(part)) ? values : [],
  );
}

/** Hours by which the clocks of the world are behind UTC at most. */
const LAST_ZONE_MS = 12 * 3_600_000;

/**
 * Whether days are so far off, or so long past, that no midnight or cut-off of a bank lay between two deliveries.
 *
 * @param days those that were sent. None is not far
 */
function isFar(days: readonly string[], sentAt: Date): boolean {
  const today = bankDay(sentAt);
  const earliest = new Date(sentAt.getTime() - LAST_ZONE_MS).toISOString().slice(0, 10);
  return (
    days.length > 0 && days.every((day) => isIsoDate(day) && (day >= addDays(today, 2) || day < earliest))
  );
}
