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

/** What may stand between two digits of a number: up to three signs, also as in an address (RFC 3986, section 2.1). */
const SEPARATOR = '(?:%(?:25)*[0-9a-f]{2}|[^\\p{L}\\p{N}%\\r\\n]){1,3}';
const DIGITS = new RegExp(`\\d+(?:${SEPARATOR}\\d+)*`, 'giu');
const GROUP = new RegExp(`(\\d+)(${SEPARATOR})?`, 'giuy');

/** An id in hexadecimal, which may have as many digits. */
const HEXADECIMAL =
  /(?<![0-9a-z])(?=[0-9-]*[a-f])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{24,})(?![0-9a-z])/gi;

/** A piece of digits, and what stands between it and the next one. */
interface Group {
  digits: string;
  separator: string;
}

/**
 * A text in which whole numbers of cards are masked.
 *
 * @param cards numbers of cards without blanks, whatever their check digits say
 */
export function withoutCardNumbers(text: string, cards: readonly string[] = []): string {
  const others = withKnownMasked(text, cards);
  if (!/(?:\d\D*){12}/.test(others)) return others;
  let from = 0;
  let shown = '';
  for (const id of others.matchAll(HEXADECIMAL)) {
    shown += masked(others.slice(from, id.index)) + id[0];
    from = id.index + id[0].length;
  }
  return shown + masked(others.slice(from));
}

function masked(text: string): string {
  return text.replace(DIGITS, (digits, index: number) =>
    isOfIban(text.slice(0, index)) ? digits : maskedGroups(digitGroups(digits)),
  );
}

/** Whether the digits after a text are those of an IBAN: after the two letters of a country. */
function isOfIban(before: string): boolean {
  return /(?<![\p{L}\p{N}])[A-Z]{2}$/iu.test(before.slice(-3));
}

function digitGroups(text: string): Group[] {
  return [...text.matchAll(GROUP)].map(([, digits = '', separator = '']) => ({ digits, separator }));
}

/** The groups as one text, with the number of a card masked. The longest number that begins first counts. */
function maskedGroups(groups: readonly Group[]): string {
  let shown = '';
  for (let at = 0; at < groups.length; ) {
    const card = cardAt(groups, at);
    const numbered = groups.slice(at, at + Math.max(1, card));
    const digits = numbered.map((group) => group.digits).join('');
    shown += (card > 0 ? maskedCardNumber(digits) : digits) + (numbered.at(-1)?.separator ?? '');
    at += numbered.length;
  }
  return shown;
}

/** How many groups from a place on are the number of a card. 0: none. */
function cardAt(groups: readonly Group[], at: number): number {
  let length = 0;
  let most = 0;
  for (let end = at; end < groups.length; end += 1) {
    length += groups[end]?.digits.length ?? 0;
    if (length > MOST_DIGITS) break;
    const card = groups.slice(at, end + 1);
    const isAlone =
      isApart(card, groups[at - 1], groups[at - 1]) && isApart(card, groups[end + 1], card.at(-1));
    if (length >= LEAST_DIGITS && isAlone && areOfCard(card)) most = card.length;
  }
  return most;
}
const LEAST_DIGITS = 12;
const MOST_DIGITS = 19;

/**
 * Whether groups are no part of a longer number: beside them is a day, a year or a short number, or another sign than between them.
 *
 * @param beside the group before or after them
 * @param between the group before that sign
 */
function isApart(card: readonly Group[], beside: Group | undefined, between: Group | undefined): boolean {
  if (beside === undefined || /^(\d{1,2}|(19|20)\d{2})$/.test(beside.digits)) return true;
  return !card.slice(0, -1).some(({ separator }) => separator === between?.separator);
}

/** Whether groups are those of a card, and pass its check digit. */
function areOfCard(groups: readonly Group[]): boolean {
  const sizes = groups.map(({ digits }) => digits.length);
  const number = groups.map(({ digits }) => digits).join('');
  const [first = 0, ...others] = sizes;
  const last = others.at(-1) ?? 0;
  const areEqual = others.slice(0, -1).every((size) => size === first) && last <= first;
  const isUniform = new Set(groups.slice(0, -1).map(({ separator }) => separator)).size <= 1;
  const isUsual = areEqual && (first === 4 || isUniform);
  const isOfNetwork = number.length === 16 || /^3[47]\d{13}$/.test(number) || /^4,6,[45]$/.test(sizes.join());
  return (isUsual || isOfNetwork) && passesCheck(number);
}

function withKnownMasked(text: string, cards: readonly string[]): string {
  return cards.reduce(
    (rest, number) =>
      rest.replace(new RegExp([...number].join(`(?:${SEPARATOR})?`), 'giu'), () => maskedCardNumber(number)),
    text,
  );
}

/** Whether the first digit is one of banks, and the check digit is right (Luhn). Many a time begins with 20. */
function passesCheck(digits: string): boolean {
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
 * @param cards see {@link withoutCardNumbers}
 */
export function maskedJson(value: unknown, cards: readonly string[] = [], name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => maskedJson(each, cards, name));
  if (typeof value === 'object' && value !== null) return maskedMembers(value, cards, name);
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = String(value);
  const masked = maskedText(name, text, cards);
  return masked === text ? value : masked;
}

/** As {@link maskedJson}, for an object. */
export function maskedMembers(
  members: object,
  cards: readonly string[] = [],
  name = '',
): Record<string, unknown> {
  const masked = Object.entries(members).map(([key, each]: [string, unknown]) => [
    withoutCardNumbers(key, cards),
    maskedJson(each, cards, OF_CARD.test(name) ? name : key),
  ]);
  return Object.fromEntries(masked);
}

function maskedText(name: string, text: string, cards: readonly string[]): string {
  if (OF_CARD.test(name)) return /mask/i.test(name) ? surelyMasked(text) : maskedCardNumber(text);
  if (OF_ID.test(name)) return text;
  return OF_ACCOUNT.test(name) ? withKnownMasked(text, cards) : withoutCardNumbers(text, cards);
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
