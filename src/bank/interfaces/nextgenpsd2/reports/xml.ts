import { SaxesParser } from 'saxes';
import type { Refuse } from './report.ts';

/** The beginning of an element. `name` has the prefix. */
export interface XmlTag {
  name: string;
  attributes: Record<string, string>;
}

/** Gets the elements of a document in their order. */
export interface XmlHandler {
  open(tag: XmlTag): void;
  /** @param piece of a text, which may come in several */
  text(piece: string): void;
  close(): void;
}

/** What the parser gets at a time, and more than any text or tag of a report has. */
const PIECE = 65_536;

/**
 * Reads XML 1.0 without a DOCTYPE and without entities other than those of XML itself. A plain document is read by the fast way. Any
 * other one, and one that is refused, is read by a parser that knows all of XML, and the place of what is wrong.
 *
 * @param handlerWith makes the handler of a reading. Its argument refuses the document
 * @param fail what to throw: the sentence has the place
 */
export function readXml<Handler extends XmlHandler>(
  text: string,
  handlerWith: (refuse: Refuse) => Handler,
  fail: (what: string) => never,
): Handler {
  return readPlainXml(text, handlerWith) ?? readAnyXml(text, handlerWith, fail);
}

/** @throws what `fail` throws if the document is not well-formed, has a DOCTYPE or a very long text, or is refused by its handler */
export function readAnyXml<Handler extends XmlHandler>(
  text: string,
  handlerWith: (refuse: Refuse) => Handler,
  fail: (what: string) => never,
): Handler {
  const parser = new SaxesParser({ xmlns: false });
  const refuse: Refuse = (what) => fail(`${what}, at line ${parser.line}, column ${parser.column}`);
  const handler = handlerWith(refuse);
  let sinceEvent = 0;
  // With more handlers than these, V8 makes the parser a dictionary, and it takes four times as long.
  parser.on('error', ({ message }) =>
    refuse(`The XML is not well-formed: ${message.replace(/^[\d:]*\s*|\.$/g, '')}`),
  );
  parser.on('doctype', () => refuse('The XML has a DOCTYPE'));
  parser.on('opentag', (tag) => {
    sinceEvent = 0;
    handler.open(tag);
  });
  const onText = (piece: string) => {
    sinceEvent = 0;
    handler.text(piece);
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', () => {
    sinceEvent = 0;
    handler.close();
  });
  for (let at = 0; at < text.length; at += PIECE) {
    const piece = text.slice(at, at + PIECE);
    sinceEvent += piece.length;
    parser.write(piece);
    if (sinceEvent > 2 * PIECE)
      refuse(`The XML has a text, a tag or comments of more than ${PIECE} characters`);
  }
  parser.close();
  return handler;
}

const DECLARATION =
  /^<\?xml version="1\.0"(?: encoding="[A-Za-z][\w.-]*")?(?: standalone="(?:yes|no)")?[ \n]*\?>/;
/** Characters that XML forbids or changes, and halves of a character. */
const NOT_PLAIN = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD]/;
/** What is between `<` and `>`. */
const TAG = /^([A-Z_][\w.-]*(?::[A-Z_][\w.-]*)?)((?:[ \n]+[A-Z_][\w.:-]*="[^"<&\t\n]*")*)[ \n]*(\/?)$/i;
const ATTRIBUTE = /([\w.:-]+)="([^"]*)"/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const ENTITY = /&(amp|lt|gt|quot|apos);/g;
const OTHER_ENTITY = /&(?!(?:amp|lt|gt|quot|apos);)/;
/** More different tags, with their attributes, than a report has. */
const MOST_TAGS = 1000;

class NotPlain extends Error {}

/**
 * Reads a document of elements with ASCII names and quoted attributes, and of texts: nearly all reports are. A program writes the
 * same few tags again and again, so each is parsed once.
 *
 * @returns null unless the document is plain and well-formed, and its handler takes it
 */
export function readPlainXml<Handler extends XmlHandler>(
  text: string,
  handlerWith: (refuse: Refuse) => Handler,
): Handler | null {
  if (NOT_PLAIN.test(text) || text.includes(']]>')) return null;
  const giveUp = () => {
    throw new NotPlain();
  };
  try {
    const handler = handlerWith(giveUp);
    walkXml(text, handler, giveUp);
    return handler;
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

function walkXml(text: string, handler: XmlHandler, giveUp: () => never): void {
  const tags = new Map<string, PlainTag>();
  const open: string[] = [];
  let at = DECLARATION.exec(text)?.[0].length ?? 0;
  let isBefore = true;
  for (;;) {
    const start = text.indexOf('<', at);
    const content = text.slice(at, start === -1 ? text.length : start);
    if (content.length > PIECE) giveUp();
    if (open.length === 0) {
      if (!/^[ \t\n]*$/.test(content)) giveUp();
    } else if (content !== '') handler.text(withEntities(content, giveUp));
    if (start === -1) break;
    const end = text.indexOf('>', start);
    if (end === -1 || end - start > PIECE) giveUp();
    at = end + 1;
    if (text.startsWith('/', start + 1)) {
      if (text.slice(start + 2, end) !== open.pop()) giveUp();
      handler.close();
      continue;
    }
    if (open.length === 0 && !isBefore) giveUp();
    isBefore = false;
    const inside = text.slice(start + 1, end);
    const tag = tags.get(inside) ?? tagIn(inside) ?? giveUp();
    if (tags.size < MOST_TAGS) tags.set(inside, tag);
    handler.open(tag);
    if (tag.isEmpty) handler.close();
    else open.push(tag.name);
  }
  if (isBefore || open.length > 0) giveUp();
}

interface PlainTag extends XmlTag {
  /** It has no content, and no closing tag. */
  isEmpty: boolean;
}

function tagIn(inside: string): PlainTag | null {
  const [, name, attributes = '', slash] = TAG.exec(inside) ?? [];
  if (name === undefined) return null;
  const all = [...attributes.matchAll(ATTRIBUTE)].map(([, key = '', value = '']) => [key, value] as const);
  const isDoubled = new Set(all.map(([key]) => key)).size < all.length;
  return isDoubled ? null : { name, attributes: Object.fromEntries(all), isEmpty: slash === '/' };
}

function withEntities(content: string, giveUp: () => never): string {
  if (!content.includes('&')) return content;
  if (OTHER_ENTITY.test(content)) giveUp();
  return content.replace(ENTITY, (all, name: string) => ENTITIES[name] ?? all);
}
