/**
 * Reads JSON without losing a digit: a number that a double can't hold exactly (the bank sends a
 * `requestId` of 24 digits as a bare number), or that has decimals, comes back as the text that was sent.
 *
 * @throws SyntaxError when `text` is not JSON, or nested so deep that working on it would overflow the stack
 */
export async function parseJson(text: string): Promise<unknown> {
  if (isNestedDeeperThan(DEEPEST, text)) throw new SyntaxError(`nested deeper than ${DEEPEST} levels`);
  // Most answers hold small whole numbers only, and need no second parser.
  if (!/[:[,\s]-?(?:\d{16,}|\d+[.eE])/.test(text)) return JSON.parse(text);
  const { parse, isSafeNumber, isInteger } = await import('lossless-json');
  return parse(text, null, (digits) => (isInteger(digits) && isSafeNumber(digits) ? Number(digits) : digits));
}

/** The bank's answers have less than ten levels. */
const DEEPEST = 200;

const [QUOTE, BACKSLASH, BRACKET, CLOSING_BRACKET, BRACE, CLOSING_BRACE] = [34, 92, 91, 93, 123, 125];

/** Whether brackets outside of strings are open more than `limit` times at once. */
function isNestedDeeperThan(limit: number, text: string): boolean {
  if (!hasMoreThan(limit, text)) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) inString = !inString;
    else if (inString) {
      if (character === BACKSLASH) at += 1;
    } else if (character === BRACKET || character === BRACE) {
      depth += 1;
      if (depth > limit) return true;
    } else if (character === CLOSING_BRACKET || character === CLOSING_BRACE) depth -= 1;
  }
  return false;
}

/** Whether there are more than `limit` opening brackets at all: most answers have fewer. */
function hasMoreThan(limit: number, text: string): boolean {
  let count = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > limit) return true;
    }
  }
  return false;
}
