// The number of a card (ISO/IEC 7812) is a secret: psd2 sends it where it belongs, and keeps and shows only a part of it.

/** Whether a text is nothing but what may be the whole number of a card, however it is grouped. */
export function isWholeCardNumber(text: string): boolean {
  return /^\d{12,19}$/.test(compactNumber(text));
}

/** Whether an operator seems to name a card by its whole number, with or without a word for it before. */
export function looksLikeCardNumber(text: string): boolean {
  return /^\W*(?:(?:card|masked)?[\s_-]*pan|card(?:[\s_-]*(?:number|no|nr))?)?[\W_]*(?:\d[\W_]*){12,19}$/i.test(
    text,
  );
}

/** A number without what people write between its groups. */
export function compactNumber(text: string): string {
  return text.replace(/[\s.-]/g, '');
}

/** The number of a card as psd2 keeps and shows it: at most its first six and its last four characters. */
export function maskedCardNumber(number: string): string {
  const id = compactNumber(number);
  if (id.includes('*')) return id;
  const shown = id.length >= 13 ? 6 : 0;
  return `${id.slice(0, shown)}${'*'.repeat(Math.max(0, id.length - shown - 4))}${id.slice(-4)}`;
}

/** In one piece, or in groups as on the card. An IBAN has groups of digits, too. */
const CARD_NUMBER = new RegExp(
  [
    '(?<![\\p{L}\\d])\\d{12,19}(?![\\p{L}\\d])',
    '(?<![\\p{L}\\d]|\\d[ .-])\\d{4}(?:([ .-])\\d{4}\\1\\d{4}(?:\\1\\d{1,4}){0,2}|[ -]\\d{6}[ -]\\d{5})(?![\\p{L}\\d]|[ .-]\\d)',
  ].join('|'),
  'gu',
);

/**
 * A text in which whole numbers of cards are masked.
 *
 * @param known numbers of cards without blanks, whatever their check digits say
 */
export function withoutCardNumbers(text: string, known: readonly string[] = []): string {
  const others = withKnownMasked(text, known);
  if (!/\d{4}/.test(others)) return others;
  return others.replace(CARD_NUMBER, (found) => (passesCheck(found) ? maskedCardNumber(found) : found));
}

function withKnownMasked(text: string, known: readonly string[]): string {
  return known.reduce(
    (rest, number) => rest.replace(new RegExp([...number].join('[\\s.-]*'), 'gi'), maskedCardNumber),
    text,
  );
}

/** Whether the first digit is one of banks, and the check digit is right (Luhn). Many a time begins with 20. */
function passesCheck(found: string): boolean {
  const digits = compactNumber(found);
  if (!/^(?!20)[2-69]/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((before, digit, at) => {
    const value = Number(digit) * (1 + (at % 2));
    return before + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Names of the fields that have the number of a card, as banks spell them. */
const OF_CARD = /(?<!com)pan(?!el)|card[_-]?(?:number|no|nr)(?![a-z])/i;
/** Names of fields whose digits are no card. An id goes back to the bank as it is. */
const OF_ACCOUNT = /iban|bban|msisdn/i;
const OF_ID = /id$|^href$/i;

/**
 * A value of JSON in which the numbers of cards are masked: all that stands in a field for them, and elsewhere what passes the check
 * digit.
 *
 * @param known see {@link withoutCardNumbers}
 */
export function maskedJson(value: unknown, known: readonly string[] = [], name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => maskedJson(each, known, name));
  if (typeof value === 'object' && value !== null) return maskedMembers(value, known, name);
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = String(value);
  const masked = maskedText(name, text, known);
  return masked === text ? value : masked;
}

/** As {@link maskedJson}, for an object. */
export function maskedMembers(
  members: object,
  known: readonly string[] = [],
  name = '',
): Record<string, unknown> {
  const masked = Object.entries(members).map(([key, each]: [string, unknown]) => [
    withoutCardNumbers(key, known),
    maskedJson(each, known, OF_CARD.test(name) ? name : key),
  ]);
  return Object.fromEntries(masked);
}

function maskedText(name: string, text: string, known: readonly string[]): string {
  if (OF_CARD.test(name)) return /mask/i.test(name) ? surelyMasked(text) : maskedCardNumber(text);
  if (OF_ID.test(name)) return text;
  return OF_ACCOUNT.test(name) ? withKnownMasked(text, known) : withoutCardNumbers(text, known);
}

/** A number that the bank should have masked, in its own way. */
export function surelyMasked(text: string): string {
  return /\d{8}/.test(compactNumber(text)) ? maskedCardNumber(text) : text;
}

/** The numbers of cards that a request names whole. Shorter ones are none. */
export function cardNumbersIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'string' && OF_CARD.test(name) && /^[0-9A-Za-z]{8,}$/.test(value)
      ? [value]
      : cardNumbersIn(value),
  );
}
