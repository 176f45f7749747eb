/** Quotes by their number: libofx knows no `&quot;`. */
const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/** Text as XML or HTML carries it, in elements and in attributes. */
export function escaped(text: string): string {
  return withoutIllegal(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Without the characters that XML 1.0 (section 2.2) can't carry, and without control characters. */
function withoutIllegal(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ').replace(/[\p{Cc}\p{Cs}\u{fffe}\u{ffff}]/gu, '\u{fffd}');
}

/** The text cut to as many characters; none is cut in two. Blanks at the ends are left out. */
export function cut(text: string, most: number): string {
  return [...text.replace(/\s+/g, ' ').trim()].slice(0, most).join('').trim();
}

/** An element with text; nothing where there is none. */
export function element(name: string, text: string | null | undefined): string {
  return text ? `<${name}>${escaped(text)}</${name}>` : '';
}
