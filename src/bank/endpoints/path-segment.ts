/** Text of any kind as one segment of a path; half of a surrogate pair, which has no encoding, becomes U+FFFD. */
export function pathSegment(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\u{FFFD}'));
}
