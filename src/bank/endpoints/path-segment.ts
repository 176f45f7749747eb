/** Encodes any text as one segment of a path. An unpaired surrogate cannot be encoded and becomes U+FFFD. */
export function pathSegment(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\u{FFFD}'));
}
