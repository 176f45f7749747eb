import { SaxesParser, type SaxesTagNS } from 'saxes';
import { BATCH_FORMATS, type BatchFormat } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { type Collected, documentOf, type Placed } from './elements.ts';

/**
 * What an element has, by the paths in it: `CdtrAcct/Id/IBAN`, `Amt/InstdAmt/@Ccy`. A repeated element has several texts, and one
 * that holds other elements has none.
 */
export type Texts = Map<string, readonly string[]>;

/** An element whose texts are collected. */
export interface Collecting {
  path: string;
  texts: Texts;
  /** The lines of the file on which its elements begin, by their paths in it. It is at the path `''` itself. */
  lines: Map<string, number>;
}

/** The line of the file on which an element begins; for one that is missing, that of the nearest element around it. */
export function lineOf({ lines }: Pick<Collecting, 'lines'>, path: string): number {
  const line = lines.get(path);
  if (line !== undefined || path === '') return line ?? 1;
  return lineOf({ lines }, path.slice(0, Math.max(0, path.lastIndexOf('/'))));
}

/** What the walk over a document finds. */
export interface Visitor {
  format(format: BatchFormat): void;
  /** An element whose texts are collected begins: it has none yet. */
  begin(name: Collected, element: Collecting): void;
  /** It ends. */
  end(name: Collected, element: Collecting): void;
  /** @param path of the element that it is about. @param fileLine of the element */
  problem(severity: 'error' | 'warning', path: string, message: string, fileLine: number): void;
}

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:';
const INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** More characters than any text or tag of a payment has. */
const MAX_TEXT_LENGTH = 65_536;

/** Deeper than any element of pain.001. */
const DEEPEST = 64;

/** An open element. */
interface Open {
  placed: Placed;
  /** What collects its texts. */
  within: Collecting;
  /** How many `PmtInf` or `CdtTrfTxInf` it has had. */
  items: number;
  text: string;
}

/** Walks over a document, piece by piece. */
export interface Walk {
  /** @throws Psd2Error `usage` if it is not well-formed, has a DOCTYPE, or is not a pain.001 of {@link BATCH_FORMATS} */
  write(text: string): void;
  /** The document ends. @throws as `write` */
  close(): void;
}

/**
 * Reads the elements of pain.001 with a parser that knows no entities besides those of XML itself, and refuses what it does
 * not know.
 */
export function walkDocument(visitor: Visitor): Walk {
  const parser = new SaxesParser({ xmlns: true });
  // With more handlers than these, V8 makes the parser a dictionary, and it takes four times as long.
  const open: Open[] = [];
  let sinceEvent = 0;
  let namespace = '';
  const refuse = (what: string): never => {
    throw new Psd2Error('usage', `${what}, at line ${parser.line} of the file`, {
      hint: 'psd2 reads pain.001.001 of the versions 03 and 09 to 12, pain.001.002.03 and pain.001.003.03, without DOCTYPE and entities. It has stored nothing.',
    });
  };
  parser.on('error', ({ message }) =>
    refuse(`The XML is not well-formed: ${message.replace(/^[\d:]*\s*|\.$/g, '')}`),
  );
  parser.on('doctype', () => refuse('The XML has a DOCTYPE'));
  parser.on('opentag', (tag) => {
    sinceEvent = 0;
    if (open.length === DEEPEST) refuse(`The XML has more than ${DEEPEST} elements in one another`);
    const parent = open.at(-1);
    if (!parent) {
      refuseEncoding(parser.xmlDecl.encoding, refuse);
      namespace = tag.uri;
    }
    const { line } = parser;
    const element = parent ? opened(tag, line, namespace, parent, visitor) : root(tag, visitor, refuse);
    open.push(element);
    readAttributes(tag, line, element, visitor);
  });
  const onText = (text: string) => {
    sinceEvent = 0;
    const element = open.at(-1);
    if (element?.placed.rule.does === 'text') element.text += text;
    else if (element?.placed.rule.does === 'hold' && text.trim() !== '') {
      const message = 'The element has a text, where only elements belong';
      visitor.problem('error', elementPath(element), message, parser.line);
    }
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', () => {
    sinceEvent = 0;
    const element = open.pop();
    if (element) closed(element, visitor);
  });
  return {
    write(text) {
      for (let at = 0; at < text.length; at += MAX_TEXT_LENGTH) {
        const piece = text.slice(at, at + MAX_TEXT_LENGTH);
        sinceEvent += piece.length;
        parser.write(piece);
        if (sinceEvent > 2 * MAX_TEXT_LENGTH)
          refuse(`The XML has a text, a tag or comments of more than ${MAX_TEXT_LENGTH} characters`);
      }
    },
    close: () => void parser.close(),
  };
}

