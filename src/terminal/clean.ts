/**
 * Text for a terminal: what a bank sends can't move the cursor, forge a column or a line, or hide what it says.
 * Line breaks, tabs and what else separates lines become a blank; other characters that are not seen (controls,
 * escapes, those that turn the direction of writing or have no width, halves of a character) are replaced.
 */
export function cleanText(text: string): string {
  return text.replace(SEPARATORS, ' ').replace(UNSEEN, '\u{FFFD}');
}

/** Text of many lines, each as {@link cleanText} has it. */
export function cleanLines(text: string): string {
  return text.split('\n').map(cleanText).join('\n');
}

/** JSON as it may go to a terminal: what JSON leaves unescaped and a terminal acts on is written `\uXXXX`. */
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
// Line breaks stand between the parts of JSON; within its texts they are escaped.
const UNSEEN_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
