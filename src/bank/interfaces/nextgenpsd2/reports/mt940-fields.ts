/** A tag with its lines: `:61:2611260…`. */
export interface Field {
  tag: string;
  lines: string[];
  /** The line on which it begins. */
  line: number;
}

/** More lines than a field has in the standard (`:86:` has six, and banks write more). */
const MAX_LINES = 100;
/** The longest line of `:86:` (SWIFT, `6*65x`). */
export const LINE = 65;
/** Some banks count the tag to the first line. */
export const TAG = ':86:'.length;

/** The tags of MT940 and MT942, and the one for text outside of SWIFT. */
const KNOWN = /^(?:20|21|25P?|28C?|13D?|34F|60[FM]|61|86|62[FM]|64|65|90[CD]|NS)$/;
/** Any tag. Banks have some of their own. */
const ANY = /^:([0-9A-Z]{2,4}):(.*)$/s;

/**
 * The fields of all messages, without what frames these: what stands before the first `:20:`, between the end of a message and
 * the next `:20:`, blocks (`{1:…}`, `-}`), `:940:`, and the characters 01 and 03. A field whose tag psd2 does not know is one of its own.
 *
 * @param refuse what to throw: the sentence, and the line
 */
export function* fieldsOf(text: string, refuse: (what: string, line: number) => never): Generator<Field> {
  let field: Field | undefined;
  /** The lines since one that is `-`: it ends a message, or is part of a text. */
  let dashed: string[] = [];
  /** Where text stands that is a frame if a message begins or none follows. */
  let frame: number | undefined;
  let isFramed = /^:20:/m.test(text);
  for (const { content, line } of linesOfMessage(text)) {
    const [, tag, value = ''] = ANY.exec(content) ?? [];
    if (isFramed) {
      if (tag === '61' || tag === '86') refuse(`A field :${tag}: stands before the first :20:`, line);
      if (tag !== '20') continue;
      isFramed = false;
    }
    if (isFrame(content) || tag === '940' || tag === '942') {
      if (field) yield field;
      field = undefined;
      dashed = [];
    } else if (tag !== undefined && !goesOn(field, content, tag)) {
      if (frame !== undefined && tag !== '20') refuse('The text is not part of a field', frame);
      frame = undefined;
      if (field && dashed.length > 1 && tag !== '20') field.lines.push(...dashed);
      dashed = [];
      if (field) yield field;
      field = { tag, lines: [value], line };
    } else if (content.trim() === '') continue;
    else if (!field) frame ??= line;
    else if (content === '-' || dashed.length > 0) dashed.push(content);
    else field.lines.push(content);
    if ((field?.lines.length ?? 0) + dashed.length > MAX_LINES)
      refuse(`A field has more than ${MAX_LINES} lines`, line);
  }
  if (field) yield field;
}

/** The lines without the characters that frame a message. A tag that was broken after its colon is whole. */
function* linesOfMessage(text: string): Generator<{ content: string; line: number }> {
  let line = 0;
  let colon = false;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const written: string = text
      .slice(at, end === -1 ? undefined : end)
      .replace(/\r$/, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
      .replace(/^[\u0001\u0002]+|[\u0003\u0004]+$/g, '');
    at = end === -1 ? text.length : end + 1;
    line += 1;
    const content: string = colon && /^\d{2}[A-Z]?:/.test(written) ? `:${written}` : written;
    if (colon && content === written) yield { content: ':', line: line - 1 };
    colon = content.trim() === ':';
    if (!colon) yield { content, line };
  }
}

/** `-}{1:…`, `}`, `{4:`. */
function isFrame(content: string): boolean {
  return /^(?:-?\}|\{)/.test(content);
}

/** Whether a line of `:86:` goes on in one that only looks like a tag: it was full, or a time was broken (`T16`, `:26:37`). */
function goesOn(field: Field | undefined, content: string, tag: string): boolean {
  const last = field?.lines.at(-1);
  if (field?.tag !== '86' || last === undefined) return false;
  if (/T\d\d$/.test(last) && /^:[0-5]\d:[0-5]\d(?!\d)/.test(content)) return true;
  return !KNOWN.test(tag) && last.length >= LINE - (field.lines.length === 1 ? TAG : 0);
}
