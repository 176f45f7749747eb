/**
 * Makes text from the bank safe for a terminal: it cannot move the cursor, forge a column or a line, or hide a part of
 * itself. Line breaks, tabs and other separators become a blank. Other invisible characters (controls, escapes, halves of
 * a character, characters without a width or that change the direction of writing) are replaced.
 */
export function cleanText(text: string): string {
  return text.replace(SEPARATORS, ' ').replace(UNSEEN, '\u{FFFD}');
}

/** Text of many lines, with {@link cleanText} applied to each. */
export function cleanLines(text: string): string {
  return text.split('\n').map(cleanText).join('\n');
}

/** Makes JSON safe for a terminal: characters that a terminal acts on and JSON does not escape become `\uXXXX`. */
export function cleanJson(json: string): string {
  return json.replace(UNSEEN_IN_JSON, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const SEPARATORS = /[\r\n\t\p{Zl}\p{Zp}]+/gu;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/gu;
// Line breaks separate the parts of JSON. Within strings they are escaped.
const UNSEEN_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