/** @throws Psd2Error `usage` if the file says that it is in another encoding than UTF-8, and not in one with the same ASCII */
function refuseEncoding(encoding: string | undefined, refuse: (what: string) => never): void {
  if (encoding !== undefined && !/^(utf-8|us-ascii|iso-8859-\d+|windows-125\d)$/i.test(encoding))
    refuse(`The XML has the encoding ${JSON.stringify(encoding)}, and not UTF-8`);
}

/** The root. @throws Psd2Error `usage` if it is not that of pain.001 */
function root(tag: SaxesTagNS, visitor: Visitor, refuse: (what: string) => never): Open {
  const format = formatOf(tag, refuse);
  visitor.format(format);
  return {
    placed: documentOf(format),
    within: { path: '', texts: new Map(), lines: new Map() },
    items: 0,
    text: '',
  };
}

/** What an element is, once its tag is read. @param line of the file. @param namespace that of pain.001 */
function opened(
  { local, uri }: SaxesTagNS,
  line: number,
  namespace: string,
  parent: Open,
  visitor: Visitor,
): Open {
  const problem = (severity: 'error' | 'warning', path: string, message: string) =>
    visitor.problem(severity, path, message, line);
  const above = parent.placed;
  const child = uri === namespace ? above.children.get(local) : undefined;
  const placed = child ?? (above.rule.does === 'hold' ? null : SKIPPED);
  const unknown = () => `${elementPath(parent)}/${local}`;
  if (above.rule.does === 'text') problem('error', unknown(), 'A text is expected here, and not an element');
  if (!placed) {
    const from =
      uri === namespace ? '' : ` of ${uri === '' ? 'no namespace' : `the namespace ${JSON.stringify(uri)}`}`;
    problem('error', unknown(), `psd2 does not know this element${from}`);
    return { placed: SKIPPED, within: parent.within, items: 0, text: '' };
  }
  const { rule, collects, at } = placed;
  const { within } = parent;
  const { texts, lines } = within;
  // What is skipped has no place of its own.
  if (at !== '') lines.set(at, line);
  if (!collects || collects === 'GrpHdr') {
    const isSeen = texts.has(collects ?? at);
    if (rule.does === 'hold') texts.set(collects ?? at, NO_TEXTS);
    if (isSeen && (rule.does === 'hold' || (rule.does === 'text' && !rule.isRepeated)))
      problem('error', unknown(), 'The element comes twice');
    if (rule.does === 'refuse') problem('error', unknown(), rule.why);
    if (rule.does === 'leave out') problem('warning', unknown(), `psd2 pays without ${rule.what}`);
  } else parent.items += 1;
  if (!collects) return { placed, within, items: 0, text: '' };

  const path = collects === 'GrpHdr' ? unknown() : `${unknown()}[${parent.items}]`;
  const collecting = { path, texts: new Map<string, readonly string[]>(), lines: new Map([['', line]]) };
  visitor.begin(collects, collecting);
  return { placed, within: collecting, items: 0, text: '' };
}

const NO_TEXTS: readonly string[] = [];

/** Elements in elements whose content psd2 does not read. */
const SKIPPED: Placed = { rule: { does: 'skip' }, at: '', collects: null, children: new Map() };

function elementPath({ placed: { at }, within: { path } }: Open): string {
  return at === '' ? path : `${path}/${at}`;
}

/** @throws Psd2Error `usage` */
function formatOf({ uri, local }: SaxesTagNS, refuse: (what: string) => never): BatchFormat {
  if (local !== 'Document')
    return refuse(`The XML begins with the element ${JSON.stringify(local)}, and not with Document`);
  const format = BATCH_FORMATS.find((each) => each !== 'csv' && uri === `${NAMESPACE}${each}`);
  if (format === undefined && uri === '') return refuse('The XML has no namespace');
  return format ?? refuse(`The XML has the namespace ${JSON.stringify(uri)}, which psd2 does not read`);
}

function readAttributes({ attributes }: SaxesTagNS, line: number, element: Open, visitor: Visitor): void {
  const { rule, at } = element.placed;
  if (rule.does !== 'text' && rule.does !== 'hold') return;
  for (const { local, prefix, uri, value } of Object.values(attributes)) {
    if (prefix === 'xmlns' || local === 'xmlns' || uri === INSTANCE) continue;
    if (rule.does === 'text' && rule.attribute === local && uri === '')
      element.within.texts.set(`${at}/@${local}`, [value]);
    else visitor.problem('error', elementPath(element), `psd2 does not know the attribute ${local}`, line);
  }
}

function closed({ placed: { rule, at, collects }, within, text }: Open, visitor: Visitor): void {
  const { texts } = within;
  if (rule.does === 'text') texts.set(at, [...(texts.get(at) ?? NO_TEXTS), text.trim()]);
  if (collects) visitor.end(collects, within);
}
