/** Quotes as numeric entities, because libofx does not know `&quot;`. */
const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/** Escapes a text for elements and attributes of XML and HTML. */
export function escaped(text: string): string {
  return withoutIllegal(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Replaces control characters, and characters that XML 1.0 (section 2.2) does not allow. */
function withoutIllegal(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ').replace(/[\p{Cc}\p{Cs}\u{fffe}\u{ffff}]/gu, '\u{fffd}');
}

/** Shortens a text to at most `max` whole characters. Removes spaces at both ends. */
export function cut(text: string, max: number): string {
  return [...text.replace(/\s+/g, ' ').trim()].slice(0, max).join('').trim();
}

/** An element with text, or `''` if there is no text. */
export function element(name: string, text: string | null | undefined): string {
  return text ? `<${name}>${escaped(text)}</${name}>` : '';
}
