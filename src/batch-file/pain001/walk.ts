import { SaxesParser, type SaxesTagNS } from 'saxes';
import { BATCH_FORMATS, type BatchFormat } from '../../domain/batch/line.ts';
import { Psd2Error } from '../../errors.ts';
import { documentOf, type Rule } from './elements.ts';

/** The texts in an element, by their paths in it: `CdtrAcct/Id/IBAN`, `Amt/InstdAmt/@Ccy`. Repeated ones have several texts. */
export type Texts = Map<string, string[]>;

/** What the walk over a document finds. */
export interface Visitor {
  format(format: BatchFormat): void;
  /** An element whose texts are collected begins. @param texts those that have come so far: none yet */
  begin(name: Collected, path: string, texts: Texts): void;
  /** It ends. */
  end(name: Collected, path: string, texts: Texts): void;
  /** @param path of the element that it is about */
  problem(severity: 'error' | 'warning', path: string, message: string): void;
}

/** The elements whose texts are collected. Each of them is complete before the next payment begins. */
const COLLECTED = ['GrpHdr', 'PmtInf', 'CdtTrfTxInf'] as const;
export type Collected = (typeof COLLECTED)[number];

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:';
const INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** More characters than any text or tag of a payment has. */
const LONGEST_TEXT = 65_536;

/** Deeper than any element of pain.001. */
const DEEPEST = 64;

/** An open element. */
interface Open {
  name: string;
  path: string;
  rule: Rule;
  /** How many children of each name it has had. */
  counts: Map<string, number>;
  /** The element whose texts are collected, if it is in one. */
  within: { path: string; texts: Texts } | null;
  text: string;
}

/** Walks over a document, piece by piece. */
export interface Walk {
  /** @throws Psd2Error `usage` if it is not well-formed, has a DOCTYPE, or is not pain.001.001.03 or .09 */
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
  const open: Open[] = [];
  let sinceEvent = 0;
  const refuse = (what: string): never => {
    throw new Psd2Error('usage', `${what}, at line ${parser.line} of the file`, {
      hint: 'psd2 reads pain.001.001.03 and pain.001.001.09, without DOCTYPE and entities. It has stored nothing.',
    });
  };
  parser.on('error', ({ message }) =>
    refuse(`The XML is not well-formed: ${message.replace(/^[\d:]*\s*/, '')}`),
  );
  parser.on('xmldecl', ({ encoding }) => {
    // All of these have ASCII in common, and the file is UTF-8.
    if (encoding !== undefined && !/^(utf-8|us-ascii|iso-8859-\d+|windows-125\d)$/i.test(encoding))
      refuse(`The XML has the encoding ${JSON.stringify(encoding)}, and not UTF-8`);
  });
  parser.on('doctype', () => refuse('The XML has a DOCTYPE'));
  parser.on('processinginstruction', () => refuse('The XML has a processing instruction'));
  parser.on('opentag', (tag) => {
    sinceEvent = 0;
    if (open.length === DEEPEST) refuse(`The XML has more than ${DEEPEST} elements in one another`);
    const parent = open.at(-1);
    if (parent) open.push(opened(tag, parent, visitor));
    else {
      const format = formatOf(tag, refuse);
      visitor.format(format);
      const root: Open = {
        ...EMPTY,
        name: tag.local,
        path: `/${tag.local}`,
        rule: documentOf(format),
        counts: new Map(),
      };
      open.push(root);
      readAttributes(tag, root, visitor);
    }
  });
  const onText = (text: string) => {
    sinceEvent = 0;
    const element = open.at(-1);
    if (element?.rule.does === 'text') element.text += text;
    else if (element?.rule.does === 'hold' && text.trim() !== '')
      visitor.problem('error', element.path, 'The element has a text, where only elements belong');
  };
  parser.on('comment', () => {
    sinceEvent = 0;
  });
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', () => {
    sinceEvent = 0;
    const element = open.pop();
    if (element) closed(element, visitor);
  });
  return {
    write(text) {
      for (let at = 0; at < text.length; at += LONGEST_TEXT) {
        const piece = text.slice(at, at + LONGEST_TEXT);
        sinceEvent += piece.length;
        parser.write(piece);
        if (sinceEvent > 2 * LONGEST_TEXT)
          refuse(`The XML has a text, tag or comment of more than ${LONGEST_TEXT} characters`);
      }
    },
    close: () => void parser.close(),
  };
}

