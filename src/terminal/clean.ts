/**
 * Makes text from the bank safe for a terminal: it cannot move the cursor, forge a column or a line, or hide a part of
 * itself. Line breaks, tabs and other separators become a blank. Other invisible characters (controls, escapes, halves of
 * a character, characters without a width or that change the direction of writing) are replaced.
 */
export function cleanText(text: string): string {
  // V8 builds the classes of Unicode when they are first needed, and most commands print none of them.
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(/[\r\n\t\p{Zl}\p{Zp}]+/gu, ' ').replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '\u{FFFD}');
}

/** Text of many lines, with {@link cleanText} applied to each. */
export function cleanLines(text: string): string {
  return text.split('\n').map(cleanText).join('\n');
}

/** Makes JSON safe for a terminal: characters that a terminal acts on and JSON does not escape become `\uXXXX`. */
export function cleanJson(json: string): string {
  // Line breaks separate the parts of JSON. Within strings they are escaped.
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
