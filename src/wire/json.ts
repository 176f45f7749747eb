/**
 * Reads JSON without losing a digit: a number that a double can't hold exactly (the bank sends a
 * `requestId` of 24 digits as a bare number), or that has decimals, comes back as the text that was sent.
 *
 * @throws SyntaxError when `text` is not JSON
 */
export async function parseJson(text: string): Promise<unknown> {
  // Most answers hold small whole numbers only, and need no second parser.
  if (!/[:[,\s]-?(?:\d{16,}|\d+[.eE])/.test(text)) return JSON.parse(text);
  const { parse, isSafeNumber, isInteger } = await import('lossless-json');
  return parse(text, null, (digits) => (isInteger(digits) && isSafeNumber(digits) ? Number(digits) : digits));
}
