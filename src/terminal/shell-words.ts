import { Psd2Error } from '../errors.ts';

const DOUBLE_QUOTED_ESCAPES = new Set(['"', '\\', '$', '`']);

/**
 * Splits a command as a POSIX shell splits words (XCU section 2.2): spaces separate, `'…'` keeps everything, `"…"` keeps
 * spaces, a backslash keeps the next character. Nothing is expanded, and no character is an operator. On Windows a
 * backslash is a plain character, as paths need it.
 *
 * @param setting names the setting in the error
 * @throws Psd2Error `config` if a quote is not closed
 */
export function shellWords(command: string, setting: string, platform: string = process.platform): string[] {
  const backslashEscapes = platform !== 'win32';
  const words: string[] = [];
  let word: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let at = 0; at < command.length; at++) {
    const char = command.charAt(at);
    const next = command.charAt(at + 1);
    if (quote === undefined && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (quote === undefined && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (char === quote) {
      quote = undefined;
    } else if (char === '\\' && backslashEscapes && escapes(quote, next)) {
      word = (word ?? '') + next;
      at++;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== undefined)
    throw new Psd2Error('config', `A quote is not closed in ${setting}`, {
      hint: 'Write it as in a shell, for example: firefox --profile "my profile".',
    });
  if (word !== undefined) words.push(word);
  return words;
}

function escapes(quote: '"' | "'" | undefined, next: string): boolean {
  if (next === '' || quote === "'") return false;
  return quote === undefined || DOUBLE_QUOTED_ESCAPES.has(next);
}
