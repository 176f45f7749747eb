/**
 * The URL that a text is, or undefined. Once it is optimised, `URL.canParse` of Node.js 20 refuses letters such as the ä of
 * `https://bänk.example`.
 *
 * @param base the URL to which a relative one belongs
 */
export function urlFrom(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
