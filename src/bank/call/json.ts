/**
 * Parses JSON and keeps all digits. A number that a double can't hold exactly (the bank sends a `requestId` of 24 digits as a
 * bare number), or that has decimals, becomes a string with the digits as sent.
 *
 * @throws SyntaxError if `text` is not JSON, or is nested so deep that it could overflow the stack
 */
export async function parseJson(text: string): Promise<unknown> {
  // An account report in XML can be long, and what follows looks at all of it.
  if (text.startsWith('<')) throw new SyntaxError('it begins as XML does');
  if (isNestedDeeperThan(DEEPEST, text)) throw new SyntaxError(`nested deeper than ${DEEPEST} levels`);
  const usual = text.replace(REQUEST_ID, '$1"$2"');
  // The parser that keeps digits takes six times as long as JSON.parse.
  if (!LOSABLE_NUMBER.test(usual)) return JSON.parse(usual);
  const { parse, isSafeNumber, isInteger } = await import('lossless-json');
  return parse(text, null, (digits) => (isInteger(digits) && isSafeNumber(digits) ? Number(digits) : digits));
}

/** Each answer of the bank has one. Inside a string the quotes would be escaped, so this matches only the member. */
const REQUEST_ID = /("requestId"\s*:\s*)([1-9]\d{15,})(?=\s*[,}])/g;
/** Matches a number with many digits or decimals. A false match inside a string does no harm. */
const LOSABLE_NUMBER = /(?:^|[:[,])\s*-?(?:\d{16,}|\d+[.eE][\d+.eE-]*)\s*(?:[,\]}]|$)/;

/** The bank's answers have fewer than ten levels. */
const DEEPEST = 200;

const [QUOTE, BACKSLASH, BRACKET, CLOSING_BRACKET, BRACE, CLOSING_BRACE] = [34, 92, 91, 93, 123, 125];

/** Whether brackets outside strings are nested deeper than `limit`. */
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

/** Whether the text has more than `limit` opening brackets. A quick check, because most answers have fewer. */
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
