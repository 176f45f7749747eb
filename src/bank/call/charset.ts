import { isAscii, isUtf8 } from 'node:buffer';
import type { WireAnswer } from '../transport/line.ts';

/** The charsets that banks use. In practice, every name of Latin-1 means windows-1252 (Encoding Standard, section 4.2). */
const CHARSETS: ReadonlyMap<string, string> = new Map([
  ...(['utf-8', 'utf8'] as const).map((name) => [name, 'utf-8'] as const),
  ...(['iso-8859-1', 'iso8859-1', 'latin1', 'windows-1252', 'cp1252'] as const).map(
    (name) => [name, 'windows-1252'] as const,
  ),
  ...(['iso-8859-15', 'iso8859-15', 'latin9'] as const).map((name) => [name, 'iso-8859-15'] as const),
]);

/** An answer as text. */
export interface AnswerText {
  /** Has no U+FFFD that the bank did not send. If there is a problem, its letters beyond ASCII are guessed. */
  text: string;
  /** Why the bytes are not the text that they claim to be, after "The bank's answer". Null: they are. */
  problem: string | null;
}

/** Decodes an answer by the charset of its `Content-Type`, else of its XML declaration, else as UTF-8 (RFC 8259, section 8.1). */
export function answerText({ headers, body }: Pick<WireAnswer, 'headers' | 'body'>): AnswerText {
  if (isAscii(body)) return { text: body.toString('latin1'), problem: null };
  const declared = charsetIn(headers['content-type'] ?? '', body);
  const charset = declared === undefined ? 'utf-8' : CHARSETS.get(declared);
  const text = inCharset(body, charset ?? 'windows-1252');
  if (charset === undefined)
    return { text, problem: `is in the charset ${declared}, which psd2 does not know` };
  // Text in another charset is almost never valid UTF-8 too. windows-1252 does not use five of its bytes.
  const isText = charset === 'utf-8' ? isUtf8(body) : !isUtf8(body) && !/[\u0080-\u009f]/.test(text);
  if (isText) return { text, problem: null };
  return {
    text: inCharset(body, 'windows-1252'),
    problem:
      declared === undefined
        ? 'is not UTF-8, and declares no other charset'
        : `is not in the charset ${declared}, which it declares`,
  };
}

/** The characters of windows-1252 from 0x80 on. Not every Node.js decodes them. */
const FROM_80 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

function inCharset(body: Buffer, charset: string): string {
  if (charset !== 'windows-1252') return new TextDecoder(charset).decode(body);
  return body
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (each) => FROM_80.charAt(each.charCodeAt(0) - 0x80));
}

function charsetIn(type: string, body: Buffer): string | undefined {
  const declared = /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(type)?.[1];
  const start = declared === undefined ? body.subarray(0, 100).toString('latin1') : '';
  const named = declared ?? /^\s*<\?xml[^>]*\sencoding=["']([\w.:-]+)/.exec(start)?.[1];
  return named?.slice(0, 40).toLowerCase();
}