const EMPTY = { within: null, text: '' };

/** What an element is, once its tag is read. */
function opened(tag: SaxesTagNS, parent: Open, visitor: Visitor): Open {
  const { local } = tag;
  const known = parent.rule.does === 'hold' ? parent.rule.children.get(local) : SKIPPED;
  const isList = local === 'PmtInf' || local === 'CdtTrfTxInf';
  const count = (parent.counts.get(local) ?? 0) + 1;
  if (known) parent.counts.set(local, count);
  const rule = known ?? { does: 'refuse', why: 'psd2 does not know this element' };
  const path = `${parent.path}/${local}${isList ? `[${count}]` : ''}`;
  if (parent.rule.does === 'text')
    visitor.problem('error', path, 'A text is expected here, and not an element');
  reportRule(rule, path, isList ? 1 : count, visitor);

  const name = COLLECTED.find((collected) => collected === local);
  const collected =
    name !== undefined && rule.does === 'hold' ? { path, texts: new Map<string, string[]>() } : null;
  const within = collected ?? parent.within;
  const element = { name: local, path, rule, counts: new Map<string, number>(), within, text: '' };
  if (collected && name) visitor.begin(name, path, collected.texts);
  readAttributes(tag, element, visitor);
  return element;
}

/** Elements in elements whose content psd2 does not read. */
const SKIPPED: Rule = { does: 'skip' };

/** @param count how many of this name the element above has had, with this one */
function reportRule(rule: Rule, path: string, count: number, visitor: Visitor): void {
  if (rule.does === 'refuse') visitor.problem('error', path, rule.why);
  if (rule.does === 'leave out') visitor.problem('warning', path, `psd2 pays without ${rule.what}`);
  const isOne = rule.does === 'hold' || (rule.does === 'text' && !rule.isRepeated);
  if (isOne && count > 1) visitor.problem('error', path, 'The element comes twice');
}

/** @throws Psd2Error `usage` */
function formatOf({ uri, local }: SaxesTagNS, refuse: (what: string) => never): BatchFormat {
  if (local !== 'Document')
    return refuse(`The XML begins with the element ${JSON.stringify(local)}, and not with Document`);
  const format = BATCH_FORMATS.find((known) => known !== 'csv' && uri === `${NAMESPACE}${known}`);
  return format ?? refuse(`The XML has the namespace ${JSON.stringify(uri)}, which psd2 does not read`);
}

function readAttributes({ attributes }: SaxesTagNS, element: Open, visitor: Visitor): void {
  const { rule, path, within } = element;
  if (rule.does !== 'text' && rule.does !== 'hold') return;
  for (const { local, prefix, uri, value } of Object.values(attributes)) {
    if (prefix === 'xmlns' || local === 'xmlns' || uri === INSTANCE) continue;
    if (rule.does === 'text' && rule.attribute === local && uri === '')
      within?.texts.set(`${path.slice(within.path.length + 1)}/@${local}`, [value]);
    else visitor.problem('error', path, `psd2 does not know the attribute ${local}`);
  }
}

function closed({ name, path, rule, within, text }: Open, visitor: Visitor): void {
  if (rule.does === 'text' && within) keep(within, path, text);
  const collected = COLLECTED.find((known) => known === name);
  if (collected !== undefined && rule.does === 'hold' && within) visitor.end(collected, path, within.texts);
}

function keep({ path: above, texts }: { path: string; texts: Texts }, path: string, text: string): void {
  const name = path.slice(above.length + 1);
  texts.set(name, [...(texts.get(name) ?? []), text.trim()]);
}
