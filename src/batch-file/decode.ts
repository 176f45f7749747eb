import { TextDecoder } from 'node:util';
import { Psd2Error } from '../errors.ts';

/**
 * The text of a file in UTF-8, without its byte order mark, as it arrives.
 *
 * @throws Psd2Error `usage` if the file is in another encoding, which the message names if it is known
 */
export async function* decodeUtf8(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // It removes the byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let lines = 1;
  let isFirst = true;
  for await (const chunk of bytes) {
    if (isFirst && chunk.length > 0) {
      refuseOtherKinds(chunk);
      isFirst = false;
    }
    const text = decodeOrRefuse(decoder, chunk, lines);
    lines += countBreaks(text);
    yield text;
  }
  decodeOrRefuse(decoder, undefined, lines);
}

function decodeOrRefuse(decoder: TextDecoder, chunk: Uint8Array | undefined, line: number): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch (cause) {
    const good = chunk ? new TextDecoder().decode(chunk).split('\u{fffd}')[0] : '';
    throw new Psd2Error('usage', `The file is not UTF-8: see line ${line + countBreaks(good ?? '')}`, {
      hint: 'Save it as "CSV UTF-8", or as XML in UTF-8.',
      cause,
    });
  }
}

/** @throws Psd2Error `usage` if the first bytes are those of UTF-16, a workbook or a PDF */
function refuseOtherKinds([first = 0x20, second = 0x20]: Uint8Array): void {
  const refuse = (what: string) => {
    throw new Psd2Error('usage', `The file is ${what}`, {
      hint: 'psd2 reads CSV and pain.001 (XML), in UTF-8. In a spreadsheet, save the file as "CSV UTF-8".',
    });
  };
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16 || first === 0 || second === 0) refuse('in UTF-16, and not in UTF-8');
  if (first === 0x50 && second === 0x4b) refuse('a workbook or an archive, and not CSV');
  if (first === 0x25 && second === 0x50) refuse('a PDF, and not CSV');
}

function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** A text with its beginning, which was read before. */
export async function* joined(begin: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield begin;
  yield* rest;
}
