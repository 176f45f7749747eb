/**
 * Text for a terminal: control and escape characters, and those that turn the direction of writing, are
 * replaced, so that what a bank sends can't move the cursor or hide what it says. A line break becomes a blank.
 */
export function cleanText(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').replace(UNSAFE, '\u{FFFD}');
}

/** JSON as it may go to a terminal: what JSON leaves unescaped and a terminal acts on is written `\uXXXX`. */
export function cleanJson(json: string): string {
  return json.replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
